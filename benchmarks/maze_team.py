"""Ten Pioneers with SICK LMS500 at 25 Hz explore the maze to 99 %: simulated seconds per CPU-second on one core.

Beliefs of 0.2 m, maps shared every second, ``nearest_frontier``, recording on. A short run first compiles all kernels.
Run: python benchmarks/maze_team.py [robots] [--profile]
"""

import cProfile
import os
import pstats
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import covey
from covey.scenario.build import build
from covey.scenario.load import load_scenario


def simulation(robots: int, folder: Path, timeout_s: float = 2000.0) -> covey.Simulation:
    """Return the maze scenario with so many robots, to be recorded in ``folder``."""
    changes: dict[str, Any] = {"robots.scout.count": robots, "stop.timeout_s": timeout_s}
    if robots > 12:  # the published line of starts is 38 m long
        changes["robots.scout.start"] = {"line": {"from": [-38, 38], "step": [0, -72 / robots], "heading_deg": 0}}
    return build(load_scenario("maze", changes), folder=folder)


def main() -> None:
    """Print the figures, and where the wall time went."""
    robots = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 10
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        simulation(robots, Path(folder) / "warm", 15.0).run()
        sim = simulation(robots, Path(folder) / "run")
        profile = cProfile.Profile() if "--profile" in sys.argv else None
        begin = time.process_time()
        if profile:
            profile.enable()
        while not sim.done:
            sim.step()
        if profile:
            profile.disable()
        spent = time.process_time() - begin
        status, simulated = sim.status, sim.time
        run = sim.close()
        quality, collisions = run.metrics["map_quality"], run.metrics["collisions"]
    print(f"{robots} robots: {status} at {simulated:.1f} s, {spent:.2f} CPU-s: {simulated / spent:.0f} x real time")
    print(f"map quality {quality:.4f}, collisions {collisions}")
    phases = {k: v for k, v in run.manifest["phase_s"].items() if k != "outside"}
    print("wall s: " + ", ".join(f"{k} {v:.2f}" for k, v in phases.items()))
    if profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    main()
