"""What can be covered: the denominator of the covered share."""

from typing import Any

import numpy as np

from covey.world.explorable import reachable
from covey.world.world import World


def coverable(world: World, starts: Any, radius_m: Any) -> np.ndarray:
    """Return the cells that some body can pass over, bool (rows, columns).

    These are the cells whose centre lies within the radius of a cell's centre that the body reaches from its start. A
    body that is not round is taken by the circle around it: it can turn on the spot, and so sweeps all of that circle.

    Args:
        world: the truth.
        starts: shape (n, 2) or (n, 3), x and y [m] of the robots in the world frame.
        radius_m: circumscribed radius of the bodies [m], one number or shape (n,).
    """
    from scipy import ndimage

    starts = np.atleast_2d(np.asarray(starts, float))[:, :2]
    radii = np.broadcast_to(np.asarray(radius_m, float), len(starts))
    cells = np.zeros(world.grid.shape, bool)
    for radius in sorted(set(radii.tolist())):
        reached = reachable(world, starts[radii == radius], radius)
        if reached.any():
            away = np.asarray(ndimage.distance_transform_edt(~reached)) * world.grid.resolution
            cells |= away <= radius * (1 + 1e-9)
    return cells & world.free
