"""Studies with controllers that keep state in their module, by 1, 2 and 3 workers: the tables are equal.

The workers stay from study to study.

::

    python -m attacks.jobs 50
"""

import argparse
import signal
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random

_MINE = """\
import covey
import {beside}

count = {start}
seen = []

class Counting:
    total = 0

    def __init__(self, *, nothing: int = 0):
        Counting.total += 1

    def step(self, robot):
        global count
        count += 1
        seen.append(robot.name)
        {beside}.memory[len({beside}.memory)] = count
        speed = {gain} * (count + len(seen) + len({beside}.memory) + Counting.total) / 10
        robot.drive(min(speed, 0.5), {turn})

@covey.controller("of file {beside}")
def registered(robot):
    pass
"""


def study(number: int, folder: Path, pools: Sequence[Executor]) -> bool:
    """Return whether a study drawn by its number has the same table by whatever workers."""
    from covey.experiments.analysis.table import deterministic
    from covey.experiments.design.records import Design
    from covey.experiments.run import run_design
    from covey.registry import forget_files

    random, beside = Random(number), f"beside_{number}"
    (folder / f"{beside}.py").write_text("memory = {}\n")
    gain, turn, start = random.uniform(0.001, 0.05), random.uniform(-0.5, 0.5), random.randrange(5)
    text = _MINE.format(beside=beside, gain=gain, turn=turn, start=start)
    (folder / f"mine_{number}.py").write_text(text)
    content = {
        "design": f"study {number}",
        "scenario": {
            "world": {"empty_m": [8, 8]},
            "robots": [
                {
                    "name": "a",
                    "robot": "disc",
                    "count": random.choice((1, 2)),
                    "controller": f"./mine_{number}.py:Counting",
                }
            ],
            "stop": {"timeout_s": 1},
        },
        "parameters": {"robots.a.controller.nothing": list(range(random.choice((2, 3, 4))))},
        "iterations": random.choice((1, 2)),
    }
    try:
        design = Design.model_validate(content, context={"folder": folder})
        results = [run_design(design, folder / f"out{number}-{i}", executor=pool) for i, pool in enumerate(pools)]
    finally:
        forget_files()
    assert all(row["status"] == "timeout" for one in results for row in one.rows), results[0].rows[0].get("reason")
    return len({deterministic(one.table).write_csv() for one in results}) == 1


def main() -> int:
    """Run studies, and say how many differ; after Ctrl-C, of those so far."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", type=int, nargs="?", default=50)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    differ, done = [], 0
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="covey-jobs-"))
        sys.path.insert(0, folder)
        pools = [stack.enter_context(ThreadPoolExecutor(workers)) for workers in (1, 2, 3)]
        for number in range(given.first, given.first + given.studies):
            if not study(number, Path(folder), pools):
                differ.append(number)
            done += 1
    print(f"{done} studies with 1, 2 and 3 workers: {len(differ)} differ {differ or ''}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
