"""`compare_results`: two designs, or one design under two versions, side by side with tests."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from covey.errors import InvalidValueError, did_you_mean
from covey.experiments.axes import parameters
from covey.experiments.run import Results
from covey.experiments.sheets import Sheet
from covey.results import statistics
from covey.results.figures.study import FLEET_METRICS

if TYPE_CHECKING:
    import polars as pl

WHICH = "results"
"""Column of the common table that tells the two apart."""

_COLUMNS = ("n_a", "n_b", "successes_a", "successes_b", "median_a", "median_b")
_TESTED = ("test", "p_holm", "cliffs_delta", "magnitude", "runs_needed")


def compare_results(a: Results, b: Results, metrics: Sequence[str] = (), *, alpha: float = 0.05) -> list[Sheet]:
    """Return one table for each metric: what differs between two sets of results, and how sure that is.

    The parameters that both have are kept apart where their values overlap, and only common values count; runs of equal
    values and equal seed are pairs. A parameter without a common value is what differs between the two. All rows of a
    table are one family for Holm's correction.

    Args:
        a, b: the results.
        metrics: columns; default, those of the first design, or else the usual ones.
        alpha: level of the tests.

    Raises:
        InvalidValueError: they have no setting in common, or a metric does not exist.
    """
    one, other = a.table, b.table
    shared = [name for name in parameters(one) if name in parameters(other)]
    shared = [name for name in shared if set(one[name].to_list()) & set(other[name].to_list())]
    for name in shared:  # of which each value that only one of them has is left out
        both = list(set(one[name].to_list()) & set(other[name].to_list()))
        one, other = (t.filter(t[name].is_in(both)) for t in (one, other))
    table = _together(one, other)
    wanted = [m for m in metrics or a.metrics or FLEET_METRICS if metrics or m in table.columns]
    apart = [name for name in shared if table[name].n_unique() > 1]
    sheets = [_sheet(table, metric, apart, alpha) for metric in wanted]
    if not any(sheet.rows for sheet in sheets):
        raise InvalidValueError(f"{a.folder} and {b.folder} have no setting in common; there is nothing to compare")
    return sheets


def _together(one: "pl.DataFrame", other: "pl.DataFrame") -> "pl.DataFrame":
    """Return the rows of both under their common columns, and which of the two each is from."""
    import polars as pl

    marked = [t.with_columns(pl.lit(name).alias(WHICH)) for t, name in ((one, "A"), (other, "B"))]
    return pl.concat(marked, how="diagonal_relaxed")


def _sheet(table: "pl.DataFrame", metric: str, apart: list[str], alpha: float) -> Sheet:
    if metric not in table.columns:
        raise InvalidValueError(f"no metric {metric!r} in these results{did_you_mean(metric, table.columns)}")
    found = statistics.compare(table, metric, WHICH, apart, alpha=alpha)
    caption = (
        f"Two-sided tests, {len(found)} in the family, Holm, level {alpha:g}; a dash where the runs are too few for "
        "any outcome to be significant. delta: Cliff's, P(A > B) - P(A < B). Medians of times count timeouts."
    )
    shown = found.select(*apart, *_COLUMNS, *_TESTED)
    heads = [
        name.replace("cliffs_delta", "delta").replace("p_holm", "p (Holm)").replace("_", " ") for name in shown.columns
    ]
    return Sheet.of(shown, metric, caption, heads)
