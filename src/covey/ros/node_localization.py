"""`NodeLocalizer`: a node of ROS 2 finds out by itself where its robot is: from odometry, gyro and scans."""

import logging

import numpy as np

from covey.clock import Clock
from covey.geometry.se2 import Pose
from covey.mapping.localizer import Equipment, Scan, Sensed
from covey.mapping.occupancy.apart import OwnBelief
from covey.mapping.occupancy.team_mates import MARGIN_M
from covey.mapping.slam.log import Laser
from covey.onboard.estimator import Estimator, Samples
from covey.results.event_data import OdometryContradicted
from covey.ros.node_setup import NodeSetup

LOG = logging.getLogger("covey")


class NodeLocalizer:
    """Localizes the robot of a node, as the localizer of its group does in a simulation.

    Args:
        setup: the robot.
        laser: its lidar, as its scans show it; None: it has none.
        belief: its map, which follows corrections; None: it keeps none.
        clock: of the node.

    Attributes:
        moved: the corrections of its past poses that its controller has not been told, see `StepInput.moved`.
    """

    def __init__(self, setup: NodeSetup, laser: Laser | None, belief: OwnBelief | None, clock: Clock):
        own, spec = setup.localization, setup.spawn.spec
        assert own is not None
        self._name, self._laser, self._clock = spec.name, laser, clock
        plan = own.plan
        equipment = Equipment(laser, own.noise, None if plan is None else lambda _: plan)
        localizer = own.record.build([spec.name], spec.seed, equipment)
        mates_m = None if own.mates is None else setup.reach_m - MARGIN_M
        gyro = None if own.gyro is None else own.gyro.gyro
        self._estimator = Estimator(localizer, laser, gyro, mates_m, begin_s=clock.time_s)
        for movers in self._estimator.movers:
            assert own.mates is not None
            movers.expect(own.mates, clock.time_s)
        if belief is not None:
            self._estimator.keep_scans(0, belief, belief.robot)
        self._past = self._estimator.pasts.get(0)
        self._odometry: Pose | None = None
        self._start = self._pose = np.zeros((1, 3))
        self.moved: list[tuple[int, np.ndarray]] = []

    def update(
        self,
        start: Pose,
        odometry: tuple[float, Pose],
        turns: list[tuple[float, float]],
        scan: tuple[float, np.ndarray, Pose] | None,
    ) -> tuple[Pose, tuple[float, ...]]:
        """Return the pose, and its covariance, nine numbers; NaN: not known.

        Args:
            start: where the robot is if its odometry is right; only that of the first call counts.
            odometry: time of the newest [s], and its pose in the frame odom.
            turns: times [s] and turn rates [rad/s] of the gyro since the last call, oldest first.
            scan: the newest since the last call: its time [s], ranges [m], and the motion since it was taken; None:
                none has come. Returns from mates that the robot finds in it become NaN.
        """
        wheels: Samples = []
        at_s, now = odometry
        if self._odometry is None:
            self._start = self._pose = np.array([start], float)
        else:
            wheels = [(at_s, np.array([self._odometry.inverse() @ now]))]
        self._odometry = now
        motions, variances = self._estimator.motions(wheels, [(then_s, np.array([rate])) for then_s, rate in turns])
        scan_s, shown = self._clock.time_s, None
        if scan is not None and self._laser is not None:
            scan_s, ranges, since = scan
            shown = Scan(ranges[None], self._laser, np.array([since]))
        sensed = Sensed(self._clock.step, self._start, motions, shown, self._clock.time_s, variances)
        self._pose, covariance, revision = self._estimator.update(self._pose, sensed, scan_s)
        for _, one in self._estimator.contradicted():
            LOG.warning("%s: %s", self._name, OdometryContradicted(one.share, one.way_m).text)
        if self._past is not None and (moved := self._past.follow(int(revision[0]), lambda poses: poses)) is not None:
            self.moved.append(moved)
        return Pose(*self._pose[0].tolist()), tuple(covariance[0].ravel().tolist())

    def takes(self, is_newest: bool) -> bool:
        """Return whether to map with a scan: with each, or with those that make the map follow corrections."""
        return self._past is None or self._past.takes(is_newest, self._clock.time_s)

    def has_mapped(self, pose: Pose, ranges: np.ndarray, taken_s: float) -> None:
        """Keep a scan that was added to the map at a pose; it was taken at ``taken_s``."""
        if self._past is not None:
            self._past.add(np.array(pose, float), ranges, taken_s, self._clock.time_s)
