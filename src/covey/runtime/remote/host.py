"""`RemoteHost`: controllers that share no memory with the simulation; all that they are shown travels as records."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry import Pose
from covey.onboard.spec import RobotSpec
from covey.onboard.step import Failed, GroupInput, GroupOutput, Requests, StepInput, StepOutput, TeamNews
from covey.results.recorder import Recorder
from covey.runtime.host import Answers, GroupAnswers, Host, Team
from covey.runtime.local.failures import failed_at_the_end
from covey.runtime.phases.sensing import SensorBank
from covey.runtime.remote.line import Line
from covey.runtime.remote.mirror import Mirror
from covey.runtime.remote.noting import Noting
from covey.runtime.remote.pace import LockStep, RealTime
from covey.runtime.remote.record import Processes
from covey.runtime.remote.spawn_spec import GroupBirth, MapOf, RobotBirth
from covey.runtime.remote.use import Use
from covey.runtime.transport.channel import Seat


class Lines(Protocol):
    """The lines of a team.

    Attributes:
        seats: by name.
        record: where controllers run.
    """

    seats: dict[str, Seat]
    record: Processes

    def line(self, seat: Seat, banks: Sequence[SensorBank]) -> Line:
        """Return the line of a seat; ``banks``: of the sensors that it reads."""
        ...

    def open(self, birth_of: Callable[[Seat], RobotBirth | GroupBirth]) -> bool:
        """Begin; return False when that has been done before."""
        ...

    def close(self) -> None:
        """End."""
        ...


@dataclass
class Apart:
    """What there is to know of a robot that shares no memory with the simulation.

    Attributes:
        sent: of the messages in the inbox here, and of those that it lost, how many the robot has been sent.
        notices: what has gone up on the notice board since it was told last.
        frames: where it knows the frames of others to be.
    """

    spec: RobotSpec
    line: Line
    sent: int = 0
    notices: list[tuple[str, Any]] = field(default_factory=list)
    frames: dict[str, Pose] | None = None


class RemoteHost(Host):
    """Controllers that share no memory with the simulation.

    Attributes:
        fleet: the lines to them.
    """

    def __init__(self, record: Processes, lines_of: Callable[[Processes, list[Seat]], Lines], team: Team):
        self._team = team
        self._pace = RealTime(team.step_s) if record.pace == "real_time" else LockStep()
        self.repeatable = self._pace.repeatable
        self._measures = team.computing.measures or not self.repeatable
        team.computing.told = True
        seats = {i: Seat(spec.name, (i,), team.step_budget_s) for i, spec in team.specs.items()}
        of_groups = {
            key: Seat(key, tuple(i for g in groups for i in team.members[g.name]), team.step_budget_s)
            for key, groups in team.programs.items()
        }
        self.fleet = lines_of(record, [*seats.values(), *of_groups.values()])
        self._groups = {key: self.fleet.line(seat, ()) for key, seat in of_groups.items()}
        self._apart = {i: Apart(spec, self.fleet.line(seats[i], team.banks_of[i])) for i, spec in team.specs.items()}
        self._noting = Noting()
        self._mirrors: dict[int, tuple[Mirror, int]] = {}
        for mapped in team.estimating.teams:
            if not isinstance(mapped.beliefs, Mirror):
                raise InvalidValueError(
                    f"{mapped.beliefs.names[0]} maps the ground, which processes of robots cannot do yet; run with "
                    "controllers in_process"
                )
            rows = {row: int(i) for row, i in enumerate(mapped.members) if int(i) in self._apart}
            mapped.beliefs.attach({row: self._apart[i].line for row, i in rows.items()}, self)
            self._mirrors |= {i: (mapped.beliefs, row) for row, i in rows.items()}
        self.cpu_s: dict[int, float] = {}
        self._asked: list[Seat] = []
        self._answers: tuple[list[tuple[int, StepOutput]], list[tuple[Sequence[str], GroupOutput]]] = [], []
        self._reported: set[str] = set()
        self._step, self._time_s = 0, 0.0

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the manifest says of where controllers ran."""
        seats, record = self.fleet.seats.values(), self.fleet.record
        hosts, memory = {s.name: s.host for s in seats}, {s.name: s.memory for s in seats if s.memory}
        return {"processes": {"pace": record.pace, "nodes": record.nodes, "hosts": hosts, "memory_limited_by": memory}}

    @property
    def busy(self) -> set[int]:
        """Robots that have not answered yet what they were asked in an earlier step."""
        return {i for i, apart in self._apart.items() if apart.line.seat.is_deciding}

    def begin(self, step: int, time_s: float) -> tuple[Answers, GroupAnswers]:
        """Begin a step; return the answers to earlier ones that have come since."""
        self.ready()
        self._pace.begin()
        self._step, self._time_s = step, time_s
        for seat in self.fleet.seats.values():
            if seat.is_deciding:
                seat.settle(self._pace.maps_until())
        return self._come()

    def ask(self, robots: Sequence[int], inputs: Sequence[StepInput]) -> Answers:
        """Send each of the robots what it is shown."""
        for i, shown in zip(robots, inputs, strict=True):
            line = self._apart[i].line
            if line.step(shown._replace(news=self._news(i)), partial(self._answered, i, self._step)):
                self._asked.append(line.seat)
        return ()

    def ask_group(self, key: str, inputs: Sequence[GroupInput]) -> GroupAnswers:
        """Send a controller of several robots what it sees."""
        line, names = self._groups[key], [shown.name for shown in inputs]
        if line.seat.is_deciding:
            line.seat.misses.dropped_readings += 1
        elif line.step_groups(inputs, partial(self._answered_group, line.seat, names, self._step)):
            self._asked.append(line.seat)
        return ()

    def settle(self) -> tuple[Answers, GroupAnswers]:
        """Wait for the answers, and return them."""
        asked, self._asked = self._asked, []
        for seat in asked:
            seat.settle(self._pace.commands_until())
        for seat in self.fleet.seats.values():
            seat.misses.missed_deadlines += seat.is_deciding
        self._report_lost()
        self._take_uses()
        self._pace.end()
        return self._come()

    def drop(self, robot: int, samples: int) -> None:
        """Note that a robot that was busy has lost so many readings."""
        self._apart[robot].line.seat.misses.dropped_readings += samples

    def kill(self, robot: int) -> None:
        """Let a controller end that has been killed for want of memory."""
        if self._measures:
            self._apart[robot].line.seat.end(0.0)

    def post(self, key: str, value: Any) -> None:
        """Tell all robots what the simulation has put on the notice board."""
        for apart in self._apart.values():
            apart.notices.append((key, value))

    def handle(self, robot: int) -> Any:
        """Refuse: the handle is in another process.

        Raises:
            InvalidValueError: always.
        """
        name = self._apart[robot].spec.name
        raise InvalidValueError(
            f"the handle of {name} is in a process of its own; run with controllers in_process to look at it, or let "
            "its controller write notes or send messages"
        )

    def record_into(self, recorder: Recorder) -> None:
        """Say where to record what the processes take, and their traffic."""
        self._noting.recorder = recorder

    def close(self) -> None:
        """End every process."""
        self.fleet.close()
        for seat in self.fleet.seats.values():
            if seat.last_words:
                warnings.warn(failed_at_the_end(seat.name, seat.last_words), stacklevel=2)
        clock = self._team.computing.clock
        self._noting.take(self.fleet.seats.values(), clock.step, clock.time_s, last=True)

    # -- what a mirror asks --------------------------------------------------------------------------------------------

    def ready(self) -> None:
        """Make sure that the processes have come in."""
        if self.fleet.open(self._birth):
            self._noting.start(self.fleet.seats.values())

    def maps_until(self) -> float | None:
        """Return until when answers to scans are waited for."""
        return self._pace.maps_until()

    def took(self, seat: Seat, cpu_s: float) -> None:
        """Charge processor time [s] to the computer of a robot."""
        if self._team.computing.measures:
            for i in seat.robots:
                self._team.computing.charge(i, cpu_s)

    # -- what goes out, and what comes in ------------------------------------------------------------------------------

    def _news(self, i: int) -> TeamNews | None:
        """Return what a robot has heard since it was asked last; None for nothing."""
        apart, box = self._apart[i], self._team.talking.mailboxes[i]
        mirror, row = self._mirrors.get(i, (None, 0))
        tiles = None if mirror is None else mirror.waiting(row)
        unsent = len(box.inbox) + box.overflowed - apart.sent
        messages = tuple(box.inbox)[max(len(box.inbox) - unsent, 0) :] if unsent else ()
        apart.sent += unsent
        notices, apart.notices = tuple(apart.notices), []
        known, frames = self._team.frames_of.get(i), None
        if known is not None and known != apart.frames:
            frames = apart.frames = dict(known)
        if tiles is None and not messages and not notices and frames is None:
            return None
        return TeamNews(messages, notices, frames, tiles)

    def _answered(self, i: int, step: int, answer: StepOutput, cpu_s: float) -> None:
        """Take in what a robot answers; what it says to others goes to its mailbox and the notice board."""
        apart = self._apart[i]
        apart.line.seat.misses.late_commands += step != self._step
        self.cpu_s[i] = cpu_s
        self._answers[0].append((i, answer))
        if answer.requests is None:
            return
        box, asked = self._team.talking.mailboxes[i], answer.requests
        if asked.taken:
            gone = set(asked.taken)
            kept = [message for message in box.inbox if message.number not in gone]
            apart.sent -= len(box.inbox) - len(kept)
            box.inbox.clear()
            box.inbox.extend(kept)
        if asked.messages and not box.outbox:
            box.writers.append(box)
        box.outbox += asked.messages
        self._team.talking.board.pending += asked.notices
        for other in self._apart.values():
            other.notices += asked.notices

    def _answered_group(self, seat: Seat, names: Sequence[str], step: int, answer: GroupOutput, _cpu_s: float) -> None:
        """Take in what a controller of several robots answers."""
        seat.misses.late_commands += step != self._step
        self._answers[1].append((names, answer))

    def _come(self) -> tuple[Answers, GroupAnswers]:
        """Return the answers that have come."""
        come, self._answers = self._answers, ([], [])
        return come

    def _report_lost(self) -> None:
        """Answer for the processes that are gone that their controllers failed."""
        for seat in self.fleet.seats.values():
            if not seat.gone or seat.name in self._reported:
                continue
            self._reported.add(seat.name)
            failure = Failed(seat.gone, by_wall_time=True)
            if seat.name in self._groups:
                names = [group.name for group in self._team.programs[seat.name]]
                self._answers[1].append((names, GroupOutput(failure=failure)))
            else:
                self._answers[0].append((seat.robots[0], StepOutput(requests=Requests(failure=failure))))

    def _take_uses(self) -> None:
        for seat in self.fleet.seats.values():
            if seat.uses and self._measures:
                for i in seat.robots:
                    self._team.computing.report_ram(i, Use(*seat.uses[-1]).software_mib)
        self._noting.take(self.fleet.seats.values(), self._step, self._time_s)

    # -- how it begins -------------------------------------------------------------------------------------------------

    def _birth(self, seat: Seat) -> RobotBirth | GroupBirth:
        """Return what the process of a seat is told."""
        if seat.name in self._groups:
            program = self._team.programs[seat.name][0].program
            assert program is not None
            return GroupBirth(seat.name, program, seat.budget_s, self.fleet.record.memory_mib)
        (i,) = seat.robots
        box = self._team.talking.mailboxes[i]
        return RobotBirth(
            self._apart[i].spec,
            tuple(box.team),
            tuple(box.radios),
            seat.budget_s,
            self.fleet.record.memory_mib,
            own_frames=bool(self._team.frames_of),
            limits_memory=self._measures,
            map=self._map_of(i),
            notices=dict(self._team.talking.board.notes),
        )

    def _map_of(self, i: int) -> MapOf | None:
        if i not in self._mirrors:
            return None
        mirror, row = self._mirrors[i]
        bank = self._team.sensing.first_of(np.array([i]), "lidar")
        assert bank is not None
        rows, columns = mirror.grid.shape
        x, y, _ = mirror.grid.origin
        lidar, cell = bank.record, mirror.grid.resolution
        return MapOf(
            row=row,
            names=mirror.names,
            size_m=(columns * cell, rows * cell),
            origin=(x, y),
            mapping=mirror.mapping,
            rule=mirror.rule,
            angles=lidar.angles,
            mount=lidar.mount,
            range_m=lidar.range_m,
            known=mirror.start if row in mirror.informed else None,
        )
