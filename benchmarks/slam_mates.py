"""Teams that start together and apart, with SLAM and without a sensor for each other: are mates taken for walls?

A row for each place and start: the error of the estimates at the end, and the NEES (3 on average if covariances are
right). *Inside*: the share within the 95 % region of chi-squared with three degrees of freedom.

    python benchmarks/slam_mates.py [office cave building] [--seconds 60] [--seeds 1]
"""

import argparse

import numpy as np
from scipy.stats import chi2

from covey.mapping.slam.scores import nees
from covey.scenario.load import load

STARTS = {"together": {}, "spread": {"robots.0.start": {"spread": {}}}}
NOISY = {"robots.0.robot.sensors.odometry.noise": "gmapping", "robots.0.localization": "slam"}


def ends(place: str, start: str, seconds: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors [m] and the NEES of all robots at the end of a run."""
    sim = load(place, NOISY | STARTS[start] | {"seed": seed})
    truth = sim.state.pose.copy()
    while sim.time < seconds and not sim.done:
        truth = sim.state.pose.copy()  # robots localize at the beginning of a step, and drive at its end
        sim.step()
    error = np.hypot(*(sim.localization.pose - truth)[:, :2].T)
    squared = nees(sim.localization.pose, truth, sim.localization.covariance)
    sim.close()
    return error, squared


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", default=["office", "cave", "building"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    print(
        "| place | start | robots | error: median, largest | NEES: mean, median | inside |\n|---|---|---|---|---|---|"
    )
    for place in options.places:
        for start in STARTS:
            found = [ends(place, start, options.seconds, seed) for seed in range(options.seeds)]
            error, squared = (np.concatenate(part) for part in zip(*found, strict=True))
            inside = 100.0 * (squared < chi2.ppf(0.95, 3)).mean()
            print(
                f"| {place} | {start} | {len(error)} | {np.median(error):.3f}, {error.max():.3f} m | "
                f"{squared.mean():.1f}, {np.median(squared):.1f} | {inside:.0f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
