"""Table 2 of Yan et al. 2017 with emulated computers: 8 Pioneers on the maze, 1, 2, 4 or 8 processors each.

Nearest frontier, localization by noise (it stands for gmapping: each scan that is used costs a scan match), scans used
after 1 m or 0.5 rad as gmapping does, maps shared every second, modelled costs; five seeds. The last row has none.
Run: python benchmarks/processors.py [speed] (default 0.25); each run prints a line, then comes the table.
"""

import statistics
import sys
import time
from typing import Any

import polars as pl

from covey.scenario.load import load_scenario

PUBLISHED_S: dict[int | None, int] = {1: 489, 2: 349, 4: 350, 8: 384}
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
    result = load_scenario("maze", changes).build().run()
    found = {k: result.metrics[k] for k in ("exploration_time_s", "collisions", "map_quality")}
    if cpus is not None:
        rows = pl.read_parquet(result.folder / "computers.parquet")
        found |= {"cpu_percent": rows["cpu_percent"].mean(), "longest_s": rows["longest_delay_s"].max()}
        found["delay_s"] = (rows["delay_s"].fill_null(0.0) * rows["decisions"]).sum() / rows["decisions"].sum()
        found["dropped"] = rows["scans_dropped"].sum() / (rows["scans_dropped"].sum() + rows["scans"].sum())
    return found


def main() -> None:
    """Print one line for each run, and the table."""
    speed = float(sys.argv[1]) if len(sys.argv) > 1 else 0.25
    rows: dict[int | None, list[dict[str, float]]] = {1: [], 2: [], 4: [], 8: [], None: []}
    for seed in SEEDS:
        for cpus, found in rows.items():
            begun = time.process_time()
            found.append(run(cpus, speed, seed))
            spent = time.process_time() - begun
            print(f"seed {seed}, processors {cpus}: {found[-1]}, {spent:.0f} CPU-s", flush=True)
    print(f"\nspeed {speed}; n = {len(SEEDS)}; times are means, with the range of the runs\n")
    print("| processors | published [s] | ours [s] | range [s] | CPU | mean delay [s] | longest | lost scans | hits |")
    print("|---|---|---|---|---|---|---|---|---|")
    for cpus, found in rows.items():
        times = [f["exploration_time_s"] or CHANGES["stop.timeout_s"] for f in found]
        mean = {k: statistics.mean(f[k] for f in found) for k in found[0] if k != "exploration_time_s"}
        line = f"| {cpus or 'no computer'} | {PUBLISHED_S.get(cpus, '')} | {statistics.mean(times):.0f} "
        line += f"| {min(times):.0f} to {max(times):.0f} |"
        if cpus is not None:
            line += f" {mean['cpu_percent']:.0f} % | {mean['delay_s']:.3f} | {mean['longest_s']:.2f} "
            line += f"| {100 * mean['dropped']:.0f} % "
        else:
            line += " | | | "
        print(f"{line}| {mean['collisions']:.1f} |")


if __name__ == "__main__":
    main()
