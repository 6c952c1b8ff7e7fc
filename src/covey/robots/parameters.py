"""Annotations for parameters of controllers: numbers with limits, which `covey check` enforces."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from covey.errors import CoveyError
from covey.planning.graphs import graph_of
from covey.records import WORD


def _graph(value: Any) -> Any:
    try:
        return graph_of(value)
    except CoveyError as error:
        raise ValueError(str(error)) from None


def _kinds(value: str) -> str:
    if not value.split() or any(re.fullmatch(WORD, kind) is None for kind in value.split()):
        raise ValueError("must be kinds of targets, a word each, with a space between them")
    return value


File = Annotated[str, Field(min_length=1, json_schema_extra={"file": True})]
"""A file, from the folder of the scenario."""
TileSide = Annotated[float, Field(ge=0.01, le=100)]
"""Side of a tile [m]."""
Metres = Annotated[float, Field(gt=0, le=100_000)]
RadioRange = Annotated[float, Field(gt=0, le=100_000, description="Of the radio, as a strategy takes it [m].")]
"""Distance within which robots take each other for connected [m]; `covey check` compares it with the radio."""
MetresOrNone = Annotated[float, Field(ge=0, le=100_000)]
"""Length [m]; 0: none."""
Radius = Annotated[float, Field(ge=0, le=1000)]
"""Around a point [m]."""
Reach = Annotated[float, Field(gt=0, le=1000)]
"""Of a sensor [m], or of a look around [cells]."""
Gap = Annotated[float, Field(ge=0, le=100)]
"""Between a body and a wall [m]."""
Seconds = Annotated[float, Field(gt=0, le=1_000_000)]
Stay = Annotated[float, Field(ge=0, le=1_000_000)]
"""Time [s]; 0: a moment is enough."""
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
LookAhead = Annotated[float, Field(gt=0, le=10)]
"""Distance of the point that a law moves, ahead of a robot with wheels [m]."""
Velocity = tuple[Annotated[float, Field(ge=-100, le=100)], Annotated[float, Field(ge=-100, le=100)]]
"""In the world frame [m/s]."""
Coordinate = Annotated[float, Field(ge=-100_000, le=100_000)]
Indices = tuple[Count, ...]
"""Of robots."""
Gain = Annotated[float, Field(ge=0, le=1000)]
GraphField = Annotated[Any, BeforeValidator(_graph)]
"""A graph of `covey.graphs`: in a file a name, or {proximity: 2}."""
Points = tuple[tuple[Coordinate, Coordinate], ...]
"""x, y [m]."""
Point = tuple[Coordinate, Coordinate]
"""x, y [m]."""
PointOrMiddle = Point | tuple[()]
"""x, y [m]; empty: the middle of the workspace."""
Pace = Annotated[float, Field(ge=0, le=100)]
"""Speed [m/s]."""
Kinds = Annotated[str, AfterValidator(_kinds)]
"""Of targets, with a space between them."""
Angle = Annotated[float, Field(ge=0, le=7)]
"""[rad]."""
Segments = tuple[tuple[Coordinate, Coordinate, Coordinate, Coordinate], ...]
"""Both ends of each, x1, y1, x2, y2 [m]."""
