"""Whether one scan looked through what another one has seen: then they cannot be where somebody supposes.

Only what both had in sight can tell.
"""

import math
from collections.abc import Iterable

import numpy as np

from covey.geometry.se2 import inverse
from covey.kernel import kernel
from covey.mapping.slam.surfaces import KeyFrame

DENIED = 0.015
"""Share of the points: mostly up to 0.008 of right relations, and mostly above 0.02 of wrong ones."""
ENOUGH = 300
"""Points that must have been counted."""
_BEARINGS = 180
_THROUGH_M, _ON_M = 0.4, 0.25


@kernel
def through_and_on(points, others, motion, mount):
    """Count the points that a scan looked through, and those that it hit.

    Args:
        points: (k, 2) [m], in a frame whose pose in that of the scan is ``motion`` (3,).
        others: points (m, 2) of the scan.
        mount: place (2,) of its lidar.

    Returns:
        Two counts. A point counts only where the scan has returns on either side.
    """
    ranges = np.full(_BEARINGS, np.inf)
    for k in range(others.shape[0]):
        x, y = others[k, 0] - mount[0], others[k, 1] - mount[1]
        at = int((math.atan2(y, x) + math.pi) / (2.0 * math.pi) * _BEARINGS) % _BEARINGS
        ranges[at] = min(ranges[at], math.sqrt(x * x + y * y))
    c, s = math.cos(motion[2]), math.sin(motion[2])
    through = on = 0
    for k in range(points.shape[0]):
        x = motion[0] + c * points[k, 0] - s * points[k, 1] - mount[0]
        y = motion[1] + s * points[k, 0] + c * points[k, 1] - mount[1]
        at = int((math.atan2(y, x) + math.pi) / (2.0 * math.pi) * _BEARINGS) % _BEARINGS
        left, right = ranges[at - 1], ranges[(at + 1) % _BEARINGS]
        if ranges[at] == np.inf or left == np.inf or right == np.inf:
            continue
        nearest = min(ranges[at], left, right)
        away = math.sqrt(x * x + y * y)
        if away < nearest - _THROUGH_M:
            through += 1
        elif abs(away - nearest) < _ON_M:
            on += 1
    return through, on


def in_sight(points: np.ndarray, frame: KeyFrame, motion: np.ndarray, gap_rad: float) -> int:
    """Return how many points lie in directions in which a key frame has returns, too, whether near or far.

    Args:
        points: (k, 2) [m], in a frame whose pose in that of the key frame is ``motion`` (3,).
        frame: the key frame.
        motion: x, y [m], heading [rad].
        gap_rad: returns so far apart are in one direction.
    """
    theirs = np.sort(_bearings(frame.points - frame.eye))
    if not len(theirs):
        return 0
    c, s = math.cos(motion[2]), math.sin(motion[2])
    bearings = _bearings(points @ np.array([[c, s], [-s, c]]) + motion[:2] - frame.eye)
    theirs = np.concatenate((theirs[-1:] - math.tau, theirs, theirs[:1] + math.tau))
    after = np.searchsorted(theirs, bearings).clip(1, len(theirs) - 1)
    return int((np.minimum(theirs[after] - bearings, bearings - theirs[after - 1]) <= gap_rad).sum())


def _bearings(points: np.ndarray) -> np.ndarray:
    """Return the bearings (k,) [rad] of points (k, 2), seen from 0, 0."""
    return np.arctan2(points[:, 1], points[:, 0])


def contradict(pairs: Iterable[tuple[KeyFrame, KeyFrame, np.ndarray]]) -> bool:
    """Return whether key frames looked through walls that others have seen, in either direction, too often for chance.

    Args:
        pairs: two key frames, and the pose (3,) of the first in the frame of the second.
    """
    through = on = 0
    for (one, _, eye), (other, _, their_eye), motion in pairs:
        for counts in (
            through_and_on(one, other, motion, their_eye),
            through_and_on(other, one, inverse(motion), eye),
        ):
            through, on = through + counts[0], on + counts[1]
    return through + on >= ENOUGH and through > DENIED * (through + on)
