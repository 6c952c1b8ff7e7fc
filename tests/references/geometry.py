"""Plain references of compiled code of `covey.geometry`: loops and NumPy, to compare with."""

import math

import numpy as np

from covey.geometry.heightfield import altitude_at
from covey.geometry.raycast import to_grid

_NEAR = 1e-12  # of a side, as in `covey.geometry.heightfield`


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


def altitudes_at_reference(altitude: np.ndarray, frame: np.ndarray, points: np.ndarray) -> np.ndarray:
    """NumPy reference of `altitudes_at`."""
    rows, columns = altitude.shape
    u = np.clip((points[:, 0] - frame[0]) / frame[2], 0, columns - 1)
    v = np.clip((points[:, 1] - frame[1]) / frame[2], 0, rows - 1)
    j, i = np.minimum(u.astype(int), columns - 2), np.minimum(v.astype(int), rows - 2)
    a, b, c, d = altitude[i, j], altitude[i, j + 1], altitude[i + 1, j], altitude[i + 1, j + 1]
    p, q = u - j, v - i
    return np.where(p >= q, a + p * (b - a) + q * (d - b), a + q * (c - a) + p * (d - c))


def cast_reference(
    altitude: np.ndarray, frame: np.ndarray, origin: np.ndarray, direction: np.ndarray, range_m: float
) -> float:
    """Plain reference of `cast` for one ray that starts above the field: it intersects the ray with every triangle.

    References:
        T. Möller, B. Trumbore: Fast, minimum storage ray/triangle intersection. Journal of Graphics Tools 2, 1997.
    """
    rows, columns = altitude.shape
    i, j = (a.ravel() for a in np.mgrid[: rows - 1, : columns - 1])

    def vertex(row, column):
        return np.stack((frame[0] + column * frame[2], frame[1] + row * frame[2], altitude[row, column]), axis=-1)

    first = np.concatenate((vertex(i, j), vertex(i, j)))
    second = np.concatenate((vertex(i, j + 1), vertex(i + 1, j + 1))) - first
    third = np.concatenate((vertex(i + 1, j + 1), vertex(i + 1, j))) - first
    h = np.cross(direction, third)
    determinant = np.sum(second * h, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = origin - first
        p = np.sum(s * h, axis=1) / determinant
        n = np.cross(s, second)
        q = n @ direction / determinant
        t = np.sum(third * n, axis=1) / determinant
        hit = (p >= -_NEAR) & (q >= -_NEAR) & (p + q <= 1 + _NEAR) & (t >= 0) & (t <= range_m)
    return float(t[hit].min()) if hit.any() else math.inf


def steepness_reference(altitude: np.ndarray) -> np.ndarray:
    """NumPy reference of `steepness`."""
    padded = np.pad(altitude, 1, constant_values=np.nan)
    rows, columns = altitude.shape
    around = [padded[1 + k : 1 + k + rows, 1 + m : 1 + m + columns] for k in (-1, 0, 1) for m in (-1, 0, 1)]
    most = np.fmax.reduce([np.abs(a - altitude) for a in around])
    return np.where(np.isnan(altitude), np.nan, most)
