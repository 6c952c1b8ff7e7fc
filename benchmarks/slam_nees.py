"""Do covariances hold? NEES of each localization, in four places, with 1 to 8 robots that start together.

A row for each localization and number of robots, a cell for each place: the median error of the estimates, the mean
NEES (3 if covariances are right), and the share *inside* the 95 % region of chi-squared with three degrees of freedom.
All robots of some seeds are sampled every 5 s from 10 s on. A share of less than 90 % is bold: the robots are too sure.

    python benchmarks/slam_nees.py [office cave building maze] [--robots 1 2 4 8] [--seconds 30] [--seeds 3]
"""

import argparse
from typing import Any

import numpy as np
from scipy.stats import chi2

from covey.mapping.slam.scores import nees
from covey.scenario.load import load

WAYS: dict[str, dict[str, Any]] = {
    "slam": {"robots.0.localization": "slam"},
    "particles": {"robots.0.localization": {"particles": {}}},
    "known_map": {"robots.0.localization": {"known_map": {}}, "robots.0.known_map": True},
}


def along(place: str, way: str, robots: int, seconds: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors [m] and the NEES of all robots at all samples."""
    noisy = {"robots.0.robot.sensors.odometry.noise": "gmapping", "robots.0.count": robots}
    sim = load(place, noisy | WAYS[way] | {"seed": seed})
    errors, squared, due_s = [], [], 10.0
    while sim.time < seconds and not sim.done:
        truth = sim.state.pose.copy()  # robots localize at the beginning of a step, and drive at its end
        sim.step()
        if sim.time >= due_s - 1e-9:
            errors.append(np.hypot(*(sim.localization.pose - truth)[:, :2].T))
            squared.append(nees(sim.localization.pose, truth, sim.localization.covariance))
            due_s += 5.0
    sim.close()
    return np.concatenate(errors), np.concatenate(squared)


def cell(place: str, way: str, robots: int, seconds: float, seeds: int) -> str:
    """Return median error, mean NEES and share inside of all robots of some seeds, in words."""
    found = [along(place, way, robots, seconds, seed) for seed in range(seeds)]
    error, squared = (np.concatenate(part) for part in zip(*found, strict=True))
    inside = 100.0 * (squared < chi2.ppf(0.95, 3)).mean()
    share = f"{inside:.0f} %" if inside >= 90.0 else f"**{inside:.0f} %**"
    return f"{np.median(error):.2f} m, {squared.mean():.1f}, {share}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", default=["office", "cave", "building", "maze"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--robots", nargs="+", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print(f"| localization | robots | {' | '.join(options.places)} |")
    print("|" + "---|" * (2 + len(options.places)))
    for way in options.ways:
        for robots in options.robots:
            print(f"| {way} | {robots} |", end="", flush=True)
            for place in options.places:
                print(f" {cell(place, way, robots, options.seconds, options.seeds)} |", end="", flush=True)
            print(flush=True)


if __name__ == "__main__":
    main()
