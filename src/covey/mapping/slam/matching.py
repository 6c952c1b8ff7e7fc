"""Scan matching: the pose at which a scan fits a local map best, first among many, then exactly.

References:
    E. Olson 2009, by Mapper.cpp of Karto in slam_toolbox. Kept: a smeared table of nearness, whose mean over the points
    is the score; all poses of a window; a penalty for distance from the guess. Changed: the penalty is subtracted;
    least squares refine the best pose and give its covariance; no wider angles when nothing responds.
    W. Hess et al. 2016, by fast_correlative_scan_matcher_2d.cc of Cartographer. Kept: bounds from grids of maxima,
    depth first, a least score. Changed: levels at their own resolution, which are smaller and less tight; no grids of
    probability, no finished submaps.
    A. Censi 2008, by icp_loop.c and icp_outliers.c of csm. Kept: distances from the line at the nearest point, solved
    together. Changed: Gauss-Newton on a local map; weights and normals instead of trimming; a prior of the odometry; no
    restarts, no exact covariance.
    None of these papers was read itself.
"""

import math
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel
from covey.mapping.slam.local_map import LEVELS, LocalMap


class ScanMatch(NamedTuple):
    """Where a scan fits.

    Attributes:
        pose: x, y [m], heading [rad] of the robot in the frame of the local map.
        score: mean nearness of its points to those of the map, 0 to 1.
        information: (3, 3), the inverse of the covariance of the pose as the points give it, without any prior;
            singular where nothing in sight fixes a direction.
    """

    pose: np.ndarray
    score: float
    information: np.ndarray


def search(
    place: LocalMap,
    points: np.ndarray,
    guess: np.ndarray,
    window_m: float,
    window_rad: float,
    step_rad: float,
    least: float = 0.0,
    bias: float = 0.0,
    blocks: int = 4,
) -> tuple[np.ndarray, float]:
    """Return the pose with the best score among all around a guess, and that score; -1 if none exceeds ``least``.

    It looks at all headings in steps of ``step_rad`` and all positions in steps of a cell, and leaves out those that
    cannot be the best: the result is that of looking at each.

    Args:
        place: the local map, with its levels.
        points: (k, 2) [m], the scan in the frame of the robot.
        guess: the expected pose, (3,).
        window_m: how far from the guess, in x and in y [m].
        window_rad: how far from its heading [rad].
        step_rad: step of the heading [rad].
        least: a score that is not of interest [0 to 1].
        bias: what the score loses at the edge of the window, with the square of the way from the guess; it decides
            where nothing in sight does.
        blocks: it begins with at most so many blocks of positions in each direction, if the levels are enough for that.
            Many, up to 16, are quicker where mostly no pose exceeds ``least``: smaller blocks are refused at once.

    References:
        E. Olson: Real-time correlative scan matching. ICRA 2009. W. Hess, D. Kohler, H. Rapp, D. Andor: Real-time loop
        closure in 2D LIDAR SLAM. ICRA 2016 (algorithm 3).
    """
    turns = math.ceil(window_rad / step_rad)
    cells = math.ceil(window_m / place.resolution)
    best = np.empty(3)
    score = _search(
        place.levels,
        place.starts,
        place.cells.shape[0],
        place.origin,
        place.resolution,
        points,
        np.asarray(guess, np.float64),
        cells,
        turns,
        step_rad,
        least,
        bias,
        blocks,
        best,
    )
    return best, score


_ROUND = 32  # points between two looks at whether a sum can still count
_FEW = 8  # blocks
_PART = 256  # points whose cells a number of 16 bits can add


@kernel
def _four(levels, start, n, h, xs, ys, dx, dy, least, four):
    """Write the sums over points, in cells, moved by dx, dy cells and by a block more in x, y and both, in level h.

    Outside counts 0. Return whether any may exceed ``least``; if not, the points that remain could not help.
    """
    a, b, c, d, k = 0, 0, 0, 0, xs.size
    for begin in range(0, k, _ROUND):
        end = min(begin + _ROUND, k)
        for i in range(begin, end):
            column, row = (xs[i] + dx) >> h, (ys[i] + dy) >> h
            if 0 <= column < n - 1 and 0 <= row < n - 1:
                at = np.uintp(start + row * n + column)
                a += levels[at]
                b += levels[at + np.uintp(1)]
                c += levels[at + np.uintp(n)]
                d += levels[at + np.uintp(n + 1)]
            elif -1 <= column < n and -1 <= row < n:
                at = start + row * n + column
                if column >= 0 and row >= 0:
                    a += levels[at]
                if column + 1 < n and row >= 0:
                    b += levels[at + 1]
                if column >= 0 and row + 1 < n:
                    c += levels[at + n]
                if column + 1 < n and row + 1 < n:
                    d += levels[at + n + 1]
        if max(a, b, c, d) + 255 * (k - end) <= least:
            return False
    four[0], four[1], four[2], four[3] = a, b, c, d
    return True


@kernel
def _stride(k):
    """Return a step that visits all of k points, few after one another on the same wall: see `_four`."""
    stride = max(1, int(0.618 * k))
    while True:
        a, b = stride, k
        while b:
            a, b = b, a % b
        if a <= 1:
            return stride
        stride += 1


@kernel
def _sums(levels, start, n, h, xs, ys, cells, part, sums):
    """Write the sums over points, moved by -cells and so many blocks of level h more, int32 (across, across).

    ``part`` is room for sums of some points, uint16 of the same shape.
    """
    across = sums.shape[0]
    sums[:] = 0
    for begin in range(0, xs.size, _PART):
        part[:] = 0
        for i in range(begin, min(begin + _PART, xs.size)):
            column, row = (xs[i] - cells) >> h, (ys[i] - cells) >> h
            first, end = max(0, -column), min(across, n - column)
            if first >= end:
                continue
            for q in range(max(0, -row), min(across, n - row)):
                at = start + (row + q) * n + column
                if across < _FEW:
                    for p in range(first, end):
                        part[q, p] += levels[np.uintp(at + p)]
                    continue
                known, line = levels[at + first : at + end], part[q, first:end]
                for p in range(line.size):
                    line[p] += known[p]
        sums += part


@kernel
def _search(levels, starts, side, origin, resolution, points, guess, cells, turns, step, least, bias, blocks, best):
    k, top, across = points.shape[0], 0, 2 * cells + 1
    while top < LEVELS - 1 and across > blocks:
        top += 1
        across = (2 * cells + (1 << top)) >> top  # blocks of the coarsest level that cover -cells to cells
    width = 1 << top
    count = (2 * turns + 1) * across * across
    xs, ys = np.empty((2 * turns + 1, k), np.int32), np.empty((2 * turns + 1, k), np.int32)
    bounds, order = np.empty(count), np.empty((count, 3), np.int64)
    part, sums = np.empty((across, across), np.uint16), np.empty((across, across), np.int32)
    scale = 1.0 / (255.0 * max(k, 1))
    n, m, stride = side >> top, 0, _stride(k)
    for a in range(2 * turns + 1):
        heading = guess[2] + (a - turns) * step
        c, s = math.cos(heading), math.sin(heading)
        i = 0
        for j in range(k):
            xs[a, j] = math.floor((guess[0] + c * points[i, 0] - s * points[i, 1] - origin[0]) / resolution)
            ys[a, j] = math.floor((guess[1] + s * points[i, 0] + c * points[i, 1] - origin[1]) / resolution)
            i = (i + stride) % k
        _sums(levels, starts[top], n, top, xs[a], ys[a], cells, part, sums)
        for q in range(across):
            for p in range(across):
                dx, dy = p * width - cells, q * width - cells
                bound = scale * sums[q, p] - _loss(dx, dy, width, cells, a - turns, turns, bias)
                if bound > least:
                    bounds[m] = bound
                    order[m, 0], order[m, 1], order[m, 2] = a, dx, dy
                    m += 1
    reached = least
    found = False
    stack = np.empty((4 * LEVELS + 4, 3), np.int64)
    stacked = np.empty(4 * LEVELS + 4)
    four, fours, totals, losses = np.empty((4, 2), np.int64), np.empty(4), np.empty(4, np.int64), np.empty(4)
    for first in np.argsort(-bounds[:m], kind="mergesort"):
        if bounds[first] <= reached:
            break
        a = order[first, 0]
        stack[0, 0], stack[0, 1], stack[0, 2], stacked[0] = order[first, 1], order[first, 2], top, bounds[first]
        height = 1
        while height:
            height -= 1
            dx, dy, h = stack[height, 0], stack[height, 1], stack[height, 2]
            if stacked[height] <= reached:
                continue
            if h == 0:
                reached, found = stacked[height], True
                best[0], best[1] = guess[0] + dx * resolution, guess[1] + dy * resolution
                best[2] = guess[2] + (a - turns) * step
                continue
            h -= 1
            half, many = 1 << h, 0
            for i in range(4):
                losses[i] = _loss(dx + (i & 1) * half, dy + (i >> 1) * half, half, cells, a - turns, turns, bias)
            enough = math.floor((reached + losses.min()) / scale - 1e-6)  # sums up to this cannot be better
            if not _four(levels, starts[h], side >> h, h, xs[a], ys[a], dx, dy, enough, totals):
                continue
            for i in range(4):
                x, y, value = dx + (i & 1) * half, dy + (i >> 1) * half, scale * totals[i] - losses[i]
                if x > cells or y > cells or value <= reached:
                    continue
                at = many
                while at > 0 and fours[at - 1] > value:  # the best comes last, and is looked at first
                    fours[at], four[at, 0], four[at, 1] = fours[at - 1], four[at - 1, 0], four[at - 1, 1]
                    at -= 1
                fours[at], four[at, 0], four[at, 1] = value, x, y
                many += 1
            for i in range(many):
                stack[height, 0], stack[height, 1], stack[height, 2] = four[i, 0], four[i, 1], h
                stacked[height] = fours[i]
                height += 1
    return reached if found else -1.0


@kernel
def _loss(dx, dy, width, cells, turn, turns, bias):
    """Return the least that a block of width cells loses by its distance from the guess."""
    x = max(dx, -(dx + width - 1), 0)
    y = max(dy, -(dy + width - 1), 0)
    far = (x * x + y * y) / max(cells * cells, 1) + (turn * turn) / max(turns * turns, 1)
    return bias * far


def start_for(place: LocalMap, points: np.ndarray, guess: np.ndarray, best: np.ndarray, score: float) -> np.ndarray:
    """Return where refinement starts: the best pose of a search, or the guess if that fits nearly as well.

    In a corridor the newest scan reaches beyond the map, so poses that lag behind always score a little better.
    """
    return guess if search(place, points, guess, 0.0, 0.0, 1.0)[1] > score - _NEARLY else best


_NEARLY = 0.05


def refine(
    place: LocalMap,
    points: np.ndarray,
    facing: np.ndarray,
    start: np.ndarray,
    noise_m: float,
    prior: np.ndarray,
    expected: np.ndarray,
    iterations: int = 12,
) -> ScanMatch:
    """Return the pose near ``start`` at which the points lie best on the surfaces of the local map.

    It minimises the squared distances of the points from the lines at their nearest points in the map, with weights
    exp(-d^2 / 2 s^2) against what does not belong together, s = 0.1 m, and a prior.

    Args:
        place: the local map.
        points: (k, 2) [m], the scan in the frame of the robot.
        facing: (k, 2), the normals of its points; a point belongs only to a surface that faces the same way, so the two
            sides of a thin wall are told apart. Where it is not known, the surface must face the robot.
        start: first pose (3,), within a few cells of the result.
        noise_m: standard deviation of a point's distance from the surface [m].
        prior: (3, 3) information of the expected pose, in the frame of the map; zeros: none.
        expected: that pose (3,), of the odometry.
        iterations: Gauss-Newton steps at most.

    References:
        A. Censi: An ICP variant using a point-to-line metric. ICRA 2008.
    """
    pose, information = np.array(start, np.float64), np.zeros((3, 3))
    score = _refine(
        place.cells,
        place.nearest,
        place.points,
        place.normals,
        place.origin,
        place.resolution,
        points,
        facing,
        noise_m,
        np.ascontiguousarray(prior, np.float64),
        np.asarray(expected, np.float64),
        iterations,
        pose,
        information,
    )
    return ScanMatch(pose, score, information)


_SCALE_M = 0.1  # of the robust weights
_GRAZING = 0.3  # cosine of the incidence at least


@kernel
def _forget(info, g):
    """Take out of the information and the gradient the direction of position that only noise of the normals fixes.

    References:
        J. Zhang, M. Kaess, S. Singh: On degeneracy of optimization-based state estimation problems. ICRA 2016.
    """
    middle, half = 0.5 * (info[0, 0] + info[1, 1]), math.hypot(0.5 * (info[0, 0] - info[1, 1]), info[0, 1])
    if middle - half >= _LEAST_FIXED * (middle + half):
        return
    turn = 0.5 * math.atan2(2.0 * info[0, 1], info[0, 0] - info[1, 1])
    x, y = -math.sin(turn), math.cos(turn)
    for i in range(3):
        along = x * info[0, i] + y * info[1, i]
        info[0, i] -= along * x
        info[1, i] -= along * y
    for i in range(3):
        along = x * info[i, 0] + y * info[i, 1]
        info[i, 0] -= along * x
        info[i, 1] -= along * y
    along = x * g[0] + y * g[1]
    g[0] -= along * x
    g[1] -= along * y


_LEAST_FIXED = 0.01  # information across what is fixed best, by that along it


@kernel
def _refine(
    cells, nearest, known, normals, origin, resolution, points, facing, noise, prior, expected, iterations, pose, info
):
    """Move ``pose`` to the minimum; fill ``info``; return the score there."""
    side, k = cells.shape[0], points.shape[0]
    score = 0.0
    g, d = np.zeros(3), np.zeros(3)
    for iteration in range(iterations + 1):
        c, s = math.cos(pose[2]), math.sin(pose[2])
        info[:] = 0.0
        g[:] = 0.0
        total = 0
        for i in range(k):
            px, py = c * points[i, 0] - s * points[i, 1], s * points[i, 0] + c * points[i, 1]
            x, y = pose[0] + px, pose[1] + py
            column = math.floor((x - origin[0]) / resolution)
            row = math.floor((y - origin[1]) / resolution)
            if column < 0 or row < 0 or column >= side or row >= side:
                continue
            total += cells[row, column]
            q = nearest[row, column]
            if q < 0:
                continue
            nx, ny = normals[q, 0], normals[q, 1]
            fx, fy = c * facing[i, 0] - s * facing[i, 1], s * facing[i, 0] + c * facing[i, 1]
            if fx == 0.0 and fy == 0.0:
                far = max(math.hypot(px, py), 1e-9)  # a point at the robot itself faces nowhere
                if nx * px + ny * py > -_GRAZING * far:
                    continue
            elif nx * fx + ny * fy < 0.5:
                continue
            away = nx * (x - known[q, 0]) + ny * (y - known[q, 1])
            w = math.exp(-0.5 * away * away / (_SCALE_M * _SCALE_M)) / (noise * noise)
            turn = -nx * py + ny * px  # of the distance with the heading
            g[0] -= w * nx * away
            g[1] -= w * ny * away
            g[2] -= w * turn * away
            info[0, 0] += w * nx * nx
            info[0, 1] += w * nx * ny
            info[0, 2] += w * nx * turn
            info[1, 1] += w * ny * ny
            info[1, 2] += w * ny * turn
            info[2, 2] += w * turn * turn
        info[1, 0], info[2, 0], info[2, 1] = info[0, 1], info[0, 2], info[1, 2]
        score = total / (255.0 * max(k, 1))
        _forget(info, g)
        if iteration == iterations:
            break
        d[0], d[1] = expected[0] - pose[0], expected[1] - pose[1]
        d[2] = (expected[2] - pose[2] + math.pi) % (2.0 * math.pi) - math.pi
        h = info + prior
        for i in range(3):
            h[i, i] += 1e-6
            for j in range(3):
                g[i] += prior[i, j] * d[j]
        step = np.linalg.solve(h, g)
        for i in range(3):
            pose[i] += step[i]
        if abs(step[0]) < 1e-5 and abs(step[1]) < 1e-5 and abs(step[2]) < 1e-6:
            iterations = iteration + 1  # one more round, for the score and the information there
    pose[2] = (pose[2] + math.pi) % (2.0 * math.pi) - math.pi
    return score


def fit_near(
    place: LocalMap,
    points: np.ndarray,
    facing: np.ndarray,
    guess: np.ndarray,
    window_m: float,
    window_rad: float,
    sought: float,
    least: float,
    noise_m: float,
) -> ScanMatch | None:
    """Return where points fit best near a guess that is not trusted, or None if they fit nowhere there.

    Args:
        place: the local map.
        points, facing: points (k, 2) [m] and directions of their surfaces, as of `refine`.
        guess: pose (3,) in the frame of the map.
        window_m, window_rad: how far from it they may be.
        sought, least: smallest score of the search, which takes a few hundred of the points, and of the match.
        noise_m: noise of the points.
    """
    sparse = points[:: max(1, len(points) // 250)]
    best, score = search(place, sparse, guess, window_m, window_rad, 0.02, sought, 0.05)
    if score < 0.0:
        return None
    best = start_for(place, sparse, guess, best, score)
    match = refine(place, points, facing, best, noise_m, np.zeros((3, 3)), best)
    return match if match.score >= least else None
