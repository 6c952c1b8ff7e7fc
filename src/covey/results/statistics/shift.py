"""The difference of two samples in the unit of the metric, with the interval of all shifts that a test does not reject.

The interval inverts the test that the difference is printed beside, on the pairs that say something, so both agree.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from covey.lazy import special
from covey.results.statistics.blocks import balance, flips, inverted, splits
from covey.results.statistics.intervals import FEWEST, Interval
from covey.results.statistics.ranks import by_block, checked, differences, midranks, signed_ranks

_APART = 3
"""Fewest values of a sample that differ from its most frequent one, for an interval of its mean."""


def shift_in_pairs(
    a: ArrayLike, b: ArrayLike, level: float = 0.95, block: ArrayLike | None = None
) -> tuple[float, Interval | None]:
    """Return the median of all means of two differences a - b (Walsh averages), and its interval.

    The difference of a pair with one timeout is infinite. That of two timeouts is unknown, and left out.

    Args:
        a, b: the pairs, shape (n,).
        level: of the interval.
        block: as in `covey.results.statistics.wilcoxon_paired`, whose test the interval inverts.

    Returns:
        The shift, NaN if no pair is known, and its interval, None if even the widest one misses the level (0.95: fewer
        than six blocks).

    Raises:
        InvalidValueError: the samples differ in length, are empty or hold NaN.

    References:
        J. L. Hodges, E. L. Lehmann: Estimates of location based on rank tests. Ann. Math. Statist. 34, 1963.

    Examples:
        >>> shift, interval = shift_in_pairs([3.0, 5.0, 4.0, 7.0, 6.0, 9.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        >>> shift, (interval.low, interval.high)
        (2.0, (1.0, 3.0))
    """
    d = differences(a, b)
    there = ~np.isnan(d)
    d, at = d[there], None if block is None else np.asarray(block)[there]
    if not len(d):
        return math.nan, None
    known = d[np.isfinite(d)]
    found = balance(lambda by: float(signed_ranks(d - by).sum()), known)
    if 2.0 * 0.5 ** (len(d) if at is None else len(np.unique(at))) > 1.0 - level:
        return found, None
    ends = inverted(lambda by: flips(by_block(signed_ranks(d - by), at))[0], known, found, level)
    return found, Interval(*ends, "rank test", level)


def mean_difference_in_pairs(
    a: ArrayLike, b: ArrayLike, level: float = 0.95, block: ArrayLike | None = None
) -> tuple[float, Interval | None]:
    """Return the mean difference a - b of pairs, and the interval of those that exchanging labels does not reject.

    With times, each at most the timeout, it is the difference of the restricted means. There is no interval if fewer
    blocks differ than the test needs (0.95: six): of blocks in which both times are up, the next may be far apart.

    Args:
        a, b: finite, shape (n,).
        level, block: as in `shift_in_pairs`.

    Raises:
        InvalidValueError: the samples differ in length, are empty or hold NaN.
    """
    d = differences(a, b)
    found = float(d.mean())
    count = by_block(np.ones(len(d)), block)
    total = by_block(d, block)
    total, count = total[count > 0], count[count > 0]
    if 2.0 * 0.5 ** np.count_nonzero(total) > 1.0 - level:
        return found, None
    ends = inverted(lambda by: flips(total - count * by)[0], total / count, found, level)
    return found, Interval(*ends, "exchange test", level)


def shift(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> tuple[float, Interval | None]:
    """Return the median of all differences between a value of ``a`` and one of ``b``, and its interval.

    The difference of two timeouts is unknown, that of a timeout and a time infinite.

    Returns:
        As `shift_in_pairs`; an interval of 0.95 needs sample sizes such as 4 and 4, or 3 and 5.

    Raises:
        InvalidValueError: a sample is empty or holds NaN.

    Examples:
        >>> shift([11.0, 12.0, 13.0, 14.0], [1.0, 2.0, 3.0, 4.0])[0]
        10.0
    """
    a, b = checked(a), checked(b)
    first = np.arange(len(a) + len(b)) < len(a)

    def ranks(by: float) -> np.ndarray:
        return midranks(np.concatenate((a - by, b)))

    def more(by: float) -> float:
        return float(ranks(by)[first].sum()) - len(a) * (len(first) + 1) / 2.0

    mine, theirs = a[np.isfinite(a)], b[np.isfinite(b)]
    known = np.array([mine.min() - theirs.max(), mine.max() - theirs.min()]) if len(mine) and len(theirs) else mine[:0]
    found = math.nan if not len(mine) and not len(theirs) else balance(more, known)
    if math.comb(len(first), len(a)) < 2.0 / (1.0 - level):
        return found, None
    return found, Interval(*inverted(lambda by: splits(ranks(by), first)[0], known, found, level), "rank test", level)


def mean_difference(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> tuple[float, Interval | None]:
    """Return the difference of two means, and Welch's interval.

    Samples may spread differently: of the slower one more runs end at the timeout. So labels cannot be dealt out anew
    after a shift. There is no interval below six values, or if fewer than three of a sample differ from its most
    frequent value, such as the timeout.

    Raises:
        InvalidValueError: a sample is empty or holds NaN.

    References:
        B. L. Welch: The generalization of "Student's" problem when several different population variances are involved.
        Biometrika 34, 1947.
    """
    a, b = checked(a), checked(b)
    found = float(a.mean() - b.mean())
    apart = [len(x) - int(np.unique(x, return_counts=True)[1].max()) for x in (a, b)]
    if min(len(a), len(b)) < FEWEST or min(apart) < _APART:
        return found, None
    parts = np.array([x.var(ddof=1) / len(x) for x in (a, b)])
    freedom = parts.sum() ** 2 / (parts**2 / (len(a) - 1.0, len(b) - 1.0)).sum()
    away = float(special.stdtrit(freedom, (1.0 + level) / 2.0) * math.sqrt(parts.sum()))
    return found, Interval(found - away, found + away, "Welch t", level)
