"""Sharing maps: robots within radio range take each other's evidence every so often."""

import numpy as np

from covey.mapping.belief import TILE_BYTES
from covey.sim.clock import Clock, exact
from covey.sim.estimating import MappedTeam


class Sharing:
    """Exchanges evidence between the beliefs of robots that are within ``range_m`` of each other.

    Attributes:
        received_bytes: evidence taken so far by each robot, before compression, shape (n,).
    """

    def __init__(self, teams: list[MappedTeam], robots: int, range_m: float, every_s: float | None, clock: Clock):
        self.teams, self.range_m, self.clock = teams, range_m, clock
        self.received_bytes = np.zeros(robots, np.int64)
        self._every = max(1, round(exact(every_s) / exact(clock.step_s))) if every_s else 0

    def exchange(self, pose: np.ndarray, halted: np.ndarray) -> None:
        """Merge what robots within range hold; ``pose`` are true poses, shape (n, 3); halted robots are silent."""
        if not self._every or self.clock.step % self._every:
            return
        for team in self.teams:
            xy, silent = pose[team.members, :2], halted[team.members]
            apart = np.hypot(*(xy[:, None] - xy[None]).transpose(2, 0, 1))
            hears = (apart <= self.range_m) & ~silent[:, None] & ~silent[None]
            np.fill_diagonal(hears, False)
            self.received_bytes[team.members] += team.beliefs.share(hears) * TILE_BYTES
