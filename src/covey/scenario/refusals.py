"""What a batch of worlds cannot take of a scenario, and what to do about it."""

from collections.abc import Iterator
from typing import Any

from covey.mapping.localization import TruePose
from covey.mapping.records import Mapping
from covey.missions import Coverage, Exploration
from covey.onboard.controller import Program, controllers
from covey.physics.records import Planar
from covey.scenario.records import RobotGroup, Scenario

SIMULATE = "run its seeds one after another: scenario.build()"


def refused(scenario: Scenario, maps: bool = False) -> str:
    """Return why a `covey.Batch` cannot take a scenario, in a sentence that says what to do; empty if it can.

    Args:
        scenario: the scenario.
        maps: whether the batch keeps maps.
    """
    return next(_refusals(scenario, maps), "")


def is_still(group: RobotGroup) -> bool:
    """Return whether the robots of a group stand still."""
    return group.controller.target is controllers.get("still")


def sensors_of(group: RobotGroup, maps: bool = False) -> tuple[Any, ...]:
    """Return the sensors that the controller of a group reads, and those that make ``maps``."""
    program = None if is_still(group) else group.controller.program
    read = [sensor for sensor in group.robot.sensors if program is not None and program.reads(sensor)]
    seeing = [sensor for sensor in group.robot.sensors if maps and {"scan", "mates"} & {*sensor.feeds}]
    return tuple(sensor for sensor in group.robot.sensors if sensor in read or sensor in seeing)


def _refusals(scenario: Scenario, maps: bool) -> Iterator[str]:
    for key in ("events", "faults", "damage", "share_maps"):
        if getattr(scenario, key):
            yield f"a batch takes no {key}; leave them out, or {SIMULATE}"
    kind = type(scenario.mission)  # one that is derived from another may score otherwise
    if kind not in (Exploration, Coverage) and vars(kind).get("in_worlds") is None:
        yield f"a batch does not score the mission {scenario.mission.kind}; leave it out, or {SIMULATE}"
    stop = scenario.stop
    if stop.covered is not None:
        yield f"a batch measures no covered area; leave stop.covered out, or {SIMULATE}"
    if stop.explored is not None and not maps:
        yield f"a batch measures the explored area with maps=True; set it, leave stop.explored out, or {SIMULATE}"
    if stop.explored is not None and stop.of in ("one_map", "all_maps"):
        yield f"a batch does not measure what maps hold, and stop.of is {stop.of}; set stop.of: union, or {SIMULATE}"
    if scenario.execution.controllers != "in_process":
        yield "the controllers of a batch run in its process; set execution.controllers: in_process"
    if scenario.physics is not None and type(scenario.physics) is not Planar:
        yield f"the physics of a batch is planar, not {scenario.physics.kind}; set it, or {SIMULATE}"
    if getattr(scenario.world, "generate", None) is not None and getattr(scenario.world, "seed", None) is None:
        yield "the worlds of a batch are one world, and each seed generates another; give it a seed: world.seed=1"
    for group in scenario.robots:
        yield from (f"robots.{group.name}: {why}" for why in _refusals_of(group, maps))


def _refusals_of(group: RobotGroup, maps: bool) -> Iterator[str]:
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
        yield f"the robots of a batch begin without maps; leave known_map out, or {SIMULATE}"
    if maps and robot.mapping is not None and type(robot.mapping) is not Mapping:
        yield f"the robots of a batch keep maps of walls; set robot.mapping: null, or {SIMULATE}"
    if robot.computer is not None:
        yield f"the robots of a batch have no computers; set robot.computer: null, or {SIMULATE}"
    for sensor in sensors_of(group, maps):
        if not sensor.in_many_worlds:
            yield f"{program.name} reads {sensor.name!r}, and a batch has no sensor {sensor.kind}; {SIMULATE}"
