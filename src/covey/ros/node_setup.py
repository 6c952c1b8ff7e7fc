"""`NodeSetup`: what the node of a robot knows from the start, taken from a scenario that is set up and never run."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from covey.errors import InvalidValueError, UnknownNameError
from covey.geometry.grid import Grid
from covey.mapping.exchange.share_maps import ShareMaps, as_share_maps
from covey.mapping.known_map import KnownMapLocalizer
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.team_mates import MARGIN_M
from covey.runtime.host import Team
from covey.runtime.local.host import LocalHost
from covey.runtime.remote.spawn_spec import MapOf, RobotSpawn
from covey.scenario.build import build
from covey.scenario.controller import ControllerReference
from covey.scenario.records import Scenario


@dataclass(frozen=True, eq=False)
class OwnLocalization:
    """How a robot finds out where it is by itself.

    Attributes:
        record: the kind of localization, and its settings.
        noise: of its odometry; None: not known. See `covey.mapping.localizer.Equipment`.
        gyro: its sensor with a gyro; None: it has none.
        plan: the map that it is given; None: none.
        mates: where the others start, x, y [m], (k, 2); empty: not known. None: its lidar sees no robots.
    """

    record: Any
    noise: tuple[int, np.ndarray] | None
    gyro: Any
    plan: Grid | None
    mates: np.ndarray | None


@dataclass(frozen=True, eq=False)
class NodeSetup:
    """What the node of a robot knows from the start.

    Attributes:
        spawn: the robot, its controller and its team, as a process of the mode ``processes`` gets them.
        sensors: records of the sensors that the controller reads, or that map, in the order of its inputs.
        scans: name of the lidar that maps; None: no map.
        sharing: when it exchanges maps with the others; None: it does not.
        step_s, substep_s: of the simulation; between two clocks of a robot without one.
        every, phase: the controller acts in steps k with k % every == phase.
        reach_m: scans within this distance of a team mate's centre are on the team mate.
        dead_reckons: whether the robot is told its dead reckoning.
        localization: how the node localizes the robot; None: it hears where the robot is.
    """

    spawn: RobotSpawn
    sensors: tuple[Any, ...]
    scans: str | None
    sharing: ShareMaps | None
    step_s: float
    substep_s: float
    every: int
    phase: int
    reach_m: float
    dead_reckons: bool
    localization: OwnLocalization | None = None


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
        InvalidValueError: the controller is one of a whole group, the robot maps the ground, or it cannot localize
            itself.
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

    sim = build(scenario.model_copy(update={"robots": groups}), hosting=(_Beliefs, host))
    sim.deciding.close()
    sim._recorder.abandon("set up for a node")
    (team,) = caught
    i = sim.names.index(name)
    group = next(group for group in sim.groups if name in group.names)
    place, lidar = _map_of(sim, i)
    shares = lidar is not None and own.controller.program.shares_maps and len(place.names) > 1 if place else False
    box = team.communication.mailboxes[i]
    spawn = RobotSpawn(
        team.specs[i],
        tuple(box.team),
        tuple(box.radios),
        team.execution.step_budget_s,
        team.execution.processes.memory_mib,
        own_frames=sim.localization.frames is not None,
        map=place,
        entries=dict(team.communication.blackboard.entries),
    )
    return NodeSetup(
        spawn,
        tuple(bank.record for bank in team.banks_of[i]),
        None if lidar is None else lidar.name,
        as_share_maps(scenario.share_maps) if shares else None,
        team.execution.step_s,
        team.execution.substep_s,
        group.control_every,
        group.phase,
        float(sim.model.radius.max()) + MARGIN_M,
        "motion" in group.localization.needs,
        _localization_of(sim, i, group) if localizes else None,
    )


def renamed(setup: NodeSetup, team: tuple[str, ...], home: Any) -> NodeSetup:
    """Return a setup with other names of the robots, in their order, and with another start of this one."""
    spawn, place = setup.spawn, setup.spawn.map
    spec = replace(spawn.spec, name=team[spawn.spec.index], home=home)
    place = None if place is None else replace(place, names=list(team))
    return replace(setup, spawn=replace(spawn, spec=spec, team=team, map=place))


def controller_named(text: str, folder: Path) -> ControllerReference:
    """Return a controller by its name, or as ``./mine.py:Name`` in a folder.

    Raises:
        InvalidValueError: there is none.
    """
    try:
        return ControllerReference.model_validate(text, context={"folder": folder})
    except ValidationError as error:
        raise InvalidValueError(f"controller {text!r}: {error.errors()[0]['msg']}") from None


class _Beliefs(Beliefs):
    """Beliefs that keep the maps with which robots start."""

    def know(self, robots: np.ndarray, occupancy: np.ndarray) -> None:
        super().know(robots, occupancy)
        self.known = getattr(self, "known", {}) | dict.fromkeys(robots.tolist(), occupancy)


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
    localizer = next(localizer for members, localizer in sim.localization.localizers if i in members)
    plan = localizer.plan if isinstance(localizer, KnownMapLocalizer) else None
    if plan is not None and sim.localization.frames is not None:
        raise InvalidValueError(
            f"{name} finds itself in a known map, so it knows the frame of all; set share_maps.start_poses: known"
        )
    wheels, imu, lidar = (sim.sensing.first_of(np.array([i]), fed) for fed in ("motion", "turn", "scan"))
    mates = np.delete(sim.state.pose[:, :2], i, axis=0)
    if lidar is None or not lidar.record.sees_robots or not len(mates):
        mates = None
    elif sim.localization.frames is not None:
        mates = mates[:0]
    return OwnLocalization(record, wheels.record.noise_model, None if imu is None else imu.record, plan, mates)


def _map_of(sim: Any, i: int) -> tuple[MapOf | None, Any]:
    """Return the map that a robot keeps, and the record of the lidar that feeds it; None for none."""
    for mapped in sim.localization.teams:
        if i not in mapped.members:
            continue
        beliefs, bank = mapped.beliefs, sim.sensing.first_of(np.array([i]), "scan")
        if not isinstance(beliefs, _Beliefs) or bank is None:
            raise InvalidValueError(f"{sim.names[i]} maps the ground; a node maps with a lidar only")
        row = int(np.flatnonzero(mapped.members == i)[0])
        (rows, columns), cell = beliefs.grid.shape, beliefs.grid.resolution
        x, y, _ = beliefs.grid.origin
        lidar = bank.record
        place = MapOf(
            row=row,
            names=beliefs.names,
            size_m=(columns * cell, rows * cell),
            origin=(x, y),
            mapping=beliefs.mapping,
            rule=beliefs.rule,
            angles=lidar.angles,
            mount=lidar.mount,
            range_m=lidar.range_m,
            known=getattr(beliefs, "known", {}).get(row),
        )
        return place, lidar
    return None, None
