"""Lidar3D: rings of rays in space, like those of spinning scanners."""

import math
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from covey.geometry.constant import constant
from covey.sensors.cloud import CloudSensor
from covey.sensors.sensor import fan_angles


class Lidar3D(CloudSensor):
    """A scanner with several rings of rays that measures distances to the ground and to walls; it is blind to robots.

    The defaults are those of a small scanner of 16 rings over 30 degrees, with fewer rays. Rays are ordered ring by
    ring, from the lowest.
    """

    feeds: ClassVar[tuple[str, ...]] = ("ground",)
    form: ClassVar[str] = "cloud"
    degrades: ClassVar[bool] = True
    kind: Literal["lidar3d"] = "lidar3d"
    name: str = Field(default="lidar3d", min_length=1, description="Name of the sensor, unique on its robot.")
    rings: int = Field(
        default=16, ge=1, le=256, description="Number of rings, evenly spread from the lower to the upper edge."
    )
    rays: int = Field(
        default=180, ge=1, le=10_000, description="Number of rays in a ring, evenly spread over the field of view."
    )
    fov_deg: float = Field(default=360.0, gt=0, le=360, description="Field of view, centred straight ahead [degrees].")
    elevation_deg: float = Field(
        default=15.0, ge=-90, le=90, description="Angle of the upper edge above straight ahead [degrees]."
    )
    declination_deg: float = Field(
        default=15.0, ge=-90, le=90, description="Angle of the lower edge below straight ahead [degrees]."
    )

    @model_validator(mode="after")
    def _spread(self) -> "Lidar3D":
        if self.rings > 1 and self.elevation_deg + self.declination_deg <= 0:
            raise ValueError("the upper edge is not above the lower: elevation_deg + declination_deg must be positive")
        return self

    @property
    def edges(self) -> tuple[float, float]:
        """Highest and lowest direction straight ahead of the sensor [rad], level as it is mounted."""
        return math.radians(self.elevation_deg), -math.radians(self.declination_deg)

    @property
    def directions(self) -> np.ndarray:
        """Unit vectors of the rays, float64 (rings x rays, 3): ahead, left, up of the sensor; read-only."""
        return _rings(self.rings, self.rays, math.radians(self.fov_deg), *self.edges)


@lru_cache(maxsize=64)
def _rings(rings: int, rays: int, fov: float, highest: float, lowest: float) -> np.ndarray:
    up = np.repeat(np.linspace(lowest, highest, rings), rays)
    around = np.tile(fan_angles(rays, fov), rings)
    directions = np.column_stack((np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)))
    return constant(directions)
