"""The figures of a report: those of a study by name, each drawn when it is asked for.

::

    from covey.experiments.report.figures import figures

    of_study = figures(covey.load_design("study.yaml"), covey.Results("runs/crowding"))
    of_study["exploration_time_s_box"].draw().save("box.pdf")
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from covey.errors import InvalidValueError
from covey.experiments.analysis.at_share import AtShare, at_share
from covey.experiments.analysis.findings import ALPHA
from covey.experiments.analysis.questions import Question, apart, has_goal, questions
from covey.experiments.design.axes import Axes, Layout
from covey.experiments.design.plan import base_scenario
from covey.experiments.report.finds import finds, left, shares
from covey.experiments.report.progress import Steps
from covey.experiments.run import Results
from covey.experiments.workers.row import RUNS
from covey.lazy import pl
from covey.results import statistics
from covey.results.checked import reading
from covey.results.figures.study import fleet_metrics, robot_metrics
from covey.results.figures.study_plots import box_plots, heat_map
from covey.results.figures.study_ranks import rank_diagram
from covey.results.figures.study_times import explored_bands, found_curves, survival_curves, targets_left
from covey.results.labels import FLEET_METRICS, ROBOT_METRICS, label, written
from covey.results.metrics import is_time_to_goal
from covey.results.metrics.own import column_of
from covey.results.metrics.registry import LARGER_IS_BETTER
from covey.results.table import read_columns
from covey.scenario.folders import folder_name

if TYPE_CHECKING:
    from covey.experiments.design.records import Design
    from covey.results.figures.style import Picture

__all__ = ["Figure", "figures"]


@dataclass(frozen=True)
class Figure:
    """One figure of a report.

    Attributes:
        name: that of its file.
        caption: what it shows; the ``note`` of its picture says what points and bands mean.
        draw: draws it.
    """

    name: str
    caption: str
    draw: "Callable[[], Picture]"


@dataclass(frozen=True)
class Subject:
    """What a report is about.

    Attributes:
        whole: one row per run that has ended; times to a goal are those of the design's goal.
        table, alone: those that are compared, and those of one robot alone.
        axes: how figures show the parameters.
        shown: the metrics that have a section.
        equal: the metrics at an equal explored share, or None.
        has_goal: whether runs have a goal.
    """

    whole: "pl.DataFrame"
    table: "pl.DataFrame"
    alone: "pl.DataFrame"
    axes: Axes
    shown: list[str]
    equal: AtShare | None
    has_goal: bool

    @staticmethod
    def of(design: "Design", results: Results) -> "Subject":
        """Return what the report of a design is about.

        Raises:
            InvalidValueError: no run has ended yet.
        """
        table = results.table
        if not len(table):
            raise InvalidValueError(
                f"no run in {str(results.folder)!r} has ended yet; run the design first: covey run …"
            )
        shown, stop = shown_metrics(design, table), base_scenario(design).stop
        goal = has_goal(stop.model_dump(), table["status"])
        equal = at_share(apart(design, table)[0], shown, stop.explored)
        whole = statistics.censored(table, [*shown, *(equal.metrics if equal else ())], goal)
        compared, alone = apart(design, whole)
        return Subject(whole, compared, alone, Axes.of(design, compared), shown, equal, goal)


def figures(design: "Design", results: Results) -> dict[str, Figure]:
    """Return the figures that the report of a design has, by the names of their files.

    Args:
        design: the design.
        results: its results so far.

    Raises:
        InvalidValueError: no run has ended yet.
    """
    about = Subject.of(design, results)
    main = next((one for one in questions(design, about.table, about.axes) if one.is_main), None)
    found = [*overview_figures(about.table, results.folder, about.axes)]
    for metric in about.shown:
        found += metric_figures(about.table, metric, about.axes, main)
    return {one.name: one for one in found}


def shown_metrics(design: "Design", table: "pl.DataFrame") -> list[str]:
    """Return the metrics with a section: those named in the report, else those of the design, else the usual ones."""
    wanted = tuple(map(column_of, design.report.y)) or design.columns or FLEET_METRICS
    return [name for name in wanted if name in table.columns and table[name].dtype.is_numeric()]


def overview_figures(table: "pl.DataFrame", folder: Path, axes: Axes, steps: Steps = Steps()) -> Iterator[Figure]:
    """Yield the figures with several metrics, and what was explored and found over time."""
    if axes.x:
        fleet = [m for m in FLEET_METRICS if m in table.columns and table[m].drop_nulls().len()]
        robot = [m for m in ROBOT_METRICS if m in table.columns and table[m].drop_nulls().len()]
        for suffix, part, where in panels(table, axes.beside(table)):
            if len(fleet) > 1 and axes.has_sizes(table) and "reached" in part["status"]:
                draw = partial(fleet_metrics, part, axes.x, axes.apart, fleet)
                yield Figure(f"fleet{suffix}", f"The fleet{where}.", draw)
            if robot:
                draw = partial(robot_metrics, part, axes.x, axes.apart, robot)
                yield Figure(f"robots{suffix}", f"What a robot's computer and radio did{where}.", draw)
    layout = axes.over_time(table)
    by = " and ".join(map(label, layout.curves)) or None
    for suffix, part, where in panels(table, layout):
        if curves := explored_curves(part, folder, layout.curves, steps):
            draw = partial(explored_bands, curves, by)
            yield Figure(f"explored{suffix}", f"Explored share over time{where}.", draw)
        found = finds(part, folder, layout.curves)
        if found:
            caption = f"V(t): share of the targets that are found{where}."
            yield Figure(f"found{suffix}", caption, partial(found_curves, shares(found), by))
        for kind in dict.fromkeys(kind for runs in found.values() for run in runs for kind in run.targets):
            caption = f"Targets of the kind {kind} that are not found yet{where}."
            draw = partial(targets_left, left(found, kind), kind, by)
            yield Figure(f"{folder_name(kind)}_left{suffix}", caption, draw)


def metric_figures(table: "pl.DataFrame", metric: str, axes: Axes, asked: Question | None = None) -> Iterator[Figure]:
    """Yield the figures of one metric: one for each setting that the colours and the axis do not show.

    Args:
        table: one row per run.
        metric: the metric.
        axes: how figures show the parameters.
        asked: the question whose values are ranked, too, if it has three or more and some seeds have a run of each.
    """
    has_map = axes.x and axes.apart and min(table[axes.x].n_unique(), table[axes.apart].n_unique()) > 2
    for suffix, part, where in panels(table, axes.beside(table)) if axes.x else ():
        assert axes.x is not None
        boxes = partial(box_plots, part, metric, axes.x, axes.apart)
        yield Figure(f"{metric}_box{suffix}", f"{label(metric)} by {label(axes.x)}{where}.", boxes)
        if has_map and axes.apart:
            cells = partial(heat_map, part, metric, axes.x, axes.apart)
            yield Figure(f"{metric}_heat{suffix}", f"Median {label(metric)}{where}.", cells)
    if is_time_to_goal(metric):
        layout = axes.over_time(table)
        for suffix, part, where in panels(table, layout):
            by = f", by {' and '.join(map(label, layout.curves))}" if layout.curves else ""
            curves = partial(survival_curves, part, metric, layout.curves)
            yield Figure(f"{metric}_survival{suffix}", f"Runs that are not there yet{by}{where}.", curves)
    if asked:
        yield from rank_figure(table, metric, asked)


def rank_figure(table: "pl.DataFrame", metric: str, asked: Question) -> Iterable[Figure]:
    """Return the diagram of the average ranks of three or more values, if some seeds have a run of each."""
    better, name = metric in LARGER_IS_BETTER, asked.parameter
    try:
        found, test = statistics.average_ranks(
            table, metric, name, asked.over, asked.places, larger_is_better=better, alpha=ALPHA
        )
    except InvalidValueError:
        return []
    names = [written(value) for value in found[name]]
    least = test.critical_difference if test.p < ALPHA else None
    draw = partial(rank_diagram, names, found["average_rank"].to_list(), least, test.blocks)
    return [Figure(f"{metric}_ranks", f"{label(metric)}, by {label(name)}.", draw)]


def panels(table: "pl.DataFrame", layout: Layout) -> Iterator[tuple[str, "pl.DataFrame", str]]:
    """Yield for each figure of a layout a suffix for its file name, its runs, and their description for the caption."""
    pooled = f"; all values of {' and '.join(map(label, layout.pooled))} pooled" if layout.pooled else ""
    for number, (key, part) in enumerate(statistics.groups(table, layout.panels), start=1):
        named = zip(map(label, layout.panels), map(written, key), strict=True)
        where = ", ".join(f"{name} {value}" for name, value in named)
        suffix = f"_{number}_{folder_name('_'.join(map(written, key)))}" if layout.panels else ""
        yield suffix, part, f" ({where}{pooled})" if where else pooled


def explored_curves(
    table: "pl.DataFrame", folder: Path, by: tuple[str, ...], steps: Steps = Steps()
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the explored share of all runs by setting, at equal times."""
    found, read = {}, 0
    for key, part in statistics.groups(table, by):
        curves = []
        for run_id in part["run_id"]:
            steps.say("runs of a figure", read, len(table))
            read += 1
            if (curve := _curve(folder / RUNS / run_id)) is not None:
                curves.append(curve)
        if curves:
            times = np.linspace(0.0, max(t[-1] for t, _ in curves), 200)
            named = ", ".join(map(written, key)) if key else "all runs"
            found[named] = (times, np.array([np.interp(times, *c) for c in curves]))
    return found


def _curve(folder: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Return times [s] and the explored share of a run; None if it was not kept."""
    path = folder / "team.parquet"
    if not path.is_file():
        return None
    with reading(path):
        columns = read_columns(path, ("time_s", "explored_share_union"))
        times, share = (columns[name].to_numpy() for name in ("time_s", "explored_share_union"))
    return times, share.astype(np.float64)
