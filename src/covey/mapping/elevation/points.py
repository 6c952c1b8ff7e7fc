"""Kernels that make measurements of vertices out of clouds of points on the ground."""

import math

import numpy as np

from covey.kernel import kernel
from covey.mapping.elevation.kernels import MEASURED, SURE, judge, measure
from covey.mapping.elevation.slopes import SLOPE, shifted, slopes_around
from covey.mapping.occupancy.tiles import TILE

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
EAST, NORTH = np.array([1, 1, 0, -1, -1, 0]), np.array([0, 1, 1, 0, -1, -1])
"""Where the neighbours of a vertex are, in spacings."""
GRAZING = 0.15
"""A ray that meets the believed ground less steeply than this gives no altitude [-]."""
ROUGH = 0.25
"""A vertex whose standard deviation from points is larger than this, in spacings, counts as not measured."""
LEAST = 0.06
"""Smallest standard deviation of a vertex from points on unknown ground, in standard deviations of a range: near an
edge of the ground it stays unclear on which side a point lies. It is in proportion to how much slopes around differ."""


@kernel
def see_points(team, robots, picked, poses, errors, points, eyes, place, own_frame, model, step):
    """Take in points on the ground, one cloud of each of some robots.

    The ground is flat within the triangles between the vertices, so a point measures a weighted mean of the altitudes
    of three vertices; noise along its ray counts by the angle between ray and triangle. The points in the six
    triangles around a vertex measure it, see `_vertex`.

    Args:
        robots, picked, poses, errors, own_frame, model, step: as in `kernels.see_window`; model[0] is the
            variance of a range.
        points: float64 (k, p, 3), ahead and to the left of the body, and altitude [m]; NaN: no point.
        eyes: float64 (k, 3), starts of the rays, in the same frame.
        place: int32 (rows, columns, 2), scratch, -1 before and after.
    """
    rows, columns = team.mark.shape[1], team.mark.shape[2]
    limit, test, spacing = model[3], int(model[4]), own_frame[2]
    floor, most = LEAST * LEAST * model[0], (ROUGH * spacing) ** 2
    count, reach = points.shape[1], SURE * math.sqrt(model[0])
    sums, where = np.empty((count, 9)), np.empty((count, 3), np.int64)
    work, got = np.empty((7, 8)), np.empty(3)
    covariances, white = errors
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
        around = np.empty((max(bottom - top + 1, 0), max(right - left + 1, 0), 5))
        for a in range(top, bottom + 1):  # by what was known before
            for b in range(left, right + 1):
                slopes_around(mark, mean, variance, a, b, spacing, around[a - top, b - left])
        for a in range(top, bottom + 1):
            for b in range(left, right + 1):
                slopes = around[a - top, b - left]
                if not _vertex(place, sums, a, b, slopes, spacing, work, got) or got[1] > most:
                    continue
                dx, dy = own_frame[0] + b * spacing - poses[m, 0], own_frame[1] + a * spacing - poses[m, 1]
                moved, _, _ = shifted(covariances[m], dx, dy, slopes)
                edge = floor * min(slopes[4] / (SLOPE * SLOPE), 1.0)  # flat ground has no edges
                shape = got[2] + edge + (0.0 if white[m] else moved)
                altitude, spread = eyes[r, 2] + got[0], got[1] + edge + moved
                measure(team, i, a, b, altitude, math.nan, spread, shape, step, test)
                team.dirty[i, a // TILE * (columns // TILE) + b // TILE] = 1
        for at in range(used):
            place[where[at, 0], where[at, 1], where[at, 2]] = -1
        if bottom >= 0:
            judge(team, i, top, bottom, left, right, limit)


@kernel(inline=True)
def _facet(mark, mean, variance, x, y, spacing):
    """Return altitude and slopes east and north of the believed ground, and the variance that it adds to a slope.

    NaN if a corner of the triangle there has not been measured. x, y: in spacings from vertex [0, 0].
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
    """Return where a ray ended, corrected by the belief where this is better than the measured distance.

    Noise shifts a point along its ray, and so away from the place whose altitude it has, even past an edge of the
    ground. The ray is known exactly, and its intersection with the believed ground does not depend on the noise.

    Args:
        x, y, z: the point, in spacings from vertex [0, 0], and its altitude [m].
        dx, dy, dz: unit vector along the ray. reach: a larger shift along it is not noise [m].

    Returns:
        x, y, the altitude there, and its variance over that of the distance. Without a belief about the ground there,
        the point as it is; slopes are then normal with deviation `SLOPE`.
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
    """Add a point of a triangle to its normal equations: weights u, v, w of its corners, altitude z, 1 / variance."""
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
def _vertex(place, sums, a, b, slopes, spacing, work, got):
    """Write altitude and variance of a vertex from the points around it, and the part of the variance due to the shape.

    The unknowns are the heights of its six neighbours above it, normal around the mean slopes, and last its own
    altitude. The neighbours and the mean slopes add the same variance in each sight from the same place.

    Args:
        place, sums: of the triangles, see `see_points`. a, b: the vertex.
        slopes: from `slopes_around`. spacing: [m].
        work: float64 (7, 8), scratch.
        got: float64 (3,), written.

    Returns:
        Whether there is any point.
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
        weight = _weight(slopes, spacing, n)
        work[n, n] += weight
        work[n, 7] += weight * spacing * (EAST[n] * slopes[0] + NORTH[n] * slopes[1])
    for n in range(6):  # the matrix is symmetric: the part right of the diagonal suffices
        for p in range(n + 1, 7):
            share = work[n, p] / work[n, n]
            for q in range(p, 8):
                work[p, q] -= share * work[n, q]
    got[0], got[1], got[2] = work[6, 7] / work[6, 6], 1.0 / work[6, 6], 0.0
    by_east, by_north = 0.0, 0.0
    for n in range(5, -1, -1):
        value = -work[n, 6] * got[1]
        for p in range(n + 1, 6):
            value -= work[n, p] * work[p, 7]
        work[n, 7] = value / work[n, n]
        weight = _weight(slopes, spacing, n)
        got[2] += weight * work[n, 7] * work[n, 7]
        by_east += weight * work[n, 7] * spacing * EAST[n]
        by_north += weight * work[n, 7] * spacing * NORTH[n]
    of_means = slopes[2] * by_east * by_east + slopes[3] * by_north * by_north
    got[1], got[2] = got[1] + of_means, got[2] + of_means
    return True


@kernel(inline=True)
def _weight(slopes, spacing, n):
    """Return the inverse variance of the height of a neighbour above a vertex [1/m^2]."""
    return 1.0 / (slopes[4] * (EAST[n] * EAST[n] + NORTH[n] * NORTH[n]) * spacing * spacing)
