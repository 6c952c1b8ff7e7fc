import math

import numpy as np
import pytest
from scipy import stats

from covey.results.statistics import intervals, mean_interval, median_interval, quantile
from covey.results.statistics.intervals import mean_band

# Efron & Tibshirani 1993, table 2.1: survival of treated mice [days]; with 7 values, mean 86.86
MICE = [94.0, 197, 16, 38, 99, 141, 23]


SYMMETRIC = [2.0, 4.0, 5.0, 7.0, 9.0, 10.0, 12.0]


def test_without_skewness_the_interval_of_a_mean_is_students_with_a_degree_of_freedom_less():
    ours, n = mean_interval(SYMMETRIC), len(SYMMETRIC)
    away = stats.t.ppf(0.975, n - 2) * stats.sem(SYMMETRIC)
    assert (ours.low, ours.high) == (pytest.approx(7.0 - away), pytest.approx(7.0 + away))
    assert str(ours) == "95 % corrected t interval"


def test_the_ends_of_a_skewed_mean_are_where_halls_cubic_is_students():
    """g(U) = U + G U^2 / 3 + G^2 U^3 / 27 + G / (6 n) of U = (mean - end) / s, times the root of n - 1, is +-t."""
    values, n = np.array(MICE), len(MICE)
    ours, skewness, t = mean_interval(values), stats.skew(values), stats.t.ppf(0.975, n - 2)
    for end, z in ((ours.low, t), (ours.high, -t)):
        u = (values.mean() - end) / values.std()
        cubic = u + skewness * u**2 / 3 + skewness**2 * u**3 / 27 + skewness / (6 * n)
        assert cubic * np.sqrt(n - 1) == pytest.approx(z)


def test_the_interval_of_a_mean_goes_beyond_the_largest_value_but_not_below_zero_if_no_value_does():
    """A long tail may not have shown itself in six runs; a share is not negative, a difference may be."""
    times = mean_interval([1.0, 1.0, 1.1, 1.1, 1.2, 3.0])
    assert times.high > 3.0
    assert mean_interval([0.0] * 9 + [1.0]).low == 0.0
    assert mean_interval([-0.1] + [0.0] * 8 + [1.0]).low < 0.0


def test_the_interval_of_a_median_has_the_level_of_its_order_statistics():
    """From the k-th to the k-th last of n values: 1 - 2 P(binomial <= k - 1), here 2 / 2^6 outside six values."""
    six = [5.0, 3.0, 9.0, 4.0, 8.0, 7.0]
    interval = median_interval(six, 1.0 - 2 / 2**6)
    assert (interval.low, interval.high) == (3.0, 9.0)
    narrow = median_interval(six, 1.0 - 14 / 2**6)
    assert (narrow.low, narrow.high) == (pytest.approx(4.0), pytest.approx(8.0))
    between = median_interval(six)
    assert 3.0 < between.low < 4.0 < 8.0 < between.high < 9.0
    assert str(between) == "95 % order statistics interval"


@pytest.mark.parametrize("n", [6, 7, 8, 10, 13, 20, 30])
def test_intervals_hold_the_truth_in_95_percent(n):
    """Times to a goal are skewed: a lognormal one has the median 1 and the mean exp(s^2 / 2)."""
    rng = np.random.default_rng(n)
    found = [median_interval(row) for row in rng.lognormal(0.0, 0.3, (3000, n))]
    assert np.mean([i.low <= 1.0 <= i.high for i in found]) == pytest.approx(0.95, abs=0.02)
    for sigma in (0.01, 0.3, 0.6):
        low, high = mean_band(rng.lognormal(0.0, sigma, (20_000, n)).T)
        mean = math.exp(sigma**2 / 2)
        assert np.mean((low <= mean) & (mean <= high)) == pytest.approx(0.95, abs=0.02)


def test_below_six_values_the_range_is_given():
    five = median_interval([5.0, 3.0, 9.0, 4.0, 8.0])
    assert (five.low, five.high, five.kind) == (3.0, 9.0, "range")
    assert mean_interval([5.0, 3.0, 9.0]).kind == "range"


def test_an_end_beyond_the_timeout_is_infinite():
    interval = median_interval([10.0, 11, 12, 13, 14, 15, math.inf, math.inf, math.inf])
    assert interval.high == math.inf
    assert 11.0 <= interval.low <= 12.0
    assert median_interval([1.0, math.inf]).high == math.inf


@pytest.mark.parametrize("block", [1, 1000, 12_345, 10**9])
def test_resamples_are_the_same_however_many_are_drawn_at_a_time(block, monkeypatch):
    whole = np.concatenate(list(intervals.resamples(101, 0, "test")))
    monkeypatch.setattr(intervals, "_BLOCK", block)
    np.testing.assert_array_equal(np.concatenate(list(intervals.resamples(101, 0, "test"))), whole)
    assert whole.shape == (intervals.RESAMPLES, 101)


@pytest.mark.parametrize("p", [0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 10])
def test_quantiles_are_numpys(p, n):
    values = np.random.default_rng(n).normal(size=(3, n))
    assert quantile(values, p) == pytest.approx(np.quantile(values, p, axis=-1, method="averaged_inverted_cdf"))
