"""Quality of the beliefs about the ground at the end, noticed changes, and robots that were stopped by the ground."""

from typing import TYPE_CHECKING

import numpy as np

from covey.results.landscape import Believed, Landscape
from covey.results.metrics.registry import metrics

if TYPE_CHECKING:
    from covey.results.run import Run

_MEASURED = 1


def _beliefs(run: "Run") -> tuple[Landscape, list[Believed]] | None:
    ground = run.landscape
    return (ground, list(ground.beliefs.values())) if ground is not None and ground.beliefs else None


def _errors(ground: Landscape, believed: Believed) -> np.ndarray:
    """Return the errors of measured altitudes [m], shape (k,)."""
    return (believed.altitude.astype(float) - ground.truth)[believed.marks == _MEASURED]


def _mean_over_robots(values: list[float]) -> float | None:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else None


@metrics.register("belief_rmse_m")
def belief_rmse_m(run: "Run") -> float | None:
    """Root mean square error of the altitudes that a robot has measured [m], mean over the robots; None without any."""
    found = _beliefs(run)
    if found is None:
        return None
    errors = [_errors(found[0], believed) for believed in found[1]]
    return _mean_over_robots([float(np.sqrt(np.mean(e**2))) for e in errors if len(e)])


@metrics.register("belief_max_error_m")
def belief_max_error_m(run: "Run") -> float | None:
    """Largest error of any altitude that any robot has measured [m]; None without any."""
    found = _beliefs(run)
    errors = [_errors(found[0], believed) for believed in found[1]] if found else []
    return max((float(np.abs(e).max()) for e in errors if len(e)), default=None)


@metrics.register("belief_interval_coverage")
def belief_interval_coverage(run: "Run") -> float | None:
    """Share of measured vertices with the truth in the believed 95 % interval, mean over the robots: ideally 0.95."""
    found = _beliefs(run)
    if found is None:
        return None
    shares = []
    for believed in found[1]:
        inside = np.abs(_errors(found[0], believed)) <= believed.interval[believed.marks == _MEASURED]
        shares.append(float(np.mean(inside)) if len(inside) else np.nan)
    return _mean_over_robots(shares)


@metrics.register("measured_share")
def measured_share(run: "Run") -> float | None:
    """Share of the vertices of the ground whose altitude a robot has measured, mean over the robots."""
    found = _beliefs(run)
    return None if found is None else _mean_over_robots([float(np.mean(b.marks == _MEASURED)) for b in found[1]])


@metrics.register("false_resets")
def false_resets(run: "Run") -> int | None:
    """Number of times that robots found a vertex changed although no edit touched it, all robots together."""
    found = _beliefs(run)
    if found is None:
        return None
    ground, beliefs = found
    touched = np.zeros(ground.altitude.shape, bool)
    for change in ground.changes:
        h, w = change.before.shape
        touched[change.row : change.row + h, change.column : change.column + w] |= change.before != change.after
    if ground.spacing_m != ground.frame[2]:
        index = [
            np.minimum(np.rint(np.arange(size) * ground.spacing_m / ground.frame[2]).astype(int), most - 1)
            for size, most in zip(beliefs[0].marks.shape, touched.shape, strict=True)
        ]
        touched = touched[np.ix_(*index)]
    return int(sum(int(believed.resets[~touched].sum(dtype=np.int64)) for believed in beliefs))


@metrics.register("changes_noticed_share")
def changes_noticed_share(run: "Run") -> float | None:
    """Share of the edits of the ground noticed by a robot that knew a vertex there; None without edits."""
    ground = run.landscape
    return len(_first_noticed(run)) / len(ground.changes) if ground is not None and ground.changes else None


@metrics.register("change_delay_s")
def change_delay_s(run: "Run") -> float | None:
    """Time from an edit until the first robot noticed it [s], median over noticed edits; None without any."""
    if run.landscape is None or not run.landscape.changes:
        return None
    step_s = run.times[-1] / run.steps[-1]
    steps = [step - run.landscape.changes[k].step for k, step in _first_noticed(run).items()]
    return float(np.median(steps) * step_s) if steps else None


def _first_noticed(run: "Run") -> dict[int, int]:
    """Return the step at which each edit, by its number, was noticed first."""
    events = run.events
    rows = events.filter(events["kind"] == "change_noticed")
    first: dict[int, int] = {}
    for change, step in zip(rows["other"], rows["step"], strict=True):
        first.setdefault(int(change.removeprefix("change ")), step)
    return first


def _befell(run: "Run", *kinds: str) -> int | None:
    if run.landscape is None:
        return None
    events = run.events
    return events.filter(events["kind"].is_in(kinds))["robot"].n_unique()


@metrics.register("robots_stuck")
def robots_stuck(run: "Run") -> int | None:
    """Number of robots that got stuck at some time; None in a world without ground."""
    return _befell(run, "stuck")


@metrics.register("robots_rolled")
def robots_rolled(run: "Run") -> int | None:
    """Number of robots that rolled over at some time; None in a world without ground."""
    return _befell(run, "rolled")


@metrics.register("robots_lost")
def robots_lost(run: "Run") -> int | None:
    """Number of robots that fell or rolled over at some time; None in a world without ground."""
    return _befell(run, "fell", "rolled")
