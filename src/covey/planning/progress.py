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
        self._wider: dict[tuple[float, float], float] = {}

    def add(self, goal: tuple[float, float], within_m: float | None = None) -> None:
        """Add a goal (x, y) [m]; goals within ``within_m`` [m] count as the same, None: within the tolerance."""
        x, y = float(goal[0]), float(goal[1])
        if within_m is not None:
            self._wider[x, y] = within_m
            if (x, y) not in self.goals:
                self.goals.append((x, y))
        elif goal not in self:
            self._wider.pop((x, y), None)
            self.goals.append((x, y))

    def __contains__(self, goal: object) -> bool:
        x, y = goal  # type: ignore[misc]
        return any(math.hypot(x - a, y - b) <= self._within_m((a, b)) for a, b in self.goals)

    def clear(self, points: np.ndarray) -> np.ndarray:
        """Return which points [m], float64 (..., 2), lie near no listed goal, bool (...)."""
        found = np.ones(points.shape[:-1], bool)
        for goal in self.goals:
            found &= np.hypot(points[..., 0] - goal[0], points[..., 1] - goal[1]) > self._within_m(goal)
        return found

    def _within_m(self, goal: tuple[float, float]) -> float:
        return self._wider.get(goal, self.tolerance_m)

    def __len__(self) -> int:
        return len(self.goals)
