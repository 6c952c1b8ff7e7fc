"""Deciding by processes: each is sent what its robot senses and hears, and answers what its controller wants."""

import dataclasses
from functools import lru_cache, partial
from typing import Any

import numpy as np

from covey.comms.mailbox import Outgoing
from covey.errors import ControllerError, InvalidValueError
from covey.geometry import Pose
from covey.onboard.driving import DriveLimits
from covey.onboard.group import Group
from covey.onboard.handle import HISTORY, Robot
from covey.onboard.motions import STILL
from covey.onboard.navigator import Navigator
from covey.planning.waypoints import Waypoints
from covey.results.recorder import Recorder
from covey.runtime.local.deciding import Deciding
from covey.runtime.local.failures import Failure
from covey.runtime.phases.sensing import BankSample, SensorBank
from covey.runtime.remote.fleet import Fleet
from covey.runtime.remote.mirror import Mirror
from covey.runtime.remote.noting import Noting
from covey.runtime.remote.pace import LockStep, RealTime
from covey.runtime.remote.record import Processes
from covey.runtime.remote.spawn_spec import GroupBirth, MapOf, RobotBirth
from covey.runtime.remote.use import Use
from covey.runtime.transport.channel import Seat
from covey.runtime.transport.transport import DECIDE, Parts
from covey.sensors.sensor import Readings


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
        sent: of the messages in the inbox here, and of those that it lost, how many the process has been sent.
        writes: what has gone up on the notice board since its process was told last.
        had_tags: whether its process may still hold readings of tags.
        frames: where its process knows the frames of others to be.
        missed: what has come from its sensors while its computer was busy.
    """

    robot: Shadow
    group: Group
    seat: Seat
    sent: int = 0
    writes: list[tuple[str, Any]] = dataclasses.field(default_factory=list)
    had_tags: bool = False
    frames: dict[str, Pose] | None = None
    missed: list[tuple[SensorBank, BankSample]] = dataclasses.field(default_factory=list)

    def close(self) -> None:
        """Nothing: the process ends it."""


class DecidingApart(Deciding):
    """The controllers of a team, each in a process of its own; see `covey.runtime.local.deciding.Deciding`."""

    onboard: dict[int, Apart]

    def __init__(self, record: Processes, *arguments: Any):
        super().__init__(*arguments)
        *_, self._seed, self._step_s, _ = arguments
        self._pace = RealTime(self._step_s) if record.pace == "real_time" else LockStep()
        self.repeatable = self._pace.repeatable
        self._measures = self.computing.measures or not self.repeatable
        self.computing.told = True
        self._groups_apart = self._group_seats()
        seats = [apart.seat for apart in self.onboard.values()] + list(self._groups_apart.values())
        self.fleet, self.noting = Fleet(record, seats), Noting()
        self._mirrors: dict[int, tuple[Mirror, int]] = {}
        for team in self.estimating.teams:
            if not isinstance(team.beliefs, Mirror):
                raise InvalidValueError(
                    f"{team.beliefs.names[0]} maps the ground, which processes of robots cannot do yet; run with "
                    "controllers in_process"
                )
            rows = {row: int(i) for row, i in enumerate(team.members) if int(i) in self.onboard}
            team.beliefs.attach({row: self.onboard[i].seat for row, i in rows.items()}, self)
            self._mirrors |= {i: (team.beliefs, row) for row, i in rows.items()}
        self._reported: set[str] = set()
        self._step, self._time_s = 0, 0.0

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest says of where controllers ran."""
        seats = self.fleet.seats.values()
        record = self.fleet.record
        hosts, memory = {s.name: s.host for s in seats}, {s.name: s.memory for s in seats if s.memory}
        return {"processes": {"pace": record.pace, "nodes": record.nodes, "hosts": hosts, "memory_limited_by": memory}}

    def decide(self, step: int, time_s: float, commands: np.ndarray, collided: np.ndarray) -> None:
        """Send everybody who is to decide what there is, and write the answers into ``commands``, shape (n, 3)."""
        self.ready()
        self._pace.begin()
        self._step, self._time_s = step, time_s
        self.failures.clear()
        collided = self._gather(collided)
        late = [seat for seat in self.fleet.seats.values() if seat.is_deciding]
        for seat in late:
            seat.settle(self._pace.maps_until())
        asked = self._ask_all(step, time_s, commands, collided)
        for seat in asked:
            seat.settle(self._pace.commands_until())
        for seat in self.fleet.seats.values():
            seat.misses.missed_deadlines += seat.is_deciding
        self._report_lost(commands)
        for i in self.computing.machines:
            if i in self.onboard and i not in self.down and i not in self.failed:
                commands[i] = self.computing.command(i)
        self._take_uses()
        self._pace.end()

    def post(self, key: str, value: Any) -> None:
        """Put plain data on the notice board, for the robots to read in this step."""
        super().post(key, value)
        for apart in self.onboard.values():
            apart.writes.append((key, value))

    def record_into(self, recorder: Recorder) -> None:
        """Say where to record what the processes take, and their traffic."""
        self.noting.recorder = recorder

    def close(self) -> None:
        """End every process."""
        super().close()
        self.fleet.close()
        clock = self.computing.clock
        self.noting.take(self.fleet.seats.values(), clock.step, clock.time_s, last=True)

    # -- what a mirror asks --------------------------------------------------------------------------------------------

    def ready(self) -> None:
        """Make sure that the processes have come in."""
        if self.fleet.open(self._birth):
            self.noting.start(self.fleet.seats.values())

    def maps_until(self) -> float | None:
        """Return until when answers to scans are waited for."""
        return self._pace.maps_until()

    def took(self, seat: Seat, cpu_s: float) -> None:
        """Charge processor time [s] to the computer of a robot."""
        if self.computing.measures:
            for i in seat.robots:
                self.computing.charge(i, cpu_s)

    # -- what goes out -------------------------------------------------------------------------------------------------

    def _ask_all(self, step: int, time_s: float, commands: np.ndarray, collided: np.ndarray) -> list[Seat]:
        """Send every process that is to decide in this step what it needs; return them, in order."""
        asked: list[Seat] = []
        views: list[tuple[Any, range]] = []
        for group, first in self._parts():
            if step % group.control_every != group.phase or group.program is None:
                continue
            members = range(first, first + len(group.start))
            if group.program.scope == "robot":
                come = zip(self._banks_of[group.name], self._come[group.name], strict=True)
                fresh = [(bank, sample) for bank, samples in come for sample in samples]
                for i in members:
                    if self._ask_robot(i, time_s, commands, bool(collided[i]), fresh):
                        asked.append(self.onboard[i].seat)
            elif members[0] not in self.failed:
                shown = self._shown(group, members, time_s, collided)
                if group.program.scope == "team":
                    views.append((shown, members))
                else:
                    self._ask_group(group.name, [(shown, members)], commands, asked)
            self._had(group, members)
        if views:
            self._ask_group("team", views, commands, asked)
        return asked

    def _ask_robot(
        self, i: int, time_s: float, commands: np.ndarray, collided: bool, fresh: list[tuple[SensorBank, BankSample]]
    ) -> bool:
        """Let the process of a robot decide, unless it cannot; return whether it was asked."""
        apart, computers = self.onboard[i], self.computing
        if i in self.failed or i in self.down or (apart.robot.finished and i not in computers.machines):
            commands[i] = STILL
            return False
        if apart.seat.is_deciding:
            apart.seat.misses.dropped_readings += len(fresh)
            return False
        if i in computers.machines:
            collided = computers.touched(i, collided)
            try:
                if not computers.may_act(i):
                    apart.missed = [*apart.missed, *fresh][-HISTORY * max(len(self._banks_of[apart.group.name]), 1) :]
                    return False
            except ControllerError as error:
                commands[i] = STILL
                self._fail((i,), error)
                if self._measures:
                    apart.seat.end(0.0)
                return False
        fresh, apart.missed = [*apart.missed, *fresh], []
        parts = self._for_robot(i, time_s, collided, fresh)
        return apart.seat.ask(DECIDE, parts, partial(self._take_robot, i, commands, self._step))

    def _for_robot(self, i: int, time_s: float, collided: bool, fresh: list[tuple[SensorBank, BankSample]]) -> Parts:
        """Return what the process of a robot needs for a step."""
        apart = self.onboard[i]
        robot = apart.robot
        pose = tuple(self.estimating.in_own_frames([i], self.estimating.pose[[i]])[0].tolist())
        robot.pose, robot.time, robot.collided = Pose(*pose), time_s, collided
        second = self.sensing.clock.substep_s
        whole = len({bank.record.name for bank, _ in fresh}) == len(self._banks_of[apart.group.name])
        readings = [
            (sample.substep * second, *_sent(apart.seat, bank.record.name, sample.readings, bank.row_of[i]))
            for bank, sample in fresh
        ]
        tags = None
        if robot._tags or apart.had_tags:
            tags, apart.had_tags = [_values(tag) for tag in robot._tags], bool(robot._tags)
        mirror, row = self._mirrors.get(i, (None, 0))
        tiles, inbox = None if mirror is None else mirror.waiting(row), robot._mailbox.inbox
        unsent = len(inbox) + robot._mailbox.overflowed - apart.sent
        messages = [_values(message) for message in list(inbox)[max(len(inbox) - unsent, 0) :]] if unsent else []
        apart.sent += unsent
        writes, apart.writes = apart.writes, []
        frames = None
        if robot._frames is not None and robot._frames != apart.frames:
            frames = apart.frames = dict(robot._frames)
        team = None
        if tiles is not None or messages or writes or frames is not None:
            team = tiles, messages, writes, frames
        return (pose, time_s, collided, readings, whole, tags), None, team

    def _ask_group(self, name: str, shown: list[tuple[Any, range]], commands: np.ndarray, asked: list[Seat]) -> None:
        seat, parts = self._groups_apart[name], [members for _, members in shown]
        if seat.is_deciding:
            seat.misses.dropped_readings += 1
        elif seat.ask(
            DECIDE,
            ([view for view, _ in shown], None, None),
            partial(self._take_group, seat, parts, commands, self._step),
        ):
            asked.append(seat)

    # -- what comes in -------------------------------------------------------------------------------------------------

    def _take_group(
        self, seat: Seat, parts: list[range], commands: np.ndarray, step: int, answer: Parts, cpu_s: float
    ) -> None:
        """Take in the twists of the controller of several robots, by group."""
        seat.misses.late_commands += step != self._step
        for k, members in enumerate(parts):
            commands[members.start : members.stop] = 0.0 if answer[0] is None else answer[0][k]
        if answer[1] is not None:
            self._failed(tuple(i for members in parts for i in members), *answer[1])

    def _take_robot(self, i: int, commands: np.ndarray, step: int, parts: Parts, cpu_s: float) -> None:
        """Take in what the controller of a robot wants."""
        apart = self.onboard[i]
        robot = apart.robot
        (command, *rest), said, team = parts
        apart.seat.misses.late_commands += step != self._step
        tags, digs, work = rest or ((), (), None)
        robot._left_tags += tags
        robot._digs += digs
        failure = None
        if said is not None:
            notes, robot.doing, robot.finished, failure = said
            for note in notes:
                robot.note(note)
        if team is not None:
            self._take_team(apart, *team)
        if failure is not None:
            commands[i] = robot._command = STILL
            self._failed((i,), *failure)
            return
        commands[i] = robot._command = command
        if i in self.computing.machines:
            self.took(apart.seat, cpu_s)
            for kind, amount in (work or {}).items():
                self.computing.machines[i].work.add(kind, amount)
            self.computing.act(i, lambda: command)

    def _take_team(
        self, apart: Apart, taken: list[int], wishes: list[str], notes: list[Any], writes: list[Any]
    ) -> None:
        """Take in what a controller has read, and what it wants to tell the others."""
        robot, box = apart.robot, apart.robot._mailbox
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

    def _take_uses(self) -> None:
        for seat in self.fleet.seats.values():
            if seat.uses and self._measures:
                for i in seat.robots:
                    self.computing.report_ram(i, Use(*seat.uses[-1]).software_mib)
        self.noting.take(self.fleet.seats.values(), self._step, self._time_s)

    def _failed(self, robots: tuple[int, ...], text: str, by_wall_time: bool) -> None:
        self.failed.update(robots)
        self.failures.append(Failure(robots, ControllerError(text), text, by_wall_time))

    def _report_lost(self, commands: np.ndarray) -> None:
        """Let the robots of processes that are gone stand still."""
        for seat in self.fleet.seats.values():
            if seat.gone and seat.name not in self._reported:
                self._reported.add(seat.name)
                commands[list(seat.robots)] = 0.0
                self._failed(tuple(i for i in seat.robots if i not in self.failed), seat.gone, by_wall_time=True)

    # -- how it begins -------------------------------------------------------------------------------------------------

    def _board(self, index: int, name: str, group: Group, seed: int, period_s: float) -> None:
        start = self.estimating.in_own_frames([index], self.estimating.pose[[index]])
        home = Pose(*(float(v) for v in start[0]))
        navigator = Navigator(DriveLimits.of(group.robot, period_s), group.robot.body_discs, identity=index)
        mailbox = self.talking.mailboxes[index]
        robot = Shadow(name, group.robot, home, navigator, np.random.default_rng(0), mailbox, self.talking.board)
        robot.map = self.estimating.belief_of.get(index)
        self.onboard[index] = Apart(robot, group, Seat(name, (index,), self.watchdog.budget_s))

    def _group_seats(self) -> dict[str, Seat]:
        """Return the processes of controllers of several robots, by the name of the group or ``team``."""
        robots: dict[str, list[int]] = {}
        for group, first in self._parts():
            if group.program is not None and group.program.scope != "robot":
                name = "team" if group.program.scope == "team" else group.name
                robots.setdefault(name, []).extend(range(first, first + len(group.start)))
        return {name: Seat(name, tuple(members), self.watchdog.budget_s) for name, members in robots.items()}

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
            home=(robot.home.x, robot.home.y, robot.home.heading),
            period_s=self._step_s * group.control_every,
            program=group.program,
            seed=self._seed,
            step_budget_s=seat.budget_s,
            limits_memory=self._measures,
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
        return MapOf(
            row=row,
            names=mirror.names,
            size_m=size,
            origin=(x, y),
            mapping=mirror.mapping,
            rule=mirror.rule,
            angles=lidar.angles,
            mount=lidar.mount,
            range_m=lidar.range_m,
            known=known,
        )


def _values(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in _names(type(record)))


def _sent(seat: Seat, name: str, readings: Readings, row: int) -> tuple[str, bool, Any]:
    """Return a reading as it is sent: whole the first time, later what changes of it."""
    reading = readings.row(row)
    if name not in seat.told or not dataclasses.is_dataclass(reading):
        seat.told.add(name)
        return name, True, reading
    return name, False, {f: getattr(reading, f) for f in _names(type(reading)) if f not in readings.shared}


@lru_cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))
