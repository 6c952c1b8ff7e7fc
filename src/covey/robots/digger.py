"""`Digger`: the tool with which a robot moves ground."""

from pydantic import Field

from covey.records import Record


class Digger(Record):
    """A shovel: it takes up ground at one place within its reach, and lays it down at another."""

    reach_m: float = Field(default=1.0, gt=0, le=100, description="How far from its middle the robot reaches [m].")
    most_m3: float = Field(default=0.05, gt=0, le=1000, description="How much ground it moves in one load [m3].")
    load_s: float = Field(default=5.0, ge=0, description="How long a load takes; until then it begins no other [s].")
    radius_m: float = Field(
        default=0.3, gt=0, le=100, description="Radius of the bowl that it digs, and of the heap that it lays down [m]."
    )
