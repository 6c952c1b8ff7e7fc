"""IMU: turn rate and acceleration of the body, with white noise, a bias that walks, and an error of scale."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.kernel import kernel
from covey.random import normal4
from covey.sensors.degradation import Degradation
from covey.sensors.sensor import Readings, SensorRecord
from covey.sensors.truth import Truth

GRAVITY_M_S2 = 9.80665
_WALK, _START, _SCALE = 1 << 40, 1 << 41, 1 << 42  # elements of the draws
_LEVELS = 32  # walks have up to 2**32 steps


@dataclass(eq=False, slots=True)
class ImuReading:
    """What an IMU measured since its previous sample.

    Attributes:
        turn_rate: mean turn rate about the vertical axis of the body, counter-clockwise [rad/s].
        acceleration: float64 (3,), ahead, left, up in the body frame [m/s²]; a robot that stands level reads gravity
            upwards: 0, 0, 9.81.
    """

    turn_rate: float
    acceleration: np.ndarray


@dataclass(frozen=True, eq=False)
class ImuReadings(Readings):
    """The IMUs of m robots: ``turn_rate`` (m,) [rad/s], ``acceleration`` (m, 3) [m/s²]; NaN: a lost sample."""

    turn_rate: np.ndarray
    acceleration: np.ndarray

    def row(self, i: int) -> ImuReading:
        """Return the reading of the i-th robot; its array is a copy."""
        return ImuReading(float(self.turn_rate[i]), self.acceleration[i].copy())

    def degrade(self, i: int, worse: Degradation) -> None:
        """Degrade a reading: a lost sample is NaN."""
        if worse.lost(1)[0]:
            self.turn_rate[i], self.acceleration[i] = np.nan, np.nan


class Imu(SensorRecord):
    """A gyro and an accelerometer at the centre of the robot.

    A reading is (1 + scale) · truth + bias + white noise. Each robot draws its scale and the bias at its start; then
    the bias walks. The Allan variance of a gyro that stands is noise² / time + walk² · time / 3.

    Noise: turtlebot3_simulations (0.0002 rad/s and 0.017 m/s² in each sample at 200 Hz). Walks: the IMU of the EuRoC
    data. Scale and bias of the accelerometer: a third of the tolerances in the data sheet of the ICM-20948. Scale of
    the gyro: a third of 3 %, the tolerance of the MPU-9250 of the TurtleBot3. The gyro has no bias at the start:
    robots calibrate it while they stand.

    References:
        IEEE Std 952-1997, annex C (the model, its Allan variance).
        M. Burri et al.: The EuRoC micro aerial vehicle datasets. IJRR 35(10), 2016.
    """

    feeds: ClassVar[tuple[str, ...]] = ("turn",)
    form: ClassVar[str] = "imu"
    between_steps: ClassVar[bool] = True
    degrades: ClassVar[bool] = True
    in_many_worlds: ClassVar[bool] = True
    kind: Literal["imu"] = "imu"
    name: str = Field(default="imu", min_length=1, description="Name of the sensor, unique on its robot.")
    rate_hz: float = Field(default=100.0, gt=0, le=1e6, description="Samples per second [Hz].")
    gyro_noise: float = Field(default=1.4e-5, ge=0, le=10, description="White noise of the turn rate [rad/s/√Hz].")
    gyro_walk: float = Field(default=1.94e-5, ge=0, le=10, description="Walk of its bias [rad/s²/√Hz].")
    gyro_bias_rad_s: float = Field(default=0.0, ge=0, le=10, description="Deviation of its bias at the start [rad/s].")
    gyro_scale: float = Field(default=0.01, ge=0, le=1, description="Deviation of its error of scale [-].")
    accel_noise: float = Field(default=1.2e-3, ge=0, le=100, description="White noise of the acceleration [m/s²/√Hz].")
    accel_walk: float = Field(default=3e-3, ge=0, le=100, description="Walk of its biases [m/s³/√Hz].")
    accel_bias_m_s2: float = Field(default=0.08, ge=0, le=100, description="Deviation of them at the start [m/s²].")
    accel_scale: float = Field(default=0.0017, ge=0, le=1, description="Deviation of its errors of scale [-].")

    def read(self, truth: Truth, members: np.ndarray, keys: np.ndarray, sample: int) -> ImuReadings:
        """Return what the members measure, see `SensorRecord.read`."""
        out = np.empty((len(members), 4))
        earlier = truth.pose_before if truth.pose_earlier is None else truth.pose_earlier
        times = np.array([truth.dt_s, truth.dt_before_s])
        poses = truth.pose, truth.pose_before, earlier, truth.altitude_roll_pitch
        _imu(*poses, times, members, keys, sample, self.noise_model, out)
        return ImuReadings(out[:, 0].copy(), out[:, 1:].copy())

    @property
    def gyro(self) -> tuple[float, float, float, float]:
        """Noise, walk, bias at the start and scale error of the gyro."""
        return self.gyro_noise, self.gyro_walk, self.gyro_bias_rad_s, self.gyro_scale

    @property
    def noise_model(self) -> np.ndarray:
        """White noise and a step of the walk of a sample, bias at the start, scale: of gyro, accelerometer, (2, 4)."""
        fast, slow = math.sqrt(self.rate_hz), 1.0 / math.sqrt(self.rate_hz)
        return np.array(
            [
                [self.gyro_noise * fast, self.gyro_walk * slow, self.gyro_bias_rad_s, self.gyro_scale],
                [self.accel_noise * fast, self.accel_walk * slow, self.accel_bias_m_s2, self.accel_scale],
            ]
        )


@kernel
def _imu(pose, pose_before, pose_earlier, attitude, times, members, keys, sample, model, out):
    dt, dt_before = times[0], times[1]
    bias = np.empty(4)
    for i in range(members.shape[0]):
        r = members[i]
        turn = (pose[r, 2] - pose_before[r, 2] + math.pi) % (2.0 * math.pi) - math.pi
        rate, ax, ay = 0.0, 0.0, 0.0
        if dt > 0.0:
            rate = turn / dt
            vx, vy = (pose[r, 0] - pose_before[r, 0]) / dt, (pose[r, 1] - pose_before[r, 1]) / dt
            if dt_before > 0.0:  # else it stood before
                vx -= (pose_before[r, 0] - pose_earlier[r, 0]) / dt_before
                vy -= (pose_before[r, 1] - pose_earlier[r, 1]) / dt_before
            between = pose_before[r, 2] + 0.5 * turn
            c, s = math.cos(between), math.sin(between)
            ax, ay = (c * vx + s * vy) / dt, (c * vy - s * vx) / dt
        sin_roll, cos_roll = math.sin(attitude[r, 1]), math.cos(attitude[r, 1])
        sin_pitch, cos_pitch = math.sin(attitude[r, 2]), math.cos(attitude[r, 2])
        up = ax * sin_pitch + GRAVITY_M_S2 * cos_pitch
        out[i, 0] = rate * cos_roll * cos_pitch
        out[i, 1] = ax * cos_pitch - GRAVITY_M_S2 * sin_pitch
        out[i, 2] = ay * cos_roll + up * sin_roll
        out[i, 3] = up * cos_roll - ay * sin_roll
        _walk(keys[i], sample, bias)
        scale, start, white = normal4(keys[i], 0, _SCALE), normal4(keys[i], 0, _START), normal4(keys[i], sample, 0)
        for k in range(4):
            m = model[min(k, 1)]
            out[i, k] += m[3] * scale[k] * out[i, k] + m[2] * start[k] + m[1] * bias[k] + m[0] * white[k]


@kernel
def _walk(key, steps, out):
    """Write four independent random walks after a number of standard normal steps: of any number, not one by one.

    Halves an interval whose ends are known until one of them is the step: the middle of a walk between two places is
    their mean, with a variance of a quarter of the interval.

    References:
        P. Lévy: Processus stochastiques et mouvement brownien. Gauthier-Villars 1948 (the construction).
    """
    left, half = 0, 1 << (_LEVELS - 1)
    ends = normal4(key, 0, _WALK)
    a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
    deviation = math.sqrt(2.0 * half)
    b0, b1, b2, b3 = deviation * ends[0], deviation * ends[1], deviation * ends[2], deviation * ends[3]
    level = 0
    while left != steps:
        level += 1
        z = normal4(key, left + half, _WALK + level)
        deviation = 0.5 * math.sqrt(2.0 * half)
        m0, m1 = 0.5 * (a0 + b0) + deviation * z[0], 0.5 * (a1 + b1) + deviation * z[1]
        m2, m3 = 0.5 * (a2 + b2) + deviation * z[2], 0.5 * (a3 + b3) + deviation * z[3]
        if steps >= left + half:
            left += half
            a0, a1, a2, a3 = m0, m1, m2, m3
        else:
            b0, b1, b2, b3 = m0, m1, m2, m3
        half >>= 1
    out[0], out[1], out[2], out[3] = a0, a1, a2, a3
