"""Worlds of walls as users declare them: one record per kind, selected by its key."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from covey.plain_files import beside
from covey.world.materials import Material, made_of
from covey.world.records.floor_plans import FloorPlanWorld
from covey.world.records.quantities import Metres, Resolution, WallHeight, WallMaterial
from covey.world.records.world_record import WallsRecord
from covey.world.world import Border, World

Point = tuple[float, float]


def _simple_polygon(vertices: list[Point]) -> list[Point]:
    from covey.world.editing.shapes import polygon

    polygon(vertices)
    return vertices


SimplePolygon = Annotated[list[Point], Field(min_length=3), AfterValidator(_simple_polygon)]


class TerrainWorld(WallsRecord):
    """One of the four terrains on which exploration is compared."""

    form: ClassVar[str] = "{terrain: loop, cross, zigzag or maze}"
    terrain: Literal["loop", "cross", "zigzag", "maze"] = Field(description="Name of the terrain.")
    size_m: Metres = Field(
        default=80.0, description="Side of the terrain [m]; a maze has 10 roads, a zigzag a whole number."
    )
    road_m: Metres = Field(default=8.0, description="Width of the roads, the pitch of the lattice [m].")
    wall_m: Metres = Field(default=0.2, description="Thickness of the walls [m], centred on the lines of the lattice.")
    resolution_m: Resolution = 0.1
    wall_height_m: WallHeight = 2.0
    material: WallMaterial = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world."""
        options = self.model_dump(exclude={"terrain", "wall_height_m", "material"})
        world = World.terrain(self.terrain, **options).replace(wall_height_m=self.wall_height_m)
        return made_of(world, self.material)


class FileWorld(WallsRecord):
    """A ROS map (YAML with its image), or a bare PGM or PNG."""

    form: ClassVar[str] = FloorPlanWorld.form
    file: str = Field(min_length=1, description="Path of the file, relative to the file that names it.")
    resolution_m: Annotated[float, Field(ge=0.001, le=100)] | None = Field(
        default=None, description="Side of a pixel [m]; only for a bare image."
    )
    wall_below: Annotated[float, Field(ge=0, le=256)] | None = Field(
        default=None,
        description="For a bare image: gray values (0 to 255) below this are walls; null: only black is wall.",
    )
    bare_thresholds: bool = Field(
        default=False,
        description="For a ROS map: judge gray 205 by the thresholds like any other value; false: it means unknown.",
    )
    border: Border | None = Field(default=None, description="wall or open; null: as the file says, else wall.")
    wall_height_m: WallHeight | None = Field(
        default=None, description="Height of the walls [m]; null: as the file says, else 2 m."
    )
    material: Material | None = Field(default=None, description="Material of all walls; null: as the file says.")

    def build(self, folder: Path, seed: int) -> World:
        """Return the world; the path is relative to ``folder``."""
        options = self.model_dump(exclude={"file", "material"})
        return made_of(World.from_file(beside(folder, self.file), **options), self.material)


class EmptyWorld(WallsRecord):
    """An empty rectangle, centred on the origin."""

    form: ClassVar[str] = "{empty_m: [w, h]}"
    empty_m: tuple[Metres, Metres] = Field(description="Width and height [m].")
    border: Border = Field(default="wall", description="wall, or open: robots can leave the world, which is an event.")
    resolution_m: Resolution = 0.05
    wall_height_m: WallHeight = 2.0
    material: WallMaterial = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world."""
        world = World.empty(*self.empty_m, self.resolution_m, self.border)
        return made_of(world.replace(wall_height_m=self.wall_height_m), self.material)


class WorkspaceWorld(WallsRecord):
    """A polygon with obstacles and thin walls in it."""

    form: ClassVar[str] = "{workspace_m: […]}"
    workspace_m: SimplePolygon = Field(description="Vertices [x, y] of the workspace [m], any simple polygon.")
    obstacles_m: list[SimplePolygon] = Field([], description="Vertices [x, y] of each obstacle [m].")
    walls_m: list[Annotated[list[Point], Field(min_length=2)]] = Field(
        [], description="Points [x, y] along each wall [m]."
    )
    wall_m: Metres = Field(default=0.1, description="Thickness of these walls [m].")
    border: Border = Field(default="wall", description="wall, or open: robots can leave the world, which is an event.")
    resolution_m: Resolution = 0.05
    wall_height_m: WallHeight = 2.0
    material: WallMaterial = None
    obstacle_materials: list[Material] = Field([], description="Material of each obstacle; empty: `material`.")
    wall_materials: list[Material] = Field([], description="Material of each wall; empty: `material`.")

    def build(self, folder: Path, seed: int) -> World:
        """Return the world."""
        options = self.model_dump(exclude={"workspace_m", "wall_height_m"})
        return World.polygons(self.workspace_m, **options).replace(wall_height_m=self.wall_height_m)
