"""Freireich's trial of 6-MP in leukaemia, weeks of remission: the worked example of Klein & Moeschberger (2003), tables
1.1, 4.1 and section 7.3, and of Kleinbaum & Klein, Survival analysis (2012), chapters 1 and 2."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from covey.errors import InvalidValueError
from covey.results.statistics import kaplan_meier, log_rank, log_rank_in_pairs

TREATED = np.array([6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35.0])
RELAPSED = np.array([1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0], bool)
PLACEBO = np.array([1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23.0])
ALL = np.ones(21, bool)
# Klein & Moeschberger, table 4.1: week, S, its standard error
PUBLISHED = [
    (6, 0.857, 0.0764),
    (7, 0.807, 0.0869),
    (10, 0.753, 0.0963),
    (13, 0.690, 0.1068),
    (16, 0.627, 0.1141),
    (22, 0.538, 0.1282),
    (23, 0.448, 0.1346),
]


def test_kaplan_meier_is_that_of_the_textbook():
    curve = kaplan_meier(TREATED, RELAPSED)
    assert (curve.n, curve.reached) == (21, 9)
    for week, share, error in PUBLISHED:
        at = np.flatnonzero(curve.times_s == week)[0]
        assert curve.share[at] == pytest.approx(share, abs=6e-4)
        s = curve.share[at]
        spread = norm.ppf(0.975) * error / (s * abs(np.log(s)))  # (4.3.2) with the published Greenwood error
        assert curve.low[at] == pytest.approx(s ** np.exp(spread), abs=1e-3)
        assert curve.high[at] == pytest.approx(s ** np.exp(-spread), abs=1e-3)


def test_median_and_restricted_mean_of_the_trial():
    treated, placebo = kaplan_meier(TREATED, RELAPSED), kaplan_meier(PLACEBO, ALL)
    assert treated.median_s == 23  # Kleinbaum & Klein, chapter 2
    assert placebo.median_s == 8
    assert treated.restricted_mean_s(35) == pytest.approx(23.29, abs=0.005)  # R: print(survfit(...), rmean = 35)
    assert placebo.restricted_mean_s(35) == pytest.approx(PLACEBO.mean())  # without censoring the plain mean
    assert treated.restricted_mean_s(3) == 3  # nobody had relapsed


def test_quantiles_without_censoring_are_the_usual_ones():
    for values in ([3.0, 1.0, 2.0], [4.0, 1.0, 2.0, 7.0]):
        assert kaplan_meier(values, [True] * len(values)).median_s == np.median(values)


@pytest.mark.parametrize(
    ("reached", "median"),
    [([True, True, True, False], 25.0), ([True, True, False, False], None), ([False] * 4, None)],
)
def test_there_is_no_median_when_half_of_the_runs_time_out(reached, median):
    times = np.where(reached, [10.0, 20.0, 30.0, 40.0], 60.0)
    assert kaplan_meier(times, reached).median_s == median


def test_restricted_mean_counts_a_timeout_with_the_timeout():
    assert kaplan_meier([10.0, 60.0], [True, False]).restricted_mean_s(60.0) == 35.0


def test_log_rank_is_that_of_the_textbook():
    found = log_rank(TREATED, RELAPSED, PLACEBO, ALL)
    assert found.statistic == pytest.approx(9 - 19.25, abs=0.005)  # R: survdiff, observed 9, expected 19.25
    assert found.smallest_p < found.p < 4.17e-5 * 2  # R: survdiff by chi-squared, p = 4e-05


@pytest.mark.parametrize("n", [3, 4, 5])
def test_log_rank_of_few_runs_is_that_of_all_splits(n):
    """Three against three runs: the clearest of 20 splits and its mirror give 0.1, where chi-squared says 0.025."""
    apart = log_rank(np.arange(1.0, n + 1), ALL[:n], np.arange(n + 1.0, 2 * n + 1), ALL[:n])
    assert apart.p == apart.smallest_p == pytest.approx(2 / math.comb(2 * n, n))
    times, done = np.random.default_rng(n).permutation(np.arange(1.0, 2 * n + 1)), np.arange(2 * n) % 4 != 3
    sums = []
    for chosen in itertools.combinations(range(2 * n), n):
        first = np.isin(np.arange(2 * n), chosen)
        sums.append(log_rank(times[first], done[first], times[~first], done[~first]).statistic)
    tails = [np.mean(np.array(sums) <= sums[0] + 1e-9), np.mean(np.array(sums) >= sums[0] - 1e-9)]
    found = log_rank(times[:n], done[:n], times[n:], done[n:])
    assert found.p == pytest.approx(min(1.0, 2 * min(tails)), abs=0.03)


def test_log_rank_in_pairs_exchanges_the_labels_of_a_block():
    a, b = np.arange(1.0, 7.0), np.arange(11.0, 17.0)
    assert log_rank_in_pairs(a, ALL[:6], b, ALL[:6]).p == 2 / 2**6
    twice = log_rank_in_pairs(np.tile(a, 2), ALL[:12], np.tile(b, 2), ALL[:12], np.tile(np.arange(6), 2))
    assert twice.p == 2 / 2**6, "the same seeds in two settings say no more"
    settings = np.repeat([0, 1], 6)
    apart = log_rank_in_pairs(np.tile(a, 2), ALL[:12], np.tile(b, 2), ALL[:12], np.tile(np.arange(6), 2), settings)
    assert apart.statistic == pytest.approx(2 * log_rank(a, ALL[:6], b, ALL[:6]).statistic)


def test_log_rank_agrees_with_observed_minus_expected():
    a, b = np.array([2.0, 3, 5, 9]), np.array([4.0, 6, 7, 9])
    done_a, done_b = np.array([1, 1, 1, 0], bool), np.array([1, 0, 1, 0], bool)
    difference = 0.0
    for t in np.unique(np.concatenate((a[done_a], b[done_b]))):
        at_risk, n = (a >= t).sum(), (a >= t).sum() + (b >= t).sum()
        d = (done_a & (a == t)).sum() + (done_b & (b == t)).sum()
        difference += (done_a & (a == t)).sum() - d * at_risk / n
    assert log_rank(a, done_a, b, done_b).statistic == pytest.approx(difference)


def test_log_rank_of_runs_that_all_time_out_or_end_together_finds_nothing():
    assert log_rank([60.0, 60.0], [False] * 2, [60.0], [False]).p == 1.0
    assert log_rank([60.0, 60.0], [True] * 2, [60.0], [True]).p == 1.0


def test_no_split_of_the_runs_is_more_extreme_than_the_smallest_p():
    rng = np.random.default_rng(1)
    times, done = rng.permutation(np.arange(1.0, 11.0)), np.arange(10) < 7
    for _ in range(50):
        order = rng.permutation(10)
        a, b = order[:4], order[4:]
        found = log_rank(times[a], done[a], times[b], done[b])
        assert found.p >= found.smallest_p


@pytest.mark.parametrize(
    ("times", "reached"), [([], []), ([1.0], [True, False]), ([np.inf], [False]), ([-1.0], [True])]
)
def test_what_is_no_time_is_refused(times, reached):
    with pytest.raises(InvalidValueError, match="finite time"):
        kaplan_meier(times, reached)


def test_times_of_one_run_count_as_one_in_the_interval():
    rng = np.random.default_rng(0)
    once = rng.exponential(100.0, 40)
    alone = kaplan_meier(once, np.ones(40, bool), runs=np.arange(40))
    plain = kaplan_meier(once, np.ones(40, bool))
    five = kaplan_meier(np.repeat(once, 5), np.ones(200, bool), runs=np.repeat(np.arange(40), 5))
    np.testing.assert_allclose(five.share, plain.share, atol=1e-12)
    np.testing.assert_allclose(five.low, alone.low, atol=1e-12)  # five copies say no more than one
    np.testing.assert_allclose(five.high, alone.high, atol=1e-12)
    middle = (plain.share > 0.2) & (plain.share < 0.8)
    spread = 1.96 * np.sqrt(plain.share * (1 - plain.share) / 40)  # of a share of 40 independent runs
    np.testing.assert_allclose((alone.high - alone.low)[middle], 2 * spread[middle], rtol=0.2)
    few = kaplan_meier([1.0, 2.0, 3.0, 4.0], [True] * 4, runs=[0, 0, 1, 1])
    assert np.isnan(few.low).all()


def test_an_interval_of_whole_runs_with_censoring_agrees_with_greenwoods():
    curve, runs = kaplan_meier(TREATED, RELAPSED), kaplan_meier(TREATED, RELAPSED, runs=np.arange(21))
    np.testing.assert_allclose(runs.share, curve.share)
    for week, _, _ in PUBLISHED:
        at = np.flatnonzero(runs.times_s == week)[0]
        assert runs.low[at] == pytest.approx(curve.low[at], abs=0.01)
        assert runs.high[at] == pytest.approx(curve.high[at], abs=0.01)
