"""Degraded sensors: a shorter range, more noise, lost rays. `degrade` of the readings applies them.

Random numbers are functions of (key, sample, element), as for the sensors; in NumPy, because few robots need them.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from covey.random import normal2_numpy, uniform2_numpy

_LOST, _NOISE = 1 << 34, 1 << 35  # elements that no sensor uses


@dataclass(frozen=True, eq=False)
class Degradation:
    """The degradation of a sensor of one robot.

    Attributes:
        robot: its index in the team.
        key: its noise stream.
        range_m: largest distance that is still sensed [m].
        noise_m: standard deviation of noise on ranges, or on the motion of odometry [m].
        dropout: share of rays, neighbours or samples that is lost.
        sample: number of the sample.
        stretch: factor on the motion of odometry: wheels that slip turn more than the robot moves.
    """

    robot: int
    key: Any
    range_m: float = np.inf
    noise_m: float = 0.0
    dropout: float = 0.0
    sample: int = 0
    stretch: float = 1.0

    def at(self, sample: int) -> Self:
        """Return the degradation of a given sample."""
        return replace(self, sample=sample)

    def lost(self, count: int) -> np.ndarray:
        """Return which of ``count`` elements are lost, bool (count,)."""
        if self.dropout >= 1.0 or self.dropout <= 0.0:
            return np.full(count, self.dropout >= 1.0)
        return uniform2_numpy(self.key, self.sample, _LOST + np.arange(count))[0] < self.dropout

    def normals(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return two independent standard normal numbers for each of ``count`` elements, float64 (count,)."""
        return normal2_numpy(self.key, self.sample, _NOISE + np.arange(count))

    def worsen(self, ranges: np.ndarray) -> None:
        """Add noise to finite ranges [m], and remove those beyond the range, in place."""
        if self.noise_m > 0.0:
            near = np.isfinite(ranges)
            ranges[near] = np.maximum(ranges[near] + self.noise_m * self.normals(len(ranges))[0][near], 0.0)
        ranges[ranges > self.range_m] = np.inf
