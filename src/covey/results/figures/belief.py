"""The robots' maps: their union, and each robot's own."""

import math
from typing import TYPE_CHECKING

from covey.results.figures import ground, layout, style
from covey.results.figures.trajectories import view_of

if TYPE_CHECKING:
    from covey.results.run import Run


def union_map(run: "Run") -> style.Picture | None:
    """Return the union of all robots' final maps; None if the run has none."""
    if run.maps is None or run.maps.union is None:
        return None
    picture, axes = layout.map_picture(view_of(run))
    axes.set_facecolor(style.UNKNOWN_COLOR)
    ground.show_cells(axes, run.maps.union, ground.occupancy_pixels(run.maps.union))
    layout.legend(axes, _entries(run))
    layout.scale_bar(axes)
    return picture


def robot_maps(run: "Run") -> style.Picture | None:
    """Return the robots' final maps, side by side across the page; None if the run has none."""
    if run.maps is None or not any(run.maps.robots):
        return None
    n, view = len(run.names), view_of(run)
    aspect = (view[3] - view[2]) / (view[1] - view[0])
    columns = min(n, max(3, math.ceil(math.sqrt(n * aspect))))
    rows = -(-n // columns)
    left, bottom, top, gap, title = 0.45, 0.36, 0.2, 0.2, 0.17
    width = min((style.PAGE_IN - left - 0.1 - (columns - 1) * gap) / columns, 3.0)
    height = max(width * aspect, 0.3)
    total = (max(left + columns * (width + gap) - gap + 0.1, style.COLUMN_IN), bottom + rows * (height + title) + top)
    picture = style.Picture(*total)
    shares = run.last("known_share") if len(run.times) else [math.nan] * n
    first = None
    for i, (name, grid) in enumerate(zip(run.names, run.maps.robots, strict=True)):
        row, column = divmod(i, columns)
        place = left + column * (width + gap), total[1] - top - (row + 1) * (height + title), width, height
        axes = layout.map_axes(picture, place, view)
        axes.set_facecolor(style.UNKNOWN_COLOR)
        if grid is not None:
            ground.show_cells(axes, grid, ground.occupancy_pixels(grid))
        share = "" if math.isnan(shares[i]) else f"  {100 * shares[i]:.1f} %"
        axes.set_title(name + share, fontsize=style.SMALL, pad=2, color=style.INK, loc="left")
        if column:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
        if i + columns < n:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
        if n > style.LABELLED:
            axes.locator_params(nbins=3)
        first = first or axes
    assert first is not None
    _above(picture, first, title, width, columns, gap, _entries(run))
    return picture


def _above(picture: style.Picture, axes, title: float, width: float, columns: int, gap: float, entries: list) -> None:
    """Put legend and scale bar above the row of titles, across the page."""
    box = axes.get_position()
    w, h = picture.get_size_inches()
    header = picture.add_axes((box.x0, box.y1, (columns * (width + gap) - gap) / w, title / h))
    left, right = axes.get_xlim()
    header.set_xlim(left, left + (right - left) * (columns * (width + gap) - gap) / width)
    header.set_axis_off()
    layout.legend(header, entries)
    layout.scale_bar(header, (right - left) / 5)


def _entries(run: "Run") -> list:
    return [
        layout.patch(style.WALL_COLOR, "occupied" if run.landscape is None else "not drivable"),
        layout.patch(style.FREE_COLOR, "free"),
        layout.patch(style.UNKNOWN_COLOR, "unknown"),
    ]
