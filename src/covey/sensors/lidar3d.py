"""Lidar3D: rings of rays in space, as spinning scanners have them."""

import math
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from covey.sensors.cloud import CloudReadings, RayBundle
from covey.sensors.sensor import SensorRecord, fan_angles
from covey.sensors.truth import Truth


class Lidar3D(SensorRecord):
    """A scanner with several rings of rays that measures distances to the ground and to walls; it is blind to robots.

    The defaults are those of a small scanner of 16 rings over 30 degrees, with fewer rays.
    """

    kind: Literal["lidar3d"] = "lidar3d"
    name: str = Field(default="lidar3d", min_length=1, description="Name of the sensor, unique on its robot.")
    rings: int = Field(default=16, ge=1, le=256, description="Rings, evenly spread from the lower edge to the upper.")
    rays: int = Field(default=180, ge=1, le=10_000, description="Rays of a ring, evenly spread over the field of view.")
    fov_deg: float = Field(default=360.0, gt=0, le=360, description="Field of view, centred straight ahead [degrees].")
    elevation_deg: float = Field(default=15.0, ge=-90, le=90, description="Upper edge above straight ahead [deg].")
    declination_deg: float = Field(
        default=15.0, ge=-90, le=90, description="Lower edge below straight ahead [degrees]."
    )
    range_m: float = Field(default=20.0, gt=0, le=1e4, description="Farthest distance that is measured [m].")
    min_range_m: float = Field(default=0.0, ge=0, description="What nearer obstacles read [m].")
    sigma_m: float = Field(default=0.02, ge=0, le=100, description="Standard deviation of the noise of a distance [m].")
    dropout: float = Field(default=0.0, ge=0, le=1, description="Probability that a ray measures nothing.")
    height_m: float = Field(default=0.5, ge=0, description="Height of the sensor above the ground [m].")
    mount_x_m: float = Field(default=0.0, description="Place of the sensor ahead of the robot's centre [m].")
    mount_y_m: float = Field(default=0.0, description="Place of the sensor to the left of the robot's centre [m].")
    mount_heading_deg: float = Field(default=0.0, description="Direction of the sensor, counter-clockwise [degrees].")
    mount_pitch_deg: float = Field(
        default=0.0, ge=-90, le=90, description="How far the sensor looks down, 90: straight down [degrees]."
    )

    @model_validator(mode="after")
    def _spread(self) -> "Lidar3D":
        if self.rings > 1 and self.elevation_deg + self.declination_deg <= 0:
            raise ValueError(
                "the upper edge is not above the lower one; elevation_deg + declination_deg must be positive"
            )
        return self

    @property
    def view(self) -> tuple[float, float, float, float]:
        """Range, height above the ground [m], highest and lowest direction that it sees straight ahead [rad]."""
        pitch = self.mount_pitch_deg
        return self.range_m, self.height_m, *np.radians((self.elevation_deg - pitch, -self.declination_deg - pitch))

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> CloudReadings:
        """Return one cloud of each member, see `SensorRecord.read`; the rays go ring by ring, from the lowest on.

        Raises:
            InvalidValueError: the world has no ground.
        """
        record: Any = self
        return _bundle(record).read(self.kind, truth, members, keys, sample)


@lru_cache(maxsize=64)
def _bundle(sensor: Lidar3D) -> RayBundle:
    low, high = math.radians(-sensor.declination_deg), math.radians(sensor.elevation_deg)
    up = np.repeat(np.linspace(low, high, sensor.rings), sensor.rays)
    around = np.tile(fan_angles(sensor.rays, math.radians(sensor.fov_deg)), sensor.rings)
    directions = np.column_stack((np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)))
    angles = math.radians(sensor.mount_heading_deg), math.radians(sensor.mount_pitch_deg)
    place = np.array([sensor.mount_x_m, sensor.mount_y_m, sensor.height_m, *angles])
    return RayBundle(directions, place, sensor.range_m, sensor.min_range_m, sensor.sigma_m, sensor.dropout)
