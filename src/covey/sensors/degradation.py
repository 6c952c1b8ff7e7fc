"""Sensors that got worse: a shorter range, more noise, lost rays. Readings are changed in place, robot by robot.

The draws are a function of (key, sample, element), as those of the sensors; in NumPy, since few robots are spoiled.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.random import normal2_numpy, uniform2_numpy

_LOST, _NOISE = 1 << 34, 1 << 35  # elements that no sensor draws from


@dataclass(frozen=True, eq=False)
class Degradation:
    """What makes a sensor of one robot worse; ``key``, ``range_m``, ``noise_m`` and ``dropout`` as in `spoil`."""

    robot: int
    key: Any
    range_m: float
    noise_m: float
    dropout: float

    def apply(self, readings: Any, row: int, sample: int) -> None:
        """Make a row of readings worse, in place."""
        spoil(readings, row, self.key, sample, self.range_m, self.noise_m, self.dropout)


def spoil(readings: Any, i: int, key: Any, sample: int, range_m: float, noise_m: float, dropout: float) -> None:
    """Make the i-th of the readings of one of Covey's sensors worse, in place.

    Args:
        readings: of many robots, as ``read`` returns them.
        i: which robot.
        key: its noise stream.
        sample: number of the sample.
        range_m: what is farther is not sensed [m].
        noise_m: standard deviation of noise on ranges, or on the motion of odometry [m].
        dropout: share of rays, neighbours or samples that is lost.
    """
    if hasattr(readings, "mount"):
        _lidar(readings, i, key, sample, range_m, noise_m, dropout)
    elif hasattr(readings, "presence"):
        _proximity(readings, i, key, sample, range_m, noise_m, dropout)
    elif hasattr(readings, "identities"):
        _neighbours(readings, i, key, sample, range_m, noise_m, dropout)
    elif hasattr(readings, "again"):
        _wedge(readings, i, key, sample, range_m, noise_m, dropout)
    elif hasattr(readings, "points"):
        _cloud(readings, i, key, sample, range_m, noise_m, dropout)
    elif hasattr(readings, "motion"):
        readings.motion[i, :2] += noise_m * _normals(key, sample, 2)
        if _lost(key, sample, 1, dropout)[0]:
            readings.motion[i] = 0.0
    elif _lost(key, sample, 1, dropout)[0]:
        readings.pressed[i], readings.bearing[i], readings.bearings[i] = False, np.nan, np.nan


def _lidar(readings: Any, i: int, key: Any, sample: int, range_m: float, noise_m: float, dropout: float) -> None:
    """The true ranges, which say what is explored, end where the sensor does, and are NaN where a ray is lost."""
    ranges, true = readings.ranges[i], readings.truth[i]
    _worsen(ranges, key, sample, range_m, noise_m)
    np.minimum(true, range_m, out=true)
    lost = _lost(key, sample, len(ranges), dropout)
    ranges[lost] = true[lost] = np.nan


def _proximity(readings: Any, i: int, key: Any, sample: int, range_m: float, noise_m: float, dropout: float) -> None:
    ranges = readings.ranges[i]
    _worsen(ranges, key, sample, range_m, noise_m)
    ranges[_lost(key, sample, len(ranges), dropout)] = np.inf
    readings.presence[i] = np.isfinite(ranges)


def _neighbours(readings: Any, i: int, key: Any, sample: int, range_m: float, noise_m: float, dropout: float) -> None:
    n = int(readings.count[i])
    ranges = readings.ranges[i, :n].copy()
    _worsen(ranges, key, sample, range_m, noise_m)
    kept = np.flatnonzero(np.isfinite(ranges) & ~_lost(key, sample, n, dropout))
    kept = kept[np.argsort(ranges[kept], kind="stable")]
    readings.count[i] = len(kept)
    for name, nothing in (("ranges", np.inf), ("bearings", np.nan), ("identities", -1), ("headings", np.nan)):
        row = getattr(readings, name)[i]
        values = (ranges if name == "ranges" else row[:n].copy())[kept]
        row[:] = nothing
        row[: len(kept)] = values


def _wedge(readings: Any, i: int, key: Any, sample: int, range_m: float, noise_m: float, dropout: float) -> None:
    """Vertices farther from the robot than the range, and lost ones, are told nothing of."""
    kind, altitude, again = readings.kind[i], readings.altitude[i], readings.again[i]
    row, column = np.indices(kind.shape) + readings.truth.corner[i][:, None, None]
    frame = readings.truth.frame
    x, y = frame[0] + column * frame[2], frame[1] + row * frame[2]
    lost = np.hypot(x - readings.truth.pose[i, 0], y - readings.truth.pose[i, 1]) > range_m
    lost |= _lost(key, sample, kind.size, dropout).reshape(kind.shape)
    kind[lost], altitude[lost], again[lost] = 0, np.nan, np.nan
    if noise_m > 0.0:
        first, second = normal2_numpy(key, sample, _NOISE + np.arange(kind.size).reshape(kind.shape))
        altitude[kind == 1] += noise_m * first[kind == 1]
        again += 0.5 * noise_m * second  # the mean of four measurements


def _cloud(readings: Any, i: int, key: Any, sample: int, range_m: float, noise_m: float, dropout: float) -> None:
    """Rays beyond the range hit nothing, lost ones are NaN; noise moves points up and down."""
    ranges, points = readings.ranges[i], readings.points[i]
    lost = _lost(key, sample, len(ranges), dropout)
    ranges[ranges > range_m] = np.inf
    ranges[lost] = np.nan
    points[~np.isfinite(ranges)] = np.nan
    if noise_m > 0.0:
        points[:, 2] += noise_m * _normals(key, sample, len(ranges))


def _worsen(ranges: np.ndarray, key: Any, sample: int, range_m: float, noise_m: float) -> None:
    """Add noise to finite ranges, and lose what is beyond the range."""
    if noise_m > 0.0:
        near = np.isfinite(ranges)
        ranges[near] = np.maximum(ranges[near] + noise_m * _normals(key, sample, len(ranges))[near], 0.0)
    ranges[ranges > range_m] = np.inf


def _lost(key: Any, sample: int, count: int, dropout: float) -> np.ndarray:
    if dropout >= 1.0 or dropout <= 0.0:
        return np.full(count, dropout >= 1.0)
    return uniform2_numpy(key, sample, _LOST + np.arange(count))[0] < dropout


def _normals(key: Any, sample: int, count: int) -> np.ndarray:
    return normal2_numpy(key, sample, _NOISE + np.arange(count))[0]
