"""Orders of goals for expected-time search: by hand, against all orders, and what cannot be reached."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from covey.planning.search_order import expected_cost, search_order


def places(rng, n, k):
    """Random robots and goals in a square, and their distances."""
    robots, goals = rng.uniform(0, 10, (n, 2)), rng.uniform(0, 10, (k, 2))
    start = np.hypot(*(robots[:, None] - goals[None]).transpose(2, 0, 1))
    return start, np.hypot(*(goals[:, None] - goals[None]).transpose(2, 0, 1)), rng.uniform(0.1, 5, k)


def best(start, between, weight, dwell, targets=1):
    """The least cost over all orders and all ways to share the goals."""
    n, k = start.shape
    least = np.inf
    for order in permutations(range(k)):
        for cuts in np.ndindex(*(k + 1,) * (n - 1)):
            ends = [0, *sorted(cuts), k]
            parts = [list(order[a:b]) for a, b in pairwise(ends)]
            least = min(least, expected_cost(parts, start, between, weight, dwell, targets))
    return least


def test_the_cost_is_the_sum_of_weight_and_arrival():
    start, between = np.array([[2.0, 5.0]]), np.array([[0.0, 4.0], [4.0, 0.0]])
    # Goal 0 at 2 + 1, goal 1 at 3 + 4 + 1.
    assert expected_cost([[0, 1]], start, between, np.array([10.0, 1.0]), 1.0) == 10 * 3 + 8


def test_a_heavy_goal_farther_away_may_come_first():
    start, between = np.array([[1.0, 3.0]]), np.array([[0.0, 4.0], [4.0, 0.0]])
    assert search_order(start, between, np.array([1.0, 1.0])) == [[0, 1]]  # 1 + 5 against 3 + 7
    assert search_order(start, between, np.array([1.0, 9.0])) == [[1, 0]]  # 27 + 7 against 1 + 45


def test_the_cost_for_several_targets_is_the_time_of_the_last_find():
    """Of two targets with shares 0.75 and 0.25 of the goals, both are at the first one with 0.5625."""
    start, between = np.array([[2.0, 5.0]]), np.array([[0.0, 4.0], [4.0, 0.0]])
    cost = expected_cost([[0, 1]], start, between, np.array([3.0, 1.0]), 1.0, 2)
    assert cost == pytest.approx(4.0 * (0.5625 * 3.0 + 0.4375 * 8.0))


def test_a_small_goal_nearby_is_not_left_behind_if_the_last_of_several_targets_counts():
    start, between = np.array([[1.0, 6.0]]), np.array([[0.0, 7.0], [7.0, 0.0]])
    weight = np.array([1.0, 10.0])
    assert search_order(start, between, weight) == [[1, 0]]  # 60 + 13 against 1 + 80
    assert search_order(start, between, weight, targets=5) == [[0, 1]]


def test_the_first_searcher_begins_with_the_goal_that_it_is_told():
    rng = np.random.default_rng(5)
    for _ in range(10):
        start, between, weight = places(rng, 2, 5)
        for goal in range(5):
            orders = search_order(start, between, weight, 0.5, first=goal)
            assert orders[0][0] == goal
            assert sorted(one for own in orders for one in own) == list(range(5))


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("robots", [1, 2])
def test_orders_are_nearly_the_best_of_all(robots, targets):
    rng = np.random.default_rng(4)
    ratios = []
    for _ in range(15):
        start, between, weight = places(rng, robots, 5)
        orders = search_order(start, between, weight, 0.5, targets)
        assert sorted(goal for own in orders for goal in own) == list(range(5))
        least = best(start, between, weight, 0.5, targets)
        ratios.append(expected_cost(orders, start, between, weight, 0.5, targets) / least)
    assert min(ratios) >= 1 - 1e-9
    assert np.mean(ratios) < 1.02
    assert max(ratios) < 1.15


def test_what_nobody_can_reach_is_left_out_and_what_one_can_is_given_to_that_one():
    start = np.array([[1.0, np.inf, np.inf], [np.inf, 2.0, np.inf]])
    assert search_order(start, np.ones((3, 3)), np.ones(3)) == [[0], [1]]
    assert search_order(np.empty((1, 0)), np.empty((0, 0)), np.empty(0)) == [[]]


def test_two_searchers_exchange_what_each_would_cross_the_floor_for():
    """One is below, one above, each near to two of the goals; moves of single goals leave them with each other's."""
    robots, goals = np.array([[2.0, 2.0], [3.0, 5.0]]), np.array([[2.0, 1.0], [4.0, 0.0], [8.0, 5.0], [6.0, 7.0]])
    start = np.hypot(*(robots[:, None] - goals[None]).transpose(2, 0, 1))
    between, weight = np.hypot(*(goals[:, None] - goals[None]).transpose(2, 0, 1)), np.ones(4)
    assert search_order(start, between, weight, targets=5) == [[0, 1], [3, 2]]


def test_what_one_searcher_cannot_reach_is_not_exchanged():
    rng = np.random.default_rng(6)
    for _ in range(20):
        start, between, weight = places(rng, 2, 6)
        start[0, :2], start[1, 2:4] = np.inf, np.inf
        orders = search_order(start, between, weight, 0.5, 5)
        assert not {0, 1} & set(orders[0])
        assert not {2, 3} & set(orders[1])
        assert sorted(goal for own in orders for goal in own) == list(range(6))
