"""First frontier: the example controller of MAES."""

import numpy as np

from covey.controllers.exploration.frontier_loop import Goal, explore
from covey.mapping.occupancy.frontiers import Frontiers
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Count, Definition, Seconds


@controller("first_frontier", sees=("pose", "map", "shared_map"), needs=("map",), missions=("exploration",))
async def first_frontier(
    robot: Robot, *, min_cells: Count = 1, definition: Definition = "maes", replan_s: Seconds = 60.0
) -> None:
    """Go to the first frontier cell in storage order until it is no longer a frontier, then to the next.

    Args:
        robot: a robot with a map.
        min_cells: smallest frontier to go for, in cells.
        definition: which cells are frontier cells: ``maes``: at least 2 of 8 neighbours unknown.
        replan_s: time between two choices while driving [s].

    Unlike the source:
        Compared with maes_robot_controller.py, the example in MAES' ROS package.

        - a tag is left at each choice -> left out: no robot reads it
        - the robot waits for ever for an unreachable goal, or for a frontier -> it skips the goal; it ends

    References:
        The frontier follower of M. Z. Andreasen et al.: MAES, Artificial Life and Robotics 28, 2023; one robot, no
        coordination; used for the system test of its ROS mode.
    """
    await explore(robot, choose_first, definition=definition, min_cells=min_cells, replan_s=replan_s, near_m=0.1)


def choose_first(robot: Robot, frontiers: Frontiers, allowed: np.ndarray) -> Goal | None:
    """Return the centre [m] of the first allowed frontier cell, row by row, that has a known path."""
    assert robot.map is not None
    cells = frontiers.cells[allowed]
    if not len(cells):
        return None
    cells = cells[np.lexsort((cells[:, 1], cells[:, 0]))]
    reachable = np.flatnonzero(robot.reachable()[cells[:, 0], cells[:, 1]])
    if not len(reachable):
        return None
    x, y = robot.map.grid.to_world(cells[reachable[0]]).tolist()
    return x, y
