"""Compare a belief about the ground with the truth, vertex by vertex: its errors, and how soon it notices changes.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. Deakin University, 2007
    (the exact comparison of belief and truth over time).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from covey.geometry.grid import Grid
from covey.kernel import kernel
from covey.mapping.elevation.kernels import INTERVAL, MEASURED


def true_altitude(ground: Any, grid: Grid) -> np.ndarray:
    """Return the altitudes [m] of a `covey.world.ground.Ground` at the centres of cells; NaN outside it.

    Args:
        ground: the truth.
        grid: grid of a belief about it; its cells are not used.
    """
    points = grid.to_world(np.moveaxis(np.indices(grid.shape), 0, -1))
    left, right, bottom, top = ground.bounds
    near = 1e-6 * grid.resolution
    inside = (points[..., 0] > left - near) & (points[..., 0] < right + near)
    inside &= (points[..., 1] > bottom - near) & (points[..., 1] < top + near)
    return np.where(inside, ground.altitude_at(points), np.nan)


class Comparison(NamedTuple):
    """Quality of a belief: `rmse_m`, `max_error_m`, `interval_coverage`, and the share of measured vertices."""

    rmse_m: float
    max_error_m: float
    interval_coverage: float
    measured_share: float


def compare(belief: Any, truth: np.ndarray) -> Comparison:
    """Return how well a belief agrees with the truth: the results of the functions below, computed together.

    Args:
        belief: `covey.mapping.elevation.belief.ElevationBelief`.
        truth: see `true_altitude`.
    """
    return Comparison(*_compare(belief.marks(), *belief.moments(), truth))


@kernel
def _compare(mark, mean, variance, truth):
    total, measured, inside, squares, most = 0, 0, 0, 0.0, 0.0
    for i in range(truth.shape[0]):
        for j in range(truth.shape[1]):
            if truth[i, j] != truth[i, j]:
                continue
            total += 1
            if mark[i, j] == MEASURED:
                off = mean[i, j] - truth[i, j]
                measured += 1
                squares += off * off
                most = max(most, abs(off))
                inside += off * off <= INTERVAL * INTERVAL * variance[i, j]
    if measured == 0:
        return math.nan, math.nan, math.nan, 0.0 if total else math.nan
    return math.sqrt(squares / measured), most, inside / measured, measured / total


def errors(belief: Any, truth: np.ndarray) -> np.ndarray:
    """Return the errors of the altitudes that a belief has measured [m]; NaN elsewhere.

    Args:
        belief: `covey.mapping.elevation.belief.ElevationBelief`.
        truth: see `true_altitude`.
    """
    return np.where(belief.marks() == MEASURED, belief.altitude() - truth, np.nan)


def rmse_m(error: np.ndarray) -> float:
    """Return the root mean square of `errors` [m]; NaN if there are none."""
    known = error[np.isfinite(error)]
    return math.sqrt(float(np.mean(known**2))) if len(known) else math.nan


def max_error_m(error: np.ndarray) -> float:
    """Return the largest absolute value of `errors` [m]; NaN if there are none."""
    known = error[np.isfinite(error)]
    return float(np.abs(known).max()) if len(known) else math.nan


def interval_coverage(error: np.ndarray, interval: np.ndarray) -> float:
    """Return the share of measured vertices whose truth lies in the 95 % interval; NaN if there are none.

    Args:
        error: see `errors`.
        interval: half the interval [m], see `covey.mapping.elevation.belief.ElevationBelief.interval`.
    """
    known = np.isfinite(error)
    return float(np.mean(np.abs(error[known]) <= interval[known])) if known.any() else math.nan
