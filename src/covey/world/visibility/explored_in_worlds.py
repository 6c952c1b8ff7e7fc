"""The cells that the teams of many copies of one world have truly explored."""

from collections.abc import Sequence

import numpy as np

from covey.memory import small_pages
from covey.world.visibility.beam_culling import block_bits, cell_bits
from covey.world.visibility.explored import ExploredTruth
from covey.world.world import World


class ExploredInWorlds(ExploredTruth):
    """Counts the explored cells of each robot and of each team, as `ExploredTruth` does in one world; no heat map.

    Args:
        world: the world of which the others are copies.
        world_id: in which each robot is, int64 (n,).
        worlds: how many there are.
        solid: bool (rows, columns), cells in which beams end.
    """

    def __init__(self, world: World, world_id: np.ndarray, worlds: int, solid: np.ndarray):
        super().__init__(world.grid.with_cells(np.ones(world.grid.shape, bool)), len(world_id), solid=solid)
        self._world, shape = np.ascontiguousarray(world_id, np.int64), self._goal.shape
        self._seen = small_pages((len(world_id) + worlds, *shape), np.uint16)
        self._goal, self._unseen = np.zeros((2, worlds, *shape), np.uint16)
        self._open = np.zeros((worlds, len(self._open)), np.int64)
        self._counts, self.totals = np.zeros(len(world_id) + worlds, np.int64), np.zeros(worlds, np.int64)
        self._all_beams_at[:] = np.iinfo(np.int64).max  # they matter to the heat map alone

    @property
    def _state_of_worlds(self) -> tuple[np.ndarray, ...]:
        return self._goal, self._open, self._seen, self._unseen, self._first[None], self._counts, self._done

    def _at(self, step: int) -> None:
        """Keep no times."""

    def begin(self, worlds: Sequence[int], masks: Sequence[np.ndarray]) -> None:
        """Begin anew in some worlds, with cells to explore, bool (rows, columns), for each."""
        robots, mask = len(self._world), None
        for world, goal in zip(worlds, masks, strict=True):
            if goal is not mask:  # most worlds have the same
                mask, bits, total = goal, cell_bits(goal), np.count_nonzero(goal)
                open_ = block_bits(bits > 0, False)
            own = np.flatnonzero(self._world == world)
            self._goal[world] = self._unseen[world] = bits
            self._open[world], self.totals[world] = open_, total
            self._seen[own] = self._seen[robots + world] = self._done[own] = 0
            self._counts[own] = self._counts[robots + world] = 0

    @property
    def share_each(self) -> np.ndarray:
        """Share of what can be explored that each robot explored itself, float64 (n,); NaN: there is nothing."""
        return _share(self._counts[: len(self._world)], self.totals[self._world])

    @property
    def share_of_teams(self) -> np.ndarray:
        """Share that the robots of each world explored together, float64 (worlds,)."""
        return _share(self._counts[len(self._world) :], self.totals)


def _share(count: np.ndarray, total: np.ndarray) -> np.ndarray:
    return np.divide(count, total, out=np.full(len(count), np.nan), where=total > 0)
