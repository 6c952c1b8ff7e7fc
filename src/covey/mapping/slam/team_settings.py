"""Settings of a team that maps together."""

from pydantic import Field

from covey.records import Record


class TeamSettings(Record):
    """How the robots of a team find each other's maps."""

    start_sigma_m: float = Field(default=0.05, gt=0, description="Standard deviation of a known start position [m].")
    start_sigma_deg: float = Field(default=1.0, gt=0, le=180, description="Of its heading [degrees].")
    score: float = Field(default=0.6, gt=0, le=1, description="Least mean nearness of the points of a relation.")
    first_score: float = Field(
        default=0.7, gt=0, le=1, description="Least nearness in the search at all headings, on cells twice as large."
    )
    places: int = Field(
        default=4, ge=1, description="Relations that agree join two robots when they are from as many places."
    )
    sure_places: int = Field(
        default=10,
        ge=1,
        description="Surely joined: only a quarter of the places is searched at all headings then.",
    )
    window_m: float = Field(default=3.0, gt=0, description="How far from each other's way places are searched [m].")
    drift: float = Field(default=0.04, gt=0, description="Expected error of a position by way [m/m].")
    drift_deg: float = Field(default=0.4, gt=0, description="Expected error of the heading by way [degrees/m].")
    most: int = Field(default=4, ge=1, description="So many relations between two places are enough.")
    stride: int = Field(default=3, ge=1, description="Every so many key frames are compared once robots are joined.")
    apart_m: float = Field(
        default=3.0, ge=0, description="Places are not compared so near a relation, by the ways of both robots [m]."
    )
