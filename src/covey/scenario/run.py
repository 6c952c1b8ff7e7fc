"""Run a scenario into a folder."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from covey.results.run import Run
    from covey.runtime.simulation import Simulation
    from covey.scenario.records import Scenario


def run_scenario(
    scenario: "Scenario",
    folder: Path | str | None,
    *,
    speed: float | Literal["max"] = "max",
    overwrite: bool = False,
    observers: Iterable[Any] = (),
    before_step: "Callable[[Simulation], Any] | None" = None,
    until_s: float | None = None,
    hosting: Any = None,
) -> "Run":
    """Run a scenario to its end and return the run.

    Args:
        scenario: what to run.
        folder: the run folder; None for a temporary one.
        speed: ``max``, simulated seconds per second, or 0 to wait for a key at each step.
        overwrite: replace a finished run in ``folder``.
        observers: called with each frame.
        before_step: called with the simulation before each step; it may call `Simulation.do`.
        until_s: stop at this simulated time [s] in any case.
        hosting: host of the controllers; replaces the setting of the scenario, see `Simulation`.

    Raises:
        CoveyError: the map file is invalid, the robots do not fit, or the folder cannot be written. Nothing is written
            before everything has been checked.
    """
    from covey.scenario.build import build, set_up
    from covey.scenario.warmup import compiling, is_cold

    # Report problems before compiling anything.
    with compiling(check=lambda: set_up(scenario)) if is_cold() else nullcontext():
        simulation = build(scenario, folder=folder, overwrite=overwrite, observers=observers, hosting=hosting)
    return simulation.run(speed=speed, before_step=before_step, until_s=until_s)
