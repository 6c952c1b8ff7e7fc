"""The other robots in sight."""

import math

import numpy as np

from covey.onboard.navigation.robots_in_sight import RobotsInSight
from covey.sensors.neighbours import NeighboursReading


def sighting(*ranges):
    n = len(ranges)
    return NeighboursReading(np.array(ranges), np.zeros(n), np.arange(n), np.full(n, math.nan))


def test_where_a_robot_was_is_remembered_for_a_minute():
    robots = RobotsInSight()
    assert robots.been_at is None
    robots.update(sighting(2.0), (1.0, 1.0, 0.5 * math.pi), (0.0, 0.0, 0.0), 0.1, 1.0)
    assert robots.met_s == 1.0
    assert np.allclose(robots.places(1.0, 1.0, 0.5 * math.pi), [(1.0, 3.0)])
    for second in range(2, 60):
        robots.update(sighting(), (1.0, 1.0, 0.0), (0.0, 0.0, 0.0), 1.0, float(second))
    assert robots.been_at is not None
    assert (1.0, 3.0) in {(round(x, 6), round(y, 6)) for x, y in robots.been_at()}
    for second in range(60, 160):
        robots.update(sighting(), (1.0, 1.0, 0.0), (0.0, 0.0, 0.0), 1.0, float(second))
    assert robots.been_at is None
    assert robots.places(1.0, 1.0, 0.0) == []


def test_who_has_the_right_of_way_and_is_near():
    robots = RobotsInSight()
    robots.update(sighting(0.9), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.1, 0.1)
    assert robots.any_before(1, 1.0)  # its identity is 0
    assert not robots.any_before(0, 1.0)
    assert not robots.any_before(1, 0.8)
    assert robots.any_moving(1.0, 5.0)
    assert not robots.any_moving(0.8, 5.0)
