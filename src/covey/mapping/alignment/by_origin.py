"""Evidence by origin: each other's evidence that robots hold while they do not know the others' starts."""

from collections.abc import Sequence

import numpy as np

from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.occupancy.belief import Beliefs


class EvidenceByOrigin(Beliefs):
    """The evidence that robots of a team hold of each other, every tile in the frame of its origin's start.

    Everything that a message needs is as in `Beliefs`. Sums of tiles of several origins (``occupancy``, ``log_odds``)
    have no meaning here, since their frames differ.

    Args:
        maps: the beliefs whose robots publish their own evidence, each in the frame of its own start.

    Attributes:
        fresh: bool (n,), which robots have taken tiles since it was last set to False.
    """

    def __init__(self, maps: Beliefs):
        super().__init__(maps.names, maps.grid.size_m, maps.grid.origin[:2], maps.mapping)
        self.maps = maps
        self.fresh = np.zeros(len(self), np.bool_)

    def publish(self, robots: np.ndarray | None = None) -> int:
        """Make the changes of robots' own evidence in the maps available to others, as `Beliefs.publish`."""
        for robot in range(len(self)) if robots is None else robots.tolist():
            now = self.maps.store.evidence[self.maps.team.own[robot]]
            changed = np.flatnonzero((now != self.store.evidence[self.team.own[robot]]).any(axis=1))
            self.team.own[robot, changed] = self.slots_with(now[changed], 0)
        return super().publish(robots)

    def merge_updates(self, received: np.ndarray, updates: Sequence[MapUpdate]) -> np.ndarray:
        """Let robots take the tiles that they received, as `Beliefs.merge_updates`."""
        taken = super().merge_updates(received, updates)
        self.fresh |= taken > 0
        return taken
