"""Pictures and films of what `covey.play` returns."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon
from PIL import Image

from covey.errors import InvalidValueError, printable
from covey.results.figures import ground, layout, style
from covey.results.figures.animation import save_images

if TYPE_CHECKING:
    from covey.lab.out import Out

_POINTS = 4000
_PER_SECOND = 12.0
_DOTS_PER_INCH = 200.0


def picture_of(out: "Out") -> style.Picture:
    """Return a picture of the workspace with the way, the start and the end of each robot, as ``out.draw`` says."""
    picture, axes = _stage(out)
    _marks(axes, out, len(out.time) - 1)
    _robots(axes, out, len(out.time) - 1)
    if (n := len(out.names)) <= style.LABELLED:
        starts = out.poses[0, :, :2] if out.draw.initial_poses else ()
        colors = [style.robot_color(i, n) for i in range(n)]
        layout.name_points(axes, out.poses[-1, :, :2], out.names, colors, starts, out.cells)
    return picture


def film(out: "Out", path: Path, seconds: float, caption: str) -> Path:
    """Write a film, see `Out.film`."""
    written = save_images(_frames(out, max(2, round(seconds * _PER_SECOND))), path, _PER_SECOND, caption)
    if written is None:
        raise InvalidValueError(f"film({str(path)!r}): there is nothing to show")
    return written


def _frames(out: "Out", count: int) -> Iterator[Image.Image]:
    """Yield up to ``count`` images, evenly spread over the run."""
    picture, axes = _stage(out)
    picture.set_dpi(_DOTS_PER_INCH)
    still = len(axes.get_children())
    canvas: Any = picture.canvas
    for k in np.unique(np.linspace(0, len(out.time) - 1, count).round().astype(int)).tolist():
        drawn = _marks(axes, out, k) + _robots(axes, out, k)
        drawn.append(axes.text(1.0, 1.01, f"{out.time[k]:.1f} s", transform=axes.transAxes, ha="right", fontsize=7))
        canvas.draw()
        yield Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())
        for item in drawn:
            item.remove()
    assert len(axes.get_children()) == still, "each image begins with an empty stage"


def _stage(out: "Out") -> tuple[style.Picture, Axes]:
    """Return a picture of the workspace without robots, and its axes in metres."""
    points = np.concatenate((out.poses[..., :2].reshape(-1, 2), out.workspace))
    reach = float(out.radius.max(initial=0.0))
    low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
    margin = 0.03 * float((high - low).max())
    picture, axes = layout.map_picture(
        (low[0] - margin, high[0] + margin, low[1] - margin, high[1] + margin), top_in=0.26
    )
    title = out.draw.title if out.draw.title is not None else out.title
    axes.set_title(title, fontsize=style.FONT, color=style.INK, loc="left", pad=3)
    if out.cells is not None:
        ground.show_walls(axes, out.cells, zorder=0.0)
    if len(out.workspace):
        axes.add_patch(Polygon(out.workspace, closed=True, fill=False, ec=style.INK, lw=0.8, zorder=2))
    if out.draw.grid:
        axes.grid(color=style.GRID, lw=0.4, zorder=0)
        axes.set_axisbelow(True)
    return picture, axes


def _marks(axes: Axes, out: "Out", k: int) -> list[Any]:
    """Draw what sensors and add-ons draw at time k, below the robots, and return what was drawn."""
    drawn, inside = list[Any](), Polygon(out.workspace, transform=axes.transData) if len(out.workspace) else None
    for mark in out.marks_at(k):
        ink = {"color": mark.color, "zorder": 2.5}
        match mark.kind:
            case "points":
                drawn += axes.plot(*mark.parts[0].T, "o", ms=mark.width, mew=0, **ink)
            case "lines":
                drawn.append(axes.add_collection(LineCollection(mark.parts, linewidths=mark.width, **ink)))
            case "polygons":
                edge, face = mark.color, (mark.color, mark.fill)
                for part in mark.parts:
                    polygon = Polygon(part, closed=True, ec=edge, fc=face, lw=mark.width, zorder=2.2)
                    drawn.append(axes.add_patch(polygon))
            case "arrows":
                (x, y), (u, v) = mark.parts[0].T, mark.parts[1].T
                arrows: Any = {"angles": "xy", "scale_units": "xy", "scale": 1, "units": "dots", "headwidth": 4}
                drawn.append(axes.quiver(x, y, u, v, width=mark.width * style.DPI / 72, **arrows, **ink))
            case "field":
                values, extent = mark.parts
                limits = axes.axis()
                image = axes.imshow(
                    values, origin="lower", extent=extent.tolist(), cmap=mark.color, alpha=mark.fill, zorder=0.5
                )
                axes.axis(limits)
                if inside is not None:
                    image.set_clip_path(inside)
                drawn.append(image)
            case "text":
                x, y = mark.parts[0].tolist()
                middle: Any = {"ha": "center", "va": "center", "fontsize": mark.width}
                drawn.append(axes.text(x, y, printable(mark.text), **middle, **ink))
    return drawn


def _robots(axes: Axes, out: "Out", k: int) -> list[Any]:
    """Draw the robots at time k, and return what was drawn."""
    draw, n, drawn = out.draw, len(out.names), list[Any]()
    stride = max(1, k // _POINTS)
    for i in range(n):
        color = style.robot_color(i, n)
        if draw.wake:
            way = np.concatenate((out.poses[: k + 1 : stride, i, :2], out.poses[k : k + 1, i, :2]))
            drawn += axes.plot(way[:, 0], way[:, 1], draw.wake_style, color=color, lw=0.9, alpha=0.8, zorder=3)
        if draw.initial_poses:
            drawn += _body(axes, out, i, 0, color, filled=False)
        drawn += _body(axes, out, i, k, color, filled=True)
    return drawn


def _body(axes: Axes, out: "Out", i: int, k: int, color: str, *, filled: bool) -> list[Any]:
    """Draw a robot at time k: the discs of its body and its heading, or a point; and return what was drawn."""
    x, y, heading = out.poses[k, i].tolist()
    order = 5 if filled else 4
    if not out.draw.real_shape:
        style_of = {"mfc": color if filled else "white", "mec": color, "ms": 3.5, "mew": 0.8}
        return axes.plot(x, y, "o", zorder=order, **style_of)
    c, s, drawn = np.cos(heading), np.sin(heading), list[Any]()
    for ahead, left, radius in out.discs[i].tolist():
        middle = (x + c * ahead - s * left, y + s * ahead + c * left)
        drawn.append(Circle(middle, radius, fc=color if filled else "white", ec=color, lw=0.8, zorder=order))
        axes.add_patch(drawn[-1])
    front = max(ahead + radius for ahead, _, radius in out.discs[i].tolist())
    nose = Line2D([x, x + front * c], [y, y + front * s], color="white" if filled else color, lw=1.0)
    nose.set_zorder(order + 0.1)
    axes.add_line(nose)
    return [*drawn, nose]
