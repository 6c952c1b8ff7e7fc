import itertools
import math

import numpy as np
import pytest
from scipy import stats

from covey.errors import InvalidValueError
from covey.results.statistics import (
    a12,
    cliffs_delta,
    friedman,
    holm,
    magnitude,
    mann_whitney,
    wilcoxon_paired,
)
from covey.results.statistics.ranks import differences

INF = math.inf


def enumerated_mann_whitney(a, b):
    """Two-sided p by going through every split of the pooled values."""
    pooled = stats.rankdata(np.concatenate((a, b)))
    sums = [sum(pooled[list(s)]) for s in itertools.combinations(range(len(pooled)), len(a))]
    seen = pooled[: len(a)].sum()
    tails = [np.mean([s <= seen + 1e-9 for s in sums]), np.mean([s >= seen - 1e-9 for s in sums])]
    extreme = 2 * min(np.mean(np.isclose(sums, min(sums))), np.mean(np.isclose(sums, max(sums))))
    return min(1.0, 2 * min(tails)), min(1.0, extreme)


def enumerated_wilcoxon(d):
    """Two-sided p by going through every choice of signs."""
    ranks = stats.rankdata(np.abs(d))
    sums = [np.dot(ranks, signs) for signs in itertools.product((0, 1), repeat=len(d))]
    seen = ranks[np.asarray(d) > 0].sum()
    return min(1.0, 2 * min(np.mean([s <= seen + 1e-9 for s in sums]), np.mean([s >= seen - 1e-9 for s in sums])))


def test_mann_whitney_of_hollander_and_wolfe():
    """Hollander & Wolfe 1973, p. 69, permeability of placental membranes; R: wilcox.test, W = 35, p (greater) 0.1272."""
    at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    early = [1.15, 0.88, 0.90, 0.74, 1.21]
    found = mann_whitney(at_term, early)
    assert found.statistic == 35
    assert found.p == pytest.approx(2 * 0.1272, abs=1e-4)
    assert found.smallest_p == 2 / math.comb(15, 5)


def test_mann_whitney_of_the_scipy_documentation():
    """scipy.stats.mannwhitneyu: age of diagnosis of diabetes, U = 17, exact p = 0.1111."""
    found = mann_whitney([19, 22, 16, 29, 24], [20, 11, 17, 12])
    assert (found.statistic, found.p) == (17, pytest.approx(1 / 9))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]),
        ([10, 20, INF, INF], [15, 20, 30, INF, INF]),
        ([10, 20, INF], [INF, INF, INF, INF]),
        ([1, 1, 1], [1, 1]),
        ([1, 2, 2, 3], [2, 2, 3, 3, 4, 4]),
    ],
)
def test_mann_whitney_with_timeouts_is_exact(a, b):
    p, smallest = enumerated_mann_whitney(a, b)
    found = mann_whitney(a, b)
    assert found.p == pytest.approx(p)
    assert found.smallest_p == pytest.approx(smallest)
    assert mann_whitney(b, a).p == pytest.approx(p)


def test_mann_whitney_of_many_values_with_timeouts_is_the_approximation():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, 40), rng.normal(0.3, 1, 40)
    assert mann_whitney(a, b).p == pytest.approx(stats.mannwhitneyu(a, b, method="exact").pvalue, rel=0.02)
    timeouts_a, timeouts_b = np.where(a > 1, INF, a), np.where(b > 1, INF, b)
    last_a, last_b = np.where(a > 1, 99, a), np.where(b > 1, 99, b)
    asymptotic = stats.mannwhitneyu(last_a, last_b, method="asymptotic", use_continuity=False).pvalue
    assert mann_whitney(timeouts_a, timeouts_b).p == pytest.approx(asymptotic)


def test_five_against_five_can_reach_the_level_and_three_against_three_cannot():
    assert mann_whitney(range(5), range(5, 10)).smallest_p == 2 / 252
    assert mann_whitney(range(3), range(3, 6)).smallest_p == 0.1


def test_wilcoxon_of_hollander_and_wolfe():
    """Hollander & Wolfe 1973, p. 29, depression before and after a tranquillizer; R: wilcox.test, V = 40, p 0.03906."""
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    found = wilcoxon_paired(before, after)
    assert (found.statistic, found.p) == (40, pytest.approx(0.03906, abs=1e-5))
    assert found.smallest_p == 2 / 2**9


def test_a_pair_with_one_timeout_ranks_above_all_others_and_with_two_says_nothing():
    a = [10.0, 12.0, INF, INF, 30.0, INF]
    b = [11.0, 15.0, 20.0, INF, INF, 40.0]
    np.testing.assert_equal(differences(a, b), [-1.0, -3.0, INF, math.nan, -INF, INF])
    found = wilcoxon_paired(a, b)
    assert found.statistic == 8  # ranks 1, 2 of the known differences, 4, 4, 4 of the infinite: two are positive
    assert found.p == pytest.approx(enumerated_wilcoxon([-1, -3, 99, -99, 99]))
    assert found.smallest_p == 2 / 2**5


def test_wilcoxon_with_ties_is_exact_and_of_many_pairs_the_approximation():
    d = [1, 1, -1, 2, 2, 3, 3, -4, 5, 5]
    assert wilcoxon_paired(d, np.zeros(10)).p == pytest.approx(enumerated_wilcoxon(d))
    many = np.random.default_rng(3).normal(0.3, 1, 80)
    assert wilcoxon_paired(many, np.zeros(80)).p == pytest.approx(stats.wilcoxon(many, method="exact").pvalue, rel=0.03)


def test_five_pairs_cannot_give_five_percent():
    assert wilcoxon_paired([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]).p == 0.0625  # field: 2 / 2^5
    assert wilcoxon_paired([1, 2], [1, 2]).p == wilcoxon_paired([INF], [INF]).smallest_p == 1.0


def test_cliffs_delta_of_hogarty_and_kromrey():
    """Hogarty & Kromrey 1999, the example of R's effsize::cliff.delta, where it is -0.25 (small)."""
    treatment = [10, 10, 20, 20, 20, 30, 30, 30, 40, 50]
    control = [10, 20, 30, 40, 40, 50]
    signs = [np.sign(x - y) for x in treatment for y in control]
    assert cliffs_delta(treatment, control) == np.mean(signs) == -0.25
    assert a12(treatment, control) == 0.375
    assert magnitude(-0.25) == "small"
    assert [magnitude(d) for d in (0.0, 0.146, 0.147, 0.33, -0.474, 1.0)] == [
        "negligible",
        "negligible",
        "small",
        "medium",
        "large",
        "large",
    ]


def test_cliffs_delta_of_timeouts():
    assert cliffs_delta([INF, INF, 5.0], [INF, 4.0, 3.0]) == pytest.approx((4 + 2 - 1) / 9)


def test_holm_of_the_worked_example():
    """p 0.01, 0.04, 0.03, 0.005 at 0.05: the first and the last are rejected (R: p.adjust, method = "holm")."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


# Demšar 2006, table 6: AUC of C4.5, with m, with cf, with both. As printed "voting" is tied at 0.975 for the last two,
# but the printed ranks are 2 and 3: the third value is the larger before rounding.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_friedman_and_nemenyi_of_demsar():
    found = friedman(-DEMSAR)  # a large AUC is good
    assert found.average_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    n, k = DEMSAR.shape
    plain = 12 * n / (k * (k + 1)) * ((found.average_ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)  # as in the paper, which leaves out the correction for ties
    ties = sum(c**3 - c for row in DEMSAR for c in np.unique(row, return_counts=True)[1])
    assert found.statistic == pytest.approx(plain / (1 - ties / (n * k * (k**2 - 1))))
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert friedman(-DEMSAR, alpha=0.10).critical_difference == pytest.approx(1.12, abs=0.005)


def test_friedman_of_hollander_and_wolfe():
    """Hollander & Wolfe 1973, p. 140, rounding first base; R: friedman.test, chi-squared 11.143, p 0.003805."""
    text = """5.40 5.50 5.55 5.85 5.70 5.75 5.20 5.60 5.50 5.55 5.50 5.40 5.90 5.85 5.70 5.45 5.55 5.60 5.40 5.40 5.35
    5.45 5.50 5.35 5.25 5.15 5.00 5.85 5.80 5.70 5.25 5.20 5.10 5.65 5.55 5.45 5.60 5.35 5.45 5.05 5.00 4.95 5.50 5.50
    5.40 5.45 5.55 5.50 5.55 5.55 5.35 5.45 5.50 5.55 5.50 5.45 5.25 5.65 5.60 5.40 5.70 5.65 5.55 6.30 6.30 6.25"""
    found = friedman(np.array(text.split(), float).reshape(22, 3))
    assert found.statistic == pytest.approx(11.143, abs=5e-4)
    scores, rng = stats.rankdata(np.array(text.split(), float).reshape(22, 3), axis=1), np.random.default_rng(0)
    found_sum = (scores.sum(axis=0) ** 2).sum()
    permuted = np.array([(rng.permuted(scores, axis=1).sum(axis=0) ** 2).sum() for _ in range(5000)])
    assert found.p == pytest.approx(np.mean(permuted >= found_sum), abs=0.002)  # R: 0.003805 by chi-squared


def test_friedman_of_few_blocks_is_exact():
    """All 6^2 permutations of the second and third row: those that agree with the first are the clearest."""
    assert friedman([[1.0, 2.0, 3.0]] * 3).p == pytest.approx(1 / 36)
    assert friedman([[1.0, 2.0, 3.0]] * 2 + [[1.0, 3.0, 2.0]]).p > 1 / 36


def test_rows_of_one_block_are_one_observation():
    rows = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0]])
    once = friedman(rows)
    thrice = friedman(np.repeat(rows, 3, axis=0), block=np.repeat(np.arange(4), 3))
    assert (thrice.p, thrice.blocks, thrice.critical_difference) == (once.p, 4, once.critical_difference)
    pairs = wilcoxon_paired([1.0] * 12, np.arange(2.0, 14.0), np.repeat(np.arange(6), 2))
    assert pairs.p == pairs.smallest_p == 2 / 2**6, "twelve pairs of six seeds are six signs"


def test_friedman_ranks_timeouts_last_and_level():
    found = friedman([[10.0, INF, INF], [20.0, 30.0, INF]])
    assert found.average_ranks.tolist() == [1.0, 2.25, 2.75]
    assert friedman(np.full((4, 3), INF)).p == 1.0
    assert friedman([[1.0, 2.0, 3.0]] * 4).p == pytest.approx(friedman([[1.0, 2.0, 3.0]] * 4).smallest_p)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mann_whitney([], [1.0]),
        lambda: cliffs_delta([math.nan], [1.0]),
        lambda: wilcoxon_paired([1.0], [1.0, 2.0]),
        lambda: friedman([[1.0, 2.0], [2.0, 1.0]]),
        lambda: friedman([[1.0, 2.0, 3.0]]),
    ],
)
def test_bad_samples_are_refused(call):
    with pytest.raises(InvalidValueError):
        call()
