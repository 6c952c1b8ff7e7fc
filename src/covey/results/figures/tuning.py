"""A picture of tuning: the trials in their order, and the metric over each parameter."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, LogLocator, MaxNLocator, NullFormatter

from covey.errors import InvalidValueError
from covey.results.figures import layout, style
from covey.results.figures.study_layout import Scale, legend, legend_height_in, plain, shortened
from covey.results.labels import label, written

_HEIGHT_IN, _LEFT_IN, _BELOW_IN, _GAP_IN = 1.75, 0.55, 0.38, 0.12
_MOST = 6
"""Largest number of parameters that are drawn."""
_FINISHED, _STOPPED, _BEST, _DEFAULT = style.ROBOTS[0], style.FAINT, style.ROBOTS[1], style.INK


@dataclass(frozen=True)
class TriedParameter:
    """What was tried of one parameter.

    Attributes:
        path: its dotted path.
        values: its value in each trial.
        log: whether ratios count.
        share: its importance, 0 to 1; None if it is not known.
    """

    path: str
    values: Sequence[Any]
    log: bool = False
    share: float | None = None


def tuning_picture(
    metric: str,
    means: Sequence[float],
    finished: Sequence[bool],
    tried: Sequence[TriedParameter],
    *,
    larger: bool = False,
) -> style.Picture:
    """Return the means of all trials in their order, and over each of the most important parameters.

    Args:
        metric: its name.
        means: mean of each trial over the seeds that it had; trial 0 is the default. Infinite: it had no result.
        finished: whether it had all seeds.
        tried: the parameters, most important first.
        larger: whether larger means are better.

    Raises:
        InvalidValueError: there are no trials.
    """
    y, done = np.asarray(means, float), np.asarray(finished, bool)
    if not len(y):
        raise InvalidValueError("there are no trials to draw")
    tried = tried[:_MOST]
    best = int(np.argmin(np.where(done, -y if larger else y, np.inf)))
    handles = _handles(done)
    columns = min(4, 2 + len(tried))
    cells = 2 + len(tried)
    rows = -(-cells // columns)
    above = legend_height_in(style.PAGE_IN, handles)
    row_in = _BELOW_IN + _HEIGHT_IN + _GAP_IN
    picture = style.Picture(style.PAGE_IN, rows * row_in + above)
    each = (style.PAGE_IN - _LEFT_IN - 0.08) / columns
    shown = np.isfinite(y)
    first = None
    for k, one in enumerate([None, *tried]):
        cell = 0 if one is None else k + 1
        left = _LEFT_IN + each * (cell % columns)
        bottom = (rows - 1 - cell // columns) * row_in + _BELOW_IN
        axes = layout.place_axes(picture, left, bottom, each * (2 if one is None else 1) - 0.12, _HEIGHT_IN)
        if one is None:
            _draw_order(axes, y, done, larger)
        else:
            _draw_parameter(axes, one, y, done, best)
        if first is None:
            first = axes
        else:
            axes.set_ylim(first.get_ylim())
        if cell % columns == 0:
            axes.set_ylabel(label(metric), fontsize=style.FONT, labelpad=2, color=style.INK)
        else:
            axes.tick_params("y", labelleft=False)
    legend(picture, handles)
    lost = int((~shown).sum())
    picture.note = (
        "Dots: trials with all seeds; crosses: stopped early, with the mean of the seeds that they had; line: the best "
        f"so far; dashed: the default.{f' {lost} trials without a result are not drawn.' if lost else ''}"
    )
    return picture


def _draw_order(axes: Axes, y: np.ndarray, done: np.ndarray, larger: bool) -> None:
    at = np.arange(len(y))
    worst = -np.inf if larger else np.inf
    ends = np.where(done, y, worst)
    so_far = np.maximum.accumulate(ends) if larger else np.minimum.accumulate(ends)
    _dots(axes, at, y, done)
    good = np.isfinite(so_far)
    axes.step(at[good], so_far[good], where="post", color=_BEST, lw=1.2, zorder=2)
    if np.isfinite(y[0]):
        axes.axhline(y[0], color=_DEFAULT, lw=0.7, ls=(0, (4, 2)), zorder=1)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.set_xlabel("trial", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.margins(0.04, 0.08)
    plain(axes)


def _draw_parameter(axes: Axes, one: TriedParameter, y: np.ndarray, done: np.ndarray, best: int) -> None:
    is_number = [isinstance(v, (int, float)) and not isinstance(v, bool) for v in one.values]
    if all(is_number):
        at = np.asarray(one.values, float)
        if one.log:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=6))
            axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        else:
            whole = bool((at == at.round()).all())
            axes.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2, integer=whole))
        axes.margins(x=0.08)
    else:
        names = sorted({written(v) for v in one.values})
        scale = Scale(names)
        at = np.array([scale.place(written(v)) for v in one.values])
        axes.set_xticks(range(len(names)), [shortened(name)[:12] for name in names])
        axes.set_xlim(-0.6, len(names) - 0.4)
    _dots(axes, at, y, done)
    if np.isfinite(y[0]):
        axes.plot(at[0], y[0], "D", color="none", mec=_DEFAULT, mew=0.9, ms=5, zorder=4)
    if np.isfinite(y[best]):
        axes.plot(at[best], y[best], "o", color="none", mec=_BEST, mew=1.2, ms=6, zorder=5)
    plain(axes)
    share = "" if one.share is None else f" ({one.share:.0%})"
    axes.set_xlabel(f"{label(one.path)}{share}", fontsize=style.FONT, labelpad=1.5, color=style.INK)


def _dots(axes: Axes, at: np.ndarray, y: np.ndarray, done: np.ndarray) -> None:
    shown = np.isfinite(y)
    axes.plot(at[~done & shown], y[~done & shown], "x", color=_STOPPED, ms=3, mew=0.7, zorder=2)
    axes.plot(at[done & shown], y[done & shown], "o", color=_FINISHED, ms=3, mew=0, zorder=3)


def _handles(done: np.ndarray) -> list[Line2D]:
    handles = [Line2D([], [], ls="", marker="o", color=_FINISHED, ms=3.5, mew=0, label="trial")]
    if not done.all():
        handles.append(Line2D([], [], ls="", marker="x", color=_STOPPED, ms=3.5, mew=0.7, label="stopped early"))
    return [
        *handles,
        Line2D([], [], color=_BEST, lw=1.2, marker="o", mfc="none", mew=1.2, ms=5, label="best so far"),
        Line2D([], [], color=_DEFAULT, lw=0.7, ls=(0, (4, 2)), marker="D", mfc="none", ms=4.5, label="default"),
    ]
