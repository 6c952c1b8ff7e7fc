"""Dead reckoning: wheels and gyro together, and how the covariance of a pose grows with each sample of the odometry."""

import math
from collections.abc import Iterable

import numpy as np

from covey.kernel import kernel

_CONTRADICTS = 5.0  # a gyro that reads so many standard deviations of its bias contradicts wheels that stand


class GyroOdometry:
    """Odometry of m robots that have a gyro: the wheels say how far, the gyro how much they turn.

    With dx, dy [m] and turn [rad] of the wheels and turn' of the gyro, the motion is R((turn' - turn) / 2) (dx, dy),
    turn': the chord of the arc that the gyro has seen. While the wheels stand, the turn is 0, and what the gyro reads
    is its bias: a Kalman filter of one state for each robot. A gyro that contradicts standing wheels is believed. Where
    a sample of the gyro is lost (NaN), the turn is that of the wheels.

    Args:
        count: number of robots.
        noise: white noise [rad/s/√Hz], walk [rad/s²/√Hz], bias at the start [rad/s] and scale error [-] of the gyro.
        begin_s: time of the first motion [s].

    References:
        H. Chung, L. Ojeda, J. Borenstein: Accurate mobile robot dead-reckoning with a precision-calibrated fiber-optic
        gyroscope. IEEE Transactions on Robotics and Automation 17(1), 2001 (heading of the gyro, way of the wheels).
    """

    def __init__(self, count: int, noise: tuple[float, float, float, float], begin_s: float = 0.0):
        self._white, self._walk, start, self._scale = noise
        self._bias, self._variance = np.zeros(count), np.full(count, start**2)
        self._driven_s, self._turned = np.zeros(count), np.zeros(count)  # since the wheels stood; in all
        self._rates: list[tuple[float, np.ndarray]] = []  # samples of the gyro that are not used up
        self._last = np.zeros(count)  # rate of the last one
        self._at_s = begin_s  # until when motions are made

    def see(self, samples: Iterable[tuple[float, np.ndarray]]) -> None:
        """Take in samples of the gyro, oldest first: time [s], and the mean turn rate before it (m,) [rad/s]."""
        self._rates += [(time_s, rate) for time_s, rate in samples if time_s > self._at_s]

    def fuse(self, time_s: float, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the motion (m, 3) of a sample of the wheels, and the variance of its turn (m,) [rad²].

        The variance is NaN where the turn is that of the wheels.

        Args:
            time_s: time of the sample [s].
            motion: x, y [m], heading [rad] of the wheels since their previous sample, (m, 3).
        """
        span_s = time_s - self._at_s
        turn = self._turned_until(time_s)
        if span_s <= 0.0:
            return motion, np.full(len(motion), np.nan)
        seen, rate = np.isfinite(turn), turn / span_s
        self._variance = self._variance + self._walk**2 * span_s
        spread = self._variance + self._white**2 / span_s
        near = np.abs(rate - self._bias) <= _CONTRADICTS * np.sqrt(spread)
        stands = seen & near & ~motion.any(axis=1)
        gain = np.divide(self._variance, spread, out=np.zeros_like(spread), where=stands & (spread > 0.0))
        self._bias = self._bias + gain * np.where(stands, rate - self._bias, 0.0)
        self._variance = self._variance * (1.0 - gain)
        turn = np.where(stands, 0.0, turn - span_s * self._bias)
        before, self._driven_s = self._driven_s, np.where(stands, 0.0, self._driven_s + span_s)
        # Bias and scale err all along the way: their variances grow with the squares of the time and of the turn.
        turned, self._turned = self._turned, self._turned + np.where(seen, turn, motion[:, 2])
        variance = self._white**2 * span_s + self._variance * (self._driven_s**2 - before**2)
        variance += self._scale**2 * np.maximum(self._turned**2 - turned**2, 0.0)
        variance = np.where(stands, 0.0, variance)
        fused = motion.copy()
        half = np.where(seen, 0.5 * (turn - motion[:, 2]), 0.0)
        c, s = np.cos(half), np.sin(half)
        fused[:, 0], fused[:, 1] = c * motion[:, 0] - s * motion[:, 1], s * motion[:, 0] + c * motion[:, 1]
        fused[:, 2] = np.where(seen, turn, motion[:, 2])
        return fused, np.where(seen, variance, np.nan)

    def _turned_until(self, time_s: float) -> np.ndarray:
        """Return by how much the gyro has turned since the last sample of the wheels, with its bias, (m,) [rad]."""
        turn = np.zeros(len(self._bias))
        while self._at_s < time_s:
            until, rate = self._rates[0] if self._rates else (time_s, self._last)
            turn = turn + rate * (min(until, time_s) - self._at_s)
            self._at_s, self._last = min(until, time_s), rate
            if self._rates and until <= time_s:
                del self._rates[0]
        return turn


@kernel
def grow(covariance, heading, motion, model, a, turn_variance):
    """Predict covariances over one sample of dead reckoning: F P F' + G Q G'.

    Args:
        covariance: of x, y, heading in the world frame, (m, 3, 3), changed in place.
        heading: estimated headings [rad], (m,), before the motion; changed in place to those after it, not wrapped.
        motion: dx, dy [m], dheading [rad] in the body frame, (m, 3), as measured.
        model, a: noise, see `covey.sensors.odometry.Odometry.noise_model`.
        turn_variance: of turns that a gyro has measured [rad²], (m,); NaN, or an empty array: the wheels have.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005, section 7.4 (the prediction of the
        extended Kalman filter).
    """
    for i in range(motion.shape[0]):
        gyro = turn_variance.size > 0 and turn_variance[i] >= 0.0
        if model == 3 and not gyro:  # white: the covariance of the last sample's noise, whatever was before
            covariance[i] = 0.0
            covariance[i, 0, 0] = covariance[i, 1, 1] = a[0] * a[0]
            covariance[i, 2, 2] = a[1] * a[1]
            continue
        dx, dy, turn = motion[i, 0], motion[i, 1], motion[i, 2]
        xx, xy, xh, yy, yh, hh = noise_of(dx, dy, turn, model, a)
        if gyro:
            xh, yh, hh = 0.0, 0.0, turn_variance[i]
        c, s = math.cos(heading[i]), math.sin(heading[i])
        p, q = -s * dx - c * dy, c * dx - s * dy
        before = covariance[i]
        vxx, vxy, vxh, vyy, vyh, vhh = (
            before[0, 0],
            before[0, 1],
            before[0, 2],
            before[1, 1],
            before[1, 2],
            before[2, 2],
        )
        covariance[i, 0, 0] = vxx + 2.0 * p * vxh + p * p * vhh + c * c * xx - 2.0 * c * s * xy + s * s * yy
        covariance[i, 1, 1] = vyy + 2.0 * q * vyh + q * q * vhh + s * s * xx + 2.0 * c * s * xy + c * c * yy
        covariance[i, 2, 2] = vhh + hh
        cross = vxy + q * vxh + p * vyh + p * q * vhh + c * s * (xx - yy) + (c * c - s * s) * xy
        covariance[i, 0, 1] = covariance[i, 1, 0] = cross
        covariance[i, 0, 2] = covariance[i, 2, 0] = vxh + p * vhh + c * xh - s * yh
        covariance[i, 1, 2] = covariance[i, 2, 1] = vyh + q * vhh + s * xh + c * yh
        heading[i] += turn


@kernel
def noise_of(dx, dy, turn, model, a):
    """Return the covariance of one sample in the body frame: xx, xy, xh, yy, yh, hh."""
    away, size = math.hypot(dx, dy), abs(turn)
    if model == 1:
        x = a[0] * abs(dx) + a[2] * size + 0.3 * a[0] * abs(dy)
        y = a[0] * abs(dy) + a[2] * size + 0.3 * a[0] * abs(dx)
        return x * x, 0.0, 0.0, y * y, 0.0, (a[3] * size + a[1] * away) ** 2
    if model == 3:  # with a gyro: the difference of two poses
        return 2.0 * a[0] * a[0], 0.0, 0.0, 2.0 * a[0] * a[0], 0.0, 0.0
    if model != 2:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    # An arc of this length: dx = length sin(turn) / turn, dy = length (1 - cos(turn)) / turn.
    small = size < 1e-6
    sinc = 1.0 - turn * turn / 24.0 if small else math.sin(0.5 * turn) / (0.5 * turn)
    length = math.copysign(away, dx) / sinc
    by_length_x = 1.0 if small else math.sin(turn) / turn
    by_length_y = 0.5 * turn if small else (1.0 - math.cos(turn)) / turn
    by_turn_x = -length * turn / 3.0 if small else length * (math.cos(turn) - by_length_x) / turn
    by_turn_y = 0.5 * length if small else length * (math.sin(turn) - by_length_y) / turn
    l2, t2 = length * length, turn * turn
    of_length, of_turn = a[0] * l2 + a[1] * t2, a[2] * l2 + a[3] * t2
    return (
        by_length_x**2 * of_length + by_turn_x**2 * of_turn,
        by_length_x * by_length_y * of_length + by_turn_x * by_turn_y * of_turn,
        by_turn_x * of_turn,
        by_length_y**2 * of_length + by_turn_y**2 * of_turn,
        by_turn_y * of_turn,
        of_turn + a[4] * l2 + a[5] * t2,
    )


def turned(covariance: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return covariances (m, 3, 3) of poses in frames that are turned by ``angle`` [rad], (m,): seen from them."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.zeros((len(angle), 3, 3))
    turn[:, 0, 0] = turn[:, 1, 1] = c
    turn[:, 0, 1], turn[:, 1, 0], turn[:, 2, 2] = s, -s, 1.0
    return turn @ covariance @ turn.transpose(0, 2, 1)
