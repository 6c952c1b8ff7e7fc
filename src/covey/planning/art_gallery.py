"""Waypoints from which a whole place can be seen: a greedy solution of the art gallery problem.

References:
    V. Chvátal: A combinatorial theorem in plane geometry. Journal of Combinatorial Theory B 18, 1975 (the problem).
    MAEPS (2025), choice of patrolling waypoints: the best of the tiles that no waypoint sees yet; tiles beside a wall
    count for 0.9 of what they see.
"""

import math

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.raycast import march
from covey.kernel import kernel

_MOST = 20_000
_BESIDE_WALL = 0.9


def tiles(standing: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a cell to stand on in each tile of ``side`` x ``side`` cells, and which tiles touch one without a cell.

    Args:
        standing: bool (rows, columns), where a robot's centre can be.
        side: side of a tile [cells].

    Returns:
        rows and columns, int64 (k, 2), nearest to the middle of each tile, in the order of the tiles; and bool (k,),
        whether one of the 8 tiles around has no cell (a wall is near).
    """
    rows, columns = (-(-n // side) for n in standing.shape)
    cells = np.argwhere(standing)
    tile = cells // side
    off = np.abs(cells - tile * side - (side - 1) / 2).max(axis=1)
    number = tile[:, 0] * columns + tile[:, 1]
    order = np.lexsort((np.arange(len(cells)), off, number))
    _, first = np.unique(number[order], return_index=True)
    chosen = order[first]
    full = np.zeros((rows + 2, columns + 2), bool)
    full[tile[chosen, 0] + 1, tile[chosen, 1] + 1] = True
    r, c = tile[chosen, 0] + 1, tile[chosen, 1] + 1
    wall = np.zeros(len(chosen), bool)
    for a in (-1, 0, 1):
        for b in (-1, 0, 1):
            wall |= ~full[r + a, c + b]
    return cells[chosen], wall


def art_gallery(
    skip: np.ndarray, standing: np.ndarray, resolution: float, *, sight_m: float | None = None, spacing_m: float = 1.0
) -> np.ndarray:
    """Return cells that together see every tile of a place, int64 (k, 2) of rows and columns.

    Args:
        skip: skip field of the cells that block the view, uint8 (4, rows, columns), see `covey.geometry.raycast`.
        standing: bool (rows, columns), where a robot's centre can be.
        resolution: side of a cell [m].
        sight_m: range of sight [m]; None: unlimited.
        spacing_m: side of a tile [m].

    Raises:
        InvalidValueError: there is no cell to stand on, or there are too many tiles.
    """
    if not standing.any():
        raise InvalidValueError("there is nowhere to put a waypoint: no cell can be reached")
    cells, beside_wall = tiles(standing, max(1, round(spacing_m / resolution)))
    if len(cells) > _MOST:
        raise InvalidValueError(
            f"{len(cells)} tiles of {spacing_m} m are too many to choose waypoints from (at most {_MOST}): "
            "use a larger spacing_m"
        )
    return cells[greedy_cover(visibility(skip, cells, (sight_m or math.inf) / resolution), beside_wall)]


def greedy_cover(sees: np.ndarray, beside_wall: np.ndarray) -> list[int]:
    """Return tiles that together see all tiles: repeatedly the best of those not seen yet; ties: the first.

    Args:
        sees: uint8 or bool (k, k), whether tile i sees tile j; every tile sees itself.
        beside_wall: bool (k,), tiles whose count of seen tiles is multiplied by 0.9.

    Examples:
        >>> row = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= 1  # each sees its neighbours in a row
        >>> greedy_cover(row, np.zeros(5, bool))
        [1, 3]
    """
    weight = np.where(beside_wall, _BESIDE_WALL, 1.0)
    left = np.ones(len(sees), bool)
    gain = sees.sum(axis=1, dtype=np.int64)
    chosen = []
    while left.any():
        best = int(np.argmax(np.where(left, gain * weight, -1.0)))
        chosen.append(best)
        new = np.flatnonzero(left & (sees[best] != 0))
        left[new] = False
        gain -= sees[:, new].sum(axis=1, dtype=np.int64)
    return chosen


@kernel
def visibility(skip, cells, reach):
    """Return which cells see each other within ``reach`` cells, centre to centre, uint8 (k, k)."""
    k = cells.shape[0]
    sees = np.zeros((k, k), np.uint8)
    for i in range(k):
        sees[i, i] = 1
        u, v = cells[i, 1] + 0.5, cells[i, 0] + 0.5
        for j in range(i + 1, k):
            du, dv = cells[j, 1] + 0.5 - u, cells[j, 0] + 0.5 - v
            length = math.sqrt(du * du + dv * dv)
            if length <= reach and march(skip, u, v, du / length, dv / length, length) >= length:
                sees[i, j] = sees[j, i] = 1
    return sees
