"""The whole Table 4 of Yan et al. 2017: 600 runs, and what docs/results keeps of them.

    covey run table4 --jobs 2                     # 1 to 30 robots on four terrains, five times each
    covey report table4
    python benchmarks/table4.py runs/table4 [--write]

Prints medians by terrain and fleet size, the best fleets, and how long the runs took; ``--write`` puts the rows to
``docs/results/table4.csv`` and two figures to ``docs/images``. It does the same with ``table4_slam``, under that name.
"""

import argparse
from pathlib import Path

import polars as pl
from PIL import Image

from covey.experiments.analysis.analysis import of_fleets
from covey.experiments.analysis.report_tables import Sheet
from covey.experiments.analysis.table import read_results
from covey.experiments.design.axes import Axes
from covey.experiments.design.load import load_design
from covey.results.statistics import summarize

HOME = Path(__file__).resolve().parents[1]
SIZE, TERRAIN = "robots.scout.count", "world.terrain"
METRICS = (
    *("exploration_time_s", "exploration_time_one_map_s", "exploration_cost_m", "exploration_efficiency_m2_per_m"),
    *("map_quality", "collisions", "robot_cpu_percent", "robot_ram_percent"),
    *("kbytes_received_per_s", "kbytes_sent_per_s", "position_error_end_m", "position_error_max_m"),
)
PRINTED = (*METRICS[:5], "position_error_end_m", "position_error_max_m")
SHOWN = (1, 2, 4, 6, 8, 11, 15, 20, 25, 30)


def medians(table: pl.DataFrame, metric: str) -> Sheet:
    """Return the median of a metric by terrain (rows) and fleet size (columns)."""
    found = summarize(table, metric, [TERRAIN, SIZE]).filter(pl.col(SIZE).is_in(SHOWN))
    wide = found.pivot(SIZE, index=TERRAIN, values="median")
    runs = table["iteration"].n_unique()
    return Sheet.of(wide, f"{metric}, median of {runs} runs, by number of robots", "", ["terrain", *wide.columns[1:]])


def markdown(sheet: Sheet) -> str:
    """Return a sheet as a table of Markdown."""
    rows = [sheet.head, ["---:" if right else "---" for right in sheet.numeric], *sheet.rows]
    return f"**{sheet.title}**\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def main() -> None:
    """Print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the results")
    parser.add_argument("--write", action="store_true", help="write docs/results and docs/images")
    options = parser.parse_args()
    table, name = read_results(options.folder), load_design(options.folder / "design.yaml").design
    metrics = [metric for metric in METRICS if metric in table.columns]
    best = of_fleets(table, Axes(SIZE, None, TERRAIN, ()))
    sheets = [*(medians(table, metric) for metric in PRINTED if metric in metrics), *best[:2]]
    ends = dict(table["status"].value_counts().iter_rows())
    cost = (
        f"{len(table)} runs: {ends}. Wall time of all runs {table['host_wall_s'].sum() / 60:.1f} min, processor time "
        f"{table['host_cpu_s'].sum() / 60:.1f} min, {table['simulated_time_s'].sum() / 3600:.1f} h simulated.\n"
    )
    text = "\n".join([cost, *map(markdown, sheets)])
    print(text)
    if options.write:
        columns = ("vector", "iteration", "seed", SIZE, TERRAIN, "status", *metrics)
        rounded = table.select(columns).with_columns(pl.selectors.float().round(4))
        rounded.write_csv(HOME / "docs" / "results" / f"{name}.csv")
        for figure in ("fleet", "robots"):
            source = options.folder / "report" / "figures" / f"{figure}.png"
            small = Image.open(source).convert("RGB").quantize(64)
            small.save(HOME / "docs" / "images" / f"{name}_{figure}.png", optimize=True)


if __name__ == "__main__":
    main()
