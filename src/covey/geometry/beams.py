"""Beams: the cells of a grid that the straight beams of a range sensor cross.

The walk follows a beam column by column (row by row if it is steep) in fixed-point numbers. The rows at which the beam
enters and leaves a column are the cells it crosses there: two plain stores and no branch per column. The cells are
those of the walk of Amanatides and Woo, which branches at every cell.

References:
    J. Amanatides, A. Woo: A fast voxel traversal algorithm for ray tracing. Eurographics 1987.
"""

import itertools
import math
from typing import Any

import numpy as np

from covey.kernel import kernel

_EDGE = 1e-6  # beams are kept this far [cells] inside the grid: far more than the fixed-point walk can drift
_FIXED = 4294967296.0  # 32 fractional bits
_CONE = 16  # beams


def beam_directions(angles: Any) -> np.ndarray:
    """Return the unit vectors, float64 (rays, 2), of beam angles [rad] in the frame of the angles."""
    angles = np.asarray(angles, np.float64)
    return np.ascontiguousarray(np.stack((np.cos(angles), np.sin(angles)), axis=-1))


@kernel
def clip_segment(u0, v0, u1, v1, columns, rows):
    """Return the part u0, v0, u1, v1 [cells] of a segment inside the grid, and whether there is any.

    References: Y.-D. Liang, B. A. Barsky: A new concept and method for line clipping. ACM TOG 3(1), 1984.
    """
    right, top = columns - _EDGE, rows - _EDGE
    if min(u0, u1) >= _EDGE and max(u0, u1) <= right and min(v0, v1) >= _EDGE and max(v0, v1) <= top:
        return u0, v0, u1, v1, True
    if not math.isfinite(u0 + v0 + u1 + v1):
        return u0, v0, u1, v1, False
    enter, leave = 0.0, 1.0
    for axis in range(2):
        start, delta = (u0, u1 - u0) if axis == 0 else (v0, v1 - v0)
        end = right if axis == 0 else top
        if delta == 0.0:
            if start < _EDGE or start > end:
                return u0, v0, u1, v1, False
        else:
            a, b = (_EDGE - start) / delta, (end - start) / delta
            enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    if not enter <= leave:
        return u0, v0, u1, v1, False
    du, dv = u1 - u0, v1 - v0
    u0, v0, u1, v1 = u0 + enter * du, v0 + enter * dv, u0 + leave * du, v0 + leave * dv
    return (
        min(max(u0, _EDGE), right),
        min(max(v0, _EDGE), top),
        min(max(u1, _EDGE), right),
        min(max(v1, _EDGE), top),
        True,
    )


@kernel
def walk(u0, v0, u1, v1):
    """Return how a segment inside the grid, no steeper than the diagonal, passes from column to column.

    Args:
        u0, v0, u1, v1: ends [cells] along the walked axis u and the other one v; abs(v1 - v0) <= abs(u1 - u0).

    Returns:
        The first column (cell along u); the direction, +1 or -1; the number of columns after the first; where along v
        the segment leaves the first column, and how much farther it leaves the next one, both with 32 fractional bits.
        The segment enters the first column at ``v0`` and ends in the last one at ``v1``.
    """
    first, last = int(u0), int(u1)
    sign = 1 if last >= first else -1
    if first == last:
        return first, sign, 0, int(v1 * _FIXED), 0
    slope = (v1 - v0) / (u1 - u0)
    boundary = first + 1 if sign > 0 else first
    return first, sign, abs(last - first), int((v0 + (boundary - u0) * slope) * _FIXED), int(sign * slope * _FIXED)


@kernel
def mark_segment(flat, u0, v0, u1, v1, step_u, step_v):
    """Set to 1 the cells that a segment inside the grid crosses; it must not be steeper than the diagonal.

    Args:
        flat: uint8, the grid as one row.
        u0, v0, u1, v1: ends, see `walk`.
        step_u, step_v: distance of neighbours along u and v in ``flat``.
    """
    first, sign, more, v, dv = walk(u0, v0, u1, v1)
    at = first * step_u
    flat[np.uint64(at + int(v0) * step_v)] = 1
    if more > 0:
        flat[np.uint64(at + (v >> 32) * step_v)] = 1
        for _ in range(more - 1):
            at += sign * step_u
            flat[np.uint64(at + (v >> 32) * step_v)] = 1
            v += dv
            flat[np.uint64(at + (v >> 32) * step_v)] = 1
        at += sign * step_u
        flat[np.uint64(at + (v >> 32) * step_v)] = 1
    flat[np.uint64(at + int(v1) * step_v)] = 1


@kernel
def mark_beam(mark, u0, v0, u1, v1, box):
    """Set to 1 the cells of ``mark`` (uint8) that a beam from column u0, row v0 to u1, v1 [cells] crosses.

    Parts outside the grid are ignored. ``box``, int64 (4,), grows to hold the first and last marked row, and the first
    and last marked column.
    """
    u0, v0, u1, v1, inside = clip_segment(u0, v0, u1, v1, mark.shape[1], mark.shape[0])
    if not inside:
        return
    box[0], box[1] = min(box[0], int(min(v0, v1))), max(box[1], int(max(v0, v1)))
    box[2], box[3] = min(box[2], int(min(u0, u1))), max(box[3], int(max(u0, u1)))
    step_u, step_v = 1, mark.shape[1]
    if abs(u1 - u0) < abs(v1 - v0):
        u0, v0, u1, v1, step_u, step_v = v0, u0, v1, u1, step_v, step_u
    mark_segment(mark.reshape(-1), u0, v0, u1, v1, step_u, step_v)


@kernel
def mark_fan(mark, u, v, ends, box):
    """Set to 1 the cells that beams from column u, row v [cells] cross, as `mark_beam` does for each of them.

    Near the sensor neighbouring beams cross the same cells. So the beams are taken in cones. As long as neighbours
    leave a column at most a cell apart, the cells of a cone in it are all those between its outer beams; these are
    filled, and each beam is only followed from there on. A cone ends before a beam that it cannot hold: one in another
    octant, one that leaves the grid, one of a few cells.

    Args:
        mark, box: see `mark_beam`.
        ends: float64 (rays, 2), where the beams end, column and row [cells]; NaN: no beam.
    """
    flat = mark.reshape(-1)
    right, top = mark.shape[1] - _EDGE, mark.shape[0] - _EDGE
    leave, slope, more = np.empty(_CONE, np.int64), np.empty(_CONE, np.int64), np.empty(_CONE, np.int64)
    inside = min(u, v) >= _EDGE and u <= right and v <= top
    begin = count = 0
    while begin + count < ends.shape[0]:
        begin, count = begin + count, 0
        du, dv = ends[begin, 0] - u, ends[begin, 1] - v
        steep = abs(du) < abs(dv)
        sign = 1 if (dv if steep else du) > 0.0 else -1
        a0, b0, step_u, step_v = (v, u, mark.shape[1], 1) if steep else (u, v, 1, mark.shape[1])
        while inside and count < min(_CONE, ends.shape[0] - begin):
            x, y = ends[begin + count, 0], ends[begin + count, 1]
            if not (x >= _EDGE and x <= right and y >= _EDGE and y <= top) or (abs(x - u) < abs(y - v)) != steep:
                break
            _, way, more[count], leave[count], slope[count] = walk(a0, b0, y if steep else x, x if steep else y)
            if more[count] < 3 or way != sign:
                break
            count += 1
        filled = _filled(leave, slope, more, count) if count > 0 else 0
        if filled == 0:
            count = max(count, 1)
            for k in range(begin, begin + count):
                if not math.isnan(ends[k, 0]):
                    mark_beam(mark, u, v, ends[k, 0], ends[k, 1], box)
            continue
        at, last = int(a0) * step_u, count - 1
        for j in range(1, filled + 1):
            i0, o0 = (leave[0] + (j - 1) * slope[0]) >> 32, (leave[0] + j * slope[0]) >> 32
            i1, o1 = (leave[last] + (j - 1) * slope[last]) >> 32, (leave[last] + j * slope[last]) >> 32
            here = at + j * sign * step_u
            for across in range(min(min(i0, o0), min(i1, o1)), max(max(i0, o0), max(i1, o1)) + 1):
                flat[np.uint64(here + across * step_v)] = 1
        for k in range(count):
            x, y = ends[begin + k, 0], ends[begin + k, 1]
            box[0], box[1] = min(box[0], int(min(v, y))), max(box[1], int(max(v, y)))
            box[2], box[3] = min(box[2], int(min(u, x))), max(box[3], int(max(u, x)))
            flat[np.uint64(at + int(b0) * step_v)] = flat[np.uint64(at + (leave[k] >> 32) * step_v)] = 1
            here, across = at + filled * sign * step_u, leave[k] + filled * slope[k]
            for _ in range(more[k] - 1 - filled):
                here += sign * step_u
                flat[np.uint64(here + (across >> 32) * step_v)] = 1
                across += slope[k]
                flat[np.uint64(here + (across >> 32) * step_v)] = 1
            here += sign * step_u
            flat[np.uint64(here + (across >> 32) * step_v)] = 1
            flat[np.uint64(here + int(x if steep else y) * step_v)] = 1


@kernel
def _filled(leave, slope, more, count):
    """Return in how many columns after the first a cone of beams has no gap, see `mark_fan`; 0: it is not sorted."""
    most = more[0] - 1
    for k in range(1, count):
        apart, wider = leave[k] - leave[k - 1], slope[k] - slope[k - 1]
        turn = leave[count - 1] - leave[0]
        if (turn >= 0) != (apart >= 0) or (turn >= 0) != (wider >= 0) or abs(apart) > 1 << 32:
            return 0
        most = min(most, more[k] - 1)
        if wider != 0:
            most = min(most, ((1 << 32) - abs(apart)) // abs(wider))
    return most


@kernel
def sensor_in_grid(frame, pose, mount):
    """Return column and row [cells] of a sensor in a grid, and cos and sin of its heading in the axes of the grid.

    Args:
        frame: `Grid.frame`. pose: x, y [m], heading [rad] of the body in the world. mount: the sensor on the body.
    """
    c, s = math.cos(pose[2]), math.sin(pose[2])
    dx = pose[0] + c * mount[0] - s * mount[1] - frame[0]
    dy = pose[1] + s * mount[0] + c * mount[1] - frame[1]
    cos_mount, sin_mount = math.cos(mount[2]), math.sin(mount[2])
    c, s = c * cos_mount - s * sin_mount, s * cos_mount + c * sin_mount
    u, v = (frame[2] * dx + frame[3] * dy) / frame[4], (frame[2] * dy - frame[3] * dx) / frame[4]
    return u, v, frame[2] * c + frame[3] * s, frame[2] * s - frame[3] * c


def crossed_cells(u0: float, v0: float, u1: float, v1: float) -> set[tuple[int, int]]:
    """Plain reference of `mark_beam`: rows and columns of the cells that a segment crosses, in an unbounded grid."""
    du, dv = u1 - u0, v1 - v0
    cuts = [0.0, 1.0]
    for start, delta in ((u0, du), (v0, dv)):
        low, high = sorted((start, start + delta))
        cuts += [(line - start) / delta for line in range(math.ceil(low), math.floor(high) + 1) if delta]
    cuts = sorted(cut for cut in cuts if 0.0 <= cut <= 1.0)
    middles = [0.5 * (a + b) for a, b in itertools.pairwise(cuts)]
    return {(math.floor(v0 + t * dv), math.floor(u0 + t * du)) for t in [0.0, *middles, 1.0]}
