"""The localizer of robots that know neither the map nor where they are: one `GraphSlam` each."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.localizer import Equipment, Estimate, LocalizerRecord, Sensed
from covey.mapping.slam.graph_slam import GraphSettings, GraphSlam


class Slam(LocalizerRecord):
    """The robots map and localize at once, by graph SLAM. Each begins at its true pose, in the world frame.

    References:
        see `covey.mapping.slam.graph_slam.GraphSlam`.
    """

    needs: ClassVar[tuple[str, ...]] = ("odometry", "lidar")

    kind: Literal["slam"] = Field(default="slam", description="The name of this kind of localization.")
    graph: GraphSettings = Field(default_factory=GraphSettings, description="The settings of graph SLAM.")

    def build(self, names: Sequence[str], seed: int, equipment: Equipment) -> "SlamLocalizer":
        """Return a localizer for robots with these names.

        Raises:
            InvalidValueError: there is no lidar.
        """
        if equipment.laser is None:
            raise InvalidValueError("SLAM needs a lidar")
        return SlamLocalizer(self, len(names), equipment)


class SlamLocalizer:
    """Localizes the robots of a group by SLAM, each with a map of its own.

    Attributes:
        robots: the SLAM of each robot; none before the first step.
    """

    def __init__(self, record: Slam, count: int, equipment: Equipment):
        self._record, self._equipment = record, equipment
        self._count = count
        self._since = np.zeros((count, 3))  # odometry since the last scan
        self.robots: list[GraphSlam] = []

    def update(self, sensed: Sensed) -> Estimate:
        """Return the estimates; the true poses are used once, for the start."""
        if not self.robots:
            laser = self._equipment.laser
            assert laser is not None
            self.robots = [GraphSlam(laser, self._record.graph, start) for start in sensed.true_pose]
        else:
            self._since = compose(self._since, sensed.motion)
        scan = sensed.scan
        if scan is not None:
            before = compose(self._since, inverse(scan.since))
            for robot, motion, ranges in zip(self.robots, before, scan.ranges, strict=True):
                robot.add(motion, ranges)
            self._since = scan.since
        at_scan = np.array([robot.pose for robot in self.robots])
        covariance = np.array([robot.covariance for robot in self.robots])
        return Estimate(
            compose(at_scan, self._since), covariance, np.array([robot.revision for robot in self.robots], np.int64)
        )

    def newest(self, robot: int) -> tuple[int, bool]:
        """Return the number of a robot's newest scan, and whether it is a key frame."""
        return self.robots[robot].scans - 1, self.robots[robot].kept_last

    def past(self, robot: int, scans: Sequence[int]) -> np.ndarray:
        """Return the poses (k, 3) at which a robot took some of its scans, as they are known now."""
        return self.robots[robot].trajectory(scans)
