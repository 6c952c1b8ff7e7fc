"""`NodeSetup`: what the node of a robot knows from the start, taken from a scenario that is set up and never run."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from covey.errors import InvalidValueError, UnknownNameError
from covey.mapping.elevation.apart import ElevationStart
from covey.mapping.exchange.apart import MapStart
from covey.mapping.exchange.share_maps import ShareMaps, as_share_maps
from covey.mapping.occupancy.apart import BeliefStart
from covey.onboard.self_localization import OwnLocalization
from covey.runtime.host import Team
from covey.runtime.local.host import LocalHost
from covey.runtime.remote.host import MIRRORS, laser_of
from covey.runtime.remote.spawn_spec import RobotSpawn
from covey.scenario.build import build
from covey.scenario.controller import ControllerReference
from covey.scenario.overrides import parse_override
from covey.scenario.records import Scenario


@dataclass(frozen=True, eq=False)
class NodeSetup:
    """What the node of a robot knows from the start.

    Attributes:
        spawn: the robot, its controller and its team, as a process of the mode ``processes`` gets them.
        sensors: records of the sensors that the controller reads, or that map, in the order of its inputs.
        scans: name of the lidar with which it maps or localizes itself; None: it does neither.
        grounds: names of the sensors with which it maps the ground.
        gyro: name of the sensor whose gyro its localization reads; None: there is none.
        sharing: when it exchanges maps with the others; None: it does not.
        step_s, substep_s: of the simulation; between two clocks of a robot without one.
        every, phase: the controller acts in steps k with k % every == phase.
        dead_reckons: whether the robot is told its dead reckoning.
        is_white: whether the errors of two poses that it hears are independent.
    """

    spawn: RobotSpawn
    sensors: tuple[Any, ...]
    scans: str | None
    grounds: tuple[str, ...]
    gyro: str | None
    sharing: ShareMaps | None
    step_s: float
    substep_s: float
    every: int
    phase: int
    dead_reckons: bool
    is_white: bool


def node_setup(
    scenario: Scenario, name: str, controller: ControllerReference | None = None, *, localizes: bool = False
) -> NodeSetup:
    """Return the setup of one robot of a scenario.

    Args:
        scenario: the team, the robot's model, and the area that its map covers. The node learns nothing else of it,
            but for the map of a robot that starts with one.
        name: of the robot.
        controller: replaces that of the robot's group.
        localizes: the node localizes the robot, as the scenario says; else it hears where the robot is.

    Raises:
        UnknownNameError: the scenario has no such robot.
        InvalidValueError: the controller is one of a whole group, or the robot cannot localize itself.
    """
    names = [each for group in scenario.robots for each in group.names]
    if name not in names:
        raise UnknownNameError(f"robot in {scenario.name}", name, names)
    groups = tuple(
        group.model_copy(update={"controller": controller}) if controller is not None and name in group.names else group
        for group in scenario.robots
    )
    own = next(group for group in groups if name in group.names)
    if own.controller.program.scope != "robot":
        raise InvalidValueError(
            f"{own.controller.program.name!r} controls a whole {own.controller.program.scope} and sees all its robots "
            "at once; a node is the controller of one robot. Give ROS a controller of one robot that sends what the "
            "others need, or let the simulation run this one: covey ros run --watch"
        )
    caught: list[Team] = []

    def host(team: Team) -> LocalHost:
        caught.append(team)
        return LocalHost(team)

    sim = build(scenario.model_copy(update={"robots": groups}), hosting=(MIRRORS, host))
    sim.deciding.close()
    sim.recorder.abandon("set up for a node")
    (team,) = caught
    i = sim.names.index(name)
    group = next(group for group in sim.groups if name in group.names)
    place, sensing, localization = _map_of(sim, i), sim.sensing, sim.localization
    shares = place is not None and own.controller.program.shares_maps and len(place.names) > 1
    box = team.communication.mailboxes[i]
    spawn = RobotSpawn(
        team.specs[i],
        tuple(box.team),
        tuple(box.radios),
        own_frames=localization.frames is not None,
        map=place,
        laser=laser_of(sensing, i),
        localization=_localization_of(sim, i, group) if localizes else None,
        reach_m=localization.reach_m,
        step_budget_s=team.execution.step_budget_s,
        memory_mib=team.execution.processes.memory_mib,
        entries=dict(team.communication.blackboard.entries),
    )
    lidar, gyro = (sensing.first_of(np.array([i]), fed) for fed in ("scan", "turn"))
    scans = isinstance(place, BeliefStart) or (spawn.localization is not None and spawn.localization.laser is not None)
    grounds = (bank.record.name for bank in sensing.feeding("ground") if i in bank.row_of)
    return NodeSetup(
        spawn,
        tuple(bank.record for bank in team.banks_of[i]),
        lidar.record.name if scans and lidar is not None else None,
        tuple(grounds) if isinstance(place, ElevationStart) else (),
        gyro.record.name if spawn.localization is not None and gyro is not None else None,
        as_share_maps(scenario.share_maps) if shares else None,
        team.execution.step_s,
        team.execution.substep_s,
        group.control_every,
        group.phase,
        "motion" in group.localization.needs,
        group.localization.white,
    )


def renamed(setup: NodeSetup, team: tuple[str, ...], home: Any) -> NodeSetup:
    """Return a setup with other names of the robots, in their order, and with another start of this one."""
    spawn, place = setup.spawn, setup.spawn.map
    spec = replace(spawn.spec, name=team[spawn.spec.index], home=home)
    place = None if place is None else replace(place, names=list(team))  # pyright: ignore[reportArgumentType]
    return replace(setup, spawn=replace(spawn, spec=spec, team=team, map=place))


def controller_named(text: str, folder: Path) -> ControllerReference:
    """Return a controller by its name, or as ``./mine.py:Name`` in a folder, or as ``{name: …, parameter: …}``.

    Raises:
        InvalidValueError: there is none.
    """
    given: Any = text
    if text.startswith("{"):
        _, given = parse_override(f"controller={text}", "covey ros node")
        if isinstance(given, dict) and (folder / str(given.get("file", ""))).is_file():
            given["file"] = str(folder / given["file"])
    try:
        return ControllerReference.model_validate(given, context={"folder": folder})
    except ValidationError as error:
        raise InvalidValueError(f"controller {text!r}: {error.errors()[0]['msg']}") from None


def _localization_of(sim: Any, i: int, group: Any) -> OwnLocalization:
    """Return how a robot localizes itself.

    Raises:
        InvalidValueError: it has no sensors for that, or its place is told by the simulation.
    """
    record, name = group.localization, sim.names[i]
    if "motion" not in record.needs:
        raise InvalidValueError(
            f"{name} has localization {record.kind}, which only a simulation can give; a node localizes by slam, "
            f"particles, known_map or odometry: -s robots.{group.name}.localization=slam"
        )
    found = sim.localization.own(i)
    if found is None or (found.plans and found.frame is not None):
        raise InvalidValueError(
            f"{name} finds itself in a known map, so it knows the frame of all; set share_maps.start_poses: known"
        )
    start = np.array(sim.deciding.shown[i].pose)
    return replace(found, start=start, frame=None)


def _map_of(sim: Any, i: int) -> MapStart | None:
    """Return the map that a robot starts with; None: it keeps none."""
    for mapped in sim.localization.teams:
        if i in mapped.members:
            return mapped.beliefs.start(int(np.flatnonzero(mapped.members == i)[0]))
    return None
