"""The tables of docs/results/rescue.md, from the folders of finished or partial studies.

    covey run rescue_2021                          # 600 runs; also rescue_2025 and rescue_offices
    python benchmarks/rescue_tables.py runs/rescue_2021 runs/rescue_2025 runs/rescue_offices [--write]

Prints, for each study, how many runs did everything, and the times. ``--write`` puts the rows to
``docs/results/NAME.csv``, the tables into ``docs/results/rescue.md`` and V(t) to ``docs/images``; the tables of other
studies there stay. The rows hold more: the times of each kind of target, and the floors.
`rescue_bound.py` has lower bounds of the times.

Shares have the 95 % interval of Wilson, times and scores that of the median between order statistics, in which a run
that was not done counts as longer than the timeout (a dash). With fewer than six runs there is their range.
"""

import argparse
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from covey.experiments.analysis.table import read_results
from covey.experiments.design.axes import parameters
from covey.experiments.design.load import load_design
from covey.experiments.report.finds import finds, shares
from covey.results.figures import Picture, found_curves
from covey.results.metrics.rescue import COURSE_KINDS
from covey.results.statistics import groups, mean_interval, median_interval, sample, wilson

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
BEGIN = "<!-- tables -->\n"
WORLD = "world.named"
LIMIT_S = 600.0
SHORT = {"world.named": "floor", "robots.searcher.controller": "strategy", "robots.searcher.localization": "poses"}
TIMES = ("first_target_s", "all_targets_s", "meeting_s", "rescue_done_s", "t99_s")
KINDS = tuple(f"{kind}s_s" for kind in COURSE_KINDS)
WRITTEN = (
    *("rescue_score", "targets_found", *TIMES, *KINDS, "found_auc", "false_reports", "refused_reports"),
    *("report_precision", "searched", "explored_share", "exploration_cost_m", "simulated_time_s"),
)


def share(marks: Iterable[bool]) -> str:
    """Return a share of runs with Wilson's interval [%]."""
    marks = list(marks)
    low, high = wilson(sum(marks), len(marks))
    return f"{sum(marks)}/{len(marks)} ({100 * low:.0f}–{100 * high:.0f} %)"


def median(part: pl.DataFrame, metric: str, digits: int = 0) -> str:
    """Return the median of a metric with its interval; a dash beyond the timeout."""
    found = sample(part, metric)
    if not len(found.values):
        return "–"
    interval, middle = median_interval(found.ranked), found.quantile(0.5)
    ends = [f"{end:.{digits}f}" if np.isfinite(end) else "–" for end in (interval.low, interval.high)]
    return f"{'–' if middle is None else f'{middle:.{digits}f}'} ({' to '.join(ends)})"


def false_in_20(part: pl.DataFrame) -> str:
    """Return the false reports in 20 runs, with the interval of the mean."""
    values = part["false_reports"].cast(float).to_numpy()
    interval = mean_interval(values)
    return f"{20 * values.mean():.1f} ({20 * interval.low:.1f} to {20 * interval.high:.1f})"


def in_time(part: pl.DataFrame, metric: str) -> list[bool]:
    """Return which runs reached a goal within the time limit."""
    return [value is not None and value <= LIMIT_S for value in part[metric]]


def outcome(table: pl.DataFrame, by: list[str]) -> str:
    """Return how many runs did everything, the false reports, and the score."""
    goals = ("all found", "met", "99 % explored", "everything")
    head = [*by, "runs", *goals, "targets", "false in 20 runs", "score"]
    rows = []
    for key, part in groups(table, by):
        all_of = [in_time(part, metric) for metric in ("all_targets_s", "meeting_s", "t99_s")]
        everything = [all(marks) for marks in zip(*all_of, strict=True)]
        shares = [share(marks) for marks in (*all_of, everything)]
        found = f"{part['targets_found'].mean():.2f}"
        rows.append([*key, len(part), *shares, found, false_in_20(part), median(part, "rescue_score")])
    return markdown(head, rows, len(by))


def times(table: pl.DataFrame, by: list[str], metrics: Iterable[str]) -> str:
    """Return the medians of times."""
    head = [*by, *(metric.removesuffix("_s").replace("_", " ") for metric in metrics)]
    rows = [[*key, *(median(part, metric) for metric in metrics)] for key, part in groups(table, by)]
    return markdown(head, rows, len(by))


def markdown(head: list[str], rows: list[list[object]], texts: int) -> str:
    """Return a table of Markdown; the first ``texts`` columns are flush left."""
    names = [SHORT.get(name, name) for name in head]
    lines = [names, ["---" if k < texts else "---:" for k in range(len(head))], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def study(folder: Path) -> tuple[str, str, pl.DataFrame, Picture]:
    """Return the name of a study, its tables, its rows, and V(t)."""
    name, table = load_design(folder / "design.yaml").design, read_results(folder)
    table = table.filter(pl.col("rescue_score").is_not_null())
    varies = [one for one in parameters(table) if table[one].n_unique() > 1 and one != WORLD]
    ends = ", ".join(f"{n} {status}" for status, n in table["status"].value_counts().sort("status").iter_rows())
    curves = found_curves(shares(finds(table, folder, varies)))
    parts = [
        f"## {name}\n\n![Share of the targets found over time](../images/{name}_found.png)\n",
        f"{len(table)} runs: {ends}. Processor time {table['host_cpu_s'].sum() / 3600:.1f} h for "
        f"{table['simulated_time_s'].sum() / 3600:.1f} h simulated.\n",
        f"**What was done within {LIMIT_S:.0f} s**\n\n{outcome(table, varies)}",
        f"**Median times [s]**\n\n{times(table, varies, TIMES)}",
    ]
    metrics = [metric for metric in WRITTEN if metric in table.columns]
    rows = table.select("vector", "iteration", "seed", *parameters(table), "status", *metrics)
    return name, "\n".join(parts), rows.with_columns(pl.selectors.float().round(4)), curves


def merged(tables: str, new: dict[str, str]) -> str:
    """Return the sections of all studies, with the new ones in the place of the old ones or behind them."""
    sections = {text.partition("\n")[0]: f"## {text.rstrip()}\n" for text in tables.split("\n## ")[1:]}
    return "\n".join({**sections, **new}.values())


def main() -> None:
    """Print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="of the results of each study")
    parser.add_argument("--write", action="store_true", help="write docs/results")
    options = parser.parse_args()
    found = [study(folder) for folder in options.folders]
    text = "\n".join(one[1] for one in found)
    print(text)
    if options.write:
        for name, _, rows, picture in found:
            rows.write_csv(RESULTS / f"{name}.csv")
            image = Image.open(io.BytesIO(picture.to_bytes("png"))).convert("RGB").quantize(64)
            image.save(RESULTS.parent / "images" / f"{name}_found.png", optimize=True)
        page = RESULTS / "rescue.md"
        before, _, tables = page.read_text().partition(BEGIN)
        page.write_text(f"{before}{BEGIN}\n{merged(tables, {name: text for name, text, *_ in found})}")


if __name__ == "__main__":
    main()
