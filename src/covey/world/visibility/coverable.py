"""What can be covered: the denominator of the covered share."""

from typing import Any

import numpy as np

from covey.world.disk_cache import kept_cells
from covey.world.visibility.explorable import reachable
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
    starts = np.atleast_2d(np.asarray(starts, float))[:, :2]
    radii = np.broadcast_to(np.asarray(radius_m, float), len(starts))

    def made() -> np.ndarray:
        cells = np.zeros(world.grid.shape, bool)
        for radius in sorted(set(radii.tolist())):
            reached = reachable(world, starts[radii == radius], radius)
            cells |= within(reached, radius * (1 + 1e-9) / world.grid.resolution)
        return cells & world.free

    return kept_cells("coverable", "1", world, (starts, radii), made)


def within(mask: np.ndarray, radius: float) -> np.ndarray:
    """Return the cells, bool (rows, columns), no farther than a radius [cells] from one of ``mask``, by centres."""
    rows, columns = mask.shape
    found, wide, half = np.zeros_like(mask), mask.copy(), 0
    for away in range(min(int(radius), rows - 1), -1, -1):  # the farther the row, the narrower the chord of the disc
        chord = min(int(np.sqrt(radius**2 - away**2)), columns - 1)
        while half < chord:
            half += 1
            wide[:, half:] |= mask[:, : columns - half]
            wide[:, : columns - half] |= mask[:, half:]
        found[away:] |= wide[: rows - away]
        found[: rows - away] |= wide[away:]
    return found
