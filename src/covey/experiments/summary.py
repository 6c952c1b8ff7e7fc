"""The results of a design as text: a line per vector for people and papers, a row per run for programs."""

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from covey.experiments.folder import FAILURES
from covey.experiments.row import Row
from covey.experiments.run import Results
from covey.experiments.sheets import Sheet
from covey.experiments.table import parameters_of

USUAL = ("exploration_time_s", "exploration_cost_m", "exploration_efficiency_m2_per_m", "simulated_time_s")
"""Metrics of the table of a design that names none."""
SEEDLESS = (
    "all iterations of each vector came out the same: nothing in the scenario draws from the seed. Let the teams start "
    "at random ({together: {around: random}}, {apart: {}}), leave out the seed of a generated world, or add noise"
)
_OF_THE_HOST = ("wall_time_s", "real_time_factor", "cpu_percent", "peak_rss_mib")


def summary(results: Results) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of a table with one line per vector.

    ``reached`` counts the runs that reached their goal, of those that have ended. A metric is the median of the runs
    that have a value, with their number where some have none: a run that timed out has no time of exploration.
    """
    parameters = parameters_of(results.rows)
    names = results.metrics or tuple(n for n in USUAL if any(r["metrics"].get(n) is not None for r in results.rows))
    vectors: dict[int, list[dict[str, Any]]] = {}
    for row in results.rows:
        vectors.setdefault(row["vector"], []).append(row)
    failed = bool(results.failures)
    heads = [*parameters, "reached", *(["failed"] if failed else []), *names]
    return heads, [list(_line(rows, parameters, names, failed)) for _, rows in sorted(vectors.items())]


def is_seedless(rows: Sequence[Row]) -> bool:
    """Return whether in each vector with several runs all came out the same, but for the time and memory they took."""
    vectors: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        if row["status"] not in FAILURES:
            found = {name: value for name, value in row["metrics"].items() if name not in _OF_THE_HOST}
            vectors.setdefault(row["vector"], []).append(found)
    several = [found for found in vectors.values() if len(found) > 1]
    return bool(several) and all(one == found[0] for found in several for one in found)


def as_text(results: Results) -> str:
    """Return the summary as a table for a terminal or a text file."""
    return _sheet(results).to_text()


def as_latex(results: Results) -> str:
    """Return the summary as a LaTeX table in the style of the package booktabs."""
    return _sheet(results).to_latex()


def _sheet(results: Results) -> Sheet:
    heads, lines = summary(results)
    parameters = len(parameters_of(results.rows))
    right = tuple(i >= parameters for i in range(len(heads)))
    return Sheet("", tuple(heads), tuple(map(tuple, lines)), right)


def as_csv(results: Results) -> str:
    """Return one row per run as CSV."""
    return results.table.write_csv()


def as_json(results: Results) -> str:
    """Return one object per run as a JSON list."""
    return results.table.write_json()


def _line(rows: list[dict[str, Any]], parameters: list[str], names: tuple[str, ...], failed: bool) -> Iterator[str]:
    from covey.experiments.table import text_of

    yield from (text_of(rows[0]["parameters"].get(name)) for name in parameters)
    yield f"{sum(row['status'] == 'reached' for row in rows)}/{len(rows)}"
    if failed:
        yield str(sum(row["status"] in FAILURES for row in rows))
    for name in names:
        found = [row["metrics"].get(name) for row in rows]
        values = [v for v in found if isinstance(v, (int, float)) and not isinstance(v, bool)]
        count = f" ({len(values)})" if len(values) < len(rows) else ""
        yield f"{statistics.median(values):.4g}{count}" if values else "-"
