"""The coverable cells: the denominator of the covered share."""

from typing import Any

import numpy as np

from covey.world.disk_cache import kept_cells
from covey.world.visibility.explorable import reachable
from covey.world.world import World


def coverable(world: World, starts: Any, radius_m: Any) -> np.ndarray:
    """Return the cells that some body can pass over, bool (rows, columns).

    A cell is coverable if its centre is within the radius of the centre of a cell that the body reaches from its start.
    A body that is not round counts as the circle around it, which it sweeps when it turns on the spot.

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
    """Return the cells, bool (rows, columns), whose centres are within a radius [cells] of those of ``mask``."""
    rows, columns = mask.shape
    found, wide, half = np.zeros_like(mask), mask.copy(), 0
    for away in range(min(int(radius), rows - 1), -1, -1):  # farther rows have a narrower chord of the disc
        chord = min(int(np.sqrt(radius**2 - away**2)), columns - 1)
        while half < chord:
            half += 1
            wide[:, half:] |= mask[:, : columns - half]
            wide[:, : columns - half] |= mask[:, half:]
        found[away:] |= wide[: rows - away]
        found[: rows - away] |= wide[away:]
    return found
