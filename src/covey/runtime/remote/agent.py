"""What runs in the process of a robot: its belief, its handle, its navigator and its controller."""

import dataclasses
from typing import Any

import numpy as np

from covey.comms.blackboard import Board
from covey.comms.mailbox import Mailbox
from covey.comms.message import Message
from covey.comms.tags import TagReading
from covey.geometry import Pose
from covey.mapping.exchange.apart import OthersTiles, OwnBelief
from covey.onboard.controller import Program
from covey.onboard.driving import DriveLimits
from covey.onboard.group import GroupView, twists_of
from covey.onboard.handle import Robot
from covey.onboard.motions import STILL
from covey.onboard.navigator import Navigator
from covey.onboard.onboard import Onboard
from covey.random import generator
from covey.robots.computer import Work
from covey.robots.sample import Sample
from covey.runtime.local.failures import text_of
from covey.runtime.local.watchdog import StepBudgetError, Watchdog
from covey.runtime.remote.spawn_spec import GroupBirth, MapOf, RobotBirth
from covey.runtime.transport.transport import Parts
from covey.sensors.lidar import LidarReading


class RobotAboard:
    """The software of one robot, as its process runs it."""

    def __init__(self, birth: RobotBirth, watchdog: Watchdog):
        self._watchdog = watchdog
        limits = DriveLimits.of(birth.model, birth.period_s)
        navigator = Navigator(limits, birth.model.body_discs, identity=birth.index)
        self.mailbox, self.board = Mailbox(birth.name, birth.team, birth.radios), Board(birth.notes)
        rng = generator(birth.seed, f"controller/{birth.name}")
        self.robot = Robot(birth.name, birth.model, Pose(*birth.home), navigator, rng, self.mailbox, self.board)
        self.robot.waypoints = birth.waypoints
        self._map = birth.map
        self._belief = None if birth.map is None else belief_of(birth.map)
        if self._belief is not None:
            self.robot.map = self._belief[self._belief.robot]
        self._work = None if birth.model.computer is None else Work()
        if self._work is not None:
            self.robot._keep_account(self._work)
        self.onboard = Onboard(self.robot, birth.program)
        self._constant: dict[str, Any] = {}
        self._status = "idle"

    def map(self, parts: Parts) -> Parts:
        """Take in a scan; answer what it changed of the robot's own evidence."""
        (pose, ranges, step), _, tiles = parts
        self._take_tiles(tiles)
        assert self._belief is not None
        assert self._map is not None
        fan = self._map
        own = self._belief.see(pose, ranges, fan.angles, fan.mount, fan.range_m, step)
        return None, None if own is None else tuple(own), None

    def decide(self, parts: Parts) -> Parts:
        """Let the controller act on what has come; answer its command, and what else it wants."""
        self._take(parts)
        robot, failure = self.robot, None
        before = [message.number for message in self.mailbox.inbox]
        try:
            with self._watchdog:
                command = self.onboard.step()
        except BaseException as error:
            command, failure = STILL, (text_of(error), isinstance(error, StepBudgetError))
        left = {message.number for message in self.mailbox.inbox}
        taken = [number for number in before if number not in left]
        said, status = None, robot.status
        if robot._notes or status != self._status or robot.finished or failure:
            self._status, said = status, (robot._notes, status, robot.finished, failure)
            robot._notes = []
        (tags, robot._left_tags), (digs, robot._digs) = (robot._left_tags, []), (robot._digs, [])
        wishes, outbox, writes = sorted(robot._map_wishes), self.mailbox.outbox, self.board.pending
        team = None
        if taken or wishes or outbox or writes:
            notes = [tuple(getattr(o, name) for name in _OUTGOING) for o in outbox]
            team = (taken, wishes, notes, [(key, value) for key, value in writes])
        robot._map_wishes.clear()
        outbox.clear()
        self.mailbox.writers.clear()
        writes.clear()
        work = self._work.take() if self._work is not None else None
        return (command, tags, digs, work) if tags or digs or work else (command,), said, team

    def close(self) -> None:
        """End the controller (a coroutine's ``finally`` blocks run)."""
        self.onboard.close()

    def _take(self, parts: Parts) -> None:
        (pose, time_s, collided, fresh, whole, tags), _, team = parts
        robot = self.robot
        robot.pose, robot.time, robot.collided = Pose(*pose), time_s, collided
        come: dict[str, list[Sample]] = {}
        for taken_s, name, whole_one, sent in fresh:
            come.setdefault(name, []).append(Sample(taken_s, self._reading(name, whole_one, sent)))
        if come:
            readings = {name: samples[-1].reading for name, samples in come.items()}
            robot.readings = readings if whole else robot.readings | readings
        robot._backlog = come
        if tags is not None:
            robot._tags = [TagReading(*tag) for tag in tags]
        if team is not None:
            tiles, messages, writes, frames = team
            if frames is not None:
                robot._frames = frames
            self._take_tiles(tiles)
            for message in messages:
                self.mailbox.put(Message(*message))
            self.board.pending += writes
            self.board.turn()

    def _reading(self, name: str, whole: bool, sent: Any) -> Any:
        """Return a reading: whole the first time, later what changes of it."""
        if whole:
            self._constant[name] = sent
            return sent
        before = self._constant[name]
        own = {f: getattr(before, f).copy() for f in _OWN if hasattr(before, f)}
        return dataclasses.replace(before, **own, **sent)

    def _take_tiles(self, tiles: tuple[np.ndarray, np.ndarray] | None) -> None:
        if tiles is not None and self._belief is not None:
            self._belief.take_tiles(OthersTiles(*tiles))


_OUTGOING = ("to", "kind", "payload", "size_bytes", "ttl_s", "radio")
_OWN = ("mount",)
"""Constant fields of readings of which each reading has a copy."""


class GroupAboard:
    """A controller of a group or of the whole team, as its process runs it."""

    def __init__(self, birth: GroupBirth, watchdog: Watchdog):
        self._watchdog = watchdog
        self._program = birth.program
        self._call: Any = None

    def map(self, parts: Parts) -> Parts:
        """Refuse: a controller of a group keeps no map."""
        raise AssertionError("a controller of a group keeps no map")

    def decide(self, parts: Parts) -> Parts:
        """Let the controller act on what its robots see; answer their twists by group."""
        views = {shown[0]: GroupView(*shown) for shown in parts[0]}
        view = views if self._program.scope == "team" else next(iter(views.values()))
        try:
            with self._watchdog:
                self._call = self._call or self._program.bound()
                twists = twists_of(self._call(view), view)
        except BaseException as error:
            return None, (text_of(error), isinstance(error, StepBudgetError)), None
        return list(twists.values()), None, None

    def close(self) -> None:
        """End."""


def belief_of(place: MapOf) -> OwnBelief:
    """Return the belief that a robot starts with."""
    belief = OwnBelief(place.row, place.names, place.size_m, place.origin, place.mapping, place.rule)
    if place.known is not None:
        belief.know(np.array([place.row]), place.known)
    return belief


def rehearse(birth: RobotBirth) -> None:
    """Load all that a robot's software usually runs, so that what it takes later is its own, and nothing is late."""
    shape, cell = (64, 64), 0.1
    place = None
    if birth.map is not None:
        size = shape[1] * cell, shape[0] * cell
        place = dataclasses.replace(birth.map, row=0, names=["rehearsing"], size_m=size, origin=(0.0, 0.0), known=None)
        place = dataclasses.replace(place, mapping=place.mapping.model_copy(update={"resolution_m": cell}))
    program = Program(_stroll)
    aboard = RobotAboard(
        dataclasses.replace(birth, home=(3.0, 3.0, 0.0), program=program, map=place, waypoints=None),
        watchdog := Watchdog(1e9),
    )
    try:
        here, readings = np.array([3.0, 3.0, 0.0]), []
        if place is not None:
            ranges = np.full(len(place.angles), 2.0)
            aboard.map(((here, ranges, 0), None, None))
            readings = [(0.0, "lidar", True, LidarReading(ranges, place.angles, place.range_m, place.mount))]
        for step in range(4):
            aboard.decide(((tuple(here), 0.1 * step, False, readings, False, None), None, None))
            readings = []
    finally:
        aboard.close()
        watchdog.close()


async def _stroll(robot: Robot) -> None:
    if robot.map is not None:
        robot.nearest(robot.frontiers().cells)
    await robot.goto((4.0, 3.5))
