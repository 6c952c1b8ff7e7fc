"""Expected-time search: in which order several searchers visit goals, so that a target is found soon."""

import numpy as np

from covey.kernel import kernel

_ROUNDS = 8


def search_order(start: np.ndarray, between: np.ndarray, weight: np.ndarray, dwell: float = 0.0) -> list[list[int]]:
    """Return for each searcher the goals that it visits, in order.

    The sum of weight x arrival time is kept small: it is the expected time of the find, if the chance to find the
    target at a goal is proportional to its weight. Goals are inserted where they add least, the best ratio of weight to
    distance first; then goals move to better places until none is left to improve.

    Args:
        start: float64 (n, k), cost from each searcher to each goal; inf: it cannot go there.
        between: float64 (k, k), cost from goal to goal.
        weight: float64 (k,), above 0.
        dwell: cost of searching at a goal.

    Returns:
        n lists of goals; a goal that nobody can reach is in none.

    References:
        M. Kulich, J. J. Miranda-Bront, L. Preucil: A meta-heuristic based goal-selection strategy for mobile robot
        search in an unknown environment. Computers and Operations Research 84, 2017 (the objective).
        A. Sarmiento, R. Murrieta-Cid, S. Hutchinson: A multi-robot strategy for rapidly searching a polygonal
        environment. IBERAMIA 2004 (expected time for several searchers).

    Examples:
        >>> start, between = np.array([[4.0, 5.0]]), np.array([[0.0, 9.0], [9.0, 0.0]])
        >>> search_order(start, between, np.array([1.0, 3.0]))  # 3 x 5 + 14 = 29 is less than 4 + 3 x 13 = 43
        [[1, 0]]
    """
    n, k = start.shape
    order, length = np.full((n, k), -1, np.int64), np.zeros(n, np.int64)
    best = start.min(axis=0, initial=np.inf) if n else np.full(k, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.argsort(-(weight / (best + dwell + 1e-9)), kind="stable")
    first = first[np.isfinite(best[first])]
    _arrange(
        np.ascontiguousarray(start, float), np.ascontiguousarray(between, float), weight, dwell, first, order, length
    )
    return [order[i, : length[i]].tolist() for i in range(n)]


def expected_cost(
    orders: list[list[int]], start: np.ndarray, between: np.ndarray, weight: np.ndarray, dwell: float = 0.0
) -> float:
    """Return the sum of weight x arrival time of the orders of all searchers; see `search_order`."""
    total = 0.0
    for i, goals in enumerate(orders):
        row = np.array(goals, np.int64)
        total += _cost(row, len(goals), i, start, between, weight, dwell)
    return total


@kernel
def _cost(goals, count, i, start, between, weight, dwell):
    """Return the sum of weight x arrival time of one searcher's goals."""
    time, total, at = 0.0, 0.0, -1
    for p in range(count):
        goal = goals[p]
        time += (start[i, goal] if at < 0 else between[at, goal]) + dwell
        total += weight[goal] * time
        at = goal
    return total


@kernel
def _insert_best(goal, start, between, weight, dwell, order, length):
    """Insert a goal where it adds least."""
    n = order.shape[0]
    trial = np.empty(order.shape[1], np.int64)
    best_i, best_p, least = -1, -1, np.inf
    for i in range(n):
        if not np.isfinite(start[i, goal]):
            continue
        count = length[i]
        before = _cost(order[i], count, i, start, between, weight, dwell)
        for p in range(count + 1):
            trial[:p] = order[i, :p]
            trial[p] = goal
            trial[p + 1 : count + 1] = order[i, p:count]
            added = _cost(trial, count + 1, i, start, between, weight, dwell) - before
            if added < least:
                best_i, best_p, least = i, p, added
    if best_i < 0:
        return False
    for q in range(length[best_i], best_p, -1):
        order[best_i, q] = order[best_i, q - 1]
    order[best_i, best_p] = goal
    length[best_i] += 1
    return True


@kernel
def _arrange(start, between, weight, dwell, first, order, length):
    """Insert the goals ``first`` one after another, then move single goals while that helps."""
    for goal in first:
        _insert_best(goal, start, between, weight, dwell, order, length)
    n = order.shape[0]
    for _ in range(_ROUNDS):
        before = 0.0
        for i in range(n):
            before += _cost(order[i], length[i], i, start, between, weight, dwell)
        for goal in first:
            for i in range(n):
                for p in range(length[i]):
                    if order[i, p] == goal:
                        for q in range(p, length[i] - 1):
                            order[i, q] = order[i, q + 1]
                        length[i] -= 1
                        break
            _insert_best(goal, start, between, weight, dwell, order, length)
        after = 0.0
        for i in range(n):
            after += _cost(order[i], length[i], i, start, between, weight, dwell)
        if after > before - 1e-9:
            break
