"""Cheapest paths over the cells of a grid, from one cell to all others or to the first cell of a mask.

References:
    E. W. Dijkstra: A note on two problems in connexion with graphs. Numerische Mathematik 1, 1959.
    R. B. Dial: Algorithm 360: shortest-path forest with topological ordering. CACM 12(11), 1969 (the bucket queue).
"""

import math
import threading
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel

_DROW = np.array([0, 0, 1, -1, 1, 1, -1, -1])
_DCOLUMN = np.array([1, -1, 0, 0, 1, -1, 1, -1])
_BUCKETS = 512  # a power of two, more than the costliest move (sqrt 2 * MAX_COST + estimate) in quarters of a cell
_NOWHERE = np.zeros((0, 2), np.int64)
_LEVELS = 256  # a power of two, more than twice the costliest move
_UNKNOWN = np.zeros(0, np.float32)
_GUIDED = 32  # with more targets than this, an estimate does not pay
_SQRT2 = math.sqrt(2.0)


class Field(NamedTuple):
    """The result of a search from one cell.

    Attributes:
        cost: float32 (rows, columns), the cost to come [cells x cost]; inf where not reached. After an early exit,
            cells beyond the hit are at inf or above their true cost.
        parent: int8 (rows, columns), the move that led here; -1 at the source and where not reached.
        hit: row and column of the first cell of the mask, or (-1, -1).
        work: the number of entries that the search put in its queue.
    """

    cost: np.ndarray
    parent: np.ndarray
    hit: tuple[int, int]
    work: int


class Path(NamedTuple):
    """The cheapest path from one cell to another.

    Attributes:
        cells: int64 (m, 2), rows and columns from source to target; empty (0, 2) if there is no path.
        cost: its cost in cells; inf if there is no path.
        work: the number of entries that the search put in its queue.
    """

    cells: np.ndarray
    cost: float
    work: int


class _Scratch(threading.local):
    """Arrays that all searches over grids of one size reuse; between searches ``come`` is inf and ``move`` -1."""

    size = -1  # of the framed grids; -1 also while a search uses the arrays, in case it is interrupted
    kept = -1

    def of(self, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
        size = (shape[0] + 2) * (shape[1] + 2)
        if self.size != size:
            self.come, self.move = np.full(size, np.inf, np.float32), np.full(size, -1, np.int8)
            entries = 8 * size  # memory pages that are never written cost nothing
            self.cell_of, self.next_of = np.empty(entries, np.int32), np.empty(entries, np.int32)
            self.come_of = np.empty(entries, np.float32)
        self.size, self.kept = -1, size
        return self.come, self.move, self.cell_of, self.next_of, self.come_of

    def wipe(self, entries: int) -> None:
        if 4 * entries > self.kept:
            self.come[:], self.move[:] = np.inf, -1
        else:
            _wipe(self.cell_of, entries, self.come, self.move)
        self.size = self.kept


_scratch = _Scratch()


def dijkstra(cost: np.ndarray, source: tuple[int, int], mask: np.ndarray | None = None) -> Field:
    """Return the cost to come from ``source`` to the cells of a grid, 8-connected, without cutting corners.

    A move costs its length in cells times the mean cost of its two cells.

    Args:
        cost: float32 (rows, columns) from `covey.planning.costs.traversal_cost`: 1 … 50, or inf for impassable cells.
        source: row and column; may itself be impassable.
        mask: bool or uint8 (rows, columns): stop at the cheapest cell of this mask.

    Examples:
        >>> field = dijkstra(np.ones((3, 4), np.float32), (0, 0))
        >>> round(float(field.cost[2, 3]), 3)
        3.828
    """
    cells = _NOWHERE if mask is None else np.argwhere(mask)
    hit, come, move, entries, _ = _spread(cost, np.array([source]), cells, 1)
    field = Field(come.copy(), move.copy(), hit, entries)
    _scratch.wipe(entries)
    return field


def costs_to(
    cost: np.ndarray, source: tuple[int, int], cells: np.ndarray, ahead: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Return the cost to come from ``source`` to some cells, int (k, 2), as by `dijkstra`: float32 (k,); and the work.

    The search ends when it has reached all of them; ``ahead``, from `costs_ahead`, guides it.
    """
    _, come, _, entries, _ = _spread(cost, np.array([source]), cells, -1, _UNKNOWN if ahead is None else ahead)
    costs = come[cells[:, 0], cells[:, 1]]
    _scratch.wipe(entries)
    return costs, entries


def costs_ahead(cost: np.ndarray, sources: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, int]:
    """Return a lower bound of the cost from each cell to the nearest of ``cells``, for `costs_to`; and the work.

    It also holds for any larger ``cost``. It is capped at the largest cost from any of the ``sources``.
    """
    _, _, _, entries, level = _spread(cost, cells, sources, -1)
    ahead = np.minimum(_scratch.come, np.float32(level))
    _scratch.wipe(entries)
    return ahead, entries


def cheapest(cost: np.ndarray, source: tuple[int, int], cells: np.ndarray) -> tuple[tuple[int, int], int]:
    """Return row and column of the cell that is cheapest to reach of ``cells``, int (k, 2); and the work.

    (-1, -1) if none can be reached. Of equally cheap cells it is the one that `dijkstra` with these cells as its
    ``mask`` reaches first.
    """
    before = 0
    if 0 < len(cells) <= _GUIDED:
        targets = np.ascontiguousarray(cells, np.int64)
        hit, before, alone = search(cost, source[0], source[1], targets, *_scratch.of(cost.shape))
        _scratch.wipe(before)
        if alone or hit < 0:
            return divmod(hit, cost.shape[1]) if hit >= 0 else (-1, -1), before
    hit, _, _, entries, _ = _spread(cost, np.array([source]), cells, 1)
    _scratch.wipe(entries)
    return hit, before + entries


def cheapest_path(cost: np.ndarray, source: tuple[int, int], target: tuple[int, int]) -> Path:
    """Return the cheapest path between two cells; see `covey.planning.astar`."""
    arrays = _scratch.of(cost.shape)
    hit, entries, _ = search(cost, source[0], source[1], np.array([target]), *arrays)
    path, total = np.empty((0, 2), np.int64), math.inf
    if hit >= 0:
        path, total = trace(arrays[1][: cost.size].reshape(cost.shape), target[0], target[1]), float(arrays[0][hit])
    _scratch.wipe(entries)
    return Path(path, total, entries)


def _spread(
    cost: np.ndarray, sources: np.ndarray, targets: np.ndarray, enough: int, ahead: np.ndarray = _UNKNOWN
) -> tuple[tuple[int, int], np.ndarray, np.ndarray, int, int]:
    """Return the first target that `spread` reached, views of the arrays it wrote, its entries, and its last level."""
    rows, columns = cost.shape
    arrays, goals = _scratch.of(cost.shape), np.ascontiguousarray(targets, np.int64)
    starts = np.ascontiguousarray(sources, np.int64)
    row, column, entries, level = spread(cost, starts, goals, enough, ahead, *arrays)
    come, move = (a.reshape(rows + 2, columns + 2)[1:-1, 1:-1] for a in arrays[:2])
    return (row, column), come, move, entries, level


@kernel
def _wipe(cell_of, entries, come, move):
    """Undo the changes of a search to ``come`` and ``move``."""
    for i in range(entries):
        cell = np.uint64(cell_of[i])
        come[cell], move[cell] = np.inf, -1


@kernel
def _estimate(row, column, targets):
    """Octile distance to the nearest target: never more than the true cost, because a cell costs at least 1."""
    nearest = np.inf
    for k in range(targets.shape[0]):
        a, b = abs(row - targets[k, 0]), abs(column - targets[k, 1])
        nearest = min(nearest, max(a, b) + (_SQRT2 - 1.0) * min(a, b))
    return nearest


@kernel
def spread(cost, sources, targets, enough, ahead, come, move, cell_of, next_of, come_of):
    """Search from some cells in all directions, over cells with a frame of impassable ones around them.

    Buckets as wide as the cheapest move hold the open cells in the order of their cost. No cell of a bucket can make
    another one of the same bucket cheaper, so each cell is final when its bucket's turn comes. With an estimate of the
    cost ahead this does not hold, and the bucket is processed again. Each time takes two rounds: the first notes the
    improvements, without unpredictable branches; the second files them.

    Args:
        cost: float32 (rows, columns). sources, targets: int64 (k, 2), rows and columns.
        enough: stop when this many targets are final; -1: all that are passable.
        ahead: float32 (framed cells,), at most the true cost from each cell to a target; or empty.
        come, move: float32, int8 (framed cells,): cost to come and the move that led there, inf and -1 at the start.
        cell_of, next_of, come_of: the entries of all buckets, each with the next entry of its bucket.

    Returns:
        Row and column of the cheapest target, -1, -1 if none was reached; the number of entries used: the reached
        framed cells are ``cell_of`` up to there; and the cost up to which all cells are final.
    """
    rows, columns = cost.shape
    width, half = columns + 2, _halves(cost)
    head, level, entries, guided = np.full(_LEVELS, -1, np.int32), 2**31, np.uint32(0), ahead.size > 0
    for k in range(sources.shape[0]):
        cell = (sources[k, 0] + 1) * width + sources[k, 1] + 1
        place = int(ahead[cell]) if guided else 0
        bucket = place % _LEVELS
        come[cell], cell_of[entries], come_of[entries] = 0.0, cell, 0.0
        next_of[entries], head[bucket] = head[bucket], entries
        level, entries = min(level, place), np.uint32(entries + 1)
    goal, goals = _goals(targets, rows, columns, half, come)
    if enough < 0:
        enough = goals
    hit, hit_cost, found, empty, last = -1, np.float32(np.inf), 0, 0, level
    while empty < _LEVELS:
        entry = head[level % _LEVELS]
        if entry < 0:
            if found >= enough and level >= last:
                break
            level, empty = level + 1, empty + 1
            continue
        head[level % _LEVELS], empty, noted = -1, 0, entries
        while entry >= 0:
            u = np.int64(cell_of[entry])
            here, before = come[np.uint64(u)], come_of[entry]
            entry = next_of[entry]
            if here < before:
                continue
            if goal[np.uint64(u)] != 0:
                goal[np.uint64(u)] = 0
                found += 1
                if guided:  # rounding may have hidden an equally cheap path
                    last = max(last, int(here + 10.0 * _margin(here)))
                if here < hit_cost:
                    hit, hit_cost = u, here
            entries = _improve(u, here, half, width, come, cell_of, come_of, entries)
        for k in range(noted, entries):
            i = np.uint64(k)
            v, place = np.uint64(cell_of[i] >> 3), come_of[i]
            if guided:
                place = max(place + ahead[v], np.float32(level))
            bucket = np.uint64(place) % np.uint64(_LEVELS)
            move[v] = cell_of[i] & 7
            cell_of[i], next_of[i], head[bucket] = v, head[bucket], k
    return (hit // width - 1, hit % width - 1, entries, level) if hit >= 0 else (-1, -1, entries, level)


@kernel
def _halves(cost):
    """Return half of the cost of each cell, flat, with a frame of impassable ones around them, float32."""
    rows, columns = cost.shape
    framed = np.full((rows + 2, columns + 2), np.inf, np.float32)
    for r in range(rows):
        for c in range(columns):
            framed[r + 1, c + 1] = np.float32(0.5) * cost[r, c]
    return framed.reshape(-1)


@kernel
def _goals(targets, rows, columns, half, come):
    """Return which framed cells are targets that are passable, or where the search begins, uint8; and how many."""
    goal, count = np.zeros(come.size, np.uint8), 0
    for k in range(targets.shape[0]):
        if not (0 <= targets[k, 0] < rows and 0 <= targets[k, 1] < columns):
            continue
        cell = (targets[k, 0] + 1) * (columns + 2) + targets[k, 1] + 1
        if goal[cell] == 0 and (half[cell] != np.inf or come[cell] == 0.0):
            goal[cell] = 1
            count += 1
    return goal, count


@kernel(inline=True)
def _improve(u, here, half, width, come, cell_of, come_of, entries):
    """Note each neighbour that is cheaper to come to through cell ``u`` than before; return how many entries there are.

    An entry that is noted so holds the cell and, in its last three bits, the move.
    """
    inf, none = np.float32(np.inf), np.float32(0.0)
    own = np.float64(min(half[np.uint64(u)], np.float32(25.0)))
    east, west = half[np.uint64(u + 1)], half[np.uint64(u - 1)]
    south, north = half[np.uint64(u + width)], half[np.uint64(u - width)]
    no_east, no_west = east if east == inf else none, west if west == inf else none
    no_south, no_north = south if south == inf else none, north if north == inf else none
    for m in range(8):
        if m == 0:
            v, there = np.uint64(u + 1), east
        elif m == 1:
            v, there = np.uint64(u - 1), west
        elif m == 2:
            v, there = np.uint64(u + width), south
        elif m == 3:
            v, there = np.uint64(u - width), north
        elif m == 4:
            v = np.uint64(u + width + 1)
            there = half[v] + (no_south + no_east)
        elif m == 5:
            v = np.uint64(u + width - 1)
            there = half[v] + (no_south + no_west)
        elif m == 6:
            v = np.uint64(u - width + 1)
            there = half[v] + (no_north + no_east)
        else:
            v = np.uint64(u - width - 1)
            there = half[v] + (no_north + no_west)
        total = np.float32(here + (1.0 if m < 4 else _SQRT2) * (own + there))
        before = come[v]
        come[v] = total if total < before else before
        cell_of[entries], come_of[entries] = (v << np.uint64(3)) | np.uint64(m), total
        entries = np.uint32(entries + np.uint32(total < before))
    return entries


@kernel
def search(cost, source_row, source_column, targets, come, move, cell_of, next_of, come_of):
    """Search from a cell towards target cells: A*.

    Narrow buckets hold the open cells in the order of their estimated cost. A cell that improves is added again and
    its older entry is skipped, so the result is exact although the cells of one bucket are taken in any order.

    Args:
        cost: float32 (rows, columns). targets: int64 (k, 2), rows and columns, at least one.
        come, move: float32, int8 (cells or more,): cost to come and the move that led there, inf and -1 at the start.
        cell_of, next_of, come_of: the entries of all buckets, each with the next entry of its bucket.

    Returns:
        The flat index of the cell where it stopped (-1: none); the number of entries used: the reached cells are
        ``cell_of`` up to there; and whether no other target has the same cost, apart from rounding.
    """
    rows, columns = cost.shape
    price = cost.reshape(-1)
    head = np.full(_BUCKETS, -1, np.int32)
    step = _DROW * columns + _DCOLUMN
    hit, hit_cost, other_cost, last_level = -1, np.inf, np.inf, -1
    source = source_row * columns + source_column
    come[source] = 0.0
    level = int(4.0 * _estimate(source_row, source_column, targets))
    head[level % _BUCKETS] = 0
    cell_of[0], next_of[0], come_of[0] = source, -1, 0.0
    entries, waiting = 1, 1
    goals = np.full(targets.shape[0], -1, np.int32)
    for k in range(goals.size):
        if 0 <= targets[k, 0] < rows and 0 <= targets[k, 1] < columns:
            goals[k] = targets[k, 0] * columns + targets[k, 1]
    while waiting > 0:
        entry = head[level % _BUCKETS]
        if entry < 0:
            if hit >= 0 and level >= last_level:
                break
            level += 1
            continue
        head[level % _BUCKETS] = next_of[entry]
        waiting -= 1
        u, here = cell_of[entry], come_of[entry]
        if here > come[u]:
            continue
        r = np.int32(u) // np.int32(columns)
        c = u - r * columns
        is_goal = False
        for k in range(goals.size):
            is_goal |= goals[k] == u
        if is_goal:
            if here < hit_cost:
                if hit != u:
                    other_cost = hit_cost
                hit, hit_cost = u, here
                if goals.size > 1:  # by rounding, a target of equal cost may lie in the next bucket
                    last_level = int(4.0 * (hit_cost + _margin(hit_cost)))
            elif hit != u:
                other_cost = min(other_cost, here)
        at_edge = r == 0 or c == 0 or r == rows - 1 or c == columns - 1
        half = 0.5 * min(price[u], np.float32(50.0))
        for m in range(8):
            if at_edge and not (0 <= r + _DROW[m] < rows and 0 <= c + _DCOLUMN[m] < columns):
                continue
            v = np.uint64(u + step[m])
            if come[v] <= here or price[v] == np.inf:  # every move costs something
                continue
            length = 1.0
            if m >= 4:
                if price[u + _DCOLUMN[m]] == np.inf or price[u + _DROW[m] * columns] == np.inf:
                    continue
                length = _SQRT2
            total = np.float32(here + length * (half + 0.5 * price[v]))
            if total >= come[v] or entries >= cell_of.size:
                continue
            come[v], move[v] = total, m
            place = total + _estimate(r + _DROW[m], c + _DCOLUMN[m], targets)
            bucket = max(int(4.0 * place), level) % _BUCKETS
            cell_of[entries], next_of[entries], come_of[entries] = v, head[bucket], total
            head[bucket] = entries
            entries, waiting = entries + 1, waiting + 1
    return hit, entries, other_cost > hit_cost + _margin(hit_cost)


@kernel
def _margin(cost):
    """Return a generous bound of the rounding error in the cost of a path."""
    return 1e-3 + 1e-5 * cost


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
