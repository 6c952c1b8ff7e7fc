"""Exact rays against grid cells: the distance to the first solid square.

The solid region is the union of the closed squares of the solid cells. A *skip field* holds, for each cell and each
quadrant of direction, the size of the square without solid cells that starts there. A ray leaves such a square in one
step, at its exact exit point, so it takes the same path as a walk from cell to cell.

Rules at the edges: a ray through a corner stops there if one of the two squares beside it is solid, so nothing is seen
between two squares that touch at a corner. A ray that starts in a solid cell has distance 0. A start on the border of
two cells belongs to the cell that the ray enters (the one with the larger index if it runs along the border). Rounding
moves a ray sideways by less than 1e-9 cells. Outside the array there is nothing to hit.

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


def update_skip(solid: np.ndarray, skip: np.ndarray, window: tuple[int, int, int, int]) -> None:
    """Bring a skip field up to date, in place, after cells of ``solid`` in a window changed.

    A value depends on its three neighbours ahead, so a change spreads from the window row by row while values change,
    at most 255 cells. The result equals that of `skip_field`.

    Args:
        solid: bool, C-contiguous, shape (rows, columns), as it is now.
        skip: the field of what it was before.
        window: first row, last row + 1, first column, last column + 1.
    """
    _update_skip(solid.view(np.uint8), skip, *window)


@kernel
def _update_skip(solid, skip, row0, row1, column0, column1):
    rows, columns = solid.shape
    for q in range(4):
        step_x, step_y = 1 - 2 * (q & 1), 1 - (q & 2)
        # i and j count against the ray, as in `_skip_field`; the window is i0 … i1, j0 … j1.
        i0, i1 = (row0, row1 - 1) if step_y < 0 else (rows - row1, rows - 1 - row0)
        j0, j1 = (column0, column1 - 1) if step_x < 0 else (columns - column1, columns - 1 - column0)
        first, last = columns, -1  # the changed part of the row before
        for i in range(i0, rows):
            if i > i1 and last < 0:
                break
            begin, end = (min(first, j0), max(last + 1, j1)) if i <= i1 else (first, last + 1)
            row = i if step_y < 0 else rows - 1 - i
            first, last, j = columns, -1, begin
            while j < columns and (j <= end or last == j - 1):
                column = j if step_x < 0 else columns - 1 - j
                side = 0
                if not solid[row, column]:
                    if i > 0 and j > 0:
                        a, b = skip[q, row + step_y, column], skip[q, row, column + step_x]
                        side = min(a, b, skip[q, row + step_y, column + step_x])
                    side = min(side + 1, 255)
                if side != skip[q, row, column]:
                    skip[q, row, column] = side
                    first, last = min(first, j), j
                j += 1


@kernel
def march(skip, u, v, du, dv, t_max):
    """Return the length along a ray, in units of its direction vector, to the first solid square, or ``t_max``.

    Args:
        skip: see `skip_field`.
        u, v: start in cells from the corner of cell [0, 0].
        du, dv: direction; the result is in cells when it is a unit vector.
        t_max: longest length, finite or infinite.
    """
    return march_flat(skip.reshape(-1), skip.shape[1], skip.shape[2], u, v, du, dv, t_max)


@kernel
def march_flat(skip, rows, columns, u, v, du, dv, t_max):
    """Do as `march`, with the skip field as a flat array of ``rows`` x ``columns``: faster for many rays."""
    # Mirror the grid so that the ray goes up and right; cell (ix, iy) is then stored at (x0 + sx ix, y0 + sy iy).
    q, x0, y0, sx, sy = 0, 0, 0, 1, 1
    ix, iy = math.floor(u), math.floor(v)
    if du < 0.0:
        q, x0, sx, ix = 1, columns - 1, -1, columns - math.ceil(u)
        u, du = columns - u, -du
    if dv < 0.0:
        q, y0, sy, iy = q + 2, rows - 1, -1, rows - math.ceil(v)
        v, dv = rows - v, -dv
    if ix >= columns or iy >= rows:
        return t_max
    per_u = 1.0 / du if du != 0.0 else math.inf
    per_v = 1.0 / dv if dv != 0.0 else math.inf
    t = 0.0
    if ix < 0 or iy < 0:
        tx, ty = -u * per_u if ix < 0 else 0.0, -v * per_v if iy < 0 else 0.0
        t = max(tx, ty)
        ix = 0 if tx >= ty else min(max(math.floor(u + t * du), 0), columns - 1)
        iy = 0 if ty >= tx else min(max(math.floor(v + t * dv), 0), rows - 1)
    # The exit from the array, by the same expression as the exits below: t < t_end keeps every index inside.
    t_end = min(t_max, (columns - u) * per_u, (rows - v) * per_v)
    origin, sy = (q * rows + y0) * columns + x0, sy * columns
    while t < t_end:
        side = int(skip[np.uint64(origin + sy * iy + sx * ix)])
        if side == 0:
            return t
        jx, jy = ix + side, iy + side
        tx, ty = (jx - u) * per_u, (jy - v) * per_v
        if tx < ty:
            t, ix = tx, jx
            iy = min(max(int(v + t * dv), iy), jy - 1)
        elif ty < tx:
            t, iy = ty, jy
            ix = min(max(int(u + t * du), ix), jx - 1)
        else:
            t, ix, iy = tx, jx, jy
            corner = origin + sy * iy + sx * ix
            if t < t_end and (skip[np.uint64(corner - sy)] == 0 or skip[np.uint64(corner - sx)] == 0):
                return t
    return t_max


@kernel
def to_grid(frame, x, y):
    """Return a world point [m] in cells from the corner of cell [0, 0], along columns and along rows."""
    dx, dy = x - frame[0], y - frame[1]
    return (frame[2] * dx + frame[3] * dy) / frame[4], (frame[2] * dy - frame[3] * dx) / frame[4]


@kernel
def cast_ray(skip, frame, x, y, angle_world, max_range):
    """Return the distance [m] along a ray to the first solid square, or ``max_range`` if none is nearer.

    Args:
        skip: see `skip_field`.
        frame: the grid's place, see `Grid.frame`.
        x, y: start [m] in the world frame.
        angle_world: direction [rad] in the world frame.
        max_range: [m], finite or infinite.
    """
    u, v = to_grid(frame, x, y)
    dx, dy = math.cos(angle_world), math.sin(angle_world)
    du, dv = frame[2] * dx + frame[3] * dy, frame[2] * dy - frame[3] * dx
    t_max = max_range / frame[4]
    t = march_flat(skip.reshape(-1), skip.shape[1], skip.shape[2], u, v, du, dv, t_max)
    return min(max_range, t * frame[4]) if t < t_max else max_range


@kernel
def cast_many(skip, frame, x, y, angle_world, max_range):
    """Return the distances [m] of many rays, given as arrays of shape (m,); see `cast_ray`."""
    distance = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        distance[i] = cast_ray(skip, frame, x[i], y[i], angle_world[i], max_range)
    return distance


@kernel
def cast_fan(skip, frame, x, y, heading, directions, max_range, distance):
    """Write the distance of each ray of a fan into ``distance`` (rays,) [m]; ``max_range`` if it hits nothing nearer.

    Args:
        skip, frame: see `cast_ray`.
        x, y, heading: pose [m, m, rad] of the fan in the world frame.
        directions: unit vectors, shape (rays, 2), in the frame of that pose.
        max_range: [m], finite or infinite.
        distance: the result.
    """
    u, v = to_grid(frame, x, y)
    t_max = max_range / frame[4]
    row, column = math.floor(v), math.floor(u)
    if row >= 0 and column >= 0 and row < skip.shape[1] and column < skip.shape[2]:
        nearest = min(min(skip[0, row, column], skip[1, row, column]), min(skip[2, row, column], skip[3, row, column]))
        if nearest - 1.0 >= t_max:  # no wall within the range in any direction
            for i in range(directions.shape[0]):
                distance[i] = max_range
            return
    a, b = math.cos(heading), math.sin(heading)
    c, s = frame[2] * a + frame[3] * b, frame[2] * b - frame[3] * a
    flat, rows, columns = skip.reshape(-1), skip.shape[1], skip.shape[2]
    for i in range(directions.shape[0]):
        dx, dy = directions[i, 0], directions[i, 1]
        t = march_flat(flat, rows, columns, u, v, c * dx - s * dy, s * dx + c * dy, t_max)
        distance[i] = min(max_range, t * frame[4]) if t < t_max else max_range


@kernel
def line_of_sight(skip, frame, x0, y0, x1, y1):
    """Return whether no solid square lies on the segment between two world points [m]; the same in both directions."""
    if x0 > x1 or (x0 == x1 and y0 > y1):
        x0, y0, x1, y1 = x1, y1, x0, y0
    u0, v0 = to_grid(frame, x0, y0)
    u1, v1 = to_grid(frame, x1, y1)
    return march_flat(skip.reshape(-1), skip.shape[1], skip.shape[2], u0, v0, u1 - u0, v1 - v0, 1.0) >= 1.0
