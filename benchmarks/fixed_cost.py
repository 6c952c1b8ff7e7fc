"""What a run costs besides its steps, in a process that has run the scenario before: CPU milliseconds.

Printed are the median over some runs of reading the scenario, building the simulation, and closing it with all tables,
maps and metrics written. Run: python benchmarks/fixed_cost.py [robots]
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from covey.scenario.build import build
from covey.scenario.load import load_scenario


def one(robots: int, seed: int) -> list[float]:
    """Run the maze for five seconds; return what reading, building and closing took [ms]."""
    with tempfile.TemporaryDirectory() as folder:
        at = [time.process_time()]
        scenario = load_scenario("maze", {"robots.scout.count": robots, "seed": seed})
        at.append(time.process_time())
        sim = build(scenario, folder=Path(folder) / "run")
        at.append(time.process_time())
        for _ in range(50):
            sim.step()
        stepped = time.process_time()
        sim.close()
        return [1e3 * (at[1] - at[0]), 1e3 * (at[2] - at[1]), 1e3 * (time.process_time() - stepped)]


def main() -> None:
    """Print the figures."""
    robots = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    one(robots, 0)
    read, built, closed = (
        statistics.median(column) for column in zip(*(one(robots, k) for k in range(5)), strict=True)
    )
    total = read + built + closed
    print(f"{robots} robots: reading {read:.0f} ms, building {built:.0f} ms, closing {closed:.0f} ms: {total:.0f} ms")


if __name__ == "__main__":
    main()
