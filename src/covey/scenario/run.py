"""Run a scenario into a folder."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from covey.results.run import Run
    from covey.scenario.records import Scenario


def run_scenario(
    scenario: "Scenario",
    folder: Path | str | None,
    *,
    speed: float | Literal["max"] = "max",
    overwrite: bool = False,
    observers: Iterable[Any] = (),
) -> "Run":
    """Run a scenario to its end and return the run.

    Args:
        scenario: what to run.
        folder: the run folder; None for a temporary one.
        speed: ``max``, simulated seconds per second, or 0 to wait for a key at each step.
        overwrite: replace a finished run in ``folder``.
        observers: get each frame.

    Raises:
        CoveyError: the map file is bad, the robots do not fit, or the folder cannot be written. Nothing is written
            before everything has been checked.
    """
    from covey.scenario.build import build, set_up
    from covey.scenario.rehearsal import compile_all, is_cold

    if is_cold():
        compile_all(check=lambda: set_up(scenario))  # what is wrong is said before anything is compiled
    return build(scenario, folder=folder, overwrite=overwrite, observers=observers).run(speed=speed)
