"""Tables of a study, from one row per run: one row per group, per comparison or per strategy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.lazy import pl
from covey.results.statistics import ranks
from covey.results.statistics.fleet import best_fleet_size, speed_up
from covey.results.statistics.intervals import median, median_interval
from covey.results.statistics.profiles import performance_profile
from covey.results.statistics.sample import (
    censored,
    column,
    columns,
    finite,
    groups,
    ids,
    levels,
    numbers,
    sample,
)


def summarize(
    table: "pl.DataFrame",
    metric: str,
    by: str | Sequence[str] | None = "vector",
    *,
    level: float = 0.95,
) -> "pl.DataFrame":
    """Return one row for each group of runs: their number and the distribution of the metric.

    Columns: those of ``by``; ``metric``; ``runs`` (all), ``n`` (those that count), ``successes``; ``median``, ``q1``,
    ``q3`` (for a time to a goal from the Kaplan-Meier curve; null if they exceed the timeout); ``low``, ``high`` of the
    median (null if they exceed the timeout); ``interval`` ("95 % order statistics interval", or "range" below six
    values); ``mean`` (for a time the restricted mean, up to ``until_s``; for a metric that grows until the goal that of
    the runs which reached it).

    Args:
        table: one row per run, see `sample`.
        metric: a column of numbers.
        by: columns; None for all runs together.
        level: level of the interval.

    Raises:
        UnknownNameError, InvalidValueError: a column is missing, or holds no numbers.
    """
    table, rows = censored(table, [metric]), []
    names = columns(by)
    for key, part in groups(table, by):
        found = sample(part, metric)
        interval = median_interval(found.ranked, level) if len(found.values) else None
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
    return frame(table, names, rows, _SUMMARY)


_COUNTS, _NUMBERS = dict.fromkeys(("runs", "n", "successes"), "i"), dict.fromkeys(("median", "q1", "q3"), "f")
_SUMMARY = {"metric": "s", **_COUNTS, **_NUMBERS, "low": "f", "high": "f", "interval": "s", "mean": "f", "until_s": "f"}


def average_ranks(
    table: "pl.DataFrame",
    metric: str,
    between: str,
    over: str | Sequence[str],
    places: Sequence[str] = (),
    *,
    larger_is_better: bool = False,
    alpha: float = 0.05,
) -> tuple["pl.DataFrame", ranks.Friedman]:
    """Return the average rank of each value of ``between``, 1 = best, and Friedman's test by blocks.

    The runs of one seed and one setting are ranked; a run that did not reach the goal ranks last. The ranks of the
    settings that share a place and a seed are averaged: they are one block. Settings and seeds without a run of every
    value are left out.

    Args:
        table: one row per run, see `sample`.
        metric: a column of numbers.
        between: the parameter whose values are ranked.
        over: the other parameters that vary.
        places: those of them with unrelated noise under equal seeds, such as the world; others share a block.
        larger_is_better: whether the largest value has rank 1.
        alpha: level of the critical difference.

    Raises:
        UnknownNameError: a column is missing.
        InvalidValueError: there are fewer than three values, or fewer than two blocks with a run of each.
    """
    table, names = censored(table, [metric]), levels(table, between)
    over = columns(over)
    cells, kinds = ids(table, [*over, "seed"]), {name: i for i, name in enumerate(names)}
    values = np.full((cells.max() + 1, len(names)), np.nan)
    block, all_blocks = np.zeros(len(values), int), ids(table, [*places, "seed"])
    for (name,), part in groups(table.with_row_index("_row"), between):
        rows = part["_row"].to_numpy()
        ranked = _ranked(part, metric)
        values[cells[rows], kinds[name]] = -ranked if larger_is_better else ranked
        block[cells[rows]] = all_blocks[rows]
    whole = ~np.isnan(values).any(axis=1)
    if len(names) < 3 or len(np.unique(block[whole])) < 2:
        raise InvalidValueError(
            f"{len(names)} values of {between} and {len(np.unique(block[whole]))} seeds with a run of each; ranks need "
            "at least three values and two seeds"
        )
    test = ranks.friedman(values[whole], alpha, block[whole])
    kind = {between: column(table, between).dtype}
    rows = [{between: n, "average_rank": float(r)} for n, r in zip(names, test.average_ranks, strict=True)]
    return frame(table, [], rows, {"average_rank": "f"}, kind).sort("average_rank", maintain_order=True), test


def _ranked(part: "pl.DataFrame", metric: str) -> np.ndarray:
    """Return the value of each run for ranks, NaN where it has none."""
    values = numbers(part, metric)
    found = sample(part, metric)
    if len(found.values) == len(values):
        return found.ranked
    values[~np.isnan(values)] = found.ranked
    return values


def profiles(table: "pl.DataFrame", metric: str, between: str, over: str | Sequence[str]) -> "pl.DataFrame":
    """Return performance profiles of the values of ``between`` over problems ``over``; smaller metrics are better.

    Columns: ``ratio``, and one per value: the share of the problems that it solves within that factor of the best. A
    problem is one set of values of ``over`` (for single runs: the map and ``seed``); its value is the median of its
    runs.

    Raises:
        InvalidValueError: as `average_ranks` and `performance_profile`.
    """
    values, names = _medians(censored(table, [metric]), metric, between, over)
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
    return frame(table, [*columns(by), size], rows, kinds)


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
    return frame(table, columns(by), rows, {"best": "i", "value": "f", "low": "i", "high": "i", "interval": "s"})


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


def frame(table: "pl.DataFrame", by: list[str], rows: list[dict[str, Any]], kinds: dict[str, str], more=None):
    """Return rows as a frame: the columns ``by`` with their types in ``table``, others with the types of ``kinds``."""
    types = {"s": pl.String, "i": pl.Int64, "f": pl.Float64, "b": pl.Boolean}
    schema = {name: table.schema[name] for name in by} | (more or {}) | {n: types[k] for n, k in kinds.items()}
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema, orient="row")
