"""What a localizer is given and what it answers: the protocol of `covey.mapping.localization`."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import compose
from covey.mapping.slam.contradictions import Contradiction
from covey.mapping.slam.log import Laser
from covey.named import OfKind
from covey.registry import Registry

localizers: Registry[type["LocalizerRecord"]] = Registry("localizer", shelf="covey.mapping.localization")
"""Kinds of localization by name; packages add theirs under the entry-point group ``covey.localizer``."""


@dataclass(frozen=True, eq=False)
class Equipment:
    """What the localizer of a group knows before the first step. Without a simulation it may be empty.

    Attributes:
        laser: the first lidar of the robots; None: they have none, or the record does not need scans.
        odometry_noise: the noise of their odometry, see `covey.sensors.odometry.Odometry.noise_model`; None: not known.
        plan: returns a map, a grid of int8 cells in the world frame: 100 wall, 0 free, -1 unknown. Its argument is the
            file of the map, or ``plan``: the world before its damage, or None: the world at the start. None instead of
            a function: there is no map.
    """

    laser: Laser | None = None
    odometry_noise: tuple[int, np.ndarray] | None = None
    plan: Callable[[str | None], Grid] | None = None


class Scan(NamedTuple):
    """The newest scan of each robot of a group.

    Attributes:
        ranges: [m], (m, B); not finite: no return. Returns from team mates that are seen are NaN.
        laser: the lidar, the same on all robots.
        since: motion of the robots from the scan until now, (m, 3), x, y [m], heading [rad] in the body frame then.
    """

    ranges: np.ndarray
    laser: Laser
    since: np.ndarray


class Sensed(NamedTuple):
    """What a localizer gets in a step.

    Attributes:
        step: number of the control step; the noise is a function of the robot's name and the step.
        true_pose: (m, 3), for localizers that represent a positioning system; others may use it only for their start.
        motions: samples of the odometry since the last step, oldest first: each (m, 3), x, y [m], heading [rad] in the
            body frame before it. Those of the first step do not count. Turns are those of the gyro, if there is one.
        scan: the newest scan that has arrived since the last step, if the localizer needs the lidar; None: none has.
        time_s: simulated time [s].
        turn_variances: of the turns of each of the motions that a gyro has measured [rad²], (m,), NaN where it has not;
            none: there is no gyro.
    """

    step: int
    true_pose: np.ndarray
    motions: Sequence[np.ndarray] = ()
    scan: Scan | None = None
    time_s: float = 0.0
    turn_variances: Sequence[np.ndarray] = ()

    @property
    def motion(self) -> np.ndarray:
        """The measured motion since the last step, (m, 3)."""
        if not self.motions:
            return np.zeros((len(self.true_pose), 3))
        motion = self.motions[0]
        for further in self.motions[1:]:
            motion = compose(motion, further)
        return motion


class Estimate(NamedTuple):
    """The answer of a localizer, in the world frame.

    Attributes:
        pose: x, y [m], heading [rad], (m, 3).
        covariance: of x, y and heading, (m, 3, 3); NaN: not known.
        revision: how often the past poses of each robot have changed, int64 (m,).
    """

    pose: np.ndarray
    covariance: np.ndarray
    revision: np.ndarray


class Localizer(Protocol):
    """Estimates the poses of a group of robots, step by step. It may keep scans and poses of its own, as SLAM does."""

    def update(self, sensed: Sensed) -> Estimate:
        """Return the estimates after one more step; the caller does not change their arrays."""
        ...


@runtime_checkable
class ChecksOdometry(Protocol):
    """A localizer that notices when scans contradict the odometry, step after step."""

    def contradicted(self) -> list[tuple[int, Contradiction]]:
        """Return the robots of which it noticed that since the last call, with what is wrong, each episode once."""
        ...


@runtime_checkable
class HasPast(Protocol):
    """A localizer that corrects poses of the past, so that maps follow."""

    def newest(self, robot: int) -> tuple[int, bool]:
        """Return the number of a robot's newest scan, and whether maps take it."""
        ...

    def past(self, robot: int, scans: Sequence[int]) -> np.ndarray:
        """Return the poses (k, 3), in the world frame, at which a robot took some scans, as known now."""
        ...


class Extent(NamedTuple):
    """What the robots of a group are about to see, as far as it can be estimated before a run.

    Attributes:
        robots: how many they are.
        beams: of a scan of one of them; 0: they have no lidar.
        sight_m: radius of a disc as large as what a robot sees from where it stands [m].
        way_m: the longest way that a robot drives [m].
        area_m2: of the world [m²].
        cells: of the map that a robot may be given.
    """

    robots: int
    beams: int
    sight_m: float
    way_m: float
    area_m2: float
    cells: int

    def seen_m2(self, margin_m: float) -> float:
        """Return the area that a robot sees [m²] on its way, with a margin around it.

        Half of the strip along its way is new: it turns around, and others have driven there.
        """
        reach = self.sight_m + margin_m
        return min(math.pi * reach**2 + reach * self.way_m, self.area_m2)


_ALONE = Equipment()


class LocalizerRecord(OfKind, ABC):
    """Base of the records that build localizers.

    The random numbers of what `build` returns depend only on name, seed and step.

    Attributes:
        needs: what sensors of each robot must feed, ``motion`` or ``scan``, see `SensorRecord.feeds`; no other readings
            are passed.
        matches: whether the robot's computer is charged for matching scans, as one that needs scans does.
        white: whether the errors of two steps are independent. A belief about the ground then averages them; otherwise
            it counts them as one error that all its measurements share.
    """

    registry = localizers
    needs: ClassVar[tuple[str, ...]] = ()
    matches: ClassVar[bool] = False
    white: ClassVar[bool] = False

    @property
    def finds_mates(self) -> bool:
        """Whether robots that do not know where others started learn it from this, and need no search by their maps."""
        return False

    @abstractmethod
    def build(self, names: Sequence[str], seed: int, equipment: Equipment = _ALONE) -> Localizer:
        """Return a localizer for robots with these names."""

    def memory(self, extent: Extent) -> float:
        """Return how much memory the localizer of a group takes at most [bytes]; 0: nothing to speak of."""
        return 0.0
