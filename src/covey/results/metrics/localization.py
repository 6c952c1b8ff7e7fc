"""How well the robots knew where they were; every metric but `position_error_m` is None if all knew their true poses.

Formulas and sources: `covey.mapping.slam.scores`, which also scores recorded logs. Robots whose estimates were the
truth do not count.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from cachetools import cached

from covey.lazy import pq
from covey.results.metrics.registry import metrics

if TYPE_CHECKING:
    from covey.mapping.slam.scores import Errors, PoseErrors
    from covey.results.run import Run

_AT_ONCE = 5_000_000
"""Poses of robots that are measured together; 240 MB with their estimates."""

Measured = dict[str, "PoseErrors"]
"""Errors by robot."""


def _errors(run: "Run", measure: Callable[[np.ndarray, np.ndarray], "PoseErrors | None"]) -> Measured:
    """Return the errors of each robot that had to estimate its pose; ``measure``: of estimates and truth, (n, 3)."""
    each: dict[str, PoseErrors | None] = {}
    robots = np.flatnonzero(_estimated(run))
    at_once = max(1, _AT_ONCE // max(1, len(run.pose_times)))
    for first in range(0, len(robots), at_once):
        some = robots[first : first + at_once]
        truth, found = run.ways(some.tolist())
        each |= {run.names[i]: measure(found[:, k], truth[:, k]) for k, i in enumerate(some)}
    return {name: errors for name, errors in each.items() if errors is not None}


@cached(WeakKeyDictionary(), lambda run: run)
def _estimated(run: "Run") -> np.ndarray:
    """Return which robots' estimates were not always the true poses, bool (robots,)."""
    most = np.zeros(len(run.names))
    for truth, found in run.pose_blocks():
        off = np.abs(found - truth)
        off[..., 2] = np.minimum(off[..., 2], 2.0 * np.pi - off[..., 2])
        most = np.maximum(most, off.max(axis=(0, 2), initial=0.0))
    return most > 1e-9


@cached(WeakKeyDictionary(), lambda run: run)
def _displacements(run: "Run") -> Measured:
    from covey.mapping.slam.scores import displacement_errors, true_relations

    def measure(found: np.ndarray, truth: np.ndarray) -> "PoseErrors | None":
        relations = true_relations(truth)
        return displacement_errors(found, relations) if len(relations) else None

    return _errors(run, measure)


@cached(WeakKeyDictionary(), lambda run: run)
def _absolute(run: "Run") -> Measured:
    from covey.mapping.slam.scores import absolute_errors

    return _errors(run, absolute_errors)


@cached(WeakKeyDictionary(), lambda run: run)
def _relative(run: "Run") -> Measured:
    from covey.mapping.slam.scores import relative_errors

    times = run.pose_times
    if len(times) < 2 or times[-1] - times[0] < 1.0:
        return {}
    return _errors(run, lambda found, truth: relative_errors(found, truth, seconds=1.0, times=times))


def _pooled(measured: Measured, part: str) -> "Errors | None":
    """Return the errors of all robots together; ``part``: ``translation`` [m] or ``rotation`` [deg]."""
    from covey.mapping.slam.scores import Errors

    if not measured:
        return None
    each = np.concatenate([getattr(errors, part).each for errors in measured.values()])
    return Errors(np.degrees(each) if part == "rotation" else each)


def _register_displacements() -> None:
    kinds = {
        "displacement_error_{}": ("mean", "Mean"),
        "displacement_error_sd_{}": ("deviation", "Standard deviation"),
        "displacement_error_{}2": ("mean_square", "Mean square"),
    }
    for part, unit in (("translation", "m"), ("rotation", "deg")):
        for name, (which, said) in kinds.items():

            def metric(run: "Run", part: str = part, which: str = which) -> float | None:
                errors = _pooled(_displacements(run), part)
                return None if errors is None else getattr(errors, which)

            square = "^2" if which == "mean_square" else ""
            metric.__doc__ = (
                f"{said} of the errors of motions between places, {part} [{unit}{square}] (Kümmerle et al. 2009)."
            )
            metrics.register(name.format(unit))(metric)


_register_displacements()


@metrics.register("displacement_error_by_robot_m")
def displacement_error_by_robot_m(run: "Run") -> dict[str, float] | None:
    """Mean error of the motions between places of each robot, translation [m] (Kümmerle et al. 2009)."""
    return {name: errors.translation.mean for name, errors in _displacements(run).items()} or None


@metrics.register("ate_m")
def ate_m(run: "Run") -> float | None:
    """Root mean square of the distances of estimates from the truth, each way aligned with it [m] (Sturm 2012)."""
    errors = _pooled(_absolute(run), "translation")
    return None if errors is None else errors.rms


@metrics.register("ate_by_robot_m")
def ate_by_robot_m(run: "Run") -> dict[str, float] | None:
    """Root mean square of the distances of a robot's estimates from the truth, aligned with it, by robot [m]."""
    return {name: errors.translation.rms for name, errors in _absolute(run).items()} or None


@metrics.register("rpe_m")
def rpe_m(run: "Run") -> float | None:
    """Root mean square error of the motions over 1 s, translation [m] (Sturm et al. 2012)."""
    errors = _pooled(_relative(run), "translation")
    return None if errors is None else errors.rms


@metrics.register("rpe_deg")
def rpe_deg(run: "Run") -> float | None:
    """Root mean square error of the motions over 1 s, rotation [deg] (Sturm et al. 2012)."""
    errors = _pooled(_relative(run), "rotation")
    return None if errors is None else errors.rms


@cached(WeakKeyDictionary(), lambda run: run)
def _distances(run: "Run") -> tuple[float, float, float]:
    """Return mean and maximum of the distances between estimated and true positions, and the maximum at the end [m].

    NaN if no poses are recorded.
    """
    total, count, most, end = 0.0, 0, math.nan, math.nan
    for truth, found in run.pose_blocks():
        error = found[..., :2] - truth[..., :2]
        error = np.hypot(error[..., 0], error[..., 1])
        if error.size:
            total, count = total + float(error.sum()), count + error.size
            most, end = float(np.fmax(most, error.max())), float(error[-1].max())
    return total / count if count else math.nan, most, end


@metrics.register("position_error_m")
def position_error_m(run: "Run") -> float:
    """Mean over robots and recorded poses of |estimated - true position| [m] (MAES "slam position inaccuracy")."""
    return _distances(run)[0]


@metrics.register("position_error_max_m")
def position_error_max_m(run: "Run") -> float | None:
    """The largest |estimated - true position| of any robot at any time [m]."""
    return _distances(run)[1] if _estimated(run).any() else None


@metrics.register("position_error_end_m")
def position_error_end_m(run: "Run") -> float | None:
    """The largest |estimated - true position| of any robot at the end [m]."""
    return _distances(run)[2] if _estimated(run).any() else None


@cached(WeakKeyDictionary(), lambda run: run)
def _nees(run: "Run") -> tuple[np.ndarray, np.ndarray] | None:
    """Return the steps (k,) and the NEES (k,) of the samples whose covariance has an inverse."""
    from covey.mapping.slam.scores import nees

    if not run.has("localization"):
        return None
    robots = pq.read_table(run.folder / "localization.parquet", columns=["robot"])["robot"].to_pylist()
    steps = run.column("localization", "step").astype(np.int64)
    xx, xy, xh, yy, yh, hh = (
        run.column("localization", name) for name in ("xx_m2", "xy_m2", "xh_m", "yy_m2", "yh_m", "hh_rad2")
    )
    covariance = np.stack((xx, xy, xh, xy, yy, yh, xh, yh, hh), axis=-1).reshape(-1, 3, 3)
    posed = run.steps[run.has_pose]
    at = np.minimum(np.searchsorted(posed, steps), len(posed) - 1)
    good = (posed[at] == steps) & np.isfinite(covariance).all(axis=(1, 2))
    good[good] = np.linalg.det(covariance[good]) > 0.0
    row = np.array([run.names.index(name) for name in robots])
    at, row = at[good], row[good]
    estimates, truth = np.empty((len(at), 3)), np.empty((len(at), 3))
    first = 0
    for true, found in run.pose_blocks():
        here = np.flatnonzero((at >= first) & (at < first + len(found)))
        where = at[here] - first, row[here]
        estimates[here], truth[here] = found[where], true[where]
        first += len(found)
    return steps[good], nees(estimates, truth, covariance[good])


@metrics.register("nees")
def mean_nees(run: "Run") -> float | None:
    """Mean over robots and seconds of e^T C^-1 e, e the error of x, y, heading: 3 if covariances are right (NEES)."""
    found = _nees(run)
    return float(found[1].mean()) if found is not None and len(found[1]) else None


@metrics.register("nees_end")
def nees_end(run: "Run") -> float | None:
    """Mean over robots of the NEES in the last second, see `nees`: ends of runs do not depend on each other."""
    found = _nees(run)
    return float(found[1][found[0] == found[0][-1]].mean()) if found is not None and len(found[1]) else None


@metrics.register("scan_cpu_ms_p50")
def scan_cpu_ms_p50(run: "Run") -> float | None:
    """Median processor time of a robot's localizer for a scan [ms]; None if it uses no scans."""
    return (run.manifest.get("scan_ms") or {}).get("p50")


@metrics.register("scan_cpu_ms_p99")
def scan_cpu_ms_p99(run: "Run") -> float | None:
    """99th percentile of the processor time of a robot's localizer for a scan [ms]; None if it uses no scans."""
    return (run.manifest.get("scan_ms") or {}).get("p99")
