"""Min-max reactive patrol: MAEPS' heuristic conscientious reactive rule, which scales between least and most."""

import numpy as np

from covey.controllers.patrolling.patrol_loop import best_of, graph_of, patrol
from covey.onboard.controller import controller
from covey.onboard.handle import Robot


@controller("min_max_reactive", sees=("pose", "map", "waypoints"), needs=("waypoints",), missions=("patrolling",))
async def min_max_reactive(robot: Robot) -> None:
    """Go to the neighbouring waypoint with the smallest sum of freshness and path length, both scaled to 0 ... 1.

    0 is the least and 1 the most among the neighbours. If there are two neighbours and the older one is farther away,
    both sums are 1, and the robot chooses at random. It knows the map and the waypoint graph and nothing about the
    others. It never ends.

    Unlike the source:
        Compared with MAEPS, `HeuristicConscientiousReactiveLogic.cs`.

        - all kept
        - patrols go to the nearest waypoint first; one that cannot be reached counts as visited, so that others get
          their turn

    References:
        C. van Peet, M. Mogensen, S. Santhirasegaram: Distributed multi-robot partition-based patrolling with fault
        tolerance. Master thesis, Aalborg University, 2025; their program MAEPS, HeuristicConscientiousReactiveLogic.cs,
        where it replaces the rule of Portugal and Rocha, see `heuristic_conscientious_reactive`.
    """
    graph = graph_of(robot)
    await patrol(robot, lambda at, last: choose(at, graph.neighbours[at], last, graph.distance[at], robot.random))


def choose(at: int, neighbours: np.ndarray, last_s: np.ndarray, way_m: np.ndarray, random: np.random.Generator) -> int:
    """Return the neighbour with the lowest cost, see `costs`; ties are broken at random; without neighbours, stay."""
    return best_of(at, neighbours, -costs(last_s[neighbours], way_m[neighbours]), random)


def costs(last_s: np.ndarray, way_m: np.ndarray) -> np.ndarray:
    """Return freshness + path length of waypoints, each scaled to 0 ... 1 over them (0 where all are equal).

    Args:
        last_s: times of the robot's last visits [s], (m,).
        way_m: path lengths to the waypoints [m], (m,).

    Examples:
        >>> costs(np.array([0.0, 50.0, 100.0]), np.array([30.0, 10.0, 20.0])).tolist()  # old but far, ..., fresh
        [1.0, 0.5, 1.5]
    """
    return _scaled(last_s) + _scaled(way_m)


def _scaled(values: np.ndarray) -> np.ndarray:
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    return (values - low) / (high - low) if high > low else np.zeros(len(values))
