"""Times to a goal that some runs never reach: such a run is censored, means "longer than this", and still counts.

References:
    E. L. Kaplan, P. Meier: Nonparametric estimation from incomplete observations. JASA 53, 1958.
    J. P. Klein, M. L. Moeschberger: Survival analysis, 2nd ed., 2003: Greenwood (4.2.2), log-log interval (4.3.2),
    median (4.5), restricted mean (4.5.1), log-rank (7.3).
    R. L. Williams: Product-limit survival functions with correlated survival times. Lifetime Data Anal. 1, 1995 (runs
    with several times; R's ``survfit`` with ``cluster``).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError
from covey.lazy import special, stats
from covey.results.statistics.blocks import flips, splits
from covey.results.statistics.intervals import FEWEST
from covey.results.statistics.ranks import by_block
from covey.results.statistics.significance import SignificanceResult

_SAME = 1e-9
_AT = 200
"""Largest number of times at which a variance between runs is computed."""


@dataclass(frozen=True)
class Survival:
    """The share of runs that have not reached the goal by a time, estimated with censored runs.

    Attributes:
        times_s: the times [s] at which runs reached the goal or were given up, increasing, shape (k,).
        share: S(t), the share that has not reached it just after each time, shape (k,); 1 before the first.
        low, high: pointwise interval of S (log-log), shape (k,); NaN where there is none.
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
            not independent, so the interval rests on the variance between runs; none below six runs.

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
        low, high = _of_whole_runs(times, done, np.asarray(runs), (curve.quantiles, curve.probabilities), level)
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
    times: np.ndarray, done: np.ndarray, runs: np.ndarray, curve: tuple[np.ndarray, np.ndarray], level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-log interval of S at its times, with the variance between runs; NaN below six runs.

    The variance of ln S is the sum over runs of their squared influences on it. Of many times it is found at `_AT`.
    """
    names, run = np.unique(runs, return_inverse=True)
    at, share = curve
    if len(names) < FEWEST:
        return np.full(len(at), np.nan), np.full(len(at), np.nan)
    place = np.searchsorted(at, times - _SAME)
    events, all_ = np.bincount(place, done, len(at)), np.bincount(place, minlength=len(at))
    at_risk = len(times) - np.cumsum(all_) + all_
    left = np.maximum(at_risk - events, 1e-9)  # where nobody is left, S is 0 and has no interval
    lost = np.cumsum(events / (at_risk * left))
    chosen = np.unique(np.linspace(0, len(at) - 1, min(len(at), _AT)).astype(int))
    variance = np.empty(len(chosen))
    for i, k in enumerate(chosen):
        influence = np.where(done & (place <= k), 1.0 / left[place], 0.0) - lost[np.minimum(place, k)]
        variance[i] = float((np.bincount(run, influence) ** 2).sum())
    with np.errstate(all="ignore"):
        spread = special.ndtri((1.0 + level) / 2.0) * np.sqrt(np.interp(at, at[chosen], variance)) / np.log(share)
        return share ** np.exp(-spread), share ** np.exp(spread)


def log_rank(
    times_a: ArrayLike,
    reached_a: Sequence[bool] | np.ndarray,
    times_b: ArrayLike,
    reached_b: Sequence[bool] | np.ndarray,
) -> SignificanceResult:
    """Return the two-sided log-rank test of "both samples reach the goal at the same rate at all times".

    The statistic is the number of runs of the first sample that reached the goal less the number expected. p is the
    share of all ways to deal out the labels in which it is as far from zero, so it holds for few runs, too.

    Raises:
        InvalidValueError: as `kaplan_meier`.

    References:
        N. Mantel: Evaluation of survival data and two new rank order statistics. Cancer Chemother. Rep. 50, 1966.
    """
    a, done_a = _checked(times_a, reached_a)
    b, done_b = _checked(times_b, reached_b)
    scores = log_rank_scores(np.concatenate((a, b)), np.concatenate((done_a, done_b)))
    first = np.arange(len(scores)) < len(a)
    return SignificanceResult("log-rank", float(scores[first].sum()), *splits(scores, first))


def log_rank_in_pairs(
    times_a: ArrayLike,
    reached_a: Sequence[bool] | np.ndarray,
    times_b: ArrayLike,
    reached_b: Sequence[bool] | np.ndarray,
    block: ArrayLike | None = None,
    setting: ArrayLike | None = None,
) -> SignificanceResult:
    """Return the log-rank test of pairs: labels are exchanged within blocks, all pairs of a block at once.

    Args:
        times_a, reached_a, times_b, reached_b: the pairs, shape (n,).
        block: number of the block of each pair, shape (n,); default: each pair is one.
        setting: number of the setting of each pair, shape (n,), within which runs are expected to be equally fast.

    Raises:
        InvalidValueError: as `kaplan_meier`.
    """
    a, done_a = _checked(times_a, reached_a)
    b, done_b = _checked(times_b, reached_b)
    kinds = np.zeros(len(a), int) if setting is None else np.unique(np.asarray(setting), return_inverse=True)[1]
    scores = log_rank_scores(np.concatenate((a, b)), np.concatenate((done_a, done_b)), np.tile(kinds, 2))
    apart = scores[: len(a)] - scores[len(a) :]
    return SignificanceResult("log-rank", float(apart.sum()) / 2.0, *flips(by_block(apart, block)))


def log_rank_scores(times: np.ndarray, reached: np.ndarray, kind: np.ndarray | None = None) -> np.ndarray:
    """Return for each run 1 if it reached the goal, less the number of times expected until then; they add up to 0.

    The sum over a sample is the observed less the expected number of the log-rank test.

    Args:
        times, reached: as of `kaplan_meier`, shape (n,).
        kind: number from 0 on of the setting of each run, shape (n,), within which runs are expected to be equally
            fast; None: all are.
    """
    kind = np.zeros(len(times), int) if kind is None else kind
    order = np.lexsort((times, kind))
    ordered, of_run, is_new = times[order], kind[order], np.ones(len(times), bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]) | (of_run[1:] != of_run[:-1])
    place = is_new.cumsum() - 1  # of the moment of each run in its setting
    events, all_ = np.bincount(place, reached[order]), np.bincount(place)
    of = of_run[is_new]  # the setting of each moment
    before = np.cumsum(all_) - all_
    first = np.searchsorted(of, of)  # the first moment of that setting
    at_risk = np.bincount(kind)[of] - (before - before[first])
    expected = np.cumsum(events / at_risk)
    scores = np.empty(len(times))
    scores[order] = reached[order] - (expected - np.append(0.0, expected)[first])[place]
    return scores


def _checked(times_s: ArrayLike, reached: Sequence[bool] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    times, done = np.asarray(times_s, float), np.asarray(reached, bool)
    if not len(times) or times.shape != done.shape or not np.all(np.isfinite(times) & (times >= 0.0)):
        raise InvalidValueError(
            f"{len(times)} times and {len(done)} marks of who reached the goal; give at least one run, a finite time "
            "of zero or more for each (of a run that did not reach it, the time at which it was given up)"
        )
    return times, done
