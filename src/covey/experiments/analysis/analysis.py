"""Analysis of a table of results, as sheets: success, summaries, tests, ranks, profiles, fleets."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from covey.errors import InvalidValueError
from covey.experiments.analysis.findings import ALPHA, Finding
from covey.experiments.analysis.questions import Question
from covey.experiments.analysis.report_tables import Sheet, text, within
from covey.experiments.design.axes import Axes, parameters
from covey.lazy import pl
from covey.results import statistics
from covey.results.labels import label, unit
from covey.results.metrics import is_time_to_goal, is_until_goal
from covey.results.metrics.registry import LARGER_IS_BETTER, share_of

FACTORS = (1.0, 1.1, 1.25, 1.5, 2.0, 5.0)
"""Factors at which performance profiles are given."""

EXPLAINED = (
    "A - B: the Hodges-Lehmann estimate in the unit of the metric, below zero where A is smaller, with the 95 % "
    "interval of the same test; an end beyond the timeout is written as infinite, and there is none with too few runs. "
    "delta: P(A > B) - P(A < B), whatever the size of the difference."
)
"""Explanation of the columns of a comparison."""
IN_BLOCKS = (
    "Runs of the same seed and setting are pairs; pairs of one seed and place are one block, whose labels are "
    "exchanged together. telling: pairs that say something, because they differ and not both timed out."
)
"""Explanation of pairs and blocks."""
OF_MEANS = "mean A - B: difference of the means, of times of min(time, timeout), where two timeouts are equal."
"""Explanation of the difference of means."""
OF_SHARES = (
    "A - B: difference of the shares, with {} 95 % interval. It is approximate, and p is exact: near zero, p decides."
)
"""Explanation of the difference of two shares of success."""
NEGLIGIBLE = "negligible: below 0.147, by the limits of delta, so there is no difference to plan runs for."
"""Explanation of a comparison without a number of runs that would show its difference."""
CENSORED = "A run that did not reach the goal has no result here: it counts as worse than every run that did."
"""Explanation of metrics that grow until the goal."""
AT_SHARE = "A run that did not explore {} % has no result here: it counts as worse than every run that did."
"""Explanation of metrics at an explored share."""
COUNTED = "n: runs with a value"
COUNTED_GOAL = f"{COUNTED}; successes: runs that reached their goal."
"""Explanation of the numbers of runs of a metric."""
COUNTED_TIMES = "n: runs that count, also those that did not get there; successes: runs that got there."
"""Explanation of the numbers of runs of a time to a goal."""

SECOND_READINGS = {
    "map_quality": (
        "map_quality_known",
        "Errors among known cells only. map_quality also counts what is unknown as an error, so it is below 0 for an "
        "incomplete map without a wrong cell.",
    )
}
"""Metrics that are read beside another one, and what differs."""

_IN_PRINT = {
    "speed_up": "speed-up",
    "average_rank": "average rank",
}


def of_success(table: "pl.DataFrame", axes: Axes, found: Sequence[Finding]) -> Iterator[Sheet]:
    """Yield how many runs of each setting reached their goal, and the tests between shares, if not all runs did."""
    reached = (table["status"] == "reached").sum()
    if reached in (0, len(table)):
        return
    rows = []
    for key, part in statistics.groups(table, axes.varying or "vector"):
        k, n = int((part["status"] == "reached").sum()), len(part)
        low, high = (100 * end for end in statistics.wilson(k, n))
        rows.append((*map(text, key), str(k), str(n), within(100 * k / n, low, high)))
    heads = (*map(label, axes.varying or ("vector",)), "reached", "runs", "share [%]")
    numeric = (*(False for _ in heads[:-3]), True, True, True)
    yield Sheet("Runs that reached the goal", heads, tuple(rows), numeric, "Share with Wilson's 95 % interval.")
    for one in found:
        if one.metric == statistics.SUCCESS and not one.reason:
            yield from tested(one)


def of_metric(
    table: "pl.DataFrame",
    metric: str,
    axes: Axes,
    found: Sequence[Finding],
    alone: "pl.DataFrame | None" = None,
    *,
    goal: bool = True,
) -> Iterator[Sheet]:
    """Yield every table about one metric.

    Args:
        table: one row per run.
        metric: the metric.
        axes: what varies.
        found: the findings of the report.
        alone: runs of one robot, which only the first table shows.
        goal: whether runs have a goal that they can fail to reach; patrols last their planned time.
    """
    yield summary(table, metric, axes, alone, goal=goal)
    second, said = SECOND_READINGS.get(metric, ("", ""))
    if second in table.columns and table[second].drop_nulls().len():
        beside = summary(table, second, axes, goal=goal)
        yield replace(beside, caption=f"{said} {beside.caption}")
    mine = [one for one in found if one.metric == metric]
    for question in dict.fromkeys(one.question for one in mine if not one.by):
        if question.is_main:
            yield from ranks(table, metric, question)
    for one in mine:
        if not one.reason:
            yield from tested(one)


def summary(
    table: "pl.DataFrame", metric: str, axes: Axes, alone: "pl.DataFrame | None" = None, *, goal: bool = True
) -> Sheet:
    """Return the distribution of the metric in each setting, and in those of one robot alone; see `of_metric`."""
    by = axes.varying or ("vector",)
    if alone is not None and len(alone):
        table = pl.concat((table, alone))
        by += tuple(name for name in parameters(table) if name.endswith(".count") and name not in by)
    found = statistics.summarize(table, metric, by)
    until = found["until_s"].drop_nulls().unique(maintain_order=True).to_list()
    share = share_of(metric)
    of_share = share is not None or is_time_to_goal(metric)
    there = bool(statistics.got_there(table, metric).all()) or not (goal or of_share)
    mean = "mean" if there or not unreached(metric) else "mean of reached"
    kinds = found["interval"].drop_nulls().unique(maintain_order=True).to_list()
    said = ["95 % interval of the median between order statistics"] if any(kind != "range" for kind in kinds) else []
    few = [f"smallest and largest run where there are fewer than {statistics.FEWEST}"] if "range" in kinds else []
    counted = f"{COUNTED}." if share is None else f"{COUNTED}; successes: runs that explored {share} %."
    explained = [COUNTED_TIMES if is_time_to_goal(metric) else counted if of_share or not goal else COUNTED_GOAL]
    if not there:
        explained += [*unreached(metric), *(["mean of reached: of these runs only."] if unreached(metric) else [])]
    if kinds:
        explained.append(f"low, high: {', or '.join([*said, *few])}. A dash: beyond the timeout, or no value.")
    if until:
        explained.append(f"mean: restricted, that of min(time, {' or '.join(text(end) for end in until)} s).")
    caption = " ".join(explained)
    names = {name: f"{name} {unit(metric)}".strip() for name in ("median", "q1", "q3", "low", "high")}
    names["mean"] = f"{mean} {unit(metric)}".strip()
    left_out = ["metric", "until_s", "interval", *(["successes"] if not goal and not of_share else [])]
    return sheet(found.drop(left_out), f"{metric} of each setting", caption, **names)


def unreached(metric: str) -> list[str]:
    """Return what a run without the goal, or the explored share, of a metric counts as; nothing for other metrics."""
    share = share_of(metric)
    return [AT_SHARE.format(share)] if share is not None else [CENSORED] if is_until_goal(metric) else []


def tested(one: Finding) -> Iterator[Sheet]:
    """Yield the comparisons of a finding that could have been significant."""
    rows = one.rows.filter(pl.col("shown") if one.is_primary else pl.col("p").is_not_null())
    if not len(rows):
        return
    test = " or ".join(rows["test"].unique(maintain_order=True).to_list())
    name = "success" if one.metric == statistics.SUCCESS else one.metric
    where = ", setting by setting" if one.by else ""
    title = f"{name}: {test} test of {label(one.question.parameter)}{where}"
    family = (
        f"The primary question: one family of {len(one.rows)} tests, Holm with Tarone's number, level {ALPHA:g}."
        if one.is_primary
        else "Exploratory: p adjusted over all exploratory tests of this report (Benjamini and Hochberg)."
    )
    blocks = [IN_BLOCKS] if rows["blocks"].drop_nulls().len() else []
    means = [OF_MEANS] if rows["mean_shift"].drop_nulls().len() else []
    if one.metric == statistics.SUCCESS:
        means = [OF_SHARES.format("Agresti and Min's" if blocks else "Newcombe's")]
    over = [f"Over {', '.join(map(label, one.question.over))}."] if one.question.over and not one.by else []
    shift = [EXPLAINED] if rows["shift"].drop_nulls().len() else []
    missing = (rows["successes_a"] < rows["n_a"].max()).any() and rows["successes_a", "successes_b"].to_numpy().any()
    censored = unreached(one.metric) if missing else []
    planned = [NEGLIGIBLE] if rows["runs_needed"].null_count() else []
    caption = " ".join(["Two-sided.", family, *over, *blocks, *censored, *shift, *means, *planned])
    yield comparison(rows, title, caption, one.metric, one.by, "p (Holm)" if one.is_primary else "p (BH)")


def comparison(
    rows: "pl.DataFrame", title: str, caption: str, metric: str, by: Sequence[str] = (), adjusted: str = "p (Holm)"
) -> Sheet:
    """Return the rows of `covey.results.statistics.compare`, with the column ``p_adjusted``, as a sheet."""
    share, of = metric == statistics.SUCCESS, f" {unit(metric)}".rstrip()
    percent = 100.0 if share else 1.0
    cells = [(label(name), False, [text(v) for v in rows[name]]) for name in by]
    cells += [("A", False, [text(v) for v in rows["a"]]), ("B", False, [text(v) for v in rows["b"]])]
    paired = rows["blocks"].drop_nulls().len() > 0
    for column, head in (("blocks", "blocks"), ("n_a", "pairs"), ("telling", "telling")):
        if paired:
            cells.append((head, True, [text(v) for v in rows[column]]))
    if not paired:
        cells += [("n A", True, [text(v) for v in rows["n_a"]]), ("n B", True, [text(v) for v in rows["n_b"]])]
    if share:
        cells += [(f"reached {x.upper()}", True, [text(v) for v in rows[f"successes_{x}"]]) for x in "ab"]
    ends = {"shift": (f"A - B{of}", "shift"), "mean_shift": ("A - B [%]" if share else f"mean A - B{of}", "mean")}
    sizes = {}
    for name, (head, prefix) in ends.items():
        if rows[name].drop_nulls().len():
            values = rows.select(name, f"{prefix}_low", f"{prefix}_high", "smallest_p").rows()
            sizes[name] = (head, True, [_shift(a, b, c, d, percent) for a, b, c, d in values])
    first = "mean_shift" if share else "shift"  # the size that the test is about stands beside it
    cells += [sizes.pop(first)] if first in sizes else []
    cells += [("p", True, [p_text(v) for v in rows["p"]]), (adjusted, True, [p_text(v) for v in rows["p_adjusted"]])]
    cells += sizes.values()
    if not share:
        cells.append(("delta", True, [text(None if v is None else round(v, 2)) for v in rows["cliffs_delta"]]))
    cells.append(("runs for 80 %", True, ["negligible" if v is None else text(v) for v in rows["runs_needed"]]))
    heads, numeric, columns = zip(*cells, strict=True)
    return Sheet(title, heads, tuple(zip(*columns, strict=True)), numeric, caption)


def _shift(value: float | None, low: float | None, high: float | None, smallest_p: float, scale: float) -> str:
    """Return a difference with its interval; without one where there are too few blocks."""
    ends = [None if end is None else scale * end for end in (low, high)]
    has = smallest_p < ALPHA
    return within(None if value is None else scale * value, ends[0], ends[1], open_ended=has)


def p_text(p: float | None) -> str:
    """Return a p value with two significant digits.

    Examples:
        >>> p_text(0.01234), p_text(0.00001), p_text(1.0), p_text(None)
        ('0.012', '< 0.0001', '1', '–')
    """
    if p is None:
        return text(None)
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def hidden(found: Sequence[Finding]) -> Iterator[str]:
    """Yield one sentence about each comparison that is not made or not shown, with the reason."""
    for one in found:
        name = "success" if one.metric == statistics.SUCCESS else one.metric
        what = f"{name} between values of {label(one.question.parameter)}"
        if one.reason:
            yield f"Not tested: {what}, because {one.reason}."
            continue
        missing = len(one.rows) - int((one.rows["shown"] if one.is_primary else one.rows["p"].is_not_null()).sum())
        if missing and not one.by:
            kind = " or ".join(one.rows["test"].unique(maintain_order=True).to_list())
            yield (
                f"{kind} test of {what}: {missing} of {len(one.rows)} comparisons are not shown. Even their clearest "
                f"outcome would not have reached p < {ALPHA:g} with so few runs that differ."
            )


def ranks(table: "pl.DataFrame", metric: str, question: Question) -> Iterator[Sheet]:
    """Yield the ranks of three or more values over all other settings and seeds, and their performance profiles."""
    between, better = question.parameter, metric in LARGER_IS_BETTER
    try:
        found, test = statistics.average_ranks(
            table, metric, between, question.over, question.places, larger_is_better=better, alpha=ALPHA
        )
    except InvalidValueError:  # fewer than three values, or no seed has a run of each
        return
    nemenyi = f"; ranks further apart than {test.critical_difference:.2f} differ (Nemenyi)" if test.p < ALPHA else ""
    caption = (
        f"Runs of the same seed and setting, ranked; 1 is best. The ranks of one seed and place are averaged: "
        f"{test.blocks} blocks. Friedman, labels permuted within blocks: p = {p_text(test.p)}{nemenyi}."
    )
    if not statistics.got_there(table, metric).all():
        caption = " ".join([caption, *unreached(metric)])
    yield sheet(found, f"Average ranks: {metric}", caption)
    if better or not question.over or (table[metric].drop_nulls() <= 0).any():
        return
    try:
        curve = statistics.profiles(table, metric, between, question.over)
    except InvalidValueError:  # a setting lacks a value
        return
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


def sheet(table: "pl.DataFrame", title: str, caption: str, **names: str) -> Sheet:
    """Return a table as a sheet with readable column names: ``names``, or the usual ones."""
    heads = [names.get(c) or _IN_PRINT.get(c) or (label(c) if "." in c else c.replace("_", " ")) for c in table.columns]
    return Sheet.of(table, title, caption, heads)
