"""Expected-time search: in which order several searchers visit goals, so that a target is found soon."""

import numpy as np

from covey.kernel import kernel

_ROUNDS = 8


def search_order(
    start: np.ndarray,
    between: np.ndarray,
    weight: np.ndarray,
    dwell: float | np.ndarray = 0.0,
    targets: int = 1,
    first: int = -1,
) -> list[list[int]]:
    """Return for each searcher the goals that it visits, in order.

    The sum of weight x arrival time is kept small: it is the expected time of the find, if the chance to find the
    target at a goal is proportional to its weight. Of several targets the expected time of the last find is kept small:
    then a small goal is visited when it is near rather than at the end, from far away. Goals are inserted where they
    add least, the best ratio of weight to distance first, or the nearest first; then single goals move, two searchers
    exchange the rest of their orders, and parts of orders are reversed, while that helps. The better orders count.

    Args:
        start: float64 (n, k), cost from each searcher to each goal; inf: it cannot go there.
        between: float64 (k, k), cost from goal to goal.
        weight: float64 (k,), above 0.
        dwell: cost of searching at a goal, of all or float64 (k,).
        targets: how many there are to find.
        first: the goal that the first searcher begins with; -1: any.

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
    nearest = start.min(axis=0, initial=np.inf) + dwell if n else np.full(k, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        sequences = np.argsort(-(weight / (nearest + 1e-9)), kind="stable"), np.argsort(nearest, kind="stable")
    stays = np.full(k, dwell, float)
    table = np.ascontiguousarray(start, float), np.ascontiguousarray(between, float), weight, stays, float(targets)
    best, least = [list[int]() for _ in range(n)], np.inf
    for goals in sequences:
        order, length = np.full((n, k), -1, np.int64), np.zeros(n, np.int64)
        left = goals[np.isfinite(nearest[goals])]
        if first >= 0:
            order[0, 0], length[0], left = first, 1, left[left != first]
        cost = _arrange(*table, left, order, length, first >= 0)
        if cost < least:
            best, least = [order[i, : length[i]].tolist() for i in range(n)], cost
    return best


def expected_cost(
    orders: list[list[int]],
    start: np.ndarray,
    between: np.ndarray,
    weight: np.ndarray,
    dwell: float | np.ndarray = 0.0,
    targets: int = 1,
) -> float:
    """Return the cost of the orders of all searchers, see `search_order`: each one's weight x its expected time.

    The time is that at which the last of some targets is found, if all of them are among the searcher's own goals: with
    the share F of its weight visited before a goal and f at it, it is there with the probability
    (F + f)^targets - F^targets.
    """
    total, stays = 0.0, np.full(len(weight), dwell, float)
    for i, goals in enumerate(orders):
        row = np.array(goals, np.int64)
        total += _cost(row, len(goals), i, start, between, weight, stays, float(targets))
    return total


@kernel
def _cost(goals, count, i, start, between, weight, dwell, targets):
    """Return the cost of one searcher's goals, see `expected_cost`."""
    time, total, at, whole, before = 0.0, 0.0, -1, 0.0, 0.0
    for p in range(count):
        whole += weight[goals[p]]
    for p in range(count):
        goal = goals[p]
        time += (start[i, goal] if at < 0 else between[at, goal]) + dwell[goal]
        if targets > 1.0:
            share = min(before + weight[goal] / whole, 1.0)
            total += whole * (share**targets - before**targets) * time
            before = share
        else:
            total += weight[goal] * time
        at = goal
    return total


@kernel
def _insert_best(goal, start, between, weight, dwell, targets, order, length, is_fixed):
    """Insert a goal where it adds least; ``is_fixed``: not before the first goal of the first searcher."""
    n = order.shape[0]
    trial = np.empty(order.shape[1], np.int64)
    best_i, best_p, least = -1, -1, np.inf
    for i in range(n):
        if not np.isfinite(start[i, goal]):
            continue
        count = length[i]
        before = _cost(order[i], count, i, start, between, weight, dwell, targets)
        for p in range(1 if is_fixed and i == 0 else 0, count + 1):
            trial[:p] = order[i, :p]
            trial[p] = goal
            trial[p + 1 : count + 1] = order[i, p:count]
            added = _cost(trial, count + 1, i, start, between, weight, dwell, targets) - before
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
def _swap_tails(start, between, weight, dwell, targets, order, length, is_fixed):
    """Exchange what two searchers visit from some place on, where that helps; return whether any did."""
    n, k = order.shape
    one, other, helped = np.empty(k, np.int64), np.empty(k, np.int64), False
    for i in range(n):
        for j in range(i + 1, n):
            table = between, weight, dwell, targets
            now = _cost(order[i], length[i], i, start, *table) + _cost(order[j], length[j], j, start, *table)
            best_a, best_b, least = -1, -1, now - 1e-9
            for a in range(1 if is_fixed and i == 0 else 0, length[i] + 1):
                for b in range(length[j] + 1):
                    lost = np.isinf(start[i][order[j, b : length[j]]]).any()
                    if lost or np.isinf(start[j][order[i, a : length[i]]]).any():
                        continue
                    p, q = a + length[j] - b, b + length[i] - a
                    one[:a], one[a:p] = order[i, :a], order[j, b : length[j]]
                    other[:b], other[b:q] = order[j, :b], order[i, a : length[i]]
                    cost = _cost(one, p, i, start, *table) + _cost(other, q, j, start, *table)
                    if cost < least:
                        best_a, best_b, least = a, b, cost
            if best_a >= 0:
                a, b = best_a, best_b
                p, q = a + length[j] - b, b + length[i] - a
                tail = order[i, a : length[i]].copy()
                order[i, a:p] = order[j, b : length[j]]
                order[j, b:q] = tail
                length[i], length[j], helped = p, q, True
    return helped


@kernel
def _reverse(start, between, weight, dwell, targets, order, length, is_fixed):
    """Reverse parts of the orders where that helps; return whether any did."""
    helped = False
    for i in range(order.shape[0]):
        now = _cost(order[i], length[i], i, start, between, weight, dwell, targets)
        for a in range(1 if is_fixed and i == 0 else 0, length[i] - 1):
            for b in range(a + 2, length[i] + 1):
                trial = order[i].copy()
                trial[a:b] = order[i, a:b][::-1]
                cost = _cost(trial, length[i], i, start, between, weight, dwell, targets)
                if cost < now - 1e-9:
                    order[i], now, helped = trial, cost, True
    return helped


@kernel
def _arrange(start, between, weight, dwell, targets, goals, order, length, is_fixed):
    """Insert the goals one after another, then change the orders while that helps; return the cost."""
    after = 0.0
    for goal in goals:
        _insert_best(goal, start, between, weight, dwell, targets, order, length, is_fixed)
    n = order.shape[0]
    for _ in range(_ROUNDS):
        before = 0.0
        for i in range(n):
            before += _cost(order[i], length[i], i, start, between, weight, dwell, targets)
        for goal in goals:
            for i in range(n):
                for p in range(length[i]):
                    if order[i, p] == goal:
                        for q in range(p, length[i] - 1):
                            order[i, q] = order[i, q + 1]
                        length[i] -= 1
                        break
            _insert_best(goal, start, between, weight, dwell, targets, order, length, is_fixed)
        _swap_tails(start, between, weight, dwell, targets, order, length, is_fixed)
        _reverse(start, between, weight, dwell, targets, order, length, is_fixed)
        after = 0.0
        for i in range(n):
            after += _cost(order[i], length[i], i, start, between, weight, dwell, targets)
        if after > before - 1e-9:
            break
    return after
