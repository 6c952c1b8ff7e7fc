"""Numbers that many records of worlds have, with their limits and units."""

from typing import Annotated

from pydantic import Field

from covey.world.materials import AnyMaterial, Material

Metres = Annotated[float, Field(gt=0, le=100_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Resolution = Annotated[float, Field(ge=0.001, le=100, description="Side of a grid cell [m].")]
WallHeight = Annotated[float, Field(gt=0, le=1000, description="Height of the walls [m].")]
WallMaterial = Annotated[Material | None, Field(description="What the walls are made of; null leaves it unsaid.")]
DrawnMaterial = Annotated[
    AnyMaterial | None, Field(description="What the walls are made of; random: one for all; null leaves it unsaid.")
]
OwnSeed = Annotated[int | None, Field(description="Seed of the world; without it the seed of the run.")]
