"""The tests of a report: one family for its question and primary metric, and one for everything else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from covey.errors import InvalidValueError
from covey.experiments.analysis.questions import Question
from covey.lazy import pl
from covey.results import statistics
from covey.results.metrics import is_time_to_goal
from covey.results.metrics.registry import LARGER_IS_BETTER, share_of

if TYPE_CHECKING:
    from typing import Any

ALPHA = 0.05
"""Level of the primary family, and share of false findings among the others."""
MOST_COMPARED = 8
"""Largest number of values of which every two are printed; of more, those with the best and with the reference."""


@dataclass(frozen=True)
class Finding:
    """The comparisons of the values of a parameter by one metric.

    Attributes:
        metric: a column, or `covey.results.statistics.SUCCESS`.
        question: what is compared.
        by: parameters with a comparison for each of their values; else all are put together.
        rows: as of `covey.results.statistics.compare`, with the column ``p_adjusted``.
        is_primary: whether it answers the question of the design.
        reason: why there is no comparison; empty if there is one.
    """

    metric: str
    question: Question
    by: tuple[str, ...]
    rows: "pl.DataFrame"
    is_primary: bool = False
    reason: str = ""


def findings(
    table: "pl.DataFrame", metrics: Sequence[str], asked: Sequence[Question], primary: str | None
) -> list[Finding]:
    """Return all comparisons of a report, with p values adjusted in their families.

    The primary family is that of the main question and the primary metric: Holm, with Tarone's number of tests. All
    others are one family, with Benjamini and Hochberg's correction. Metrics at an explored share
    (`covey.results.metrics.registry.share_of`) are tested for the main question only.

    Args:
        table: one row per run.
        metrics: columns.
        asked: the questions.
        primary: the primary metric.
    """
    found = [
        one
        for metric in metrics
        for question in asked
        if question.is_main or share_of(metric) is None
        for one in _of(table, metric, question, primary)
    ]
    others = [one.rows["p"].to_numpy() for one in found if not one.is_primary and not one.reason]
    p = np.concatenate(others).astype(float) if others else np.zeros(0)
    known = ~np.isnan(p)
    p[known] = statistics.benjamini_hochberg(p[known])
    adjusted = iter(np.split(p, np.cumsum([len(one) for one in others])[:-1]))
    return [one if one.reason else replace(one, rows=_adjusted(one, adjusted)) for one in found]


def _adjusted(one: Finding, others: "Iterator[np.ndarray]") -> "pl.DataFrame":
    values = one.rows["p_holm"] if one.is_primary else pl.Series(next(others)).fill_nan(None)
    return one.rows.with_columns(values.alias("p_adjusted"))


def _of(table: "pl.DataFrame", metric: str, question: Question, primary: str | None) -> Iterator[Finding]:
    name, over = question.parameter, question.over
    is_primary = question.is_main and metric == primary
    among = _among(table, metric, question)
    options: dict[str, Any] = {"alpha": ALPHA, "among": among}
    try:
        rows = statistics.compare(table, metric, name, over=over, places=question.places, **options)
        yield Finding(metric, question, (), rows, is_primary, "" if len(rows) else "no two values have a run")
    except InvalidValueError:
        reason = "runs of equal seeds have no partners with equal values of the other parameters"
        yield Finding(metric, question, (), pl.DataFrame(), is_primary, reason)
        return
    if question.is_main and is_time_to_goal(metric):
        whole = statistics.compare(table, metric, name, over=over, places=question.places, test="log-rank", **options)
        yield Finding(metric, question, (), whole)
    if question.is_main and over and metric != statistics.SUCCESS:
        yield Finding(metric, question, over, statistics.compare(table, metric, name, over, **options))


def _among(table: "pl.DataFrame", metric: str, question: Question) -> "list[Any] | None":
    """Return the best value and the reference if there are many values, else None."""
    values = statistics.levels(table, question.parameter)
    if len(values) <= MOST_COMPARED:
        return None
    best = best_of(table, metric, question)
    return [value for value in dict.fromkeys((best, question.reference)) if value is not None]


def best_of(table: "pl.DataFrame", metric: str, question: Question) -> "Any":
    """Return the value with the best average rank over all settings and seeds; None if no seed has a run of each."""
    if metric == statistics.SUCCESS:
        means = {k[0]: (p["status"] == "reached").mean() for k, p in statistics.groups(table, question.parameter)}
        return max(means, key=lambda value: means[value] or 0.0)
    try:
        better = metric in LARGER_IS_BETTER
        ranked, _ = statistics.average_ranks(
            table, metric, question.parameter, question.over, question.places, larger_is_better=better
        )
    except InvalidValueError:
        return None
    return ranked[question.parameter][0]
