"""Pursuit: a team catches a robot that evades."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from covey.errors import MissionError, did_you_mean
from covey.missions.protocol import Mission, MissionContext, Tracker, missions

_TOUCH_M = 0.01  # bodies this near touch


@missions.register("pursuit")
class PursuitMission(Mission):
    """Catch a robot that evades; the goal of the run is reached when one of the others is near it, or touches it."""

    rewards: ClassVar[Mapping[str, float]] = {"evader_m": -1.0, "free_s": -0.1}

    evader: str = Field(default="", description="Name of the robot that evades; empty: the last one of the team.")
    capture_m: float = Field(default=0.2, gt=0, description="A robot as near as this to the evader catches it [m].")

    def begin(self, context: MissionContext) -> "PursuitTracker":
        """Return the tracker of the distance.

        Raises:
            MissionError: there is no such robot, or nobody who pursues it.
        """
        names = list(context.names)
        if self.evader and self.evader not in names:
            raise MissionError(f"there is no robot {self.evader!r}{did_you_mean(self.evader, names)}", "evader")
        if len(names) < 2:
            raise MissionError("a pursuit needs two robots at least; give robots.count, or another group")
        evader = names.index(self.evader) if self.evader else len(names) - 1
        reach = np.maximum(self.capture_m, context.model.radius + context.model.radius[evader] + _TOUCH_M)
        return PursuitTracker(names, evader, reach)


class PursuitTracker(Tracker):
    """Tracks how near the evader is.

    Attributes:
        evader: its index.
        reach_m: how near each of the others catches it [m], float64 (n,).
    """

    columns = ("evader_m", "free_s")

    def __init__(self, names: list[str], evader: int, reach_m: np.ndarray):
        self.names, self.evader, self.reach_m = names, evader, reach_m
        self.facts: dict[str, Any] = {"evader": names[evader]}
        self._away_m, self._free_s = math.nan, 0.0

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Process the true poses (n, 3) and the able robots, bool (n,); return who has caught it."""
        if self.reached:
            return []
        away = np.hypot(*(pose[:, :2] - pose[self.evader, :2]).T)
        away[self.evader], away[~able] = math.inf, math.inf
        self._away_m, self._free_s = float(away.min()), time_s
        near = np.flatnonzero(away <= self.reach_m)
        self.reached = bool(len(near))
        return [(int(i), f"has caught {self.names[self.evader]}") for i in near[:1]]

    @property
    def values(self) -> dict[str, float]:
        """Distance of the nearest robot from the evader [m], and how long it has been free [s]."""
        return {"evader_m": self._away_m if math.isfinite(self._away_m) else math.nan, "free_s": self._free_s}
