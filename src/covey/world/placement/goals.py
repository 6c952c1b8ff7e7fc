"""Goals: free places of a world for robots to drive to."""

from threading import Lock
from typing import Any

import numpy as np
from cachetools import LRUCache, cached

from covey.lazy import ndimage
from covey.random import generator
from covey.world.visibility.coverable import within
from covey.world.visibility.explorable import ReachableFrom
from covey.world.world import World


def drawn_goals(world: World, pose: np.ndarray, radius: np.ndarray, seed: int) -> np.ndarray:
    """Return free places that some robot of a team can reach, one for each, float64 (n, 2) [m].

    Args:
        world: the world.
        pose: start poses, (n, 3).
        radius: of the bodies [m], (n,).
        seed: of the run.
    """
    cells = _free_in(world).cells(pose, radius)
    random = generator(seed, "goals")
    return world.grid.to_world(cells[random.integers(len(cells), size=len(pose))])


class _Free:
    """The cells of a world in which goals may lie; what follows from the same parts of it is found once."""

    def __init__(self, world: World):
        self._world, self._reachable = world, ReachableFrom(world)
        self._room_m = (
            np.asarray(ndimage.distance_transform_edt(np.pad(world.free, 1)))[1:-1, 1:-1] * world.grid.resolution
        )
        self._cells: LRUCache[Any, np.ndarray] = LRUCache(2)
        self.size = world.grid.cells.size

    def cells(self, pose: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """Return the row and column of each cell that is coverable and has room for all robots, int64 (k, 2)."""
        kinds = sorted(set(radius.tolist()))
        reached = [self._reachable.of(pose[radius == one, :2], one) for one in kinds]
        cells = self._cells.get(key := tuple(parts for parts, _ in reached))
        if cells is None:
            world, fits = self._world, np.zeros(self._world.grid.shape, bool)
            for one, (_, made) in zip(kinds, reached, strict=True):
                fits |= within(made(), one * (1 + 1e-9) / world.grid.resolution)
            fits &= world.free & (self._room_m > radius.max() + world.grid.resolution)
            self._cells[key] = cells = np.argwhere(fits if fits.any() else world.free)
        return cells


# at most some 300 MB
@cached(LRUCache(6e6, lambda free: free.size), lock=Lock())
def _free_in(world: World) -> _Free:
    return _Free(world)
