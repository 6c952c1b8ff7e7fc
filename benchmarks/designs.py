"""What a design costs beyond stepping, and what a second worker gains.

Prints where the time of a run goes besides its steps, in a process that has done one before, as the median of 10 runs
(bar: 50 ms of reading, building and closing), then the wall time of 40 runs with 1 and with 2 workers, all included
(bar: 1.9 times as fast, on two idle cores). Run: python benchmarks/designs.py [RUNS [SIMULATED_SECONDS]]
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from covey.experiments.design.plan import PlannedRun, plan
from covey.experiments.design.records import Design
from covey.experiments.run import run_design
from covey.experiments.workers.execute import execute
from covey.experiments.workers.supervisor import compile_if_cold


def design(runs: int, timeout_s: float) -> Design:
    """Return a design of so many runs of the maze."""
    content = {"design": "benchmark", "scenario": "maze", "stop": {"explored": 0.99, "timeout_s": timeout_s}}
    return Design.model_validate({**content, "iterations": runs})


def seconds(runs: int, jobs: int, timeout_s: float) -> float:
    """Return the wall time of a design, from the call to the table, the start of the workers included [s]."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        run_design(design(runs, timeout_s), folder, jobs=jobs)
        return time.perf_counter() - started


def parts(planned: list[PlannedRun]) -> Iterator[tuple[float, float, float, float]]:
    """Yield the processor time [ms] of reading, building, closing, and all of a run but its steps, each run."""
    now = time.process_time
    with tempfile.TemporaryDirectory() as folder:
        for one in planned:
            place = Path(folder) / one.run_id
            started = now()
            scenario = one.load()
            read = now()
            sim = scenario.build(place / "steps")
            built = now()
            while not sim.done:
                sim.step()
            stepped = now()
            sim.run()
            closed = now()
            execute(one, place / "whole")
            whole = now() - closed - (stepped - built)
            yield tuple(1000 * t for t in (read - started, built - read, closed - stepped, whole))


def main() -> int:
    """Print the table; return 1 when a bar is missed."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    timeout_s = float(sys.argv[2]) if len(sys.argv) > 2 else 200.0
    compile_if_cold()
    _, *rows = parts(plan(design(11, 2.0)))
    read, built, closed, whole = (statistics.median(column) for column in zip(*rows, strict=True))
    print(f"a run after the first, besides its steps: {whole:.0f} ms of processor time")
    print(f"  reading {read:.1f} ms, building {built:.1f} ms, closing {closed:.1f} ms")
    one, two = seconds(runs, 1, timeout_s), seconds(runs, 2, timeout_s)
    print(f"{runs} runs of {timeout_s:g} s: {one:.1f} s with 1 worker, {two:.1f} s with 2: {one / two:.2f} x")
    return int(one / two < 1.9 or read + built + closed > 50.0)


if __name__ == "__main__":
    sys.exit(main())
