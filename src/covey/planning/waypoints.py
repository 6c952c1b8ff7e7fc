"""`Waypoints`: the graph of a patrol: points, the path lengths between them, and edges."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.constant import constant
from covey.planning.dijkstra import dijkstra

Connector = Literal["nearest", "relative", "all", "tour"]


@dataclass(frozen=True, eq=False)
class Waypoints:
    """Places to visit, and which of them are neighbours.

    Attributes:
        points: x, y [m] in the world frame, float64 (k, 2).
        distance: length of the shortest path between every two [m], float64 (k, k); inf if there is none.
        edges: pairs of neighbours, int64 (m, 2), each pair once with the smaller index first, sorted.
        within_m: a robot visits a waypoint when its centre is within this distance [m].
    """

    points: np.ndarray
    distance: np.ndarray
    edges: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    within_m: float = 1.0

    def __post_init__(self) -> None:
        for name in ("points", "distance", "edges"):  # all robots and the mission hold the same
            object.__setattr__(self, name, constant(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def neighbours(self) -> tuple[np.ndarray, ...]:
        """The neighbours of each waypoint, ascending."""
        both = np.vstack((self.edges, self.edges[:, ::-1]))
        return tuple(constant(np.sort(both[both[:, 0] == i, 1])) for i in range(len(self)))

    def nearest(self, x: float, y: float) -> int:
        """Return the waypoint nearest to a point [m] in a straight line."""
        return int(np.argmin(np.hypot(self.points[:, 0] - x, self.points[:, 1] - y)))


def path_lengths(passable: np.ndarray, resolution: float, cells: np.ndarray) -> np.ndarray:
    """Return the length of the shortest path over passable cells between every two cells [m], float64 (k, k).

    Args:
        passable: bool (rows, columns).
        resolution: side of a cell [m].
        cells: rows and columns, int (k, 2).
    """
    cost = np.where(passable, np.float32(1.0), np.float32(np.inf)).astype(np.float32)
    lengths = np.empty((len(cells), len(cells)))
    for i, (row, column) in enumerate(cells):
        lengths[i] = dijkstra(cost, (int(row), int(column))).cost[cells[:, 0], cells[:, 1]]
    return resolution * np.minimum(lengths, lengths.T)  # equal apart from rounding


def connect(distance: np.ndarray, how: Connector = "nearest") -> np.ndarray:
    """Return the edges of a waypoint graph, int64 (m, 2), see `Waypoints.edges`.

    Args:
        distance: path lengths [m], (k, k).
        how: ``nearest``: each waypoint with the one nearest to it, and then the closest pair of two islands, again
            and again, until all are connected (a tree, or nearly); ``relative``: two waypoints without a third that is
            nearer to both than they are to each other; ``all``: every two waypoints; ``tour``: along the
            nearest-neighbour tour.

    References:
        MAEPS (2025): reverse nearest neighbours (k = 1) and joining of islands. G. T. Toussaint: The relative
        neighbourhood graph of a finite planar set. Pattern Recognition 12(4), 1980.

    Examples:
        >>> place = np.array([0.0, 1.0, 5.0, 6.0])
        >>> connect(abs(place[:, None] - place)).tolist()
        [[0, 1], [1, 2], [2, 3]]
    """
    k = len(distance)
    if how == "all":
        return np.argwhere(np.triu(np.isfinite(distance), 1))
    if how == "relative":
        between = np.maximum(distance[:, None, :], distance[None, :, :]) < distance[:, :, None]
        np.einsum("iji->ij", between)[:] = np.einsum("ijj->ij", between)[:] = False
        return np.argwhere(np.triu(np.isfinite(distance) & ~between.any(axis=2), 1))
    if how == "tour":
        from covey.planning.tours import nearest_neighbour_tour

        order = nearest_neighbour_tour(distance)
        return as_edges(list(zip(order, np.roll(order, -1).tolist(), strict=True)), k)
    apart = np.where(np.eye(k, dtype=bool), np.inf, distance)
    pairs = [(i, int(np.argmin(apart[i]))) for i in range(k) if np.isfinite(apart[i]).any()]
    island = _islands(pairs, k)
    while len(set(island)) > 1:
        between = np.where(np.not_equal.outer(island, island), apart, np.inf)
        a, b = divmod(int(np.argmin(between)), k)
        if not np.isfinite(between[a, b]):
            break
        pairs.append((a, b))
        island = np.where(island == island[b], island[a], island)
    return as_edges(pairs, k)


def as_edges(pairs: list[tuple[int, int]], count: int) -> np.ndarray:
    """Return pairs as edges, int64 (m, 2): the smaller index first, each once, sorted.

    Raises:
        InvalidValueError: a pair names a waypoint that does not exist, or the same one twice.
    """
    for a, b in pairs:
        if not (0 <= a < count and 0 <= b < count) or (a == b and count > 1):
            raise InvalidValueError(
                f"the edge [{a}, {b}] does not join two of the {count} waypoints; they are numbered 0 to {count - 1}"
            )
    unique = sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b})
    return np.array(unique, np.int64).reshape(-1, 2)


def _islands(pairs: list[tuple[int, int]], count: int) -> np.ndarray:
    island = np.arange(count)
    for a, b in pairs:
        island = np.where(island == island[b], island[a], island)
    return island
