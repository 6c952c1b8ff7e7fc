"""What the patrolling strategies share: choose a waypoint, go there, remember when, again and again."""

import math
from collections.abc import Callable

import numpy as np

from covey.errors import InvalidValueError
from covey.onboard.handle import Robot
from covey.planning.progress import ProgressTimer
from covey.planning.waypoints import Waypoints

Choose = Callable[[int, np.ndarray], int]
"""From the waypoint where the robot is and the times [s] of its last visits, float64 (k,): the next waypoint."""

_STALL_S = 5.0
SLOWNESS = 1.5
"""How much longer than at top speed a way is taken to last, for turns and for what is in the way."""


def graph_of(robot: Robot) -> Waypoints:
    """Return the waypoint graph that the robot was given.

    Raises:
        InvalidValueError: there is none.
    """
    if robot.waypoints is None:
        raise InvalidValueError(
            f"{robot.name} has no waypoints to patrol; give the scenario `mission: patrolling`, "
            "or the Simulation mission=covey.missions.Patrolling()"
        )
    return robot.waypoints


def travel_times(graph: Waypoints, robot: Robot) -> np.ndarray:
    """Return how long a robot takes between each two waypoints, about [s], float64 (k, k)."""
    return SLOWNESS * graph.distance / robot.model.max_speed_m_s


def best_of(at: int, neighbours: np.ndarray, worth: np.ndarray, random: np.random.Generator) -> int:
    """Return the neighbour that is worth most; ties are broken at random; without neighbours, stay.

    Args:
        at: the waypoint where the robot is.
        neighbours: of that waypoint, int (m,).
        worth: of each neighbour, (m,).
        random: for ties.
    """
    if not len(neighbours):
        return at
    best = np.flatnonzero(worth >= worth.max() - 1e-12)
    return int(neighbours[best[0] if len(best) == 1 else random.choice(best)])


async def patrol(robot: Robot, choose: Choose, arrived: Callable[[int], None] | None = None) -> None:
    """Go from waypoint to waypoint for ever, at first to the nearest one.

    A waypoint that cannot be reached now counts as visited, so that others have their turn before it is tried again.

    Args:
        robot: the robot.
        choose: the strategy's decision.
        arrived: told each waypoint that the robot has reached.
    """
    graph = graph_of(robot)
    last = np.zeros(len(graph))
    at = target = graph.nearest(*robot.pose[:2])
    while True:
        reached = await visit(robot, graph, target)
        last[target] = robot.time
        if reached:
            at = target
            if arrived is not None:
                arrived(at)
        target = choose(at, last)


async def visit(robot: Robot, graph: Waypoints, target: int, until: Callable[[Robot], bool] | None = None) -> bool:
    """Go to a waypoint; return whether the robot has got so near that it counts as a visit.

    Where something stands in the way at the waypoint itself, near enough is enough.
    """
    x, y = graph.points[target].tolist()
    robot.note(f"to waypoint {target}")
    timer = ProgressTimer(0.2, _STALL_S)
    timer.restart(robot.time, *robot.pose[:2])

    def near_enough(r: Robot) -> bool:
        stalled = timer.expired(r.time, *r.pose[:2])
        if stalled and math.hypot(r.pose[0] - x, r.pose[1] - y) < 0.95 * graph.within_m:
            return True
        return until is not None and until(r)

    await robot.goto((x, y), tolerance_m=0.5 * graph.within_m, until=near_enough)
    if math.hypot(robot.pose[0] - x, robot.pose[1] - y) < graph.within_m:
        await robot.stop()  # one step passes even when the robot is there already
        return True
    await robot.sleep(0.5)
    return False
