"""`report`: a design, its outcome, tests, failures and runs as one HTML file that works offline."""

import base64
import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from covey.errors import CoveyError, InvalidValueError, printable
from covey.experiments.analysis import analysis
from covey.experiments.analysis.at_share import AtShare, at_share
from covey.experiments.analysis.findings import ALPHA, Finding, findings
from covey.experiments.analysis.questions import (
    Question,
    apart,
    endings,
    has_goal,
    identical,
    primary_metric,
    questions,
    untested,
)
from covey.experiments.analysis.report_tables import PREAMBLE, Sheet, text
from covey.experiments.analysis.summary import SEEDLESS, is_seedless
from covey.experiments.design import describe
from covey.experiments.design.axes import Axes, Layout
from covey.experiments.design.confounds import only_noise, unequal_parameters
from covey.experiments.design.describe import settings
from covey.experiments.design.plan import base_scenario
from covey.experiments.report.answer import answer, not_reached
from covey.experiments.report.finds import finds, left, shares
from covey.experiments.report.progress import Steps
from covey.experiments.report.runs import failed, listed, pictures
from covey.experiments.run import Results
from covey.experiments.workers.folder import REPORT, folders_of
from covey.experiments.workers.row import RUNS
from covey.lazy import pl
from covey.results import statistics
from covey.results.checked import reading
from covey.results.figures import style
from covey.results.figures.study import fleet_metrics, robot_metrics
from covey.results.figures.study_plots import box_plots, heat_map
from covey.results.figures.study_ranks import rank_diagram
from covey.results.figures.study_times import explored_bands, found_curves, survival_curves, targets_left
from covey.results.folder import within, write_whole
from covey.results.labels import FLEET_METRICS, ROBOT_METRICS, label, written
from covey.results.metrics import is_time_to_goal
from covey.results.metrics.own import column_of
from covey.results.metrics.registry import LARGER_IS_BETTER
from covey.results.table import read_columns
from covey.scenario.folders import folder_name

if TYPE_CHECKING:
    from covey.experiments.design.records import Design
    from covey.results.figures.style import Picture


_FLOATS = 12
"""Tables for LaTeX between two new pages."""


@dataclass
class Section:
    """One metric: its meaning, figures, tables, and remarks."""

    title: str
    meaning: str
    figures: list[dict[str, Any]] = field(default_factory=list)
    tables: list[Sheet] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """The files of a report.

    Attributes:
        page: the HTML file.
        latex: its tables for a paper.
        figures: its figures, PNG, SVG and PDF.
    """

    page: Path
    latex: Path
    figures: list[Path]


def write_report(
    design: "Design",
    results: Results,
    out: Path | None = None,
    *,
    observer: Callable[[str, int, int], object] = lambda what, done, total: None,
) -> Report:
    """Write ``report.html``, ``tables.tex`` and ``figures/`` of a design.

    Args:
        design: the design.
        results: its results so far.
        out: folder to write into; default: ``report`` in the folder of the results.
        observer: told what is being done in words, how much of it is done, and how much there is.

    Raises:
        InvalidValueError: no run has ended yet.
        RunFolderError: its folder is a link.
        OSError: the report cannot be written.
    """
    table = results.table
    if not len(table):
        raise InvalidValueError(f"no run in {str(results.folder)!r} has ended yet; run the design first: covey run …")
    out = within(results.folder, REPORT) if out is None else out
    out.mkdir(parents=True, exist_ok=True)
    steps = Steps(observer)
    shown = shown_metrics(design, table)
    stop = base_scenario(design).stop
    goal = has_goal(stop.model_dump(), table["status"])
    equal = at_share(apart(design, table)[0], shown, stop.explored)
    at_equal = equal.metrics if equal else ()
    whole = statistics.censored(table, [*shown, *at_equal], goal)
    table, alone = apart(design, whole)
    axes, gallery, there = Axes.of(design, table), FigureWriter(within(out, "figures")), folders_of(results.folder)
    steps.say("tests", 0, 1)
    asked, primary = questions(design, table, axes), primary_metric(design, shown)
    found = findings(table, [statistics.SUCCESS, *shown, *at_equal], asked, primary)
    sections = [of_share(table, equal, axes, found)] if equal else []
    for number, metric in enumerate(shown):
        steps.say("metrics", number, len(shown))
        sections.append(section(table, metric, axes, gallery, found, alone, goal=goal))
    said = answer(table, found)
    first = first_of(sections, primary, found)
    shown_runs = list(pictures(table, shown[0] if shown else None, axes, results.folder, there, out, steps))
    design_table, best = design_sheet(design), analysis.of_fleets(table, axes)
    success = list(analysis.of_success(table, axes, found))
    named = (("Source", design.source), ("Published outcome", design.published))
    page = {
        "title": design.design,
        "introduction": [design.description, *(f"{name}: {value}" for name, value in named if value)],
        "design": design_table,
        "answer": said,
        "first": first,
        "not_reached": not_reached(table, goal=goal),
        "outcome": outcome(whole, results.planned, goal=goal),
        "warnings": [
            *cautions(table, axes),
            *identical(results.table, axes),
            *untested(design, table, axes),
            *confounds(design, results.table),
        ],
        "overview": list(overview(table, results.folder, axes, gallery, steps)),
        "highlights": [*success, *best],
        "sections": sections,
        "failures": failed(results.failures, axes, results.folder, there, out),
        "pictures_of": shown_runs,
        "pictures_said": _which(len(shown_runs), table["vector"].n_unique(), shown),
        "list": listed(results.table, shown, axes, results.folder, there, out),
        "annex": annex(design),
        "environment": environment(results, whole, there),
    }
    loader = Environment(
        loader=PackageLoader("covey.experiments"), autoescape=True, undefined=StrictUndefined, finalize=_shown
    )
    write_whole(out / "report.html", loader.get_template("report.html.j2").render(page).encode())
    sheets = [*first.tables, design_table, *success, *best, *(sheet for found in sections for sheet in found.tables)]
    write_whole(out / "tables.tex", "\n".join([PREAMBLE, *_in_latex(sheets)]).encode())
    if gallery.captions:
        said = "\n".join(f"{name}: {caption}" for name, caption in gallery.captions.items())
        write_whole(out / "figures" / "captions.txt", f"{said}\n".encode())
    return Report(out / "report.html", out / "tables.tex", gallery.paths)


def _in_latex(sheets: Sequence[Sheet]) -> Iterator[str]:
    """Yield tables for LaTeX, with new pages in between: it holds 18 floats that have no page yet, and then stops."""
    waiting = 0
    for sheet in sheets:
        text = sheet.to_latex()
        waiting += text.count(r"\begin{table")
        if waiting > _FLOATS:
            yield r"\clearpage"
            waiting = text.count(r"\begin{table")
        yield text


def design_sheet(design: "Design") -> Sheet:
    """Return the design in the form of Table 4 of Yan et al. 2017."""
    rows = tuple((row.element, row.family, row.name, row.value) for row in describe.table(design))
    return Sheet("Design", ("element", "family", "name", "value"), rows, (False,) * 4)


def overview(
    table: "pl.DataFrame", folder: Path, axes: Axes, gallery: "FigureWriter", steps: Steps = Steps()
) -> Iterator[dict[str, Any]]:
    """Yield the figures with several metrics, and what was explored and found over time."""
    if axes.x:
        fleet = [m for m in FLEET_METRICS if m in table.columns and table[m].drop_nulls().len()]
        robot = [m for m in ROBOT_METRICS if m in table.columns and table[m].drop_nulls().len()]
        layout = axes.beside(table)
        for suffix, part, where in panels(table, layout):
            if len(fleet) > 1 and axes.has_sizes(table) and "reached" in part["status"]:
                picture = fleet_metrics(part, axes.x, axes.apart, fleet)
                yield from gallery.add(f"fleet{suffix}", picture, f"The fleet{where}.")
            if robot:
                picture = robot_metrics(part, axes.x, axes.apart, robot)
                yield from gallery.add(f"robots{suffix}", picture, f"What a robot's computer and radio did{where}.")
    layout = axes.over_time(table)
    by = " and ".join(map(label, layout.curves)) or None
    for suffix, part, where in panels(table, layout):
        curves = explored_curves(part, folder, layout.curves, steps)
        if curves:
            yield from gallery.add(f"explored{suffix}", explored_bands(curves, by), f"Explored share over time{where}.")
        found = finds(part, folder, layout.curves)
        if found:
            caption = f"V(t): share of the targets that are found{where}."
            yield from gallery.add(f"found{suffix}", found_curves(shares(found), by), caption)
        for kind in dict.fromkeys(kind for runs in found.values() for run in runs for kind in run.targets):
            caption = f"Targets of the kind {kind} that are not found yet{where}."
            picture = targets_left(left(found, kind), kind, by)
            yield from gallery.add(f"{folder_name(kind)}_left{suffix}", picture, caption)


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


def metric_figures(table: "pl.DataFrame", metric: str, axes: Axes, gallery: "FigureWriter") -> Iterator[dict[str, Any]]:
    """Yield the figures of one metric: one for each setting that the colours and the axis do not show."""
    has_map = axes.x and axes.apart and min(table[axes.x].n_unique(), table[axes.apart].n_unique()) > 2
    for suffix, part, where in panels(table, axes.beside(table)) if axes.x else ():
        assert axes.x is not None
        boxes = box_plots(part, metric, axes.x, axes.apart)
        yield from gallery.add(f"{metric}_box{suffix}", boxes, f"{label(metric)} by {label(axes.x)}{where}.")
        if has_map and axes.apart:
            cells = heat_map(part, metric, axes.x, axes.apart)
            yield from gallery.add(f"{metric}_heat{suffix}", cells, f"Median {label(metric)}{where}.")
    if not is_time_to_goal(metric):
        return
    layout = axes.over_time(table)
    for suffix, part, where in panels(table, layout):
        curves = survival_curves(part, metric, layout.curves)
        by = f", by {' and '.join(map(label, layout.curves))}" if layout.curves else ""
        yield from gallery.add(f"{metric}_survival{suffix}", curves, f"Runs that are not there yet{by}{where}.")


class FigureWriter:
    """Writes figures into a folder, each as PNG, SVG and PDF, and returns them for the page."""

    def __init__(self, folder: Path):
        self.folder, self.paths, self.captions = folder, [], dict[str, str]()

    def add(self, name: str, picture: "Picture | None", caption: str) -> Iterator[dict[str, Any]]:
        """Write a picture and yield it for the page; yield nothing if there is none."""
        if picture is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for kind in ("png", "svg", "pdf"):
            data = picture.to_bytes(kind)
            write_whole(self.folder / f"{name}.{kind}", data)
            self.paths.append(self.folder / f"{name}.{kind}")
            if kind == "svg":
                wide = picture.get_size_inches()[0] > style.COLUMN_IN
                said = f"{caption} {picture.note}".strip()
                self.captions[name] = said
                yield {"data": base64.b64encode(data).decode(), "caption": said, "wide": wide}


def outcome(table: "pl.DataFrame", planned: int, *, goal: bool = True) -> str:
    """Return one sentence with the number of runs and how they ended; without a goal none has run out of time."""
    ends = endings(Counter(table["status"].to_list()), goal=goal)
    vectors = table["vector"].n_unique()
    missing = f" {planned - len(table)} of {planned} planned runs have not ended yet." if len(table) < planned else ""
    return f"{len(table)} runs of {vectors} parameter vectors: {ends}.{missing}"


def cautions(table: "pl.DataFrame", axes: Axes) -> Iterator[str]:
    """Yield the warnings that a reader needs to interpret the numbers."""
    fewest = table.group_by("vector").len()["len"].min()
    if isinstance(fewest, int) and fewest < 6:
        yield (
            f"Some vectors have {fewest} run{'s' if fewest > 1 else ''} only. With fewer than six values ranges are "
            "shown, not intervals, and a paired test of one setting cannot reach p < 0.05."
        )
    if "host_cpu" in table.columns and table["host_cpu"].drop_nulls().n_unique() > 1:
        yield "Runs come from processors with different instruction sets: equal seeds need not give equal bytes."


def confounds(design: "Design", table: "pl.DataFrame") -> Iterator[str]:
    """Yield what makes a difference hard to read: seeds that change little, parameters that go with a controller."""
    if is_seedless(table):
        yield f"{SEEDLESS[0].upper()}{SEEDLESS[1:]}."
    elif said := only_noise(design):
        yield f"{said[0].upper()}{said[1:]}."
    with suppress(CoveyError, OSError):  # a file of the design is no longer there
        yield from (f"The parameter {line}." for line in unequal_parameters(design))


def annex(design: "Design") -> Sheet | None:
    """Return every setting of the first vector; None if a file of the design is no longer there."""
    try:
        rows = tuple(settings(design))
    except (CoveyError, OSError):
        return None
    caption = (
        "Every setting of the first vector, also those at their defaults; the seed is another one in each iteration."
    )
    return Sheet("All settings", ("setting", "value"), rows, (False, False), caption)


def shown_metrics(design: "Design", table: "pl.DataFrame") -> list[str]:
    """Return the metrics with a section: those named in the report, else those of the design, else the usual ones."""
    wanted = tuple(map(column_of, design.report.y)) or design.columns or FLEET_METRICS
    return [name for name in wanted if name in table.columns and table[name].dtype.is_numeric()]


def first_of(sections: Sequence[Section], primary: str | None, found: Sequence[Finding]) -> Section:
    """Return the table and the figure that answer the question, taken out of the section of the primary metric."""
    first = Section("", "")
    for one in (finding for finding in found if finding.is_primary and not finding.reason):
        section = next(section for section in sections if section.title == primary)
        sheets = [sheet for sheet in analysis.tested(one) if sheet in section.tables]
        section.tables[:] = [sheet for sheet in section.tables if sheet not in sheets]
        first.tables, first.figures = sheets, section.figures[:1]
        del section.figures[:1]
    return first


def rank_figure(table: "pl.DataFrame", metric: str, asked: Question, gallery: FigureWriter) -> Iterator[dict[str, Any]]:
    """Yield the diagram of the average ranks of three or more values, if some seeds have a run of each."""
    better, name = metric in LARGER_IS_BETTER, asked.parameter
    try:
        found, test = statistics.average_ranks(
            table, metric, name, asked.over, asked.places, larger_is_better=better, alpha=ALPHA
        )
    except InvalidValueError:
        return
    names = [written(value) for value in found[name]]
    least = test.critical_difference if test.p < ALPHA else None
    picture = rank_diagram(names, found["average_rank"].to_list(), least, test.blocks)
    yield from gallery.add(f"{metric}_ranks", picture, f"{label(metric)}, by {label(name)}.")


def section(
    table: "pl.DataFrame",
    metric: str,
    axes: Axes,
    gallery: FigureWriter,
    found: Sequence[Finding],
    alone: "pl.DataFrame",
    *,
    goal: bool,
) -> Section:
    """Return the section about one metric; ``alone``, ``goal``: see `analysis.of_metric`."""
    one = Section(f"{metric}", _meaning(metric))
    one.figures += metric_figures(table, metric, axes, gallery)
    asked = next((finding.question for finding in found if finding.metric == metric and finding.question.is_main), None)
    one.figures += rank_figure(table, metric, asked, gallery) if asked else ()
    one.tables += analysis.of_metric(table, metric, axes, found, alone, goal=goal)
    one.remarks += analysis.hidden([finding for finding in found if finding.metric == metric])
    return one


def of_share(table: "pl.DataFrame", equal: AtShare, axes: Axes, found: Sequence[Finding]) -> Section:
    """Return the section about what is compared at an equal explored share."""
    one = Section(equal.title, equal.rule, remarks=[*equal.missing])
    for metric in equal.metrics:
        one.tables += analysis.of_metric(table, metric, axes, found)
        one.remarks += analysis.hidden([finding for finding in found if finding.metric == metric])
    return one


def environment(results: Results, table: "pl.DataFrame", there: Set[str]) -> Sheet:
    """Return the software and machines of the runs; ``there``: ids of the runs that have a folder."""
    paths = (results.folder / RUNS / name / "manifest.json" for name in table["run_id"] if name in there)
    manifest = next((json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()), {})
    rows = [(name, version or "–") for name, version in (manifest.get("versions") or results.versions).items()]
    if cpu := manifest.get("cpu"):
        rows.append(("processor", f"{cpu.get('name', '')} ({cpu.get('machine', '')})"))
        rows.append(("system", manifest.get("platform", "")))
    for column, what in (
        ("host_name", "hosts"),
        ("host_load", "load of the host, median"),
        ("host_wall_s", "wall time of all runs [s]"),
    ):
        if column in table.columns:
            values = table[column].drop_nulls()
            shown = (
                ", ".join(sorted(set(map(str, values))))
                if column == "host_name"
                else text(values.median() if column == "host_load" else values.sum())
            )
            rows.append((what, shown))
    return Sheet("Environment", ("what", "version or value"), tuple(rows), (False, False))


def _meaning(metric: str) -> str:
    from covey.results.metrics import metrics

    paragraph = (inspect.getdoc(metrics.get(metric)) or "").split("\n\n")[0]
    return " ".join(paragraph.split())


def _which(shown: int, settings: int, metrics: Sequence[str]) -> str:
    """Return a sentence about the runs that have pictures."""
    by = f" by {metrics[0]}" if metrics else ""
    some = f" {shown} of {settings} settings, evenly from the best to the worst." if shown < settings else ""
    return f"The best, the median and the worst run of each setting{by}.{some}"


def _shown(value: Any) -> Any:
    """Return a value as text for the page, without characters that a browser would interpret or hide."""
    return printable(value) if type(value) is str else value


def _curve(folder: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Return times [s] and the explored share of a run; None if it was not kept."""
    path = folder / "team.parquet"
    if not path.is_file():
        return None
    with reading(path):
        columns = read_columns(path, ("time_s", "explored_share_union"))
        times, share = (columns[name].to_numpy() for name in ("time_s", "explored_share_union"))
    return times, share.astype(np.float64)
