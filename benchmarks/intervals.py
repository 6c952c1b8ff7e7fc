"""How often the 95 % intervals of beliefs about the ground hold the truth, by sensor and test for changes.

    python benchmarks/intervals.py [seeds]

Two robots drive about on hills, ridges and boulders and share their maps.
"""

import sys
from functools import partial

import numpy as np

import covey
from covey.mapping.elevation_compare import compare, true_altitude
from covey.mapping.records import ElevationMapping
from covey.robots.group import Group
from covey.sensors import DepthCamera, Lidar3D, Wedge
from covey.world.ground_generators import boulders, hills, ridges

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
    beliefs = sim.estimating.teams[0].beliefs
    truth = true_altitude(sim.world.ground, beliefs.grid)
    found = [compare(beliefs[k], truth).interval_coverage for k in range(2)]
    sim.close()
    return float(np.mean(found))


def main() -> None:
    """Print a row for each sensor, test and spacing."""
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    for sensor in SENSORS:
        for spacing_m in (None,) if sensor == "wedge" else (None, 0.5):
            for test in ("none", "innovation", "paper") if sensor == "wedge" else ("none", "innovation"):
                shares = [share_inside(sensor, test, seed, spacing_m) for seed in seeds]
                print(
                    f"{sensor:13} {spacing_m or 1.0} m {test:11} mean {np.mean(shares):.3f}, "
                    f"from {min(shares):.3f} to {max(shares):.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
