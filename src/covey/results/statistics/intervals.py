"""Intervals of a median or a mean, or the range of fewer than six values."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from covey.lazy import special
from covey.random import generator
from covey.results.statistics.ranks import checked

FEWEST = 6
"""With fewer values an interval would claim too much: comparing five pairs of runs cannot even give p < 0.05."""
RESAMPLES = 5000
_BLOCK = 1 << 21  # indices at a time


@dataclass(frozen=True)
class Interval:
    """An interval; an end that exceeds the timeout is infinite.

    Attributes:
        low, high: the ends.
        kind: ``rank test`` or ``exchange test`` (the shifts that it does not reject), ``order statistics`` (of a
            median), ``corrected t`` (of a mean), ``Welch t`` (of the difference of two means), ``Agresti-Min`` or
            ``Newcombe`` (of the difference of two shares), ``bootstrap``, or ``range`` (smallest and largest value).
        level: level of the interval; not for a range.
    """

    low: float
    high: float
    kind: Literal[
        "rank test",
        "exchange test",
        "order statistics",
        "corrected t",
        "Welch t",
        "Agresti-Min",
        "Newcombe",
        "bootstrap",
        "range",
    ]
    level: float

    def __str__(self) -> str:
        return "range" if self.kind == "range" else f"{100 * self.level:g} % {self.kind} interval"


def median(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """Return the median along an axis; infinite if half of the values or more are."""
    return quantile(values, 0.5, axis)


def quantile(values: np.ndarray, p: float, axis: int = -1) -> np.ndarray:
    """Return a quantile along an axis, 0 < p < 1: the value at which the share ``p`` of the values is reached.

    If that holds exactly between two values, it is their mean (NumPy's ``averaged_inverted_cdf``), so only quantiles
    among the timeouts are infinite.
    """
    ordered = np.sort(np.moveaxis(np.asarray(values, float), axis, -1), axis=-1)
    place = p * ordered.shape[-1]
    first = math.ceil(place - 1e-9) - 1
    second = first + 1 if math.isclose(place, round(place), abs_tol=1e-9) else first
    return (ordered[..., first] + ordered[..., second]) / 2.0


def median_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Return the interval of a median between order statistics; the range of fewer than six values.

    The number of values below the median is binomial. So the interval from the k-th smallest to the k-th largest value
    has a known level; between two such intervals, one of the wanted level is interpolated (Hettmansperger and
    Sheather).

    Args:
        values: shape (n,); infinite for a run that did not reach the goal.
        level: level of the interval.

    Raises:
        InvalidValueError: there are no values, or NaN among them.

    References:
        T. P. Hettmansperger, S. J. Sheather: Confidence intervals based on interpolated order statistics. Stat. Probab.
        Lett. 4, 1986.

    Examples:
        >>> interval = median_interval([3.0, 1.0, 2.0])
        >>> interval.low, interval.high, str(interval)
        (1.0, 3.0, 'range')
    """
    values = np.sort(checked(values))
    n = len(values)
    if n < FEWEST:
        return Interval(float(values[0]), float(values[-1]), "range", level)
    levels = 1.0 - 2.0 * special.bdtr(np.arange(n // 2), n, 0.5)  # from the k-th value to the k-th last, k = 1, 2, …
    k = max(1, int((levels >= level).sum()))
    narrower = levels[k] if k < len(levels) else 0.0
    part = max(0.0, (levels[k - 1] - level) / (levels[k - 1] - narrower))
    part = float((n - k) * part / (k + (n - 2 * k) * part))
    ends = (_between(values[k - 1], values[k], part), _between(values[n - k], values[n - k - 1], part))
    return Interval(*ends, "order statistics", level)


def _between(one: float, other: float, part: float) -> float:
    """Return the number at a part of the way from one value to the other, the first if there is no way."""
    return float(one if np.isinf(one) or np.isinf(other) else (1.0 - part) * one + part * other)


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Return the t interval of a mean, corrected for skewness as `mean_band`; the range of fewer than six values.

    Raises:
        InvalidValueError: there are no values, or NaN among them.
    """
    values = checked(values)
    low, high = mean_band(values[:, None], level)
    return Interval(float(low[0]), float(high[0]), "range" if len(values) < FEWEST else "corrected t", level)


def resamples(n: int, seed: int, stream: str) -> Iterator[np.ndarray]:
    """Yield the indices into ``n`` values of each of `RESAMPLES` resamples, one per row, a few MiB at a time."""
    random, left = generator(seed, stream), RESAMPLES
    while left:
        rows = min(left, max(1, _BLOCK // n))
        yield random.integers(0, n, (rows, n))
        left -= rows


def percentiles(found: np.ndarray, level: float) -> tuple[float, float]:
    """Return the two sorted values between which the share ``level`` of all lies."""
    k = int(np.floor((1.0 - level) / 2.0 * len(found)))
    return float(found[k]), float(found[len(found) - 1 - k])


def mean_band(values: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the t interval of the mean of each column, corrected for skewness; the range of fewer than six rows.

    Student's interval of few times holds the mean too rarely, because times have a long tail upwards. Hall's cubic
    takes the skewness out of t, and his inverse puts it into the ends. The skewness is found from the same few values,
    so t has n - 2 degrees of freedom. The mean may lie beyond the largest value, as that of six lognormal times does in
    3 to 6 % of the studies, so the interval may, too; it goes below zero only if a value does.

    Args:
        values: finite, shape (n, k).
        level: level of the interval at each column.

    References:
        P. Hall: On the removal of skewness by transformation. J. R. Statist. Soc. B 54, 1992.

    Examples:
        >>> low, high = mean_band(np.array([[0.0, 1.0], [1.0, 1.0]]))
        >>> low.tolist(), high.tolist()
        ([0.0, 1.0], [1.0, 1.0])
    """
    n, low = len(values), values.min(axis=0)
    if n < FEWEST:
        return low, values.max(axis=0)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    skewness = ((values - mean) ** 3).mean(axis=0) / np.where(spread > 0, spread, 1.0) ** 3
    away = special.stdtrit(n - 2, (1.0 + level) / 2.0) / math.sqrt(n - 1)
    below, above = (mean - spread * _unskewed(x, skewness, n) for x in (away, -away))
    return np.where(low >= 0.0, np.maximum(below, 0.0), below), above


def _unskewed(x: float, skewness: np.ndarray, n: int) -> np.ndarray:
    """Return the y for which y + g y^2 / 3 + g^2 y^3 / 27 + g / (6 n) is ``x``, with the skewness g."""
    g = np.where(np.abs(skewness) < 1e-6, 1e-6, skewness)
    return 3.0 / g * (np.cbrt(1.0 + g * x - g * g / (6.0 * n)) - 1.0)
