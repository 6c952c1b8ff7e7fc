"""`Drawing`: the lines of a DXF or SVG file, each with its layer and the entity that it comes from."""

import importlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import CoveyError, MapFileError

MAX_BYTES = 32_000_000
"""Largest size of a drawing [bytes]."""
MAX_ENTITIES = 200_000
"""Largest number of entities of a drawing; an entity of a block counts each time that the block is inserted."""
MAX_COORDINATE = 1e12
"""Largest coordinate in a drawing, in its own units."""


Observe = Callable[[str, int, int], None]
"""Takes in what is being done, how many of its parts are done, and of how many; 0: it has no parts."""


def silent(what: str, done: int, total: int) -> None:
    """Observe nothing."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """One line of a drawing.

    Attributes:
        kind: type of the entity, such as ``LWPOLYLINE`` or ``path``.
        name: how to find it in the file, such as ``handle 2F``.
        layers: its layer, then the layers of what it is inside of, from the innermost.
        flatten: gives its points, shape (n, 2), in units of the file; no point of a curve is farther from the line
            than the argument, about.
        width: its thickness in units of the file; 0: the file does not say.
    """

    kind: str
    name: str
    layers: tuple[str, ...]
    flatten: Callable[[float], np.ndarray]
    width: float = 0.0

    def points(self, tolerance: float, path: Path) -> np.ndarray:
        """Return its points, shape (n, 2), finite and in units of the file, n = 0 if it has none.

        Raises:
            MapFileError: it names the entity, its layer, what is wrong, and what to do.
        """
        try:
            points = np.asarray(self.flatten(tolerance), float).reshape(-1, 2)
            within = np.abs(points) <= MAX_COORDINATE
            why = "" if within.all() else f"it has the coordinate {points[~within][0]:g}"
        except Exception as error:  # of whatever is wrong with it
            why = " ".join(str(error).split())[:150] or f"it cannot be read ({type(error).__name__})"
            points = np.empty((0, 2))
        if why:
            raise MapFileError(
                f"{path}: {self.kind} ({self.name}, layer {self.layers[0]!r}): {why}; mend or delete it there, or "
                "leave its layer out with without_layers"
            )
        return points


@dataclass
class Drawing:
    """The lines of a file, in its own units.

    Attributes:
        path: the file.
        strokes: its lines.
        ignored: what is no line, or not shown: how many of each type.
        hidden: names of layers that are switched off or frozen.
        unit_m: length of its unit [m]; None: the file does not say.
        corner: x, y of the point, in units of the file, that lies at (0, 0) unless an origin is given.
        up: 1 if y points up in the file, else -1.
    """

    path: Path
    strokes: list[Stroke] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    hidden: set[str] = field(default_factory=set)
    unit_m: float | None = None
    corner: tuple[float, float] = (0.0, 0.0)
    up: int = 1
    count: int = 0

    def counted(self, more: int = 1) -> None:
        """Count entities; raise `MapFileError` if there are too many."""
        self.count += more
        if self.count > MAX_ENTITIES:
            raise MapFileError(
                f"{self.path}: has more than {MAX_ENTITIES:,} entities, with those of its blocks for each insert; save "
                "only the layers of the walls into a new file"
            )


def library(name: str, extra: str = "lab") -> Any:
    """Return a library that only an extra of Covey installs.

    Raises:
        CoveyError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        needed = name.partition(".")[0]
        raise CoveyError(f"this file needs {needed}; install it with: pip install 'covey[{extra}]'") from error
