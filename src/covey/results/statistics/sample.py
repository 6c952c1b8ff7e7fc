"""Samples from the table of a study, one row per run, including runs that never reached their goal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, UnknownNameError
from covey.lazy import pl
from covey.results.metrics import is_time_to_goal, is_until_goal
from covey.results.metrics.registry import LARGER_IS_BETTER, share_of
from covey.results.statistics.intervals import quantile
from covey.results.statistics.survival import Survival, kaplan_meier

_BY_HAND = ("stopped", "interrupted")
_END = "simulated_time_s"


@dataclass(frozen=True)
class MetricSample:
    """One metric of some runs.

    Attributes:
        values: shape (n,). For a time to a goal, one value per run: if it was not reached, the time at which the run
            was given up. For another metric, one value per run that has one; infinite, on its worse side, where it is
            `censored`.
        reached: whether a value is a result, shape (n,).
        runs: number of all runs, also of those without a value.
        successes: number of runs that reached the time's goal; for another metric, that `got_there`.
        until_s: the timeout up to which means of times are restricted; None for another metric, or without a timeout.
    """

    values: np.ndarray
    reached: np.ndarray
    runs: int
    successes: int
    until_s: float | None

    @property
    def ranked(self) -> np.ndarray:
        """The values for rank tests, shape (n,): infinite, on the worse side, where the goal was not reached."""
        return np.where(self.reached, self.values, np.copysign(np.inf, self.values))

    @cached_property
    def survival(self) -> Survival:
        """The Kaplan-Meier estimate of a time to a goal."""
        return kaplan_meier(self.values, self.reached)

    def quantile(self, p: float) -> float | None:
        """Return a quantile, for a time of the Kaplan-Meier curve; None without values, or past the timeout."""
        if not len(self.values):
            return None
        return self.survival.quantile_s(p) if self.until_s is not None else finite(float(quantile(self.ranked, p)))

    @property
    def mean(self) -> float | None:
        """The mean; for a time with a timeout the restricted mean, that of min(time, timeout).

        For a `censored` metric it is that of the runs that reached the goal. None without values.
        """
        if not len(self.values) or (self.until_s is None and not self.reached.any()):
            return None
        if self.until_s is not None:
            return self.survival.restricted_mean_s(self.until_s)
        whole = bool(np.isfinite(self.values).all())  # no value is censored, but a time may exceed its timeout
        return finite(float((self.ranked if whole else self.values[self.reached]).mean()))


def sample(table: "pl.DataFrame", metric: str) -> MetricSample:
    """Return a metric of the runs of a table.

    A time to a goal (`is_time_to_goal`) counts for every run. A run without a value is censored at the latest
    ``simulated_time_s`` of all runs if its time was up (``timeout``: its own, or that of its mission, which may be
    earlier); at its own if somebody ended it (``stopped``, ``interrupted``), and without a timeout. After any other
    ending (exhausted, failed, hung, out of memory) it would never have reached the goal, and is censored at its
    ``timeout_s``. For other metrics nulls are left out; their number is ``runs`` less the number of values.

    Args:
        table: one row per run: the metric, ``status``, and for times ``timeout_s`` and ``simulated_time_s`` (without
            it a ``timeout`` was at ``timeout_s``).
        metric: a column.

    Raises:
        UnknownNameError: there is no such column.
        InvalidValueError: the column holds no numbers.
    """
    values = numbers(table, metric)
    status = column(table, "status").to_list()
    has = ~np.isnan(values)
    if not is_time_to_goal(metric):
        values = values[has]
        return MetricSample(values, np.isfinite(values), len(has), int(got_there(table, metric).sum()), None)
    timeout, status = numbers(table, "timeout_s"), np.array(status, dtype=object)
    given_up = np.where(np.isin(status, _BY_HAND), np.nan, timeout)
    if _END in table.columns:  # one time for all of them: a run that got there later must not stand alone
        last = np.fmax.reduce(numbers(table, _END), initial=-np.inf)
        given_up = np.where(status == "timeout", np.fmin(timeout, last), given_up)
    early = ~has & ~np.isfinite(given_up)
    if early.any():
        given_up[early] = np.nan_to_num(numbers(table, _END)[early])
    until = float(timeout.min()) if len(timeout) and np.isfinite(timeout).all() else None
    return MetricSample(np.where(has, values, given_up), has, len(values), int(has.sum()), until)


def got_there(table: "pl.DataFrame", metric: str) -> np.ndarray:
    """Return which runs reached their goal, or, of a metric at an explored share, which explored it, bool (n,)."""
    return table.select(_there(table, metric)).to_series().to_numpy()


def _there(table: "pl.DataFrame", metric: str) -> "pl.Expr":
    name = f"t{share_of(metric)}_s"
    return pl.col(name).is_not_null() if name in table.columns else pl.col("status") == "reached"


def censored(table: "pl.DataFrame", metrics: Iterable[str], goal: bool | None = None) -> "pl.DataFrame":
    """Return a table in which metrics that grow until the goal have no result where a run did not reach it.

    How far a team drove until the goal is unknown for a team that gave up half-way, and a small number then is no merit
    (`covey.results.metrics.is_until_goal`). The value of such a run becomes infinite, on the side where it is worse.
    The same holds for a metric at an explored share, such as ``overlap_t80``, where the share was not explored.

    Args:
        table: one row per run, see `sample`.
        metrics: names of columns; others and missing ones stay.
        goal: whether the runs have a goal. None: they have one if any of the table reached it.
    """
    goal = bool((table["status"] == "reached").any()) if goal is None else goal
    names = [
        name
        for name in dict.fromkeys(metrics)
        if name in table.columns and ((is_until_goal(name) and goal) or f"t{share_of(name)}_s" in table.columns)
    ]
    if not names:
        return table
    worse = {name: -np.inf if name in LARGER_IS_BETTER else np.inf for name in names}
    return table.with_columns(
        pl.when(_there(table, name)).then(pl.col(name).cast(pl.Float64)).otherwise(pl.lit(worse[name])).alias(name)
        for name in names
    )


def groups(table: "pl.DataFrame", by: str | Sequence[str] | None) -> Iterator[tuple[tuple[Any, ...], "pl.DataFrame"]]:
    """Yield the values of the columns ``by`` and their rows: numbers ascending, others in order of first appearance.

    Raises:
        UnknownNameError: there is no such column.
    """
    by = columns(by)
    if not by:
        yield (), table
        return
    orders = [{value: i for i, value in enumerate(levels(table, name))} for name in by]
    parts = table.partition_by(by, as_dict=True)
    for key in sorted(parts, key=lambda key: tuple(order[k] for order, k in zip(orders, key, strict=True))):
        yield key, parts[key]


def ids(table: "pl.DataFrame", by: Sequence[str]) -> np.ndarray:
    """Return the number of the group of each row, from 0: rows with equal values of the columns share one.

    Raises:
        UnknownNameError: there is no such column.
    """
    found = np.zeros(len(table), np.int64)
    for name in by:
        codes = column(table, name).rank("dense").fill_null(0).to_numpy().astype(np.int64)
        found = np.unique(found * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    return found


def columns(by: str | Sequence[str] | None) -> list[str]:
    """Return names of columns as a list, from one name, several or None."""
    return [by] if isinstance(by, str) else list(by or ())


def levels(table: "pl.DataFrame", name: str) -> list[Any]:
    """Return the distinct values of a column: numbers ascending, others in order of first appearance."""
    series = column(table, name)
    values = series.unique(maintain_order=True).to_list()
    return sorted(values, key=lambda v: (v is None, v)) if series.dtype.is_numeric() else values


def column(table: "pl.DataFrame", name: str) -> "pl.Series":
    """Return a column; raise `UnknownNameError` with the nearest name if it does not exist."""
    if name not in table.columns:
        raise UnknownNameError("column", name, table.columns)
    return table[name]


def numbers(table: "pl.DataFrame", name: str) -> np.ndarray:
    """Return a column as floats, NaN for null, shape (n,); raise `InvalidValueError` if it holds anything else."""
    series = column(table, name)
    if not (series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null)):
        raise InvalidValueError(f"column {name!r} holds {series.dtype}, not numbers; choose a metric that is a number")
    return series.cast(pl.Float64).fill_null(np.nan).to_numpy().astype(float)


def finite(value: float) -> float | None:
    """Return a number, or None if it is infinite or NaN."""
    return value if np.isfinite(value) else None
