"""Formation of a terrain team: which robot takes which place."""

import math
from collections.abc import Mapping

import numpy as np

from covey.planning.assignment import hungarian_assignment
from covey.planning.orders import Order

_DEAL_S = 10.0  # when robots block each other, places are assigned again at most once in this time

Place = tuple[float, float]


class FormationPlaces:
    """The places of a team: the leader assigns them, and the others accept.

    Attributes:
        places: place by name of the robot [m].
    """

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self._count, self._dealt_s = 0, -math.inf

    def is_due(self, team: Mapping[str, Place], blocked_s: float) -> bool:
        """Return whether to assign places again: the team has changed, or a robot reports that a mate blocks it."""
        return team.keys() != self.places.keys() or blocked_s > self._dealt_s + _DEAL_S

    def deal(self, order: Order, team: Mapping[str, Place], now_s: float) -> None:
        """Assign the places to a team by the Hungarian method; ``team``: positions by name [m].

        The cost is the squared distance, so no robot has to pass a standing one: robots move up instead.
        """
        self._dealt_s = now_s
        self._count = max(self._count, len(team), len(self.places))  # a lost robot leaves a gap
        slots = order.slots(self._count)
        names = sorted(team)
        costs = ((np.array([team[n] for n in names])[:, None] - slots[None]) ** 2).sum(axis=2)
        chosen = hungarian_assignment(costs)
        self.places = {name: (float(slots[k, 0]), float(slots[k, 1])) for name, k in zip(names, chosen, strict=True)}

    def set_places(self, told: Mapping[str, Place]) -> None:
        """Accept the places that the leader has assigned."""
        self.places = {name: (float(x), float(y)) for name, (x, y) in told.items()}

    def leads(self, name: str) -> bool:
        """Return whether a robot is the first by name of those with places."""
        return bool(self.places) and min(self.places) == name
