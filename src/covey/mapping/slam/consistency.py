"""Which relations between two trajectories agree with each other: the largest set that is consistent in pairs.

Two relations between robots a and b close a loop: along a, over to b, back along b, over to a. If both are right, the
loop ends where it began, up to the noise of its parts. Wrong relations seldom agree with each other, so the largest set
in which all pairs agree is taken as the right one. It needs no guess of where the robots are to each other.

References:
    J. G. Mangelson, D. Dominic, R. M. Eustice, R. Vasudevan: Pairwise consistent measurement set maximization for
    robust multi-robot map merging. ICRA 2018. By a public implementation of others. Changed: covariances of ways
    times 8; no set wins unless it is clearly the heaviest; none that looks through walls; the search has a budget.
    E. Tomita, T. Seki: An efficient branch-and-bound algorithm for finding a maximum clique. DMTCS 2003.
    J. Solà, J. Deray, D. Atchuthan: A micro Lie theory for state estimation in robotics. 2018 (adjoints of SE(2)).
"""

from dataclasses import dataclass

import numpy as np

from covey.errors import InvalidValueError
from covey.kernel import kernel
from covey.lazy import special


@dataclass(frozen=True, eq=False)
class NoisyTrack:
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


def pair_distances(
    a: NoisyTrack, b: NoisyTrack, first: np.ndarray, second: np.ndarray, motion: np.ndarray, covariance: np.ndarray
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
        np.ascontiguousarray(a.noise), np.ascontiguousarray(b.noise),
        np.asarray(first, np.int64), np.asarray(second, np.int64),
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
    good = distances <= special.chdtri(3, 1.0 - level)
    good = good & good.T
    np.fill_diagonal(good, False)
    near = [int.from_bytes(row.tobytes(), "little") for row in np.packbits(good, axis=1, bitorder="little")]
    search = _Cliques(near, nodes)
    greedy = _greedy(good)
    search.best, search.size = sum(1 << vertex for vertex in greedy.tolist()), len(greedy)
    search.expand(0, (1 << m) - 1, 0)
    return np.array([bool(search.best >> i & 1) for i in range(m)], bool), search.left >= 0


class _Cliques:
    """Branch and bound for the largest clique of a graph; sets of vertices are the bits of a whole number."""

    def __init__(self, near: list[int], nodes: int):
        self.near, self.left = near, nodes
        self.best, self.size = 0, 0

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


@kernel
def _greedy(good):
    """Return the greedy clique: always the vertex with the most neighbours among those that are left."""
    m = good.shape[0]
    left, many = np.ones(m, np.bool_), np.zeros(m, np.int64)
    for i in range(m):
        for j in range(m):
            many[i] += good[i, j]
    found = np.empty(m, np.int64)
    count = 0
    while True:
        vertex = -1
        for i in range(m):
            if left[i] and (vertex < 0 or many[i] > many[vertex]):
                vertex = i
        if vertex < 0:
            return found[:count]
        found[count] = vertex
        count += 1
        for i in range(m):
            if left[i] and not good[vertex, i]:
                left[i] = False
                for j in range(m):
                    many[j] -= good[j, i]


@kernel
def _seen_from(x, y, c, s, high, low, into):
    """Add the covariance of a twist about the origin, as a twist in the frame of a pose: the adjoint of its inverse.

    ``c`` and ``s`` are the cosine and sine of the heading of the pose. The covariance is the difference of two, of
    which, as of ``into``, the upper half is given row by row, (6,).
    """
    u, v = -c * y + s * x, s * y + c * x
    # Rows of the adjoint T = [[c, s, u], [-s, c, v], [0, 0, 1]]; T C Tᵀ, where C is symmetric.
    c00, c01, c02 = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    c11, c12, c22 = high[3] - low[3], high[4] - low[4], high[5] - low[5]
    p0, p1, p2 = c * c00 + s * c01 + u * c02, c * c01 + s * c11 + u * c12, c * c02 + s * c12 + u * c22
    q0, q1, q2 = -s * c00 + c * c01 + v * c02, -s * c01 + c * c11 + v * c12, -s * c02 + c * c12 + v * c22
    into[0] += p0 * c + p1 * s + p2 * u
    into[1] += -p0 * s + p1 * c + p2 * v
    into[2] += p2
    into[3] += -q0 * s + q1 * c + q2 * v
    into[4] += q2
    into[5] += c22


@kernel
def _squared(s, x, y, t):
    """Return eᵀ S⁻¹ e for a symmetric S, given its upper half row by row, by its adjugate."""
    a, b, c, d, e, f = s[0], s[1], s[2], s[3], s[4], s[5]
    p, q, r = d * f - e * e, c * e - b * f, b * e - c * d
    u, v, w = a * f - c * c, b * c - a * e, a * d - b * b
    return (p * x * x + u * y * y + w * t * t + 2.0 * (q * x * y + r * x * t + v * y * t)) / (a * p + b * q + c * r)


@kernel
def _upper(m):
    """Return the upper halves (n, 6), row by row, of symmetric matrices (n, 3, 3)."""
    found = np.empty((len(m), 6))
    for k in range(len(m)):
        found[k, 0], found[k, 1], found[k, 2] = m[k, 0, 0], m[k, 0, 1], m[k, 0, 2]
        found[k, 3], found[k, 4], found[k, 5] = m[k, 1, 1], m[k, 1, 2], m[k, 2, 2]
    return found


@kernel
def _accumulated(poses, noise):
    """Return the covariances of the motion from the first pose to each, twists about the origin, upper halves (n, 6).

    Such twists add up: the covariance between two poses is the difference of both.
    """
    found, steps, none = np.zeros((len(poses), 6)), _upper(noise), np.zeros(6)
    for k in range(len(steps)):
        found[k + 1] = found[k]
        c, s = np.cos(poses[k, 2]), np.sin(poses[k, 2])
        x, y = poses[k, 0], poses[k, 1]
        # The inverse of a pose: its adjoint is that of `_seen_from`.
        _seen_from(-c * x - s * y, s * x - c * y, c, -s, steps[k], none, found[k + 1])
    return found


@kernel
def _pair_distances(poses_a, poses_b, noise_a, noise_b, first, second, motion, covariance):
    m, none, s = len(first), np.zeros(6), np.empty(6)
    noise_a, noise_b, covariance = _accumulated(poses_a, noise_a), _accumulated(poses_b, noise_b), _upper(covariance)
    own = np.zeros((m, 6))  # noise of each relation, as a twist in the frame of its second pose
    over = np.empty((m, 5))  # that pose, over the relation, in the frame of a: x, y, heading, its cosine and sine
    there = np.empty((m, 5))  # the same in the frame of b
    for p in range(m):
        i, k, turn = first[p], second[p], motion[p, 2]
        _seen_from(0.0, 0.0, np.cos(turn), np.sin(turn), covariance[p], none, own[p])
        heading = poses_a[i, 2]
        c, d = np.cos(heading), np.sin(heading)
        over[p, 0] = poses_a[i, 0] + c * motion[p, 0] - d * motion[p, 1]
        over[p, 1] = poses_a[i, 1] + d * motion[p, 0] + c * motion[p, 1]
        heading += turn
        over[p, 2], over[p, 3], over[p, 4] = heading, np.cos(heading), np.sin(heading)
        heading = poses_b[k, 2]
        there[p, 0], there[p, 1], there[p, 2] = poses_b[k, 0], poses_b[k, 1], heading
        there[p, 3], there[p, 4] = np.cos(heading), np.sin(heading)
    found = np.zeros((m, m))
    for p in range(m):
        i, k = first[p], second[p]
        kx, ky, kt, kc, ks = there[p, 0], there[p, 1], there[p, 2], there[p, 3], there[p, 4]
        ax, ay, at, ac, az = over[p, 0], over[p, 1], over[p, 2], over[p, 3], over[p, 4]
        for q in range(p):
            j, n = first[q], second[q]
            # Where the loop ends: k over i, j and n, as seen from k.
            nc, ns, bc, bs = there[q, 3], there[q, 4], over[q, 3], over[q, 4]
            dx, dy = kx - there[q, 0], ky - there[q, 1]
            nx, ny, nt = nc * dx + ns * dy, -ns * dx + nc * dy, kt - there[q, 2]
            dx, dy = over[q, 0] + bc * nx - bs * ny - ax, over[q, 1] + bs * nx + bc * ny - ay
            x, y, t = ac * dx + az * dy, -az * dx + ac * dy, over[q, 2] + nt - at
            t -= 2.0 * np.pi * np.floor((t + np.pi) / (2.0 * np.pi))
            for r in range(6):
                s[r] = own[p, r]
            _seen_from(nx, ny, nc * kc + ns * ks, nc * ks - ns * kc, own[q], none, s)
            _seen_from(ax, ay, ac, az, noise_a[max(i, j)], noise_a[min(i, j)], s)
            _seen_from(kx, ky, kc, ks, noise_b[max(k, n)], noise_b[min(k, n)], s)
            found[p, q] = found[q, p] = _squared(s, x, y, t)
    return found
