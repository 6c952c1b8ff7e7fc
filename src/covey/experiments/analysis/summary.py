"""The results of a design as text: one line per vector for readers, one row per run for programs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from covey.errors import printable
from covey.experiments.analysis.questions import has_goal
from covey.experiments.analysis.report_tables import PREAMBLE, Sheet
from covey.experiments.analysis.table import outcomes
from covey.experiments.design.axes import parameters
from covey.experiments.workers.row import FAILURES
from covey.experiments.workers.rows import text_of
from covey.lazy import pl
from covey.results import statistics
from covey.results.text import in_cell
from covey.scenario.yaml12 import parse_yaml

if TYPE_CHECKING:
    from covey.experiments.run import Results

USUAL = ("exploration_time_s", "exploration_cost_m", "exploration_efficiency_m2_per_m", "simulated_time_s")
"""Metrics of the table if the design names none."""
SEEDLESS = (
    "all iterations of each vector gave the same result: nothing in the scenario uses the seed. Let the teams start at "
    "random ({together: {around: random}}, {apart: {}}), leave out the seed of a generated world, or add noise"
)


def summary(results: "Results") -> tuple[list[str], list[list[str]]]:
    """Return head and lines of a table with one line per vector.

    ``reached`` counts the runs that reached their goal, of those that have ended; runs without a goal have ``ended``.
    For a metric the table shows the median, as in the report. A run that did not reach the goal of a time counts as
    longer than the timeout (``> 300`` if half of the runs or more did not), and in a metric that grows until the goal
    as worse than all that did (``-``). For other metrics, the number of values follows if some runs have none.
    """
    table = results.table
    goal = bool(len(table)) and has_goal(
        parse_yaml(results.rows[0]["scenario"], "").data.get("stop") or {}, table["status"]
    )
    varied = parameters(table)
    names = results.metrics or tuple(n for n in USUAL if n in table.columns and table[n].drop_nulls().len())
    failed = bool(table["status"].is_in(FAILURES).any())
    heads = [*varied, "reached" if goal else "ended", *(["failed"] if failed else []), *names]
    read = dict.fromkeys(("vector", "status", "timeout_s", "simulated_time_s", *varied, *names))
    few = statistics.censored(table.select(name for name in read if name in table.columns), names, goal)
    return heads, [
        list(_line(part, varied, names, failed, "reached" if goal else ""))
        for _, part in statistics.groups(few, "vector")
    ]


def is_seedless(table: "pl.DataFrame") -> bool:
    """Return whether all runs of each vector gave the same result, apart from the time and memory they took."""
    found = table.select("vector", "status", outcome=outcomes(table))
    found = found.filter(pl.col("status").is_in(FAILURES).not_())
    each = found.group_by("vector").agg(runs=pl.len(), outcomes=pl.col("outcome").n_unique())
    several = each.filter(pl.col("runs") > 1)
    return bool(len(several)) and several["outcomes"].max() == 1


def as_text(results: "Results") -> str:
    """Return the summary as a table for a terminal or a text file."""
    return _sheet(results).to_text()


def as_latex(results: "Results") -> str:
    """Return the summary as a LaTeX table in the style of the package booktabs."""
    return f"{PREAMBLE}\n{_sheet(results).to_latex()}"


def _sheet(results: "Results") -> Sheet:
    heads, lines = summary(results)
    varied = len(parameters(results.table))
    right = tuple(i >= varied for i in range(len(heads)))
    return Sheet("", tuple(heads), tuple(map(tuple, lines)), right, "Metrics are medians over the runs of a line.")


def as_csv(results: "Results") -> str:
    """Return one row per run as CSV; no text can act as a spreadsheet formula."""
    escaped = pl.col(pl.String).map_elements(lambda text: in_cell(printable(text, keep="")), return_dtype=pl.String)
    return results.table.with_columns(escaped).rename(in_cell).write_csv()


def as_json(results: "Results") -> str:
    """Return one object per run as a JSON list."""
    return results.table.write_json()


def _line(
    table: "pl.DataFrame", varied: list[str], names: tuple[str, ...], failed: bool, success: str
) -> Iterator[str]:
    """Yield the cells of a vector; ``success``: the status that counts, empty: all but failures."""
    status = table["status"].to_list()
    yield from (text_of(table[name][0]) for name in varied)
    yield f"{sum(one == success if success else one not in FAILURES for one in status)}/{len(status)}"
    if failed:
        yield str(sum(one in FAILURES for one in status))
    for name in names:
        is_number = name in table.columns and (table[name].dtype.is_numeric() or not table[name].drop_nulls().len())
        yield _median(statistics.sample(table, name)) if is_number else "-"


def _median(found: statistics.MetricSample) -> str:
    middle = found.quantile(0.5)
    if middle is None:
        return "-" if found.until_s is None else f"> {found.values.max():.4g}"
    count = f" ({len(found.values)})" if len(found.values) < found.runs else ""
    return f"{middle:.4g}{count}"
