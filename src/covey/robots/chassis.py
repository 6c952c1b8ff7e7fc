"""`Chassis`: a robot in three dimensions: masses, wheels and drive; or a flying robot."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from covey.lazy import optimize
from covey.records import Record

Point = tuple[float, float, float]
Control = Literal["twist", "torque"]


class Wheel(Record):
    """A driven wheel on the level ground, axle along y; a wheel left of the middle belongs to the left side."""

    x_m: float = Field(description="Position of its centre ahead of the robot's origin [m].")
    y_m: float = Field(description="Position of its centre to the left of the robot's origin [m]; not 0.")
    radius_m: float = Field(gt=0, description="Radius [m].")
    width_m: float = Field(gt=0, description="Width [m].")
    mass_kg: float = Field(gt=0, description="Mass [kg].")
    tyre: Literal["flat", "round"] = Field(
        default="round",
        description="round: it touches level ground in its middle; flat: it touches over its whole width.",
    )

    @model_validator(mode="after")
    def _has_a_side(self) -> Self:
        if self.y_m == 0:
            raise ValueError("y_m is 0; a driven wheel is left (y_m > 0) or right (y_m < 0) of the middle")
        return self


class Caster(Record):
    """A ball that slides without friction and touches the level ground."""

    x_m: float = Field(description="Position ahead of the robot's origin [m].")
    y_m: float = Field(default=0.0, description="Position to the left of the robot's origin [m].")
    radius_m: float = Field(gt=0, description="Radius [m].")


class SideDrive(Record):
    """How the wheels of each side are driven."""

    control: Control = Field(
        default="twist",
        description="twist: a command is a speed and a turn rate; torque: a command is the torque of the left "
        "and of the right side [N m].",
    )
    max_torque_n_m: float = Field(gt=0, description="Largest torque of one side, shared equally by its wheels [N m].")
    rotor_inertia_kg_m2: float | None = Field(
        default=None,
        ge=0,
        le=1e6,
        description="Under torque control, inertia of the motors and gears of one side at the axles of its wheels, "
        "shared equally by them: that of a rotor times the square of the gear ratio [kg m2]; null: all wheels together "
        "as half the mass of the robot at their rims, see terrain.md.",
    )
    width_factor: float = Field(
        default=1.0,
        ge=1,
        description=(
            "Ratio of the effective track width to the true one when the robot turns, because its wheels slip sideways."
        ),
    )

    @model_validator(mode="after")
    def _rotors_count(self) -> Self:
        if self.rotor_inertia_kg_m2 is not None and self.control == "twist":
            raise ValueError(
                f"rotor_inertia_kg_m2 is {self.rotor_inertia_kg_m2:g}, but with control: twist a regulator holds the "
                "speeds of the wheels whatever their inertia; give control: torque with it, or leave it out"
            )
        return self


class WheeledChassis(SideDrive):
    """A box on driven wheels, and casters; tracks are rows of wheels."""

    kind: Literal["wheels"] = Field(default="wheels", description="A box on wheels, or on tracks.")
    box_m: Point = Field(description="Length, width and height of the box [m].")
    box_at_m: Point = Field(description="x, y, z of its centre; z is above level ground [m].")
    mass_kg: float = Field(gt=0, description="Mass of the box [kg].")
    wheels: tuple[Wheel, ...] = Field(min_length=2, description="Driven wheels.")
    casters: tuple[Caster, ...] = Field(default=(), description="Casters: further points on which the robot stands.")
    friction: float = Field(default=0.8, gt=0, description="Coefficient of friction between wheels and ground.")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if min(self.box_m) <= 0:
            raise ValueError(f"box_m is {self.box_m}; length, width and height must be positive")
        if len({wheel.y_m > 0 for wheel in self.wheels}) < 2:
            raise ValueError("all wheels are on one side; give wheels with y_m > 0 and with y_m < 0")
        return self


class FlyingChassis(Record):
    """A robot that flies at a height above the ground, follows its commands exactly, and touches nothing."""

    kind: Literal["flying"] = Field(description="It flies.")
    height_m: float = Field(default=8.0, gt=0, description="Height above the ground below [m].")


class FileChassis(SideDrive):
    """Any body, from a file of MuJoCo (MJCF) or a URDF."""

    kind: Literal["file"] = Field(description="A body from a file.")
    file: str = Field(min_length=1, description="MJCF or URDF file, relative to the file that names it.")
    left: tuple[str, ...] = Field(min_length=1, description="Joints that turn the left wheels.")
    right: tuple[str, ...] = Field(min_length=1, description="Joints that turn the right wheels.")
    wheel_radius_m: float = Field(gt=0, description="Radius of the wheels [m].")
    half_track_m: float = Field(gt=0, description="Half the distance between left and right wheels [m].")

    @field_validator("file")
    @classmethod
    def _beside(cls, file: str, info: ValidationInfo) -> str:
        return str(Path((info.context or {}).get("folder", "."), file))


Chassis = Annotated[WheeledChassis | FlyingChassis | FileChassis, Field(discriminator="kind")]
"""Field type of a chassis in a file; ``kind`` selects the record."""


def skid_width_factor(axles_m: Sequence[float], half_track_m: float) -> float:
    """Return the ratio of effective to true track width of a skid-steer robot that turns on the spot.

    While it turns at w with its sides at -+ s, the contact patch of a wheel at (x, b) slips by w b - s along and w x
    across. Under Coulomb friction and equal loads, s makes the moment vanish: the sum of (w x² + b (w b - s)) / slip
    over the wheels of a side. The factor is s / (w b). For two axles it is 1 + (x / b)².

    Args:
        axles_m: positions of the axles ahead of the middle [m].
        half_track_m: b, distance of the wheels from the middle [m].

    References:
        A. Mandow, J. L. Martínez, J. Morales, J. L. Blanco, A. García-Cerezo, J. González: Experimental kinematics for
        wheeled skid-steer mobile robots. IROS 2007 (the symmetric model with one such factor, measured there).

    Examples:
        >>> round(skid_width_factor((0.12, -0.12), 0.12), 9)
        2.0
    """
    x, b = np.asarray(axles_m, float), half_track_m

    def moment(factor: float) -> float:
        along = b - factor * b
        return float(np.sum((x**2 + b * along) / np.hypot(along, x)))

    return optimize.brentq(moment, 1.0 + 1e-9, 2.0 + 2.0 * float(np.max(x**2)) / b**2)  # pyright: ignore


def track_wheels(count: int, length_m: float, half_track_m: float, radius_m: float, width_m: float, mass_kg: float):
    """Return the wheels of two tracks: ``count`` a side, with their middles evenly spaced over ``length_m`` [m].

    Args:
        half_track_m: distance of each track from the middle [m].
        radius_m, width_m: radius and width of each wheel [m].
        mass_kg: mass of one track [kg].
    """
    places = [length_m * (k / (count - 1) - 0.5) for k in range(count)]
    return tuple(
        Wheel(x_m=x, y_m=side * half_track_m, radius_m=radius_m, width_m=width_m, mass_kg=mass_kg / count, tyre="flat")
        for side in (1, -1)
        for x in places
    )


def plain_chassis(inscribed_m: float, half_track_m: float) -> WheeledChassis:
    """Return a chassis for a robot without one: two wheels beside the middle, a caster in front and one behind.

    The mass is 250 kg/m2 times the square of the radius; the torque per mass and metre is that of a Pioneer.

    Args:
        inscribed_m: radius of the largest disc inside the body [m].
        half_track_m: half the distance between the wheels [m]; 0: 0.7 of that radius.
    """
    r = inscribed_m
    half, mass, radius = half_track_m or 0.7 * r, 250.0 * r * r, 0.35 * r
    wheels = tuple(Wheel(x_m=0.0, y_m=y, radius_m=radius, width_m=0.2 * r, mass_kg=0.1 * mass) for y in (half, -half))
    return WheeledChassis(
        box_m=(1.2 * r, 1.2 * r, 0.5 * r),
        box_at_m=(0.0, 0.0, 0.6 * r),
        mass_kg=0.8 * mass,
        wheels=wheels,
        casters=tuple(Caster(x_m=x, radius_m=0.15 * r) for x in (0.8 * r, -0.8 * r)),
        max_torque_n_m=4.0 * mass * radius,
    )
