"""Lidar: a fan of rays that measures distances to walls and other robots."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from covey.geometry.constant import constant
from covey.kernel import kernel
from covey.random import fill_normals, uniform2
from covey.sensors.degradation import Degradation
from covey.sensors.scan import fan_of, scan_into, seen_of
from covey.sensors.sensor import Readings, SensorRecord, fan_angles, numbers_of
from covey.sensors.truth import Truth


@dataclass(eq=False, slots=True)
class LidarReading:
    """One scan of one robot.

    Attributes:
        ranges: float64 (rays,) [m]; inf where nothing is within range, NaN where the measurement was lost.
        angles: float64 (rays,) [rad], direction of each ray in the frame of the mount.
        range_m: range of the sensor [m].
        mount: float64 (3,), x, y [m] and heading [rad] of the sensor in the body frame.
    """

    ranges: np.ndarray
    angles: np.ndarray
    range_m: float
    mount: np.ndarray

    def points(self) -> np.ndarray:
        """Return the measured points [m] in the body frame, shape (hits, 2)."""
        hit = np.isfinite(self.ranges)
        distance, angle = self.ranges[hit], self.angles[hit] + self.mount[2]
        return self.mount[:2] + np.stack((distance * np.cos(angle), distance * np.sin(angle)), axis=-1)


@dataclass(frozen=True, eq=False)
class LidarReadings(Readings):
    """One scan of each of m robots, see `LidarReading`.

    ``truth``: float64 (m, rays) [m], the ranges without noise and dropout, ``range_m`` where nothing was hit.
    """

    shared: ClassVar = ("angles", "range_m", "mount")
    ranges: np.ndarray
    angles: np.ndarray
    range_m: float
    mount: np.ndarray

    def points(self) -> np.ndarray:
        """Return the measured points [m] in the frame of each robot's body, float64 (m, rays, 2); NaN without a hit."""
        distance, angle = np.where(np.isfinite(self.ranges), self.ranges, np.nan), self.angles + self.mount[2]
        return self.mount[:2] + np.stack((distance * np.cos(angle), distance * np.sin(angle)), axis=-1)

    def row(self, i: int) -> LidarReading:
        """Return the scan of the i-th robot; its arrays are copies, except the constant angles."""
        return LidarReading(self.ranges[i].copy(), self.angles, self.range_m, self.mount.copy())

    def degrade(self, i: int, worse: Degradation) -> None:
        """Degrade a scan; its true ranges, which define the explored area, end at the new range."""
        ranges, true = self.ranges[i], self.truth[i]
        worse.worsen(ranges)
        np.minimum(true, worse.range_m, out=true)
        lost = worse.lost(len(ranges))
        ranges[lost] = true[lost] = np.nan


class Lidar(SensorRecord):
    """A planar laser scanner.

    Each ray ends at the first wall or body. A distance gets Gaussian noise, is lost with the probability ``dropout``
    (reads NaN), reads at least ``min_range_m``, and reads inf beyond ``range_m``. With the probability ``outliers`` it
    is a random distance instead.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005, section 6.3 (random measurements).
    """

    feeds: ClassVar[tuple[str, ...]] = ("scan",)
    form: ClassVar[str] = "scan"
    degrades: ClassVar[bool] = True
    in_many_worlds: ClassVar[bool] = True
    begins_anew: ClassVar[bool] = True
    kind: Literal["lidar"] = "lidar"
    name: str = Field(default="lidar", min_length=1, description="Name of the sensor, unique on its robot.")
    range_m: float = Field(default=10.0, gt=0, le=1e4, description="Largest distance that is measured [m].")
    min_range_m: float = Field(
        default=0.0, ge=0, description="Smallest distance [m]; closer obstacles read this value."
    )
    fov_deg: float = Field(default=360.0, gt=0, le=360, description="Field of view, centred straight ahead [degrees].")
    rays: int = Field(default=360, ge=1, le=10_000, description="Number of rays, evenly spread over the field of view.")
    sigma_m: float = Field(default=0.0, ge=0, le=100, description="Standard deviation of the noise of a distance [m].")
    dropout: float = Field(default=0.0, ge=0, le=1, description="Probability that a ray measures nothing.")
    outliers: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Probability that a ray reads a random distance, uniform from min_range_m to range_m.",
    )
    sees_robots: bool = Field(default=True, description="Whether the sensor sees other robots; false: only walls.")
    mount_x_m: float = Field(default=0.0, description="Position of the sensor ahead of the robot's centre [m].")
    mount_y_m: float = Field(default=0.0, description="Position of the sensor to the left of the robot's centre [m].")
    mount_heading_deg: float = Field(default=0.0, description="Direction of the sensor, counter-clockwise [degrees].")

    @model_validator(mode="after")
    def _check_ranges(self) -> "Lidar":
        if self.min_range_m >= self.range_m:
            raise ValueError(f"min_range_m is {self.min_range_m:g} m; it must be less than range_m, {self.range_m:g} m")
        return self

    @property
    def angles(self) -> np.ndarray:
        """Directions of the rays [rad] in the frame of the mount, shape (rays,), read-only."""
        return _angles(self.rays, math.radians(self.fov_deg))

    @property
    def mount(self) -> np.ndarray:
        """x, y [m], heading [rad] in the body frame, float64 (3,)."""
        return np.array([self.mount_x_m, self.mount_y_m, math.radians(self.mount_heading_deg)])

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> LidarReadings:
        """Return one scan of each member, see `SensorRecord.read`."""
        angles, mount = self.angles, self.mount
        true_ranges, ranges = np.empty((2, len(members), len(angles)))
        errors, numbers = (self.sigma_m, self.dropout, self.outliers), numbers_of(sample, members)
        measured_scan(
            *seen_of(truth, self.sees_robots), members, mount, *fan_of(angles), keys, numbers, errors, self.min_range_m,
            self.range_m, true_ranges, ranges,
        )  # fmt: skip
        return LidarReadings.made(ranges=ranges, angles=angles, range_m=self.range_m, mount=mount, truth=true_ranges)


@lru_cache(maxsize=64)
def _angles(rays: int, fov_rad: float) -> np.ndarray:
    return constant(fan_angles(rays, fov_rad))


@kernel
def measured_scan(
    skip, frame, pose, bodies, members, mount, directions, first, spacing, keys, numbers, errors, min_range, range_m,
    true_ranges, ranges,
):  # fmt: skip
    """Do as `covey.sensors.scan.scan_into`, then as `measure`: one call costs less than two."""
    scan_into(skip, frame, pose, bodies, members, mount, directions, first, spacing, range_m, true_ranges)
    measure(true_ranges, keys, numbers, errors, min_range, range_m, ranges)


@kernel
def measure(true_ranges, keys, numbers, errors, min_range, range_m, ranges):
    """Add noise, outliers and dropout; ray j uses the j-th normal number of `covey.random.fill_normals`.

    Args:
        keys, numbers: of the noise of each robot, and of its sample.
        errors: sigma [m], and the probabilities of a lost ray and of an outlier.
    """
    rays, (sigma, dropout, outliers) = true_ranges.shape[1], errors
    noise = np.zeros(rays)
    for i in range(true_ranges.shape[0]):
        sample = numbers[i]
        if sigma > 0.0:
            fill_normals(keys[i], sample, noise)
        true, measured = true_ranges[i], ranges[i]
        for j in range(rays):
            value = max(true[j] + sigma * noise[j], min_range)
            measured[j] = math.inf if true[j] >= range_m or value > range_m else value
        for j in range(rays if outliers > 0.0 else 0):
            chance, value = uniform2(keys[i], sample, (1 << 33) + j)
            if chance < outliers:
                ranges[i, j] = min_range + value * (range_m - min_range)
        if dropout > 0.0:
            for first in range(0, rays, 2):
                chance, next_chance = uniform2(keys[i], sample, (1 << 32) + (first >> 1))
                for j in range(first, min(first + 2, rays)):
                    if chance < dropout:
                        ranges[i, j] = math.nan
                    chance = next_chance
