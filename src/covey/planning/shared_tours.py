"""Tours of several robots that together visit all places, the longest of which is short."""

import numpy as np

from covey.kernel import kernel

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
    n, k = start.shape
    nearest = start.min(axis=0, initial=np.inf)
    first = np.argsort(-nearest, kind="stable")
    first = first[np.isfinite(nearest[first])]
    start, between = np.ascontiguousarray(start, float), np.ascontiguousarray(between, float)
    best = None
    for goals in (first, first[::-1].copy()):
        tours, length = np.full((n, k), -1), np.zeros(n, np.int64)
        quality = _arrange(goals, start, between, dwell, tours, length)
        if best is None or quality < best[0]:
            best = quality, [tours[i, : length[i]].tolist() for i in range(n)]
    return [] if best is None else best[1]


@kernel
def _cost(tour, count, i, start, between, dwell):
    """Return the cost of a robot's tour."""
    cost = dwell * count
    for p in range(count):
        cost += start[i, tour[p]] if p == 0 else between[tour[p - 1], tour[p]]
    return cost


@kernel
def _worth(tours, length, start, between, dwell):
    """Return the longest tour, and the sum of all, rounded so that equal ones are equal."""
    longest, total = 0.0, 0.0
    for i in range(length.size):
        cost = _cost(tours[i], length[i], i, start, between, dwell)
        longest, total = max(longest, cost), total + cost
    return np.floor(longest * 1e9 + 0.5), np.floor(total * 1e9 + 0.5)


@kernel
def _put(goal, start, between, dwell, tours, length):
    """Insert a place where the longest tour, and then their sum, grows least."""
    n = length.size
    costs = np.empty(n)
    for i in range(n):
        costs[i] = _cost(tours[i], length[i], i, start, between, dwell)
    best_i, best_p, best_longest, best_added = -1, 0, np.inf, np.inf
    for i in range(n):
        if not np.isfinite(start[i, goal]):
            continue
        tour, count, at, least = tours[i], length[i], 0, np.inf
        for p in range(count + 1):
            added = dwell + (start[i, goal] if p == 0 else between[tour[p - 1], goal])
            if p < count:
                added += between[goal, tour[p]] - (start[i, tour[0]] if p == 0 else between[tour[p - 1], tour[p]])
            if added < least:
                at, least = p, added
        longest = costs[i] + least
        for other in range(n):
            longest = max(longest, costs[other])
        longest, least = np.floor(longest * 1e9 + 0.5), np.floor(least * 1e9 + 0.5)
        if best_i < 0 or longest < best_longest or (longest == best_longest and least < best_added):
            best_i, best_p, best_longest, best_added = i, at, longest, least
    if best_i >= 0:
        for p in range(length[best_i], best_p, -1):
            tours[best_i, p] = tours[best_i, p - 1]
        tours[best_i, best_p] = goal
        length[best_i] += 1


@kernel
def _take(goal, tours, length):
    """Remove a place from the tours."""
    for i in range(length.size):
        for p in range(length[i]):
            if tours[i, p] == goal:
                for q in range(p, length[i] - 1):
                    tours[i, q] = tours[i, q + 1]
                length[i] -= 1
                return


@kernel
def _turn(tour, count, i, start, between):
    """Turn stretches of a tour around while that makes it shorter (2-opt of an open tour)."""
    better = True
    while better:
        better = False
        for a in range(count - 1):
            for b in range(a + 1, count):
                to_a = start[i, tour[a]] if a == 0 else between[tour[a - 1], tour[a]]
                to_b = start[i, tour[b]] if a == 0 else between[tour[a - 1], tour[b]]
                gain = to_a - to_b
                if b + 1 < count:
                    gain += between[tour[b], tour[b + 1]] - between[tour[a], tour[b + 1]]
                if gain > 1e-9:
                    for p in range((b - a + 1) // 2):
                        tour[a + p], tour[b - p] = tour[b - p], tour[a + p]
                    better = True


@kernel
def _copy(tours, length, to, to_length):
    for i in range(length.size):
        to_length[i] = length[i]
        for p in range(length[i]):
            to[i, p] = tours[i, p]


@kernel
def _arrange(goals, start, between, dwell, tours, length):
    """Insert places one after another, then move them while that helps; return the quality, see `_worth`."""
    for goal in goals:
        _put(goal, start, between, dwell, tours, length)
    kept, kept_length = tours.copy(), length.copy()
    for _ in range(_ROUNDS):
        before = _worth(tours, length, start, between, dwell)
        for goal in goals:
            _copy(tours, length, kept, kept_length)
            now = _worth(tours, length, start, between, dwell)
            _take(goal, tours, length)
            _put(goal, start, between, dwell, tours, length)
            if _worth(tours, length, start, between, dwell) > now:
                _copy(kept, kept_length, tours, length)
        for i in range(length.size):
            _turn(tours[i], length[i], i, start, between)
        if _worth(tours, length, start, between, dwell) >= before:
            break
    return _worth(tours, length, start, between, dwell)


def tour_cost(tour: list[int], robot: int, start: np.ndarray, between: np.ndarray, dwell: float = 0.0) -> float:
    """Return the cost of one tour; see `shared_tours`."""
    if not tour:
        return 0.0
    return float(start[robot, tour[0]] + between[tour[:-1], tour[1:]].sum() + dwell * len(tour))
