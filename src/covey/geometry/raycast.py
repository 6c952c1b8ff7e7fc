"""Exact rays against grid cells: how far until the first solid square.

The solid region is the union of the closed squares of the solid cells. A *skip field* says, for each cell and each
quadrant of direction, how large a square without solid cells starts there; a ray leaves such a square in one step, at
its exact point of exit, and so takes the same path as a walk from cell to cell.

Rules at the edges: a ray through a corner is stopped there when one of the two squares beside it is solid, so nothing
is seen between two squares that touch at a corner; a ray that starts in a solid cell has distance 0; a start on the
border of two cells belongs to the cell that the ray goes into (the one with the larger index if it runs along the
border). Rounding moves a ray sideways by less than 1e-9 cells. Beyond the array there is nothing to hit.

References:
    J. Amanatides, A. Woo: A fast voxel traversal algorithm for ray tracing. Eurographics 1987.
    D. Cohen, Z. Sheffer: Proximity clouds, an acceleration technique for 3D grid traversal. The Visual Computer 1994.
"""

import math

import numpy as np

from covey.kernel import kernel


def skip_field(solid: np.ndarray) -> np.ndarray:
    """Return how far each cell sees free squares, uint8 of shape (4, rows, columns).

    Plane ``q`` is for rays with dx < 0 where bit 0 of q is set and dy < 0 where bit 1 is set (in the axes of the
    grid). A value is the side, in cells and at most 255, of the largest square without solid cells that has this cell
    as its near corner and lies inside the array; 0 where the cell is solid.

    Args:
        solid: bool, shape (rows, columns).
    """
    return _skip_field(np.ascontiguousarray(solid).astype(np.uint8))


@kernel
def _skip_field(solid):
    rows, columns = solid.shape
    skip = np.zeros((4, rows, columns), np.uint8)
    for q in range(4):
        step_x, step_y = 1 - 2 * (q & 1), 1 - (q & 2)
        for i in range(rows):
            row = i if step_y < 0 else rows - 1 - i
            for j in range(columns):
                column = j if step_x < 0 else columns - 1 - j
                if solid[row, column]:
                    continue
                side = 0
                if i > 0 and j > 0:
                    a, b = skip[q, row + step_y, column], skip[q, row, column + step_x]
                    side = min(a, b, skip[q, row + step_y, column + step_x])
                skip[q, row, column] = min(side + 1, 255)
    return skip


@kernel
def march(skip, u, v, du, dv, t_max):
    """Return the length along a ray, in units of its direction's, to the first solid square, or ``t_max``.

    Args:
        skip: see `skip_field`.
        u, v: start in cells from the corner of cell [0, 0].
        du, dv: direction; the result is in cells when it is a unit vector.
        t_max: where to give up, finite or infinite.
    """
    _, rows, columns = skip.shape
    q, step_x, near_x, end_x = 0, 1, 0, columns
    if du < 0.0:
        q, step_x, near_x, end_x = 1, -1, 1, 0
    step_y, near_y, end_y = 1, 0, rows
    if dv < 0.0:
        q, step_y, near_y, end_y = q + 2, -1, 1, 0
    per_u = 1.0 / du if du != 0.0 else math.inf
    per_v = 1.0 / dv if dv != 0.0 else math.inf
    ix = int(math.floor(u)) if du >= 0.0 else int(math.ceil(u)) - 1
    iy = int(math.floor(v)) if dv >= 0.0 else int(math.ceil(v)) - 1
    t = 0.0
    if ix < 0 or iy < 0 or ix >= columns or iy >= rows:
        t, ix, iy = _enter(u, v, du, dv, ix, iy, rows, columns)
        if ix < 0:
            return t_max
    # The exit from the array, by the expression that the loop uses: t < t_end keeps every index inside.
    t_end = min(t_max, (end_x - u) * per_u, (end_y - v) * per_v)
    while t < t_end:
        k = int(skip[q, iy, ix])
        if k == 0:
            return t
        tx = (ix + near_x + step_x * k - u) * per_u
        ty = (iy + near_y + step_y * k - v) * per_v
        if tx < ty:
            t, ix = tx, ix + step_x * k
            y = int(math.floor(v + t * dv))
            last = iy + step_y * (k - 1)
            iy = min(max(y, iy), last) if step_y > 0 else max(min(y, iy), last)
        elif ty < tx:
            t, iy = ty, iy + step_y * k
            x = int(math.floor(u + t * du))
            last = ix + step_x * (k - 1)
            ix = min(max(x, ix), last) if step_x > 0 else max(min(x, ix), last)
        else:
            t, ix, iy = tx, ix + step_x * k, iy + step_y * k
            if t < t_end and (skip[q, iy - step_y, ix] == 0 or skip[q, iy, ix - step_x] == 0):
                return t
    return t_max


@kernel
def _enter(u, v, du, dv, ix, iy, rows, columns):
    """Return where a ray from outside enters the array: length, column, row; column -1 when it does not."""
    t, axis = 0.0, -1
    for i in range(2):
        o, d, index, count = (u, du, ix, columns) if i == 0 else (v, dv, iy, rows)
        if index < 0 or index >= count:
            if d == 0.0 or (d > 0.0) == (index >= count):
                return 0.0, -1, -1
            t_in = ((0 if d > 0.0 else count) - o) / d
            if t_in > t:
                t, axis = t_in, i
    x, y = int(math.floor(u + t * du)), int(math.floor(v + t * dv))
    if axis == 0:
        x = 0 if du > 0.0 else columns - 1
    if axis == 1:
        y = 0 if dv > 0.0 else rows - 1
    if x < 0 or y < 0 or x >= columns or y >= rows:
        return 0.0, -1, -1
    return t, x, y


@kernel
def cast_ray(skip, frame, x, y, angle_world, max_range):
    """Return the distance [m] to the first solid square along a ray, or ``max_range`` if none is within it.

    Args:
        skip: see `skip_field`.
        frame: place of the grid, see `Grid.frame`.
        x, y: start [m] in the world frame.
        angle_world: direction [rad] in the world frame.
        max_range: [m], finite or infinite.
    """
    dx, dy = math.cos(angle_world), math.sin(angle_world)
    c, s, resolution = frame[2], frame[3], frame[4]
    u, v = (c * (x - frame[0]) + s * (y - frame[1])) / resolution, (c * (y - frame[1]) - s * (x - frame[0])) / resolution
    return min(max_range, march(skip, u, v, c * dx + s * dy, c * dy - s * dx, max_range / resolution) * resolution)
