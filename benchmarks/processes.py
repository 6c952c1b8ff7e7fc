"""A step with controllers in the simulator's process, and each in one of its own: wall and processor time, and traffic.

Pioneers explore the maze; pairs of runs of the same steps, in turn, and of each the median.
Run: python benchmarks/processes.py [robots] [controller] [steps] [pairs]
"""

import os
import statistics
import sys
import time

import psutil

from covey.scenario.build import build
from covey.scenario.load import load_scenario

WARM = 50
"""Steps before the clock runs: all kernels are loaded, all robots on their way."""


def measure(where: str, robots: int, controller: str, steps: int) -> tuple[float, float, float, list[float]]:
    """Return per step wall time, processor time of the simulator and of the controllers [ms], and KB by class."""
    changes = {"robots.scout.count": robots, "robots.scout.controller": controller, "execution.controllers": where}
    sim = build(load_scenario("maze", changes))
    for _ in range(WARM):
        sim.step()
    seats = list(sim.deciding.host.fleet.channels.values()) if where == "processes" else []
    processes = [psutil.Process(seat.pid) for seat in seats]
    before = sum(sum(process.cpu_times()[:2]) for process in processes)
    traffic = sum(seat.wire.sent + seat.wire.received for seat in seats)
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(steps):
        sim.step()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    apart = sum(sum(process.cpu_times()[:2]) for process in processes) - before
    traffic = (
        (sum(seat.wire.sent + seat.wire.received for seat in seats) - traffic) / steps / 1e3 if seats else [0.0] * 3
    )
    sim.close()
    return 1e3 * wall / steps, 1e3 * cpu / steps, 1e3 * apart / steps, list(traffic)


def main() -> None:
    """Print the figures."""
    robots, controller = int((sys.argv[1:] or ["4"])[0]), (sys.argv[2:] or ["minpos"])[0]
    steps, pairs = int((sys.argv[3:] or ["600"])[0]), int((sys.argv[4:] or ["3"])[0])
    runs = [[measure(where, robots, controller, steps) for where in ("in_process", "processes")] for _ in range(pairs)]
    for k, where in enumerate(("in the simulator's process", "each in its own")):
        wall, cpu, apart = (statistics.median(pair[k][i] for pair in runs) for i in range(3))
        print(f"{where}: {wall:.2f} ms wall, {cpu:.2f} + {apart:.2f} ms processor (simulator + controllers) per step")
    wall, cpu = (
        statistics.median(sum(pair[1][i] for i in some) / sum(pair[0][i] for i in some) for pair in runs)
        for some in ((0,), (1, 2))
    )
    print(f"{robots} x {controller}: {wall:.2f} times the wall time, {cpu:.2f} times the processor time")
    print("KB per step with simulator, monitor, team:", *(f"{kb:.1f}" for kb in runs[-1][1][3]))
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
