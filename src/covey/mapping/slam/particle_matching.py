"""Matching of a scan against the map of each particle: score, hill climb, likelihood, covariance.

References:
    G. Grisetti, C. Stachniss, W. Burgard: Improved techniques for grid mapping with Rao-Blackwellized particle
    filters. IEEE Transactions on Robotics 23(1), 2007, and its program gmapping.
"""

import math
from typing import NamedTuple

import numpy as np

from covey.kernel import bare, kernel
from covey.mapping.slam.particle_maps import TILE

_BEFORE = math.sqrt(2.0)  # the cell before a hit is this far from it, rounded [cells]: one of its eight neighbours
NOTHING = -(1 << 62)
_WINDOW_M = 30.0  # beams that end farther away are looked up tile by tile


class MatchSearch(NamedTuple):
    """How a scan is matched, for kernels; see the settings of these names.

    Attributes:
        sigma: of the score [m²].
        kernel: how far hits are looked for [cells].
        linear: first step [m].
        angular: first step [rad].
        halvings: of both steps.
        minimum: score above which a match is used.
        likelihood: sigma of the likelihood [m²].
    """

    sigma: float
    kernel: int
    linear: float
    angular: float
    halvings: int
    minimum: float
    likelihood: float


class ParticleView(NamedTuple):
    """The map of one particle, for kernels.

    Attributes:
        full: int64 (rows, tile columns), which cells of the window are full: the bits of each tile and of the one to
            the right of it.
        row, column: first row of cells and first column of tiles of the window.
        table: int32 (rows, columns) of tiles.
        tiles: uint32 (tiles, TILE), which cells are full.
        means: float32 (tiles, TILE², 2).
    """

    full: np.ndarray
    row: int
    column: int
    table: np.ndarray
    tiles: np.ndarray
    means: np.ndarray


class NearHits(NamedTuple):
    """Hits that the beams may match, found before at nearby poses, for kernels: four places for each beam.

    Attributes:
        key: int64 (4 k,), for which cell of the end and direction of the beam.
        count: int64 (4 k,), how many hits.
        at: float64 (4 k, cells, 2), where they are, u, v [cells].
    """

    key: np.ndarray
    count: np.ndarray
    at: np.ndarray


def near_for(beams: int, size: int) -> NearHits:
    """Return the places for a number of beams and a size [cells] of the kernel."""
    places = 4 * beams
    return NearHits(np.empty(places, np.int64), np.empty(places, np.int64), np.empty((places, (2 * size + 1) ** 2, 2)))


def window_for(beams: np.ndarray, resolution: float) -> np.ndarray:
    """Return an array for `match_particles` that holds the ends of beams [cells], see there."""
    reach = min(np.hypot(beams[:, 0], beams[:, 1]).max(initial=0.0), _WINDOW_M / resolution) + 2.0 / resolution
    tiles = int(reach * 2.0) // TILE + 2
    return np.empty((tiles * TILE, tiles), np.int64)


@kernel
def match_particles(table, store, frame, poses, beams, search, window, near, scores, likelihoods):
    """Match a scan against the map of each particle: change ``poses`` to the best ones, and weigh them.

    Args:
        table, store, frame: see `covey.mapping.slam.particle_maps.ParticleMaps`.
        poses: float64 (n, 3), changed.
        beams: float64 (k, 4), ends [cells] of the beams and their directions in the robot's frame.
        search: `MatchSearch`.
        window: see `window_for`; for the kernel's use.
        scores, likelihoods: float64 (n,), written.
    """
    for p in range(table.shape[0]):
        view = view_of(table, store, frame, p, poses[p], window)
        near.key[:] = NOTHING
        x, y, heading, best = climb(view, near, frame, poses[p, 0], poses[p, 1], poses[p, 2], beams, search)
        if best > search.minimum:
            poses[p, 0], poses[p, 1], poses[p, 2] = x, y, heading
        scores[p] = best
        likelihoods[p] = likelihood(view, near, frame, poses[p, 0], poses[p, 1], poses[p, 2], beams, search)


@kernel
def view_of(table, store, frame, p, pose, window):
    """Return the `ParticleView` of the map of particle p with a window around a pose."""
    rows, columns = window.shape
    row = math.floor((pose[1] - frame[1]) / frame[2]) - rows // 2
    column = math.floor(((pose[0] - frame[0]) / frame[2] - rows // 2) / TILE)
    for r in range(rows):
        tile_row, line = (row + r) // TILE, (row + r) % TILE
        if tile_row < 0 or tile_row >= table.shape[1]:
            window[r] = 0
            continue
        left = _line(table[p], store.full, tile_row, column, line)
        for k in range(columns):
            right = _line(table[p], store.full, tile_row, column + k + 1, line)
            window[r, k] = left | right << TILE
            left = right
    return ParticleView(window, row, column, table[p], store.full, store.means)


@kernel
def climb(view, near, frame, x, y, heading, beams, search):
    """Return the best pose near a pose, and its score, by trying steps and turns that become smaller."""
    best = score(view, near, frame, x, y, heading, beams, search, -1.0)
    linear, angular, halved = search.linear, search.angular, 0
    while True:
        before, x0, y0, heading0 = best, x, y, heading
        for move in range(6):
            x1, y1, heading1 = x0, y0, heading0
            if move == 0:
                x1 += linear
            elif move == 1:
                x1 -= linear
            elif move == 2:
                y1 += linear
            elif move == 3:
                y1 -= linear
            elif move == 4:
                heading1 += angular
            else:
                heading1 -= angular
            value = score(view, near, frame, x1, y1, heading1, beams, search, best)
            if value > best:
                best, x, y, heading = value, x1, y1, heading1
        if best <= before:
            if halved >= search.halvings:
                return x, y, heading, best
            halved += 1
            linear *= 0.5
            angular *= 0.5


@kernel
def search_around(view, near, frame, pose, beams, search, reach, out):
    """Write the best pose (3,) of a lattice around a pose; its points are two first steps and one first turn apart.

    Args:
        reach: how far to each side [m], [rad].
    """
    step, turn = 2.0 * search.linear, search.angular
    n, m = int(reach[0] / step + 1e-6), int(reach[1] / turn + 1e-6)
    out[:] = pose
    best = score(view, near, frame, pose[0], pose[1], pose[2], beams, search, -1.0)
    for k in range(-m, m + 1):
        for i in range(-n, n + 1):
            for j in range(-n, n + 1):
                x, y, heading = pose[0] + i * step, pose[1] + j * step, pose[2] + k * turn
                value = score(view, near, frame, x, y, heading, beams, search, best)
                if value > best:
                    best, out[0], out[1], out[2] = value, x, y, heading


@kernel
def score(view, near, frame, x, y, heading, beams, search, least):
    """Return the sum over the beams of exp(-d² / sigma), d the distance from the end of a beam to the nearest hit.

    The sum stops where it cannot exceed ``least`` any more: then it is not above it.
    """
    c, s, u, v = math.cos(heading), math.sin(heading), (x - frame[0]) / frame[2], (y - frame[1]) / frame[2]
    view, near, beams = _bare_view(view), _bare_near(near), bare(beams)
    factor, total = -frame[2] * frame[2] / search.sigma, 0.0
    for i in range(beams.shape[0]):
        squared = miss(view, near, search.kernel, u, v, c, s, beams, i)
        if squared < math.inf:
            total += math.exp(factor * squared)
        if total + (beams.shape[0] - 1 - i) <= least:
            return total
    return total


@kernel
def likelihood(view, near, frame, x, y, heading, beams, search):
    """Return the log-likelihood of a scan at a pose: the sum of -d² / sigma, of -0.5 / sigma without a hit near."""
    c, s, u, v = math.cos(heading), math.sin(heading), (x - frame[0]) / frame[2], (y - frame[1]) / frame[2]
    view, near, beams = _bare_view(view), _bare_near(near), bare(beams)
    square, total = frame[2] * frame[2], 0.0
    for i in range(beams.shape[0]):
        squared = miss(view, near, search.kernel, u, v, c, s, beams, i)
        total -= squared * square if squared < math.inf else 0.5
    return total / search.likelihood


@kernel(inline=True)
def _bare_view(view):
    return ParticleView(bare(view.full), view.row, view.column, bare(view.table), bare(view.tiles), bare(view.means))


@kernel(inline=True)
def _bare_near(near):
    return NearHits(bare(near.key), bare(near.count), bare(near.at))


@kernel(inline=True)
def miss(view, near, size, u, v, c, s, beams, i):
    """Return the squared distance [cells²] from the end of a beam to the nearest mean of hits around, or inf.

    Only full cells up to ``size`` cells away count whose neighbour towards the laser is not full.

    Args:
        u, v, c, s: of the robot [cells], cos and sin of its heading.
        beams, i: see `match_particles`; the number of the beam.
    """
    end_x, end_y, along_x, along_y = beams[i, 0], beams[i, 1], beams[i, 2], beams[i, 3]
    u, v = u + (c * end_x - s * end_y), v + (s * end_x + c * end_y)
    left = math.floor(0.5 - _BEFORE * (c * along_x - s * along_y))
    down = math.floor(0.5 - _BEFORE * (s * along_x + c * along_y))
    column, row = math.floor(u), math.floor(v)
    key, place = ((row << 28) + column << 4) + (4 * down + left), 4 * i + 2 * (row & 1) + (column & 1)
    if near.key[place] != key:
        near.key[place] = key
        near.count[place] = _gather(view, size, row, column, down, left, near.at[place])
    least = math.inf
    for k in range(near.count[place]):
        across, up = near.at[place, k, 0] - u, near.at[place, k, 1] - v
        least = min(least, across * across + up * up)
    return least


@kernel
def _gather(view, size, row, column, down, left, at):
    """Write the means u, v [cells] of the hits that a beam may match whose end is in a cell; return how many."""
    first = column - size - 1
    tile, shift = first >> 5, (first & 31) + 1
    k, r, mask = tile - view.column, row - view.row, (2 << (2 * size)) - 1
    inside = k >= 0 and k < view.full.shape[1] and r > size and r < view.full.shape[0] - size - 1
    count = 0
    for dr in range(-size, size + 1):
        if inside:
            here, before = view.full[r + dr, k], view.full[r + dr + down, k]
        else:
            here = _two_lines(view.table, view.tiles, row + dr, tile)
            before = _two_lines(view.table, view.tiles, row + dr + down, tile)
        found = here >> shift & ~(before >> (shift + left)) & mask
        at_row, at_column = row + dr, column - size
        while found:
            if found & 1:
                own = view.table[at_row >> 5, at_column >> 5]
                cell = ((at_row & 31) << 5) + (at_column & 31)
                at[count, 0] = at_column + view.means[own, cell, 0]
                at[count, 1] = at_row + view.means[own, cell, 1]
                count += 1
            found >>= 1
            at_column += 1
    return count


@kernel
def _line(table, tiles, tile_row, tile_column, line):
    """Return which cells of a line of a tile are full, int64, 0 outside."""
    if tile_column < 0 or tile_column >= table.shape[1]:
        return np.int64(0)
    return np.int64(tiles[table[tile_row, tile_column], line])


@kernel
def _two_lines(table, tiles, row, tile_column):
    """Return which cells of a row are full, in a tile and in the one to the right of it, 0 outside."""
    tile_row, line = row // TILE, row % TILE
    if tile_row < 0 or tile_row >= table.shape[0]:
        return np.int64(0)
    left = _line(table, tiles, tile_row, tile_column, line)
    return left | _line(table, tiles, tile_row, tile_column + 1, line) << TILE


@kernel
def sample_covariance(view, near, frame, pose, beams, search, gain, lattice, out):
    """Write the covariance (3, 3) of the likelihood around a pose, from samples on a lattice.

    The likelihood is exp(l / gain), l the log-likelihood.

    Args:
        lattice: how far to each side [m], the distance of samples [m], and the same for the heading [rad].
        out: float64 (3, 3): second moments about the pose.
    """
    linear, linear_step, angular, angular_step = lattice
    n, m = int(linear / linear_step + 1e-6), int(angular / angular_step + 1e-6)
    here, total = likelihood(view, near, frame, pose[0], pose[1], pose[2], beams, search), 0.0
    out[:] = 0.0
    d = np.empty(3)
    for i in range(-n, n + 1):
        for j in range(-n, n + 1):
            for k in range(-m, m + 1):
                d[0], d[1], d[2] = i * linear_step, j * linear_step, k * angular_step
                value = likelihood(view, near, frame, pose[0] + d[0], pose[1] + d[1], pose[2] + d[2], beams, search)
                weight = math.exp(min((value - here) / gain, 50.0))
                total += weight
                for a in range(3):
                    for b in range(3):
                        out[a, b] += weight * d[a] * d[b]
    out /= total
