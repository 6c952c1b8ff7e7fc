"""`NodeSetup`: what the node of a robot knows from the start, taken from a scenario that is set up and never run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from covey.errors import InvalidValueError, UnknownNameError
from covey.mapping.exchange.share_maps import ShareMaps, as_share_maps
from covey.mapping.occupancy.belief import Beliefs
from covey.runtime.host import Team
from covey.runtime.local.host import LocalHost
from covey.runtime.phases.localization_and_mapping import TEAM_MATE_MARGIN_M
from covey.runtime.remote.spawn_spec import MapOf, RobotSpawn
from covey.scenario.build import build
from covey.scenario.controller import ControllerReference
from covey.scenario.records import Scenario

SENSORS = ("lidar", "proximity", "bumper", "imu", "neighbours", "tag_camera")
"""Kinds of sensors whose topics a node reads."""


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


def node_setup(scenario: Scenario, name: str, controller: ControllerReference | None = None) -> NodeSetup:
    """Return the setup of one robot of a scenario.

    Args:
        scenario: the team, the robot's model, and the area that its map covers. The node learns nothing else of it.
        name: of the robot.
        controller: replaces that of the robot's group.

    Raises:
        UnknownNameError: the scenario has no such robot.
        InvalidValueError: the controller is one of a whole group, the robot maps the ground, the team does not know its
            start poses, or it exchanges maps when robots meet.
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
            f"{own.controller.program.name!r} controls a whole {own.controller.program.scope}; a node is the "
            "controller of one robot"
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
    if sim.localization.frames is not None:
        raise InvalidValueError("share_maps.start_poses is unknown; a node needs them: set it to known")
    place, lidar = _map_of(sim, i)
    sharing = as_share_maps(scenario.share_maps)
    shares = lidar is not None and own.controller.program.shares_maps and len(place.names) > 1 if place else False
    if shares and sharing.policy == "on_meeting":
        raise InvalidValueError("share_maps.policy is on_meeting; nodes exchange maps every, continuous or on_request")
    sensors = tuple(bank.record for bank in team.banks_of[i])
    box = team.communication.mailboxes[i]
    spawn = RobotSpawn(
        team.specs[i],
        tuple(box.team),
        tuple(box.radios),
        team.execution.step_budget_s,
        team.execution.processes.memory_mib,
        map=place,
        entries=dict(team.communication.blackboard.entries),
    )
    return NodeSetup(
        spawn,
        sensors,
        None if lidar is None else lidar.name,
        sharing if shares else None,
        team.execution.step_s,
        team.execution.substep_s,
        group.control_every,
        group.phase,
        float(sim.model.radius.max()) + TEAM_MATE_MARGIN_M,
        "odometry" in group.localization.needs,
    )


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


def _map_of(sim: Any, i: int) -> tuple[MapOf | None, Any]:
    """Return the map that a robot keeps, and the record of the lidar that feeds it; None for none."""
    for mapped in sim.localization.teams:
        if i not in mapped.members:
            continue
        beliefs, bank = mapped.beliefs, sim.sensing.first_of(np.array([i]), "lidar")
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
