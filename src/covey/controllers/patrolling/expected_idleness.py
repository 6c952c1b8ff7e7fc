"""Expected idleness: go where a visit earns most idleness per second of way, given where the others will be."""

import numpy as np

from covey.controllers.patrolling.patrol_loop import graph_of, patrol, travel_times
from covey.onboard.controller import controller
from covey.onboard.handle import Robot

_VISIT = "visit"


@controller("expected_idleness", sees=("pose", "map", "waypoints", "radio"), needs=("waypoints",))
async def expected_idleness(robot: Robot) -> None:
    """Go to the neighbouring waypoint with the largest idleness at arrival per second of travel.

    On arriving, a robot broadcasts when it was here, and when it expects to be at the waypoint that it goes to next;
    the others keep the latest time for each waypoint. Of its own visits it knows when they took place. A partner that
    vanishes leaves one announced visit that does not take place; then its waypoints grow old and are taken by the
    others. Out of reach, a robot goes by its own visits. It never ends.

    References:
        C. Yan, T. Zhang: Multi-robot patrol: a distributed algorithm based on expected idleness. International Journal
        of Advanced Robotic Systems 13(6), 2016; with the announced visit in place of the set of intentions, as MAEPS
        (2025) has it.
    """
    graph = graph_of(robot)
    travel_s = travel_times(graph, robot)
    expected = np.zeros(len(graph))

    def arrived(at: int) -> None:
        expected[at] = max(expected[at], robot.time)

    def next_one(at: int, last: np.ndarray) -> int:
        for message in robot.messages(_VISIT):
            for waypoint, time_s in message.payload:
                expected[waypoint] = max(expected[waypoint], time_s)
        np.maximum(expected, last, out=expected)
        target = choose(at, graph.neighbours[at], expected, travel_s[at], robot.time)
        arrival_s = robot.time + float(travel_s[at, target])
        robot.send([(at, robot.time), (target, arrival_s)], kind=_VISIT)
        return target

    await patrol(robot, next_one, arrived)


def choose(at: int, neighbours: np.ndarray, expected_s: np.ndarray, travel_s: np.ndarray, time_s: float) -> int:
    """Return the neighbour n with the largest |t + T_n - v_n| / T_n (ties: the first); without neighbours, stay.

    Args:
        at: the waypoint where the robot is.
        neighbours: of that waypoint, int (m,).
        expected_s: v, the latest visit of each waypoint that took place or was announced [s], (k,).
        travel_s: T, time to each waypoint [s], (k,).
        time_s: t, now [s].

    Examples:
        >>> # 100 s old and 10 s away earns 11 per second; 20 s old and 1 s away earns 21.
        >>> choose(0, np.array([1, 2]), np.array([100.0, 0.0, 80.0]), np.array([0.0, 10.0, 1.0]), 100.0)
        2
        >>> # Somebody says that he will be there in a second.
        >>> choose(0, np.array([1, 2]), np.array([100.0, 0.0, 101.0]), np.array([0.0, 10.0, 1.0]), 100.0)
        1
    """
    if not len(neighbours):
        return at
    t = np.maximum(travel_s[neighbours], 1e-9)
    return int(neighbours[np.argmax(np.abs(time_s + t - expected_s[neighbours]) / t)])
