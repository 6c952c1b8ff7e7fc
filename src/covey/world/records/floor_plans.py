"""Floor plans as users declare them: DXF and SVG drawings as worlds."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from covey.plain_files import beside
from covey.records import Record
from covey.world.materials import Material, made_of
from covey.world.records.quantities import Metres, Resolution, WallHeight
from covey.world.records.world_record import WallsRecord
from covey.world.world import Border, World

Point = tuple[float, float]
Unit = Literal["mm", "cm", "m", "in", "ft"]
LayerName = Annotated[str, Field(min_length=1)]


class KnownLength(Record):
    """A length in a drawing that is known in metres: between two points, or the longest line of a layer."""

    from_: Point | None = Field(default=None, alias="from", description="x, y of its start, as in the drawing.")
    to: Point | None = Field(default=None, description="x, y of its end, as in the drawing.")
    layer: str | None = Field(default=None, description="Instead of two points: a layer; its longest line is known.")
    length_m: Metres = Field(description="The length in reality [m].")

    model_config = Record.model_config | {"populate_by_name": True, "serialize_by_alias": True}

    @model_validator(mode="after")
    def _one_way(self) -> "KnownLength":
        points = self.from_ is not None and self.to is not None and self.layer is None
        if not points and not (self.layer is not None and self.from_ is None and self.to is None):
            raise ValueError("write {from: [x, y], to: [x, y], length_m: …} or {layer: NAME, length_m: …}")
        if points and self.from_ == self.to:
            raise ValueError(f"from and to are both {list(self.from_ or ())}; give two different points")
        return self


class FloorPlanWorld(WallsRecord):
    """A floor plan: a drawing, DXF or SVG."""

    form: ClassVar[str] = "{file: .yaml, .pgm, .png, .dxf or .svg}"
    file: str = Field(min_length=1, description="Path of the .dxf or .svg, relative to the file that names it.")
    layers: list[LayerName] | None = Field(
        default=None, description="Layers to read; * stands for any letters; null: all that are shown."
    )
    without_layers: list[LayerName] = Field([], description="Layers to leave out, such as doors and furniture.")
    units: Unit | None = Field(default=None, description="Unit of the drawing; null: as the file says.")
    scale: KnownLength | None = Field(default=None, description="Instead of units: a length that is known.")
    origin: Point | None = Field(
        default=None,
        description="x, y in the drawing of the point at (0, 0) of the world; null: that of a DXF, or the lower left "
        "corner of the page of an SVG.",
    )
    wall_m: Metres = Field(default=0.1, description="Thickness of the walls [m], centred on the lines.")
    fill_m: Annotated[float, Field(ge=0, le=100)] = Field(
        default=0.5, description="Closed spaces narrower than this [m] are the inside of walls."
    )
    close_m: Annotated[float, Field(ge=0, le=100)] = Field(
        default=1.5,
        description="Openings of the outer wall up to this width [m] are closed, and what lies outside is no part of "
        "the world; 0: it is.",
    )
    border: Border = Field(default="wall", description="wall, or open: robots can leave the plan, which is an event.")
    resolution_m: Resolution = 0.05
    wall_height_m: WallHeight = 2.0
    material: Material | None = Field(default=None, description="Material of all walls; null: none.")

    def build(self, folder: Path, seed: int) -> World:
        """Return the world; the path is relative to ``folder``."""
        return made_of(World.from_file(beside(folder, self.file), **self.options()), self.material)

    def options(self) -> dict[str, Any]:
        """Return the options of `covey.world.io.floor_plans.read_floor_plan`."""
        return {name: getattr(self, name) for name in type(self).model_fields if name not in ("file", "material")}
