"""Figures of a study over time: the share of runs at the goal, the explored share, and what a rescue has found."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError
from covey.lazy import pl
from covey.results.figures import layout, style
from covey.results.figures.study_layout import legend, legend_height_in, plain
from covey.results.labels import label, written
from covey.results.metrics import is_time_to_goal
from covey.results.statistics.intervals import FEWEST, mean_band, quantile
from covey.results.statistics.sample import columns, groups, sample
from covey.results.statistics.survival import Survival, kaplan_meier

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
    text = (
        "Kaplan-Meier; + runs given up there without reaching the goal. Bands: 95 % log-log interval at each time, "
        f"from {FEWEST} runs on."
    )
    curves = [(_name(by, key), runs.survival, runs.values[~runs.reached]) for key, runs in found]
    return _survival(curves, _title(by), label(metric), "runs not there yet [%]", "reached", text)


def targets_left(
    found: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]], kind: str | None = None, by: str | None = None
) -> style.Picture:
    """Return Kaplan-Meier curves of targets: the share that is not found yet, by setting.

    Args:
        found: by name of the setting, for each target the time at which it was found, or until which its run searched
            in vain [s], whether it was found, and the number of its run; each of shape (n,).
        kind: of the targets, for the title.
        by: what the names of the settings are values of, for the title.

    Raises:
        InvalidValueError: as `covey.results.statistics.kaplan_meier`.
    """
    text = (
        "Kaplan-Meier; + targets that were not found until there. Bands: 95 % log-log interval at each time, from "
        f"the variance between runs, from {FEWEST} runs on."
    )
    curves = []
    for name, (times, reached, runs) in found.items():
        times, reached = np.asarray(times, float), np.asarray(reached, bool)
        curves.append((name, kaplan_meier(times, reached, runs=runs), times[~reached]))
    whose = "targets" if kind is None else f"targets of the kind {kind.replace('_', ' ')}"
    title = whose if by is None else f"{whose}, by {by}"
    return _survival(curves, title, "time [s]", "not found yet [%]", "found", text)


def found_curves(curves: Mapping[str, tuple[ArrayLike, ArrayLike]], by: str | None = None) -> style.Picture:
    """Return V(t), the share of the targets that is found, by setting: the mean of the runs, and its interval.

    Args:
        curves: by name of the setting, times [s], shape (t,), increasing, and the share found by each run at those
            times, shape (runs, t), from 0 to 1.
        by: what the names of the settings are values of, for the title of the legend.

    Raises:
        InvalidValueError: as `explored_bands`.
    """
    text = f"Lines: mean of the runs; bands: its 95 % t interval, corrected for skewness, range below {FEWEST} runs."

    def mean(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        low, high = mean_band(shares)
        return low, shares.mean(axis=0), np.minimum(high, 100.0)

    return _bands(curves, by, "targets found [%]", text, mean)


def _survival(
    curves: Sequence[tuple[str, Survival, np.ndarray]], title: str | None, along: str, up: str, goal: str, text: str
) -> style.Picture:
    """Draw survival curves, each with its name and the times at which runs were given up."""
    counts = [(name, f"{curve.reached} of {curve.n} {goal}") for name, curve, _ in curves]
    picture, axes = _axes(_handles([f"{name}: {c}" if name else c for name, c in counts]), title, text)
    end = 0.0
    for k, (_, curve, given_up) in enumerate(curves):
        color = style.robot_color(k, len(curves))
        times, share = np.append(0.0, curve.times_s), np.append(1.0, curve.share)
        axes.step(times, 100 * share, where="post", lw=1.2, zorder=3, **_look(k, len(curves)))
        if curve.n >= FEWEST:
            low, high = (np.append(1.0, np.where(np.isnan(b), curve.share, b)) for b in (curve.low, curve.high))
            axes.fill_between(times, 100 * low, 100 * high, step="post", color=color, alpha=0.13, lw=0, zorder=2)
        given_up = np.unique(given_up)
        at = share[np.searchsorted(times, given_up, "right") - 1]
        axes.plot(given_up, 100 * at, "+", color=color, ms=5, mew=1.0, zorder=4, clip_on=False)
        end = max(end, float(times[-1]))
    axes.set(xlim=(0.0, end or 1.0), ylim=(0.0, 103.0))
    axes.set_xlabel(along, fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.set_ylabel(up, fontsize=style.FONT, labelpad=1.5, color=style.INK)
    return picture


def explored_bands(curves: Mapping[str, tuple[ArrayLike, ArrayLike]], by: str | None = None) -> style.Picture:
    """Return the explored share over time of the runs of each setting: the median, and the band of the quartiles.

    Below six runs the band is their range.

    Args:
        curves: by name of the setting, times [s], shape (t,), increasing, and the share explored by each run at
            those times, shape (runs, t), from 0 to 1; a run that ended earlier keeps its last share.
        by: what the names of the settings are values of, for the title of the legend.

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
    text = (
        f"Lines: median of the runs; bands: {band}. A line ends when the last run of its setting does; a run that "
        "ended earlier keeps its last share."
    )

    def quartiles(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        few, middle = len(shares) < FEWEST, quantile(shares, 0.5, axis=0)
        low = shares.min(axis=0) if few else quantile(shares, 0.25, axis=0)
        return low, middle, shares.max(axis=0) if few else quantile(shares, 0.75, axis=0)

    return _bands(curves, by, "explored [%]", text, quartiles)


def _bands(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    title: str | None,
    up: str,
    text: str,
    summary: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> style.Picture:
    """Draw shares of runs over time: for each setting the line and the band that ``summary`` makes of its runs."""
    handles = _handles([f"{name} (n = {len(np.atleast_2d(shares))})" for name, (_, shares) in curves.items()])
    picture, axes = _axes(handles, title, text)
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
        low, middle, high = summary(shares)
        axes.fill_between(times, low, high, color=color, alpha=0.18, lw=0, zorder=2)
        axes.plot(times, middle, lw=1.3, zorder=3, **_look(k, len(curves)))
        end = max(end, float(times[-1]))
    axes.set(xlim=(0.0, end or 1.0), ylim=(0.0, 103.0))
    axes.set_xlabel("time [s]", fontsize=style.FONT, labelpad=1.5, color=style.INK)
    axes.set_ylabel(up, fontsize=style.FONT, labelpad=1.5, color=style.INK)
    return picture


def _axes(handles: list[Line2D], title: str | None, text: str) -> tuple[style.Picture, Axes]:
    """Return a picture of one column, with its legend above and a note for its caption."""
    above = legend_height_in(style.COLUMN_IN, handles, title)
    picture = style.Picture(style.COLUMN_IN, 0.36 + _HEIGHT_IN + above)
    axes = layout.place_axes(picture, 0.45, 0.36, style.COLUMN_IN - 0.45 - 0.15, _HEIGHT_IN)
    plain(axes)
    legend(picture, handles, title=title)
    picture.note = text
    return picture, axes


def _handles(names: list[str]) -> list[Line2D]:
    looks = [_look(k, len(names)) for k in range(len(names))]
    return [Line2D([], [], lw=1.4, label=name, **look) for look, name in zip(looks, names, strict=True)]


def _look(index: int, count: int) -> dict[str, Any]:
    """Return the colour and the dashes of a line."""
    return {"color": style.robot_color(index, count), "ls": style.DASHES[index % len(style.DASHES)]}


def _name(by: str | Sequence[str] | None, key: tuple[Any, ...]) -> str:
    return ", ".join(map(written, key)) if by else ""


def _title(by: str | Sequence[str] | None) -> str | None:
    return ", ".join(label(c) for c in columns(by)) or None
