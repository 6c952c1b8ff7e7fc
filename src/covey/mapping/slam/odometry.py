"""What the odometry says since the last key frame, and how far it can be trusted."""

import math

import numpy as np

from covey.mapping.dead_reckoning import noise_of
from covey.mapping.slam.one_pose import composed

_LEAST_M, _LEAST_RAD = 0.01, 0.005
_LEAST_KNOWN_M, _LEAST_KNOWN_RAD = 0.002, 0.002


class SinceKeyFrame:
    """The way since the last key frame: its length by the odometry, its headings by the scans that were matched.

    The noise of the odometry is that of its sensor, step by step, or, if nobody knows it, a share of the way and of the
    turns. Its uncertainty grows over the whole way from the key frame, however often scans are matched in between: they
    are all matched with the same map, so they are no independent measurements. A robot that drives ahead of this one
    moves against the map by as much as this one drives; over the way between key frames that is far more than the
    odometry errs, over the way between two scans it would not be.

    Args:
        shares: errors of the way by way [m/m], of the heading by way [rad/m] and by turn [rad/rad].
        noise: that of the sensor, see `covey.mapping.localizer.Equipment`; None: not known.
        doubt: what remains of earlier `jump`s, (2,) [m], [rad].
        slip: share of the way that the robot may not drive, see `covey.mapping.slam.contradictions`.

    Attributes:
        motion: x, y [m], heading [rad] in the frame of the key frame, (3,).
        doubt: errors of the odometry that were seen, (2,) [m], [rad].
    """

    def __init__(
        self,
        shares: tuple[float, float, float],
        noise: tuple[int, np.ndarray] | None = None,
        doubt: np.ndarray | None = None,
        slip: float = 0.0,
    ):
        self._shares, self._noise, self._slip = shares, noise, slip
        self.motion = np.zeros(3)
        self.doubt = np.zeros(2) if doubt is None else doubt
        self._way = 0.0
        self._spread = np.zeros((2, 2))  # covariance of the position, if the noise is known
        self._turned = 0.0  # variance [rad^2] or deviation [rad] of the heading since the last match

    def follow(self, motion: np.ndarray) -> None:
        """Add a motion of the odometry, in the frame of its beginning."""
        way, turn = math.hypot(motion[0], motion[1]), abs(motion[2])
        self._way += way
        if self._noise is None:
            _, by_way, by_turn = self._shares
            self._turned += by_way * way + by_turn * turn
        else:
            xx, xy, _, yy, _, hh = noise_of(motion[0], motion[1], motion[2], *self._noise)
            c, s = math.cos(self.motion[2]), math.sin(self.motion[2])
            turned = np.array([[c, -s], [s, c]])
            self._spread = self._spread + turned @ np.array([[xx, xy], [xy, yy]]) @ turned.T
            self._turned += hh
        self.motion = composed(self.motion, motion)

    def match(self, heading: float) -> None:
        """Note the heading [rad] that a scan has in the frame of the key frame."""
        self.motion[2] = heading
        self._turned = 0.0

    def jump(self, by: np.ndarray) -> None:
        """Note that a scan was found elsewhere, at the pose ``by`` (3,) in the frame of the present one."""
        self.motion = composed(self.motion, by)
        self.doubt = self.doubt + np.array([math.hypot(by[0], by[1]), abs(by[2])])

    def covariance(self, slips: bool = True) -> np.ndarray:
        """Return the covariance (3, 3) of ``motion``; ``slips``: with what may be lost by slip."""
        found = np.zeros((3, 3))
        if self._noise is None:
            least, least_rad, variance = _LEAST_M + self._shares[0] * self._way, _LEAST_RAD + self._turned, 0.0
        else:
            least, least_rad, variance = _LEAST_KNOWN_M, _LEAST_KNOWN_RAD, self._turned
            found[:2, :2] = self._spread
        found[0, 0] += (least + self.doubt[0]) ** 2
        found[1, 1] += (least + self.doubt[0]) ** 2
        if slips:
            found[0, 0] += (self._slip * self._way) ** 2
            found[1, 1] += (self._slip * self._way) ** 2
        found[2, 2] = variance + (least_rad + self.doubt[1]) ** 2
        return found
