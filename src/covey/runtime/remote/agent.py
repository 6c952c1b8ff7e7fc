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
from covey.mapping.occupancy.apart import GivenTiles, OwnBelief, OwnTiles
from covey.onboard.controller import Program
from covey.onboard.group_answer import answer_of
from covey.onboard.group_view import GroupView
from covey.onboard.handle import Robot
from covey.onboard.step import (
    GroupInput,
    GroupOutput,
    Requests,
    ScanInput,
    StepInput,
    StepOutput,
    TeamUpdate,
)
from covey.runtime.local.watchdog import Watchdog, failed
from covey.runtime.remote.spawn_spec import GroupSpawn, MapOf, RobotSpawn
from covey.sensors.lidar import LidarReading


class RobotAgent:
    """The software of one robot that shares no memory with the simulation.

    Attributes:
        belief: its map; None if it keeps none.
    """

    def __init__(self, spawn: RobotSpawn, watchdog: Watchdog):
        spec = spawn.spec
        self._watchdog = watchdog
        self._mailbox, self._blackboard = Mailbox(spec.name, spawn.team, spawn.radios), Blackboard(dict(spawn.entries))
        self._frames: dict[str, Pose] | None = {} if spawn.own_frames else None
        self._map = spawn.map
        self.belief = None if spawn.map is None else belief_of(spawn.map)
        belief = None if self.belief is None else self.belief[self.belief.robot]
        self.onboard = spec.software(self._mailbox, self._blackboard, belief, self._frames)

    def map(self, scan: ScanInput) -> OwnTiles | None:
        """Process a scan; return the changes of the robot's own evidence."""
        self._take_tiles(scan.tiles)
        assert self.belief is not None
        assert self._map is not None
        fan = self._map
        return self.belief.see(scan.pose, scan.ranges, fan.angles, fan.mount, fan.range_m, scan.step)

    def step(self, shown: StepInput) -> StepOutput:
        """Let the controller act; return its output."""
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
        self._take_tiles(received.tiles)
        for message in received.messages:
            self._mailbox.put(message)
        self._blackboard.pending += received.entries
        self._blackboard.turn()

    def _take_tiles(self, tiles: GivenTiles | None) -> None:
        if tiles is not None and self.belief is not None:
            self.belief.take_tiles(tiles)


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


def belief_of(place: MapOf) -> OwnBelief:
    """Return the belief that a robot starts with."""
    belief = OwnBelief(place.row, place.names, place.size_m, place.origin, place.mapping, place.rule)
    if place.known is not None:
        belief.know(np.array([place.row]), place.known)
    return belief


def warm_up(spawn: RobotSpawn) -> None:
    """Load the code that a robot usually runs, so that later steps are not late and measure only themselves."""
    shape, cell = (64, 64), 0.1
    place = None
    if spawn.map is not None:
        size = shape[1] * cell, shape[0] * cell
        place = dataclasses.replace(spawn.map, row=0, names=["rehearsing"], size_m=size, origin=(0.0, 0.0), known=None)
        place = dataclasses.replace(place, mapping=place.mapping.model_copy(update={"resolution_m": cell}))
    program = Program(_stroll)
    here, sensors = Pose(3.0, 3.0, 0.0), ("lidar",) if place is not None else ()
    spec = dataclasses.replace(spawn.spec, home=here, program=program, sensors=sensors, waypoints=None)
    agent = RobotAgent(dataclasses.replace(spawn, spec=spec, map=place), watchdog := Watchdog(1e9))
    try:
        readings: tuple[Any, ...] = ()
        if place is not None:
            ranges = np.full(len(place.angles), 2.0)
            agent.map(ScanInput(np.array(here), ranges, 0))
            readings = (LidarReading(ranges, place.angles, place.range_m, place.mount),)
        for step in range(4):
            agent.step(StepInput(0.1 * step, here, readings=readings))
    finally:
        agent.close()
        watchdog.close()


async def _stroll(robot: Robot) -> None:
    if robot.map is not None:
        robot.nearest(robot.frontiers().cells)
    await robot.goto((4.0, 3.5))
