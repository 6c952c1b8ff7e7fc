"""Descriptors of places: what there is around a key frame, compared at all headings without knowing where it is.

A descriptor counts in which rings and sectors around a key frame there are surfaces. A turn of the robot shifts its
sectors. First the rings alone are compared, which no turn changes; then the best few, at all turns at once.

References:
    G. Kim, A. Kim: Scan Context: egocentric spatial descriptor for place recognition within 3D point cloud map. IROS
    2018. Kept: rings and sectors, the search by rings first, the shift of the sectors that fits best. Changed: 16
    rings for 20; a plane has no heights, so a bin says how far it is full; key frames before and after are put
    together, because a lidar that looks ahead sees another half of a place on the way back; the cosine is that of all
    bins, so that one Fourier transform gives it at all shifts; only headings near the expected one count. The rules are
    taken from the authors' code; the paper was not read itself.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from covey.geometry.se2 import wrap_angle
from covey.kernel import kernel
from covey.mapping.slam.log import relative

if TYPE_CHECKING:
    from covey.mapping.slam.graph_slam import GraphSlam

RINGS, SECTORS = 16, 60
REACH_M = 12.0
"""Surfaces farther away do not count [m]."""
_NEAREST_M = 0.5
_FULL = 6  # cells of `_CELL_M` that fill a bin
_CELL_M = 0.2
_SIDE = 2 * math.ceil(REACH_M / _CELL_M)  # cells


def describe(points: np.ndarray) -> np.ndarray:
    """Return the descriptor of a place, float32 (RINGS, SECTORS), of norm 1; zeros: there is nothing.

    Args:
        points: (k, 2) [m], surfaces in the frame of the key frame.
    """
    seen = np.zeros((_SIDE, _SIDE), np.bool_)
    mark(np.ascontiguousarray(points, np.float64), np.zeros(3), seen)
    return described(seen)


@kernel
def mark(points, pose, seen):
    """Mark the cells (_SIDE, _SIDE) around a key frame in which points (k, 2) at ``pose`` (3,) in its frame lie.

    Places seen often count once.
    """
    c, s = math.cos(pose[2]), math.sin(pose[2])
    for i in range(points.shape[0]):
        x, y = pose[0] + c * points[i, 0] - s * points[i, 1], pose[1] + s * points[i, 0] + c * points[i, 1]
        square = x * x + y * y
        if _NEAREST_M * _NEAREST_M < square < REACH_M * REACH_M:
            seen[math.floor(x / _CELL_M) + _SIDE // 2, math.floor(y / _CELL_M) + _SIDE // 2] = True


@kernel
def _mark_all(points, ends, poses, seen):
    """Mark the points (k, 2) of some key frames, which end at ``ends`` (m,), at poses (m, 3); see `mark`."""
    begin = 0
    for i in range(ends.size):
        mark(points[begin : ends[i]], poses[i], seen)
        begin = ends[i]


@kernel
def described(seen):
    """Return the descriptor of the cells that `mark` marked."""
    bins = np.zeros((RINGS, SECTORS))
    for i in range(_SIDE):
        for j in range(_SIDE):
            if seen[i, j]:
                x, y = (i + 0.5 - _SIDE // 2) * _CELL_M, (j + 0.5 - _SIDE // 2) * _CELL_M
                ring = min(int(math.sqrt(x * x + y * y) / REACH_M * RINGS), RINGS - 1)
                sector = min(int((math.atan2(y, x) / math.tau + 0.5) * SECTORS), SECTORS - 1)
                bins[ring, sector] = min(bins[ring, sector] + 1.0, _FULL)
    wide, square = np.empty((RINGS, SECTORS)), 0.0
    for r in range(RINGS):
        for s in range(SECTORS):  # the robot comes by a little aside
            wide[r, s] = bins[r, s] + 0.5 * (bins[r, s - 1] + bins[r, (s + 1) % SECTORS])
    for r in range(RINGS):
        for s in range(SECTORS):
            bins[r, s] = wide[r, s]
            if 0 < r < RINGS - 1:
                bins[r, s] += 0.25 * (wide[r - 1, s] + wide[r + 1, s])
            square += bins[r, s] * bins[r, s]
    if square > 0.0:
        bins /= math.sqrt(square)
    return bins.astype(np.float32)


def rings_of(descriptor: np.ndarray) -> np.ndarray:
    """Return how full the rings of descriptors (..., RINGS, SECTORS) are, (..., RINGS), whatever the heading."""
    return descriptor.mean(axis=-1)


def alike(
    descriptor: np.ndarray, others: np.ndarray, expected: np.ndarray | None = None, most_rad: float = math.pi
) -> tuple[np.ndarray, np.ndarray]:
    """Return how alike a descriptor and others (m, RINGS, SECTORS) are at the best turn, and that turn.

    Args:
        descriptor: (RINGS, SECTORS).
        others: those that it is compared with.
        expected: headings [rad] of the first in the frames of the others, (m,); only turns ...
        most_rad: ... so near them count [rad].

    Returns:
        Cosines, (m,), 1 for the same place, and headings [rad] of the first in the frames of the others, (m,).
    """
    ours, theirs = np.fft.rfft(descriptor, axis=-1), np.fft.rfft(others, axis=-1)
    at_shift = np.fft.irfft((theirs * ours.conj()).sum(axis=-2), SECTORS, axis=-1)
    if expected is not None:
        turns = math.tau / SECTORS * np.arange(SECTORS)
        at_shift[np.abs(wrap_angle(turns - expected[:, None])) > most_rad] = -1.0
    best = np.argmax(at_shift, axis=-1)
    return np.take_along_axis(at_shift, best[:, None], axis=-1)[:, 0], math.tau / SECTORS * best


_AROUND_M = 8.0  # way before and after a key frame that makes its place
_APART_M = 0.8  # between the key frames that are put together
_NEAREST = 60  # places whose rings are compared with turns
_ALIKE = 0.75  # least cosine
_MOST_RAD = math.radians(60.0)  # error of a heading


class Described:
    """Descriptors of the key frames of one robot."""

    def __init__(self) -> None:
        self._along: list[float] = []
        self._found = np.zeros((64, RINGS, SECTORS), np.float32)
        self._rings = np.zeros((64, RINGS), np.float32)
        self._count = 0

    def see(self, slam: "GraphSlam", n: int) -> list[int]:
        """Describe the key frames around which everything is seen once key frame n was kept; return them."""
        way = math.dist(slam.poses[n, :2], slam.poses[n - 1, :2]) if n else 0.0
        self._along.append((self._along[-1] if n else 0.0) + way)
        along, new = np.array(self._along), []
        while self._along[self._count] < along[-1] - _AROUND_M:
            c = self._count
            near = np.flatnonzero(np.abs(along - along[c]) < _AROUND_M)
            steps = np.floor((along[near] - along[c]) / _APART_M)
            near = near[np.flatnonzero(np.diff(steps, prepend=-np.inf))]
            seen = np.zeros((_SIDE, _SIDE), np.bool_)
            points = [slam.frames[k].points for k in near.tolist()]
            ends = np.cumsum([len(some) for some in points])
            _mark_all(np.concatenate(points), ends, relative(slam.poses[c], slam.poses[near]), seen)
            if c == len(self._found):
                self._found = np.concatenate((self._found, np.zeros_like(self._found)))
                self._rings = np.concatenate((self._rings, np.zeros_like(self._rings)))
            self._found[c] = described(seen)
            self._rings[c] = rings_of(self._found[c])
            self._count += 1
            new.append(c)
        return new

    def like(self, c: int, old: np.ndarray, headings: np.ndarray) -> list[tuple[int, float]]:
        """Return the key frame of ``old`` whose place looks most like that of c, and the heading of c there [rad].

        ``headings`` [rad] are those of all key frames. Places that would have to turn by more than `_MOST_RAD` do not
        count: corners of a building that the robot goes round look alike, each turned by a quarter.
        """
        if not len(old):
            return []
        rings = self._rings[old] - self._rings[c]
        near = np.sort(old[np.argsort((rings**2).sum(axis=1), kind="stable")[:_NEAREST]])
        cosines, turns = alike(self._found[c], self._found[near], headings[c] - headings[near], _MOST_RAD)
        k = int(np.argmax(cosines))
        return [(int(near[k]), float(turns[k]))] if cosines[k] > _ALIKE else []
