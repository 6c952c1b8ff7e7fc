"""Where a robot can get to over its own map, and what it costs."""

import numpy as np

from covey.geometry import Grid
from covey.planning.dijkstra import Field, dijkstra
from covey.robots.driving import Driving
from covey.robots.route import passage


def travel(
    grid: Grid,
    start: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    mask: np.ndarray | None = None,
) -> Field | None:
    """Return the cost to come from ``start`` to the cells of an occupancy grid, in cells of open floor.

    Args:
        grid: the belief, int8 (-1 unknown, 0 free, 100 occupied), yaw 0.
        start: x, y [m].
        radius: of the robot's body [m].
        driving: how the robot plans.
        others: float64 (k, 2), robots in sight [m], which are no walls.
        mask: stop at the cheapest of these cells.

    Returns:
        The field; None when ``start`` lies outside the grid.
    """
    row, column = (int(i) for i in grid.to_cells(start))
    if not grid.inside((row, column)):
        return None
    _, cost = passage(grid, start, radius, driving, others)
    return dijkstra(cost, (row, column), mask)
