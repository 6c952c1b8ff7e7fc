"""Goals: a free place for each robot of a team to drive to."""

import numpy as np

from covey.lazy import ndimage
from covey.random import generator
from covey.world.visibility.coverable import coverable
from covey.world.world import World


def drawn_goals(world: World, pose: np.ndarray, radius: np.ndarray, seed: int) -> np.ndarray:
    """Return a free place for each robot of a team that it can reach, float64 (n, 2) [m].

    Args:
        world: the world.
        pose: start poses, (n, 3).
        radius: of the bodies [m], (n,).
        seed: of the run.
    """
    grid = world.grid
    room = np.asarray(ndimage.distance_transform_edt(np.pad(world.free, 1)))[1:-1, 1:-1] * grid.resolution
    fits = coverable(world, pose, radius) & (room > radius.max() + grid.resolution)
    cells = np.argwhere(fits if fits.any() else world.free)
    random = generator(seed, "goals")
    return grid.to_world(cells[random.integers(len(cells), size=len(pose))])
