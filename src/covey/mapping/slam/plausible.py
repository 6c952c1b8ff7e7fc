"""Whether a log can be what it says: units, directions, and whether neighbouring scans see the same place.

SLAM runs over any numbers. Angles in degrees, ranges in millimetres and mirrored beams give a wrong way and a map of
nothing, so a log that shows them is refused.
"""

import math
from dataclasses import replace

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.slam.log import Log, relative

_FAR_M = 200.0
"""Half of the returns of a lidar on a robot are nearer."""
_PAIRS, _LEAST_PAIRS = 60, 10
_POINTS = 90  # of the later scan of a pair
_NEAR_M = 0.1  # a point so near to one of the scan before, with the gap between beams, is of the same thing
_TURN_RAD, _MOST_TURN_RAD = math.radians(2.0), math.radians(90.0)
_GAPS, _MOST_ROWS, _GONE_M = 1.5, 20, 1.0  # a turn of so many gaps between beams, within so many rows and such a way
_FEWEST = 10  # points of a scan, or half of its beams
_BETTER = 0.1  # share of points by which one motion explains a pair better than another
_MIRRORED = 0.8  # share of the pairs that say so
_OTHER = 0.15  # share of the points of neighbouring scans below which they see other places; recorded logs have 0.7
_WORSE = 0.3  # share of points by which an odometry explains less than none at all


def check_log(log: Log) -> None:
    """Refuse a log that cannot be what it says.

    Raises:
        InvalidValueError: its beams or its ranges have other units than radians and metres, its lidar turns the other
            way than its odometry, its odometry has another unit than its scans, or neighbouring scans see different
            places.
    """
    if said := doubt(log):
        raise InvalidValueError(f"the log {log.name}: {said} (to take it as it is: --unchecked)")


def doubt(log: Log) -> str:
    """Return what shows that a log cannot be what it says, with what to do; empty: nothing does."""
    if log.mounts is not None:  # each lidar by itself
        mounts, which = np.unique(log.mounts, axis=0, return_inverse=True)
        lidars = (
            replace(log[which.ravel() == k], mounts=None, laser=replace(log.laser, mount=tuple(mount)))
            for k, mount in enumerate(mounts.tolist())
        )
        return next((said for said in map(doubt, lidars) if said), "")
    return _of_beams(log) or _of_ranges(log) or _of_motion(log)


def _of_beams(log: Log) -> str:
    fans = np.array([[log.laser.angles[0], _step(log), len(log.laser.angles)]]) if log.fans is None else log.fans
    spans, steps = np.abs(fans[:, 1]) * (fans[:, 2] - 1), np.abs(fans[:, 1])
    if (wrong := spans > math.tau + 1.5 * steps).any():
        span = math.degrees(spans[wrong][0])
        return (
            f"its beams span {span:.0f} degrees, more than a turn. Bearings are in radians; if its angle_increment is "
            "in degrees, multiply it by pi / 180"
        )
    if (wrong := np.abs(fans[:, 0]) > math.tau + 1.5 * steps).any():
        first = fans[wrong][0, 0]
        return f"its first beam is at {first:g} rad, more than a turn: is angle_min in degrees?"
    if abs(log.laser.mount[2]) > math.tau:
        return f"its laser looks at {log.laser.mount[2]:g} rad on the robot, more than a turn: headings are in radians"
    return ""


def _step(log: Log) -> float:
    angles = log.laser.angles
    return float(np.abs(np.diff(angles)).max()) if len(angles) > 1 else 0.0


def _of_ranges(log: Log) -> str:
    hits = log.ranges[log.laser.returns(log.ranges)]
    most = log.laser.range_max
    if not len(hits):
        with np.errstate(invalid="ignore"):
            far = log.ranges[np.isfinite(log.ranges) & (log.ranges >= most)]
        if not len(far):
            return "none of its scans has a return"
        return (
            f"none of its scans has a return: all ranges are at or above range_max, {most:g} m, half of them above "
            f"{np.median(far):g}. If they are in millimetres, divide them by 1000"
        )
    middle = float(np.median(hits))
    if middle > _FAR_M:
        return f"half of its ranges are above {middle:.0f} m. If they are in millimetres, divide them by 1000"
    return ""


def _of_motion(log: Log) -> str:
    motions = relative(log.odometry[:-1], log.odometry[1:])
    turns = np.abs(motions[:, 2])
    scores = [_scores(log, row, row + 1) for row in _spread(np.arange(len(motions)))]
    pairs = np.array([one for one in scores if one is not None]).reshape(-1, 3)
    turning = [_scores(log, *rows) for rows in _turning(motions, _step(log))]
    told = np.array([one for one in turning if one is not None]).reshape(-1, 3)
    clear = told[np.abs(told[:, 0] - told[:, 1]) > _BETTER]
    is_better = len(clear) >= _LEAST_PAIRS and (clear[:, 1] > clear[:, 0]).mean() > _MIRRORED
    if is_better and np.median(clear[:, 1]) > 2.0 * _OTHER:
        return (
            f"its lidar turns the other way than its odometry: in {int((clear[:, 1] > clear[:, 0]).sum())} of "
            f"{len(clear)} turns the scans agree with the turn of the odometry only if they are mirrored. Is the lidar "
            "mounted upside down, or do its beams go clockwise? Reverse each scan, or change the sign of angle_min and "
            "angle_increment"
        )
    if len(pairs) < _LEAST_PAIRS:
        return ""
    by_odometry, _, standing = np.median(pairs, axis=0)
    if by_odometry >= _OTHER and standing <= by_odometry + _WORSE:
        return ""
    if standing > 2.0 * _OTHER:
        way, turn = np.median(np.hypot(motions[:, 0], motions[:, 1])), math.degrees(float(np.median(turns)))
        return (
            f"from a scan to the next its odometry moves by {way:g} m and {turn:.1f} degrees, half of the time more, "
            "but the scans have hardly moved. Is the odometry in metres and radians, and of this robot?"
        )
    return (
        f"neighbouring scans see different places: by the odometry, half of the pairs share less than "
        f"{100.0 * by_odometry:.0f} % of their points. Are the scans in order, is the odometry in metres "
        "and radians, and of this robot?"
    )


def _spread(rows: np.ndarray) -> np.ndarray:
    return rows[np.unique(np.linspace(0, len(rows) - 1, _PAIRS).astype(int))] if len(rows) else rows


def _turning(motions: np.ndarray, step: float) -> list[tuple[int, int]]:
    """Return pairs of rows between which the odometry turns much, of each part of the log.

    A scan with few beams shows a turn that is wider than the gap between them. So a pair is as many rows apart as that
    takes, if the robot has not gone far by then.
    """
    least = max(_TURN_RAD, _GAPS * step)
    turned, gone = (np.concatenate(([0.0], np.cumsum(part))) for part in (motions[:, 2], np.hypot(*motions[:, :2].T)))
    found: list[tuple[int, int, float]] = []
    for row in range(len(motions)):
        last = min(row + _MOST_ROWS, len(motions))
        ahead = np.abs(turned[row + 1 : last + 1] - turned[row])
        enough = np.flatnonzero(ahead > least)
        if len(enough):
            later = row + 1 + int(enough[0])
            if ahead[enough[0]] < _MOST_TURN_RAD and (later == row + 1 or gone[later] - gone[row] < _GONE_M):
                found.append((row, later, float(ahead[enough[0]])))
    parts = np.array_split(np.arange(len(found)), min(_PAIRS, len(found))) if found else []
    best = [max((found[k] for k in part), key=lambda one: one[2]) for part in parts]
    return [(row, later) for row, later, _ in best]


def _scores(log: Log, row: int, later: int) -> tuple[float, float, float] | None:
    """Return which share of the points of a scan an earlier one shows too: by the odometry, by the mirrored one of a
    mirrored lidar, and if it stood; None: a scan has too few points.
    """
    before, after = (_points(log, one) for one in (row, later))
    motion = relative(log.odometry[[row]], log.odometry[[later]])[0]
    least = min(_FEWEST, len(log.laser.angles) // 2)
    if len(before) < least or len(after) < least:
        return None
    after = after[np.linspace(0, len(after) - 1, min(_POINTS, len(after))).astype(int)]
    mount = np.array([*log.laser.mount[:2], 0.0])
    of_lidar = compose(compose(inverse(mount), motion), mount)  # of the place of the lidar, with the robot's heading
    mirrored = compose(compose(mount, of_lidar * [1.0, -1.0, -1.0]), inverse(mount))
    near = _NEAR_M + np.hypot(*(after - mount[:2]).T) * _step(log)
    return tuple(_share(before, after, near, one) for one in (motion, mirrored, np.zeros(3)))  # type: ignore[return-value]


def _share(before: np.ndarray, after: np.ndarray, near: np.ndarray, motion: np.ndarray) -> float:
    c, s = math.cos(motion[2]), math.sin(motion[2])
    moved = after @ np.array([[c, s], [-s, c]]) + motion[:2]
    apart = np.hypot(moved[:, None, 0] - before[None, :, 0], moved[:, None, 1] - before[None, :, 1])
    return float((apart.min(axis=1) < near).mean())


def _points(log: Log, row: int) -> np.ndarray:
    angles, ranges = log.scan(row)
    return log.laser.points(ranges, angles)
