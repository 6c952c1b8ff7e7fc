"""Settings of graph SLAM."""

from pydantic import Field

from covey.records import Record


class LoopSettings(Record):
    """How places that are seen again close loops."""

    score: float = Field(default=0.6, gt=0, le=1, description="Least mean nearness of the points of a loop.")
    drift: float = Field(
        default=0.04, gt=0, description="Expected error of a position by the way between two places in the graph [m/m]."
    )
    drift_deg: float = Field(default=0.4, gt=0, description="Expected error of the heading by that way [degrees/m].")
    most_m: float = Field(default=6.0, gt=0, description="The largest error that is looked for [m].")
    near_m: float = Field(default=20.0, gt=0, description="Places nearer than this in the graph are tied already [m].")


class GraphSettings(Record):
    """Settings of graph SLAM; the defaults suit buildings and lidars of 3.5 to 30 m."""

    resolution_m: float = Field(default=0.05, gt=0, le=1, description="Side of a cell of the local maps [m].")
    smear_m: float = Field(default=0.08, gt=0, le=1, description="A point this far from the map fits by exp(-1/2) [m].")
    range_m: float = Field(default=15.0, gt=0, description="Returns from farther away are not matched [m].")
    noise_m: float = Field(
        default=0.02, gt=0, description="Standard deviation of one return, with what all returns have in common [m]."
    )
    key_frame_m: float = Field(default=0.3, gt=0, description="A scan is kept after this way [m] ...")
    key_frame_deg: float = Field(default=15.0, gt=0, le=180, description="... or after this turn [degrees].")
    local_key_frames: int = Field(default=20, ge=1, le=500, description="Key frames that a scan is matched with.")
    m_per_m: float = Field(default=0.1, ge=0, description="Expected error of the odometry's way [m/m].")
    rad_per_m: float = Field(default=0.1, ge=0, description="Expected error of its heading by way [rad/m].")
    rad_per_rad: float = Field(default=0.2, ge=0, description="Expected error of its heading by turn [rad/rad].")
    loops: LoopSettings | None = Field(
        default_factory=LoopSettings, description="How places that are seen again close loops; null: they do not."
    )
