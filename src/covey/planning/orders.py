"""`Order`: the task of a team that drives over a landscape."""

import math
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from covey.errors import InvalidValueError
from covey.planning.formations import FormationName, SpacingOf, slots
from covey.records import Record

Mode = Literal["leap_of_faith", "look_before_leap"]
ORDER_KEY = "order"
"""Key of an order on the blackboard."""


class Order(Record):
    """The place where the team is to go, and its formation there.

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007.
    """

    objective_m: tuple[float, float] = Field(description="x, y of the objective [m].")
    formation: FormationName = Field(
        default="hexagon",
        description="hexagon around the objective, pentagon with one robot on the objective, or a single rank.",
    )
    spacing_m: float = Field(
        default=2.0,
        gt=0,
        le=1000,
        description="Radius of a hexagon or pentagon, or distance between neighbours in a rank [m].",
    )
    spacing_of: SpacingOf = Field(
        default="radius",
        description=(
            "Meaning of spacing_m on a ring. radius: the radius; neighbours: the distance between neighbours."
        ),
    )
    facing_deg: float = Field(
        default=0.0, description="Facing of the formation and of each robot [degrees from east, counter-clockwise]."
    )
    mode: Mode = Field(
        default="leap_of_faith",
        description=(
            "leap_of_faith: drive over everything that was ever mapped; look_before_leap: only over what is seen now."
        ),
    )

    within_m: float = Field(
        default=1.0, gt=0, description="A robot has arrived when its centre is within this distance of its place [m]."
    )

    @property
    def facing(self) -> float:
        """Direction that the formation faces [rad]."""
        return math.radians(self.facing_deg)

    def slots(self, count: int) -> np.ndarray:
        """Return the places of ``count`` robots, float64 (count, 2) [m]."""
        return slots(self.formation, count, self.objective_m, self.spacing_m, self.facing, self.spacing_of)

    def entry(self, number: int) -> dict[str, Any]:
        """Return the entry for the blackboard: the order as plain data, and its number in the run."""
        return {**{name: getattr(self, name) for name in Order.model_fields}, "number": number}

    @classmethod
    def of(cls, entry: Any) -> "Order":
        """Return the order in an entry, whichever robot or user wrote it.

        Raises:
            InvalidValueError: the entry holds no order.
        """
        try:
            return cls.model_validate({k: v for k, v in dict(entry).items() if k != "number"})
        except (TypeError, ValueError) as error:
            found = error.errors(include_url=False) if isinstance(error, ValidationError) else []
            what = "; ".join(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in found) or str(error)
            raise InvalidValueError(f"{entry!r} is not an order: {what}") from None
