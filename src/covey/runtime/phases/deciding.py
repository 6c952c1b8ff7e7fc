"""Deciding: each robot gets a `StepInput` and answers; a group controller gets arrays.

The loop is the same wherever controllers run; a `Host` carries the inputs and the answers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from typing import Any

import numpy as np

from covey.errors import ControllerError
from covey.geometry import Pose
from covey.onboard.giving_up import Kind
from covey.onboard.group import Group
from covey.onboard.group_answer import checked
from covey.onboard.group_view import GroupFacts, GroupView
from covey.onboard.motions import STILL
from covey.onboard.spec import RobotSpec
from covey.onboard.state import HISTORY
from covey.onboard.step import Failed, GroupInput, GroupOutput, Requests, StepInput, StepOutput
from covey.planning.waypoints import Waypoints
from covey.results.recorder import Recorder
from covey.robots.sample import Sample
from covey.runtime.execution import Execution
from covey.runtime.host import NONE, Answers, GroupAnswers, Host, Team
from covey.runtime.local.failures import Failure, text_of
from covey.runtime.local.host import LocalHost
from covey.runtime.phases.communication import Communication
from covey.runtime.phases.computing import Computing
from covey.runtime.phases.group_fields import readers_of, rows_of
from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping
from covey.runtime.phases.sensing import BankSample, Sensing, SensorBank

_pose = partial(tuple.__new__, Pose)  # from a list; half the time of Pose(*list)
_input, _group_input = partial(tuple.__new__, StepInput), partial(tuple.__new__, GroupInput)


@dataclass
class PendingRequests:
    """The requests of robots, in order; the phase that grants a request removes it.

    Attributes:
        notes: robot and text.
        tags: robot, content and lifetime [s].
        digs: by robot, see `Requests`.
        maps: by robot, see `Requests`.
        reports: robot, number, identity, x, y, height [m], see `Requests`.
        gave_up: robot, x, y [m], and the fields of a reason, see `Requests`.
    """

    notes: list[tuple[int, str]] = field(default_factory=list)
    tags: list[tuple[int, Any, float]] = field(default_factory=list)
    digs: dict[int, list[Any]] = field(default_factory=dict)
    maps: dict[int, set[str]] = field(default_factory=dict)
    reports: list[tuple[int, int, int, float, float, float]] = field(default_factory=list)
    gave_up: list[tuple[int, float, float, Kind, str, float, float]] = field(default_factory=list)


class Deciding:
    """The controllers of a team.

    Attributes:
        host: runs them.
        failed: robots whose controller has failed.
        down: robots that do not act now; ``lost``: those of them that never will again.
        requested: requests of robots other than their motion.
        answers: number and answer of reports that were answered, for each robot that has not been given them.
        shown: last input of each robot with a controller of its own, by team index.
        answered: last output of each of them.
    """

    def __init__(
        self,
        groups: list[Group],
        sensing: Sensing,
        localization: LocalizationAndMapping,
        communication: Communication,
        computing: Computing,
        host: Callable[[Team], Host],
        seed: int,
        execution: Execution,
        frames_of: Callable[[int, str], Mapping[str, Pose]] | None = None,
        waypoints: Waypoints | None = None,
        goals: np.ndarray | None = None,
    ):
        self.groups, self.sensing, self.localization, self.communication = groups, sensing, localization, communication
        self.computing = computing
        self._goals = goals
        self.failures: list[Failure] = []
        self.requested = PendingRequests()
        self.answers: dict[int, list[tuple[int, str]]] = {}
        self.starts = np.cumsum([0, *(len(g.start) for g in groups)])
        self.failed: set[int] = set()
        self.down: Set[int] = frozenset()
        self.lost: Set[int] = frozenset()
        self._count = {group.name: len(group.start) for group in groups}
        self._members = {group.name: range(first, first + len(group.start)) for group, first in self._parts()}
        self._part = {name: slice(members.start, members.stop) for name, members in self._members.items()}
        self._banks_of = {group.name: self._read_by(group, first) for group, first in self._parts()}
        self._rows = {
            name: [range(rows.start, rows.stop) for rows in (rows_of(bank, self._members[name]) for bank in banks)]
            for name, banks in self._banks_of.items()
        }
        self._come: dict[str, list[list[BankSample]]] = {
            name: [[] for _ in banks] for name, banks in self._banks_of.items()
        }
        self._arriving = [
            (come, bank)
            for name, banks in self._banks_of.items()
            for come, bank in zip(self._come[name], banks, strict=True)
        ]
        self._acting = [
            (group, group.program.scope, self._members[group.name], self._come[group.name])
            for group in groups
            if group.program is not None
        ]
        self._collided, self._is_touched = np.zeros(int(self.starts[-1]), bool), False
        self._readers = {group.name: self._readers_of(group) for group in groups if group.program is not None}
        self._missed: dict[int, StepInput] = {}  # inputs during which a robot's computer was busy
        self._finished: set[int] = set()
        self._done_groups: set[str] = set()
        specs: dict[int, RobotSpec] = {}
        programs: dict[str, list[Group]] = {}
        for group, first in self._parts():
            if group.program is not None and group.program.scope == "robot":
                specs |= self._specs(group, first, seed, execution.step_s * group.control_every, waypoints)
            elif group.program is not None:
                programs.setdefault("team" if group.program.scope == "team" else group.name, []).append(group)
        self._facts = {
            group.name: self._known(group, execution.step_s * group.control_every, seed)
            for group in chain(*programs.values())
        }
        self.shown = {i: StepInput(0.0, spec.home, readings=(None,) * len(spec.sensors)) for i, spec in specs.items()}
        self.answered = dict.fromkeys(specs, StepOutput())
        localization.following = set(specs)
        self.host = host(
            Team(
                specs,
                {i: self._banks_of[group.name] for group in groups for i in self._members[group.name] if i in specs},
                {i: frames_of(i, spec.name) for i, spec in specs.items()} if frames_of is not None else {},
                programs,
                self._facts,
                self._members,
                execution,
                sensing,
                localization,
                communication,
                computing,
            )
        )

    def _read_by(self, group: Group, first: int) -> list[SensorBank]:
        """Return the sensors that the controllers of a group read; ``first``: the team index of its first robot."""
        program = group.program
        if program is None:
            return []
        banks = (bank for bank in self.sensing.banks if first in bank.row_of)
        return [bank for bank in banks if program.reads(bank.record)]

    def _readers_of(self, group: Group) -> list[tuple[str, Callable[[], Any]]]:
        sees = (group.program and group.program.sees) or ()
        members = self._members[group.name]
        others = np.delete(np.arange(len(self._collided)), members)
        own = self.sensing, self.localization, self.communication.network, self._collided, self._goals
        return list(readers_of(sees, members, others, *own))

    def _known(self, group: Group, period_s: float, seed: int) -> GroupFacts:
        workspace_m = self.sensing.world.world.workspace_m
        return GroupFacts(group.name, tuple(group.names), group.robot, period_s, workspace_m, seed)

    def _specs(
        self, group: Group, first: int, seed: int, period_s: float, waypoints: Waypoints | None
    ) -> dict[int, RobotSpec]:
        assert group.program is not None
        members = self._members[group.name]
        homes = self._poses(members)
        sensors = tuple(bank.record.name for bank in self._banks_of[group.name])
        return {
            i: RobotSpec(name, i, group.robot, Pose(*home), period_s, group.program, seed, sensors, waypoints)
            for i, name, home in zip(members, group.names, homes, strict=True)
        }

    def _parts(self) -> Iterator[tuple[Group, int]]:
        """Yield each group and the team index of its first robot."""
        yield from zip(self.groups, self.starts.tolist(), strict=False)

    def _poses(self, members: range) -> list[list[float]]:
        part = slice(members.start, members.stop)
        return self.localization.in_own_frames(part, self.localization.pose[part]).tolist()

    @property
    def all_done(self) -> bool:
        """True if there is a controller and each is done, rests, has failed, or is lost.

        If robots have controllers of their own, only these count; else those of groups, which say that they are done.
        """
        if not self.answered:
            return bool(self._acting) and all(
                group.name in self._done_groups or members[0] in self.failed for group, _, members, _ in self._acting
            )
        gone = self.failed | self.lost
        answers = self.answered.items()
        return all(i in gone or answer.status in ("done", "resting") for i, answer in answers)

    @property
    def all_failed(self) -> bool:
        """True if the controllers of all robots that have their own have failed; else those of all groups."""
        if self.answered:
            return self.failed >= self.answered.keys()
        return bool(self._acting) and all(members[0] in self.failed for _, _, members, _ in self._acting)

    def views(self, time_s: float) -> list[GroupView]:
        """Return the inputs of group and team controllers."""
        return [
            GroupView(self._facts[group.name]).at(*self._of_group(group, time_s)[2:])
            for group in self.groups
            if group.program is not None and group.program.scope != "robot"
        ]

    def post(self, key: str, value: Any) -> None:
        """Put plain data on the blackboard, for the robots to read in this step."""
        self.communication.blackboard.pending.append((key, value))
        self.host.post(key, value)

    def decide(self, step: int, time_s: float, commands: np.ndarray, collided: np.ndarray | None) -> None:
        """Write the commanded body twists of this step into ``commands``, shape (n, 3).

        Args:
            step, time_s: the present step, and its time [s].
            commands: those of the last step.
            collided: which robots have touched something in the last step, bool (n,); None: none.
        """
        self.failures.clear()
        if self._arriving or self._is_touched or collided is not None:
            self._gather(collided)
        collided = self._collided
        if (late := self.host.begin(step, time_s)) is not NONE:
            self._take_late(*late, commands)
        of_team: list[GroupInput] = []
        for group, scope, members, come in self._acting:
            if step % group.control_every != group.phase:
                continue
            if scope == "robot":
                self._take(self._ask_each(group, members, time_s, collided, commands), commands)
            elif members[0] not in self.failed:
                shown = self._of_group(group, time_s)
                if scope == "team":
                    of_team.append(shown)
                else:
                    self._take_of_groups(self.host.ask_group(group.name, [shown]), commands)
            for samples in come:
                samples.clear()
            if self._is_touched:
                self._collided[members.start : members.stop] = False
        if of_team:
            self._take_of_groups(self.host.ask_group("team", of_team), commands)
        if (late := self.host.settle()) is not NONE:
            self._take_late(*late, commands)
        for i in self.computing.machines:
            if i in self.answered and i not in self.down and i not in self.failed:
                commands[i] = self.computing.command(i)

    @property
    def is_of_laws(self) -> bool:
        """Whether all controllers are laws of groups that act in each step, in this process, without sensors."""
        return isinstance(self.host, LocalHost) and all(
            scope == "group" and group.control_every == 1 and not self._banks_of[group.name]
            for group, scope, _, _ in self._acting
        )

    def drive(self, time_s: float, commands: np.ndarray) -> None:
        """Decide where `is_of_laws` holds, nothing has been touched, and no law has failed; see `decide`."""
        assert isinstance(self.host, LocalHost)
        self.failures.clear()
        for group, _, _, _ in self._acting:
            name = group.name
            answer = self.host.ask_law(name, time_s, {field: read() for field, read in self._readers[name]})
            if type(answer) is np.ndarray and answer.shape == (self._count[name], 3):
                commands[self._part[name]] = answer
            else:
                output = answer if isinstance(answer, GroupOutput) else GroupOutput({name: answer})
                self._take_of_groups((([name], output),), commands)
        self.host.settle()

    def record_into(self, recorder: Recorder) -> None:
        """Set the recorder for additional data about the controllers."""
        self.host.record_into(recorder)

    def close(self) -> None:
        """End every controller; exceptions in ``finally`` blocks become warnings."""
        self.host.close()

    # -- inputs --------------------------------------------------------------------------------------------------------

    def _gather(self, collided: np.ndarray | None) -> None:
        """Keep new data for groups that do not act in this step."""
        for come, bank in self._arriving:
            come += bank.samples
        self._is_touched = collided is not None or (self._is_touched and bool(self._collided.any()))
        if collided is not None:
            self._collided |= collided

    def _ask_each(
        self, group: Group, members: range, time_s: float, collided: np.ndarray, commands: np.ndarray
    ) -> Answers:
        """Give the robots of a group their inputs, except those that do not act."""
        robots, inputs = members, self._inputs(group, members, time_s, collided)
        still, busy = self.failed | self.down, self.host.busy
        if still or busy or self._finished or self.computing.machines:
            samples = sum(map(len, self._come[group.name]))
            asked: list[int] = []
            chosen: list[StepInput] = []
            for i, shown in zip(members, inputs, strict=True):
                finished = i in self._finished and i not in self.computing.machines
                if i in still or finished:
                    commands[i] = STILL
                elif i in busy:
                    self.host.drop(i, samples)
                elif (shown := self._computed(i, shown, commands)) is not None:
                    asked.append(i)
                    chosen.append(shown)
            robots, inputs = asked, chosen
        self.shown.update(zip(robots, inputs, strict=True))
        if self.answers or self.localization.moved:
            for i in robots:
                self.answers.pop(i, None)
                self.localization.moved.pop(i, None)
        return self.host.ask(robots, inputs)

    def _inputs(self, group: Group, members: range, time_s: float, collided: np.ndarray) -> list[StepInput]:
        """Return the input of each robot of a group."""
        come, n = self._come[group.name], len(members)
        newest, older = self._newest(group, members)
        second = self.sensing.clock.substep_s
        times = tuple([tuple([s.substep * second for s in samples]) for samples in come])
        touches, tags = collided[members.start : members.stop].tolist(), self.communication.tags_in_reach
        near = [tags.get(i, ()) for i in members] if tags else repeat((), n)
        poses, spreads = map(_pose, self._poses(members)), self.localization.covariances(members)
        answers = [tuple(self.answers.get(i, ())) for i in members] if self.answers else repeat(())
        columns = repeat(time_s), poses, touches, newest, repeat(times), older, near, repeat(None), spreads, answers
        reckoned, moved = self.localization.odometry_poses(members), self.localization.moved
        moves = [tuple(moved.get(i, ())) for i in members] if moved else repeat(())
        inputs = list(map(_input, zip(*columns, reckoned, moves, repeat(()), strict=False)))
        if self.sensing.silent:
            names = [bank.record.name for bank in self._banks_of[group.name]]
            silent = self.sensing.silent
            return [
                _without(silent[i], names, shown, self.shown[i]) if i in silent else shown
                for i, shown in zip(members, inputs, strict=True)
            ]
        return inputs

    def _newest(self, group: Group, members: range) -> tuple[Iterable[tuple[Any, ...]], Iterable[tuple[Any, ...]]]:
        """Return the newest readings of each robot of a group, and the older ones of this step, all by bank.

        The robots of a group are consecutive in a bank.
        """
        rows, come, shown, n = self._rows[group.name], self._come[group.name], self.shown, len(members)
        if not any(come):
            return [shown[i].readings for i in members], repeat((), n)
        columns = [
            map(samples[-1].readings.row, own) if samples else [shown[i].readings[k] for i in members]
            for k, (samples, own) in enumerate(zip(come, rows, strict=True))
        ]
        newest = zip(*columns, strict=True)
        if max(map(len, come)) < 2:
            return newest, repeat((), n)
        older = (
            [tuple(s.readings.row(i) for s in samples[:-1]) for i in own]
            for samples, own in zip(come, rows, strict=True)
        )
        return newest, zip(*older, strict=True)

    def _computed(self, i: int, shown: StepInput, commands: np.ndarray) -> StepInput | None:
        """Return the input of a robot with a computer; while that is busy, keep it for later and return None."""
        if i not in self.computing.machines:
            return shown
        shown = shown._replace(collided=self.computing.touched(i, shown.collided))
        try:
            is_free = self.computing.may_act(i)
        except ControllerError as error:
            commands[i] = STILL
            self._fail((i,), Failed(text_of(error), error=error))
            self.host.kill(i)
            return None
        missed = self._missed.pop(i, None)
        if missed is not None:
            shown = shown.after(missed, None if is_free else HISTORY)
        if not is_free:
            self._missed[i] = shown
            self.shown[i] = self.shown[i]._replace(readings=shown.readings)
            return None
        return shown

    def _of_group(self, group: Group, time_s: float) -> GroupInput:
        """Return the data of a group for a controller of a group, or of the team."""
        name, samples = group.name, {}
        if not (banks := self._banks_of[name]):
            fields = {field: read() for field, read in self._readers[name]}
            return _group_input((name, group.names, time_s, fields, samples))
        fields = {field: value for field, read in self._readers[name] if (value := read()) is not None}
        second = self.sensing.clock.substep_s
        for bank, come in zip(banks, self._come[name], strict=True):
            rows = rows_of(bank, self._members[name])
            older = [Sample(sample.substep * second, sample.readings.of(rows)) for sample in come[:-1]]
            newest = [Sample(sample.substep * second, fields[bank.record.name]) for sample in come[-1:]]
            samples[bank.record.name] = older + newest
        return _group_input((name, group.names, time_s, fields, samples))

    # -- answers -------------------------------------------------------------------------------------------------------

    def _take_late(self, answers: Answers, of_groups: GroupAnswers, commands: np.ndarray) -> None:
        self._take(answers, commands)
        self._take_of_groups(of_groups, commands)

    def _take(self, answers: Answers, commands: np.ndarray) -> None:
        """Process the answers of robots."""
        if answered := dict(answers):
            machines = self.computing.machines
            twists, statuses, requested = zip(*answered.values(), strict=True)
            flat = np.fromiter(chain.from_iterable(twists), float, 3 * len(twists))
            commands[_slice_of(list(answered))] = flat.reshape(-1, 3)
            self.answered.update(answered)
            if machines or any(requested) or "done" in statuses:
                self._look_into(answered)

    def _take_of_groups(self, of_groups: GroupAnswers, commands: np.ndarray) -> None:
        """Process the answers of controllers of several robots."""
        for names, given in of_groups:
            answer = checked(given, names, self._count, self.host.is_local)
            if answer.failure is not None:
                robots = tuple(chain(*(self._members[name] for name in names)))
                commands[list(robots)] = 0.0
                self._fail(robots, answer.failure)
                continue
            if answer.is_done:
                self._done_groups.update(names)
            if answer.notes:
                self.requested.notes += [(self._members[name][i], text) for name, i, text in answer.notes]
            for name in names:
                part, twists = self._part[name], answer.twists[name]
                commands[part] = twists if twists.shape[1] == 3 else self.localization.twists(part, twists)
        for robot, silent in self.sensing.silent.items():  # a law does not see which of its robots are blind
            group = next(g for g, first in self._parts() if first <= robot < first + len(g.start))
            if group.program is not None and group.program.scope != "robot" and group.robot.is_blind(silent):
                commands[robot] = 0.0

    def _look_into(self, answered: Mapping[int, StepOutput]) -> None:
        """Process what answers hold besides twists."""
        for i, answer in answered.items():
            if answer.requests is not None:
                self._request(i, answer.requests)
            if answer.status == "done":
                self._finished.add(i)
            if i in self.computing.machines and i not in self.failed:
                work = {} if answer.requests is None else answer.requests.work
                self.computing.acted(i, answer.twist, work, self.host.cpu_s.get(i, 0.0))

    def _request(self, i: int, asked: Requests) -> None:
        """Record the requests of a robot."""
        requested = self.requested
        requested.notes += [(i, note) for note in asked.notes]
        requested.tags += [(i, content, lifetime_s) for content, lifetime_s in asked.tags]
        requested.reports += [(i, *report) for report in asked.reports]
        requested.gave_up += [(i, *given) for given in asked.gave_up]
        if asked.digs:
            requested.digs.setdefault(i, []).extend(asked.digs)
        if asked.maps:
            requested.maps.setdefault(i, set()).update(asked.maps)
        if asked.failure is not None:
            self._fail((i,), asked.failure)

    def _fail(self, robots: tuple[int, ...], failure: Failed) -> None:
        self.failed.update(robots)
        error = failure.error or ControllerError(failure.text)
        self.failures.append(Failure(robots, error, failure.text, failure.by_wall_time))


def _without(silent: Sequence[str], names: Sequence[str], shown: StepInput, before: StepInput) -> StepInput:
    """Return an input without the samples of silent sensors; their readings hold nothing.

    Args:
        silent, names: names of the silent sensors, and of all.
        shown: the input.
        before: the input before it; a sensor that was silent then keeps its reading.
    """
    hears = [name not in silent for name in names]
    times = tuple(own if hear else () for own, hear in zip(shown.times_s, hears, strict=True))
    older = tuple(own if hear else () for own, hear in zip(shown.older, hears, strict=True)) if shown.older else ()
    held = zip(names, before.readings, shown.readings, strict=True)
    readings = tuple(old if name in silent and name in before.silent else new for name, old, new in held)
    return shown._replace(readings=readings, times_s=times, older=older, silent=silent)


def _slice_of(indices: list[int]) -> slice | list[int]:
    """Return indices as a slice, which arrays take in a third of the time, if they follow one another."""
    first, end = indices[0], indices[0] + len(indices)
    return slice(first, end) if indices == list(range(first, end)) else indices
