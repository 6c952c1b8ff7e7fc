"""Detection of robots that make no progress, and a list of the goals that they could not reach."""

import math

import numpy as np


class ProgressTimer:
    """Expires when a robot has not moved by some distance in some time.

    Args:
        distance_m: movement that counts as progress [m].
        timeout_s: time in which the robot must move that far [s].

    References:
        `progress_timeout` of the ROS packages explore and explore_lite.
    """

    def __init__(self, distance_m: float = 0.1, timeout_s: float = 10.0):
        self.distance_m, self.timeout_s = distance_m, timeout_s
        self.restart(0.0, math.inf, math.inf)

    def restart(self, time_s: float, x: float, y: float) -> None:
        """Start counting at this time and place."""
        self._time, self._x, self._y = time_s, x, y

    def expired(self, time_s: float, x: float, y: float) -> bool:
        """Update the robot's position; return whether the time is up."""
        if math.hypot(x - self._x, y - self._y) < self.distance_m:
            return time_s - self._time > self.timeout_s
        self._time, self._x, self._y = time_s, x, y
        return False

    def waited(self, time_s: float) -> float:
        """Return the time since the last progress [s]."""
        return time_s - self._time


class Blacklist:
    """Goals that could not be reached; goals near them are not worth trying.

    Args:
        tolerance_m: goals within this distance of a listed one count as the same [m].
    """

    def __init__(self, tolerance_m: float = 0.5):
        self.tolerance_m = tolerance_m
        self.goals: list[tuple[float, float]] = []

    def add(self, goal: tuple[float, float]) -> None:
        """Add a goal (x, y) [m]."""
        if goal not in self:
            self.goals.append((float(goal[0]), float(goal[1])))

    def __contains__(self, goal: object) -> bool:
        x, y = goal  # type: ignore[misc]
        return any(math.hypot(x - a, y - b) <= self.tolerance_m for a, b in self.goals)

    def clear(self, points: np.ndarray) -> np.ndarray:
        """Return which points [m], float64 (..., 2), lie near no listed goal, bool (...)."""
        found = np.ones(points.shape[:-1], bool)
        for goal in self.goals:
            found &= np.hypot(points[..., 0] - goal[0], points[..., 1] - goal[1]) > self.tolerance_m
        return found

    def __len__(self) -> int:
        return len(self.goals)
