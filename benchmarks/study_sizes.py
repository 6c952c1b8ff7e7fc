"""What a study of many runs costs: to go on with it, to ask what is left, to print its results, to write its report.

Makes synthetic studies: 20 settings, each run once in truth, whose rows are then written again and again under the ids
of the runs of the design, with other values of the metrics. With --keep pictures or measurements each run has a folder,
the one of its setting. Prints wall time, processor time and peak memory of each command, each in a process of its own.
Bars: 10^5 rows go on in 2 s and well below 500 MB; the report of 10^4 runs takes 60 s and 1 GB, that of 10^5 ten
minutes.

Run: python benchmarks/study_sizes.py [--sizes 1000 10000 100000] [--keep rows] [--commands run dry-run results report]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from covey.experiments.design.plan import plan
from covey.experiments.design.records import Design
from covey.experiments.run import Results, run_design
from covey.experiments.workers.folder import NO_FOLDER, prepare
from covey.experiments.workers.row import RUNS, Row
from covey.experiments.workers.rows import Rows, RowWriter

COMMANDS = {
    "run": ["run", "design.yaml", "--out", "study", "-q"],
    "dry-run": ["run", "design.yaml", "--out", "study", "--dry-run"],
    "results": ["results", "study"],
    "report": ["report", "study"],
}
SETTINGS = 20


def design(runs: int, keep: str) -> Design:
    """Return a design of so many runs, a multiple of 20."""
    return Design.model_validate(
        {
            "design": "synthetic",
            "scenario": {
                "world": {"empty_m": [8, 8]},
                "robots": [{"name": "scout", "robot": "disc", "controller": "wander"}],
                "stop": {"explored": 0.9, "timeout_s": 20},
            },
            "parameters": {
                "robots.scout.controller": ["wander", "nearest_frontier"],
                "world.empty_m": [[8, 8], [12, 12]],
                "robots.scout.count": [1, 2, 3, 4, 5],
            },
            "iterations": runs // SETTINGS,
            "metrics": ["exploration_time_s", "exploration_cost_m"],
            "keep": keep,
        }
    )


def make(folder: Path, runs: int, keep: str) -> None:
    """Write a finished study of so many runs into a folder."""
    wanted = design(runs, keep)
    (folder / "design.yaml").write_text(wanted.to_yaml(), encoding="utf-8")
    few = Results(folder / "few") if (folder / "few").is_dir() else run_design(design(SETTINGS, keep), folder / "few")
    models, random = {row["vector"]: row for row in few.rows}, Random(0)
    study = folder / "study"
    prepare(study, wanted, planned := plan(wanted)).release()
    with RowWriter(study) as writer:
        fsync, os.fsync = os.fsync, lambda _: None  # a synthetic study survives no power cut
        for one in planned:
            model = models[one.vector]
            writer.append(_other(model, one.run_id, one.seed, random), keep, one.measurements, Rows(study))
            if keep != NO_FOLDER:
                (study / RUNS / one.run_id).symlink_to(folder / "few" / RUNS / model["run_id"])
        os.fsync = fsync


def _other(row: Row, run_id: str, seed: int, random: Random) -> Row:
    """Return a row with other values of its metrics, and another seed."""
    scenario = row["scenario"].removesuffix(f"seed: {row['seed']}\n") + f"seed: {seed}\n"
    factor = random.lognormvariate(0.0, 0.2)
    metrics = {name: value * factor if isinstance(value, float) else value for name, value in row["metrics"].items()}
    return row | {"run_id": run_id, "seed": seed, "scenario": scenario, "metrics": metrics}


def measure(folder: Path, command: list[str]) -> tuple[float, float, float]:
    """Return wall time [s], processor time [s] and peak memory [MiB] of a command, which must succeed."""
    started = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", "covey", *command], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    assert status == 0, command
    return time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Print the costs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--keep", default="rows", choices=["rows", "measurements", "pictures"])
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=list(COMMANDS))
    given = parser.parse_args()
    print(f"{'rows':>7} {'command':8} {'wall s':>7} {'CPU s':>7} {'MiB':>6}   keep: {given.keep}")
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), size, given.keep)
            for name in given.commands:
                wall_s, cpu_s, mib = measure(Path(folder), COMMANDS[name])
                print(f"{size:7} {name:8} {wall_s:7.1f} {cpu_s:7.1f} {mib:6.0f}", flush=True)


if __name__ == "__main__":
    main()
