"""A route: the path over a belief's cells from a robot to its goal, as a line to follow."""

import math
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from covey.geometry import Grid
from covey.kernel import kernel
from covey.lazy import ndimage
from covey.onboard.driving import Driving
from covey.planning.costs import clearance, refresh_cost, soften, traversal_cost
from covey.planning.planner import corners_of


class Route(NamedTuple):
    """A line to follow, or why there is none.

    Attributes:
        line: float64 (m, 2) [m].
        narrow: its stretches where two robots cannot pass each other, float64 (k, 2): start and end of each, as lengths
            along the line [m].
        problem: "wall" if the goal is in or too close to a wall, or outside the map; or "no way"; empty if there is a
            line.
        work: the work of the searches for it, see `covey.planning.planner.Planner`.
    """

    line: np.ndarray
    narrow: np.ndarray
    problem: str = ""
    work: int = 0


SMALL_M = 1.0
"""An obstacle at a goal that extends less than this may be another robot [m]."""
JAM_COST = 200.0
"""What a metre costs more than open floor where the robot did not get through."""
NO_NARROW = NO_PLACES = np.empty((0, 2))
MOST_HELD = 0.75e9
"""The most bytes of costs that wait for the next change of their maps; all others are computed anew for each route."""
_held: WeakKeyDictionary[Grid, dict[Any, tuple[np.ndarray, np.ndarray]]] = WeakKeyDictionary()
"""The newest cost of each map, by robot type, with the occupancy from which it was computed."""


def straight(start: tuple[float, float], goal: tuple[float, float]) -> Route:
    """Return the route for a robot without a map."""
    return Route(np.array([start, goal], float), NO_NARROW)


def lethal_clearance(radius: float, resolution: float) -> float:
    """Return the clearance [m] below which a cell is not used; a cell's uncertainty counts in the robot's favour."""
    return max(radius - resolution, 0.4 * radius)


class _Last(threading.local):
    """The newest `passage` and its arguments; after choosing a goal, a robot plans its path over the same map."""

    of: Any = None
    cost = np.empty((0, 0), np.float32)


_last = _Last()


def passage(
    grid: Grid,
    start: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    jams: np.ndarray = NO_PLACES,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the occupancy that counts, and the cost of driving a metre through each cell, both (rows, columns).

    Like `ground`, but cells near robots in sight and near ``jams`` cost more, and a path leads out from the place of
    this robot. The arrays are read-only, and valid until the next call.
    """
    occupancy, cost = ground(grid, start, radius, driving, others)
    of = weakref.ref(grid), *start, radius, driving, others.tobytes(), jams.tobytes()
    if of != _last.of:
        _last.of = None  # in case of an interruption
        if _last.cost.shape != cost.shape:
            _last.cost = np.empty_like(cost)
        np.copyto(_last.cost, cost)
        row, column = grid.cell_at(*start)
        if len(others):
            _avoid(_last.cost, others, grid.origin[0], grid.origin[1], grid.resolution, 2.5 * radius, 8.0, 50.0)
        shun(_last.cost, jams, grid, radius)
        soften(_last.cost, occupancy, row, column, int(np.ceil((radius + 0.1) / grid.resolution)))
        _last.of = of
    return occupancy, _last.cost


def shun(cost: np.ndarray, jams: np.ndarray, grid: Grid, radius: float) -> None:
    """Raise the cost of the cells near places where a robot did not get through, in place."""
    if len(jams):
        _avoid(cost, jams, grid.origin[0], grid.origin[1], grid.resolution, 1.7 * radius, JAM_COST, JAM_COST)


def ground(
    grid: Grid, start: tuple[float, float], radius: float, driving: Driving, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the occupancy that counts, and the cost of driving a metre through each cell, both (rows, columns).

    At the places of robots in sight and of this one, the map may show a wall that is not there; see `plan`. The arrays
    are read-only, and valid until the next call.
    """
    x0, y0, resolution = grid.origin[0], grid.origin[1], grid.resolution
    occupancy = grid.cells.copy()
    _paint(occupancy, np.vstack((others, start)), x0, y0, resolution, radius)
    lethal, cap = lethal_clearance(radius, resolution), max(driving.comfort_m, radius)
    unknown = 1.3 if driving.unknown == "optimistic" else np.inf
    held = _held.setdefault(grid, {})
    if (radius, driving) not in held:
        near = clearance(occupancy, resolution, cap)
        cost = traversal_cost(occupancy, near, lethal, driving.comfort_m, driving.clearance_weight, unknown)
        _make_room(occupancy.nbytes + cost.nbytes)
        held[radius, driving] = occupancy, cost
        _last.of = None
        return occupancy, cost
    before, cost = held[radius, driving]
    weight = driving.clearance_weight
    if refresh_cost(cost, before, occupancy, resolution, lethal, driving.comfort_m, cap, weight, unknown):
        _last.of = None
    return before, cost


def _make_room(size: int) -> None:
    """Forget the costs that came last, so that ``size`` bytes more are at most `MOST_HELD`.

    Robots plan one after the other: those that came first are the next whose map changes a little.
    """
    maps = list(_held.values())
    held = size + sum(array.nbytes for costs in maps for pair in costs.values() for array in pair)
    while maps and held > MOST_HELD:
        costs = maps.pop()
        held -= sum(array.nbytes for pair in costs.values() for array in pair)
        costs.clear()


def plan(
    grid: Grid,
    start: tuple[float, float],
    goal: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    tolerance: float,
    been: Callable[[], np.ndarray] | None = None,
    jams: np.ndarray = NO_PLACES,
) -> Route:
    """Plan a route on an occupancy grid (int8: above 50 occupied, 0..50 free, -1 unknown).

    Args:
        grid: the belief, yaw 0.
        start, goal: x, y [m].
        radius: radius of the robot's body [m].
        driving: how to plan.
        others: float64 (k, 2), robots in sight [m]: what the map shows there is not a wall, but a detour is better.
        tolerance: largest distance of the end of the route from the goal [m].
        been: returns where robots have been seen recently [m], float64 (k, 2). If there is no route, search again and
            ignore what the map shows at these places, and obstacles smaller than `SMALL_M`. None: do not.
        jams: places where the robot did not get through [m], float64 (k, 2); it takes another way, if there is one.

    Returns:
        the route; if something smaller than `SMALL_M` stands at the goal, it may be a robot, and the route ends as
        close as possible.
    """
    route = _plan(grid, start, goal, radius, driving, others, tolerance, jams)
    if not route.problem or been is None:
        return route
    cells = grid.cells.copy()
    _paint(cells, been(), grid.origin[0], grid.origin[1], grid.resolution, radius + 0.5 * grid.resolution)
    cells = _without_small(cells, grid.resolution)
    again = _plan(grid.with_cells(cells), start, goal, radius, driving, others, tolerance, jams)
    return again._replace(work=route.work + again.work)


def _plan(
    grid: Grid,
    start: tuple[float, float],
    goal: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    tolerance: float,
    jams: np.ndarray,
) -> Route:
    """Plan on the unchanged map; see `plan`."""
    rows, columns = grid.shape
    (start_row, start_column), (row, column) = grid.cell_at(*start), grid.cell_at(*goal)
    if not (0 <= row < rows and 0 <= column < columns):
        return Route(NO_PLACES, NO_NARROW, "wall")
    start_row, start_column = min(max(start_row, 0), rows - 1), min(max(start_column, 0), columns - 1)
    occupancy, cost = passage(grid, start, radius, driving, others, jams)
    x0, y0, resolution = grid.origin[0], grid.origin[1], grid.resolution
    if not np.isfinite(cost[row, column]):
        lethal = lethal_clearance(radius, resolution)
        small = not _is_large(occupancy, row, column, int(np.ceil(lethal / resolution)), int(SMALL_M / resolution))
        reach = max(tolerance, 1.5 * SMALL_M if small else 0.0)
        row, column = _nearest_passable(cost, row, column, int(reach / resolution))
        if row < 0:
            return Route(NO_PLACES, NO_NARROW, "wall")
        goal = tuple(grid.to_world((row, column)).tolist())
    corners, work = corners_of(driving.planner, cost, (start_row, start_column), (row, column))
    if not len(corners):
        return Route(NO_PLACES, NO_NARROW, "no way", work)
    line = grid.to_world(corners)
    line[0], line[-1] = start, goal
    if len(line) == 1:
        line = np.array([start, goal], float)
    width = 4.0 * radius + 2.0 * (driving.wall_margin_m + driving.robot_margin_m) + 0.1
    return Route(line, narrow_stretches(line, occupancy, x0, y0, resolution, width), work=work)


@kernel
def _paint(occupancy, others, x0, y0, resolution, radius):
    """Free the cells within ``radius`` of each of the others, in place."""
    for k in range(others.shape[0]):
        top, bottom, left, right = _box(occupancy.shape, others[k], x0, y0, resolution, radius)
        for r in range(top, bottom):
            for c in range(left, right):
                if _is_near(r, c, others[k], x0, y0, resolution, radius):
                    occupancy[r, c] = min(occupancy[r, c], 0)


@kernel
def _avoid(cost, others, x0, y0, resolution, radius, extra, most):
    """Raise the cost of the cells within ``radius`` of each of the others by ``extra``, up to ``most``, in place."""
    for k in range(others.shape[0]):
        top, bottom, left, right = _box(cost.shape, others[k], x0, y0, resolution, radius)
        for r in range(top, bottom):
            for c in range(left, right):
                if _is_near(r, c, others[k], x0, y0, resolution, radius):
                    cost[r, c] = min(cost[r, c] + extra, most) if cost[r, c] != np.inf else np.inf


@kernel(inline=True)
def _box(shape, point, x0, y0, resolution, radius):
    """Return the first row, last + 1, first column and last + 1 that a disc around a point [m] may reach."""
    reach = int(radius / resolution) + 1
    row, column = int((point[1] - y0) // resolution), int((point[0] - x0) // resolution)
    return (
        max(row - reach, 0),
        min(row + reach + 1, shape[0]),
        max(column - reach, 0),
        min(column + reach + 1, shape[1]),
    )


@kernel(inline=True)
def _is_near(row, column, point, x0, y0, resolution, radius):
    """Return whether the centre of a cell lies within a radius of a point [m]."""
    dx, dy = x0 + (column + 0.5) * resolution - point[0], y0 + (row + 0.5) * resolution - point[1]
    return dx * dx + dy * dy <= radius * radius


def _without_small(occupancy: np.ndarray, resolution: float) -> np.ndarray:
    """Return a copy in which connected occupied cells smaller than `SMALL_M` are free."""
    labels = np.empty(occupancy.shape, np.int32)
    ndimage.label(occupancy > 50, np.ones((3, 3), int), output=labels)
    small = [False]
    for rows, columns in ndimage.find_objects(labels):
        extent = max(rows.stop - rows.start, columns.stop - columns.start)
        small.append(extent * resolution < SMALL_M)
    out = occupancy.copy()
    out[np.array(small)[labels]] = 0
    return out


@kernel
def _is_large(occupancy, row, column, near, far):
    """Return True if occupied cells within ``near`` cells of a cell are connected with one ``far`` cells away."""
    rows, columns = occupancy.shape
    side = 2 * far + 1
    seen = np.zeros((side, side), np.uint8)
    stack = np.empty((side * side, 2), np.int64)
    size = 0
    for r in range(max(row - near, 0), min(row + near + 1, rows)):
        for c in range(max(column - near, 0), min(column + near + 1, columns)):
            if occupancy[r, c] > 50 and abs(r - row) <= far and abs(c - column) <= far:
                seen[r - row + far, c - column + far] = 1
                stack[size, 0], stack[size, 1] = r, c
                size += 1
    while size > 0:
        size -= 1
        r, c = stack[size, 0], stack[size, 1]
        if abs(r - row) == far or abs(c - column) == far:
            return True
        for i in range(max(r - 1, 0), min(r + 2, rows)):
            for k in range(max(c - 1, 0), min(c + 2, columns)):
                if occupancy[i, k] > 50 and seen[i - row + far, k - column + far] == 0:
                    seen[i - row + far, k - column + far] = 1
                    stack[size, 0], stack[size, 1] = i, k
                    size += 1
    return False


@kernel
def _nearest_passable(cost, row, column, reach):
    """Return the passable cell nearest to a cell, within ``reach`` cells; (-1, -1) if there is none."""
    best, best_row, best_column = reach * reach + 1, -1, -1
    for r in range(max(row - reach, 0), min(row + reach + 1, cost.shape[0])):
        for c in range(max(column - reach, 0), min(column + reach + 1, cost.shape[1])):
            d = (r - row) ** 2 + (c - column) ** 2
            if d < best and cost[r, c] != np.inf:
                best, best_row, best_column = d, r, c
    return best_row, best_column


@kernel
def is_blocked(line, segment, x, y, occupancy, x0, y0, resolution, radius, reach):
    """Return True if an occupied cell lies within ``radius`` of the next ``reach`` metres of a line.

    Args:
        line: float64 (m, 2) [m]; ``segment`` is the segment of the robot at x, y [m].
        occupancy, x0, y0, resolution: the grid.
    """
    rows, columns = occupancy.shape
    block = int(radius / resolution)
    from_x, from_y, last_row, last_column = x, y, -block - 2, -block - 2  # no cell of the grid is so near to this one
    for i in range(segment + 1, line.shape[0]):
        dx, dy = line[i, 0] - from_x, line[i, 1] - from_y
        length = np.sqrt(dx * dx + dy * dy)
        count = int(2.5 * min(length, reach) / resolution) + 1
        for k in range(count):
            t = min(0.4 * k * resolution / max(length, 1e-9), 1.0)
            row, column = int((from_y + t * dy - y0) // resolution), int((from_x + t * dx - x0) // resolution)
            if row == last_row and column == last_column:
                continue
            near = abs(row - last_row) <= 1 and abs(column - last_column) <= 1  # then most cells have been looked at
            for r in range(max(row - block, 0), min(row + block + 1, rows)):
                left, right = max(column - block, 0), min(column + block + 1, columns)
                if near and abs(r - last_row) <= block:
                    if column < last_column:
                        right = min(right, left + 1)
                    elif column > last_column:
                        left = max(left, right - 1)
                    else:
                        right = left
                for c in range(left, right):
                    if occupancy[r, c] > 50:
                        return True
            last_row, last_column = row, column
        reach -= length
        if reach <= 0.0:
            break
        from_x, from_y = line[i, 0], line[i, 1]
    return False


@kernel
def narrow_stretches(line, occupancy, x0, y0, resolution, width):
    """Return the stretches of a line where the passage between walls is narrower than ``width``, float64 (k, 2) [m].

    Stretches less than a metre apart are joined. Obstacles smaller than `SMALL_M` may be robots and do not count.
    """
    rows, columns = occupancy.shape
    found, reached = np.empty((64, 2)), np.empty((2, 2), np.int64)
    count, s = 0, 0.0
    for i in range(line.shape[0] - 1):
        dx, dy = line[i + 1, 0] - line[i, 0], line[i + 1, 1] - line[i, 1]
        length = np.sqrt(dx * dx + dy * dy)
        steps = int(length / resolution) + 1
        for k in range(steps):
            if length == 0.0:
                break
            t = min((k + 0.5) * resolution / length, 1.0)
            x, y = line[i, 0] + t * dx - x0, line[i, 1] + t * dy - y0
            gap, sides = 0.0, 0
            for side in range(2):
                nx, ny = (dy / length, -dx / length) if side == 0 else (-dy / length, dx / length)
                d = 0.0
                while gap + d < width:
                    row, column = math.floor((y + d * ny) / resolution), math.floor((x + d * nx) / resolution)
                    if row < 0 or column < 0 or row >= rows or column >= columns:
                        break
                    if occupancy[row, column] > 50:
                        reached[side, 0], reached[side, 1] = row, column
                        sides += 1
                        break
                    d += 0.5 * resolution
                gap += d
                if sides == side:  # no wall on this side
                    break
            at = s + t * length
            if sides == 2 and gap < width:
                far = int(SMALL_M / resolution)
                if not (
                    _is_large(occupancy, reached[0, 0], reached[0, 1], 0, far)
                    and _is_large(occupancy, reached[1, 0], reached[1, 1], 0, far)
                ):
                    continue
                if count > 0 and at - found[count - 1, 1] < 1.0:
                    found[count - 1, 1] = at
                elif count < found.shape[0]:
                    found[count, 0] = found[count, 1] = at
                    count += 1
        s += length
    return found[:count].copy()
