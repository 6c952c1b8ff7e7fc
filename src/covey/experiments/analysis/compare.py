"""`compare_results`: tests between two designs, or two versions of one; `compare_runs`: two runs side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.errors import InvalidValueError, did_you_mean
from covey.events.inputs import recorded_inputs
from covey.experiments.analysis.analysis import EXPLAINED, TESTED, sheet, stratified
from covey.experiments.analysis.report_tables import Sheet, text
from covey.experiments.design.axes import parameters
from covey.experiments.design.describe import short
from covey.lazy import pl
from covey.results import statistics
from covey.results.figures.study import FLEET_METRICS
from covey.results.metrics.headlines import of_interest
from covey.results.run import Run
from covey.scenario.yaml12 import parse_yaml

if TYPE_CHECKING:
    from covey.experiments.run import Results

_LISTED = 3  # changes by hand; more are counted
WHICH = "results"
"""Column of the common table that distinguishes the two."""


def compare_results(a: "Results", b: "Results", metrics: Sequence[str] = (), *, alpha: float = 0.05) -> list[Sheet]:
    """Return one table for each metric: the differences between two sets of results, and their significance.

    A parameter with common values in both defines settings, and only common values count; runs of equal values and
    equal seed are pairs. A parameter without a common value is what distinguishes the two. If there are several
    settings, a first table pools all of them. All rows of a table are one family for Holm's correction.

    Args:
        a, b: the results.
        metrics: columns; default: those of the first design, else the usual ones.
        alpha: level of the tests.

    Raises:
        InvalidValueError: they have no setting in common, or a metric does not exist.
    """
    table, shared = _common(a, b)
    wanted = [m for m in metrics or a.metrics or FLEET_METRICS if metrics or m in table.columns]
    apart = [name for name in shared if table[name].n_unique() > 1]
    sheets = [sheet for metric in wanted for sheet in _sheets(table, metric, apart, alpha)]
    if not any(sheet.rows for sheet in sheets):
        raise InvalidValueError(f"{a.folder} and {b.folder} have no setting in common; there is nothing to compare")
    return sheets


def differences(a: "Results", b: "Results") -> list[tuple[str, str, str]]:
    """Return the differences between the scenarios of two sets of results: a path, and its values in A and in B.

    It compares runs of common settings. If a path varies within a set, all its values are listed.
    """
    _, shared = _common(a, b)
    mine, theirs = ({_setting(row, shared): row for row in reversed(_one_of_each(r))} for r in (a, b))
    texts = ((m["scenario"], theirs[setting]["scenario"]) for setting, m in mine.items() if setting in theirs)
    return [found for found in _unlike(texts) if found[0] != "seed"]


def compare_runs(a: Run, b: Run, metrics: Sequence[str] = ()) -> Sheet:
    """Return metrics of two single runs side by side; default: the main metrics of their missions.

    Raises:
        InvalidValueError: none of the runs has such a metric.
    """
    known = {**a.metrics, **b.metrics}
    for name in metrics:
        if name not in known:
            raise InvalidValueError(f"no metric {name!r} in these runs{did_you_mean(name, known)}")
    meaning = {name: said for run in (b, a) for name, (_, said) in of_interest(run).items()}
    rows = []
    for name in metrics or {**of_interest(a), **of_interest(b)}:
        one, other = a.metrics.get(name), b.metrics.get(name)
        apart = text(one - other) if isinstance(one, int | float) and isinstance(other, int | float) else ""
        rows.append((name, text(one), text(other), apart, meaning.get(name, "")))
    caption = "One run each, so nothing is tested; another seed gives other numbers. To repeat both, write a design."
    return Sheet("", ("metric", "A", "B", "A - B", ""), tuple(rows), (False, True, True, True, False), caption)


def run_differences(a: Run, b: Run) -> list[tuple[str, str, str]]:
    """Return the differences between two runs: a setting, and its values in A and in B.

    The settings are those of the scenario, the seed, the contents of the files that it names, Covey's version, and what
    was changed by hand during the run. For a run from Python, without a scenario, only the seed, the number of robots
    and the changes by hand are known.
    """
    scenarios = [run.manifest["scenario"] for run in (a, b)]
    found = _unlike([scenarios] if all(scenarios) else [])
    one, other = (_beside(run, with_robots=not all(scenarios)) for run in (a, b))
    settings = [item for item in found if item[0] not in ("seed", "name", "description")]
    settings += [(name, value, other[name]) for name, value in one.items() if other.get(name, value) != value]
    done = [recorded_inputs(run) for run in (a, b)]
    by_hand = ("changes by hand", _by_hand(a, done[0]), _by_hand(b, done[1]))
    return settings + ([by_hand] if done[0] != done[1] else [])


def _by_hand(run: Run, inputs: Sequence[Mapping[str, Any]]) -> str:
    """Return what was done to a run while it ran, in words: ``wall 1 at 23.5 s``."""
    said = [f"{_named(event)} at {text(event['at_step'] * run.manifest['step_s'])} s" for event in inputs]
    return ", ".join(said) if 0 < len(said) <= _LISTED else f"{len(said)}, from {said[0]} on" if said else "none"


def _named(event: Mapping[str, Any]) -> str:
    kind, value = next((key, value) for key, value in event.items() if key not in ("at_step", "name"))
    return event.get("name") or (f"{kind} {value}" if isinstance(value, str) else kind)


def _beside(run: Run, with_robots: bool) -> dict[str, str]:
    """Return the settings of a run that are not in its scenario."""
    known = {f"contents of {Path(read['path']).name}": read["sha256"][:8] for read in run.manifest["inputs"]}
    known |= {"robots": str(len(run.manifest["robots"]))} if with_robots else {}
    return known | {"seed": str(run.manifest["seed"]), "version of covey": str(run.manifest["versions"]["covey"])}


def _unlike(pairs: Iterable[Sequence[str]]) -> list[tuple[str, str, str]]:
    """Return the paths at which scenarios differ, pair by pair, with the values in the first and in the second ones."""
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for pair in pairs:
        one, other = (dict(_leaves(parse_yaml(scenario, "").data)) for scenario in pair)
        for path in {**one, **other}:
            if one.get(path) != other.get(path):
                values = found.setdefault(path, ({}, {}))
                for said, leaves in zip(values, (one, other), strict=True):
                    said[short(leaves[path]) if path in leaves else "not given"] = None
    return [(path, ", ".join(one), ", ".join(other)) for path, (one, other) in found.items()]


def _common(a: "Results", b: "Results") -> "tuple[pl.DataFrame, list[str]]":
    """Return the comparable runs of both, and their common parameters."""
    one, other = a.table, b.table
    shared = [name for name in parameters(one) if name in parameters(other)]
    shared = [name for name in shared if set(one[name].to_list()) & set(other[name].to_list())]
    for name in shared:  # drop values that only one of them has
        both = list(set(one[name].to_list()) & set(other[name].to_list()))
        one, other = (t.filter(t[name].is_in(both)) for t in (one, other))
    return _together(one, other), shared


def _one_of_each(results: "Results") -> list[Mapping[str, Any]]:
    """Return the first row of each vector; its other runs differ from it only in their seeds."""
    firsts = results.table.with_row_index().unique("vector", keep="first", maintain_order=True)["index"]
    return [results.rows[i] for i in firsts]


def _setting(row: Mapping[str, Any], shared: Sequence[str]) -> tuple[str, ...]:
    return tuple(short(row["parameters"].get(name)) for name in shared)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of every entry of a scenario that is neither a mapping nor a list of mappings."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            name = item.get("name", number) if isinstance(item, dict) else number
            yield from _leaves(item, f"{path}.{name}")
    else:
        yield path, value


def _together(one: "pl.DataFrame", other: "pl.DataFrame") -> "pl.DataFrame":
    """Return the rows of both with their common columns, and the origin of each row."""
    marked = [t.with_columns(pl.lit(name).alias(WHICH)) for t, name in ((one, "A"), (other, "B"))]
    return pl.concat(marked, how="diagonal_relaxed")


def _sheets(table: "pl.DataFrame", metric: str, apart: list[str], alpha: float) -> Iterator[Sheet]:
    if metric not in table.columns:
        raise InvalidValueError(f"no metric {metric!r} in these results{did_you_mean(metric, table.columns)}")
    found = statistics.compare(table, metric, WHICH, apart, alpha=alpha)
    if len(found) > 1:
        yield from stratified(table, metric, WHICH, apart, alpha)
    caption = (
        f"Two-sided tests, {len(found)} in the family, Holm, level {alpha:g}; a dash where the runs are too few for "
        f"any outcome to be significant. {EXPLAINED} Medians of times count timeouts. Pairs are runs of the same "
        "setting and seed."
    )
    names = [name for name in TESTED if name not in ("a", "b")]
    shown = found.select(*apart, "test", *names[:2], "successes_a", "successes_b", *names[2:])
    yield sheet(shown, metric, caption, metric)
