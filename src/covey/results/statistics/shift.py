"""The difference of two samples in the unit of the metric, with the interval of all shifts that a test does not reject.

The interval inverts the test that the difference is printed beside, on the pairs that say something, so both agree.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from covey.results.statistics.blocks import balance, flips, inverted, splits
from covey.results.statistics.intervals import Interval
from covey.results.statistics.ranks import by_block, checked, differences, midranks, signed_ranks


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

    With times, each at most the timeout, it is the difference of the restricted means; with zeros and ones, that of the
    shares of successes.

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
    if 2.0 * 0.5 ** len(count) > 1.0 - level:
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
    """Return the difference of two means, and the interval of those that dealing out labels anew does not reject.

    Raises:
        InvalidValueError: a sample is empty or holds NaN.
    """
    a, b = checked(a), checked(b)
    first, found = np.arange(len(a) + len(b)) < len(a), float(a.mean() - b.mean())
    if math.comb(len(first), len(a)) < 2.0 / (1.0 - level):
        return found, None
    known = np.array([a.min() - b.max(), a.max() - b.min()])
    ends = inverted(lambda by: splits(np.concatenate((a - by, b)), first)[0], known, found, level)
    return found, Interval(*ends, "exchange test", level)
