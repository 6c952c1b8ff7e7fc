"""Common parts of a study's figures: names with units, symbols by facet, an axis of a parameter, legend and note."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from covey.errors import InvalidValueError
from covey.lazy import pl
from covey.results.figures import style
from covey.results.labels import written
from covey.results.statistics.sample import levels

_MARKERS = "os^DvPX*"
_LONGEST = 36


def facets(table: "pl.DataFrame", facet: str | None) -> list[Any]:
    """Return the values that get separate lines, one if there is no facet."""
    return [None] if facet is None else levels(table, facet)


def marker(index: int) -> str:
    """Return the symbol of a facet."""
    return _MARKERS[index % len(_MARKERS)]


def entry(name: str, index: int, count: int) -> Line2D:
    """Return the legend entry of a facet."""
    return Line2D([], [], color=style.robot_color(index, count), lw=1.0, marker=marker(index), ms=4, mew=0, label=name)


def shortened(name: str) -> str:
    """Return a name, shortened to the room in a figure."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def name_width_in(names: Sequence[str]) -> float:
    """Return the width of the widest of the names beside an axis [inch]."""
    return max(map(_width_in, names))


def fit_side_by_side(names: Sequence[str], gap_in: float) -> bool:
    """Return whether names fit beside each other along an axis, their middles ``gap_in`` apart [inch]."""
    widths = [_width_in(name) for name in names]
    return all((a + b) / 2 + 0.06 <= gap_in for a, b in itertools.pairwise(widths))


def _width_in(name: str) -> float:
    width, _, _ = text_to_path.get_text_width_height_descent(
        shortened(name), FontProperties(size=style.SMALL), ismath=False
    )
    return width / 72.0


class Scale:
    """The axis of a parameter: numbers at their value, by default; other values side by side."""

    def __init__(self, values: Sequence[Any], side_by_side: bool = False):
        if not values:
            raise InvalidValueError("the table has no rows: there is nothing to draw")
        self.values = list(values)
        self.numeric = not side_by_side and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        places = [self.place(v) for v in self.values]
        self.gap = float(np.min(np.diff(places))) if len(places) > 1 else 1.0
        self.upright = False

    def place(self, value: Any) -> float:
        """Return the place of a value on the axis."""
        return float(value) if self.numeric else float(self.values.index(value))

    def fit(self, width_in: float) -> float:
        """Turn names upright if they do not fit side by side into a width; return the extra height [inch]."""
        names = [written(v) for v in self.values]
        self.upright = not self.numeric and not fit_side_by_side(names, width_in / (len(names) + 0.2))
        return max(0.0, name_width_in(names) - 0.1) if self.upright else 0.0

    def shift(self, index: int, count: int, of_gap: float) -> float:
        """Return a facet's offset from its place, so that ``count`` facets do not hide each other.

        Args:
            of_gap: distance of two facets over the gap between two values of the parameter.
        """
        return of_gap * self.gap * (index - (count - 1) / 2)

    def broken(self, places: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a line with a gap at each value of the parameter without a point."""
        at = dict(zip(places.tolist(), heights.tolist(), strict=True))
        x = np.array([self.place(v) for v in self.values])
        return x, np.array([at.get(p, np.nan) for p in x.tolist()])

    def dress(self, axes: Axes, text: str) -> None:
        """Set limits, ticks and the name of the axis, and a grid behind."""
        places = [self.place(v) for v in self.values]
        axes.set_xlim(min(places) - 0.6 * self.gap, max(places) + 0.6 * self.gap)
        if self.numeric and len(places) > 8:
            axes.xaxis.set_major_locator(MaxNLocator(8, integer=all(p.is_integer() for p in places)))
        else:
            step = -(-len(places) // 30)
            places = places[::step]
            axes.set_xticks(places, [shortened(written(v)) for v in self.values[::step]])
            if self.upright:
                axes.tick_params("x", labelrotation=90)
        axes.set_xlabel(text, fontsize=style.FONT, labelpad=1.5, color=style.INK)
        plain(axes)


def plain(axes: Axes) -> None:
    """Draw a light grid behind, and no frame above and to the right."""
    axes.grid(color=style.GRID, lw=0.4)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def legend(picture: style.Picture, handles: Sequence[Any], title: str | None = None, *, right: bool = False) -> None:
    """Put a legend along the top of the picture, from its left end or its right one."""
    if not handles:
        return
    found = picture.legend(
        handles=list(handles),
        title=title,
        loc="upper right" if right else "upper left",
        bbox_to_anchor=(1.0, 1.0) if right else (0.3 / picture.get_size_inches()[0], 1.0),
        ncols=_legend_columns(picture.get_size_inches()[0], handles),
        fontsize=style.SMALL,
        title_fontsize=style.SMALL,
        frameon=False,
        borderaxespad=0.2,
        handlelength=1.8,
        handletextpad=0.4,
        columnspacing=1.0,
        labelspacing=0.3,
        labelcolor=style.INK,
        alignment="left",
    )
    found.get_title().set_color(style.INK)


def legend_height_in(width_in: float, handles: Sequence[Any], title: str | None = None) -> float:
    """Return the height of `legend` [inch]."""
    if not handles:
        return 0.06
    rows = -(-len(handles) // _legend_columns(width_in, handles)) + (title is not None)
    return 0.12 + 0.135 * rows


def _legend_columns(width_in: float, handles: Sequence[Any]) -> int:
    longest = max(len(str(h.get_label())) for h in handles)
    return max(1, min(len(handles), int((width_in - 0.4) / (0.38 + 0.055 * longest))))


def from_zero(axes: Axes) -> None:
    """Start the vertical axis at zero if nothing is negative, unless all points are then in its upper half."""
    low, high = axes.dataLim.y0, axes.dataLim.y1
    if 0.0 <= low < 0.5 * high:
        axes.set_ylim(bottom=0.0)
