"""Expected idleness: go where a visit gains most idleness per second of travel, given the others' announced visits."""

import numpy as np

from covey.controllers.patrolling.patrol_loop import graph_of, patrol, travel_times
from covey.onboard.controller import controller
from covey.onboard.handle import Robot

_VISIT = "visit"


@controller(
    "expected_idleness", sees=("pose", "map", "waypoints", "radio"), needs=("waypoints",), missions=("patrolling",)
)
async def expected_idleness(robot: Robot) -> None:
    """Go to the neighbouring waypoint with the largest idleness at arrival per second of travel.

    On arrival, a robot broadcasts the time of this visit and the time at which it expects to be at its next waypoint;
    the others keep the latest time for each waypoint. It knows the times of its own visits. A robot that vanishes
    leaves one announced visit that does not take place; then its waypoints grow old, and the others take them. A robot
    out of reach uses only its own visits. It never ends.

    Unlike the source:
        Compared with MAEPS, `ERAlgorithmSimplified.cs`; Yan, Zhang.

        - robots tell sets of intentions (paper) -> the announced visit, as in MAEPS
        - travel time from the robot's motion -> 1.5 times the time at top speed
        - patrols go to the nearest waypoint first; one that cannot be reached counts as visited, so that others get
          their turn

    References:
        C. Yan, T. Zhang: Multi-robot patrol: a distributed algorithm based on expected idleness. International Journal
        of Advanced Robotic Systems 13(6), 2016; with the announced visit in place of the set of intentions, as in MAEPS
        (2025).
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
        neighbours: neighbours of that waypoint, int (m,).
        expected_s: v, time of the latest past or announced visit of each waypoint [s], (k,).
        travel_s: T, travel time to each waypoint [s], (k,).
        time_s: t, the present time [s].

    Examples:
        >>> # 100 s old and 10 s away gains 11 per second; 20 s old and 1 s away gains 21.
        >>> choose(0, np.array([1, 2]), np.array([100.0, 0.0, 80.0]), np.array([0.0, 10.0, 1.0]), 100.0)
        2
        >>> # Another robot announces to be there in a second.
        >>> choose(0, np.array([1, 2]), np.array([100.0, 0.0, 101.0]), np.array([0.0, 10.0, 1.0]), 100.0)
        1
    """
    if not len(neighbours):
        return at
    t = np.maximum(travel_s[neighbours], 1e-9)
    return int(neighbours[np.argmax(np.abs(time_s + t - expected_s[neighbours]) / t)])
