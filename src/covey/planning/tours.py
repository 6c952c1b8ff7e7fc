"""Tours through all waypoints: near-shortest (Christofides) and nearest neighbour."""

import numpy as np

from covey.lazy import nx


def nearest_neighbour_tour(distance: np.ndarray, start: int = 0) -> list[int]:
    """Return the order of the waypoints if a robot always goes to the nearest one not yet visited.

    Args:
        distance: path lengths [m], (k, k).
        start: the first waypoint; ties go to the smaller index.

    Examples:
        >>> place = np.array([0.0, 5.0, 2.0, 3.0])
        >>> nearest_neighbour_tour(abs(place[:, None] - place))
        [0, 2, 3, 1]
    """
    tour, left = [start], np.ones(len(distance), bool)
    left[start] = False
    while left.any():
        tour.append(int(np.argmin(np.where(left, distance[tour[-1]], np.inf))))
        if not left[tour[-1]]:  # the rest cannot be reached
            return tour[:-1]
        left[tour[-1]] = False
    return tour


def christofides_tour(distance: np.ndarray) -> list[int]:
    """Return a tour from waypoint 0 that is at most 1.5 times as long as the shortest one.

    Args:
        distance: path lengths [m], (k, k), finite, with the triangle inequality.

    References:
        N. Christofides: Worst-case analysis of a new heuristic for the travelling salesman problem. CMU, 1976;
        `networkx.approximation.christofides`.
        Y. Chevaleyre: Theoretical analysis of the multi-agent patrolling problem. IAT 2004 (the single cycle).
    """
    k = len(distance)
    if k < 4:
        return list(range(k))
    graph = nx.Graph()
    graph.add_weighted_edges_from((i, j, float(distance[i, j])) for i in range(k) for j in range(i + 1, k))
    tour = [int(i) for i in nx.approximation.christofides(graph)[:-1]]
    at = tour.index(0)
    return tour[at:] + tour[:at]


def spaced_entry(distance: np.ndarray, tour: list[int], rank: int, count: int) -> int:
    """Return the index into the tour at which robot ``rank`` of ``count`` joins it; robots are spaced evenly by length.

    Examples:
        >>> place = np.array([0.0, 1.0, 2.0, 3.0])
        >>> [spaced_entry(abs(place[:, None] - place), [0, 1, 2, 3], r, 2) for r in range(2)]
        [0, 3]
    """
    legs = distance[tour, np.roll(tour, -1)]
    along = np.cumsum(legs) - legs
    return int(np.argmin(np.abs(along - rank / count * legs.sum())))
