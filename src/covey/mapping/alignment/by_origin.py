"""Evidence by origin: what robots hold of each other's evidence while they do not know where the others started."""

from collections.abc import Sequence

import numpy as np

from covey.mapping.exchange.map_updates import News
from covey.mapping.occupancy.belief import Beliefs


class EvidenceByOrigin(Beliefs):
    """What the robots of a team hold of each other's evidence, every tile in the frame of its origin's start.

    All that a message needs is as in `Beliefs`. What tiles of several origins add up to (``occupancy``, ``log_odds``)
    means nothing here: they do not lie on one another.

    Args:
        maps: the beliefs whose robots publish their own evidence, each in the frame of its own start.

    Attributes:
        fresh: bool (n,), which robots have taken something since somebody set it to False.
    """

    def __init__(self, maps: Beliefs):
        super().__init__(maps.names, maps.grid.size_m, maps.grid.origin[:2], maps.mapping)
        self.maps = maps
        self.fresh = np.zeros(len(self), np.bool_)

    def publish(self, robots: np.ndarray | None = None) -> int:
        """Make what has changed of robots' own evidence in the maps available to others, as `Beliefs.publish`."""
        for robot in range(len(self)) if robots is None else robots.tolist():
            now = self.maps._store.evidence[self.maps._team.own[robot]]
            changed = np.flatnonzero((now != self._store.evidence[self._team.own[robot]]).any(axis=1))
            self._team.own[robot, changed] = self._slots_with(now[changed], 0)
        return super().publish(robots)

    def take(self, received: np.ndarray, news: Sequence[News]) -> np.ndarray:
        """Let robots take the tiles that they received, as `Beliefs.take`."""
        taken = super().take(received, news)
        self.fresh |= taken > 0
        return taken
