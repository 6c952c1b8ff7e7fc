"""What a batch of worlds cannot take of a scenario, and what to do about it."""

from collections.abc import Iterator
from typing import Any

from covey.mapping.localization import TruePose
from covey.missions import Coverage, Exploration
from covey.onboard.controller import Program, controllers
from covey.physics.records import Planar
from covey.scenario.records import RobotGroup, Scenario

SIMULATE = "run its seeds one after another: scenario.build()"


def refused(scenario: Scenario) -> str:
    """Return why a `covey.Batch` cannot take a scenario, in a sentence that says what to do; empty if it can."""
    return next(_refusals(scenario), "")


def is_still(group: RobotGroup) -> bool:
    """Return whether the robots of a group stand still."""
    return group.controller.target is controllers.get("still")


def sensors_of(group: RobotGroup) -> tuple[Any, ...]:
    """Return the sensors that the controller of a group reads."""
    read = () if is_still(group) else group.robot.sensors
    return tuple(sensor for sensor in read if group.controller.program.reads(sensor))


def _refusals(scenario: Scenario) -> Iterator[str]:
    for key in ("events", "faults", "damage", "share_maps"):
        if getattr(scenario, key):
            yield f"a batch takes no {key}; leave them out, or {SIMULATE}"
    if type(scenario.mission) not in (Exploration, Coverage):
        yield f"a batch scores no mission, and this is {scenario.mission.kind}; leave it out, or {SIMULATE}"
    for goal in ("explored", "covered"):
        if getattr(scenario.stop, goal) is not None:
            yield f"a batch measures no explored or covered area; leave stop.{goal} out, or {SIMULATE}"
    if scenario.execution.controllers != "in_process":
        yield "the controllers of a batch run in its process; set execution.controllers: in_process"
    if scenario.physics is not None and type(scenario.physics) is not Planar:
        yield f"the physics of a batch is planar, not {scenario.physics.kind}; set it, or {SIMULATE}"
    if getattr(scenario.world, "generate", None) is not None and getattr(scenario.world, "seed", None) is None:
        yield "the worlds of a batch are one world, and each seed generates another; give it a seed: world.seed=1"
    for group in scenario.robots:
        yield from (f"robots.{group.name}: {why}" for why in _refusals_of(group))


def _refusals_of(group: RobotGroup) -> Iterator[str]:
    program: Program = group.controller.program
    robot = group.robot
    if not is_still(group) and program.scope != "group":
        yield (
            f"a batch calls controllers of groups, and {program.name} is one of a {program.scope}; write it with "
            f"@covey.controller(scope='group'), or {SIMULATE}"
        )
    if "links" in (program.sees or ()):
        yield f"{program.name} sees links, and a batch has no radio; {SIMULATE}"
    if type(group.localization) is not TruePose:
        yield f"the robots of a batch know their true poses; set localization: truth, or {SIMULATE}"
    if group.known_map:
        yield f"the robots of a batch keep no maps; leave known_map out, or {SIMULATE}"
    if robot.computer is not None:
        yield f"the robots of a batch have no computers; set robot.computer: null, or {SIMULATE}"
    for sensor in sensors_of(group):
        if not sensor.in_many_worlds:
            yield f"{program.name} reads {sensor.name!r}, and a batch has no sensor {sensor.kind}; {SIMULATE}"
