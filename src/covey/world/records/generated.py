"""Generated worlds as users declare them: one record per generator."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from covey.world.materials import AnyMaterial
from covey.world.records.quantities import DrawnMaterial, Metres, OwnSeed, Resolution, Share, WallHeight
from covey.world.records.world_record import WallsRecord
from covey.world.world import World

GENERATED = ("maze", "office", "cave", "building", "rooms", "rubble", "rescue")
"""Generators of worlds with walls, the values of ``generate:``."""
_FORM = f"{{generate: {', '.join(GENERATED[:-1])} or {GENERATED[-1]}}}"


class GeneratedMaze(WallsRecord):
    """A random maze of thin walls."""

    form: ClassVar[str] = _FORM
    generate: Literal["maze"]
    size_m: tuple[Metres, Metres] = Field((30.0, 30.0), description="Width and height [m], multiples of road_m.")
    road_m: Metres = Field(default=2.0, description="Pitch of the cells of the maze [m].")
    wall_m: Metres = Field(default=0.2, description="Thickness of the walls [m].")
    opening: float = Field(
        default=0.0, ge=0, le=1, description="Probability that a cell loses its four walls; 0: a perfect maze."
    )
    resolution_m: Resolution = 0.1
    wall_height_m: WallHeight = 2.0
    material: DrawnMaterial = None
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return _generated(self, World.maze, seed)


class GeneratedOffice(WallsRecord):
    """A random office floor with corridors, rooms, doors, desks and pillars."""

    form: ClassVar[str] = _FORM
    generate: Literal["office"]
    size_m: tuple[Metres, Metres] = Field((30.0, 15.0), description="Width and height [m].")
    corridor_m: Metres = Field(default=2.0, description="Width of the corridors [m].")
    room_m: tuple[Metres, Metres] = Field((3.5, 6.5), description="Smallest and largest width of a room [m].")
    door_m: Metres = Field(default=1.0, description="Width of the doors [m].")
    wall_m: Metres = Field(default=0.2, description="Thickness of the walls [m].")
    furniture: bool = Field(default=True, description="Whether rooms have desks and pillars.")
    resolution_m: Resolution = 0.05
    wall_height_m: WallHeight = 2.0
    material: DrawnMaterial = None
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return _generated(self, World.office, seed)


class GeneratedCave(WallsRecord):
    """A cave, grown by a cellular automaton; the defaults are those of MAES 2.0."""

    form: ClassVar[str] = _FORM
    generate: Literal["cave"]
    size_m: tuple[Metres, Metres] = Field((50.0, 50.0), description="Width and height [m], multiples of tile_m.")
    tile_m: Metres = Field(default=1.0, description="Side of a tile of the generator [m].")
    fill: Share = Field(default=0.45, description="Probability that a tile is wall at first.")
    smoothing_runs: int = Field(default=4, ge=0, le=100, description="Number of runs of the cellular automaton.")
    neighbour_walls: int = Field(
        default=4,
        ge=0,
        le=8,
        description=(
            "A tile with more wall tiles than this among its 8 neighbours becomes wall, with fewer it becomes free."
        ),
    )
    min_wall_m2: float = Field(default=10.0, ge=0, description="Walls of a smaller area [m²] become free.")
    min_room_m2: float = Field(default=10.0, ge=0, description="Rooms of a smaller area [m²] become wall.")
    connection_m: float = Field(
        default=4.0, ge=0, le=100_000, description="Radius of the discs that connect rooms [m]."
    )
    border_m: Metres = Field(default=2.0, description="Thickness of the wall all around [m].")
    passage_m: Metres = Field(default=2.0, description="Width of the narrowest passage [m], rounded up to tiles.")
    rounded: bool = Field(default=True, description="Whether corners are cut at 45 degrees; false: walls are squares.")
    resolution_m: Resolution = 0.25
    wall_height_m: WallHeight = 2.0
    material: Annotated[
        AnyMaterial | None,
        Field(description="Material of the walls; random: patches of random materials; null: none."),
    ] = None
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return _generated(self, World.cave, seed)


class GeneratedBuilding(WallsRecord):
    """A building of halls, rooms and doors; the defaults are those of MAES 2.0."""

    form: ClassVar[str] = _FORM
    generate: Literal["building"]
    size_m: tuple[Metres, Metres] = Field((50.0, 50.0), description="Width and height [m], multiples of tile_m.")
    tile_m: Metres = Field(default=1.0, description="All lengths of the building are multiples of this [m].")
    hall_share: Share = Field(default=0.2, description="Share of the area that halls take.")
    hall_m: Metres = Field(default=4.0, description="Width of the halls [m].")
    min_room_m: Metres = Field(default=6.0, description="The sides of all rooms are longer than this [m].")
    door_m: Metres = Field(default=2.0, description="Width of the doors, the narrowest passages [m].")
    door_padding_m: float = Field(default=2.0, ge=0, description="Smallest length of wall beside a door [m].")
    room_split: Share = Field(default=0.85, description="Probability that a part of an area is split again.")
    wall_m: Metres = Field(default=1.0, description="Thickness of the walls [m].")
    border_m: float = Field(default=1.0, ge=0, le=100_000, description="Additional thickness of the outer walls [m].")
    resolution_m: Resolution = 0.25
    wall_height_m: WallHeight = 2.0
    material: DrawnMaterial = None
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return _generated(self, World.building, seed)


class GeneratedRooms(WallsRecord):
    """A grid of equal rooms with doors."""

    form: ClassVar[str] = _FORM
    generate: Literal["rooms"]
    size_m: tuple[Metres, Metres] = Field((30.0, 30.0), description="Width and height [m], multiples of room_m.")
    room_m: Metres = Field(default=6.0, description="Pitch of the rooms [m].")
    door_m: Metres = Field(default=1.0, description="Width of the doors, the narrowest passages [m].")
    extra_doors: Share = Field(
        default=0.3, description="Probability of a door between two neighbouring rooms that need none."
    )
    wall_m: Metres = Field(default=0.2, description="Thickness of the walls [m].")
    resolution_m: Resolution = 0.1
    wall_height_m: WallHeight = 2.0
    material: DrawnMaterial = None
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return _generated(self, World.rooms, seed)


class GeneratedRubble(WallsRecord):
    """A field of blocks of random shapes."""

    form: ClassVar[str] = _FORM
    generate: Literal["rubble"]
    size_m: tuple[Metres, Metres] = Field((30.0, 30.0), description="Width and height [m] within the wall.")
    density: float = Field(default=0.15, ge=0, lt=1, description="Share of the field that blocks cover.")
    block_m: tuple[Metres, Metres] = Field((0.5, 2.0), description="Smallest and largest width of a block [m].")
    passage_m: Metres = Field(default=1.0, description="Width of the narrowest passage [m].")
    resolution_m: Resolution = 0.1
    wall_height_m: WallHeight = 2.0
    material: Annotated[
        AnyMaterial | None,
        Field(description="Material of the walls and blocks; random: a random one for each block; null: none."),
    ] = None
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return _generated(self, World.rubble, seed)


class GeneratedRescue(WallsRecord):
    """A floor for rescue: a start room around the origin, in a building of few straight walls."""

    form: ClassVar[str] = _FORM
    generate: Literal["rescue"]
    resolution_m: Annotated[float, Field(ge=0.001, le=0.1, description="Side of a grid cell [m].")] = 0.05
    wall_height_m: WallHeight = 2.5
    material: DrawnMaterial = None
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return _generated(self, World.rescue, seed)


def _generated(record: Any, generate: Any, seed: int) -> World:
    options = record.model_dump(exclude={"generate", "wall_height_m", "seed"})
    world = generate(**options, seed=seed if record.seed is None else record.seed)
    return world.replace(wall_height_m=record.wall_height_m)
