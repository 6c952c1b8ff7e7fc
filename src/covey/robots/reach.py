"""Where a robot can get to over its own map, and what it costs."""

import numpy as np

from covey.geometry import Grid
from covey.planning.costs import clearance, soften, traversal_cost
from covey.planning.dijkstra import Field, dijkstra
from covey.robots.driving import Driving
from covey.robots.route import lethal_clearance


def travel(
    grid: Grid, start: tuple[float, float], radius: float, driving: Driving, mask: np.ndarray | None = None
) -> Field | None:
    """Return the cost to come from ``start`` to the cells of an occupancy grid, in cells of open floor.

    Args:
        grid: the belief, int8 (-1 unknown, 0 free, 100 occupied), yaw 0.
        start: x, y [m].
        radius: of the robot's body [m].
        driving: how the robot plans.
        mask: stop at the cheapest of these cells.

    Returns:
        The field; None when ``start`` lies outside the grid.
    """
    row, column = (int(i) for i in grid.to_cells(start))
    if not grid.inside((row, column)):
        return None
    near = clearance(grid.cells, grid.resolution, max(driving.comfort_m, radius))
    lethal = lethal_clearance(radius, grid.resolution)
    unknown = 1.3 if driving.unknown == "optimistic" else np.inf
    cost = traversal_cost(grid.cells, near, lethal, driving.comfort_m, driving.clearance_weight, unknown)
    soften(cost, grid.cells, row, column, int(np.ceil((radius + 0.1) / grid.resolution)))
    return dijkstra(cost, (row, column), mask)
