"""Edits of a ground as users declare them: one record per kind, selected by its key."""

from typing import Annotated, Any

from pydantic import Field, model_validator

from covey.records import Record
from covey.world.editing import ground_edits
from covey.world.ground import GroundEdit, Heightfield
from covey.world.records.quantities import Metres
from covey.world.records.walls import Point, SimplePolygon

Offset = Annotated[float, Field(ge=-100_000, le=100_000)]


class _Place(Record):
    """A part of the ground: vertices by point, box, polygon or disc."""

    point_m: Point | None = Field(default=None, description="x, y [m]: changes the nearest vertex.")
    box_m: tuple[float, float, float, float] | None = Field(
        default=None, description="left, bottom, right, top [m]: changes the vertices in this rectangle."
    )
    polygon_m: SimplePolygon | None = Field(
        default=None, description="Vertices [x, y] of a polygon [m]: changes what lies inside."
    )
    centre_m: Point | None = Field(default=None, description="x, y of the centre of a disc [m], with radius_m.")
    radius_m: Metres | None = Field(default=None, description="Radius of the disc [m].")

    @model_validator(mode="after")
    def _one_place(self) -> "_Place":
        given = [n for n in ("point_m", "box_m", "polygon_m", "centre_m") if getattr(self, n) is not None]
        if len(given) != 1 or (self.centre_m is None) != (self.radius_m is None):
            raise ValueError(
                f"the place is given by {' and '.join(given) or 'nothing'}; give one of point_m, box_m, polygon_m, or "
                "centre_m with radius_m"
            )
        return self

    def _region(self, ground: Heightfield) -> Any:
        return ground_edits.region(ground, **self.model_dump(include=set(_Place.model_fields)))


class SetAltitude(_Place):
    """Vertices get an altitude."""

    to_m: Offset = Field(description="New altitude [m].")

    def edit(self, ground: Heightfield) -> GroundEdit:
        """Return the edit."""
        return ground_edits.set_altitude(ground, self._region(ground), self.to_m)


class ShiftAltitude(_Place):
    """Vertices rise or fall."""

    by_m: Offset = Field(description="Change of the altitude [m]; negative: down.")

    def edit(self, ground: Heightfield) -> GroundEdit:
        """Return the edit."""
        return ground_edits.shift(ground, self._region(ground), self.by_m)


class Crater(Record):
    """A bowl with the shape of a paraboloid."""

    centre_m: Point = Field(description="x, y of its centre [m].")
    depth_m: Metres = Field(default=1.0, description="Depth at the centre [m].")
    radius_m: Metres = Field(default=5.0, description="Radius of its rim [m].")
    ejecta: bool = Field(
        default=False,
        description="Whether the removed ground flies as rocks and stays where they fall; false: it vanishes.",
    )

    def edit(self, ground: Heightfield) -> GroundEdit:
        """Return the edit."""
        return ground_edits.crater(ground, self.centre_m, self.depth_m, self.radius_m, ejecta=self.ejecta)


class Mound(Record):
    """A heap of earth, a crater upside down."""

    centre_m: Point = Field(description="x, y of its centre [m].")
    height_m: Metres = Field(default=1.0, description="Height at the centre [m].")
    radius_m: Metres = Field(default=5.0, description="Radius of its foot [m].")

    def edit(self, ground: Heightfield) -> GroundEdit:
        """Return the edit."""
        return ground_edits.mound(ground, self.centre_m, self.height_m, self.radius_m)


class _Strip(Record):
    """Along a straight line."""

    from_: Point = Field(alias="from", description="x, y of one end [m].")
    to: Point = Field(description="x, y of the other end [m].")
    width_m: Metres = Field(default=1.0, description="Width [m].")

    model_config = Record.model_config | {"populate_by_name": True, "serialize_by_alias": True}

    @model_validator(mode="after")
    def _has_length(self) -> "_Strip":
        if self.from_ == self.to:
            raise ValueError(f"from and to are both {list(self.to)}; they must be two different points")
        return self


class Trench(_Strip):
    """A ditch along a straight line."""

    depth_m: Metres = Field(default=1.0, description="Depth below the previous ground [m].")

    def edit(self, ground: Heightfield) -> GroundEdit:
        """Return the edit."""
        return ground_edits.trench(ground, self.from_, self.to, self.width_m, self.depth_m)


class Bank(_Strip):
    """A wall of earth along a straight line."""

    height_m: Metres = Field(default=1.0, description="Height above the previous ground [m].")

    def edit(self, ground: Heightfield) -> GroundEdit:
        """Return the edit."""
        return ground_edits.bank(ground, self.from_, self.to, self.width_m, self.height_m)


GROUND_EDITS: dict[str, Any] = {
    "altitude": SetAltitude,
    "shift": ShiftAltitude,
    "crater": Crater,
    "mound": Mound,
    "trench": Trench,
    "bank": Bank,
}
"""The record of each key."""
