"""Key frames, and the surfaces on which their points lie."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel

_SPAN_M = 0.15  # neighbours on a surface are nearer than this
_MOST_NEIGHBOURS = 5  # on either side
_FEW = 3  # neighbours on either side that may be farther away
_FLAT_M = 0.03  # standard deviation across a surface at most
_ONE_SIDE = 2  # neighbours at least of a point at a corner
_MOST_THICK = 0.05  # variance across a line by that along it


class KeyFrame(NamedTuple):
    """A scan that is kept, in the frame of the robot.

    Attributes:
        points: (k, 2) [m], in the order of the beams.
        normals: (k, 2), unit normals of the surfaces there; 0, 0: not known.
        eye: (2,) [m], where the lidar is.
    """

    points: np.ndarray
    normals: np.ndarray
    eye: np.ndarray


class Cloud(NamedTuple):
    """Points of key frames put together, in one frame.

    Attributes:
        points: (k, 2) [m].
        normals: (k, 2), unit normals of the surfaces there; 0, 0: not known.
        eyes: (k, 2) [m], from where each point was seen.
    """

    points: np.ndarray
    normals: np.ndarray
    eyes: np.ndarray


def together(frames: Sequence[KeyFrame], poses: np.ndarray) -> Cloud:
    """Return the points of key frames at poses (m, 3)."""
    ends = np.cumsum([0, *(len(frame.points) for frame in frames)])
    cloud = Cloud(np.empty((ends[-1], 2)), np.empty((ends[-1], 2)), np.empty((ends[-1], 2)))
    for (points, normals, eye), pose, a, b in zip(frames, poses, ends[:-1], ends[1:], strict=True):
        _place(points, normals, eye, pose, cloud.points[a:b], cloud.normals[a:b], cloud.eyes[a:b])
    return cloud


@kernel
def _place(points, normals, eye, pose, out_points, out_normals, out_eyes):
    """Write what a key frame at ``pose`` (3,) holds into the frame in which the pose is."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    for i in range(points.shape[0]):
        out_points[i, 0] = pose[0] + c * points[i, 0] - s * points[i, 1]
        out_points[i, 1] = pose[1] + s * points[i, 0] + c * points[i, 1]
        out_normals[i, 0] = c * normals[i, 0] - s * normals[i, 1]
        out_normals[i, 1] = s * normals[i, 0] + c * normals[i, 1]
        out_eyes[i, 0] = pose[0] + c * eye[0] - s * eye[1]
        out_eyes[i, 1] = pose[1] + s * eye[0] + c * eye[1]


@kernel
def normals_of(points, eye, widest, normals):
    """Write the unit normals of the surfaces at the points of one scan, (k, 2), in the order of the beams.

    They point towards the sensor at ``eye`` (2,). The surface at a point is the line that fits its neighbours within
    `_SPAN_M` on both sides best, or on one side if that is none: edges of doors are all that fixes a robot along a
    corridor. Neighbours end at a gap wider than ``widest`` [m]. Where there is no line, the normal is 0, 0. Where beams
    are far apart, a few more neighbours must be in line: three points may lead slantwise from a wall into a niche, and
    such normals stretch or shrink the way along a corridor.
    """
    n = points.shape[0]
    sums, line = np.zeros((3, 6)), np.empty(2)
    for i in range(n):
        normals[i, 0] = normals[i, 1] = 0.0
        x, y = points[i, 0], points[i, 1]
        sums[:] = 0.0
        for s in range(2):
            j = i
            for k in range(_MOST_NEIGHBOURS):
                if j + 2 * s - 1 < 0 or j + 2 * s - 1 >= n:
                    break
                last = j
                j += 2 * s - 1
                gap = math.hypot(points[j, 0] - points[last, 0], points[j, 1] - points[last, 1])
                dx, dy = points[j, 0] - x, points[j, 1] - y
                if gap > widest or (k >= _FEW and dx * dx + dy * dy > _SPAN_M * _SPAN_M):
                    break
                _add(sums[s], dx, dy)
        sums[2] = sums[0] + sums[1]
        found = False
        if sums[0, 0] > 0.0 and sums[1, 0] > 0.0:
            found = _line(sums[2], normals[i]) < np.inf
        if not found:
            best = np.inf
            for s in range(2):
                if sums[s, 0] >= _ONE_SIDE:
                    thick = _line(sums[s], line)
                    if thick < best:
                        best = thick
                        normals[i] = line
            found = best < np.inf
        if found and normals[i, 0] * (x - eye[0]) + normals[i, 1] * (y - eye[1]) > 0.0:
            normals[i, 0], normals[i, 1] = -normals[i, 0], -normals[i, 1]


@kernel
def complete(points, eyes, normals):
    """Write the normals (k, 2) that are not known yet, where the points of several scans show a surface.

    It is the line that fits a point and its neighbours within `_SPAN_M` best; only those count that were seen from the
    same side. Beams of one scan are far apart at a distance; those of many scans together are not.
    """
    n = points.shape[0]
    if n == 0:
        return
    x0, y0 = points[:, 0].min(), points[:, 1].min()
    buckets = 1
    while buckets < n:
        buckets *= 2
    first, following = np.full(buckets, -1, np.int32), np.empty(n, np.int32)
    cells = np.empty((n, 2), np.int64)
    for i in range(n):
        cells[i, 0], cells[i, 1] = int((points[i, 1] - y0) / _SPAN_M), int((points[i, 0] - x0) / _SPAN_M)
        bucket = bucket_of(cells[i, 0], cells[i, 1], buckets)
        following[i] = first[bucket]
        first[bucket] = i
    sums = np.empty(6)
    for i in range(n):
        if normals[i, 0] != 0.0 or normals[i, 1] != 0.0:
            continue
        x, y = points[i, 0], points[i, 1]
        to_x, to_y = eyes[i, 0] - x, eyes[i, 1] - y
        sums[:] = 0.0
        for r in range(cells[i, 0] - 1, cells[i, 0] + 2):
            for c in range(cells[i, 1] - 1, cells[i, 1] + 2):
                j = first[bucket_of(r, c, buckets)]
                while j >= 0:
                    dx, dy = points[j, 0] - x, points[j, 1] - y
                    facing = to_x * (eyes[j, 0] - points[j, 0]) + to_y * (eyes[j, 1] - points[j, 1])
                    is_here = cells[j, 0] == r and cells[j, 1] == c
                    if j != i and is_here and facing > 0.0 and dx * dx + dy * dy < _SPAN_M * _SPAN_M:
                        _add(sums, dx, dy)
                    j = following[j]
        found = sums[0] >= _FEW and _line(sums, normals[i]) < np.inf
        if found and normals[i, 0] * to_x + normals[i, 1] * to_y < 0.0:
            normals[i, 0], normals[i, 1] = -normals[i, 0], -normals[i, 1]


@kernel(inline=True)
def bucket_of(row, column, buckets):
    """Return the place of a cell in a table of a power of two of them: its memory does not grow with the distances."""
    return (row * 73856093 ^ column * 19349663) & (buckets - 1)


@kernel
def _add(sums, dx, dy):
    """Add a neighbour at dx, dy to the sums of a point, (6,)."""
    sums[0] += 1.0
    sums[1] += dx
    sums[2] += dy
    sums[3] += dx * dx
    sums[4] += dx * dy
    sums[5] += dy * dy


@kernel
def _line(sums, normal):
    """Write the normal of the line that fits a point and its neighbours best; return how thick it is, inf: no line."""
    count = sums[0] + 1.0
    mx, my = sums[1] / count, sums[2] / count
    cxx, cxy, cyy = sums[3] / count - mx * mx, sums[4] / count - mx * my, sums[5] / count - my * my
    middle, half = 0.5 * (cxx + cyy), math.hypot(0.5 * (cxx - cyy), cxy)
    across = max(middle - half, 0.0)
    thick = across / (middle + half)  # variance across the line by all; no number if all points are one
    if not thick <= _MOST_THICK or across > _FLAT_M * _FLAT_M:
        return np.inf
    turn = 0.5 * math.atan2(2.0 * cxy, cxx - cyy)
    normal[0], normal[1] = -math.sin(turn), math.cos(turn)
    return thick
