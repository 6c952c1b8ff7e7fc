"""Sensing: the due samples and their poses, evaluated at once for all robots with equal sensor records."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covey.clock import Clock
from covey.geometry.se2 import Pose, compose
from covey.onboard.group import Group
from covey.robots.team import TeamModel, TeamState
from covey.sensors.clock import due, samples_per_substep
from covey.sensors.degradation import Degradation
from covey.sensors.sensor import sensor_keys
from covey.sensors.truth import Truth
from covey.world.state import WorldState


@dataclass(eq=False, slots=True)
class BankSample:
    """One sample of a bank.

    Attributes:
        substep: time of the sample.
        pose: true poses of the whole team then, shape (n, 3).
        readings: batched over the members of the bank; None if only the scoring needs it.
    """

    substep: int
    pose: np.ndarray
    readings: Any


@dataclass
class SensorBank:
    """All sensors of the team with the same record.

    Attributes:
        record: the shared sensor record.
        members: team indices of the robots that carry it, shape (m,).
        samples: samples that arrived since the last control step, oldest first.
        newest: the newest sample that has arrived; None before the first one.
        late: samples that have been taken but have not arrived yet, oldest first.
        pose: true poses of the whole team at the newest sample taken, shape (n, 3).
        substep: time of that sample.
        pose_earlier: poses at the sample before that one; None: there was none.
        dt_s: time between the two [s].
        degraded: degradations of single robots' readings; each is applied to every new sample.
        unread: whether only the scoring needs its readings; then only degraded ones are computed.
        delay: number of substeps from a sample to its arrival.
        first: numbers of the samples that are the first of the members' runs, int64 (m,); None: 0.
    """

    record: Any
    members: np.ndarray
    keys: np.ndarray
    pose: np.ndarray
    samples: list[BankSample] = field(default_factory=list)
    newest: BankSample | None = None
    late: deque[BankSample] = field(default_factory=deque)
    substep: int = -1
    pose_earlier: np.ndarray | None = None
    dt_s: float = 0.0
    row_of: dict[int, int] = field(default_factory=dict)
    degraded: Sequence[Degradation] = ()
    unread: bool = False
    delay: int = 0
    first: np.ndarray | None = None

    @property
    def readings(self) -> Any:
        """The newest readings, batched over the members; None before the first sample."""
        return None if self.newest is None else self.newest.readings

    def nearest(self, substep: int) -> BankSample | None:
        """Return the sample taken nearest to a substep, of those that arrived last; None if none has arrived."""
        if not self.samples:
            return self.newest
        return min(self.samples, key=lambda sample: abs(sample.substep - substep))


class Sensing:
    """The sensors of a team; `sample` evaluates all samples due since the last control step.

    Attributes:
        banks: the sensors.
        silent: names of the sensors of which samples were due and have not come since, by robot.

    Args:
        world: the world; that of all worlds, if there are several.
        groups: the team, in all worlds.
        model, state: its bodies, and where they are.
        clock: of the simulation.
        seed: root of the noise; if there are several worlds, that of each.

    Raises:
        InvalidValueError: a sensor has more than one sample per substep.
    """

    def __init__(
        self,
        world: WorldState,
        groups: Sequence[Group],
        model: TeamModel,
        state: TeamState,
        clock: Clock,
        seed: int | Sequence[int],
    ):
        self.world, self.model, self.clock = world, model, clock
        seeds = [seed] if isinstance(seed, (int, np.integer)) else list(seed)
        self._worlds, seed_of = len(seeds), [seeds[world_id] for world_id in state.world_id.tolist()]
        self._names = names = [name for group in groups for name in group.names]
        self._world_id = state.world_id
        carried = [group.robot.sensors for group in groups for _ in group.start]
        records: dict[Any, list[int]] = {}
        for robot, sensors in enumerate(carried):
            for record in sensors:
                records.setdefault(record, []).append(robot)
        self.banks = [
            SensorBank(
                record,
                members := np.array(robots, np.int64),
                sensor_keys([seed_of[i] for i in robots], record.name, [names[i] for i in robots]),
                state.pose.copy(),
                row_of={int(robot): row for row, robot in enumerate(members)},
                unread=not any(_reads(group, record) for group in groups if record in group.robot.sensors),
                delay=math.ceil(record.latency_s / clock.substep_s - 1e-9),
            )
            for record, robots in records.items()
        ]
        self.silent: dict[int, tuple[str, ...]] = {}
        self._feeding: dict[str, list[SensorBank]] = {}
        for bank in self.banks:
            for fed in bank.record.feeds:
                self._feeding.setdefault(fed, []).append(bank)
        rates = sorted({bank.record.rate_hz for bank in self.banks})
        self._rates = {rate_hz: samples_per_substep(rate_hz, clock.substep_s) for rate_hz in rates}
        self._identity = np.concatenate(_identities(groups))
        self._felt_until = -1  # the last substep whose contacts are known
        self._felt, self._wanted = np.empty((0, 3)), np.empty(0, np.uint8)

    def sample(self, state: TeamState, trace: np.ndarray, felt: np.ndarray) -> None:
        """Take all due samples of each bank, at the robots' poses at those times.

        Args:
            state: the present state of the team.
            trace: poses and attitudes after each substep of the last step, shape (substeps, 2, n, 3).
            felt: contacts of robots in that step, see `covey.physics.protocol.Contacts`.
        """
        if not self.banks:
            return
        now = self.clock.now
        self.sample_until(self.banks, now, state, trace, felt)
        for bank in self.banks:
            bank.samples = []
            while bank.late and bank.late[0].substep + bank.delay <= now:
                bank.samples.append(bank.late.popleft())
            bank.newest = bank.samples[-1] if bank.samples else bank.newest
        if self.silent or any(bank.degraded for bank in self.banks):
            self._listen(state)

    def _listen(self, state: TeamState) -> None:
        """Note which sensors are silent: a sample was due and was lost, and none has come since; not of dead robots."""
        silent: dict[int, dict[str, None]] = {}
        for bank in self.banks:
            name = bank.record.name
            lost = {worse.robot for worse in bank.degraded if worse.dropout >= 1.0} if bank.samples else set[int]()
            was = {robot for robot, names in self.silent.items() if name in names and robot in bank.row_of}
            for robot in sorted(lost if bank.samples else was):
                if not state.halted[robot]:
                    silent.setdefault(robot, {})[name] = None
        self.silent = {robot: tuple(names) for robot, names in sorted(silent.items())}

    def sample_until(
        self, banks: Sequence[SensorBank], until: int, state: TeamState, trace: np.ndarray, felt: np.ndarray
    ) -> None:
        """Take the samples of some banks that are due up to a substep of the last step; they arrive with `sample`.

        Args:
            banks: the banks.
            until: the substep.
            state, trace, felt: see `sample`.
        """
        now, first = self.clock.now, self.clock.now - len(trace) + 1
        if self._felt_until < now:
            self._felt_until = now
            if len(felt) or len(self._felt):
                known = self._felt[self._felt[:, 0] > min(bank.substep for bank in self.banks)]
                self._felt = np.concatenate((known, felt + np.array([first, 0.0, 0.0])))
        truths: dict[int, Truth] = {}
        taken: dict[tuple[float, int], list[tuple[int, int]]] = {}  # of banks with equal rates, taken equally far
        for bank in banks:
            rate_hz, before = key = bank.record.rate_hz, bank.substep
            if key not in taken:
                taken[key] = due(self._rates[rate_hz], before + 1, until + 1)
            for sample, substep in taken[key]:
                if substep not in truths:
                    there = (state.pose, state.altitude_roll_pitch) if substep == now else trace[substep - first]
                    truths[substep] = self._truth(state, substep, *(a.copy() for a in there))
                self._sample(bank, truths[substep], sample, substep)

    def follow_carried(self, robot: int, motion: Pose, state: TeamState, trace: np.ndarray) -> None:
        """Let the sensors of a robot that was carried feel nothing of it: its last poses move with it.

        Args:
            robot: the robot.
            motion: the motion, in the world frame.
            state: the state of the team, after it.
            trace: see `sample`; changed in place.
        """
        trace[:, 0, robot] = compose(np.array(motion), trace[:, 0, robot])
        trace[:, 1, robot] = state.altitude_roll_pitch[robot]
        for bank in self.banks:
            bank.pose = bank.pose.copy()  # samples that are on their way keep theirs
            bank.pose[robot] = compose(np.array(motion), bank.pose[robot])
            if bank.pose_earlier is not None:
                bank.pose_earlier = bank.pose_earlier.copy()
                bank.pose_earlier[robot] = compose(np.array(motion), bank.pose_earlier[robot])

    def begin_anew(self, robots: np.ndarray, seeds: Sequence[int]) -> None:
        """Let new runs of some worlds begin now, with the next sample of each sensor, which is due now.

        All sensors must take that, see `SensorRecord.begins_anew`.

        Args:
            robots: the robots of these worlds, bool (n,).
            seeds: of all worlds.
        """
        now = self.clock.now
        for bank in self.banks:
            bank.substep = min(bank.substep, now - 1)
            rows = np.flatnonzero(robots[bank.members])
            own, names = bank.members[rows], [self._names[i] for i in bank.members[rows].tolist()]
            seed_of = [seeds[k] for k in self._world_id[own].tolist()]
            bank.keys[rows] = sensor_keys(seed_of, bank.record.name, names)
            samples, substeps = self._rates[bank.record.rate_hz]
            if bank.first is None:
                bank.first = np.zeros(len(bank.members), np.int64)
            bank.first[rows] = now * samples // substeps

    def samples_of_a_step(self, bank: SensorBank) -> int:
        """Return how many samples of a bank come in each control step, one at its beginning; 0: it is not so."""
        samples, substeps = self._rates[bank.record.rate_hz]
        number, rest = divmod(self.clock.substeps_per_step * samples, substeps)
        return 0 if rest else number

    def wait(self, robots: np.ndarray) -> None:
        """Let the samples of some robots, int64 (k,), keep their numbers for a control step: their runs have ended."""
        for bank in self.banks:
            samples, substeps = self._rates[bank.record.rate_hz]
            if bank.first is None:
                bank.first = np.zeros(len(bank.members), np.int64)
            bank.first[np.isin(bank.members, robots)] += self.clock.substeps_per_step * samples // substeps

    def _sample(self, bank: SensorBank, truth: Truth, sample: int, substep: int) -> None:
        """Take one sample of a bank."""
        dt_s = (substep - max(bank.substep, 0)) * self.clock.substep_s
        truth.pose_before, truth.dt_s, truth.felt_since = bank.pose, dt_s, (bank.substep, substep)
        truth.pose_earlier, truth.dt_before_s = bank.pose_earlier, bank.dt_s
        readings = None
        if not bank.unread or bank.degraded:
            number = sample if bank.first is None else sample - bank.first
            readings = bank.record.read(truth, bank.members, bank.keys, number)
            for degradation in bank.degraded:
                readings.degrade(bank.row_of[degradation.robot], degradation.at(sample))
            before = bank.late[-1] if bank.late else bank.newest
            readings = bank.record.after(readings, None if before is None else before.readings)
        bank.late.append(BankSample(substep, truth.pose, readings))
        bank.pose_earlier, bank.dt_s = bank.pose, dt_s
        bank.pose, bank.substep = truth.pose, substep

    def _truth(self, state: TeamState, substep: int, pose: np.ndarray, attitude: np.ndarray) -> Truth:
        return Truth(
            skip=self.world.skip,
            frame=self.world.grid.frame,
            pose=pose,
            pose_before=pose,
            twist=state.twist,
            discs=self.model.discs,
            disc_count=state.disc_count(self.model),
            felt=self._felt,
            felt_since=(substep, substep),
            identity=self._identity,
            dt_s=0.0,
            ground=self.world.ground,
            altitude_roll_pitch=attitude,
            wall_height_m=self.world.wall_height_m,
            targets=self.world.targets,
            world_id=state.world_id,
            worlds=self._worlds,
        )

    def wanted(self, besides: np.ndarray) -> np.ndarray:
        """Return the coming substeps at which the next `sample` needs the poses, and others, uint8 (substeps,).

        Args:
            besides: the others.
        """
        if not self._rates:
            return besides
        now, substeps = self.clock.now, len(besides)
        if len(self._wanted) != substeps:
            self._wanted = np.empty(substeps, np.uint8)
        self._wanted[:] = besides  # one array for all steps, so that the kernel of motion need not look at it anew
        for per_substep in self._rates.values():
            for _, substep in due(per_substep, now + 1, now + substeps):
                self._wanted[substep - now - 1] = 1
        return self._wanted

    def is_first(self, bank: SensorBank, fed: str, robot: int) -> bool:
        """Return whether a bank holds the first sensor on a robot that feeds something, see `SensorRecord.feeds`."""
        return next(b for b in self.feeding(fed) if robot in b.row_of) is bank

    def feeding(self, fed: str) -> list[SensorBank]:
        """Return the banks of the sensors that feed something, see `SensorRecord.feeds`."""
        return self._feeding.get(fed, [])

    def first_of(self, members: np.ndarray, fed: str) -> SensorBank | None:
        """Return the bank of the first sensor that feeds something on a group of equal robots."""
        return next((b for b in self.feeding(fed) if len(members) and int(members[0]) in b.row_of), None)


def _identities(groups: Sequence[Group]) -> list[np.ndarray]:
    """Return the number of each robot in the team of its world, group by group."""
    firsts = np.cumsum([0, *(group.count for group in groups)])
    return [np.tile(first + np.arange(group.count), group.worlds) for first, group in zip(firsts, groups, strict=False)]


def _reads(group: Group, record: Any) -> bool:
    """Return whether robots of a group, or their localization, may read one of their sensors."""
    if "scan" not in record.feeds or record.sees_robots or group.robot.mapping is not None or group.program is None:
        return True
    if {*record.feeds} & {*group.localization.needs}:
        return True
    return group.program.reads(record)
