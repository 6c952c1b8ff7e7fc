"""What a faster lidar costs: processor time of whole runs, as ratios to the rate of the control step.

Pioneers explore the maze with their lidar of 180 rays at 10, 25, 50 and 100 Hz. Each round runs all rates one after
another, so that what else the machine does meets all of them; the medians of the ratios are printed.

Run: python benchmarks/sensor_rates.py [rounds] [seconds]
"""

import sys
import time

import numpy as np

from covey.scenario.build import build
from covey.scenario.load import load_scenario

RATES = (10, 25, 50, 100)


def run(rate_hz: float, seconds: float) -> float:
    """Return the processor time of a run [s]."""
    sim = build(load_scenario("maze", {"robots.scout.robot.sensors": [{"kind": "sick_lms500", "rate_hz": rate_hz}]}))
    begun = time.process_time()
    while sim.time < seconds:
        sim.step()
    spent = time.process_time() - begun
    sim.close()
    return spent


def main() -> None:
    """Print the table."""
    rounds, seconds = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((1, 5), (2, 60)))
    run(RATES[0], 1.0)  # compiles
    times = np.array([[run(rate, seconds) for rate in RATES] for _ in range(rounds)])
    ratios = np.median(times / times[:, :1], axis=0)
    print("| rate of the lidar | processor time of a run |\n|---|---|")
    for rate, ratio in zip(RATES, ratios, strict=True):
        print(f"| {rate} Hz | {ratio:.2f} |")


if __name__ == "__main__":
    main()
