"""Cost of frontiers as the ROS package explore weighs them: travel cost against size."""

import numpy as np

from covey.controllers.frontier_loop import Goal, explore
from covey.mapping.frontiers import Frontiers
from covey.robots.controller import controller
from covey.robots.handle import Robot


@controller("cost_frontier", sees=("pose", "map", "shared_map"))
async def cost_frontier(
    robot: Robot,
    *,
    potential_scale: float = 0.005,
    gain_scale: float = 1.0,
    min_cells: int = 8,
    definition: str = "explore",
    replan_s: float = 1.0,
) -> None:
    """Go to the frontier with the smallest ``potential_scale`` x travel cost - ``gain_scale`` x length.

    Travel cost is in metres of open floor, the length of a frontier is its number of cells times their side [m]. With
    the defaults (those of the testbed of Yan et al. 2017) length counts far more than distance: 200 m of way weigh as
    much as 1 m of frontier.

    Args:
        robot: a robot with a map.
        potential_scale: weight of a metre of way.
        gain_scale: weight of a metre of frontier.
        min_cells: smallest frontier to go for, in cells; smaller ones when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.frontiers.find_frontiers`.
        replan_s: how often the choice is made anew on the way [s].

    References:
        ROS packages explore and explore_multirobot (C. Bosch 2008; Z. Yan 2014), planner_frequency 1 Hz.
    """

    def choose(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        assert robot.map is not None
        grid = robot.map.grid
        way = robot.travel_cost()[frontiers.cells[:, 0], frontiers.cells[:, 1]]
        way = np.where(allowed, way, np.inf)
        entry, cost = cheapest_entries(way, frontiers, grid.resolution, potential_scale, gain_scale)
        best = int(np.argmin(cost))
        if not np.isfinite(cost[best]):
            return None
        x, y = grid.to_world(frontiers.cells[entry[best]]).tolist()
        return x, y

    await explore(robot, choose, definition=definition, min_cells=min_cells, replan_s=replan_s)


def cheapest_entries(
    way: np.ndarray, frontiers: Frontiers, resolution: float, potential_scale: float, gain_scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each frontier its cell that is cheapest to reach (index into the cells) and the cost of the frontier.

    Args:
        way: travel cost to each frontier cell [m], shape (k,); inf where there is no way.
        frontiers: m frontiers of k cells.
        resolution: side of a cell [m].
        potential_scale, gain_scale: see `cost_frontier`.

    Returns:
        int64 (m,) and float64 (m,).
    """
    order = np.lexsort((way, frontiers.label))
    first = np.searchsorted(frontiers.label[order], np.arange(len(frontiers)))
    entry = order[first]
    return entry, potential_scale * way[entry] - gain_scale * frontiers.sizes * resolution
