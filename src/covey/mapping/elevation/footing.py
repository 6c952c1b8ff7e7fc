"""Footing: where unsafe or unknown ground begins around a robot."""

import math

import numpy as np

from covey.kernel import kernel
from covey.mapping.elevation.kernels import DROP, MEASURED, UNKNOWN

BEARINGS = 72
"""Number of directions in which `ground_points` looks."""
_BAD, _STEEP, _GOOD = 0, 1, 2  # ground: unknown or a drop, known to be steep, known to be good


@kernel
def ground_points(points, count, mark, mean, frame, ends, limit, x, y, heading, reach, keep):
    """Append points in the body frame where unsafe or unknown ground begins around a robot.

    Ground is good between four measured vertices that differ by at most ``limit`` [m]. A robot that is nearer to other
    ground than ``keep`` may move away from it, but not along it: the point is put a little farther away than that
    ground. A robot on ground that has become too steep may leave it by the shortest way.

    Args:
        points, count: float64 (k, 2) [m], and the number of filled rows.
        mark, mean, ends: of one robot of a `TeamElevation`, (rows, columns); frame: x, y of vertex [0, 0], spacing [m].
        limit: [m]. x, y, heading: the robot [m, rad].
        reach: how far it looks [m]. keep: distance of its centre from other ground [m].

    Returns:
        The new count.
    """
    v, u, step = (y - frame[1]) / frame[2], (x - frame[0]) / frame[2], min(0.25, 0.05 / frame[2])
    row, column, far = math.floor(v), math.floor(u), reach / frame[2]
    leave, out, begin = far, 0, np.zeros(BEARINGS)
    if _footing(mark, mean, ends, limit, row, column) == _STEEP:
        for k in range(BEARINGS):
            a = heading + math.tau * k / BEARINGS
            begin[k] = _along(mark, mean, ends, limit, v, u, math.sin(a), math.cos(a), 0.0, far, step, _STEEP)
            if begin[k] < leave:
                leave, out = begin[k], k
    for k in range(BEARINGS):
        bearing, away = math.tau * k / BEARINGS, 0.0
        if begin[k] > 1.5 * leave + 0.1 and math.cos(bearing - math.tau * out / BEARINGS) > -0.9:
            continue
        if begin[k] <= 1.5 * leave + 0.1:
            c, s = math.cos(heading + bearing), math.sin(heading + bearing)
            away = _along(mark, mean, ends, limit, v, u, s, c, begin[k], far, step, _GOOD) * frame[2]
        if away < reach and count < points.shape[0]:
            away = max(away, min(away + 0.5 * keep, keep))
            points[count, 0], points[count, 1] = away * math.cos(bearing), away * math.sin(bearing)
            count += 1
    for p in range(max(row, 0), min(row + 2, ends[0])):
        for q in range(max(column, 0), min(column + 2, ends[1])):
            if (mark[p, q] == UNKNOWN or mark[p, q] == DROP) and count < points.shape[0]:
                bearing = math.atan2(p - v, q - u) - heading
                points[count, 0], points[count, 1] = 0.5 * keep * math.cos(bearing), 0.5 * keep * math.sin(bearing)
                count += 1
    return count


@kernel
def _along(mark, mean, ends, limit, v, u, dv, du, begin, far, step, kind):
    """Return how far along a ray, from ``begin`` to at most ``far``, the ground is of one kind; all in cells."""
    at, last_a, last_b = begin, math.floor(v), math.floor(u)
    while at + step <= far:
        a, b = math.floor(v + (at + step) * dv), math.floor(u + (at + step) * du)
        if a != last_a or b != last_b:
            if _footing(mark, mean, ends, limit, a, b) != kind:
                return at
            last_a, last_b = a, b
        at += step
    return far


@kernel
def _footing(mark, mean, ends, limit, a, b):
    """Return the kind of the ground between vertex [a, b] and the next row and column; see `ground_points`.

    It does not judge places outside the ground, nor obstacles, which stand on it.
    """
    if a < 0 or b < 0 or a + 1 >= ends[0] or b + 1 >= ends[1]:
        return _GOOD
    low, high = math.inf, -math.inf
    for p in range(a, a + 2):
        for q in range(b, b + 2):
            if mark[p, q] == UNKNOWN or mark[p, q] == DROP:
                return _BAD
            if mark[p, q] == MEASURED:
                low, high = min(low, mean[p, q]), max(high, mean[p, q])
    return _STEEP if high - low > limit else _GOOD
