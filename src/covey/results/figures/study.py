"""Figures of a study over the fleet size, or any parameter: fleet metrics and robot metrics, four panels each.

Source: Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation.
Robotics 6(3):21, 2017, figures 6 and 7: the mean of the successful runs, with their number as the size of a symbol;
nothing is drawn where all fail.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from covey.lazy import pl
from covey.results.figures import layout, style
from covey.results.figures.study_layout import Scale, entry, facets, from_zero, legend, legend_height_in, marker
from covey.results.labels import FLEET_METRICS, ROBOT_METRICS, label, written
from covey.results.statistics.intervals import FEWEST, mean_interval
from covey.results.statistics.sample import groups, levels, numbers

_PANEL_IN = 2.0


def fleet_metrics(
    table: "pl.DataFrame", x: str, facet: str | None = None, metrics: Sequence[str] = FLEET_METRICS
) -> style.Picture:
    """Return up to four metrics over a parameter, one line per facet: means of the runs that reached their goal.

    The size of a symbol shows how many runs did; nothing is drawn where none did. Bars are the range of these runs, or
    from six runs on the t interval of their mean. Means of only the successful runs flatter a fleet if many
    fail: `survival_curves` and `box_plots` count the others. Lines join points only if the parameter is a number. A
    metric that equals an earlier one in all runs has no panel; a note says so.

    Args:
        table: one row per run, see `covey.results.statistics.sample.sample`.
        x: a parameter, such as ``robots.scout.count``.
        facet: a parameter, such as ``world.terrain``.
        metrics: columns.

    Raises:
        UnknownNameError, InvalidValueError: a parameter is missing, or a metric is not a number.
    """
    reached = table.filter(pl.col("status") == "reached")
    return _panels(table, reached, x, facet, metrics, "runs that reached the goal", "reached the goal")


def robot_metrics(
    table: "pl.DataFrame", x: str, facet: str | None = None, metrics: Sequence[str] = ROBOT_METRICS
) -> style.Picture:
    """Return metrics of the robots' computers over a parameter, one line per facet: means of all runs with such values.

    Each run's value is the mean over its robots of the mean over their samples (Yan 2017). Otherwise as
    `fleet_metrics`.
    """
    return _panels(table, table, x, facet, metrics, "runs", "were measured")


def _panels(
    table: "pl.DataFrame",
    used: "pl.DataFrame",
    x: str,
    facet: str | None,
    metrics: Sequence[str],
    whose: str,
    what: str,
) -> style.Picture:
    names = facets(table, facet)
    scale = Scale(levels(table, x))
    most = max((len(part) for _, part in groups(table, [x] if facet is None else [x, facet])), default=1)
    metrics, same = _different(table, metrics)
    text = " ".join([_explain(table, x, facet, whose, most), *same])
    width = style.COLUMN_IN if len(metrics) == 1 and facet is None else style.PAGE_IN
    handles = [] if facet is None else [entry(written(n), k, len(names)) for k, n in enumerate(names)]
    sizes = _sizes(most, _largest(scale))
    above = max(legend_height_in(width, handles, facet), legend_height_in(width, sizes, what))
    rows, extra = -(-len(metrics) // 2), scale.fit(2.8)
    high = _PANEL_IN + 0.45 + extra
    picture = style.Picture(width, above + rows * high)
    for i, metric in enumerate(metrics):
        left, bottom = (0.6, 4.2)[i % 2], 0.36 + extra + (rows - 1 - i // 2) * high
        axes = layout.place_axes(picture, left, bottom, 2.8, _PANEL_IN)
        scale.dress(axes, label(x))
        axes.set_ylabel(label(metric), fontsize=style.FONT, labelpad=2, color=style.INK)
        if metric not in table.columns or np.isnan(numbers(table, metric)).all():
            axes.text(
                0.5, 0.5, "no value", transform=axes.transAxes, ha="center", fontsize=style.FONT, color=style.FAINT
            )
            axes.set_yticks([])
            continue
        for key, part in groups(used, facet):
            _line(axes, part, x, metric, scale, names.index(key[0]) if key else 0, len(names), most)
        from_zero(axes)
    legend(picture, handles, title=None if facet is None else label(facet))
    legend(picture, sizes, title=f"runs of {most} that {what}", right=True)
    picture.note = text
    return picture


def _different(table: "pl.DataFrame", metrics: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the metrics without those that equal an earlier one in all runs, and a sentence about each of these."""
    kept: list[str] = []
    said = []
    for metric in metrics:
        values = numbers(table, metric) if metric in table.columns else np.full(len(table), np.nan)
        twin = next((k for k in kept if k in table.columns and np.array_equal(values, numbers(table, k))), None)
        kept += [metric] * (twin is None)
        said += [f"The same in every run: {label(twin)}, {label(metric)}."] if twin else []
    return kept, said


def _line(
    axes: Axes, part: "pl.DataFrame", x: str, metric: str, scale: Scale, index: int, count: int, most: int
) -> None:
    color, shift = style.robot_color(index, count), scale.shift(index, count, min(0.06, 0.5 / count))
    places, means, sizes, ends = [], [], [], []
    for (value,), runs in groups(part, x):
        values = numbers(runs, metric)
        values = values[np.isfinite(values)]
        if not len(values):
            continue
        interval = mean_interval(values)
        places.append(scale.place(value))
        means.append(float(values.mean()))
        sizes.append(len(values) / most * _largest(scale) ** 2)
        ends.append((interval.low, interval.high))
    at = np.array(places)
    if scale.numeric:
        axes.plot(*scale.broken(at, np.array(means)), color=color, lw=0.9, alpha=0.8, zorder=3)
    for place, (low, high) in zip(at + shift, ends, strict=True):
        axes.plot([place, place], [low, high], "_-", color=color, lw=0.9, ms=8, mew=0.9, zorder=3)
    axes.scatter(at, means, s=sizes, marker=marker(index), color=color, lw=0, zorder=4, clip_on=False)


def _largest(scale: Scale) -> float:
    """Return the diameter of the symbol where all runs succeeded [point]."""
    return 6.0 if len(scale.values) <= 12 else 4.5


def _sizes(most: int, largest: float) -> list[Line2D]:
    """Return legend entries for the size of a symbol: one run, about half, all."""
    shown = sorted({1, (most + 1) // 2, most})
    look = {"marker": "o", "ls": "", "mew": 0, "color": style.FAINT}
    return [Line2D([], [], ms=largest * np.sqrt(n / most), label=str(n), **look) for n in shown]


def _explain(table: "pl.DataFrame", x: str, facet: str | None, whose: str, most: int) -> str:
    n = sorted({len(part) for _, part in groups(table, [x] if facet is None else [x, facet])})
    runs = f"n = {n[0]}" if len(n) == 1 else f"n = {n[0]} to {n[-1]}"
    bars = (
        "bars: range of these runs"
        if most < FEWEST
        else (f"bars: 95 % t interval of the mean, corrected for skewness, range where fewer than {FEWEST} runs")
    )
    return f"Points: mean of the {whose}; {bars}. {runs} runs of each setting; no point where there is none."
