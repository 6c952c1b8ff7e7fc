"""Why a robot gives up a goal: plain data, and the sentence made from it."""

import math
from typing import Literal, NamedTuple

Kind = Literal["", "wall", "narrow", "no way", "ground", "occupied", "robot", "blocked"]


class Reason(NamedTuple):
    """Why a robot did not reach a place; the fields that do not matter are empty or NaN.

    Attributes:
        kind: empty: it did. ``wall``: the place is in a wall. ``narrow``: no way is wide enough. ``no way``: there is
            none. ``ground``: the ground is not known to be good. ``occupied``: a robot stands there. ``robot``: one is
            in the way. ``blocked``: something else is.
        by: name of the other robot.
        gap_m, body_m: width of the narrowest gap on the widest way, and of the body [m].
    """

    kind: Kind = ""
    by: str = ""
    gap_m: float = math.nan
    body_m: float = math.nan

    @property
    def text(self) -> str:
        """The reason as a sentence; empty if there is none."""
        match self.kind:
            case "wall":
                return "the goal is outside the map, in a wall, or too close to one"
            case "narrow":
                return f"its map shows no way to the goal that is wide enough: {self.widths}"
            case "no way":
                return "its map shows no way to the goal"
            case "ground":
                return "the ground ahead is not known to be good"
            case "occupied":
                return f"the goal is occupied by {self.by}"
            case "robot":
                return f"it made no progress: {self.by} is in the way"
            case "blocked":
                return f"it made no progress: {self.widths or 'something is in the way'}"
        return ""

    @property
    def widths(self) -> str:
        """How wide the gap and the body are; empty if that does not matter."""
        return f"the gap is {self.gap_m:.2f} m, the body {self.body_m:.2f} m wide" if self.gap_m > 0.0 else ""


def of_width(gap_m: float, body_m: float) -> Reason:
    """Return the reason for which a body does not get to a place behind a gap [m]."""
    return Reason("narrow", gap_m=gap_m, body_m=body_m) if 0.0 < gap_m < body_m else Reason("no way")
