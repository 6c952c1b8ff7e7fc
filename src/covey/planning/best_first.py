"""Paths over the vertices of a landscape: a best-first search to the goal, then leaps back, which leave few waypoints.

The forward pass searches a chain of neighbouring vertices that are mapped and drivable. The reverse pass starts at the
goal. Each time, it leaps to the farthest earlier vertex to which a straight line keeps its distance from bad vertices
and stays over mapped ones.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007 (lines that come
    no nearer than 0.5 m to a vertex that is too steep). P. E. Hart, N. J. Nilsson, B. Raphael: A formal basis for the
    heuristic determination of minimum cost paths. IEEE Transactions on Systems Science and Cybernetics 4(2), 1968.
"""

import itertools
import math

import numpy as np

from covey.geometry.grid import Grid
from covey.kernel import kernel
from covey.planning.costs import clearance

CLEARANCE_M = 0.5
"""Distance of a line from bad vertices [m]."""
START_M = 2.0
"""A robot that stands where no line may lead starts at the nearest passable vertex within this distance [m]."""
_DROW = np.array([0, 0, 1, -1, 1, 1, -1, -1])
_DCOLUMN = np.array([1, -1, 0, 0, 1, -1, 1, -1])
_SQRT2 = math.sqrt(2.0)


class LandscapePaths:
    """The paths over a landscape, as a robot believes it to be at one moment.

    Args:
        grid: int8, -1 unmapped, 0 drivable, above 50 bad; the centres of its cells are the vertices; yaw 0.
        clearance_m: distance of lines from bad vertices [m].

    Attributes:
        passable: bool (rows, columns), where a line may turn.
    """

    def __init__(self, grid: Grid, clearance_m: float = CLEARANCE_M):
        self.grid, self.reach = grid, clearance_m / grid.resolution
        self.passable = grid.cells == 0
        if self.reach > 1.0:
            apart = clearance(grid.cells, 1.0, self.reach) + 0.5  # from centre to centre [cells]
            self.passable &= apart >= self.reach - 1e-5
        self._cuts = self.reach <= 0.5 * _SQRT2  # distance of a diagonal from two bad vertices beside it [cells]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return row and column of a point [m] as fractional numbers; whole numbers are vertices."""
        x0, y0, _ = self.grid.origin
        return (y - y0) / self.grid.resolution - 0.5, (x - x0) / self.grid.resolution - 0.5

    def state(self, x: float, y: float) -> int:
        """Return the state of the vertex nearest to a point [m]; outside the grid it is bad."""
        row, column = self.grid.cell_at(x, y)
        rows, columns = self.grid.shape
        return int(self.grid.cells[row, column]) if 0 <= row < rows and 0 <= column < columns else 100

    def vertex(self, x: float, y: float, within_m: float) -> tuple[int, int] | None:
        """Return row and column of the nearest passable vertex within a distance [m] of a point; None if none is."""
        row, column = self.at(x, y)
        found = nearest_passable(self.passable, row, column, within_m / self.grid.resolution)
        return found if found[0] >= 0 else None

    def distances(self, x: float, y: float) -> np.ndarray:
        """Return the path length from a point to each vertex [m], float64 (rows, columns), inf if there is no path."""
        start = self.vertex(x, y, START_M)
        if start is None:
            return np.full(self.grid.shape, np.inf)
        come, _ = search(self.passable, self._cuts, start[0], start[1], -1, -1)
        return come * self.grid.resolution

    def plan(self, start: tuple[float, float], goal: tuple[float, float]) -> np.ndarray | None:
        """Return the waypoints from one point to another [m], float64 (k, 2), both included; None if there is no path.

        If the line to the goal itself came too close to a bad vertex, the path ends at the vertex beside the goal.
        There is no path to an unmapped goal.
        """
        first, last = self.vertex(*start, START_M), self.vertex(*goal, 0.75 * self.grid.resolution)
        if first is None or last is None or self.state(*goal) < 0:
            return None
        chain = best_first(self.passable, first, last, self._cuts)
        if not len(chain):
            return None
        points = np.vstack([self.at(*start), chain, self.at(*goal)])
        if not is_clear(self.grid.cells, points[-2], points[-1], self.reach):
            points = points[:-1]
        rows, columns = leap_back(points, self.grid.cells, self.reach).T
        x0, y0, _ = self.grid.origin
        return np.column_stack((x0 + (columns + 0.5) * self.grid.resolution, y0 + (rows + 0.5) * self.grid.resolution))

    def is_clear(self, line: np.ndarray) -> bool:
        """Return whether straight lines through points [m], float64 (k, 2), obey the rule for waypoints."""
        corners = np.array([self.at(x, y) for x, y in line])
        pairs = itertools.pairwise(corners)
        return all(is_clear(self.grid.cells, a, b, self.reach) for a, b in pairs)


def best_first(
    passable: np.ndarray, start: tuple[int, int], goal: tuple[int, int], cuts_corners: bool = True
) -> np.ndarray:
    """Return the shortest chain of neighbouring passable vertices, 8-connected: the forward pass.

    Args:
        passable: bool (rows, columns).
        start, goal: row and column.
        cuts_corners: whether a diagonal may pass between two vertices that are not passable.

    Returns:
        int64 (m, 2), rows and columns from start to goal; empty (0, 2) if there is no path.

    Examples:
        >>> free = np.array([[1, 0, 1], [1, 0, 1], [1, 1, 0]], bool)
        >>> best_first(free, (0, 0), (0, 2)).tolist()
        [[0, 0], [1, 0], [2, 1], [1, 2], [0, 2]]
    """
    come, move = search(passable, cuts_corners, start[0], start[1], goal[0], goal[1])
    if come[goal] == np.inf:
        return np.empty((0, 2), np.int64)
    chain = [goal]
    while chain[-1] != start:
        row, column = chain[-1]
        m = move[row, column]
        chain.append((row - int(_DROW[m]), column - int(_DCOLUMN[m])))
    return np.array(chain[::-1], np.int64)


def leap_back(points: np.ndarray, occupancy: np.ndarray, reach: float) -> np.ndarray:
    """Return the points of a chain that remain after going back in the longest clear leaps: the reverse pass.

    Args:
        points: float64 (m, 2), rows and columns, each next to the one before; such a step always counts as clear.
        occupancy: int8 (rows, columns), see `is_clear`.
        reach: distance of lines from bad vertices [cells].
    """
    keep = [len(points) - 1]
    while keep[-1] > 0:
        at, to = keep[-1], 0
        while to < at - 1 and not is_clear(occupancy, points[to], points[at], reach):
            to += 1
        keep.append(to)
    return points[keep[::-1]]


@kernel
def search(passable, cuts_corners, start_row, start_column, goal_row, goal_column):
    """Search best first from one vertex to another, or to all vertices if the goal is (-1, -1).

    A binary heap orders the open vertices by the length so far plus, with a goal, the octile distance left.

    Returns:
        The path length [cells], float64 (rows, columns), inf where not reached, and the move that led there, int8.
    """
    rows, columns = passable.shape
    come, move = np.full((rows, columns), np.inf), np.full((rows, columns), -1, np.int8)
    key, cell, size = np.empty(8 * rows * columns + 1), np.empty(8 * rows * columns + 1, np.int64), 1
    come[start_row, start_column] = 0.0
    key[0], cell[0] = 0.0, start_row * columns + start_column
    while size > 0:
        best, u = key[0], cell[0]
        size -= 1
        last, moved, k = key[size], cell[size], 0
        while 2 * k + 1 < size:  # the last entry sinks from the top
            child = 2 * k + 1
            if child + 1 < size and key[child + 1] < key[child]:
                child += 1
            if key[child] >= last:
                break
            key[k], cell[k] = key[child], cell[child]
            k = child
        key[k], cell[k] = last, moved
        r, c = u // columns, u % columns
        if r == goal_row and c == goal_column:
            break
        here = come[r, c]
        if best > here + _left(r, c, goal_row, goal_column) + 1e-9:
            continue  # it has been reached on a shorter path
        for m in range(8):
            i, j = r + _DROW[m], c + _DCOLUMN[m]
            if i < 0 or j < 0 or i >= rows or j >= columns or not passable[i, j]:
                continue
            if m >= 4 and not cuts_corners and not (passable[r, j] and passable[i, c]):
                continue
            total = here + (_SQRT2 if m >= 4 else 1.0)
            if total >= come[i, j] - 1e-9:
                continue
            come[i, j], move[i, j] = total, m
            ahead, k = total + _left(i, j, goal_row, goal_column), size
            size += 1
            while k > 0 and key[(k - 1) // 2] > ahead:  # the new entry rises from the bottom
                key[k], cell[k] = key[(k - 1) // 2], cell[(k - 1) // 2]
                k = (k - 1) // 2
            key[k], cell[k] = ahead, i * columns + j
    return come, move


@kernel
def _left(row, column, goal_row, goal_column):
    """Return the octile distance to the goal [cells]; 0 without a goal."""
    if goal_row < 0:
        return 0.0
    a, b = abs(row - goal_row), abs(column - goal_column)
    return max(a, b) + (_SQRT2 - 1.0) * min(a, b)


@kernel
def is_clear(occupancy, start, end, reach):
    """Return whether a straight line passes over mapped vertices only and keeps its distance from bad ones.

    Args:
        occupancy: int8 (rows, columns): -1 unmapped, 0 drivable, above 50 bad.
        start, end: float64 (2,), row and column [cells].
        reach: least distance of a bad vertex from the line [cells].
    """
    rows, columns = occupancy.shape
    dr, dc = end[0] - start[0], end[1] - start[1]
    length2 = dr * dr + dc * dc
    count = math.ceil(2.0 * math.sqrt(length2)) + 1
    near = math.ceil(reach + 0.75)  # 0.25 from a sample to the line, and 0.5 from there to its vertex
    for i in range(count + 1):
        t = i / count
        row, column = math.floor(start[0] + t * dr + 0.5), math.floor(start[1] + t * dc + 0.5)
        if row < 0 or column < 0 or row >= rows or column >= columns or occupancy[row, column] < 0:
            return False
        for a in range(max(row - near, 0), min(row + near + 1, rows)):
            for b in range(max(column - near, 0), min(column + near + 1, columns)):
                if occupancy[a, b] <= 50:
                    continue
                s = 0.0
                if length2 > 0.0:
                    s = min(max(((a - start[0]) * dr + (b - start[1]) * dc) / length2, 0.0), 1.0)
                if (start[0] + s * dr - a) ** 2 + (start[1] + s * dc - b) ** 2 < reach * reach - 1e-9:
                    return False
    return True


@kernel
def nearest_passable(passable, row, column, within):
    """Return row and column of the passable vertex nearest to a place, in cells; (-1, -1) if there is none."""
    found_row, found_column, least = -1, -1, within * within + 1e-9
    for r in range(max(math.floor(row - within), 0), min(math.ceil(row + within) + 1, passable.shape[0])):
        for c in range(max(math.floor(column - within), 0), min(math.ceil(column + within) + 1, passable.shape[1])):
            d = (r - row) ** 2 + (c - column) ** 2
            if passable[r, c] and d < least:
                found_row, found_column, least = r, c, d
    return found_row, found_column
