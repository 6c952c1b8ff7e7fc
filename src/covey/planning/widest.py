"""The widest way between places of a map: how wide a body may be that still gets through."""

from typing import Any

import numpy as np

from covey.lazy import ndimage

CAP_M = 3.0
"""Ways wider than this count as this wide [m]."""
_ALL_AROUND = np.ones((3, 3), int)


def widest_ways(
    occupancy: np.ndarray, resolution: float, start: tuple[int, int], goals: np.ndarray, near_m: float
) -> np.ndarray:
    """Return the width of the narrowest gap on the widest way from one place to each other [m], float64 (m,).

    A gap between walls along the axes is measured exactly: the map is divided once more, so that borders of cells lie
    in the middle of each gap. 0: there is no way at all. No way is wider than `CAP_M`.

    Args:
        occupancy: int8 (rows, columns): above 50 occupied, 0..50 free, -1 unknown, which counts as free.
        resolution: side of a cell [m].
        start: row and column.
        goals: int (m, 2), rows and columns.
        near_m: a way begins and ends within this distance of its places [m].

    Examples:
        >>> room = np.zeros((9, 20), np.int8)
        >>> room[:3, 10] = room[6:, 10] = 100  # a gap of three cells
        >>> widest_ways(room, 0.1, (4, 2), np.array([[4, 17]]), 0.2).round(3).tolist()
        [0.3]
    """
    wall = np.kron(occupancy > 50, np.ones((2, 2), bool))
    found = np.full(len(goals), CAP_M)
    if not len(goals) or not wall.any():
        return found
    # in cells: to the middle of the nearest occupied quarter, less half of it, and half of one to the middle of a gap
    away = 0.5 * np.asarray(ndimage.distance_transform_edt(~wall))
    width = np.where(wall, 0.0, np.minimum(2.0 * away * resolution, CAP_M)).round(6)
    first, *others = (_around(wall, 2 * np.asarray(at), 2.0 * near_m / resolution) for at in (start, *goals))
    widths = np.unique(width[width > 0.0])
    low, high = np.zeros(len(others), int), np.full(len(others), len(widths))  # widths[:low] get through
    while (low < high).any():
        middle = int((low + high)[low < high][0]) // 2
        labels = _label(width >= widths[middle], _ALL_AROUND)
        reached = np.unique(labels[first])
        reached = reached[reached > 0]
        for k, cells in enumerate(others):
            if low[k] <= middle < high[k]:
                is_through = bool(np.isin(labels[cells], reached).any())
                low[k], high[k] = (middle + 1, high[k]) if is_through else (low[k], middle)
    for k, count in enumerate(low.tolist()):
        found[k] = widths[count - 1] if count else 0.0
    return found


def _around(wall: np.ndarray, at: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of the cells within ``reach`` cells of one, on the same side of all walls."""
    top, left = (int(v) for v in np.maximum(np.floor(at - reach), 0))
    part = wall[top : int(at[0] + reach) + 2, left : int(at[1] + reach) + 2]
    rows, columns = np.ogrid[: part.shape[0], : part.shape[1]]
    inside = np.hypot(rows + top - at[0], columns + left - at[1]) <= max(reach, 1.0)
    labels = _label(~part & inside)
    here = labels[int(at[0]) - top, int(at[1]) - left]
    cells = np.argwhere(labels == here) if here else np.empty((0, 2), int)
    return cells[:, 0] + top, cells[:, 1] + left


def _label(mask: np.ndarray, around: np.ndarray | None = None) -> np.ndarray:
    """Return the number of the connected part that each cell belongs to, 0 for none, int32 of the shape of ``mask``."""
    labels: Any = np.empty(mask.shape, np.int32)
    ndimage.label(mask, around, output=labels)
    return labels
