"""`compare_results`: tests between two designs, or two versions of one; `compare_runs`: two runs side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.errors import InvalidValueError, did_you_mean
from covey.events.inputs import recorded_inputs
from covey.experiments.analysis.analysis import CENSORED, EXPLAINED, IN_BLOCKS, OF_MEANS, comparison
from covey.experiments.analysis.report_tables import Sheet, text
from covey.experiments.design.axes import parameters
from covey.experiments.design.describe import family_of, leaves, short
from covey.lazy import pl
from covey.results import statistics
from covey.results.labels import FLEET_METRICS, label
from covey.results.metrics import is_until_goal
from covey.results.metrics.headlines import of_interest
from covey.results.run import Run
from covey.scenario.yaml12 import parse_yaml

if TYPE_CHECKING:
    from covey.experiments.run import Results

_LISTED = 3  # changes by hand; more are counted
WHICH = "results"
"""Column of the common table that distinguishes the two."""
_NO_SETTINGS = ("seed", "name", "description")
_SETTING, _PLACE = "setting", "place of a setting"


@dataclass(frozen=True)
class VectorPair:
    """A vector of each of two results with equal scenarios, but for what distinguishes the results.

    Attributes:
        setting: number of the setting; vectors that only differ in what distinguishes the results share it.
        place: number of its world.
        vectors: the vector of A and of B.
        scenarios: their scenarios, as YAML.
    """

    setting: int
    place: int
    vectors: tuple[int, int]
    scenarios: tuple[str, str]


@dataclass(frozen=True)
class Matches:
    """What of two results can be compared.

    Attributes:
        pairs: vectors that are compared.
        alone: vectors of A, and of B, that the other has not, in words.
    """

    pairs: list[VectorPair]
    alone: tuple[list[str], list[str]]


def compare_results(a: "Results", b: "Results", metrics: Sequence[str] = (), *, alpha: float = 0.05) -> list[Sheet]:
    """Return tables for each metric: the differences between two sets of results, and their significance.

    Vectors are compared if their scenarios are equal, whatever the parameters are called, but for settings of which the
    two have no value in common: these distinguish them. Runs of equal seed are pairs. If there are several settings, a
    first table puts them together, by blocks; what shares a world and a seed is one. Nothing is pooled that differs.
    All tests are one family, with Benjamini and Hochberg's correction.

    Args:
        a, b: the results.
        metrics: columns; default: those of the first design, else the usual ones.
        alpha: level that a test must be able to reach to be shown.

    Raises:
        InvalidValueError: they have no setting in common, or a metric does not exist.
    """
    pairs = matches(a, b).pairs
    if not pairs:
        raise InvalidValueError(f"{a.folder} and {b.folder} have no setting in common; there is nothing to compare")
    table = _together(a, b, pairs)
    wanted = [m for m in metrics or a.metrics or FLEET_METRICS if metrics or m in table.columns]
    found = [one for metric in wanted for one in _comparisons(table, metric, pairs, alpha)]
    p = np.concatenate([one.rows["p"].cast(pl.Float64).fill_null(np.nan).to_numpy() for one in found])
    p[~np.isnan(p)] = statistics.benjamini_hochberg(p[~np.isnan(p)])
    adjusted = np.split(p, np.cumsum([len(one.rows) for one in found])[:-1])
    return [one.sheet(values) for one, values in zip(found, adjusted, strict=True)]


def differences(a: "Results", b: "Results") -> list[tuple[str, str, str]]:
    """Return the differences between the scenarios of two sets of results: a path, and its values in A and in B.

    It compares the vectors that are compared. If a path varies within a set, all its values are listed.
    """
    found = _unlike(match.scenarios for match in matches(a, b).pairs)
    return [one for one in found if one[0] not in _NO_SETTINGS]


def matches(a: "Results", b: "Results") -> Matches:
    """Return the vectors of two results that can be compared, and the others."""
    firsts = [_one_of_each(results) for results in (a, b)]
    found = [[_settings(row["scenario"]) for row in rows] for rows in firsts]
    values = [_values(those) for those in found]
    varies = [path for path in {**values[0], **values[1]} if any(len(one.get(path, {None})) > 1 for one in values)]
    common = [path for path in varies if values[0].get(path, {None}) & values[1].get(path, {None})]
    keys = [[tuple(one.get(path) for path in common) for one in those] for those in found]
    settings = {key: i for i, key in enumerate(k for k in dict.fromkeys(keys[0]) if k in set(keys[1]))}
    worlds: dict[tuple[Any, ...], int] = {}
    pairs = []
    for row, one, key in zip(firsts[0], found[0], keys[0], strict=True):
        place = tuple(sorted((path, value) for path, value in one.items() if family_of(path) == "environment"))
        for other, other_key in zip(firsts[1], keys[1], strict=True):
            if key == other_key:
                vectors, scenarios = (row["vector"], other["vector"]), (row["scenario"], other["scenario"])
                pairs.append(VectorPair(settings[key], worlds.setdefault(place, len(worlds)), vectors, scenarios))
    alone = tuple(
        [_in_words(row) for row, key in zip(rows, those, strict=True) if key not in settings]
        for rows, those in zip(firsts, keys, strict=True)
    )
    return Matches(pairs, (alone[0], alone[1]))


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
    settings = [item for item in found if item[0] not in _NO_SETTINGS]
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
    """Return the paths at which scenarios differ, pair by pair, with the values in the first and in the second ones.

    Examples:
        >>> _unlike([("{seed: 1, format: 1}", "{seed: 2, format: 1}"), ("{seed: 3, format: 1}", "{format: 1}")])
        [('seed', '1, 3', '2, not given')]
    """
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for pair in pairs:
        one, other = _alike(*(dict(leaves(parse_yaml(scenario, "").data)) for scenario in pair))
        for path in {**one, **other}:
            if one.get(path) != other.get(path):
                values = found.setdefault(path, ({}, {}))
                for said, given in zip(values, (one, other), strict=True):
                    said[short(given[path]) if path in given else "not given"] = None
    return [(path, ", ".join(one), ", ".join(other)) for path, (one, other) in found.items()]


def _alike(one: dict[str, Any], other: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of two scenarios with names at equal paths: ``controller: a`` is ``controller: {name: a}``."""

    def named(those: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
        return {f"{p}.name" if p not in others and f"{p}.name" in others else p: v for p, v in those.items()}

    return named(one, other), named(other, one)


def _one_of_each(results: "Results") -> list[Mapping[str, Any]]:
    """Return the first row of each vector; its other runs differ from it only in their seeds."""
    firsts = results.table.with_row_index().unique("vector", keep="first", maintain_order=True)["index"]
    return [results.rows[i] for i in firsts]


def _settings(scenario: str) -> dict[str, str]:
    """Return the values of a scenario by path, without what a run is called and its seed."""
    found = leaves(parse_yaml(scenario, "").data)
    return {path: short(value) for path, value in found if path not in _NO_SETTINGS}


def _values(found: Iterable[Mapping[str, str]]) -> dict[str, set[str | None]]:
    """Return the values of each path; None where a scenario lacks it."""
    those = list(found)
    return {path: {one.get(path) for one in those} for path in dict.fromkeys(p for one in those for p in one)}


def _in_words(row: Mapping[str, Any]) -> str:
    values = ", ".join(f"{name} {short(value)}" for name, value in row["parameters"].items())
    return f"vector {row['vector']}{f' ({values})' if values else ''}"


def _together(a: "Results", b: "Results", pairs: Sequence[VectorPair]) -> "pl.DataFrame":
    """Return the runs of all matches: A's and B's, with the name of their match, and the number of its place."""
    parts, names = [], _names(a, b, pairs)
    for match, name in zip(pairs, names, strict=True):
        for which, results, vector in zip("AB", (a, b), match.vectors, strict=True):
            own = results.table.filter(pl.col("vector") == vector)
            marks = {WHICH: which, _SETTING: name, _PLACE: match.place}
            parts.append(own.with_columns(pl.lit(value).alias(column) for column, value in marks.items()))
    return pl.concat(parts, how="diagonal_relaxed")


def _names(a: "Results", b: "Results", pairs: Sequence[VectorPair]) -> list[str]:
    """Return the name of each match: the values of the parameters that vary, of both if these do not tell all."""
    sides = []
    for side, results in enumerate((a, b)):
        rows = {row["vector"]: row["parameters"] for row in _one_of_each(results)}
        own = [rows[match.vectors[side]] for match in pairs]
        vary = [n for n in parameters(results.table) if len({short(one.get(n)) for one in own}) > 1]
        shown = {row["vector"]: row for row in results.table.unique("vector", keep="first").to_dicts()}
        sides.append([", ".join(f"{label(n)} {text(shown[m.vectors[side]][n])}" for n in vary) for m in pairs])
    if _one_to_one(pairs):
        return [one or other for one, other in zip(*sides, strict=True)]
    return [f"A: {one or 'all'}; B: {other or 'all'}" for one, other in zip(*sides, strict=True)]


def _one_to_one(pairs: Sequence[VectorPair]) -> bool:
    return len({match.setting for match in pairs}) == len(pairs)


@dataclass(frozen=True)
class _Comparisons:
    """Comparisons of one metric, and what to write above them."""

    metric: str
    rows: "pl.DataFrame"
    title: str
    caption: str
    by: tuple[str, ...] = ()

    def sheet(self, adjusted: np.ndarray) -> Sheet:
        rows = self.rows.with_columns(p_adjusted=pl.Series(adjusted).fill_nan(None))
        return comparison(rows, self.title, self.caption, self.metric, self.by, "p (BH)")


def _comparisons(
    table: "pl.DataFrame", metric: str, pairs: Sequence[VectorPair], alpha: float
) -> Iterator[_Comparisons]:
    """Yield the comparison of all settings together, if there are several, and that of each."""
    if metric not in table.columns:
        raise InvalidValueError(f"no metric {metric!r} in these results{did_you_mean(metric, table.columns)}")
    several = len(pairs) > 1
    if several and _one_to_one(pairs):
        with suppress(InvalidValueError):  # runs have no partners
            rows = statistics.compare(table, metric, WHICH, over=[_SETTING], places=[_PLACE], alpha=alpha)
            if len(rows):
                title = f"{metric}: {rows['test'][0]} test over all {len(pairs)} settings"
                yield _Comparisons(metric, rows, title, f"Two-sided. {IN_BLOCKS} {EXPLAINED} {OF_MEANS}")
    by = (_SETTING,) if several else ()
    rows = statistics.compare(table, metric, WHICH, by, alpha=alpha)
    has_some = is_until_goal(metric) and 0 < (table["status"] == "reached").sum() < len(table)
    censored = f" {CENSORED}" if has_some else ""
    caption = (
        "Two-sided; a dash where the runs are too few for any outcome to be significant; p (BH): adjusted over all "
        f"tests printed here (Benjamini and Hochberg).{censored} {EXPLAINED} {OF_MEANS}"
    )
    yield _Comparisons(metric, rows, f"{metric}{', setting by setting' if several else ''}", caption, by)
