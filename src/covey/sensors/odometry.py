"""Odometry: the measured motion of a robot since the previous sample."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from covey.geometry.se2 import compose, inverse, wrap_angle
from covey.kernel import kernel
from covey.random import normal2, normal2_numpy
from covey.records import Record
from covey.sensors.degradation import Degradation
from covey.sensors.sensor import Readings, SensorRecord
from covey.sensors.truth import Truth


class NoNoise(Record):
    """The true motion."""

    model: Literal["none"] = "none"


class GmappingNoise(Record):
    """Noise in proportion to the motion between two samples.

    With the motion dx, dy, dheading and its length d: sigma_x = srr |dx| + str |dheading| + 0.3 srr |dy|, sigma_y
    likewise, sigma_heading = stt |dheading| + srt d.

    References:
        G. Grisetti, C. Stachniss, W. Burgard: Improved techniques for grid mapping with Rao-Blackwellized particle
        filters. IEEE T-RO 2007; motion model and defaults of its program gmapping.
    """

    model: Literal["gmapping"] = "gmapping"
    m_per_m: float = Field(default=0.1, ge=0, le=10, description="Error of the distance per metre driven (srr) [m/m].")
    rad_per_m: float = Field(
        default=0.2, ge=0, le=10, description="Error of the heading per metre driven (srt) [rad/m]."
    )
    m_per_rad: float = Field(
        default=0.1, ge=0, le=10, description="Error of the position per radian turned (str) [m/rad]."
    )
    rad_per_rad: float = Field(
        default=0.2, ge=0, le=10, description="Error of the heading per radian turned (stt) [rad/rad]."
    )


Variance = Annotated[float, Field(ge=0, le=100)]


class VelocityNoise(Record):
    """Noise on the velocities between two samples, and on the heading at the end.

    Variances: a1 v^2 + a2 w^2 on the speed v, a3 v^2 + a4 w^2 on the turn rate w, a5 v^2 + a6 w^2 on the rate of the
    last turn on the spot.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005, table 5.3. Defaults of AMCL (0.2).
    """

    model: Literal["velocity"] = "velocity"
    alpha: tuple[Variance, Variance, Variance, Variance, Variance, Variance] = Field(
        default=(0.2, 0.2, 0.2, 0.2, 0.2, 0.2),
        description="Parameters a1 ... a6. a1, a4 and a6 have no unit; the units of the others combine m and rad.",
    )


class WhiteNoise(Record):
    """Noise on the pose, new in each sample but the first: a reading is the motion between two noisy poses.

    The readings from the start add up to the pose with the noise of the last sample only.

    References:
        Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation.
        Robotics 6(3), 2017 (the defaults).
    """

    model: Literal["white"] = "white"
    sigma_m: float = Field(default=0.022, ge=0, le=10, description="Standard deviation of x and of y [m].")
    sigma_rad: float = Field(default=0.02, ge=0, le=10, description="Standard deviation of the heading [rad].")


def _by_name(value: Any) -> Any:
    return {"model": value} if isinstance(value, str) else value


OdometryNoise = Annotated[
    NoNoise | GmappingNoise | VelocityNoise | WhiteNoise, Field(discriminator="model"), BeforeValidator(_by_name)
]


@dataclass(eq=False, slots=True)
class OdometryReading:
    """Motion since the previous sample in the body frame of that time: dx, dy [m], dheading [rad]."""

    dx: float
    dy: float
    dheading: float


@dataclass(frozen=True, eq=False)
class OdometryReadings(Readings):
    """Motions of m robots since the previous sample: ``motion`` float64 (m, 3), see `OdometryReading`."""

    motion: np.ndarray

    def row(self, i: int) -> OdometryReading:
        """Return the reading of the i-th robot."""
        return OdometryReading(*self.motion[i].tolist())

    def degrade(self, i: int, worse: Degradation) -> None:
        """Degrade a reading: wheels that slip, noise on the measured motion; a lost sample has none."""
        self.motion[i] *= worse.stretch
        self.motion[i, :2] += worse.noise_m * worse.normals(2)[0]
        if worse.lost(1)[0]:
            self.motion[i] = 0.0


class Odometry(SensorRecord):
    """Dead reckoning from the wheels; each sample has its own noise."""

    feeds: ClassVar[tuple[str, ...]] = ("motion",)
    form: ClassVar[str] = ""
    degrades: ClassVar[bool] = True
    in_many_worlds: ClassVar[bool] = True
    kind: Literal["odometry"] = "odometry"
    name: str = Field(default="odometry", min_length=1, description="Name of the sensor, unique on its robot.")
    noise: OdometryNoise = Field(
        default_factory=NoNoise,
        description="Noise model: none, gmapping, velocity or white, by name or with its parameters.",
    )

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> OdometryReadings:
        """Return the motions of the members since the previous sample, see `SensorRecord.read`."""
        motion = np.empty((len(members), 3))
        model, parameters = self.noise_model
        _odometry(truth.pose_before, truth.pose, members, keys, sample, model, parameters, motion)
        return OdometryReadings.made(motion=motion)

    @property
    def noise_model(self) -> tuple[int, np.ndarray]:
        """The number of the model and its parameters, float64 (6,), for kernels.

        0 is none, 1 gmapping, 2 velocity, 3 white.
        """
        if isinstance(self.noise, GmappingNoise):
            n = self.noise
            return 1, np.array([n.m_per_m, n.rad_per_m, n.m_per_rad, n.rad_per_rad, 0.0, 0.0])
        if isinstance(self.noise, VelocityNoise):
            return 2, np.array(self.noise.alpha)
        if isinstance(self.noise, WhiteNoise):
            return 3, np.array([self.noise.sigma_m, self.noise.sigma_rad, 0.0, 0.0, 0.0, 0.0])
        return 0, np.zeros(6)


@kernel
def _wrap(angle):
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


@kernel
def _arc(length, turn):
    """Return dx, dy of an arc with a length [m] that turns by ``turn`` [rad]."""
    half = 0.5 * turn
    chord = length * math.sin(half) / half if abs(half) > 1e-9 else length
    return chord * math.cos(half), chord * math.sin(half)


@kernel
def _odometry(pose_before, pose, members, keys, sample, model, a, motion):
    for i in range(members.shape[0]):
        r = members[i]
        c, s = math.cos(pose_before[r, 2]), math.sin(pose_before[r, 2])
        x, y = pose[r, 0] - pose_before[r, 0], pose[r, 1] - pose_before[r, 1]
        dx, dy, turn = c * x + s * y, c * y - s * x, _wrap(pose[r, 2] - pose_before[r, 2])
        away = math.sqrt(dx * dx + dy * dy)
        if model > 0:
            e0, e1 = normal2(keys[i], sample, 0)
            e2, _ = normal2(keys[i], sample, 1)
            if model == 1:
                x = a[0] * abs(dx) + a[2] * abs(turn) + 0.3 * a[0] * abs(dy)
                y = a[0] * abs(dy) + a[2] * abs(turn) + 0.3 * a[0] * abs(dx)
                dx, dy, turn = dx + e0 * x, dy + e1 * y, turn + e2 * (a[3] * abs(turn) + a[1] * away)
            elif model == 3:
                f0, f1, f2 = 0.0, 0.0, 0.0  # the noise of the sample before
                if sample == 0:
                    e0, e1, e2 = 0.0, 0.0, 0.0
                if sample > 1:
                    f0, f1 = normal2(keys[i], sample - 1, 0)
                    f2, _ = normal2(keys[i], sample - 1, 1)
                x, y = x + a[0] * (e0 - f0), y + a[0] * (e1 - f1)
                heading = pose_before[r, 2] + a[1] * f2
                c, s = math.cos(heading), math.sin(heading)
                dx, dy, turn = c * x + s * y, c * y - s * x, turn + a[1] * (e2 - f2)
            else:
                # Speeds times the time between the samples, which cancels: the length of the arc and the turn.
                half = 0.5 * turn
                length = math.copysign(away, dx) * (half / math.sin(half) if abs(half) > 1e-9 else 1.0)
                l2, t2 = length * length, turn * turn
                noisy_length = length + e0 * math.sqrt(a[0] * l2 + a[1] * t2)
                noisy_turn = turn + e1 * math.sqrt(a[2] * l2 + a[3] * t2)
                # The difference of two arcs: a motion that is not an arc (sideways) keeps its remainder.
                x0, y0 = _arc(length, turn)
                x1, y1 = _arc(noisy_length, noisy_turn)
                dx, dy, turn = dx + x1 - x0, dy + y1 - y0, noisy_turn + e2 * math.sqrt(a[4] * l2 + a[5] * t2)
        motion[i, 0], motion[i, 1], motion[i, 2] = dx, dy, _wrap(turn)


def odometry_reference(pose_before, pose, keys, sample, model: int, a) -> np.ndarray:
    """NumPy reference of the kernel of `Odometry` for poses of shape (m, 3)."""
    motion = compose(inverse(pose_before), pose)
    dx, dy, turn = motion.T
    if model == 0:
        return motion
    (e0, e1), (e2, _) = normal2_numpy(keys, sample, 0), normal2_numpy(keys, sample, 1)
    away = np.hypot(dx, dy)
    if model == 1:
        sigma_x = a[0] * np.abs(dx) + a[2] * np.abs(turn) + 0.3 * a[0] * np.abs(dy)
        sigma_y = a[0] * np.abs(dy) + a[2] * np.abs(turn) + 0.3 * a[0] * np.abs(dx)
        sigma_heading = a[3] * np.abs(turn) + a[1] * away
        noisy = motion + np.stack((e0 * sigma_x, e1 * sigma_y, e2 * sigma_heading), -1)
    elif model == 3:
        deviations = np.array([a[0], a[0], a[1]])
        (f0, f1), (f2, _) = (normal2_numpy(keys, max(sample - 1, 0), pair) for pair in (0, 1))
        before = pose_before + deviations * np.stack((f0, f1, f2), -1) * (sample > 1)
        noisy = compose(inverse(before), pose + deviations * np.stack((e0, e1, e2), -1) * (sample > 0))
    else:
        v, w = np.copysign(away, dx) / np.sinc(turn / (2 * np.pi)), turn
        noisy_v = v + e0 * np.sqrt(a[0] * v**2 + a[1] * w**2)
        noisy_w = w + e1 * np.sqrt(a[2] * v**2 + a[3] * w**2)
        arcs = []
        for speed, rate in ((v, w), (noisy_v, noisy_w)):
            chord = speed * np.sinc(rate / (2 * np.pi))
            arcs.append(np.stack((chord * np.cos(rate / 2), chord * np.sin(rate / 2)), -1))
        heading = noisy_w + e2 * np.sqrt(a[4] * v**2 + a[5] * w**2)
        noisy = np.concatenate((motion[:, :2] + arcs[1] - arcs[0], heading[:, None]), axis=1)
    noisy[:, 2] = wrap_angle(noisy[:, 2])
    return noisy
