"""The runs of a study in its report: some pictures of each setting, and a list of all runs that folds and filters."""

import base64
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import printable
from covey.experiments.analysis.report_tables import text
from covey.experiments.design.axes import Axes
from covey.experiments.report.progress import Steps
from covey.experiments.workers.row import FAILURES, RUNS
from covey.lazy import pl
from covey.results import statistics
from covey.results.figures.thumbnail import thumbnail
from covey.results.folder import write_whole
from covey.results.labels import label
from covey.results.metrics.registry import LARGER_IS_BETTER
from covey.results.run import Run

THUMBNAIL = "thumbnail.png"
MOST_SETTINGS = 100
"""Largest number of settings with pictures."""
_MOST_METRICS = 4  # columns of the list of all runs
_CALLED = {1: ("",), 2: ("best", "worst"), 3: ("best", "median", "worst")}


def pictures(
    table: "pl.DataFrame", metric: str | None, axes: Axes, folder: Path, there: set[str], out: Path, steps: Steps
) -> Iterator[dict[str, Any]]:
    """Yield some settings with pictures of their best, median and worst run by a metric.

    Args:
        table: the runs.
        metric: the metric; None: the first, middle and last run are taken.
        axes: the roles of the parameters.
        folder: folder of the design.
        there: ids of the runs that have a folder.
        out: folder of the report.
        steps: told of each setting.
    """
    kept = table.filter(pl.col("run_id").is_in(list(there)) & pl.col("status").is_in(FAILURES).not_())
    groups = [part for _, part in statistics.groups(kept, "vector")]
    for number, part in enumerate(spread(groups, metric)):
        steps.say("pictures of runs", number, min(len(groups), MOST_SETTINGS))
        shown = []
        for called, row in chosen(part, metric):
            place = folder / RUNS / row["run_id"]
            if (picture := _picture(place)) is not None:
                said = f"{called} #{row['iteration']} {ending(row)}".strip()
                shown.append({"href": href(place, out), "text": said, "picture": base64.b64encode(picture).decode()})
        if shown:
            yield {"label": label_of(part.row(0, named=True), axes) or "all runs", "runs": shown}


def chosen(part: "pl.DataFrame", metric: str | None) -> list[tuple[str, dict[str, Any]]]:
    """Return the best, the median and the worst of some runs, each with this word; all of them if they are few.

    A run without a value of the metric counts as worse than all others. Among equal runs the first iteration comes
    first.
    """
    ordered = _ordered(part, metric)
    n = len(ordered)
    places = sorted({0, (n - 1) // 2, n - 1} if n > 2 else range(n))
    return [(word, ordered.row(i, named=True)) for word, i in zip(_CALLED[len(places)], places, strict=True)]


def spread(groups: "Sequence[pl.DataFrame]", metric: str | None) -> "list[pl.DataFrame]":
    """Return all settings, or if they are too many some of them, evenly from the one with the best median on."""
    if len(groups) <= MOST_SETTINGS:
        return list(groups)
    middle = pl.concat(
        [_ordered(g, metric)[(len(g) - 1) // 2].with_columns(group=pl.lit(i)) for i, g in enumerate(groups)]
    )
    places = np.unique(np.linspace(0, len(groups) - 1, MOST_SETTINGS).round().astype(int))
    return [groups[i] for i in sorted(_ordered(middle, metric)["group"][places.tolist()].to_list())]


def _ordered(part: "pl.DataFrame", metric: str | None) -> "pl.DataFrame":
    """Return runs from the best to the worst."""
    if metric is None:
        return part
    return part.sort(metric, descending=metric in LARGER_IS_BETTER, nulls_last=True, maintain_order=True)


def listed(
    table: "pl.DataFrame", shown: Sequence[str], axes: Axes, folder: Path, there: set[str], out: Path
) -> dict[str, Any]:
    """Return the list of all runs as compact data for the page.

    Keys: ``runs``, the path of their folders; ``settings``, the description of each; ``statuses``; ``metrics``, names;
    ``rows``: for each run the numbers of its setting, iteration and status, its id, whether it has a folder, and its
    values.
    """
    names = [printable(name) for name in shown[:_MOST_METRICS]]
    firsts = table.unique("vector", keep="first", maintain_order=True)
    settings = {row["vector"]: i for i, row in enumerate(firsts.iter_rows(named=True))}
    statuses = table["status"].unique(maintain_order=True).to_list()
    which = {status: i for i, status in enumerate(statuses)}
    columns = [[_number(value) for value in table[name].to_list()] for name in shown[:_MOST_METRICS]]
    fixed = (table[name].to_list() for name in ("vector", "iteration", "status", "run_id"))
    rows = [
        [settings[vector], iteration, which[status], run_id, int(run_id in there), *values]
        for vector, iteration, status, run_id, *values in zip(*fixed, *columns, strict=True)
    ]
    return {
        "runs": href(folder / RUNS, out),
        "settings": [printable(label_of(row, axes)) or "all runs" for row in firsts.iter_rows(named=True)],
        "statuses": [status.replace("_", " ") for status in statuses],
        "metrics": names,
        "rows": rows,
    }


def failed(
    rows: Iterable[Mapping[str, Any]], axes: Axes, folder: Path, there: set[str], out: Path
) -> list[dict[str, Any]]:
    """Return the runs without a result, those with equal reasons together, the most frequent reason first."""
    by_reason: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        by_reason.setdefault((row["status"], row.get("reason", "")), []).append(row)
    return [
        {
            "status": status.replace("_", " "),
            "reason": reason,
            "count": len(alike),
            "traceback": alike[0].get("traceback", ""),
            "runs": [
                {
                    "label": f"{label_of(row['parameters'], axes)}, iteration {row['iteration']}".removeprefix(", "),
                    "run_id": row["run_id"],
                    "href": href(folder / RUNS / row["run_id"], out) if row["run_id"] in there else "",
                    "reproduce": row["reproduce"],
                }
                for row in alike[:_MOST_ALIKE]
            ],
        }
        for (status, reason), alike in sorted(by_reason.items(), key=lambda item: -len(item[1]))
    ]


_MOST_ALIKE = 5
"""Runs with the same reason that are listed; the others are counted."""


def ending(row: Mapping[str, Any]) -> str:
    """Return how a run ended, in a few letters."""
    time = row.get("exploration_time_s")
    return f"{time:.0f} s" if row["status"] == "reached" and time is not None else row["status"].replace("_", " ")


def label_of(row: Mapping[str, Any], axes: Axes) -> str:
    """Return the values that the parameters have in a run."""
    return ", ".join(f"{label(name)} {text(row[name])}" for name in axes.varying)


def href(place: Path, out: Path) -> str:
    """Return the address of a folder in the page."""
    return Path(os.path.relpath(place, out)).as_posix() + "/"


def _number(value: Any) -> Any:
    """Return a value with few digits, as a number if it is one."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


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
