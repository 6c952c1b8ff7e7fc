"""Which relations between two trajectories agree with each other: the largest set that is consistent in pairs.

Two relations between robots a and b close a loop: along a, over to b, back along b, over to a. If both are right, the
loop ends where it began, up to the noise of its parts. Wrong relations seldom agree with each other, so the largest set
in which all pairs agree is taken as the right one. It needs no guess of where the robots are to each other.

References:
    J. G. Mangelson, D. Dominic, R. M. Eustice, R. Vasudevan: Pairwise consistent measurement set maximization for
    robust multi-robot map merging. ICRA 2018.
    E. Tomita, T. Seki: An efficient branch-and-bound algorithm for finding a maximum clique. DMTCS 2003.
    J. Solà, J. Deray, D. Atchuthan: A micro Lie theory for state estimation in robotics. 2018 (adjoints of SE(2)).
"""

from dataclasses import dataclass

import numpy as np

from covey.errors import InvalidValueError
from covey.kernel import kernel
from covey.lazy import stats


@dataclass(frozen=True, eq=False)
class Track:
    """A trajectory with the noise of its steps.

    Attributes:
        poses: x, y [m], heading [rad] in a frame of its own, (n, 3).
        noise: covariance of the motion from each pose to the next, in the frame of the earlier one, (n - 1, 3, 3).
    """

    poses: np.ndarray
    noise: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.poses)
        if np.shape(self.poses) != (n, 3) or np.shape(self.noise) != (max(n - 1, 0), 3, 3):
            raise InvalidValueError(
                f"a track needs poses (n, 3) and noise (n - 1, 3, 3), not {np.shape(self.poses)} and "
                f"{np.shape(self.noise)}"
            )

    def accumulated(self) -> np.ndarray:
        """Return the covariance of the motion from the first pose to each (n, 3, 3), as a twist about the origin.

        Such twists add up: the covariance between two poses is the difference of both.
        """
        c, s = np.cos(self.poses[:-1, 2]), np.sin(self.poses[:-1, 2])
        a = np.zeros((len(c), 3, 3))
        a[:, 0, 0], a[:, 0, 1], a[:, 1, 0], a[:, 1, 1] = c, -s, s, c
        a[:, 0, 2], a[:, 1, 2], a[:, 2, 2] = self.poses[1:, 1], -self.poses[1:, 0], 1.0
        total = np.zeros((len(self.poses), 3, 3))
        np.cumsum(a @ self.noise @ a.transpose(0, 2, 1), axis=0, out=total[1:])
        return total


def pair_distances(
    a: Track, b: Track, first: np.ndarray, second: np.ndarray, motion: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """Return how much each two of m relations contradict each other: squared Mahalanobis distances (m, m).

    For two right ones it has a chi-squared distribution with three degrees of freedom, to first order.

    Args:
        a: trajectory of one robot.
        b: trajectory of the other; the same as ``a`` for loops of one robot.
        first: rows of ``a``, (m,).
        second: rows of ``b``, (m,).
        motion: poses of ``second`` in the frames of ``first``, (m, 3).
        covariance: their covariances, (m, 3, 3).

    Raises:
        InvalidValueError: shapes do not fit, or a row is out of range.
    """
    m = len(first)
    if np.shape(second) != (m,) or np.shape(motion) != (m, 3) or np.shape(covariance) != (m, 3, 3):
        raise InvalidValueError(f"{m} relations need as many second rows, motions (m, 3) and covariances (m, 3, 3)")
    for rows, track in ((first, a), (second, b)):
        if m and (np.min(rows) < 0 or np.max(rows) >= len(track.poses)):
            raise InvalidValueError(f"relations name rows {np.min(rows)} … {np.max(rows)} of {len(track.poses)} poses")
    return _pair_distances(
        np.ascontiguousarray(a.poses, np.float64), np.ascontiguousarray(b.poses, np.float64),
        a.accumulated(), b.accumulated(), np.asarray(first, np.int64), np.asarray(second, np.int64),
        np.ascontiguousarray(motion, np.float64), np.ascontiguousarray(covariance, np.float64),
    )  # fmt: skip


def largest_consistent(distances: np.ndarray, level: float = 0.99, nodes: int = 5000) -> tuple[np.ndarray, bool]:
    """Return the largest set (m,) bool of relations that all agree with each other, and whether it is proven so.

    A greedy set is improved by branch and bound until the search is complete or its budget is used up. Of sets of equal
    size, the one found first counts, by the order of the relations.

    Args:
        distances: of `pair_distances`, (m, m).
        level: share of right pairs that may pass the test.
        nodes: most nodes of the search; the greedy set alone with 0.
    """
    m = len(distances)
    good = distances <= stats.chi2.ppf(level, 3)
    good = good & good.T
    near = [sum(1 << int(j) for j in np.flatnonzero(good[i]) if j != i) for i in range(m)]
    search = _Cliques(near, nodes)
    search.begin()
    search.expand(0, (1 << m) - 1, 0)
    return np.array([bool(search.best >> i & 1) for i in range(m)], bool), search.left >= 0


class _Cliques:
    """Branch and bound for the largest clique of a graph; sets of vertices are the bits of a whole number."""

    def __init__(self, near: list[int], nodes: int):
        self.near, self.left = near, nodes
        self.best, self.size = 0, 0

    def begin(self) -> None:
        """Take the greedy clique: always the vertex with the most neighbours among those that are left."""
        left = (1 << len(self.near)) - 1
        while left:
            vertex = max(_bits(left), key=lambda v: (self.near[v] & left).bit_count())
            self.best |= 1 << vertex
            self.size += 1
            left &= self.near[vertex]

    def expand(self, clique: int, left: int, size: int) -> None:
        """Try to add vertices of ``left``, all of them neighbours of the whole clique."""
        if size > self.size:
            self.best, self.size = clique, size
        vertices, colours = self._colour(left)
        for vertex, colour in zip(reversed(vertices), reversed(colours), strict=True):
            if size + colour <= self.size:  # no two of one colour are neighbours
                return
            self.left -= 1
            if self.left < 0:
                return
            self.expand(clique | 1 << vertex, left & self.near[vertex], size + 1)
            left &= ~(1 << vertex)

    def _colour(self, left: int) -> tuple[list[int], list[int]]:
        """Return vertices by colour, and their colours from 1."""
        vertices, colours, colour = [], [], 0
        while left:
            colour, free = colour + 1, left
            while free:
                low = free & -free
                vertex = low.bit_length() - 1
                free &= ~low & ~self.near[vertex]
                left &= ~low
                vertices.append(vertex)
                colours.append(colour)
        return vertices, colours


def _bits(bits: int) -> list[int]:
    return [k for k in range(bits.bit_length()) if bits >> k & 1]


@kernel
def _seen_from(a, covariance):
    """Covariance of a twist about the origin, as a twist in the frame of pose a: the adjoint of its inverse."""
    c, s = np.cos(a[2]), np.sin(a[2])
    t = np.zeros((3, 3))
    t[0, 0], t[0, 1], t[1, 0], t[1, 1], t[2, 2] = c, s, -s, c, 1.0
    t[0, 2], t[1, 2] = -c * a[1] + s * a[0], s * a[1] + c * a[0]
    return t @ covariance @ t.T


@kernel
def _compose(a, b):
    c, s = np.cos(a[2]), np.sin(a[2])
    return np.array((a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], a[2] + b[2]))


@kernel
def _relative(a, b):
    c, s = np.cos(a[2]), np.sin(a[2])
    x, y = b[0] - a[0], b[1] - a[1]
    turn = b[2] - a[2]
    turn -= 2.0 * np.pi * np.floor((turn + np.pi) / (2.0 * np.pi))
    return np.array((c * x + s * y, -s * x + c * y, turn))


@kernel
def _pair_distances(poses_a, poses_b, noise_a, noise_b, first, second, motion, covariance):
    m = len(first)
    own, turned = np.empty((m, 3, 3)), np.zeros(3)
    for p in range(m):  # noise of each relation, as a twist in the frame of its second pose
        turned[2] = motion[p, 2]
        own[p] = _seen_from(turned, covariance[p])
    found = np.zeros((m, m))
    for p in range(m):
        i, k = first[p], second[p]
        k_in_a = _compose(poses_a[i], motion[p])
        for q in range(p):
            j, n = first[q], second[q]
            # Where the loop ends: k over i, j and n, as seen from k.
            back = _compose(_compose(poses_a[j], motion[q]), _relative(poses_b[n], poses_b[k]))
            e = _relative(k_in_a, back)
            s = own[p] + _seen_from(_relative(poses_b[n], poses_b[k]), own[q])
            s += _seen_from(k_in_a, noise_a[max(i, j)] - noise_a[min(i, j)])
            s += _seen_from(poses_b[k], noise_b[max(k, n)] - noise_b[min(k, n)])
            found[p, q] = found[q, p] = e @ np.linalg.solve(s, e)
    return found
