"""The true world with the robots' paths."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from covey.results.figures import ground, layout, style
from covey.results.figures.landscape import show_relief, vertices_view
from covey.results.figures.search import draw_search, search_entries, targets_of
from covey.results.given_up import places
from covey.results.maps import WALL

if TYPE_CHECKING:
    from covey.results.run import Run

_POINTS = 4000
_GIVEN_UP = {"gave_up": ("x", "goal given up"), "frontier_left": ("D", "frontier left"), "stands": ("^", "stood")}
"""Marker and words of each kind of event at whose places a robot got no further."""


def _mark(marker: str) -> dict[str, Any]:
    return {"ls": "", "marker": marker, "ms": 4.5, "mfc": "white", "mec": "#B00020", "mew": 1.2}


def trajectories(run: "Run") -> style.Picture:
    """Return the world with each robot's path: a ring at its start, a disc at its end, its name beside it."""
    picture, axes = layout.map_picture(view_of(run), top_in=legend_in(run))
    draw_trajectories(axes, run)
    return picture


def view_of(run: "Run") -> tuple[float, float, float, float]:
    """Return left, right, bottom, top [m] of the world, or around the robots' paths if no maps were kept."""
    if run.landscape is not None:
        return _around_ways(run)
    if run.maps is not None:
        return ground.cropped(run.maps)
    points = run.poses[..., :2].reshape(-1, 2)
    if not len(points):
        return -1.0, 1.0, -1.0, 1.0
    (left, bottom), (right, top) = points.min(axis=0) - 1.0, points.max(axis=0) + 1.0
    return left, right, bottom, top


def _around_ways(run: "Run") -> tuple[float, float, float, float]:
    """Return left, right, bottom, top [m] of the part of the ground that the robots visited, with a margin."""
    assert run.landscape is not None
    left, right, bottom, top = vertices_view(run.landscape.altitude, run.landscape.frame)
    points = run.poses[..., :2].reshape(-1, 2)
    if not len(points):
        return left, right, bottom, top
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2, np.maximum((high - low) * 0.6, 0.4 * float((high - low).max())) + 2.0
    return (
        max(left, middle[0] - half[0]), min(right, middle[0] + half[0]),
        max(bottom, middle[1] - half[1]), min(top, middle[1] + half[1]),
    )  # fmt: skip


def draw_trajectories(axes: Axes, run: "Run") -> None:
    """Draw the world, the paths, their ends, names, legend and scale bar into axes in metres."""
    if run.landscape is not None:
        show_relief(axes, run.landscape.altitude, run.landscape.frame)
    if run.maps is not None:
        pixels = ground.truth_pixels(run.maps.truth)
        if run.landscape is not None:  # only the walls that stand on it
            pixels = np.dstack((pixels, np.where(run.maps.truth.cells == WALL, 255, 0).astype(np.uint8)))
        ground.show_cells(axes, run.maps.truth, pixels)
    poses, n = run.poses, len(run.names)
    stride = max(1, -(-len(poses) // _POINTS))
    for i in range(n if len(poses) else 0):
        color = style.robot_color(i, n)
        way = np.concatenate((poses[::stride, i, :2], poses[-1:, i, :2]))
        axes.plot(way[:, 0], way[:, 1], color=color, lw=0.9, alpha=0.9, zorder=3, solid_joinstyle="round")
        axes.plot(*way[0], "o", ms=3.6, mfc="white", mec=color, mew=0.9, zorder=4)
        axes.plot(*way[-1], "o", ms=4.2, mfc=color, mec="white", mew=0.5, zorder=5)
    tags = run.tags_left
    if len(tags):
        axes.plot(tags["x_m"], tags["y_m"], "D", ms=3.4, mfc=style.LINK_COLOR, mec=style.INK, mew=0.5, zorder=3.5)
    for kind, (marker, _) in _GIVEN_UP.items():
        if len(left := places(run, kind)):
            axes.plot(*left.T, **_mark(marker) | {"mec": "white", "mew": 3.2}, zorder=5.4)  # seen on walls, too
            axes.plot(*left.T, **_mark(marker), zorder=5.5)
    draw_search(axes, run, poses[-1:, :, :2])
    if n <= style.LABELLED and len(poses):
        avoid = [*poses[0, :, :2], *(target.place for target in targets_of(run))]
        colors = [style.robot_color(i, n) for i in range(n)]
        layout.name_points(
            axes, poses[-1, :, :2], run.names, colors, avoid, None if run.maps is None else run.maps.truth
        )
    layout.legend(axes, _entries(run), bar=True)
    layout.scale_bar(axes)


def legend_in(run: "Run") -> float:
    """Return the height of the legend above the world [inch]."""
    return layout.legend_in(len(_entries(run)))


def _entries(run: "Run") -> list[Any]:
    marks = [
        Line2D([], [], ls="", marker="o", ms=3.6, mfc="white", mec=style.INK, mew=0.9, label="start"),
        Line2D([], [], ls="", marker="o", ms=4.2, mfc=style.INK, mec="white", mew=0.5, label="end"),
    ]
    tag = Line2D([], [], ls="", marker="D", ms=3.4, mfc=style.LINK_COLOR, mec=style.INK, mew=0.5, label="tag")
    walls = run.maps is not None and bool((run.maps.truth.cells == WALL).any())
    wall = [layout.patch(style.WALL_COLOR, "wall")] * walls
    given_up = [
        Line2D([], [], **_mark(marker), label=words)
        for kind, (marker, words) in _GIVEN_UP.items()
        if len(places(run, kind))
    ]
    return [*marks, *[tag] * bool(len(run.tags_left)), *given_up, *wall, *search_entries(run)]
