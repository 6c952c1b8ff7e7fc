"""Field types shared by many records of worlds, with limits and units."""

from typing import Annotated

from pydantic import Field

from covey.world.materials import AnyMaterial, Material

Metres = Annotated[float, Field(gt=0, le=100_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Resolution = Annotated[float, Field(ge=0.001, le=100, description="Side of a grid cell [m].")]
WallHeight = Annotated[float, Field(gt=0, le=1000, description="Height of the walls [m].")]
WallMaterial = Annotated[Material | None, Field(description="Material of the walls; null: none.")]
DrawnMaterial = Annotated[
    AnyMaterial | None,
    Field(description="Material of the walls; random: one for all walls, chosen at random; null: none."),
]
OwnSeed = Annotated[int | None, Field(description="Seed of the world; null: the seed of the run.")]
