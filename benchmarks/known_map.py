"""Localization in a known map: updates per second, errors, how long it takes to be found, and consistency.

One robot explores a world with true poses, once. Its scans are then localized anew for each seed, with odometry noise
of gmapping's model and noise of the filter's own. The cases: a known start; a lidar with five times the noise (0.05 m);
20 % of the scans lost; an unknown start; carried elsewhere in the middle. A robot is found when its error stays below
0.5 m for 5 s. NEES is the squared error in units of the covariance at updates, 3 on average for a consistent filter.

    python benchmarks/known_map.py [--worlds office cave maze] [--seeds 20] [--seconds 200]
"""

import argparse
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import compose, inverse, wrap_angle
from covey.mapping.slam.known_map_settings import KnownMapSettings
from covey.mapping.slam.log import Laser
from covey.mapping.slam.monte_carlo import MonteCarlo, StartPose
from covey.random import stream_key
from covey.scenario.load import load
from covey.sensors.odometry import GmappingNoise, Odometry, odometry_reference
from covey.world.world import FREE, WALL

CASES: Mapping[str, Mapping[str, Any]] = {
    "known start": {},
    "lidar noise x 5": {"noise_m": 0.049},
    "20 % of scans lost": {"lost": 0.2},
    "unknown start": {"known": False},
    "carried elsewhere": {"carried": True},
}
DEVIATIONS = (0.1, 0.1, 0.05)
STEP_S = 0.1


def drive(world: str, seconds: float) -> tuple[Grid, Laser, np.ndarray, np.ndarray]:
    """Return the map, the lidar, and the true poses (n, 3) and scans (n, rays) of a robot that explores."""
    sim = load(world, {"robots.0.count": 1, "seed": 1, "stop.timeout_s": seconds})
    bank = sim.sensing.feeding("scan")[0]
    poses, scans = [], []
    while not sim.done:
        sim.step()
        for sample in bank.samples[-1:]:
            poses.append(sample.pose[0].copy())
            scans.append(sample.readings.ranges[0].copy())
    cells = sim.world_state.grid.cells
    plan = sim.world_state.grid.with_cells(np.select((cells == WALL, cells == FREE), (100, 0), -1).astype(np.int8))
    laser = Laser(bank.record.angles, bank.record.range_m, tuple(bank.record.mount.tolist()))
    sim.close()
    return plan, laser, np.array(poses), np.array(scans)


def follow(
    plan: Grid,
    laser: Laser,
    poses: np.ndarray,
    scans: np.ndarray,
    seed: int,
    known: bool = True,
    noise_m: float = 0.0,
    lost: float = 0.0,
    carried: bool = False,
) -> dict[str, np.ndarray]:
    """Return the errors [m, rad] (n, 2) of a run, and NEES, number of particles and time [s] of each update."""
    rng, half = np.random.default_rng(seed), len(poses) // 2
    order = np.roll(np.arange(len(poses)), -half) if carried else np.arange(len(poses))
    poses = poses[order]
    model, noise = Odometry(noise=GmappingNoise()).noise_model
    motions = np.vstack(
        [
            odometry_reference(poses[k : k + 1], poses[k + 1 : k + 2], stream_key(seed, "odometry"), k, model, noise)
            for k in range(len(poses) - 1)
        ]
    )
    motions = np.vstack((np.zeros(3), motions))
    if carried:
        motions[len(poses) - half] = 0.0
    told = StartPose(tuple((poses[0] + rng.normal(size=3) * DEVIATIONS).tolist()), DEVIATIONS)
    settings, key = KnownMapSettings(), stream_key(seed, "localization/robot0")
    robot = MonteCarlo(laser, plan.cells, plan, settings, key, told if known else None)
    errors, nees, count, times = np.empty((len(poses), 2)), [], [], []
    for k, pose in enumerate(poses):
        scan = scans[order[k]] + rng.normal(size=scans.shape[1]) * noise_m
        before, begun = robot.updates, time.process_time()
        found, covariance = robot.update(motions[k], None if rng.random() < lost else scan)
        spent = time.process_time() - begun
        error = found - pose
        error[2] = wrap_angle(error[2])
        errors[k] = np.hypot(*error[:2]), abs(error[2])
        if robot.updates > before:
            times.append(spent)
            count.append(robot.count)
            nees.append(error @ np.linalg.solve(covariance + 1e-9 * np.eye(3), error))
    return {"errors": errors, "nees": np.array(nees), "count": np.array(count), "times": np.array(times)}


def found_after(errors: np.ndarray, first: int) -> float:
    """Return the time [s] after step ``first`` from which the error stays below 0.5 m for 5 s; inf if never."""
    bad = np.nonzero(errors[first:] > 0.5)[0]
    edges = np.r_[-1, bad, len(errors) - first]
    calm = np.nonzero(np.diff(edges) > round(5.0 / STEP_S))[0]
    return float((edges[calm[0]] + 1) * STEP_S) if len(calm) else np.inf


def main() -> None:
    """Print a table for each world."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", nargs="+", default=["office", "cave", "maze"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=200.0, help="simulated time of the drive [s]")
    options = parser.parse_args()
    for world in options.worlds:
        plan, laser, poses, scans = drive(world, options.seconds)
        way = np.hypot(*compose(inverse(poses[:-1]), poses[1:])[:, :2].T).sum()
        shape = f"{plan.size_m[0]:.0f} x {plan.size_m[1]:.0f} m, {len(poses)} scans of {len(laser.angles)} beams"
        print(f"\n{world}: {shape}, {laser.range_max:g} m, {way:.0f} m of way, {options.seeds} seeds")
        print(
            "case                error m: median   mean    p95    max  deg  found  after s: median  max   NEES", end=""
        )
        print("  particles  updates/s  slowest ms")
        follow(plan, laser, poses[:20], scans[:20], 0)  # compiles
        for name, case in CASES.items():
            runs = [follow(plan, laser, poses, scans, seed, **case) for seed in range(options.seeds)]
            first = len(poses) - len(poses) // 2 if case.get("carried") else 0
            after = np.array([found_after(run["errors"][:, 0], first) for run in runs])
            errors, times, count = (np.concatenate([run[key] for run in runs]) for key in ("errors", "times", "count"))
            e = errors[:, 0]
            print(
                f"{name:19s} {np.median(e):15.3f} {e.mean():6.3f} {np.quantile(e, 0.95):6.3f} {e.max():6.2f}"
                f" {np.degrees(np.median(errors[:, 1])):4.2f} {np.isfinite(after).sum():3d}/{len(runs):2d}"
                f" {np.median(after):16.1f} {after.max():5.1f} {np.median([r['nees'].mean() for r in runs]):6.2f}"
                f" {count.mean():10.0f} {len(times) / times.sum():10.0f} {1e3 * times.max():11.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
