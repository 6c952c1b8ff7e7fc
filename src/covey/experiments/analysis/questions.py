"""The questions of a design: which parameters are tested, between which runs, and what is not tested and why."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from covey.errors import CoveyError
from covey.experiments.analysis.table import outcomes
from covey.experiments.design.axes import Axes
from covey.experiments.design.describe import family_of, paths_of
from covey.experiments.design.plan import scenarios
from covey.lazy import pl
from covey.results import statistics
from covey.results.labels import label

if TYPE_CHECKING:
    from covey.experiments.design.records import Design

MOST_TESTED = 40
"""Largest number of values of a parameter that are tested against each other."""
_STRATEGIES = ("controller", "strategy", "algorithm")
_BY_MISSION = ("exploration_time_s", "coverage_t90_s", "average_graph_idleness_s", "orders_met", "rescue_score")


@dataclass(frozen=True)
class Question:
    """A parameter whose values are compared.

    Attributes:
        parameter: its column.
        over: the other parameters that vary: a pair of runs has equal values of them.
        places: those of them that change the world, where equal seeds have unrelated noise.
        is_main: whether the design asks it; others are exploratory.
        reference: the value that many others are compared with.
    """

    parameter: str
    over: tuple[str, ...]
    places: tuple[str, ...]
    is_main: bool
    reference: Any

    def between(self) -> str:
        """Return what is compared, and over what, in words."""
        over = f", in pairs of equal {', '.join(map(label, self.over))} and seed" if self.over else ""
        return f"{label(self.parameter)}{over}"


def questions(design: "Design", table: "pl.DataFrame", axes: Axes) -> list[Question]:
    """Return a question for each parameter that varies and can be tested, the main one first."""
    main = main_parameter(design, axes)
    return [
        Question(
            name,
            over := tuple(other for other in axes.varying if other != name),
            places_of(design, over),
            name == main,
            reference_of(design, table, name) if name == main else statistics.levels(table, name)[0],
        )
        for name in sorted(axes.varying, key=lambda name: name != main)
        if _why_not(table, name) is None
    ]


def apart(design: "Design", table: "pl.DataFrame") -> tuple["pl.DataFrame", "pl.DataFrame"]:
    """Return the runs that are compared, and those of one robot alone, which stand beside them."""
    numbers = list[int]()
    if design.alone:
        with suppress(CoveyError, OSError):  # a file of the design is no longer there
            numbers = [number for number, (vector, _) in enumerate(scenarios(design)) if vector.alone]
    is_alone = pl.col("vector").is_in(numbers)
    return table.filter(~is_alone), table.filter(is_alone)


def untested(design: "Design", table: "pl.DataFrame", axes: Axes) -> Iterator[str]:
    """Yield a sentence about each parameter that varies and is not tested."""
    for name in axes.varying:
        if reason := _why_not(table, name):
            yield f"{label(name)} is not tested: {reason}."


def main_parameter(design: "Design", axes: Axes) -> str | None:
    """Return the parameter of the main question: that of the report, else the controller, else that of the lines."""
    asked = design.report.question
    found = [n for n in axes.varying if asked and (n == asked or n.rpartition(".")[2] == asked)]
    found += [n for n in axes.varying if not asked and _last(design, n) & set(_STRATEGIES)]
    found += [n for n in (axes.line, axes.x) if n]
    return found[0] if found else None


def primary_metric(design: "Design", shown: Sequence[str]) -> str | None:
    """Return the primary metric: that of the report, else the usual one of the mission, else the first."""
    from covey.results.metrics.own import column_of

    asked = [column_of(design.report.primary)] if design.report.primary else []
    return next((name for name in (*asked, *_BY_MISSION) if name in shown), shown[0] if shown else None)


def reference_of(design: "Design", table: "pl.DataFrame", name: str) -> Any:
    """Return the value that others are compared with: that of the report, else the first of the design."""
    values = statistics.levels(table, name)
    asked = design.report.reference
    return next((value for value in values if asked is not None and str(value) == str(asked)), values[0])


def places_of(design: "Design", names: Sequence[str]) -> tuple[str, ...]:
    """Return the parameters that change the world."""
    return tuple(name for name in names if any(family_of(path) == "environment" for path in paths_of(design, name)))


def _last(design: "Design", name: str) -> set[str]:
    return {path.rpartition(".")[2] for path in paths_of(design, name)}


def _why_not(table: "pl.DataFrame", name: str) -> str | None:
    count = table[name].n_unique()
    if count > MOST_TESTED:
        return f"it has {count} values, and at most {MOST_TESTED} are compared with each other"
    return None


def has_goal(stop: Mapping[str, Any], statuses: Container[str]) -> bool:
    """Return whether runs have a goal that they can fail to reach: a share, or one that some of them reached.

    A patrol, or a search that goes on after everything is found, lasts its planned time, and that is no failure.

    Args:
        stop: the end of a run, as in a scenario.
        statuses: how runs have ended.
    """
    asked = any(stop.get(name) for name in ("explored", "covered", "done"))
    return asked or "reached" in statuses


def endings(counts: Counter[str], *, goal: bool) -> str:
    """Return in words how runs have ended; without a goal none has run out of time.

    Examples:
        >>> endings(Counter(reached=3, timeout=1), goal=True), endings(Counter(timeout=6), goal=False)
        ('3 reached, 1 timeout', '6 lasted their planned time')
    """
    named = {} if goal else {"timeout": "lasted their planned time"}
    return ", ".join(f"{n} {named.get(status, status).replace('_', ' ')}" for status, n in counts.most_common() if n)


def identical(table: "pl.DataFrame", axes: Axes) -> Iterator[str]:
    """Yield a sentence about each parameter of which several values gave the same run: these say nothing new."""
    marked = table.select(*axes.varying, "seed", _outcome=outcomes(table))
    for name in axes.varying:
        others = [n for n in axes.varying if n != name]
        each = marked.group_by([*others, "seed"]).agg(runs=pl.len(), unlike=pl.col("_outcome").n_unique())
        if same := int((each["runs"] - each["unlike"]).sum()):
            yield (
                f"{same} of {len(table)} runs equal the run of the same seed with another value of {label(name)}: it "
                "changed nothing there. They are no observations of their own, and tests do not count them as such."
            )
