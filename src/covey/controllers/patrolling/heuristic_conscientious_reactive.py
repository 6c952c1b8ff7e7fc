"""Heuristic conscientious reactive patrol: weigh the idleness of a neighbour against the path length to it."""

import numpy as np

from covey.controllers.patrolling.patrol_loop import best_of, graph_of, patrol
from covey.onboard.controller import controller
from covey.onboard.handle import Robot


@controller(
    "heuristic_conscientious_reactive",
    sees=("pose", "map", "waypoints"),
    needs=("waypoints",),
    missions=("patrolling",),
)
async def heuristic_conscientious_reactive(robot: Robot) -> None:
    """Go to the neighbouring waypoint with the largest sum of idleness and nearness, each relative to the largest.

    The robot knows the map and the waypoint graph and nothing about the others: robots that vanish change nothing. Ties
    are broken at random, so robots that start together separate. It never ends.

    Unlike the source:
        Compared with `patrolling_sim`.

        - path lengths in whole pixels -> in metres
        - stops for 3 s when robots come near -> left out: the navigator keeps them apart
        - patrols go to the nearest waypoint first; one that cannot be reached counts as visited, so that others get
          their turn

    References:
        D. Portugal, R. P. Rocha: Multi-robot patrolling algorithms: examining performance and scalability. Advanced
        Robotics 27(5), 2013; their program patrolling_sim, src/algorithms.cpp (the sum). A. Almeida, G. Ramalho,
        H. Santana, P. Tedesco, T. Menezes, V. Corruble, Y. Chevaleyre: Recent advances on multi-agent patrolling.
        SBIA 2004 (the heuristic agents).
    """
    graph = graph_of(robot)
    await patrol(
        robot, lambda at, last: choose(at, graph.neighbours[at], robot.time - last, graph.distance[at], robot.random)
    )


def choose(
    at: int, neighbours: np.ndarray, idleness_s: np.ndarray, way_m: np.ndarray, random: np.random.Generator
) -> int:
    """Return the neighbour with the largest `worth`; ties are broken at random; without neighbours, stay.

    Args:
        at: the waypoint where the robot is.
        neighbours: neighbours of that waypoint, int (m,).
        idleness_s: time since the robot's last visit of each waypoint [s], (k,).
        way_m: path length to each waypoint [m], (k,).
        random: generator for ties.
    """
    return best_of(at, neighbours, worth(idleness_s[neighbours], way_m[neighbours]), random)


def worth(idleness_s: np.ndarray, way_m: np.ndarray) -> np.ndarray:
    """Return idleness / longest idleness + (longest path - path) / longest path of waypoints (0 where all are 0).

    Args:
        idleness_s: idleness of each waypoint [s], (m,).
        way_m: path length to each waypoint [m], (m,).

    Examples:
        >>> worth(np.array([100.0, 90.0]), np.array([10.0, 2.0])).tolist()  # a little fresher, but much nearer
        [1.0, 1.7]
    """
    return _share(idleness_s) + 1.0 - _share(way_m)


def _share(values: np.ndarray) -> np.ndarray:
    high = float(values.max(initial=0.0))
    return values / high if high > 0 else np.zeros(len(values))
