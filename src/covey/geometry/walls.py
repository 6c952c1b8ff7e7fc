"""Rays in space against walls of one height: a ray can pass over a wall or hit its top."""

import math

from covey.geometry.heightfield import altitude_at
from covey.geometry.raycast import march, to_grid
from covey.kernel import kernel

_PAST = 1e-9  # cells: distance behind a cell's side at which its inside is sampled
_PIECE = 0.125  # spacings of the ground: the top counts as straight along this much of a ray


@kernel
def wall_on_way(skip, grid_frame, altitude, frame, wall_height, x, y, z, ahead_x, ahead_y, slope, length):
    """Return the distance [m] in the plane until a ray enters a wall, or ``length`` if it meets none.

    A wall stands on the ground of its cells, and its top is ``wall_height`` above the ground. The top counts as
    straight along an eighth of the ground's spacing.

    Args:
        skip, grid_frame: skip field and frame of the walls, see `covey.geometry.raycast.skip_field`.
        altitude, frame: the ground, see `covey.geometry.heightfield`.
        wall_height: [m].
        x, y, z: where the ray begins [m]. ahead_x, ahead_y: its direction in the plane, a unit vector.
        slope: rise per metre in the plane.
        length: in the plane [m].
    """
    u, v = to_grid(grid_frame, x, y)
    to_u, to_v = to_grid(grid_frame, x + ahead_x, y + ahead_y)
    per = grid_frame[4]
    du, dv, end = (to_u - u) * per, (to_v - v) * per, length / per
    rows, columns = skip.shape[1], skip.shape[2]
    t = 0.0
    while t < end:
        left = end - t
        free = march(skip, u + t * du, v + t * dv, du, dv, left)
        if free >= left:  # t + left may be a little less than the end
            break
        t += free
        above = _above(altitude, frame, wall_height, x, y, z, ahead_x, ahead_y, slope, t * per)
        if above <= 0.0:
            return t * per
        while t < end:  # over the cells of a wall
            inside = t + _PAST
            column, row = math.floor(u + inside * du), math.floor(v + inside * dv)
            if row < 0 or column < 0 or row >= rows or column >= columns or skip[0, row, column] != 0:
                t = inside
                break
            to_side = (column + (du > 0.0) - u) / du if du != 0.0 else math.inf
            to_end = (row + (dv > 0.0) - v) / dv if dv != 0.0 else math.inf
            leaves = min(max(min(to_side, to_end), inside), end)
            leaves = min(leaves, t + _PIECE * frame[2] / per)
            then = _above(altitude, frame, wall_height, x, y, z, ahead_x, ahead_y, slope, leaves * per)
            if then <= 0.0:
                return (t + (leaves - t) * above / (above - then)) * per
            t, above = leaves, then
    return length


@kernel
def _above(altitude, frame, wall_height, x, y, z, ahead_x, ahead_y, slope, away):
    """Return the height [m] of a ray above the (possible) top of a wall, ``away`` [m] in the plane."""
    foot = altitude_at(altitude, frame, x + away * ahead_x, y + away * ahead_y)
    return z + slope * away - foot - wall_height
