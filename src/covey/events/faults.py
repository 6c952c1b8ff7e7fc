"""Faults: which robots have which fault, and its effects."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.events.fault_records import Dies, Effects, Fault
from covey.events.port import Impairment, Port
from covey.events.records import RepairEvent
from covey.geometry.se2 import Pose
from covey.results.event_data import Data, Settings


@dataclass(frozen=True, eq=False)
class Struck:
    """A fault of one robot: when it began, and the step at which it ends (None: at the end of the run)."""

    fault: Any
    robot: int
    until: int | None
    jump: Pose | None = None  # from the estimate without the fault to the one with it


class Faults:
    """The faults of a team.

    Args:
        port: access to the simulation.
        record_event: records an event.
        random: returns the generator of a stream.

    Attributes:
        active: the present faults.
    """

    def __init__(self, port: Port, record_event: Callable[..., Any], random: Callable[[str], np.random.Generator]):
        self._port, self._record_event, self._random = port, record_event, random
        self._names = port.names
        self._sensors = [group.robot.sensors for group in port.groups for _ in group.names]
        self.active: list[Struck] = []
        self._effects = self._none()

    def strike(self, fault: Fault, stream: str) -> list[dict[str, Any]] | None:
        """Apply a fault; return it for each robot struck, or None if there was no robot to strike."""
        struck = [self._one(fault, robot, stream) for robot in self._choose(fault, stream)]
        if struck:
            self._apply()
        return struck or None

    def each(self, fault: Fault) -> list[Fault]:
        """Return a fault of all robots as one of each that it can strike, as it is repeated; others as they are."""
        names = [name for i, name in enumerate(self._names) if fault.robot == "all" and self._can(fault, i)]
        return [fault.model_copy(update={"robot": name}) for name in names] or [fault]

    def recover(self) -> None:
        """End the faults whose duration is over."""
        over = [s for s in self.active if s.until is not None and self._port.clock.step >= s.until]
        if over:
            self._end(over)

    def _end(self, over: list[Struck]) -> None:
        self.active = [s for s in self.active if s not in over]
        self._apply()
        for s in over:
            self._say("recovered", s.robot, s.fault, "")

    def repair(self, event: RepairEvent) -> dict[str, Any] | None:
        """End faults of a robot; return the event, or None if it has no such fault, or has vanished."""
        robot = self._names.index(event.repair)
        mine = [s for s in self.active if s.robot == robot and event.fault in (None, s.fault.kind)]
        mine = [s for s in mine if event.sensor in (None, s.fault.part)][0 if event.fault is None else -1 :]
        if not mine or self._port.state.vanished[robot]:
            why = "it has vanished" if self._port.state.vanished[robot] else "it has no such fault"
            self._record_event("refused", event.repair, event.fault or "", self._port.state.pose[robot, :2], why)
            return None
        self._end(mine)
        return event.plain()

    def revive(self, robot: int) -> None:
        """Let a robot be there again that has vanished, without faults."""
        self._port.state.vanished[robot] = False
        self._end([s for s in self.active if s.robot == robot])

    def driven(self, commands: np.ndarray) -> np.ndarray:
        """Return the body twists (n, 3) that the wheels produce for commands (n, 3)."""
        if not self._effects.drives:
            return commands
        commands = commands.copy()
        for robot, changes in self._effects.drives.items():
            for change in changes:
                commands[robot] = change(commands[robot])
        return commands

    def _choose(self, fault: Fault, stream: str) -> list[int]:
        """Return the robots that a fault strikes."""
        names = self._names
        free = [i for i in range(len(names)) if self._can(fault, i)]
        if fault.robot == "all":
            return free
        if fault.robot in names:
            return [i for i in free if names[i] == fault.robot]
        members = {n for g in self._port.groups if fault.robot in ("any", g.name) for n in g.names}
        free = [i for i in free if names[i] in members]
        return [free[int(self._random(f"{stream}/robot").integers(len(free)))]] if free else []

    def _can(self, fault: Fault, robot: int) -> bool:
        """Return whether a robot is alive, has the part that a fault affects, and has no such fault already."""
        if any(s.robot == robot and isinstance(s.fault, Dies) for s in self.active):
            return False
        if not fault.can_strike(lambda sensor: self._effects.carried(robot, sensor)):
            return False
        same = [s.fault for s in self.active if s.robot == robot and s.fault.kind == fault.kind]
        return fault.repeats or not any(f.part == fault.part for f in same)

    def _one(self, fault: Fault, robot: int, stream: str) -> dict[str, Any]:
        clock = self._port.clock
        fault = fault.model_copy(update={"robot": self._names[robot]})
        fault = fault.drawn(lambda: self._random(f"{stream}/offset"))
        before = Pose(*self._port.estimate[robot].tolist())
        after = fault.jump(before)
        jump = None if after is None else after @ before.inverse()
        steps = None if fault.for_s is None else math.ceil(fault.for_s / clock.step_s - 1e-9)
        self.active.append(Struck(fault, robot, None if steps is None else clock.step + steps, jump))
        data = fault.plain()
        self._say("fault", robot, fault, Settings(data))
        return data

    def _say(self, kind: str, robot: int, fault: Any, says: str | Data) -> None:
        self._record_event(kind, self._names[robot], fault.kind, self._port.state.pose[robot, :2], says)

    def _none(self) -> Effects:
        return Effects(self._port.seed, self._names, self._sensors, self._port.model)

    def _apply(self) -> None:
        """Apply the faults in `active` to everything that faults affect."""
        state, effects = self._port.state, self._none()
        for s in sorted(self.active, key=lambda s: s.fault.order):
            s.fault.affect(s.robot, effects)
            if s.jump is not None:
                effects.jumps[s.robot] = s.jump @ effects.jumps.get(s.robot, Pose(0.0, 0.0, 0.0))
        state.radio_alive[:] = [i not in effects.mute for i in range(len(self._names))]
        for i, vanishes in effects.dead.items():
            state.vanished[i] |= vanishes
        lasting = {s.robot for s in self.active if s.until is None and isinstance(s.fault, Dies)}
        self._effects = effects
        self._port.impair(Impairment(frozenset(effects.dead), frozenset(lasting), effects.jumps, effects.degraded))
