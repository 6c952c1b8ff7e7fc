"""Analysis of a table of results, as sheets: summaries, tests, ranks, profiles, fleets, with level and families."""

from collections.abc import Iterator, Sequence
from functools import partial

from covey.errors import InvalidValueError
from covey.experiments.analysis.report_tables import Sheet, text
from covey.experiments.design.axes import Axes
from covey.lazy import pl
from covey.results import statistics
from covey.results.figures.study_layout import label, unit
from covey.results.metrics import is_time_to_goal
from covey.results.metrics.registry import LARGER_IS_BETTER

ALPHA = 0.05
"""Level of every family of tests."""
MOST_COMPARED = 8
"""Largest number of values of a parameter that are compared, each with each."""
FACTORS = (1.0, 1.1, 1.25, 1.5, 2.0, 5.0)
"""Factors at which performance profiles are given."""

EFFECT = ("shift", "shift_low", "shift_high")
"""Columns: the difference A - B in the unit of the metric, and its interval."""
TESTED = ("a", "b", "n_a", "n_b", "median_a", "median_b", *EFFECT, "p_holm", "cliffs_delta", "magnitude", "runs_needed")
"""Columns of a comparison that are printed."""
_TOGETHER = ("a", "b", "n_a", *EFFECT, "p_holm", "cliffs_delta", "magnitude", "runs_needed")
EXPLAINED = (
    "A - B: the Hodges-Lehmann estimate in the unit of the metric, below zero where A is smaller; from, to: its 95 % "
    "interval by ranks, a dash where it lies beyond the timeout or runs are too few. delta: Cliff's, "
    "P(A > B) - P(A < B), whatever the size of the difference."
)
"""Explanation of the columns of a comparison."""

OF_RANKS = (
    "The interval is that of Mann-Whitney's test, not of the log-rank test, so it may hold zero where p is small, and "
    "the other way round."
)
"""Explanation of the interval beside a log-rank test, which itself estimates no shift."""
COUNTED = "n: runs with a value; successes: runs that reached their goal."
"""Explanation of the numbers of runs of a metric."""
COUNTED_TIMES = "n: runs that count, also those that did not get there; successes: runs that got there."
"""Explanation of the numbers of runs of a time to a goal."""

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
    "shift_low": "from",
    "shift_high": "to",
    "speed_up": "speed-up",
    "average_rank": "average rank",
}


def all_of(table: "pl.DataFrame", metric: str, axes: Axes) -> Iterator[Sheet]:
    """Yield every table about one metric."""
    yield summary(table, metric, axes)
    yield from ranks(table, metric, axes)
    yield from together(table, metric, axes)
    yield from comparisons(table, metric, axes)
    if is_time_to_goal(metric):
        yield from comparisons(table, metric, axes, test="log-rank")


def summary(table: "pl.DataFrame", metric: str, axes: Axes) -> Sheet:
    """Return the distribution of the metric in each setting."""
    found = statistics.summarize(table, metric, axes.varying or "vector")
    until = found["until_s"].drop_nulls().unique().to_list()
    mean = f"restricted mean to {text(until[0])} s" if len(until) == 1 else "mean"
    kinds = found["interval"].drop_nulls().unique(maintain_order=True).to_list()
    said = [f"{kind} of the median" for kind in kinds if kind != "range"]
    few = [f"smallest and largest run where there are fewer than {statistics.FEWEST}"] if "range" in kinds else []
    explained = [COUNTED_TIMES if is_time_to_goal(metric) else COUNTED]
    if kinds:
        explained.append(f"low, high: {', or '.join([*said, *few])}. A dash: beyond the timeout, or no value.")
    caption = " ".join(explained)
    return sheet(found.drop("metric", "until_s", "interval"), f"{metric} of each setting", caption, mean=mean)


def together(table: "pl.DataFrame", metric: str, axes: Axes) -> Iterator[Sheet]:
    """Yield one test for every two values over all settings, if it could have been significant."""
    between = _between(table, axes)
    apart = [name for name in axes.varying if name != between]
    if between is not None and apart:
        yield from stratified(table, metric, between, apart, ALPHA, only_shown=True)


def stratified(
    table: "pl.DataFrame", metric: str, between: str, apart: Sequence[str], alpha: float, *, only_shown: bool = False
) -> Iterator[Sheet]:
    """Yield one test for every two values over all settings, which pools few seeds in many settings.

    There is none if runs have no partners, because without pairs it would mix the settings.
    """
    found = statistics.compare(table, metric, between, pair_on=[*apart, "seed"], alpha=alpha)
    if not len(found) or "Mann-Whitney U" in found["test"] or (only_shown and not found["shown"].any()):
        return
    settings = table.select(apart).n_unique()
    title = f"{found['test'][0]} test over all {settings} settings: {metric} between values of {label(between)}"
    caption = (
        f"Two-sided, stratified by setting ({', '.join(map(label, apart))}): runs of the same setting and seed are "
        f"pairs, and their differences are ranked together; one family of {len(found)} tests, Holm, level {alpha:g}. "
        f"{EXPLAINED} Large differences count most, so settings with long times do."
    )
    yield sheet(found.select(_TOGETHER), title, caption, metric, n_a="pairs")


def comparisons(table: "pl.DataFrame", metric: str, axes: Axes, test: str = "rank") -> Iterator[Sheet]:
    """Yield the comparisons of a metric that could have been significant."""
    found = compared(table, metric, axes, test)
    if found is None or not found["shown"].any():
        return
    apart = found.columns[: found.columns.index("a")]
    caption = (
        f"Two-sided, one family of {len(found)} tests, Holm, level {ALPHA:g}. {EXPLAINED} Runs needed: of each kind "
        "(or pairs), to find a difference as large as this with power 0.8."
    )
    if test == "log-rank":
        caption = f"{caption} {OF_RANKS}"
    shown = found.filter(found["shown"])
    names = _names(shown)
    several = ["test"] if shown["test"].n_unique() > 1 else []
    where = ", setting by setting" if apart else ""
    title = f"{names} test{where}: {metric} between values of {label(_between(table, axes) or '')}"
    yield sheet(shown.select(*apart, *TESTED[:2], *several, *TESTED[2:]), title, caption, metric)


def hidden(table: "pl.DataFrame", metric: str, axes: Axes) -> Iterator[str]:
    """Yield one sentence per kind of test about the comparisons that are not shown."""
    for test in ("rank", "log-rank") if is_time_to_goal(metric) else ("rank",):
        found = compared(table, metric, axes, test)
        missing = 0 if found is None else len(found) - int(found["shown"].sum())
        if found is not None and missing:
            where = " between runs of one setting" if found.columns[0] != "a" else ""
            yield (
                f"{_names(found)} test: {missing} of {len(found)} comparisons{where} are not shown. Even the clearest "
                f"outcome would not have reached p < {ALPHA:g} after Holm's correction with so few runs."
            )


def _names(found: "pl.DataFrame") -> str:
    return " or ".join(found["test"].unique(maintain_order=True).to_list())


def compared(table: "pl.DataFrame", metric: str, axes: Axes, test: str = "rank") -> "pl.DataFrame | None":
    """Return all comparisons between the values of one parameter, setting by setting; None if there are none."""
    between = _between(table, axes)
    if between is None:
        return None
    apart = [name for name in axes.varying if name != between]
    found = statistics.compare(table, metric, between, apart, test=test, alpha=ALPHA)  # pyright: ignore
    return found if len(found) else None


def ranks(table: "pl.DataFrame", metric: str, axes: Axes) -> Iterator[Sheet]:
    """Yield the ranks of three or more strategies over all other settings, and how often each is near the best."""
    between = axes.line
    over = [name for name in axes.varying if name != between]
    if between is None or not over or table[between].n_unique() < 3 or table.select(over).n_unique() < 2:
        return
    better = metric in LARGER_IS_BETTER
    try:
        found, test = statistics.average_ranks(table, metric, between, over, larger_is_better=better, alpha=ALPHA)
    except InvalidValueError:  # a setting lacks a strategy
        return
    nemenyi = f"; ranks further apart than {test.critical_difference:.2f} differ (Nemenyi)" if test.p < ALPHA else ""
    caption = f"Medians of each of {test.blocks} settings, ranked; 1 is best. Friedman: p = {test.p:.3g}{nemenyi}."
    yield sheet(found, f"Average ranks: {metric}", caption)
    if better or (table[metric].drop_nulls() <= 0).any():
        return
    curve = statistics.profiles(table, metric, between, over)
    shares = [curve.filter(curve["ratio"] <= factor).tail(1).drop("ratio").row(0) for factor in FACTORS]
    rows = tuple(tuple(map(text, (factor, *row))) for factor, row in zip(FACTORS, shares, strict=True))
    head = ("factor", *curve.columns[1:])
    caption = "Share of the settings whose median is within a factor of the best one's (Dolan and Moré 2002)."
    yield Sheet(f"Performance profile: {metric}", head, rows, (True,) * len(head), caption)


def of_fleets(table: "pl.DataFrame", axes: Axes) -> list[Sheet]:
    """Return the tables about fleet size, if the design varies it: the best fleets, speed-up and efficiency."""
    time, cost = "exploration_time_s", "exploration_cost_m"
    if not axes.has_sizes(table) or time not in table.columns:
        return []
    assert axes.x is not None
    apart = [name for name in axes.varying if name != axes.x]
    best = partial(statistics.best_fleets, table, time, axes.x, apart)
    caption = "Size with the smallest median time; a dash where half of the runs of no size reached the goal."
    sheets = [sheet(best(), "Best fleet by time", caption, best="robots", value="median time [s]")]
    if 1 not in table[axes.x].to_list():
        return sheets
    if cost in table.columns:
        try:
            caption = "Size with the smallest T(n)/T(1) + cost(n)/cost(1), medians; 2 is one robot."
            weighed = best(cost=cost, weight=1.0)
            sheets.append(sheet(weighed, "Best fleet by time and cost", caption, best="robots", value="sum"))
        except InvalidValueError:  # in some setting one robot does not reach the goal in half of its runs
            pass
    caption = "S(n) = T(1)/T(n) of median times, and S(n)/n; a dash where half of the runs did not reach the goal."
    scaled = statistics.scaling(table, time, axes.x, apart)
    return [*sheets, sheet(scaled, "Speed-up and efficiency", caption, median="median time [s]")]


def _between(table: "pl.DataFrame", axes: Axes) -> str | None:
    """Return the parameter to compare: that of the lines, or of words or few numbers along the axis."""
    name = axes.line or axes.x
    return name if name and 2 <= table[name].n_unique() <= MOST_COMPARED else None


def sheet(table: "pl.DataFrame", title: str, caption: str, metric: str = "", **names: str) -> Sheet:
    """Return a table as a sheet with readable column names: ``names``, or the usual ones."""
    names = {"shift": f"A - B {unit(metric)}".strip()} | names
    heads = [names.get(c) or _IN_PRINT.get(c) or (label(c) if "." in c else c.replace("_", " ")) for c in table.columns]
    return Sheet.of(table, title, caption, heads)
