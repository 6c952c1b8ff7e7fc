"""The faces of walls: the sides of free cells that touch a solid cell."""

import numpy as np

SIDES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
"""Row and column steps from a free cell to the wall of its face 0, 1, 2, 3: east, north, west, south in the grid."""


def faces(free: np.ndarray, solid: np.ndarray) -> np.ndarray:
    """Return the faces of the free cells, uint8 (rows, columns); bit k is set if side k of `SIDES` is a wall.

    Args:
        free, solid: bool (rows, columns), see `covey.world.world.World`.
    """
    bits = np.zeros(free.shape, np.uint8)
    bits[:, :-1] |= solid[:, 1:] * np.uint8(1)
    bits[:-1] |= solid[1:] * np.uint8(2)
    bits[:, 1:] |= solid[:, :-1] * np.uint8(4)
    bits[1:] |= solid[:-1] * np.uint8(8)
    bits[~free] = 0
    return bits


def face_list(free: np.ndarray, solid: np.ndarray) -> np.ndarray:
    """Return the same faces one by one, int64 (f, 3): row and column of the free cell, side."""
    bits = faces(free, solid)
    return np.concatenate([np.insert(np.argwhere(bits >> side & 1), 2, side, axis=1) for side in range(len(SIDES))])
