"""`Reckoning`: what the odometry of a team's robots says, for the topic ``odom``."""

from typing import NamedTuple

import numpy as np

from covey.geometry.se2 import compose, inverse
from covey.mapping.dead_reckoning import grow, noise_of, turned
from covey.ros import messages as m
from covey.runtime.phases.sensing import SensorBank
from covey.runtime.simulation import Simulation

_HOLONOMIC = 2


class Odometers(NamedTuple):
    """The odometry of n robots.

    Attributes:
        pose: x, y [m], heading [rad] in their frames odom, which begin at their starts, (n, 3).
        spread: covariances of these poses, (n, 3, 3); NaN: not known.
        twist: vx, vy [m/s], turn rate [rad/s] of their bodies, in their own frames, (n, 3).
        twist_spread: covariances of the twists, (n, 3, 3).
    """

    pose: np.ndarray
    spread: np.ndarray
    twist: np.ndarray
    twist_spread: np.ndarray


class Reckoning:
    """Adds up what the odometry of the robots of a simulation measures.

    The odometry of a robot is that of its localizer; else the sum of the samples of its sensor ``odometry``; else, for
    a robot without one, the estimate of its localization, as of a positioning system.

    The twist is what the wheels turn: the newest sample of the sensor; without one, the true speeds. Wheels that cannot
    move a robot sideways say 0 for vy.

    Args:
        sim: the simulation, before its first step.
    """

    def __init__(self, sim: Simulation):
        n = len(sim.names)
        self._sim, self._start = sim, sim.state.pose.copy()
        self._wheels, self._heading = np.full((n, 3), np.nan), np.zeros(n)
        self._spread = np.zeros((n, 3, 3))
        self._twist, self._twist_spread = np.full((n, 3), np.nan), np.zeros((n, 3, 3))
        self._sideways = (sim.model.kinematics == _HOLONOMIC).astype(float)
        sim.localization.odometry_spread = np.zeros((n, 3, 3))

    def update(self) -> Odometers:
        """Return the odometry at this time, once the robots have sensed and localized themselves."""
        sim = self._sim
        localization = sim.localization
        for bank in sim.sensing.feeding("motion"):
            self._add(bank)
        own = np.isfinite(localization.odometry[:, 0])
        sensed = ~own & np.isfinite(self._wheels[:, 0])
        world = np.where(own[:, None], localization.odometry, localization.pose)
        pose = compose(inverse(self._start), world)
        pose[sensed] = self._wheels[sensed]
        assert localization.odometry_spread is not None
        spread = np.where(own[:, None, None], localization.odometry_spread, localization.covariance)
        spread = turned(spread, self._start[:, 2])
        spread[sensed] = self._spread[sensed]
        twist = np.where(np.isfinite(self._twist), self._twist, sim.state.twist)
        twist[:, 1] *= self._sideways
        return Odometers(pose, spread, twist, self._twist_spread)

    def _add(self, bank: SensorBank) -> None:
        """Take in the samples of a sensor of odometry."""
        model, parameters = bank.record.noise_model
        for sample in bank.samples:
            motion = np.ascontiguousarray(sample.readings.motion)
            at, heading = np.nan_to_num(self._wheels[bank.members]), self._heading[bank.members]
            spread = self._spread[bank.members]
            grow(spread, heading, motion, model, parameters, np.empty(0))
            self._wheels[bank.members], self._spread[bank.members] = compose(at, motion), spread
            self._heading[bank.members] = heading
            span_s = 1.0 / bank.record.rate_hz
            self._twist[bank.members] = m.speeds_of(motion) / span_s
            for robot, (dx, dy, turn) in zip(bank.members.tolist(), motion.tolist(), strict=True):
                xx, _, _, yy, _, hh = noise_of(dx, dy, turn, model, parameters)
                self._twist_spread[robot] = np.diag((xx, yy * self._sideways[robot], hh)) / span_s**2
