"""What add-ons draw: points, lines, polygons, arrows, fields and text in the world frame."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.onboard.group_view import GroupView

_CELLS = 60  # of a field, along the longer side
_INK = "#1A1A1A"

Function = Callable[[np.ndarray], np.ndarray]
"""A function of points x, y [m], (k, 2), that returns (k,)."""


@dataclass(frozen=True, eq=False)
class Mark:
    """One thing that an add-on has drawn.

    Attributes:
        kind: points, lines, polygons, arrows, field or text.
        parts: arrays of x, y [m]. Points: one (k, 2). Lines and polygons: one (k, 2) each. Arrows: beginnings and ways,
            both (k, 2). A field: its values (rows, columns), row 0 at the bottom, and left, right, bottom, top [m].
            Text: its place (2,).
        color: a colour of matplotlib; of a field the name of a colour map.
        width: of lines, or diameter of points, or height of letters [points].
        fill: opacity of the inside of polygons, and of fields, from 0 to 1.
        text: the text.
    """

    kind: Literal["points", "lines", "polygons", "arrows", "field", "text"]
    parts: tuple[np.ndarray, ...]
    color: str = _INK
    width: float = 1.0
    fill: float = 0.0
    text: str = ""

    def same_as(self, other: "Mark") -> bool:
        """Return whether both look the same."""
        names = [field.name for field in fields(self) if field.name != "parts"]
        return (
            all(getattr(self, name) == getattr(other, name) for name in names)
            and len(self.parts) == len(other.parts)
            and all(map(np.array_equal, self.parts, other.parts))
        )


class Canvas:
    """What the ``draw`` of an add-on gets. All places are x, y [m] in the world frame.

    Attributes:
        team: the team as it truly is, as in ``step``.
        data: what ``step`` has just returned; None without one.
        marks: what has been drawn.
    """

    def __init__(self, team: GroupView, data: Any = None):
        self.team, self.data, self.marks = team, data, list[Mark]()

    def points(self, at: Any, color: str = _INK, size: float = 4.0) -> None:
        """Draw points, (k, 2) or one (2,); ``size``: diameter [points]."""
        self._draw(Mark("points", (_places(at, "points"),), _color(color), size))

    def lines(self, lines: Any, color: str = _INK, width: float = 0.8) -> None:
        """Draw a line through points (k, 2), or a list of such lines."""
        self._draw(Mark("lines", _several(lines, "lines"), _color(color), width))

    def polygons(self, polygons: Any, color: str = _INK, fill: float = 0.0, width: float = 0.8) -> None:
        """Draw a polygon with the corners (k, 2), or a list of polygons; ``fill``: opacity of the inside, 0 to 1."""
        self._draw(Mark("polygons", _several(polygons, "polygons"), _color(color), width, fill))

    def arrows(self, at: Any, by: Any, color: str = _INK, width: float = 0.8) -> None:
        """Draw arrows that begin ``at``, (k, 2), and lead ``by`` metres, (k, 2)."""
        begins, ways = _places(at, "arrows"), _places(by, "arrows")
        if begins.shape != ways.shape:
            raise InvalidValueError(f"arrows: {len(begins)} beginnings and {len(ways)} ways; give as many of both")
        self._draw(Mark("arrows", (begins, ways), _color(color), width))

    def field(self, values: Any, colors: str = "viridis", fill: float = 0.6, within: Any = None) -> None:
        """Draw a field in colours.

        Args:
            values: a function of points (k, 2) that returns (k,); or values (rows, columns), row 0 at the bottom.
            colors: a colour map of matplotlib.
            fill: its opacity, 0 to 1.
            within: left, right, bottom, top [m]; None: the rectangle around the workspace.
        """
        bounds = np.array(self.bounds if within is None else within, float)
        if callable(values):
            places, shape = self.places()
            found: Any = values(places)
            values = np.reshape(found, shape)
        grid = np.array(values, float)
        if grid.ndim != 2 or bounds.shape != (4,):
            raise InvalidValueError(
                f"field: values of shape {grid.shape}; give a function of points, or an array (rows, columns)"
            )
        self._draw(Mark("field", (grid, bounds), _colors(colors), fill=fill))

    def text(self, at: Any, text: str, color: str = _INK, size: float = 6.0) -> None:
        """Write a text in the middle of a place (2,); ``size``: height of its letters [points]."""
        self._draw(Mark("text", (_places(at, "text")[0],), _color(color), size, text=str(text)))

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top [m] of the rectangle around the workspace."""
        (left, bottom), (right, top) = self.team.workspace.min(axis=0), self.team.workspace.max(axis=0)
        return float(left), float(right), float(bottom), float(top)

    def places(self, most: int = _CELLS) -> tuple[np.ndarray, tuple[int, int]]:
        """Return the centres of the square-like cells of `bounds`, (rows * columns, 2) [m], and rows and columns.

        Args:
            most: number of cells along the longer side.
        """
        left, right, bottom, top = self.bounds
        side = max(right - left, top - bottom) / most
        columns, rows = max(1, round((right - left) / side)), max(1, round((top - bottom) / side))
        x = left + (np.arange(columns) + 0.5) * (right - left) / columns
        y = bottom + (np.arange(rows) + 0.5) * (top - bottom) / rows
        return np.column_stack([part.ravel() for part in np.meshgrid(x, y)]), (rows, columns)

    def _draw(self, mark: Mark) -> None:
        self.marks.append(mark)


def _places(value: Any, kind: str) -> np.ndarray:
    places: Any = np.empty(())
    with contextlib.suppress(ValueError, TypeError):
        places = np.array(value, float)
    if not places.size:
        places = np.empty((0, 2)) if places.ndim else places
    if places.ndim == 1:
        places = places[None]
    if places.ndim != 2 or places.shape[1] != 2:
        raise InvalidValueError(f"{kind}: {value!r:.60} is no array of places; give x, y [m] of each, shape (k, 2)")
    return places


def _several(value: Any, kind: str) -> tuple[np.ndarray, ...]:
    if (isinstance(value, np.ndarray) and value.ndim == 2) or (
        isinstance(value, (list, tuple)) and len(value) and np.shape(value[0]) == (2,)
    ):
        value = [value]
    return tuple(_places(part, kind) for part in value)


@cache
def _color(color: str) -> str:
    from matplotlib.colors import is_color_like

    if not is_color_like(color):
        raise InvalidValueError(f"{color!r} is no colour; write a name such as 'red', or '#D55E00'")
    return color


@cache
def _colors(name: str) -> str:
    from matplotlib import colormaps

    if name not in colormaps:
        raise InvalidValueError(f"{name!r} is no colour map of matplotlib; write 'viridis', or 'Blues'")
    return name
