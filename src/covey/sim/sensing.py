"""Sensing: which samples fell due, from which pose, evaluated for all robots with equal sensor records at once."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covey.robots.group import Group
from covey.robots.team import TeamModel, TeamState
from covey.sensors.clock import due
from covey.sensors.sensor import sensor_keys
from covey.sensors.truth import Truth
from covey.sim.clock import Clock
from covey.world.world import World


@dataclass
class SensorBank:
    """All sensors of the team with one and the same record.

    Attributes:
        record: the sensor record they share.
        members: team indices of the robots that carry it, shape (m,).
        fresh: True when `readings` were taken since the last control step.
        readings: the newest readings, batched over the members; None before the first sample.
        pose: true poses of the whole team at the newest sample, shape (n, 3).
        substep: when the newest sample was taken.
        spoiled: what makes readings of single robots worse; each is applied to every new sample.
        unread: nobody but the scoring wants its readings; they are not taken then, but for what is spoiled.
    """

    record: Any
    members: np.ndarray
    keys: np.ndarray
    pose: np.ndarray
    pose_before: np.ndarray
    fresh: bool = False
    readings: Any = None
    substep: int = -1
    row_of: dict[int, int] = field(default_factory=dict)
    spoiled: list[Any] = field(default_factory=list)
    unread: bool = False


class Sensing:
    """The sensors of a team; `take` evaluates the newest sample of each that fell due since the last control step."""

    def __init__(self, world: World, groups: list[Group], model: TeamModel, state: TeamState, clock: Clock, seed: int):
        self.world, self.model, self.clock = world, model, clock
        names = [name for group in groups for name in group.names]
        carried = [group.robot.sensors for group in groups for _ in group.start]
        records: dict[Any, list[int]] = {}
        for robot, sensors in enumerate(carried):
            for record in sensors:
                records.setdefault(record, []).append(robot)
        self.banks = [
            SensorBank(
                record,
                members := np.array(robots, np.int64),
                sensor_keys(seed, record.name, [names[i] for i in robots]),
                state.pose.copy(),
                state.pose.copy(),
                row_of={int(robot): row for row, robot in enumerate(members)},
                unread=not any(_reads(group, record) for group in groups if record in group.robot.sensors),
            )
            for record, robots in records.items()
        ]
        self._rates = sorted({bank.record.rate_hz for bank in self.banks})
        self._identity = np.arange(len(names))
        self._before = -1  # the last substep whose samples were taken

    def take(self, state: TeamState, trace: np.ndarray) -> None:
        """Take the newest due sample of each bank, at the pose the robots had then.

        Args:
            state: the team now.
            trace: poses after each substep of the last control step, shape (substeps, n, 3).
        """
        now, first = self.clock.now, self.clock.now - len(trace) + 1
        truths: dict[int, Truth] = {}
        for bank in self.banks:
            oldest, sample, substep = due(bank.record.rate_hz, self.clock.substep_s, self._before + 1, now + 1)
            bank.fresh = sample >= oldest
            if not bank.fresh:
                continue
            pose = state.pose if substep == now else trace[substep - first]
            dt_s = (substep - max(bank.substep, 0)) * self.clock.substep_s
            truth = (
                truths[substep].since(bank.pose, dt_s)
                if substep in truths
                else Truth(
                    skip=self.world.skip,
                    frame=self.world.grid.frame,
                    pose=pose,
                    pose_before=bank.pose,
                    twist=state.twist,
                    discs=self.model.discs,
                    disc_count=self.model.disc_count,
                    contact_bearing=state.contact_bearing,
                    identity=self._identity,
                    dt_s=dt_s,
                    ground=self.world.ground,
                    altitude_roll_pitch=state.altitude_roll_pitch,
                    wall_height_m=self.world.wall_height_m,
                )
            )
            truths[substep] = truth
            idle = bank.unread and not bank.spoiled
            bank.readings = None if idle else bank.record.read(truth, bank.members, bank.keys, sample)
            for spoiled in bank.spoiled:
                spoiled.apply(bank.readings, sample)
            bank.pose_before, bank.pose, bank.substep = bank.pose, pose.copy(), substep
        self._before = now

    def wanted(self, substeps: int) -> np.ndarray:
        """Return at which of the coming substeps the next `take` will want the poses, uint8 (substeps,)."""
        now = self.clock.now
        wanted = np.zeros(substeps, np.uint8)
        for rate_hz in self._rates:
            oldest, sample, substep = due(rate_hz, self.clock.substep_s, now + 1, now + substeps + 1)
            if sample >= oldest and substep < now + substeps:
                wanted[substep - now - 1] = 1
        return wanted

    def is_first(self, bank: SensorBank, robot: int) -> bool:
        """Return whether a bank holds the first sensor of its kind on a robot."""
        return next(b for b in self.of_kind(bank.record.kind) if robot in b.row_of) is bank

    def of_kind(self, kind: str) -> list[SensorBank]:
        """Return the banks of one kind of sensor."""
        return [bank for bank in self.banks if bank.record.kind == kind]

    def first_of(self, members: np.ndarray, kind: str) -> SensorBank | None:
        """Return the bank of the first sensor of a kind that a group of equal robots carries."""
        return next((b for b in self.of_kind(kind) if len(members) and int(members[0]) in b.row_of), None)


def _reads(group: Group, record: Any) -> bool:
    """Return whether robots of a group, or what estimates for them, may look at a sensor that they carry."""
    if record.kind != "lidar" or record.sees_robots or group.robot.mapping is not None or group.program is None:
        return True
    return group.program.reads(record.kind, record.name)
