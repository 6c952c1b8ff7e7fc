"""Recording the steps of one robot of a recorded run, by simulating the run again."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, RunFolderError, UnknownNameError
from covey.experiments.repeating import Repeated, recorded_scenario
from covey.lazy import pl
from covey.mapping.records import ElevationMapping
from covey.results.folder import STEPS, within
from covey.results.manifest import sha256, versions
from covey.results.run import Run
from covey.runtime.replay.recorded import RecordedRobot
from covey.scenario.records import Scenario
from covey.scenario.run import run_scenario


def log_of(run: Path, robot: str) -> Path:
    """Return the file for the steps of a robot of a run.

    Raises:
        RunFolderError: the folder for it is a link.
    """
    return within(run, STEPS) / f"{robot}.jsonl.gz"


def record_steps(folder: Path, robot: str, path: Path, observers: Iterable[Any] = ()) -> int:
    """Simulate a run again, and write the steps of one of its robots into a file; return their number.

    Args:
        folder: the run folder.
        robot: name of the robot.
        path: the file.
        observers: called with each frame.

    Raises:
        RunFolderError: the run cannot be simulated again, or its result differs.
        UnknownNameError: the run has no such robot.
        InvalidValueError: the robot has no controller of its own, or its run cannot be recorded.
    """
    run = Run(folder)
    _check_files(run)
    scenario = recorded_scenario(run)
    _check(run, scenario, robot)
    recorded = RecordedRobot(robot, path)
    try:
        with TemporaryDirectory() as scratch:
            again = run_scenario(
                scenario,
                Path(scratch) / "run",
                observers=observers,
                before_step=Repeated(run),
                until_s=float(run.times[-1]) if len(run.times) else 0.0,
                hosting=recorded.hosting,
            )
            _compare(run, again, robot)
    except BaseException:
        recorded.log.abandon()
        raise
    recorded.log.close()
    return recorded.log.steps


def _check_files(run: Run) -> None:
    """Raise `RunFolderError` if a file that the scenario named is missing, or has changed since."""
    files = {Path(item["path"]): item["sha256"] for item in run.manifest["inputs"]}
    if missing := [str(path) for path in files if not path.is_file()]:
        raise RunFolderError(f"{run.folder}: files of its scenario are missing: {', '.join(missing)}")
    for path, digest in files.items():
        if sha256(path) != digest:
            raise RunFolderError(
                f"{path} has changed since {run.folder} was run, so the run cannot be simulated again; run the "
                "scenario again, or undo the change, record the steps with covey replay-robot, and then edit"
            )


def _check(run: Run, scenario: Scenario, robot: str) -> None:
    """Raise an error if the run cannot be simulated again, or the robot cannot be recorded."""
    manifest, now = run.manifest, versions()
    if robot not in manifest["robots"]:
        raise UnknownNameError("robot", robot, manifest["robots"])
    group = next(g for g in scenario.robots if robot in [f"{g.name}{i}" for i in range(g.count)])
    if group.controller.program.scope != "robot":
        name = group.controller.program.name
        raise InvalidValueError(
            f"{robot} has no controller of its own: {name} commands several robots at once; only a controller of one "
            "robot can be replayed"
        )
    if any(isinstance(g.robot.mapping, ElevationMapping) for g in scenario.robots):
        raise InvalidValueError(f"robots of {run.folder} map the ground, which cannot be recorded yet")
    if not manifest.get("repeatable", True):
        raise RunFolderError(f"{run.folder} is not repeatable: it depended on wall time, or on a process that died")
    others = [f"{n} {v} (now {now.get(n)})" for n, v in manifest["versions"].items() if v != now.get(n) and v]
    if manifest["versions"]["covey"] != now["covey"]:
        raise RunFolderError(f"{run.folder} was run with {', '.join(others)}; run its scenario again with this version")


def _compare(run: Run, again: Run, robot: str) -> None:
    """Raise an error if the robot behaved differently in the repeated simulation."""
    was, now = (one.measurements.filter(pl.col("robot") == robot) for one in (run, again))
    n = min(was.height, now.height)
    same = _same_rows(was[:n], now[:n])
    if was.height == now.height and same.all():
        return
    differs = int(np.argmin(same)) if not same.all() else n - 1
    at = run.times[differs] if n else 0.0
    raise RunFolderError(
        f"{robot} behaves differently than in {run.folder} from {at:g} s on when the run is simulated again; its "
        "controller depends on something that is not repeated (the clock, files, globals), or libraries have changed"
    )


def _same_rows(a: "pl.DataFrame", b: "pl.DataFrame") -> np.ndarray:
    """Return the rows in which all columns are equal; NaN equals NaN."""
    columns = [
        (x == y) | ((x != x) & (y != y)) for x, y in ((a[name].to_numpy(), b[name].to_numpy()) for name in a.columns)
    ]
    return np.logical_and.reduce(columns)
