"""Faults: which robots have which fault, and its effects."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.events.fault_records import Dies, Fault, LocalizationJumps, RadioDies, SensorFault, WheelsSlip, WheelSticks
from covey.events.port import Impairment, Port
from covey.events.records import RepairEvent
from covey.geometry.se2 import Pose
from covey.physics.motion import MAX_SPEED, MAX_TURN, SEMI_AXIS
from covey.random import stream_key
from covey.results.event_data import Data, Settings
from covey.robots.team import TeamModel
from covey.sensors.degradation import Degradation


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
        self._stuck: dict[int, str] = {}
        self._slip: dict[int, float] = {}  # share of each motion that is left

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

    def driven(self, commands: np.ndarray) -> np.ndarray:
        """Return the body twists (n, 3) that the wheels produce for commands (n, 3)."""
        if not self._stuck and not self._slip:
            return commands
        commands = commands.copy()
        for robot, wheel in self._stuck.items():
            commands[robot] = stuck_twist(commands[robot], wheel, *_drive(self._port.model, robot))
        for robot, left in self._slip.items():
            top, spin, _ = _drive(self._port.model, robot)
            most = np.array([top, top, spin])
            commands[robot] = left * np.clip(commands[robot], -most, most)
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
        if isinstance(fault, SensorFault) and not self._carried(fault.sensor, robot):
            return False
        same = [s.fault for s in self.active if s.robot == robot and type(s.fault) is type(fault)]
        same = [f for f in same if f.part == fault.part]
        return not same or (isinstance(fault, LocalizationJumps) and fault.for_s is None)

    def _one(self, fault: Fault, robot: int, stream: str) -> dict[str, Any]:
        clock, jump = self._port.clock, None
        fault = fault.model_copy(update={"robot": self._names[robot]})
        if isinstance(fault, LocalizationJumps):
            fault, jump = self._jump(fault, robot, stream)
        steps = None if fault.for_s is None else math.ceil(fault.for_s / clock.step_s - 1e-9)
        self.active.append(Struck(fault, robot, None if steps is None else clock.step + steps, jump))
        data = fault.plain()
        self._say("fault", robot, fault, Settings(data))
        return data

    def _jump(self, fault: LocalizationJumps, robot: int, stream: str) -> tuple[LocalizationJumps, Pose]:
        """Return the fault with its random offset, and the motion of the world frame that makes the estimate jump."""
        if fault.offset is None:
            x, y, turn = self._random(f"{stream}/offset").standard_normal(3).tolist()
            offset = (fault.sigma_m * x, fault.sigma_m * y, fault.sigma_deg * turn)
            fault = fault.model_copy(update={"offset": offset})
        assert fault.offset is not None
        before = Pose(*self._port.estimate[robot].tolist())
        dx, dy, turn_deg = fault.offset
        after = Pose(before.x + dx, before.y + dy, before.heading + math.radians(turn_deg))
        return fault, after @ before.inverse()

    def _say(self, kind: str, robot: int, fault: Any, says: str | Data) -> None:
        self._record_event(kind, self._names[robot], fault.kind, self._port.state.pose[robot, :2], says)

    def _carried(self, sensor: str, robot: int) -> list[Any]:
        """Return the records of a robot's sensors with a name, or of a kind."""
        mine = list(dict.fromkeys(self._sensors[robot]))
        return [s for s in mine if s.name == sensor] or [s for s in mine if s.kind == sensor]

    def _apply(self) -> None:
        """Apply the faults in `active` to everything that faults affect."""
        state = self._port.state
        dead = {s.robot: s for s in self.active if isinstance(s.fault, Dies)}
        mute = {s.robot for s in self.active if isinstance(s.fault, RadioDies)} | set(dead)
        state.radio_alive[:] = [i not in mute for i in range(len(self._names))]
        for i, s in dead.items():
            state.vanished[i] |= s.fault.vanishes
        self._stuck = {s.robot: s.fault.wheel for s in self.active if isinstance(s.fault, WheelSticks)}
        self._slip = {s.robot: 1.0 - s.fault.share for s in self.active if isinstance(s.fault, WheelsSlip)}
        jumps: dict[int, Pose] = {}
        for s in self.active:
            if s.jump is not None:
                jumps[s.robot] = s.jump @ jumps.get(s.robot, Pose(0.0, 0.0, 0.0))
        lost = frozenset(i for i, s in dead.items() if s.until is None)
        self._port.impair(Impairment(frozenset(dead), lost, jumps, self._degraded(dead)))

    def _degraded(self, dead: Any) -> dict[Any, list[Degradation]]:
        degraded: dict[Any, list[Degradation]] = {}
        for i in dead:
            for record in dict.fromkeys(self._sensors[i]):
                degraded.setdefault(record, []).append(Degradation(i, np.uint64(0), math.inf, 0.0, 1.0))
        for robot, left in self._slip.items():
            for record in self._carried("odometry", robot) if robot not in dead else ():
                degraded.setdefault(record, []).append(Degradation(robot, np.uint64(0), stretch=1.0 / left))
        for s in self.active:
            if isinstance(s.fault, SensorFault) and s.robot not in dead:
                for record in self._carried(s.fault.sensor, s.robot):
                    key = stream_key(self._port.seed, f"fault/{record.name}/{self._names[s.robot]}")
                    reach = s.fault.range_factor * getattr(record, "range_m", math.inf)
                    worse = Degradation(s.robot, key, reach, s.fault.noise_m, s.fault.lost)
                    degraded.setdefault(record, []).append(worse)
        return degraded


def stuck_twist(twist: Any, wheel: str, top: float, spin: float, semi_axis_m: float) -> tuple[float, float, float]:
    """Return the body twist if one wheel, or the wheels of one side, stand still and the others turn as commanded.

    For a body twist (v, turn), the left and right wheels run at v -+ turn b. With the left wheel at rest, v = right / 2
    and turn = right / 2 b. A sideways motion is halved.

    Args:
        twist: vx, vy [m/s], turn [rad/s] as commanded.
        wheel: ``left`` or ``right``.
        top, spin: largest speed [m/s] and turn rate [rad/s]; the command is limited to them first.
        semi_axis_m: b, half the distance between the wheels [m].
    """
    v, turn = min(max(float(twist[0]), -top), top), min(max(float(twist[2]), -spin), spin)
    side = 1.0 if wheel == "left" else -1.0
    runs = v + side * turn * semi_axis_m
    return 0.5 * runs, 0.5 * float(twist[1]), side * 0.5 * runs / semi_axis_m


def _drive(model: TeamModel, robot: int) -> tuple[float, float, float]:
    """Return largest speed, largest turn rate, and half the distance between the wheels (without them, the radius)."""
    limits = model.limits[robot]
    return float(limits[MAX_SPEED]), float(limits[MAX_TURN]), float(limits[SEMI_AXIS] or model.radius[robot])
