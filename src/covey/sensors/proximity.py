"""Proximity ring: distances to nearby objects, by sector all around."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from covey.draws import Draws
from covey.geometry.constant import constant
from covey.sensors.degradation import Degradation
from covey.sensors.lidar import measure
from covey.sensors.scan import scan
from covey.sensors.sensor import Readings, SensorRecord, numbers_of
from covey.sensors.truth import Truth

_CENTRE = np.zeros(3)


@dataclass(eq=False, slots=True)
class ProximityReading:
    """The reading of one robot's ring; ``reading[i]`` is the presence in sector i.

    Attributes:
        presence: bool (sectors,), whether something is within range.
        ranges: float64 (sectors,), distance to the nearest hit of a ray [m]; inf for none.
        angles: float64 (sectors,) [rad], middle of each sector in the body frame; sector 0 is straight ahead, the
            others follow counter-clockwise.
    """

    presence: np.ndarray
    ranges: np.ndarray
    angles: np.ndarray

    def any(self) -> bool:
        """Return whether anything is within range."""
        return bool(self.presence.any())

    def __getitem__(self, sector: int) -> bool:
        return bool(self.presence[sector])

    def __len__(self) -> int:
        return len(self.presence)


@dataclass(frozen=True, eq=False)
class ProximityReadings(Readings):
    """The readings of the rings of m robots, see `ProximityReading`."""

    shared: ClassVar = ("angles",)
    presence: np.ndarray
    ranges: np.ndarray
    angles: np.ndarray

    def any(self) -> np.ndarray:
        """Return whether anything is within range of each robot, bool (m,)."""
        return np.asarray(self.presence.any(axis=1))

    def __getitem__(self, sector: int) -> np.ndarray:
        """Return the presence in a sector of each robot, bool (m,)."""
        return self.presence[:, sector]

    def __len__(self) -> int:
        return self.presence.shape[1]

    def row(self, i: int) -> ProximityReading:
        """Return the reading of the i-th robot; its arrays are copies, except the constant angles."""
        return ProximityReading(self.presence[i].copy(), self.ranges[i].copy(), self.angles)

    def degrade(self, i: int, worse: Degradation) -> None:
        """Degrade a reading: lost rays hit nothing."""
        ranges = self.ranges[i]
        worse.worsen(ranges)
        ranges[worse.lost(len(ranges))] = np.inf
        self.presence[i] = np.isfinite(ranges)


class Proximity(SensorRecord):
    """A ring of sectors, each with a few exact rays against walls and bodies, like infrared or sonar sensors.

    The nearest distance of a sector gets noise, dropout and outliers as in `Lidar`; a lost one reads inf.
    """

    form: ClassVar[str] = "ring"
    degrades: ClassVar[bool] = True
    in_many_worlds: ClassVar[bool] = True
    begins_anew: ClassVar[bool] = True
    kind: Literal["proximity"] = "proximity"
    name: str = Field(default="proximity", min_length=1, description="Name of the sensor, unique on its robot.")
    sectors: int = Field(default=12, ge=1, le=1000, description="Number of sectors around the robot.")
    range_m: float = Field(default=2.0, gt=0, le=1e4, description="Largest distance that is sensed [m].")
    rays_per_sector: int = Field(
        default=1, ge=1, le=1000, description="Number of rays in a sector, evenly spread; the shortest counts."
    )
    ring_radius_m: float = Field(
        default=0.0,
        ge=0,
        le=100,
        description="Distance of the ring from the robot's centre; ranges start at the ring [m].",
    )
    sigma_m: float = Field(default=0.0, ge=0, le=100, description="Standard deviation of the noise of a distance [m].")
    dropout: float = Field(default=0.0, ge=0, le=1, description="Probability that a sector senses nothing.")
    outliers: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Probability that a sector reads a random distance, uniform from 0 to range_m.",
    )
    sees_robots: bool = Field(default=True, description="Whether the sensor senses other robots; false: only walls.")

    @model_validator(mode="after")
    def _check_rays(self) -> "Proximity":
        if self.sectors * self.rays_per_sector > 10_000:
            raise ValueError(f"{self.sectors} sectors x {self.rays_per_sector} rays; at most 10000 rays are allowed")
        return self

    def drawn(self, readings: Any = None) -> Draws:
        """Return how readings are drawn, see `SensorRecord.drawn`."""
        begin = -math.pi / self.sectors
        return Draws("sectors", "ranges", begin, inner_m=self.ring_radius_m, range_m=self.ring_radius_m + self.range_m)

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> ProximityReadings:
        """Return the readings of the members' rings, see `SensorRecord.read`."""
        centres, angles = _ring(self.sectors, self.rays_per_sector)
        reach = self.ring_radius_m + self.range_m
        distance = scan(truth, members, _CENTRE, angles, reach, self.sees_robots)
        if self.rays_per_sector > 1:
            distance = distance.reshape(len(members), self.sectors, -1).min(axis=2)
        nothing, ranges = distance >= reach, distance  # in place: the memory of large arrays costs more than the sums
        np.maximum(np.subtract(ranges, self.ring_radius_m, out=ranges), 0, out=ranges)
        np.copyto(ranges, np.inf, where=nothing)
        errors = self.sigma_m, self.dropout, self.outliers
        if any(errors):
            numbers = numbers_of(sample, members)
            measure(np.minimum(ranges, self.range_m), keys, numbers, errors, 0.0, self.range_m, ranges)
            ranges[np.isnan(ranges)] = np.inf
        return ProximityReadings(np.isfinite(ranges), ranges, centres)


@lru_cache(maxsize=64)
def _ring(sectors: int, rays_per_sector: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles of the sectors and the angles of all rays [rad]."""
    spacing = 2.0 * math.pi / (sectors * rays_per_sector)
    angles = spacing * (np.arange(sectors * rays_per_sector) - 0.5 * (rays_per_sector - 1))
    centres = 2.0 * math.pi / sectors * np.arange(sectors)
    centres = (centres + math.pi) % (2.0 * math.pi) - math.pi
    return constant(centres), angles
