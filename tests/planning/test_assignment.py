"""Who goes where: each rule on costs small enough to work out by hand, and laws that hold for all."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.planning import assignment as by

INF = np.inf


def test_greedy_robots_choose_in_turn():
    # scout0 takes the goal 2 m away although scout1 stands 1 m from it, which is then left with 9 m.
    costs = np.array([[2.0, 3.0], [1.0, 9.0]])
    assert by.greedy_assignment(costs).tolist() == [0, 1]
    assert by.greedy_assignment(costs[::-1]).tolist() == [0, 1]


def test_iterative_deals_the_cheapest_pair_first():
    # (scout1, goal 0) costs 1 and comes first; scout0, nearest to goal 0 as well, gets goal 1.
    assert by.iterative_assignment(np.array([[2.0, 3.0], [1.0, 9.0]])).tolist() == [1, 0]


def test_hungarian_gives_up_the_cheapest_pair_for_the_cheapest_sum():
    # The cheapest pair (scout0, goal 0) costs 1 and leaves 9 for scout1: 10 together; the other way round it is 4.
    costs = np.array([[1.0, 2.0], [2.0, 9.0]])
    assert by.iterative_assignment(costs).tolist() == [0, 1]
    assert by.hungarian_assignment(costs).tolist() == [1, 0]


def test_minpos_goes_where_the_fewest_are_nearer_not_where_it_is_nearest():
    # Three robots one behind the other in a corridor: goal 0 ahead of them, goals 1 and 2 at two doors behind. scout2
    # is nearest to the goal ahead of it (3 m), where two others are nearer: rank 2. At goal 1 (5 m) scout1 (4.5 m) is
    # nearer: rank 1. At goal 2 (6 m) nobody is: rank 0.
    costs = np.array([[1.0, 6.0, 8.0], [2.0, 4.5, 7.0], [3.0, 5.0, 6.0]])
    assert by.nearest(costs[2]) == 0
    assert by.minpos(costs, 2) == 2
    assert by.minpos(costs, 1) == 1
    assert by.minpos(costs, 0) == 0


def test_minpos_takes_the_nearest_of_equal_ranks_and_needs_a_way():
    assert by.minpos(np.array([[4.0, 3.0, INF]]), 0) == 1
    assert by.minpos(np.array([[INF, 7.0], [1.0, 2.0]]), 0) == 1
    assert by.minpos(np.array([[INF, INF]]), 0) == -1


def test_cost_utility_sends_the_second_robot_out_of_the_sight_of_the_first():
    # Sensor range 10 m, goals at x = 0, 2 and 9 m in one room, costs in ranges. scout0 (0.1 from goal 0) takes goal 0:
    # 1 - 0.1 is the best of all. P(0) = 1, P(2 m) = 0.8, P(9 m) = 0.1 leave utilities 0, 0.2 and 0.9; scout1 then
    # values the goals 0 - 0.15, 0.2 - 0.3 and 0.9 - 0.8: it goes to the far one, nearest frontier to goal 0.
    x = np.array([0.0, 2.0, 9.0])
    chance = np.clip(1 - np.abs(x[:, None] - x) / 10, 0, 1)
    costs = np.array([[0.1, 0.3, 0.9], [0.15, 0.3, 0.8]])
    assert by.nearest(costs[1]) == 0
    assert by.cost_utility(costs, chance.__getitem__).tolist() == [0, 2]


def test_with_a_large_beta_coordination_is_lost_and_with_none_the_way_is():
    # "For bigger values of beta the impact of the coordination is decreased; close to 0 the robots ignore the distance."
    chance = np.array([[1.0, 0.5], [0.5, 1.0]])
    costs = np.array([[0.1, 0.5], [0.2, 0.4]])
    assert by.cost_utility(costs, chance.__getitem__, beta=50.0).tolist() == [0, 0]
    assert by.cost_utility(costs, chance.__getitem__, beta=1.0).tolist() == [0, 1]
    assert by.cost_utility(np.array([[0.9, 0.1]]), chance.__getitem__, beta=0.0).tolist() == [0]


RULES = [by.greedy_assignment, by.iterative_assignment, by.hungarian_assignment]
matrices = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: st.lists(
        st.one_of(st.floats(0.1, 100.0), st.just(INF)), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]
    ).map(lambda values: np.array(values).reshape(shape))
)


@pytest.mark.parametrize("rule", RULES)
@given(costs=matrices)
def test_nobody_is_sent_where_it_cannot_get_and_nobody_stays_who_can_go(rule, costs):
    goals = rule(costs)
    for i, goal in enumerate(goals):
        assert (goal >= 0) == np.isfinite(costs[i]).any()
        assert goal < 0 or np.isfinite(costs[i, goal])


@pytest.mark.parametrize("rule", RULES)
def test_more_robots_than_goals_the_rest_follows_to_the_cheapest(rule):
    goals = rule(np.array([[1.0, 5.0], [1.5, 3.0], [2.0, 7.0]]))
    assert sorted(goals.tolist()) == [0, 0, 1]


@given(costs=st.lists(st.floats(0.1, 100.0), min_size=12, max_size=12).map(lambda v: np.array(v).reshape(3, 4)))
def test_hungarian_is_as_cheap_as_the_best_of_all_assignments(costs):
    goals = by.hungarian_assignment(costs)
    best = min(sum(costs[i, j] for i, j in enumerate(chosen)) for chosen in permutations(range(4), 3))
    assert costs[range(3), goals].sum() == pytest.approx(best)
    assert len(set(goals.tolist())) == 3
