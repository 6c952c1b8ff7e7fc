"""`report`: a design, its outcome, tests, failures and runs as one HTML file that works offline."""

import base64
import inspect
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from covey.errors import CoveyError, printable
from covey.experiments.analysis import analysis
from covey.experiments.analysis.at_share import AtShare
from covey.experiments.analysis.findings import Finding, findings
from covey.experiments.analysis.questions import (
    endings,
    identical,
    primary_metric,
    questions,
    untested,
)
from covey.experiments.analysis.report_tables import PREAMBLE, Sheet, text
from covey.experiments.analysis.summary import SEEDLESS, is_seedless
from covey.experiments.design import describe
from covey.experiments.design.axes import Axes
from covey.experiments.design.confounds import only_noise, unequal_parameters
from covey.experiments.design.describe import settings
from covey.experiments.report.answer import answer, not_reached
from covey.experiments.report.figures import Figure, Subject, metric_figures, overview_figures
from covey.experiments.report.progress import Steps
from covey.experiments.report.runs import failed, listed, pictures
from covey.experiments.run import Results
from covey.experiments.workers.folder import REPORT, folders_of
from covey.experiments.workers.row import RUNS
from covey.lazy import pl
from covey.results import statistics
from covey.results.figures import style
from covey.results.folder import within, write_whole

if TYPE_CHECKING:
    from covey.experiments.design.records import Design


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
    about = Subject.of(design, results)
    whole, table, alone, axes = about.whole, about.table, about.alone, about.axes
    shown, equal = about.shown, about.equal
    out = within(results.folder, REPORT) if out is None else out
    out.mkdir(parents=True, exist_ok=True)
    steps = Steps(observer)
    gallery, there = FigureWriter(within(out, "figures")), folders_of(results.folder)
    steps.say("tests", 0, 1)
    asked, primary = questions(design, table, axes), primary_metric(design, shown)
    found = findings(table, [statistics.SUCCESS, *shown, *(equal.metrics if equal else ())], asked, primary)
    main = next((one for one in asked if one.is_main), None)
    sections = [of_share(table, equal, axes, found)] if equal else []
    for number, metric in enumerate(shown):
        steps.say("metrics", number, len(shown))
        figures = [*gallery.add(metric_figures(table, metric, axes, main))]
        sections.append(section(table, metric, axes, figures, found, alone, goal=about.has_goal))
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
        "not_reached": not_reached(table, goal=about.has_goal),
        "outcome": outcome(whole, results.planned, goal=about.has_goal),
        "warnings": [
            *cautions(table, axes),
            *identical(results.table, axes),
            *untested(design, table, axes),
            *confounds(design, results.table),
        ],
        "overview": list(gallery.add(overview_figures(table, results.folder, axes, steps))),
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


class FigureWriter:
    """Writes figures into a folder, each as PNG, SVG and PDF, and returns them for the page."""

    def __init__(self, folder: Path):
        self.folder, self.paths, self.captions = folder, [], dict[str, str]()

    def add(self, figures: Iterable[Figure]) -> Iterator[dict[str, Any]]:
        """Draw and write figures, and yield them for the page."""
        for one in figures:
            self.folder.mkdir(parents=True, exist_ok=True)
            picture = one.draw()
            for kind in ("png", "svg", "pdf"):
                data = picture.to_bytes(kind)
                write_whole(self.folder / f"{one.name}.{kind}", data)
                self.paths.append(self.folder / f"{one.name}.{kind}")
                if kind == "svg":
                    wide = picture.get_size_inches()[0] > style.COLUMN_IN
                    said = f"{one.caption} {picture.note}".strip()
                    self.captions[one.name] = said
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


def section(
    table: "pl.DataFrame",
    metric: str,
    axes: Axes,
    figures: list[dict[str, Any]],
    found: Sequence[Finding],
    alone: "pl.DataFrame",
    *,
    goal: bool,
) -> Section:
    """Return the section about one metric; ``alone``, ``goal``: see `analysis.of_metric`."""
    one = Section(f"{metric}", _meaning(metric), figures)
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
