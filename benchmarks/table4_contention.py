"""Why does Table 4 come out otherwise than in Yan et al. 2017? Costs as there, crowding, bandwidth, processors.

There the zigzag took most CPU and network, and the maze had its best fleet at 11 robots. This asks two questions:

* ``terrains``: is it the zigzag that loads the computers most when planning, costmaps and merging are charged as they
  cost there?
* ``fleets``: has the maze a best size once robots crowd, share a channel or share processors, each alone and together?

What is charged in each second to each robot, from the files of the original testbed: a plan
every second (``planner_frequency`` 1.0), a costmap of 160 x 160 m at 0.2 m and one of 6 x 6 m at 0.1 m at 5 Hz, and the
whole map of each other robot merged every 5 s (gmapping's ``map_update_interval``). The times of one cell are those of
`CELL_S`: measured here for compiled code, and not known of that machine.

    nice -n 15 python benchmarks/table4_contention.py terrains|fleets|measure|show

Each run is a line of docs/results/table4_contention.csv; what stands there is not run again.
"""

import csv
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from covey.results.statistics import median
from covey.scenario.load import load_scenario

DONE = Path(__file__).parents[1] / "docs" / "results" / "table4_contention.csv"
KEYS = ("question", "setting", "terrain", "robots", "seed")
VALUES = ("exploration_time_s", "exploration_cost_m", "robot_cpu_percent", "command_delay_s", "kbytes_received_per_s")
SEARCH_S = 0.5
"""Of a million entries of the queue [s]: ten times the compiled search, for navfn and its middleware (assumed)."""
CELL_S = {"costmap": 7e-9, "merge": 2e-8}
"""Of one cell: of a costmap that is written anew (measured, see ``measure``), and of a map that arrives and is merged:
ten times the arithmetic alone, for a message of a byte a cell that is written and read (assumed) [s]."""
COSTMAPS_CELLS_PER_S = 5 * (800**2 + 60**2)
MERGED_EVERY_S = 5.0
TERRAINS, SIZES, SEEDS = ("loop", "cross", "zigzag", "maze"), (1, 2, 4, 7, 11, 16, 22, 30), range(2)
AS_THERE = {
    "robots.scout.controller": {"name": "nearest_frontier", "replan_s": 1.0},
    "execution.costs.search.seconds": SEARCH_S,
}
SPEED = 0.15
"""Of each processor; with it Table 2 of the paper comes out best (docs/results/table4.md)."""


def changes(setting: str, robots: int) -> dict[str, Any]:
    """Return what a setting changes of the scenario ``maze``."""
    parts = {"crowding", "bandwidth", "processors"} if setting == "all three" else {setting}
    computer, found = {"cpus": 2, "speed": 1.0}, {}
    if parts & {"as there", "crowding", "bandwidth", "processors"}:
        found = dict(AS_THERE)
        computer["speed"] = SPEED
    if "crowding" in parts:  # bodies as large as the costmaps there inflate walls and other robots
        found |= {"robots.scout.robot.footprint_m": None, "robots.scout.robot.radius_m": 0.55}
    if "bandwidth" in parts:  # all share 400 kbit/s: a tenth of the published 4 Mb/s, since only changes are sent here
        found["radio"] = {"range_m": 200, "bandwidth_kbit_s": 400.0 / robots}
    if "processors" in parts:  # a cluster on which eight robots have processors of their own, and more share them
        computer["speed"] = SPEED * min(1.0, 8.0 / robots)
    return (
        {"robots.scout.count": robots, "robots.scout.localization": "noise"}
        | found
        | {"robots.scout.robot.computer": computer}
    )


def run(setting: str, terrain: str, robots: int, seed: int) -> dict[str, Any]:
    """Return what came out of one run."""
    scenario = load_scenario("maze", {"world.terrain": terrain, "seed": seed} | changes(setting, robots))
    simulation = scenario.build()
    next_s = 0.0
    while not simulation.done:
        simulation.step()
        if setting != "table 4" and simulation.time >= next_s:
            charge(simulation, robots)
            next_s += 1.0
    metrics = simulation.close().metrics
    return {name: metrics[name] for name in VALUES}


def charge(simulation: Any, robots: int) -> None:
    """Charge what a second of costmaps and merging takes to each robot."""
    known = [np.count_nonzero(belief.occupancy() >= 0) for belief in simulation.localization.belief_of.values()]
    for robot in range(robots):
        merged = (sum(known) - known[robot]) / MERGED_EVERY_S
        seconds = COSTMAPS_CELLS_PER_S * CELL_S["costmap"] + merged * CELL_S["merge"]
        simulation.computing.charge(robot, seconds)


def wanted(question: str) -> list[tuple[str, str, int, int]]:
    """Return setting, terrain, robots and seed of each run of a question."""
    if question == "terrains":
        return [(s, t, n, 0) for s in ("table 4", "as there") for t in TERRAINS for n in (4, 11)]
    settings = ("as there", "crowding", "bandwidth", "processors", "all three")
    return [(s, "maze", n, k) for s in settings for k in SEEDS for n in SIZES]


def measure() -> None:
    """Print what a cell of a costmap and of a merge takes on this machine, compiled (NumPy), median of 20."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 800, 800)).astype(np.float32)
    work = {
        "costmap": lambda: np.where(a > 0.5, 254, np.where(a < -0.5, 0, 255)).astype(np.uint8),
        "merge": lambda: 100.0 - 100.0 / (1.0 + np.exp(np.clip(a + b, -50, 50))),
    }
    for name, one in work.items():
        times = []
        for _ in range(20):
            begun = time.process_time()
            one()
            times.append(time.process_time() - begun)
        print(
            f"{name}: {float(median(np.array(times))) / a.size * 1e9:.1f} ns a cell (charged: {CELL_S[name] * 1e9:g})"
        )


def show(rows: list[dict[str, str]]) -> None:
    """Print medians over the seeds, and the size with the smallest median time, and time plus cost."""
    for question in ("terrains", "fleets"):
        mine = [row for row in rows if row["question"] == question]
        across = "terrain" if question == "terrains" else "robots"
        for setting in dict.fromkeys(row["setting"] for row in mine):
            found = [row for row in mine if row["setting"] == setting]
            lines = sorted({(row["terrain"], int(row["robots"])) for row in found})
            print(f"\n{question}: {setting}  ({across})")
            table = {}
            for terrain, robots in lines:
                some = [r for r in found if r["terrain"] == terrain and int(r["robots"]) == robots]
                values = {name: float(median(np.array([float(r[name] or "inf") for r in some]))) for name in VALUES}
                table[robots] = values
                print(f"  {terrain:7}{robots:3}  n={len(some)} " + "  ".join(f"{n} {v:.4g}" for n, v in values.items()))
            if question == "fleets" and 1 in table:
                both = {
                    n: v["exploration_time_s"] / table[1]["exploration_time_s"]
                    + v["exploration_cost_m"] / table[1]["exploration_cost_m"]
                    for n, v in table.items()
                }
                by_time = min(table, key=lambda n: table[n]["exploration_time_s"])
                print(f"  best by time {by_time}, by time plus cost {min(both, key=lambda n: both[n])}")


def main() -> None:
    """Do the runs that the file lacks, or print what it holds."""
    question = sys.argv[1] if len(sys.argv) > 1 else "show"
    if question == "measure":
        return measure()
    rows: list[dict[str, str]] = []
    if DONE.exists():
        with DONE.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    if question == "show":
        return show(rows)
    done = {tuple(row[key] for key in KEYS) for row in rows}
    for setting, terrain, robots, seed in wanted(question):
        key = (question, setting, terrain, str(robots), str(seed))
        if key in done:
            continue
        begun = time.process_time()
        found = run(setting, terrain, robots, seed)
        shown = {name: "" if value is None else f"{value:.4f}" for name, value in found.items()}
        rows.append(dict(zip(KEYS, key, strict=True)) | shown)
        print(*key, *shown.values(), f"[{time.process_time() - begun:.0f} s]", flush=True)
        with DONE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, (*KEYS, *VALUES), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
