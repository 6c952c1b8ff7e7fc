"""Runs of a design, a row each in a CSV file, one iteration after the other: a study cut short is a smaller study."""

import csv
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from covey.experiments.design.load import load_design
from covey.experiments.design.plan import PlannedRun, plan


def run_all(
    design_name: str,
    keys: Sequence[str],
    rows: Path,
    seeds: int,
    part: str = "1/1",
    only: Callable[[PlannedRun], bool] = lambda one: True,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Execute the runs without a row.

    Args:
        design_name: name of the design.
        keys: the parameters that, with the iteration, tell its runs apart.
        rows: the file; a run that has its row there is not run again.
        seeds: iterations.
        part: ``"1/2"`` and ``"2/2"`` can run beside each other with the same file.
        only: runs that count.
        settings: values of all runs, by path in the scenario.
    """
    design = load_design(design_name)
    planned = [one for one in plan(design) if one.iteration < seeds and only(one)]
    planned.sort(key=lambda one: one.iteration)
    names = [*keys, "iteration"]
    done = {tuple(row[name] for name in names) for row in read(rows)}
    first, parts = map(int, part.split("/"))
    for one in planned[first - 1 :: parts]:
        what = {name: one.values[name] for name in keys} | {"iteration": one.iteration}
        if tuple(map(str, what.values())) in done:
            continue
        begun = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            scenario = one.load().replace("execution.step_budget_s", 3600.0)  # the machine may rest meanwhile
            for path, value in settings.items():
                scenario = scenario.replace(path, value)
            run = scenario.build(Path(folder) / "run").run()
            row = what | {"status": run.status}
            row |= {name: run.metrics[name] for name in design.metrics}
        row["cpu_s"] = round(time.process_time() - begun, 1)
        is_new = not rows.exists()
        with rows.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, row)
            if is_new:
                writer.writeheader()
            writer.writerow(row)
        print({key: value for key, value in row.items() if value is not None}, flush=True)


def read(rows: Path) -> list[dict[str, str]]:
    """Return the rows of a file; none if there is no file."""
    if not rows.exists():
        return []
    with rows.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
