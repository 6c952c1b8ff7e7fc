"""Box plots by a parameter, and heat maps of two."""

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from covey.lazy import pl
from covey.results.figures import layout, style
from covey.results.figures.study_layout import (
    Scale,
    entry,
    facets,
    fit_side_by_side,
    from_zero,
    legend,
    legend_height_in,
    marker,
    name_width_in,
    shortened,
)
from covey.results.labels import label, written
from covey.results.metrics import is_time_to_goal
from covey.results.statistics.intervals import FEWEST
from covey.results.statistics.sample import MetricSample, column, groups, levels, sample

_HEIGHT_IN = 1.8
_ROOM = 2.7
"""Width and height that the number in a cell of a heat map needs, over the size of its letters."""


def box_plots(table: "pl.DataFrame", metric: str, x: str, facet: str | None = None) -> style.Picture:
    """Return box plots of a metric over a parameter: quartiles, median, smallest and largest run.

    Below six runs each run is a dot, on a line from the smallest to the largest. A run that did not reach the goal of a
    time counts as longer than the timeout: boxes and lines past it end at the dashed line, and the number above it is
    the number of runs that did not reach the goal.

    Raises:
        UnknownNameError, InvalidValueError: a column is missing, or the metric is not a number.
    """
    names, scale = facets(table, facet), Scale(levels(table, x), side_by_side=True)
    n = sorted({len(part) for _, part in groups(table, [x] if facet is None else [x, facet])})
    whole = sample(table, metric)
    text = _explain(n, "" if whole.reached.all() else _LATE if is_time_to_goal(metric) else _UNKNOWN)
    width = style.PAGE_IN if len(scale.values) * len(names) > 16 else style.COLUMN_IN
    colors = [style.robot_color(k, len(names)) for k in range(len(names))]
    handles = [] if facet is None else [entry(written(name), k, len(names)) for k, name in enumerate(names)]
    title = None if facet is None else label(facet)
    above = legend_height_in(width, handles, title)
    below = scale.fit(width - 0.65)
    picture = style.Picture(width, below + 0.36 + _HEIGHT_IN + above)
    axes = layout.place_axes(picture, 0.5, below + 0.36, width - 0.65, _HEIGHT_IN)
    scale.dress(axes, label(x))
    axes.set_ylabel(label(metric), fontsize=style.FONT, labelpad=2, color=style.INK)
    until = whole.until_s
    wide = 0.55 * scale.gap / len(names)
    for key, part in groups(table, facet):
        k = names.index(key[0]) if key else 0
        for (value,), runs in groups(part, x):
            found = sample(runs, metric)
            at = scale.place(value) + scale.shift(k, len(names), 0.8 / len(names))
            if len(found.values):
                _box(axes, found, at, wide, colors[k], marker(k), until)
    if column(table, metric).dtype.is_integer():  # a count
        axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    from_zero(axes)
    if until is not None and not whole.reached.all():
        axes.axhline(until, color=style.FAINT, lw=0.7, ls=(0, (4, 2)), zorder=1)
        axes.set_ylim(top=until * 1.09)
    legend(picture, handles, title)
    picture.note = text
    return picture


def _box(axes: Axes, found: MetricSample, at: float, wide: float, color: str, symbol: str, until: float | None) -> None:
    values = np.sort(found.ranked)
    reached = values[np.isfinite(values)]
    last = until if until is not None else (reached[-1] if len(reached) else 0.0)
    high = last if len(reached) < len(values) else reached[-1]
    low = reached[0] if len(reached) else last
    axes.plot([at, at], [low, high], color=color, lw=0.8, zorder=2, solid_capstyle="butt")
    middle = found.quantile(0.5)
    if len(values) < FEWEST:
        axes.plot(np.full(len(reached), at), reached, symbol, color=color, ms=2.8, mew=0, alpha=0.8, zorder=4)
    else:
        q1, q3 = (last if q is None else q for q in (found.quantile(0.25), found.quantile(0.75)))
        box = Rectangle((at - wide / 2, q1), wide, q3 - q1, fc="white", ec=color, lw=0.9, zorder=3)
        axes.add_patch(box)
    if middle is not None:
        axes.plot(
            [at - wide / 2, at + wide / 2], [middle, middle], color=color, lw=1.5, zorder=5, solid_capstyle="butt"
        )
        if len(values) >= FEWEST:
            axes.plot(at, middle, symbol, color=color, ms=4, mew=0, zorder=6)
    if until is not None and len(reached) < len(values):
        count = str(len(values) - len(reached))
        axes.annotate(
            count, (at, until), (0, 2), textcoords="offset points", ha="center", fontsize=style.SMALL, color=color
        )


_LATE = " Dashed: timeout; above it how many runs did not reach the goal, counted as longer."
_UNKNOWN = " Runs that did not get there are not drawn; medians and quartiles count them as worse than all others."


def _explain(n: list[int], late: str) -> str:
    runs = f"n = {n[0]}" if len(n) == 1 else f"n = {n[0]} to {n[-1]}" if n else "no"
    few = "Dots: runs; thick line: median; thin line: range."
    box = "Boxes: quartiles; thick line: median; thin line: range."
    shown = few if n and n[-1] < FEWEST else box if n and n[0] >= FEWEST else f"{box} Below {FEWEST} runs dots: runs."
    return f"{shown} {runs} runs of each setting.{late}"


def heat_map(table: "pl.DataFrame", metric: str, x: str, y: str) -> style.Picture:
    """Return the median of a metric over two parameters, as colour and, where there is room for it, number.

    Below a number is the number of runs that reached the goal, if not all did. A setting in which fewer than half did
    has no median and is hatched; a setting without runs is white.

    Raises:
        UnknownNameError, InvalidValueError: a column is missing, or the metric is not a number.
    """
    xs, ys = levels(table, x), levels(table, y)
    n = sorted({len(part) for _, part in groups(table, [x, y])})
    runs = f"n = {n[0]}" if len(n) == 1 else f"n = {n[0]} to {n[-1]}"
    text = (
        f"Median of the runs of each setting, {runs}. k/n: only k of n runs reached the goal; hatched: no median, less "
        "than half did."
    )
    left = max(0.75, 0.35 + name_width_in([written(v) for v in ys]))
    width = style.COLUMN_IN if len(xs) <= 10 and left < 1.2 else style.PAGE_IN
    wide = width - left - 0.85
    shown = [written(v) for v in xs[:: -(-len(xs) // 16)]]
    upright = not fit_side_by_side(shown, wide / len(shown))
    high = min(max(0.42 * len(ys), 1.1), 6.0)
    below = name_width_in([written(v) for v in xs]) if upright else 0.0
    picture = style.Picture(width, below + 0.36 + high + 0.15)
    axes = layout.place_axes(picture, left, below + 0.36, wide, high)
    cells = {key: sample(part, metric) for key, part in groups(table, [x, y])}
    medians = {key: found.quantile(0.5) for key, found in cells.items()}
    known = [m for m in medians.values() if m is not None]
    norm = Normalize(min(known, default=0.0), max(known, default=1.0))
    colors = mpl.colormaps["cividis"]
    has_room = 72 * min(wide / len(xs), high / len(ys)) >= _ROOM * style.SMALL
    for (a, b), found in cells.items():
        _cell(axes, found, medians[a, b], (xs.index(a), ys.index(b)), norm, colors, has_room=has_room)
    axes.set(xlim=(-0.5, len(xs) - 0.5), ylim=(-0.5, len(ys) - 0.5))
    step = -(-len(xs) // 16)
    axes.set_xticks(range(0, len(xs), step), [shortened(written(v)) for v in xs[::step]])
    axes.tick_params("x", labelrotation=90 if upright else 0)
    axes.set_yticks(range(len(ys)), [shortened(written(v)) for v in ys])
    axes.set_xlabel(label(x), fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.set_ylabel(label(y), fontsize=style.FONT, labelpad=2, color=style.INK)
    if known:
        box = axes.get_position()
        bar_axes = picture.add_axes((box.x1 + 0.08 / width, box.y0, 0.09 / width, box.height))
        bar = picture.colorbar(ScalarMappable(norm, colors), cax=bar_axes)
        bar.ax.tick_params(labelsize=style.SMALL, width=0.5, length=2, pad=1.5)
        bar.set_label(label(metric), fontsize=style.FONT, labelpad=2, color=style.INK)
        bar.outline.set_linewidth(0.5)  # pyright: ignore
    picture.note = text
    return picture


def _cell(
    axes: Axes,
    found: MetricSample,
    middle: float | None,
    at: tuple[int, int],
    norm: Normalize,
    colors: Colormap,
    *,
    has_room: bool,
) -> None:
    corner = (at[0] - 0.5, at[1] - 0.5)
    if middle is None:
        axes.add_patch(Rectangle(corner, 1, 1, fc="white", ec=style.GRID, hatch="////", lw=0.4))
        text, ink = "", style.INK
    else:
        shade = colors(norm(middle))
        axes.add_patch(Rectangle(corner, 1, 1, fc=shade, ec="white", lw=0.5))
        text = f"{middle:.0f}" if abs(middle) >= 100 else f"{middle:.3g}"
        ink = "white" if 0.3 * shade[0] + 0.59 * shade[1] + 0.11 * shade[2] < 0.5 else style.INK
    if found.successes < found.runs:
        text = f"{text}\n{found.successes}/{found.runs}".strip()
    if has_room:
        axes.text(*at, text, ha="center", va="center", fontsize=style.SMALL, color=ink, linespacing=1.0)
