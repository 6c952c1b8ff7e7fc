"""Worlds as users declare them: one record per kind, told apart by the key that only it has."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from covey.records import Record
from covey.world.world import Border, World

Metres = Annotated[float, Field(gt=0, le=100_000)]
Resolution = Annotated[float, Field(ge=0.001, le=100, description="Side of a grid cell [m].")]
WallHeight = Annotated[float, Field(gt=0, le=1000, description="Height of the walls [m].")]
Point = tuple[float, float]


def _simple_polygon(vertices: list[Point]) -> list[Point]:
    from covey.world.shapes import polygon

    polygon(vertices)
    return vertices


SimplePolygon = Annotated[list[Point], Field(min_length=3), AfterValidator(_simple_polygon)]


class TerrainWorld(Record):
    """One of the four terrains on which exploration is compared."""

    terrain: Literal["loop", "cross", "zigzag", "maze"] = Field(description="Which terrain.")
    size_m: Metres = Field(
        default=80.0, description="Side of the terrain [m]; a maze has 10 roads, a zigzag a whole number."
    )
    road_m: Metres = Field(default=8.0, description="Width of the roads, the pitch of the lattice [m].")
    wall_m: Metres = Field(default=0.2, description="Thickness of the walls [m], centred on the lines of the lattice.")
    resolution_m: Resolution = 0.1
    wall_height_m: WallHeight = 2.0

    def build(self, folder: Path, seed: int) -> World:
        """Return the world."""
        options = self.model_dump(exclude={"terrain", "wall_height_m"})
        return World.terrain(self.terrain, **options).replace(wall_height_m=self.wall_height_m)


class FileWorld(Record):
    """A ROS map (YAML with its image), or a bare PGM or PNG."""

    file: str = Field(min_length=1, description="Path of the file, relative to the file that names it.")
    resolution_m: Annotated[float, Field(ge=0.001, le=100)] | None = Field(
        default=None, description="Side of a pixel [m]; for a bare image only."
    )
    wall_below: Annotated[float, Field(ge=0, le=256)] | None = Field(
        default=None,
        description="For a bare image: gray values (0 to 255) below this are walls; without it only black ones.",
    )
    bare_thresholds: bool = Field(
        default=False, description="For a ROS map: take gray 205 by the thresholds alone, not as unknown."
    )
    border: Border | None = Field(default=None, description="wall or open; without it what the file says, else wall.")
    wall_height_m: WallHeight | None = Field(default=None, description="Height of the walls [m]; without it 2 m.")

    def build(self, folder: Path, seed: int) -> World:
        """Return the world; the path is relative to ``folder``."""
        options = self.model_dump(exclude={"file"})
        return World.from_file(folder / self.file, **options)


class EmptyWorld(Record):
    """An empty rectangle, centred on the origin."""

    empty_m: tuple[Metres, Metres] = Field(description="Width and height [m].")
    border: Border = Field(default="wall", description="wall, or open: robots may leave, which is an event.")
    resolution_m: Resolution = 0.05
    wall_height_m: WallHeight = 2.0

    def build(self, folder: Path, seed: int) -> World:
        """Return the world."""
        world = World.empty(*self.empty_m, self.resolution_m, self.border)
        return world.replace(wall_height_m=self.wall_height_m)


class WorkspaceWorld(Record):
    """A polygon with obstacles and thin walls in it."""

    workspace_m: SimplePolygon = Field(description="Vertices [x, y] of the workspace [m], any simple polygon.")
    obstacles_m: list[SimplePolygon] = Field([], description="Vertices [x, y] of each obstacle [m].")
    walls_m: list[Annotated[list[Point], Field(min_length=2)]] = Field(
        [], description="Points [x, y] along each wall [m]."
    )
    wall_m: Metres = Field(default=0.1, description="Thickness of these walls [m].")
    border: Border = Field(default="wall", description="wall, or open: robots may leave, which is an event.")
    resolution_m: Resolution = 0.05
    wall_height_m: WallHeight = 2.0

    def build(self, folder: Path, seed: int) -> World:
        """Return the world."""
        options = self.model_dump(exclude={"workspace_m", "wall_height_m"})
        return World.polygons(self.workspace_m, **options).replace(wall_height_m=self.wall_height_m)


class GeneratedMaze(Record):
    """A random maze of thin walls."""

    generate: Literal["maze"]
    size_m: tuple[Metres, Metres] = Field((30.0, 30.0), description="Width and height [m], multiples of road_m.")
    road_m: Metres = Field(default=2.0, description="Pitch of the cells of the maze [m].")
    wall_m: Metres = Field(default=0.2, description="Thickness of the walls [m].")
    opening: float = Field(
        default=0.0, ge=0, le=1, description="Probability that a cell loses its four walls; 0: perfect."
    )
    resolution_m: Resolution = 0.1
    wall_height_m: WallHeight = 2.0
    seed: int | None = Field(default=None, description="Seed of the maze; without it the seed of the run.")

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return _generated(self, World.maze, seed)


class GeneratedOffice(Record):
    """A random office floor with corridors, rooms, doors, desks and pillars."""

    generate: Literal["office"]
    size_m: tuple[Metres, Metres] = Field((30.0, 15.0), description="Width and height [m].")
    corridor_m: Metres = Field(default=2.0, description="Width of the corridors [m].")
    room_m: tuple[Metres, Metres] = Field((3.5, 6.5), description="Least and largest width of a room [m].")
    door_m: Metres = Field(default=1.0, description="Width of the doors [m].")
    wall_m: Metres = Field(default=0.2, description="Thickness of the walls [m].")
    furniture: bool = Field(default=True, description="Whether rooms have desks and pillars.")
    resolution_m: Resolution = 0.05
    wall_height_m: WallHeight = 2.0
    seed: int | None = Field(default=None, description="Seed of the floor; without it the seed of the run.")

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return _generated(self, World.office, seed)


def _generated(record: Any, generate: Any, seed: int) -> World:
    options = record.model_dump(exclude={"generate", "wall_height_m", "seed"})
    world = generate(**options, seed=seed if record.seed is None else record.seed)
    return world.replace(wall_height_m=record.wall_height_m)


def _kind(value: Any) -> str | None:
    keys: dict[str, Any] = value if isinstance(value, dict) else vars(value) if isinstance(value, Record) else {}
    for key in ("terrain", "file", "empty_m", "workspace_m"):
        if key in keys:
            return key
    name = keys.get("generate")
    return f"generate: {name}" if name in ("maze", "office") else None


WorldRecord = Annotated[
    Annotated[TerrainWorld, Tag("terrain")]
    | Annotated[FileWorld, Tag("file")]
    | Annotated[EmptyWorld, Tag("empty_m")]
    | Annotated[WorkspaceWorld, Tag("workspace_m")]
    | Annotated[GeneratedMaze, Tag("generate: maze")]
    | Annotated[GeneratedOffice, Tag("generate: office")],
    Discriminator(
        _kind,
        custom_error_type="world_kind",
        custom_error_message="a world is one of {terrain: loop, cross, zigzag or maze}, {file: …}, {empty_m: [w, h]}, "
        "{workspace_m: […]}, {generate: maze or office}",
    ),
]
"""Any world that a scenario can declare; each kind has ``build(folder, seed) -> World``."""
