"""Candidate poses of one map in another, from correlating their surfaces and open space at all rotations.

References:
    S. Carpin: Fast and accurate map merging for multi-robot systems. Autonomous Robots 25, 2008 (rotations from the
    correlation of the spectra of the wall directions, then translations by correlation).
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import fft as scipy_fft
from scipy import ndimage

from covey.mapping.alignment.surfaces import Surfaces, times

fft: Any = scipy_fft  # its stubs know no arrays

_CELLS = 120  # side of a map in cells of the search: more are slower
_LIKELY = 0.6  # rotations whose spectra correlate less than this share of the best are not tried
_MANY = 60  # with more likely rotations (in steps of 1 deg) every other one is tried
_PER_ROTATION = 200
_DENIED = 0.5
_BACKS = 0.3
_APART_CELLS, _APART_ANGLE = 2.5, math.radians(7.0)


def candidates(a: Surfaces, b: Surfaces, count: int) -> tuple[np.ndarray, float]:
    """Return the poses of frame b in frame a, float64 (k, 3), at which the maps agree best, best first.

    The score of a pose is the surface that meets surface of the other map, less the surface in its open space. Normals
    are multiplied, so a wall does not meet its own back, and the direction in which less surface meets counts most.

    Args:
        a, b: the surfaces of the maps.
        count: the largest number; poses within about 2 cells and 7 deg of a better one are left out.

    Returns:
        the poses, and their accuracy: the side of a cell of the search [m].
    """
    side = max(3.0 * a.grid.resolution, max(*a.grid.size_m, *b.grid.size_m) / _CELLS)
    search = _Search(a, b, side)
    table = np.concatenate([rows for angle in rotations(a.normals, b.normals) for rows in search.best(angle)])
    table = table[np.argsort(-table[:, 0], kind="stable")]
    kept = np.empty((0, 4))
    while len(table) and len(kept) < count:
        best = table[0]
        kept = np.vstack((kept, best))
        near = np.hypot(table[:, 1] - best[1], table[:, 2] - best[2]) < _APART_CELLS * side
        turned = np.abs((table[:, 3] - best[3] + math.pi) % (2.0 * math.pi) - math.pi)
        table = table[~(near & (turned < _APART_ANGLE))]
    c, s = np.cos(kept[:, 3]), np.sin(kept[:, 3])
    x = kept[:, 1] - (c * search.centre_b[0] - s * search.centre_b[1])
    y = kept[:, 2] - (s * search.centre_b[0] + c * search.centre_b[1])
    return np.column_stack((x, y, kept[:, 3])), side


def rotations(normals_a: np.ndarray, normals_b: np.ndarray) -> np.ndarray:
    """Return the rotations [rad] in [0, pi) to try, for normals (n, 2), (m, 2); each also stands for its opposite."""
    spectra = []
    for normals in (normals_a, normals_b):
        angle = np.arctan2(normals[:, 1], normals[:, 0]) % (2.0 * math.pi)
        histogram = np.bincount((angle * (180.0 / math.pi)).astype(np.int64) % 360, minlength=360).astype(np.float64)
        spectra.append(fft.rfft(ndimage.gaussian_filter1d(histogram, 3.0, mode="wrap")))
    correlation = fft.irfft(spectra[0] * np.conj(spectra[1]), 360)
    both = np.maximum(correlation[:180], correlation[180:])
    likely = np.flatnonzero(both >= _LIKELY * both.max())
    return np.radians(likely if len(likely) <= _MANY else likely[::2])


def main_direction(normals: np.ndarray) -> float:
    """Return the direction [rad] in [-pi / 4, pi / 4] to which most normals (n, 2) are parallel or perpendicular."""
    angle = 4.0 * np.arctan2(normals[:, 1], normals[:, 0])
    return 0.25 * math.atan2(float(np.sin(angle).sum()), float(np.cos(angle).sum()))


class _Search:
    """Correlates map a, turned so that its walls lie along the axes, with map b at one rotation after another."""

    def __init__(self, a: Surfaces, b: Surfaces, side: float):
        self.side, self.b, self.main = side, b, main_direction(a.normals)
        open_a, self.open_b = (_open_points(m, side) for m in (a, b))
        points_a, open_a = times(a.points, -self.main), times(open_a, -self.main)
        every_a, every_b = np.vstack((points_a, open_a)), np.vstack((b.points, self.open_b))
        self.low = every_a.min(axis=0) - side
        self.centre_b = (every_b.min(axis=0) + every_b.max(axis=0)) / 2
        self.radius = float(np.hypot(*(every_b - self.centre_b).T).max()) + side
        width, height = every_a.max(axis=0) + side - self.low + 2 * self.radius
        rows, columns = (int(fft.next_fast_len(math.ceil(v / side) + 1, real=True)) for v in (height, width))
        self.shape = rows, columns
        images = self._images(points_a - self.low, times(a.normals, -self.main), open_a - self.low)
        self._a = [fft.rfft2(ndimage.gaussian_filter(image, 0.7)) for image in images[:4]]
        self._a += [fft.rfft2(image) for image in images[4:]]

    def best(self, angle: float) -> Iterator[np.ndarray]:
        """Yield rows of score, x, y [m] of the centre of b in frame a, and angle, for a rotation and its opposite."""
        turn, corner = angle - self.main, self.radius
        points, space = (times(p - self.centre_b, turn) + corner for p in (self.b.points, self.open_b))
        images = self._images(points, times(self.b.normals, turn), space)
        ax, ay, axx, ayy, aw, ao = self._a
        bx, by, bxx, byy, bw, bo = (fft.rfft2(image) for image in images)
        cx, cy, cxx, cyy, cw, co = (np.conj(f) for f in (bx, by, bxx, byy, bw, bo))
        yield self._peaks(ax * cx + axx * cxx, ay * cy + ayy * cyy, aw * co + ao * cw, angle, corner)
        # Turned by pi, an image has the conjugate spectrum, and normals the opposite sign.
        x, y = axx * bxx - ax * bx, ayy * byy - ay * by
        yield self._peaks(x, y, aw * bo + ao * bw, angle + math.pi, self.side - corner)

    def _images(self, points: np.ndarray, normals: np.ndarray, space: np.ndarray) -> list[np.ndarray]:
        """Return for each cell the normals x and y, their squares, the surface, and the open share.

        The squares are needed because the normals of both sides of a thin wall cancel in one cell. A straight wall
        through a cell is 1.
        """
        wall = self.b.grid.resolution / self.side
        x, y = normals.T
        backs = math.sqrt(_BACKS)
        channels = [(points, x, wall), (points, y, wall), (points, x * x, wall * backs), (points, y * y, wall * backs)]
        images = []
        for at, weights, scale in (*channels, (points, None, wall), (space, None, 0.25)):
            columns, rows = (at / self.side).astype(np.int64).T
            sums = np.bincount(rows * self.shape[1] + columns, weights, self.shape[0] * self.shape[1])
            images.append((scale * sums).reshape(self.shape).astype(np.float32))
        return images

    def _peaks(self, across, along, denied, angle: float, corner: float) -> np.ndarray:
        """Return the best cells of a correlation, given as spectra, as rows of score, x, y [m], angle."""
        x, y, d = (fft.irfft2(spectrum, self.shape) for spectrum in (across, along, denied))
        score = (0.5 * np.minimum(x, y) + 0.25 * (x + y) - _DENIED * d).ravel()
        at = np.argpartition(score, -_PER_ROTATION)[-_PER_ROTATION:]
        shifts = np.column_stack((at % self.shape[1], at // self.shape[1])) * self.side + corner
        period = self.side * np.array(self.shape[::-1])
        centre = self.low + (shifts + self.radius) % period - self.radius
        return np.column_stack((score[at], times(centre, self.main), np.full(len(at), angle)))


def _open_points(surfaces: Surfaces, side: float) -> np.ndarray:
    """Return points [m] (m, 2), half a cell of the search apart, with a free cell of the search around each."""
    every = max(1, round(0.5 * side / surfaces.grid.resolution))
    return surfaces.grid.to_world(np.argwhere(surfaces.open_within(side)[::every, ::every]) * every)
