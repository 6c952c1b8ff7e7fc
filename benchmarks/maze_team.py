"""Ten Pioneers with SICK LMS500 at 25 Hz explore the maze to 99 %: simulated seconds per CPU-second on one core.

Beliefs of 0.2 m, maps shared every second, ``nearest_frontier``, recording on. A short run first compiles all kernels.
With --localization slam the robots map and localize by SLAM, each alone; with slam_team they exchange key frames.
Run: python benchmarks/maze_team.py [robots] [--localization truth|slam|slam_team] [--profile]
"""

import argparse
import cProfile
import os
import pstats
import tempfile
import time
from pathlib import Path
from typing import Any

import covey
from covey.scenario.build import build
from covey.scenario.load import load_scenario

LOCALIZATIONS = {"truth": "truth", "slam": "slam", "slam_team": {"slam": {"team": {}}}}


def simulation(robots: int, localization: str, folder: Path, timeout_s: float = 2000.0) -> covey.Simulation:
    """Return the maze scenario with so many robots, to be recorded in ``folder``."""
    changes: dict[str, Any] = {"robots.scout.count": robots, "stop.timeout_s": timeout_s}
    changes["robots.scout.localization"] = LOCALIZATIONS[localization]
    if localization != "truth":
        changes["robots.scout.robot.sensors.odometry.noise"] = "gmapping"
    if robots > 12:  # the published line of starts is 38 m long
        changes["robots.scout.start"] = {"line": {"from": [-38, 38], "step": [0, -72 / robots], "heading_deg": 0}}
    return build(load_scenario("maze", changes), folder=folder)


def main() -> None:
    """Print the figures, and where the wall time went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="?", type=int, default=10)
    parser.add_argument("--localization", choices=LOCALIZATIONS, default="truth")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    robots, localization = options.robots, options.localization
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        simulation(robots, localization, Path(folder) / "warm", 40.0 if localization != "truth" else 15.0).run()
        sim = simulation(robots, localization, Path(folder) / "run")
        profile = cProfile.Profile() if options.profile else None
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
    print(f"{robots} robots, {localization}: {status} at {simulated:.1f} s")
    print(f"{spent:.2f} CPU-s: {simulated / spent:.1f} x real time")
    print(f"map quality {quality:.4f}, collisions {collisions}")
    phases = {k: v for k, v in run.manifest["phase_s"].items() if k != "outside"}
    print("wall s: " + ", ".join(f"{k} {v:.2f}" for k, v in phases.items()))
    if profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    main()
