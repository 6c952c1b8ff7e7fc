"""Kernels of the belief about the ground: measurements of vertices become evidence, evidence becomes altitudes.

The evidence that one robot has about one vertex is a normal distribution of its altitude, when it last saw it and when
it last found it changed, and what kind of knowledge that is; see `EVIDENCE`.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. Deakin University, 2007
    (Kalman fusion per vertex, the test for a change by four more measurements, drops and obstacles).
"""

import math
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel
from covey.mapping.occupancy.tiles import TILE

UNKNOWN, MEASURED, DROP, OBSTACLE = 0, 1, 2, 3
"""Kinds of knowledge about a vertex: none; measured; it lies below what could be seen; it rises above that."""

EVIDENCE = np.dtype([("mean", "f8"), ("variance", "f8"), ("seen", "i4"), ("changed", "i4"), ("mark", "u1")], align=True)
"""Evidence about a vertex: mean [m] and variance [m^2] of its altitude, the steps at which it was last seen and last
found changed (1 is the first step of a run, 0 never), and the kind of knowledge."""

INTERVAL = 1.96
"""Half the 95 % interval, in standard deviations."""
SINGLE = 2.576
"""The same of 99 %, for a measurement that cannot be repeated at once: as rarely wrong as two tests of 95 %."""
SURE = 4.0
"""How many standard deviations off a vertex has changed, and is not just measured badly: at least this many."""
SLOPE = 0.5
"""Standard deviation of slopes of the ground that are not known yet [-]."""
AROUND = np.array(
    [
        (0, 0, 0, 6, 0, 1),
        (0, 0, 1, 6, 2, 1),
        (-1, -1, 0, 4, 5, 6),
        (-1, -1, 1, 4, 3, 6),
        (0, -1, 0, 3, 6, 2),
        (-1, 0, 1, 5, 6, 0),
    ]
)
"""The triangles around a vertex: row and column of the cell less its own, 1 for the upper half of that, and the
corners: 0 the neighbour in the east, then north-east, north, west, south-west, south, and 6 the vertex itself."""
GRAZING = 0.15
"""A ray that comes down to believed ground less steeply than this says nothing of its altitude [-]."""
ROUGH = 0.25
"""A vertex of which points tell less than this, in spacings, counts as not measured: one standard deviation."""
LEAST = 0.06
"""What is never known of a vertex from points, in standard deviations of a range: near an edge of the ground it stays
unclear on which side a point lies."""
TESTS = ("none", "innovation", "paper")
"""The tests for a change; kernels take a position in here."""


class Team(NamedTuple):
    """What n robots hold to be true about a lattice of vertices.

    Attributes:
        own: `EVIDENCE` (n, rows, columns), each robot's own.
        rest: the same, what the others' comes to; ``changed`` is the last change that any of them has found.
        mean, variance: float64 (n, rows, columns), [m], [m^2], what both come to; mark: uint8.
        occupancy: int8 (n, rows, columns): -1 unknown, 0 drivable, 100 not.
        turned: int64 (n, tiles), the version at which a vertex of a tile last changed among these three.
        version: int64 (n,), grows when one does.
        dirty: uint8 (n, tiles), where own evidence is newer than what has been published.
        resets: uint16 (n, rows, columns), how often a robot found a vertex changed.
        measured: int64 (n,), measurements taken in.
        ends: int64 (2,), rows and columns of vertices that there are; the others are 100, and say nothing of those.
    """

    own: np.ndarray
    rest: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    mark: np.ndarray
    occupancy: np.ndarray
    turned: np.ndarray
    version: np.ndarray
    dirty: np.ndarray
    resets: np.ndarray
    measured: np.ndarray
    ends: np.ndarray


@kernel
def _fused(mean, variance, other, other_variance):
    """Return mean and variance of two independent normal distributions of one altitude (a Kalman update)."""
    gain = variance / (variance + other_variance)
    return mean + gain * (other - mean), variance - gain * variance


@kernel
def later(seen, mark, mean, other_seen, other_mark, other_mean):
    """Return whether of two marks the second counts: the later, else the obstacle, else the lower; in any order."""
    if seen != other_seen:
        return other_seen > seen
    if mark != other_mark:
        return other_mark > mark
    return other_mean < mean


@kernel
def join(team, i, a, b):
    """Bring what own evidence and that of the others come to up to date, of one vertex of one robot."""
    own, rest = team.own[i, a, b], team.rest[i, a, b]
    mine = own.mark != UNKNOWN and own.seen >= rest.changed
    mean, variance, mark = rest.mean, rest.variance, rest.mark
    if mine and (mark == UNKNOWN or (own.mark == MEASURED and mark != MEASURED)):
        mean, variance, mark = own.mean, own.variance, own.mark
    elif mine and own.mark == MEASURED:
        mean, variance = _fused(own.mean, own.variance, mean, variance)
    elif mine and mark != MEASURED and later(rest.seen, mark, mean, own.seen, own.mark, own.mean):
        mean, variance, mark = own.mean, own.variance, own.mark
    team.mean[i, a, b], team.variance[i, a, b], team.mark[i, a, b] = mean, variance, mark


@kernel
def _begin(own, value, variance, mark):
    own.mean, own.variance, own.mark = value, variance, mark


@kernel
def measure(team, i, a, b, value, again, variance, shape, step, test):
    """Take in a measurement of a vertex.

    Args:
        team: `Team`. i, a, b: robot, row, column.
        value: measured altitude [m]. again: mean of four more measurements, NaN if there are none [m].
        variance: of one measurement [m^2].
        shape: how much of it is the same in each such measurement [m^2]: what is known is never better than that.
        step: now, from 1 on.
        test: position in `TESTS`.
    """
    own, rest = team.own[i, a, b], team.rest[i, a, b]
    if own.seen < rest.changed or own.mark != MEASURED:
        own.mark = UNKNOWN
    team.measured[i] += 1
    own.seen = step
    if team.mark[i, a, b] == MEASURED and test > 0:
        mean, known = team.mean[i, a, b], team.variance[i, a, b]
        noise = variance if test == 1 else 0.0
        single, off = math.isnan(again), value - mean
        if single or off * off > INTERVAL * INTERVAL * (known + noise):
            if not single:
                value, variance = 0.2 * value + 0.8 * again, 0.2 * variance
                off, noise = value - mean, 0.2 * noise
            limit = SURE if test == 1 else (SINGLE if single else INTERVAL)
            if off * off > limit * limit * (known + noise):
                own.mark, rest.mark, own.changed = UNKNOWN, UNKNOWN, step
                team.resets[i, a, b] += 1
    if own.mark != MEASURED:
        _begin(own, value, variance, MEASURED)
    elif own.variance > shape:
        own.mean, own.variance = _fused(own.mean, own.variance, value, variance)
        own.variance = max(own.variance, shape)
    join(team, i, a, b)


@kernel
def bound(team, i, a, b, edge, mark, drop, variance, limit, step):
    """Take in that a vertex lies below (DROP) or above (OBSTACLE) the altitude ``edge`` [m]; return whether it is news.

    What is known to be so already is left as it is, and what is not known at all gets a guess: for a drop the altitude
    of the nearest measured vertex less ``drop`` [m], for an obstacle the edge. A vertex that was measured on the other
    side of the edge, by more than ``limit`` [m], has changed.
    """
    own, rest = team.own[i, a, b], team.rest[i, a, b]
    held, spread = team.mark[i, a, b], SURE * math.sqrt(team.variance[i, a, b]) + limit
    if held == MEASURED:
        mean = team.mean[i, a, b]
        if (mean - spread <= edge) if mark == DROP else (mean + spread >= edge):
            return False
    elif held == mark:
        return False
    value = edge
    if mark == DROP:
        near = _nearest(team, i, a, b)
        value = (edge if math.isnan(near) else near) - drop
    if held != UNKNOWN:
        rest.mark, own.changed = UNKNOWN, step
        team.resets[i, a, b] += held == MEASURED
    own.seen = step
    _begin(own, value, variance, mark)
    join(team, i, a, b)
    return True


@kernel
def _nearest(team, i, a, b):
    """Return the altitude [m] of the measured vertex that is nearest to another; NaN when none is within 16."""
    rows, columns = team.mark.shape[1], team.mark.shape[2]
    best, found, reach = math.inf, math.nan, 1
    while reach <= 16 and reach * reach <= best:
        for p in range(max(a - reach, 0), min(a + reach + 1, rows)):
            side = abs(p - a) == reach
            for q in range(max(b - reach, 0), min(b + reach + 1, columns)):
                if (side or abs(q - b) == reach) and team.mark[i, p, q] == MEASURED:
                    away = (p - a) * (p - a) + (q - b) * (q - b)
                    if away < best:
                        best, found = float(away), team.mean[i, p, q]
        reach += 1
    return found


@kernel
def hide(team, i, a, b, edge, drop, spread, variance, limit, step):
    """Take in that a vertex lies below ``edge`` [m], where the ground in front hides it; return whether it is news.

    One that was measured higher than that has changed: nobody knows what it is now. One that nobody has seen, and that
    lies more than ``limit`` [m] below a measured neighbour, is a drop of ``drop`` [m] with the variance ``spread``
    [m^2]: wherever it ends, nobody drives there from here. Others as of `measure`.
    """
    own, rest = team.own[i, a, b], team.rest[i, a, b]
    held = team.mark[i, a, b]
    if held == MEASURED and team.mean[i, a, b] - SURE * math.sqrt(team.variance[i, a, b] + variance) > edge:
        own.mark = rest.mark = UNKNOWN
        own.changed = step
        team.resets[i, a, b] += 1
        join(team, i, a, b)
        return True
    if held != UNKNOWN:
        return False
    for p in range(max(a - 1, 0), min(a + 2, team.ends[0])):
        for q in range(max(b - 1, 0), min(b + 2, team.ends[1])):
            if team.mark[i, p, q] == MEASURED and team.mean[i, p, q] - edge > limit:
                own.seen = step
                _begin(own, team.mean[i, p, q] - drop, spread, DROP)
                join(team, i, a, b)
                return True
    return False


@kernel
def judge(team, i, top, bottom, left, right, limit):
    """Say which vertices of a box, all sides included, and right around it are drivable.

    A vertex is not when its altitude differs by more than ``limit`` [m] from that of any known one of its eight
    neighbours, nor when it is a drop or an obstacle.
    """
    rows, columns = team.ends[0], team.ends[1]
    turned = False
    mark, mean, states = team.mark[i], team.mean[i], team.occupancy[i]
    for a in range(max(top - 1, 0), min(bottom + 2, rows)):
        for b in range(max(left - 1, 0), min(right + 2, columns)):
            state = -1 if mark[a, b] == UNKNOWN else 0 if mark[a, b] == MEASURED else 100
            if state == 0:
                for p in range(max(a - 1, 0), min(a + 2, rows)):
                    for q in range(max(b - 1, 0), min(b + 2, columns)):
                        if mark[p, q] != UNKNOWN and abs(mean[p, q] - mean[a, b]) > limit:
                            state = 100
            if state != states[a, b]:
                states[a, b] = state
                team.turned[i, a // TILE * (team.mark.shape[2] // TILE) + b // TILE] = team.version[i] + 1
                turned = True
    team.version[i] += turned


@kernel
def see_window(team, robots, picked, poses, kind, altitude, again, corner, frame, true_pose, own_frame, model, step):
    """Take in what wedges tell, one reading of each of some robots.

    A vertex lies, seen from where the robot thinks it is, where it really lies from where the robot really is.

    Args:
        robots: int64 (m,), rows of the team. picked: int64 (m,), rows of the readings. poses: (m, 3), as estimated.
        kind, altitude, again, corner: see `covey.sensors.wedge.WedgeReadings`.
        frame: of the lattice of the readings, own_frame: of that of the beliefs, (3,) x, y of vertex [0, 0], spacing.
        true_pose: (k, 3), where the readings were taken.
        model: float64 (5,): variance of a measurement, depth [m] and variance of a drop, steepest step [m], test.
        step: now, from 1 on.
    """
    rows, columns = team.mark.shape[1], team.mark.shape[2]
    variance, drop, drop_variance, limit, test = model[0], model[1], model[2], model[3], int(model[4])
    for m in range(robots.shape[0]):
        i, r = robots[m], picked[m]
        c, s = math.cos(poses[m, 2] - true_pose[r, 2]), math.sin(poses[m, 2] - true_pose[r, 2])
        top, bottom, left, right = rows, -1, columns, -1
        for last in range(2):
            for p in range(kind.shape[1]):
                for q in range(kind.shape[2]):
                    what = kind[r, p, q]
                    if what == 0 or (what == 1) == (last == 1):
                        continue
                    dx = frame[0] + (corner[r, 1] + q) * frame[2] - true_pose[r, 0]
                    dy = frame[1] + (corner[r, 0] + p) * frame[2] - true_pose[r, 1]
                    x, y = poses[m, 0] + c * dx - s * dy, poses[m, 1] + s * dx + c * dy
                    a = math.floor((y - own_frame[1]) / own_frame[2] + 0.5)
                    b = math.floor((x - own_frame[0]) / own_frame[2] + 0.5)
                    if a < 0 or a >= rows or b < 0 or b >= columns:
                        continue
                    if what == 1:
                        measure(team, i, a, b, altitude[r, p, q], again[r, p, q], variance, 0.0, step, test)
                    elif what == 4:
                        if not hide(team, i, a, b, altitude[r, p, q], drop, drop_variance, variance, limit, step):
                            continue
                    elif not bound(team, i, a, b, altitude[r, p, q], what, drop, drop_variance, limit, step):
                        continue
                    team.dirty[i, a // TILE * (columns // TILE) + b // TILE] = 1
                    top, bottom, left, right = min(top, a), max(bottom, a), min(left, b), max(right, b)
        if bottom >= 0:
            judge(team, i, top, bottom, left, right, limit)


@kernel
def see_points(team, robots, picked, poses, points, eyes, place, own_frame, model, step):
    """Take in points on the ground, one cloud of each of some robots.

    The ground is flat within the triangles between the vertices, so a point says what the altitudes of three vertices
    come to; noise along its ray counts as far as the triangle lies across it. A vertex is measured by the points in
    the six triangles around it, see `_vertex`.

    Args:
        robots, picked, poses, own_frame, model, step: as in `see_window`; model[0] is the variance of a range.
        points: float64 (k, p, 3), ahead and to the left of the body, and altitude [m]; NaN: no point.
        eyes: float64 (k, 3), where the rays begin, likewise.
        place: int32 (rows, columns, 2), scratch, -1 before and after.
    """
    rows, columns = team.mark.shape[1], team.mark.shape[2]
    limit, test, spacing = model[3], int(model[4]), own_frame[2]
    floor, most = LEAST * LEAST * model[0], (ROUGH * spacing) ** 2
    count, reach = points.shape[1], SURE * math.sqrt(model[0])
    sums, where = np.empty((count, 9)), np.empty((count, 3), np.int64)
    slopes, work, got = np.zeros(6), np.empty((7, 8)), np.empty(3)
    for m in range(robots.shape[0]):
        i, r = robots[m], picked[m]
        c, s = math.cos(poses[m, 2]), math.sin(poses[m, 2])
        used, top, bottom, left, right = 0, rows, -1, columns, -1
        mark, mean, variance = team.mark[i], team.mean[i], team.variance[i]
        for k in range(count):
            if math.isnan(points[r, k, 2]):
                continue
            ahead, aside, z = points[r, k, 0], points[r, k, 1], points[r, k, 2] - eyes[r, 2]
            x = (poses[m, 0] + c * ahead - s * aside - own_frame[0]) / spacing
            y = (poses[m, 1] + s * ahead + c * aside - own_frame[1]) / spacing
            ahead, aside = ahead - eyes[r, 0], aside - eyes[r, 1]
            far = math.sqrt(ahead * ahead + aside * aside + z * z) + 1e-9
            dx, dy = (c * ahead - s * aside) / far, (s * ahead + c * aside) / far
            ray = dx, dy, z / far, reach, spacing
            x, y, z, across = landed(mark, mean, variance, x, y, z + eyes[r, 2], *ray)
            if not (x >= 0.0 and x < columns - 1 and y >= 0.0 and y < rows - 1 and math.isfinite(z)):
                continue
            a, b = math.floor(y), math.floor(x)
            x, y, z = x - b, y - a, z - eyes[r, 2]
            half = 1 if y > x else 0
            at = place[a, b, half]
            if at < 0:
                place[a, b, half] = at = used
                where[at, 0], where[at, 1], where[at, 2] = a, b, half
                used += 1
                for n in range(9):
                    sums[at, n] = 0.0
            larger, smaller = (y, x) if half else (x, y)
            weigh(sums, at, 1.0 - larger, larger - smaller, smaller, z, 1.0 / (model[0] * across))
        for at in range(used):
            a, b = where[at, 0], where[at, 1]
            top, bottom, left, right = min(top, a), max(bottom, a + 1), min(left, b), max(right, b + 1)
        top, bottom, left, right = max(top, 0), min(bottom, rows - 1), max(left, 0), min(right, columns - 1)
        slopes[:] = 1.0 / (SLOPE * spacing) ** 2
        slopes[1] *= 0.5
        slopes[4] *= 0.5
        for a in range(top, bottom + 1):
            for b in range(left, right + 1):
                if not _vertex(place, sums, a, b, slopes, work, got) or got[1] > most:
                    continue
                shape = got[2] + floor
                measure(team, i, a, b, eyes[r, 2] + got[0], math.nan, got[1] + floor, shape, step, test)
                team.dirty[i, a // TILE * (columns // TILE) + b // TILE] = 1
        for at in range(used):
            place[where[at, 0], where[at, 1], where[at, 2]] = -1
        if bottom >= 0:
            judge(team, i, top, bottom, left, right, limit)


@kernel(inline=True)
def _facet(mark, mean, variance, x, y, spacing):
    """Return altitude and slopes east and north of the believed ground, and what its variance adds to a slope's.

    NaN where a corner of the triangle there has not been measured. x, y: in spacings from vertex [0, 0].
    """
    a, b = math.floor(y), math.floor(x)
    nothing = math.nan, 0.0, 0.0, 0.0
    if not (a >= 0 and b >= 0 and a + 1 < mark.shape[0] and b + 1 < mark.shape[1]):
        return nothing
    u, v = x - b, y - a
    p, q = (a + 1, b) if v > u else (a, b + 1)
    if mark[a, b] != MEASURED or mark[p, q] != MEASURED or mark[a + 1, b + 1] != MEASURED:
        return nothing
    first, second = mean[p, q] - mean[a, b], mean[a + 1, b + 1] - mean[p, q]
    east, north = (second, first) if v > u else (first, second)
    spread = variance[p, q] + max(variance[a, b], variance[a + 1, b + 1])
    return mean[a, b] + east * u + north * v, east / spacing, north / spacing, spread / (spacing * spacing)


@kernel
def landed(mark, mean, variance, x, y, z, dx, dy, dz, reach, spacing):
    """Return where a ray ended, as far as the belief knows better than the distance measured along it.

    Noise throws a point along its ray, and so beside the place whose altitude it has, even beyond an edge of the
    ground. The ray is known exactly; where it meets the ground that is believed, the noise has no part in.

    Args:
        x, y, z: the point, in spacings from vertex [0, 0], and its altitude [m].
        dx, dy, dz: unit vector along the ray. reach: farther than this along it is no noise [m].

    Returns:
        x, y of where it is, the altitude there, and the variance of that over the variance of the distance. Without a
        belief about the ground there, the point as it is; slopes are then normal with deviation `SLOPE`.
    """
    moved, flat = 0.0, dx * dx + dy * dy
    height, east, north, spread = _facet(mark, mean, variance, x, y, spacing)
    if math.isnan(height):
        return x, y, z, dz * dz + SLOPE * SLOPE * flat
    fall = dz - east * dx - north * dy
    as_it_is = x, y, z, fall * fall + spread * flat
    for _ in range(3):
        if abs(fall) < GRAZING:
            return math.nan, y, z, 0.0
        more = (z + moved * dz - height) / fall
        if abs(more) < 1e-9:
            break
        moved -= more
        if not abs(moved) < reach:
            return as_it_is
        u, v = x + moved * dx / spacing, y + moved * dy / spacing
        height, east, north, spread = _facet(mark, mean, variance, u, v, spacing)
        if math.isnan(height):
            return as_it_is
        fall = dz - east * dx - north * dy
    u, v, z = x + moved * dx / spacing, y + moved * dy / spacing, z + moved * (east * dx + north * dy)
    return u if abs(fall) >= GRAZING else math.nan, v, z, fall * fall + spread * flat


@kernel(inline=True)
def weigh(sums, at, u, v, w, z, weight):
    """Add a point of a triangle to its normal equations: u, v, w of its corners, altitude z, 1 / variance."""
    sums[at, 0] += weight * u * u
    sums[at, 1] += weight * u * v
    sums[at, 2] += weight * u * w
    sums[at, 3] += weight * v * v
    sums[at, 4] += weight * v * w
    sums[at, 5] += weight * w * w
    sums[at, 6] += weight * u * z
    sums[at, 7] += weight * v * z
    sums[at, 8] += weight * w * z


@kernel
def _vertex(place, sums, a, b, slopes, work, got):
    """Write what the points around a vertex say of it: altitude, variance, and how much of that is the shape's.

    The unknowns are how much higher its six neighbours are, normal with the given inverse variances, and last its own
    altitude. What these neighbours add to the variance is the same in each sight from the same place.

    Args:
        place, sums: of the triangles, see `see_points`. a, b: the vertex.
        slopes: float64 (6,), of east, north-east, north, west, south-west, south.
        work: float64 (7, 8), scratch.
        got: float64 (3,), written.

    Returns:
        Whether there is a point.
    """
    work[:] = 0.0
    some = False
    for n in range(6):
        row, column = a + AROUND[n, 0], b + AROUND[n, 1]
        if row < 0 or column < 0 or place[row, column, AROUND[n, 2]] < 0:
            continue
        some, k = True, place[row, column, AROUND[n, 2]]
        at = 0
        for p in range(3):
            first = AROUND[n, 3 + p]
            for q in range(p, 3):
                second, value = AROUND[n, 3 + q], sums[k, at]
                at += 1
                both = value if p == q else 2.0 * value
                work[6, 6] += both
                if first < 6:
                    work[first, 6] += value
                if second < 6 and p != q:
                    work[second, 6] += value
                if first < 6 and second < 6:
                    work[first, second] += value
                    if p != q:
                        work[second, first] += value
            work[6, 7] += sums[k, 6 + p]
            if first < 6:
                work[first, 7] += sums[k, 6 + p]
    if not some:
        return False
    for n in range(6):
        work[n, n] += slopes[n]
    for n in range(6):  # the matrix is symmetric: what is right of the diagonal is enough
        for p in range(n + 1, 7):
            share = work[n, p] / work[n, n]
            for q in range(p, 8):
                work[p, q] -= share * work[n, q]
    got[0], got[1], got[2] = work[6, 7] / work[6, 6], 1.0 / work[6, 6], 0.0
    for n in range(5, -1, -1):
        value = -work[n, 6] * got[1]
        for p in range(n + 1, 6):
            value -= work[n, p] * work[p, 7]
        work[n, 7] = value / work[n, n]
        got[2] += slopes[n] * work[n, 7] * work[n, 7]
    return True


@kernel
def join_tile(team, i, tile, first, parts, limit):
    """Bring some rows of a tile of a robot's map up to date after it took versions of others.

    Args:
        first: row of the tile.
        parts: `EVIDENCE` (k, rows, 32), what it holds of each of the others, in the order of the team, from there on.
        limit: steepest drivable step [m].
    """
    per_row = team.mark.shape[2] // TILE
    top, left = tile // per_row * TILE + first, tile % per_row * TILE
    for p in range(parts.shape[1]):
        for q in range(TILE):
            known, changed = UNKNOWN, 0
            for k in range(parts.shape[0]):
                known |= parts[k, p, q].mark
                changed = max(changed, parts[k, p, q].changed)
            own, rest = team.own[i, top + p, left + q], team.rest[i, top + p, left + q]
            if known == UNKNOWN and rest.mark == UNKNOWN and changed == rest.changed:
                continue
            rest.changed, rest.mark, rest.seen = changed, UNKNOWN, 0
            changed = max(changed, own.changed)
            for k in range(parts.shape[0]):
                part = parts[k, p, q]
                if part.mark == UNKNOWN or part.seen < changed:
                    continue
                mean, variance, mark, seen = part.mean, part.variance, part.mark, part.seen
                if rest.mark == MEASURED and mark == MEASURED:
                    rest.mean, rest.variance = _fused(rest.mean, rest.variance, mean, variance)
                    rest.seen = max(rest.seen, seen)
                elif mark == MEASURED or (
                    rest.mark != MEASURED
                    and (rest.mark == UNKNOWN or later(rest.seen, rest.mark, rest.mean, seen, mark, mean))
                ):
                    rest.mean, rest.variance, rest.mark, rest.seen = mean, variance, mark, seen
            join(team, i, top + p, left + q)
    judge(team, i, top, top + parts.shape[1] - 1, left, left + TILE - 1, limit)


@kernel
def join_own(team, i, limit):
    """Bring a robot's map up to date after its own evidence was changed from outside."""
    rows, columns = team.mark.shape[1], team.mark.shape[2]
    for a in range(rows):
        for b in range(columns):
            join(team, i, a, b)
    judge(team, i, 0, rows - 1, 0, columns - 1, limit)
