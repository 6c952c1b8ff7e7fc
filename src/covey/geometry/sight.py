"""Lines of sight over a height field, see `covey.geometry.heightfield`."""

import math

import numpy as np

from covey.kernel import kernel

RINGS, BINS = 16, 512
"""Numbers of rings and directions into which `horizon` divides the surroundings."""
_PER = BINS / 4.0
_NEAR = 6.0  # columns: ground nearer than this blocks all directions
_SPREAD = 1.5  # columns: more than the longest side of a triangle


@kernel
def is_hidden(altitude, u, v, z, row, column, since):
    """Return whether the ground rises above the straight line from a point to one of its vertices.

    Args:
        altitude: float64 (rows, columns) [m].
        u, v, z: the point, in columns and rows of the lattice, and its altitude [m].
        row, column: the vertex.
        since: share of the way from the point, 0 to 1, that is known to be clear.
    """
    dz = altitude[row, column] - z
    return _rise(altitude, u, v, z, row, column, since, dz, False) > dz


@kernel
def shadow(altitude, u, v, z, row, column, since):
    """Return the altitude [m] below which a point sees nothing at a hidden vertex; arguments as in `is_hidden`."""
    return z + _rise(altitude, u, v, z, row, column, since, altitude[row, column] - z, True)


@kernel
def _rise(altitude, u, v, z, row, column, since, dz, whole):
    """Return the rise [m], from a point to a vertex, of the lowest line that the ground does not cut.

    It is ``dz`` if the ground does not rise above that line, else more: if not ``whole``, that of any place that does.
    Along a line the height above the ground is linear between the lattice lines and the diagonals, so only their
    crossings are checked. Other arguments as in `is_hidden`.
    """
    rows, columns = altitude.shape
    du, dv, most = column - u, row - v, dz
    if du != 0.0:
        begin = u + since * du
        low, high = (math.floor(begin) + 1, column) if du > 0.0 else (column + 1, math.ceil(begin))
        aside, up = dv / du, most / du
        for j in range(max(low, 0), min(high, columns)):
            y = v + (j - u) * aside
            i = min(int(y), rows - 2)
            if y >= 0.0 and i + 1.0 >= y:
                a = altitude[i, j]
                h = a + (y - i) * (altitude[i + 1, j] - a)
                if h > z + (j - u) * up + 1e-9:
                    most = (h - z) * du / (j - u)
                    up = most / du
                    if not whole:
                        return most
    if dv != 0.0:
        begin = v + since * dv
        low, high = (math.floor(begin) + 1, row) if dv > 0.0 else (row + 1, math.ceil(begin))
        aside, up = du / dv, most / dv
        for i in range(max(low, 0), min(high, rows)):
            x = u + (i - v) * aside
            j = min(int(x), columns - 2)
            if x >= 0.0 and j + 1.0 >= x:
                a = altitude[i, j]
                h = a + (x - j) * (altitude[i, j + 1] - a)
                if h > z + (i - v) * up + 1e-9:
                    most = (h - z) * dv / (i - v)
                    up = most / dv
                    if not whole:
                        return most
    d, dd = u - v, du - dv  # the diagonals, by column less row
    if dd != 0.0:
        begin = d + since * dd
        low, high = (math.floor(begin) + 1, column - row) if dd > 0.0 else (column - row + 1, math.ceil(begin))
        aside, up = dv / dd, most / dd
        for k in range(max(low, 1 - rows), min(high, columns)):
            y = v + (k - d) * aside
            i = min(int(y), rows - 2)
            j = i + k
            if y >= 0.0 and i + 1.0 >= y and j >= 0 and j < columns - 1:
                a = altitude[i, j]
                h = a + (y - i) * (altitude[i + 1, j + 1] - a)
                if h > z + (k - d) * up + 1e-9:
                    most = (h - z) * dd / (k - d)
                    up = most / dd
                    if not whole:
                        return most
    return most


@kernel(inline=True)
def _direction(du, dv):
    """Return a number from 0 to 4 that grows with the direction of a vector, at most as fast as its angle [rad]."""
    a = dv / (abs(du) + abs(dv))
    return 2.0 - a if du < 0.0 else (4.0 + a if a < 0.0 else a)


@kernel
def bin_of(du, dv):
    """Return which of the `BINS` directions a vector has."""
    return int(_direction(du, dv) * _PER) & (BINS - 1)


@kernel
def horizon(altitude, u, v, z, reach, wanted, table):
    """Write how high the ground rises around a point: no part nearer than ring k rises more than table[k, bin].

    The table is an upper bound of rise over distance: a line above it needs no check up to that ring. The surface of
    a triangle rises no more than its steepest vertex; if that rises, a little more in between.

    Args:
        altitude: float64 (rows, columns) [m]. u, v, z: the point, as in `is_hidden`.
        reach: where the last ring ends [columns]; ring k ends at k / `RINGS` of it.
        wanted: uint8 (`BINS`,), the directions to examine; changed in place.
        table: float64 (`RINGS` + 1, `BINS`), rise over distance [m per column].
    """
    near, step, most = np.empty(RINGS + 1), reach / RINGS, int(_SPREAD / _NEAR * _PER) + 2
    around = wanted.copy()
    for b in range(BINS):
        for k in range(RINGS + 1):
            table[k, b] = -math.inf
        if around[b] != 0:
            for c in range(b - most, b + most + 1):
                wanted[c & (BINS - 1)] = 1
    for k in range(RINGS + 1):
        near[k] = -math.inf
    far = reach + _SPREAD
    for i in range(max(math.ceil(v - far), 0), min(math.floor(v + far) + 1, altitude.shape[0])):
        for j in range(max(math.ceil(u - far), 0), min(math.floor(u + far) + 1, altitude.shape[1])):
            du, dv = j - u, i - v
            square = du * du + dv * dv
            if square > far * far:
                continue
            r, rise = math.sqrt(square), altitude[i, j] - z
            k = int(max(r - _SPREAD, 0.0) / step) + 1
            if k > RINGS:
                continue
            if r < _NEAR:
                near[k] = max(near[k], rise / (r + _SPREAD) if rise < 0.0 else math.inf)
                continue
            at = _direction(du, dv)
            if wanted[int(at * _PER) & (BINS - 1)] == 0:
                continue
            rise = rise / r if rise < 0.0 else rise / r * (1.0 + 1.0 / square)
            for b in range(math.floor((at - _SPREAD / r) * _PER), math.floor((at + _SPREAD / r) * _PER) + 1):
                table[k, b & (BINS - 1)] = max(table[k, b & (BINS - 1)], rise)
    for k in range(1, RINGS + 1):
        near[k] = max(near[k], near[k - 1])
        for b in range(BINS):
            table[k, b] = max(table[k, b], table[k - 1, b], near[k])


@kernel
def clear_until(table, reach, du, dv, dz):
    """Return the share of a vector's way, 0 to 1, that is clear according to the table of `horizon`."""
    r = math.sqrt(du * du + dv * dv)
    if r == 0.0:
        return 0.0
    b, step = bin_of(du, dv), reach / RINGS
    for k in range(min(int(r / step), RINGS), 0, -1):
        if table[k, b] <= dz / r:
            return k * step / r * (1.0 - 1e-9)
    return 0.0
