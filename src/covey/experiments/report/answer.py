"""The opening of a report: what was asked, the answer in a sentence, and what is uncertain about it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from covey.experiments.analysis.analysis import p_text
from covey.experiments.analysis.findings import ALPHA, Finding, best_of
from covey.experiments.analysis.report_tables import text, within
from covey.results import statistics
from covey.results.labels import label, unit, written
from covey.results.metrics import is_time_to_goal, is_until_goal
from covey.results.metrics.registry import LARGER_IS_BETTER

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Answer:
    """The opening of a report.

    Attributes:
        question: what was asked, in a sentence.
        answer: the answer, in one or two sentences.
        uncertain: what to keep in mind, a sentence each.
    """

    question: str
    answer: str
    uncertain: tuple[str, ...]


def answer(table: "pl.DataFrame", found: Sequence[Finding]) -> Answer | None:
    """Return the answer to the main question; None if the design varies nothing that is tested.

    Args:
        table: one row per run.
        found: the findings of the report.
    """
    primary = next((one for one in found if one.is_primary), None)
    if primary is None:
        return None
    asked, name = primary.question, label(primary.metric)
    values = statistics.levels(table, asked.parameter)
    over = f", over {' and '.join(map(label, asked.over))}" if asked.over else ""
    shown = ", ".join(map(written, values)) if len(values) <= 12 else f"{len(values)} values"
    question = f"Does {label(asked.parameter)} ({shown}) change {name}{over}?"
    return Answer(question, _said(table, primary), tuple(_uncertain(table, primary)))


def not_reached(table: "pl.DataFrame", *, goal: bool) -> str | None:
    """Return a sentence about the runs that did not reach their goal; None if all did, or there is none."""
    missing = int((table["status"] != "reached").sum())
    if not goal or not missing:
        return None
    return f"{missing} of {len(table)} runs did not reach the goal."


def _said(table: "pl.DataFrame", primary: Finding) -> str:
    rows = primary.rows.to_dicts()
    if primary.reason:
        return f"This design cannot tell: {primary.reason}."
    tested = [row for row in rows if row["p_adjusted"] is not None]
    if not tested:
        return f"This design cannot tell: {_too_few(rows)}, no outcome could have reached p < {ALPHA:g}."
    if len(rows) == 1:
        return _of_two(primary.metric, rows[0])
    best = best_of(table, primary.metric, primary.question)
    if best is None:
        clear = sum(row["p_adjusted"] < ALPHA for row in tested)
        return (
            f"{clear} of {len(rows)} differences are shown (p < {ALPHA:g} in their family); no seed has a run of each."
        )
    with_best = [_from_best(row, best) for row in tested if best in (row["a"], row["b"])]
    clear = [row for row in with_best if row["p_adjusted"] < ALPHA and _first_is_better(primary.metric, row)]
    shown = [f"{row['b']} by {_difference(primary.metric, row)}" for row in clear]
    open_ = [row for row in with_best if row not in clear]
    parts = [f"{written(best)} has the best average rank in {label(primary.metric)}"]
    parts += [f"It is better than {'; '.join(shown)}"] if shown else []
    if open_:
        names = ", ".join(written(row["b"]) for row in open_) if shown else "any other"
        sizes = "; ".join(
            f"{written(row['b'])} less {written(best)} is {_difference(primary.metric, _turned(row), signed=True)}"
            for row in open_[:_MOST_OPEN]
        )
        parts.append(f"That it is better than {names} is not shown: {sizes}")
    return f"{'. '.join(parts)}."


_MOST_OPEN = 3
"""Most differences that are not shown but said with their sizes."""


def _too_few(rows: Sequence[dict[str, Any]]) -> str:
    """Return in words how few blocks or runs differ; the smallest p of a test in pairs is 2 / 2^n of n such blocks."""
    if any(row["blocks"] is None for row in rows):
        return "with so few runs that differ"
    differ = max(round(1.0 - math.log2(row["smallest_p"])) if row["telling"] else 0 for row in rows)
    tests = f" and a family of {len(rows)} tests" if len(rows) > 1 else ""
    return (
        f"at most {differ} of {max(row['blocks'] for row in rows)} blocks differ between two values. With these{tests}"
    )


def _of_two(metric: str, row: dict[str, Any]) -> str:
    if row["p_adjusted"] >= ALPHA:
        return (
            f"A difference between {written(row['a'])} and {written(row['b'])} is not shown: "
            f"{_difference(metric, row, signed=True)}."
        )
    better, worse = (row["a"], row["b"]) if _first_is_better(metric, row) else (row["b"], row["a"])
    return f"{written(better)} is better than {written(worse)} by {_difference(metric, _from_best(row, better))}."


def _first_is_better(metric: str, row: dict[str, Any]) -> bool:
    """Return whether ``a`` is on the better side, by the size that is printed."""
    size = next((row[name] for name in ("shift", "mean_shift", "cliffs_delta") if row[name]), 0.0)
    return (size > 0) == (metric in LARGER_IS_BETTER)


def _from_best(row: dict[str, Any], best: Any) -> dict[str, Any]:
    """Return a comparison with the best value as ``a``."""
    return row if row["a"] == best else _turned(row)


def _turned(row: dict[str, Any]) -> dict[str, Any]:
    """Return a comparison with ``a`` and ``b`` exchanged."""
    turned = {name: None if row[name] is None else -row[name] for name in ("shift", "mean_shift", "cliffs_delta")}
    for name in ("shift", "mean"):
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        turned[f"{name}_low"] = None if high is None else -high
        turned[f"{name}_high"] = None if low is None else -low
    return row | turned | {"a": row["b"], "b": row["a"]}


def _difference(metric: str, row: dict[str, Any], *, signed: bool = False) -> str:
    """Return the size of a difference in words: with its interval, p and number of blocks."""
    name, prefix, what = ("shift", "shift", "")
    if row["shift"] is None and row["mean_shift"] is not None:
        name, prefix, what = (
            "mean_shift",
            "mean",
            " in the restricted mean" if is_time_to_goal(metric) else " in the mean",
        )
    value, low, high = row[name], row[f"{prefix}_low"], row[f"{prefix}_high"]
    if not signed and value is not None and value < 0:
        value, low, high = -value, None if high is None else -high, None if low is None else -low
    if value is None:
        return f"an unknown amount (p = {p_text(row['p_adjusted'])}, {row['blocks']} blocks)".replace("p = <", "p <")
    size = within(value, low, high)
    count = f"{row['blocks']} blocks" if row["blocks"] is not None else f"{row['n_a']} and {row['n_b']} runs"
    of = unit(metric).strip("[]")
    return f"{size}{f' {of}' if of else ''}{what} (p = {p_text(row['p_adjusted'])}, {count})".replace("p = <", "p <")


def _uncertain(table: "pl.DataFrame", primary: Finding) -> Iterator[str]:
    rows = primary.rows.to_dicts() if not primary.reason else []
    late = not (table["status"] == "reached").all()
    blocks = [row["blocks"] for row in rows if row["blocks"] is not None]
    if blocks and min(blocks) < 10:
        yield f"There are only {min(blocks)} blocks: a difference that is not shown may well be there."
    unknown = sum(row["n_a"] - row["telling"] for row in rows if row["telling"] is not None)
    if unknown:
        pairs = sum(row["n_a"] for row in rows)
        late = (
            "ran out of time or " if is_until_goal(primary.metric) and not (table["status"] == "reached").all() else ""
        )
        yield f"{unknown} of {pairs} pairs say nothing, because both runs {late}are equal."
    if is_until_goal(primary.metric) and not (table["status"] == "reached").all():
        yield "Runs that did not reach the goal count as worse than all that did, by an unknown amount."
    few = [row["runs_needed"] for row in rows if row["p_adjusted"] is not None and row["p_adjusted"] >= ALPHA]
    if known := [count for count in few if count is not None]:
        least, most = text(min(known)), text(max(known))
        yield (
            "To show a difference as large as those that are not shown, about "
            f"{least if least == most else f'{least} to {most}'} pairs would be needed, a rough guess."
        )
    if missing := len(few) - len(known):
        yield (
            "Negligible in these runs (below 0.147, by the limits of delta), so there is nothing to plan more runs "
            f"for: {missing} of {len(rows)} differences."
        )
