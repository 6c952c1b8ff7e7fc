"""Slopes of the believed ground around a vertex, and what an error of the pose makes of them: an error of altitude."""

import math
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel
from covey.mapping.elevation.kinds import MEASURED

SLOPE = 0.5
"""Standard deviation of the slopes of unknown ground [-]."""
REACH = 3
"""Vertices up to so many rows and columns away tell the slopes at a vertex."""
SURELY = 0.1
"""They are used if the standard deviation of their altitudes is below this, in spacings."""
ENOUGH = 12
"""From so many bends on, the slopes of unknown ground no longer count."""
WIDER = 3.0
"""Mean squares of bends count so many times: the ground around is not equally rough everywhere, and where a belief is
finer than the ground, every second vertex has no bend."""


class PoseUncertainty(NamedTuple):
    """What robots do not know of their poses at some readings.

    Attributes:
        covariance: of x, y [m] and heading [rad] in the frame of the belief, float64 (m, 3, 3); NaN: not known, which
            counts as 0.
        white: bool (m,), whether the errors of two readings are independent; otherwise they count as one error that
            all readings share.
    """

    covariance: np.ndarray
    white: np.ndarray

    @classmethod
    def none(cls, count: int) -> "PoseUncertainty":
        """Return those of robots that know their poses."""
        return cls(np.zeros((count, 3, 3)), np.zeros(count, np.bool_))

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return both for kernels, without NaN."""
        covariance = np.ascontiguousarray(self.covariance, np.float64)
        known: np.ndarray = np.asarray(np.isfinite(covariance).all(axis=(1, 2)))
        return np.where(known[:, None, None], covariance, 0.0), np.ascontiguousarray(self.white, np.uint8)


@kernel
def slopes_around(mark, mean, variance, a, b, spacing, found):
    """Write the mean slopes around a vertex east and north, their variances, and that of single slopes around them.

    The ground bends at a vertex if the slopes on both sides of it differ. Bends around the vertex, to the east, north
    and north-east, tell how much single slopes differ from their mean: half the mean square of bends is the variance
    of one slope. Bends whose mean square is below what the variances of the altitudes make of it are no roughness but
    errors of the belief: they count the less, by the ratio of both. With fewer than `ENOUGH` bends, the slopes of
    unknown ground count, too, the more the fewer there are. Where nothing is known, the mean slopes are 0, and so
    are their variances.

    Args:
        mark, mean, variance: of one robot of a `TeamElevation`, (rows, columns).
        a, b: the vertex. spacing: [m].
        found: float64 (5,), written.
    """
    east, north, easts, norths, bends, unsure, count = 0.0, 0.0, 0, 0, 0.0, 0.0, 0.0
    most, rows, columns = (SURELY * spacing) ** 2, mark.shape[0], mark.shape[1]
    top, bottom = max(a - REACH, 0), min(a + REACH, rows - 1)
    left, right = max(b - REACH, 0), min(b + REACH, columns - 1)
    for p in range(top, bottom + 1):
        for q in range(left, right + 1):
            if mark[p, q] != MEASURED or variance[p, q] > most:
                continue
            for k in range(3):  # east, north, north-east
                i, j = (1 if k > 0 else 0), (1 if k != 1 else 0)
                p1, q1 = p + i, q + j
                if p1 > bottom or q1 > right or mark[p1, q1] != MEASURED or variance[p1, q1] > most:
                    continue
                rise = mean[p1, q1] - mean[p, q]
                if k == 0:
                    east, easts = east + rise, easts + 1
                elif k == 1:
                    north, norths = north + rise, norths + 1
                p0, q0 = p - i, q - j
                if p0 < top or q0 < left or mark[p0, q0] != MEASURED or variance[p0, q0] > most:
                    continue
                bend = rise - mean[p, q] + mean[p0, q0]
                of_bend = variance[p1, q1] + 4.0 * variance[p, q] + variance[p0, q0]
                bends += bend * bend / (2.0 * (i + j) * spacing * spacing)
                unsure += of_bend / (2.0 * (i + j) * spacing * spacing)
                count += 1.0
    if bends < unsure:
        bends *= bends / unsure
    unknown = max(1.0 - count / ENOUGH, 1e-5)
    single = (unknown * SLOPE * SLOPE + WIDER * bends) / (unknown + count)
    found[0] = east / (easts * spacing) if easts else 0.0
    found[1] = north / (norths * spacing) if norths else 0.0
    found[2], found[3], found[4] = single / easts if easts else 0.0, single / norths if norths else 0.0, single


@kernel
def shifted(covariance, dx, dy, found):
    """Return the variance of an altitude on a slope because the pose moves it, and the variances of these moves [m^2].

    A point at (dx, dy) from the robot moves by (x - dy h, y + dx h) if the pose is wrong by (x, y, h).

    Args:
        covariance: (3, 3) of the pose.
        dx, dy: from the robot to the point, in the frame of the belief [m].
        found: from `slopes_around`.

    Returns:
        variance of the altitude [m^2], variances of the moves east and north [m^2].
    """
    xx = covariance[0, 0] - 2.0 * dy * covariance[0, 2] + dy * dy * covariance[2, 2]
    yy = covariance[1, 1] + 2.0 * dx * covariance[1, 2] + dx * dx * covariance[2, 2]
    xy = covariance[0, 1] + dx * covariance[0, 2] - dy * covariance[1, 2] - dx * dy * covariance[2, 2]
    east, north = found[0], found[1]
    along = east * east * xx + 2.0 * east * north * xy + north * north * yy
    return along + (found[2] + found[4]) * xx + (found[3] + found[4]) * yy, xx, yy


@kernel
def steps_off(move, spacing):
    """Return the mean square of the whole spacings by which a place is off that is rounded to a vertex, [-].

    Args:
        move: variance of the place [m^2]. spacing: of the vertices [m].
    """
    if move <= 0.0:
        return 0.0
    total, deviation = 0.0, math.sqrt(move)
    for k in range(1, 50):
        beyond = math.erfc((k - 0.5) * spacing / (deviation * math.sqrt(2.0)))
        if beyond < 1e-9:
            break
        total += (2.0 * k - 1.0) * beyond
    return total
