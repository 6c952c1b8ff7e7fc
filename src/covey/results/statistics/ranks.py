"""Rank tests, for skewed and censored values: a run that never reached the goal is +infinity, so it ranks last, tied
with the other such runs.

The p values are exact up to fifty values, also with ties (timeouts are always tied). For more values they are a normal
approximation, corrected for ties and continuity.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError
from covey.lazy import stats
from covey.results.statistics.significance import SignificanceResult

EXACT = 50
"""Up to this many values p is exact: all counts fit into the 53 bits of a float."""


def mann_whitney(a: ArrayLike, b: ArrayLike) -> SignificanceResult:
    """Return the two-sided Mann-Whitney U test of two independent samples.

    The statistic is U of ``a``: the number of pairs in which a's value is larger, ties one half. Without ties the
    smallest p is 2 / C(n + m, n).

    Raises:
        InvalidValueError: a sample is empty or holds NaN.

    References:
        H. B. Mann, D. R. Whitney: On a test of whether one of two random variables is stochastically larger than the
        other. Ann. Math. Statist. 18, 1947.
    """
    a, b = checked(a), checked(b)
    ranks = stats.rankdata(np.concatenate((a, b)))
    of_a, n, total = ranks[: len(a)], len(a), len(ranks)
    u = float(of_a.sum() - n * (n + 1) / 2)
    if len(np.unique(ranks)) == 1:
        p = 1.0
    elif total <= EXACT:
        law = rank_sum_law(np.rint(2 * ranks).astype(int), n)
        p = _two_sided(law, round(2 * of_a.sum()))
    else:
        p = float(stats.mannwhitneyu(of_a, ranks[n:], method="asymptotic").pvalue)
    return SignificanceResult("Mann-Whitney U", u, p, smallest_p_mann_whitney(a, b))


def wilcoxon_paired(a: ArrayLike, b: ArrayLike) -> SignificanceResult:
    """Return the two-sided Wilcoxon signed-rank test of pairs, for example of runs with the same seed.

    The statistic is W+, the sum of the ranks of the pairs in which a's value is larger. If one run of a pair never
    reached the goal, the size of the difference is unknown, but not its sign: it is infinite, and all such differences
    share the highest ranks. A pair without a difference, such as two timeouts, is left out. The smallest p is 2 / 2^n
    of the n remaining pairs (1 if none remains).

    Raises:
        InvalidValueError: the samples differ in length, are empty or hold NaN.

    References:
        F. Wilcoxon: Individual comparisons by ranking methods. Biometrics Bulletin 1, 1945. J. M. Lachin: Worst-rank
        score analysis with informatively missing observations in clinical trials. Control. Clin. Trials 20, 1999.
    """
    d = differences(a, b)
    d = d[d != 0]
    if not len(d):
        return SignificanceResult("Wilcoxon signed-rank", 0.0, 1.0, 1.0)
    ranks = stats.rankdata(np.abs(d))
    plus = float(ranks[d > 0].sum())
    if len(d) <= EXACT:
        p = _two_sided(signed_rank_law(np.rint(2 * ranks).astype(int)), round(2 * plus))
    else:
        p = float(stats.wilcoxon(ranks * np.sign(d), correction=True)[1])  # pyright: ignore
    return SignificanceResult("Wilcoxon signed-rank", plus, p, min(1.0, 2.0 * 0.5 ** len(d)))


def differences(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Return a - b of pairs; infinite if one of the two is, and 0 if both are.

    Raises:
        InvalidValueError: as `wilcoxon_paired`.
    """
    a, b = checked(a), checked(b)
    if a.shape != b.shape:
        raise InvalidValueError(f"{len(a)} and {len(b)} values cannot be paired; give one of each for every pair")
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, a - b)


def smallest_p_mann_whitney(a: ArrayLike, b: ArrayLike) -> float:
    """Return the smallest two-sided p that a Mann-Whitney test of these pooled values can give.

    It is 2 / C(n + m, n) without ties; with ties, splits that are equal but for tied values at the border between the
    samples count together.

    Examples:
        >>> round(smallest_p_mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]), 4)  # 2 / 252
        0.0079
        >>> inf = math.inf
        >>> smallest_p_mann_whitney([1, inf, inf], [inf, inf, inf])  # five timeouts of six cannot show a difference
        1.0
    """
    a, b = checked(a), checked(b)
    pooled, n = np.sort(np.concatenate((a, b))), len(a)
    splits = math.comb(len(pooled), n)
    shares = []
    for values in (pooled, -pooled[::-1]):
        border = values[n - 1]
        same = int((values == border).sum())
        shares.append(math.comb(same, int((values[:n] == border).sum())) / splits)
    return min(1.0, 2.0 * min(shares))


def cliffs_delta(a: ArrayLike, b: ArrayLike) -> float:
    """Return P(a > b) - P(a < b): -1 if every value of ``a`` is below every value of ``b``, 0 for no difference.

    Raises:
        InvalidValueError: a sample is empty or holds NaN.

    References:
        N. Cliff: Dominance statistics: ordinal analyses to answer ordinal questions. Psychol. Bull. 114, 1993.

    Examples:
        >>> cliffs_delta([1.0, 2.0], [2.0, 3.0])
        -0.75
    """
    a, b = checked(a), checked(b)
    above = np.searchsorted(np.sort(b), a, "left").sum()
    below = len(a) * len(b) - np.searchsorted(np.sort(b), a, "right").sum()
    return float(int(above) - int(below)) / (len(a) * len(b))


def dominance_in_pairs(a: ArrayLike, b: ArrayLike) -> float:
    """Return Cliff's delta within pairs (his d_w): the share of pairs with a > b less the share with a < b.

    Raises:
        InvalidValueError: as `wilcoxon_paired`.

    Examples:
        >>> dominance_in_pairs([1.0, 5.0, 9.0, 3.0], [2.0, 6.0, 10.0, 3.0])
        -0.75
    """
    return float(np.mean(np.sign(differences(a, b))))


def a12(a: ArrayLike, b: ArrayLike) -> float:
    """Return P(a > b) + P(a = b) / 2 = (1 + delta) / 2.

    References:
        A. Vargha, H. D. Delaney: A critique and improvement of the CL common language effect size statistics of
        McGraw and Wong. J. Educ. Behav. Stat. 25, 2000.
    """
    return (1.0 + cliffs_delta(a, b)) / 2.0


def magnitude(delta: float) -> str:
    """Return the name for the size of a Cliff's delta: negligible, small (0.147), medium (0.33) or large (0.474).

    References:
        J. Romano, J. D. Kromrey, J. Coraggio, J. Skowronek: Appropriate statistics for ordinal level data. Annual
        meeting of the Florida Association of Institutional Research, 2006.
    """
    names = ("negligible", "small", "medium", "large")
    return names[sum(abs(delta) >= limit for limit in (0.147, 0.33, 0.474))]


def holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p values adjusted as a family: the i-th smallest times (m - i + 1), made monotone, at most 1.

    References:
        S. Holm: A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 1979.

    Examples:
        >>> holm([0.01, 0.04, 0.03, 0.005]).tolist()
        [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(p, float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


@dataclass(frozen=True)
class Friedman(SignificanceResult):
    """A Friedman test.

    Attributes:
        average_ranks: average rank of each treatment over the blocks, 1 = smallest value, shape (k,).
        critical_difference: average ranks that are further apart than this differ (Nemenyi).
        blocks: number of blocks.
    """

    average_ranks: np.ndarray
    critical_difference: float
    blocks: int


def friedman(values: ArrayLike, alpha: float = 0.05) -> Friedman:
    """Return the Friedman test that k treatments (strategies) are equal over N blocks (maps), with Nemenyi's post-hoc.

    The statistic is the chi-squared corrected for ties, with k - 1 degrees of freedom; the critical difference is
    q_alpha sqrt(k (k + 1) / (6 N)), with q_alpha the studentized range over sqrt(2). Average ranks are compared only if
    p is below alpha.

    Args:
        values: one per block and treatment, shape (N, k), smaller is better; infinite where the goal was not reached.
        alpha: level of the critical difference.

    Raises:
        InvalidValueError: fewer than three treatments or two blocks, or NaN.

    References:
        J. Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
    """
    values = np.asarray(values, float)
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 3 or np.isnan(values).any():
        raise InvalidValueError(
            f"values of shape {values.shape}; Friedman's test takes at least 2 blocks (rows) of 3 treatments (columns) "
            "without NaN"
        )
    n, k = values.shape
    ranks = stats.rankdata(values, axis=1)
    if (ranks == ranks[:, :1]).all():
        statistic, p = 0.0, 1.0
    else:
        statistic, p = (float(v) for v in stats.friedmanchisquare(*ranks.T))
    q = stats.studentized_range.ppf(1.0 - alpha, k, np.inf) / math.sqrt(2.0)
    return Friedman(
        test="Friedman",
        statistic=statistic,
        p=p,
        smallest_p=float(stats.chi2.sf(n * (k - 1), k - 1)),
        average_ranks=ranks.mean(axis=0),
        critical_difference=float(q * math.sqrt(k * (k + 1) / (6.0 * n))),
        blocks=n,
    )


def checked(values: ArrayLike) -> np.ndarray:
    """Return values as floats, shape (n,); raise `InvalidValueError` if there are none, or NaN among them."""
    array = np.asarray(values, float)
    if array.ndim != 1 or not len(array) or np.isnan(array).any():
        raise InvalidValueError(
            f"a sample of shape {array.shape} with {int(np.isnan(array).sum())} NaN; give at least one number, and "
            "infinity for a run that did not reach the goal"
        )
    return array


def rank_sum_law(doubled: np.ndarray, n: int) -> np.ndarray:
    """Return the probability of each doubled rank sum of a random ``n`` of the ranks, from 0 to their sum.

    Args:
        doubled: twice the (mid)ranks, whole numbers, shape (N,).
        n: number of ranks drawn.
    """
    counts = np.zeros((n + 1, int(doubled.sum()) + 1))
    counts[0, 0] = 1.0
    for rank in doubled:
        counts[1:, rank:] += counts[:-1, : counts.shape[1] - rank].copy()
    return counts[n] / counts[n].sum()


def signed_rank_law(doubled: np.ndarray) -> np.ndarray:
    """Return the probability of each doubled sum of positive ranks, each rank being positive with probability 1/2.

    Args:
        doubled: twice the (mid)ranks, whole numbers, shape (n,).
    """
    law = np.zeros(int(doubled.sum()) + 1)
    law[0] = 1.0
    for rank in doubled:
        law = (law + np.concatenate((np.zeros(rank), law[: len(law) - rank]))) / 2.0
    return law


def _two_sided(law: np.ndarray, at: int) -> float:
    return float(min(1.0, 2.0 * min(law[: at + 1].sum(), law[at:].sum())))
