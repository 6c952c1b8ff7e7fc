"""Sharing maps: robots within radio range take each other's evidence every so often."""

import numpy as np

from covey.mapping.belief import TILE_BYTES
from covey.sim.clock import Clock, exact
from covey.sim.estimating import MappedTeam


class Sharing:
    """Exchanges evidence between the beliefs of robots that are within ``range_m`` of each other.

    Args:
        shares: which robots take part, bool (n,).

    Attributes:
        received_bytes: evidence taken so far by each robot, before compression, shape (n,).
    """

    def __init__(
        self, teams: list[MappedTeam], shares: np.ndarray, range_m: float, every_s: float | None, clock: Clock
    ):
        self.teams, self.range_m, self.clock, self._shares = teams, range_m, clock, shares
        self.received_bytes = np.zeros(len(shares), np.int64)
        self._every = max(1, round(exact(every_s) / exact(clock.step_s))) if every_s else 0

    def exchange(self, pose: np.ndarray, halted: np.ndarray) -> None:
        """Merge what robots within range hold; ``pose`` are true poses, shape (n, 3); halted robots are silent."""
        if not self._every or self.clock.step % self._every:
            return
        for team in self.teams:
            xy, silent = pose[team.members, :2], (halted | ~self._shares)[team.members]
            apart = np.hypot(*(xy[:, None] - xy[None]).transpose(2, 0, 1))
            hears = (apart <= self.range_m) & ~silent[:, None] & ~silent[None]
            np.fill_diagonal(hears, False)
            self.received_bytes[team.members] += team.beliefs.share(hears) * TILE_BYTES
