"""The localizer of robots that are given a map: one `MonteCarlo` each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.localizer import Equipment, Estimate, Extent, LocalizerRecord, Sensed
from covey.mapping.slam.known_map_settings import KnownMapSettings
from covey.random import normal4, stream_key

if TYPE_CHECKING:
    from covey.mapping.slam.monte_carlo import MonteCarlo

FIELD_CELL = 8.0 + 16.0
"""Bytes for each cell of the map: distance to the nearest wall, and row and column, if it is free."""


class KnownMap(LocalizerRecord):
    """The robots find themselves in a given map, by Monte Carlo localization.

    References:
        see `covey.mapping.slam.monte_carlo.MonteCarlo`.
    """

    needs: ClassVar[tuple[str, ...]] = ("motion", "scan")

    kind: Literal["known_map"] = Field(default="known_map", description="The name of this kind of localization.")
    map: str | None = Field(
        default=None,
        min_length=1,
        description="The map, a ROS map (.yaml), such as an old plan; plan: the world before its damage; null: the "
        "world as it is at the start.",
    )
    start: Literal["known", "unknown"] = Field(
        default="known",
        description="Whether the robots know where they start, up to the deviations; unknown: anywhere on the map.",
    )
    start_sigma_m: float = Field(default=0.1, ge=0, le=100, description="Deviation of x and y of a known start [m].")
    start_sigma_rad: float = Field(default=0.05, ge=0, le=7, description="Deviation of its heading [rad].")
    filter: KnownMapSettings = Field(default_factory=KnownMapSettings, description="The settings of the filter.")

    def build(self, names: Sequence[str], seed: int, equipment: Equipment) -> "KnownMapLocalizer":
        """Return a localizer for robots with these names; its noise depends only on name, seed and scans.

        Raises:
            InvalidValueError: there is no lidar or no map, or the map has no free cell or no wall.
        """
        return KnownMapLocalizer(self, names, seed, equipment)

    def memory(self, extent: Extent) -> float:
        """Return the bytes of the likelihood field, which the robots share."""
        return extent.cells * FIELD_CELL


class KnownMapLocalizer:
    """Localizes the robots of a group in one map.

    Attributes:
        plan: the map.
        filters: the filter of each robot; none before the first step.
    """

    def __init__(self, record: KnownMap, names: Sequence[str], seed: int, equipment: Equipment):
        from covey.mapping.slam.likelihood_field import LikelihoodField  # slow to load, and most runs need none

        if equipment.laser is None or equipment.plan is None:
            raise InvalidValueError("localization in a known map needs a lidar and a map")
        self._record, self._laser = record, equipment.laser
        self._keys = [stream_key(seed, f"localization/{name}") for name in names]
        self.plan = plan = equipment.plan(record.map)
        self._field = LikelihoodField(plan.cells, plan, record.filter, equipment.laser.range_max)
        self._revision = np.zeros(len(names), np.int64)
        self.filters: list[MonteCarlo] = []

    def update(self, sensed: Sensed) -> Estimate:
        """Return the estimates; the true poses are used once, for a known start."""
        motion = sensed.motion
        if not self.filters:
            motion = np.zeros_like(sensed.true_pose)
            self.filters = [self._begin(*of) for of in zip(self._keys, sensed.true_pose, strict=True)]
        pose, covariance = np.empty_like(sensed.true_pose), np.empty((len(self.filters), 3, 3))
        scan = sensed.scan
        before = motion if scan is None else compose(motion, inverse(scan.since))
        for i, robot in enumerate(self.filters):
            pose[i], covariance[i] = robot.update(before[i], None if scan is None else scan.ranges[i])
        return Estimate(pose if scan is None else compose(pose, scan.since), covariance, self._revision)

    def _begin(self, key: np.uint64, true_pose: np.ndarray) -> "MonteCarlo":
        from covey.mapping.slam.monte_carlo import MonteCarlo, StartPose

        record, start = self._record, None
        if record.start == "known":
            deviations = (record.start_sigma_m, record.start_sigma_m, record.start_sigma_rad)
            told = true_pose + np.array(deviations) * normal4(key, 1 << 62, 0)[:3]
            start = StartPose(tuple(told.tolist()), deviations)
        plan = self.plan
        return MonteCarlo(self._laser, plan.cells, plan, record.filter, key, start, self._field)
