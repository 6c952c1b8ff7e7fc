"""Tables of a study, from one row per run: one row per group, per comparison or per strategy."""

import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.lazy import pl
from covey.results.metrics import is_time_to_goal
from covey.results.statistics import ranks
from covey.results.statistics.fleet import best_fleet_size, speed_up
from covey.results.statistics.intervals import bootstrap_interval, median
from covey.results.statistics.power import runs_needed, walsh_share
from covey.results.statistics.profiles import performance_profile
from covey.results.statistics.sample import (
    MetricSample,
    column,
    columns,
    finite,
    groups,
    levels,
    numbers,
    sample,
)
from covey.results.statistics.shift import shift, shift_in_pairs
from covey.results.statistics.significance import SignificanceResult
from covey.results.statistics.survival import log_rank


def summarize(
    table: "pl.DataFrame",
    metric: str,
    by: str | Sequence[str] | None = "vector",
    *,
    level: float = 0.95,
    seed: int = 0,
) -> "pl.DataFrame":
    """Return one row for each group of runs: their number and the distribution of the metric.

    Columns: those of ``by``; ``metric``; ``runs`` (all), ``n`` (those that count), ``successes``; ``median``, ``q1``,
    ``q3`` (for a time to a goal from the Kaplan-Meier curve; null if they exceed the timeout); ``low``, ``high`` of the
    median (null if they exceed the timeout); ``interval`` ("95 % bootstrap interval", or "range" below six values);
    ``mean`` (for a time the restricted mean, up to ``until_s``).

    Args:
        table: one row per run, see `sample`.
        metric: a column of numbers.
        by: columns; None for all runs together.
        level: level of the interval.
        seed: seed of the bootstrap.

    Raises:
        UnknownNameError, InvalidValueError: a column is missing, or holds no numbers.
    """
    rows = []
    names = columns(by)
    for key, part in groups(table, by):
        found = sample(part, metric)
        interval = bootstrap_interval(found.ranked, level=level, seed=seed) if len(found.values) else None
        rows.append(
            dict(zip(names, key, strict=True))
            | {
                "metric": metric,
                "runs": found.runs,
                "n": len(found.values),
                "successes": found.successes,
                "median": found.quantile(0.5),
                "q1": found.quantile(0.25),
                "q3": found.quantile(0.75),
                "low": None if interval is None else finite(interval.low),
                "high": None if interval is None else finite(interval.high),
                "interval": None if interval is None else str(interval),
                "mean": found.mean,
                "until_s": found.until_s,
            }
        )
    return _frame(table, names, rows, _SUMMARY)


_COUNTS, _NUMBERS = dict.fromkeys(("runs", "n", "successes"), "i"), dict.fromkeys(("median", "q1", "q3"), "f")
_SUMMARY = {"metric": "s", **_COUNTS, **_NUMBERS, "low": "f", "high": "f", "interval": "s", "mean": "f", "until_s": "f"}
_COMPARISON = {
    "metric": "s",
    "test": "s",
    **dict.fromkeys(("n_a", "n_b", "successes_a", "successes_b"), "i"),
    **dict.fromkeys(("median_a", "median_b", "statistic", "p", "p_holm", "smallest_p", "smallest_p_holm"), "f"),
    "shown": "b",
    **dict.fromkeys(("shift", "shift_low", "shift_high", "cliffs_delta", "a12"), "f"),
    "magnitude": "s",
    "runs_needed": "i",
}


def compare(
    table: "pl.DataFrame",
    metric: str,
    between: str,
    by: str | Sequence[str] | None = None,
    *,
    paired: bool | None = None,
    pair_on: Sequence[str] = ("seed",),
    test: Literal["rank", "log-rank"] = "rank",
    alpha: float = 0.05,
) -> "pl.DataFrame":
    """Return one row per pair of values ``a``, ``b`` of the parameter ``between``, in each group of ``by``.

    All rows are one family for Holm's correction. A test is shown only if its smallest attainable p is below alpha,
    corrected as if every test of the family had its smallest p; else ``statistic``, ``p`` and ``p_holm`` are null.
    ``shift`` is how much a exceeds b, in the unit of the metric, with the 95 % interval ``shift_low`` to
    ``shift_high`` (see `shift_in_pairs`). An end that exceeds the timeout is null, and both are null with too few runs
    for an interval. ``cliffs_delta`` is P(a > b) - P(a < b); for pairs, within the pairs. ``runs_needed`` is the number
    of runs of each value (paired: of pairs) that would find a difference as large as this one with power 0.8, at alpha
    over the number of rows: a rough guess from few runs.

    Args:
        table: one row per run, see `sample`.
        metric: a column of numbers.
        between: the parameter whose values are compared pairwise.
        by: parameters that form groups.
        paired: True: Wilcoxon's signed-rank test of runs with equal ``pair_on``. False: Mann-Whitney's test of all
            runs. None: pairs if at least half of the runs of the smaller sample have a partner; runs without are left
            out.
        pair_on: columns that identify a pair. With the settings among them, as in ``["world.terrain", "seed"]``, one
            test is stratified by setting: the differences within all pairs are ranked together, which for two values
            is the test of aligned ranks of Hodges and Lehmann.
        test: ``rank``, or ``log-rank`` of whole curves of a time to a goal, never paired.
        alpha: level of the family.

    Raises:
        UnknownNameError: a column is missing.
        InvalidValueError: it holds no numbers, ``paired`` is True and a run has no partner, or the test is unknown.

    References:
        J. L. Hodges, E. L. Lehmann: Rank methods for combination of independent experiments in analysis of variance.
        Ann. Math. Statist. 33, 1962.
    """
    if test not in ("rank", "log-rank") or (test == "log-rank" and paired):
        raise InvalidValueError(f"test {test!r}, paired {paired}; give 'rank', or 'log-rank' without pairs")
    cells = []
    for key, part in groups(table, by):
        head = dict(zip(columns(by), key, strict=True))
        found = [(level, rows) for (level,), rows in groups(part, between) if len(sample(rows, metric).values)]
        cells += [(head | {"a": a, "b": b}, x, y) for (a, x), (b, y) in itertools.combinations(found, 2)]
    if paired and not all(_partners(x, y, pair_on) == max(len(x), len(y)) for _, x, y in cells):
        raise InvalidValueError(
            f"paired comparison of {between!r}: runs with equal {', '.join(pair_on)} do not match one to one; keep the "
            "other parameters apart with by, or add them to pair_on"
        )
    pairs = [None if paired is False or test == "log-rank" else _pairs(x, y, metric, pair_on) for _, x, y in cells]
    rows, outcomes = [], []
    for (head, x, y), pair in zip(cells, pairs, strict=True):
        a, b = (sample(runs, metric) for runs in pair or (x, y))
        outcome = _test(test, pair is not None, a, b)
        outcomes.append(outcome)
        effect = _effect(a, b, pair is not None, alpha / len(cells))
        rows.append(head | {"metric": metric, "test": outcome.test} | effect)
    _fill_in_tests(rows, outcomes, alpha)
    kind = {"a": column(table, between).dtype, "b": column(table, between).dtype}
    return _frame(table, columns(by), rows, _COMPARISON, kind)


def average_ranks(
    table: "pl.DataFrame",
    metric: str,
    between: str,
    over: str | Sequence[str],
    *,
    larger_is_better: bool = False,
    alpha: float = 0.05,
) -> tuple["pl.DataFrame", ranks.Friedman]:
    """Return the average rank of each value of ``between`` over blocks ``over`` (maps), 1 = best, and Friedman's test.

    The medians of the runs of each block and value are ranked; a median that exceeds the timeout ranks last.

    Raises:
        UnknownNameError: a column is missing.
        InvalidValueError: a block lacks a value, or there are fewer than three values or two blocks.
    """
    values, names = _medians(table, metric, between, over)
    test = ranks.friedman(-values if larger_is_better else values, alpha)
    kind = {between: column(table, between).dtype}
    rows = [{between: n, "average_rank": float(r)} for n, r in zip(names, test.average_ranks, strict=True)]
    return _frame(table, [], rows, {"average_rank": "f"}, kind).sort("average_rank", maintain_order=True), test


def profiles(table: "pl.DataFrame", metric: str, between: str, over: str | Sequence[str]) -> "pl.DataFrame":
    """Return performance profiles of the values of ``between`` over problems ``over``; smaller metrics are better.

    Columns: ``ratio``, and one per value: the share of the problems that it solves within that factor of the best. A
    problem is one set of values of ``over`` (for single runs: the map and ``seed``); its value is the median of its
    runs.

    Raises:
        As `average_ranks` and `performance_profile`.
    """
    values, names = _medians(table, metric, between, over)
    found = performance_profile(values)
    return pl.DataFrame({"ratio": found.ratios} | {str(n): found.share[:, i] for i, n in enumerate(names)})


def scaling(table: "pl.DataFrame", metric: str, size: str, by: str | Sequence[str] | None = None) -> "pl.DataFrame":
    """Return the median time, the speed-up S(n) = T(1) / T(n) and the efficiency S(n) / n of each fleet size.

    Columns: those of ``by``; the size; ``n``, ``successes``, ``median``, ``speed_up``, ``efficiency``. They are null if
    half of the runs did not reach the goal, and in groups without runs of one robot.
    """
    rows = []
    for key, part in groups(table, by):
        found = {n: sample(runs, metric) for (n,), runs in groups(part, size)}
        medians = [s.quantile(0.5) for s in found.values()]
        times = np.array([np.nan if m is None else m for m in medians])
        s, efficiency = speed_up(list(found), times) if 1 in found else (times * np.nan, times * np.nan)
        for i, (n, runs) in enumerate(found.items()):
            counts = {size: n, "n": len(runs.values), "successes": runs.successes, "median": medians[i]}
            gains = {"speed_up": finite(s[i]), "efficiency": finite(efficiency[i])}
            rows.append(dict(zip(columns(by), key, strict=True)) | counts | gains)
    kinds = {"n": "i", "successes": "i", "median": "f", "speed_up": "f", "efficiency": "f"}
    return _frame(table, [*columns(by), size], rows, kinds)


def best_fleets(
    table: "pl.DataFrame",
    metric: str,
    size: str,
    by: str | Sequence[str] | None = None,
    *,
    cost: str | None = None,
    weight: float = 0.0,
    level: float = 0.95,
    seed: int = 0,
) -> "pl.DataFrame":
    """Return the best fleet size of each group: the smallest median time, or T / T(1) + weight cost / cost(1).

    Columns: those of ``by``; ``best`` (null if no size reaches the goal in half of its runs), ``value``; ``low``,
    ``high``, ``interval`` as in `best_fleet_size`. A run without a cost counts as infinitely expensive.

    Raises:
        UnknownNameError: a column is missing.
        InvalidValueError: sizes are not numbers, for example labels.
    """
    rows = []
    numbers(table, size)
    for key, part in groups(table, by):
        parts = {int(n): runs for (n,), runs in groups(part, size)}
        times = {n: sample(runs, metric).ranked for n, runs in parts.items()}
        dear = None if cost is None else {n: np.nan_to_num(numbers(r, cost), nan=np.inf) for n, r in parts.items()}
        best = best_fleet_size({n: t for n, t in times.items() if len(t)}, dear, weight, level=level, seed=seed)
        row: dict[str, Any] = {"best": None, "value": None, "low": None, "high": None, "interval": None}
        if best is not None:
            ends = best.interval
            row = {"best": best.size, "value": best.value, "low": int(ends.low), "high": int(ends.high)}
            row["interval"] = str(ends)
        rows.append(dict(zip(columns(by), key, strict=True)) | row)
    return _frame(table, columns(by), rows, {"best": "i", "value": "f", "low": "i", "high": "i", "interval": "s"})


def _pairs(
    a: "pl.DataFrame", b: "pl.DataFrame", metric: str, pair_on: Sequence[str]
) -> "tuple[pl.DataFrame, pl.DataFrame] | None":
    """Return the runs of two tables in the order of their pairs, without runs that have no partner.

    None if fewer than half of the runs of the smaller table have one, or no pair has two values. For a metric other
    than a time to a goal, pairs in which either run has no value are left out.
    """
    if 2 * _partners(a, b, pair_on) < max(1, min(len(a), len(b))):
        return None
    both = ((a, b), (b, a))
    a, b = (one.join(other.select(pair_on), on=list(pair_on), how="semi").sort(pair_on) for one, other in both)
    if not is_time_to_goal(metric):
        have = ~np.isnan(numbers(a, metric)) & ~np.isnan(numbers(b, metric))
        a, b = a.filter(have), b.filter(have)
    return (a, b) if len(a) else None


def _partners(a: "pl.DataFrame", b: "pl.DataFrame", pair_on: Sequence[str]) -> int:
    """Return how many runs of each of two tables have a partner in the other; 0 if a partner is not unique."""
    for name in pair_on:
        column(a, name)
    if any(t.select(pair_on).is_duplicated().any() for t in (a, b)):
        return 0
    return len(a.join(b.select(pair_on), on=list(pair_on), how="semi"))


def _test(test: str, in_pairs: bool, a: MetricSample, b: MetricSample) -> SignificanceResult:
    if test == "log-rank":
        return log_rank(a.values, a.reached, b.values, b.reached)
    return ranks.wilcoxon_paired(a.ranked, b.ranked) if in_pairs else ranks.mann_whitney(a.ranked, b.ranked)


def _effect(a: MetricSample, b: MetricSample, in_pairs: bool, alpha: float) -> dict[str, Any]:
    """Return the size of the difference between two samples, and the number of runs that one as large needs."""
    dominance = ranks.dominance_in_pairs if in_pairs else ranks.cliffs_delta
    delta = dominance(a.ranked, b.ranked)
    effect = walsh_share(a.ranked, b.ranked) if in_pairs else ranks.a12(a.ranked, b.ranked)
    by, interval = (shift_in_pairs if in_pairs else shift)(a.ranked, b.ranked)
    return {
        "n_a": len(a.values),
        "n_b": len(b.values),
        "successes_a": a.successes,
        "successes_b": b.successes,
        "median_a": a.quantile(0.5),
        "median_b": b.quantile(0.5),
        "shift": finite(by),
        "shift_low": None if interval is None else finite(interval.low),
        "shift_high": None if interval is None else finite(interval.high),
        "cliffs_delta": delta,
        "a12": (1.0 + delta) / 2.0,
        "magnitude": ranks.magnitude(delta),
        "runs_needed": runs_needed(effect, paired=in_pairs, alpha=alpha),
    }


def _fill_in_tests(rows: list[dict[str, Any]], outcomes: list[SignificanceResult], alpha: float) -> None:
    """Add the result of each test that could have been significant."""
    holm = ranks.holm([o.p for o in outcomes])
    least = ranks.holm([o.smallest_p for o in outcomes])
    for row, outcome, p_holm, smallest in zip(rows, outcomes, holm, least, strict=True):
        shown = bool(smallest < alpha)
        row |= {"smallest_p": outcome.smallest_p, "smallest_p_holm": float(smallest), "shown": shown}
        row |= {"statistic": outcome.statistic, "p": outcome.p, "p_holm": float(p_holm)} if shown else {}


def _medians(table: "pl.DataFrame", metric: str, between: str, over: Any) -> tuple[np.ndarray, list[Any]]:
    """Return the median by block and value of ``between``, shape (blocks, values), and those values."""
    names = levels(table, between)
    blocks = []
    for key, part in groups(table, over):
        found = {level: sample(rows, metric).ranked for (level,), rows in groups(part, between)}
        missing = [name for name in names if not len(found.get(name, ()))]
        if missing:
            where = ", ".join(f"{c} = {k}" for c, k in zip(columns(over), key, strict=True))
            raise InvalidValueError(f"{where}: no {metric} for {between} = {missing[0]}; every block needs every value")
        blocks.append([float(median(found[name])) for name in names])
    return np.array(blocks), names


def _frame(table: "pl.DataFrame", by: list[str], rows: list[dict[str, Any]], kinds: dict[str, str], more=None):
    """Return rows as a frame: the columns ``by`` with their types in ``table``, others with the types of ``kinds``."""
    types = {"s": pl.String, "i": pl.Int64, "f": pl.Float64, "b": pl.Boolean}
    schema = {name: table.schema[name] for name in by} | (more or {}) | {n: types[k] for n, k in kinds.items()}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema, orient="row")
