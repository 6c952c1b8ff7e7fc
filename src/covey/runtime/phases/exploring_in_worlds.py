"""Exploring in many worlds: the explored area of each, as the tracker of the mission `Exploration` measures it."""

from collections.abc import Sequence

import numpy as np

from covey.robots.team import TeamModel, TeamState
from covey.runtime.phases.sensing import Sensing
from covey.world.editing.changing import with_doors_open
from covey.world.state import WorldState
from covey.world.visibility.explorable import ExplorableFrom
from covey.world.visibility.explored_in_worlds import ExploredInWorlds


class ExploringInWorlds:
    """The explored area of B copies of a world.

    Args:
        place: the world.
        sensing, model, state: of the robots of all worlds.
        index: those of each world, int64 (B, n).

    Attributes:
        cells: what has been explored.
    """

    def __init__(self, place: WorldState, sensing: Sensing, model: TeamModel, state: TeamState, index: np.ndarray):
        self._banks = [(bank, bank.record.angles, bank.record.mount) for bank in sensing.feeding("scan")]
        self._model, self._state, self._index, self._skip = model, state, index, place.skip
        self._reach = np.zeros(len(state.pose))
        for bank, *_ in self._banks:
            self._reach[bank.members] = np.maximum(self._reach[bank.members], bank.record.range_m)
        self._explorable = ExplorableFrom(with_doors_open(place.world))
        self.cells = ExploredInWorlds(place.world, state.world_id, len(index), place.solid)

    def begin(self, worlds: Sequence[int]) -> None:
        """Begin anew in some worlds, from where their robots are."""
        masks = list[np.ndarray]()
        for world in worlds:
            seers = self._index[world][self._reach[self._index[world]] > 0]
            masks.append(
                self._explorable.of(self._state.pose[seers, :2], self._model.radius[seers], self._reach[seers])
            )
        self.cells.begin(worlds, masks)

    def look(self, step: int, over: np.ndarray) -> None:
        """Take in the new samples of the sensors of the worlds that are not ``over``, bool (B,)."""
        for bank, angles, mount in self._banks:
            rows = np.flatnonzero(~over[self._state.world_id[bank.members]])
            members = bank.members[rows]
            for sample in bank.samples:
                poses, readings = sample.pose[members], sample.readings
                if readings is None:
                    self.cells.cast_and_mark(members, poses, self._skip, bank.record.range_m, angles, mount, step)
                else:
                    self.cells.mark(members, poses, readings.truth[rows], angles, mount, step)
