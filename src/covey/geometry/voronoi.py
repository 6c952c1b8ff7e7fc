"""Voronoi cells of points in a convex polygon: shape, area, mass, centroid and coverage cost.

The cell of a point is the part of the polygon that is nearer to it than to any other point. It is what half-planes
leave of the polygon: one for each other point, bounded by the bisector of the two. A point further away than twice the
farthest corner of what is left cannot cut, so most points are passed over by one comparison.

References:
    A. Okabe, B. Boots, K. Sugihara, S. N. Chiu: Spatial tessellations. 2nd edition, 2000.
    J. Cortés, S. Martínez, T. Karatas, F. Bullo: Coverage control for mobile sensing networks. IEEE Transactions on
    Robotics and Automation 20(2), 2004 (cost, mass and centroid with a density).
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.kernel import kernel

__all__ = ["Cells", "voronoi"]

Density = Callable[[np.ndarray], np.ndarray]
"""Weight of points, float64 (k, 2) [m] -> (k,), never negative."""

BORDER = -1
"""What lies across an edge of the polygon."""

FINENESS = 4
"""Each triangle of a cell is divided into this number squared, to integrate a density."""


class Cells(NamedTuple):
    """The Voronoi cells of n points; a cell that is empty has no vertices, no mass, and its point as centroid.

    Attributes:
        vertices: float64 (k, 2) [m], counter-clockwise, those of cell 0, then those of cell 1, and so on.
        first: int64 (n + 1,): cell i has the vertices from ``first[i]`` up to ``first[i + 1]``.
        across: int64 (k,): the point on the other side of the edge from each vertex to the next of its cell, or
            `BORDER`.
        area: float64 (n,) [m²].
        mass: float64 (n,), the integral of the density over the cell; the area if there is no density.
        centroid: float64 (n, 2) [m], the centre of mass.
        cost: float64 (n,), the integral over the cell of density times squared distance to its point. Their sum is
            the coverage cost H, in m⁴ if there is no density.
    """

    vertices: np.ndarray
    first: np.ndarray
    across: np.ndarray
    area: np.ndarray
    mass: np.ndarray
    centroid: np.ndarray
    cost: np.ndarray

    def cell(self, i: int) -> np.ndarray:
        """Return the vertices of a cell, float64 (m, 2) [m], counter-clockwise."""
        return self.vertices[self.first[i] : self.first[i + 1]]

    def edge(self, i: int, j: int) -> np.ndarray | None:
        """Return the ends of the edge that two cells share, float64 (2, 2) [m]; None if they share none."""
        corners = self.cell(i)
        shared = np.flatnonzero(self.across[self.first[i] : self.first[i + 1]] == j)
        if not len(shared):
            return None
        return corners[[shared[0], (shared[0] + 1) % len(corners)]]

    def neighbours(self) -> np.ndarray:
        """Return which cells share an edge: bool (n, n), symmetric; the Delaunay graph, as far as the polygon goes."""
        n = len(self.area)
        of = np.repeat(np.arange(n), np.diff(self.first))
        inner = self.across >= 0
        graph = np.zeros((n, n), bool)
        graph[of[inner], self.across[inner]] = True
        return graph | graph.T


def voronoi(points: Any, polygon: Any, density: Density | None = None, fineness: int = FINENESS) -> Cells:
    """Return the Voronoi cells of points in a convex polygon.

    Without a density, all integrals are exact. With one, each cell is divided into triangles, these into smaller ones,
    and each of these has seven nodes (Radon's rule, exact for polynomials up to degree 5).

    Args:
        points: (n, 2), x, y [m]. Of several points at the same place, the first has the cell.
        polygon: (m, 2), the corners of a convex polygon [m], in either direction.
        density: weight of points; None: 1 everywhere.
        fineness: each edge of a triangle is divided into so many parts for a density.

    Raises:
        InvalidValueError: the polygon is not convex or has no area, a point is not finite, or the density is negative
            or not finite.

    References:
        J. Radon: Zur mechanischen Kubatur. Monatshefte für Mathematik 52, 1948.

    Examples:
        >>> cells = voronoi([(1.0, 1.0), (3.0, 1.0)], [(0, 0), (4, 0), (4, 2), (0, 2)])
        >>> cells.area.tolist(), cells.edge(0, 1).tolist()
        ([4.0, 4.0], [[2.0, 0.0], [2.0, 2.0]])
    """
    points = np.ascontiguousarray(points, float)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise InvalidValueError(f"points have the shape {points.shape}; give finite x, y [m] for each, shape (n, 2)")
    cells = Cells(*_cells(points, convex(polygon)))
    return cells if density is None else _weighed(points, cells, density, fineness)


def convex(polygon: Any) -> np.ndarray:
    """Return a convex polygon counter-clockwise, float64 (m, 2) [m].

    Raises:
        InvalidValueError: it is not convex, or has no area.

    Examples:
        >>> convex([(0, 0), (0, 1), (1, 0)]).tolist()
        [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    corners = np.ascontiguousarray(polygon, float)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3 or not np.isfinite(corners).all():
        raise InvalidValueError(f"the workspace is {polygon!r:.80}; give three or more corners x, y [m]")
    corners = corners[(corners != np.roll(corners, 1, axis=0)).any(axis=1)]
    edges = np.roll(corners, -1, axis=0) - corners
    after = np.roll(edges, -1, axis=0)
    turns = edges[:, 0] * after[:, 1] - edges[:, 1] * after[:, 0]
    turned = np.arctan2(turns, (edges * after).sum(axis=1)).sum()
    slack = 1e-12 * np.ptp(corners, axis=0).max() ** 2
    dented = (turns < -slack).any() and (turns > slack).any()
    if dented or (np.abs(turns) <= slack).all() or abs(abs(turned) - 2.0 * math.pi) > 1e-6:
        raise InvalidValueError(
            "the workspace is not convex, or has no area; Voronoi cells need a convex one: give another workspace, "
            "and build its dents as obstacles"
        )
    return np.ascontiguousarray(corners if turned > 0 else corners[::-1])


@kernel
def clip(vertices, across, count, nx, ny, limit, label, cut, cut_across):
    """Write the part of a convex polygon where nx x + ny y <= limit; return its number of vertices.

    Args:
        vertices: float64 (>= count, 2) [m], counter-clockwise. across: int64, one label per edge.
        nx, ny, limit: the half-plane.
        label: that of the new edge.
        cut, cut_across: the result, with room for one vertex more.
    """
    kept = 0
    last = count - 1
    before = nx * vertices[last, 0] + ny * vertices[last, 1] - limit
    for k in range(count):
        here = nx * vertices[k, 0] + ny * vertices[k, 1] - limit
        if (before > 0.0) != (here > 0.0):
            t = before / (before - here)
            cut[kept, 0] = vertices[last, 0] + t * (vertices[k, 0] - vertices[last, 0])
            cut[kept, 1] = vertices[last, 1] + t * (vertices[k, 1] - vertices[last, 1])
            cut_across[kept] = across[last] if before > 0.0 else label
            kept += 1
        if here <= 0.0:
            cut[kept, 0], cut[kept, 1] = vertices[k, 0], vertices[k, 1]
            cut_across[kept] = across[k]
            kept += 1
        before, last = here, k
    return kept


@kernel
def moments(vertices, count, x, y):
    """Return area [m²], centroid x, y [m], and integral of the squared distance to a point [m⁴] of a polygon.

    The polygon is the sum of the triangles between the point and its edges, counted negative if clockwise. The mean
    of |q|² over a triangle of 0, a and b is (a·a + a·b + b·b) / 6.
    """
    area = sx = sy = polar = 0.0
    for k in range(count):
        ax, ay = vertices[k, 0] - x, vertices[k, 1] - y
        after = k + 1 if k + 1 < count else 0
        bx, by = vertices[after, 0] - x, vertices[after, 1] - y
        twice = ax * by - ay * bx
        area += 0.5 * twice
        sx += twice * (ax + bx) / 6.0
        sy += twice * (ay + by) / 6.0
        polar += twice * (ax * ax + ay * ay + ax * bx + ay * by + bx * bx + by * by) / 12.0
    if area <= 0.0:
        return 0.0, x, y, 0.0
    return area, x + sx / area, y + sy / area, polar


@kernel
def _cells(points, polygon):
    """Return the fields of `Cells` for points, float64 (n, 2), and a convex polygon, counter-clockwise (m, 2)."""
    n, m = len(points), len(polygon)
    room = n + m + 1
    cell, other = np.empty((room, 2)), np.empty((room, 2))
    across, others = np.empty(room, np.int64), np.empty(room, np.int64)
    vertices, labels = np.empty((8 * n + m, 2)), np.empty(8 * n + m, np.int64)
    first = np.zeros(n + 1, np.int64)
    area, centroid, cost = np.empty(n), np.empty((n, 2)), np.empty(n)
    for i in range(n):
        x, y, count, reach = points[i, 0], points[i, 1], m, 0.0
        for k in range(m):
            cell[k, 0], cell[k, 1], across[k] = polygon[k, 0], polygon[k, 1], BORDER
            reach = max(reach, (cell[k, 0] - x) ** 2 + (cell[k, 1] - y) ** 2)
        for j in range(n):
            dx, dy = points[j, 0] - x, points[j, 1] - y
            square = dx * dx + dy * dy
            if square > 4.0 * reach or i == j or count == 0:
                continue
            if square == 0.0:
                count = 0 if j < i else count
                continue
            limit = dx * (x + 0.5 * dx) + dy * (y + 0.5 * dy)
            cuts = False
            for k in range(count):
                if dx * cell[k, 0] + dy * cell[k, 1] > limit:
                    cuts = True
            if not cuts:
                continue
            count = clip(cell, across, count, dx, dy, limit, j, other, others)
            cell, other, across, others = other, cell, others, across
            reach = 0.0
            for k in range(count):
                reach = max(reach, (cell[k, 0] - x) ** 2 + (cell[k, 1] - y) ** 2)
        area[i], centroid[i, 0], centroid[i, 1], cost[i] = moments(cell, count, x, y)
        begin = first[i]
        first[i + 1] = begin + count
        if begin + count > len(vertices):
            more, more_labels = np.empty((2 * (begin + count), 2)), np.empty(2 * (begin + count), np.int64)
            more[:begin], more_labels[:begin] = vertices[:begin], labels[:begin]
            vertices, labels = more, more_labels
        for k in range(count):
            vertices[begin + k, 0], vertices[begin + k, 1], labels[begin + k] = cell[k, 0], cell[k, 1], across[k]
    return vertices[: first[n]], first, labels[: first[n]], area, area.copy(), centroid, cost


_NEAR, _FAR = (6.0 - math.sqrt(15.0)) / 21.0, (6.0 + math.sqrt(15.0)) / 21.0
_NEAR_WEIGHT, _FAR_WEIGHT = (155.0 - math.sqrt(15.0)) / 1200.0, (155.0 + math.sqrt(15.0)) / 1200.0
RADON = np.array(
    [(1.0 / 3.0, 1.0 / 3.0, 0.225)]
    + [(a, b, _NEAR_WEIGHT) for a, b in ((_NEAR, _NEAR), (_NEAR, 1 - 2 * _NEAR), (1 - 2 * _NEAR, _NEAR))]
    + [(a, b, _FAR_WEIGHT) for a, b in ((_FAR, _FAR), (_FAR, 1 - 2 * _FAR), (1 - 2 * _FAR, _FAR))]
)
"""Nodes of Radon's rule, (7, 3): two of the three barycentric coordinates, and the share of the triangle's area."""


def _weighed(points: np.ndarray, cells: Cells, density: Density, fineness: int) -> Cells:
    """Return cells with mass, centroid and cost of a density."""
    first = cells.first
    nodes, weights = _nodes(cells.vertices, first, cells.centroid, _parts(fineness))
    values = np.asarray(density(nodes.reshape(-1, 2)), float)
    if values.shape != (nodes.size // 2,) or not np.isfinite(values).all() or (values < 0).any():
        raise InvalidValueError("the density must return one finite number, at least 0, for each point of (k, 2)")
    mass, centroid, cost = _sums(points, cells.centroid, first, nodes, weights * values.reshape(weights.shape))
    return cells._replace(mass=mass, centroid=centroid, cost=cost)


def _parts(fineness: int) -> np.ndarray:
    """Return Radon's nodes of a triangle in fineness² equal ones: barycentric coordinates and share, (k, 3)."""
    parts = []
    for a in range(fineness):
        for b in range(fineness - a):
            parts.append((np.array([a, b, 0.0]) + RADON) / (fineness, fineness, fineness**2))
            if a + b + 2 <= fineness:  # the triangle that points the other way
                turned = np.array([a + 1.0, b + 1.0, 0.0]) + RADON * (-1.0, -1.0, 1.0)
                parts.append(turned / (fineness, fineness, fineness**2))
    return np.concatenate(parts)


@kernel
def _nodes(vertices, first, centre, parts):
    """Return the nodes of each triangle between a cell's centre and an edge, (k, p, 2) [m], and weights (k, p) [m²]."""
    nodes, weights = np.empty((len(vertices), len(parts), 2)), np.empty((len(vertices), len(parts)))
    for i in range(len(first) - 1):
        x, y = centre[i, 0], centre[i, 1]
        for k in range(first[i], first[i + 1]):
            after = k + 1 if k + 1 < first[i + 1] else first[i]
            ax, ay = vertices[k, 0] - x, vertices[k, 1] - y
            bx, by = vertices[after, 0] - x, vertices[after, 1] - y
            area = 0.5 * (ax * by - ay * bx)
            for p in range(len(parts)):
                nodes[k, p, 0] = x + parts[p, 0] * ax + parts[p, 1] * bx
                nodes[k, p, 1] = y + parts[p, 0] * ay + parts[p, 1] * by
                weights[k, p] = area * parts[p, 2]
    return nodes, weights


@kernel
def _sums(points, centre, first, nodes, weights):
    """Return mass (n,), centroid (n, 2) and cost (n,) of weighed nodes; a cell without mass keeps its centre."""
    n = len(first) - 1
    mass, centroid, cost = np.zeros(n), np.empty((n, 2)), np.zeros(n)
    for i in range(n):
        sx = sy = 0.0
        for k in range(first[i], first[i + 1]):
            for p in range(nodes.shape[1]):
                x, y, w = nodes[k, p, 0], nodes[k, p, 1], weights[k, p]
                mass[i] += w
                sx += w * x
                sy += w * y
                cost[i] += w * ((x - points[i, 0]) ** 2 + (y - points[i, 1]) ** 2)
        if mass[i] > 0.0:
            centroid[i, 0], centroid[i, 1] = sx / mass[i], sy / mass[i]
        else:
            centroid[i, 0], centroid[i, 1] = centre[i, 0], centre[i, 1]
    return mass, centroid, cost
