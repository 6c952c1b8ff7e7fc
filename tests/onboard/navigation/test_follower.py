"""The controller of a way: speeds that stop in time, commands that a drive can carry out."""

import math

import numpy as np
import pytest

from covey.onboard.driving import DriveLimits, Driving, approach_speed
from covey.onboard.navigation.follower import Follower
from covey.onboard.navigation.obstacle_view import ObstacleView
from covey.onboard.navigation.robots_in_sight import RobotsInSight


@pytest.mark.parametrize("distance", [0.01, 0.5, 30.0])
def test_approach_speed_stops_in_the_distance(distance):
    v = approach_speed(distance, 1.5, 0.3)
    assert v * 0.3 + v * v / 3.0 == pytest.approx(distance)


def follower(walls=()):
    view = ObstacleView(2.0, 0.24, 0.32)
    view.points[: len(walls)], view.count = np.reshape(walls, (-1, 2)), len(walls)
    return Follower(DriveLimits(acceleration=2.0, deceleration=2.0), Driving(), 0.2, view, RobotsInSight())


def test_it_drives_at_what_is_ahead_and_turns_to_what_is_beside():
    v, _, w = follower().towards(3.0, 0.0, 0.0, (0.5, 0.0, 0.0), 1.0, 3.0)
    assert v == pytest.approx(0.7)  # 0.5 m/s and 2 m/s2 for a tenth of a second
    assert abs(w) < 1e-6
    v, _, w = follower().towards(0.0, 3.0, 0.0, (0.0, 0.0, 0.0), 1.0, 3.0)
    assert (v, w > 0.5) == (0.0, True)


def test_it_stops_before_a_wall():
    wall = [(0.32, 0.05 * k) for k in range(-8, 9)]
    assert follower(wall).safe(0.0, 0.0, 1.0, 0.0)[0] < 0.45 < follower().safe(0.4, 0.0, 1.0, 0.0)[0]
    v = follower(wall).safe(0.0, 0.0, 1.0, 0.0)[0]
    assert v * 0.1 + v * v / 4.0 < 0.32 - 0.2


def test_it_turns_no_farther_than_asked():
    rate = follower().turn(0.4, 0.0)
    assert 0.0 < rate * 0.1 <= 0.4
    assert follower().turn(-0.4, 0.0) == -rate
    assert follower().turn(math.tau, 0.0) == 3.0  # the most that the drive can
