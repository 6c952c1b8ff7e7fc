"""`covey replay-robot`."""

import sys
from pathlib import Path

from covey.cli.exit_codes import NOT_REACHED, REACHED
from covey.errors import InvalidValueError, UnknownNameError
from covey.experiments.replay import log_of, record_steps
from covey.registry import forget_files
from covey.results.folder import run_folder
from covey.results.run import Run
from covey.runtime.replay.alone import replay
from covey.runtime.replay.log import StepLog


def replay_command(source: Path, robot: str | None, out: Path | None, force: bool, break_at_s: float | None) -> int:
    """Record the steps of a robot if there is no record yet, replay them with its software, and print the result.

    Args:
        source: the run folder, or a file of steps.
        robot: name of the robot; optional if ``source`` is a file.
        out: file for the steps.
        force: replace that file.
        break_at_s: when to enter the debugger [s].
    """
    path = source if source.is_file() else _recorded(source, robot, out, force)
    log = StepLog(path)
    if robot not in (None, log.robot):
        raise InvalidValueError(f"{path} holds the steps of {log.robot}, not of {robot}")
    found = replay(log, break_at_s)
    if break_at_s is not None and found.end_s < break_at_s - 1e-9:
        print(f"--break-at {break_at_s:g}: the steps end at {found.end_s:g} s", file=sys.stderr)
    first, changed = found.first, log.changed_files
    if first is None:
        print(f"{log.robot} gives the same answers in all {found.steps} steps")
    else:
        print(f"{log.robot} answers differently from step {first.step} on, at {first.time_s:g} s: {first.field}")
        print(f"  recorded  {first.recorded}\n  now       {first.now}")
        print(f"  {found.differ} of {found.steps} steps differ")
        if not changed:
            print("  its files have not changed: it depends on something else, such as a global, the clock or a file")
    for file in changed:
        print(f"  {file} has changed since the steps were recorded")
    return REACHED if first is None else NOT_REACHED


def _recorded(folder: Path, robot: str | None, out: Path | None, force: bool) -> Path:
    """Return the file with the steps of a robot of a run; record them if there is none."""
    if robot is None:
        raise InvalidValueError(f"name the robot too, for example: covey replay-robot {folder} scout0")
    folder = run_folder(folder)
    path = out or log_of(folder, robot)
    if path.is_file() and out is None:
        print(f"steps of {robot}: {path}")
        return path
    if path.exists() and not force:
        raise InvalidValueError(f"{str(path)!r} exists; choose another file, or add --force")
    if robot not in (names := Run(folder).names):
        raise UnknownNameError("robot", robot, names)
    print(f"simulating {folder} again to record the steps of {robot} …", flush=True)
    steps = record_steps(folder, robot, path)
    forget_files()  # the replayed controller starts with fresh globals
    print(f"wrote {steps} steps of {robot}: {path}")
    return path
