"""Axes in metres with a scale bar and a legend, and names beside points that do not overlap."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation, Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import blended_transform_factory

from covey.geometry.grid import Grid
from covey.results.figures.ground import part_of, show_walls
from covey.results.figures.style import COLUMN_IN, FAINT, FONT, INK, SMALL, Picture
from covey.results.maps import WALL

_WIDE = 0.7
"""Width of a letter over the size of the font."""
_APART = np.array([-2.0, 0.0, 2.0, 0.0])
"""Distance of names side by side, which would else read as one [point]."""
_LINED = 12.0
"""Distance of a name from its point from which on a line joins them [point]."""
_HALO = [withStroke(linewidth=2.0, foreground="white")]


def place_axes(picture: Picture, left: float, bottom: float, width: float, height: float) -> Axes:
    """Return axes at a place [inch] from the lower left corner of the picture."""
    w, h = picture.get_size_inches()
    axes = picture.add_axes((left / w, bottom / h, width / w, height / h))
    axes.tick_params(labelsize=SMALL, width=0.5, length=2.5, color=INK, labelcolor=INK, pad=2)
    for spine in axes.spines.values():
        spine.set_linewidth(0.5)
        spine.set_color(INK)
    return axes


def map_axes(
    picture: Picture, place: tuple[float, float, float, float], view: tuple[float, float, float, float]
) -> Axes:
    """Return axes with ticks and labels in metres over ``view`` (left, right, bottom, top) at ``place`` [inch]."""
    axes = place_axes(picture, *place)
    axes.set(xlim=view[:2], ylim=view[2:])
    axes.set_xlabel("x [m]", fontsize=FONT, labelpad=1.5, color=INK)
    axes.set_ylabel("y [m]", fontsize=FONT, labelpad=1.5, color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    return axes


def map_picture(
    view: tuple[float, float, float, float], *, top_in: float = 0.22, right_in: float = 0.12
) -> tuple[Picture, Axes]:
    """Return a picture of one column with axes in metres over ``view``, and room for a legend above."""
    left, bottom = 0.45, 0.36
    width = COLUMN_IN - left - right_in
    height = width * (view[3] - view[2]) / (view[1] - view[0])
    if height > 1.6 * COLUMN_IN:  # a tall world: narrower axes
        width, height = width * 1.6 * COLUMN_IN / height, 1.6 * COLUMN_IN
    picture = Picture(left + width + right_in, bottom + max(height, 0.4) + top_in)
    return picture, map_axes(picture, (left, bottom, width, max(height, 0.4)), view)


def scale_bar(axes: Axes, at_most_m: float | None = None) -> None:
    """Draw a bar of a round length, by default up to a fifth of the width, above the right end of the axes."""
    left, right = axes.get_xlim()
    length = round_length(at_most_m or (right - left) / 5)
    place = blended_transform_factory(axes.transData, axes.transAxes)
    thickness = 0.035 / _height_in(axes)
    y = 1.0 + 0.07 / _height_in(axes)
    bar = Rectangle((right - length, y), length, thickness, transform=place, color=INK, clip_on=False, lw=0)
    axes.add_patch(bar)
    axes.text(
        right - length - 0.01 * (right - left),
        y + thickness / 2,
        f"{length:g} m",
        transform=place,
        ha="right",
        va="center",
        fontsize=SMALL,
        color=INK,
    )


def with_room(end: float) -> float:
    """Return the end of an axis of time [s] that shows what happened at the end of a run whole."""
    return 1.02 * end or 1.0


def round_length(length: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is at most ``length``.

    Examples:
        >>> round_length(16.0), round_length(0.7)
        (10.0, 0.5)
    """
    power = 10.0 ** math.floor(math.log10(length))
    return float(next(f * power for f in (5, 2, 1) if f * power <= length * (1 + 1e-9)))


def legend(axes: Axes, handles: Sequence[Any], handle_length: float = 1.1, *, bar: bool = False) -> None:
    """Put a legend above the left end of the axes; with ``bar``, its last row leaves the place of `scale_bar` free."""
    empty = [Line2D([], [], ls="", label=" ")] * (bar and legend_rows(len(handles)) > -(-len(handles) // 4))
    axes.legend(
        handles=[*handles, *empty],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0, 0.0, 0.0),
        ncols=4,
        fontsize=SMALL,
        frameon=False,
        borderaxespad=0.1,
        borderpad=0.15,
        handlelength=handle_length,
        handletextpad=0.4,
        columnspacing=0.9,
        labelcolor=INK,
    )


def legend_rows(entries: int) -> int:
    """Return the number of rows of a legend that leaves the place of `scale_bar` free.

    Columns are filled one by one, so the last row is full where all are equally long.

    Examples:
        >>> legend_rows(4), legend_rows(7), legend_rows(8)
        (1, 2, 3)
    """
    return 1 if entries <= 4 else entries // 4 + 1


def legend_in(entries: int) -> float:
    """Return the height above a map of a legend with as many entries, and of the scale bar [inch]."""
    return 0.08 + 0.14 * legend_rows(entries)


def patch(color: str, label: str) -> Patch:
    """Return a legend entry for a coloured area."""
    return Patch(facecolor=color, edgecolor=FAINT, linewidth=0.4, label=label)


def direct_label(axes: Axes, x: float, y: float, text: str, color: str, **options: Any) -> Text:
    """Write a name beside a point of the picture, readable on any background."""
    style = {"fontsize": SMALL, "color": color, "zorder": 9, "path_effects": _HALO}
    return axes.annotate(text, (x, y), textcoords="offset points", annotation_clip=False, **(style | options))


def name_points(
    axes: Axes,
    points: np.ndarray,
    names: Sequence[str],
    colors: Sequence[str],
    avoid: Any = (),
    cells: Grid | None = None,
) -> None:
    """Write a name beside each point, shape (n, 2) [m], at the first place where it hides no other label or point.

    Args:
        axes: of a map in metres; labels that are there already count, too.
        points, names, colors: of the points.
        avoid: further points that names must not hide, shape (k, 2) [m].
        cells: the world that is drawn below; names go where no walls are, if they can, and their halos hide none.
    """
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    size = np.array([_width_in(axes), _height_in(axes)]) * 72
    at = (np.asarray(points) - (left, bottom)) / (right - left, top - bottom) * size  # in points of the picture
    taken = [np.concatenate((p - 3.0, p + 3.0)) for p in at]
    others = (np.reshape(avoid, (-1, 2)) - (left, bottom)) / (right - left, top - bottom) * size
    taken += [np.concatenate((p - 3.0, p + 3.0)) for p in others]
    points_there = np.concatenate((at, others))
    for label in axes.texts:
        if isinstance(label, Annotation):
            corner = (np.array(label.xy) - (left, bottom)) / (right - left, top - bottom) * size + label.xyann
            extent = np.array([_WIDE * len(label.get_text()), 1.0]) * SMALL
            taken.append(np.concatenate((corner, corner + extent)) + _APART)
    from_top = sorted(range(len(at)), key=lambda i: -at[i, 1])  # keeps names in the order of their points
    for i in from_top:
        p, (x, y) = at[i], points[i]
        name, color = names[i], colors[i]
        width = _WIDE * SMALL * len(name)
        boxes = [np.array([p[0] + dx, p[1] + dy, p[0] + dx + width, p[1] + dy + SMALL]) for dx, dy in _around(width)]
        scale = np.array((right - left, top - bottom)) / size

        def cost(box: np.ndarray, p: np.ndarray = p, scale: np.ndarray = scale) -> float:
            behind = 0.0 if cells is None else _walled(cells, _placed(box, scale, (left, bottom)))
            return (
                _hidden(box, taken, size) + _pointed(box, p, points_there) + behind * float(np.prod(box[2:] - box[:2]))
            )

        best = min(boxes, key=cost)
        taken.append(best + _APART)
        shift = (best[0] - p[0], best[1] - p[1] + 1.0)
        line = {"arrowstyle": "-", "lw": 0.5, "color": color, "shrinkA": 0.0, "shrinkB": 2.0}
        line = line if _distance(best, p) > _LINED else None
        if cells is None:
            direct_label(axes, x, y, name, color, xytext=shift, fontweight="bold", arrowprops=line)
            continue
        direct_label(axes, x, y, name, color, xytext=shift, fontweight="bold", zorder=8.8)
        show_walls(axes, part_of(cells, _placed(best + _APART, scale, (left, bottom))), zorder=8.9)
        own: Any = {"path_effects": None, "zorder": 9.0}
        direct_label(axes, x, y, name, color, xytext=shift, fontweight="bold", arrowprops=line, **own)


def _placed(box: np.ndarray, scale: np.ndarray, corner: tuple[float, float]) -> np.ndarray:
    """Return a box of the picture [point] in the world: left, bottom, right, top [m]."""
    return box * np.tile(scale, 2) + np.tile(corner, 2)


def _walled(cells: Grid, box: np.ndarray) -> float:
    """Return the share of a box of the world, left, bottom, right, top [m], that is wall."""
    x, y = np.meshgrid(np.linspace(box[0], box[2], 20), np.linspace(box[1], box[3], 6))
    at = cells.to_cells(np.column_stack((x.ravel(), y.ravel())))
    at = at[cells.inside(at)]
    return float((cells.cells[tuple(at.T)] == WALL).sum()) / x.size


def _around(width: float) -> list[tuple[float, float]]:
    """Return shifts of a name's lower left corner from its point, the preferred first [point]."""
    right, left, middle = 4.0, -4.0 - width, -width / 2
    near = [(right, 1.0), (left, 1.0), (right, -8.0), (left, -8.0), (middle, 5.0), (middle, -12.0)]
    return near + [(x, y + dy) for dy in (9.0, 18.0, 27.0, -9.0, -18.0, -27.0) for x, y in near[:4]]


def _hidden(box: np.ndarray, taken: Sequence[np.ndarray], size: np.ndarray) -> float:
    """Return the area of names and points that a name would hide, plus its own area outside the axes [point^2]."""
    overlap = sum(np.prod(np.clip(np.minimum(box[2:], o[2:]) - np.maximum(box[:2], o[:2]), 0, None)) for o in taken)
    inside = np.prod(np.clip(np.minimum(box[2:], size) - np.maximum(box[:2], 0), 0, None))
    return float(overlap + np.prod(box[2:] - box[:2]) - inside)


def _distance(box: np.ndarray, p: np.ndarray) -> float:
    """Return the distance of a name from its point [point]."""
    return float(np.hypot(*(np.clip(p, box[:2], box[2:]) - p)))


def _pointed(box: np.ndarray, p: np.ndarray, points: np.ndarray) -> float:
    """Return what it costs that a name is far from its point, and more where its line crosses others [point^2]."""
    if _distance(box, p) <= _LINED:
        return 15.0 if _distance(box, p) > 8.0 else 0.0
    way = np.linspace(p, (box[:2] + box[2:]) / 2, 20)
    near = np.hypot(*(way[:, None] - points).T).min(axis=1) < 3.0
    return 15.0 + 36.0 * float((near & (points != p).any(axis=1)).sum())


def _width_in(axes: Axes) -> float:
    figure = axes.figure
    return axes.get_position().width * figure.get_size_inches()[0]  # pyright: ignore


def _height_in(axes: Axes) -> float:
    figure = axes.figure
    return axes.get_position().height * figure.get_size_inches()[1]  # pyright: ignore
