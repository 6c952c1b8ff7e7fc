"""The progress of a mission over time: explored share, covered share, or idleness of a patrol; a patrol's graph."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from covey.results.figures import layout, style
from covey.results.figures.curves import draw_explored, draw_goal
from covey.results.figures.search import SEARCHED_COLOR, meetings

if TYPE_CHECKING:
    from covey.results.run import Run

_POINTS = 1500
WORST_COLOR = "#D55E00"


def draw_progress(axes: Axes, run: "Run") -> None:
    """Draw the curve of the run's mission; for a mission without a curve, the explored share."""
    kinds = {"coverage": draw_covered, "patrolling": draw_idleness, "formation": draw_formation, "rescue": draw_rescue}
    kinds.get(run.mission["kind"], draw_explored)(axes, run)


def draw_covered(axes: Axes, run: "Run") -> None:
    """Draw the covered share, and the goal, if the run has one, with the time at which it was reached."""
    times, share = np.append(0.0, run.times), np.append(0.0, run.series("covered_share")) * 100
    _frame(axes, times, "covered [%]", 103.0)
    keep = _some(times)
    axes.plot(times[keep], share[keep], color=style.INK, lw=1.6, zorder=4)
    team = Line2D([], [], color=style.INK, lw=1.6, label="covered by the team")
    layout.legend(axes, [team, *draw_goal(axes, times, share, run.goal.get("covered_share"))])


def draw_idleness(axes: Axes, run: "Run") -> None:
    """Draw the mean and the largest idleness of the waypoints."""
    times = np.append(0.0, run.times)
    mean, worst = (np.append(0.0, run.series(c)) for c in ("graph_idleness_s", "worst_graph_idleness_s"))
    _frame(axes, times, "idleness [s]", 1.05 * max(float(worst.max()), 1.0))
    keep = _some(times)
    axes.plot(times[keep], worst[keep], color=WORST_COLOR, lw=0.9, zorder=3)
    axes.plot(times[keep], mean[keep], color=style.INK, lw=1.6, zorder=4)
    names = (style.INK, 1.6, f"mean ({mean.mean():.0f} s over time)"), (WORST_COLOR, 0.9, "worst waypoint")
    layout.legend(axes, [Line2D([], [], color=c, lw=w, label=text) for c, w, text in names], handle_length=1.8)


def draw_formation(axes: Axes, run: "Run") -> None:
    """Draw the robots' distances from their places in the formation, and the times of orders to change it."""
    times, events = run.times, run.events
    mean, worst = (run.series(c) for c in ("formation_error_m", "worst_formation_error_m"))
    top = float(np.nanmax(worst)) if np.isfinite(worst).any() else 1.0
    _frame(axes, times, "distance from places [m]", 1.05 * max(top, 1.0))
    keep = _some(times)
    axes.plot(times[keep], worst[keep], color=WORST_COLOR, lw=0.9, zorder=3)
    axes.plot(times[keep], mean[keep], color=style.INK, lw=1.6, zorder=4)
    entries = [
        Line2D([], [], color=style.INK, lw=1.6, label="mean"),
        Line2D([], [], color=WORST_COLOR, lw=0.9, label="worst"),
    ]
    for kind, line, label in (("order", "-", "order"), ("ground_changed", (0, (4, 2)), "ground changes")):
        found = events.filter(events["kind"] == kind)["time_s"].to_list()
        for time_s in found:
            axes.axvline(time_s, color=style.FAINT, lw=0.7, ls=line, zorder=2)
        entries += [Line2D([], [], color=style.FAINT, lw=0.7, ls=line, label=label)] * bool(found)
    layout.legend(axes, entries, handle_length=1.8)


def draw_rescue(axes: Axes, run: "Run") -> None:
    """Draw the shares of targets found, of walls searched and of cells explored, and the times of meetings."""
    times, total = np.append(0.0, run.times), sum(run.mission["targets"].values())
    found = np.append(0.0, run.series("targets_found"))
    _frame(axes, times, "[%]", 103.0)
    axes.set_xlim(right=layout.with_room(float(times[-1])))
    keep = _some(times)
    curves = [("explored_share_union", style.INK, "explored"), ("searched_share_union", SEARCHED_COLOR, "searched")]
    entries = []
    for column, color, label in curves:
        if column in run.team_columns and np.isfinite(share := run.series(column)).any():
            axes.plot(times[keep], 100 * np.append(0.0, share)[keep], color=color, lw=1.4, zorder=3)
            entries.append(Line2D([], [], color=color, lw=1.4, label=label))
    axes.step(times, 100 * found / total, where="post", color=WORST_COLOR, lw=1.6, zorder=4)
    entries.append(Line2D([], [], color=WORST_COLOR, lw=1.6, label=f"found ({found[-1]:.0f} of {total})"))
    for mark in meetings(run):
        axes.axvline(mark.time_s, color=style.INK, lw=0.8, ls=(0, (4, 2)), zorder=2)
    meeting = Line2D([], [], color=style.INK, lw=0.8, ls=(0, (4, 2)), label="meeting")
    layout.legend(axes, entries + [meeting] * bool(meetings(run)), handle_length=1.4)


def draw_graph(axes: Axes, run: "Run") -> None:
    """Draw the waypoints of a patrol as small dots and its edges as thin lines; nothing for other missions."""
    points = np.array(run.mission.get("waypoints_m", []), float).reshape(-1, 2)
    if not len(points):
        return
    edges = np.array(run.mission["edges"], int).reshape(-1, 2)
    axes.add_collection(LineCollection(list(points[edges]), colors=style.INK, linewidths=0.5, zorder=3.5))
    axes.plot(points[:, 0], points[:, 1], "o", ms=2.6, mfc=style.INK, mec="white", mew=0.4, zorder=3.6)


def _frame(axes: Axes, times: np.ndarray, label: str, top: float) -> None:
    axes.set(xlim=(0.0, float(times[-1]) or 1.0), ylim=(0.0, top))
    axes.set_xlabel("time [s]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.set_ylabel(label, fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.grid(color=style.GRID, lw=0.4)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _some(times: np.ndarray) -> np.ndarray:
    return np.unique(np.linspace(0, len(times) - 1, min(len(times), _POINTS)).astype(int))
