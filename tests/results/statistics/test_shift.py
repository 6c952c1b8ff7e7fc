"""The Hodges-Lehmann shift beside SciPy's tests: its interval is where their p crosses 1 - level."""

import math

import numpy as np
import pytest
from scipy import stats

from covey.results.statistics import mean_difference, mean_difference_in_pairs, shift, shift_in_pairs, walsh_share

INF = math.inf


def test_the_shift_of_hollander_and_wolfe_in_pairs():
    """Depression scores before and after, Hollander & Wolfe 1973, p. 29: the median Walsh average is 0.46."""
    first = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    second = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    found, interval = shift_in_pairs(first, second)
    assert found == pytest.approx(0.46)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.01, 0.786))
    assert str(interval) == "95 % rank test interval"


@pytest.mark.parametrize("n", [6, 9, 20])
def test_the_interval_of_pairs_is_where_scipys_p_crosses_5_percent(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(3, 4, n), rng.normal(0, 4, n)
    _, interval = shift_in_pairs(a, b)
    assert interval is not None
    for end, outward in ((interval.low, -1), (interval.high, 1)):
        inside, outside = (stats.wilcoxon(a - b - (end + s * outward), method="exact").pvalue for s in (-1e-6, 1e-6))
        assert outside <= 0.05 < inside


@pytest.mark.parametrize(("n", "m"), [(4, 4), (3, 5), (8, 6), (10, 10)])
def test_the_interval_of_two_samples_is_where_scipys_p_crosses_5_percent(n, m):
    rng = np.random.default_rng(n * m)
    a, b = rng.normal(3, 4, n), rng.normal(0, 4, m)
    found, interval = shift(a, b)
    assert found == pytest.approx(np.median(np.subtract.outer(a, b)))
    assert interval is not None
    for end, outward in ((interval.low, -1), (interval.high, 1)):
        inside, outside = (stats.mannwhitneyu(a - (end + s * outward), b, method="exact").pvalue for s in (-1e-6, 1e-6))
        assert outside <= 0.05 < inside


def test_beyond_fifty_values_the_ends_follow_the_normal_law():
    rng = np.random.default_rng(3)
    a, b = rng.normal(1, 2, 80), rng.normal(0, 2, 80)
    for (_, interval), p in (
        (shift_in_pairs(a, b), lambda d: stats.wilcoxon(a - b - d, method="asymptotic").pvalue),
        (shift(a, b), lambda d: stats.mannwhitneyu(a - d, b, method="asymptotic").pvalue),
    ):
        assert interval is not None
        assert p(interval.low) == pytest.approx(0.05, abs=0.003)
        assert p(interval.high) == pytest.approx(0.05, abs=0.003)


def test_too_few_for_an_interval():
    assert shift_in_pairs([1.0] * 5, [2.0] * 5) == (-1.0, None)  # 2 / 2^5 > 0.05
    assert shift([1.0] * 3, [2.0] * 4) == (-1.0, None)  # 2 / C(7, 3) > 0.05


def test_timeouts_are_further_away_than_any_time():
    found, interval = shift_in_pairs([10.0, 20.0, 30.0, 40.0, 50.0, 60.0], [11.0, 22.0, INF, INF, INF, INF])
    assert found == -INF
    assert interval is not None
    assert (interval.low, interval.high) == (-INF, -1.0)
    assert math.isnan(shift_in_pairs([INF] * 6, [INF] * 6)[0]), "nobody knows"
    assert shift_in_pairs([INF, 1.0], [1.0, INF])[0] == 0.0, "opposite timeouts cancel"
    assert shift([INF, INF, INF], [1.0, 2.0, INF])[0] == INF


def plain_sum(x, y):
    return 0.0 if math.isinf(x) and x == -y else x + y


def samples():
    """Whole numbers with many ties, times over many magnitudes, and both with timeouts on either side."""
    rng = np.random.default_rng(8)
    for n in (1, 7, 250):  # 250 have 31 375 sums: more than are listed
        yield rng.integers(-3, 4, n).astype(float)
        yield rng.normal(0, 1, n) * 10.0 ** rng.integers(-9, 9, n)
        yield np.where(rng.random(n) < 0.3, rng.choice([INF, -INF], n), rng.normal(0, 5, n))
        yield np.full(n, 0.1)


@pytest.mark.parametrize("x", [x for x in samples() if len(x) > 2], ids=lambda x: f"{len(x)}_{x[0]:.2g}")
def test_shifts_and_the_share_of_walsh_are_those_of_all_pairs(x):
    zeros = np.zeros(len(x))
    walsh = sorted(plain_sum(x[i], x[j]) / 2 for i in range(len(x)) for j in range(i, len(x)))
    low, high = walsh[(len(walsh) - 1) // 2], walsh[len(walsh) // 2]
    found, interval = shift_in_pairs(x, zeros)
    assert interval is not None
    if np.isfinite(x).all():
        assert found == pytest.approx(plain_sum(low, high) / 2, abs=1e-9 * np.ptp(x))
    signs = [np.sign(plain_sum(x[i], x[j])) for i in range(len(x)) for j in range(i)]
    assert walsh_share(x, zeros) == np.mean([0.5 + 0.5 * sign for sign in signs])


def test_five_thousand_runs_are_compared():
    """All their pairs would take 200 MB. Shifted values differ by the shift, alternating ones by nothing."""
    n = 5_000
    a = np.random.default_rng(2).exponential(100.0, n).round(3)
    found, interval = shift_in_pairs(a + 7.0, a)
    assert interval is not None
    assert (found, interval.low, interval.high) == pytest.approx((7.0, 7.0, 7.0))
    found, interval = shift(a + 7.0, a)
    assert interval is not None
    assert interval.low < 7.0 < interval.high
    assert found == pytest.approx(7.0, abs=1e-6), "the differences of a sample with itself are symmetric around 0"
    alternating = np.where(np.arange(n) % 2, 1.0, -1.0)
    assert walsh_share(alternating, np.zeros(n)) == 0.5
    assert walsh_share(np.append(alternating, 1.0), np.zeros(n + 1)) > 0.5


def test_the_interval_of_two_means_is_welchs_of_scipy():
    rng = np.random.default_rng(4)
    a, b = rng.exponential(100.0, 9), rng.exponential(60.0, 14)
    found, interval = mean_difference(a, b)
    theirs = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert found == pytest.approx(a.mean() - b.mean())
    assert interval is not None
    assert (interval.low, interval.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))
    late = np.minimum(a, np.sort(a)[1])  # eight of nine at the timeout
    assert mean_difference(late, b)[1] is None


def test_a_mean_of_few_blocks_that_differ_has_no_interval():
    a, b = np.full(20, 300.0), np.full(20, 300.0)
    a[:5] -= np.arange(10.0, 60.0, 10.0)
    assert mean_difference_in_pairs(a, b) == (pytest.approx(-7.5), None)
    a[5] -= 20.0
    assert mean_difference_in_pairs(a, b)[1] is not None


@pytest.mark.parametrize("timeout", [0.9, 1.1])
def test_where_it_is_given_the_interval_of_restricted_means_holds_the_truth(timeout):
    """Lognormal times, one strategy 1.2 times as slow; the truth is the mean of a million times."""
    rng, hits, n = np.random.default_rng(1), [], 15
    many = rng.lognormal(0.0, 0.27, 1_000_000)
    truth = np.minimum(1.2 * many, timeout).mean() - np.minimum(many, timeout).mean()
    for _ in range(100):
        own = rng.normal(0.0, 0.2, n)
        a, b = (np.minimum(by * np.exp(own + rng.normal(0.0, 0.18, n)), timeout) for by in (1.2, 1.0))
        _, interval = mean_difference_in_pairs(a, b)
        if interval is not None:
            hits.append(interval.low <= truth <= interval.high)
    assert len(hits) > 40
    assert np.mean(hits) == pytest.approx(0.95, abs=0.05)
