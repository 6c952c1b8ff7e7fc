"""Targets as users declare them: one by one, or drawn."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from covey.errors import nearest
from covey.named import ByKey
from covey.records import WORD
from covey.registry import Registry

Point = tuple[float, float]
Kind = Annotated[str, Field(pattern=WORD, max_length=50)]
MAX_TARGETS = 10_000
_Size = Annotated[float, Field(ge=0.01, le=10, description="Width and height of the target [m].")]
_Height = Annotated[float, Field(ge=0, le=100, description="Height of its middle above the floor [m].")]
_On = Annotated[
    Literal["wall", "floor"],
    Field(description="wall: on a face of a wall; floor: free-standing. It stops no robot and no ray."),
]
_Side = Annotated[
    float | None,
    Field(
        ge=-360,
        le=360,
        description="Direction [deg] out of the side that it shows, 0 is east, counter-clockwise; null: on a wall that "
        "of the nearest face, on the floor all sides.",
    ),
]


targets: Registry[type["TargetRecord"]] = Registry("target", shelf="covey.world.records.targets")
"""Kinds of declarations of targets; packages add theirs under the entry-point group ``covey.target``."""


class TargetRecord(ByKey):
    """Base of what declares targets; a subclass from elsewhere overrides `placed`."""

    registry = targets

    def placed(self, world: Any, random: np.random.Generator) -> "Sequence[PlacedTarget]":
        """Return the targets that it stands for; that a robot can see them is checked later.

        Args:
            world: the truth, a `covey.world.world.World`; all its doors count as open.
            random: its random numbers, the same in every run with this seed.
        """
        raise NotImplementedError(f"{type(self).__name__} lacks placed: write def placed(self, world, random)")

    @classmethod
    def key_in(cls, value: dict[str, Any]) -> str | None:
        """Return ``draw`` or ``at``, by the keys or the nearest ones; ``kind`` is that of the target."""
        if ".py:" in str(value.get("kind", "")):
            return None
        if "draw" in value or "at" in value or "kind" in value:
            return "draw" if "draw" in value else "at"
        own = DrawnTargets.model_fields.keys() - PlacedTarget.model_fields.keys()
        return super().key_in(value) or ("draw" if any(nearest(str(key), own) for key in value) else "at")


@targets.register("at")
class PlacedTarget(TargetRecord):
    """A target at a given place."""

    form: ClassVar[str] = "{kind, at}"

    kind: Kind = Field(description="victim, small_fire, big_fire, or a word of your own.")
    identity: int | None = Field(
        default=None, ge=0, le=10**9, description="Its number, for reports; null: the smallest that is free."
    )
    at: Point = Field(description="x, y [m]; on a wall it moves to the nearest face within 0.5 m.")
    on: _On = "wall"
    side_deg: _Side = None
    height_m: _Height = 0.25
    size_m: _Size = 0.5
    allow_unseeable: bool = Field(
        default=False, description="Accept it where no robot can see it within 2 m and 60° from its normal."
    )


@targets.register("draw")
class DrawnTargets(TargetRecord):
    """Targets at random places that a robot can see from somewhere it can stand."""

    form: ClassVar[str] = "{draw, count}"

    draw: Kind = Field(description="Kind of the targets: victim, small_fire, big_fire, or a word of your own.")
    count: int = Field(default=1, ge=1, le=MAX_TARGETS, description="Number of targets.")
    first_identity: int | None = Field(
        default=None,
        ge=0,
        le=10**9,
        description="Number of the first, the others follow; null: the smallest free.",
    )
    on: _On = "wall"
    side_deg: _Side = None
    height_m: _Height = 0.25
    size_m: _Size = 0.5
    gap_m: float = Field(default=0.5, ge=0, le=1000, description="Smallest distance to other targets [m].")
    away_m: float = Field(default=0.0, ge=0, le=10_000, description="Smallest distance to the starts of robots [m].")
    box_m: tuple[float, float, float, float] | None = Field(
        default=None, description="West, south, east and north edge [m] of their area; null: anywhere."
    )

    @field_validator("box_m")
    @classmethod
    def _has_an_area(cls, box_m: tuple[float, float, float, float] | None) -> tuple[float, float, float, float] | None:
        west, south, east, north = box_m or (0.0, 0.0, 1.0, 1.0)
        if west >= east:
            raise ValueError(f"the west edge, {west:g}, is not west of the east edge, {east:g}; {_BOX}")
        if south >= north:
            raise ValueError(f"the south edge, {south:g}, is not south of the north edge, {north:g}; {_BOX}")
        return box_m


_BOX = "write [west, south, east, north]"
