"""Recovery of a robot without progress: it balks before doubtful ground, and backs off from a jam."""

import math
from typing import Any, Literal

import numpy as np

from covey.onboard.navigation.obstacle_view import ObstacleView
from covey.onboard.navigation.right_of_way import Aside, point_on, way_out
from covey.onboard.navigation.robots_in_sight import RobotsInSight

_STANDS_S, _AT_FIRST_S = 2.5, 0.5  # time a robot stands before such ground; shorter where it has never looked around
_HERE_M = 0.3
_JAM_S, _LONG_JAM_S = 2.0, 8.0  # time it stands before it lets robots with right of way go first, and then all others
_BACK_M, _GOLDEN = 0.8, 0.618034


class Balking:
    """Turns once around if unsafe ground blocks a robot, because the ground may only be unseen; then gives up the goal.

    Attributes:
        turning: remaining angle to turn [rad].
    """

    def __init__(self) -> None:
        self.turning, self._heading = 0.0, 0.0
        self._looked: tuple[float, float] | None = None

    def step(
        self, x: float, y: float, heading: float, bearing: float, stands_s: float, ground: np.ndarray, near_m: float
    ) -> Literal["", "turns", "gives up"]:
        """Return the action for this step; empty: drive on.

        Args:
            x, y, heading: pose of the robot [m, rad].
            bearing: bearing of its target [rad].
            stands_s: time without progress [s].
            ground: border of unsafe ground, in the body frame, float64 (k, 2) [m].
            near_m: distance at which such ground blocks the robot [m].
        """
        here = self._looked is not None and math.dist(self._looked, (x, y)) < _HERE_M
        if self.turning > 0.0 and here:  # even if the goal has changed
            self.turning -= abs(math.remainder(heading - self._heading, math.tau))
            self._heading = heading
            return "turns"
        if stands_s < (_STANDS_S if self._looked else _AT_FIRST_S):
            return ""
        away = np.hypot(ground[:, 0], ground[:, 1])
        ahead = math.cos(bearing) * ground[:, 0] + math.sin(bearing) * ground[:, 1]
        if not ((away < near_m) & (ahead > 0.7 * away)).any():
            return ""
        if here:
            return "gives up"
        self._looked, self.turning, self._heading = (x, y), math.tau, heading
        return "turns"


class BackOff:
    """Backs off where robots block each other, for a time of its own, so that no two keep the same rhythm."""

    def __init__(self, identity: int, radius: float, wall_m: float, robot_m: float):
        self._identity, self._near, self._keep, self.jams = identity, 4.0 * radius, (wall_m, robot_m), 0

    def step(
        self, line: np.ndarray, s: float, pose: Any, view: ObstacleView, robots: RobotsInSight, stalled_s: float
    ) -> Aside:
        """Return where to back off to at a length ``s`` [m] of a line; None if there is no jam, or others back off."""
        first = self._identity if stalled_s <= _LONG_JAM_S else math.inf
        if stalled_s <= _JAM_S or not robots.any_before(first, self._near):
            return None
        x, y, heading = pose
        course = point_on(line, s)[2] - heading
        angle = heading + way_out(course, view.points, view.count, robots.tracks, *self._keep)
        self.jams += 1
        pause_s = 1.3 + 1.7 * (_GOLDEN * (self._identity + 1) * self.jams % 1.0)
        return (x + _BACK_M * math.cos(angle), y + _BACK_M * math.sin(angle)), pause_s
