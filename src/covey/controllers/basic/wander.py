"""Wander: drive ahead, and turn away from obstacles."""

import math

import numpy as np

from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.robots.parameters import Metres, Speed


@controller("wander")
class Wander:
    """Drive ahead, slow down before obstacles, and turn to the more open side, without touching anything.

    The robot uses its lidar, or its proximity ring if it has no lidar (a Braitenberg-like vehicle).

    Args:
        distance_m: the robot turns when an obstacle ahead is closer than this [m].
        speed: share of the top speed, above 0 and at most 1.
    """

    def __init__(self, distance_m: Metres = 0.8, speed: Speed = 0.6):
        self.distance_m, self.speed = distance_m, speed
        self._turning = 0.0

    def step(self, robot: Robot) -> None:
        """Choose the twist of this step."""
        ranges, angles = _surroundings(robot)
        reach = robot.model.outer_radius_m + self.distance_m
        ahead = ranges[np.abs(angles) < math.radians(40)]
        gap = float(ahead.min(initial=math.inf)) - robot.model.outer_radius_m
        top = self.speed * robot.model.max_speed_m_s
        if gap > self.distance_m:
            self._turning = 0.0
            robot.drive(top, robot.random.normal(0.0, 0.1))
            return
        if self._turning == 0.0:
            near = np.minimum(ranges, reach)
            left, right = near[(angles > 0) & (angles < 2)].mean(), near[(angles < 0) & (angles > -2)].mean()
            self._turning = 1.0 if left >= right else -1.0
        robot.drive(
            max(0.0, top * (gap - 0.1) / self.distance_m) * 0.5, self._turning * robot.model.max_turn_rad_s * 0.4
        )


def _surroundings(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Return ranges [m] (infinite where nothing is seen) and bearings [rad] in the body frame."""
    for name in ("lidar", "proximity"):
        reading = robot.readings.get(name)
        if reading is not None:
            return np.nan_to_num(reading.ranges, nan=np.inf, posinf=np.inf), reading.angles
    return np.empty(0), np.empty(0)
