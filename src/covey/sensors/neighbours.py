"""Neighbours: range and bearing of other robots nearby."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.geometry.raycast import line_of_sight
from covey.geometry.se2 import wrap_angle
from covey.kernel import kernel
from covey.random import normal2
from covey.sensors.degradation import Degradation
from covey.sensors.sensor import Readings, SensorRecord, numbers_of
from covey.sensors.truth import Truth, bucket_window


@dataclass(eq=False, slots=True)
class NeighboursReading:
    """The robots that one robot senses, nearest first.

    Attributes:
        ranges: float64 (count,), distance [m] from centre to centre.
        bearings: float64 (count,), direction [rad] in the body frame, 0 straight ahead.
        identities: int64 (count,), identity of each robot; -1 if the sensor cannot tell.
        headings: float64 (count,), heading [rad] relative to the robot's own; NaN if the sensor cannot tell.
    """

    ranges: np.ndarray
    bearings: np.ndarray
    identities: np.ndarray
    headings: np.ndarray

    def __len__(self) -> int:
        return len(self.ranges)

    def any(self) -> bool:
        """Return whether any robot is sensed."""
        return len(self.ranges) > 0

    def points(self) -> np.ndarray:
        """Return the positions [m] in the body frame, shape (count, 2)."""
        return _points(self.ranges, self.bearings)


@dataclass(frozen=True, eq=False)
class NeighboursReadings(Readings):
    """The robots that m robots sense: arrays (m, width) of which row i uses the first ``count[i]``.

    See `NeighboursReading`; unused places hold inf, NaN, -1 and NaN.
    """

    count: np.ndarray
    ranges: np.ndarray
    bearings: np.ndarray
    identities: np.ndarray
    headings: np.ndarray

    def any(self) -> np.ndarray:
        """Return whether each robot senses another one, bool (m,)."""
        return self.count > 0

    def points(self) -> np.ndarray:
        """Return the positions [m] in the frame of each robot's body, float64 (m, width, 2); NaN in unused places."""
        return _points(np.where(np.isfinite(self.ranges), self.ranges, np.nan), self.bearings)

    def row(self, i: int) -> NeighboursReading:
        """Return the reading of the i-th robot; its arrays are copies."""
        n = self.count.item(i)
        if n == 0:
            return NeighboursReading(_NOTHING, _NOTHING, _NOBODY, _NOTHING)
        return NeighboursReading(
            self.ranges[i, :n].copy(),
            self.bearings[i, :n].copy(),
            self.identities[i, :n].copy(),
            self.headings[i, :n].copy(),
        )

    def degrade(self, i: int, worse: Degradation) -> None:
        """Degrade a reading: some neighbours are lost, and the others are sorted by range again."""
        n = int(self.count[i])
        ranges = self.ranges[i, :n].copy()
        worse.worsen(ranges)
        kept = np.flatnonzero(np.isfinite(ranges) & ~worse.lost(n))
        kept = kept[np.argsort(ranges[kept], kind="stable")]
        self.count[i] = len(kept)
        for name, nothing in (("ranges", np.inf), ("bearings", np.nan), ("identities", -1), ("headings", np.nan)):
            row = getattr(self, name)[i]
            values = (ranges if name == "ranges" else row[:n].copy())[kept]
            row[:] = nothing
            row[: len(kept)] = values


def _points(ranges: np.ndarray, bearings: np.ndarray) -> np.ndarray:
    """Return the places ahead and to the left at distances and directions, (…, 2) [m]."""
    return np.stack((ranges * np.cos(bearings), ranges * np.sin(bearings)), axis=-1)


_NOTHING, _NOBODY = np.empty(0), np.empty(0, np.int64)


class Neighbours(SensorRecord):
    """Range and bearing of the robots within range, as measured by infrared, a camera or ultra-wideband radio.

    With ``line_of_sight``, a wall between two centres hides the robots from each other; robots do not hide one another.
    """

    feeds: ClassVar[tuple[str, ...]] = ("mates",)
    form: ClassVar[str] = "robots"
    degrades: ClassVar[bool] = True
    in_many_worlds: ClassVar[bool] = True
    begins_anew: ClassVar[bool] = True
    kind: Literal["neighbours"] = "neighbours"
    name: str = Field(default="neighbours", min_length=1, description="Name of the sensor, unique on its robot.")
    range_m: float = Field(
        default=10.0, gt=0, le=1e6, description="Largest distance between centres at which a robot is sensed [m]."
    )
    line_of_sight: bool = Field(default=True, description="Whether walls hide other robots.")
    identity: bool = Field(default=True, description="Whether the sensor reports the identity of a neighbour.")
    heading: bool = Field(default=False, description="Whether the sensor reports the heading of a neighbour.")
    max_count: int = Field(
        default=32,
        ge=1,
        le=10_000,
        description="Largest number of neighbours in a reading; the nearest ones are reported.",
    )
    range_sigma_m: float = Field(
        default=0.0, ge=0, le=1000, description="Standard deviation of the noise of a range [m]."
    )
    bearing_sigma_deg: float = Field(
        default=0.0, ge=0, le=180, description="Standard deviation of the noise of a bearing [degrees]."
    )

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> NeighboursReadings:
        """Return the neighbours of the members, see `SensorRecord.read`."""
        m, width = len(members), max(1, min(self.max_count, truth.team_size - 1))
        count, ranges, bearings = np.zeros(m, np.int64), np.full((m, width), np.inf), np.full((m, width), np.nan)
        robots = np.full((m, width), -1)
        noise = np.array([self.range_sigma_m, math.radians(self.bearing_sigma_deg)])
        numbers = numbers_of(sample, members)
        _neighbours(
            truth.skip, truth.frame, truth.pose, truth.bodies, truth.identity, members, keys, numbers,
            self.range_m, self.line_of_sight, noise, count, ranges, bearings, robots,
        )  # fmt: skip
        found = robots >= 0
        identities = np.where(found, truth.identity[robots], -1) if self.identity else np.full((m, width), -1)
        headings = np.full((m, width), np.nan)
        if self.heading:
            relative = wrap_angle(truth.pose[robots, 2] - truth.pose[members, None, 2])
            headings = np.where(found, relative, np.nan)
        return NeighboursReadings(count, ranges, bearings, identities, headings)


@kernel
def _neighbours(
    skip, frame, pose, bodies, identity, members, keys, numbers, range_m, sight, noise, count, ranges, bearings, robots
):
    width = ranges.shape[1]
    for i in range(members.shape[0]):
        own = members[i]
        x, y, heading = pose[own, 0], pose[own, 1], pose[own, 2]
        row0, row1, column0, column1 = bucket_window(bodies, own, x, y, range_m)
        for row in range(row0, row1 + 1):
            b = row * bodies.shape[1]
            for p in range(bodies.start[b + column0], bodies.start[b + column1 + 1]):
                other = bodies.robots[p]
                dx, dy = pose[other, 0] - x, pose[other, 1] - y
                away = math.sqrt(dx * dx + dy * dy)
                if other == own or away > range_m or bodies.disc_count[other] == 0:
                    continue
                if sight and not line_of_sight(skip, frame, x, y, pose[other, 0], pose[other, 1]):
                    continue
                bearing = math.atan2(dy, dx) - heading
                if noise[0] > 0.0 or noise[1] > 0.0:
                    e0, e1 = normal2(keys[i], numbers[i], identity[other])
                    away, bearing = max(away + noise[0] * e0, 0.0), bearing + noise[1] * e1
                bearing = (bearing + math.pi) % (2.0 * math.pi) - math.pi
                # Insert by range, and equal ranges by index, so that the order of the buckets does not matter.
                at = count[i]
                while at > 0 and (
                    away < ranges[i, at - 1] or (away == ranges[i, at - 1] and other < robots[i, at - 1])
                ):
                    at -= 1
                if at >= width:
                    continue
                count[i] = min(count[i] + 1, width)
                for j in range(count[i] - 1, at, -1):
                    ranges[i, j] = ranges[i, j - 1]
                    bearings[i, j] = bearings[i, j - 1]
                    robots[i, j] = robots[i, j - 1]
                ranges[i, at], bearings[i, at], robots[i, at] = away, bearing, other
