"""What all pictures share: colours, sizes, axes in metres, scale bar, legend; and writing the same bytes each time.

Only matplotlib's objects are used, no pyplot: nothing global is touched, and runs can be drawn in threads.
Colours: M. Okabe, K. Ito: Color universal design, 2008.
"""

import io
import math
import threading
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, blended_transform_factory

from covey.geometry.grid import Grid
from covey.results.maps import FREE, OPEN, UNKNOWN, WALL, Maps

ROBOTS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5230", "#5D3A9B")
INK, FAINT, GRID = "#1A1A1A", "#6B6B6B", "#D9D9D9"
WALL_COLOR, FREE_COLOR, UNKNOWN_COLOR, OPEN_COLOR = "#3A3A3A", "#FFFFFF", "#D3D7DC", "#EEF1F4"
COLUMN_IN, PAGE_IN = 3.5, 7.16
"""Width of one column and of the page of a two-column paper [inch]."""
DPI = 300
FONT, SMALL = 8.0, 7.0
LABELLED = 12
"""Up to so many robots are named in a picture."""

_HALO = [withStroke(linewidth=2.0, foreground="white")]
_svg_lock = threading.Lock()


class Picture(Figure):
    """A matplotlib figure that notebooks show, and whose bytes depend on nothing but what is drawn."""

    def __init__(self, width_in: float, height_in: float):
        super().__init__(figsize=(width_in, height_in), dpi=DPI, facecolor="white")
        FigureCanvasAgg(self)

    def to_bytes(self, kind: str) -> bytes:
        """Return the picture as ``png``, ``svg`` or ``pdf``."""
        buffer = io.BytesIO()
        metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
        with _svg_lock:  # the salt of SVG ids can be given in no other way
            before = mpl.rcParams["svg.hashsalt"]
            mpl.rcParams["svg.hashsalt"] = "covey"
            try:
                self.savefig(buffer, format=kind, metadata=metadata)
            finally:
                mpl.rcParams["svg.hashsalt"] = before
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        return self.to_bytes("png")


def robot_color(index: int, count: int) -> str:
    """Return the colour of a robot; beyond eight robots colours run through cividis."""
    if count <= len(ROBOTS):
        return ROBOTS[index]
    return mpl.colors.to_hex(mpl.colormaps["cividis"](0.9 * index / (count - 1)))


def place_axes(picture: Picture, left: float, bottom: float, width: float, height: float) -> Axes:
    """Return axes at a place given in inches from the lower left corner of the picture."""
    w, h = picture.get_size_inches()
    axes = picture.add_axes((left / w, bottom / h, width / w, height / h))
    axes.tick_params(labelsize=SMALL, width=0.5, length=2.5, color=INK, labelcolor=INK, pad=2)
    for spine in axes.spines.values():
        spine.set_linewidth(0.5)
        spine.set_color(INK)
    return axes


def corners(grid: Grid) -> np.ndarray:
    """Return the outer corners of a grid in the world frame [m], shape (4, 2)."""
    rows, columns = grid.shape
    return grid.to_world(np.array([[0, 0], [0, columns], [rows, columns], [rows, 0]]) - 0.5)


def bounds(grid: Grid) -> tuple[float, float, float, float]:
    """Return left, right, bottom, top [m] of a grid in the world frame, whatever its yaw."""
    (left, bottom), (right, top) = corners(grid).min(axis=0), corners(grid).max(axis=0)
    return left, right, bottom, top


def show_cells(axes: Axes, grid: Grid, pixels: np.ndarray, zorder: float = 0.0) -> None:
    """Draw the colours ``pixels``, uint8 (rows, columns, 3 or 4), at the place of ``grid``, its yaw included."""
    limits = axes.get_xlim(), axes.get_ylim()
    x, y, yaw = grid.origin
    image = axes.imshow(pixels, origin="lower", extent=grid.extent, interpolation="nearest", zorder=zorder)
    if yaw:
        image.set_transform(Affine2D().rotate_around(x, y, yaw) + axes.transData)
        image.set_interpolation("antialiased")
    axes.set(xlim=limits[0], ylim=limits[1])


def rgb(color: str) -> np.ndarray:
    """Return a colour as uint8 (3,).

    Examples:
        >>> rgb("#FF8000").tolist()
        [255, 128, 0]
    """
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)], np.uint8)


def truth_pixels(truth: Grid) -> np.ndarray:
    """Return the colours of a world, uint8 (rows, columns, 3)."""
    palette = np.zeros((256, 3), np.uint8)
    for value, color in ((FREE, FREE_COLOR), (WALL, WALL_COLOR), (UNKNOWN, UNKNOWN_COLOR), (OPEN, OPEN_COLOR)):
        palette[value] = rgb(color)
    return palette[truth.cells]


def occupancy_pixels(belief: Grid) -> np.ndarray:
    """Return the colours of a map (-1 unknown, 0 free, 100 occupied), uint8 (rows, columns, 3)."""
    palette = np.stack([rgb(UNKNOWN_COLOR), rgb(FREE_COLOR), rgb(WALL_COLOR)])
    return palette[np.where(belief.cells < 0, 0, np.where(belief.cells < 50, 1, 2))]


def cropped(maps: Maps) -> tuple[float, float, float, float]:
    """Return left, right, bottom, top [m] around all that is inside the world, with a small margin."""
    used = np.argwhere((maps.truth.cells == FREE) | (maps.truth.cells == WALL))
    if not len(used):
        return bounds(maps.truth)
    points = maps.truth.to_world(used)
    margin = maps.truth.resolution / 2 + 0.005 * float(np.ptp(points, axis=0).max())
    (left, bottom), (right, top) = points.min(axis=0) - margin, points.max(axis=0) + margin
    return left, right, bottom, top


def map_axes(
    picture: Picture, place: tuple[float, float, float, float], view: tuple[float, float, float, float]
) -> Axes:
    """Return axes in metres over ``view`` (left, right, bottom, top) at ``place`` [inch]: ticks, labels."""
    axes = place_axes(picture, *place)
    axes.set(xlim=view[:2], ylim=view[2:])
    axes.set_xlabel("x [m]", fontsize=FONT, labelpad=1.5, color=INK)
    axes.set_ylabel("y [m]", fontsize=FONT, labelpad=1.5, color=INK)
    axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(6, steps=[1, 2, 5, 10]))
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


def round_length(length: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is at most ``length``.

    Examples:
        >>> round_length(16.0), round_length(0.7)
        (10.0, 0.5)
    """
    power = 10.0 ** math.floor(math.log10(length))
    return float(next(f * power for f in (5, 2, 1) if f * power <= length * (1 + 1e-9)))


def legend(axes: Axes, handles: Sequence[Any], handle_length: float = 1.1) -> None:
    """Put a legend above the left end of the axes."""
    axes.legend(
        handles=list(handles),
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


def patch(color: str, label: str) -> Patch:
    """Return a legend entry of a coloured area."""
    return Patch(facecolor=color, edgecolor=FAINT, linewidth=0.4, label=label)


def direct_label(axes: Axes, x: float, y: float, text: str, color: str, **options: Any) -> Text:
    """Write a name beside a point of the picture, readable on any ground."""
    style = {"fontsize": SMALL, "color": color, "zorder": 9, "path_effects": _HALO}
    return axes.annotate(text, (x, y), textcoords="offset points", annotation_clip=False, **(style | options))


def name_points(axes: Axes, points: np.ndarray, names: Sequence[str], colors: Sequence[str]) -> None:
    """Write a name beside each point, shape (n, 2) [m]: at the first of several places that hides nothing else."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    size = np.array([_height_in(axes) * (right - left) / (top - bottom), _height_in(axes)]) * 72
    at = (np.asarray(points) - (left, bottom)) / (right - left, top - bottom) * size  # in points of the picture
    taken = [np.concatenate((p - 3.0, p + 3.0)) for p in at]
    for p, (x, y), name, color in zip(at, points, names, colors, strict=True):
        width = 0.66 * SMALL * len(name)
        boxes = [np.array([p[0] + dx, p[1] + dy, p[0] + dx + width, p[1] + dy + SMALL]) for dx, dy in _around(width)]
        best = min(boxes, key=lambda box: _hidden(box, taken, size))
        taken.append(best)
        shift = (best[0] - p[0], best[1] - p[1] + 1.0)
        direct_label(axes, x, y, name, color, xytext=shift, fontweight="bold")


def _around(width: float) -> list[tuple[float, float]]:
    """Return shifts of a name's lower left corner from its point, the preferred first [point]."""
    right, left, middle = 4.0, -4.0 - width, -width / 2
    near = [(right, 1.0), (left, 1.0), (right, -8.0), (left, -8.0), (middle, 5.0), (middle, -12.0)]
    return near + [(x, y + dy) for dy in (9.0, -9.0, 18.0, -18.0, 27.0, -27.0) for x, y in near[:4]]


def _hidden(box: np.ndarray, taken: Sequence[np.ndarray], size: np.ndarray) -> float:
    """Return how much of other names and points a name would hide, and of itself beyond the axes [point^2]."""
    overlap = sum(np.prod(np.clip(np.minimum(box[2:], o[2:]) - np.maximum(box[:2], o[:2]), 0, None)) for o in taken)
    inside = np.prod(np.clip(np.minimum(box[2:], size) - np.maximum(box[:2], 0), 0, None))
    return float(overlap + np.prod(box[2:] - box[:2]) - inside)


def _height_in(axes: Axes) -> float:
    figure = axes.figure
    return axes.get_position().height * figure.get_size_inches()[1]  # pyright: ignore
