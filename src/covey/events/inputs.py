"""Inputs: events and faults, declared or called for, that change the world or strike robots; first phase of a step.

At the beginning of a step they are applied in a fixed order: digging by robots, ends of faults, of driving by hand and
of jams, moving obstacles, doors that wait to close, declared events, and events called for since the last step. Each is
recorded as an event. Events that were called for are also recorded as ``input``, from which `recorded_inputs` makes
declarations that repeat the run.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.events.building import Building
from covey.events.by_hand import ByHand
from covey.events.checks import as_input, check
from covey.events.fault_records import Fault
from covey.events.faults import Faults
from covey.events.ground_changes import GroundChanges
from covey.events.port import Happening, Port
from covey.events.records import (
    DoorEvent,
    DriveEvent,
    GroundEvent,
    JamEvent,
    Nameable,
    ObstacleEvent,
    OrderEvent,
    PlaceEvent,
    RemoveEvent,
    RepairEvent,
    RestoreEvent,
    SaveGroundEvent,
    WallEvent,
    When,
)
from covey.events.schedule import Schedule
from covey.random import generator
from covey.results.event_data import Data, Ordered, Settings, said
from covey.results.run import Run
from covey.results.snapshot import RunEvent


class RequestedEvent:
    """An event that was called for: a request for the next step, and what came of it.

    Attributes:
        record: the event as it was asked for.
        events: what was recorded while it was applied, ``input`` the last; empty before.
    """

    def __init__(self, record: Any):
        self.record = record
        self.events: list[RunEvent] = []

    @property
    def refused(self) -> RunEvent | None:
        """The first refusal; None: there was none."""
        return next((event for event in self.events if event.kind == "refused"), None)

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """What was recorded as inputs, as plain data with names, without a time."""
        told = [event.data for event in self.events if event.kind == "input"]
        return [{name: value for name, value in one.items() if name != "at_step"} for one in told]


class Inputs:
    """The events and faults declared for a run, and those called for during it.

    Args:
        port: access to the simulation.
        events, faults: records, or plain data as in a scenario.

    Attributes:
        faults: the faults of the robots.
        rest: whether nothing is due in this step, and nothing lasts.
        applied: what had been called for and was applied in this step.

    Raises:
        InvalidValueError: a record is wrong, or names something unknown.
    """

    def __init__(self, port: Port, events: Sequence[Any], faults: Sequence[Any]):
        self._port, self.faults, self.rest = port, Faults(port, self.record_event, self.random), False
        declared = [(f"events/{i}", as_input(record)) for i, record in enumerate(events)]
        declared += [(f"faults/{i}", as_input(record)) for i, record in enumerate(faults)]
        for stream, record in declared:
            check(record, port.world, port.groups, [r for _, r in declared], stream)
        self._schedule = Schedule(declared, port.clock, port.seed)
        self._calls: list[RequestedEvent] = []
        self._under_way: RequestedEvent | None = None
        self.applied: tuple[RequestedEvent, ...] = ()
        self._random: dict[str, np.random.Generator] = {}
        self._named = self._orders = 0
        self._undo: dict[str, Callable[[], bool]] = {}  # what takes back the event of a name; False: it cannot
        self._building = Building(port, self.record_event, self.random, self._undo)
        self._ground = GroundChanges(port, self.record_event, self._undo)
        self._by_hand = ByHand(port, self.record_event, self.faults.revive)

    def call(self, event: Any) -> RequestedEvent:
        """Schedule an event for the next step.

        Raises:
            InvalidValueError: the record is wrong, names something unknown, or has a time.
        """
        record = as_input(event)
        if any(getattr(record, name) != field.default for name, field in When.model_fields.items()):
            raise InvalidValueError(
                f"{event!r} has a time, but a call acts in the next step; leave the time out, or declare the event"
            )
        check(record, self._port.world, self._port.groups, None, "event")
        self._calls.append(RequestedEvent(record))
        return self._calls[-1]

    def cancel(self, call: RequestedEvent) -> bool:
        """Forget a call that has not been applied; return whether there was such a one."""
        there = call in self._calls
        if there:
            self._calls.remove(call)
        return there

    @property
    def called(self) -> tuple[RequestedEvent, ...]:
        """What has been called for since the last step."""
        return tuple(self._calls)

    def begin(self) -> bool:
        """Begin a step; return whether nothing is due in it, and nothing lasts."""
        self._port.world.step = self._port.clock.step + 1
        self.applied = ()
        lasting = self._building.lasts or self.faults.active or self._by_hand.lasts
        self.rest = not (self._schedule.entries or self._calls or lasting)
        return self.rest

    def apply_due(self) -> None:
        """Apply the events that are due."""
        port, step = self._port, self._port.clock.step
        self.begin()
        for request in port.digs():
            self._ground.dig(*request)
        if self.rest:
            return
        self.faults.recover()
        self._by_hand.lapse()
        self._building.go_on()
        for entry in self._schedule.due(step, port.explored()):
            lasts = isinstance(entry.record, WallEvent | ObstacleEvent | JamEvent)  # these need a name in any case
            record = self._with_name(entry.record) if lasts else entry.record
            entry.count += self._apply(record, entry.stream) is not None
        self.applied, self._calls = self.called, []
        for k, call in enumerate(self.applied):
            self._under_way, record = call, self._with_name(call.record)
            for one in self.faults.each(record) if isinstance(record, Fault) else [record]:
                happened = self._apply(one, f"calls/{step}/{k}")
                for data in happened if isinstance(happened, list) else [happened or one.plain()]:
                    self.record_event("input", says=Settings({"at_step": step, **data}))
        self._under_way = None

    def record_event(
        self, kind: str, robot: str = "", other: str = "", place: Any = (np.nan, np.nan), says: str | Data = ""
    ) -> None:
        """Record an event of the present step, with what it says."""
        x, y = (float(v) for v in place)
        clock = self._port.clock
        event = RunEvent(clock.step + 1, clock.time_s, kind, robot, other, x, y, *said(says))
        self._port.record(event)
        if self._under_way is not None:
            self._under_way.events.append(event)

    def random(self, stream: str) -> np.random.Generator:
        """Return the generator of a stream."""
        if stream not in self._random:
            self._random[stream] = generator(self._port.seed, stream)
        return self._random[stream]

    def driven(self, commands: np.ndarray) -> np.ndarray:
        """Return the body twists (n, 3) that result from commands (n, 3), driving by hand, and faults of wheels."""
        return self.faults.driven(self._by_hand.driven(commands))

    @property
    def jams(self) -> bool:
        """Whether there is a place where no radio works."""
        return bool(self._by_hand.jams)

    def jammed(self, pose: np.ndarray) -> np.ndarray:
        """Return which poses (n, 3) lie where no radio works, bool (n,)."""
        return self._by_hand.jammed(pose)

    @property
    def awaits_orders(self) -> bool:
        """Whether declared orders for the team are still to come."""
        return any(isinstance(entry.record, OrderEvent) for entry in self._schedule.entries)

    def _apply(self, record: When, stream: str) -> Any:
        """Apply a record; return what happened as plain data, or None if nothing did."""
        match record:
            case DoorEvent():
                return self._building.set_door(record, stream)
            case WallEvent():
                return self._building.put_wall(record)
            case ObstacleEvent():
                return self._building.put_obstacle(record)
            case RemoveEvent(remove=str(name)) if name in self._by_hand.jams:
                self._by_hand.end_jam(name)
                return record.plain()
            case RemoveEvent():
                return self._building.remove(record)
            case GroundEvent():
                return self._ground.change(record)
            case SaveGroundEvent():
                return self._ground.save(record)
            case OrderEvent():
                return self._order(record)
            case RestoreEvent():
                return self._restore(record)
            case PlaceEvent():
                return self._by_hand.carry_to(record)
            case DriveEvent():
                return self._by_hand.drive(record)
            case JamEvent():
                return self._by_hand.jam(record)
            case Fault():
                return self.faults.strike(record, stream)
            case RepairEvent():
                return self.faults.repair(record)
        own: Any = record
        happened = own.apply(Happening(self._port, self.record_event, self.random(f"{stream}/own")))
        return None if happened is False else own.plain()

    def _restore(self, event: RestoreEvent) -> Any:
        """Put back what an event of a name removed, or take back its change of the ground."""
        if event.restore not in self._undo:
            self.record_event("refused", other=event.restore, says="nothing with this name can be restored")
            return None
        if not self._undo[event.restore]():
            return None
        del self._undo[event.restore]
        return event.plain()

    def _order(self, event: OrderEvent) -> Any:
        """Give the team an order, with a new number."""
        self._orders += 1
        self._port.order(event.order, self._orders)
        self.record_event("order", place=event.order.objective_m, says=Ordered(event.order.model_dump(mode="json")))
        return event.plain()

    def _with_name(self, call: When) -> When:
        """Return a call with the name that it gets, so that its repetition gets the same."""
        if isinstance(call, Nameable) and call.thing:
            return call.model_copy(update={"name": self._name(call.name, call.thing)})
        return call

    def _name(self, given: str, kind: str) -> str:
        """Return the given name, or the next number of a kind; a given one that looks so counts too."""
        if given:
            number = given.removeprefix(f"{kind} ")
            if number.isdecimal() and len(number) < 10:
                self._named = max(self._named, int(number))
            return given
        self._named += 1
        return f"{kind} {self._named}"


def recorded_inputs(run: Run) -> list[dict[str, Any]]:
    """Return the events called for during a run, as declarations for a simulation that repeats it."""
    return [row["data"] for row in run.events_of("input")]
