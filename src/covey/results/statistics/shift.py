"""The difference of two samples in the unit of the metric: the Hodges-Lehmann estimate and its interval.

The interval contains the shifts that the rank test at the same level does not reject, so it agrees with p.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from covey.lazy import special
from covey.results.statistics.intervals import Interval
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
    i, j = np.triu_indices(n)
    means = np.sort(_sums(d[i], d[j]) / 2.0)
    if n <= EXACT:
        tail = np.cumsum(signed_rank_law(np.arange(1, n + 1)))
        cut = int(np.searchsorted(tail, (1.0 - level) / 2.0, side="right"))
    else:
        cut = _normal_cut(n * (n + 1) / 4.0, math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0), level)
    return _median(means), _between(means, cut, level)


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
    pairs = np.sort(_sums(a[:, None], -b[None, :]).ravel())
    if n + m <= EXACT:
        law = rank_sum_law(np.arange(1, n + m + 1), n)[n * (n + 1) // 2 :]
        cut = int(np.searchsorted(np.cumsum(law), (1.0 - level) / 2.0, side="right"))
    else:
        cut = _normal_cut(n * m / 2.0, math.sqrt(n * m * (n + m + 1) / 12.0), level)
    return _median(pairs), _between(pairs, cut, level)


def _sums(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return x + y; opposite infinities cancel."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(x) & (x == -y), 0.0, x + y)


def _normal_cut(mean: float, deviation: float, level: float) -> int:
    return max(0, math.floor(mean + float(special.ndtri((1.0 - level) / 2.0)) * deviation))


def _median(ordered: np.ndarray) -> float:
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(_sums(np.array(low), np.array(high)) / 2.0)


def _between(ordered: np.ndarray, cut: int, level: float) -> Interval | None:
    """Return the interval without the ``cut`` - 1 smallest and largest values."""
    if cut < 1:
        return None
    return Interval(float(ordered[cut - 1]), float(ordered[len(ordered) - cut]), "rank test", level)
