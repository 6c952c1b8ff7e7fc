"""The explored share over time."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from covey.results.figures import layout, style
from covey.results.metrics.exploration import time_to_share

if TYPE_CHECKING:
    from covey.results.run import Run

_POINTS = 1500


def explored_curve(run: "Run") -> style.Picture:
    """Return the explored share over time: of the whole team, and of each robot's own beams."""
    picture = style.Picture(style.COLUMN_IN, 2.4)
    axes = layout.place_axes(picture, 0.45, 0.36, style.COLUMN_IN - 0.45 - 0.62, 2.4 - 0.36 - 0.24)
    draw_explored(axes, run)
    return picture


def draw_explored(axes: Axes, run: "Run") -> None:
    """Draw the curves, their names, and the goal, if the run has one, with the time at which it was reached."""
    times, n = np.append(0.0, run.times), len(run.names)
    union = np.append(0.0, run.series("explored_share_union")) * 100
    own = np.vstack((np.zeros(n), run.series("explored_share"))) * 100
    end = float(times[-1]) or 1.0
    keep = np.unique(np.linspace(0, len(times) - 1, min(len(times), _POINTS)).astype(int))
    axes.set(xlim=(0.0, end), ylim=(0.0, 103.0))
    axes.set_xlabel("time [s]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.set_ylabel("explored [%]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.grid(color=style.GRID, lw=0.4)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    for i in range(n):
        axes.plot(times[keep], own[keep, i], color=style.robot_color(i, n), lw=0.9 if n > 1 else 1.6, zorder=3)
    if n > 1:
        axes.plot(times[keep], union[keep], color=style.INK, lw=1.6, zorder=4)
    if n <= style.LABELLED:
        labels = [("union", union[-1], style.INK)] * (n > 1) + _ends(run, own[-1])
        _names(axes, [label for label in labels if not np.isnan(label[1])], end)
    entries = [
        Line2D([], [], color=style.INK, lw=1.6, label="union"),
        Line2D([], [], color=style.robot_color(n // 2, n), lw=0.9, label="each robot"),
    ]
    goal = draw_goal(axes, times, union, run.goal.get("explored_share"))
    layout.legend(axes, entries * (n > style.LABELLED) + goal, handle_length=2.2)


def draw_goal(axes: Axes, times: np.ndarray, percent: np.ndarray, goal: float | None) -> list[Line2D]:
    """Draw a run's goal, if it has one [share], and when a curve [%] reached it; return the legend's entry."""
    if goal is None:
        return []
    dashed = {"color": style.FAINT, "lw": 0.7, "ls": (0, (4, 2))}
    axes.axhline(100 * goal, zorder=2, **dashed)
    reached = time_to_share(times, percent, 100 * goal)
    if reached is None:
        return [Line2D([], [], label=f"{100 * goal:g} %", **dashed)]
    ring = {"marker": "o", "ms": 4, "mfc": "white", "mec": style.INK}
    axes.plot(reached, 100 * goal, mew=1.0, zorder=5, clip_on=False, ls="", **ring)
    return [Line2D([], [], label=f"{100 * goal:g} % at {reached:.1f} s", **dashed, **ring)]


def _ends(run: "Run", last: np.ndarray) -> list[tuple[str, float, str]]:
    n = len(run.names)
    return [(run.names[i], float(last[i]), style.robot_color(i, n)) for i in range(n)]


def _names(axes: Axes, labels: list[tuple[str, float, str]], x: float) -> None:
    """Write names at the right ends of the curves, moved apart just as far as necessary."""
    height = axes.get_position().height * axes.figure.get_size_inches()[1] * 72  # pyright: ignore
    places = spread([y for _, y, _ in labels], 103.0 * (style.SMALL + 0.6) / height)
    for (name, _, color), y in zip(labels, places, strict=True):
        layout.direct_label(axes, x, y, name, color, xytext=(5, 0), va="center")


def spread(places: list[float], gap: float, lowest: float = 0.0) -> list[float]:
    """Return places at least ``gap`` apart, in the same order, as near as possible to the given ones.

    None is below ``lowest``. Places that are too close form a group, centred on its mean.

    Examples:
        >>> spread([50.0, 50.0, 90.0], 4.0)
        [48.0, 52.0, 90.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[list[int]] = []
    centres: list[float] = []
    for i in order:
        group, centre = [i], max(places[i], lowest)
        while groups and centre - gap * (len(group) - 1) / 2 < centres[-1] + gap * (len(groups[-1]) - 1) / 2 + gap:
            group = groups.pop() + group
            centres.pop()
            centre = max(sum(places[k] for k in group) / len(group), lowest + gap * (len(group) - 1) / 2)
        groups.append(group)
        centres.append(centre)
    result = list(places)
    for group, centre in zip(groups, centres, strict=True):
        for rank, i in enumerate(group):
            result[i] = centre + gap * (rank - (len(group) - 1) / 2)
    return result
