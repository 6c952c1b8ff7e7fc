"""What befalls robots on a landscape: they get stuck, fall, and roll over."""

import math

import numpy as np

from covey.physics.protocol import Incident
from covey.robots.team import TeamModel

STUCK_S = 3.0
"""A robot is stuck that is driven and for this long [s] comes less far than `STUCK_M` and turns by less than
`STUCK_RAD`."""

STUCK_M, STUCK_RAD = 0.05, math.radians(5.0)
FREED_M = 0.2
"""It is free again this far [m] from where it was stuck, or `FREED_RAD` turned."""

FREED_RAD = math.radians(20.0)
FELL_M, FELL_SLOPE = 0.4, 0.6
"""A robot has fallen that comes down by more than this [m] on a way steeper than this; no drivable ground is."""

ROLLED_RAD, RIGHTED_RAD = math.radians(60.0), math.radians(45.0)
"""A robot whose up axis leans by more has rolled over, until it leans by less than the second."""

_DRIVEN = 0.05  # share of the top speed, turn rate or torque from which on a robot is meant to move


class Incidents:
    """Watches a team; `look` says what begins or ends: ``stuck``, ``freed``, ``fell``, ``rolled``, ``righted``.

    Args:
        model: the team.
        torque: largest torque of a side [N m] of robots that are driven by torque; NaN for the others.
        flies: bool (n,), these cannot fall.
    """

    def __init__(self, model: TeamModel, torque: np.ndarray, flies: np.ndarray):
        n = len(model)
        by_torque = np.isfinite(torque)
        most = np.where(by_torque[:, None], torque[:, None], np.column_stack((model.max_speed, model.max_speed)))
        self._least = _DRIVEN * np.column_stack((most, np.where(by_torque, np.inf, model.max_turn)))
        self._anchor, self._since = np.full((n, 3), np.nan), np.zeros(n)
        self.stuck, self.fallen, self.rolled = (np.zeros(n, bool) for _ in range(3))
        self._flies, self._high = flies, np.full((n, 3), np.nan)  # x, y, altitude from which each comes down

    def ground_moved(self, by: np.ndarray) -> None:
        """Take in that robots were moved up, or down, with the ground below them [m], shape (n,)."""
        self._high[:, 2] += by

    def look(self, pose: np.ndarray, tilt: np.ndarray, commands: np.ndarray, halted: np.ndarray, dt: float):
        """Return the incidents of a step.

        Args:
            pose: float64 (n, 3), now.
            tilt: float64 (n, 3), altitude [m], roll, pitch [rad].
            commands: float64 (n, 3), as commanded in the step.
            halted: bool (n,), these do not want to move.
            dt: length of the step [s].
        """
        driven = (np.abs(commands) > self._least).any(axis=1) & ~halted
        way = np.hypot(pose[:, 0] - self._anchor[:, 0], pose[:, 1] - self._anchor[:, 1])
        turn = np.abs((pose[:, 2] - self._anchor[:, 2] + math.pi) % (2.0 * math.pi) - math.pi)
        freed = self.stuck & ((way > FREED_M) | (turn > FREED_RAD))
        self.stuck &= ~freed
        moves = ~(driven & (way < STUCK_M) & (turn < STUCK_RAD)) & ~self.stuck  # also at first: no anchor yet
        self._anchor[moves], self._since[moves] = pose[moves], 0.0
        self._since[~moves] += dt
        stuck = ~self.stuck & (self._since > STUCK_S - 1e-9)
        self.stuck |= stuck
        fell = self._falls(pose, tilt[:, 0])
        up = np.cos(tilt[:, 1]) * np.cos(tilt[:, 2])
        rolled = ~self.rolled & (up < math.cos(ROLLED_RAD))
        righted = self.rolled & (up > math.cos(RIGHTED_RAD))
        self.rolled = (self.rolled | rolled) & ~righted
        kinds = (("stuck", stuck), ("freed", freed), ("fell", fell), ("rolled", rolled), ("righted", righted))
        if not any(now.any() for _, now in kinds):
            return []
        return [Incident(kind, int(i)) for kind, now in kinds for i in np.flatnonzero(now)]

    def _falls(self, pose: np.ndarray, altitude: np.ndarray) -> np.ndarray:
        """Return who has begun to fall, bool (n,)."""
        drop = self._high[:, 2] - altitude
        way = np.hypot(pose[:, 0] - self._high[:, 0], pose[:, 1] - self._high[:, 1])
        gentle = ~(drop > FELL_SLOPE * way) | self._flies  # also at first: no place yet
        self._high[gentle] = np.column_stack((pose[:, :2], altitude))[gentle]
        fell = ~gentle & ~self.fallen & (drop > FELL_M)
        self.fallen = (self.fallen | fell) & ~gentle
        return fell
