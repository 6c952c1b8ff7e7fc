"""The localizer of robots that know neither the map nor where they are: one `GraphSlam` each, and a team of them."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.localizer import Equipment, Estimate, Extent, LocalizerRecord, Sensed
from covey.mapping.slam.contradictions import Contradiction
from covey.mapping.slam.graph_settings import GraphSettings
from covey.mapping.slam.log import Log
from covey.mapping.slam.one_pose import between, composed
from covey.mapping.slam.team_settings import TeamSettings

if TYPE_CHECKING:
    from covey.mapping.slam.team import TeamMember
    from covey.mapping.slam.team_news import Here

_OF_FROM = {"at", "start", "start_sigma_m", "start_sigma_rad"}
CODE = 30e6
"""Bytes of the compiled code and the libraries that SLAM loads, once."""
LOCAL_CELL = 1.0 + 4.0 + 1.0 / 3.0
"""Bytes for each cell of a local map: nearness, nearest point, and the coarser levels."""
KEY_BEAM = 6 * 8.0
"""Bytes for each beam of a key frame: a point, its normal, and from where it was seen."""


class Slam(LocalizerRecord):
    """The robots map and localize at once, by graph SLAM. Each begins at its true pose, in the world frame.

    Robots that share maps can also exchange key frames, and correct their poses by what the others saw. With ``from``
    they go on with the map of an earlier drive, each for itself.

    References:
        see `covey.mapping.slam.graph_slam.GraphSlam` and `covey.mapping.slam.team`.
    """

    needs: ClassVar[tuple[str, ...]] = ("motion", "scan")

    kind: Literal["slam"] = Field(default="slam", description="The name of this kind of localization.")
    from_: str | None = Field(
        default=None,
        alias="from",
        min_length=1,
        description="The map of an earlier drive with which the robots go on: graph.npz of covey slam, or its folder.",
    )
    at: tuple[float, float, float] = Field(
        default=(0.0, 0.0, 0.0),
        description="Where the first pose of that map is in the world: x, y [m], heading [degrees].",
    )
    start: Literal["known", "unknown"] = Field(
        default="known",
        description="Whether robots that go on with a map know where they start; unknown: anywhere on it.",
    )
    start_sigma_m: float = Field(
        default=0.1, gt=0, le=100, description="Deviation of x and y of a known start on that map [m]."
    )
    start_sigma_rad: float = Field(default=0.05, gt=0, le=7, description="Deviation of its heading [rad].")
    graph: GraphSettings = Field(default_factory=GraphSettings, description="The settings of graph SLAM.")
    team: TeamSettings | Literal["auto"] | None = Field(
        default="auto",
        description="How the robots find each other's maps; null: they exchange no key frames; auto: only robots that "
        "do not know the others' start poses exchange them.",
    )

    model_config = LocalizerRecord.model_config | {"populate_by_name": True, "serialize_by_alias": True}

    @model_validator(mode="after")
    def _check_from(self) -> "Slam":
        given = {name for name in _OF_FROM if getattr(self, name) != type(self).model_fields[name].default}
        if self.from_ is None and given:
            raise ValueError(f"{', '.join(sorted(given))} goes with from, the map of an earlier drive; give from, too")
        if self.from_ is not None and isinstance(self.team, TeamSettings):
            raise ValueError("robots that go on with a map have one frame already: leave team out, or set it to null")
        return self

    def build(self, names: Sequence[str], seed: int, equipment: Equipment) -> "SlamLocalizer":
        """Return a localizer for robots with these names.

        Raises:
            InvalidValueError: there is no lidar, or the map of an earlier drive cannot be read.
        """
        if equipment.laser is None:
            raise InvalidValueError("SLAM needs a lidar")
        return SlamLocalizer(self, len(names), equipment)

    @property
    def finds_mates(self) -> bool:
        """Robots with key frames of each other do."""
        return self.team is not None and self.from_ is None

    def memory(self, extent: Extent) -> float:
        """Return the bytes of the local map of each robot, its key frames, and the scans that its map is made of."""
        graph = self.graph
        side = 2.0 * (graph.range_m + 1.0) / graph.resolution_m
        frames = 1.0 + extent.way_m / graph.key_frame_m
        return CODE + extent.robots * (side**2 * LOCAL_CELL + frames * extent.beams * (KEY_BEAM + 4.0 * 10.0))


class SlamLocalizer:
    """Localizes the robots of a group by SLAM, each with a map of its own.

    Attributes:
        record: its settings.
        robots: the SLAM of each robot.
        members: the robots that take part in the SLAM of a team, by index; see `join`.
        known: the scans of an earlier drive with which the robots go on, and their poses (k, 3) in the world frame.
    """

    def __init__(self, record: Slam, count: int, equipment: Equipment):
        from covey.mapping.slam.graph_slam import GraphSlam  # slow to load, and most runs need no SLAM
        from covey.mapping.slam.saved_graph import load_graph

        assert equipment.laser is not None
        self.record = record
        self._since = np.zeros((count, 3))  # odometry since the last scan
        self._begun = False
        laser, noise = equipment.laser, equipment.odometry_noise
        self.known: tuple[Log, np.ndarray] | None = None
        if record.from_ is None:
            self.robots = [GraphSlam(laser, record.graph, noise=noise) for _ in range(count)]
        else:
            x, y, turn = record.at
            changes = record.graph.model_dump(exclude_unset=True)
            loaded = [load_graph(record.from_, changes, laser, noise) for _ in range(count)]
            self.robots = [robot for _, robot in loaded]
            for robot in self.robots:
                robot.poses = compose(np.array([x, y, math.radians(turn)]), robot.poses)
                robot.pose = robot.poses[-1].copy()
            placed = self.robots[0].pieces.placed()
            self.known = loaded[0][0][placed], self.robots[0].poses[placed]
        self._told = [0] * count  # contradictions
        self.members: dict[int, TeamMember] = {}

    def join(self, robot: int, number: int, common_frame: bool) -> "TeamMember":
        """Let a robot take part in the SLAM of a team, before the first step; see `TeamMember`."""
        from covey.mapping.slam.team import TeamMember

        settings = None if self.record.team == "auto" else self.record.team
        self.members[robot] = TeamMember(number, self.robots[robot], settings, common_frame)
        return self.members[robot]

    def update(self, sensed: Sensed) -> Estimate:
        """Return the estimates; the true poses are used once, for the start."""
        if not self._begun:
            self._begun = True
            deviations = self.record.start_sigma_m, self.record.start_sigma_rad
            for robot, start in zip(self.robots, sensed.true_pose, strict=True):
                robot.begin_session(start if self.record.start == "known" else None, deviations)
        else:
            self._since = compose(self._since, sensed.motion)
        scan = sensed.scan
        if scan is not None:
            before = compose(self._since, inverse(scan.since))
            for robot, motion, ranges in zip(self.robots, before, scan.ranges, strict=True):
                robot.add(motion, ranges)
            self._since = scan.since
        for member in self.members.values():
            member.work()
        at_scan = np.array([self._at_scan(robot) for robot in range(len(self.robots))])
        covariance = np.array([robot.covariance for robot in self.robots])
        revision = np.array([robot.revision for robot in self.robots], np.int64)
        for robot, member in self.members.items():
            revision[robot] += member.revision
        return Estimate(compose(at_scan, self._since), covariance, revision)

    def contradicted(self) -> list[tuple[int, Contradiction]]:
        """Return the robots whose odometry their scans contradict, with what is wrong, each episode once."""
        told = [(k, one) for k, robot in enumerate(self.robots) for _, one in robot.contradicted[self._told[k] :]]
        self._told = [len(robot.contradicted) for robot in self.robots]
        return told

    def newest(self, robot: int) -> tuple[int, bool]:
        """Return the number of a robot's newest scan, and whether maps take it; see `GraphSlam.moved_last`."""
        return self.robots[robot].scans - 1, self.robots[robot].moved_last

    def past(self, robot: int, scans: Sequence[int]) -> np.ndarray:
        """Return the poses (k, 3) at which a robot took some of its scans, as they are known now."""
        return self.robots[robot].trajectory(scans, self._poses(robot))

    def here(self, robot: int) -> "Here | None":
        """Return where a robot is now, from its newest key frame; None before its first scan."""
        from covey.mapping.slam.team_news import Here

        slam = self.robots[robot]
        if not slam.frames:
            return None
        return Here(len(slam.frames) - 1, composed(between(slam.poses[-1], slam.pose), self._since[robot]))

    def _poses(self, robot: int) -> np.ndarray:
        member = self.members.get(robot)
        return self.robots[robot].poses if member is None else member.poses

    def _at_scan(self, robot: int) -> np.ndarray:
        """Return the pose (3,) of a robot at its last scan."""
        slam, member = self.robots[robot], self.members.get(robot)
        if member is None or not slam.frames:
            return slam.pose
        return composed(member.newest, between(slam.poses[-1], slam.pose))
