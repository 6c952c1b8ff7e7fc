"""Plain references of compiled code of `covey.geometry`: loops and NumPy, to compare with."""

import math

import numpy as np

from covey.geometry.heightfield import altitude_at
from covey.geometry.raycast import to_grid


def cast_ray_reference(solid: np.ndarray, frame: np.ndarray, x: float, y: float, angle: float, reach: float) -> float:
    """Reference of `cast_ray` for starts inside the array: a plain walk from cell to cell (Amanatides and Woo)."""
    u, v = to_grid.py_func(frame, x, y)
    dx, dy = math.cos(angle), math.sin(angle)
    du, dv = frame[2] * dx + frame[3] * dy, frame[2] * dy - frame[3] * dx
    ix = math.floor(u) if du >= 0 else math.ceil(u) - 1
    iy = math.floor(v) if dv >= 0 else math.ceil(v) - 1
    t = 0.0
    while 0 <= iy < solid.shape[0] and 0 <= ix < solid.shape[1] and t * frame[4] < reach:
        if solid[iy, ix]:
            return t * float(frame[4])
        tx = ((ix + (du > 0)) - u) / du if du else math.inf
        ty = ((iy + (dv > 0)) - v) / dv if dv else math.inf
        t = min(tx, ty)
        if tx <= ty:
            ix += 1 if du > 0 else -1
        else:
            iy += 1 if dv > 0 else -1
    return reach


def wall_on_way_reference(
    solid: np.ndarray,
    grid_frame: np.ndarray,
    altitude: np.ndarray,
    frame: np.ndarray,
    wall_height: float,
    start: np.ndarray,
    way: np.ndarray,
    step_m: float = 1e-3,
) -> float:
    """NumPy reference of `wall_on_way`: it samples the ray every ``step_m`` [m] in the plane.

    Args:
        solid: bool (rows, columns), the cells of walls.
        start: x, y, z [m]. way: from there to the end of the ray, x, y, z [m].
    """
    length = float(np.hypot(*way[:2]))
    for away in np.arange(0.0, length, step_m):
        x, y, z = start + way * (away / length)
        column, row = np.floor(to_grid.py_func(grid_frame, x, y)).astype(int)
        inside = 0 <= row < solid.shape[0] and 0 <= column < solid.shape[1] and solid[row, column]
        if inside and z <= altitude_at.py_func(altitude, frame, x, y) + wall_height:
            return float(away)
    return length
