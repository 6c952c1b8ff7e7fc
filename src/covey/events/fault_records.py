"""The faults of robots, as users declare them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from covey.events.records import When

DEGRADABLE_KINDS = (
    "lidar",
    "proximity",
    "neighbours",
    "odometry",
    "imu",
    "bumper",
    "wedge",
    "lidar3d",
    "depth_camera",
    "tag_camera",
)
"""The kinds of sensors that can degrade."""


class Fault(When):
    """Base of all faults."""

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


class Dies(Fault):
    """The robot stands still, senses nothing, sends nothing, and blocks others."""

    kind: Literal["dies"] = Field(default="dies", description="The name of this kind of fault.")
    vanishes: bool = Field(
        default=False, description="Whether the robot disappears; false: it stands still and blocks others."
    )

    @model_validator(mode="after")
    def _gone_for_good(self) -> "Dies":
        if self.vanishes and self.for_s is not None:
            raise ValueError("for_s cannot be combined with vanishes: another robot may stand there by then")
        return self


class RadioDies(Fault):
    """The robot neither sends nor receives."""

    kind: Literal["radio_dies"] = Field(default="radio_dies", description="The name of this kind of fault.")


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


class WheelSticks(Fault):
    """One wheel, or the wheels of one side, do not turn: the robot drives in circles around it."""

    kind: Literal["wheel_sticks"] = Field(default="wheel_sticks", description="The name of this kind of fault.")
    wheel: Literal["left", "right"] = Field(default="left", description="left or right.")


class WheelsSlip(Fault):
    """The wheels slip: the robot moves less than they turn, and its odometry measures what they turn."""

    kind: Literal["wheels_slip"] = Field(default="wheels_slip", description="The name of this kind of fault.")
    share: float = Field(default=0.3, gt=0, le=0.95, description="Share of each motion that is lost.")


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


AnyFault = Annotated[
    Dies | RadioDies | SensorFault | WheelSticks | WheelsSlip | LocalizationJumps, Field(discriminator="kind")
]
"""Any fault that a scenario can declare; ``kind`` selects the record."""
