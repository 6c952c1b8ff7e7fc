"""Align the maps of two robots that do not know each other's start.

The correlation of both maps gives candidates (`covey.mapping.alignment.search`), and point-to-line ICP on the surfaces
refines each. How well the maps agree at each candidate decides which one is chosen, and whether it is accepted. A
refused merge can be tried again when more has been seen; a wrong one spoils both maps.

References:
    S. Carpin: Fast and accurate map merging for multi-robot systems. Autonomous Robots 25, 2008 (spectra of the walls,
    several hypotheses, acceptance by agreement).
    Y. Chen, G. Medioni: Object modelling by registration of multiple range images. Image and Vision Computing 10,
    1992 (point-to-line ICP).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose, wrap_angle
from covey.mapping.alignment.surfaces import FREE_EVERY, NORMAL_M, Surfaces, find_surfaces, times

LEAST_CONFIDENCE = 0.5
"""Alignments below this are refused."""

LEAST_M, NARROW_M = 1.5, 3.0
"""Least strength [m] of an alignment that is accepted; and where both maps share less than 50 m^2 of free space."""

SQUARE_M, SQUARE = 12.0, 0.35
"""The same below 80 m^2 if the walls stand at right angles, as in mazes, whose parts fit each other in many ways; and
the resultant length of four times the angles of the normals from which on they do."""

ENOUGH_M, CLEAR = 9.0, 0.2
"""Strength [m] that suffices even if the maps resemble themselves in the small, and share of it below which any other
place must be where they do so in the large."""

LARGE_M, SURE = 25.0, 0.6
"""A place that resembles itself with that strength [m] is the same in the large, and needs that confidence."""

LEAST_WEAKEST_M = 0.4
"""Length of surface [m] that an alignment needs across its weakest direction; a bare corridor has none ..."""

LEAST_WEAKEST = 0.04
"""... but for the noise of its normals, so it also needs this share of the met surface."""

MOST_DENIED, SLIGHT_M = 0.004, 0.1
"""Largest share of walls in the open space of the other map, and length of them that is never too much [m]; at the
right pose there are hardly any, a few cells where a scan went wrong."""

CONTRADICTED = 0.05
"""An accepted pose is given up if a larger share than this is denied; a passing robot causes some."""

_CANDIDATES, _OWN_CANDIDATES = 32, 12
_ICP_POINTS = 1000
_OFF_COST, _DENIED_COST = 6.0, 400.0
_SHARED_M2 = 50.0  # less free space that both maps know hardly had a chance to contradict
_SQUARE_M2 = 80.0
_EVIDENCE_M = 0.5
_SAME_M, _SAME_ANGLE = 1.0, math.radians(5.0)


@dataclass(frozen=True)
class Fit:
    """How well two maps agree at one pose; lengths of surface are means over both maps [m].

    Attributes:
        T_a_b: pose of frame b in frame a.
        met_m: surface that lies on a surface of the other map with the same normal.
        off_m: surface that lies near one, but not on it.
        denied_m: walls in the open space of the other map.
        weakest_m: met surface that faces the least constrained direction: 0 in a bare corridor.
        shared_m2: free space that both maps know [m^2].
    """

    T_a_b: Pose
    met_m: float
    off_m: float
    denied_m: float
    weakest_m: float
    shared_m2: float

    @property
    def agreement(self) -> float:
        """Share of the surfaces known to the other map that it confirms, 0 … 1."""
        return self.met_m / max(self.met_m + self.off_m + self.denied_m, 1e-9)

    @property
    def strength_m(self) -> float:
        """Evidence for this pose [m]: sqrt(2 weakest met) exp(-(6 off + 400 too) / met) min(1, shared / 50 m^2).

        Of what is denied, too much is what exceeds 0.1 m.

        A pose needs surface in all directions, and much of it: a few metres of a corner fit in many places. And the
        maps must overlap enough to contradict each other, free space against walls, in both directions.
        """
        too_much = max(0.0, self.denied_m - SLIGHT_M)
        contradicted = (_OFF_COST * self.off_m + _DENIED_COST * too_much) / max(self.met_m, 1e-9)
        overlapping = min(1.0, self.shared_m2 / _SHARED_M2)
        return math.sqrt(2.0 * max(self.weakest_m, 0.0) * self.met_m) * math.exp(-contradicted) * overlapping


@dataclass(frozen=True)
class Alignment:
    """The pose of one map in another, and whether it is accepted.

    Attributes:
        T_a_b: best pose of frame b in frame a, also if it is refused; None if there is nothing to compare.
        confidence: (1 - chance / best) best / (best + 0.5 m), 0 … 1, where best is the strength of the best fit, and
            chance the largest strength of a fit that must be wrong: elsewhere, or, unless the best one is strong enough
            by itself, of either map on itself elsewhere.
        agreement: share of the surfaces known to both that agree.
        overlap_m2: area that both maps know [m^2].
        refused: the reason for refusing it; empty if it is accepted.
    """

    T_a_b: Pose | None = None
    confidence: float = 0.0
    agreement: float = 0.0
    overlap_m2: float = 0.0
    refused: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the maps may be merged."""
        return not self.refused


class MapToAlign:
    """A map prepared for alignment with any number of others: its surfaces and its self-similarity."""

    def __init__(self, grid: Grid):
        if grid.cells.dtype != np.int8 or grid.cells.ndim != 2:
            raise InvalidValueError(
                f"the cells of a map are {grid.cells.dtype} of shape {grid.cells.shape}; to be aligned they must be "
                "int8 of shape (rows, columns): -1 unknown, 0 free, 100 occupied"
            )
        self.surfaces = find_surfaces(grid)

    @cached_property
    def similar_m(self) -> float:
        """Strength of the map's best fit on itself elsewhere [m]."""
        if self.surfaces is None:
            return 0.0
        here = fit(self.surfaces, self.surfaces, Pose(0.0, 0.0, 0.0))
        others = [f for f in _fits(self.surfaces, self.surfaces, _OWN_CANDIDATES) if _apart(here, f, self.surfaces)]
        return max((f.strength_m for f in others), default=0.0)


def align(a: Grid | MapToAlign, b: Grid | MapToAlign, least_confidence: float = LEAST_CONFIDENCE) -> Alignment:
    """Estimate the pose of map b in map a, for any rotation and translation, or refuse to.

    Wrong fits are chance fits: how strong they get differs from place to place. How well the maps fit elsewhere, and
    each of them fits itself elsewhere, says what chance can do here. A pose must be twice as strong as that and 0.5 m
    more. From 9 m on it need not be stronger than what either map does by itself in the small. A place that is the
    same in the large, as a cross is under a turn of 90 deg, has strong fits that are wrong and contradict nothing, but
    never only one. Parts of mazes that share less than 50 m^2 have fitted each other with 11.4 m by chance.

    Args:
        a, b: maps with int8 cells (-1 unknown, 0 free, 100 occupied), each in its own frame, of equal resolution; their
            grids may have any yaw. Pass a `MapToAlign` to align one map several times.
        least_confidence: alignments below this are refused, where the strength is not enough by itself.

    Raises:
        InvalidValueError: the cells are not a map, or the resolutions differ.

    Examples:
        >>> cells = np.full((10, 10), -1, np.int8)
        >>> align(Grid(cells, 0.1), Grid(cells, 0.1)).refused
        'nothing to compare: a map has no wall beside free space'
    """
    map_a, map_b = (m if isinstance(m, MapToAlign) else MapToAlign(m) for m in (a, b))
    sa, sb = map_a.surfaces, map_b.surfaces
    if sa is None or sb is None:
        return Alignment(refused="nothing to compare: a map has no wall beside free space")
    if abs(sa.grid.resolution - sb.grid.resolution) > 1e-9:
        raise InvalidValueError(
            f"the maps have cells of {sa.grid.resolution:g} m and {sb.grid.resolution:g} m; only maps of one "
            "resolution can be aligned: give the robots the same mapping.resolution_m"
        )
    fits = _fits(sa, sb, _CANDIDATES)
    if not fits:
        return Alignment(refused="nothing to compare: the walls never meet")
    best = fits[0]
    found = Alignment(best.T_a_b, 0.0, best.agreement, _overlap_m2(sa, sb, best.T_a_b))
    if best.weakest_m < max(LEAST_WEAKEST_M, LEAST_WEAKEST * best.met_m):
        return _refuse(found, f"too little overlap: {best.weakest_m:.1f} m of wall fix the weakest direction")
    if best.denied_m > max(SLIGHT_M, MOST_DENIED * best.met_m):
        return _refuse(found, f"contradicted: {best.denied_m:.1f} m of wall stand where the other map is open")
    second = max((f.strength_m for f in fits if _apart(best, f, sb)), default=0.0)
    needed = NARROW_M if best.shared_m2 < _SHARED_M2 else LEAST_M
    if best.shared_m2 < _SQUARE_M2 and max(sa.squareness, sb.squareness) > SQUARE:
        needed = SQUARE_M
    chance = (second, lambda: max(map_a.similar_m, map_b.similar_m))
    confidence, why = judge(best.strength_m, *chance, least_confidence, needed)
    if why:
        return _refuse(found, why, confidence)
    return Alignment(found.T_a_b, confidence, found.agreement, found.overlap_m2)


def judge(
    best_m: float, second_m: float, similar_m: Callable[[], float], least: float, needed_m: float = LEAST_M
) -> tuple[float, str]:
    """Return the confidence in the best fit, and why it is refused; empty if it is accepted. See `align`.

    Args:
        best_m, second_m: strengths of the best fit, and of the best one elsewhere [m].
        similar_m: returns the strength of the best fit of either map on itself elsewhere [m].
        least: least confidence where the strength is not enough by itself.
        needed_m: least strength [m]; if it is above `ENOUGH_M`, no other place may have `CLEAR` of the best strength.

    Examples:
        >>> judge(13.0, 2.0, lambda: 17.0, 0.5)  # strong and far ahead: a maze, which resembles itself in the small
        (0.8148148148148148, '')
        >>> judge(147.0, 65.0, lambda: 64.0, 0.5)  # a cross
        (0.5559322033898305, 'ambiguous: the place is the same elsewhere, in the large')
    """
    beside = _confidence(best_m, second_m)
    if best_m < needed_m:
        return beside, f"too little overlap: the evidence is {best_m:.1f} m of wall, and {needed_m:g} m are needed"
    if beside < least or (needed_m > ENOUGH_M and second_m > CLEAR * best_m):
        return beside, "ambiguous: the maps fit nearly as well elsewhere"
    is_enough = best_m >= ENOUGH_M and least <= LEAST_CONFIDENCE  # who asks for more gets more
    if is_enough and second_m <= CLEAR * best_m:
        return beside, ""
    chance = max(second_m, similar_m())
    confidence = _confidence(best_m, chance)
    if chance >= LARGE_M:
        is_same = confidence < max(least, SURE)
        return confidence, "ambiguous: the place is the same elsewhere, in the large" if is_same else ""
    if is_enough:
        return beside, ""
    is_vague = confidence < least
    return confidence, "ambiguous: one of the maps resembles itself elsewhere" if is_vague else ""


def _confidence(best_m: float, chance_m: float) -> float:
    return max(0.0, best_m - chance_m) / (best_m + _EVIDENCE_M)


def contradicted(a: MapToAlign, b: MapToAlign, T_a_b: Pose) -> bool:
    """Return whether too many walls of one map stand in the open space of the other, for b at ``T_a_b``."""
    sa, sb = a.surfaces, b.surfaces
    if sa is None or sb is None:
        return False
    here = fit(sa, sb, refine(sa, sb, T_a_b, [sa.reach_m] * 3))
    return here.denied_m > CONTRADICTED * here.met_m


def _refuse(found: Alignment, why: str, confidence: float = 0.0) -> Alignment:
    return Alignment(found.T_a_b, confidence, found.agreement, found.overlap_m2, why)


def _fits(a: Surfaces, b: Surfaces, count: int) -> list[Fit]:
    """Return the refined candidates, the strongest first."""
    from covey.mapping.alignment.search import candidates  # slow to load, and not needed with known starts

    starts, side = candidates(a, b, count)
    reach = a.reach_m
    reaches = [max(reach, k * side) for k in (2.0, 2.0, 1.5, 1.5, 1.0, 1.0)] + [reach] * 3
    fits = [fit(a, b, refine(a, b, Pose(*start), reaches)) for start in starts.tolist()]
    return sorted(fits, key=lambda f: -f.strength_m)


def _apart(best: Fit, other: Fit, b: Surfaces) -> bool:
    """Return whether two fits put map b in different places."""
    moved = best.T_a_b.inverse() @ other.T_a_b
    x, y = (float(v) for v in b.points.mean(axis=0))
    return abs(moved.heading) > _SAME_ANGLE or math.dist(moved @ (x, y), (x, y)) > _SAME_M


def refine(a: Surfaces, b: Surfaces, T_a_b: Pose, reaches_m: list[float]) -> Pose:
    """Return the pose of frame b in frame a after one step of point-to-line ICP for each reach.

    A step pairs every point of b with the nearest point of a with a similar normal, within the reach. It moves b by
    weighted least squares of the distances along the normals of a.
    """
    every = max(1, len(b.points) // _ICP_POINTS)
    points, normals = b.points[::every], b.normals[::every]
    x, y, heading = T_a_b
    for reach in reaches_m:
        moved = times(points, heading) + np.array((x, y))
        distance, index = a.tree.query(
            np.hstack((moved, NORMAL_M * times(normals, heading))), distance_upper_bound=reach
        )
        hit = distance < reach
        if np.count_nonzero(hit) < 10:
            break
        at, (nx, ny) = moved[hit], a.normals[index[hit]].T
        gap = a.points[index[hit]] - at
        off = gap[:, 0] * nx + gap[:, 1] * ny
        weight = 1.0 / (1.0 + (off / (0.3 * reach)) ** 2)
        middle = at.mean(axis=0)
        lever = (at[:, 0] - middle[0]) * ny - (at[:, 1] - middle[1]) * nx
        rows = (nx, ny, lever)
        normal = [[float((weight * i * j).sum()) for j in rows] for i in rows]
        dx, dy, turn = _solve(normal, [float((weight * i * off).sum()) for i in rows])
        c, s = math.cos(turn), math.sin(turn)
        u, v = x - middle[0], y - middle[1]
        x, y = float(middle[0] + c * u - s * v + dx), float(middle[1] + s * u + c * v + dy)
        heading += turn
    return Pose(x, y, wrap_angle(heading))


def _solve(m: list[list[float]], right: list[float]) -> tuple[float, float, float]:
    """Solve three normal equations, slightly damped, so that an unconstrained direction does not move."""
    damping = 1e-3 * (m[0][0] + m[1][1]) + 1e-9
    (a, b, c), (_, d, e), (_, _, f) = m
    a, d, f = a + damping, d + damping, f + damping
    # cofactors of the symmetric matrix [a b c; b d e; c e f]
    aa, ab, ac = d * f - e * e, c * e - b * f, b * e - c * d
    bb, bc, cc = a * f - c * c, b * c - a * e, a * d - b * b
    det = a * aa + b * ab + c * ac
    p, q, r = right
    return (
        (aa * p + ab * q + ac * r) / det,
        (ab * p + bb * q + bc * r) / det,
        (ac * p + bc * q + cc * r) / det,
    )


def fit(a: Surfaces, b: Surfaces, T_a_b: Pose) -> Fit:
    """Return how well maps a and b agree with frame b at ``T_a_b``."""
    met_b, off_b, denied_b = _compare(b, a, T_a_b)
    met_a, off_a, denied_a = _compare(a, b, T_a_b.inverse())
    nx, ny = b.normals[met_b].T
    xx, yy, xy = (float((i * j).sum()) for i, j in ((nx, nx), (ny, ny), (nx, ny)))
    weakest = 0.5 * (xx + yy) - math.hypot(0.5 * (xx - yy), xy)
    cell = a.grid.resolution
    met, off, denied = (
        0.5 * cell * float(np.count_nonzero(i) + np.count_nonzero(j))
        for i, j in ((met_a, met_b), (off_a, off_b), (denied_a, denied_b))
    )
    free = a.look_up(a.free_cells, times(b.free_points, T_a_b.heading) + T_a_b[:2])
    shared = float(np.count_nonzero(free)) * FREE_EVERY * cell * cell
    return Fit(T_a_b, met, off, denied, cell * weakest, shared)


def _compare(of: Surfaces, other: Surfaces, T_other_of: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which surface points of a map are met, off and denied by another map, bool (n,) each."""
    at = times(of.points, T_other_of.heading) + T_other_of[:2]
    normals = times(of.normals, T_other_of.heading)
    distance, index = other.tree.query(np.hstack((at, NORMAL_M * normals)), distance_upper_bound=other.reach_m)
    near = distance < other.reach_m
    index = np.where(near, index, 0)
    along = np.abs(((other.points[index] - at) * other.normals[index]).sum(axis=1))
    met = near & (along <= other.width_m)
    wall = at - other.grid.resolution * normals
    return met, near & ~met, ~near & other.look_up(other.open_cells, wall)


def _overlap_m2(a: Surfaces, b: Surfaces, T_a_b: Pose) -> float:
    known = b.grid.to_world(np.argwhere(b.grid.cells >= 0))
    both = a.look_up(a.grid.cells >= 0, times(known, T_a_b.heading) + T_a_b[:2])
    return float(np.count_nonzero(both)) * b.grid.resolution**2
