"""Exact distance from every cell centre to the nearest solid cell square."""

import math

import numpy as np

from covey.kernel import kernel


def clearance(solid: np.ndarray, resolution: float) -> np.ndarray:
    """Return the distance [m] from each cell centre to the nearest solid square, float32 (rows, columns).

    0 in solid cells, infinite where nothing is solid. Exact up to the rounding to float32.

    Args:
        solid: bool, shape (rows, columns).
        resolution: side of a cell [m].

    References:
        P. F. Felzenszwalb, D. P. Huttenlocher: Distance transforms of sampled functions. Theory of Computing 8, 2012.
    """
    return _clearance(np.ascontiguousarray(solid).astype(np.uint8), float(resolution))


def update_clearance(
    field: np.ndarray, solid: np.ndarray, resolution: float, window: tuple[int, int, int, int]
) -> None:
    """Bring the clearance up to date, in place, after cells of ``solid`` in a window changed.

    The clearance can change only in cells whose previous clearance was at least their distance from the window; these
    are recomputed from the necessary surroundings. The result is that of `clearance`. Cells farther away are not even
    read.

    Args:
        field: float32 (rows, columns), the previous clearance [m].
        solid: bool (rows, columns), the present solid cells.
        resolution: side of a cell [m].
        window: first row, last row + 1, first column, last column + 1.
    """
    shape = solid.shape
    reach = _reach(field, resolution, window)
    near = field[_slices(reach)] >= resolution * (1 - 1e-6) * _away(window, reach)
    rows, columns = np.flatnonzero(near.any(axis=1)) + reach[0], np.flatnonzero(near.any(axis=0)) + reach[2]
    box = (int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1)
    margin = 1 + int(min(field[_slices(box)].max() / resolution, max(shape)))
    while True:
        part = _grown(box, margin, shape)
        there = clearance(solid[_slices(part)], resolution)
        inner = there[box[0] - part[0] : box[1] - part[0], box[2] - part[2] : box[3] - part[2]]
        if part == (0, shape[0], 0, shape[1]) or inner.max() <= margin * resolution:
            field[_slices(box)] = inner
            return
        margin *= 2


def _reach(field: np.ndarray, resolution: float, window: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Return a box around all cells in which the clearance can change, given the previous clearance.

    Two points differ in clearance by no more than their distance. So where it can change, it can change on the whole
    way to the window. That way crosses each ring of cells around the window, less than a cell from the centre of one:
    if all cells of a ring have less clearance than their distance minus two cells, nothing changes beyond it.
    """
    away = 1
    while True:
        box = _grown(window, away, field.shape)
        south, north, west, east = box
        ring = (
            (south, south + 1, west, east),
            (north - 1, north, west, east),
            (south, north, west, west + 1),
            (south, north, east - 1, east),
        )
        wanted = window[0] - away, window[1] + away, window[2] - away, window[3] + away
        sides = [side for side, at, free in zip(ring, box, wanted, strict=True) if at == free]  # not at the edge
        if not any(np.any(field[_slices(side)] >= resolution * (_away(window, side) - 2)) for side in sides):
            return box
        away *= 2


def _away(window: tuple[int, int, int, int], box: tuple[int, int, int, int]) -> np.ndarray:
    """Return the distances of the centres of the cells of a box from a window, in cells."""
    row, column = np.arange(box[0], box[1]) + 0.5, np.arange(box[2], box[3]) + 0.5
    away_v = np.maximum(np.maximum(window[0] - row, row - window[1]), 0.0)
    away_u = np.maximum(np.maximum(window[2] - column, column - window[3]), 0.0)
    return np.hypot(away_v[:, None], away_u)


def _slices(box: tuple[int, int, int, int]) -> tuple[slice, slice]:
    return slice(box[0], box[1]), slice(box[2], box[3])


def _grown(box: tuple[int, int, int, int], margin: int, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    south, west = max(box[0] - margin, 0), max(box[2] - margin, 0)
    return south, min(box[1] + margin, shape[0]), west, min(box[3] + margin, shape[1])


@kernel
def _clearance(solid, resolution):
    # In half cells: centres lie at odd, the borders of squares at even coordinates. Along a column the nearest square
    # is found by two sweeps; along a row, each solid square counts with its centre and both borders, and the lower
    # envelope of the parabolas at these sites gives the squared distance, an exact integer.
    rows, columns = solid.shape
    column_gap = np.full((rows, columns), -1, np.int64)
    last = np.full(columns, -1, np.int64)
    for r in range(rows):
        for c in range(columns):
            if solid[r, c]:
                last[c] = r
                column_gap[r, c] = 0
            elif last[c] >= 0:
                column_gap[r, c] = 2 * (r - last[c]) - 1
    for c in range(columns):
        last[c] = -1
    for r in range(rows - 1, -1, -1):
        for c in range(columns):
            if solid[r, c]:
                last[c] = r
            elif last[c] >= 0:
                gap = 2 * (last[c] - r) - 1
                if column_gap[r, c] < 0 or gap < column_gap[r, c]:
                    column_gap[r, c] = gap
    distance = np.empty((rows, columns), np.float32)
    sites = np.empty(2 * columns + 1, np.int64)
    height = np.empty(2 * columns + 1, np.int64)
    start = np.empty(2 * columns + 2)
    for r in range(rows):
        count = 0
        for p in range(2 * columns + 1):
            left, right = (p - 1) // 2, p // 2
            gap = column_gap[r, min(right, columns - 1)]
            if left != right and left >= 0:
                other = column_gap[r, left]
                if gap < 0 or (other >= 0 and other < gap):
                    gap = other
            if gap < 0:
                continue
            h = gap * gap + p * p
            begin = -math.inf
            while count > 0:
                begin = (h - height[count - 1]) / (2.0 * (p - sites[count - 1]))
                if begin > start[count - 1]:
                    break
                count -= 1
                begin = -math.inf
            sites[count], height[count], start[count] = p, h, begin
            count += 1
        i = 0
        for c in range(columns):
            if count == 0:
                distance[r, c] = math.inf
                continue
            p = 2 * c + 1
            while i + 1 < count and start[i + 1] <= p:
                i += 1
            distance[r, c] = 0.5 * resolution * math.sqrt(height[i] + p * p - 2.0 * p * sites[i])
    return distance
