"""The faults of robots, as users declare them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from covey.events.records import When, faults
from covey.geometry.se2 import Pose
from covey.named import OfKind
from covey.random import stream_key
from covey.sensors.degradation import Degradation


@dataclass(eq=False)
class Effects:
    """What the present faults do to robots; each robot is an index.

    Attributes:
        seed, names, sensors: root of the random numbers; of each robot the name and the records of its sensors.
        model: the bodies of the team.
        dead: robots that do nothing; whether each has vanished.
        mute: robots whose radio is dead.
        jumps: motions of the world frame by which their estimates are off.
        degraded: degradation of the readings, by the record of the sensor.
        drives: what becomes of the twists of robots, in this order: functions of ``twist`` (3,), in the body frame.
    """

    seed: int
    names: Sequence[str]
    sensors: Sequence[Sequence[Any]]
    model: Any
    dead: dict[int, bool] = field(default_factory=dict)
    mute: set[int] = field(default_factory=set)
    jumps: dict[int, Pose] = field(default_factory=dict)
    degraded: dict[Any, list[Degradation]] = field(default_factory=dict)
    drives: dict[int, list[Callable[[np.ndarray], Any]]] = field(default_factory=dict)

    def carried(self, robot: int, sensor: str) -> list[Any]:
        """Return the records of a robot's sensors with a name, or of a kind."""
        mine = list(dict.fromkeys(self.sensors[robot]))
        return [s for s in mine if s.name == sensor] or [s for s in mine if s.kind == sensor]

    def degrade(self, record: Any, worse: Degradation) -> None:
        """Make the readings of a sensor of a robot worse; of a dead robot there are none."""
        self.degraded.setdefault(record, []).append(worse)

    def drive(self, robot: int, change: Callable[[np.ndarray], Any]) -> None:
        """Change each twist of a robot after the faults before."""
        self.drives.setdefault(robot, []).append(change)


class Fault(When, OfKind):
    """Base of all faults. A subclass overrides `affect`, and other methods that it needs.

    Attributes:
        order: faults of smaller orders are applied before others.
    """

    registry = faults
    order: ClassVar[int] = 3

    robot: str = Field(
        default="any",
        min_length=1,
        description=(
            "Name of a robot; name of a group: a random robot of it; any: a random robot of the team; all: every robot."
        ),
    )
    for_s: float | None = Field(default=None, gt=0, description="Duration [s]; null: to the end of the run.")

    @property
    def part(self) -> str:
        """The part of the robot that it affects; a robot has at most one fault of a kind on a part at a time."""
        return ""

    @property
    def repeats(self) -> bool:
        """Whether a robot that has it can be struck by it again."""
        return False

    def can_strike(self, carried: Callable[[str], list[Any]]) -> bool:
        """Return whether it can strike a robot, given what returns its sensors of a name or kind."""
        return True

    def drawn(self, random: Callable[[], np.random.Generator]) -> Self:
        """Return it with what it draws at random, so that its repetition is the same."""
        return self

    def jump(self, estimate: Pose) -> Pose | None:
        """Return where the estimate of a robot is when it is struck; None: it stays."""
        return None

    def affect(self, robot: int, effects: Effects) -> None:
        """Add what it does to a robot while it lasts."""

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, without its time."""
        data = super().plain()
        return data if "kind" in data else {"kind": self.kind, **data}


@faults.register("dies")
class Dies(Fault):
    """The robot stands still, senses nothing, sends nothing, and blocks others."""

    order: ClassVar[int] = 0

    kind: Literal["dies"] = Field(default="dies", description="The name of this kind of fault.")
    vanishes: bool = Field(
        default=False, description="Whether the robot disappears; false: it stands still and blocks others."
    )

    @model_validator(mode="after")
    def _gone_for_good(self) -> "Dies":
        if self.vanishes and self.for_s is not None:
            raise ValueError("for_s cannot be combined with vanishes: another robot may stand there by then")
        return self

    def affect(self, robot: int, effects: Effects) -> None:
        """Let it do nothing, see `Fault.affect`."""
        effects.dead[robot] = self.vanishes
        effects.mute.add(robot)
        for record in dict.fromkeys(effects.sensors[robot]):
            effects.degrade(record, Degradation(robot, np.uint64(0), math.inf, 0.0, 1.0))


@faults.register("radio_dies")
class RadioDies(Fault):
    """The robot neither sends nor receives."""

    kind: Literal["radio_dies"] = Field(default="radio_dies", description="The name of this kind of fault.")

    def affect(self, robot: int, effects: Effects) -> None:
        """Let its radio be dead, see `Fault.affect`."""
        effects.mute.add(robot)


@faults.register("sensor")
class SensorFault(Fault):
    """A sensor degrades or, with the defaults, drops out."""

    kind: Literal["sensor"] = Field(default="sensor", description="The name of this kind of fault.")
    sensor: str = Field(default="lidar", min_length=1, description="Name or kind of the sensor.")
    range_factor: float = Field(
        default=1.0, gt=0, le=1, description="Share of its range that is left (lidar, proximity …)."
    )
    noise_m: float = Field(default=0.0, ge=0, le=1000, description="Standard deviation of additional noise [m].")
    dropout: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description=(
            "Share of its rays, neighbours or samples that is lost; null: all, if you set no other parameter."
        ),
    )

    @property
    def part(self) -> str:
        """The sensor."""
        return self.sensor

    @property
    def lost(self) -> float:
        """Share of the readings that is lost."""
        if self.dropout is not None:
            return self.dropout
        return 1.0 if self.range_factor == 1.0 and self.noise_m == 0.0 else 0.0

    def can_strike(self, carried: Callable[[str], list[Any]]) -> bool:
        """Return whether a robot carries the sensor."""
        return bool(carried(self.sensor))

    def affect(self, robot: int, effects: Effects) -> None:
        """Make the sensor worse, see `Fault.affect`."""
        for record in effects.carried(robot, self.sensor) if robot not in effects.dead else ():
            key = stream_key(effects.seed, f"fault/{record.name}/{effects.names[robot]}")
            reach = self.range_factor * getattr(record, "range_m", math.inf)
            effects.degrade(record, Degradation(robot, key, reach, self.noise_m, self.lost))


@faults.register("wheel_sticks")
class WheelSticks(Fault):
    """One wheel, or the wheels of one side, do not turn: the robot drives in circles around it."""

    order: ClassVar[int] = 1

    kind: Literal["wheel_sticks"] = Field(default="wheel_sticks", description="The name of this kind of fault.")
    wheel: Literal["left", "right"] = Field(default="left", description="left or right.")

    def affect(self, robot: int, effects: Effects) -> None:
        """Let one side stand still, see `Fault.affect`."""
        drive = effects.model.drive(robot)
        effects.drive(robot, lambda twist: stuck_twist(twist, self.wheel, *drive))


@faults.register("wheels_slip")
class WheelsSlip(Fault):
    """The wheels slip: the robot moves less than they turn, and its odometry measures what they turn."""

    order: ClassVar[int] = 2

    kind: Literal["wheels_slip"] = Field(default="wheels_slip", description="The name of this kind of fault.")
    share: float = Field(default=0.3, gt=0, le=0.95, description="Share of each motion that is lost.")

    def affect(self, robot: int, effects: Effects) -> None:
        """Let it move less than its wheels turn, see `Fault.affect`."""
        left, (top, spin, _) = 1.0 - self.share, effects.model.drive(robot)
        most = np.array([top, top, spin])
        effects.drive(robot, lambda twist: left * np.clip(twist, -most, most))
        wheels = [record for record in dict.fromkeys(effects.sensors[robot]) if "motion" in record.feeds]
        for record in wheels if robot not in effects.dead else ():
            effects.degrade(record, Degradation(robot, np.uint64(0), stretch=1.0 / left))


@faults.register("localization_jumps")
class LocalizationJumps(Fault):
    """The pose estimate jumps; later estimates are relative to the jump."""

    kind: Literal["localization_jumps"] = Field(
        default="localization_jumps", description="The name of this kind of fault."
    )
    offset: tuple[float, float, float] | None = Field(
        default=None, description="x, y [m] and heading [deg] of the jump; null: random."
    )
    sigma_m: float = Field(default=1.0, ge=0, le=1e5, description="Standard deviation of a random x and y [m].")
    sigma_deg: float = Field(default=10.0, ge=0, le=180, description="Standard deviation of a random heading [deg].")

    @property
    def repeats(self) -> bool:
        """Whether the estimate can jump again: each jump that stays adds to those before."""
        return self.for_s is None

    def drawn(self, random: Callable[[], np.random.Generator]) -> Self:
        """Return it with its offset."""
        if self.offset is not None:
            return self
        x, y, turn = random().standard_normal(3).tolist()
        return self.model_copy(update={"offset": (self.sigma_m * x, self.sigma_m * y, self.sigma_deg * turn)})

    def jump(self, estimate: Pose) -> Pose:
        """Return where the estimate is after the jump."""
        assert self.offset is not None
        dx, dy, turn_deg = self.offset
        return Pose(estimate.x + dx, estimate.y + dy, estimate.heading + math.radians(turn_deg))


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
