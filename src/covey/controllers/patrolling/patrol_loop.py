"""Shared by the patrolling strategies: choose a waypoint, go there, record the time, again and again."""

import math
from collections.abc import Callable

import numpy as np

from covey.errors import InvalidValueError
from covey.onboard.handle import Robot
from covey.planning.progress import ProgressTimer
from covey.planning.waypoints import Waypoints

Choose = Callable[[int, np.ndarray], int]
"""Given the robot's waypoint and the times [s] of its last visits, float64 (k,), returns the next waypoint."""

_STALL_S = 5.0
SLOWNESS = 1.5
"""Factor on the travel time at top speed that allows for turns and obstacles."""


def graph_of(robot: Robot) -> Waypoints:
    """Return the waypoint graph that the robot was given.

    Raises:
        InvalidValueError: the robot was given none.
    """
    if robot.waypoints is None:
        raise InvalidValueError(
            f"{robot.name} has no waypoints to patrol; give the scenario `mission: patrolling`, "
            "or the Simulation mission=covey.missions.Patrolling()"
        )
    return robot.waypoints


def travel_times(graph: Waypoints, robot: Robot) -> np.ndarray:
    """Return the approximate travel time between every two waypoints [s], float64 (k, k)."""
    return SLOWNESS * graph.distance / robot.model.max_speed_m_s


def best_of(at: int, neighbours: np.ndarray, worth: np.ndarray, random: np.random.Generator) -> int:
    """Return the neighbour with the largest worth; ties are broken at random; without neighbours, stay.

    Args:
        at: the waypoint where the robot is.
        neighbours: neighbours of that waypoint, int (m,).
        worth: worth of each neighbour, (m,).
        random: generator for ties.
    """
    if not len(neighbours):
        return at
    best = np.flatnonzero(worth >= worth.max() - 1e-12)
    return int(neighbours[best[0] if len(best) == 1 else random.choice(best)])


async def patrol(robot: Robot, choose: Choose, arrived: Callable[[int], None] | None = None) -> None:
    """Go from waypoint to waypoint forever, first to the nearest one.

    A waypoint that cannot be reached now counts as visited, so that others get their turn before it is tried again.

    Args:
        robot: the robot.
        choose: the strategy's decision.
        arrived: called with each waypoint that the robot has reached.
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
    """Go to a waypoint; return whether the robot came close enough for a visit.

    If something blocks the waypoint itself, the robot visits it from close by.
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
        await robot.stop()  # one step passes even if the robot is there already
        return True
    await robot.sleep(0.5)
    return False
