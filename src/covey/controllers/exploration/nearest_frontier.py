"""Nearest frontier: go to the nearest border of the unknown."""

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.controllers.exploration.team_assignment import middles
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Count, Definition, MetresOrNone, Seconds


@controller("nearest_frontier", sees=("pose", "map", "shared_map"), needs=("map",), missions=("exploration",))
async def nearest_frontier(
    robot: Robot,
    *,
    min_cells: Count = 8,
    definition: Definition = "explore",
    piece_m: MetresOrNone = 0.0,
    replan_s: Seconds = 10.0,
) -> None:
    """Go to the frontier of the robot's own map with the lowest travel cost, again and again.

    Each robot decides for itself; shared maps are the only coordination.

    Args:
        robot: a robot with a map.
        min_cells: smallest frontier that counts, in cells; smaller ones count when no other is left.
        definition: which cells are frontier cells, see `covey.mapping.occupancy.frontiers.find_frontiers`.
        piece_m: a longer frontier is cut into goals, one per this length [m]; 0: a frontier is one goal.
        replan_s: time between two choices while driving [s].

    Unlike the source:
        Compared with notes on the paper.

        - only groups as large as the robot are frontiers -> smaller groups (``min_cells``) come last
        - a full turn of the sensor at each frontier -> one turn, when nothing is left
        - unreachable frontiers are never tried again -> tried again when nothing else is left, because doors may open

    References:
        B. Yamauchi: Frontier-based exploration using multiple robots. Agents 1998, pp. 47-53.
    """

    def choose_piece(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
        assert robot.map is not None
        usable = allowed & robot.reachable()[frontiers.cells[:, 0], frontiers.cells[:, 1]]
        pieces = middles(frontiers.cells[usable], frontiers.label[usable], piece_m / robot.map.grid.resolution)
        return robot.nearest(pieces)

    choose = choose_piece if piece_m else choose_nearest
    await explore(robot, choose, definition=definition, min_cells=min_cells, replan_s=replan_s)


def choose_nearest(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
    """Return the middle [m] of the frontier that is cheapest to reach; a middle is the cell nearest to the centroid.

    If no middle is allowed and reachable, it is any other allowed cell.
    """
    middle = (frontiers.cells == frontiers.nearest[frontiers.label]).all(axis=1)
    return robot.nearest(frontiers.cells[allowed & middle]) or robot.nearest(frontiers.cells[allowed & ~middle])
