"""A height field: altitudes at the vertices of a square lattice, with two triangles in each cell.

Vertex [row, column] lies at (x0 + column * spacing, y0 + row * spacing); kernels take these three numbers as ``frame``,
float64 (3,): x0, y0, spacing [m]. The diagonal of each cell runs from [row, column] to [row + 1, column + 1], as
MuJoCo splits the cells of its height fields. All results are exact on these triangles: nothing is smoothed.

References:
    J. Amanatides, A. Woo: A fast voxel traversal algorithm for ray tracing. Eurographics 1987 (the walk over cells).
    E. Todorov, T. Erez, Y. Tassa: MuJoCo, a physics engine for model-based control. IROS 2012 (the field's triangles).
"""

import math

import numpy as np

from covey.kernel import kernel

_NEAR = 1e-12  # of a side: a ray along an edge of the field meets it despite rounding


@kernel
def altitude_at(altitude, frame, x, y):
    """Return the altitude [m] of the surface at a point; outside the field, that of the nearest point of the edge.

    Args:
        altitude: float64 (rows, columns), [m].
        frame: float64 (3,): x, y of vertex [0, 0] and the spacing [m].
        x, y: the point [m].
    """
    rows, columns = altitude.shape
    u = min(max((x - frame[0]) / frame[2], 0.0), columns - 1.0)
    v = min(max((y - frame[1]) / frame[2], 0.0), rows - 1.0)
    i, j = min(int(v), rows - 2), min(int(u), columns - 2)
    return _on_cell(altitude[i, j], altitude[i, j + 1], altitude[i + 1, j], altitude[i + 1, j + 1], u - j, v - i)


@kernel(inline=True)
def _on_cell(a, b, c, d, p, q):
    """Return the altitude in a cell at ``p`` along the columns and ``q`` along the rows, both 0 to 1.

    a, b: the altitudes of the lower row; c, d: those of the upper one.
    """
    return a + p * (b - a) + q * (d - b) if p >= q else a + q * (c - a) + p * (d - c)


@kernel
def altitudes_at(altitude, frame, points):
    """Return `altitude_at` for points of shape (m, 2) [m]: float64 (m,)."""
    out = np.empty(points.shape[0])
    for k in range(points.shape[0]):
        out[k] = altitude_at(altitude, frame, points[k, 0], points[k, 1])
    return out


@kernel
def slopes_at(altitude, frame, points):
    """Return the slope of the triangle that holds each point: dz/dx and dz/dy, float64 (m, 2).

    Outside the field it is that of the nearest triangle; on a line between two triangles, that of the one at larger x.
    """
    rows, columns = altitude.shape
    out = np.empty((points.shape[0], 2))
    for k in range(points.shape[0]):
        u, v = (points[k, 0] - frame[0]) / frame[2], (points[k, 1] - frame[1]) / frame[2]
        u, v = min(max(u, 0.0), columns - 1.0), min(max(v, 0.0), rows - 1.0)
        i, j = min(int(v), rows - 2), min(int(u), columns - 2)
        a, d = altitude[i, j], altitude[i + 1, j + 1]
        if u - j >= v - i:
            out[k, 0], out[k, 1] = (altitude[i, j + 1] - a) / frame[2], (d - altitude[i, j + 1]) / frame[2]
        else:
            out[k, 0], out[k, 1] = (d - altitude[i + 1, j]) / frame[2], (altitude[i + 1, j] - a) / frame[2]
    return out


@kernel
def cast_ray(altitude, frame, x, y, z, dx, dy, dz, range_m):
    """Return the distance from x, y, z [m] along a unit vector to the ground, or infinity if the ray does not meet it.

    The ground is solid: a ray that starts in it has length 0, and a ray from outside the field that comes in below the
    edge ends at the edge. A ray's height above the surface is linear between the lattice lines and the diagonals, so
    only their crossings are checked. ``range_m`` is the longest distance, and may be infinite.
    """
    rows, columns = altitude.shape
    per = 1.0 / frame[2]
    u, v, du, dv = (x - frame[0]) * per, (y - frame[1]) * per, dx * per, dy * per
    per_u = 1.0 / du if du != 0.0 else math.inf
    per_v = 1.0 / dv if dv != 0.0 else math.inf
    # Where the ray is over the field.
    t, t_end = 0.0, range_m
    if du != 0.0:
        near, far = -u * per_u, (columns - 1.0 - u) * per_u
        t, t_end = max(t, min(near, far)), min(t_end, max(near, far))
    elif u < 0.0 or u > columns - 1.0:
        return math.inf
    if dv != 0.0:
        near, far = -v * per_v, (rows - 1.0 - v) * per_v
        t, t_end = max(t, min(near, far)), min(t_end, max(near, far))
    elif v < 0.0 or v > rows - 1.0:
        return math.inf
    if t > t_end:
        return math.inf
    above = z + t * dz - altitude_at(altitude, frame, x + t * dx, y + t * dy)
    if above <= 0.0:
        return t
    if du == 0.0 and dv == 0.0:
        fall = -above / dz if dz < 0.0 else math.inf
        return fall if fall <= range_m else math.inf
    # Cell j, i (column, row); a start on a line belongs to the cell that the ray enters.
    j, i = math.floor(u + t * du), math.floor(v + t * dv)
    if du < 0.0 and u + t * du == j:
        j -= 1
    if dv < 0.0 and v + t * dv == i:
        i -= 1
    j, i = min(max(j, 0), columns - 2), min(max(i, 0), rows - 2)
    step_j, step_i = 1 if du >= 0.0 else -1, 1 if dv >= 0.0 else -1
    next_j, next_i = 1 if du >= 0.0 else 0, 1 if dv >= 0.0 else 0
    t_u = (j + next_j - u) * per_u if du != 0.0 else math.inf
    t_v = (i + next_i - v) * per_v if dv != 0.0 else math.inf
    apart = 1.0 / (du - dv) if du != dv else math.inf
    while True:
        a, b, c, d = altitude[i, j], altitude[i, j + 1], altitude[i + 1, j], altitude[i + 1, j + 1]
        t_out = min(t_u, t_v, t_end)
        z_out = z + t_out * dz
        if min(z + t * dz, z_out) <= max(a, b, c, d):
            if above < 0.0:  # not known yet: the cells before lie below the ray
                above = z + t * dz - _on_cell(a, b, c, d, u + t * du - j, v + t * dv - i)
                if above <= 0.0:
                    return t
            t_d = (j - u - i + v) * apart  # the diagonal
            if t < t_d < t_out:
                share = u + t_d * du - j
                now = z + t_d * dz - (a + share * (d - a))
                if now <= 0.0:
                    return t + (t_d - t) * above / (above - now)
                t, above = t_d, now
            now = z_out - _on_cell(a, b, c, d, u + t_out * du - j, v + t_out * dv - i)
            if now <= 0.0:
                return t + (t_out - t) * above / (above - now)
            above = now
        else:
            above = -1.0
        if t_out >= t_end:
            return math.inf
        t = t_out
        if t_u <= t_v:
            j += step_j
            if j < 0 or j > columns - 2:
                return math.inf
            t_u = (j + next_j - u) * per_u
        else:
            i += step_i
            if i < 0 or i > rows - 2:
                return math.inf
            t_v = (i + next_i - v) * per_v


@kernel
def cast(altitude, frame, origins, directions, range_m):
    """Return `cast_ray` for many rays: float64 (m,), infinite if there is no ground within range.

    Args:
        altitude, frame: as in `altitude_at`.
        origins: starts, float64 (m, 3), [m].
        directions: float64 (m, 3), unit vectors.
        range_m: longest distance [m].
    """
    out = np.empty(origins.shape[0])
    for k in range(origins.shape[0]):
        x, y, z = origins[k, 0], origins[k, 1], origins[k, 2]
        dx, dy, dz = directions[k, 0], directions[k, 1], directions[k, 2]
        out[k] = cast_ray(altitude, frame, x, y, z, dx, dy, dz, range_m)
    return out


@kernel
def steepness(altitude):
    """Return each vertex's largest difference [m] from its up to eight neighbours: float64 (rows, columns).

    An unknown vertex (NaN) gives NaN; an unknown neighbour is ignored.

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007 (the "maximum
        local gradient").
    """
    rows, columns = altitude.shape
    out = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[i, j] = 0.0 if altitude[i, j] == altitude[i, j] else math.nan
    # Neighbour by neighbour along the rows: the compiler then takes several vertices at once.
    for i in range(rows):
        for k in range(max(i - 1, 0), min(i + 2, rows)):
            for m in range(-1, 2):
                for j in range(max(-m, 0), min(columns - m, columns)):
                    step = abs(altitude[k, j + m] - altitude[i, j])
                    out[i, j] = step if step > out[i, j] else out[i, j]
    return out
