"""Intervals of a median or a mean: a bootstrap interval, or the range of fewer than six values."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

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
        kind: ``bootstrap``, ``rank test`` (the shifts that it does not reject), or ``range`` (smallest and largest
            value).
        level: level of the interval; not for a range.
    """

    low: float
    high: float
    kind: Literal["bootstrap", "rank test", "range"]
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


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[..., np.ndarray] = median,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Return the percentile bootstrap interval of a statistic; the range of fewer than six values.

    Percentile and not BCa: the jackknife that BCa needs fails for medians, and values may be infinite.

    Args:
        values: shape (n,); infinite for a run that did not reach the goal.
        statistic: a function of samples and ``axis``, such as `median` or ``numpy.mean``.
        level: level of the interval.
        seed: the same seed gives the same interval, to the byte.

    Raises:
        InvalidValueError: there are no values, or NaN among them.

    References:
        B. Efron, R. J. Tibshirani: An introduction to the bootstrap, 1993, chapters 11 and 13.

    Examples:
        >>> interval = bootstrap_interval([3.0, 1.0, 2.0])
        >>> interval.low, interval.high, str(interval)
        (1.0, 3.0, 'range')
    """
    values = checked(values)
    if len(values) < FEWEST:
        return Interval(float(values.min()), float(values.max()), "range", level)
    found = np.sort(np.concatenate([statistic(values[part], axis=-1) for part in _blocks(len(values), seed)]))
    low, high = percentiles(found, level)
    return Interval(low, high, "bootstrap", level)


def resamples(n: int, seed: int, stream: str = "statistics/bootstrap") -> np.ndarray:
    """Return the indices into ``n`` values of each resample, shape (RESAMPLES, n)."""
    return generator(seed, stream).integers(0, n, (RESAMPLES, n))


def _blocks(n: int, seed: int) -> Iterator[np.ndarray]:
    """Yield `resamples` some at a time, as far as they fit into a few MiB."""
    random, left = generator(seed, "statistics/bootstrap"), RESAMPLES
    while left:
        rows = min(left, max(1, _BLOCK // n))
        yield random.integers(0, n, (rows, n))
        left -= rows


def percentiles(found: np.ndarray, level: float) -> tuple[float, float]:
    """Return the two sorted values between which the share ``level`` of all lies."""
    low, high = band(found, level)
    return float(low), float(high)


def drawn(n: int, seed: int = 0) -> np.ndarray:
    """Return how often each of ``n`` values is in each resample, float64 (RESAMPLES, n)."""
    found = np.empty((RESAMPLES, n))
    for counts, row in zip(found, (row for part in _blocks(n, seed) for row in part), strict=True):
        counts[:] = np.bincount(row, minlength=n)
    return found


def mean_band(values: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Return the percentile bootstrap interval of the mean of each column; the range of fewer than six rows.

    Args:
        values: finite, shape (n, k); each resample draws whole rows.
        level: level of the interval at each column.

    Examples:
        >>> low, high = mean_band(np.array([[0.0, 1.0], [1.0, 1.0]]))
        >>> low.tolist(), high.tolist()
        ([0.0, 1.0], [1.0, 1.0])
    """
    if len(values) < FEWEST:
        return values.min(axis=0), values.max(axis=0)
    return band(drawn(len(values)) @ values / len(values), level)


def band(found: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return for each column the two values between which the share ``level`` of its rows lies."""
    ordered = np.sort(found, axis=0)
    k = int(np.floor((1.0 - level) / 2.0 * len(ordered)))
    return ordered[k], ordered[len(ordered) - 1 - k]
