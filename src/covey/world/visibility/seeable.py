"""Which places on walls a robot can see from somewhere it can stand."""

import math

import numpy as np

from covey.geometry.raycast import march_flat, skip_field, to_grid
from covey.kernel import kernel
from covey.world.world import World

_RAYS = 256


def seeable_from(
    world: World, reached: np.ndarray, places: np.ndarray, within_m: float, within_rad: float
) -> np.ndarray:
    """Return which places have a straight line to a reached cell, bool (m,).

    Args:
        world: its walls stop lines.
        reached: bool (rows, columns), see `covey.world.visibility.explorable.reachable`.
        places: float64 (m, 4), x, y [m] and normal in the world frame; normal 0, 0: all directions count.
        within_m: largest length of a line [m].
        within_rad: largest angle between a line and the normal [rad]; 256 directions within it are tried.
    """
    stop = skip_field(world.solid | reached)
    return _seeable(stop, reached.view(np.uint8), world.grid.frame, places, within_m, within_rad)


@kernel
def _seeable(stop, reached, frame, places, within_m, within_rad):
    flat, rows, columns = stop.reshape(-1), stop.shape[1], stop.shape[2]
    reach = within_m / frame[4]
    seen = np.zeros(places.shape[0], np.bool_)
    for i in range(places.shape[0]):
        u, v = to_grid(frame, places[i, 0], places[i, 1])
        middle, most = math.atan2(places[i, 3], places[i, 2]), within_rad
        if places[i, 2] == 0.0 and places[i, 3] == 0.0:
            most = math.pi
        for k in range(_RAYS):
            angle = middle + most * (2.0 * k / (_RAYS - 1) - 1.0)
            dx, dy = math.cos(angle), math.sin(angle)
            du, dv = frame[2] * dx + frame[3] * dy, frame[2] * dy - frame[3] * dx
            t = march_flat(flat, rows, columns, u, v, du, dv, reach)
            row, column = math.floor(v + (t + 1e-6) * dv), math.floor(u + (t + 1e-6) * du)
            if t < reach and 0 <= row < rows and 0 <= column < columns and reached[row, column]:
                seen[i] = True
                break
    return seen
