"""Table 2 of Yan et al. 2017 with emulated computers: 8 Pioneers on the maze, 1, 2, 4 or 8 processors each.

Nearest frontier, localization by noise (it stands for gmapping: each scan that is used costs a scan match), scans used
after 1 m or 0.5 rad as gmapping does, maps shared every second, modelled costs; five seeds. The last row has none.
Run: python benchmarks/processors.py [speed] (default 0.15). Each run is a line of docs/results/processors.csv; what
stands there is not run again.
"""

import csv
import math
import statistics
import sys
from pathlib import Path
from typing import Any

from covey.scenario.load import load_scenario

PUBLISHED_S: dict[int | None, int | None] = {1: 489, 2: 349, 4: 350, 8: 384, None: None}
DONE = Path(__file__).parents[1] / "docs" / "results" / "processors.csv"
COLUMNS: tuple[str, ...] = (
    "speed",
    "cpus",
    "seed",
    "exploration_time_s",
    "collisions",
    "cpu_percent",
    "delay_s",
    "lost_share",
)
SEEDS = range(5)
CHANGES: dict[str, Any] = {
    "robots.scout.count": 8,
    "robots.scout.localization": "noise",
    "robots.scout.robot.mapping": {
        "resolution_m": 0.2,
        "max_range_m": 25,
        "min_motion_m": 1.0,
        "min_turn_deg": 28.65,
    },
    "stop.timeout_s": 1000,
}


def run(cpus: int | None, speed: float, seed: int) -> dict[str, float]:
    """Return what came out of one run; ``cpus`` None: no computer."""
    computer = None if cpus is None else {"cpus": cpus, "speed": speed}
    changes = CHANGES | {"seed": seed, "robots.scout.robot.computer": computer}
    found = load_scenario("maze", changes).build().run().metrics
    names = {"cpu_percent": "robot_cpu_percent", "delay_s": "command_delay_s", "lost_share": "scans_dropped_share"}
    values = {c: found[names.get(c, c)] for c in COLUMNS[3:]}
    if values["exploration_time_s"] is None:
        values["exploration_time_s"] = CHANGES["stop.timeout_s"]
    return {c: value for c, value in values.items() if value is not None}


def main() -> None:
    """Do the runs that the file lacks, and print the table of what it holds."""
    speed = float(sys.argv[1]) if len(sys.argv) > 1 else 0.15
    rows: list[dict[str, str]] = []
    if DONE.exists():
        with DONE.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    done = {(row["speed"], row["cpus"], row["seed"]) for row in rows}
    for seed in SEEDS:
        for cpus in PUBLISHED_S:
            key = (f"{speed:g}", str(cpus or "none"), str(seed))
            if key not in done:
                found = run(cpus, speed, seed)
                rows.append(
                    dict(zip(COLUMNS, (*key, *(f"{found.get(c, math.nan):.4f}" for c in COLUMNS[3:])), strict=True))
                )
                with DONE.open("w", newline="", encoding="utf-8") as file:
                    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(rows)
    print("| processors | n | published [s] | ours [s] | range [s] | not done | CPU | delay [s] | lost scans | hits |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for cpus, published in PUBLISHED_S.items():
        mine = [r for r in rows if r["speed"] == f"{speed:g}" and r["cpus"] == str(cpus or "none")]
        if mine:
            print(table_row(cpus, published, mine))


def table_row(cpus: int | None, published: int | None, runs: list[dict[str, str]]) -> str:
    """Return the line of the table for some runs; a run that did not get there counts with its timeout."""
    mean = {c: statistics.mean(float(r[c]) for r in runs) for c in COLUMNS[3:]}
    times = [float(r["exploration_time_s"]) for r in runs]
    load = (
        f"{mean['cpu_percent']:.0f} % | {mean['delay_s']:.3f} | {100 * mean['lost_share']:.0f} %" if cpus else " | | "
    )
    late = sum(t >= CHANGES["stop.timeout_s"] for t in times)
    return (
        f"| {cpus or 'no computer'} | {len(runs)} | {published or ''} | {mean['exploration_time_s']:.0f} "
        f"| {min(times):.0f} to {max(times):.0f} | {late} | {load} | {mean['collisions']:.1f} |"
    )


if __name__ == "__main__":
    main()
