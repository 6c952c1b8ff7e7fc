"""Balking: what a robot does before ground that it does not know to be good."""

import math
from typing import Literal

import numpy as np

_STANDS_S, _AT_FIRST_S = 2.5, 0.5  # so long a robot stands before such ground, and where it has never looked around
_HERE_M = 0.3


class Balking:
    """Turns once around where unsafe ground holds a robot up, which it may only not have seen; then gives up the goal.

    Attributes:
        turning: how far it has still to turn [rad].
    """

    def __init__(self) -> None:
        self.turning, self._heading = 0.0, 0.0
        self._looked: tuple[float, float] | None = None

    def step(
        self, x: float, y: float, heading: float, bearing: float, stands_s: float, ground: np.ndarray, near_m: float
    ) -> Literal["", "turns", "gives up"]:
        """Return what to do in this step; nothing: drive on.

        Args:
            x, y, heading: of the robot [m, rad].
            bearing: of what it drives to [rad].
            stands_s: for how long it has come no farther [s].
            ground: where unsafe ground begins, in the body frame, float64 (k, 2) [m].
            near_m: how near such ground holds it up [m].
        """
        here = self._looked is not None and math.dist(self._looked, (x, y)) < _HERE_M
        if self.turning > 0.0 and here:  # also when the goal has been changed meanwhile
            self.turning -= abs(math.remainder(heading - self._heading, math.tau))
            self._heading = heading
            return "turns"
        if stands_s < (_STANDS_S if self._looked else _AT_FIRST_S):
            return ""
        away = np.hypot(ground[:, 0], ground[:, 1])
        ahead = math.cos(bearing) * ground[:, 0] + math.sin(bearing) * ground[:, 1]
        if not ((away < near_m) & (ahead > 0.7 * away)).any():
            return ""
        if here:
            return "gives up"
        self._looked, self.turning, self._heading = (x, y), math.tau, heading
        return "turns"
