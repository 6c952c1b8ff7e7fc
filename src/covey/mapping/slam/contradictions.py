"""Steps of the odometry that matching contradicts again and again: wheels that slip, or are pushed."""

import math
from typing import NamedTuple

import numpy as np

_SLACK, _SURE, _OVER = 1.0, 8.0, 4.0  # of the sums, in standard deviations; when an episode begins, and when it ends
_MOST = 3.0  # deviations of a step count as so many at most: one that is far off is no habit
_LEAST_M = 0.1  # shorter ways say nothing
_FIXED = 0.3  # along a corridor a match says nothing: so much of the answer must be its own


class Contradiction(NamedTuple):
    """An episode in which the robot moved otherwise than its odometry said.

    Attributes:
        share: which share of the ways of the odometry the robot did not drive, from its first step until it was
            noticed; below 0: it drove farther.
        way_m: how far the odometry went meanwhile [m].
    """

    share: float
    way_m: float


class Contradictions:
    """Notices when matching contradicts the odometry's ways in one direction.

    For each step the difference of both ways is divided by the deviation that is expected of it, and is 3 at most. Its
    sum, less one for each step, is reset when it falls below 0; above 8 an episode begins. Steps that agree again end
    it in the same way.

    Attributes:
        share: share of the odometry's ways that is lost in the present episode; 0: there is none.

    References:
        E. S. Page: Continuous inspection schemes. Biometrika 41, 1954 (the cumulative sums).
    """

    def __init__(self) -> None:
        self.share = 0.0
        self._sums = np.zeros((2, 3))  # way too long, too short: sum, difference [m], way [m]
        self._calm = 0.0

    def step(self, lost_m: float, way_m: float, deviation_m: float) -> Contradiction | None:
        """Process a step; return the episode that begins with it, if one does.

        Args:
            lost_m: by how much the odometry's way is longer than that of matching [m].
            way_m: the way of the odometry [m].
            deviation_m: expected standard deviation of ``lost_m`` [m].

        Examples:
            >>> doubts = Contradictions()
            >>> [doubts.step(0.09, 0.3, 0.03) for _ in range(5)][-1]  # 3 deviations in each step: 2 x 5 > 8
            Contradiction(share=0.3, way_m=1.5)
            >>> round(doubts.share, 3)
            0.3
            >>> [doubts.step(0.0, 0.3, 0.03) for _ in range(5)][-1], doubts.share  # it is over: told once
            (None, 0.0)
        """
        off = min(max(lost_m / deviation_m, -_MOST), _MOST)
        if self.share:
            self._calm = max(0.0, self._calm + _SLACK - math.copysign(1.0, self.share) * off)
            if self._calm > _OVER:
                self.share, self._calm, self._sums = 0.0, 0.0, np.zeros((2, 3))
            return None
        for row, sign in zip(self._sums, (1.0, -1.0), strict=True):
            row += sign * off - _SLACK, lost_m, way_m
            if row[0] <= 0.0:
                row[:] = 0.0
            elif row[0] > _SURE:
                self.share = float(row[1] / row[2])
                return Contradiction(round(self.share, 3), round(float(row[2]), 3))
        return None


def lost_way(
    motion: np.ndarray, covariance: np.ndarray, found: np.ndarray, information: np.ndarray
) -> tuple[float, float, float] | None:
    """Return what `Contradictions.step` needs of a step; None if it says nothing, as a leap does.

    The pose that was found lies between that of the odometry and that of the match, by their certainties along the way.

    Args:
        motion: of the odometry since the last key frame, (3,).
        covariance: of the motion, (3, 3).
        found: the motion that was found, (3,), by odometry and match.
        information: of the match alone, in the frame of the key frame, (3, 3).
    """
    way = math.hypot(motion[0], motion[1])
    if way < _LEAST_M:
        return None
    along = motion[:2] / way
    expected, matched = float(along @ covariance[:2, :2] @ along), float(along @ information[:2, :2] @ along)
    share = matched * expected / (1.0 + matched * expected)
    if share < _FIXED:
        return None
    lost = float(along @ (motion - found)[:2]) / share
    if abs(lost) > way:  # a leap: wheels that slip lose no more than the whole way
        return None
    return lost, way, math.sqrt(expected + 1.0 / matched)
