"""Do covariances hold? NEES of each localization, in four places, with 1 to 8 robots that start together.

A row for each: the error of the estimates, and the NEES (3 on average if covariances are right) of all robots, sampled
every 5 s from 10 s on. *Inside*: the share within the 95 % region of chi-squared with three degrees of freedom.

    python benchmarks/slam_nees.py [office cave building maze] [--robots 1 2 4 8] [--seconds 40] [--seed 0]
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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", default=["office", "cave", "building", "maze"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--robots", nargs="+", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| place | localization | robots | error: median, largest | NEES: mean, median | inside |")
    print("|---|---|---|---|---|---|")
    for robots in options.robots:
        for way in options.ways:
            for place in options.places:
                error, squared = along(place, way, robots, options.seconds, options.seed)
                inside = 100.0 * (squared < chi2.ppf(0.95, 3)).mean()
                print(
                    f"| {place} | {way} | {robots} | {np.median(error):.3f}, {error.max():.3f} m | "
                    f"{squared.mean():.1f}, {np.median(squared):.1f} | {inside:.0f} % |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
