"""A recorded run again: its scenario, and its inputs at their steps."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from covey.errors import CoveyError, InvalidValueError, RunFolderError
from covey.events.inputs import recorded_inputs
from covey.experiments.workers.again import scenario_of
from covey.experiments.workers.row import ROW
from covey.results.run import Run
from covey.scenario.build import inputs
from covey.scenario.load import parse_scenario
from covey.scenario.records import Scenario


def recorded_scenario(run: Run, *, trusted_only: bool = False) -> Scenario:
    """Return the scenario of a run, with the files that it named.

    Args:
        run: the run.
        trusted_only: refuse a scenario that names code in a file.

    Raises:
        RunFolderError: the run had no scenario, or its scenario names other files now.
        ScenarioError: the scenario is wrong here, for example because a file is missing.
    """
    if (run.folder / ROW).is_file():
        return scenario_of(str(run.folder), trusted_only=trusted_only)
    text = run.manifest.get("scenario")
    if not text:
        raise RunFolderError(
            f"{run.folder} was not run from a scenario, so it cannot be simulated again; write the arguments of "
            "covey.Simulation into a scenario file and run that"
        )
    paths = [Path(item["path"]) for item in run.manifest["inputs"]]
    wrong: CoveyError | None = None
    for folder in dict.fromkeys([parent for path in paths for parent in path.parents] or [Path.cwd()]):
        try:
            scenario = parse_scenario(text, file=str(run.folder), folder=folder, trusted_only=trusted_only)
        except CoveyError as error:  # it is not the folder that its paths start from
            wrong = wrong or error
            continue
        if {path.resolve() for path in inputs(scenario)} == {path.resolve() for path in paths}:
            return scenario
    raise wrong or RunFolderError(f"{run.folder}: its scenario names other files now than when it was run")


class Repeated:
    """Gives a simulation the inputs of a run, each at its step, and ends it where somebody ended the run.

    Pass it as ``before_step`` to `Simulation.run`.

    Args:
        run: the recorded run.
    """

    def __init__(self, run: Run):
        self._run = run
        self._inputs: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for event in recorded_inputs(run):
            self._inputs[event.pop("at_step")].append(event)
        ended_by_hand = run.status in ("stopped", "interrupted")
        self._last = (int(run.steps[-1]) if len(run.steps) else 0) if ended_by_hand else None

    def __call__(self, sim: Any) -> None:
        """Do what was done before this step.

        Raises:
            InvalidValueError: an input does not fit into the simulation.
        """
        for event in self._inputs[sim.clock.step]:
            try:
                sim.do(event)
            except InvalidValueError as error:
                raise InvalidValueError(
                    f"the input {event!r} of {self._run.folder} at step {sim.clock.step} does not fit: {error}; the "
                    "inputs of a run fit only into its own scenario"
                ) from None
        if self._last is not None and sim.clock.step >= self._last:
            sim.end()
