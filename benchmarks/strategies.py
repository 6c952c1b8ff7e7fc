"""The strategies of the shelf against each other: time, cost, overlap and bytes, on caves, buildings and the maze.

All with the robot of MAES (up to 3 m/s, a scanner all around, here of range 10 m), maps of 0.25 m, shared once a second
by whoever hears each other where the strategy shares maps. The main study runs eight strategies of all families on
``maze``, three caves and three buildings of 50 x 50 m, with teams of 1 to 16, under four radios (those that say nothing
and hear nothing: under none). The others run on one cave and one building with 2 and 8 robots, and so do the coverage
strategies, nobody with a map given. Seeds are paired: seed k means that all teams start together around the same place.
Eight robots come first, then the other sizes with the unlimited radio, so that a study cut short is a smaller study.
One row per run goes to ``rows.jsonl`` in the ``--out`` folder, which begins with the published rows unless ``--anew``
is given; a run that has its row there is not run again.

    python benchmarks/strategies.py [--study main|others|coverage] [--seeds 10] [--jobs 2] [--write] ...

``--write`` puts the tables to ``docs/results/strategies_tables.md`` and all rows to ``docs/results/strategies.csv``. It
tests nothing: the design ``coordination`` compares strategies that have the same goals, by blocks of place and seed.
"""

import argparse
import csv
import json
import multiprocessing
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any

import numpy as np

HOME = Path(__file__).resolve().parents[1]
MAIN = (
    "random_ballistic_walk",
    "nearest_frontier",
    "minpos",
    "cost_utility",
    "hungarian_assignment",
    "tnf",
    "lvd",
    "ssb",
)
OTHERS = (
    "wall_follower",
    "greedy_assignment",
    "iterative_assignment",
    "market",
    "next_best_view",
    "connected",
    "leader",
    "rrt_frontier",
    "fftnf",
    "greed",
    "minotaur",
    "brick_and_mortar",
)
WORLDS = (*(f"cave{k}" for k in (1, 2, 3)), *(f"building{k}" for k in (1, 2, 3)), "maze")
RADIOS: dict[str, Any] = {
    "unlimited": {"links": [{"unlimited": {}}]},
    "20 m": {"links": [{"disc": {"range_m": 20}}]},
    "10 m, walls": {"links": [{"disc": {"range_m": 10}}, {"line_of_sight": {}}]},
    "none": {"links": [{"disc": {"range_m": 0}}]},
}
COVERING = ("ssb", "boustrophedon", "spanning_tree_coverage", "partitioned_coverage")
SILENT = ("random_ballistic_walk", "lvd")
SHARE, TIMEOUT_S = 0.99, 600.0
GOAL = ("going", "following", "driving")
STUCK_M, STUCK_S = 0.1, 60.0
KEY = ("strategy", "world", "robots", "radio", "seed")
Key = tuple[str, str, int, str, int]
Row = dict[str, Any]


def world(name: str) -> dict[str, Any]:
    """Return the world of a scenario."""
    if name == "maze":
        return {"terrain": "maze"}
    return {"generate": name[:-1], "size_m": [50, 50], "seed": int(name[-1])}


def plain(strategy: str, place: str, robots: int, radio: str, seed: int) -> dict[str, Any]:
    """Return the scenario of one run as plain data."""
    lidar = {"kind": "lidar", "rays": 180, "range_m": 10, "rate_hz": 5}
    sensors = [lidar, {"kind": "proximity", "range_m": 2}, {"kind": "neighbours", "range_m": 10}, {"kind": "odometry"}]
    return {
        "name": strategy,
        "world": world(place),
        "robots": [
            {
                "name": "scout",
                "robot": {"base": "maes", "sensors": sensors, "mapping": {"resolution_m": 0.25}},
                "count": robots,
                "start": {"together": {"around": "random"}},
                "controller": strategy,
            }
        ],
        "radio": RADIOS[radio],
        "share_maps": {"every_s": 1},
        "stop": {"timeout_s": TIMEOUT_S},
        "seed": seed,
    }


def scenario(*key: Any) -> Any:
    """Return the scenario of one run."""
    from covey.scenario.records import Scenario

    return Scenario.model_validate(plain(*key))


class Observer:
    """Follows a run: when shares were reached, and who got stuck: holds a goal and moves less than 0.1 m in 60 s."""

    def __init__(self, sim: Any):
        self.sim = sim
        self.times: dict[str, float] = {}
        self.at_goal: dict[str, float] = {}
        self.anchor = sim.state.pose[:, :2].copy()
        self.since, self.ever = np.zeros(len(sim.names)), np.zeros(len(sim.names), bool)

    def __call__(self, frame: Any) -> None:
        for name, share in (
            ("explored", frame.mission["explored_share_union"]),
            ("covered", frame.mission["covered_share"]),
        ):
            for level in (0.5, 0.9, 0.99):
                if share >= level:
                    self.times.setdefault(f"{name}_{100 * level:.0f}_s", frame.time_s)
        if not self.at_goal and frame.mission["explored_share_union"] >= SHARE:
            each = float(np.nansum(frame.mission["explored_share"]))
            self.at_goal = {
                "cost_m": float(frame.distance_m.sum()),
                "overlap": each / frame.mission["explored_share_union"] - 1,
            }
        status = [answer.status for _, answer in sorted(self.sim.deciding.answered.items())]
        xy = frame.pose[:, :2]
        moved = np.hypot(*(xy - self.anchor).T) >= STUCK_M
        fresh = moved | ~np.isin(status, GOAL)
        self.anchor[fresh], self.since[fresh] = xy[fresh], frame.time_s
        self.ever |= frame.time_s - self.since >= STUCK_S


def run(key: Key) -> Row:
    """Return the row of one run; it ends at 99 % explored, of a coverage strategy at 90 % covered, or as it does."""
    from covey.scenario.build import build

    started = perf_counter()
    sim = build(scenario(*key))
    observer = Observer(sim)
    sim.observers.append(observer)
    last = "covered_90_s" if key[0] in COVERING else "explored_99_s"
    while not sim.done and last not in observer.times:
        sim.step()
    explored, covered = sim.scoring.exploration.share_union, sim.scoring.coverage.cells.share
    done, failed = sim.deciding.all_done, len(sim.deciding.failed)
    metrics = sim.close().metrics
    rounded = {k: round(v, 3) for k, v in observer.at_goal.items()}
    return dict(zip(KEY, key, strict=True)) | {
        "explored_50_s": observer.times.get("explored_50_s"),
        "explored_90_s": observer.times.get("explored_90_s"),
        "explored_99_s": observer.times.get("explored_99_s"),
        "covered_50_s": observer.times.get("covered_50_s"),
        "covered_90_s": observer.times.get("covered_90_s"),
        "cost_m": rounded.get("cost_m"),
        "overlap": rounded.get("overlap"),
        "received_bytes": metrics.get("bytes_received"),
        "explored_share": round(explored, 5),
        "covered_share": round(covered, 5),
        "all_done": done,
        "failed": failed,
        "stuck": int(observer.ever.sum()),
        "simulated_s": round(sim.time, 1),
        "wall_s": round(perf_counter() - started, 1),
    }


def radios(strategy: str, robots: int) -> tuple[str, ...]:
    """Return the radios that make a difference to a strategy."""
    if strategy in SILENT:
        return ("none",)
    return tuple(RADIOS) if robots > 1 else ("unlimited",)


def keys(study: str, seeds: int) -> list[Key]:
    """Return the runs of a study, the most wanted first."""
    if study != "main":
        some, radio = (OTHERS, "20 m") if study == "others" else (COVERING, "unlimited")
        return [(s, w, n, radio, k) for k in range(seeds) for n in (8, 2) for w in ("cave1", "building1") for s in some]
    found: list[Key] = []
    for sizes, some in (((8,), RADIOS), ((4, 16, 2, 1), ("unlimited",)), ((4, 16, 2, 1), RADIOS)):
        cells = [(k, n, r, w) for k in range(seeds) for n in sizes for r in RADIOS for w in WORLDS]
        found += [
            (s, w, n, r, k) for k, n, r, w in cells for s in MAIN if r in radios(s, n) and (r in some or s in SILENT)
        ]
    return list(dict.fromkeys(found))


def read(file: Path) -> list[Row]:
    """Return the rows that were written so far."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []


def begin(file: Path, published: Path, names: tuple[str, ...] = KEY) -> None:
    """Begin a file of rows with those of a table that `publish` has written, unless there is a file or no table."""
    if file.is_file() or not published.is_file():
        return
    with published.open(newline="") as stream:
        rows = [
            {k: v if k in names else json.loads(v or "null") for k, v in row.items()} for row in csv.DictReader(stream)
        ]
    numbers = [k for k in names if k in ("robots", "seed")]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row | {k: int(row[k]) for k in numbers}) + "\n" for row in rows))


def publish(rows: list[Row], file: Path, names: tuple[str, ...] = KEY) -> None:
    """Write rows to a table, in the order of their keys."""
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(rows[0])
        for row in sorted(rows, key=lambda r: [r[k] for k in names]):
            writer.writerow(v if k in names else "" if v is None else json.dumps(v) for k, v in row.items())


def _end_with_parent() -> None:
    """End this worker when the study is killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def study(wanted: Iterable[Any], file: Path, jobs: int, run: Any = run, names: tuple[str, ...] = KEY) -> None:
    """Run what has no row in ``file`` yet, and append the rows as they come."""
    there = {tuple(row[k] for k in names) for row in read(file)}
    missing = [key for key in wanted if key not in there]
    file.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _end_with_parent) as pool:
        for future in as_completed([pool.submit(run, key) for key in missing]):
            row = future.result()
            with file.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            print(" ".join(f"{k}={v}" for k, v in row.items()), flush=True)


def middle(rows: list[Row], field: str, form: str = ".0f") -> str:
    """Return the median of a field; a run that never got there counts as infinite."""
    value = median([np.inf if r[field] is None else r[field] for r in rows])
    return f"{value:{form}}" if np.isfinite(value) else "–"


def table(rows: list[Row], by: tuple[str, ...]) -> str:
    """Return the medians of the rows, one line for each combination of some parts of the key."""
    columns = [
        "99 % [s]",
        "90 % [s]",
        "cost [m]",
        "overlap",
        "MB received",
        "50 % covered [s]",
        "90 % covered [s]",
        "covered",
        "reached",
        "stuck",
    ]
    lines = [[*by, *columns], ["---"] * (len(by) + len(columns))]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[k] for k in by), []).append(row)
    order = {name: k for k, name in enumerate((*MAIN, *OTHERS, *COVERING[1:], *WORLDS, *RADIOS))}
    for key, some in sorted(groups.items(), key=lambda item: [order.get(part, part) for part in item[0]]):
        megabytes = median([(r["received_bytes"] or 0) / 1e6 for r in some])
        line = [middle(some, "explored_99_s"), middle(some, "explored_90_s"), middle(some, "cost_m")]
        line += [middle(some, "overlap", ".2f"), f"{megabytes:.2f}", middle(some, "covered_50_s")]
        line += [middle(some, "covered_90_s"), middle(some, "covered_share", ".2f")]
        reached = sum(r["explored_99_s"] is not None for r in some)
        line += [f"{reached}/{len(some)}", str(sum(r["stuck"] for r in some))]
        lines.append([*map(str, key), *line])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


INTRODUCTION = """# Strategies against each other

`python benchmarks/strategies.py` writes this page. The script describes the runs, and `strategies.csv` holds
every run. The tables give medians over runs. A dash means that more than half of the runs did not reach the
goal within 600 s. Cost and overlap are those at 99 %, bytes and the covered share those at the end. Stuck
robots are sums over the runs. A stuck robot has a goal and moves less than 0.1 m in 60 s.
"""


def report(rows: list[Row]) -> str:
    """Return all tables."""
    main_rows = [r for r in rows if r["strategy"] in MAIN]
    eight = [r for r in main_rows if r["robots"] == 8]
    parts: list[tuple[str, list[Row], tuple[str, ...]]] = [
        ("Eight robots, by radio, all worlds together", eight, ("strategy", "radio"))
    ]
    for kind in ("maze", "cave", "building"):
        some = [r for r in eight if r["world"].startswith(kind) and r["radio"] == radios(r["strategy"], 1)[0]]
        parts.append((f"Eight robots, unlimited radio: {kind}", some, ("strategy",)))
    wide = [r for r in main_rows if r["radio"] == radios(r["strategy"], 1)[0]]
    parts.append(("Team size, unlimited radio, all worlds together", wide, ("strategy", "robots")))
    rest = [r for r in main_rows if r["robots"] != 8 and r["radio"] != radios(r["strategy"], 1)[0]]
    parts.append(("Team size and radio, the rest, all worlds together", rest, ("strategy", "robots", "radio")))
    others = [r for r in rows if r["strategy"] in OTHERS]
    parts.append(("The other strategies, radio of 20 m", others, ("strategy", "world", "robots")))
    small = [r for r in rows if r["world"] in ("cave1", "building1") and r["robots"] in (2, 8)]
    covering = [r for r in small if r["strategy"] in COVERING and r["radio"] == "unlimited"]
    parts.append(("Coverage, unlimited radio", covering, ("strategy", "world", "robots")))
    tables = [(title, table(some, by)) for title, some, by in parts if some]
    return "\n".join(f"\n## {title}\n\n{text}\n" for title, text in tables)


def write(rows: list[Row], folder: Path) -> None:
    """Write the tables and the rows into a folder."""
    (folder / "strategies_tables.md").write_text(INTRODUCTION + report(rows))
    publish(rows, folder / "strategies.csv")


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--study", choices=("main", "others", "coverage", "none"), default="main", help="none: only the tables"
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--strategies", nargs="+")
    parser.add_argument("--worlds", nargs="+", choices=WORLDS)
    parser.add_argument("--robots", nargs="+", type=int)
    parser.add_argument("--radios", nargs="+", choices=list(RADIOS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HOME / "runs" / "strategies")
    parser.add_argument("--anew", action="store_true", help="do not begin with the rows of docs/results/strategies.csv")
    parser.add_argument("--write", action="store_true", help="write docs/results")
    options = parser.parse_args()
    chosen = [options.strategies, options.worlds, options.robots, options.radios, None]
    wanted = [] if options.study == "none" else keys(options.study, options.seeds)
    wanted = [key for key in wanted if all(c is None or part in c for part, c in zip(key, chosen, strict=True))]
    file, results = options.out / "rows.jsonl", HOME / "docs" / "results"
    if not options.anew:
        begin(file, results / "strategies.csv")
    study(wanted, file, options.jobs)
    rows = read(file)
    print(report(rows))
    if options.write:
        write(rows, results)


if __name__ == "__main__":
    main()
