"""Localization: the true pose, the true pose with noise, dead reckoning, finding oneself in a known map, or SLAM.

Each kind is a record that builds a `Localizer` for a whole group. SLAM increases the revision of a robot when its past
poses change.
"""

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.geometry.se2 import compose
from covey.kernel import kernel
from covey.mapping.dead_reckoning import grow
from covey.mapping.known_map import KnownMap
from covey.mapping.localizer import Equipment, Estimate, Localizer, LocalizerRecord, Sensed, localizers
from covey.mapping.particle_localizer import Particles
from covey.mapping.slam_localizer import Slam
from covey.random import normal2, stream_key

_ALONE = Equipment()


@localizers.register("truth")
class TruePose(LocalizerRecord):
    """The estimate is the true pose."""

    kind: Literal["truth"] = Field(default="truth", description="The name of this kind of localization.")

    def build(self, names: Sequence[str], seed: int, equipment: Equipment = _ALONE) -> Localizer:
        """Return a localizer for robots with these names."""
        return TrueLocalizer(len(names))


@localizers.register("noise")
class Noise(LocalizerRecord):
    """The estimate is the true pose with white noise, independent in every step: no drift.

    References:
        Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot
        simulation. Robotics 6(3), 2017 (the defaults).
    """

    matches: ClassVar[bool] = True  # it stands for a localizer that does
    white: ClassVar[bool] = True
    kind: Literal["noise"] = Field(default="noise", description="The name of this kind of localization.")
    sigma_m: float = Field(default=0.022, ge=0, description="Standard deviation of x and of y [m].")
    sigma_rad: float = Field(default=0.02, ge=0, description="Standard deviation of the heading [rad].")

    def build(self, names: Sequence[str], seed: int, equipment: Equipment = _ALONE) -> Localizer:
        """Return a localizer for robots with these names; its noise depends only on name, seed and step."""
        return _NoisyLocalizer(self, names, seed)


@localizers.register("odometry")
class DeadReckoning(LocalizerRecord):
    """The estimate is dead reckoning from the true start: it drifts like the odometry sensor.

    Its covariance grows with each sample of the sensor, to first order, by the noise model of its record; faults and
    being carried are not in it.
    """

    needs: ClassVar[tuple[str, ...]] = ("motion",)
    kind: Literal["odometry"] = Field(default="odometry", description="The name of this kind of localization.")

    def build(self, names: Sequence[str], seed: int, equipment: Equipment = _ALONE) -> Localizer:
        """Return a localizer for robots with these names."""
        return _DeadReckoning(len(names), equipment)


localizers.register("known_map")(KnownMap)
localizers.register("slam")(Slam)
localizers.register("particles")(Particles)


class TrueLocalizer:
    """Robots that know their true poses."""

    def __init__(self, count: int):
        self._covariance, self._revision = np.zeros((count, 3, 3)), np.zeros(count, np.int64)

    def update(self, sensed: Sensed) -> Estimate:
        """Return the true poses."""
        return Estimate(sensed.true_pose.copy(), self._covariance, self._revision)


class _NoisyLocalizer:
    def __init__(self, record: Noise, names: Sequence[str], seed: int):
        self._sigma = np.array([record.sigma_m, record.sigma_m, record.sigma_rad])
        self._keys = np.array([stream_key(seed, f"localization/{name}") for name in names], np.uint64)
        self._covariance = np.tile(np.diag(self._sigma**2), (len(names), 1, 1))
        self._revision = np.zeros(len(names), np.int64)

    def update(self, sensed: Sensed) -> Estimate:
        pose = sensed.true_pose.copy()
        disturb(pose, self._sigma, self._keys, sensed.step)
        return Estimate(pose, self._covariance, self._revision)


class _DeadReckoning:
    def __init__(self, count: int, equipment: Equipment):
        self._noise = equipment.odometry_noise
        self._covariance = np.full((count, 3, 3), np.nan if self._noise is None else 0.0)
        self._revision = np.zeros(count, np.int64)
        self._pose: np.ndarray | None = None

    def update(self, sensed: Sensed) -> Estimate:
        if self._pose is None:
            self._pose = sensed.true_pose.copy()
        else:
            if self._noise is not None:
                heading = self._pose[:, 2].copy()
                variances = sensed.turn_variances or [np.empty(0)] * len(sensed.motions)
                for motion, of_turn in zip(sensed.motions, variances, strict=True):
                    grow(self._covariance, heading, motion, *self._noise, of_turn)
            self._pose = compose(self._pose, sensed.motion)
        return Estimate(self._pose.copy(), self._covariance, self._revision)


@kernel
def disturb(pose, sigma, keys, step):
    """Add noise of standard deviations [m, m, rad] to poses (m, 3), in place: by the first normal numbers of a step."""
    for i in range(keys.size):
        x, y = normal2(keys[i], step, 0)
        heading, _ = normal2(keys[i], step, 1)
        pose[i, 0], pose[i, 1] = pose[i, 0] + sigma[0] * x, pose[i, 1] + sigma[1] * y
        pose[i, 2] = (pose[i, 2] + sigma[2] * heading + math.pi) % (2.0 * math.pi) - math.pi
