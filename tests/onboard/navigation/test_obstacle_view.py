"""The local obstacle view."""

import math
from types import SimpleNamespace

import numpy as np

from covey.geometry import Grid
from covey.onboard.navigation.obstacle_view import ObstacleView

NOBODY = np.empty((0, 8))
AT, STILL = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def scan(metres, half_width=0.5 * math.pi):
    """A lidar at the centre of a robot, 0.05 m ahead of it a wall straight across."""
    angles = np.linspace(-half_width, half_width, 181)
    ranges = np.where(np.cos(angles) > 0.05, metres / np.maximum(np.cos(angles), 0.05), 30.0)
    return SimpleNamespace(ranges=ranges, angles=angles, mount=np.zeros(3))


class Belief:
    """A map of 6 m x 6 m around the robot with a wall behind it, and unsafe ground one metre to the left."""

    def __init__(self):
        cells = np.zeros((60, 60), np.int8)
        cells[:, 23:25] = 100  # x from -0.7 to -0.5 m
        self.grid = Grid(cells, 0.1, (-3.0, -3.0, 0.0))

    def occupancy(self):
        return self.grid.cells

    def unsafe_ground(self, points, count, pose, reach_m, keep_m):
        points[count] = 0.0, 1.0
        return count + 1


def seen(view):
    return view.points[: view.count]


def test_the_lidar_shows_the_wall_ahead_and_its_points_stay_with_the_world_when_the_robot_moves():
    view, reading = ObstacleView(2.0, 0.3, 0.4), scan(1.0)
    view.update(reading, None, AT, STILL, 0.1, NOBODY)
    assert view.count > 20
    assert np.allclose(seen(view)[:, 0], 1.0)
    view.update(reading, None, AT, (0.5, 0.0, 0.0), 0.2, NOBODY)  # the same scan, and a tenth of a metre later
    assert np.allclose(seen(view)[:, 0], 0.9)


def test_points_on_another_robot_are_left_out():
    view = ObstacleView(2.0, 0.3, 0.4)
    robot = np.array([[1.2, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    view.update(scan(1.0), None, AT, STILL, 0.1, robot)
    assert view.count > 0
    assert np.hypot(*(seen(view) - (1.2, 0.0)).T).min() >= 0.4


def test_the_map_shows_what_is_behind_the_robot_where_the_lidar_is_blind_and_unsafe_ground_is_told_apart():
    view = ObstacleView(2.0, 0.3, 0.4)
    view.update(scan(1.0), Belief(), AT, STILL, 0.1, NOBODY)
    behind = seen(view)[seen(view)[:, 0] < -0.1]
    assert len(behind) > 0
    assert np.all((behind[:, 0] >= -0.7) & (behind[:, 0] <= -0.45))
    assert view.unsafe.tolist() == [[0.0, 1.0]]
    view.update(scan(1.0, math.pi), Belief(), AT, STILL, 0.1, NOBODY)
    assert not (seen(view)[:, 0] < -0.1).any()  # a lidar that sees all around needs no map
