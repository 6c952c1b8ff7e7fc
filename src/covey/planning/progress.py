"""Noticing that a robot makes no progress, and remembering what it could not reach."""

import math

import numpy as np


class ProgressTimer:
    """Runs out when a robot has not come nearer to its goal, or moved, by some distance in some time.

    Args:
        distance_m: movement that counts as progress [m].
        timeout_s: time in which it has to happen [s].

    References:
        `progress_timeout` of the ROS packages explore and explore_lite.
    """

    def __init__(self, distance_m: float = 0.1, timeout_s: float = 10.0):
        self.distance_m, self.timeout_s = distance_m, timeout_s
        self.restart(0.0, math.inf, math.inf)

    def restart(self, time_s: float, x: float, y: float) -> None:
        """Start counting here and now."""
        self._time, self._x, self._y = time_s, x, y

    def expired(self, time_s: float, x: float, y: float) -> bool:
        """Take in where the robot is; return whether the time is up."""
        if math.hypot(x - self._x, y - self._y) < self.distance_m:
            return time_s - self._time > self.timeout_s
        self._time, self._x, self._y = time_s, x, y
        return False

    def waited(self, time_s: float) -> float:
        """Return the time since the last progress [s]."""
        return time_s - self._time


class Blacklist:
    """Goals that could not be reached; a goal near one of them is not worth trying again.

    Args:
        tolerance_m: goals within this distance of a listed one count as the same [m].
    """

    def __init__(self, tolerance_m: float = 0.5):
        self.tolerance_m = tolerance_m
        self.goals: list[tuple[float, float]] = []

    def add(self, goal: tuple[float, float]) -> None:
        """List a goal (x, y) [m]."""
        if goal not in self:
            self.goals.append((float(goal[0]), float(goal[1])))

    def __contains__(self, goal: object) -> bool:
        x, y = goal  # type: ignore[misc]
        return any(math.hypot(x - a, y - b) <= self.tolerance_m for a, b in self.goals)

    def clear(self, points: np.ndarray) -> np.ndarray:
        """Return which of some points [m], float64 (..., 2), lie near no listed goal, bool (...)."""
        found = np.ones(points.shape[:-1], bool)
        for goal in self.goals:
            found &= np.hypot(points[..., 0] - goal[0], points[..., 1] - goal[1]) > self.tolerance_m
        return found

    def __len__(self) -> int:
        return len(self.goals)
