"""Landscapes as users declare them, and any world that a scenario can have: walls, a ground, or both."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from covey.plain_files import beside
from covey.world.ground import Ground
from covey.world.records import generated, walls
from covey.world.records.floor_plans import FloorPlanWorld
from covey.world.records.named import NamedWorld
from covey.world.records.quantities import Metres, OwnSeed, Resolution, Share
from covey.world.records.world_record import WallsRecord, WorldRecord, worlds
from covey.world.world import World

GENERATED_GROUNDS = ("hills", "ridges", "boulders", "flat")
"""Generators of landscapes, further values of ``generate:``."""
_FORM = f"{{generate: {', '.join(GENERATED_GROUNDS[:-1])} or {GENERATED_GROUNDS[-1]}}}"

Spacing = Annotated[Resolution, Field(description="Distance between neighbouring vertices of the ground [m].")]
Size = tuple[Metres, Metres]


class _Landscape(WorldRecord):
    """A ground with optional walls on it."""

    range_m: tuple[float, float] | None = Field(
        default=None,
        description="Lowest and highest altitude that the ground may ever have [m]; null: 10 m beyond its own.",
    )
    walls: WallsRecord | None = Field(
        default=None, description="Walls on the ground: a world of walls, with its fields."
    )

    def _world(self, ground: Ground, folder: Path, seed: int) -> World:
        return ground.world(None if self.walls is None else self.walls.build(folder, seed))


class HeightMapWorld(_Landscape):
    """A landscape from a file."""

    form: ClassVar[str] = "{height_map: …}"
    height_map: str = Field(
        min_length=1, description="Path of a .png, .pgm, .npy, .npz, .asc or .tif, relative to the file that names it."
    )
    spacing_m: Spacing | None = Field(
        default=None, description="Distance between pixels [m]; null: as the file says, else 1."
    )
    m_per_step: float | None = Field(
        default=None,
        description=(
            "Altitude of one gray level [m]; null: as the file says, else 0.1. For a file of numbers the default is 1."
        ),
    )
    zero_m: float | None = Field(
        default=None, description="Altitude of the value 0 [m]; null: as the file says, else 0."
    )
    resample_m: Spacing | None = Field(
        default=None, description="Spacing to which the surface is resampled [m]; null: not resampled."
    )
    fill_m: float | None = Field(default=None, description="Altitude that fills holes [m]; null: holes are refused.")
    key: str | None = Field(default=None, description="Name of the array in a .npz; needed if the file holds several.")

    def build(self, folder: Path, seed: int) -> World:
        """Return the world; the path is relative to ``folder``."""
        options = self.model_dump(exclude={"height_map", "walls"})
        return self._world(Ground.from_file(beside(folder, self.height_map), **options), folder, seed)


class GeneratedHills(_Landscape):
    """Fractal hills."""

    form: ClassVar[str] = _FORM
    generate: Literal["hills"]
    size_m: Size = Field((259.0, 259.0), description="Width and height [m].")
    spacing_m: Spacing = 1.0
    height_m: Metres = Field(default=8.0, description="Difference between the highest and the lowest vertex [m].")
    roughness: Share = Field(default=0.1, description="0 (smooth) to 1 (rugged).")
    wavelength_m: Metres = Field(default=80.0, description="Approximate distance from one hill to the next [m].")
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return self._world(_generated(self, seed), folder, seed)


class GeneratedRidges(_Landscape):
    """Ridges with passes."""

    form: ClassVar[str] = _FORM
    generate: Literal["ridges"]
    size_m: Size = Field((259.0, 259.0), description="Width and height [m].")
    spacing_m: Spacing = 1.0
    height_m: Metres = Field(default=6.0, description="Difference between the highest and the lowest vertex [m].")
    roughness: Share = Field(default=0.1, description="0 (smooth) to 1 (rugged).")
    wavelength_m: Metres = Field(
        default=100.0, description="Approximately twice the distance from one ridge to the next [m]."
    )
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return self._world(_generated(self, seed), folder, seed)


class GeneratedBoulders(_Landscape):
    """A rolling plain with boulders."""

    form: ClassVar[str] = _FORM
    generate: Literal["boulders"]
    size_m: Size = Field((100.0, 100.0), description="Width and height [m].")
    spacing_m: Spacing = 0.5
    height_m: Metres = Field(
        default=1.0, description="Difference between the highest and the lowest altitude of the plain [m]."
    )
    density: float = Field(default=0.05, ge=0, lt=1, description="Share of the plain that boulders cover.")
    boulder_m: tuple[Metres, Metres] = Field((1.0, 4.0), description="Smallest and largest width of a boulder [m].")
    seed: OwnSeed = None

    def build(self, folder: Path, seed: int) -> World:
        """Return the world that the record's own seed gives, or else ``seed``."""
        return self._world(_generated(self, seed), folder, seed)


class FlatGround(_Landscape):
    """A flat ground, to be changed by events."""

    form: ClassVar[str] = _FORM
    generate: Literal["flat"]
    size_m: Size = Field((100.0, 100.0), description="Width and height [m].")
    spacing_m: Spacing = 1.0
    altitude_m: float = Field(default=0.0, ge=-100_000, le=100_000, description="Altitude of all vertices [m].")

    def build(self, folder: Path, seed: int) -> World:
        """Return the world."""
        from covey.world.generators import grounds

        ground = grounds.flat(**self.model_dump(exclude={"generate", "walls"}))
        return self._world(ground, folder, seed)


def _generated(record: Any, seed: int) -> Ground:
    from covey.world.generators import grounds

    options = record.model_dump(exclude={"generate", "walls", "seed"})
    generate = getattr(grounds, record.generate)
    return generate(**options, seed=seed if record.seed is None else record.seed)


_KINDS: dict[str, type[WorldRecord]] = {
    "terrain": walls.TerrainWorld,
    "file": walls.FileWorld,
    "file: .dxf or .svg": FloorPlanWorld,
    "empty_m": walls.EmptyWorld,
    "workspace_m": walls.WorkspaceWorld,
    "named": NamedWorld,
    "generate: maze": generated.GeneratedMaze,
    "generate: office": generated.GeneratedOffice,
    "generate: cave": generated.GeneratedCave,
    "generate: building": generated.GeneratedBuilding,
    "generate: rooms": generated.GeneratedRooms,
    "generate: rubble": generated.GeneratedRubble,
    "generate: rescue": generated.GeneratedRescue,
    "height_map": HeightMapWorld,
    "generate: hills": GeneratedHills,
    "generate: ridges": GeneratedRidges,
    "generate: boulders": GeneratedBoulders,
    "generate: flat": FlatGround,
}
for _name, _kind in _KINDS.items():
    worlds.register(_name)(_kind)
