"""The other robots: positions of those in sight, and places where robots have been recently."""

import math
from collections.abc import Callable
from itertools import takewhile
from typing import Any

import numpy as np

from covey.planning.obstacles import AGE, ID, STILL, X, Y, track

_TRACKS = 24
_NEAR_M = 6.0  # robots nearer than this may hide a path
_REMEMBER_S = 60.0
_NOBODY = np.empty(0, np.int64)


class RobotsInSight:
    """Tracks the other robots from neighbours readings.

    Attributes:
        tracks: float64 (k, 8) in the body frame, see `covey.planning.obstacles.track`.
        met_s: time at which another robot was near last [s].
    """

    def __init__(self) -> None:
        self._rows = np.full((_TRACKS, 8), math.inf)
        self.tracks = self._rows[:0]  # up to the last row in use
        self.met_s = self._remember_s = -math.inf
        self._forget_s = 0.0
        self._reading: Any = None
        self._been: dict[tuple[int, int], float] = {}  # places [dm] where robots were seen, and when last

    def update(self, reading: Any, pose: Any, twist: Any, elapsed_s: float, time_s: float) -> None:
        """Process the newest reading; None if there is no such sensor."""
        if reading is not None:
            self._track(reading, twist, elapsed_s, time_s)
        if time_s >= self._remember_s:
            self._remember(pose, time_s)

    def _track(self, reading: Any, twist: Any, elapsed_s: float, time_s: float) -> None:
        ranges, before = reading.ranges, self._reading
        self._reading = reading
        if len(ranges):
            if ranges[0] < _NEAR_M:  # the nearest comes first
                self.met_s = time_s
        elif not len(self.tracks):
            return
        identities = _NOBODY if reading is before else reading.identities
        used = track(self._rows, identities, ranges, reading.bearings, reading.headings, *twist, elapsed_s)
        if used != len(self.tracks):
            self.tracks = self._rows[:used]

    def _remember(self, pose: Any, time_s: float) -> None:
        """Remember the places of nearby robots: what the map will show there is not a wall."""
        self._remember_s = time_s + 0.5
        if time_s >= self._forget_s:
            self._forget_s = time_s + 5.0
            old = takewhile(lambda been: time_s - been[1] >= _REMEMBER_S, self._been.items())
            for place in [place for place, _ in old]:
                del self._been[place]
        for ox, oy in self.places(*pose):
            if math.hypot(ox - pose[0], oy - pose[1]) < _NEAR_M:
                place = round(10.0 * ox), round(10.0 * oy)
                self._been.pop(place, None)  # keep the most recent last
                self._been[place] = time_s

    def places(self, x: float, y: float, heading: float) -> list[tuple[float, float]]:
        """Return the positions of the robots in sight [m], given the pose of this robot."""
        c, s = math.cos(heading), math.sin(heading)
        rows = self.tracks.tolist()
        return [(x + c * row[X] - s * row[Y], y + s * row[X] + c * row[Y]) for row in rows if row[AGE] < math.inf]

    @property
    def been_at(self) -> Callable[[], np.ndarray] | None:
        """A function that returns where robots have been in the last minute, float64 (k, 2) [m]; None if nowhere."""
        return (lambda: np.array([(0.1 * i, 0.1 * k) for i, k in self._been])) if self._been else None

    def any_moving(self, within_m: float, moved_s: float) -> bool:
        """Return whether a robot within ``within_m`` has moved in the last ``moved_s``."""
        return any(
            row[AGE] < math.inf and math.hypot(row[X], row[Y]) < within_m and row[STILL] < moved_s
            for row in self.tracks
        )

    def any_before(self, identity: float, within_m: float) -> bool:
        """Return whether a robot within ``within_m`` has right of way over this identity."""
        return any(
            row[AGE] < math.inf and math.hypot(row[X], row[Y]) < within_m and row[ID] < identity for row in self.tracks
        )
