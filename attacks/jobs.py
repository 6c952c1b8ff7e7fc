"""Studies with controllers that keep state in their module, by 1, 2 and 3 workers: the tables are equal.

::

    python -m attacks.jobs 50
"""

import argparse
import sys
import tempfile
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


def study(number: int, folder: Path) -> bool:
    """Return whether a study drawn by its number has the same table with 1, 2 and 3 workers."""
    from covey.experiments.records import Design
    from covey.experiments.run import run_design
    from covey.experiments.table import deterministic
    from covey.registry import forget_files

    random, beside = Random(number), f"beside_{number}"
    (folder / f"{beside}.py").write_text("memory = {}\n")
    gain, turn, start = random.uniform(0.001, 0.05), random.uniform(-0.5, 0.5), random.randrange(5)
    text = _MINE.format(beside=beside, gain=gain, turn=turn, start=start)
    (folder / "mine.py").write_text(text)
    content = {
        "design": f"study {number}",
        "scenario": {
            "world": {"empty_m": [8, 8]},
            "robots": [
                {"name": "a", "robot": "disc", "count": random.choice((1, 2)), "controller": "./mine.py:Counting"}
            ],
            "stop": {"timeout_s": 1},
        },
        "parameters": {"robots.a.controller.nothing": list(range(random.choice((2, 3, 4))))},
        "iterations": random.choice((1, 2)),
    }
    sys.path.insert(0, str(folder))
    try:
        design = Design.model_validate(content, context={"folder": folder})
        results = [run_design(design, folder / f"out{jobs}", jobs=jobs) for jobs in (1, 2, 3)]
    finally:
        sys.path.remove(str(folder))
        forget_files()
    assert all(row["status"] == "timeout" for one in results for row in one.rows), results[0].rows[0].get("reason")
    return len({deterministic(one.table).write_csv() for one in results}) == 1


def main() -> int:
    """Run studies, and say how many differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", type=int, nargs="?", default=50)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    given = parser.parse_args()
    differ = []
    for number in range(given.first, given.first + given.studies):
        with tempfile.TemporaryDirectory(prefix="covey-jobs-") as folder:
            if not study(number, Path(folder)):
                differ.append(number)
    print(f"{given.studies} studies with 1, 2 and 3 workers: {len(differ)} differ {differ or ''}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
