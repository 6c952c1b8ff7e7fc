"""Recovery: balking before doubtful ground, backing off from a jam."""

import math

import numpy as np

from covey.onboard.navigation.obstacle_view import ObstacleView
from covey.onboard.navigation.recovery import BackOff, Balking
from covey.onboard.navigation.robots_in_sight import RobotsInSight

LINE = np.array([[0.0, 0.0], [10.0, 0.0]])
AHEAD = np.array([[0.3, 0.0]])


def test_it_turns_once_around_before_doubtful_ground_and_then_gives_up():
    balking, heading, turned = Balking(), 0.0, 0
    assert balking.step(0.0, 0.0, heading, 0.0, 0.4, AHEAD, 0.4) == ""  # it has only just stopped
    while balking.step(0.0, 0.0, heading, 0.0, 3.0, AHEAD, 0.4) == "turns":
        heading, turned = math.remainder(heading + 0.1, math.tau), turned + 1
    assert 62 <= turned <= 64  # once around by a tenth of a radian
    assert balking.step(0.0, 0.0, 0.0, 0.0, 3.0, AHEAD, 0.4) == "gives up"
    assert balking.step(0.0, 0.0, 0.0, math.pi, 3.0, AHEAD, 0.4) == ""  # behind it the ground does not matter


def jam(identity, other, stalled_s, walls=()):
    view, robots = ObstacleView(2.0, 0.3, 0.4), RobotsInSight()
    view.points[: len(walls)], view.count = np.reshape(walls, (-1, 2)), len(walls)
    robots.tracks = np.array([[0.7, 0.0, 0.0, 0.0, other, 0.0, math.pi, 0.0]])
    return BackOff(identity, 0.25, 0.3, 0.6).step(LINE, 3.0, (3.0, 0.0, 0.0), view, robots, stalled_s)


def test_of_two_in_a_jam_the_larger_identity_backs_off_away_from_the_other():
    assert jam(5, 2, 1.9) is None
    assert jam(2, 5, 2.1) is None
    (x, y), hold_s = jam(5, 2, 2.1)
    assert math.dist((x, y), (2.2, 0.0)) < 1e-9  # straight back by 0.8 m
    assert 1.3 <= hold_s <= 3.0
    assert jam(2, 5, 8.1) is not None  # after very long the other one does too
    (x, y), _ = jam(5, 2, 2.1, walls=[(-0.4, 0.0)])
    assert math.dist((x, y), (2.2, 0.0)) > 0.2  # not into the wall behind it


def test_no_two_robots_keep_the_same_rhythm():
    holds = {round(jam(k, -1, 2.1)[1], 6) for k in range(1, 9)}
    assert len(holds) == 8
