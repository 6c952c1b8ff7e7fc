"""Rank tests, for skewed and censored values: a run that never reached the goal is +infinity, so it ranks last, tied
with the other such runs.

Their p values are those of `covey.results.statistics.blocks`, exact also with ties (timeouts are always tied).
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError
from covey.lazy import stats
from covey.results.statistics.blocks import flips, shuffles, splits
from covey.results.statistics.significance import SignificanceResult


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
    ranks, first = midranks(np.concatenate((a, b))), np.arange(len(a) + len(b)) < len(a)
    u = float(ranks[first].sum() - len(a) * (len(a) + 1) / 2)
    return SignificanceResult("Mann-Whitney U", u, *splits(ranks, first))


def wilcoxon_paired(a: ArrayLike, b: ArrayLike, block: ArrayLike | None = None) -> SignificanceResult:
    """Return the two-sided Wilcoxon signed-rank test of pairs, for example of runs with the same seed.

    The statistic is W+, the sum of the ranks of the pairs in which a's value is larger. If one run of a pair never
    reached the goal, the size of the difference is unknown, but not its sign: it is infinite, and all such differences
    share the highest ranks. A pair without a difference, or of two timeouts, says nothing and is left out. The smallest
    p is 2 / 2^n of the n remaining blocks (1 if none remains).

    Args:
        a, b: the pairs, shape (n,).
        block: number of the block of each pair, shape (n,). The labels of a block are exchanged together, so its pairs
            count as one observation (Rosner, Glynn and Lee 2006). Default: each pair is a block.

    Raises:
        InvalidValueError: the samples differ in length, are empty or hold NaN.

    References:
        F. Wilcoxon: Individual comparisons by ranking methods. Biometrics Bulletin 1, 1945. J. M. Lachin: Worst-rank
        score analysis with informatively missing observations in clinical trials. Control. Clin. Trials 20, 1999.
    """
    d = differences(a, b)
    signed = signed_ranks(d)
    return SignificanceResult("Wilcoxon signed-rank", float(signed[signed > 0].sum()), *flips(by_block(signed, block)))


def signed_ranks(d: np.ndarray) -> np.ndarray:
    """Return the rank of the size of each difference with its sign; 0 where there is none or it is unknown (NaN)."""
    signed, there = np.zeros(len(d)), ~np.isnan(d) & (d != 0)
    signed[there] = midranks(np.abs(d[there])) * np.sign(d[there])
    return signed


def midranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value, from 1 on; equal ones share the mean of their ranks. An interval asks for many.

    Args:
        values: shape (n,), infinite ones among them, but no NaN.

    Examples:
        >>> midranks(np.array([3.0, 1.0, np.inf, 3.0])).tolist()
        [2.5, 1.0, 4.0, 2.5]
    """
    order, ranks, is_new = values.argsort(kind="stable"), np.empty(len(values)), np.ones(len(values), bool)
    ordered = values[order]
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    starts = np.empty(np.count_nonzero(is_new) + 1)
    starts[:-1], starts[-1] = np.flatnonzero(is_new), len(values)
    ranks[order] = ((starts[:-1] + starts[1:] + 1.0) / 2.0)[is_new.cumsum() - 1]
    return ranks


def by_block(scores: np.ndarray, block: ArrayLike | None) -> np.ndarray:
    """Return the sum of the scores of each block."""
    return scores if block is None else np.bincount(np.asarray(block), scores)


def differences(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Return a - b of pairs: infinite if one of the two is, and NaN, which is unknown, if both are.

    Raises:
        InvalidValueError: as `wilcoxon_paired`.
    """
    a, b = checked(a), checked(b)
    if a.shape != b.shape:
        raise InvalidValueError(f"{len(a)} and {len(b)} values cannot be paired; give one of each for every pair")
    with np.errstate(invalid="ignore"):
        return a - b


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

    Two timeouts count as neither.

    Raises:
        InvalidValueError: as `wilcoxon_paired`.

    Examples:
        >>> dominance_in_pairs([1.0, 5.0, 9.0, 3.0], [2.0, 6.0, 10.0, 3.0])
        -0.75
    """
    return float(np.mean(np.sign(np.nan_to_num(differences(a, b), nan=0.0))))


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


def friedman(values: ArrayLike, alpha: float = 0.05, block: ArrayLike | None = None, seed: int = 0) -> Friedman:
    """Return the Friedman test that k treatments (strategies) are equal over N blocks, with Nemenyi's post-hoc.

    The statistic is the chi-squared corrected for ties; p is the share of the permutations within blocks that reach it
    (see `covey.results.statistics.blocks.shuffles`). The critical difference is q_alpha sqrt(k (k + 1) / (6 N)), with
    q_alpha the studentized range over sqrt(2). Average ranks are compared only if p is below alpha.

    Args:
        values: one per row and treatment, shape (n, k), smaller is better; infinite where the goal was not reached.
        alpha: level of the critical difference.
        block: number of the block of each row, shape (n,). The ranks of its rows are averaged, and its labels permuted
            together. Default: each row is a block.
        seed: of the permutations, where they are drawn.

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
    k = values.shape[1]
    ranks = stats.rankdata(values, axis=1)
    if block is not None:
        at = np.unique(np.asarray(block), return_inverse=True)[1]
        ranks = np.array([np.bincount(at, column) for column in ranks.T]).T / np.bincount(at)[:, None]
    n, scores = len(ranks), ranks - (k + 1) / 2.0
    spread = float((scores**2).sum()) / (k - 1)
    return Friedman(
        test="Friedman",
        statistic=float((scores.sum(axis=0) ** 2).sum()) / spread if spread else 0.0,
        p=shuffles(scores, seed),
        smallest_p=min(1.0, float(math.factorial(k)) ** (1 - n)),
        average_ranks=ranks.mean(axis=0),
        critical_difference=_studentized_range(alpha, k) * math.sqrt(k * (k + 1) / (12.0 * n)),
        blocks=n,
    )


@lru_cache(64)
def _studentized_range(alpha: float, k: int) -> float:
    return float(stats.studentized_range.ppf(1.0 - alpha, k, np.inf))


def checked(values: ArrayLike) -> np.ndarray:
    """Return values as floats, shape (n,); raise `InvalidValueError` if there are none, or NaN among them."""
    array = np.asarray(values, float)
    if array.ndim != 1 or not len(array) or np.isnan(array).any():
        raise InvalidValueError(
            f"a sample of shape {array.shape} with {int(np.isnan(array).sum())} NaN; give at least one number, and "
            "infinity for a run that did not reach the goal"
        )
    return array
