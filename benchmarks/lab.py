"""The lab: steps per CPU-second of laws that drive a group, recording included, on one core.

* 20 unicycles without sensors in a walled square, one law for all: constant twists, and cyclic pursuit;
* 10 000 discs of 0.05 m in an empty square, 1 robot / m2.

The physics takes one substep in a control step of 0.1 s. Only the CPU time of this process counts. A row has the mean
and the best of windows of 400 steps, of 14 for the discs; the second machine in the same minute is a plain loop of
small NumPy sums, in ``us per turn``: compare figures of different minutes by it. Run: python benchmarks/lab.py
"""

import math
import statistics
import time

import numpy as np

import covey
from covey.runtime.pacing import rare_collections

WINDOWS, STEPS = 150, 400


@covey.controller(scope="group", sees=("pose",))
def circles(team):
    """Drive in circles."""
    return 0.1, 0.3


@covey.controller(scope="group", sees=("pose",))
def pursuit(team):
    """Cyclic pursuit: each robot drives towards the next one."""
    return 0.2, 0.8 * team.bearing_to(team.after(1))


def simulation(law, starts: np.ndarray, radius_m: float, side_m: float) -> covey.Simulation:
    """Return a simulation of discs without sensors at poses (n, 3), in an empty square whose middle is (0, 0)."""
    robot = covey.RobotModel(name="disc", kinematics="unicycle", radius_m=radius_m)
    return covey.Simulation(
        covey.World.empty(side_m, side_m),
        [covey.Group("robot", robot, starts, law)],
        execution=covey.Execution(step_s=0.1, substep_s=0.1),
        stop=covey.Stop(timeout_s=1e6),
    )


def ring(count: int, radius_m: float) -> np.ndarray:
    """Return poses on a circle, each towards the next."""
    angle = 2.0 * math.pi * np.arange(count) / count
    return np.column_stack((radius_m * np.cos(angle), radius_m * np.sin(angle), angle + math.pi / 2))


def square(count: int, gap_m: float) -> np.ndarray:
    """Return poses on a square lattice with random headings."""
    side = math.ceil(math.sqrt(count))
    x, y = (np.arange(count) % side - 0.5 * side + 0.5) * gap_m, (np.arange(count) // side - 0.5 * side + 0.5) * gap_m
    return np.column_stack((x, y, np.random.default_rng(1).uniform(-math.pi, math.pi, count)))


def turn_us() -> float:
    """Return the CPU time of a turn of a plain loop [us], the best of some."""
    best = math.inf
    for _ in range(50):
        begun, numbers = time.thread_time(), np.zeros(20)
        for k in range(200):
            numbers = numbers + float(k)
        best = min(best, time.thread_time() - begun)
    return best / 200 * 1e6


def measured(sim: covey.Simulation, windows: int, steps: int) -> tuple[float, float]:
    """Return the mean and the best CPU time of a step [s], over windows of steps; after a warm-up that compiles."""
    spent = []
    with rare_collections():
        for _ in range(windows + 1):
            begun = time.process_time()
            for _ in range(steps):
                sim.step()
            spent.append((time.process_time() - begun) / steps)
    return statistics.fmean(spent[1:]), min(spent[1:])


def main() -> None:
    """Print the figures."""
    print(f"a turn of the plain loop: {turn_us():.2f} us")
    for title, law, starts in (
        ("20 unicycles, constant twists", circles, square(20, 1.5)),
        ("20 unicycles, cyclic pursuit", pursuit, ring(20, 8.0)),
    ):
        mean, best = measured(simulation(law, starts, 0.1, 20.0), WINDOWS, STEPS)
        print(f"{title:32} {1 / mean:9,.0f} steps/CPU-s, best {1 / best:9,.0f}; bar 20 000, aim 100 000")
    mean, best = measured(simulation(circles, square(10_000, 1.0), 0.05, 102.0), 6, 14)
    rate, top = 0.01 / mean, 0.01 / best
    print(f"{'10 000 discs, constant twists':32} {rate:9.2f} M robot-steps/CPU-s, best {top:.2f}; bar 1 M")


if __name__ == "__main__":
    main()
