"""`Estimator`: the software with which robots find out where they are, for all robots of a group or for one.

A simulation steps it for each group; a process or a node of ROS 2 for its own robot, see `SelfLocalization`.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat

import numpy as np

from covey.geometry.constant import constant
from covey.geometry.se2 import compose, inverse
from covey.mapping.dead_reckoning import GyroOdometry, grow
from covey.mapping.localizer import ChecksOdometry, Estimate, HasPast, Localizer, Sensed
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.movers import Movers
from covey.mapping.occupancy.rebuilding import KeptScans
from covey.mapping.slam.contradictions import Contradiction
from covey.mapping.slam.log import Laser

LEAST_OFTEN_S = 1.0
"""A robot that hardly moves maps so often, to see what changes."""
Samples = Iterable[tuple[float, np.ndarray]]
"""Times [s] of samples of a sensor, and what it measured, a row for each robot, oldest first."""


class Estimator:
    """Estimates the poses of m robots from odometry, gyro and scans.

    Args:
        localizer: of the robots.
        laser: their lidar, if the localizer reads one.
        gyro: its noise, see `GyroOdometry`; None: they have none.
        mates_m: radius of the largest robot of the team, for a lidar that sees robots [m]; None: it sees none.
        count: number of robots.
        begin_s: time of the first step [s].

    Attributes:
        movers: what finds the mates in the scans of each robot; empty: their lidar sees none.
        pasts: what is kept of the scans of each robot whose map follows corrections, by its index.
        odometry: poses by dead reckoning from the start, (m, 3); None: nobody has reckoned.
        odometry_spread: covariances of these poses, (m, 3, 3).
        took_s: processor time of the localizer for the scan of the last update, for one robot [s]; None: it had none.
    """

    def __init__(
        self,
        localizer: Localizer,
        laser: Laser | None,
        gyro: tuple[float, float, float, float] | None,
        mates_m: float | None,
        count: int = 1,
        begin_s: float = 0.0,
    ):
        self.localizer, self.laser = localizer, laser
        self.gyro = None if gyro is None else GyroOdometry(count, gyro, begin_s)
        self.movers = [] if laser is None or mates_m is None else [Movers(mates_m) for _ in range(count)]
        self.pasts: dict[int, MappedScans] = {}
        self.odometry: np.ndarray | None = None
        self.odometry_spread = np.zeros((count, 3, 3))
        self.took_s: float | None = None
        self._begun = False  # whether the first step is over

    def keep_scans(self, robot: int, beliefs: Beliefs, belief: int) -> None:
        """Let the map of a robot, ``beliefs[belief]``, follow corrections, if its localizer makes any."""
        if isinstance(self.localizer, HasPast) and self.laser is not None:
            self.pasts[robot] = MappedScans(self.localizer, robot, KeptScans(beliefs, belief, self.laser))

    def motions(self, odometry: Samples, gyro: Samples) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return motions and variances of turns, as `Sensed` has them, from new samples of both sensors."""
        if self.gyro is None:
            return [motion for _, motion in odometry], []
        self.gyro.see(gyro)
        fused = [self.gyro.fuse(time_s, motion) for time_s, motion in odometry]
        return [motion for motion, _ in fused], [variance for _, variance in fused]

    def reckon(
        self,
        start: np.ndarray,
        motions: Sequence[np.ndarray],
        variances: Sequence[np.ndarray],
        noise: tuple[int, np.ndarray] | None = None,
    ) -> np.ndarray:
        """Add samples of the odometry to the poses by dead reckoning, and return these, (m, 3); not those of the start.

        Args:
            start: where the robots are at the first call, (m, 3).
            motions, variances: see `Sensed`.
            noise: of the odometry, see `covey.mapping.localizer.Equipment`; None: nobody asks for covariances.
        """
        if self.odometry is None:
            self.odometry, motions = start.copy(), ()
        if noise is not None:
            heading = self.odometry[:, 2].copy()
            for motion, variance in zip(motions, variances or repeat(np.empty(0)), strict=False):
                grow(self.odometry_spread, heading, np.ascontiguousarray(motion), *noise, variance)
        for motion in motions:
            self.odometry = compose(self.odometry, motion)
        return self.odometry

    def hide(self, robot: int, ranges: np.ndarray, looked: np.ndarray | None) -> None:
        """Replace, in place, the returns (B,) from mates that a robot found in its last scan by NaN.

        Args:
            robot: its index.
            ranges: of a scan.
            looked: pose (3,) of the robot at its last scan, from its pose at this one; None: it is this.
        """
        if self.movers and self.laser is not None:
            self.movers[robot].hide(ranges, self.laser.angles, np.array(self.laser.mount), looked)

    def update(self, pose: np.ndarray, sensed: Sensed, scan_s: float) -> Estimate:
        """Return the estimates after one more step. Returns from mates that robots find in their scan become NaN.

        Args:
            pose: the estimates after the last step, (m, 3).
            sensed: what has come since then.
            scan_s: time of the scan [s].
        """
        scan, self.took_s = sensed.scan, None
        if scan is None:
            self._begun = True
            return self.localizer.update(sensed)
        mount = np.array(scan.laser.mount)
        if self.movers:
            guess = pose
            for motion in sensed.motions if self._begun else ():
                guess = compose(guess, motion)
            guess = compose(guess, inverse(scan.since))
            for mover, at, ranges in zip(self.movers, guess, scan.ranges, strict=True):
                mover.find(at, ranges, scan.laser.angles, mount, scan_s)
                mover.hide(ranges, scan.laser.angles, mount)
        self._begun = True
        begun = time.thread_time()
        estimate = self.localizer.update(sensed)
        self.took_s = (time.thread_time() - begun) / len(scan.ranges)
        if self.movers:
            looked = compose(estimate.pose, inverse(scan.since))
            for mover, at, ranges in zip(self.movers, looked, scan.ranges, strict=True):
                mover.note(at, ranges, scan.laser.angles, mount, scan_s)
        return estimate

    def contradicted(self) -> list[tuple[int, Contradiction]]:
        """Return the robots whose odometry their scans contradict since the last call, each episode once."""
        return self.localizer.contradicted() if isinstance(self.localizer, ChecksOdometry) else []


def pose_then(pose: np.ndarray, since: np.ndarray | None) -> np.ndarray:
    """Return the poses (..., 3) at which robots took a scan with which they map.

    Args:
        pose: where they are now.
        since: their motion since the scan, x, y [m], heading [rad] in the body frame then; None: it is of now.
    """
    return pose if since is None else compose(pose, inverse(since))


class MappedScans:
    """The scans in the map of one robot, which follow the corrections of its localizer.

    Args:
        localizer: of the robot.
        robot: its index there.
        scans: the scans in its map.
    """

    def __init__(self, localizer: HasPast, robot: int, scans: KeptScans):
        self._localizer, self._robot, self.scans = localizer, robot, scans
        self._revision, self._moves = 0, 0  # what was taken over; how often that moved scans
        self._mapped_s = -math.inf
        self._times_s: list[float] = []  # of the scans

    def takes(self, is_newest: bool, now_s: float) -> bool:
        """Return whether the robot maps with a scan that came in this step: the newest, if the localizer keeps it.

        A robot that hardly moves also maps once in a second.
        """
        is_due = now_s - self._mapped_s >= LEAST_OFTEN_S - 1e-9
        return is_newest and (is_due or self._localizer.newest(self._robot)[1])

    def add(self, pose: np.ndarray, ranges: np.ndarray, taken_s: float, now_s: float) -> None:
        """Keep a scan that is added to the map at a pose (3,); it was taken at ``taken_s``."""
        self._mapped_s = now_s
        self._times_s.append(taken_s)
        self.scans.add(self._localizer.newest(self._robot)[0], pose, ranges)

    def follow(self, revision: int, framed: Callable[[np.ndarray], np.ndarray]) -> tuple[int, np.ndarray] | None:
        """Move the scans to where the localizer sees them now; return how that moves poses, see `StepInput.moved`.

        Args:
            revision: that of the newest `Estimate`; if it is as before, nothing moves.
            framed: converts poses (k, 3) of the localizer to the frame of the map.
        """
        if revision == self._revision:
            return None
        self._revision = revision
        before = self.scans.poses.copy()
        if not self.scans.move(framed(self._localizer.past(self._robot, self.scans.rows))):
            return None
        self._moves += 1
        which = np.flatnonzero((self.scans.poses != before).any(axis=1))
        times = np.array([*self._times_s, math.inf])
        moved = compose(self.scans.poses[which], inverse(before[which]))
        return self._moves, constant(np.column_stack((times[which], times[which + 1], moved)))  # controllers get it
