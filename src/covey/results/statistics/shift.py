"""The difference of two samples in the unit of the metric: the Hodges-Lehmann estimate and its interval.

The interval contains the shifts that the rank test at the same level does not reject, so it agrees with p.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from covey.lazy import special
from covey.results.statistics.intervals import Interval
from covey.results.statistics.pair_sums import kth_sum, sums
from covey.results.statistics.ranks import EXACT, checked, differences, rank_sum_law, signed_rank_law


def shift_in_pairs(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> tuple[float, Interval | None]:
    """Return the median of all means of two differences a - b (Walsh averages), and its interval.

    The difference of a pair with one timeout is infinite; opposite timeouts cancel.

    Returns:
        The shift and its interval, None if even the widest one misses the level (0.95: fewer than six pairs).

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
    n = len(d)
    ordered = np.sort(d)
    if n <= EXACT:
        tail = np.cumsum(signed_rank_law(np.arange(1, n + 1)))
        cut = int(np.searchsorted(tail, (1.0 - level) / 2.0, side="right"))
    else:
        cut = _normal_cut(n * (n + 1) / 4.0, math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0), level)
    return _estimate(lambda k: kth_sum(ordered, ordered, k, within=True) / 2.0, n * (n + 1) // 2, cut, level)


def shift(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> tuple[float, Interval | None]:
    """Return the median of all differences between a value of ``a`` and one of ``b``, and its interval.

    The difference of two timeouts is 0, that of a timeout and a time infinite.

    Returns:
        As `shift_in_pairs`; an interval of 0.95 needs sample sizes such as 4 and 4, or 3 and 5.

    Raises:
        InvalidValueError: a sample is empty or holds NaN.

    Examples:
        >>> shift([11.0, 12.0, 13.0, 14.0], [1.0, 2.0, 3.0, 4.0])[0]
        10.0
    """
    a, b = checked(a), checked(b)
    n, m = len(a), len(b)
    up, down = np.sort(a), np.sort(-b)
    if n + m <= EXACT:
        law = rank_sum_law(np.arange(1, n + m + 1), n)[n * (n + 1) // 2 :]
        cut = int(np.searchsorted(np.cumsum(law), (1.0 - level) / 2.0, side="right"))
    else:
        cut = _normal_cut(n * m / 2.0, math.sqrt(n * m * (n + m + 1) / 12.0), level)
    return _estimate(lambda k: kth_sum(up, down, k), n * m, cut, level)


def _normal_cut(mean: float, deviation: float, level: float) -> int:
    return max(0, math.floor(mean + float(special.ndtri((1.0 - level) / 2.0)) * deviation))


def _estimate(kth: Callable[[int], float], count: int, cut: int, level: float) -> tuple[float, Interval | None]:
    """Return the median of ``count`` ordered values, and the interval without the ``cut`` - 1 smallest and largest."""
    low, high = kth((count - 1) // 2), kth(count // 2)
    median = float(sums(np.array(low), np.array(high)) / 2.0)
    return median, Interval(kth(cut - 1), kth(count - cut), "rank test", level) if cut >= 1 else None
