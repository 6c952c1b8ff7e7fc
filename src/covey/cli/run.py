"""`covey run` and `covey plot`."""

import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from covey.cli.bar import TextBar
from covey.cli.commands import StreamCommands
from covey.cli.exit_codes import INTERRUPTED, NOT_REACHED, REACHED
from covey.cli.looking import refuse_code_of
from covey.cli.profile import print_profile, sampled, write_profile
from covey.cli.progress import ProgressBar
from covey.cli.tables import print_metrics, print_reports
from covey.errors import InvalidValueError, UnknownNameError
from covey.experiments.repeating import Repeated, recorded_scenario
from covey.experiments.workers.again import scenario_of
from covey.registry import looking
from covey.results.given_up import sentence
from covey.results.metrics.headlines import of_interest
from covey.results.run import Run
from covey.runtime.local.failures import stopped
from covey.scenario.folders import check_folder, fresh_folder
from covey.scenario.overrides import override
from covey.scenario.run import run_scenario

PICTURE_NAMES = (
    *("overview", "trajectories", "union_map", "robot_maps", "exploration_heat", "coverage_heat", "explored_share"),
    *("finds", "belief", "belief_error", "perspective", "animation", "film"),
)
"""Copy of `covey.results.figures.NAMES`, which needs matplotlib to load."""
_USUAL = ("overview", "perspective", "animation")
_ABSENT = {
    **dict.fromkeys(("belief", "belief_error", "perspective"), "only a run on a landscape has it"),
    "film": "only a run on a landscape has it; the film of a floor is animation",
    "finds": "only a run with targets, and not with very many robots, has it",
}
SLOWEST = 1e-3
"""Lowest speed [simulated seconds per second of wall time]; below it, one step would take minutes."""


def run_command(
    source: str,
    changes: Mapping[str, Any],
    out: Path | None,
    speed: str,
    force: bool,
    quiet: bool,
    pictures: Sequence[str] | None,
    trusted_only: bool,
    commands: Path | None = None,
    page: tuple[str, int] | None = None,
    inputs: bool = False,
    paused: bool = False,
    profile: bool = False,
) -> int:
    """Run a scenario, print its main metrics and its paths, and return the exit code.

    Args:
        page: address and port of a page that shows the run; None: no page.
        inputs: ``source`` is a run folder, and the run gets its inputs too.
        paused: with a page, the run waits before its first step.
        pictures: names of the pictures to draw; may be empty; None: the usual ones.
        profile: print which phases and functions took the time, and write a flame graph.

    The other arguments are those of `covey run`.
    """
    _check_names(pictures or ())
    factor = parse_speed(speed)
    if factor == 0 and page is not None:
        raise InvalidValueError("--speed 0 waits for keys; with --live, pause the run in the page")
    if factor == 0 and not sys.stdin.isatty():
        raise InvalidValueError(
            "--speed 0 waits for a key at each step, but there is no terminal; give a factor such as --speed 1, or max"
        )
    recorded = Run(source) if inputs else None
    if recorded is None:
        scenario = scenario_of(source, changes, trusted_only=trusted_only)
    else:
        scenario = recorded_scenario(recorded, trusted_only=trusted_only)
        if changes:
            scenario = override(scenario, changes, trusted_only=trusted_only, here=Path.cwd())
    if out is not None:
        check_folder(out, overwrite=force)
    before = [*([] if recorded is None else [Repeated(recorded)]), *([] if commands is None else [_commands(commands)])]
    bar = nullcontext() if quiet else ProgressBar(scenario.stop)
    with nullcontext(out) if out is not None else fresh_folder(scenario.name) as folder:
        try:
            with bar as progress, _failures_last(not quiet), sampled() if profile else nullcontext() as profiler:
                observers = () if progress is None else (progress,)
                how = {"speed": factor, "overwrite": force, "observers": observers, "before_step": _each(before)}
                if page is None:
                    run = run_scenario(scenario, folder, **how)
                else:
                    from covey.cli.live import run_live  # loads the server

                    run = run_live(scenario, folder, page, paused=paused, **how)
        except KeyboardInterrupt:
            if (folder / "manifest.json").is_file():
                print(f"interrupted; the record up to now is in {folder}", file=sys.stderr)
            return INTERRUPTED
    if not quiet:
        print_metrics(of_interest(run))
        if told := sentence(run):
            Console(highlight=False, soft_wrap=True, markup=False).print(f"\ngiven up    {told}")
        if run.reports is not None:
            print_reports(run.reports)
    if profiler is not None:
        written = write_profile(profiler, run.folder)
        if not quiet:
            print_profile(profiler, run.manifest["phase_s"], written)
    drawn = [] if pictures == [] else _draw(run, None, pictures or _USUAL, "png", quiet=quiet)
    _tell_of_absent(pictures or (), drawn)
    if quiet:
        print(folder)
    else:
        _print_paths(run, drawn)
        _print_failures(run)
    return REACHED if run.status == "reached" else NOT_REACHED


def draw(
    folder: Path,
    names: Sequence[str],
    out: Path | None,
    kind: Literal["png", "svg", "pdf"],
    caption: str = "",
    *,
    trusted_only: bool,
) -> list[Path]:
    """Write the named pictures of a run, or all of them, and return their paths.

    Raises:
        InvalidValueError: there is a caption, but no moving picture to which it belongs.
        RunFolderError: the folder holds no finished run, or cannot be written.
        UnknownNameError: there is no picture with such a name.
        ScenarioError: the run's scenario names code in a file, and ``trusted_only`` is set.
    """
    _check_names(names)
    if caption and names and not {"animation", "film"} & {*names}:
        raise InvalidValueError("--caption is for moving pictures: name animation or film, too")
    run = Run(folder)
    with looking():
        if trusted_only:
            refuse_code_of(run)
        drawn = _draw(run, out, names or PICTURE_NAMES, kind, caption)
    _tell_of_absent(names, drawn)
    return drawn


def parse_speed(text: str) -> float | Literal["max"]:
    """Return the speed that was typed: ``max``, or simulated seconds per second.

    Raises:
        InvalidValueError: the text is neither.

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
            f"--speed {text}: write max, a factor of at least {SLOWEST:g} such as 1 or 10, or 0 to wait for a key"
        )
    return factor


def _each(calls: Sequence[Callable[[Any], Any]]) -> Callable[[Any], None] | None:
    """Return a function that calls all; None if there are none."""

    def call(sim: Any) -> None:
        for one in calls:
            one(sim)

    return call if calls else None


def _commands(source: Path) -> StreamCommands:
    if str(source) == "-":
        return StreamCommands(sys.stdin)
    try:  # a pipe opened for writing too does not wait for a writer and never ends
        opened = os.open(source, os.O_RDWR if source.is_fifo() else os.O_RDONLY)
        return StreamCommands(os.fdopen(opened, encoding="utf-8", errors="backslashreplace"))
    except OSError as error:
        raise InvalidValueError(f"--commands {source}: cannot read it: {error.strerror or error}") from error


def _draw(
    run: Run, out: Path | None, names: Sequence[str], kind: str, caption: str = "", *, quiet: bool = False
) -> list[Path]:
    with nullcontext() if quiet else TextBar() as bar:
        if bar is not None:
            bar.show("loading matplotlib", 0.0)
        from covey.results.figures import save_all  # loads matplotlib, which the first step must not wait for

        told = {} if bar is None else {"progress": _teller(bar)}
        return save_all(run, out, (kind,), names=names, caption=caption, **told)


def _tell_of_absent(asked: Sequence[str], drawn: Sequence[Path]) -> None:
    """Print why pictures that were asked for have not been drawn."""
    for name in asked:
        if name not in {path.stem for path in drawn}:
            why = _ABSENT.get(name, "the run has not recorded its data")
            print(f"{name}: not drawn: {why}", file=sys.stderr)


def _check_names(names: Sequence[str]) -> None:
    if unknown := [name for name in names if name not in PICTURE_NAMES]:
        raise UnknownNameError("picture", unknown[0], PICTURE_NAMES)


def _teller(bar: TextBar) -> Callable[[str, float], None]:
    """Return a function that shows the progress of drawing: one line per picture if the output is a file."""
    last = ""

    def tell(text: str, done: float) -> None:
        nonlocal last
        if bar.in_terminal or text != last:
            bar.show(text, done)
        last = text

    return tell


@contextmanager
def _failures_last(ours: bool) -> Iterator[None]:
    """Silence the simulation's final list of failed controllers; `run_command` prints it below the metrics."""
    log = logging.getLogger("covey.end")
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
    say(f"\nrun folder  {run.folder} (metrics.json has all {len(run.metrics)} metrics)")
    if drawn:
        names = ", ".join(path.name for path in drawn)
        say(f"pictures    {drawn[0].parent} ({names}); for more: covey plot {shlex.quote(str(run.folder))}")
