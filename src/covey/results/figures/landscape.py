"""A landscape and the robots' beliefs about it: hill-shaded maps, and the quality of the beliefs over time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize, SymLogNorm
from matplotlib.lines import Line2D

from covey.results.figures import layout, style
from covey.results.figures.hillshade import ALTITUDES, shaded
from covey.results.figures.scene import Dots
from covey.results.landscape import Believed

MEASURED_COLOR, DROP_COLOR, OBSTACLE_COLOR = "#5E93D6", "#2C5FA8", "#7A1F2B"
_NOISE_M = 0.05
_MEASURED, _DROP, _OBSTACLE = 1, 2, 3
_POINTS = 4000


@dataclass(frozen=True)
class PathPicture:
    """The paths of robots over a map.

    Attributes:
        points: x, y [m] over time, float64 (t, n, 2).
        names: names of the robots.
    """

    points: np.ndarray
    names: Sequence[str]


def landscape_page(
    altitude: np.ndarray, frame: np.ndarray, known: Believed, ways: PathPicture | None = None
) -> style.Picture:
    """Return four maps across the page: the truth, the belief, its error, and its 95 % interval.

    They show the mapped part and its surroundings.

    Args:
        altitude: the truth, float64 (rows, columns), [m].
        frame: float64 (3,): x, y of vertex [0, 0] and the spacing [m].
        known: the belief on the same vertices.
        ways: paths of the robots, drawn over the truth.
    """
    left, bottom, top, gap, bar = 0.45, 0.36, 0.2, 0.16, 0.66
    view = _around_known(known, frame, ways)
    width = (style.PAGE_IN - left - gap - 2 * bar) / 2
    height = width * (view[3] - view[2]) / (view[1] - view[0])
    picture = style.Picture(style.PAGE_IN, bottom + 2 * (height + top) + 0.1)
    places = [
        (left + column * (width + bar + gap), bottom + row * (height + top + 0.1), width, height)
        for row, column in ((1, 0), (1, 1), (0, 0), (0, 1))
    ]
    axes = [layout.map_axes(picture, place, view) for place in places]
    limits = float(altitude.min()), float(altitude.max())
    _draw_altitudes(axes[0], altitude, frame, ways)
    _bar(axes[0], ScalarMappable(Normalize(*limits), ALTITUDES), "altitude [m]")
    _draw_belief(axes[1], known, frame, limits)
    _bar(axes[1], ScalarMappable(Normalize(*limits), ALTITUDES), "belief [m]")
    _draw_error(axes[2], altitude, known, frame)
    _draw_interval(axes[3], known, frame)
    for i, one in enumerate(axes):
        if i < 2:
            one.set_xlabel("")
            one.tick_params(labelbottom=False)
        if i % 2:
            one.set_ylabel("")
            one.tick_params(labelleft=False)
    layout.scale_bar(axes[0])
    return picture


def knowledge_curve(
    times: np.ndarray, share: np.ndarray, rmse_m: np.ndarray, names: Sequence[str], events_s: Sequence[float] = ()
) -> style.Picture:
    """Return the known share and the root mean square error of the beliefs over time, one above the other.

    Args:
        times: [s], (t,).
        share: 0 to 1, (t, n), for each robot or the team.
        rmse_m: [m], (t, n); NaN where nothing is known.
        names: n names.
        events_s: times at which the ground changed [s].
    """
    n = len(names)
    entries = [Line2D([], [], color=style.robot_color(i, n), lw=1.0, label=name) for i, name in enumerate(names)]
    entries = entries if n <= style.LABELLED else []
    if len(events_s):
        entries.append(Line2D([], [], color=style.FAINT, lw=0.7, ls=(0, (4, 2)), label="ground changes"))
    width, height = style.COLUMN_IN - 0.5 - 0.14, 1.2
    picture = style.Picture(style.COLUMN_IN, 0.36 + 2 * height + 0.16 + 0.06 + 0.15 * -(-len(entries) // 4))
    upper = layout.place_axes(picture, 0.5, 0.36 + height + 0.16, width, height)
    lower = layout.place_axes(picture, 0.5, 0.36, width, height)
    keep = np.unique(np.linspace(0, len(times) - 1, min(len(times), _POINTS)).astype(int))
    for axes, values, label in ((upper, 100 * share, "mapped [%]"), (lower, rmse_m, "RMSE [m]")):
        axes.set_ylabel(label, fontsize=style.FONT, labelpad=1.5, color=style.INK)
        axes.grid(color=style.GRID, lw=0.4)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        for time_s in events_s:
            axes.axvline(time_s, color=style.FAINT, lw=0.7, ls=(0, (4, 2)), zorder=2)
        for i in range(n):
            axes.plot(times[keep], values[keep, i], color=style.robot_color(i, n), lw=1.0, zorder=3)
        axes.set_xlim(0.0, float(times[-1]) if len(times) else 1.0)
        axes.set_ylim(bottom=0.0)
    upper.tick_params(labelbottom=False)
    lower.set_xlabel("time [s]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    layout.legend(upper, entries, handle_length=1.6)
    return picture


def markers(
    known: Believed, altitude: np.ndarray, frame: np.ndarray, *, radius_m: float = 0.12, lift_m: float = 0.5
) -> Dots:
    """Return a ball for each mapped vertex at its believed altitude, for `scene.still`; its colour shows the kind.

    Balls that would not lie below the ground are lifted, so the ground does not hide them, nor do they hide robots.

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007 (the map
        display).
    """
    rows, columns = np.nonzero((known.marks > 0) & ~np.isnan(known.altitude))
    z = known.altitude[rows, columns].astype(np.float64)
    z += np.where(z > altitude[rows, columns] - radius_m, lift_m, 0.0)
    colors = np.array([style.rgb(c) for c in ("#000000", MEASURED_COLOR, DROP_COLOR, OBSTACLE_COLOR)], np.uint8)
    points = np.column_stack((frame[0] + columns * frame[2], frame[1] + rows * frame[2], z))
    return Dots(points, colors[known.marks[rows, columns]], radius_m)


def vertices_view(altitude: np.ndarray, frame: np.ndarray) -> tuple[float, float, float, float]:
    """Return left, right, bottom, top [m] of the vertices, with a margin of half a spacing."""
    rows, columns = altitude.shape[:2]
    x, y, s = (float(v) for v in frame)
    return x - 0.5 * s, x + (columns - 0.5) * s, y - 0.5 * s, y + (rows - 0.5) * s


def _around_known(known: Believed, frame: np.ndarray, ways: PathPicture | None) -> tuple[float, float, float, float]:
    """Return left, right, bottom, top [m] around mapped vertices and the robots' paths, with a margin of a tenth."""
    left, right, bottom, top = vertices_view(known.marks, frame)
    rows, columns = np.nonzero(known.marks)
    points = np.column_stack((frame[0] + columns * frame[2], frame[1] + rows * frame[2]))
    if ways is not None:
        points = np.concatenate((points, ways.points.reshape(-1, 2)))
    if not len(points):
        return left, right, bottom, top
    low, high = points.min(axis=0), points.max(axis=0)
    # A picture much wider than high, or much higher than wide, would be a strip.
    middle, half = (
        (low + high) / 2,
        np.maximum((high - low) * 0.6, 0.36 * float(np.ptp(points, axis=0).max()) + frame[2]),
    )
    low, high = np.maximum(middle - half, (left, bottom)), np.minimum(middle + half, (right, top))
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def _show(axes: Axes, values: np.ndarray, frame: np.ndarray, interpolation: str = "nearest", **options) -> None:
    limits = axes.get_xlim(), axes.get_ylim()
    extent = vertices_view(values, frame)
    axes.imshow(values, origin="lower", extent=extent, interpolation=interpolation, **options)
    axes.set(xlim=limits[0], ylim=limits[1])


def show_relief(axes: Axes, altitude: np.ndarray, frame: np.ndarray) -> None:
    """Draw the hill-shaded ground into axes in metres, without changing their limits."""
    _show(axes, shaded(altitude, float(frame[2])), frame, interpolation="bilinear")


def _draw_altitudes(axes: Axes, altitude: np.ndarray, frame: np.ndarray, ways: PathPicture | None) -> None:
    show_relief(axes, altitude, frame)
    if ways is None or not len(ways.points):
        return
    n, stride = len(ways.names), max(1, -(-len(ways.points) // _POINTS))
    for i in range(n):
        color, way = style.robot_color(i, n), np.concatenate((ways.points[::stride, i], ways.points[-1:, i]))
        axes.plot(way[:, 0], way[:, 1], color=color, lw=0.9, zorder=3, solid_joinstyle="round")
        axes.plot(*way[0], "o", ms=3.0, mfc="white", mec=color, mew=0.8, zorder=4)
        axes.plot(*way[-1], "o", ms=3.4, mfc=color, mec="white", mew=0.5, zorder=5)
    if n <= style.LABELLED:
        layout.name_points(
            axes, ways.points[-1], ways.names, [style.robot_color(i, n) for i in range(n)], ways.points[0]
        )


def _draw_belief(axes: Axes, known: Believed, frame: np.ndarray, limits: tuple[float, float]) -> None:
    """Draw the belief; unmeasured drops and obstacles get their marks."""
    measured = np.where(known.marks == _MEASURED, known.altitude, np.nan).astype(np.float64)
    pixels = shaded(measured, float(frame[2]), limits)
    for mark, color in ((_DROP, DROP_COLOR), (_OBSTACLE, OBSTACLE_COLOR)):
        pixels[known.marks == mark] = style.rgb(color)
    _show(axes, pixels, frame)
    entries = [("drop", DROP_COLOR), ("obstacle", OBSTACLE_COLOR), ("not mapped", style.UNKNOWN_COLOR)]
    layout.legend(axes, [layout.patch(color, name) for name, color in entries])


def _draw_error(axes: Axes, altitude: np.ndarray, known: Believed, frame: np.ndarray) -> None:
    """Draw the error: linear up to 5 cm; logarithmic above that if some errors are much larger, as after a change."""
    error = np.where(known.marks == _MEASURED, known.altitude - altitude, np.nan)
    some = np.abs(error[~np.isnan(error)])
    most = layout.round_length(max(1.2 * float(some.max()), 0.02)) if some.size else 0.1
    axes.set_facecolor(style.UNKNOWN_COLOR)
    norm = Normalize(-most, most) if most <= 4 * _NOISE_M else SymLogNorm(_NOISE_M, vmin=-most, vmax=most)
    _show(axes, error, frame, cmap="RdBu_r", norm=norm)
    ticks = [t for t in (0.02, 0.05, 0.2, 0.5, 2.0, 5.0) if t <= most] if most > 4 * _NOISE_M else None
    ticks = None if ticks is None else [*(-t for t in reversed(ticks)), 0.0, *ticks]
    _bar(axes, ScalarMappable(norm, "RdBu_r"), "belief minus truth [m]", extend="both", ticks=ticks)


def _draw_interval(axes: Axes, known: Believed, frame: np.ndarray) -> None:
    interval = np.where(known.marks == 0, np.nan, known.interval)
    some = interval[~np.isnan(interval) & (interval > 0)]
    low, high = (float(some.min()), float(some.max())) if some.size else (0.01, 1.0)
    axes.set_facecolor(style.UNKNOWN_COLOR)
    norm = LogNorm(low, max(high, 1.5 * low))
    _show(axes, interval, frame, cmap="viridis_r", norm=norm)
    _bar(axes, ScalarMappable(norm, "viridis_r"), "± 95 % interval [m]")


def _bar(
    axes: Axes, values: ScalarMappable, label: str, *, extend: str = "neither", ticks: list[float] | None = None
) -> None:
    """Put a colour bar to the right of axes."""
    picture, box = axes.figure, axes.get_position()
    width = picture.get_size_inches()[0]  # pyright: ignore
    place = picture.add_axes((box.x1 + 0.06 / width, box.y0, 0.09 / width, box.height))
    bar = picture.colorbar(values, cax=place, extend=extend)
    if ticks is not None:
        bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
        bar.ax.minorticks_off()
    bar.ax.tick_params(labelsize=style.SMALL, width=0.5, length=2, pad=1.5, which="both")
    if isinstance(values.norm, LogNorm):  # written as 0.003, narrower than 3 x 10^-3
        for formatted in (bar.ax.yaxis.set_major_formatter, bar.ax.yaxis.set_minor_formatter):
            formatted(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "125" else "")
    bar.set_label(label, fontsize=style.FONT, labelpad=2, color=style.INK)
    bar.outline.set_linewidth(0.5)  # pyright: ignore
