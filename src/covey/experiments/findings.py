"""What a table of results says, as sheets: summaries, tests, ranks, profiles, fleets. Level and families are stated."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from covey.errors import InvalidValueError
from covey.experiments.axes import Axes
from covey.experiments.sheets import Sheet, text
from covey.results import statistics
from covey.results.figures.study_furniture import label
from covey.results.metrics import is_time_to_goal
from covey.results.metrics.registry import LARGER_IS_BETTER

if TYPE_CHECKING:
    import polars as pl

ALPHA = 0.05
"""Level of every family of tests."""
MOST_COMPARED = 8
"""Up to so many values of a parameter are compared, each with each."""
FACTORS = (1.0, 1.1, 1.25, 1.5, 2.0, 5.0)
"""At which performance profiles are told."""

_TESTED = ("a", "b", "n_a", "n_b", "median_a", "median_b", "test", "p_holm", "cliffs_delta", "magnitude", "runs_needed")
_IN_PRINT = {
    "a": "A",
    "b": "B",
    "n_a": "n A",
    "n_b": "n B",
    "median_a": "median A",
    "median_b": "median B",
    "p_holm": "p (Holm)",
    "cliffs_delta": "delta",
    "runs_needed": "runs needed",
    "speed_up": "speed-up",
    "average_rank": "average rank",
}


def all_of(table: "pl.DataFrame", metric: str, axes: Axes) -> Iterator[Sheet]:
    """Yield every table about one metric."""
    yield summary(table, metric, axes)
    yield from ranks(table, metric, axes)
    yield from comparisons(table, metric, axes)
    if is_time_to_goal(metric):
        yield from comparisons(table, metric, axes, test="log-rank")


def summary(table: "pl.DataFrame", metric: str, axes: Axes) -> Sheet:
    """Return how the metric is distributed in each setting."""
    found = statistics.summarize(table, metric, axes.varying or "vector")
    until = found["until_s"].drop_nulls().unique().to_list()
    mean = f"restricted mean to {text(until[0])} s" if len(until) == 1 else "mean"
    kinds = " / ".join(found["interval"].drop_nulls().unique(maintain_order=True).to_list())
    caption = f"low, high: {kinds} of the median. A dash: beyond the timeout, or no value." if kinds else ""
    return _sheet(found.drop("metric", "until_s", "interval"), metric, caption, mean=mean)


def comparisons(table: "pl.DataFrame", metric: str, axes: Axes, test: str = "rank") -> Iterator[Sheet]:
    """Yield the comparisons of a metric that could have shown something; none when there are none."""
    found = compared(table, metric, axes, test)
    if found is None or not found["shown"].any():
        return
    kind = "Log-rank tests" if test == "log-rank" else "Tests"
    apart = found.columns[: found.columns.index("a")]
    caption = (
        f"Two-sided, one family of {len(found)} tests, level {ALPHA:g}. delta: Cliff's, P(A > B) - P(A < B). Runs "
        "needed: of each kind (or pairs), to find a difference as large as this with power 0.8."
    )
    shown = found.filter(found["shown"]).select(*apart, *_TESTED)
    yield _sheet(shown, f"{kind}: {metric} between values of {label(_between(table, axes) or '')}", caption)


def hidden(table: "pl.DataFrame", metric: str, axes: Axes) -> Iterator[str]:
    """Yield a sentence about the comparisons that are not shown."""
    found = compared(table, metric, axes)
    missing = 0 if found is None else len(found) - int(found["shown"].sum())
    if found is not None and missing:
        yield (
            f"{missing} of {len(found)} comparisons are not shown: even the clearest outcome would not have reached "
            f"p < {ALPHA:g} after Holm's correction with so few runs."
        )


def compared(table: "pl.DataFrame", metric: str, axes: Axes, test: str = "rank") -> "pl.DataFrame | None":
    """Return all comparisons between the values of one parameter, setting by setting; None where none is meant."""
    between = _between(table, axes)
    if between is None:
        return None
    apart = [name for name in axes.varying if name != between]
    found = statistics.compare(table, metric, between, apart, test=test, alpha=ALPHA)  # pyright: ignore
    return found if len(found) else None


def ranks(table: "pl.DataFrame", metric: str, axes: Axes) -> Iterator[Sheet]:
    """Yield how three or more strategies rank over all other settings, and how often each is near the best."""
    between = axes.line
    over = [name for name in axes.varying if name != between]
    if between is None or not over or table[between].n_unique() < 3 or table.select(over).n_unique() < 2:
        return
    better = metric in LARGER_IS_BETTER
    try:
        found, test = statistics.average_ranks(table, metric, between, over, larger_is_better=better, alpha=ALPHA)
    except InvalidValueError:  # some setting lacks a strategy
        return
    nemenyi = f"; ranks further apart than {test.critical_difference:.2f} differ (Nemenyi)" if test.p < ALPHA else ""
    caption = f"Medians of each of {test.blocks} settings, ranked; 1 is best. Friedman: p = {test.p:.3g}{nemenyi}."
    yield _sheet(found, f"Average ranks: {metric}", caption)
    if better or (table[metric].drop_nulls() <= 0).any():
        return
    curve = statistics.profiles(table, metric, between, over)
    shares = [curve.filter(curve["ratio"] <= factor).tail(1).drop("ratio").row(0) for factor in FACTORS]
    rows = tuple(tuple(map(text, (factor, *row))) for factor, row in zip(FACTORS, shares, strict=True))
    head = ("factor", *curve.columns[1:])
    caption = "Share of the settings whose median is within a factor of the best one's (Dolan and Moré 2002)."
    yield Sheet(f"Performance profile: {metric}", head, rows, (True,) * len(head), caption)


def of_fleets(table: "pl.DataFrame", axes: Axes) -> list[Sheet]:
    """Return the tables about fleet size, of designs that vary it: the best fleets, speed-up and efficiency."""
    time, cost = "exploration_time_s", "exploration_cost_m"
    if axes.x is None or axes.x.rpartition(".")[2] != "count" or time not in table.columns:
        return []
    apart = [name for name in axes.varying if name != axes.x]
    best = partial(statistics.best_fleets, table, time, axes.x, apart)
    caption = "Size with the smallest median time; a dash where half of the runs of no size reached the goal."
    sheets = [_sheet(best(), "Best fleet by time", caption, best="robots", value="median time [s]")]
    if 1 not in table[axes.x].to_list():
        return sheets
    if cost in table.columns:
        try:
            caption = "Size with the smallest T(n)/T(1) + cost(n)/cost(1), medians; 2 is one robot."
            weighed = best(cost=cost, weight=1.0)
            sheets.append(_sheet(weighed, "Best fleet by time and cost", caption, best="robots", value="sum"))
        except InvalidValueError:  # one robot does not reach the goal in half of its runs somewhere
            pass
    caption = "S(n) = T(1)/T(n) of median times, and S(n)/n; a dash where half of the runs did not reach the goal."
    scaled = statistics.scaling(table, time, axes.x, apart)
    return [*sheets, _sheet(scaled, "Speed-up and efficiency", caption, median="median time [s]")]


def _between(table: "pl.DataFrame", axes: Axes) -> str | None:
    """Return the parameter whose values are compared: the lines, words along the axis, or few numbers along it."""
    name = axes.line or axes.x
    return name if name and 2 <= table[name].n_unique() <= MOST_COMPARED else None


def _sheet(table: "pl.DataFrame", title: str, caption: str, **names: str) -> Sheet:
    heads = [names.get(c) or _IN_PRINT.get(c) or (label(c) if "." in c else c.replace("_", " ")) for c in table.columns]
    return Sheet.of(table, title, caption, heads)
