"""How many runs reached their goal: intervals of a share, and of the difference of two shares.

A share is a mean of zeros and ones, so where few runs fail, its interval by the spread of the runs has no width. The
intervals here stay near their level with few runs, too. They are approximate: the tests beside them are exact, and a
little stricter.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError
from covey.lazy import special
from covey.results.statistics.intervals import FEWEST, Interval
from covey.results.statistics.ranks import by_block, checked, differences


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of the probability of success.

    Raises:
        InvalidValueError: there are no runs, or more successes than runs.

    References:
        E. B. Wilson: Probable inference, the law of succession, and statistical inference. JASA 22, 1927. L. D. Brown,
        T. T. Cai, A. DasGupta: Interval estimation for a binomial proportion. Statist. Sci. 16, 2001.

    Examples:
        >>> [round(end, 3) for end in wilson(1, 8)]
        [0.022, 0.471]
    """
    if not 0 <= successes <= n or n < 1:
        raise InvalidValueError(f"{successes} successes of {n} runs; give at least one run, and no more successes")
    z = float(special.ndtri((1.0 + level) / 2.0))
    share, middle = successes / n, (successes + z * z / 2) / (n + z * z)
    away = z * math.sqrt(n * share * (1 - share) + z * z / 4) / (n + z * z)
    low, high = np.clip((middle - away, middle + away), 0.0, 1.0)
    return (0.0 if not successes else float(low)), (1.0 if successes == n else float(high))


def success_difference_in_pairs(
    a: ArrayLike, b: ArrayLike, level: float = 0.95, block: ArrayLike | None = None
) -> tuple[float, Interval | None]:
    """Return the difference of the shares of success of pairs, and Agresti and Min's interval, by blocks.

    To the n blocks come two more: half a block for each of a > b and a < b, and one for a = b. The interval is the
    usual normal one of the mean of these n + 2 blocks, each with the mean of its pairs.

    Args:
        a, b: 1 for a run that reached its goal, else 0, shape (n,).
        level: of the interval.
        block: number of the block of each pair, shape (n,). Default: each pair is one.

    Returns:
        The difference, a - b, and its interval, None below six blocks.

    Raises:
        InvalidValueError: the samples differ in length, are empty or hold NaN.

    References:
        A. Agresti, Y. Min: Simple improved confidence intervals for comparing matched proportions. Stat. Med. 24, 2005.

    Examples:
        >>> by, interval = success_difference_in_pairs([1.0] * 8, [1.0] * 5 + [0.0] * 3)
        >>> by, round(interval.low, 2), round(interval.high, 2)
        (0.375, -0.05, 0.65)
    """
    d = differences(a, b)
    found, count = float(d.mean()), by_block(np.ones(len(d)), block)
    total, count = by_block(d, block)[count > 0], count[count > 0]
    if (n := len(count)) < FEWEST:
        return found, None
    total, count = total / count.mean(), count / count.mean()
    middle = float(total.sum()) / (n + 2)
    squares = float(((total - count * middle) ** 2).sum()) + 1.0 + 2.0 * middle**2
    away = float(special.ndtri((1.0 + level) / 2.0)) * math.sqrt(squares) / (n + 2)
    return found, Interval(max(-1.0, middle - away), min(1.0, middle + away), "Agresti-Min", level)


def success_difference(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> tuple[float, Interval | None]:
    """Return the difference of two shares of success, and Newcombe's interval, which combines Wilson's of each.

    Args:
        a, b: 1 for a run that reached its goal, else 0, shapes (n,) and (m,).
        level: of the interval.

    Raises:
        InvalidValueError: a sample is empty or holds NaN.

    References:
        R. G. Newcombe: Interval estimation for the difference between independent proportions: comparison of eleven
        methods. Stat. Med. 17, 1998 (method 10).

    Examples:
        >>> by, interval = success_difference([1.0] * 56 + [0.0] * 14, [1.0] * 48 + [0.0] * 32)  # his example (a)
        >>> round(by, 4), round(interval.low, 4), round(interval.high, 4)
        (0.2, 0.0524, 0.3339)
    """
    (p, p_low, p_high), (q, q_low, q_high) = (
        (float(x.mean()), *wilson(int(x.sum()), len(x), level)) for x in (checked(a), checked(b))
    )
    low, high = p - q - math.hypot(p - p_low, q_high - q), p - q + math.hypot(p_high - p, q - q_low)
    return p - q, Interval(low, high, "Newcombe", level)
