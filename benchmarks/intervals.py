"""How often the 95 % intervals of beliefs about the ground hold the truth, by sensor and test for changes.

Two robots drive about on hills, ridges and boulders and share their maps. One row per run goes to ``rows.jsonl`` in
``--out``; what has its row is not run again.

    nice -n 15 python benchmarks/intervals.py [--seeds 20 40] [--sensors wedge] [--tests innovation] [--out DIR]
"""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.mapping.elevation.compare import compare, true_altitude
from covey.mapping.elevation.kernels import TESTS
from covey.mapping.records import ElevationMapping
from covey.onboard.group import Group
from covey.sensors import DepthCamera, Lidar3D, Wedge
from covey.world.generators.grounds import boulders, hills, ridges

SENSORS = {"wedge": (Wedge(),), "lidar3d": (Lidar3D(range_m=8.0),), "depth_camera": (DepthCamera(),)}
SIDE_M, SECONDS = 30.0, 40.0


def landscape(seed: int):
    """Return one of 20 (or more) landscapes: hills, ridges and boulders in turn."""
    make = (hills, partial(ridges, height_m=2.0), boulders)[seed % 3]
    return make(size_m=(SIDE_M, SIDE_M), seed=seed)


async def about(robot):
    """Drive in loops that open and close."""
    while True:
        robot.drive(0.4, robot.random.uniform(-0.8, 0.8))
        await robot.sleep(2.0)


def share_inside(sensor: str, test: str, seed: int, spacing_m: float | None = None) -> float:
    """Return the share of measured vertices whose truth lies in the interval, a mean over the robots."""
    mapping = ElevationMapping(change_test=test, spacing_m=spacing_m)  # pyright: ignore[reportArgumentType]
    update = {"sensors": SENSORS[sensor], "mapping": mapping}
    model = covey.robots.disc().model_copy(update=update)
    starts = [(-5.0, 0.0, 0.0), (5.0, 3.0, 2.0)]
    world = landscape(seed).world()
    sim = covey.Simulation(world, [Group("s", model, starts)], about, share_maps=1.0, seed=seed)
    while sim.time < SECONDS - 1e-9:
        sim.step()
    beliefs = sim.localization.teams[0].beliefs
    truth = true_altitude(sim.world.ground, beliefs.grid)
    found = [compare(beliefs[k], truth).interval_coverage for k in range(2)]
    sim.close()
    return float(np.mean(found))


def combinations(sensors: list[str], tests: list[str]) -> list[tuple[str, float | None, str]]:
    """Return sensor, spacing of the belief [m] and test; clouds also at half the spacing of the ground."""
    spacings = {sensor: (None,) if sensor == "wedge" else (None, 0.5) for sensor in sensors}
    return [(sensor, m, test) for sensor in sensors for m in spacings[sensor] for test in tests]


def table(rows: list[dict[str, Any]], asked: list[tuple[str, float | None, str]]) -> str:
    """Return mean and range of the shares, by sensor, spacing and test."""
    lines = ["| sensor | spacing | test | landscapes | mean | from | to |", "|---|---|---|---|---|---|---|"]
    for sensor, spacing_m, test in asked:
        of = {"sensor": sensor, "spacing_m": spacing_m or 1.0, "test": test}
        some = [r["share"] for r in rows if of.items() <= r.items()]
        if some:
            figures = f"{len(some)} | {np.mean(some):.3f} | {min(some):.3f} | {max(some):.3f}"
            lines.append(f"| {sensor} | {spacing_m or 1.0} m | `{test}` | {figures} |")
    return "\n".join(lines)


def main() -> None:
    """Run what has no row yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 20), help="the first, and the one after the last")
    parser.add_argument("--sensors", nargs="+", choices=SENSORS, default=list(SENSORS))
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=list(TESTS))
    parser.add_argument("--out", type=Path, default=Path("intervals"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / "rows.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
    there = {(r["sensor"], r["spacing_m"], r["test"], r["seed"]) for r in rows}
    asked = combinations(given.sensors, given.tests)
    for seed in range(*given.seeds):
        for sensor, spacing_m, test in asked:
            if (sensor, spacing_m or 1.0, test, seed) not in there:
                share = round(share_inside(sensor, test, seed, spacing_m), 4)
                row = {"sensor": sensor, "spacing_m": spacing_m or 1.0, "test": test, "seed": seed, "share": share}
                rows.append(row)
                with file.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
    print(table([r for r in rows if given.seeds[0] <= r["seed"] < given.seeds[1]], asked))


if __name__ == "__main__":
    main()
