"""The uncertainty of dead reckoning: how the covariance of a pose grows with each sample of the odometry."""

import math

import numpy as np

from covey.kernel import kernel


@kernel
def grow(covariance, heading, motion, model, a):
    """Predict covariances over one sample of dead reckoning: F P F' + G Q G'.

    Args:
        covariance: of x, y, heading in the world frame, (m, 3, 3), changed in place.
        heading: estimated headings [rad], (m,), before the motion; changed in place to those after it, not wrapped.
        motion: dx, dy [m], dheading [rad] in the body frame, (m, 3), as measured.
        model, a: noise, see `covey.sensors.odometry.Odometry.noise_model`.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005, section 7.4 (the prediction of the
        extended Kalman filter).
    """
    for i in range(motion.shape[0]):
        if model == 3:  # white: the covariance of the last sample's noise, whatever was before
            covariance[i] = 0.0
            covariance[i, 0, 0] = covariance[i, 1, 1] = a[0] * a[0]
            covariance[i, 2, 2] = a[1] * a[1]
            continue
        dx, dy, turn = motion[i, 0], motion[i, 1], motion[i, 2]
        xx, xy, xh, yy, yh, hh = noise_of(dx, dy, turn, model, a)
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
