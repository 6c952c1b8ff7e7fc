"""Robots that viewers add before the first step: the run begins anew, with a scenario that has them."""

from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, ScenarioError, UnknownNameError
from covey.results.run import Run
from covey.runtime.simulation import Simulation
from covey.scenario.build import try_out
from covey.scenario.dump import plain, text_of
from covey.scenario.overrides import override
from covey.scenario.records import Scenario
from covey.scenario.run import run_scenario
from covey.viewer.live import Anew, Live


class StartingTeam:
    """The scenario of a run before its first step, to which robots can be added.

    Attributes:
        scenario: with the robots that have been added.
        added: their names, in order.
        calls: what had been asked for when the run began anew; it happens in the first step all the same.
    """

    def __init__(self, scenario: Scenario):
        self.scenario, self.added = scenario, list[str]()
        self.calls: list[Any] = []
        self._earlier: list[Scenario] = []

    @property
    def text(self) -> str:
        """The part ``robots:`` of the scenario; empty if it is as it was written."""
        return text_of({"robots": plain(self.scenario.robots)}) if self.added else ""

    def change(self, sim: Simulation, group: str, pose: tuple[float, float, float] | None) -> None:
        """Add a robot, or take back the one that was added last. All others stay where they are.

        Args:
            sim: the simulation as it stands.
            group: name of a group of robots.
            pose: x, y [m], heading [deg]; None: take back.

        Raises:
            InvalidValueError: the run has begun, the robot cannot stand there, or there is none to take back.
        """
        if sim.clock.step:
            raise InvalidValueError("the run has begun: robots can be added before its first step only")
        if pose is None and not self.added:
            raise InvalidValueError("no robot has been added")
        if pose is None:
            self.scenario = self._earlier.pop()
            self.added.pop()
        else:
            scenario = _with_robot(self.scenario, sim, group, pose)
            self._earlier.append(self.scenario)
            self.added.append(f"{group}{next(one.count for one in self.scenario.robots if one.name == group)}")
            self.scenario = scenario
        self.calls = [call.record for call in sim.inputs.called]


def _with_robot(scenario: Scenario, sim: Simulation, name: str, pose: tuple[float, float, float]) -> Scenario:
    """Return a scenario with one more robot in a group; all start where they stand in the simulation."""
    changes: dict[str, Any] = {}
    for group in sim.groups:
        start = np.column_stack((group.start[:, :2], np.degrees(group.start[:, 2]))).tolist()
        if group.name == name:
            start.append(list(pose))
            changes[f"robots.{name}.count"] = len(start)
        changes[f"robots.{group.name}.start"] = start
    if f"robots.{name}.count" not in changes:
        raise UnknownNameError("group", name, [group.name for group in sim.groups])
    try:
        changed = override(scenario, changes)
        try_out(changed)
    except ScenarioError as error:
        told = "; ".join(problem.message for problem in error.problems)
        raise InvalidValueError(told.removeprefix(f"robots.{name}: ")) from None
    return changed


def run_shown(scenario: Scenario, folder: Path | str | None, live: Live, *, observers: Any = (), **options: Any) -> Run:
    """Run a scenario, and let viewers add robots before its first step; the arguments are those of `run_scenario`."""
    starts = live.starts = StartingTeam(scenario)
    before_step, anew = options.pop("before_step", None), False

    def before(sim: Simulation) -> None:
        if before_step is not None and not (anew and sim.clock.step == 0):  # what it did is among the calls
            before_step(sim)
        live.before_step(sim)

    observers = (*observers, live.observe)
    while True:
        try:
            return run_scenario(starts.scenario, folder, observers=observers, before_step=before, **options)
        except Anew:
            anew = True
