"""`Mapping`: how a robot turns lidar scans into its belief; `ElevationMapping`: the same for ground altitudes."""

from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from covey.named import OfKind
from covey.registry import Registry

EVIDENCE_STEP = 0.05
"""Log-odds of one unit of evidence."""

_LARGEST = 6.35  # int8 in steps of 0.05


mappers: Registry[type["Mapper"]] = Registry("mapper", shelf="covey.mapping.records")
"""Kinds of mapping by name; packages add theirs under the entry-point group ``covey.mapper``."""


class Mapper(OfKind):
    """Base of the records that say how a robot maps; without ``kind`` a file means ``occupancy``."""

    registry = mappers
    implied: ClassVar[str] = "occupancy"
    uses: ClassVar[str] = "scan"
    """What a sensor feeds that it uses, see `SensorRecord.feeds`; of scans, those of the robot's first one."""


@mappers.register("occupancy")
class Mapping(Mapper):
    """The occupancy grid of a robot's belief.

    References:
        A. Hornung, K. M. Wurm, M. Bennewitz, C. Stachniss, W. Burgard: OctoMap. Autonomous Robots 34, 2013 (the
        log-odds and their bounds).
    """

    resolution_m: float = Field(default=0.1, ge=0.001, le=10, description="Side of a cell of the map [m].")
    hit_log_odds: float = Field(
        default=0.85,
        ge=EVIDENCE_STEP,
        le=_LARGEST,
        description="Log-odds that a beam adds to the cell in which it ends [-].",
    )
    miss_log_odds: float = Field(
        default=0.4,
        ge=EVIDENCE_STEP,
        le=_LARGEST,
        description="Log-odds that a beam subtracts from a cell that it passes [-].",
    )
    lowest_log_odds: float = Field(
        default=-2.0, ge=-_LARGEST, le=-EVIDENCE_STEP, description="Lower bound of the log-odds of one robot [-]."
    )
    highest_log_odds: float = Field(
        default=3.5, ge=EVIDENCE_STEP, le=_LARGEST, description="Upper bound of the log-odds of one robot [-]."
    )
    max_range_m: float | None = Field(
        default=None,
        gt=0,
        description="A return beyond this distance only clears the cells up to it [m]; null: the sensor's range.",
    )
    max_free_m: float | None = Field(
        default=None,
        gt=0,
        description="A beam without a return clears the cells up to this distance [m]; null: as max_range_m.",
    )
    min_motion_m: float = Field(
        default=0.0, ge=0, description="The robot uses a scan after it has driven at least this far [m] ..."
    )
    min_turn_deg: float = Field(
        default=0.0, ge=0, le=180, description="... or turned at least this far [degrees]; 0: it uses every scan."
    )

    @model_validator(mode="after")
    def _whole_steps(self) -> Self:
        for name in ("hit_log_odds", "miss_log_odds", "lowest_log_odds", "highest_log_odds"):
            value = getattr(self, name)
            if abs(value / EVIDENCE_STEP - round(value / EVIDENCE_STEP)) > 1e-6:
                raise ValueError(f"{name} is {value}; evidence is kept in steps of {EVIDENCE_STEP}, use a multiple")
        return self

    def measured(self, ranges: np.ndarray, angles: np.ndarray, range_m: float) -> np.ndarray:
        """Return the ranges of a scan that become evidence; a subclass may drop some, or change them.

        Args:
            ranges: [m], (m, rays), of m robots; inf: nothing within range; NaN: no measurement. They are not changed.
            angles: of the rays [rad], (rays,).
            range_m: of the sensor [m].
        """
        return ranges

    def units(self, log_odds: float) -> int:
        """Return log-odds as a whole number of units of evidence.

        Examples:
            >>> Mapping().units(0.85)
            17
        """
        return round(log_odds / EVIDENCE_STEP)


@mappers.register("elevation")
class ElevationMapping(Mapper):
    """A belief about the altitudes of the ground, vertex by vertex: a Kalman filter with a test for changes.

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. Deakin University,
        2007 (the whole method; ``paper`` compares a measurement with the interval of the mean, as published;
        ``innovation`` with the interval of the next measurement).
    """

    uses: ClassVar[str] = "ground"
    kind: Literal["elevation"] = "elevation"
    change_test: Literal["innovation", "paper", "none"] = Field(
        default="innovation",
        description="Test that finds a vertex changed, on the mean of five measurements. innovation: it is 4 "
        "standard deviations off the expected measurement; paper: it is outside the 95 % interval "
        "of the believed altitude alone, which is wrong after a few sights; none: no test.",
    )
    max_step_m: float = Field(
        default=0.4,
        gt=0,
        description="Largest drivable difference between neighbours that are 1 m apart [m]; in proportion at "
        "other spacings.",
    )
    below_m: float = Field(
        default=5.0,
        ge=0,
        description="Distance of a drop below its nearest measured neighbour, as the robot believes it [m].",
    )
    below_interval_m: float = Field(
        default=1.0, gt=0, description="Half the 95 % interval of the altitude of a drop or of an obstacle [m]."
    )
    spacing_m: float | None = Field(
        default=None, gt=0, description="Distance between vertices of the belief [m]; null: as those of the ground."
    )
