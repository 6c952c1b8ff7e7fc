"""Whether one scan looked through what another one has seen: then they cannot be where somebody supposes.

Only what both had in sight can tell.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from covey.geometry.se2 import inverse
from covey.kernel import kernel
from covey.mapping.slam.log import Log
from covey.mapping.slam.one_pose import between
from covey.mapping.slam.surfaces import KeyFrame

DENIED = 0.015
"""Share of the points: mostly up to 0.008 of right relations, and mostly above 0.02 of wrong ones."""
ENOUGH = 300
"""Points that must have been counted."""
_BEARINGS = 180
_THROUGH_M, _ON_M = 0.4, 0.25
_PASS_M, _NEAR_M, _OTHERS = 10.0, 3.0, 6  # of `passes_of`
_LEAST = 100  # points that must have been counted in each direction


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
    _look_around(others, mount, ranges)
    return _count(points, ranges, motion, mount)


@kernel
def _look_around(points, mount, ranges):
    """Write how near the nearest of some points (k, 2) is to a lidar, by bearing; ``ranges`` are inf before."""
    for k in range(points.shape[0]):
        x, y = points[k, 0] - mount[0], points[k, 1] - mount[1]
        at = int((math.atan2(y, x) + math.pi) / (2.0 * math.pi) * _BEARINGS) % _BEARINGS
        ranges[at] = min(ranges[at], math.sqrt(x * x + y * y))


@kernel
def _count(points, ranges, motion, mount):
    """See `through_and_on`; ``ranges`` as `_look_around` writes them."""
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


class Passes(NamedTuple):
    """How often the scans of a pass through a place, and those of other passes, look through each other's walls.

    Attributes:
        rows: scans, (m,).
        counts: int64 (m, 2, 2): points of others that each looked through, and hit; its own points, by the others.
    """

    rows: np.ndarray
    counts: np.ndarray

    def share(self, first: int, last: int) -> float:
        """Return the share of the points that the scans ``first`` to ``last`` and those of other passes look through.

        It is that of the direction that looks through less: what was carried away is looked through later, what was
        put there earlier, but walls at another angle are looked through from both. NaN: too few points tell.
        """
        through, on = self.counts[(self.rows >= first) & (self.rows <= last)].sum(axis=0).T
        if (through + on).min() < _LEAST:
            return math.nan
        return float((through / (through + on)).min())


def passes_of(log: Log, poses: np.ndarray, rows: np.ndarray, range_m: float) -> Passes:
    """Return what scans near each other, but more than 10 m of the way apart, saw of each other's walls.

    Args:
        log: n scans.
        poses: of the robot at the scans, (n, 3).
        rows: which scans are compared, (m,), in ascending order.
        range_m: returns beyond it do not count.
    """
    steps = np.hypot(*np.diff(poses[:, :2], axis=0).T)
    steps[np.array(log.begins[1:], int) - 1] = 0.0
    way = np.append(0.0, np.cumsum(steps))[rows]
    points = [log.points(row, range_m) for row in rows.tolist()]
    eyes = np.array([log.mount(row)[:2] for row in rows.tolist()]).reshape(-1, 2)
    ends = np.cumsum([0, *map(len, points)])
    together = np.concatenate([np.empty((0, 2)), *points])
    return Passes(rows, _between_passes(together, ends, eyes, np.ascontiguousarray(poses[rows]), way))


@kernel
def _between_passes(points, ends, eyes, poses, way):
    m = poses.shape[0]
    counts, ranges, near = np.zeros((m, 2, 2), np.int64), np.full((m, _BEARINGS), np.inf), np.empty(m, np.int64)
    for k in range(m):
        _look_around(points[ends[k] : ends[k + 1]], eyes[k], ranges[k])
    for k in range(m):
        many = 0
        for i in range(m):
            dx, dy = poses[i, 0] - poses[k, 0], poses[i, 1] - poses[k, 1]
            if dx * dx + dy * dy < _NEAR_M * _NEAR_M and abs(way[i] - way[k]) > _PASS_M:
                near[many] = i
                many += 1
        some = min(many, _OTHERS)
        for j in range(some):
            i = near[j * (many - 1) // max(some - 1, 1)]
            theirs, own = points[ends[i] : ends[i + 1]], points[ends[k] : ends[k + 1]]
            through, on = _count(theirs, ranges[k], between(poses[k], poses[i]), eyes[k])
            counts[k, 0, 0] += through
            counts[k, 0, 1] += on
            through, on = _count(own, ranges[i], between(poses[i], poses[k]), eyes[i])
            counts[k, 1, 0] += through
            counts[k, 1, 1] += on
    return counts
