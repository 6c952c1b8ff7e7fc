"""`Digger`: the tool with which a robot moves ground."""

from pydantic import Field

from covey.records import Record


class Digger(Record):
    """A shovel that moves ground from one place within its reach to another."""

    reach_m: float = Field(default=1.0, gt=0, le=100, description="Reach of the tool from the robot's centre [m].")
    most_m3: float = Field(default=0.05, gt=0, le=1000, description="Largest load [m3].")
    load_s: float = Field(
        default=5.0, ge=0, description="Duration of a load; the robot begins no other before its end [s]."
    )
    radius_m: float = Field(
        default=0.3, gt=0, le=100, description="Radius of the bowl that it digs and of the heap that it makes [m]."
    )
