"""`RemoteHost`: controllers that share no memory with the simulation; their inputs and outputs travel as records."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry import Pose
from covey.mapping.elevation.apart import MirroredElevations
from covey.mapping.elevation.belief import Elevations
from covey.mapping.exchange.apart import Changes, MirroredMaps
from covey.mapping.occupancy.apart import MirroredBeliefs
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.slam.log import Laser
from covey.onboard.group_view import seen
from covey.onboard.spec import RobotSpec
from covey.onboard.step import (
    Failed,
    GroupInput,
    GroupOutput,
    Located,
    MapInput,
    Requests,
    SenseInput,
    StepInput,
    StepOutput,
    TeamUpdate,
)
from covey.results.recorder import Recorder
from covey.runtime.execution import Processes
from covey.runtime.host import Answers, GroupAnswers, Host, Team
from covey.runtime.local.failures import failed_at_the_end
from covey.runtime.phases.localization_and_mapping import Kinds
from covey.runtime.phases.sensing import Sensing, SensorBank
from covey.runtime.remote.pace import LockStep, RealTime
from covey.runtime.remote.process_recorder import ProcessRecorder
from covey.runtime.remote.proxy import Proxy
from covey.runtime.remote.spawn_spec import GroupSpawn, RobotSpawn
from covey.runtime.remote.use import Use
from covey.runtime.transport.channel import Channel

MIRRORS: Kinds = MappingProxyType({Beliefs: MirroredBeliefs, Elevations: MirroredElevations})
"""The classes of the mirrors of beliefs."""


class Proxies(Protocol):
    """The proxies to the controllers of a team.

    Attributes:
        channels: channels by name.
        record: where controllers run.
    """

    channels: dict[str, Channel]
    record: Processes

    def proxy(self, channel: Channel, banks: Sequence[SensorBank]) -> Proxy:
        """Return the proxy of a channel; ``banks``: the sensors that it reads."""
        ...

    def open(self, spawn_of: Callable[[Channel], RobotSpawn | GroupSpawn]) -> bool:
        """Open the proxies, unless they are open; return whether processes have just connected."""
        ...

    def close(self) -> None:
        """Close the proxies."""
        ...


@dataclass
class RemoteRobot:
    """The simulation's record of a robot that shares no memory with it.

    Attributes:
        sent: number of messages sent to the robot, of those in its inbox here and those that it lost.
        entries: new entries on the blackboard since its last input.
        frames: poses of the frames of others that it knows.
        unsent: what it has sensed while it was busy; its scans are lost.
    """

    spec: RobotSpec
    proxy: Proxy
    sent: int = 0
    entries: list[tuple[str, Any]] = field(default_factory=list)
    frames: dict[str, Pose] | None = None
    unsent: list[SenseInput] = field(default_factory=list)


class RemoteHost(Host):
    """Controllers that share no memory with the simulation.

    Attributes:
        fleet: the proxies to them.
    """

    def __init__(self, proxies_of: Callable[[Processes, list[Channel]], Proxies], team: Team):
        self._team = team
        record, budget_s = team.execution.processes, team.execution.step_budget_s
        self._pace = RealTime(team.execution.step_s) if record.pace == "real_time" else LockStep()
        self.repeatable = self._pace.repeatable
        self._measures = team.computing.measures or not self.repeatable
        team.computing.told = True
        channels = {i: Channel(spec.name, (i,), budget_s) for i, spec in team.specs.items()}
        of_groups = {
            key: Channel(key, tuple(i for g in groups for i in team.members[g.name]), budget_s)
            for key, groups in team.programs.items()
        }
        self.fleet = proxies_of(record, [*channels.values(), *of_groups.values()])
        self._groups = {key: self.fleet.proxy(channel, ()) for key, channel in of_groups.items()}
        self._remote = {
            i: RemoteRobot(spec, self.fleet.proxy(channels[i], team.banks_of[i])) for i, spec in team.specs.items()
        }
        self._process_recorder = ProcessRecorder()
        self._mirrors: dict[int, tuple[MirroredMaps, int]] = {}
        for mapped in team.localization.teams:
            assert isinstance(mapped.beliefs, MirroredMaps)
            rows = {row: int(i) for row, i in enumerate(mapped.members) if int(i) in self._remote}
            mapped.beliefs.attach(rows)
            self._mirrors |= {i: (mapped.beliefs, row) for row, i in rows.items()}
        team.localization.attach(self, self._remote)
        self.cpu_s: dict[int, float] = {}
        self._asked: list[Channel] = []
        self._answers: tuple[list[tuple[int, StepOutput]], list[tuple[Sequence[str], GroupOutput]]] = [], []
        self._reported: set[str] = set()
        self._step, self._time_s = 0, 0.0

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the manifest says about where controllers ran."""
        channels, record = self.fleet.channels.values(), self.fleet.record
        hosts, memory = {s.name: s.host for s in channels}, {s.name: s.memory for s in channels if s.memory}
        return {"processes": {"pace": record.pace, "nodes": record.nodes, "hosts": hosts, "memory_limited_by": memory}}

    @property
    def busy(self) -> set[int]:
        """Robots that have not yet answered an earlier step."""
        return {i for i, remote in self._remote.items() if remote.proxy.channel.is_deciding}

    def begin(self, step: int, time_s: float) -> tuple[Answers, GroupAnswers]:
        """Begin a step; return late answers to earlier steps."""
        self._ready()
        self._pace.begin()
        self._step, self._time_s = step, time_s
        for channel in self.fleet.channels.values():
            if channel.is_deciding:
                channel.settle(self._pace.maps_until())
        return self._come()

    def ask(self, robots: Sequence[int], inputs: Sequence[StepInput]) -> Answers:
        """Send each robot its input."""
        for i, shown in zip(robots, inputs, strict=True):
            proxy = self._remote[i].proxy
            if proxy.step(shown._replace(received=self._received(i)), partial(self._answered, i, self._step)):
                self._asked.append(proxy.channel)
        return ()

    def ask_group(self, key: str, inputs: Sequence[GroupInput]) -> GroupAnswers:
        """Send a controller of several robots its input."""
        proxy, names = self._groups[key], [shown.name for shown in inputs]
        inputs = [shown._replace(fields={name: seen(of) for name, of in shown.fields.items()}) for shown in inputs]
        if proxy.channel.is_deciding:
            proxy.channel.misses.dropped_readings += 1
        elif proxy.step_groups(inputs, partial(self._answered_group, proxy.channel, names, self._step)):
            self._asked.append(proxy.channel)
        return ()

    def settle(self) -> tuple[Answers, GroupAnswers]:
        """Wait for the answers, and return them."""
        asked, self._asked = self._asked, []
        for channel in asked:
            channel.settle(self._pace.commands_until())
        for channel in self.fleet.channels.values():
            channel.misses.missed_deadlines += channel.is_deciding
        self._report_lost()
        self._take_uses()
        self._pace.end()
        return self._come()

    def drop(self, robot: int, samples: int) -> None:
        """Count readings that a busy robot has lost."""
        self._remote[robot].proxy.channel.misses.dropped_readings += samples

    def kill(self, robot: int) -> None:
        """End a controller that was killed because its computer ran out of memory."""
        if self._measures:
            self._remote[robot].proxy.channel.end(0.0)

    def post(self, key: str, value: Any) -> None:
        """Send an entry of the simulation on the blackboard to all robots."""
        for remote in self._remote.values():
            remote.entries.append((key, value))

    def handle(self, robot: int) -> Any:
        """Raise an error: the handle is in another process.

        Raises:
            InvalidValueError: always.
        """
        name = self._remote[robot].spec.name
        raise InvalidValueError(
            f"the handle of {name} is in a process of its own; run with controllers in_process to look at it, or let "
            "its controller write notes or send messages"
        )

    def record_into(self, recorder: Recorder) -> None:
        """Set the recorder for the resources and the traffic of the processes."""
        self._process_recorder.recorder = recorder

    def close(self) -> None:
        """End every process."""
        self.fleet.close()
        for channel in self.fleet.channels.values():
            if channel.last_words:
                warnings.warn(failed_at_the_end(channel.name, channel.last_words), stacklevel=2)
        clock = self._team.computing.clock
        self._process_recorder.record(self.fleet.channels.values(), clock.step, clock.time_s, last=True)

    # -- localization and maps -----------------------------------------------------------------------------------------

    def localize(self, sensed: Mapping[int, SenseInput]) -> None:
        """Let robots find out where they are; one that is busy gets what it has sensed, without scans, later."""
        self._ready()
        asked: list[Channel] = []
        for i, one in sensed.items():
            remote = self._remote[i]
            proxy = remote.proxy
            if proxy.channel.is_deciding:
                proxy.channel.misses.dropped_readings += one.scan is not None
                remote.unsent.append(one)
                continue
            sensed_so_far = [*remote.unsent, one]
            wheels = [sample for each in sensed_so_far for sample in each.wheels]
            gyro = [sample for each in sensed_so_far for sample in each.gyro]
            remote.unsent.clear()
            if proxy.localize(one._replace(wheels=wheels, gyro=gyro), partial(self._located, i)):
                asked.append(proxy.channel)
        self._settle_maps(asked)

    def map(self, given: Mapping[int, MapInput], poses: Mapping[int, np.ndarray]) -> None:
        """Let robots map; one that is busy loses its scan."""
        self._ready()
        asked: list[Channel] = []
        for i, one in given.items():
            proxy, (mirror, row) = self._remote[i].proxy, self._mirrors[i]
            if proxy.channel.is_deciding:
                proxy.channel.misses.dropped_readings += 1
            elif proxy.map(one._replace(tiles=mirror.waiting(row)), partial(self._mapped, i, poses[i])):
                asked.append(proxy.channel)
        self._settle_maps(asked)

    def _settle_maps(self, asked: list[Channel]) -> None:
        for channel in asked:
            channel.settle(self._pace.maps_until())

    def _located(self, i: int, answer: tuple[Located, Changes | None], cpu_s: float) -> None:
        """Process where a robot has found that it is."""
        located, changes = answer
        self._team.localization.set_estimate(i, located)
        self._mapped(i, None, changes, cpu_s)

    def _mapped(self, i: int, pose: np.ndarray | None, changes: Changes | None, cpu_s: float) -> None:
        """Process the changes of a robot's map, by a scan from a pose (3,)."""
        if changes is not None:
            mirror, row = self._mirrors[i]
            mirror.put(row, pose, changes)
        if self._team.computing.measures:
            self._team.computing.charge(i, cpu_s)

    def _ready(self) -> None:
        """Make sure that the processes have connected."""
        if self.fleet.open(self._spawn):
            self._process_recorder.start(self.fleet.channels.values())

    # -- sending and receiving -----------------------------------------------------------------------------------------

    def _received(self, i: int) -> TeamUpdate | None:
        """Return what a robot has received since its last input; None for nothing."""
        remote, box = self._remote[i], self._team.communication.mailboxes[i]
        mirror, row = self._mirrors.get(i, (None, 0))
        tiles = () if mirror is None else mirror.waiting(row)
        unsent = len(box.inbox) + box.overflowed - remote.sent
        messages = tuple(box.inbox)[max(len(box.inbox) - unsent, 0) :] if unsent else ()
        remote.sent += unsent
        entries, remote.entries = tuple(remote.entries), []
        known, frames = self._team.frames_of.get(i), None
        if known is not None and known != remote.frames:
            frames = remote.frames = dict(known)
        if not tiles and not messages and not entries and frames is None:
            return None
        return TeamUpdate(messages, entries, frames, tiles)

    def _answered(self, i: int, step: int, answer: StepOutput, cpu_s: float) -> None:
        """Process the answer of a robot; its messages and new entries go to its mailbox and the blackboard."""
        remote = self._remote[i]
        remote.proxy.channel.misses.late_commands += step != self._step
        self.cpu_s[i] = cpu_s
        self._answers[0].append((i, answer))
        if answer.requests is None:
            return
        box, asked = self._team.communication.mailboxes[i], answer.requests
        if asked.taken:
            gone = set(asked.taken)
            kept = [message for message in box.inbox if message.number not in gone]
            remote.sent -= len(box.inbox) - len(kept)
            box.inbox.clear()
            box.inbox.extend(kept)
        if asked.messages and not box.outbox:
            box.writers.append(box)
        box.outbox += asked.messages
        self._team.communication.blackboard.pending += asked.entries
        for other in self._remote.values():
            other.entries += asked.entries

    def _answered_group(
        self, channel: Channel, names: Sequence[str], step: int, answer: GroupOutput, _cpu_s: float
    ) -> None:
        """Process the answer of a controller of several robots."""
        channel.misses.late_commands += step != self._step
        self._answers[1].append((names, answer))

    def _come(self) -> tuple[Answers, GroupAnswers]:
        """Return the answers that have arrived."""
        come, self._answers = self._answers, ([], [])
        return come

    def _report_lost(self) -> None:
        """Report the controllers of lost processes as failed."""
        for channel in self.fleet.channels.values():
            if not channel.gone or channel.name in self._reported:
                continue
            self._reported.add(channel.name)
            failure = Failed(channel.gone, by_wall_time=True)
            if channel.name in self._groups:
                names = [group.name for group in self._team.programs[channel.name]]
                self._answers[1].append((names, GroupOutput(failure=failure)))
            else:
                self._answers[0].append((channel.robots[0], StepOutput(requests=Requests(failure=failure))))

    def _take_uses(self) -> None:
        for channel in self.fleet.channels.values():
            if channel.uses and self._measures:
                for i in channel.robots:
                    self._team.computing.report_ram(i, Use(*channel.uses[-1]).software_mib)
        self._process_recorder.record(self.fleet.channels.values(), self._step, self._time_s)

    # -- start ---------------------------------------------------------------------------------------------------------

    def _spawn(self, channel: Channel) -> RobotSpawn | GroupSpawn:
        """Return the specification for the process of a channel."""
        if channel.name in self._groups:
            program = self._team.programs[channel.name][0].program
            assert program is not None
            facts = tuple(self._team.facts[group.name] for group in self._team.programs[channel.name])
            return GroupSpawn(channel.name, program, facts, channel.budget_s, self.fleet.record.memory_mib)
        (i,) = channel.robots
        box = self._team.communication.mailboxes[i]
        return RobotSpawn(
            self._remote[i].spec,
            tuple(box.team),
            tuple(box.radios),
            own_frames=bool(self._team.frames_of),
            step_budget_s=channel.budget_s,
            memory_mib=self.fleet.record.memory_mib,
            limits_memory=self._measures,
            map=self._mirrors[i][0].start(self._mirrors[i][1]) if i in self._mirrors else None,
            laser=laser_of(self._team.sensing, i),
            localization=self._team.localization.own(i),
            reach_m=self._team.localization.reach_m,
            entries=dict(self._team.communication.blackboard.entries),
        )


def laser_of(sensing: Sensing, robot: int) -> Laser | None:
    """Return the first lidar of a robot; None: it has none."""
    bank = sensing.first_of(np.array([robot]), "scan")
    if bank is None:
        return None
    return Laser(bank.record.angles, bank.record.range_m, tuple(bank.record.mount.tolist()))
