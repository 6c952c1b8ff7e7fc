"""DepthCamera: an image of distances."""

import math
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from pydantic import Field

from covey.sensors.cloud import CloudReadings, RayBundle
from covey.sensors.sensor import SensorRecord
from covey.sensors.truth import Truth


class DepthCamera(SensorRecord):
    """A pinhole camera that measures the distance to the ground or to a wall in each pixel; it is blind to robots.

    The defaults are the field of view of an Intel RealSense D435 (87 x 58 degrees) with fewer pixels.
    """

    kind: Literal["depth_camera"] = "depth_camera"
    name: str = Field(default="depth_camera", min_length=1, description="Name of the sensor, unique on its robot.")
    fov_deg: float = Field(default=87.0, gt=0, lt=180, description="From the left to the right edge [degrees].")
    width: int = Field(default=80, ge=1, le=2000, description="Pixels from left to right; they are square.")
    height: int = Field(default=48, ge=1, le=2000, description="Pixels from top to bottom.")
    range_m: float = Field(default=6.0, gt=0, le=1e4, description="Farthest distance that is measured [m].")
    min_range_m: float = Field(default=0.0, ge=0, description="What nearer obstacles read [m].")
    sigma_m: float = Field(default=0.02, ge=0, le=100, description="Standard deviation of the noise of a distance [m].")
    dropout: float = Field(default=0.0, ge=0, le=1, description="Probability that a pixel measures nothing.")
    height_m: float = Field(default=0.3, ge=0, description="Height of the sensor above the ground [m].")
    mount_x_m: float = Field(default=0.15, description="Place of the sensor ahead of the robot's centre [m].")
    mount_y_m: float = Field(default=0.0, description="Place of the sensor to the left of the robot's centre [m].")
    mount_heading_deg: float = Field(default=0.0, description="Direction of the sensor, counter-clockwise [degrees].")
    mount_pitch_deg: float = Field(
        default=20.0, ge=-90, le=90, description="How far the sensor looks down, 90: straight down [degrees]."
    )
    rate_hz: float = Field(default=5.0, gt=0, le=1e6, description="Samples per second [Hz].")

    @property
    def view(self) -> tuple[float, float, float, float]:
        """Range, height above the ground [m], highest and lowest direction that it sees straight ahead [rad]."""
        half = math.atan(math.tan(math.radians(0.5 * self.fov_deg)) * self.height / self.width)
        pitch = math.radians(self.mount_pitch_deg)
        return self.range_m, self.height_m, half - pitch, -half - pitch

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> CloudReadings:
        """Return one cloud of each member, see `SensorRecord.read`; the pixels go row by row, from the top left on.

        Raises:
            InvalidValueError: the world has no ground.
        """
        record: Any = self
        return _bundle(record).read(self.kind, truth, members, keys, sample)


@lru_cache(maxsize=64)
def _bundle(camera: DepthCamera) -> RayBundle:
    pixel = 2.0 * math.tan(math.radians(0.5 * camera.fov_deg)) / camera.width  # at a distance of 1
    left = pixel * (0.5 * (camera.width - 1) - np.arange(camera.width))
    up = pixel * (0.5 * (camera.height - 1) - np.arange(camera.height))
    across, upwards = np.meshgrid(left, up)
    directions = np.column_stack((np.ones(across.size), across.ravel(), upwards.ravel()))
    directions /= np.sqrt((directions**2).sum(axis=1, keepdims=True))
    angles = math.radians(camera.mount_heading_deg), math.radians(camera.mount_pitch_deg)
    place = np.array([camera.mount_x_m, camera.mount_y_m, camera.height_m, *angles])
    return RayBundle(directions, place, camera.range_m, camera.min_range_m, camera.sigma_m, camera.dropout)
