"""Annotations for parameters of controllers: numbers with limits, which `covey check` enforces."""

from typing import Annotated, Literal

from pydantic import Field

TileSide = Annotated[float, Field(ge=0.01, le=100)]
"""Side of a tile [m]."""
Metres = Annotated[float, Field(gt=0, le=100_000)]
MetresOrNone = Annotated[float, Field(ge=0, le=100_000)]
"""Length [m]; 0: none."""
Radius = Annotated[float, Field(ge=0, le=1000)]
"""Around a point [m]."""
Reach = Annotated[float, Field(gt=0, le=1000)]
"""Of a sensor [m], or of a look around [cells]."""
Gap = Annotated[float, Field(ge=0, le=100)]
"""Between a body and a wall [m]."""
Seconds = Annotated[float, Field(gt=0, le=1_000_000)]
Degrees = Annotated[float, Field(ge=0, le=360)]
Turn = Annotated[float, Field(gt=0, le=360)]
"""[deg], above 0."""
Share = Annotated[float, Field(ge=0, le=1)]
Overlap = Annotated[float, Field(ge=0, le=0.9)]
"""Share of the width of a lane."""
Speed = Annotated[float, Field(gt=0, le=1)]
"""Share of the top speed."""
Weight = Annotated[float, Field(ge=0, le=1_000_000)]
Scale = Annotated[float, Field(gt=0, le=1_000_000)]
Shape = Annotated[float, Field(ge=1, le=1000)]
"""Of a beta distribution."""
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Draws = Annotated[int, Field(ge=1, le=10_000)]
"""Number of samples drawn at each choice."""
Definition = Literal["explore", "m_explore", "rescue", "maes"]
"""Of frontier cells, see `covey.mapping.occupancy.frontiers`."""
