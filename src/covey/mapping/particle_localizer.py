"""The localizer of robots that know neither the map nor where they are: one `ParticleSlam` each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.mapping.localizer import Equipment, Estimate, Extent, LocalizerRecord, Sensed
from covey.mapping.slam.particle_maps import TILE, bytes_of
from covey.mapping.slam.particle_settings import PRESETS, ParticleSettings
from covey.random import stream_key
from covey.records import given

if TYPE_CHECKING:
    from covey.mapping.slam.particles import ParticleSlam


class Particles(LocalizerRecord):
    """The robots map and localize at once, by a Rao-Blackwellised particle filter. Each begins at its true pose.

    References:
        see `covey.mapping.slam.particles.ParticleSlam`.

    Examples:
        >>> Particles(preset="yan2017", filter={"particles": 60}).filter.resolution_m
        0.2
    """

    needs: ClassVar[tuple[str, ...]] = ("motion", "scan")

    kind: Literal["particles"] = Field(default="particles", description="The name of this kind of localization.")
    preset: Literal["gmapping", "yan2017", "dat160"] | None = Field(
        default=None, description="The settings of an earlier system; those that `filter` names come before it."
    )
    filter: ParticleSettings = Field(default_factory=ParticleSettings, description="The settings of the filter.")

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, value: Any) -> Any:
        chosen = PRESETS.get(value.get("preset") or "") if isinstance(value, dict) else None
        return value if chosen is None else {**value, "filter": {**chosen, **given(value.get("filter"))}}

    def build(self, names: Sequence[str], seed: int, equipment: Equipment) -> "ParticleLocalizer":
        """Return a localizer for robots with these names; its noise depends only on name, seed and scans.

        Raises:
            InvalidValueError: there is no lidar.
        """
        if equipment.laser is None:
            raise InvalidValueError("SLAM with particles needs a lidar")
        return ParticleLocalizer(self, names, seed, equipment)

    def memory(self, extent: Extent) -> float:
        """Return the bytes of the maps of all particles of all robots."""
        settings = self.filter
        seen_m2 = extent.seen_m2(0.5 * TILE * settings.resolution_m)
        return extent.robots * settings.particles * bytes_of(seen_m2 / settings.resolution_m**2)


class ParticleLocalizer:
    """Localizes the robots of a group by particles, each with maps of its own.

    Attributes:
        robots: the filter of each robot; none before the first step.
    """

    def __init__(self, record: Particles, names: Sequence[str], seed: int, equipment: Equipment):
        self._settings, self._laser = record.filter, equipment.laser
        self._keys = [stream_key(seed, f"localization/{name}") for name in names]
        self._since = np.zeros((len(names), 3))  # odometry since the last scan
        self._scan_s = 0.0  # when it arrived
        self._at_scan, self._covariance = np.zeros((len(names), 3)), np.zeros((len(names), 3, 3))
        self._revision = np.zeros(len(names), np.int64)
        self.robots: list[ParticleSlam] = []

    def update(self, sensed: Sensed) -> Estimate:
        """Return the estimates; the true poses are used once, for the start."""
        if not self.robots:
            from covey.mapping.slam.particles import ParticleSlam  # slow to load, and most runs need none

            laser, starts = self._laser, sensed.true_pose
            assert laser is not None
            self._at_scan = starts.copy()
            self.robots = [
                ParticleSlam(laser, self._settings, key, start) for key, start in zip(self._keys, starts, strict=True)
            ]
        else:
            self._since = compose(self._since, sensed.motion)
        scan = sensed.scan
        if scan is not None:
            before, elapsed_s = compose(self._since, inverse(scan.since)), sensed.time_s - self._scan_s
            for i, robot in enumerate(self.robots):
                found = robot.update(before[i], scan.ranges[i], elapsed_s)
                self._at_scan[i], self._revision[i], self._covariance[i] = found
            self._since, self._scan_s = scan.since, sensed.time_s
        return Estimate(compose(self._at_scan, self._since), self._covariance.copy(), self._revision.copy())

    def newest(self, robot: int) -> tuple[int, bool]:
        """Return the number of a robot's newest scan, and whether it went into the maps of the filter."""
        return self.robots[robot].scans - 1, self.robots[robot].processed_last

    def past(self, robot: int, scans: Sequence[int]) -> np.ndarray:
        """Return the poses (k, 3) at which a robot took some of its scans, as its best particle has them now."""
        return self.robots[robot].trajectory()[list(scans)]
