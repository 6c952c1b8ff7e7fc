"""The price of what a run records besides its tables (``record:``), in time and bytes.

`maze` with 6 robots to its goal, without plans and with each of: plans, scans every second, maps every 5 s, all three;
runs in turn. The time is the CPU time of what records them, over that of the whole run, medians; what the clock itself
takes is left out. Then 100 robots that only drive, with a handle each: looking for plans where there are none.
Run: python benchmarks/recording.py [rounds]
"""

import statistics
import sys
import time
from typing import Any

from overhead import Bounce, simulation

import covey
from covey.results.archive import Archive
from covey.runtime.phases.detailing import Detailing
from covey.scenario.load import load_scenario

KINDS: dict[str, dict[str, Any]] = {
    "nothing": {"plans": False},
    "plans": {},
    "scans every 1 s": {"plans": False, "scans_every_s": 1.0},
    "maps every 5 s": {"plans": False, "maps_every_s": 5.0},
    "all three": {"scans_every_s": 1.0, "maps_every_s": 5.0},
}
spent = 0.0


def timed(function):
    """Return ``function`` with its CPU time added to `spent`."""

    def call(*arguments):
        global spent
        begin = time.thread_time()
        try:
            return function(*arguments)
        finally:
            spent += time.thread_time() - begin

    return call


def maze(record: dict[str, Any]) -> covey.Simulation:
    """Return the maze."""
    return load_scenario("maze").replace("record", record).build()


def drivers(record: dict[str, Any]) -> covey.Simulation:
    """Return 100 robots that go nowhere in particular, with a handle each."""
    return simulation(Bounce, 100, record=record)


def measure(make, kinds: list[str], rounds: int, until_s: float) -> None:
    """Print the time and the bytes of each kind of recording beside the first."""
    global spent
    make(KINDS["all three"]).run(until_s=min(until_s, 7.0))  # compiles
    shares: dict[str, list[float]] = {kind: [] for kind in kinds}
    sizes = {}
    for _ in range(rounds):
        for kind in kinds:
            sim, spent, begin = make(KINDS[kind]), 0.0, time.process_time()
            run = sim.run(until_s=until_s)
            shares[kind].append(spent / (time.process_time() - begin))
            sizes[kind] = sum(path.stat().st_size for path in run.folder.iterdir() if path.name != "host.parquet")
    clock, size = statistics.median(shares[kinds[0]]), sizes[kinds[0]]
    for kind in kinds[1:]:
        share, more = statistics.median(shares[kind]) - clock, sizes[kind] - size
        print(
            f"{make.__name__}, {kind}: {share:.1%} of the CPU time, {more / 1e3:.1f} kB ({more / size:.1%})", flush=True
        )


if __name__ == "__main__":
    Detailing.observe = timed(Detailing.observe)
    Archive.finish = timed(Archive.finish)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    measure(maze, list(KINDS), rounds, 2000.0)
    measure(drivers, ["nothing", "plans"], rounds, 30.0)
