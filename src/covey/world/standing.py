"""Where a body can stand: the one rule for starts, for robots that somebody puts down, and for routes on the truth.

A body counts as the circle around it. It can stand where this circle overlaps no wall, no unknown area and no other
body. A robot that drives keeps some centimetres more where there is room (`covey.onboard.driving.Driving`), and it
can drive away from every such place.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from covey.geometry.grid import Grid
from covey.lazy import spatial
from covey.world.state import AnyWorld
from covey.world.world import OPEN, UNKNOWN

TOUCH = 1e-9
"""Overlap of bodies that is tolerated as rounding [m]."""


def passable(world: AnyWorld, radius: float) -> np.ndarray:
    """Return the cells, bool (rows, columns), on whose centres a body of a radius [m] can stand."""
    return world.free & (world.clearance >= radius * (1 - 1e-6))


def obstacle(
    world: AnyWorld, x: float, y: float, radius: float, others: np.ndarray, names: Sequence[str]
) -> tuple[str, str]:
    """Return what keeps a body from standing at x, y [m], ``wall`` or a name, and why; both empty if it can.

    Args:
        world: the truth.
        x, y, radius: the body [m].
        others: other bodies, float64 (k, 3): x, y, radius [m].
        names: of the others.
    """
    cell = world.grid.to_cells((x, y))
    if not world.grid.inside(cell) or world.grid.cells[tuple(cell)] == OPEN:
        return "wall", "this is outside the world"
    if world.solid[tuple(cell)]:
        if world.grid.cells[tuple(cell)] != UNKNOWN:
            return "wall", "this is inside a wall"
        return "wall", f"this is inside an unknown area{world.remark and f' ({world.remark})'}"
    gap = gap_to_wall(world, x, y, radius)
    if gap < radius - TOUCH:
        return "wall", f"a wall is {gap:.3g} m away, but the radius of the body is {radius:.3g} m"
    overlap = others[:, 2] + radius - np.hypot(*(others[:, :2] - (x, y)).T)
    if len(others) and overlap.max() > TOUCH:
        worst = int(np.argmax(overlap))
        at = f"({others[worst, 0]:g}, {others[worst, 1]:g})"
        return names[worst], f"it overlaps {names[worst]} at {at} by {overlap[worst]:.3g} m"
    return "", ""


def nearest_free(world: AnyWorld, x: float, y: float, radius: float, others: np.ndarray) -> str:
    """Return a sentence that names the free place nearest to x, y [m]; arguments as for `obstacle`."""
    trees = [(float(r), spatial.KDTree(others[others[:, 2] == r, :2])) for r in np.unique(others[:, 2])]

    def allows(points: np.ndarray) -> np.ndarray:
        apart = np.ones(len(points), bool)
        for other, tree in trees:
            apart &= np.isinf(tree.query(points, distance_upper_bound=radius + other)[0])
        return apart

    cell = nearest_cell(world.grid, passable(world, radius), (x, y), allows)
    if cell is None:
        return f"there is no free place for it in this world{world.remark and f' ({world.remark})'}"
    px, py = world.grid.to_world(cell)
    return f"the nearest free place is ({px:.2f}, {py:.2f})"


def nearest_cell(
    grid: Grid, mask: np.ndarray, point: tuple[float, float], allows: Callable[[np.ndarray], np.ndarray] | None = None
) -> np.ndarray | None:
    """Return row and column of the True cell whose centre is nearest to a point [m], or None.

    Args:
        grid: the grid of the cells.
        mask: bool (rows, columns).
        point: x, y [m].
        allows: returns which of some centres (m, 2) [m] count, bool (m,); None: all.
    """
    at = np.clip(grid.to_cells(point), 0, np.array(mask.shape) - 1)
    beyond, reach = float(np.hypot(*(grid.to_world(at) - point))), 16
    while True:
        low, high = np.maximum(at - reach, 0), at + reach + 1
        cells = low + np.argwhere(mask[low[0] : high[0], low[1] : high[1]])
        points = grid.to_world(cells)
        if allows is not None:
            allowed = allows(points)
            cells, points = cells[allowed], points[allowed]
        away = np.hypot(*(points - point).T)
        is_all = not low.any() and bool((high >= mask.shape).all())
        if len(cells) and (is_all or away.min() <= reach * grid.resolution - beyond):  # all others are farther
            return cells[np.argmin(away)]
        if is_all:
            return None
        reach *= 4


def gap_to_wall(world: AnyWorld, x: float, y: float, reach_m: float) -> float:
    """Return the distance [m] from a point to the nearest solid square, at most ``reach_m``; 0 inside a solid."""
    grid = world.grid
    x0, y0, c, s, resolution = grid.frame
    u, v = (c * (x - x0) + s * (y - y0)) / resolution, (c * (y - y0) - s * (x - x0)) / resolution
    reach = min(reach_m / resolution, 64.0)
    while True:
        r, c = _solid_within(world, u, v, reach)
        du = np.maximum(np.abs(c + 0.5 - u) - 0.5, 0.0)
        dv = np.maximum(np.abs(r + 0.5 - v) - 0.5, 0.0)
        gap = resolution * float(np.hypot(du, dv).min(initial=math.inf))
        if gap <= resolution * reach or reach >= min(reach_m / resolution, 2.0 * sum(grid.shape)):
            return min(reach_m, gap)
        reach = min(4.0 * reach, reach_m / resolution)


def _solid_within(world: AnyWorld, u: float, v: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of the solid squares in a window around a point, all in cells."""
    rows, columns = world.grid.shape
    r0, r1 = max(0, math.floor(v - reach)), min(rows, math.floor(v + reach) + 1)
    c0, c1 = max(0, math.floor(u - reach)), min(columns, math.floor(u + reach) + 1)
    if r0 >= r1 or c0 >= c1:
        return np.empty(0, int), np.empty(0, int)
    r, c = np.nonzero(world.solid[r0:r1, c0:c1])
    return r + r0, c + c0
