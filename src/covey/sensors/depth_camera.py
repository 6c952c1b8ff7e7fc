"""DepthCamera: an image of distances."""

import math
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.geometry.constant import constant
from covey.sensors.cloud import CloudSensor


class DepthCamera(CloudSensor):
    """A pinhole camera that measures the distance to the ground or to a wall in each pixel; it is blind to robots.

    The defaults are the field of view of an Intel RealSense D435 (87 x 58 degrees) with fewer pixels. Pixels are
    ordered row by row, from the top left.
    """

    feeds: ClassVar[tuple[str, ...]] = ("ground",)
    form: ClassVar[str] = "depth"
    degrades: ClassVar[bool] = True
    kind: Literal["depth_camera"] = "depth_camera"
    name: str = Field(default="depth_camera", min_length=1, description="Name of the sensor, unique on its robot.")
    fov_deg: float = Field(
        default=87.0, gt=0, lt=180, description="Angle between the left and the right edge [degrees]."
    )
    width: int = Field(default=80, ge=1, le=2000, description="Number of pixels from left to right; pixels are square.")
    height: int = Field(default=48, ge=1, le=2000, description="Number of pixels from top to bottom.")
    range_m: float = Field(default=6.0, gt=0, le=1e4, description="Largest distance that is measured [m].")
    height_m: float = Field(default=0.3, ge=0, description="Height of the sensor above the ground [m].")
    mount_x_m: float = Field(default=0.15, description="Position of the sensor ahead of the robot's centre [m].")
    mount_pitch_deg: float = Field(
        default=20.0, ge=-90, le=90, description="Angle by which the sensor looks down; 90: straight down [degrees]."
    )
    rate_hz: float = Field(default=5.0, gt=0, le=1e6, description="Samples per second [Hz].")

    @property
    def edges(self) -> tuple[float, float]:
        """Highest and lowest direction straight ahead of the sensor [rad], level as it is mounted."""
        half = math.atan(math.tan(math.radians(0.5 * self.fov_deg)) * self.height / self.width)
        return half, -half

    @property
    def directions(self) -> np.ndarray:
        """Unit vectors of the pixels, float64 (height x width, 3): ahead, left, up of the camera; read-only."""
        return _pixels(self.width, self.height, math.radians(self.fov_deg))


@lru_cache(maxsize=64)
def _pixels(width: int, height: int, fov: float) -> np.ndarray:
    side = 2.0 * math.tan(0.5 * fov) / width  # side of a pixel at a distance of 1
    left = side * (0.5 * (width - 1) - np.arange(width))
    up = side * (0.5 * (height - 1) - np.arange(height))
    across, upwards = np.meshgrid(left, up)
    directions = np.column_stack((np.ones(across.size), across.ravel(), upwards.ravel()))
    directions /= np.sqrt((directions**2).sum(axis=1, keepdims=True))
    return constant(directions)
