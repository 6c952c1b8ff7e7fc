"""Pictures of SLAM: the map, the trajectory over the odometry, loops, errors along the log, and pose graphs."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from covey.geometry.grid import Grid
from covey.results.figures import ground, layout, style

ESTIMATE, ODOMETRY, ACCEPTED, REFUSED = style.ROBOTS[0], style.ROBOTS[4], style.ROBOTS[2], style.ROBOTS[1]
_POINTS = 4000


def map_of_scans(grid: Grid, doubtful: Sequence[np.ndarray] = ()) -> style.Picture:
    """Return a map, -1 unknown, 0 free, 100 occupied, with the stretches of the way (k, 3) that are doubtful."""
    picture, axes = layout.map_picture(ground.bounds(grid))
    ground.show_cells(axes, grid, ground.occupancy_pixels(grid))
    names = ((style.WALL_COLOR, "occupied"), (style.FREE_COLOR, "free"), (style.UNKNOWN_COLOR, "unknown"))
    names = names[::2] if doubtful else names  # a fourth entry would lie on the scale bar
    for way in doubtful:
        thin = way[:: max(1, len(way) // _POINTS), :2]
        axes.plot(thin[:, 0], thin[:, 1], color=REFUSED, lw=2.4, alpha=0.75, solid_capstyle="round", zorder=3)
    marks = [_line(REFUSED, "way, doubtful")] if doubtful else []
    layout.legend(axes, [*(layout.patch(color, name) for color, name in names), *marks])
    layout.scale_bar(axes)
    return picture


def trajectory_over_odometry(poses: np.ndarray, odometry: np.ndarray, grid: Grid | None = None) -> style.Picture:
    """Return estimated poses (n, 3) over those of the odometry (n, 3), both from the same first pose, and the map."""
    picture, axes = layout.map_picture(_around(poses, odometry))
    if grid is not None:
        pixels = np.zeros((*grid.shape, 4), np.uint8)
        pixels[grid.cells > 50] = (*style.rgb(style.FAINT), 255)
        ground.show_cells(axes, grid, pixels)
    for line, color in ((odometry, ODOMETRY), (poses, ESTIMATE)):
        thin = line[:: max(1, len(line) // _POINTS), :2]
        axes.plot(thin[:, 0], thin[:, 1], color=color, lw=0.7, solid_joinstyle="round", zorder=3)
    axes.plot(*poses[0, :2], "o", ms=3.6, mfc="white", mec=style.INK, mew=0.9, zorder=4)
    layout.legend(axes, [_line(ESTIMATE, "estimate"), _line(ODOMETRY, "odometry")])
    layout.scale_bar(axes)
    return picture


def loops(poses: np.ndarray, accepted: np.ndarray, refused: np.ndarray) -> style.Picture:
    """Return key frames (n, 3) with the pairs (k, 2) that closed a loop, and those that were compared and did not."""
    picture, axes = layout.map_picture(_around(poses))
    axes.plot(poses[:, 0], poses[:, 1], color=style.FAINT, lw=0.6, zorder=2)
    for pairs, color, order in ((refused, REFUSED, 3), (accepted, ACCEPTED, 4)):
        if not len(pairs):
            continue
        ends = poses[pairs, :2]
        axes.add_collection(LineCollection(list(ends), colors=color, linewidths=0.6, zorder=order))
        axes.plot(ends[:, 0, 0], ends[:, 0, 1], ".", color=color, ms=1.8, zorder=order)
    entries = [_line(ACCEPTED, f"{len(accepted)} accepted"), _line(REFUSED, f"{len(refused)} refused")]
    layout.legend(axes, entries)
    layout.scale_bar(axes)
    return picture


def errors_along(errors: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> style.Picture:
    """Return errors [m] along a log: by name the scans, (k,), and the error at each, (k,)."""
    picture = style.Picture(style.PAGE_IN, 2.4)
    axes = layout.place_axes(picture, 0.5, 0.36, style.PAGE_IN - 0.62, 2.4 - 0.36 - 0.24)
    for (scans, error), color in zip(errors.values(), (ESTIMATE, REFUSED), strict=False):
        axes.plot(scans, error, ".", color=color, ms=2.0, alpha=0.8)
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.0)
    axes.set_xlabel("scan", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.set_ylabel("error [m]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.grid(color=style.GRID, lw=0.4)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    colors = zip(errors, (ESTIMATE, REFUSED), strict=False)
    layout.legend(axes, [Line2D([], [], ls="", marker=".", color=color, label=name) for name, color in colors])
    return picture


def pose_graph(poses: np.ndarray, first: np.ndarray, second: np.ndarray) -> style.Picture:
    """Return a pose graph: poses (n, 3) and the relations between the rows ``first`` and ``second``, (m,)."""
    picture, axes = layout.map_picture(_around(poses))
    ends = np.stack((poses[first, :2], poses[second, :2]), axis=1)
    along = np.abs(second - first) == 1
    for which, color in ((along, ESTIMATE), (~along, ACCEPTED)):
        axes.add_collection(LineCollection(list(ends[which]), colors=color, linewidths=0.4))
    layout.legend(axes, [_line(ESTIMATE, "one pose to the next"), _line(ACCEPTED, "other relations")])
    layout.scale_bar(axes)
    return picture


def _around(*lines: np.ndarray) -> tuple[float, float, float, float]:
    """Return left, right, bottom, top [m] around poses, at most 20 times as wide as tall, or as tall as wide."""
    points = np.concatenate([line[:, :2] for line in lines])
    low, high = points.min(axis=0), points.max(axis=0)
    half = np.maximum(0.5 * (high - low), 0.05 * float((high - low).max())) * 1.04 + 0.5
    middle = 0.5 * (low + high)
    return middle[0] - half[0], middle[0] + half[0], middle[1] - half[1], middle[1] + half[1]


def _line(color: str, label: str) -> Line2D:
    return Line2D([], [], color=color, lw=1.2, label=label)
