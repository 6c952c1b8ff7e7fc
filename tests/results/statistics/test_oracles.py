"""What SciPy has of the same: exact tests of successes, intervals of shares, families, the log-rank law of many runs."""

import numpy as np
import pytest
from scipy import stats

from covey.results import statistics


@pytest.mark.parametrize(("k", "n"), [(0, 8), (1, 8), (5, 8), (30, 30), (17, 64)])
def test_wilsons_interval_is_scipys(k, n):
    theirs = stats.binomtest(k, n).proportion_ci(0.95, "wilson")
    assert statistics.wilson(k, n) == (pytest.approx(theirs.low, abs=1e-12), pytest.approx(theirs.high, abs=1e-12))


def test_success_in_pairs_is_mcnemars_a_binomial_test_of_those_that_differ():
    a, b = np.repeat([1.0, 1.0, 0.0, 0.0], [5, 9, 2, 4]), np.repeat([1.0, 0.0, 1.0, 0.0], [5, 9, 2, 4])
    p, smallest = statistics.flips(a - b)
    assert p == pytest.approx(stats.binomtest(9, 11).pvalue)
    assert smallest == pytest.approx(stats.binomtest(11, 11).pvalue)


@pytest.mark.parametrize(("a", "b"), [(1, 5), (0, 8), (4, 4), (2, 8)])
def test_success_without_pairs_is_fishers_where_the_samples_are_as_large(a, b):
    """Of samples of equal size the law is symmetric, so twice the smaller tail is the sum of all that are no likelier."""
    runs = np.concatenate((np.arange(8) < a, np.arange(8) < b)).astype(float)
    p, _ = statistics.splits(runs, np.arange(16) < 8)
    assert p == pytest.approx(stats.fisher_exact([[a, 8 - a], [b, 8 - b]]).pvalue)


@pytest.mark.parametrize(("b", "c", "n"), [(0, 3, 8), (5, 5, 12), (2, 9, 20), (0, 0, 6), (6, 0, 6)])
def test_the_interval_of_success_in_pairs_is_agresti_and_mins(b, c, n):
    """As in R's PropCIs: (c - b) / (n + 2), and the root of b + c + 1 - (c - b)^2 / (n + 2) over n + 2."""
    first, second = np.zeros(n), np.zeros(n)
    first[:c], second[c : c + b] = 1.0, 1.0
    by, interval = statistics.success_difference_in_pairs(first, second)
    away = stats.norm.ppf(0.975) * np.sqrt(b + c + 1 - (c - b) ** 2 / (n + 2)) / (n + 2)
    middle = (c - b) / (n + 2)
    assert by == pytest.approx((c - b) / n)
    assert (interval.low, interval.high) == pytest.approx((max(-1.0, middle - away), min(1.0, middle + away)))
    twice = statistics.success_difference_in_pairs(np.tile(first, 2), np.tile(second, 2), block=np.tile(range(n), 2))
    assert twice == (by, interval), "a second setting that repeats the first says nothing new"


@pytest.mark.parametrize("n", [6, 8, 10, 15, 30])
def test_the_interval_of_success_in_pairs_holds_the_truth_in_95_percent(n):
    """The mean over chances of 5 to 95 % of each of two, which succeed together more often than not, 200 studies each."""
    rng, hits = np.random.default_rng(n), []
    for p in np.linspace(0.05, 0.95, 7):
        for q in np.linspace(0.05, p, 4):
            shared, own = rng.normal(size=(200, n, 1)) * 0.6, rng.normal(size=(200, n, 2)) * 0.8
            there = (shared + own < stats.norm.ppf([p, q])).astype(float)
            found = [statistics.success_difference_in_pairs(one[:, 0], one[:, 1])[1] for one in there]
            hits += [one.low - 1e-12 <= p - q <= one.high + 1e-12 for one in found]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(
    ("a", "n", "b", "m", "low", "high"),
    [
        (56, 70, 48, 80, 0.0524, 0.3339),
        (9, 10, 3, 10, 0.1705, 0.8090),
        (6, 7, 2, 7, 0.0582, 0.8062),
        (10, 10, 0, 20, 0.6791, 1.0),
    ],
)
def test_the_interval_of_two_shares_is_newcombes_of_his_table(a, n, b, m, low, high):
    """Newcombe 1998, method 10."""
    _, interval = statistics.success_difference((np.arange(n) < a).astype(float), (np.arange(m) < b).astype(float))
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-5)


def test_the_false_discovery_rate_is_scipys():
    p = np.random.default_rng(5).random(40) ** 2
    assert statistics.benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))


def test_the_log_rank_test_of_many_runs_has_scipys_p():
    rng = np.random.default_rng(7)
    a, b = rng.exponential(100.0, 120), rng.exponential(140.0, 130)
    until = 200.0
    theirs = stats.logrank(*(stats.CensoredData.right_censored(np.minimum(x, until), x > until) for x in (a, b)))
    ours = statistics.log_rank(np.minimum(a, until), a <= until, np.minimum(b, until), b <= until)
    assert ours.p == pytest.approx(theirs.pvalue, rel=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_a_test_by_blocks_is_scipys_permutation_of_sums_of_blocks(seed):
    """Three settings of seven seeds, tied and with timeouts: the labels of a seed are exchanged together."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(7), 3)
    a, b = (np.where((x := rng.integers(1, 9, 21).astype(float)) > 7, np.inf, x) for _ in range(2))
    with np.errstate(invalid="ignore"):
        d = np.nan_to_num(a - b, nan=0.0)
    ranks = np.zeros(21)
    ranks[d != 0] = stats.rankdata(np.abs(d[d != 0])) * np.sign(d[d != 0])
    sums = np.bincount(block, ranks)
    theirs = stats.permutation_test((sums, np.zeros(7)), lambda x, y: float(np.sum(x - y)), permutation_type="samples")
    assert statistics.wilcoxon_paired(a, b, block).p == pytest.approx(min(1.0, theirs.pvalue))


def test_friedmans_test_of_many_blocks_has_scipys_statistic_and_its_law():
    values = np.random.default_rng(2).normal(0.0, 1.0, (60, 4)).round(1) + np.array([0.0, 0.1, 0.2, 0.3])
    theirs, ours = stats.friedmanchisquare(*values.T), statistics.friedman(values)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue, rel=0.25)
