"""`NodeLocalizer`: a node of ROS 2 finds out by itself where its robot is: from odometry and scans."""

import numpy as np

from covey.geometry.se2 import Pose
from covey.mapping.localizer import Equipment, HasPast, Scan, Sensed
from covey.mapping.occupancy.apart import OwnBelief
from covey.mapping.occupancy.movers import Movers
from covey.mapping.occupancy.rebuilding import KeptScans
from covey.mapping.occupancy.team_mates import MARGIN_M
from covey.mapping.slam.log import Laser
from covey.physics.clock import Clock
from covey.ros.node_setup import NodeSetup

_LEAST_OFTEN_S = 1.0  # a robot that hardly moves maps so often, to see what changes


class NodeLocalizer:
    """Localizes the robot of a node, as the localizer of its group does in a simulation.

    Args:
        setup: the robot.
        laser: its lidar, as its scans show it; None: it has none.
        belief: its map, which follows corrections; None: it keeps none.
        clock: of the node.
    """

    def __init__(self, setup: NodeSetup, laser: Laser | None, belief: OwnBelief | None, clock: Clock):
        own, spec = setup.localization, setup.spawn.spec
        assert own is not None
        self._laser, self._clock = laser, clock
        plan = own.plan
        equipment = Equipment(laser, own.noise, None if plan is None else lambda _: plan)
        self._localizer = own.record.build([spec.name], spec.seed, equipment)
        self._kept: KeptScans | None = None
        if isinstance(self._localizer, HasPast) and belief is not None and laser is not None:
            self._kept = KeptScans(belief, belief.robot, laser)
        self._movers: Movers | None = None
        if laser is not None and own.mates is not None:
            self._movers = Movers(setup.reach_m - MARGIN_M)
            self._movers.expect(own.mates, clock.time_s)
        self._odometry: Pose | None = None
        self._start = self._pose = Pose(0.0, 0.0, 0.0)
        self._revision, self._mapped = 0, -(10**9)

    def update(
        self, start: Pose, odometry: Pose, scan: tuple[np.ndarray, Pose] | None
    ) -> tuple[Pose, tuple[float, ...]]:
        """Return the pose, and its covariance, nine numbers; NaN: not known.

        Args:
            start: where the robot is if its odometry is right; only that of the first call counts.
            odometry: its pose in the frame odom.
            scan: the newest ranges [m] since the last call, and the motion since they were taken; None: none has come.
                Returns from mates that the robot finds in it become NaN.
        """
        motions: list[np.ndarray] = []
        if self._odometry is None:
            self._start = self._pose = start
        else:
            moved = self._odometry.inverse() @ odometry
            self._pose = self._pose @ moved
            motions = [np.array([moved])]
        self._odometry = odometry
        if scan is not None:
            self._leave_out_mates(*scan)
        shown = None
        if scan is not None and self._laser is not None:
            shown = Scan(scan[0][None], self._laser, np.array([scan[1]]))
        clock = self._clock
        sensed = Sensed(clock.step, np.array([self._start], float), motions, shown, clock.time_s)
        pose, covariance, revision = self._localizer.update(sensed)
        if self._kept is not None and self._revision != int(revision[0]):
            assert isinstance(self._localizer, HasPast)
            self._revision = int(revision[0])
            self._kept.move(self._localizer.past(0, self._kept.rows))
        self._pose = Pose(*pose[0].tolist())
        if self._movers is not None and self._laser is not None and scan is not None:
            at = np.array(self._pose @ scan[1].inverse())
            self._movers.note(at, scan[0], self._laser.angles, np.array(self._laser.mount), clock.time_s)
        return self._pose, tuple(covariance[0].ravel().tolist())

    def _leave_out_mates(self, ranges: np.ndarray, since: Pose) -> None:
        if self._movers is not None and self._laser is not None:
            angles, mount = self._laser.angles, np.array(self._laser.mount)
            self._movers.find(np.array(self._pose @ since.inverse()), ranges, angles, mount, self._clock.time_s)
            self._movers.hide(ranges, angles, mount)

    def maps(self, is_newest: bool) -> bool:
        """Return whether to map with a scan: with each, or, if the map follows corrections, with those it keeps."""
        if self._kept is None:
            return True
        assert isinstance(self._localizer, HasPast)
        is_due = (self._clock.step - self._mapped) * self._clock.step_s >= _LEAST_OFTEN_S
        return is_newest and (is_due or self._localizer.newest(0)[1])

    def has_mapped(self, pose: Pose, ranges: np.ndarray) -> None:
        """Keep a scan that was added to the map at a pose."""
        if self._kept is not None:
            assert isinstance(self._localizer, HasPast)
            self._mapped = self._clock.step
            self._kept.add(self._localizer.newest(0)[0], np.array(pose, float), ranges)
