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
from dataclasses import dataclass

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose, wrap_angle
from covey.mapping.alignment.surfaces import FREE_EVERY, NORMAL_M, Surfaces, find_surfaces, times

LEAST_CONFIDENCE = 0.5
"""Alignments below this are refused."""

ROUND_M, SQUARE_M = 2.0, 5.3
"""Strength [m] that is needed where walls run in all directions, and where they stand at right angles, so that parts of
maps fit each other in many ways ..."""

SQUARE = (0.25, 0.4)
"""... which grows between these resultant lengths of four times the angles of the normals."""

CONTRADICTED = 0.1
"""An accepted pose is given up if a larger share than this is denied; a passing robot causes some."""

_CANDIDATES = 32
_ICP_POINTS = 1000
_OFF_COST, _DENIED_COST = 6.0, 50.0
_SHARED_M2 = 50.0  # less free space that both maps know hardly had a chance to contradict
_BENT_M = 0.3
_STRAIGHT, _LIKE, _LEAST_LIKE, _MOST_LIKE = 0.12, 2.0, 0.01, 0.5
_SPREADS = 4.0
_THICK, _MOST_NOISE = 1.4, 2.5  # cells of wall beside a free one, of maps without noise
_SAME_M, _SAME_ANGLE = 1.0, math.radians(5.0)


@dataclass(frozen=True)
class Fit:
    """How well two maps agree at one pose; lengths of surface are means over both maps [m].

    Attributes:
        T_a_b: pose of frame b in frame a.
        met_m: surface that lies on a surface of the other map with the same normal.
        off_m: surface that lies near one, but not on it.
        denied_m: walls in the open space of the other map, deeper than four times the gap (root mean square) between
            the surfaces that lie near each other; by the square of that ratio, as noise would explain them, and less
            where noise draws walls thick.
        weakest_m: met surface that faces the least constrained direction: 0 in a bare corridor.
        bent_m: met surface, of which straight walls do not count (`Surfaces.bent`).
        shared_m2: free space that both maps know [m^2].
    """

    T_a_b: Pose
    met_m: float
    off_m: float
    denied_m: float
    weakest_m: float
    bent_m: float
    shared_m2: float

    @property
    def agreement(self) -> float:
        """Share of the surfaces known to the other map that it confirms, 0 … 1."""
        return self.met_m / max(self.met_m + self.off_m + self.denied_m, 1e-9)

    @property
    def strength_m(self) -> float:
        """Evidence [m]: sqrt(sqrt(2 weakest met) (bent + 0.3)) exp(-(6 off + 50 denied) / met) shared / 50 m^2.

        A pose needs surface in all directions, and corners, ends of walls or curves: straight walls say the same over
        and over. And the maps must overlap enough to contradict each other, free space against walls, in both
        directions; 50 m^2 or more are enough.
        """
        contradicted = (_OFF_COST * self.off_m + _DENIED_COST * self.denied_m) / max(self.met_m, 1e-9)
        length = math.sqrt(math.sqrt(2.0 * max(self.weakest_m, 0.0) * self.met_m) * (self.bent_m + _BENT_M))
        return length * math.exp(-contradicted) * min(1.0, self.shared_m2 / _SHARED_M2)


@dataclass(frozen=True)
class Alignment:
    """The pose of one map in another, and whether it is accepted.

    Attributes:
        T_a_b: best pose of frame b in frame a, also if it is refused; None if there is nothing to compare.
        confidence: the smaller of best / (best + needed) and 1 - second / (2 allowed best), 0 … 1, see `judge`.
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
    """A map prepared for alignment with any number of others."""

    def __init__(self, grid: Grid):
        if grid.cells.dtype != np.int8 or grid.cells.ndim != 2:
            raise InvalidValueError(
                f"the cells of a map are {grid.cells.dtype} of shape {grid.cells.shape}; to be aligned they must be "
                "int8 of shape (rows, columns): -1 unknown, 0 free, 100 occupied"
            )
        self.surfaces = find_surfaces(grid)


def align(a: Grid | MapToAlign, b: Grid | MapToAlign, least_confidence: float = LEAST_CONFIDENCE) -> Alignment:
    """Estimate the pose of map b in map a, for any rotation and translation, or refuse to (`judge`).

    Args:
        a, b: maps with int8 cells (-1 unknown, 0 free, 100 occupied), each in its own frame, of equal resolution; their
            grids may have any yaw. Pass a `MapToAlign` to align one map several times.
        least_confidence: alignments below this are refused.

    Raises:
        InvalidValueError: the cells are not a map, or the resolutions differ.

    Examples:
        >>> cells = np.full((10, 10), -1, np.int8)
        >>> align(Grid(cells, 0.1), Grid(cells, 0.1)).refused
        'nothing to compare: a map has no wall beside free space'
    """
    sa, sb = (m.surfaces if isinstance(m, MapToAlign) else MapToAlign(m).surfaces for m in (a, b))
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
    second_m = max((f.strength_m for f in fits if _apart(best, f, sb)), default=0.0)
    confidence, why = judge(best, second_m, max(sa.squareness, sb.squareness), least_confidence)
    return Alignment(best.T_a_b, confidence, best.agreement, _overlap_m2(sa, sb, best.T_a_b), why)


def judge(best: Fit, second_m: float, squareness: float, least: float = LEAST_CONFIDENCE) -> tuple[float, str]:
    """Return the confidence in the best fit, and why it is refused; empty if it is accepted.

    Chance fits are stronger where walls stand at right angles, so more is needed there. And where the walls that meet
    are straight and long, with few corners, places look alike: there no other place may fit, while otherwise half the
    strength is allowed.

    Args:
        best: the strongest fit.
        second_m: strength of the best fit elsewhere [m].
        squareness: of the squarer map (`Surfaces.squareness`).
        least: least confidence.
    """
    strength = best.strength_m
    needed = ROUND_M + (SQUARE_M - ROUND_M) * min(1.0, max(0.0, (squareness - SQUARE[0]) / (SQUARE[1] - SQUARE[0])))
    allowed = min(_MOST_LIKE, max(_LEAST_LIKE, _LIKE * (best.bent_m / max(best.met_m, 1e-9) - _STRAIGHT)))
    enough = strength / (strength + needed)
    clear = max(0.0, 1.0 - second_m / (2.0 * allowed * max(strength, 1e-9)))
    if enough < least:
        return min(enough, clear), (
            f"too little evidence: {strength:.1f} m, from {best.met_m:.1f} m of wall that agree and "
            f"{best.denied_m:.1f} m that contradict"
        )
    return min(enough, clear), "ambiguous: the maps fit nearly as well elsewhere" if clear < least else ""


def contradicted(a: MapToAlign, b: MapToAlign, T_a_b: Pose) -> bool:
    """Return whether too many walls of one map stand in the open space of the other, for b at ``T_a_b``."""
    sa, sb = a.surfaces, b.surfaces
    if sa is None or sb is None:
        return False
    here = fit(sa, sb, refine(sa, sb, T_a_b, [sa.reach_m] * 3))
    return here.denied_m > CONTRADICTED * here.met_m


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
    sides = _compare(b, a, T_a_b), _compare(a, b, T_a_b.inverse())
    gap, inside, bent = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    met, near = gap <= a.width_m, np.isfinite(gap)
    cell = a.grid.resolution
    spread = math.sqrt(float((gap[near] ** 2).mean())) if near.any() else 0.0
    deep = min(a.reach_m, max(1.3 * cell, _SPREADS * spread))
    nx, ny = b.normals[met[: len(b.points)]].T
    xx, yy, xy = (float((i * j).sum()) for i, j in ((nx, nx), (ny, ny), (nx, ny)))
    weakest = 0.5 * (xx + yy) - math.hypot(0.5 * (xx - yy), xy)
    noise = min(_MOST_NOISE, max(1.0, (0.5 * (a.thickness + b.thickness) / _THICK) ** 3))
    denied = np.where(inside < deep, 0.0, (np.minimum(inside, 1.2 * a.reach_m) / deep) ** 2 / noise)
    met_m, off_m, denied_m, bent_m = (0.5 * cell * float(i.sum()) for i in (met, near & ~met, denied, bent[met]))
    free = a.look_up(a.free_cells, times(b.free_points, T_a_b.heading) + T_a_b[:2])
    shared = float(np.count_nonzero(free)) * FREE_EVERY * cell * cell
    return Fit(T_a_b, met_m, off_m, denied_m, cell * weakest, bent_m, shared)


def _compare(of: Surfaces, other: Surfaces, T_other_of: Pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how the surface points of a map lie in another map, float64 (n,) each.

    Returns:
        the distance [m] along the normal to the surface there, infinite if there is none near; how deep [m] the wall
        stands in open space, 0 if there is a surface near; and how bent both surfaces are.
    """
    at = times(of.points, T_other_of.heading) + T_other_of[:2]
    normals = times(of.normals, T_other_of.heading)
    distance, index = other.tree.query(np.hstack((at, NORMAL_M * normals)), distance_upper_bound=other.reach_m)
    near = distance < other.reach_m
    index = np.where(near, index, 0)
    along = np.abs(((other.points[index] - at) * other.normals[index]).sum(axis=1))
    inside = other.look_up(other.open_m, at - other.grid.resolution * normals)
    return np.where(near, along, np.inf), np.where(near, 0.0, inside), np.minimum(of.bent, other.bent[index])


def _overlap_m2(a: Surfaces, b: Surfaces, T_a_b: Pose) -> float:
    known = b.grid.to_world(np.argwhere(b.grid.cells >= 0))
    both = a.look_up(a.grid.cells >= 0, times(known, T_a_b.heading) + T_a_b[:2])
    return float(np.count_nonzero(both)) * b.grid.resolution**2
