"""Doors: named rectangles of a world that can be closed."""

import math
from dataclasses import dataclass

from covey.errors import InvalidValueError


@dataclass(frozen=True)
class Door:
    """A rectangle of cells between two rooms that is free while the door is open, and wall while it is closed.

    Attributes:
        name: its name in this world, ``d0``, ``d1``, ….
        x0_m: western edge [m] in the world frame.
        y0_m: southern edge [m].
        x1_m: eastern edge [m].
        y1_m: northern edge [m].
        open: whether it is open.
    """

    name: str
    x0_m: float
    y0_m: float
    x1_m: float
    y1_m: float
    open: bool = True

    def __post_init__(self) -> None:
        corners = (self.x0_m, self.y0_m, self.x1_m, self.y1_m)
        if not all(math.isfinite(value) for value in corners) or self.x0_m >= self.x1_m or self.y0_m >= self.y1_m:
            raise InvalidValueError(
                f"door {self.name!r} has the corners {corners}; they must be finite metres, x0_m < x1_m and y0_m < y1_m"
            )
