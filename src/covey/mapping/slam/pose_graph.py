"""Pose graphs: poses, the relations measured between them, and the poses that agree best with the relations.

A relation z is the pose of b in the frame of a, as measured. Its error e is the pose of b in the frame of a less z,
number by number, with the angle wrapped. The cost of a graph is the sum of eᵀ Ω e over its relations, Ω the information
of each. Gauss-Newton minimises it, damped (Levenberg-Marquardt) where a step would raise the cost.

Without a good guess the headings come first: as complex numbers, relaxed to the whole plane, they solve a linear
problem; with headings known, the positions solve another (`optimise` with ``start="linear"``).

Loops may be wrong. The kernel of robust relations is dynamic covariance scaling: a relation counts fully up to a
chi-squared of Φ, and with the weight (2 Φ / (Φ + χ²))² above. Unlike Geman-McClure's, it leaves right relations as
they are, so that covariances stay right; unlike truncation, it has no jump. Its cost has several minima: a relation
that is far off at the start hardly pulls. So two starts are tried, one where robust relations count for nothing and
one where they count fully, and the lower cost wins. Shrinking Φ step by step instead (graduated non-convexity) ends in
the wrong minimum on graphs where each wrong loop spans the map: the poses that it begins with are folded.
Where the other relations alone lead far astray and some loops are wrong too, both starts may fail: then add loops one
by one, as they come.

References:
    R. Kümmerle, G. Grisetti, H. Strasdat, K. Konolige, W. Burgard: g2o: a general framework for graph optimization.
    ICRA 2011 (the errors; Gauss-Newton on sparse graphs).
    D. Martinec, T. Pajdla: Robust rotation and translation estimation in multiview reconstruction. CVPR 2007;
    L. Carlone, R. Tron, K. Daniilidis, F. Dellaert: Initialization techniques for 3D SLAM. ICRA 2015 (linear start).
    P. Agarwal, G. D. Tipaldi, L. Spinello, C. Stachniss, W. Burgard: Robust map optimization using dynamic covariance
    scaling. ICRA 2013; K. MacTavish, T. D. Barfoot: At all costs: a comparison of robust cost functions for camera
    correspondence outliers. CRV 2015 (the cost that belongs to its weights).
    H. Yang, P. Antonante, V. Tzoumas, L. Carlone: Graduated non-convexity for robust spatial perception. RA-L 5, 2020
    (what is not done here).
    D. M. Rosen, L. Carlone, A. S. Bandeira, J. J. Leonard: SE-Sync. IJRR 38, 2019 (the chordal error).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import wrap_angle
from covey.kernel import kernel
from covey.mapping.slam.block_cholesky import Factor, Pattern, factorise, find_pattern

_LEAST_DAMPING, _MOST_DAMPING = 1e-6, 1e8


@dataclass(frozen=True, eq=False)
class PoseGraph:
    """Poses and the relations between them.

    Attributes:
        poses: guess of each pose x, y [m], heading [rad] in the map frame, (n, 3).
        first, second: the poses that each relation connects, as rows of ``poses``, (m,).
        motion: pose of ``second`` in the frame of ``first`` as measured, (m, 3).
        information: inverse of the covariance of the three numbers of each ``motion``, (m, 3, 3).

    Raises:
        InvalidValueError: shapes do not fit, a number is not finite, a row is out of range, a relation connects a pose
            with itself, or an information matrix is not symmetric and positive definite.
    """

    poses: np.ndarray
    first: np.ndarray
    second: np.ndarray
    motion: np.ndarray
    information: np.ndarray

    def __post_init__(self) -> None:
        for name, kind in (
            ("poses", float),
            ("first", int),
            ("second", int),
            ("motion", float),
            ("information", float),
        ):
            object.__setattr__(self, name, _array(name, getattr(self, name), kind))
        n, m = len(self.poses), len(self.first)
        for name, shape in {
            "poses": (n, 3), "first": (m,), "second": (m,), "motion": (m, 3), "information": (m, 3, 3),
        }.items():  # fmt: skip
            found = getattr(self, name)
            if found.shape != shape:
                raise InvalidValueError(f"a pose graph needs `{name}` of shape {shape}, not {found.shape}")
            if not np.isfinite(found).all():
                row = int(np.argmax(~np.isfinite(found.reshape(len(found), -1)).all(axis=1)))
                raise InvalidValueError(f"`{name}` of a pose graph must be finite; row {row} is not")
        _refuse((self.first < 0) | (self.first >= n), f"its `first` is no row of the {n} poses")
        _refuse((self.second < 0) | (self.second >= n), f"its `second` is no row of the {n} poses")
        _refuse(self.first == self.second, "it connects a pose with itself")
        scale = np.abs(self.information).max(axis=(1, 2), initial=0.0)
        skew = np.abs(self.information - self.information.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
        _refuse(skew > 1e-9 * scale, "its information is not symmetric")
        _refuse(~positive_definite(self.information), "its information is not positive definite")


@dataclass(frozen=True, eq=False)
class Optimised:
    """What `optimise` found.

    Attributes:
        poses: the poses in the map frame, (n, 3).
        cost: sum over all relations; of robust ones what their kernel makes of it.
        chi2: eᵀ Ω e of each relation, (m,), before the kernel.
        weights: factor of each relation's information in the last step, (m,); 1 for those that are not robust.
        iterations: linear systems solved.
        converged: whether the last step lowered the cost by no more than the tolerance.
        damping: of Levenberg and Marquardt; 0 for pure Gauss-Newton.
    """

    poses: np.ndarray
    cost: float
    chi2: np.ndarray
    weights: np.ndarray
    iterations: int
    converged: bool
    damping: float
    _system: "_System"


def optimise(
    graph: PoseGraph,
    fixed: Sequence[int] | np.ndarray = (0,),
    iterations: int = 50,
    start: Literal["linear", "given"] | Optimised = "linear",
    robust: float | None = None,
    robust_edges: np.ndarray | None = None,
    tolerance: float = 1e-6,
    chordal: bool = False,
) -> Optimised:
    """Return the poses that agree best with the relations of a graph.

    Args:
        graph: the graph.
        fixed: rows of the poses that stay where ``graph.poses`` has them.
        iterations: at most so many linear systems are solved after the start, each at the cost of one factorisation.
        start: ``"linear"`` ignores the guess and solves two linear problems first; with robust relations it does so
            without and with them, and returns the result of lower cost. ``"given"`` begins at ``graph.poses``. The
            result of an earlier call with the same relations and ``fixed`` goes on where it ended: so work is cut into
            slices of one iteration.
        robust: Φ of the kernel, as a chi-squared of three degrees of freedom; none without it.
        robust_edges: which relations have the kernel, (m,) bool; all by default.
        tolerance: relative decrease of the cost at which the poses are good enough.
        chordal: the error of the heading is 2 sin(e / 2) instead of e, as in SE-Sync.

    Raises:
        InvalidValueError: a pose is not connected with a fixed one, ``fixed`` is empty or out of range, or another
            argument is out of range.
    """
    kernelled = _kernelled(len(graph.first), robust, robust_edges)
    if iterations < 0 or not tolerance >= 0.0:
        raise InvalidValueError(f"iterations and tolerance must not be negative, not {iterations} and {tolerance}")
    if isinstance(start, Optimised):
        system = start._system
        if not system.belongs_to(graph):
            raise InvalidValueError("`start` is a result for another graph; put its poses into this one, start='given'")
    elif start in ("linear", "given"):
        system = _System.of(graph, fixed)
    else:
        raise InvalidValueError(f"`start` is 'linear', 'given' or an earlier result, not {start!r}")
    search = _Search(graph, system, iterations, tolerance, chordal)
    phi = math.inf if robust is None else robust
    if isinstance(start, Optimised):
        return search.descend(start.poses, kernelled, phi, start.damping)
    if start == "given" or not len(system.free):
        return search.descend(graph.poses, kernelled, phi)
    none = np.zeros_like(kernelled)
    found = search.descend(_linear_start(graph, system, ~none), none, math.inf)
    if not kernelled.any():
        return replace(found, iterations=found.iterations + 2)
    full = search.descend(found.poses, kernelled, phi)
    solved = 2 + found.iterations + full.iterations
    held = np.flatnonzero(system.row < 0)
    if not _connected(len(graph.poses), graph.first[~kernelled], graph.second[~kernelled], held).all():
        return replace(full, iterations=solved)
    bare = search.descend(_linear_start(graph, system, ~kernelled), kernelled, phi)
    return replace(min(bare, full, key=lambda one: one.cost), iterations=solved + 2 + bare.iterations)


def covariances(
    graph: PoseGraph,
    poses: np.ndarray,
    of: Sequence[int] | np.ndarray,
    fixed: Sequence[int] | np.ndarray = (0,),
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the covariances (k, 3, 3) of some poses in the map frame, given the fixed ones, to first order.

    Each is the product of a few columns of the inverse factor: those between the pose and the root of the elimination
    tree. No inverse of the whole is formed.

    Args:
        graph: the graph.
        poses: its optimised poses, (n, 3).
        of: rows of the poses asked for, (k,).
        fixed: rows of the poses that are known exactly; their covariance is 0.
        weights: factors of the information of each relation, as `optimise` returns them, (m,).

    Raises:
        InvalidValueError: as `optimise`; or a row of ``of`` is out of range.

    References:
        M. Kaess, F. Dellaert: Covariance recovery from a square root information matrix for data association.
        Robotics and Autonomous Systems 57, 2009.
    """
    of = _rows("of", of, len(graph.poses))
    system = _System.of(graph, fixed)
    ones = np.ones(len(graph.first)) if weights is None else np.asarray(weights, float)
    found = np.zeros((len(of), 3, 3))
    if not len(system.free):
        return found
    factor, _ = system.solve_at(graph, np.ascontiguousarray(poses, np.float64), ones)
    if factor is None:
        raise InvalidValueError("the covariances of a pose graph cannot be found: its system is singular")
    for k, row in enumerate(system.row[of]):
        if row >= 0:
            _, half = factor.half_columns(row)
            half = half.reshape(-1, 3)
            found[k] = half.T @ half
    return found


def along_relations(n: int, first: np.ndarray, second: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Return poses (n, 3) that follow the relations from pose 0, each on a way of fewest relations.

    Raises:
        InvalidValueError: a pose is not connected with pose 0.
    """
    poses = np.zeros((n, 3))
    reached = _spread(n, first, second, motion, poses)
    if not reached.all():
        raise InvalidValueError(f"pose {int(np.argmin(reached))} of the graph is not connected with pose 0")
    return poses


@dataclass(frozen=True, eq=False)
class _System:
    """The part of the normal equations that stays the same: which poses are free, and where their blocks are."""

    free: np.ndarray  # rows of the free poses
    row: np.ndarray  # for each pose its number among the free ones, -1 if fixed
    first: np.ndarray
    second: np.ndarray
    ends: np.ndarray  # (m, 2) places of both in the order of elimination, -1 if fixed
    slot: np.ndarray  # (m,) block below the diagonal, -1 if an end is fixed
    pattern: Pattern

    @classmethod
    def of(cls, graph: PoseGraph, fixed: Sequence[int] | np.ndarray) -> "_System":
        n = len(graph.poses)
        held = _rows("fixed", fixed, n)
        if not len(held):
            raise InvalidValueError("a pose graph needs a fixed pose, otherwise it floats: `fixed` is empty")
        apart = ~_connected(n, graph.first, graph.second, held)
        if apart.any():
            row = int(np.argmax(apart))
            raise InvalidValueError(
                f"{int(apart.sum())} of the {n} poses are not connected with a fixed pose, the first of them is {row}; "
                "fix one of them too, or optimise them as a graph of their own"
            )
        is_free = np.ones(n, bool)
        is_free[held] = False
        free = np.flatnonzero(is_free)
        row = np.full(n, -1)
        row[free] = np.arange(len(free))
        a, b = row[graph.first], row[graph.second]
        both = (a >= 0) & (b >= 0)
        pattern = find_pattern(len(free), a[both], b[both])
        place = np.append(pattern.place, -1)
        slot = np.full(len(a), -1)
        slot[both] = pattern.slot
        ends = np.column_stack((place[a], place[b]))
        return cls(free, row, graph.first, graph.second, ends, slot, pattern)

    def belongs_to(self, graph: PoseGraph) -> bool:
        return (
            len(self.row) == len(graph.poses)
            and np.array_equal(self.first, graph.first)
            and np.array_equal(self.second, graph.second)
        )

    def solve_at(
        self,
        graph: PoseGraph,
        poses: np.ndarray,
        weights: np.ndarray,
        damping: float = 0.0,
        chordal: bool = False,
        lever: float = 1.0,
    ) -> tuple[Factor | None, np.ndarray]:
        """Return the factor of the normal matrix and the gradient (free, 3) at poses."""
        error, a, b = _linearise(poses, graph.first, graph.second, graph.motion, chordal, lever)
        return self.factorise(error, a, b, weights[:, None, None] * graph.information, damping)

    def factorise(
        self,
        error: np.ndarray,
        by_first: np.ndarray,
        by_second: np.ndarray,
        information: np.ndarray,
        damping: float = 0.0,
    ) -> tuple[Factor | None, np.ndarray]:
        """Return the factor and the gradient for errors (m, 3) and their derivatives by both ends (m, 3, 3)."""
        n, blocks = len(self.free), len(self.pattern.a_column)
        diagonal, below, gradient = np.zeros((n, 3, 3)), np.zeros((blocks, 3, 3)), np.zeros((n, 3))
        _accumulate(error, by_first, by_second, information, self.ends, self.slot, diagonal, below, gradient)
        if damping:
            for q in range(3):
                diagonal[:, q, q] *= 1.0 + damping
        return factorise(self.pattern, diagonal, below), gradient[self.pattern.place]

    def move(self, poses: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return the poses after a step (free, 3)."""
        moved = poses.copy()
        moved[self.free] += step
        moved[:, 2] = wrap_angle(moved[:, 2])
        return moved


@dataclass(frozen=True, eq=False)
class _Search:
    """Gauss-Newton with damping, from poses to the next minimum."""

    graph: PoseGraph
    system: _System
    iterations: int
    tolerance: float
    chordal: bool

    def descend(self, poses: np.ndarray, kernelled: np.ndarray, phi: float, damping: float = 0.0) -> Optimised:
        chi2, solved, converged = self._chi2(poses), 0, len(self.system.free) == 0
        weights, cost = _weigh(chi2, kernelled, phi)
        while solved < self.iterations and not converged and damping <= _MOST_DAMPING:
            factor, gradient = self.system.solve_at(self.graph, poses, weights, damping, self.chordal)
            solved += 1
            if factor is not None:
                moved = self.system.move(poses, factor.solve(-gradient))
                chi2_moved = self._chi2(moved)
                weights_moved, cost_moved = _weigh(chi2_moved, kernelled, phi)
                little = self.tolerance * max(cost, 1e-6)
                if cost_moved <= cost + 1e-3 * little:
                    converged = cost - cost_moved <= little
                    poses, chi2, weights, cost = moved, chi2_moved, weights_moved, cost_moved
                    damping = damping / 10.0 if damping > _LEAST_DAMPING else 0.0
                    continue
            damping = max(10.0 * damping, _LEAST_DAMPING)
        return Optimised(poses, cost, chi2, weights, solved, converged, damping, self.system)

    def _chi2(self, poses: np.ndarray) -> np.ndarray:
        graph = self.graph
        return _chi2(poses, graph.first, graph.second, graph.motion, graph.information, self.chordal)


def _linear_start(graph: PoseGraph, system: _System, used: np.ndarray) -> np.ndarray:
    """Return poses from two linear problems: headings as complex numbers, then positions and a step of the headings.

    Only the relations ``used`` (m,) count.
    """
    m = len(graph.first)
    c, s = np.cos(graph.motion[:, 2]), np.sin(graph.motion[:, 2])
    turning = np.zeros((m, 3, 3))
    turning[:, 0, 0], turning[:, 0, 1], turning[:, 1, 0], turning[:, 1, 1] = -c, s, -s, -c
    turning[:, 2, 2] = -1.0
    still = np.broadcast_to(np.eye(3), (m, 3, 3)).copy()
    towards = np.zeros((len(graph.poses), 3))
    fixed = system.row < 0
    towards[fixed, 0], towards[fixed, 1] = np.cos(graph.poses[fixed, 2]), np.sin(graph.poses[fixed, 2])
    error = (turning @ towards[graph.first, :, None])[:, :, 0] + towards[graph.second]
    factor, gradient = system.factorise(
        error, turning, still, still * (used * graph.information[:, 2, 2])[:, None, None]
    )
    if factor is None:
        return graph.poses
    found = factor.solve(-gradient)
    poses = graph.poses.copy()
    poses[system.free, :2] = 0.0
    poses[system.free, 2] = np.arctan2(found[:, 1], found[:, 0])
    factor, gradient = system.solve_at(graph, poses, used.astype(float), lever=0.0)
    return poses if factor is None else system.move(poses, factor.solve(-gradient))


def _weigh(chi2: np.ndarray, kernelled: np.ndarray, phi: float) -> tuple[np.ndarray, float]:
    """Return the weights of dynamic covariance scaling (m,), and the cost that belongs to them."""
    far = kernelled & (chi2 > phi)
    weights = np.ones(len(chi2))
    weights[far] = (2.0 * phi / (phi + chi2[far])) ** 2
    cost = chi2[~far].sum() + (phi * (3.0 * chi2[far] - phi) / (phi + chi2[far])).sum()
    return weights, float(cost)


@kernel
def _residual(poses, i, j, z, chordal):
    """Error of one relation, in the frame of its first pose."""
    c, s = np.cos(poses[i, 2]), np.sin(poses[i, 2])
    dx, dy = poses[j, 0] - poses[i, 0], poses[j, 1] - poses[i, 1]
    turn = poses[j, 2] - poses[i, 2] - z[2]
    turn -= 2.0 * np.pi * np.floor((turn + np.pi) / (2.0 * np.pi))
    slope = 1.0
    if chordal:
        slope = np.cos(0.5 * turn)
        turn = 2.0 * np.sin(0.5 * turn)
    return c, s, c * dx + s * dy, -s * dx + c * dy, turn, slope


@kernel
def _chi2(poses, first, second, motion, information, chordal):
    found = np.empty(len(first))
    for k in range(len(first)):
        z, w = motion[k], information[k]
        _, _, x, y, t, _ = _residual(poses, first[k], second[k], z, chordal)
        x -= z[0]
        y -= z[1]
        found[k] = (
            w[0, 0] * x * x + w[1, 1] * y * y + w[2, 2] * t * t
            + 2.0 * (w[0, 1] * x * y + w[0, 2] * x * t + w[1, 2] * y * t)
        )  # fmt: skip
    return found


@kernel
def _linearise(poses, first, second, motion, chordal, lever):
    """Errors (m, 3) and their derivatives by both poses (m, 3, 3); ``lever`` 0 holds positions against turns."""
    m = len(first)
    error, by_first, by_second = np.empty((m, 3)), np.zeros((m, 3, 3)), np.zeros((m, 3, 3))
    for k in range(m):
        z = motion[k]
        c, s, x, y, t, slope = _residual(poses, first[k], second[k], z, chordal)
        error[k, 0], error[k, 1], error[k, 2] = x - z[0], y - z[1], t
        a, b = by_first[k], by_second[k]
        b[0, 0], b[0, 1], b[1, 0], b[1, 1], b[2, 2] = c, s, -s, c, slope
        a[0, 0], a[0, 1], a[1, 0], a[1, 1], a[2, 2] = -c, -s, s, -c, -slope
        a[0, 2], a[1, 2] = lever * y, -lever * x
    return error, by_first, by_second


@kernel
def _accumulate(error, by_first, by_second, information, ends, slot, diagonal, below, gradient):
    """Add what each relation contributes to the normal matrix and to the gradient."""
    left = np.empty((3, 3))
    for k in range(len(error)):
        for side in range(2):
            at = ends[k, side]
            if at < 0:
                continue
            a = by_first[k] if side == 0 else by_second[k]
            other = by_second[k] if side == 0 else by_first[k]
            for p in range(3):
                for q in range(3):
                    left[p, q] = 0.0
                    for r in range(3):
                        left[p, q] += a[r, p] * information[k, r, q]
            for p in range(3):
                for r in range(3):
                    gradient[at, p] += left[p, r] * error[k, r]
                for q in range(3):
                    for r in range(3):
                        diagonal[at, p, q] += left[p, r] * a[r, q]
            if slot[k] >= 0 and at > ends[k, 1 - side]:
                for p in range(3):
                    for q in range(3):
                        for r in range(3):
                            below[slot[k], p, q] += left[p, r] * other[r, q]


@kernel
def _connected(n, first, second, roots):
    """Return which poses are connected with one of the roots (n,), by union of trees."""
    parent = np.arange(n)
    for k in range(len(first)):
        a, b = first[k], second[k]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)
    for k in range(n):  # a parent is never above its child
        parent[k] = parent[parent[k]]
    good = np.zeros(n, np.bool_)
    for k in roots:
        good[parent[k]] = True
    return good[parent]


@kernel
def _spread(n, first, second, motion, poses):
    """Give each pose that pose 0 reaches its pose along relations; return which these are (n,)."""
    start = np.zeros(n + 1, np.int64)
    for k in range(len(first)):
        start[first[k] + 1] += 1
        start[second[k] + 1] += 1
    start = np.cumsum(start)
    free, edge = start[:n].copy(), np.empty(2 * len(first), np.int64)
    for k in range(len(first)):
        for end in (first[k], second[k]):
            edge[free[end]] = k
            free[end] += 1
    reached, queue = np.zeros(n, np.bool_), np.zeros(n, np.int64)
    reached[0], last = True, 1
    for at in range(n):
        if at == last:
            break
        i = queue[at]
        for p in range(start[i], start[i + 1]):
            k = edge[p]
            z = motion[k]
            if first[k] == i:
                j, turn = second[k], poses[i, 2] + z[2]
                c, s, x, y = np.cos(poses[i, 2]), np.sin(poses[i, 2]), z[0], z[1]
            else:
                j, turn = first[k], poses[i, 2] - z[2]
                c, s, x, y = np.cos(turn), np.sin(turn), -z[0], -z[1]
            if not reached[j]:
                reached[j] = True
                queue[last] = j
                last += 1
                poses[j, 0], poses[j, 1] = poses[i, 0] + c * x - s * y, poses[i, 1] + s * x + c * y
                poses[j, 2] = turn - 2.0 * np.pi * np.floor((turn + np.pi) / (2.0 * np.pi))
    return reached


def _array(name: str, value: object, kind: type) -> np.ndarray:
    try:
        found = np.asarray(value)
        if kind is int and found.size and found.dtype.kind not in "iu":
            raise InvalidValueError(f"`{name}` of a pose graph must be whole numbers, not {found.dtype}")
        return np.ascontiguousarray(found, np.int64 if kind is int else np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(f"`{name}` of a pose graph is no array of numbers: {error}") from error


def _refuse(bad: np.ndarray, why: str) -> None:
    if bad.any():
        raise InvalidValueError(f"relation {int(np.argmax(bad))} of a pose graph is refused: {why}")


def positive_definite(a: np.ndarray) -> np.ndarray:
    """Return which of the symmetric matrices (m, 3, 3) are positive definite: all leading minors are positive."""
    two = a[:, 0, 0] * a[:, 1, 1] - a[:, 0, 1] ** 2
    with np.errstate(over="ignore", invalid="ignore"):
        return (a[:, 0, 0] > 0.0) & (two > 0.0) & (np.linalg.det(a) > 0.0)


def _rows(name: str, rows: Sequence[int] | np.ndarray, n: int) -> np.ndarray:
    found = _array(name, rows, int).reshape(-1)
    if ((found < 0) | (found >= n)).any():
        raise InvalidValueError(f"`{name}` names rows of the {n} poses from 0, not {found.tolist()[:20]}")
    return found


def _kernelled(m: int, robust: float | None, robust_edges: np.ndarray | None) -> np.ndarray:
    """Return which relations have a robust kernel (m,)."""
    if robust is None:
        return np.zeros(m, bool)
    if not robust > 0.0:
        raise InvalidValueError(f"`robust` is a chi-squared above 0, not {robust}")
    found = np.ones(m, bool) if robust_edges is None else np.asarray(robust_edges)
    if found.shape != (m,) or found.dtype != bool:
        raise InvalidValueError(f"`robust_edges` needs one bool for each of the {m} relations, not shape {found.shape}")
    return found
