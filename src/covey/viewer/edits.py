"""`Edits`: who changed what in a run that viewers steer, and what each of them can take back and do again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from covey.errors import InvalidValueError
from covey.events.inputs import RequestedEvent
from covey.planning.orders import ORDER_KEY
from covey.results.snapshot import RunEvent
from covey.runtime.simulation import Simulation
from covey.viewer.description import takes_orders


class Starts(Protocol):
    """The robots with which a run begins, see `covey.viewer.adding.StartingTeam`."""

    added: list[str]
    calls: list[Any]

    @property
    def text(self) -> str:
        """The part ``robots:`` of its scenario."""
        ...

    def change(self, sim: Simulation, group: str, pose: tuple[float, float, float] | None) -> None:
        """Add a robot, or take one back."""
        ...


Deed = dict[str, Any]
"""An event as in a scenario, without a time: ``{"door": "d3", "to": "closed"}``."""
_GROUND = ("altitude", "shift", "crater", "mound", "trench", "bank")
_MOST = 1000
"""Largest number of changes that a viewer can take back."""


@dataclass(eq=False)
class ViewerEdit:
    """A change that a viewer has asked for.

    Attributes:
        number: number of the change in the run, from 1 on.
        by: number of the viewer.
        kind: whether it is a change of its own, takes one back, does one again, drives a robot, or adds one before the
            first step.
        deeds: what is done: as asked for, then with the names that things got.
        of: the change that it takes back or does again.
        calls: the requests to the simulation.
        back: what takes it back.
        start: group and pose of a robot that is added.
    """

    number: int
    by: int
    kind: Literal["do", "undo", "redo", "drive", "add"]
    deeds: list[Deed]
    of: "ViewerEdit | None" = None
    calls: list[RequestedEvent] = field(default_factory=list)
    back: list[Deed] = field(default_factory=list)
    start: tuple[str, tuple[float, float, float]] | None = None


@dataclass
class Stacks:
    """What a viewer can take back, and do again, the newest last."""

    undo: list[ViewerEdit] = field(default_factory=list)
    redo: list[ViewerEdit] = field(default_factory=list)


class Edits:
    """The changes that viewers ask for. All methods are called by the simulation's thread.

    A viewer takes back its own changes only. A change that waits for the next step can be taken back, too: then it
    never happens.

    Attributes:
        waiting: the changes that happen in the next step, in order.
    """

    def __init__(self) -> None:
        self.waiting: list[ViewerEdit] = []
        self._stacks: dict[int, Stacks] = {}
        self._count = 0
        self._order: Deed | None = None

    def begin(self, sim: Simulation, records: Sequence[Any] = ()) -> None:
        """Begin a run, or begin it anew: what waits is asked for again.

        Args:
            records: what had been asked for, in order; by viewers or by others.
        """
        self._order = _order_of(sim)
        again = {id(call.record): (edit, k) for edit in self.waiting for k, call in enumerate(edit.calls)}
        if sim.clock.step == 0 and not records:
            self.waiting.clear()
        for record in records:
            call = sim.do(record)
            if id(record) in again:
                edit, k = again[id(record)]
                edit.calls[k] = call

    def do(self, sim: Simulation, by: int, deed: Deed) -> None:
        """Let a change happen in the next step; what the viewer could do again is forgotten.

        Raises:
            InvalidValueError: it is no event, names something unknown, or is an order that nobody takes.
        """
        if "order" in deed and not takes_orders(sim):
            raise InvalidValueError("no controller of this team takes orders; send a single robot to a place instead")
        self._ask(sim, by, "do", [deed])
        self._of(by).redo.clear()

    def add(self, by: int, starts: Starts, sim: Simulation, start: tuple[str, tuple[float, float, float]]) -> None:
        """Add a robot before the first step, see `Starts.change`; the run is to begin anew."""
        starts.change(sim, *start)
        self._count += 1
        self._of(by).undo.append(ViewerEdit(self._count, by, "add", [{"add": starts.added[-1]}], start=start))
        self._of(by).redo.clear()

    def undo(self, sim: Simulation, by: int, starts: Starts | None = None) -> bool:
        """Take back the newest change of a viewer; return whether the run is to begin anew, without a robot.

        Raises:
            InvalidValueError: there is none, or somebody has added another robot since.
        """
        edit, stacks = self._newest(by), self._of(by)
        if edit is None:
            raise InvalidValueError("you have done nothing that can be taken back")
        if edit.start is not None and starts is not None:
            if starts.added[-1:] != [edit.deeds[0]["add"]]:
                raise InvalidValueError(f"{starts.added[-1]} was added later, by somebody else; it goes first")
            starts.change(sim, "", None)
            stacks.redo.append(stacks.undo.pop())
            return True
        if edit in self.waiting:
            for call in edit.calls:
                sim.inputs.cancel(call)
            self.waiting.remove(edit)
            stacks.redo.append(edit)
        else:
            stacks.undo.pop()
            self._ask(sim, by, "undo", edit.back, edit)
        return False

    def redo(self, sim: Simulation, by: int, starts: Starts | None = None) -> bool:
        """Do again what the viewer took back last; return whether the run is to begin anew, with a robot.

        Raises:
            InvalidValueError: there is nothing.
        """
        stacks = self._of(by)
        if not stacks.redo:
            raise InvalidValueError("you have taken nothing back that could be done again")
        edit = stacks.redo.pop()
        if edit.start is not None and starts is not None:
            starts.change(sim, *edit.start)
            edit.deeds = [{"add": starts.added[-1]}]
            stacks.undo.append(edit)
            return True
        self._ask(sim, by, "redo", edit.deeds, edit)
        return False

    def drive(self, sim: Simulation, by: int, deed: Deed) -> None:
        """Let a robot be driven, or let it go; nobody takes that back."""
        self._ask(sim, by, "drive", [deed])

    def add_events(self, sim: Simulation, events: Sequence[RunEvent]) -> dict[int, dict[str, Any]]:
        """Take in the events of a step; return, by the identity of an event, what else the page is told of it.

        Of what a viewer has asked for these are ``by``, the viewer, ``edit``, the number of the change, and ``undoes``
        or ``redoes``, that of another one; of inputs of anybody ``refused`` and ``final``: nothing takes it back.
        """
        told: dict[int, dict[str, Any]] = {}
        if not (events or self.waiting or sim.inputs.applied or sim.clock.step <= 1):
            return told
        if sim.clock.step <= 1:  # robots are added before the first step only
            for stacks in self._stacks.values():
                stacks.undo = [edit for edit in stacks.undo if edit.start is None]
                stacks.redo = [edit for edit in stacks.redo if edit.start is None]
        before = self._order
        if any(event.kind == "order" for event in events):
            self._order = _order_of(sim)
        happened, self.waiting = self.waiting, []
        for edit in happened:
            self._settle(edit, before)
        edit_of = {id(call): edit for edit in happened for call in edit.calls}
        for call in sim.inputs.applied:
            edit = edit_of.get(id(call))
            facts: dict[str, Any] = {"refused": call.refused is not None}
            if edit is not None:
                facts |= {"by": edit.by, "edit": edit.number, "final": not (edit.back or edit.kind == "undo")}
            if edit is not None and edit.of is not None:
                facts[f"{edit.kind}es"] = edit.of.number
            told |= {id(event): facts for event in call.events}
        return told

    def state(self, by: int) -> dict[str, Any]:
        """Return what a viewer is told: what it can take back and do again, and what waits for the next step."""
        stacks = self._of(by)
        undo = self._newest(by)
        return {
            "viewer": by,
            "undo": undo.deeds[0] if undo else None,
            "redo": stacks.redo[-1].deeds[0] if stacks.redo else None,
            "waiting": [{"by": edit.by, "kind": edit.kind, "deeds": edit.deeds} for edit in self.waiting],
        }

    def _newest(self, by: int) -> ViewerEdit | None:
        """Return the newest change of a viewer that can be taken back; it may wait for the next step."""
        waits = [one for one in self.waiting if one.by == by and one.kind in ("do", "redo")]
        return max(waits[-1:] + self._of(by).undo[-1:], key=lambda edit: edit.number, default=None)

    def _of(self, by: int) -> Stacks:
        return self._stacks.setdefault(by, Stacks())

    def _ask(self, sim: Simulation, by: int, kind: Any, deeds: list[Deed], of: ViewerEdit | None = None) -> None:
        calls = [sim.do(deed) for deed in deeds]
        self._count += 1
        self.waiting.append(ViewerEdit(self._count, by, kind, deeds, of, calls))

    def _settle(self, edit: ViewerEdit, order: Deed | None) -> None:
        """Put a change that has happened, or was refused, where its viewer finds it."""
        stacks = self._of(edit.by)
        refused = next((call.refused for call in edit.calls if call.refused), None)
        if edit.kind == "undo":
            assert edit.of is not None
            if refused is None:
                stacks.redo.append(edit.of)
            elif refused.robot:  # a robot is in the way: it can be tried again
                stacks.undo.append(edit.of)
        elif refused is None:
            edit.deeds = [deed for call in edit.calls for deed in call.inputs] or edit.deeds
            edit.back = [back for call in edit.calls for back in inverses(call, order)]
            if edit.back:
                stacks.undo.append(edit)
                del stacks.undo[:-_MOST]
        elif edit.kind == "redo" and refused.robot and edit.of is not None:
            stacks.redo.append(edit.of)


def inverses(call: RequestedEvent, order: Deed | None) -> list[Deed]:
    """Return the events that take back what a call did; none: it had no effect, or nothing takes it back.

    Args:
        call: a call that was applied.
        order: the order of the team before it; None: not known.
    """
    backs = [_inverse(call.events, deed, order) for deed in reversed(call.inputs)]
    return [back for back in backs if back is not None]


def _inverse(events: Sequence[RunEvent], deed: Mapping[str, Any], order: Deed | None) -> Deed | None:
    def happened(*kinds: str, other: Any = None, robot: Any = None) -> RunEvent | None:
        for event in reversed(events):
            if event.kind in kinds and (other is None or event.other == other) and robot in (None, event.robot):
                return event
        return None

    name = deed.get("name")
    if "order" in deed:
        return None if order is None else {"order": order}
    if "kind" in deed:
        if deed.get("vanishes") or not happened("fault", other=deed["kind"], robot=deed["robot"]):
            return None
        sensor = {"sensor": deed.get("sensor", "lidar")} if deed["kind"] == "sensor" else {}
        return {"repair": deed["robot"], "fault": deed["kind"], **sensor}
    if "door" in deed:
        if not happened("door_opened", "door_closed", "door_waits", other=deed["door"]):
            return None
        return {"door": deed["door"], "to": "closed" if deed["to"] == "open" else "open"}
    if deed.keys() & {"wall", "obstacle", "jam"}:
        return {"remove": name} if happened("wall_added", "obstacle_added", "jam", other=name) else None
    if isinstance(removed := deed.get("remove"), str):
        return {"restore": removed} if happened("wall_removed", "obstacle_removed", other=removed) else None
    if "remove" in deed:
        return {"restore": name} if happened("wall_removed", other=name) else None
    if "place" in deed:
        placed = happened("placed", robot=deed["place"])
        return None if placed is None else {"place": deed["place"], "pose": placed.data["before"]}
    if "to" in deed and "drive" in deed:
        return {"drive": deed["drive"]} if happened("driven", robot=deed["drive"]) else None
    if ground := deed.keys() & set(_GROUND):
        return {"restore": name} if happened("ground_changed", other=next(iter(ground))) else None
    return None


def _order_of(sim: Simulation) -> Deed | None:
    """Return the present order of the team as it may be given again; None: there is none."""
    entry = sim.communication.blackboard.entries.get(ORDER_KEY)
    if not isinstance(entry, Mapping):
        return None
    return {name: value for name, value in entry.items() if name != "number"}
