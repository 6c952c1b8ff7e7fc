"""How noisy an odometry was: parameters of the noise models of simulated odometry, from a log with better poses."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import wrap_angle
from covey.lazy import optimize
from covey.mapping.slam.log import relative
from covey.sensors.odometry import GmappingNoise, VelocityNoise

_LEAST = 20
"""Number of windows below which nothing is fitted."""
_SMALLEST, _LARGEST = 1e-6, 10.0
_DEGREES = 4.0  # of freedom of Student's t
_FAR = 25.0  # squared distance [-] of outliers; of Gaussian errors one in 65 000 is farther (chi-square, 3 degrees)
_TINY = 1e-12  # variance [m2, rad2] that keeps matrices regular


@dataclass(frozen=True)
class OdometryFit:
    """The noise of an odometry, sampled at a rate; a slower or faster sensor needs other parameters.

    Attributes:
        rate_hz: the rate [1/s].
        windows: number of stretches that were compared.
        left_out: number of those that do not fit the others, such as where the better poses jump.
        gmapping, velocity: parameters of both models; of the latter the first four, the last two are 0.
        distance_scale, turn_scale: measured distance per true one, and measured turn per true one; nan without motion.
            The models have no such systematic error; here it counts as noise.
        reference_m, reference_rad: noise of the better poses that explains what the odometry does not [m, rad].
    """

    rate_hz: float
    windows: int
    left_out: int
    gmapping: GmappingNoise
    velocity: VelocityNoise
    distance_scale: float
    turn_scale: float
    reference_m: float
    reference_rad: float


def fit_odometry(
    times: np.ndarray, odometry: np.ndarray, reference: np.ndarray, rate_hz: float = 10.0, window_s: float = 2.0
) -> OdometryFit:
    """Fit the noise of an odometry by maximum likelihood.

    The log is cut into windows. The motion over one by odometry minus that by the reference is Gaussian to first order.
    Its covariance is that of the noise of all samples in the window, carried to its end, and of two reference poses.

    Args:
        times: stamps [s], (n,), ascending.
        odometry, reference: poses at the stamps, (n, 3), each in a frame of its own.
        rate_hz: rate of the sensor to simulate; the motion between its samples is interpolated.
        window_s: length of a window [s]: long against the noise of the reference, short against the drift.

    Raises:
        InvalidValueError: the log is too short, or the robot stands still.

    References:
        K. L. Lange, R. J. A. Little, J. M. G. Taylor: Robust statistical modeling using the t distribution. Journal of
        the American Statistical Association 84, 1989.
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005, section 5.4 (the models, see
        `GmappingNoise` and `VelocityNoise`); the covariance is the usual first-order propagation along the path.
    """
    samples = max(1, round(window_s * rate_hz))
    at = np.arange(times[0], times[-1], 1.0 / rate_hz)
    windows = (len(at) - 1) // samples
    if windows < _LEAST:
        least = _LEAST * samples / rate_hz
        raise InvalidValueError(f"the log of {times[-1] - times[0]:.1f} s is too short: {least:g} s are needed")
    at = at[: windows * samples + 1]
    measured, known = resampled(times, odometry, at), resampled(times, reference, at)
    steps = relative(measured[:-1], measured[1:]).reshape(windows, samples, 3)
    if np.abs(steps).max() < 1e-6:
        raise InvalidValueError("the odometry never moves; nothing can be said of its noise")
    begins = slice(None, -1, samples), slice(samples, None, samples)
    by_odometry, by_reference = (relative(poses[begins[0]], poses[begins[1]]) for poses in (measured, known))
    errors = by_odometry - by_reference
    errors[:, 2] = wrap_angle(errors[:, 2])
    along, across, turning = _carried(measured, steps)
    length, turn = np.hypot(steps[..., 0], steps[..., 1]), np.abs(steps[..., 2])
    ahead, aside = np.abs(steps[..., 0]), np.abs(steps[..., 1])

    def by_gmapping(p: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        srr, srt, str_, stt = p
        return [
            ((srr * ahead + str_ * turn + 0.3 * srr * aside) ** 2, along),
            ((srr * aside + str_ * turn + 0.3 * srr * ahead) ** 2, across),
            ((stt * turn + srt * length) ** 2, turning),
        ]

    half = 0.5 * length[..., None] * across  # a turn that is wrong by an angle turns the chord by half of it

    def by_velocity(p: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        a1, a2, a3, a4 = p
        return [
            (a1 * length**2 + a2 * turn**2, along),
            (a3 * length**2 + a4 * turn**2, turning + half),
        ]

    first, fits = _most_likely(errors, by_gmapping, 0.05)
    second, _ = _most_likely(errors, by_velocity, 0.01)
    names = ("m_per_m", "rad_per_m", "m_per_rad", "rad_per_rad")
    values = [round(float(value), 5) for value in (*first, *second[:4])]
    return OdometryFit(
        rate_hz,
        windows,
        int((~fits).sum()),
        GmappingNoise.model_validate(dict(zip(names, values[:4], strict=True))),
        VelocityNoise.model_validate({"alpha": (*values[6:], 0.0, 0.0)}),
        _ratio(by_odometry[:, 0], by_reference[:, 0]),
        _ratio(by_odometry[:, 2], by_reference[:, 2]),
        values[4],
        values[5],
    )


def resampled(times: np.ndarray, poses: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return poses (k, 3) at other times: between those given (n, 3) on straight lines, outside the first or last."""
    columns = poses[:, 0], poses[:, 1], np.unwrap(poses[:, 2])
    x, y, heading = (np.interp(at, times, column) for column in columns)
    return np.column_stack((x, y, wrap_angle(heading)))


def _carried(poses: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what an error ahead, aside, and in heading of each sample does to the end of its window.

    Args:
        poses: measured poses (w k + 1, 3). steps: motions between them (w, k, 3).

    Returns:
        Three arrays (w, k, 3): the errors of x, y and heading at the end, in the frame of the window's first pose.
    """
    windows, samples, _ = steps.shape
    firsts = poses[:-1:samples]
    inside = relative(firsts[:, None], poses[:-1].reshape(windows, samples, 3))
    after = relative(firsts[:, None], poses[1:].reshape(windows, samples, 3))
    c, s, none = np.cos(inside[..., 2]), np.sin(inside[..., 2]), np.zeros((windows, samples))
    left = after[:, -1:, :2] - after[..., :2]
    along, across = np.stack((c, s, none), -1), np.stack((-s, c, none), -1)
    return along, across, np.stack((-left[..., 1], left[..., 0], none + 1.0), -1)


def _most_likely(errors: np.ndarray, parts_of, begin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the four parameters of a model with the noise of the reference [m, rad], and which windows fit, bool (w,).

    The errors are first taken as of Student's t, which outliers hardly move; then, as Gaussian, those that fit.

    Args:
        errors: (w, 3). parts_of: a function of four parameters that returns variances (w, k) with directions (w, k, 3).
        begin: where the search for the parameters begins.
    """
    outer: dict[int, np.ndarray] = {}

    def distances(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return squared Mahalanobis distances and logarithms of determinants, (w,)."""
        p = np.exp(logs)
        covariance = np.zeros((len(errors), 3, 3))
        for k, (variances, directions) in enumerate(parts_of(p[:4])):
            if k not in outer:
                outer[k] = directions[..., :, None] * directions[..., None, :]
            covariance += np.einsum("wk,wkij->wij", variances, outer[k])
        covariance += 2.0 * np.diag([p[4] ** 2, p[4] ** 2, p[5] ** 2]) + _TINY * np.eye(3)
        solved = np.linalg.solve(covariance, errors[..., None])[..., 0]
        return (errors * solved).sum(1), np.linalg.slogdet(covariance)[1]

    def heavy(logs: np.ndarray) -> float:
        square, logarithm = distances(logs)
        return 0.5 * float((logarithm + (_DEGREES + 3.0) * np.log1p(square / _DEGREES)).mean())

    bounds = [(np.log(_SMALLEST), np.log(_LARGEST))] * 6
    starts = [np.log([begin] * 4 + [one] * 2) for one in (1e-4, 1e-2)]
    rough = min((optimize.minimize(heavy, one, method="L-BFGS-B", bounds=bounds) for one in starts), key=_cost)
    fits = distances(rough.x)[0] < _FAR

    def light(logs: np.ndarray) -> float:
        square, logarithm = distances(logs)
        return 0.5 * float((logarithm + square)[fits].mean())

    best = np.exp(optimize.minimize(light, rough.x, method="L-BFGS-B", bounds=bounds).x)
    return np.where(best < 1.1 * _SMALLEST, 0.0, best), fits


def _cost(found: Any) -> float:
    return found.fun


def _ratio(measured: np.ndarray, known: np.ndarray) -> float:
    total = float((known**2).sum())
    return float((measured * known).sum()) / total if total > 1e-9 else float("nan")
