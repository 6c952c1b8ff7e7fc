"""Rescue in `rescue_1` by each strategy: simulated seconds per CPU-second on one core.

The scenario `rescue` with its camera, radio, shared maps, referee and recording; `search_plan` has the old plan of the
damaged floor. A short run first compiles all kernels. The camera alone, among 1000 targets in a cave: `sensing.py`.
Run: python benchmarks/rescue.py [strategy ...] [--robots 2 4] [--seeds 0] [--world rescue_1] [--profile]
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
from covey.runtime.pacing import rare_collections
from covey.scenario.build import build
from covey.scenario.load import load_scenario

STRATEGIES = ("rescue_team", "rescue_leader", "search_plan", "random_ballistic_walk")
STARTS = [[0, -1, 0], [0, 1, 0], [-1, -1, 0], [-1, 1, 0]]


def simulation(
    strategy: str, robots: int, world: str, seed: int, folder: Path, timeout_s: float = 660.0
) -> covey.Simulation:
    """Return the rescue scenario with a strategy, to be recorded in ``folder``."""
    changes: dict[str, Any] = {
        "world.named": world,
        "robots.searcher.controller": strategy,
        "robots.searcher.count": robots,
        "robots.searcher.start": STARTS[:robots],
        "stop.timeout_s": timeout_s,
        "seed": seed,
    }
    if strategy == "search_plan":
        changes |= {"damage": {}, "robots.searcher.known_map": "plan"}
    return build(load_scenario("rescue", changes), folder=folder)


def main() -> None:
    """Print the figures, and where the wall time went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategies", nargs="*", default=STRATEGIES)
    parser.add_argument("--robots", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--world", nargs="+", default=["rescue_1"])
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for strategy in options.strategies:
        with tempfile.TemporaryDirectory() as folder:
            simulation(strategy, 2, "rescue_1", 0, Path(folder) / "warm", 60.0).run()
        for robots in options.robots:
            for world in options.world:
                for seed in options.seeds:
                    measure(strategy, robots, world, seed, options.profile)


def measure(strategy: str, robots: int, world: str, seed: int, profiled: bool) -> None:
    """Run once and print a line."""
    with tempfile.TemporaryDirectory() as folder:
        sim = simulation(strategy, robots, world, seed, Path(folder))
        profile = cProfile.Profile(time.process_time)
        begin = time.process_time()
        if profiled:
            profile.enable()
        with rare_collections():
            while not sim.done:
                sim.step()
        profile.disable()
        spent, simulated = time.process_time() - begin, sim.time
        run = sim.close()
        score, found = run.metrics["rescue_score"], run.metrics["targets_found"]
    phases = {k: v for k, v in run.manifest["phase_s"].items() if k != "outside"}
    total = sum(phases.values())
    shares = ", ".join(f"{k} {v / total:.0%}" for k, v in sorted(phases.items(), key=lambda p: -p[1])[:6])
    print(
        f"{strategy:21} {robots} robots, {world}, seed {seed}: {simulated / spent:5.0f} x real time "
        f"({simulated:.0f} s, {sim.status}, score {score:.0f}, {found} found); {shares}",
        flush=True,
    )
    if profiled:
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    main()
