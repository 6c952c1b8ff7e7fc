"""`report`: a design, its outcome, tests, failures and runs as one HTML file that works offline."""

import base64
import inspect
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from covey.errors import InvalidValueError, printable
from covey.experiments.analysis import analysis
from covey.experiments.analysis.report_tables import PREAMBLE, Sheet, text
from covey.experiments.analysis.summary import SEEDLESS, is_seedless
from covey.experiments.design import describe
from covey.experiments.design.axes import Axes, Layout
from covey.experiments.report.finds import finds, left, shares
from covey.experiments.run import Results
from covey.experiments.workers.folder import FAILURES, REPORT, RUNS, Row
from covey.lazy import pl
from covey.results import statistics
from covey.results.figures import style
from covey.results.figures.study import FLEET_METRICS, ROBOT_METRICS, fleet_metrics, robot_metrics
from covey.results.figures.study_layout import label, written
from covey.results.figures.study_plots import box_plots, heat_map
from covey.results.figures.study_times import explored_bands, found_curves, survival_curves, targets_left
from covey.results.figures.thumbnail import thumbnail
from covey.results.folder import write_whole
from covey.results.metrics import is_time_to_goal
from covey.results.run import Run
from covey.scenario.folders import folder_name

if TYPE_CHECKING:
    from covey.experiments.design.records import Design
    from covey.results.figures.style import Picture

THUMBNAIL = "thumbnail.png"


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


def write_report(design: "Design", results: Results, out: Path | None = None) -> Report:
    """Write ``report.html``, ``tables.tex`` and ``figures/`` of a design.

    Args:
        design: the design.
        results: its results so far.
        out: folder to write into; default: ``report`` in the folder of the results.

    Raises:
        InvalidValueError: no run has ended yet.
        OSError: the report cannot be written.
    """
    table = results.table
    if not len(table):
        raise InvalidValueError(f"no run in {str(results.folder)!r} has ended yet; run the design first: covey run …")
    out = results.folder / REPORT if out is None else out
    out.mkdir(parents=True, exist_ok=True)
    axes, gallery = Axes.of(design, table), Gallery(out / "figures")
    sections = [section(table, metric, axes, gallery) for metric in shown_metrics(design, table)]
    design_table, best = design_sheet(design), analysis.of_fleets(table, axes)
    named = (("Source", design.source), ("Published outcome", design.published))
    page = {
        "title": design.design,
        "introduction": [design.description, *(f"{name}: {value}" for name, value in named if value)],
        "design": design_table,
        "outcome": outcome(table, results.planned),
        "warnings": [
            *cautions(table, axes),
            *([f"{SEEDLESS[0].upper()}{SEEDLESS[1:]}."] if is_seedless(results.rows) else []),
        ],
        "overview": list(overview(table, results.folder, axes, gallery)),
        "highlights": best,
        "sections": sections,
        "failures": list(failures(results.rows, axes, results.folder, out)),
        "runs": list(runs(table, axes, results.folder, out)),
        "environment": environment(results, table),
    }
    loader = Environment(
        loader=PackageLoader("covey.experiments"), autoescape=True, undefined=StrictUndefined, finalize=_shown
    )
    write_whole(out / "report.html", loader.get_template("report.html.j2").render(page).encode())
    sheets = [design_table, *best, *(sheet for found in sections for sheet in found.tables)]
    write_whole(out / "tables.tex", "\n".join([PREAMBLE, *(sheet.to_latex() for sheet in sheets)]).encode())
    return Report(out / "report.html", out / "tables.tex", gallery.paths)


def design_sheet(design: "Design") -> Sheet:
    """Return the design in the form of Table 4 of Yan et al. 2017."""
    rows = tuple((row.element, row.family, row.name, row.value) for row in describe.table(design))
    return Sheet("Design", ("element", "family", "name", "value"), rows, (False,) * 4)


def overview(table: "pl.DataFrame", folder: Path, axes: Axes, gallery: "Gallery") -> Iterator[dict[str, Any]]:
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
        curves = explored_curves(part, folder, layout.curves)
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
    table: "pl.DataFrame", folder: Path, by: tuple[str, ...]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the explored share of all runs by setting, at equal times."""
    found = {}
    for key, part in statistics.groups(table, by):
        curves = [c for run_id in part["run_id"] if (c := _curve(folder / RUNS / run_id)) is not None]
        if curves:
            times = np.linspace(0.0, max(t[-1] for t, _ in curves), 200)
            named = ", ".join(map(written, key)) if key else "all runs"
            found[named] = (times, np.array([np.interp(times, *c) for c in curves]))
    return found


def metric_figures(table: "pl.DataFrame", metric: str, axes: Axes, gallery: "Gallery") -> Iterator[dict[str, Any]]:
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


class Gallery:
    """Writes figures into a folder, each as PNG, SVG and PDF, and returns them for the page."""

    def __init__(self, folder: Path):
        self.folder, self.paths = folder, []

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
                yield {"data": base64.b64encode(data).decode(), "caption": caption, "wide": wide}


def outcome(table: "pl.DataFrame", planned: int) -> str:
    """Return one sentence with the number of runs and how they ended."""
    counts = Counter(table["status"].to_list())
    ends = ", ".join(f"{n} {status.replace('_', ' ')}" for status, n in counts.most_common())
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


def shown_metrics(design: "Design", table: "pl.DataFrame") -> list[str]:
    """Return the metrics with a section: those named in the report, else those of the design, else the usual ones."""
    wanted = design.report.y or design.metrics or FLEET_METRICS
    return [name for name in wanted if name in table.columns and table[name].dtype.is_numeric()]


def section(table: "pl.DataFrame", metric: str, axes: Axes, gallery: Gallery) -> Section:
    """Return the section about one metric."""
    found = Section(f"{metric}", _meaning(metric))
    found.figures += metric_figures(table, metric, axes, gallery)
    found.tables += analysis.all_of(table, metric, axes)
    found.remarks += analysis.hidden(table, metric, axes)
    return found


def failures(rows: Iterable[Row], axes: Axes, folder: Path, out: Path) -> Iterator[dict[str, Any]]:
    """Yield the runs that ended without a result, with the known details."""
    for row in rows:
        if row["status"] in FAILURES:
            yield {
                "status": row["status"].replace("_", " "),
                "label": f"{_label(row['parameters'], axes)}, iteration {row['iteration']}".removeprefix(", "),
                "run_id": row["run_id"],
                "href": _href(folder, row["run_id"], out),
                "reason": row.get("reason", ""),
                "reproduce": row["reproduce"],
                "traceback": row.get("traceback", ""),
            }


def runs(table: "pl.DataFrame", axes: Axes, folder: Path, out: Path) -> Iterator[dict[str, Any]]:
    """Yield the runs, vector by vector, each with its picture."""
    for _, part in statistics.groups(table, "vector"):
        rows = part.sort("iteration").to_dicts()
        pictures = [_picture(folder / RUNS / row["run_id"]) for row in rows]
        yield {
            "label": _label(rows[0], axes) or "all runs",
            "runs": [
                {
                    "href": _href(folder, row["run_id"], out),
                    "iteration": row["iteration"],
                    "text": _ending(row),
                    "picture": base64.b64encode(picture).decode() if picture else "",
                }
                for row, picture in zip(rows, pictures, strict=True)
            ],
        }


def environment(results: Results, table: "pl.DataFrame") -> Sheet:
    """Return the software and machines of the runs."""
    paths = (results.folder / RUNS / name / "manifest.json" for name in table["run_id"])
    manifest = next((json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()), {})
    rows = [(name, version or "–") for name, version in manifest.get("versions", {}).items()]
    cpu = manifest.get("cpu", {})
    rows += [
        ("processor", f"{cpu.get('name', '')} ({cpu.get('machine', '')})"),
        ("system", manifest.get("platform", "")),
    ]
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


def _label(row: Mapping[str, Any], axes: Axes) -> str:
    return ", ".join(f"{label(name)} {text(row[name])}" for name in axes.varying)


def _ending(row: Mapping[str, Any]) -> str:
    time = row.get("exploration_time_s")
    return f"{time:.0f} s" if row["status"] == "reached" and time is not None else row["status"].replace("_", " ")


def _href(folder: Path, run_id: str, out: Path) -> str:
    return Path(os.path.relpath(folder / RUNS / run_id, out)).as_posix() + "/"


def _shown(value: Any) -> Any:
    """Return a value as text for the page, without characters that a browser would interpret or hide."""
    return printable(value) if type(value) is str else value


def _picture(folder: Path) -> bytes | None:
    """Return the small picture of a run from its folder; draw it first if it is missing."""
    path = folder / THUMBNAIL
    if not path.is_file():
        if not (folder / "maps.npz").is_file():
            return None
        drawn = thumbnail(Run(folder))
        if drawn is None:
            return None
        write_whole(path, drawn)
    return path.read_bytes()


def _curve(folder: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Return times [s] and the explored share of a run; None if it was not kept."""
    if not (folder / "team.parquet").is_file():
        return None
    run = Run(folder)
    return run.times, run.series("explored_share_union")
