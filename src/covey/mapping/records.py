"""`Mapping`: how a robot turns lidar scans into its belief."""

from typing import Self

from pydantic import Field, model_validator

from covey.records import Record

EVIDENCE_STEP = 0.05
"""Log-odds of one unit of evidence."""

_LARGEST = 6.35  # int8 in steps of 0.05


class Mapping(Record):
    """The occupancy grid of a robot's belief.

    References:
        A. Hornung, K. M. Wurm, M. Bennewitz, C. Stachniss, W. Burgard: OctoMap. Autonomous Robots 34, 2013 (the
        log-odds and their bounds).
    """

    resolution_m: float = Field(default=0.1, gt=0, le=10, description="Side of a cell of the map [m].")
    hit_log_odds: float = Field(
        default=0.85, ge=EVIDENCE_STEP, le=_LARGEST, description="Evidence of a beam that ends [-]."
    )
    miss_log_odds: float = Field(
        default=0.4, ge=EVIDENCE_STEP, le=_LARGEST, description="Evidence of a beam passing [-]."
    )
    lowest_log_odds: float = Field(
        default=-2.0, ge=-_LARGEST, le=-EVIDENCE_STEP, description="Bound of one robot's no [-]."
    )
    highest_log_odds: float = Field(
        default=3.5, ge=EVIDENCE_STEP, le=_LARGEST, description="Bound of one robot's yes [-]."
    )
    max_range_m: float | None = Field(
        default=None, gt=0, description="Returns beyond this only clear the way up to it [m]; none: the sensor's range."
    )
    max_free_m: float | None = Field(
        default=None, gt=0, description="A beam without a return clears the way up to this [m]; none: as max_range_m."
    )
    min_motion_m: float = Field(
        default=0.0, ge=0, description="A scan is used after at least this much driving [m] ..."
    )
    min_turn_deg: float = Field(default=0.0, ge=0, le=180, description="... or this much turning [deg]; 0: every scan.")

    @model_validator(mode="after")
    def _whole_steps(self) -> Self:
        for name in ("hit_log_odds", "miss_log_odds", "lowest_log_odds", "highest_log_odds"):
            value = getattr(self, name)
            if abs(value / EVIDENCE_STEP - round(value / EVIDENCE_STEP)) > 1e-6:
                raise ValueError(f"{name} is {value}; evidence is kept in steps of {EVIDENCE_STEP}, use a multiple")
        return self

    def units(self, log_odds: float) -> int:
        """Return log-odds as a whole number of units of evidence.

        Examples:
            >>> Mapping().units(0.85)
            17
        """
        return round(log_odds / EVIDENCE_STEP)
