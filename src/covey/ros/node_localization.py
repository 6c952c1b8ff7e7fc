"""`NodeLocalizer`: a node of ROS 2 finds out by itself where its robot is: from odometry and scans."""

import numpy as np

from covey.geometry.se2 import Pose
from covey.mapping.localizer import Equipment, HasPast, Scan, Sensed
from covey.mapping.occupancy.apart import OwnBelief
from covey.mapping.occupancy.rebuilding import KeptScans
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
        self._odometry: Pose | None = None
        self._start = Pose(0.0, 0.0, 0.0)
        self._revision, self._mapped = 0, -(10**9)

    def update(
        self, start: Pose, odometry: Pose, scan: tuple[np.ndarray, Pose] | None
    ) -> tuple[Pose, tuple[float, ...]]:
        """Return the pose, and its covariance, nine numbers; NaN: not known.

        Args:
            start: where the robot is if its odometry is right; only that of the first call counts.
            odometry: its pose in the frame odom.
            scan: the newest ranges [m] since the last call, and the motion since they were taken; None: none has come.
        """
        motions: list[np.ndarray] = []
        if self._odometry is None:
            self._start = start
        else:
            motions = [np.array([self._odometry.inverse() @ odometry])]
        self._odometry = odometry
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
        return Pose(*pose[0].tolist()), tuple(covariance[0].ravel().tolist())

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
