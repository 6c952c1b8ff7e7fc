"""Global plan: the path over the map to a goal, and when a new one is needed."""

import math
from typing import Any

import numpy as np

from covey.onboard.driving import Driving
from covey.onboard.navigation import route
from covey.onboard.navigation.robots_in_sight import RobotsInSight
from covey.planning.follow import lookahead

_REPLAN_S = 1.0


class GlobalPlan:
    """The path to a goal; without a map it is a straight line.

    Attributes:
        goal, tolerance_m: the goal and its tolerance [m].
        line, length, narrow: the path, float64 (m, 2), its length, and the stretches too narrow for two robots [m].
        off_m: distance of the robot from the line [m].
        problem: why there is no path; empty if there is one.
        lost_s: time since which there is no path [s].
        made_s: time of the last search [s].
    """

    def __init__(self, radius: float, driving: Driving):
        self._radius, self._driving = radius, driving
        self.line, self.problem, self._made = np.zeros((1, 2)), "", False

    def start(self, goal: tuple[float, float], tolerance_m: float) -> None:
        """Set a new goal [m]; there is no path to it yet."""
        self.goal, self.tolerance_m = goal, tolerance_m
        self.narrow: list[list[float]] = []
        self.length, self.off_m, self.made_s, self.lost_s = 0.0, 0.0, -math.inf, math.inf
        self._segment, self._checked_version, self._made = 0, -1, False
        self._short = self._doubted = False

    @property
    def rest(self) -> np.ndarray:
        """The corners of the path that are still ahead [m], float64 (k, 2); none if there is no path."""
        return self.line[self._segment + 1 :] if self._made and not self.problem else np.zeros((0, 2))

    @property
    def version(self) -> tuple[Any, ...]:
        """A value that differs when `rest` or the goal does."""
        return self.made_s, self._segment, self.problem, self.goal

    def doubt(self) -> None:
        """Search for another path soon."""
        self._doubted = True

    def is_due(self, belief: Any, grid: Any, x: float, y: float, time_s: float, stalled_s: float) -> bool:
        """Return whether to search for a path now: there is none yet, it is blocked, or the robot makes no progress."""
        if self.made_s == -math.inf:
            return True
        if belief is None or time_s - self.made_s < _REPLAN_S:
            return False
        stands = self._short or self._doubted or stalled_s > 3.0
        if not self._made or self.off_m > 1.0 or (stands and time_s - self.made_s > 3.0 * _REPLAN_S):
            return True
        version = belief.version
        if version == self._checked_version:
            return False
        self._checked_version = version
        x0, y0, _ = grid.origin
        lethal = route.lethal_clearance(self._radius, grid.resolution)
        place = belief.occupancy(), x0, y0, grid.resolution
        return route.is_blocked(self.line, self._segment, x, y, *place, lethal, 6.0)

    def make(self, belief: Any, pose: Any, others: RobotsInSight, time_s: float, jams: np.ndarray) -> int:
        """Search for the path from here, around the robots in sight and the places where it did not get through.

        Returns:
            the work of the search, see `covey.planning.dijkstra.Path`.
        """
        start = pose[0], pose[1]
        self._segment, self.off_m, self.made_s, self._doubted = 0, 0.0, time_s, False
        if belief is None:
            found = route.straight(start, self.goal)
        else:
            self._checked_version = belief.version
            around = np.array(others.places(*pose), float).reshape(-1, 2)
            how = self._radius, self._driving, around, self.tolerance_m, others.been_at, jams
            found = route.plan(belief.grid, start, self.goal, *how)
        self.problem, self._made = found.problem, not found.problem
        if found.problem:
            self.lost_s = min(self.lost_s, time_s)
            return found.work
        self.lost_s, self.line, self.narrow = math.inf, found.line, found.narrow.tolist()
        self.length = float(np.hypot(*np.diff(self.line, axis=0).T).sum())
        self._short = belief is not None and math.dist(self.goal, self.line[-1]) > self.tolerance_m
        return found.work

    def ahead(self, x: float, y: float, v: float) -> tuple[float, float, float]:
        """Return the point to steer to, x and y, and the length of the path left [m]."""
        reach = min(max(0.25 + 0.6 * abs(v), 0.4), 1.2)
        tx, ty, self._segment, left, self.off_m = lookahead(self.line, self._segment, x, y, reach)
        return tx, ty, left
