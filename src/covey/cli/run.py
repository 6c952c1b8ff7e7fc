"""`covey run` and `covey plot`."""

import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from covey.cli import INTERRUPTED, NOT_REACHED, REACHED
from covey.cli.commands import Commands
from covey.cli.progress import ProgressBar
from covey.cli.tables import print_metrics
from covey.errors import InvalidValueError
from covey.experiments.again import scenario_of
from covey.registry import looking
from covey.results.run import Run
from covey.scenario.folders import check_folder, fresh_folder
from covey.scenario.load import parse_scenario
from covey.scenario.run import run_scenario
from covey.sim.failures import stopped

_EMPTY = "{world: {empty_m: [1, 1]}, robots: [{}]}"  # of a run that no file describes
SLOWEST = 1e-3
"""Simulated seconds per second of wall time; at less, one step would take minutes."""


def run_command(
    source: str,
    changes: Mapping[str, Any],
    out: Path | None,
    speed: str,
    force: bool,
    quiet: bool,
    pictures: bool,
    trusted_only: bool,
    commands: Path | None = None,
) -> int:
    """Run a scenario, print its metrics and where they are, and return the exit code."""
    factor = parse_speed(speed)
    scenario = scenario_of(source, changes, trusted_only=trusted_only)
    if out is not None:
        check_folder(out, overwrite=force)
    typed = None if commands is None else _commands(commands)
    bar = nullcontext() if quiet else ProgressBar(scenario.stop)
    with nullcontext(out) if out is not None else fresh_folder(scenario.name) as folder:
        try:
            with bar as progress, _failures_last(not quiet):
                observers = () if progress is None else (progress,)
                run = run_scenario(
                    scenario, folder, speed=factor, overwrite=force, observers=observers, before_step=typed
                )
        except KeyboardInterrupt:
            if (folder / "manifest.json").is_file():
                print(f"interrupted; what was recorded until then is in {folder}", file=sys.stderr)
            return INTERRUPTED
    drawn = _draw_all(run) if pictures else []
    if quiet:
        print(folder)
    else:
        print_metrics(run.metrics)
        _print_paths(run, drawn)
        _print_failures(run)
    return REACHED if run.status == "reached" else NOT_REACHED


def draw(
    folder: Path, out: Path | None, kind: Literal["png", "svg", "pdf"], *, trusted_only: bool = False
) -> list[Path]:
    """Write the pictures of a run and return their paths.

    Raises:
        RunFolderError: the folder holds no finished run, or cannot be written.
        ScenarioError: the run was one of a scenario that names code of a file, and ``trusted_only`` is set.
    """
    run = Run(folder)
    with looking():
        if trusted_only:
            parse_scenario(run.manifest.get("scenario") or _EMPTY, file=str(folder), trusted_only=True)
        return _draw_all(run, out, kinds=(kind,))


def parse_speed(text: str) -> float | Literal["max"]:
    """Return the speed that was typed: ``max``, or simulated seconds per second.

    Raises:
        InvalidValueError: it is neither.

    Examples:
        >>> parse_speed("max"), parse_speed("0.5")
        ('max', 0.5)
    """
    if text == "max":
        return "max"
    try:
        factor = float(text)
    except ValueError:
        factor = -1.0
    if factor != 0 and not SLOWEST <= factor < float("inf"):
        raise InvalidValueError(
            f"--speed {text}: write max, a factor such as 1 or 10, or 0 to step by key; {SLOWEST:g} is the least"
        )
    return factor


def _commands(source: Path) -> Commands:
    if str(source) == "-":
        return Commands(sys.stdin)
    try:  # a pipe that is open for writing too waits for nobody, and has no end
        return Commands(os.fdopen(os.open(source, os.O_RDWR if source.is_fifo() else os.O_RDONLY), encoding="utf-8"))
    except OSError as error:
        raise InvalidValueError(f"--commands {source}: cannot be read: {error.strerror or error}") from error


def _draw_all(run: Run, *arguments: Any, **formats: Any) -> list[Path]:
    from covey.results.figures import save_all  # loads matplotlib, which the first step does not wait for

    return save_all(run, *arguments, **formats)


@contextmanager
def _failures_last(ours: bool) -> Iterator[None]:
    """Let the simulation leave it to us to say at the end which controllers failed, below the metrics."""
    log = logging.getLogger("covey")
    before = log.level
    log.setLevel(logging.ERROR if ours else before)
    try:
        yield
    finally:
        log.setLevel(before)


def _print_failures(run: Run) -> None:
    failed = run.events.filter(run.events["kind"] == "controller_failed").select("robot", "time_s", "text").rows()
    for line in stopped(failed):
        print(line, file=sys.stderr)


def _print_paths(run: Run, drawn: list[Path]) -> None:
    say: Callable[..., None] = Console(highlight=False, soft_wrap=True, markup=False).print
    say(f"\nrun folder  {run.folder}")
    if drawn:
        say(f"pictures    {drawn[0].parent} ({', '.join(path.name for path in drawn)})")
