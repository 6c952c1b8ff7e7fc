"""Cost frontier: weigh frontiers as the ROS package explore does, navigation potential against size."""

import math

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.progress import Blacklist
from covey.robots.parameters import Count, Definition, Scale, Seconds, Weight

NEUTRAL = 50.0
"""Potential that navfn adds for a cell of open floor (COST_NEUTRAL of navfn.h)."""
_FOUR = ((0, 1), (1, 0), (0, -1), (-1, 0))


@controller("cost_frontier", sees=("pose", "map", "shared_map"), needs=("map",), missions=("exploration",))
async def cost_frontier(
    robot: Robot,
    *,
    potential_scale: Scale = 0.005,
    gain_scale: Weight = 1.0,
    min_cells: Count = 9,
    definition: Definition = "explore",
    replan_s: Seconds = 1.0,
) -> None:
    """Go to the frontier with the smallest ``potential_scale`` x potential - ``gain_scale`` x length.

    The potential is that of navfn: 50 for each cell of open floor on the path, and more near walls. A metre of path
    thus weighs 50 ``potential_scale`` / (side of a cell): with the defaults (those of the testbed of Yan et al. 2017)
    1.25 on their map of 0.2 m, and 2.5 on one of 0.1 m. The length of a frontier is its number of cells times their
    side [m].

    A goal is the centre of gravity of a frontier, or a place up to one body radius before it: moved back cell by cell,
    away from the mean direction of the unknown. The robot takes the cheapest goal, and chooses again every
    ``replan_s``. Robots share their maps and nothing else; a robot that vanishes changes nothing. It ends when it can
    reach no frontier.

    Args:
        robot: a robot with a map.
        potential_scale: weight of the potential.
        gain_scale: weight of a metre of frontier.
        min_cells: smallest frontier, in cells; smaller ones count when no other is left. In Yan et al. it is ten times
            the inscribed radius of the Pioneer, 1.78 m.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        replan_s: time between two choices while driving [s].

    Unlike the source:
        Compared with explore_multirobot, explore_frontier.cpp and explore.cpp, and navfn.

        - frontiers (``definition: explore``), goals, ``replan_s`` and cost are kept
        - only groups of at least 10 x 0.178 m count -> smaller ones come last (``min_cells: 9`` of 0.2 m)
        - at most 255 groups -> no limit
        - the direction of a frontier comes from a quaternion without sign -> corrected: the direction itself
        - + ``orientation_scale`` x change of heading -> left out: 0 in the testbed, and x and y are swapped
        - potential: a planar wave over four neighbours -> paths over eight neighbours, up to 8 % longer; Covey's costs
          near walls and in the unknown
        - goals near a black-listed one are skipped for ever -> until nothing else is left
        - black-listed: aborted, or no shorter plan for 3 s -> aborted, no motion of 0.3 m for 15 s, or reached
        - a frontier without a reachable goal stays unexplored -> its cheapest cell is the goal
        - loops are closed on a graph of the path; goals from outside -> left out

    References:
        ROS packages explore and explore_multirobot (C. Bosch 2008; Z. Yan 2014), planner_frequency 1 Hz; navfn of the
        ROS navigation stack.
    """
    assert robot.map is not None
    refused = Blacklist(tolerance_m=2.0 * robot.map.grid.resolution)

    def choose(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        return choose_cheapest(robot, frontiers, allowed, refused, potential_scale, gain_scale)

    await explore(
        robot,
        choose,
        definition=definition,
        min_cells=min_cells,
        replan_s=replan_s,
        near_m=math.inf,
        refused=refused,
    )


def choose_cheapest(
    robot: Robot,
    frontiers: Frontiers,
    allowed: np.ndarray,
    refused: Blacklist,
    potential_scale: float,
    gain_scale: float,
) -> Goal | None:
    """Return the goal [m] with the lowest cost, None if none can be reached.

    If no goal of a frontier can be reached, or all were refused, its cell that is cheapest to reach stands for it.

    Args:
        robot: the robot.
        frontiers: the frontiers of its map.
        allowed: which of their cells may be chosen, bool (k,).
        refused: goals that were tried in vain.
        potential_scale, gain_scale: see `cost_frontier`.
    """
    assert robot.map is not None
    grid, way = robot.map.grid, robot.travel_cost()
    back = math.ceil(robot.model.outer_radius_m / grid.resolution - 1e-9)
    places = backed_off(robot.map.occupancy(), frontiers, back)
    edge = np.where(allowed, way[frontiers.cells[:, 0], frontiers.cells[:, 1]], np.inf)
    entry = cheapest_entries(edge, frontiers)
    inside = grid.inside(np.floor(places + 0.5))
    row, column = np.where(inside[..., None], np.floor(places + 0.5), 0).astype(int).transpose(2, 0, 1)
    to_goal = np.where(inside & refused.clear(grid.to_world(places)), way[row, column], np.inf)
    none = ~np.isfinite(to_goal).any(axis=1)
    places[none, 0], to_goal[none, 0] = frontiers.cells[entry[none]], edge[entry[none]]
    cost = frontier_cost(to_goal, frontiers.sizes[:, None], grid.resolution, potential_scale, gain_scale)
    best = np.unravel_index(int(np.argmin(cost)), cost.shape)
    if not np.isfinite(cost[best]):
        return None
    x, y = grid.to_world(places[best]).tolist()
    return x, y


def frontier_cost(way_m, cells, resolution: float, potential_scale: float, gain_scale: float):
    """Return the cost of a frontier minus its gain.

    Args:
        way_m: travel cost to the frontier [m].
        cells: its number of cells.
        resolution: side of a cell [m].
        potential_scale, gain_scale: see `cost_frontier`.

    Examples:
        >>> frontier_cost(4.0, 15, 0.2, 0.005, 1.0)  # a path of 20 cells is a potential of 1000; 3 m of frontier
        2.0
    """
    return potential_scale * NEUTRAL * (way_m / resolution) - gain_scale * cells * resolution


def cheapest_entries(way: np.ndarray, frontiers: Frontiers) -> np.ndarray:
    """Return the cell of each frontier that is cheapest to reach, int64 (m,), as an index into the cells.

    Args:
        way: travel cost to each frontier cell, shape (k,); inf where there is no path.
        frontiers: m frontiers of k cells.
    """
    order = np.lexsort((way, frontiers.label))
    return order[np.searchsorted(frontiers.label[order], np.arange(len(frontiers)))]


def backed_off(occupancy: np.ndarray, frontiers: Frontiers, back: int) -> np.ndarray:
    """Return the goals of each frontier: its centre of gravity, and the places 1, 2, ... cells before it.

    "Before" means away from the unknown: opposite to the mean direction from frontier cells to unknown cells.

    Args:
        occupancy: int8 (rows, columns), -1 unknown.
        frontiers: the frontiers of that map.
        back: distance of the last place from the frontier [cells].

    Returns:
        float64 (m, back + 1, 2), rows and columns.

    Examples:
        >>> from covey.mapping.occupancy.frontiers import find_frontiers
        >>> cells = np.array([[0, 0, 0, -1], [0, 0, 0, -1], [0, 0, 0, -1]], np.int8)
        >>> backed_off(cells, find_frontiers(cells), 2).tolist()
        [[[1.0, 2.0], [1.0, 1.0], [1.0, 0.0]]]
    """
    unknown = np.pad(occupancy == -1, 1)
    row, column = frontiers.cells[:, 0] + 1, frontiers.cells[:, 1] + 1
    beside = np.array([unknown[row + i, column + j] for i, j in _FOUR], float)
    direction = beside.T @ np.array(_FOUR) / np.maximum(beside.sum(axis=0), 1.0)[:, None]
    toward = np.stack([np.bincount(frontiers.label, direction[:, i]) for i in (0, 1)], axis=-1)
    length = np.hypot(*toward.T)
    toward /= np.where(length > 1e-9, length, 1.0)[:, None]
    return frontiers.centroids[:, None] - np.arange(back + 1.0)[:, None] * toward[:, None]
