"""Deciding by processes: each is sent what its robot senses and hears, and answers what its controller wants."""

import dataclasses
from functools import lru_cache
from typing import Any

import numpy as np

from covey.comms.mailbox import Outgoing
from covey.errors import ControllerError
from covey.geometry import Pose
from covey.planning.waypoints import Waypoints
from covey.robots.driving import DriveLimits
from covey.robots.group import Group
from covey.robots.handle import Robot
from covey.robots.motions import STILL
from covey.robots.navigator import Navigator
from covey.sim.deciding import SHARED_FIELDS, Deciding
from covey.sim.failures import Failure
from covey.sim.processes.birth import GroupBirth, MapOf, RobotBirth
from covey.sim.processes.fleet import Fleet
from covey.sim.processes.mirror import Mirror
from covey.sim.processes.record import Processes
from covey.sim.processes.seat import Seat
from covey.sim.processes.wire import DECIDE, Parts


class Shadow(Robot):
    """What the simulator knows of a robot whose handle is in another process."""

    doing = "idle"

    @property
    def status(self) -> str:
        """What it was doing at its last step."""
        return "done" if self.finished else self.doing


@dataclasses.dataclass
class Apart:
    """Stands for what runs in another process.

    Attributes:
        heard: how many messages its inbox here has had, and how many of them its process has been sent.
        writes: what has gone up on the notice board since its process was told last.
        had_tags: whether its process may still hold readings of tags.
    """

    robot: Shadow
    group: Group
    seat: Seat
    sent: int = 0
    writes: list[tuple[str, Any]] = dataclasses.field(default_factory=list)
    had_tags: bool = False

    def close(self) -> None:
        """Nothing: the process ends it."""


class DecidingApart(Deciding):
    """The controllers of a team, each in a process of its own; see `covey.sim.deciding.Deciding`."""

    onboard: dict[int, Apart]

    def __init__(self, record: Processes, *arguments: Any):
        self.record, self._seat_of = record, {}
        super().__init__(*arguments)
        self._groups_apart = self._group_seats()
        seats = [apart.seat for apart in self.onboard.values()] + list(self._groups_apart.values())
        self.fleet = Fleet(record, seats)
        self._mirrors: dict[int, tuple[Mirror, int]] = {}
        for team in self.estimating.teams:
            assert isinstance(team.beliefs, Mirror)
            rows = {row: int(i) for row, i in enumerate(team.members) if int(i) in self.onboard}
            team.beliefs.attach({row: self.onboard[i].seat for row, i in rows.items()}, self._open)
            self._mirrors |= {i: (team.beliefs, row) for row, i in rows.items()}
        self._reported: set[str] = set()

    def decide(self, step: int, time_s: float, commands: np.ndarray, collided: np.ndarray) -> None:
        """Send everybody who is to decide what there is, and write the answers into ``commands``, shape (n, 3)."""
        self._open()
        self.failures.clear()
        silent = self.failed | self.down
        asked: list[tuple[Seat, Any]] = []
        views: dict[str, tuple[Any, range]] = {}
        for group, first in self._parts():
            if step % group.control_every != group.phase or group.program is None:
                continue
            members = range(first, first + len(group.start))
            if group.program.scope == "robot":
                commands[members.start : members.stop] = STILL
                banks = self._banks_of[group.name]
                fresh = [b for b in banks if b.fresh]
                for i in members:
                    apart = self.onboard[i]
                    if i not in silent and not apart.robot.finished:
                        parts = self._for_robot(i, time_s, bool(collided[i]), fresh, len(fresh) == len(banks))
                        if apart.seat.ask(DECIDE, parts):
                            asked.append((apart.seat, i))
            elif members[0] not in self.failed:
                shown = group.name, group.names, time_s, self._fields(group.program.sees or (), members, collided)
                views[group.name] = shown, members
                if group.program.scope == "group":
                    self._ask_group(group.name, [views.pop(group.name)], asked)
        if views:
            self._ask_group("team", list(views.values()), asked)
        for seat, whom in asked:
            self._take(seat, whom, commands)
        self._report_lost()

    def close(self) -> None:
        """End every process."""
        super().close()
        self.fleet.close()

    # -- what goes out -------------------------------------------------------------------------------------------------

    def _for_robot(self, i: int, time_s: float, collided: bool, fresh: list[Any], whole: bool) -> Parts:
        """Return what the process of a robot needs for a step."""
        apart = self.onboard[i]
        robot = apart.robot
        pose = tuple(self.estimating.pose[i].tolist())
        robot.pose, robot.time, robot.collided = Pose(*pose), time_s, collided
        readings = [_sent(apart.seat, bank.record.name, bank.readings.row(bank.row_of[i])) for bank in fresh]
        tags = None
        if robot._tags or apart.had_tags:
            tags, apart.had_tags = [_values(tag) for tag in robot._tags], bool(robot._tags)
        tiles, inbox = self._tiles_for(i), robot._mailbox.inbox
        unsent = len(inbox) + robot._mailbox.overflowed - apart.sent
        messages = (
            [_values(message) for message in list(inbox)[len(inbox) - min(unsent, len(inbox)) :]] if unsent else []
        )
        apart.sent += unsent
        writes, apart.writes = apart.writes, []
        team = (tiles, messages, writes) if tiles is not None or messages or writes else None
        return (pose, time_s, collided, readings, whole, tags), None, team

    def _tiles_for(self, i: int) -> Any:
        mirror, row = self._mirrors.get(i, (None, 0))
        return None if mirror is None else mirror.waiting(row)

    def _ask_group(self, name: str, shown: list[tuple[Any, range]], asked: list[tuple[Seat, Any]]) -> None:
        seat = self._groups_apart[name]
        if seat.ask(DECIDE, ([view for view, _ in shown], None, None)):
            asked.append((seat, [members for _, members in shown]))

    # -- what comes in -------------------------------------------------------------------------------------------------

    def _take(self, seat: Seat, whom: Any, commands: np.ndarray) -> None:
        """Take the answer of a process in: of robot number ``whom``, or of ranges of robots."""
        parts = seat.answer()
        if isinstance(whom, int):
            if parts is not None:
                self._take_robot(whom, parts, commands)
            return
        for k, members in enumerate(whom):
            commands[members.start : members.stop] = 0.0 if parts is None or parts[0] is None else parts[0][k]
        if parts is not None and parts[1] is not None:
            self._failed(tuple(i for members in whom for i in members), *parts[1])

    def _take_robot(self, i: int, parts: Parts, commands: np.ndarray) -> None:
        apart = self.onboard[i]
        robot, box = apart.robot, apart.robot._mailbox
        (command, *tags), said, team = parts
        commands[i] = command
        robot._command = command
        if tags:
            robot._left_tags += tags[0]
        if said is not None:
            robot.text, robot.doing, robot.finished, failure = said
            if failure is not None:
                self._failed((i,), *failure)
        if team is not None:
            taken, wishes, notes, writes = team
            if taken:
                gone = set(taken)
                kept = [message for message in box.inbox if message.number not in gone]
                apart.sent -= len(box.inbox) - len(kept)
                box.inbox.clear()
                box.inbox.extend(kept)
            robot._map_wishes.update(wishes)
            if notes and not box.outbox:
                box.writers.append(box)
            box.outbox += [Outgoing(*note) for note in notes]
            self.talking.board.pending += writes
            for other in self.onboard.values():
                other.writes += writes

    def _failed(self, robots: tuple[int, ...], text: str, by_wall_time: bool) -> None:
        self.failed.update(robots)
        self.failures.append(Failure(robots, ControllerError(text), text, by_wall_time))

    def _report_lost(self) -> None:
        for seat in self.fleet.seats.values():
            if seat.gone and seat.name not in self._reported:
                self._reported.add(seat.name)
                self._failed(seat.robots, seat.gone, by_wall_time=True)

    # -- how it begins -------------------------------------------------------------------------------------------------

    def _board(self, index: int, name: str, group: Group, seed: int, period_s: float) -> None:
        home = Pose(*(float(v) for v in self.estimating.pose[index]))
        navigator = Navigator(DriveLimits.of(group.robot, period_s), group.robot.body_discs, identity=index)
        mailbox = self.talking.mailboxes[index]
        robot = Shadow(name, group.robot, home, navigator, np.random.default_rng(0), mailbox, self.talking.board)
        robot.map = self.estimating.belief_of.get(index)
        seat = Seat(name, (index,), self.watchdog.budget_s)
        self.onboard[index] = Apart(robot, group, seat)
        self._seed, self._period_s = seed, period_s

    def _group_seats(self) -> dict[str, Seat]:
        """Return the processes of controllers of several robots, by the name of the group or ``team``."""
        robots: dict[str, list[int]] = {}
        for group, first in self._parts():
            if group.program is not None and group.program.scope != "robot":
                name = "team" if group.program.scope == "team" else group.name
                robots.setdefault(name, []).extend(range(first, first + len(group.start)))
        return {name: Seat(name, tuple(members), self.watchdog.budget_s) for name, members in robots.items()}

    def _open(self) -> None:
        self.fleet.open(self._birth)

    def _birth(self, seat: Seat) -> RobotBirth | GroupBirth:
        if seat.name in self._groups_apart:
            program = next(g.program for g, first in self._parts() if first in seat.robots)
            return GroupBirth(seat.name, program, seat.budget_s)
        (i,) = seat.robots
        apart = self.onboard[i]
        robot, group = apart.robot, apart.group
        waypoints: Waypoints | None = robot.waypoints
        return RobotBirth(
            name=robot.name,
            index=i,
            team=tuple(robot.team),
            radios=tuple(robot._mailbox.radios),
            model=robot.model,
            home=tuple(robot.home),
            period_s=self._period_s * group.control_every,
            program=group.program,
            seed=self._seed,
            step_budget_s=seat.budget_s,
            map=self._map_of(i, group),
            waypoints=waypoints,
            notes=dict(self.talking.board.notes),
        )

    def _map_of(self, i: int, group: Group) -> MapOf | None:
        if i not in self._mirrors:
            return None
        mirror, row = self._mirrors[i]
        bank = self.sensing.first_of(np.array([i]), "lidar")
        assert bank is not None
        rows, columns = mirror.grid.shape
        x, y, _ = mirror.grid.origin
        lidar, cell = bank.record, mirror.grid.resolution
        known = mirror.start if group.known_map else None
        size = columns * cell, rows * cell
        fan = lidar.angles, lidar.mount, lidar.range_m
        return MapOf(row, mirror.names, size, (x, y), mirror.mapping, mirror.rule, *fan, known=known)


def _values(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in _names(type(record)))


def _sent(seat: Seat, name: str, reading: Any) -> tuple[str, bool, Any]:
    """Return a reading as it is sent: whole the first time, later what changes of it."""
    if name not in seat.told or not dataclasses.is_dataclass(reading):
        seat.told.add(name)
        return name, True, reading
    return name, False, {f: getattr(reading, f) for f in _names(type(reading)) if f not in _CONSTANT}


_CONSTANT = (*SHARED_FIELDS, "range_m")


@lru_cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))
