"""Cheapest ways over the cells of a grid from one cell to all others, or to the first that satisfies a mask.

References:
    E. W. Dijkstra: A note on two problems in connexion with graphs. Numerische Mathematik 1, 1959.
    R. B. Dial: Algorithm 360: shortest-path forest with topological ordering. CACM 12(11), 1969 (the bucket queue).
"""

import math
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel

_DROW = np.array([0, 0, 1, -1, 1, 1, -1, -1])
_DCOLUMN = np.array([1, -1, 0, 0, 1, -1, 1, -1])
_BUCKETS = 512  # a power of two, more than the costliest move (sqrt 2 * MAX_COST + estimate) in quarters of a cell
_NO_MASK = np.zeros((0, 0), np.uint8)
_SQRT2 = math.sqrt(2.0)


class Field(NamedTuple):
    """The result of a search from one cell.

    Attributes:
        cost: float32 (rows, columns), the cost to come [cells x cost]; inf where not reached (an early exit leaves
            cells beyond the hit at inf or above their true cost).
        parent: int8 (rows, columns), the move that led here, -1 at the source and where not reached.
        hit: row and column of the first cell of the mask, or (-1, -1).
    """

    cost: np.ndarray
    parent: np.ndarray
    hit: tuple[int, int]


def dijkstra(cost: np.ndarray, source: tuple[int, int], mask: np.ndarray | None = None) -> Field:
    """Return the cost to come from ``source`` to the cells of a grid, 8-connected, without cutting corners.

    A move costs its length in cells times the mean cost of its two cells.

    Args:
        cost: float32 (rows, columns) from `covey.planning.costs.traversal_cost`: 1 … 50, or inf for not passable.
        source: row and column; may itself be impassable.
        mask: bool or uint8 (rows, columns): stop at the cheapest cell where it is set.

    Examples:
        >>> field = dijkstra(np.ones((3, 4), np.float32), (0, 0))
        >>> round(float(field.cost[2, 3]), 3)
        3.828
    """
    chosen = _NO_MASK if mask is None else np.ascontiguousarray(mask).view(np.uint8)
    field, parent, hit = search(cost, source[0], source[1], -1, -1, chosen)
    return Field(field, parent, divmod(hit, cost.shape[1]) if hit >= 0 else (-1, -1))


@kernel
def _estimate(row, column, target_row, target_column):
    """Octile distance: never more than the true cost, since a cell costs at least 1."""
    a, b = abs(row - target_row), abs(column - target_column)
    return max(a, b) + (_SQRT2 - 1.0) * min(a, b)


@kernel
def _padded(cost):
    """Return the costs in a frame of impassable cells, so that no neighbour lies outside, as a flat array."""
    rows, columns = cost.shape
    width = columns + 2
    out = np.full((rows + 2) * width, np.float32(np.inf), np.float32)
    for r in range(rows):
        for c in range(columns):
            out[(r + 1) * width + 1 + c] = cost[r, c]
    return out


@kernel
def search(cost, source_row, source_column, target_row, target_column, mask):
    """Search from a cell: A* towards the target cell, or Dijkstra when ``target_row`` is negative.

    Narrow buckets hold the open cells in the order of their (estimated) cost. A cell that improves is put in again and
    its older entry is passed over, so the result is exact although the cells of one bucket are taken in any order.

    Returns:
        cost to come (float32), parent moves (int8), and the flat index of the cell where it stopped (-1: none).
    """
    rows, columns = cost.shape
    width = columns + 2
    price = _padded(cost)
    come = np.full(price.size, np.float32(np.inf), np.float32)
    move = np.full(price.size, np.int8(-1), np.int8)
    head = np.full(_BUCKETS, -1, np.int32)
    # Entries of all buckets, each with the next of its bucket; pages that are never written cost nothing.
    cell_of, next_of, come_of = (
        np.empty(8 * price.size, np.int32),
        np.empty(8 * price.size, np.int32),
        np.empty(8 * price.size, np.float32),
    )
    step = _DROW * width + _DCOLUMN
    guided, masked = target_row >= 0, mask.shape[0] == rows
    scale = 4.0 if guided else 1.0
    target = (target_row + 1) * width + target_column + 1 if guided else -1
    hit, hit_cost = -1, np.inf
    source = (source_row + 1) * width + source_column + 1
    come[source] = 0.0
    level = int(scale * _estimate(source_row, source_column, target_row, target_column)) if guided else 0
    head[level % _BUCKETS] = 0
    cell_of[0], next_of[0], come_of[0] = source, -1, 0.0
    entries, waiting = 1, 1
    while waiting > 0:
        entry = head[level % _BUCKETS]
        if entry < 0:
            if hit >= 0:
                break
            level += 1
            continue
        head[level % _BUCKETS] = next_of[entry]
        waiting -= 1
        u, here = cell_of[entry], come_of[entry]
        if here > come[u]:
            continue
        r, c = 0, 0
        if guided or masked:
            r = np.int32(u) // np.int32(width) - 1
            c = u - (r + 1) * width - 1
            if (u == target or (masked and mask[r, c] != 0)) and here < hit_cost:
                hit, hit_cost = u, here
        half = 0.5 * min(price[u], np.float32(50.0))
        for m in range(8):
            v = u + step[m]
            if price[v] == np.inf:
                continue
            length = 1.0
            if m >= 4:
                if price[u + _DCOLUMN[m]] == np.inf or price[u + _DROW[m] * width] == np.inf:
                    continue
                length = _SQRT2
            total = np.float32(here + length * (half + 0.5 * price[v]))
            if total >= come[v] or entries >= cell_of.size:
                continue
            come[v], move[v] = total, m
            place = total
            if guided:
                place = total + _estimate(r + _DROW[m], c + _DCOLUMN[m], target_row, target_column)
            bucket = max(int(scale * place), level) % _BUCKETS
            cell_of[entries], next_of[entries], come_of[entries] = v, head[bucket], total
            head[bucket] = entries
            entries, waiting = entries + 1, waiting + 1
    field, parent = np.empty((rows, columns), np.float32), np.empty((rows, columns), np.int8)
    for r in range(rows):
        for c in range(columns):
            field[r, c], parent[r, c] = come[(r + 1) * width + 1 + c], move[(r + 1) * width + 1 + c]
    return field, parent, -1 if hit < 0 else (hit // width - 1) * columns + hit % width - 1


@kernel
def trace(parent, row, column):
    """Return the cells from the source to a reached cell, int64 (m, 2) of rows and columns."""
    length, r, c = 1, row, column
    while parent[r, c] >= 0:
        m = parent[r, c]
        r, c, length = r - _DROW[m], c - _DCOLUMN[m], length + 1
    out = np.empty((length, 2), np.int64)
    r, c = row, column
    for i in range(length - 1, -1, -1):
        out[i, 0], out[i, 1] = r, c
        m = parent[r, c]
        if m >= 0:
            r, c = r - _DROW[m], c - _DCOLUMN[m]
    return out
