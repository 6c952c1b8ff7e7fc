"""`covey check DESIGN` and `covey show DESIGN`."""

from contextlib import nullcontext

from covey.cli.bar import TextBar
from covey.cli.looking import say_unread
from covey.cli.progress import clock
from covey.errors import InvalidValueError, printable
from covey.experiments.design.confounds import (
    deaf_controllers,
    only_noise,
    unequal_parameters,
    without_one_alone,
)
from covey.experiments.design.describe import as_text, short
from covey.experiments.design.estimate import PROBE_S, TimeEstimate, TrialRun, estimate
from covey.experiments.design.load import find_design, load_design
from covey.experiments.design.plan import plan, scenarios
from covey.experiments.design.quantities import OF_COMPUTERS
from covey.experiments.design.records import Design
from covey.experiments.design.starts import check_starts
from covey.experiments.design.vectors import is_known
from covey.processors import processors
from covey.registry import Looking, looking
from covey.scenario.records import Scenario


def check_design(source: str, jobs: int | None, trusted_only: bool, trust: bool) -> None:
    """Print a design as a table, with the number of its runs and the time they will take."""
    with nullcontext(Looking()) if trust else looking(checks=True) as seen:
        _check_design(source, jobs, trusted_only, seen)


def _check_design(source: str, jobs: int | None, trusted_only: bool, seen: Looking) -> None:
    if jobs is not None and jobs < 1:
        raise InvalidValueError(f"--jobs {jobs}: must be at least 1")
    design = load_design(source, trusted_only=trusted_only)
    if not is_known(design):
        print(as_text(design))
        return say_unread(seen)
    planned = plan(design)
    print(printable(as_text(design), keep="\n"))
    wanted = sorted({name for m in design.measurements for name in m.record if name in OF_COMPUTERS})
    if wanted and not any(map(has_computers, (scenario for _, scenario in scenarios(design)))):
        print(f"note: {' and '.join(wanted)} will be empty: the robots have no computers and no processes of their own")
    print(f"\n{planned[-1].vector + 1} vectors x {design.iterations} iterations = {len(planned)} runs", flush=True)
    if not seen.stand_ins:
        print(_placed(design), flush=True)
        if said := only_noise(design):
            print(printable(f"note: {said}"))
    for line in (*unequal_parameters(design), *without_one_alone(design), *deaf_controllers(design)):
        print(printable(f"note: {line}"))
    if seen.unread:
        return say_unread(seen, ", and to estimate the time")
    cores = processors()
    for line in _lines(estimate(design), jobs or cores):
        print(line)


def show_design(source: str, trusted_only: bool) -> None:
    """Print a design as a table, and its file."""
    path = find_design(source)
    with looking():
        shown = as_text(load_design(source, trusted_only=trusted_only))
    print(printable(f"# design {source} ({path})\n{shown}", keep="\n"))
    text = printable(path.read_text(encoding="utf-8").rstrip())
    print(f"\n# its file\n{text}")


def has_computers(scenario: Scenario) -> bool:
    """Return whether the robots have computers to record: emulated ones or processes."""
    in_process = scenario.execution.controllers == "in_process"
    return not in_process or any(group.robot.computer is not None for group in scenario.robots)


def _placed(design: Design) -> str:
    """Place the robots of every vector, and return a sentence about it."""
    with TextBar() as bar:

        def show(done: int, of: int) -> None:
            if bar.in_terminal:
                bar.show(f"placing the robots: {done} of {of} worlds", done / of)

        return str(check_starts(design, show))


def _lines(found: TimeEstimate, jobs: int) -> list[str]:
    low, high = (probe.values for probe in found.probes)
    varied = [name for name in low if name in high and low[name] != high[name]]
    return [
        f"about {clock(found.wall_s(jobs))} with --jobs {jobs}, {clock(found.total_s)} one run at a time",
        "estimated from two trial runs on this machine, interpolated by the number of robots:",
        *(f"  {_line(probe, varied)}" for probe in found.probes),
    ]


def _line(probe: TrialRun, varied: list[str]) -> str:
    values = ", ".join(f"{name} {short(probe.values[name])}" for name in varied) or "only vector"
    how = f"{probe.status}" if probe.status else f"extrapolated from the first {PROBE_S:g} s"
    return f"vector {probe.vector} ({values}): {probe.wall_s:.1f} s for {probe.simulated_s:.0f} s simulated, {how}"
