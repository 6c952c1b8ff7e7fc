"""Formation of a terrain team: who takes which place."""

import math
from collections.abc import Mapping

import numpy as np

from covey.planning.assignment import hungarian_assignment
from covey.planning.orders import Order

_DEAL_S = 10.0  # places are dealt out anew at most so often, when robots block each other

Place = tuple[float, float]


class Formation:
    """The places of a team: its leader deals them out, the others take what they are told.

    Attributes:
        places: by the name of the robot [m].
    """

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self._count, self._dealt_s = 0, -math.inf

    def is_due(self, team: Mapping[str, Place], blocked_s: float) -> bool:
        """Return whether to deal: others are in the team than have places, or one said that a mate blocks it."""
        return team.keys() != self.places.keys() or blocked_s > self._dealt_s + _DEAL_S

    def deal(self, order: Order, team: Mapping[str, Place], now_s: float) -> None:
        """Deal out the places by the Hungarian method to a team, where each of it is by name [m].

        A robot pays the square of its distance: so nobody has to pass one who stands, but they move up.
        """
        self._dealt_s = now_s
        self._count = max(self._count, len(team), len(self.places))  # who is lost leaves a gap
        slots = order.slots(self._count)
        names = sorted(team)
        costs = ((np.array([team[n] for n in names])[:, None] - slots[None]) ** 2).sum(axis=2)
        chosen = hungarian_assignment(costs)
        self.places = {name: (float(slots[k, 0]), float(slots[k, 1])) for name, k in zip(names, chosen, strict=True)}

    def take(self, told: Mapping[str, Place]) -> None:
        """Take the places that the leader has dealt out."""
        self.places = {name: (float(x), float(y)) for name, (x, y) in told.items()}

    def leads(self, name: str) -> bool:
        """Return whether a robot is the first by name of those that have places."""
        return bool(self.places) and min(self.places) == name
