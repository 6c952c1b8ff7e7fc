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
    before: np.ndarray, solid: np.ndarray, resolution: float, window: tuple[int, int, int, int]
) -> np.ndarray:
    """Return the clearance after cells of ``solid`` in a window changed, given the previous clearance.

    The clearance can change only in cells whose previous clearance was at least their distance from the window; these
    are recomputed from the necessary surroundings. The result is that of `clearance`.

    Args:
        before: float32 (rows, columns), the previous clearance [m].
        solid: bool (rows, columns), the present solid cells.
        resolution: side of a cell [m].
        window: first row, last row + 1, first column, last column + 1.
    """
    shape = solid.shape
    reach = _grown(window, 1 + int(min(before.max() / resolution, max(shape))), shape)
    row, column = np.arange(reach[0], reach[1]) + 0.5, np.arange(reach[2], reach[3]) + 0.5
    away_v = np.maximum(np.maximum(window[0] - row, row - window[1]), 0.0)
    away_u = np.maximum(np.maximum(window[2] - column, column - window[3]), 0.0)
    near = before[_slices(reach)] >= resolution * (1 - 1e-6) * np.hypot(away_v[:, None], away_u)
    rows, columns = np.flatnonzero(near.any(axis=1)) + reach[0], np.flatnonzero(near.any(axis=0)) + reach[2]
    box = (int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1)
    margin = 1 + int(min(before[_slices(box)].max() / resolution, max(shape)))
    while True:
        part = _grown(box, margin, shape)
        there = clearance(solid[_slices(part)], resolution)
        inner = there[box[0] - part[0] : box[1] - part[0], box[2] - part[2] : box[3] - part[2]]
        if part == (0, shape[0], 0, shape[1]) or inner.max() <= margin * resolution:
            after = before.copy()
            after[_slices(box)] = inner
            return after
        margin *= 2


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
