"""Starts of robots as users declare them: one record per kind, selected by its key."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from covey.records import Record, given

Point = tuple[float, float]


class Line(Record):
    """A row of poses."""

    from_: Point = Field(alias="from", description="x, y of the first robot [m].")
    step: Point = Field(description="x, y of the step from each robot to the next [m].")
    heading_deg: float = Field(default=0.0, description="Heading of all robots [deg], 0 is east, counter-clockwise.")

    model_config = Record.model_config | {"populate_by_name": True, "serialize_by_alias": True}


class LineStart(Record):
    """Robots in a row."""

    line: Line = Field(description="A row of robots.")


class Together(Record):
    """A flock around a point."""

    around: Point | Literal["random"] | None = Field(
        default=None, description="x, y [m], or random: anywhere; null: the most open place of the world."
    )
    gap_m: float = Field(default=0.1, ge=0, le=100, description="Free space between two robots [m].")
    heading_deg: float = Field(default=0.0, description="Heading of all robots [deg], 0 is east, counter-clockwise.")


class TogetherStart(Record):
    """Robots side by side, filling the free cells around a point outwards."""

    together: Together = Field(description="Robots side by side.")


class RoomStart(Record):
    """Robots side by side in a room."""

    room: Annotated[str, Field(pattern="^largest$")] = Field(description="The room: largest.")
    order: Literal["outwards", "x_then_y"] = Field(
        default="outwards",
        description="outwards from its most open place, or x_then_y: from its west side, northwards.",
    )
    gap_m: float = Field(default=0.1, ge=0, le=100, description="Free space between two robots [m].")
    heading_deg: float = Field(default=0.0, description="Heading of all robots [deg], 0 is east, counter-clockwise.")


class Spread(Record):
    """Far from each other."""

    gap_m: float = Field(default=0.1, ge=0, le=100, description="Free space between two robots [m].")
    heading_deg: float | None = Field(default=None, description="Heading of all robots [deg]; null: random headings.")


class SpreadStart(Record):
    """Robots as far from each other as the world allows, from a random first one."""

    spread: Spread = Field(description="Robots as far apart as possible.")


class Apart(Record):
    """Anywhere."""

    gap_m: float = Field(default=0.1, ge=0, le=100, description="Smallest free space between two robots [m].")
    heading_deg: float | None = Field(default=None, description="Heading of all robots [deg]; null: random headings.")


class ApartStart(Record):
    """Robots at random places, each as likely as any other."""

    apart: Apart = Field(description="The places.")


class HallwayEnds(Record):
    """Where halls end."""

    gap_m: float = Field(default=0.1, ge=0, le=100, description="Free space between two robots [m].")
    heading_deg: float = Field(default=0.0, description="Heading of all robots [deg], 0 is east, counter-clockwise.")


class HallwayEndsStart(Record):
    """Robots in the halls of a generated building, those places first that are nearest to the edge of the world."""

    hallway_ends: HallwayEnds = Field(description="The places.")


Poses = list[tuple[float, float, float]]


_KEYS = ("line", "together", "spread", "apart", "room", "hallway_ends")


def _kind(value: Any) -> str | None:
    if isinstance(value, list | tuple):
        return "poses"
    return next((key for key in _KEYS if key in given(value)), None)


Start = Annotated[
    Annotated[Poses, Tag("poses")]
    | Annotated[LineStart, Tag("line")]
    | Annotated[TogetherStart, Tag("together")]
    | Annotated[SpreadStart, Tag("spread")]
    | Annotated[ApartStart, Tag("apart")]
    | Annotated[RoomStart, Tag("room")]
    | Annotated[HallwayEndsStart, Tag("hallway_ends")],
    Discriminator(
        _kind,
        custom_error_type="start_kind",
        custom_error_message="a start is a list of [x, y, heading_deg], or one of {line: {from, step}}, "
        "{together: {around}}, {spread: {}}, {apart: {}}, {room: largest}, {hallway_ends: {}}",
    ),
]
"""Any start that a scenario can declare."""
