"""`Draws`: how the readings of a sensor are drawn; sensors say it, records keep it, pictures do it."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["Draws"]

Word = Literal["ring", "number", "heading", "ray", "place", "sectors"]
WORDS: tuple[Word, ...] = get_args(Word)
"""How readings can be drawn, see `Draws`."""


@dataclass(frozen=True)
class Draws:
    """How pictures and the page draw the readings of a sensor.

    Attributes:
        word: ``ring``: around the robot; it lights up while a value is not 0. ``number``: beside the robot.
            ``heading``: in the world frame [rad]. ``ray``: range [m] and bearing from the heading [rad]. ``place``: x
            ahead, y to the left [m], and perhaps a heading from the robot's own [rad]. ``sectors``: a distance [m] in
            each sector, from right to left; no finite one: nothing there.
        of: name of the array with the values.
        begin_rad, width_rad: of sectors: the right edge of the first, from the heading, and the width of all together.
        inner_m, range_m: of sectors: where distances begin, and how far they go at most.
    """

    word: Word
    of: str = "values"
    begin_rad: float = -math.pi
    width_rad: float = 2.0 * math.pi
    inner_m: float = 0.0
    range_m: float = math.inf
