"""`report`: a design, its outcome, tests, failures and runs as one HTML file that works offline."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.experiments.axes import Axes
from covey.experiments.sheets import Sheet, text

if TYPE_CHECKING:
    import polars as pl

    from covey.experiments.records import Design
    from covey.results.figures.style import Picture

FAILED = ("failed", "hung", "out_of_memory", "died")
ALPHA = 0.05


@dataclass
class Section:
    """One metric: what it means, figures, tables, and remarks."""

    title: str
    meaning: str
    figures: list[dict[str, str]] = field(default_factory=list)
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


def write_report(design: "Design", table: "pl.DataFrame", folder: Path, out: Path | None = None) -> Report:
    """Write ``report.html``, ``tables.tex`` and ``figures/`` of a design.

    Args:
        design: what was run.
        table: its results, one row per run.
        folder: of the results; the runs are in ``runs`` there.
        out: where to write; default ``report`` in the folder.

    Raises:
        InvalidValueError: there is no run yet.
        OSError: it cannot be written.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    if not len(table):
        raise InvalidValueError(f"{str(folder)!r} holds no finished run yet; run the design first: covey run …")
    out = folder / "report" if out is None else out
    out.mkdir(parents=True, exist_ok=True)
    axes, gallery = Axes.of(design, table), Gallery(out / "figures")
    first = _manifest(folder, table)
    page = {
        "title": design.design,
        "introduction": [p for p in (design.description, _named("Source", design.source), _named("Published", design.published)) if p],
        "design": design_sheet(design),
        "outcome": outcome(table),
        "warnings": list(cautions(table, axes)),
        "overview": overview(table, axes, gallery),
        "highlights": highlights(table, axes),
        "sections": [section(table, metric, axes, gallery) for metric in shown_metrics(design, table)],
        "failures": list(failures(table, axes, folder, out)),
        "runs": list(runs(table, axes, folder, out)),
        "environment": environment(first, table),
    }
    loader = Environment(loader=PackageLoader("covey.experiments"), autoescape=True, undefined=StrictUndefined)
    html = loader.get_template("report.html.j2").render(page)
    write_whole(out / "report.html", html.encode())
    sheets = [page["design"], *page["highlights"], *(sheet for s in page["sections"] for sheet in s.tables)]
    write_whole(out / "tables.tex", "\n".join(sheet.to_latex() for sheet in sheets).encode())
    return Report(out / "report.html", out / "tables.tex", gallery.paths)


class Gallery:
    """Writes figures into a folder, each as PNG, SVG and PDF, and returns them for the page."""

    def __init__(self, folder: Path):
        self.folder, self.paths = folder, []

    def add(self, name: str, picture: "Picture | None", caption: str) -> Iterator[dict[str, str]]:
        """Write a picture and yield it as the page shows it; nothing when there is none."""
        if picture is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for kind in ("png", "svg", "pdf"):
            data = picture.to_bytes(kind)
            write_whole(self.folder / f"{name}.{kind}", data)
            self.paths.append(self.folder / f"{name}.{kind}")
            if kind == "svg":
                yield {"data": base64.b64encode(data).decode(), "caption": caption}


def outcome(table: "pl.DataFrame") -> str:
    """Return one sentence: how many runs, and how they ended."""
    counts = Counter(table["status"].to_list())
    ends = ", ".join(f"{n} {status.replace('_', ' ')}" for status, n in counts.most_common())
    vectors = table["vector"].n_unique()
    return f"{len(table)} runs of {vectors} parameter vectors: {ends}."


def cautions(table: "pl.DataFrame", axes: Axes) -> Iterator[str]:
    """Yield what a reader must know before believing a number."""
    fewest = table.group_by("vector").len()["len"].min()
    if isinstance(fewest, int) and fewest < 6:
        yield (
            f"Some vectors have {fewest} run{'s' if fewest > 1 else ''} only. With fewer than six values ranges are "
            "shown, not intervals, and a paired test cannot reach p < 0.05."
        )
    if "host_cpu_features" in table.columns and table["host_cpu_features"].n_unique() > 1:
        yield "Runs come from processors with different instruction sets: equal seeds need not give equal bytes."
    if axes.rest:
        yield f"Figures put all values of {', '.join(map(short, axes.rest))} together; the tables keep them apart."


def shown_metrics(design: "Design", table: "pl.DataFrame") -> list[str]:
    """Return the metrics that get a section: those that the report names, else those of the design, else usual ones."""
    usual = ("exploration_time_s", "exploration_cost_m", "exploration_efficiency_m2_per_m", "map_quality")
    wanted = design.report.y or design.metrics or usual
    return [name for name in wanted if name in table.columns and table[name].dtype.is_numeric()]


def section(table: "pl.DataFrame", metric: str, axes: Axes, gallery: Gallery) -> Section:
    """Return what there is to say about one metric."""
    found = Section(f"{metric}", _meaning(metric))
    summary = statistics.summarize(table, metric, axes.varying or "vector")
    found.figures += metric_figures(table, metric, axes, gallery)
    found.tables.append(_summary_sheet(summary, metric))
    for sheet, remark in tests(table, metric, axes):
        found.tables += [sheet] if sheet else []
        found.remarks += [remark] if remark else []
    return found


def tests(table: "pl.DataFrame", metric: str, axes: Axes) -> Iterator[tuple[Sheet | None, str]]:
    """Yield the comparisons of a metric, each with a remark about what could not be tested."""
    between = axes.line or (axes.x if axes.x and not table[axes.x].dtype.is_numeric() else None)
    if between is None and axes.x and table[axes.x].n_unique() <= MOST_COMPARED:
        between = axes.x
    if between is None or not 2 <= table[between].n_unique() <= MOST_COMPARED:
        return
    kept_apart = [name for name in axes.varying if name != between]
    found = statistics.compare(table, metric, between, kept_apart, alpha=ALPHA)
    if not len(found):
        return
    shown = found.filter(found["shown"])
    names = {"a": "A", "b": "B", "median_a": "median A", "median_b": "median B", "p_holm": "p (Holm)"}
    columns = [*kept_apart, "a", "b", "n_a", "n_b", "median_a", "median_b", "test", "p_holm", "cliffs_delta", "magnitude", "runs_needed"]
    title = f"Tests: {metric} between values of {short(between)}"
    caption = (
        f"Two-sided, one family of {len(found)} tests, level {ALPHA:g}. delta: Cliff's, P(A > B) - P(A < B). Runs needed: "
        "of each kind, to find a difference as large as this with power 0.8."
    )
    hidden = len(found) - len(shown)
    remark = (
        f"{hidden} of {len(found)} comparisons are not shown: even the clearest outcome would not have reached "
        f"p < {ALPHA:g} after Holm's correction with so few runs."
        if hidden
        else ""
    )
    heads = [names.get(c, short(c) if c in kept_apart else c.replace("cliffs_delta", "delta").replace("_", " ")) for c in columns]
    yield (Sheet.of(shown.select(columns), title, caption, heads) if len(shown) else None), remark


def highlights(table: "pl.DataFrame", axes: Axes) -> list[Sheet]:
    """Return the tables about fleet size, of designs that vary it."""
    time = "exploration_time_s"
    if axes.x is None or not axes.x.endswith(".count") or time not in table.columns:
        return []
    apart = [name for name in axes.varying if name != axes.x]
    cost = "exploration_cost_m" if "exploration_cost_m" in table.columns else None
    best = statistics.best_fleets(table, time, axes.x, apart)
    caption = "Size with the smallest median time; where half of the runs of no size reached the goal, none."
    sheets = [Sheet.of(best, "Best fleet by time", caption, [*map(short, apart), "robots", "median time [s]", "low", "high", "interval"])]
    if cost and 1 in table[axes.x].to_list():
        try:
            both = statistics.best_fleets(table, time, axes.x, apart, cost=cost, weight=1.0)
        except InvalidValueError:  # one robot does not reach the goal in half of its runs somewhere
            return sheets
        caption = "Size with the smallest T(n)/T(1) + cost(n)/cost(1), medians; 2 is one robot."
        sheets.append(Sheet.of(both, "Best fleet by time and cost", caption, [*map(short, apart), "robots", "sum", "low", "high", "interval"]))
    return sheets


def failures(table: "pl.DataFrame", axes: Axes, folder: Path, out: Path) -> Iterator[dict[str, str]]:
    """Yield the runs that ended without a result, with what is known about each."""
    for row in table.filter(table["status"].is_in(FAILED)).iter_rows(named=True):
        told = read_row(folder / "runs" / row["run_id"]) or {}
        yield {
            "status": row["status"].replace("_", " "),
            "label": _label(row, axes) + f", iteration {row['iteration']}",
            "run_id": row["run_id"],
            "href": _href(folder, row, out),
            "reason": told.get("reason", ""),
            "reproduce": told.get("reproduce", ""),
            "traceback": told.get("traceback", ""),
        }


def runs(table: "pl.DataFrame", axes: Axes, folder: Path, out: Path) -> Iterator[dict[str, Any]]:
    """Yield the runs, vector by vector, each with its picture."""
    for _, part in statistics.groups(table, "vector"):
        rows = part.sort("iteration").to_dicts()
        pictures = [folder / "runs" / row["run_id"] / THUMBNAIL for row in rows]
        yield {
            "label": _label(rows[0], axes) or "all runs",
            "runs": [
                {
                    "href": _href(folder, row, out),
                    "iteration": row["iteration"],
                    "text": _ending(row),
                    "picture": base64.b64encode(path.read_bytes()).decode() if path.is_file() else "",
                }
                for row, path in zip(rows, pictures, strict=True)
            ],
        }


def environment(manifest: Mapping[str, Any], table: "pl.DataFrame") -> Sheet:
    """Return what the runs were made with."""
    rows = [(name, version or "–") for name, version in manifest.get("versions", {}).items()]
    cpu = manifest.get("cpu", {})
    rows += [("processor", f"{cpu.get('name', '')} ({cpu.get('machine', '')})"), ("system", manifest.get("platform", ""))]
    for column, label in (("host_name", "hosts"), ("host_load", "load of the host, median"), ("host_wall_s", "wall time of all runs [s]")):
        if column in table.columns:
            values = table[column].drop_nulls()
            shown = ", ".join(sorted(set(map(str, values)))) if column == "host_name" else text(values.median() if column == "host_load" else values.sum())
            rows.append((label, shown))
    return Sheet("Environment", ("what", "version or value"), tuple(rows), (False, False))


def _summary_sheet(summary: "pl.DataFrame", metric: str) -> Sheet:
    until = summary["until_s"].drop_nulls().unique().to_list()
    mean = f"restricted mean to {text(until[0])} s" if len(until) == 1 else "mean"
    kinds = " / ".join(summary["interval"].drop_nulls().unique(maintain_order=True).to_list())
    shown = summary.drop("metric", "until_s", "interval")
    heads = {"median": "median", "low": "low", "high": "high", "mean": mean}
    caption = f"low, high: {kinds} of the median. A dash: beyond the timeout, or no value." if kinds else ""
    return Sheet.of(shown, metric, caption, [heads.get(c, short(c)) for c in shown.columns])


def _meaning(metric: str) -> str:
    from covey.results.metrics import metrics

    paragraph = (inspect.getdoc(metrics.get(metric)) or "").split("\n\n")[0]
    return " ".join(paragraph.split())


def _label(row: Mapping[str, Any], axes: Axes) -> str:
    return ", ".join(f"{short(name)} {text(row[name])}" for name in axes.varying)


def _ending(row: Mapping[str, Any]) -> str:
    time = row.get("exploration_time_s")
    return f"{time:.0f} s" if row["status"] == "reached" and time is not None else row["status"].replace("_", " ")


def _href(folder: Path, row: Mapping[str, Any], out: Path) -> str:
    return Path(os.path.relpath(folder / "runs" / row["run_id"], out)).as_posix()


def _named(label: str, value: str) -> str:
    return f"{label}: {value}" if value else ""


def _manifest(folder: Path, table: "pl.DataFrame") -> dict[str, Any]:
    """Return the manifest of the first run that has one."""
    paths = (folder / "runs" / name / "manifest.json" for name in table["run_id"])
    return next((json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()), {})
