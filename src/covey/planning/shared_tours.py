"""Tours of several robots that together visit all places, the longest of which is short."""

import math

import numpy as np

_ROUNDS = 20


def shared_tours(start: np.ndarray, between: np.ndarray, dwell: float = 0.0) -> list[list[int]]:
    """Return for each robot the places that it visits, in order; nobody returns.

    Places are inserted where the longest tour, and then the sum of all tours, grows least. Then single places move, and
    stretches of tours are turned around, while that helps. This is done with the farthest place first and with the
    nearest first; the better result counts.

    Args:
        start: float64 (n, k), cost from each robot to each place; inf: it cannot go there.
        between: float64 (k, k), cost from place to place, symmetric.
        dwell: cost of the stay at a place.

    Returns:
        n lists; a place that nobody can reach is in none.

    References:
        P. M. Franca, M. Gendreau, G. Laporte, F. M. Mueller: The m-traveling salesman problem with minmax objective.
        Transportation Science 29(3), 1995 (the problem).

    Examples:
        >>> place = np.array([-4.0, -3.0, 2.0, 6.0])
        >>> shared_tours(abs(np.array([[0.0], [1.0]]) - place), abs(place[:, None] - place))
        [[1, 0], [2, 3]]
    """
    nearest = start.min(axis=0, initial=np.inf)
    order = [goal for goal in np.argsort(-nearest, kind="stable").tolist() if math.isfinite(nearest[goal])]
    tried = [_arranged(goals, start, between, dwell) for goals in (order, order[::-1])]
    return min(tried, key=lambda tours: _quality(tours, start, between, dwell))


def _arranged(order: list[int], start: np.ndarray, between: np.ndarray, dwell: float) -> list[list[int]]:
    """Return tours with places inserted in an order, then moved while that helps."""
    tours: list[list[int]] = [[] for _ in range(len(start))]
    for goal in order:
        _insert(goal, tours, start, between, dwell)
    for _ in range(_ROUNDS):
        before = _quality(tours, start, between, dwell)
        for goal in order:
            kept = [list(tour) for tour in tours]
            for tour in tours:
                if goal in tour:
                    tour.remove(goal)
            _insert(goal, tours, start, between, dwell)
            if _quality(tours, start, between, dwell) > _quality(kept, start, between, dwell):
                tours = kept
        for i, tour in enumerate(tours):
            tours[i] = _turned(tour, i, start, between)
        if _quality(tours, start, between, dwell) >= before:
            break
    return tours


def tour_cost(tour: list[int], robot: int, start: np.ndarray, between: np.ndarray, dwell: float = 0.0) -> float:
    """Return the cost of one tour; see `shared_tours`."""
    if not tour:
        return 0.0
    return float(start[robot, tour[0]] + between[tour[:-1], tour[1:]].sum() + dwell * len(tour))


def _quality(tours: list[list[int]], start: np.ndarray, between: np.ndarray, dwell: float) -> tuple[float, float]:
    costs = [tour_cost(tour, i, start, between, dwell) for i, tour in enumerate(tours)]
    return round(max(costs), 9), round(sum(costs), 9)


def _insert(goal: int, tours: list[list[int]], start: np.ndarray, between: np.ndarray, dwell: float) -> None:
    """Insert a place where the longest tour, and then their sum, grows least."""
    costs = np.array([tour_cost(tour, i, start, between, dwell) for i, tour in enumerate(tours)])
    best: tuple[float, float, int, int] | None = None
    for i, tour in enumerate(tours):
        if not math.isfinite(start[i, goal]):
            continue
        to = np.append(start[i, goal], between[tour, goal])  # from what is before it
        after = np.append(between[goal, tour], 0.0)
        saved = np.append(start[i, tour[:1]], between[tour[:-1], tour[1:]]) if tour else np.empty(0)
        added = to + after - np.append(saved, 0.0) + dwell
        p = int(added.argmin())
        longest = max(float(np.delete(costs, i).max(initial=0.0)), float(costs[i] + added[p]))
        found = round(longest, 9), round(float(added[p]), 9), i, p
        best = found if best is None else min(best, found)
    if best is not None:
        tours[best[2]].insert(best[3], goal)


def _turned(tour: list[int], robot: int, start: np.ndarray, between: np.ndarray) -> list[int]:
    """Return the tour after turning stretches around while that makes it shorter (2-opt of an open tour)."""
    better = True
    while better:
        better = False
        for a in range(len(tour) - 1):
            for b in range(a + 1, len(tour)):
                come = start[robot] if a == 0 else between[tour[a - 1]]
                gain = come[tour[a]] - come[tour[b]]
                if b + 1 < len(tour):
                    gain += between[tour[b], tour[b + 1]] - between[tour[a], tour[b + 1]]
                if gain > 1e-9:
                    tour = [*tour[:a], *reversed(tour[a : b + 1]), *tour[b + 1 :]]
                    better = True
    return tour
