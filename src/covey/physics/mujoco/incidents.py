"""Incidents of robots on a landscape: they get stuck, fall, and roll over."""

import math

import numpy as np

from covey.physics.protocol import Incident
from covey.robots.team import TeamModel

STUCK_S = 3.0
"""A driven robot is stuck if it moves less than `STUCK_M` and turns less than `STUCK_RAD` for this long [s]."""

STUCK_M, STUCK_RAD = 0.05, math.radians(5.0)
FREED_M = 0.2
"""A stuck robot is free again when it has moved this far [m], or turned by `FREED_RAD`."""

FREED_RAD = math.radians(20.0)
FELL_M, FELL_SLOPE = 0.4, 0.6
"""A robot has fallen if it drops by more than `FELL_M` [m] along a path with a slope above `FELL_SLOPE`. No drivable
ground is that steep."""

ROLLED_RAD, RIGHTED_RAD = math.radians(60.0), math.radians(45.0)
"""A robot has rolled over if its up axis tilts by more than `ROLLED_RAD`, until it tilts by less than `RIGHTED_RAD`."""

_DRIVEN = 0.05  # a command above this share of the top speed, turn rate or torque means to move


class Incidents:
    """Detects the incidents of a team: ``stuck``, ``freed``, ``fell``, ``rolled``, ``righted``.

    Args:
        model: the team.
        torque: float64 (n,), largest torque of a side [N m] under torque control; NaN for the others.
        flies: bool (n,), flying robots, which cannot fall.
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
        """Account for robots that moved up or down with the ground, by ``by`` [m], shape (n,)."""
        self._high[:, 2] += by

    def detect(self, pose: np.ndarray, tilt: np.ndarray, commands: np.ndarray, halted: np.ndarray, dt: float):
        """Return the incidents of a step.

        Args:
            pose: float64 (n, 3), poses after the step.
            tilt: float64 (n, 3), altitude [m], roll, pitch [rad] after the step.
            commands: float64 (n, 3), commands of the step.
            halted: bool (n,), robots that do not want to move.
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
        """Return the robots that have begun to fall, bool (n,)."""
        drop = self._high[:, 2] - altitude
        way = np.hypot(pose[:, 0] - self._high[:, 0], pose[:, 1] - self._high[:, 1])
        gentle = ~(drop > FELL_SLOPE * way) | self._flies  # also at first: no place yet
        self._high[gentle] = np.column_stack((pose[:, :2], altitude))[gentle]
        fell = ~gentle & ~self.fallen & (drop > FELL_M)
        self.fallen = (self.fallen | fell) & ~gentle
        return fell
