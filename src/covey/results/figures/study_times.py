"""Figures of a study over time: the share of runs at the goal, and the explored share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError
from covey.lazy import pl
from covey.results.figures import layout, style
from covey.results.figures.study_layout import (
    footnote,
    footnote_height_in,
    label,
    legend,
    legend_height_in,
    plain,
    written,
)
from covey.results.metrics import is_time_to_goal
from covey.results.statistics.intervals import FEWEST, quantile
from covey.results.statistics.sample import columns, groups, sample

_HEIGHT_IN = 1.8
_POINTS = 1000


def survival_curves(
    table: "pl.DataFrame", metric: str = "exploration_time_s", by: str | Sequence[str] | None = None
) -> style.Picture:
    """Return Kaplan-Meier curves of a time to a goal: the share of runs that have not reached it yet, by group.

    From six runs on, they have the 95 % log-log interval at each time. A cross marks a run given up at its timeout.

    Args:
        table: one row per run, see `covey.results.statistics.sample.sample`.
        metric: a time to a goal.
        by: parameters, with one curve for each of their values.

    Raises:
        UnknownNameError: a column is missing.
        InvalidValueError: the metric is not a time to a goal.
    """
    if not is_time_to_goal(metric):
        raise InvalidValueError(f"{metric!r} is not a time to a goal; choose one such as exploration_time_s or t90_s")
    found = [(key, sample(part, metric)) for key, part in groups(table, by)]
    names = [_name(by, key) for key, _ in found]
    text = (
        "Kaplan-Meier; + runs given up there without reaching the goal. Bands: 95 % log-log interval at each time, "
        f"from {FEWEST} runs on."
    )
    curves = [runs.survival for _, runs in found]
    counts = [f"{c.reached} of {c.n} reached" for c in curves]
    handles = _handles([f"{name}: {c}" if name else c for name, c in zip(names, counts, strict=True)])
    picture, axes = _axes(handles, _title(by), text)
    end = 0.0
    for k, ((_, runs), curve) in enumerate(zip(found, curves, strict=True)):
        color = style.robot_color(k, len(found))
        times, share = np.append(0.0, curve.times_s), np.append(1.0, curve.share)
        axes.step(times, 100 * share, where="post", color=color, lw=1.2, zorder=3)
        if curve.n >= FEWEST:
            low, high = (np.append(1.0, np.where(np.isnan(b), curve.share, b)) for b in (curve.low, curve.high))
            axes.fill_between(times, 100 * low, 100 * high, step="post", color=color, alpha=0.13, lw=0, zorder=2)
        given_up = np.unique(runs.values[~runs.reached])
        at = share[np.searchsorted(times, given_up, "right") - 1]
        axes.plot(given_up, 100 * at, "+", color=color, ms=5, mew=1.0, zorder=4, clip_on=False)
        end = max(end, float(times[-1]))
    axes.set(xlim=(0.0, end or 1.0), ylim=(0.0, 103.0))
    axes.set_xlabel(label(metric), fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.set_ylabel("runs not there yet [%]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    return picture


def explored_bands(curves: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> style.Picture:
    """Return the explored share over time of the runs of each setting: the median, and the band of the quartiles.

    Below six runs the band is their range.

    Args:
        curves: by name of the setting, times [s], shape (t,), increasing, and the share explored by each run at
            those times, shape (runs, t), from 0 to 1; a run that ended earlier keeps its last share.

    Raises:
        InvalidValueError: shapes do not match, or a share is not between 0 and 1.
    """
    n = sorted({len(np.atleast_2d(shares)) for _, shares in curves.values()})
    band = (
        "range"
        if not n or n[-1] < FEWEST
        else "quartiles"
        if n[0] >= FEWEST
        else f"quartiles, range below {FEWEST} runs"
    )
    text = f"Lines: median of the runs; bands: {band}."
    handles = _handles([f"{name} (n = {len(np.atleast_2d(shares))})" for name, (_, shares) in curves.items()])
    picture, axes = _axes(handles, None, text)
    end = 0.0
    for k, (name, (times, shares)) in enumerate(curves.items()):
        times, shares = np.asarray(times, float), np.asarray(shares, float)
        if shares.ndim != 2 or not len(shares) or times.shape != shares.shape[1:] or not len(times):
            raise InvalidValueError(
                f"{name}: {times.shape} times and shares of shape {shares.shape}; give one row per run, one share "
                "per time"
            )
        if not ((shares >= 0.0) & (shares <= 1.0)).all():
            raise InvalidValueError(f"{name}: shares from {shares.min():g} to {shares.max():g}; they go from 0 to 1")
        keep = np.unique(np.linspace(0, len(times) - 1, min(len(times), _POINTS)).astype(int))
        times, shares, color = times[keep], 100 * shares[:, keep], style.robot_color(k, len(curves))
        few = len(shares) < FEWEST
        low = shares.min(axis=0) if few else quantile(shares, 0.25, axis=0)
        high = shares.max(axis=0) if few else quantile(shares, 0.75, axis=0)
        axes.fill_between(times, low, high, color=color, alpha=0.18, lw=0, zorder=2)
        axes.plot(times, quantile(shares, 0.5, axis=0), color=color, lw=1.3, zorder=3)
        end = max(end, float(times[-1]))
    axes.set(xlim=(0.0, end or 1.0), ylim=(0.0, 103.0))
    axes.set_xlabel("time [s]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.set_ylabel("explored [%]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    return picture


def _axes(handles: list[Line2D], title: str | None, text: str) -> tuple[style.Picture, Axes]:
    """Return a picture of one column, with its legend above and a note below."""
    above, below = legend_height_in(style.COLUMN_IN, handles, title), footnote_height_in(style.COLUMN_IN, text)
    picture = style.Picture(style.COLUMN_IN, below + 0.36 + _HEIGHT_IN + above)
    axes = layout.place_axes(picture, 0.45, below + 0.36, style.COLUMN_IN - 0.45 - 0.15, _HEIGHT_IN)
    plain(axes)
    legend(picture, handles, title=title)
    footnote(picture, text)
    return picture, axes


def _handles(names: list[str]) -> list[Line2D]:
    colors = [style.robot_color(k, len(names)) for k in range(len(names))]
    return [Line2D([], [], color=c, lw=1.4, label=name) for c, name in zip(colors, names, strict=True)]


def _name(by: str | Sequence[str] | None, key: tuple[Any, ...]) -> str:
    return ", ".join(map(written, key)) if by else ""


def _title(by: str | Sequence[str] | None) -> str | None:
    return ", ".join(label(c) for c in columns(by)) or None
