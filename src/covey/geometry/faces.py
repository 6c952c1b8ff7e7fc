"""The faces of walls: the sides of free cells that touch a solid cell."""

import numpy as np

from covey.geometry.grid import Grid

SIDES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
"""Row and column steps from a free cell to the wall of its face 0, 1, 2, 3: east, north, west, south in the grid."""
OFF_M = 0.005
"""A place on a face is this far before it [m]."""


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


def last_of_cells(faces: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return for each cell the largest step of its faces, int32 (rows, columns); -1: one has none, -2: it has no face.

    Args:
        faces: int (f, 4): row, column, side, and a step, or -1 for none.
        shape: rows and columns.
    """
    cells = np.full(shape, -2, np.int32)
    rows, columns, _, steps = faces.T
    np.maximum.at(cells, (rows, columns), steps)
    never = steps < 0
    cells[rows[never], columns[never]] = -1
    return cells


def on_faces(grid: Grid, faces: np.ndarray, along: np.ndarray | float = 0.0) -> np.ndarray:
    """Return places on faces, float64 (f, 4): x, y [m] and the normal of each, in the world frame.

    Args:
        grid: the cells.
        faces: int64 (f, 3), see `face_list`.
        along: distance of each from the middle of its face [cells], along the columns or along the rows.
    """
    step = SIDES[faces[:, 2]]
    off = 0.5 - min(OFF_M / grid.resolution, 0.25)
    at = faces[:, :2] + off * step + np.abs(step[:, ::-1]) * np.broadcast_to(along, len(faces))[:, None]
    return np.column_stack((grid.to_world(at), directions(grid, -step)))


def directions(grid: Grid, steps: np.ndarray) -> np.ndarray:
    """Return steps (m, 2) of rows and columns as vectors in the world frame."""
    c, s = grid.frame[2:4]
    return np.column_stack((c * steps[:, 1] - s * steps[:, 0], s * steps[:, 1] + c * steps[:, 0]))
