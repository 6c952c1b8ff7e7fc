"""Turning on the spot where that brings unmapped ground into view."""

import math

from covey.controllers.terrain.terrain_looking import BLIND_M, sight
from covey.geometry.grid import Grid
from covey.onboard.handle import Robot
from covey.planning.edges import revealed_by_turning, turn_to_reveal

_SECTORS = 36
_HERE_M = 1.5


class Turning:
    """One robot's turns on the spot.

    Attributes:
        left: remaining angle [rad].
    """

    def __init__(self) -> None:
        self.left, self._heading = 0.0, math.nan
        self._spun: list[tuple[float, float]] = []

    def begin(self, robot: Robot, grid: Grid) -> float:
        """Turn as far as that reveals more of a map; return the angle [rad]."""
        self.left, self._heading = revealing_turn(robot, grid), robot.pose.heading
        return self.left

    def spin(self, robot: Robot, grid: Grid) -> bool:
        """Begin to turn as far as that reveals more, unless the robot has tried it here."""
        x, y, _ = robot.pose
        if any(math.hypot(x - a, y - b) < _HERE_M for a, b in self._spun) or self.begin(robot, grid) == 0.0:
            return False
        if not self._spun:
            self.left = math.tau  # all around at the start, because nothing is known yet
        self._spun.append((x, y))
        return True

    def step(self, robot: Robot) -> bool:
        """Turn on the spot for a step; return whether the turn is complete."""
        heading = robot.pose.heading
        left = abs(self.left) - math.copysign(1.0, self.left) * math.remainder(heading - self._heading, math.tau)
        self.left, self._heading = math.copysign(max(left, 0.0), self.left), heading
        if left <= 0.0:
            return True
        robot.drive(0.0, math.copysign(min(0.6 * robot.model.max_turn_rad_s, 1.0), self.left))
        return False


def revealing_turn(robot: Robot, grid: Grid) -> float:
    """Return the smallest turn on the spot that brings unmapped ground around a robot into view [rad]; 0: none."""
    fov_deg, range_m = sight(robot)
    if fov_deg > 350:
        return 0.0
    x, y, heading = robot.pose
    at = (y - grid.origin[1]) / grid.resolution - 0.5, (x - grid.origin[0]) / grid.resolution - 0.5
    reach = BLIND_M / grid.resolution, 0.9 * range_m / grid.resolution
    return turn_to_reveal(revealed_by_turning(grid.cells, *at, *reach, _SECTORS), heading, 0.9 * math.radians(fov_deg))
