import math

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.results.statistics import best_fleet_size, performance_profile, speed_up

# Linardakis et al. 2024, nearest frontier on 15 x 15 mazes: agents -> rounds, cost
ROUNDS = {1: 88.0, 2: 49.0, 4: 28.0, 6: 19.7, 8: 15.1, 10: 12.1}
COST = {1: 88.0, 2: 95.5, 4: 102.1, 6: 100.2, 8: 93.6, 10: 84.8}


def test_speed_up_and_efficiency_of_published_times():
    s, efficiency = speed_up(list(ROUNDS), list(ROUNDS.values()))
    assert s == pytest.approx([88 / t for t in ROUNDS.values()])
    assert efficiency == pytest.approx([88 / t / n for n, t in ROUNDS.items()])


def test_speed_up_of_a_time_that_was_not_reached_is_none():
    s, _ = speed_up([1, 2, 3], [100.0, math.inf, 25.0])
    assert np.isnan(s[1])
    assert s[2] == 4.0
    with pytest.raises(InvalidValueError, match="one robot"):
        speed_up([2, 3], [1.0, 2.0])


def test_best_fleet_of_clear_samples_has_a_narrow_interval():
    runs = {n: t + np.linspace(-0.5, 0.5, 7) for n, t in ROUNDS.items()}
    best = best_fleet_size(runs)
    assert (best.size, best.value) == (10, pytest.approx(12.1))
    assert (best.interval.low, best.interval.high, best.interval.kind) == (10, 10, "bootstrap")


def test_cost_moves_the_best_fleet():
    """T/T(1) + lambda cost/cost(1) by hand: at lambda 5 one robot costs 6, ten 0.1375 + 4.818, eight 5.49."""
    times, costs = {n: [t] for n, t in ROUNDS.items()}, {n: [c] for n, c in COST.items()}
    values = {n: ROUNDS[n] / 88 + 5 * COST[n] / 88 for n in ROUNDS}
    best = best_fleet_size(times, costs, weight=5.0)
    assert (best.size, best.value) == (min(values, key=values.get), pytest.approx(min(values.values())))
    without_ten = [{n: d[n] for n in (1, 2, 4)} for d in (times, costs)]
    assert best_fleet_size(*without_ten, weight=0.1).size == 4
    assert best_fleet_size(*without_ten, weight=6.0).size == 1


def test_overlapping_samples_have_a_wide_interval():
    rng = np.random.default_rng(6)
    runs = {n: rng.normal(100 / min(n, 6), 3.0, 20) for n in range(1, 11)}
    interval = best_fleet_size(runs).interval
    assert interval.low >= 6
    assert interval.high > interval.low
    assert best_fleet_size(runs).interval == interval


def test_below_six_runs_the_range_of_what_each_iteration_finds_best():
    best = best_fleet_size({1: [9.0, 9.0, 9.0], 2: [5.0, 6.0, 8.0], 3: [6.0, 5.0, 7.0], 4: [8.0, 8.0, math.inf]})
    assert best.size == 2  # medians 6 and 6: the smaller fleet
    assert (best.interval.low, best.interval.high, best.interval.kind) == (2, 3, "range")


def test_a_fleet_that_mostly_fails_is_never_the_best():
    assert best_fleet_size({1: [50.0, 60.0, 70.0], 2: [1.0, math.inf, math.inf]}).size == 1
    assert best_fleet_size({1: [math.inf], 2: [math.inf]}) is None
    with pytest.raises(InvalidValueError, match="T\\(1\\)"):
        best_fleet_size({1: [math.inf], 2: [3.0]}, {1: [1.0], 2: [2.0]}, weight=1.0)
    with pytest.raises(InvalidValueError, match="costs"):
        best_fleet_size({1: [5.0]}, weight=1.0)


def test_performance_profile_by_its_definition():
    """Dolan & Moré 2002, (2.1): counted one by one; b fails on the third problem, all on the last."""
    times = np.array([[10.0, 20.0, 15.0], [30.0, 30.0, 90.0], [5.0, math.inf, 4.0], [math.inf] * 3])
    profile = performance_profile(times)
    assert profile.ratios.tolist() == [1.0, 1.25, 1.5, 2.0, 3.0]
    for tau, row in zip(profile.ratios, profile.share, strict=True):
        solved = [sum(t <= tau * min(p) for p in times.tolist()[:3] for t in [p[s]]) / 4 for s in range(3)]
        assert row.tolist() == solved
    assert profile.share[0].tolist() == [0.5, 0.25, 0.25]  # how often each is the best
    assert profile.share[-1].tolist() == [0.75, 0.5, 0.75]  # how often each gets there


def test_profiles_need_positive_numbers():
    for wrong in ([[0.0, 1.0]], [1.0, 2.0], [[math.nan, 1.0]]):
        with pytest.raises(InvalidValueError, match="above 0"):
            performance_profile(wrong)
