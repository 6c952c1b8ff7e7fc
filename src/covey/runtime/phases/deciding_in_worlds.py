"""Deciding in many worlds: a controller of a group gets arrays of all worlds at once, or is called for each world."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covey.errors import ControllerError, CoveyError
from covey.onboard.group import Group
from covey.onboard.group_answer import placed, twists_of
from covey.onboard.group_view import GroupFacts, GroupView, WorldsView
from covey.robots.sample import Sample
from covey.runtime.phases.group_fields import readers_of, rows_of
from covey.runtime.phases.localization_and_mapping import LocalizationAndMapping
from covey.runtime.phases.sensing import BankSample, Sensing, SensorBank


@dataclass(eq=False)
class _Call:
    """A controller that is called with a view.

    Attributes:
        world: the world of its robots; None: all worlds.
        members: their team indices.
        view: what it is shown; ``flat``: the same with the robots of all worlds in a row, to check its answer.
        call: the controller.
        readers: see `readers_of`.
    """

    world: int | None
    members: range
    view: GroupView
    flat: GroupView
    call: Callable[[Any], Any]
    readers: list[tuple[str, Callable[[], Any]]]


class DecidingInWorlds:
    """The controllers of groups in B worlds.

    Args:
        groups: the groups of the team, each in all worlds, with controllers of groups or none.
        index: team indices of the robots of each world, int64 (B, n).
        sensing, localization: what they see.
        seeds: of the worlds.

    Attributes:
        finished: worlds in which all controllers have said that they are done, bool (B,).
    """

    def __init__(
        self,
        groups: Sequence[Group],
        index: np.ndarray,
        sensing: Sensing,
        localization: LocalizationAndMapping,
        seeds: Sequence[int],
    ):
        self._sensing, self._localization = sensing, localization
        self._index, self._seeds = index, seeds
        self._collided = np.zeros(index.size, bool)
        self._groups: list[tuple[Group, list[SensorBank], list[list[BankSample]], list[_Call]]] = []
        first = 0
        for group in groups:
            members = range(first, first + len(group.start))
            first = members.stop
            if group.program is None:
                continue
            banks = [bank for bank in sensing.banks if members[0] in bank.row_of and group.program.reads(bank.record)]
            self._groups.append((group, banks, [[] for _ in banks], list(self._calls(group, members))))
        self._is_done = np.zeros((len(self._groups), len(index)), bool)

    def _calls(self, group: Group, members: range) -> Iterator[_Call]:
        program, worlds, n = group.program, len(self._index), group.count
        sees, period_s = program.sees or (), self._sensing.clock.step_s * group.control_every
        place = self._sensing.world.world.workspace_m
        others = self._index[(self._index < members.start) | (self._index >= members.stop)].reshape(worlds, -1)
        known = self._sensing, self._localization, None, self._collided
        if program.many_worlds:
            facts = GroupFacts(group.name, tuple(group.names[:n]), group.robot, period_s, place, self._seeds[0])
            flat = GroupView(replace(facts, names=tuple(group.names)))
            readers = list(readers_of(sees, members, others, *known))
            yield _Call(None, members, WorldsView(facts, worlds), flat, program.bound(), readers)
            return
        for world, seed in enumerate(self._seeds):
            facts = GroupFacts(group.name, tuple(group.names[:n]), group.robot, period_s, place, seed)
            own, view = members[world * n : (world + 1) * n], GroupView(facts)
            yield _Call(world, own, view, view, program.bound(), list(readers_of(sees, own, others[world], *known)))

    @property
    def finished(self) -> np.ndarray:
        """Worlds in which all controllers have said that they are done, bool (B,)."""
        return np.asarray(self._is_done.all(axis=0)) if len(self._is_done) else np.zeros(len(self._index), bool)

    def decide(self, step: int, time_s: float, commands: np.ndarray, collided: np.ndarray | None, over: np.ndarray):
        """Write the commanded body twists of this step into ``commands``, float64 (robots, 3).

        Args:
            step, time_s: the present step, and its time [s].
            commands: those of the last step.
            collided: which robots have touched something in the last step, bool (robots,); None: none.
            over: worlds whose run has ended, bool (B,); controllers are not called for them.

        Raises:
            ControllerError: a controller raised an error, or returned no commands.
        """
        if collided is not None:
            self._collided |= collided
        for k, (group, banks, come, calls) in enumerate(self._groups):
            for samples, bank in zip(come, banks, strict=True):
                samples += bank.samples
            if step % group.control_every != group.phase:
                continue
            for call in calls:
                if call.world is None or not over[call.world]:
                    self._ask(k, call, banks, come, time_s, commands)
            for samples in come:
                samples.clear()
            if self._collided.any():
                self._collided[calls[0].members.start : calls[-1].members.stop] = False

    def _ask(
        self, k: int, asked: _Call, banks: Sequence[SensorBank], come: Any, time_s: float, commands: np.ndarray
    ) -> None:
        """Let a controller act."""
        view, part = asked.view, slice(asked.members.start, asked.members.stop)
        view.at(time_s, *self._shown(asked, banks, come))
        asked.flat.__dict__["time"] = time_s
        try:
            answer = asked.call(view)
            try:
                twists = twists_of(_flat(answer, view), asked.flat)[view.name]
            except ControllerError as error:
                raise placed(error, asked.call) from None
        except Exception as error:
            where = "" if asked.world is None else f" of world {asked.world}"
            what = str(error) if isinstance(error, CoveyError) else f"{type(error).__name__}: {error}"
            raise ControllerError(f"the controller of {view.name}{where} at {time_s:g} s: {what}") from error
        if view.finished:
            self._is_done[k, slice(None) if asked.world is None else asked.world] = True
        commands[part] = twists if twists.shape[1] == 3 else self._localization.twists(part, twists)

    def _shown(
        self, asked: _Call, banks: Sequence[SensorBank], come: Sequence[list[BankSample]]
    ) -> tuple[Mapping[str, Any], dict[str, list[Sample]]]:
        """Return the fields of a view, and the readings since its last step."""
        worlds = len(self._index) if asked.world is None else 0
        fields = {name: value for name, read in asked.readers if (value := read()) is not None}
        if worlds:
            fields = {name: _by_world(name, value, worlds) for name, value in fields.items()}
        second, samples = self._sensing.clock.substep_s, dict[str, list[Sample]]()
        for bank, taken in zip(banks, come, strict=True):
            rows, name = rows_of(bank, asked.members), bank.record.name
            parts = [(sample.substep * second, sample.readings.of(rows)) for sample in taken[:-1]]
            older = [Sample(at, part.by_world(worlds) if worlds else part) for at, part in parts]
            samples[name] = older + [Sample(sample.substep * second, fields[name]) for sample in taken[-1:]]
        return fields, samples


def _by_world(name: str, value: Any, worlds: int) -> Any:
    """Return a field with the world as its first axis."""
    if name == "others":  # which has this axis
        return value
    return value.reshape(worlds, -1, *value.shape[1:]) if isinstance(value, np.ndarray) else value.by_world(worlds)


def _flat(answer: Any, view: GroupView) -> Any:
    """Return the commands of many worlds with all robots in a row: what has no axis for the world holds in each."""
    if not isinstance(view, WorldsView):
        return answer
    worlds, n = view.worlds, view.count
    if isinstance(answer, tuple) and len(answer) in (2, 3):
        return tuple(_in_a_row(part, (worlds, n)) for part in answer)
    columns = np.shape(answer)[-1] if np.ndim(answer) else 0
    return _in_a_row(answer, (worlds, n, columns)) if np.ndim(answer) > 1 else answer


def _in_a_row(part: Any, shape: tuple[int, ...]) -> Any:
    if type(part) is float or np.ndim(part) == 0:
        return part
    part = np.asarray(part)
    try:
        return np.broadcast_to(part, shape).reshape(-1, *shape[2:])
    except ValueError:
        raise ControllerError(
            f"the controller of many worlds returned an array of shape {part.shape}; give {shape}"
        ) from None
