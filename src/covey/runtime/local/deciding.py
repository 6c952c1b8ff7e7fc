"""Deciding: each controller acts on its handle, a group controller on arrays; a failure stops that robot alone."""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import repeat
from time import monotonic
from types import MappingProxyType
from typing import Any

import numpy as np

from covey.geometry import Pose
from covey.onboard.controller import Program
from covey.onboard.driving import DriveLimits
from covey.onboard.group import Group, GroupView, twists_of
from covey.onboard.handle import Robot
from covey.onboard.motions import STILL, Twist
from covey.onboard.navigator import Navigator
from covey.onboard.onboard import Onboard
from covey.random import generator
from covey.results.recorder import Recorder
from covey.robots.sample import Sample
from covey.runtime.local.failures import Failure, text_of
from covey.runtime.local.watchdog import StepBudgetError, Watchdog
from covey.runtime.phases.communication import Talking
from covey.runtime.phases.computing import Computing
from covey.runtime.phases.localization_and_mapping import Estimating
from covey.runtime.phases.sensing import BankSample, Sensing, SensorBank

_pose = partial(tuple.__new__, Pose)  # of a list; half the time of Pose(*list)


class Deciding:
    """The controllers of a team.

    Attributes:
        failed: robots whose controller has failed.
        down: robots that do not act now, and ``lost`` those of them that never will again.
        repeatable: whether the same run comes out again, as far as deciding goes.
        facts: what the manifest says of where controllers ran.
    """

    repeatable = True
    facts: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        groups: list[Group],
        sensing: Sensing,
        estimating: Estimating,
        talking: Talking,
        computing: Computing,
        seed: int,
        period_s: float,
        step_budget_s: float,
    ):
        self.groups, self.sensing, self.estimating, self.talking = groups, sensing, estimating, talking
        self.computing = computing
        self.watchdog = Watchdog(step_budget_s)
        self._process = os.getpid()
        self.failures: list[Failure] = []
        self.starts = np.cumsum([0, *(len(g.start) for g in groups)])
        self.onboard: dict[int, Onboard] = {}
        self.failed: set[int] = set()
        self.down: set[int] = set()
        self.lost: set[int] = set()
        self._calls: dict[Program, Any] = {}
        for group, first in zip(groups, self.starts, strict=False):
            if group.program is not None and group.program.scope == "robot":
                for i, name in enumerate(group.names):
                    self._board(int(first) + i, name, group, seed, period_s)
        self._banks_of = {
            group.name: [
                bank
                for bank in sensing.banks
                if first in bank.row_of and group.program and group.program.reads(bank.record.kind, bank.record.name)
            ]
            for group, first in self._parts()
        }
        for group, first in self._parts():
            for onboard in (self.onboard[i] for i in range(first, first + len(group.start)) if i in self.onboard):
                onboard.robot._carry(bank.record.name for bank in self._banks_of[group.name])
        self._come: dict[str, list[list[BankSample]]] = {
            name: [[] for _ in banks] for name, banks in self._banks_of.items()
        }
        self._collided = np.zeros(int(self.starts[-1]), bool)

    def _parts(self) -> Iterator[tuple[Group, int]]:
        """Yield each group and the team index of its first robot."""
        yield from zip(self.groups, self.starts.tolist(), strict=False)

    @property
    def robots(self) -> dict[int, Robot]:
        """The handles of the robots that have a controller of their own, by team index."""
        return {i: onboard.robot for i, onboard in self.onboard.items()}

    @property
    def all_done(self) -> bool:
        """True when there is a controller and every one is done, rests, has failed, or is lost."""
        boards = self.onboard.items()
        gone = self.failed | self.lost
        return bool(self.onboard) and all(i in gone or o.robot.status in ("done", "resting") for i, o in boards)

    def views(self, time_s: float, collided: np.ndarray) -> list[GroupView]:
        """Return what the controllers of groups, and of the team, see."""
        return [
            self._view(group, range(first, first + len(group.start)), time_s, collided)
            for group, first in self._parts()
            if group.program is not None and group.program.scope != "robot"
        ]

    def post(self, key: str, value: Any) -> None:
        """Put plain data on the notice board, for the robots to read in this step."""
        self.talking.board.pending.append((key, value))

    def decide(self, step: int, time_s: float, commands: np.ndarray, collided: np.ndarray) -> None:
        """Write the commanded body twists of this step into ``commands``, shape (n, 3)."""
        self.failures.clear()
        collided = self._gather(collided)
        views: dict[str, GroupView] = {}
        silent = self.failed | self.down
        self.watchdog.ready()
        for group, first in zip(self.groups, self.starts, strict=False):
            if step % group.control_every != group.phase or group.program is None:
                continue
            members = range(int(first), int(first) + len(group.start))
            if group.program.scope == "robot":
                commands[members.start : members.stop] = self._decide_each(group, members, time_s, collided, silent)
            elif members[0] not in self.failed:
                view = self._view(group, members, time_s, collided)
                if group.program.scope == "team":
                    views[group.name] = view
                else:
                    self._decide_groups({group.name: members}, group.program, view, commands)
            self._had(group, members)
        if views:
            self._decide_team(views, commands)
        if os.getpid() != self._process:  # a controller that forked goes on in one process only
            os._exit(0)
        for i in self.computing.machines:
            if i in self.onboard and i not in self.down and i not in self.failed:
                commands[i] = self.computing.command(i)

    def _gather(self, collided: np.ndarray) -> np.ndarray:
        """Keep what has come in this step for groups that do not act in it; return who collided since they last did."""
        for name, banks in self._banks_of.items():
            for come, bank in zip(self._come[name], banks, strict=True):
                come += bank.samples
        self._collided |= collided
        return self._collided.copy()

    def _had(self, group: Group, members: range) -> None:
        """Forget what a group has been shown."""
        for come in self._come[group.name]:
            come.clear()
        self._collided[members.start : members.stop] = False

    def record_into(self, recorder: Recorder) -> None:
        """Say where to record more about the controllers than what they do: there is nothing."""

    def close(self) -> None:
        """End every controller; what its ``finally`` blocks raise is a warning."""
        for i, onboard in self.onboard.items():
            try:
                with self.watchdog:
                    onboard.close()
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                what = f"{type(error).__name__}: {error}"
                warnings.warn(f"the controller of {self.robots[i].name} failed when it was ended: {what}", stacklevel=2)
        self.watchdog.close()

    def _board(self, index: int, name: str, group: Group, seed: int, period_s: float) -> None:
        start = self.estimating.in_own_frames([index], self.estimating.pose[[index]])
        home = Pose(*(float(v) for v in start[0]))
        rng = generator(seed, f"controller/{name}")
        navigator = Navigator(
            DriveLimits.of(group.robot, period_s * group.control_every), group.robot.body_discs, identity=index
        )
        talking = self.talking
        robot = Robot(name, group.robot, home, navigator, rng, talking.mailboxes[index], talking.board)
        robot.map = self.estimating.belief_of.get(index)
        if index in self.computing.machines:
            robot._keep_account(self.computing.machines[index].work)
        assert group.program is not None
        self.onboard[index] = Onboard(robot, group.program)

    def _decide_each(
        self, group: Group, members: range, time_s: float, collided: np.ndarray, silent: set[int]
    ) -> list[Twist]:
        """Let the controller of each robot of a group act, but for the silent ones; return their twists."""
        part = slice(members.start, members.stop)
        poses = self.estimating.in_own_frames(part, self.estimating.pose[part]).tolist()
        onboards = [self.onboard[i] for i in members]
        newest, older = self._newest(group, part.start, [onboard.robot for onboard in onboards])
        times = [tuple(s.substep * self.sensing.clock.substep_s for s in come) for come in self._come[group.name]]
        touches, machines, watchdog = collided[part].tolist(), self.computing.machines, self.watchdog
        shown = list(zip(members, onboards, poses, touches, newest, older, strict=True))
        twists, began, k = [STILL] * len(shown), [0.0] * len(shown), 0
        while k < len(shown):
            try:
                while k < len(shown):
                    i, onboard, pose, touch, seen, missed = shown[k]
                    if i not in silent:
                        robot = onboard.robot
                        robot.pose, robot.time, robot.collided, robot._seen = _pose(pose), time_s, touch, seen
                        robot._times, robot._older = times, missed
                        watchdog.started = began[k] = monotonic()
                        twists[k] = self._compute(i, onboard) if i in machines else onboard.step()
                    k += 1
                watchdog.rest()
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                watchdog.rest()
                overdue = watchdog.overdue if isinstance(error, StepBudgetError) else None
                failed = began.index(overdue) if overdue in began and overdue else k  # it may come a little later
                twists[failed] = STILL
                self._fail((members[failed],), error)
                k = max(k, failed + 1)
        return twists

    def _newest(
        self, group: Group, first: int, robots: list[Robot]
    ) -> tuple[Iterable[tuple[Any, ...]], Iterable[tuple[Any, ...]]]:
        """Return the newest readings of each robot of a group, and the older ones of this step, all by bank.

        The robots of a group stand together in a bank.
        """
        banks, come = self._banks_of[group.name], self._come[group.name]
        if not any(come):
            return [robot._seen for robot in robots], repeat((), len(robots))
        rows = [range(bank.row_of[first], bank.row_of[first] + len(robots)) for bank in banks]
        columns = [
            map(samples[-1].readings.row, own) if samples else [robot._seen[k] for robot in robots]
            for k, (samples, own) in enumerate(zip(come, rows, strict=True))
        ]
        newest = zip(*columns, strict=True)
        if max(map(len, come)) < 2:
            return newest, repeat((), len(robots))
        older = (
            [tuple(s.readings.row(i) for s in samples[:-1]) for i in own]
            for samples, own in zip(come, rows, strict=True)
        )
        return newest, zip(*older, strict=True)

    def _compute(self, index: int, onboard: Onboard) -> Twist:
        """Let the controller of a robot with a computer act, if that is free; return the twist in force."""
        onboard.robot.collided = self.computing.touched(index, onboard.robot.collided)
        if self.computing.may_act(index):
            self.computing.act(index, onboard.step)
            onboard.robot._backlog.clear()
        else:
            onboard.robot._put_off()
        return self.computing.command(index)

    def _decide_team(self, views: dict[str, GroupView], commands: np.ndarray) -> None:
        program = next(g.program for g in self.groups if g.name in views)
        assert program is not None
        members = {
            g.name: range(int(first), int(first) + len(g.start))
            for g, first in zip(self.groups, self.starts, strict=False)
            if g.name in views
        }
        self._decide_groups(members, program, views, commands)

    def _decide_groups(self, members: dict[str, range], program: Program, view: Any, commands: np.ndarray) -> None:
        try:
            self.watchdog.started = monotonic()
            if program not in self._calls:
                self._calls[program] = program.bound()
            twists = twists_of(self._calls[program](view), view)
            for name, part in members.items():
                commands[part.start : part.stop] = twists[name]
            self.watchdog.rest()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.watchdog.rest()
            for part in members.values():
                commands[part.start : part.stop] = 0.0
            self._fail(tuple(i for part in members.values() for i in part), error)

    def _view(self, group: Group, members: range, time_s: float, collided: np.ndarray) -> GroupView:
        return GroupView(*self._shown(group, members, time_s, collided))

    def _shown(self, group: Group, members: range, time_s: float, collided: np.ndarray) -> tuple[Any, ...]:
        """Return what a `GroupView` of a group is made of."""
        fields = self._fields((group.program and group.program.sees) or (), members, collided)
        samples, second = {}, self.sensing.clock.substep_s
        for bank, come in zip(self._banks_of[group.name], self._come[group.name], strict=True):
            rows = _rows(bank, members)
            older = [Sample(sample.substep * second, sample.readings.of(rows)) for sample in come[:-1]]
            newest = [Sample(sample.substep * second, fields[bank.record.name]) for sample in come[-1:]]
            samples[bank.record.name] = older + newest
        return group.name, list(group.names), time_s, fields, samples

    def _fields(self, sees: tuple[str, ...], members: range, collided: np.ndarray) -> dict[str, Any]:
        part = slice(members.start, members.stop)
        known: dict[str, Any] = {"pose": self.estimating.pose[part], "collided": collided[part]}
        known = {name: _read_only(values) for name, values in known.items()}
        wanted = [b for b in self.sensing.banks if b.record.name in sees or "full" in sees]
        for bank in wanted:
            if bank.readings is not None and members[0] in bank.row_of:
                known[bank.record.name] = bank.readings.of(_rows(bank, members))
        if "full" in sees:
            known["true_pose"] = _read_only(self.estimating.state.pose[part])
            return known
        return {name: known[name] for name in sees if name in known}

    def _fail(self, robots: tuple[int, ...], error: BaseException) -> None:
        self.failed.update(robots)
        self.failures.append(Failure(robots, error, text_of(error), isinstance(error, StepBudgetError)))


def _rows(bank: SensorBank, members: range) -> slice:
    """Return the rows of a bank of the robots of a group, who stand together in it."""
    first = bank.row_of[members[0]]
    return slice(first, first + len(members))


def _read_only(values: np.ndarray) -> np.ndarray:
    """Return a copy that cannot be written by mistake."""
    values = values.copy()
    values.flags.writeable = False
    return values
