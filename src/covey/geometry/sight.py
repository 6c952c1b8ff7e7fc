"""Lines of sight over a height field, see `covey.geometry.heightfield`."""

import math

from covey.kernel import kernel


@kernel
def is_hidden(altitude, u, v, z, row, column):
    """Return whether the ground rises above the straight line from a point to one of its vertices.

    Along the line the height above the ground is linear between the lines of the lattice and the diagonals, so it is
    enough to look where it crosses these.

    Args:
        altitude: float64 (rows, columns) [m].
        u, v, z: the point, in columns and rows of the lattice, and its altitude [m].
        row, column: the vertex.
    """
    rows, columns = altitude.shape
    du, dv, dz = column - u, row - v, altitude[row, column] - z
    if du != 0.0:
        low, high = (math.floor(u) + 1, column) if du > 0.0 else (column + 1, math.ceil(u))
        aside, up = dv / du, dz / du
        for j in range(max(low, 0), min(high, columns)):
            y = v + (j - u) * aside
            i = min(int(y), rows - 2)
            if y >= 0.0 and i + 1.0 >= y:
                a = altitude[i, j]
                if a + (y - i) * (altitude[i + 1, j] - a) > z + (j - u) * up + 1e-9:
                    return True
    if dv != 0.0:
        low, high = (math.floor(v) + 1, row) if dv > 0.0 else (row + 1, math.ceil(v))
        aside, up = du / dv, dz / dv
        for i in range(max(low, 0), min(high, rows)):
            x = u + (i - v) * aside
            j = min(int(x), columns - 2)
            if x >= 0.0 and j + 1.0 >= x:
                a = altitude[i, j]
                if a + (x - j) * (altitude[i, j + 1] - a) > z + (i - v) * up + 1e-9:
                    return True
    d, dd = u - v, du - dv  # the diagonals, by column less row
    if dd != 0.0:
        low, high = (math.floor(d) + 1, column - row) if dd > 0.0 else (column - row + 1, math.ceil(d))
        aside, up = dv / dd, dz / dd
        for k in range(max(low, 1 - rows), min(high, columns)):
            y = v + (k - d) * aside
            i = min(int(y), rows - 2)
            j = i + k
            if y >= 0.0 and i + 1.0 >= y and j >= 0 and j < columns - 1:
                a = altitude[i, j]
                if a + (y - i) * (altitude[i + 1, j + 1] - a) > z + (k - d) * up + 1e-9:
                    return True
    return False
