"""Formation: go to an objective and stand around it as ordered."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from covey.errors import InvalidValueError
from covey.missions.protocol import Mission, MissionContext, Tracker, missions
from covey.planning.assignment import hungarian_assignment
from covey.planning.orders import Order


@missions.register("formation")
class Formation(Order, Mission):
    """Go to an objective in formation; the score is the number of robots at their places.

    The order is on the blackboard from the start; events of the kind ``order`` and `Simulation.order` replace it.

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007.
    """

    rewards: ClassVar[Mapping[str, float]] = {"formation_error_m": -0.1, "robots_arrived": 1.0}

    robots: int | None = Field(
        default=None,
        ge=1,
        description="Number of robots that form up, the first ones of the team; null: all that do not fly.",
    )

    def begin(self, context: MissionContext) -> "FormationTracker":
        """Return the tracker of the formation.

        Raises:
            InvalidValueError: the objective lies outside the world.
        """
        world, flies = context.world, context.model.flies
        if not world.grid.inside(world.grid.to_cells(self.objective_m)):
            left, right, bottom, top = world.grid.extent
            raise InvalidValueError(
                f"the objective {list(self.objective_m)} lies outside the world, x {left:g} to {right:g} m, "
                f"y {bottom:g} to {top:g} m; give one inside"
            )
        order = Order.model_validate({name: getattr(self, name) for name in Order.model_fields})
        return FormationTracker(order, min(self.robots or len(flies), len(flies)), ~flies)


class FormationTracker(Tracker):
    """Tracks the robots at the places of the order.

    Each robot that is able to drive is scored against its place by the Hungarian method, independent of what the robots
    have agreed on. There are as many places as robots that were able to drive when the order was given.

    Attributes:
        order: the present order.
        accomplished: whether all robots that are able to drive are at their places.
        orders_met: number of orders that were met at some time.
    """

    columns = ("robots_arrived", "formation_error_m", "worst_formation_error_m", "orders_met")

    def __init__(self, order: Order, robots: int, reckoned: np.ndarray | None = None):
        """Begin with an order for the first ``robots`` of the team; only robots in ``reckoned``, bool (n,), count."""
        self.robots = robots
        self._reckoned = np.True_ if reckoned is None else reckoned
        self.orders_met, self.accomplished = 0, False
        self.facts: dict[str, Any] = {"order": order.entry(0), "robots": robots, "within_m": order.within_m}
        self._values: dict[str, float] = dict.fromkeys(self.columns, np.nan)
        self.give(order)

    def give(self, order: Order) -> None:
        """Replace the order."""
        self.order, self.accomplished = order, False
        self._places: np.ndarray | None = None
        self._been: set[int] = set()
        self._met = False

    def measure(self, time_s: float, pose: np.ndarray, able: np.ndarray) -> list[tuple[int, str]]:
        """Process the true poses (n, 3) and the able robots, bool (n,); return robots first at a place now."""
        members = np.flatnonzero((able & self._reckoned)[: self.robots])
        if self._places is None:
            self._places = self.order.slots(max(len(members), 1))
        costs = np.hypot(*(pose[members, None, :2] - self._places[None]).transpose(2, 0, 1))
        error = costs[np.arange(len(members)), hungarian_assignment(costs)] if len(members) else np.empty(0)
        there = error <= self.order.within_m
        self.accomplished = len(members) > 0 and bool(there.all())
        new = [int(i) for i in members[there] if int(i) not in self._been]
        self._been.update(new)
        x, y = self.order.objective_m
        said = [(i, f"has its place in the {self.order.formation} at ({x:g}, {y:g})") for i in new]
        if self.accomplished and not self._met:
            self._met = True
            self.orders_met += 1
            said.append((new[-1] if new else int(members[-1]), f"completes the {self.order.formation}"))
        self._values = {
            "robots_arrived": float(np.count_nonzero(there)),
            "formation_error_m": float(error.mean()) if len(error) else np.nan,
            "worst_formation_error_m": float(error.max()) if len(error) else np.nan,
            "orders_met": float(self.orders_met),
        }
        return said

    @property
    def values(self) -> dict[str, float]:
        """Number of robots at their places, mean and largest distance from the places [m], and orders met so far."""
        return self._values
