"""Localization: the true pose, the true pose with noise, or dead reckoning.

Each kind is a record that builds a `Localizer` for a whole group. SLAM fits the same protocol: it increases the
revision of a robot when a loop closes and past poses change.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

import numpy as np
from pydantic import Field

from covey.geometry.se2 import compose, wrap_angle
from covey.kernel import kernel
from covey.random import normal2, stream_key
from covey.records import Record
from covey.registry import Registry

localizers: Registry[type[Record]] = Registry("localizer")


class Localizer(Protocol):
    """Estimates the poses of a group of robots, step by step."""

    def update(self, odometry: np.ndarray, true_pose: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimates (m, 3) and their revisions, int64 (m,), after one more step.

        Args:
            odometry: (m, 3) measured motion since the last step: x, y [m], heading [rad] in the body frame before it;
                ignored in the first step.
            true_pose: (m, 3), for localizers that represent a positioning system; dead reckoning and SLAM may use it
                only for their start.
            step: the control step; the noise is a function of the robot's name and the step.
        """
        ...


@localizers.register("truth")
class Truth(Record):
    """The estimate is the true pose."""

    kind: Literal["truth"] = Field(default="truth", description="The name of this kind of localization.")

    def build(self, names: Sequence[str], seed: int) -> Localizer:
        """Return a localizer for robots with these names."""
        return _TrueLocalizer(len(names))


@localizers.register("noise")
class Noise(Record):
    """The estimate is the true pose with white noise, independent in every step: no drift.

    References:
        Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot
        simulation. Robotics 6(3), 2017 (the defaults).
    """

    kind: Literal["noise"] = Field(default="noise", description="The name of this kind of localization.")
    sigma_m: float = Field(default=0.022, ge=0, description="Standard deviation of x and of y [m].")
    sigma_rad: float = Field(default=0.02, ge=0, description="Standard deviation of the heading [rad].")

    def build(self, names: Sequence[str], seed: int) -> Localizer:
        """Return a localizer for robots with these names; its noise depends only on name, seed and step."""
        return _NoisyLocalizer(self, names, seed)


@localizers.register("odometry")
class Odometry(Record):
    """The estimate is dead reckoning from the true start: it drifts like the odometry sensor."""

    kind: Literal["odometry"] = Field(default="odometry", description="The name of this kind of localization.")

    def build(self, names: Sequence[str], seed: int) -> Localizer:
        """Return a localizer for robots with these names."""
        return _DeadReckoning(len(names))


Localization = Annotated[Truth | Noise | Odometry, Field(discriminator="kind")]
"""Any of the shipped kinds; ``kind`` selects the record."""


class _TrueLocalizer:
    def __init__(self, count: int):
        self._revision = np.zeros(count, np.int64)

    def update(self, odometry: np.ndarray, true_pose: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        return true_pose.copy(), self._revision


class _NoisyLocalizer:
    def __init__(self, record: Noise, names: Sequence[str], seed: int):
        self._sigma = np.array([record.sigma_m, record.sigma_m, record.sigma_rad])
        self._keys = np.array([stream_key(seed, f"localization/{name}") for name in names], np.uint64)
        self._revision = np.zeros(len(names), np.int64)

    def update(self, odometry: np.ndarray, true_pose: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        pose = true_pose + self._sigma * normals(self._keys, step, 3)
        pose[:, 2] = wrap_angle(pose[:, 2])
        return pose, self._revision


class _DeadReckoning:
    def __init__(self, count: int):
        self._revision = np.zeros(count, np.int64)
        self._pose: np.ndarray | None = None

    def update(self, odometry: np.ndarray, true_pose: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
        self._pose = true_pose.copy() if self._pose is None else compose(self._pose, odometry)
        return self._pose.copy(), self._revision


def normals(keys: np.ndarray, sample: int, count: int) -> np.ndarray:
    """Return independent standard normal numbers, (m, count), of streams ``keys`` (m,) for one sample."""
    out = np.empty((len(keys), count + count % 2))
    draw_normals(keys, sample, out)
    return out[:, :count]


@kernel
def draw_normals(keys, sample, out):
    """Fill the rows of ``out`` (even number of columns) with standard normals of the streams ``keys``."""
    for i in range(keys.size):
        for pair in range(out.shape[1] // 2):
            out[i, 2 * pair], out[i, 2 * pair + 1] = normal2(keys[i], sample, pair)
