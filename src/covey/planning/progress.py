"""Detection of robots that make no progress, or come no nearer to a goal, and a list of goals that were in vain."""

import math
from dataclasses import dataclass

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


class Approach:
    """Detects that a robot moves, but comes no nearer to its goal: a gap that its map shows open from afar only.

    For each goal it counts the time of the pursuit since the way to it became ``gain_m`` shorter than ever before. A
    pursuit that rests for ``forget_s`` begins anew.

    Args:
        gain_m: how much nearer counts as progress [m].
        patience_s: time of pursuit in which the robot must come that much nearer [s].
        same_m: goals within this distance of each other count as the same [m].
        forget_s: time of other pursuits after which one is forgotten [s].

    Examples:
        >>> approach = Approach(patience_s=20.0)
        >>> ways = [9.0, 5.0, 2.0, 12.0, 8.0, 5.0, 2.0, 12.0]  # 2 m before the goal, the way turns out to be closed
        >>> [approach.step(5.0 * k, (way, 0.0), (0.0, 0.0), way) for k, way in enumerate(ways)]
        [None, None, None, None, None, None, None, (2.0, 0.0)]
    """

    def __init__(self, gain_m: float = 1.0, patience_s: float = 30.0, same_m: float = 2.4, forget_s: float = 20.0):
        self.gain_m, self.patience_s, self.same_m, self.forget_s = gain_m, patience_s, same_m, forget_s
        self._pursuits: list[_Pursuit] = []

    def step(
        self, time_s: float, here: tuple[float, float], goal: tuple[float, float], way_m: float
    ) -> tuple[float, float] | None:
        """Process that a robot pursues a goal; call it whenever the robot chooses its goal.

        Args:
            time_s: time [s].
            here, goal: places of the robot and of its goal, x, y [m].
            way_m: length of the way to the goal [m].

        Returns:
            the place where the way was shortest [m], once the time is up; then the pursuit is forgotten.
        """
        self._pursuits = [p for p in self._pursuits if time_s - p.last_s <= self.forget_s]
        pursued = next((p for p in self._pursuits if math.dist(p.goal, goal) <= self.same_m), None)
        if pursued is None:
            self._pursuits.append(_Pursuit(goal, way_m, here, 0.0, time_s))
            return None
        latest = max(p.last_s for p in self._pursuits)
        pursued.spent_s += time_s - pursued.last_s if pursued.last_s == latest else 0.0
        pursued.last_s = time_s
        if way_m < pursued.least_m - self.gain_m:
            pursued.least_m, pursued.where, pursued.spent_s = way_m, here, 0.0
        elif pursued.spent_s > self.patience_s:
            self._pursuits.remove(pursued)
            return pursued.where
        return None


@dataclass
class _Pursuit:
    goal: tuple[float, float]
    least_m: float
    where: tuple[float, float]
    spent_s: float
    last_s: float


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
