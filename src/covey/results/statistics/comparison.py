"""`compare`: every two values of a parameter, by blocks, or of runs without partners."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.lazy import pl
from covey.results.metrics import is_time_to_goal
from covey.results.statistics import ranks
from covey.results.statistics.blocks import flips, splits
from covey.results.statistics.families import holm, tarone
from covey.results.statistics.intervals import Interval
from covey.results.statistics.power import runs_needed, walsh_share
from covey.results.statistics.sample import (
    MetricSample,
    censored,
    column,
    columns,
    finite,
    got_there,
    groups,
    ids,
    numbers,
    sample,
)
from covey.results.statistics.shift import mean_difference, mean_difference_in_pairs, shift, shift_in_pairs
from covey.results.statistics.significance import SignificanceResult
from covey.results.statistics.success import success_difference, success_difference_in_pairs
from covey.results.statistics.survival import log_rank, log_rank_in_pairs
from covey.results.statistics.tables import frame

SUCCESS = "reached the goal"
"""In the place of a metric: whether a run reached its goal, as 1 or 0."""

_ROW = {
    "metric": "s",
    "test": "s",
    **dict.fromkeys(("n_a", "n_b", "telling", "blocks", "successes_a", "successes_b"), "i"),
    **dict.fromkeys(("median_a", "median_b", "statistic", "p", "p_holm", "smallest_p"), "f"),
    "shown": "b",
    **dict.fromkeys(("shift", "shift_low", "shift_high", "mean_shift", "mean_low", "mean_high"), "f"),
    **dict.fromkeys(("cliffs_delta", "a12"), "f"),
    "magnitude": "s",
    "runs_needed": "i",
}


@dataclass(frozen=True)
class _Value:
    """The runs of one value: their sample, who of them succeeded, and the numbers of pair, block and setting."""

    found: MetricSample
    success: np.ndarray
    cell: np.ndarray
    block: np.ndarray
    setting: np.ndarray

    def take(self, places: np.ndarray) -> "_Value":
        f = self.found
        success = self.success[places]
        part = MetricSample(f.values[places], f.reached[places], len(places), int(success.sum()), f.until_s)
        return _Value(part, success, self.cell[places], self.block[places], self.setting[places])


def compare(
    table: "pl.DataFrame",
    metric: str,
    between: str,
    by: str | Sequence[str] | None = None,
    *,
    over: Sequence[str] = (),
    places: Sequence[str] = (),
    paired: bool | None = None,
    test: Literal["rank", "log-rank"] = "rank",
    among: Sequence[Any] | None = None,
    alpha: float = 0.05,
) -> "pl.DataFrame":
    """Return one row per pair of values ``a``, ``b`` of the parameter ``between``, in each group of ``by``.

    Two runs of the same seed and the same values of ``over`` are a pair. Pairs of one seed, and of one place, are one
    block: the test exchanges their labels together, so the same seed in several settings counts once. Where runs have
    no partners, the test deals out the labels of all runs anew.

    ``telling`` pairs are those that say something: not two timeouts, and not equal. ``shift`` is how much a exceeds b,
    in the unit of the metric, with the 95 % interval ``shift_low`` to ``shift_high`` of the shifts that the same test
    does not reject (see `shift_in_pairs`). An end beyond the timeout is null, and both are null with too few blocks.
    ``mean_shift`` is the difference of means, of times that of restricted means, so two timeouts count as equal; null
    where a metric is censored. Of `SUCCESS` it is that of the shares (`success_difference_in_pairs`).
    ``cliffs_delta`` is P(a > b) - P(a < b); for pairs, within the pairs. ``runs_needed`` is the number of runs of each
    value (paired: of pairs) that would find a difference as large as this one with power 0.8: a rough guess from few
    runs; null where the difference is negligible (`magnitude`), so there is none to plan for.

    All rows are one family for Holm's correction. Tests that could not have been significant in it do not count
    (Tarone): their ``p_holm`` is null, and ``shown`` is false. ``p`` is null if even alone a test could not reach
    alpha.

    Args:
        table: one row per run, see `sample`. Metrics that grow until the goal are `censored`.
        metric: a column of numbers, or `SUCCESS`: McNemar's exact test in pairs, else Fisher's.
        between: the parameter whose values are compared pairwise.
        by: parameters that form groups, each tested for itself.
        over: parameters over which pairs are put into one test.
        places: those of ``over`` with unrelated noise under equal seeds, such as the world.
        paired: True: only pairs. False: no pairs, and no ``over``. None: pairs if at least half of the runs of the
            smaller sample have a partner; runs without are left out.
        test: ``rank``: Wilcoxon's signed ranks, or Mann-Whitney; or ``log-rank`` of whole curves of a time to a goal.
        among: return only the comparisons with one of these values; the family is still that of every two values, so
            they may be chosen after a look at the runs.
        alpha: level of the family.

    Raises:
        UnknownNameError: a column is missing.
        InvalidValueError: it holds no numbers, ``paired`` is True and a run has no partner, runs without partners are
            to be put together ``over`` parameters, or the test is unknown.
    """
    if test not in ("rank", "log-rank") or (test == "log-rank" and not is_time_to_goal(metric)):
        raise InvalidValueError(f"test {test!r} of {metric!r}; give 'rank', or 'log-rank' for a time to a goal")
    table = _with_success(table) if metric == SUCCESS else censored(table, [metric])
    numbers(table, metric)
    rows, outcomes = [], []
    for key, part in groups(table, by):
        head = dict(zip(columns(by), key, strict=True))
        for (a, x), (b, y) in itertools.combinations(_values(part, metric, between, over, places), 2):
            pair = None if paired is False else _pairs(x, y, needed=bool(paired or over))
            whole = pair is not None and len(pair[0].cell) == max(len(x.cell), len(y.cell))
            if (paired and not whole) or (over and pair is None):
                raise InvalidValueError(
                    f"comparison of {between!r} in pairs: runs with equal {', '.join([*over, 'seed'])} do not match "
                    "one to one; name the other parameters that vary in over or by, or give paired=False without over"
                )
            x, y = pair or (x, y)
            if not len(x.found.values):
                continue
            block = np.unique(x.block, return_inverse=True)[1] if pair else None
            outcomes.append(_tested(metric, test, block, x, y))
            effect = {"_left_out": True}
            if among is None or a in among or b in among:
                effect = _effect(x.found, y.found, block, moved=test == "rank", share=metric == SUCCESS)
            rows.append(head | {"a": a, "b": b, "metric": metric, "test": outcomes[-1].test} | effect)
    _fill_in_tests(rows, outcomes, alpha)
    rows = [row for row in rows if "_left_out" not in row]
    kind = {"a": column(table, between).dtype, "b": column(table, between).dtype}
    return frame(table, columns(by), rows, _ROW, kind)


def _with_success(table: "pl.DataFrame") -> "pl.DataFrame":
    return table.with_columns((pl.col("status") == "reached").cast(pl.Float64).alias(SUCCESS))


def _values(
    part: "pl.DataFrame", metric: str, between: str, over: Sequence[str], places: Sequence[str]
) -> list[tuple[Any, _Value]]:
    """Return the runs of each value that count."""
    named = {"_cell": ids(part, [*over, "seed"]), "_block": ids(part, [*places, "seed"]), "_setting": ids(part, over)}
    part = part.with_columns(pl.Series(name, column) for name, column in named.items())
    if not is_time_to_goal(metric):
        part = part.filter(pl.col(metric).is_not_null() & pl.col(metric).cast(pl.Float64).is_not_nan())
    found = []
    for (level,), rows in groups(part, between):
        one = sample(rows, metric)
        success = one.reached if one.until_s is not None else got_there(rows, metric)
        if len(one.values):
            found.append((level, _Value(one, success, *(rows[name].to_numpy() for name in named))))
    return found


def _pairs(a: _Value, b: _Value, *, needed: bool) -> tuple[_Value, _Value] | None:
    """Return the runs of two values in the order of their pairs, without runs that have no partner.

    None if a partner is not unique, or fewer than half of the runs of the smaller value have one (``needed``: none).
    """
    cells = [np.unique(one.cell) for one in (a, b)]
    if any(len(unique) < len(one.cell) for unique, one in zip(cells, (a, b), strict=True)):
        return None
    _, of_a, of_b = np.intersect1d(a.cell, b.cell, assume_unique=True, return_indices=True)
    if len(of_a) < (1 if needed else max(1, min(len(a.cell), len(b.cell)) / 2)):
        return None
    return a.take(of_a), b.take(of_b)


def _tested(metric: str, test: str, block: np.ndarray | None, x: _Value, y: _Value) -> SignificanceResult:
    """Return the test between two values, in pairs if there are blocks."""
    a, b = x.found, y.found
    if metric == SUCCESS:
        return _success(a.values, b.values, block)
    if test == "log-rank":
        times = (a.values, a.reached, b.values, b.reached)
        return log_rank(*times) if block is None else log_rank_in_pairs(*times, block, x.setting)
    return ranks.mann_whitney(a.ranked, b.ranked) if block is None else ranks.wilcoxon_paired(a.ranked, b.ranked, block)


def _success(a: np.ndarray, b: np.ndarray, block: np.ndarray | None) -> SignificanceResult:
    """Return the exact test of two numbers of successes: McNemar's, by blocks, or Fisher's."""
    if block is None:
        found = splits(np.concatenate((a, b)), np.arange(len(a) + len(b)) < len(a))
        return SignificanceResult("Fisher exact", float(a.sum()), *found)
    return SignificanceResult(
        "McNemar exact", float(np.maximum(a - b, 0.0).sum()), *flips(ranks.by_block(a - b, block))
    )


def _effect(a: MetricSample, b: MetricSample, block: np.ndarray | None, *, moved: bool, share: bool) -> dict[str, Any]:
    """Return the size of the difference between two samples.

    Args:
        a, b: the samples.
        block: number of the block of each pair; None without pairs.
        moved: whether the shift of the rank test is given, too.
        share: whether the samples are successes, 1 or 0.
    """
    in_pairs, x, y = block is not None, a.ranked, b.ranked
    delta = (ranks.dominance_in_pairs if in_pairs else ranks.cliffs_delta)(x, y)
    by, interval = math.nan, None
    if moved and not share:
        by, interval = shift_in_pairs(x, y, block=block) if in_pairs else shift(x, y)
    row = {
        "n_a": len(x),
        "n_b": len(y),
        "telling": int((ranks.signed_ranks(ranks.differences(x, y)) != 0).sum()) if in_pairs else None,
        "blocks": int(block.max()) + 1 if block is not None else None,
        "successes_a": a.successes,
        "successes_b": b.successes,
        "median_a": a.quantile(0.5),
        "median_b": b.quantile(0.5),
        "cliffs_delta": delta,
        "a12": (1.0 + delta) / 2.0,
        "magnitude": ranks.magnitude(delta),
        "_share": walsh_share(x, y) if in_pairs else ranks.a12(x, y),
        "_paired": in_pairs,
    }
    row |= _ends("shift", "shift", by, interval)
    means = _restricted(a, b)
    if share:
        found = success_difference_in_pairs(a.values, b.values, block=block) if in_pairs else success_difference(x, y)
        row |= _ends("mean_shift", "mean", *found)
    elif means is not None:
        found = mean_difference_in_pairs(*means, block=block) if in_pairs else mean_difference(*means)
        row |= _ends("mean_shift", "mean", *found)
    return row


def _restricted(a: MetricSample, b: MetricSample) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the values of which means are compared, times up to the timeout; None where means say nothing."""
    until = min((one.until_s for one in (a, b) if one.until_s is not None), default=math.inf)
    x, y = (np.minimum(one.values, until) for one in (a, b))
    early = any((~one.reached & (values < until - 1e-9)).any() for one, values in ((a, x), (b, y)))
    return None if not (np.isfinite(x).all() and np.isfinite(y).all()) or (early and until < math.inf) else (x, y)


def _ends(name: str, prefix: str, by: float, interval: Interval | None) -> dict[str, float | None]:
    low, high = (None, None) if interval is None else (finite(interval.low), finite(interval.high))
    return {name: finite(by), f"{prefix}_low": low, f"{prefix}_high": high}


def _fill_in_tests(rows: list[dict[str, Any]], outcomes: list[SignificanceResult], alpha: float) -> None:
    """Add the results of the tests, and the number of runs that differences as large as these need."""
    counts = tarone([o.smallest_p for o in outcomes], alpha)
    adjusted = iter(holm([o.p for o, shown in zip(outcomes, counts, strict=True) if shown]))
    for row, outcome, shown in zip(rows, outcomes, counts.tolist(), strict=True):
        row |= {"smallest_p": outcome.smallest_p, "shown": shown}
        row |= {"statistic": outcome.statistic, "p": outcome.p} if outcome.smallest_p < alpha else {}
        row |= {"p_holm": float(next(adjusted))} if shown else {}
        if "_left_out" in row:
            continue
        each = alpha / max(1, int(counts.sum()))
        if ranks.magnitude(2.0 * row["_share"] - 1.0) != "negligible":
            row["runs_needed"] = runs_needed(row["_share"], paired=row["_paired"], alpha=each)
