"""What a robot loses that does not know where it is: pose error and map quality with truth, noise and odometry.

The maze with one Pioneer and with six. The order must hold: maps made at the true pose are at least as good as those
made at a noisy one (white noise, sigma 0.022 m and 0.02 rad: Yan et al. 2017), and those at least as good as maps
made at a dead-reckoned one, under both models of the noise of the wheels: that of gmapping and the velocity model of
Thrun et al. A run ends at 99 % explored or after a time; the quality counts the map against all that can be explored.

    python benchmarks/localization.py [--robots 1 6] [--seeds 3] [--until 600]
"""

import argparse
from statistics import median

from covey.scenario.load import load

KINDS = ("truth", "noise", "odometry gmapping", "odometry velocity")


def measure(kind: str, robots: int, seed: int, until_s: float) -> tuple[float, float, float]:
    """Return the mean position error [m], the map quality, and the explored share after a time."""
    localization, _, wheels = kind.partition(" ")
    overrides = {"robots.scout.count": robots, "robots.scout.localization": localization, "seed": seed}
    if wheels:
        overrides["robots.scout.robot.sensors.odometry.noise"] = wheels
    metrics = load("maze", overrides).run(until_s=until_s).metrics
    return metrics["position_error_m"], metrics["map_quality"], metrics["explored_share"]


def main() -> None:
    """Print the table and whether the order holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", type=int, default=[1, 6])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--until", type=float, default=600.0, help="simulated time of each run [s]")
    options = parser.parse_args()
    print(f"maze, medians over {options.seeds} seeds, at the goal or after {options.until:g} s")
    print("robots  pose               position error [m]  map quality  explored")
    for robots in options.robots:
        quality = []
        for kind in KINDS:
            runs = [measure(kind, robots, seed, options.until) for seed in range(options.seeds)]
            error, good, share = (median(run[i] for run in runs) for i in range(3))
            quality.append(good)
            print(f"{robots:6d}  {kind:17s}  {error:18.3f}  {good:11.4f}  {share:8.4f}", flush=True)
        holds = quality[0] >= quality[1] >= max(quality[2:])
        print(f"        map quality truth >= noise >= odometry: {'holds' if holds else 'DOES NOT HOLD'}")


if __name__ == "__main__":
    main()
