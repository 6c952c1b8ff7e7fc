"""The headline of MAES 2.0: 120 ballistic walkers with a 360-degree sensor of range 20 m in a cave of 75 x 75 m.

MAES ran them just in real time, on about one core of a six-core laptop. Printed are simulated seconds per second of
one core, pinned, for a sensor of 251 rays (as many as MAES casts) that scans 10 times a second, as MAES traces what is
explored, and once a second, as often as a robot there gets to see it (``slamUpdateIntervalInTicks`` 10).

    taskset -c 0 python benchmarks/walkers.py [--seconds 120] [--robots 120]
"""

import argparse
import time

import covey
from covey.scenario.records import Scenario


def scenario(robots: int, rate_hz: float, side_m: float = 75.0, resolution_m: float = 0.25) -> Scenario:
    """Return the scenario in a square cave, its side and its cells [m]; robots start on random free places."""
    lidar = {"kind": "maes_360", "range_m": 20.0, "rays": 251, "rate_hz": rate_hz}
    group = {
        "name": "walker",
        "robot": {"base": "maes", "sensors": [lidar], "mapping": None},
        "count": robots,
        "start": {"spread": {}},
        "controller": "random_ballistic_walk",
    }
    world = {"generate": "cave", "size_m": [side_m, side_m], "resolution_m": resolution_m, "seed": 1}
    return Scenario.model_validate({"world": world, "robots": [group]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0, help="simulated [s]")
    parser.add_argument("--robots", type=int, default=120)
    options = parser.parse_args()
    for rate_hz in (10.0, 1.0):
        sim: covey.Simulation = scenario(options.robots, rate_hz).build()
        for _ in range(20):  # compiles
            sim.step()
        before, begin = dict(sim.stopwatch.seconds), time.perf_counter()
        while sim.time < 2.0 + options.seconds:
            sim.step()
        wall = time.perf_counter() - begin
        phases = {k: 1e3 * (v - before.get(k, 0.0)) / (10 * options.seconds) for k, v in sim.stopwatch.seconds.items()}
        shown = ", ".join(f"{k} {v:.2f}" for k, v in phases.items() if v >= 0.05)
        share = 100 * sim.scoring.exploration.share_union
        print(
            f"{options.robots} walkers, {rate_hz:g} scans/s: {options.seconds / wall:.0f} x real time, "
            f"{share:.0f} % explored; ms per step: {shown}",
            flush=True,
        )
        sim.close()


if __name__ == "__main__":
    main()
