"""Conscientious reactive patrol: go to the neighbour that this robot has not visited for the longest time."""

import numpy as np

from covey.controllers.patrolling.patrol_loop import graph_of, patrol
from covey.onboard.controller import controller
from covey.onboard.handle import Robot


@controller("conscientious_reactive", sees=("pose", "map", "waypoints"), needs=("waypoints",), missions=("patrolling",))
async def conscientious_reactive(robot: Robot) -> None:
    """Go to the neighbouring waypoint that this robot itself has not visited for the longest time.

    The robot knows the map and the waypoint graph and nothing about the others: robots that vanish change nothing.
    Robots that start together behave the same forever. It never ends.

    Unlike the source:
        Compared with `patrolling_sim`, MAEPS.

        - ties at random (``patrolling_sim``), or the first in the list -> the first in the list
        - patrols go to the nearest waypoint first; one that cannot be reached counts as visited, so that others get
          their turn

    References:
        A. Machado, G. Ramalho, J.-D. Zucker, A. Drogoul: Multi-agent patrolling: an empirical analysis of alternative
        architectures. MABS 2002.
    """
    graph = graph_of(robot)
    await patrol(robot, lambda at, last: choose(at, graph.neighbours[at], last))


def choose(at: int, neighbours: np.ndarray, last_s: np.ndarray) -> int:
    """Return the neighbour with the earliest last visit (ties: the first); without neighbours, stay.

    Args:
        at: the waypoint where the robot is.
        neighbours: neighbours of that waypoint, int (m,).
        last_s: time of the robot's last visit of each waypoint [s], (k,).

    Examples:
        >>> choose(0, np.array([1, 2, 3]), np.array([90.0, 50.0, 20.0, 70.0]))
        2
    """
    return int(neighbours[np.argmin(last_s[neighbours])]) if len(neighbours) else at
