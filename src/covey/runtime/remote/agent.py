"""The software of a robot, or a controller of several robots, that shares no memory with the simulation.

It owns its belief, its mailbox, its blackboard and its navigator, and updates them from the records of a step.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.comms.blackboard import Blackboard
from covey.comms.mailbox import Mailbox
from covey.geometry import Pose
from covey.geometry.grid import Grid
from covey.mapping.elevation.slopes import PoseErrors
from covey.mapping.exchange.apart import Changes, Given
from covey.mapping.occupancy.apart import BeliefStart, OwnBelief
from covey.mapping.occupancy.team_mates import without_mates
from covey.onboard.controller import Program
from covey.onboard.estimator import pose_then
from covey.onboard.group_answer import answer_of
from covey.onboard.group_view import GroupView
from covey.onboard.handle import Robot
from covey.onboard.self_localization import SelfLocalization
from covey.onboard.step import (
    GroupInput,
    GroupOutput,
    Located,
    MapInput,
    Requests,
    ScanInput,
    SenseInput,
    StepInput,
    StepOutput,
    TeamUpdate,
)
from covey.runtime.local.watchdog import Watchdog, failed
from covey.runtime.remote.spawn_spec import GroupSpawn, RobotSpawn
from covey.sensors.lidar import LidarReading


class RobotAgent:
    """The software of one robot that shares no memory with the simulation.

    Args:
        spawn: the robot.
        watchdog: of its controller.
        begin_s: time of the first step [s].

    Attributes:
        belief: the maps of its team, of which it keeps its own; None if it keeps none.
        own: finds out where it is; None: it is told.
    """

    def __init__(self, spawn: RobotSpawn, watchdog: Watchdog, begin_s: float = 0.0):
        spec = spawn.spec
        self._watchdog = watchdog
        self._mailbox, self._blackboard = Mailbox(spec.name, spawn.team, spawn.radios), Blackboard(dict(spawn.entries))
        self._frames: dict[str, Pose] | None = {} if spawn.own_frames else None
        self._laser, self._reach_m = spawn.laser, spawn.reach_m
        self.belief = None if spawn.map is None else spawn.map.begin()
        self.own, row = None, 0 if self.belief is None else self.belief.robot
        belief = None if self.belief is None else self.belief[row]
        if spawn.localization is not None:
            beliefs = self.belief if isinstance(self.belief, OwnBelief) else None
            where = spawn.localization, spec.name, spec.seed, beliefs, row
            self.own = SelfLocalization(*where, spawn.reach_m, begin_s)
        self.onboard = spec.software(self._mailbox, self._blackboard, belief, self._frames)

    def localize(self, sensed: SenseInput) -> Located:
        """Find out where the robot is."""
        assert self.own is not None
        return self.own.update(sensed)

    def map(self, given: MapInput) -> bool:
        """Map with a scan; return whether it was used, or had come too soon after the last one."""
        belief, own, told = self.belief, self.own, given.pose
        self._take(given.tiles)
        scan = own.scan if own is not None and given.scan is None else given.scan
        assert belief is not None
        assert scan is not None
        if told is not None:
            at, covariance, is_white = told[None], given.covariance, given.is_white
        else:
            assert own is not None
            at = pose_then(own.pose, None if scan.since is None else scan.since[None])
            covariance, is_white = own.covariance[0], own.is_white
        if not isinstance(belief, OwnBelief):
            assert covariance is not None
            errors = PoseErrors(covariance[None], np.array([is_white]))
            scan.measured.into(belief, np.array([belief.robot]), np.array([0]), at, given.step, errors)
            return True
        laser = self._laser
        assert laser is not None
        if own is not None and told is None and own.reads_scans:
            ranges = own.ranges(scan, given.looked)
        else:
            (ranges,) = without_mates(
                scan.measured[None], laser.angles, np.array(laser.mount), scan.mates, self._reach_m
            )
        used = belief.see(at[0], ranges, laser.angles, laser.mount, laser.range_max, given.step)
        if used and own is not None:
            own.has_mapped(at[0], ranges, scan.taken_s)
        return used

    def changes(self) -> Changes | None:
        """Return what has changed in the robot's own evidence since the last call, for the mirror; None: nothing."""
        return None if self.belief is None else self.belief.changes()

    def step(self, shown: StepInput) -> StepOutput:
        """Let the controller act; return its output."""
        if self.own is not None:
            shown = self.own.show(shown)
        if shown.received is not None:
            self._hear(shown.received)
        inbox, outbox, pending = self._mailbox.inbox, self._mailbox.outbox, self._blackboard.pending
        before = [message.number for message in inbox]
        try:
            with self._watchdog:
                answer = self.onboard.step(shown)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            answer = self.onboard.failed(failed(error, self._watchdog))
        left = {message.number for message in self._mailbox.inbox}
        taken = tuple(number for number in before if number not in left)
        if taken or outbox or pending:
            asked = answer.requests or Requests()
            asked = asked._replace(taken=taken, messages=tuple(outbox), entries=tuple(pending))
            answer = answer._replace(requests=asked)
            outbox.clear()
            self._mailbox.writers.clear()
            pending.clear()
        return answer

    def close(self) -> None:
        """End the controller (a coroutine's ``finally`` blocks run)."""
        with self._watchdog:
            self.onboard.close()

    def _hear(self, received: TeamUpdate) -> None:
        if received.frames is not None and self._frames is not None:
            self._frames.clear()
            self._frames.update(received.frames)
        self._take(received.tiles)
        for message in received.messages:
            self._mailbox.put(message)
        self._blackboard.pending += received.entries
        self._blackboard.turn()

    def _take(self, tiles: Sequence[Given]) -> None:
        for given in tiles:
            assert self.belief is not None
            self.belief.take(given)


class GroupAgent:
    """A controller of a group or of the whole team that shares no memory with the simulation."""

    def __init__(self, spawn: GroupSpawn, watchdog: Watchdog):
        self._watchdog = watchdog
        self._program = spawn.program
        self._call: Any = None
        self._views = {facts.name: GroupView(facts) for facts in spawn.facts}

    def step(self, shown: Sequence[GroupInput]) -> GroupOutput:
        """Let the controller act on the input of its robots."""
        views = {given.name: self._views[given.name].at(*given[2:]) for given in shown}
        view = views if self._program.scope == "team" else next(iter(views.values()))
        try:
            with self._watchdog:
                self._call = self._call or self._program.bound()
                return answer_of(self._call, view)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return GroupOutput(failure=failed(error, self._watchdog))

    def close(self) -> None:
        """End."""


def answered_localize(agent: RobotAgent, sensed: SenseInput) -> tuple[Located, Changes | None]:
    """Let a robot find out where it is; return that, and what it has corrected in its map."""
    return agent.localize(sensed), agent.changes()


def answered_map(agent: RobotAgent, given: MapInput) -> Changes | None:
    """Let a robot map with a scan; return what that has changed in its map."""
    return agent.changes() if agent.map(given) else None


def warm_up(spawn: RobotSpawn) -> None:
    """Load the code that a robot usually runs, so that later steps are not late and measure only themselves."""
    place, own, here = None, spawn.localization, Pose(3.0, 3.0, 0.0)
    laser = spawn.laser or (None if own is None else own.laser)
    if spawn.laser is not None and isinstance(spawn.map, BeliefStart):
        mapping = spawn.map.mapping.model_copy(update={"resolution_m": _CELL_M})
        size = _CELLS * _CELL_M, _CELLS * _CELL_M
        place = BeliefStart(0, ["rehearsing"], size, (0.0, 0.0), mapping, spawn.map.rule)
    if own is not None:
        plans = dict.fromkeys(own.plans, _hall())
        own = (
            None if getattr(own.record, "from_", None) else dataclasses.replace(own, plans=plans, start=np.array(here))
        )
    program = Program(_stroll)
    sensors = ("lidar",) if place is not None else ()
    spec = dataclasses.replace(spawn.spec, home=here, program=program, sensors=sensors, waypoints=None)
    spawn = dataclasses.replace(spawn, spec=spec, map=place, localization=own)
    agent = RobotAgent(spawn, watchdog := Watchdog(1e9))
    try:
        readings: tuple[Any, ...] = ()
        scan = None if laser is None else ScanInput(0.0, np.full(len(laser.angles), 2.0))
        for step in range(2) if own is not None else ():
            agent.localize(SenseInput(step, 0.1 * step, [(0.1 * step, np.zeros(3))], scan=scan))
        if place is not None and laser is not None:
            assert scan is not None
            told = {} if own is not None else {"pose": np.array(here), "covariance": np.zeros((3, 3))}
            agent.map(MapInput(0, scan, **told))
            readings = (LidarReading(scan.measured, laser.angles, laser.range_max, np.array(laser.mount)),)
        for step in range(4):
            agent.step(StepInput(0.1 * step, here, readings=readings))
    finally:
        agent.close()
        watchdog.close()


_CELLS, _CELL_M = 64, 0.1


def _hall() -> Grid:
    """Return a map of an empty hall to rehearse in."""
    cells = np.full((_CELLS, _CELLS), 100, np.int8)
    cells[1:-1, 1:-1] = 0
    return Grid(cells, _CELL_M)


async def _stroll(robot: Robot) -> None:
    if robot.map is not None:
        robot.nearest(robot.frontiers().cells)
    await robot.goto((4.0, 3.5))
