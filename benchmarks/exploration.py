"""Do teams of 1, 6 and 12 robots explore every world to 99 %, without a robot left stuck?

The four terrains of Yan et al. (Robotics 6(3):21, 2017), and the depot, the map of a real building (without its file:
the office that Covey generates), each with Pioneers and nearest frontier, for 10 seeds. The robots start together,
and each seed gives them another place, and other noise (with ``--localization noise`` of the pose, too). The run
folders are thrown away; one row per run goes to ``rows.jsonl`` in the ``--out`` folder, and a run that has its row
there is not run again.

    python benchmarks/exploration.py [--quick] [--jobs 2] [--worlds maze] [--robots 6] [--localization noise] [--write]

``--write`` puts the table to ``docs/results/exploration.md`` and all rows to ``docs/results/exploration.csv``.
"""

import argparse
import csv
import json
import multiprocessing
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

HOME = Path(__file__).resolve().parents[1]
WORLDS = ("loop", "cross", "zigzag", "maze", "depot")
ROBOTS = (1, 6, 12)
SHARE = 0.99
ONE_MAP_S = 60.0
"""How long after the union a single map may take to hold the share, before the run is ended [s]."""
GOAL = ("going", "following", "driving")
STUCK_M, STUCK_S = 0.1, 60.0
KEY = ("world", "robots", "localization", "seed")
Row = dict[str, Any]


def depot() -> Path | None:
    """Return the file of the depot's map, if it lies in a folder ``shared`` beside this repository."""
    files = (folder / "shared" / "data" / "maps" / "depot.yaml" for folder in HOME.parents)
    return next((file for file in files if file.is_file()), None)


def scenario(world: str, robots: int, localization: str, seed: int) -> Any:
    """Return the scenario of one run; it ends by itself when nobody goes on, or at its timeout."""
    from covey.scenario.load import load_scenario

    overrides: dict[str, Any] = {}
    name = world
    if world in ("depot", "office"):
        name = "office"
        overrides["robots.scout.robot"] = {"base": "pioneer3dx", "mapping": {"resolution_m": 0.1}}
        if world == "depot":
            overrides |= {"world": {"file": str(depot())}, "name": "depot"}
    overrides |= {
        "robots.scout.count": robots,
        "robots.scout.localization": localization,
        "robots.scout.start": {"together": {"around": "random"}},
        "stop.explored": None,
        "seed": seed,
    }
    return load_scenario(name, overrides)


class Observer:
    """Follows a run: when the union and when one map held the share, and who got stuck.

    A robot is stuck when it holds a goal and moves less than 0.1 m in 60 s.
    """

    def __init__(self, sim: Any):
        self.sim = sim
        self.union_s = self.one_map_s = self.cost_m = self.area_m2 = None
        self.area_of_all = float(sim.scoring.exploration.mask.sum()) * sim.world.grid.resolution**2
        self.anchor = sim.state.pose[:, :2].copy()
        self.since = np.zeros(len(sim.names))
        self.ever = np.zeros(len(sim.names), bool)
        self.now = np.zeros(len(sim.names), bool)

    def __call__(self, frame: Any) -> None:
        if self.union_s is None and frame.mission["explored_share_union"] >= SHARE:
            self.union_s = frame.time_s
            self.cost_m = float(frame.distance_m.sum())
            self.area_m2 = float(frame.mission["explored_share_union"]) * self.area_of_all
        if self.one_map_s is None and np.fmax.reduce(frame.mission["known_share"]) >= SHARE:
            self.one_map_s = frame.time_s
        status = [answer.status for _, answer in sorted(self.sim.deciding.answered.items())]
        xy = frame.pose[:, :2]
        moved = np.hypot(*(xy - self.anchor).T) >= STUCK_M
        fresh = moved | ~np.isin(status, GOAL)
        self.anchor[fresh], self.since[fresh] = xy[fresh], frame.time_s
        self.now = frame.time_s - self.since >= STUCK_S
        for i in np.flatnonzero(self.now & ~self.ever):
            at = f"({xy[i, 0]:.2f}, {xy[i, 1]:.2f})"
            print(f"  stuck: {self.sim.names[i]} at {at}, {frame.time_s:.0f} s", flush=True)
        self.ever |= self.now

    @property
    def finished(self) -> bool:
        """Both times are known, or one map takes too long."""
        late = self.union_s is not None and self.sim.time - self.union_s >= ONE_MAP_S
        return self.union_s is not None and (self.one_map_s is not None or late)


def run(key: tuple[str, int, str, int]) -> Row:
    """Return the row of one run."""
    from covey.scenario.build import build

    started = perf_counter()
    sim = build(scenario(*key))
    observer = Observer(sim)
    sim.observers.append(observer)
    while not (sim.done or observer.finished):
        sim.step()
    done = sim.close()
    cost = observer.cost_m
    return dict(zip(KEY, key, strict=True)) | {
        "status": "reached" if observer.union_s else "exhausted" if sim.deciding.all_done else done.status,
        "time_union_s": observer.union_s,
        "time_one_map_s": observer.one_map_s,
        "cost_m": cost and round(cost, 2),
        "efficiency_m2_per_m": cost and round(observer.area_m2 / cost, 4),
        "map_quality": round(done.metrics["map_quality"], 5),
        "explored_share": round(done.metrics["explored_share"], 5),
        "collisions_robot": done.metrics["collisions"],
        "collisions_wall": done.metrics["collisions_wall"],
        "stuck": int(observer.ever.sum()),
        "stuck_at_end": int(observer.now.sum()),
        "simulated_s": round(sim.time, 1),
        "wall_s": round(perf_counter() - started, 1),
    }


def read(file: Path) -> list[Row]:
    """Return the rows that were written so far."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


def study(keys: Iterable[tuple[str, int, str, int]], file: Path, jobs: int) -> None:
    """Run what has no row in ``file`` yet, and append the rows as they come."""
    there = {tuple(row[k] for k in KEY) for row in read(file)}
    missing = [key for key in keys if key not in there]
    file.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(run, key) for key in missing]):
            row = future.result()
            with file.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            print(" ".join(f"{k}={v}" for k, v in row.items()), flush=True)


def spread(values: list[Any], form: str) -> str:
    """Return the median and the range of some numbers, as text; a missing one counts as infinite."""
    numbers = [np.inf if v is None else v for v in values]
    low, middle, high = min(numbers), median(numbers), max(numbers)
    return f"{middle:{form}} [{low:{form}}–{high:{form}}]" if high > low else f"{middle:{form}}"


def table(rows: list[Row]) -> str:
    """Return the rows as a table in Markdown, one line for each world, number of robots and localization."""
    columns = {
        "time, union [s]": ("time_union_s", ".0f"),
        "time, one map [s]": ("time_one_map_s", ".0f"),
        "cost [m]": ("cost_m", ".0f"),
        "efficiency [m²/m]": ("efficiency_m2_per_m", ".2f"),
        "map quality": ("map_quality", ".3f"),
    }
    sums = {"contacts robot": "collisions_robot", "contacts wall": "collisions_wall", "stuck": "stuck"}
    head = ["world", "robots", "pose", "reached", *columns, *sums]
    lines = [head, ["---"] * len(head)]
    for world in [*WORLDS, "office"]:
        for key in sorted({(r["robots"], r["localization"]) for r in rows if r["world"] == world}):
            some = [r for r in rows if (r["world"], r["robots"], r["localization"]) == (world, *key)]
            reached = sum(r["status"] == "reached" for r in some)
            line = [world, str(key[0]), key[1], f"{reached}/{len(some)}"]
            line += [spread([r[field] for r in some], form) for field, form in columns.values()]
            line += [str(sum(r[field] for r in some)) for field in sums.values()]
            lines.append(line)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


INTRODUCTION = """# Exploration of five worlds

`python benchmarks/exploration.py` writes this page, and `exploration.csv` holds every run. Pioneers with a SICK
LMS500 (180 rays, 190°, 26 m) explore until 99 % of what can be explored has been seen. They use nearest
frontier and share maps. They start side by side, at another place for each seed.

The table gives the median and the range over the seeds, as median [smallest–largest]. The time of one map is
that of the first robot whose own map holds 99 %. Cost and efficiency are those at the time of the union.
Contacts and stuck robots are sums over all runs. A stuck robot has a goal and moves less than 0.1 m in 60 s.

"""


def write(rows: list[Row], folder: Path) -> None:
    """Write the table and the rows into a folder."""
    rows = sorted(rows, key=lambda r: (WORLDS.index(r["world"]) if r["world"] in WORLDS else 9, *map(str, r.values())))
    (folder / "exploration.md").write_text(INTRODUCTION + table(rows) + "\n")
    with (folder / "exploration.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", nargs="+", choices=[*WORLDS, "office"])
    parser.add_argument("--robots", nargs="+", type=int, default=list(ROBOTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--quick", action="store_true", help="2 seeds")
    parser.add_argument("--localization", choices=("truth", "noise", "odometry"), default="truth")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HOME / "runs" / "exploration")
    parser.add_argument("--write", action="store_true", help="write docs/results")
    options = parser.parse_args()
    worlds = options.worlds or [w if w != "depot" or depot() else "office" for w in WORLDS]
    seeds = range(2 if options.quick else options.seeds)
    keys = [(w, n, options.localization, seed) for seed in seeds for n in options.robots for w in worlds]
    file = options.out / "rows.jsonl"
    study(keys, file, options.jobs)
    rows = read(file)
    print(table(rows))
    if options.write:
        write(rows, HOME / "docs" / "results")


if __name__ == "__main__":
    main()
