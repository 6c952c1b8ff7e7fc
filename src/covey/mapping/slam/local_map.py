"""Local maps: what a few key frames have seen around a place, made to match a scan with."""

import math
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel
from covey.mapping.slam.surfaces import Cloud, bucket_of, complete

LEVELS = 5
"""Levels of the pyramid: a cell of level h is 2^h cells wide, so the coarsest has 16 times the resolution."""
_TABLE = 256
_ALIKE = 0.8  # cosine between normals of one surface


class LocalMap(NamedTuple):
    """Points of key frames in a square of cells, for matching.

    Attributes:
        cells: uint8 (side, side), how near the nearest point is: 255 exp(-d^2 / 2 sigma^2), of the centre of a cell.
        nearest: int32 (side, side), the index of that point; -1: none within three sigma.
        points: (k, 2) [m], all points, in the frame of the map.
        normals: (k, 2), unit normals of the surfaces there; 0, 0: not known.
        levels: uint8, coarser cells behind one another; a cell of level h is the maximum of the cells that a point in
            it reaches when it is moved by 0 to 2^h - 1 cells in x and in y.
        starts: where each level starts in ``levels``, and its end; int64 (LEVELS + 1,).
        origin: x, y [m] of the outer corner of cell [0, 0]; float64 (2,).
        resolution: side of a cell [m].
    """

    cells: np.ndarray
    nearest: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    levels: np.ndarray
    starts: np.ndarray
    origin: np.ndarray
    resolution: float


def local_map(
    cloud: Cloud,
    centre: tuple[float, float],
    reach: float,
    resolution: float,
    sigma: float,
    tight: bool = False,
) -> LocalMap:
    """Return the local map of some points.

    A point of a sparse scan has a normal if the scans together show the surface there.

    Args:
        cloud: the points, in the frame of the map.
        centre: the middle of the map [m].
        reach: half its side [m]; points beyond are left out.
        resolution: side of a cell [m].
        sigma: distance at which a point counts exp(-1/2) [m].
        tight: the map is no larger than its points need: no others can be added. What is outside counts nothing anyhow.

    References:
        E. Olson: Real-time correlative scan matching. ICRA 2009 (the lookup table). W. Hess, D. Kohler, H. Rapp,
        D. Andor: Real-time loop closure in 2D LIDAR SLAM. ICRA 2016 (the levels and their bound).
    """
    unit = 2**LEVELS
    side = unit * math.ceil(2.0 * reach / resolution / unit)
    origin = np.array([centre[0], centre[1]]) - 0.5 * side * resolution
    points, normals = cloud.points.copy(), cloud.normals.copy()
    if tight and len(points):
        margin = 3.0 * sigma + resolution
        first = np.floor((points.min(axis=0) - margin - origin) / resolution / unit) * unit
        end = np.ceil((points.max(axis=0) + margin - origin) / resolution / unit) * unit
        first = np.clip(first, 0, side - unit).astype(np.int64)  # before they are whole numbers, which have an end
        end = np.clip(end, unit, side).astype(np.int64)
        side, origin = int(max(unit, *(end - first))), origin + first * resolution
    starts = np.cumsum([0, *((side >> h) ** 2 for h in range(LEVELS))])
    levels = np.zeros(starts[-1], np.uint8)
    cells, nearest = levels[: side * side].reshape(side, side), np.full((side, side), -1, np.int32)
    complete(points, cloud.eyes, normals)
    count = average(points, normals, origin, resolution, side)
    points, normals = points[:count], normals[:count]
    stamp(points, 0, origin, resolution, sigma, cells, nearest)
    _coarser(cells, levels, starts, 0, side, 0, side)
    return LocalMap(cells, nearest, points, normals, levels, starts, origin, resolution)


def with_points(place: LocalMap, cloud: Cloud, sigma: float) -> LocalMap:
    """Return a local map with more points; do not use the old one afterwards."""
    points, normals, _ = cloud
    if not len(points):
        return place
    stamp(points, len(place.points), place.origin, place.resolution, sigma, place.cells, place.nearest)
    margin = 3.0 * sigma + place.resolution
    lowest = ((points.min(axis=0) - margin - place.origin) / place.resolution).astype(np.int64)
    highest = ((points.max(axis=0) + margin - place.origin) / place.resolution).astype(np.int64)
    widest, side = 2 ** (LEVELS - 1), len(place.cells)
    first = np.clip((lowest // widest - 1) * widest, 0, side - widest).tolist()
    end = np.clip((highest // widest + 2) * widest, widest, side).tolist()
    _coarser(place.cells, place.levels, place.starts, first[1], end[1], first[0], end[0])
    return place._replace(
        points=np.concatenate((place.points, points)), normals=np.concatenate((place.normals, normals))
    )


@kernel
def average(points, normals, origin, resolution, side):
    """Replace the points in a cell whose surfaces face the same way by their mean; return how many remain.

    A surface that many scans have seen lies where they say on average; points without a normal are left as they are.
    """
    buckets = 1
    while buckets < points.shape[0]:
        buckets *= 2
    first, following = np.full(buckets, -1, np.int32), np.empty(points.shape[0], np.int32)
    rows, columns = np.empty(points.shape[0], np.int32), np.empty(points.shape[0], np.int32)  # where each was put
    weights = np.empty(points.shape[0])
    count = 0
    for p in range(points.shape[0]):
        x, y, nx, ny = points[p, 0], points[p, 1], normals[p, 0], normals[p, 1]
        column, row = math.floor((x - origin[0]) / resolution), math.floor((y - origin[1]) / resolution)
        q, bucket = -1, bucket_of(row, column, buckets)
        inside = 0 <= column < side and 0 <= row < side
        if inside and (nx != 0.0 or ny != 0.0):
            q = first[bucket]
            while q >= 0:
                is_here = rows[q] == row and columns[q] == column
                if is_here and not normals[q, 0] * nx + normals[q, 1] * ny < _ALIKE * weights[q]:
                    break
                q = following[q]
        if q >= 0:
            w = weights[q]
            points[q, 0] = (w * points[q, 0] + x) / (w + 1.0)
            points[q, 1] = (w * points[q, 1] + y) / (w + 1.0)
            normals[q, 0] += nx
            normals[q, 1] += ny
            weights[q] = w + 1.0
            continue
        points[count, 0], points[count, 1], normals[count, 0], normals[count, 1] = x, y, nx, ny
        weights[count] = 1.0
        if inside and (nx != 0.0 or ny != 0.0):
            following[count], rows[count], columns[count] = first[bucket], row, column
            first[bucket] = count
        count += 1
    for q in range(count):
        length = math.hypot(normals[q, 0], normals[q, 1])
        if length > 0.0:
            normals[q, 0] /= length
            normals[q, 1] /= length
    return count


@kernel
def stamp(points, first, origin, resolution, sigma, cells, nearest):
    """Raise the cells around each point to its nearness, and note its number, from ``first``, where it is nearest."""
    side = cells.shape[0]
    reach = 3.0 * sigma / resolution  # in cells
    width, most = math.ceil(reach), reach * reach
    scale = _TABLE / most
    table = np.empty(_TABLE + 1, np.uint8)
    for i in range(_TABLE + 1):
        table[i] = round(255.0 * math.exp(-0.5 * 9.0 * i / _TABLE))
    for p in range(points.shape[0]):
        x, y = (points[p, 0] - origin[0]) / resolution, (points[p, 1] - origin[1]) / resolution
        column, row = math.floor(x), math.floor(y)
        if column < width or row < width or column >= side - width or row >= side - width:
            continue
        for r in range(row - width, row + width + 1):
            dy = r + 0.5 - y
            if dy * dy >= most:
                continue
            for c in range(column - width, column + width + 1):
                dx = c + 0.5 - x
                square = dx * dx + dy * dy
                if square < most:
                    value = table[int(scale * square)]
                    if value > cells[r, c]:
                        cells[r, c] = value
                        nearest[r, c] = first + p


@kernel
def _coarser(cells, levels, starts, row, end_row, column, end_column):
    """Fill the levels above 0, the cells; a cell of level h covers two blocks of 2^h cells in each direction.

    Only cells in a part of whole blocks of the highest level have changed, with a block around them.
    """
    side = cells.shape[0]
    flat = levels[: side * side]
    rows, columns, at, width = end_row - row, end_column - column, row * side + column, side
    for h in range(1, LEVELS):
        rows, columns, n = rows >> 1, columns >> 1, side >> h
        halved, line = np.empty(rows * columns, np.uint8), np.empty(2 * columns, np.uint8)
        for r in range(rows):
            upper = at + 2 * r * width
            _higher(flat[upper : upper + 2 * columns], flat[upper + width : upper + width + 2 * columns], line)
            _halve(line.view(np.uint16), halved[r * columns : (r + 1) * columns])
        start = starts[h] + (row >> h) * n + (column >> h)
        for r in range(rows if end_row == side else rows - 1):
            upper, lower = r * columns, min(r + 1, rows - 1) * columns
            _higher(halved[upper : upper + columns], halved[lower : lower + columns], line)
            into = levels[start + r * n : start + r * n + columns - 1]
            _higher(line[: columns - 1], line[1:columns], into)
            if end_column == side:
                levels[start + r * n + columns - 1] = line[columns - 1]
        flat, at, width = halved, 0, columns


@kernel
def _higher(a, b, into):
    """Write the larger of two rows of cells (k,)."""
    for c in range(a.size):
        into[c] = max(a[c], b[c])


@kernel
def _halve(pairs, into):
    """Write the larger of each two cells, given as one number (k,)."""
    for c in range(into.size):
        pair = pairs[c]
        into[c] = max(pair & 255, pair >> 8)
