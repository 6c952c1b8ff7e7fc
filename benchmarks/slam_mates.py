"""Teams that start together and apart, with SLAM and without a sensor for each other: are mates taken for walls?

A row for each place and start: the error of the estimates at the end, and the NEES (3 on average if covariances are
right). *Inside*: the share within the 95 % region of chi-squared with three degrees of freedom.

With --through each row has a control: the same start with lidars that see through robots. What is wrong there, too, is
not the mates' doing.

    python benchmarks/slam_mates.py [office cave building] [--seconds 60] [--seeds 1] [--robots 4] [--through]
"""

import argparse
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import chi2

from covey.mapping.slam.scores import nees
from covey.scenario.load import load

STARTS = {"together": {}, "spread": {"robots.0.start": {"spread": {}}}}
NOISY = {"robots.0.robot.sensors.odometry.noise": "gmapping", "robots.0.localization": "slam"}


THROUGH = {"robots.0.robot.sensors.lidar.sees_robots": False}


def ends(place: str, changes: dict[str, Any], seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors [m] and the NEES of all robots at the end of a run."""
    sim = load(place, NOISY | changes)
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
    parser.add_argument("--robots", type=int, help="how many; default: as many as the place has")
    parser.add_argument("--through", action="store_true", help="a control with lidars that see through robots")
    options = parser.parse_args()
    print(
        "| place | start | robots | error: median, largest | NEES: mean, median | inside |\n|---|---|---|---|---|---|"
    )
    for place in options.places:
        for start, through in product(STARTS, (False, True) if options.through else (False,)):
            changes = STARTS[start] | (THROUGH if through else {})
            changes |= {"robots.0.count": options.robots} if options.robots else {}
            found = [ends(place, changes | {"seed": seed}, options.seconds) for seed in range(options.seeds)]
            error, squared = (np.concatenate(part) for part in zip(*found, strict=True))
            inside = 100.0 * (squared < chi2.ppf(0.95, 3)).mean()
            name = f"{start}, seen through" if through else start
            print(
                f"| {place} | {name} | {len(error)} | {np.median(error):.3f}, {error.max():.3f} m | "
                f"{squared.mean():.1f}, {np.median(squared):.1f} | {inside:.0f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
