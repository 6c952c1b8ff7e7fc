"""Times to a goal that some runs never reach: such a run is censored, means "longer than this", and still counts.

References:
    E. L. Kaplan, P. Meier: Nonparametric estimation from incomplete observations. JASA 53, 1958.
    J. P. Klein, M. L. Moeschberger: Survival analysis, 2nd ed., 2003: Greenwood (4.2.2), log-log interval (4.3.2),
    median (4.5), restricted mean (4.5.1), log-rank (7.3).
    A. C. Davison, D. V. Hinkley: Bootstrap methods and their application, 1997, sections 3.5 (censored data) and 3.8
    (groups that are resampled as a whole).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError
from covey.lazy import stats
from covey.results.statistics.intervals import FEWEST, band, drawn
from covey.results.statistics.significance import SignificanceResult

_SAME = 1e-9


@dataclass(frozen=True)
class Survival:
    """The share of runs that have not reached the goal by a time, estimated with censored runs.

    Attributes:
        times_s: the times [s] at which runs reached the goal or were given up, increasing, shape (k,).
        share: S(t), the share that has not reached it just after each time, shape (k,); 1 before the first.
        low, high: pointwise interval of S (Greenwood and log-log, or a bootstrap), shape (k,); NaN where there is none.
        n, reached: all runs, and those that reached the goal.
        level: level of the interval.
    """

    times_s: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: int
    reached: int
    level: float

    @property
    def median_s(self) -> float | None:
        """Time by which half of the runs have reached the goal [s], or None if fewer do."""
        return self.quantile_s(0.5)

    def quantile_s(self, p: float) -> float | None:
        """Return the time by which the share ``p`` of the runs has reached the goal [s]; None if fewer do.

        Where S(t) is exactly 1 - p over an interval, it is the middle of the interval (as in R's ``survfit``), so
        without censoring the median is the usual one; None if the interval has no end.
        """
        below = np.flatnonzero(self.share <= 1.0 - p + _SAME)
        if not len(below):
            return None
        first = below[0]
        if self.share[first] < 1.0 - p - _SAME:
            return float(self.times_s[first])
        after = np.flatnonzero(self.share < 1.0 - p - _SAME)
        return float(self.times_s[first] + self.times_s[after[0]]) / 2 if len(after) else None

    def restricted_mean_s(self, until_s: float) -> float:
        """Return the mean of min(time, ``until_s``) [s]: the area under S(t) up to there."""
        inside = self.times_s < until_s
        edges = np.concatenate(([0.0], self.times_s[inside], [until_s]))
        return float(np.sum(np.diff(edges) * np.append(1.0, self.share[inside])))


def kaplan_meier(
    times_s: ArrayLike, reached: Sequence[bool] | np.ndarray, level: float = 0.95, runs: ArrayLike | None = None
) -> Survival:
    """Return the Kaplan-Meier estimate: S(t) = product over t_i <= t of (1 - d_i / n_i).

    Args:
        times_s: when each run reached the goal, or when it was given up [s], shape (n,).
        reached: whether it reached the goal, shape (n,).
        level: level of the pointwise log-log interval S^exp(-+z s), s^2 = sum d_i / (n_i (n_i - d_i)) / (ln S)^2.
        runs: number of the run of each time, shape (n,), if a run has several, such as one for each target. They are
            not independent, so the interval is the percentile bootstrap of whole runs; none below six runs.

    Raises:
        InvalidValueError: there is no run, a time is negative or not finite, or the lengths differ.

    Examples:
        >>> kaplan_meier([10.0, 20.0, 30.0, 60.0], [True, True, True, False]).median_s
        25.0
    """
    times, done = _checked(times_s, reached)
    curve = stats.ecdf(stats.CensoredData.right_censored(times, ~done)).sf
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # there is no interval where S is 0 or 1
        interval = curve.confidence_interval(confidence_level=level, method="log-log")
    low, high = np.array(interval.low.probabilities), np.array(interval.high.probabilities)
    inside = (curve.probabilities > _SAME) & (curve.probabilities < 1.0 - _SAME)
    if runs is not None:
        low, high = _of_whole_runs(times, done, np.asarray(runs), np.asarray(curve.quantiles, float), level)
    return Survival(
        times_s=np.asarray(curve.quantiles, float),
        share=np.asarray(curve.probabilities, float),
        low=np.where(inside, low, np.nan),
        high=np.where(inside, high, np.nan),
        n=len(times),
        reached=int(done.sum()),
        level=level,
    )


def _of_whole_runs(
    times: np.ndarray, done: np.ndarray, runs: np.ndarray, at: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the percentile bootstrap interval of S at some times, resampling runs; NaN below six runs."""
    names, run = np.unique(runs, return_inverse=True)
    if len(names) < FEWEST:
        return np.full(len(at), np.nan), np.full(len(at), np.nan)
    at_risk, events = np.zeros((len(names), len(at))), np.zeros((len(names), len(at)))
    np.add.at(at_risk, run, times[:, None] >= at - _SAME)
    np.add.at(events, run, done[:, None] & (np.abs(times[:, None] - at) <= _SAME))
    weights = drawn(len(names))
    risk = weights @ at_risk
    shares = np.cumprod(1.0 - np.divide(weights @ events, risk, out=np.zeros_like(risk), where=risk > 0), axis=1)
    return band(shares, level)


def log_rank(
    times_a: ArrayLike,
    reached_a: Sequence[bool] | np.ndarray,
    times_b: ArrayLike,
    reached_b: Sequence[bool] | np.ndarray,
) -> SignificanceResult:
    """Return the two-sided log-rank test of "both samples reach the goal at the same rate at all times".

    The statistic is z; other packages print z^2, a chi-squared with one degree of freedom. The smallest p is that of
    the most extreme split of all runs into two samples of these sizes.

    Raises:
        InvalidValueError: as `kaplan_meier`.

    References:
        N. Mantel: Evaluation of survival data and two new rank order statistics. Cancer Chemother. Rep. 50, 1966.
    """
    a, done_a = _checked(times_a, reached_a)
    b, done_b = _checked(times_b, reached_b)
    statistic, p = _log_rank(a, done_a, b, done_b)
    times, done = np.concatenate((a, b)), np.concatenate((done_a, done_b))
    order = np.lexsort((~done, times))
    times, done = times[order], done[order]
    extremes = [_log_rank(times[:k], done[:k], times[k:], done[k:])[1] for k in (len(a), len(b))]
    return SignificanceResult("log-rank", statistic, p, min(p, *extremes))


def _log_rank(a: np.ndarray, done_a: np.ndarray, b: np.ndarray, done_b: np.ndarray) -> tuple[float, float]:
    if not done_a.any() and not done_b.any():
        return 0.0, 1.0
    with np.errstate(invalid="ignore"):  # no variance if all runs reach the goal at the last time
        found = stats.logrank(
            stats.CensoredData.right_censored(a, ~done_a), stats.CensoredData.right_censored(b, ~done_b)
        )
    return (float(found.statistic), float(found.pvalue)) if np.isfinite(found.statistic) else (0.0, 1.0)


def _checked(times_s: ArrayLike, reached: Sequence[bool] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    times, done = np.asarray(times_s, float), np.asarray(reached, bool)
    if not len(times) or times.shape != done.shape or not np.all(np.isfinite(times) & (times >= 0.0)):
        raise InvalidValueError(
            f"{len(times)} times and {len(done)} marks of who reached the goal; give at least one run, a finite time "
            "of zero or more for each (of a run that did not reach it, the time at which it was given up)"
        )
    return times, done
