"""`SelfLocalization`: one robot finds out by itself where it is, in a process or in a node of ROS 2."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose, compose, inverse
from covey.mapping.dead_reckoning import turned
from covey.mapping.localizer import Equipment, LocalizerRecord, Scan, Sensed
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.team_mates import without_mates
from covey.mapping.slam.log import Laser
from covey.onboard.estimator import Estimator
from covey.onboard.step import Located, ScanInput, SenseInput, StepInput


@dataclass(frozen=True, eq=False)
class OwnLocalization:
    """How a robot finds out by itself where it is.

    Attributes:
        record: the kind of localization, and its settings.
        laser: its lidar, if the localizer reads one.
        noise: of its odometry, see `covey.mapping.localizer.Equipment`; None: not known.
        gyro: the noise of its gyro, see `covey.mapping.dead_reckoning.GyroOdometry`; None: it has none.
        plans: the maps that it is given, by the names with which the localizer asks for them.
        radius_m: of the largest robot of the team, for a lidar that sees robots [m]; None: it sees none.
        mates: where the others start, x, y [m], (k, 2); none: not known.
        start: where it starts, x, y [m], heading [rad], (3,).
        frame: pose (3,) of its own frame, in which its map and its controller get poses; None: the same frame.
    """

    record: LocalizerRecord
    laser: Laser | None
    noise: tuple[int, np.ndarray] | None
    gyro: tuple[float, float, float, float] | None
    plans: Mapping[str | None, Grid]
    radius_m: float | None
    mates: np.ndarray
    start: np.ndarray
    frame: np.ndarray | None = None


class SelfLocalization:
    """Localizes one robot as its group is localized in a simulation.

    Args:
        own: how.
        name, seed: of the robot, and of the run.
        beliefs: among which its map is, which follows corrections; None: it keeps none.
        row: of its map.
        reach_m: returns within this distance of a team mate's centre are on the mate [m].
        begin_s: time of the first step [s].

    Attributes:
        covariance: of its estimate, (1, 3, 3); NaN: not known.
    """

    def __init__(
        self,
        own: OwnLocalization,
        name: str,
        seed: int,
        beliefs: Beliefs | None,
        row: int,
        reach_m: float,
        begin_s: float = 0.0,
    ):
        equipment = Equipment(own.laser, own.noise, own.plans.__getitem__ if own.plans else None)
        localizer = own.record.build([name], seed, equipment)
        self._own, self._reach_m = own, reach_m
        self._estimator = Estimator(localizer, own.laser, own.gyro, own.radius_m, begin_s=begin_s)
        if beliefs is not None:
            self._estimator.keep_scans(0, beliefs, row)
        self._past = self._estimator.pasts.get(0)
        self._start = self._pose = own.start[None]
        self.covariance = np.full((1, 3, 3), np.nan)
        self._odometry = self._start
        self._scan: ScanInput | None = None
        self._begun, self._now_s = False, begin_s
        self._moved: list[tuple[int, np.ndarray]] = []  # corrections that the controller has not been told

    def update(self, sensed: SenseInput) -> Located:
        """Return where the robot is; its map follows what that corrects."""
        own, estimator, scan = self._own, self._estimator, sensed.scan
        self._now_s, self._scan = sensed.time_s, scan
        if not self._begun:
            self._begun = True
            for movers in estimator.movers:
                movers.expect(own.mates, sensed.time_s)
        motions, variances = estimator.motions(
            ((at_s, motion[None]) for at_s, motion in sensed.wheels),
            ((at_s, np.array([rate])) for at_s, rate in sensed.gyro),
        )
        self._odometry = estimator.reckon(self._start, motions, variances, own.noise)
        shown = None
        if scan is not None and own.laser is not None:
            since = np.zeros(3) if scan.since is None else scan.since
            shown = Scan(self._without_mates(scan), own.laser, since[None])
        given = Sensed(sensed.step, self._start, motions, shown, sensed.time_s, variances)
        self._pose, self.covariance, revision = estimator.update(
            self._pose, given, math.nan if scan is None else scan.taken_s
        )
        contradicted = tuple(one for _, one in estimator.contradicted())
        if self._past is not None and (moved := self._past.follow(int(revision[0]), self._framed)) is not None:
            self._moved.append(moved)
        if sensed.jump is not None:
            self._pose = np.array([sensed.jump @ self._pose[0]])
        return Located(
            self._pose[0],
            self.covariance[0],
            int(revision[0]),
            self._odometry[0],
            estimator.odometry_spread[0],
            contradicted,
            "each" if self._past is None else "newest" if self.takes(True) else "none",
            estimator.took_s,
        )

    @property
    def pose(self) -> np.ndarray:
        """Where the robot is in its own frame, (1, 3)."""
        return self._framed(self._pose)

    @property
    def is_white(self) -> bool:
        """Whether the errors of two steps are independent."""
        return self._own.record.white

    @property
    def reads_scans(self) -> bool:
        """Whether the robot locates itself by its lidar."""
        return self._own.laser is not None

    @property
    def scan(self) -> ScanInput | None:
        """The scan by which the robot has located itself in this step; None: there was none."""
        return self._scan

    def takes(self, is_newest: bool) -> bool:
        """Return whether to map with a scan: with each, or with those that make the map follow corrections."""
        return self._past is None or self._past.takes(is_newest, self._now_s)

    def ranges(self, scan: ScanInput, looked: np.ndarray | None) -> np.ndarray:
        """Return the ranges (rays,) [m] of a scan without returns from mates, for the map; see `Estimator.hide`."""
        ranges = self._without_mates(scan)[0]
        self._estimator.hide(0, ranges, looked)
        return ranges

    def has_mapped(self, pose: np.ndarray, ranges: np.ndarray, taken_s: float) -> None:
        """Keep a scan that was added to the map at a pose (3,); it was taken at ``taken_s``."""
        if self._past is not None:
            self._past.add(pose, ranges, taken_s, self._now_s)

    def show(self, shown: StepInput) -> StepInput:
        """Return the input of the controller with what the robot has found out by itself."""
        moved, self._moved = tuple(self._moved), []
        covariance = self.covariance
        if self._own.frame is not None:
            covariance = turned(covariance, self._own.frame[None, 2])
        return shown._replace(
            pose=Pose(*self.pose[0].tolist()),
            covariance=covariance.ravel().tolist(),
            odometry=tuple(self._framed(self._odometry)[0].tolist()),
            moved=moved,
        )

    def _without_mates(self, scan: ScanInput) -> np.ndarray:
        laser = self._own.laser
        assert laser is not None
        return without_mates(scan.measured[None], laser.angles, np.array(laser.mount), scan.mates, self._reach_m)

    def _framed(self, poses: np.ndarray) -> np.ndarray:
        """Convert poses (k, 3) of the localizer to the robot's own frame."""
        frame = self._own.frame
        return poses if frame is None else compose(inverse(frame[None]), poses)
