"""`Mapping`: how a robot turns lidar scans into its belief; `ElevationMapping`: the same of altitudes of the ground."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

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

    uses: ClassVar[tuple[str, ...]] = ("lidar",)
    """Kinds of sensors that it maps with; of lidars the first of a robot."""

    kind: ClassVar[str] = "occupancy"
    resolution_m: float = Field(default=0.1, ge=0.001, le=10, description="Side of a cell of the map [m].")
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


class ElevationMapping(Record):
    """A belief about the altitudes of the ground, vertex by vertex: a Kalman filter with a test for changes.

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. Deakin University,
        2007 (all of it; ``paper`` compares a measurement with the interval of the mean, as written there,
        ``innovation`` with that of what the next measurement will be).
    """

    uses: ClassVar[tuple[str, ...]] = ("wedge", "lidar3d", "depth_camera")
    """Kinds of sensors that it maps with."""

    kind: Literal["elevation"] = "elevation"
    change_test: Literal["innovation", "paper", "none"] = Field(
        default="innovation",
        description="When a vertex is found changed: when the mean of five measurements is 4 standard deviations off "
        "what is to be measured; or outside the 95 % interval of the believed altitude alone (paper: wrong after a few "
        "sights); or never.",
    )
    max_step_m: float = Field(
        default=0.4,
        gt=0,
        description="Largest difference between neighbours 1 m apart that counts as drivable [m]; in proportion at "
        "other spacings.",
    )
    below_m: float = Field(
        default=5.0, ge=0, description="How far below its nearest measured neighbour a drop is believed to lie [m]."
    )
    below_interval_m: float = Field(
        default=1.0, gt=0, description="Half the 95 % interval of the altitude of a drop or of an obstacle [m]."
    )
    spacing_m: float | None = Field(
        default=None, gt=0, description="Distance between vertices of the belief [m]; none: as those of the ground."
    )


def _kind_of(value: Any) -> str:
    return str(value.get("kind", "occupancy") if isinstance(value, dict) else getattr(value, "kind", "occupancy"))


def _spelled_out(value: Any) -> Any:
    """Accept a bare kind; occupancy, which has always been the kind, need not be named."""
    given = {"kind": value} if isinstance(value, str) else value
    if isinstance(given, dict) and given.get("kind") == "occupancy":
        return {key: item for key, item in given.items() if key != "kind"}
    return given


AnyMapping = Annotated[
    Annotated[Mapping, Tag("occupancy")] | Annotated[ElevationMapping, Tag("elevation")],
    Discriminator(_kind_of),
    BeforeValidator(_spelled_out),
]
"""Field type of a mapping in a file: a kind, or the fields of one; without ``kind`` those of occupancy."""
