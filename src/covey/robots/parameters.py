"""Annotations for parameters of controllers: numbers with limits, which `covey check` enforces."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from covey.errors import CoveyError
from covey.planning.graphs import graph_of


def _graph(value: Any) -> Any:
    try:
        return graph_of(value)
    except CoveyError as error:
        raise ValueError(str(error)) from None


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
Gain = Annotated[float, Field(ge=0, le=1000)]
GraphField = Annotated[Any, BeforeValidator(_graph)]
"""A graph of `covey.graphs`: in a file a name, or {proximity: 2}."""
