"""Heuristic conscientious reactive patrol: weigh how long a neighbour was left alone against the way there."""

import numpy as np

from covey.controllers.patrol_loop import graph_of, patrol
from covey.robots.controller import controller
from covey.robots.handle import Robot


@controller("heuristic_conscientious_reactive", sees=("pose", "map", "waypoints"))
async def heuristic_conscientious_reactive(robot: Robot) -> None:
    """Go on to the neighbouring waypoint with the least sum of freshness and way, both scaled to 0 ... 1.

    It knows the map and the waypoint graph and nothing of the others: partners that vanish change nothing. Ties are
    broken at random, so robots that start together part. It never ends.

    References:
        A. Almeida, G. Ramalho, H. Santana, P. Tedesco, T. Menezes, V. Corruble, Y. Chevaleyre: Recent advances on
        multi-agent patrolling. SBIA 2004. D. Portugal, R. P. Rocha: Multi-robot patrolling algorithms: examining
        performance and scalability. Advanced Robotics 27(5), 2013 (the sum).
    """
    graph = graph_of(robot)
    await patrol(robot, lambda at, last: choose(at, graph.neighbours[at], last, graph.distance[at], robot.random))


def choose(at: int, neighbours: np.ndarray, last_s: np.ndarray, way_m: np.ndarray, random: np.random.Generator) -> int:
    """Return the neighbour with the least cost, see `costs`; ties are broken at random; without neighbours, stay."""
    if not len(neighbours):
        return at
    cost = costs(last_s[neighbours], way_m[neighbours])
    best = np.flatnonzero(cost <= cost.min() + 1e-12)
    return int(neighbours[best[0] if len(best) == 1 else random.choice(best)])


def costs(last_s: np.ndarray, way_m: np.ndarray) -> np.ndarray:
    """Return freshness + way of some waypoints, each scaled to 0 ... 1 over them (0 where all are equal).

    Args:
        last_s: own last visits [s], (m,). way_m: lengths of the ways there [m], (m,).

    Examples:
        >>> costs(np.array([0.0, 50.0, 100.0]), np.array([30.0, 10.0, 20.0])).tolist()  # old but far, ..., fresh
        [1.0, 0.5, 1.5]
    """
    return _scaled(last_s) + _scaled(way_m)


def _scaled(values: np.ndarray) -> np.ndarray:
    low, high = float(values.min()), float(values.max())
    return (values - low) / (high - low) if high > low else np.zeros(len(values))
