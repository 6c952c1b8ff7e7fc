"""Run a scenario as a team of robots in a graph of ROS 2."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from covey.results.run import Run
from covey.ros.bridge import Bridge
from covey.runtime.simulation import Simulation
from covey.scenario.controller import ControllerReference
from covey.scenario.records import RobotGroup, Scenario
from covey.scenario.run import run_scenario


def run_in_ros(
    scenario: Scenario,
    folder: Path | str | None,
    bridge: Bridge,
    *,
    overwrite: bool = False,
    observers: Iterable[Any] = (),
    before_step: Callable[[Simulation], Any] | None = None,
    until_s: float | None = None,
) -> Run:
    """Run a scenario to its end and return the run; at a reset the run ends and a new one begins.

    Args:
        scenario: what to run; ROS drives its robots, unless the settings of the bridge say that it only watches.
        folder: the run folder; those of runs after a reset are ``folder-2`` and so on. None for temporary ones.
        bridge: the bridge, of which this is the first run. The other arguments are those of `run_scenario`.
    """
    if bridge.settings.drives:
        scenario = commanded(scenario, maps=bridge.settings.localization)

    def before(sim: Simulation) -> None:
        if before_step is not None:
            before_step(sim)
        bridge.before_step(sim)

    number = 1
    while True:
        there = folder if folder is None or number == 1 else f"{folder}-{number}"
        how = {"overwrite": overwrite, "observers": observers, "hosting": bridge.hosting, "until_s": until_s}
        run = run_scenario(scenario, there, before_step=before, **how)
        if not bridge.again:
            return run
        number += 1


def commanded(scenario: Scenario, *, maps: bool) -> Scenario:
    """Return a scenario whose robots do what their handles are told.

    Args:
        maps: whether the simulation maps for them, and they share their maps, which takes half of its time. A group
            that needs maps has them in any case: with SLAM, with a known map, or on landscapes.
    """
    controller = ControllerReference.model_validate("commanded")

    def changed(group: RobotGroup) -> RobotGroup:
        robot = group.robot
        needed = maps or group.known_map or "scan" in group.localization.needs
        if not needed and robot.mapping is not None and robot.mapping.uses == "scan":
            robot = robot.model_copy(update={"mapping": None})
        return group.model_copy(update={"controller": controller, "robot": robot})

    changes = {"robots": tuple(map(changed, scenario.robots)), **({} if maps else {"share_maps": None})}
    return scenario.model_copy(update=changes)
