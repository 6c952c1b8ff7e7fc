"""The layers of cells that a page can watch; `web/generate.py` gives it their names."""

from collections.abc import Mapping
from typing import NamedTuple


class CellLayer(NamedTuple):
    """What the cells of a layer mean.

    Attributes:
        type: their NumPy type.
        about: what they hold.
        is_exact: whether they are known at each step of a recorded run; others are known as they are at its end.
    """

    type: str
    about: str
    is_exact: bool = False


OF_TEAM: Mapping[str, CellLayer] = {
    "truth": CellLayer("uint8", "the walls, see `World`", is_exact=True),
    "ground": CellLayer("float32", "altitude of each vertex [m]; a cell lies around its vertex", is_exact=True),
    "first_explored": CellLayer("int32", "the step in which a robot first saw the cell; -1: never", is_exact=True),
    "other_explored": CellLayer("int32", "the same, of the run that this one is compared with", is_exact=True),
    "last_explored": CellLayer("int32", "the step in which a robot last saw it, some steps late; -1: never"),
    "seen_by": CellLayer("int32", "how many robots have seen it"),
    "passed_by": CellLayer("int32", "how many robots have passed over it"),
    "first_covered": CellLayer("int32", "the step in which a body was first over it; -1: never", is_exact=True),
    "last_covered": CellLayer("int32", "the step in which a body was last over it; -1: never"),
    "searched_walls": CellLayer(
        "int32", "the step in which cameras had seen all walls beside the cell; -1: not yet; -2: no wall", is_exact=True
    ),
    "visits": CellLayer("int32", "how often bodies have come onto the cell, see `covey.viewer.heat.Heat`"),
    "union": CellLayer("int8", "the map of all evidence: -1 unknown, 0 free, 100 occupied"),
}
"""Layers by name."""
OF_PARTS: Mapping[str, CellLayer] = {
    "explored": CellLayer("uint8", "1 where the robot itself has seen it"),
    "map": CellLayer("int8", "the map of a robot: -1 unknown, 0 free, 100 occupied"),
    "altitude": CellLayer("float32", "the altitude that a robot has measured [m]; NaN: unknown"),
    "error": CellLayer("float32", "that minus the true altitude [m]"),
    "interval": CellLayer("float32", "half its 95 % interval [m]"),
    "visits": CellLayer("int32", "how often a robot, or robots of a group, have come onto the cell"),
    "first_seen": CellLayer("int32", "the step in which it first saw the cell, some steps late; -1: never"),
    "last_seen": CellLayer("int32", "the step in which it last saw the cell, some steps late; -1: never"),
    "overlap": CellLayer("int32", "how many of the group have seen it; how many have seen what the robot has seen"),
}
"""Layers of a robot, or of a group: ``KIND:NAME``, ``KIND:group NAME``. By kind."""


def layer_of(name: str) -> CellLayer:
    """Return what the cells of a layer mean.

    Examples:
        >>> layer_of("map:scout0").type, layer_of("truth").is_exact
        ('int8', True)
    """
    kind, of, _ = name.partition(":")
    return OF_PARTS[kind] if of else OF_TEAM[kind]
