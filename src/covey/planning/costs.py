"""Clearance from the occupied cells of a grid, and the cost of driving through a cell."""

import math

import numpy as np

from covey.kernel import kernel

MAX_COST = 50.0
"""Largest finite cost of a cell."""
_BLOCK = 64  # side of the blocks of cells that are checked for changes


@kernel
def clearance(occupancy, resolution, cap_m):
    """Return the distance of each cell from the nearest occupied cell, up to a cap.

    The algorithm makes a column pass and a row pass over the squared distance (Saito and Toriwaki, Pattern Recognition
    27, 1994). A cell passes its value along the row only as far as no other cell is nearer to its own column's
    obstacle.

    Args:
        occupancy: int8 (rows, columns): above 50 occupied, 0..50 free, -1 unknown.
        resolution: side of a cell [m].
        cap_m: upper limit of the result [m].

    Returns:
        float32 (rows, columns) [m]: distance from the cell's centre to the near side of the nearest occupied cell,
        computed as the distance of the centres minus half a cell; 0 in an occupied cell.
    """
    rows, columns = occupancy.shape
    limit = math.ceil(cap_m / resolution + 0.5)
    along = np.full((rows, columns), limit, np.int32)
    for c in range(columns):
        along[0, c] = 0 if occupancy[0, c] > 50 else limit
    for r in range(1, rows):
        for c in range(columns):
            along[r, c] = 0 if occupancy[r, c] > 50 else min(along[r - 1, c] + 1, limit)
    for r in range(rows - 2, -1, -1):
        for c in range(columns):
            along[r, c] = min(along[r, c], along[r + 1, c] + 1)
    top = limit * limit
    metres = np.empty(top + 1, np.float32)
    for i in range(top + 1):
        metres[i] = min(max((math.sqrt(i) - 0.5) * resolution, 0.0), cap_m)
    out = np.empty((rows, columns), np.float32)
    squared = np.empty(columns, np.int32)
    for r in range(rows):
        for c in range(columns):
            squared[c] = along[r, c] * along[r, c]
        for c in range(columns):
            g = along[r, c]
            if g == limit:
                continue
            for side in (-1, 1):
                k, offset = c + side, 1
                while 0 <= k < columns and along[r, k] > g:
                    value = g * g + offset * offset
                    if value >= top:
                        break
                    squared[k] = min(squared[k], value)
                    k, offset = k + side, offset + 1
        for c in range(columns):
            out[r, c] = metres[squared[c]]
    return out


@kernel
def traversal_cost(occupancy, clearance_m, lethal_m, comfort_m, weight, unknown_cost):
    """Return the cost of driving one metre through each cell.

    Args:
        occupancy: int8 (rows, columns): above 50 occupied, 0..50 free, -1 unknown.
        clearance_m: float32 (rows, columns) from `clearance` [m].
        lethal_m: below this clearance a robot's centre must not enter a cell, and its cost is infinite [m].
        comfort_m: from this clearance on, walls add no cost [m].
        weight: cost added at clearance ``lethal_m``; the added cost is quadratic in the missing clearance.
        unknown_cost: cost of an unknown cell without walls: 1 is optimistic, infinity pessimistic.

    Returns:
        float32 (rows, columns), between 1 and `MAX_COST`, or infinite.
    """
    rows, columns = occupancy.shape
    out = np.empty((rows, columns), np.float32)
    span = max(comfort_m - lethal_m, 1e-9)
    for r in range(rows):
        for c in range(columns):
            d = clearance_m[r, c]
            if d < lethal_m or occupancy[r, c] > 50:
                out[r, c] = np.inf
                continue
            cost = unknown_cost if occupancy[r, c] < 0 else 1.0
            if d < comfort_m:
                missing = (comfort_m - d) / span
                cost += weight * missing * missing
            out[r, c] = cost if cost <= MAX_COST or cost == np.inf else MAX_COST
    return out


@kernel
def refresh_cost(cost, held, occupancy, resolution, lethal_m, comfort_m, cap_m, weight, unknown_cost):
    """Update the costs of a map, in place, where the map has changed: they become its `traversal_cost`.

    Returns whether the map has changed.

    Args:
        cost: float32 (rows, columns), the costs of ``held``.
        held: int8 (rows, columns), the previous map; becomes ``occupancy``.
        occupancy: int8 (rows, columns), the present map.
        resolution, cap_m: see `clearance`. lethal_m, comfort_m, weight, unknown_cost: see `traversal_cost`.
    """
    rows, columns = occupancy.shape
    reach = math.ceil(cap_m / resolution + 0.5)
    boxes, count = np.empty((rows // _BLOCK + 1, 4), np.int64), 0  # of changed cells: first and last row and column
    for top in range(0, rows, _BLOCK):
        bottom = min(top + _BLOCK, rows)
        for left in range(0, columns, _BLOCK):
            right = min(left + _BLOCK, columns)
            first, last, row0, row1 = columns, -1, rows, -1
            for r in range(top, bottom):
                now, before, differ = occupancy[r, left:right], held[r, left:right], 0
                for k in range(right - left):
                    differ |= now[k] ^ before[k]
                if differ == 0:
                    continue
                row0, row1 = min(row0, r), max(row1, r)
                for k in range(right - left):
                    if now[k] != before[k]:
                        first, last, before[k] = min(first, left + k), max(last, left + k), now[k]
            if last >= 0:
                if count == len(boxes):
                    boxes = np.concatenate((boxes, boxes))
                count = _join(boxes, count, row0, row1, first, last, 4 * reach)
    for k in range(count):
        _refresh_window(
            cost, occupancy, boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3], reach,
            resolution, lethal_m, comfort_m, cap_m, weight, unknown_cost,
        )  # fmt: skip
    return count > 0


@kernel
def _join(boxes, count, row0, row1, first, last, margin):
    """Add a box of cells to ``count`` others; join those that have fewer cells together, with a margin around each.

    Returns how many boxes there are now.
    """
    k = 0
    while k < count:
        a, b, c, d = boxes[k]
        apart = (b - a + margin) * (d - c + margin) + (row1 - row0 + margin) * (last - first + margin)
        top, bottom, left, right = min(a, row0), max(b, row1), min(c, first), max(d, last)
        if (bottom - top + margin) * (right - left + margin) > apart:
            k += 1
            continue
        row0, row1, first, last = top, bottom, left, right
        count -= 1
        boxes[k] = boxes[count]
        k = 0
    boxes[count] = row0, row1, first, last
    return count + 1


@kernel
def _refresh_window(
    cost, occupancy, row0, row1, first, last, reach, resolution, lethal_m, comfort_m, cap_m, weight, unknown_cost
):
    """Recompute the costs that depend on cells between two rows and two columns, all inclusive."""
    rows, columns = occupancy.shape
    top, bottom = max(row0 - 2 * reach, 0), min(row1 + 2 * reach + 1, rows)
    left, right = max(first - 2 * reach, 0), min(last + 2 * reach + 1, columns)
    window = occupancy[top:bottom, left:right].copy()
    near = clearance(window, resolution, cap_m)
    new = traversal_cost(window, near, lethal_m, comfort_m, weight, unknown_cost)
    for r in range(max(row0 - reach, 0), min(row1 + reach + 1, rows)):
        for c in range(max(first - reach, 0), min(last + reach + 1, columns)):
            cost[r, c] = new[r - top, c - left]


@kernel
def soften(cost, occupancy, row, column, radius_cells):
    """Make the lethal cells around a cell that are not occupied passable at `MAX_COST`, in place.

    This lets a robot that stands too close to a wall find a path out.
    """
    rows, columns = cost.shape
    for r in range(max(row - radius_cells, 0), min(row + radius_cells + 1, rows)):
        for c in range(max(column - radius_cells, 0), min(column + radius_cells + 1, columns)):
            near = (r - row) ** 2 + (c - column) ** 2 <= radius_cells * radius_cells
            if near and cost[r, c] == np.inf and occupancy[r, c] <= 50:
                cost[r, c] = MAX_COST
