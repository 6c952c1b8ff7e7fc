"""Faults: what is wrong with which robots, and what follows of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.events.fault_records import Dies, Fault, LocalizationJumps, RadioDies, SensorFault, WheelSticks
from covey.geometry.se2 import Pose
from covey.physics.motion import MAX_SPEED, MAX_TURN, SEMI_AXIS
from covey.random import stream_key
from covey.robots.team import TeamModel
from covey.sensors.degradation import spoil

if TYPE_CHECKING:
    from covey.runtime.simulation import Simulation


@dataclass(frozen=True, eq=False)
class Struck:
    """A fault of one robot: since when, and until which step (None: to the end)."""

    fault: Any
    robot: int
    until: int | None
    jump: Pose | None = None  # from the estimate without the fault to that with it


@dataclass(frozen=True, eq=False)
class Spoiled:
    """What makes one robot's sensor worse."""

    row: int
    key: Any
    range_m: float
    noise_m: float
    dropout: float

    def apply(self, readings: Any, sample: int) -> None:
        """Make the robot's reading worse, in place."""
        spoil(readings, self.row, self.key, sample, self.range_m, self.noise_m, self.dropout)


class Faults:
    """The faults of a team.

    Args:
        sim: the simulation.
        note: records an event.

    Attributes:
        active: what is wrong now.
    """

    def __init__(self, sim: "Simulation", note: Callable[..., Any]):
        self.sim, self._note = sim, note
        self.active: list[Struck] = []
        self._stuck: dict[int, str] = {}

    def strike(self, fault: Fault, stream: str) -> list[dict[str, Any]] | None:
        """Let a fault strike; return it for each robot struck, None when there was none left to strike."""
        struck = [self._one(fault, robot, stream) for robot in self._choose(fault, stream)]
        if struck:
            self._apply()
        return struck or None

    def recover(self) -> None:
        """End the faults whose time is over."""
        over = [s for s in self.active if s.until is not None and self.sim.clock.step >= s.until]
        if over:
            self.active = [s for s in self.active if s not in over]
            self._apply()
            for s in over:
                self._say("recovered", s.robot, s.fault, "")

    def driven(self, commands: np.ndarray) -> np.ndarray:
        """Return the body twists (n, 3) that the wheels make of commands (n, 3)."""
        if not self._stuck:
            return commands
        commands = commands.copy()
        for robot, wheel in self._stuck.items():
            commands[robot] = stuck_twist(commands[robot], wheel, *_drive(self.sim.model, robot))
        return commands

    def _choose(self, fault: Fault, stream: str) -> list[int]:
        """Return the robots that a fault strikes, among those that it can strike."""
        sim = self.sim
        free = [i for i in range(len(sim.names)) if self._can(fault, i)]
        if fault.robot == "all":
            return free
        if fault.robot in sim.names:
            return [i for i in free if sim.names[i] == fault.robot]
        members = {n for g in sim.groups if fault.robot in ("any", g.name) for n in g.names}
        free = [i for i in free if sim.names[i] in members]
        return [free[int(sim.inputs.random(f"{stream}/robot").integers(len(free)))]] if free else []

    def _can(self, fault: Fault, robot: int) -> bool:
        """Return whether a robot is alive, has what a fault is about, and has no such fault already."""
        if any(s.robot == robot and isinstance(s.fault, Dies) for s in self.active):
            return False
        if isinstance(fault, SensorFault) and not self._banks(fault.sensor, robot):
            return False
        same = [s.fault for s in self.active if s.robot == robot and type(s.fault) is type(fault)]
        same = [f for f in same if f.part == fault.part]
        return not same or (isinstance(fault, LocalizationJumps) and fault.for_s is None)

    def _one(self, fault: Fault, robot: int, stream: str) -> dict[str, Any]:
        sim, jump = self.sim, None
        fault = fault.model_copy(update={"robot": sim.names[robot]})
        if isinstance(fault, LocalizationJumps):
            fault, jump = self._jump(fault, robot, stream)
        steps = None if fault.for_s is None else math.ceil(fault.for_s / sim.clock.step_s - 1e-9)
        self.active.append(Struck(fault, robot, None if steps is None else sim.clock.step + steps, jump))
        data = fault.plain()
        self._say("fault", robot, fault, ", ".join(f"{k} {v}" for k, v in data.items() if k not in ("kind", "robot")))
        return data

    def _jump(self, fault: LocalizationJumps, robot: int, stream: str) -> tuple[LocalizationJumps, Pose]:
        """Return the fault with its offset drawn, and the motion of the world frame that makes the estimate jump."""
        if fault.offset is None:
            x, y, turn = self.sim.inputs.random(f"{stream}/offset").standard_normal(3).tolist()
            offset = (fault.sigma_m * x, fault.sigma_m * y, fault.sigma_deg * turn)
            fault = fault.model_copy(update={"offset": offset})
        assert fault.offset is not None
        before = Pose(*self.sim.estimating.carried[robot].tolist())
        dx, dy, turn_deg = fault.offset
        after = Pose(before.x + dx, before.y + dy, before.heading + math.radians(turn_deg))
        return fault, after @ before.inverse()

    def _say(self, kind: str, robot: int, fault: Any, text: str) -> None:
        self._note(kind, self.sim.names[robot], fault.kind, self.sim.state.pose[robot, :2], text)

    def _banks(self, sensor: str, robot: int) -> list[Any]:
        """Return the sensors of a robot of a name, or of a kind."""
        mine = [b for b in self.sim.sensing.banks if robot in b.row_of]
        return [b for b in mine if b.record.name == sensor] or [b for b in mine if b.record.kind == sensor]

    def _apply(self) -> None:
        """Bring everything that faults act on in line with `active`."""
        sim = self.sim
        dead = {s.robot: s for s in self.active if isinstance(s.fault, Dies)}
        mute = {s.robot for s in self.active if isinstance(s.fault, RadioDies)} | set(dead)
        sim.radio_alive[:] = [i not in mute for i in range(len(sim.names))]
        for i in sim.deciding.down - set(dead):
            sim.state.halted[i] = i in sim.deciding.failed
        sim.deciding.down = set(dead)
        sim.deciding.lost = {i for i, s in dead.items() if s.until is None}
        for i, s in dead.items():
            sim.state.halted[i] = True
            if s.fault.vanishes:
                sim.model.disc_count[i] = 0
        self._stuck = {s.robot: s.fault.wheel for s in self.active if isinstance(s.fault, WheelSticks)}
        sim.estimating.jumps.clear()
        for s in self.active:
            if s.jump is not None:
                sim.estimating.jumps[s.robot] = s.jump @ sim.estimating.jumps.get(s.robot, Pose(0.0, 0.0, 0.0))
        self._spoil(dead)

    def _spoil(self, dead: Any) -> None:
        for bank in self.sim.sensing.banks:
            bank.spoiled = [Spoiled(bank.row_of[i], np.uint64(0), math.inf, 0.0, 1.0) for i in dead if i in bank.row_of]
        for s in self.active:
            if isinstance(s.fault, SensorFault) and s.robot not in dead:
                for bank in self._banks(s.fault.sensor, s.robot):
                    key = stream_key(self.sim.seed, f"fault/{bank.record.name}/{self.sim.names[s.robot]}")
                    reach = s.fault.range_factor * getattr(bank.record, "range_m", math.inf)
                    row = bank.row_of[s.robot]
                    bank.spoiled.append(Spoiled(row, key, reach, s.fault.noise_m, s.fault.lost))


def stuck_twist(twist: Any, wheel: str, top: float, spin: float, semi_axis_m: float) -> tuple[float, float, float]:
    """Return the body twist when one wheel, or the wheels of one side, stand still and the others do as commanded.

    The wheels of a body twist (v, turn) run at v -+ turn b, left and right; with the left at rest, v = right / 2 and
    turn = right / 2 b. Of a sideways motion half is left.

    Args:
        twist: vx, vy [m/s], turn [rad/s] as commanded.
        wheel: ``left`` or ``right``.
        top, spin: largest speed [m/s] and turn rate [rad/s], to which the command is limited before.
        semi_axis_m: b, half the distance between the wheels [m].
    """
    v, turn = min(max(float(twist[0]), -top), top), min(max(float(twist[2]), -spin), spin)
    side = 1.0 if wheel == "left" else -1.0
    runs = v + side * turn * semi_axis_m
    return 0.5 * runs, 0.5 * float(twist[1]), side * 0.5 * runs / semi_axis_m


def _drive(model: TeamModel, robot: int) -> tuple[float, float, float]:
    """Return largest speed, largest turn rate, and half the distance between the wheels; without one, the radius."""
    limits = model.limits[robot]
    return float(limits[MAX_SPEED]), float(limits[MAX_TURN]), float(limits[SEMI_AXIS] or model.radius[robot])
