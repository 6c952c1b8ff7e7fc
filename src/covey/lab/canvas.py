"""What add-ons draw: points, lines, polygons, arrows, fields and text in the world frame."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from covey.errors import InvalidValueError, did_you_mean
from covey.onboard.group_view import GroupView
from covey.results.marks import INK, Mark, css

_CELLS = 60  # of a field, along the longer side
_MOST_MARKS = 10_000
_DRAWS = ("points", "lines", "polygons", "arrows", "field", "text", "team", "data")

Function = Callable[[np.ndarray], np.ndarray]
"""A function of points x, y [m], (k, 2), that returns (k,)."""


class Canvas:
    """What the ``draw`` of an add-on gets. All places are x, y [m] in the world frame.

    Attributes:
        team: the team as it truly is, as in ``step``.
        data: what ``step`` has just returned; None without one.
        marks: what has been drawn, by the add-on ``by``.
    """

    def __init__(self, team: GroupView, data: Any = None, by: str = ""):
        self.team, self.data, self.marks, self._by = team, data, list[Mark](), by

    def points(self, at: Any, color: str = INK, size: float = 4.0) -> None:
        """Draw points, (k, 2) or one (2,); ``size``: diameter [points]."""
        self._draw("points", (_places(at, "points"),), color, size)

    def lines(self, lines: Any, color: str = INK, width: float = 0.8) -> None:
        """Draw a line through points (k, 2), or a list of such lines."""
        self._draw("lines", _several(lines, "lines"), color, width)

    def polygons(self, polygons: Any, color: str = INK, fill: float = 0.0, width: float = 0.8) -> None:
        """Draw a polygon with the corners (k, 2), or a list of polygons; ``fill``: opacity of the inside, 0 to 1."""
        self._draw("polygons", _several(polygons, "polygons"), color, width, fill)

    def arrows(self, at: Any, by: Any, color: str = INK, width: float = 0.8) -> None:
        """Draw arrows that begin ``at``, (k, 2), and lead ``by`` metres, (k, 2)."""
        begins, ways = _places(at, "arrows"), _places(by, "arrows")
        if begins.shape != ways.shape:
            raise InvalidValueError(f"arrows: {len(begins)} beginnings and {len(ways)} ways; give as many of both")
        self._draw("arrows", (begins, ways), color, width)

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
        self._draw("field", (grid, bounds), colors, fill=fill)

    def text(self, at: Any, text: str, color: str = INK, size: float = 6.0) -> None:
        """Write a text in the middle of a place (2,); ``size``: height of its letters [points]."""
        places = _places(at, "text")
        if len(places) != 1:
            raise InvalidValueError(f"text: {len(places)} places; give one, x, y [m]")
        self._draw("text", (places[0],), color, size, text=str(text))

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

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"canvas has no {name!r}{did_you_mean(name, _DRAWS)}")

    def _draw(
        self,
        kind: Any,
        parts: tuple[np.ndarray, ...],
        color: str,
        width: float = 1.0,
        fill: float = 0.0,
        text: str = "",
    ) -> None:
        if len(self.marks) == _MOST_MARKS:
            raise InvalidValueError(f"more than {_MOST_MARKS} marks at one time; give many places to one call")
        color = color if isinstance(color, str) else css(tuple(np.ravel(color).tolist()))
        self.marks.append(Mark(kind, parts, color, _number(width, kind), _number(fill, kind), text, self._by).checked())


def _number(value: Any, kind: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidValueError(f"{kind}: {value!r:.60} is no number") from None


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
    if not isinstance(value, (np.ndarray, list, tuple)) or not np.ndim(np.asarray(value, object)):
        raise InvalidValueError(f"{kind}: {value!r:.60} is no line; give its places (k, 2), or a list of such arrays")
    if (isinstance(value, np.ndarray) and value.ndim == 2) or (
        isinstance(value, (list, tuple)) and len(value) and np.shape(value[0]) == (2,)
    ):
        value = [value]
    return tuple(_places(part, kind) for part in value)
