"""Pairs of nearby robots, and the walls on the rays between them. Compiled at first use."""

import math

import numpy as np

from covey.kernel import kernel

TILE = 64
"""Side of the tiles of the stored walls [cells]."""
_BINS = 512
"""Largest number of directions into which half a circle is divided."""
_LANES = 8
"""Number of rays processed at once, for the vector units of a processor."""
_LEAST = 1e-290
"""A ray along an axis moves by this much across it, so that a side of a cell belongs to the cell behind it."""
_TRIAL = 2000  # this many rays are always checked for removal; later only while that removes more than half
_ROUNDING = 1e-6  # [bins], far more than the rounding error of a direction


@kernel
def near_pairs(x, y, order, reach):
    """Return all pairs within a distance of each other: a < b, int64 (m,), and their distances, float64 (m,).

    Args:
        x, y: positions [m], (n,).
        order: the robots by descending or ascending x, int64 (n,).
        reach: the distance [m], finite or infinite.
    """
    n, count = order.shape[0], 0
    if reach * reach == math.inf:
        count = n * (n - 1) // 2
    else:
        for p in range(n):
            i = order[p]
            for q in range(p + 1, n):
                dx, dy = x[order[q]] - x[i], y[order[q]] - y[i]
                if dx > reach:
                    break
                if dx * dx + dy * dy <= reach * reach:
                    count += 1
    a, b, apart = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    k = 0
    for p in range(n):
        i = order[p]
        for q in range(p + 1, n):
            j = order[q]
            dx, dy = x[j] - x[i], y[j] - y[i]
            if dx > reach:
                break
            square = dx * dx + dy * dy
            if square <= reach * reach and k < count:
                a[k], b[k], apart[k] = min(i, j), max(i, j), math.sqrt(square)
                k += 1
    return a, b, apart


@kernel
def rectangles_of(made_of, air, stale, before, before_at):
    """Return rectangles of one material each that together form the walls, tile by tile, tiles row by row.

    Args:
        made_of: uint8 (rows, columns), material of each cell.
        air: the material that stands for no wall.
        stale: which tiles to recompute, bool (tiles,).
        before, before_at: the previous result; the other tiles are copied from it.

    Returns:
        first column, last + 1, first row, last + 1, and material of each, int32 (k, 5); and the start of each tile's
        rectangles, int64 (tiles + 1,).
    """
    rows, columns = made_of.shape
    across, count, most = -(-columns // TILE), 0, TILE * TILE
    begins, free = np.zeros(stale.shape[0] + 1, np.int64), np.empty((TILE, TILE), np.bool_)
    found = np.empty((before.shape[0] + most, 5), np.int32)
    for tile in range(stale.shape[0]):
        if not stale[tile]:
            count = _keep(before, before_at, tile, found, count)
        else:
            row0, column0 = tile // across * TILE, tile % across * TILE
            row1, column1 = min(row0 + TILE, rows), min(column0 + TILE, columns)
            for i in range(row1 - row0):
                for j in range(column1 - column0):
                    free[i, j] = made_of[row0 + i, column0 + j] == air
            for row in range(row0, row1):
                for column in range(column0, column1):
                    what = made_of[row, column]
                    if free[row - row0, column - column0]:
                        continue
                    right, above, whole = column, row, True
                    while right < column1 and made_of[row, right] == what and not free[row - row0, right - column0]:
                        right += 1
                    while above < row1 and whole:
                        for j in range(column, right):
                            whole = whole and made_of[above, j] == what and not free[above - row0, j - column0]
                        above += 1 if whole else 0
                    for i in range(row - row0, above - row0):
                        for j in range(column - column0, right - column0):
                            free[i, j] = True  # mark them as done
                    found[count, 0], found[count, 1], found[count, 2], found[count, 3] = column, right, row, above
                    found[count, 4] = what
                    count += 1
        begins[tile + 1] = count
        if found.shape[0] < count + most:
            found = _grown(found)
    return found[:count], begins


@kernel
def sides_of(made_of, air, stale, before, before_at):
    """Return the sides through which a ray that does not go to the left enters walls, tile by tile.

    Args:
        made_of, air, stale, before, before_at: see `rectangles_of`.

    Returns:
        first column, last, first row, last [lines between cells], material of each, and from where it is entered, 0
        left, 1 below, 2 above, int32 (k, 6); and the start of each tile's sides, int64 (tiles + 1,).
    """
    rows, columns = made_of.shape
    across, count, most = -(-columns // TILE), 0, 3 * TILE * TILE
    begins, found = np.zeros(stale.shape[0] + 1, np.int64), np.empty((before.shape[0] + most, 6), np.int32)
    for tile in range(stale.shape[0]):
        if not stale[tile]:
            count = _keep(before, before_at, tile, found, count)
        for kind in range(3 if stale[tile] else 0):
            row0, column0 = tile // across * TILE, tile % across * TILE
            high, wide = min(TILE, rows - row0), min(TILE, columns - column0)
            for line in range(wide if kind == 0 else high):
                begun, what = 0, air
                for at in range((high if kind == 0 else wide) + 1):
                    here = air
                    if at < (high if kind == 0 else wide):
                        row, column = (row0 + at, column0 + line) if kind == 0 else (row0 + line, column0 + at)
                        here = made_of[row, column]
                        i, j = (row, column - 1) if kind == 0 else (row + 2 * kind - 3, column)
                        if 0 <= i < rows and 0 <= j < columns and made_of[i, j] == here:
                            here = air
                    if here != what and what != air:
                        a, b, c = (
                            (row0 + begun, row0 + at, column0 + line)
                            if kind == 0
                            else (column0 + begun, column0 + at, row0 + line + kind - 1)
                        )
                        found[count, 0], found[count, 1] = (c, c) if kind == 0 else (a, b)
                        found[count, 2], found[count, 3] = (a, b) if kind == 0 else (c, c)
                        found[count, 4], found[count, 5] = what, kind
                        count += 1
                    if here != what:
                        begun, what = at, here
        begins[tile + 1] = count
        if found.shape[0] < count + most:
            found = _grown(found)
    return found[:count], begins


@kernel
def _keep(before, before_at, tile, found, count):
    """Append the previous rows of a tile to ``found``; return the new number of rows."""
    for k in range(before_at[tile], before_at[tile + 1]):
        for part in range(before.shape[1]):
            found[count, part] = before[k, part]
        count += 1
    return count


@kernel
def _grown(found):
    """Return an array of twice the length with the same first rows."""
    longer = np.empty((2 * found.shape[0], found.shape[1]), np.int32)
    for k in range(found.shape[0]):
        for part in range(found.shape[1]):
            longer[k, part] = found[k, part]
    return longer


# Hot loops pass numbers, never arrays, to other functions: an array is reference counted at each call.


@kernel(inline=True)
def _rightwards(u0, v0, u1, v1):
    """Return whether the ray between two places starts at the first: never to the left, nor straight up."""
    return u0 < u1 or (u0 == u1 and v0 >= v1)


@kernel
def by_eye(u, v, a, b):
    """Return an order of pairs that groups them by one robot, as `through` needs, int64 (m,).

    Empty if they are roughly grouped already.

    Args:
        u, v: positions in cells, (n,).
        a, b: the pairs, int64 (m,).
    """
    eyes, begins, runs = np.empty(a.shape[0], np.int32), np.zeros(u.shape[0] + 1, np.int64), 0
    for k in range(a.shape[0]):
        i, j = a[k], b[k]
        eyes[k] = i if _rightwards(u[i], v[i], u[j], v[j]) else j
        begins[eyes[k] + 1] += 1
        runs += k == 0 or eyes[k] != eyes[k - 1]
    order = np.empty(a.shape[0] if runs > 2 * u.shape[0] else 0, np.int64)
    if order.shape[0] > 0:
        for robot in range(u.shape[0]):
            begins[robot + 1] += begins[robot]
        for k in range(a.shape[0]):
            order[begins[eyes[k]]] = k
            begins[eyes[k]] += 1
    return order


@kernel(inline=True)
def _directions(near, far, low, high, half):
    """Return the first and the last direction in which a rectangle lies.

    Args:
        near, far, low, high: its borders, relative to the start of the rays [cells].
        half: number of directions in a quarter of a circle.
    """
    near = max(near, 0.0)
    first = low / max((far if low > 0.0 else near) + abs(low), _LEAST)
    last = high / max((far if high < 0.0 else near) + abs(high), _LEAST)
    return max(int((1.0 + first) * half - _ROUNDING), 0), int((1.0 + last) * half + _ROUNDING)


@kernel
def _fan_out(u, v, tiles, eye, a, b, count, rays, marks, begins):
    """Sort the rays from one robot by direction.

    Args:
        u, v: positions in cells, (n,).
        tiles: column and row of the tile of each robot, int32 (2, n).
        eye: the robot.
        a, b: its pairs, (m,).
        count: whether walls are counted, which needs displacements.
        rays: 1 / displacement along columns and rows, metres and walls so far, 0; displacement [cells]; float64 (6, m
            or more).
        marks: the pair of each ray, its direction, the ring of tiles in which it ends, and scratch: int32 (4, m or
            more).
        begins: index of the first ray of each direction, and the total, int32.

    Returns:
        the number of directions, and the ring in which the last ray ends.
    """
    x, y, column, row, m, directions = u[eye], v[eye], tiles[0, eye], tiles[1, eye], a.shape[0], 2
    pair, toward, rings, early = marks[0], marks[1], marks[2], marks[3]
    per_u, per_v, metres, walls, along, up = rays[0], rays[1], rays[2], rays[3], rays[4], rays[5]
    while directions < min(m, begins.shape[0] - 2):
        directions *= 2
    for direction in range(directions + 2):
        begins[direction] = 0
    for k in range(m):
        other = a[k] + b[k] - eye
        du, dv = u[other] - x, v[other] - y
        direction = int((1.0 + dv / max(du + abs(dv), _LEAST)) * (0.5 * directions))
        early[k] = direction
        begins[direction] += 1
    before = m
    for direction in range(directions + 1, -1, -1):  # from their ends to their starts
        some, begins[direction] = begins[direction], before
        before -= some
    last = np.int32(0)
    for k in range(m - 1, -1, -1):
        other, direction = a[k] + b[k] - eye, early[k]
        at = begins[direction] - 1
        begins[direction] = at
        du, dv = u[other] - x, v[other] - y
        per_u[at] = 1.0 / du if du > _LEAST else 1.0 / _LEAST
        per_v[at] = 1.0 / dv if abs(dv) > _LEAST else 1.0 / _LEAST
        metres[at], pair[at], toward[at] = 0.0, k, direction
        rings[at] = max(abs(tiles[0, other] - column), abs(tiles[1, other] - row))
        if count:
            walls[at], along[at], up[at] = 0.0, du, dv
        last = max(last, rings[at])
    return directions, last


@kernel
def _cross(rectangles, x, y, half, begins, rays, per_metre):
    """Add the lengths of rays inside rectangles [cells of length 1], times the cost per length."""
    for k in range(rectangles.shape[0]):
        near, far = rectangles[k, 0] - x, rectangles[k, 1] - x
        low, high, price = rectangles[k, 2] - y, rectangles[k, 3] - y, per_metre[rectangles[k, 4]]
        if far <= 0.0 or price == 0.0:
            continue
        first, last = _directions(near, far, low, high, half)
        begin, end = begins[first] // _LANES * _LANES, (begins[last + 1] + _LANES - 1) // _LANES * _LANES
        per_u, per_v, metres = rays[0, begin:end], rays[1, begin:end], rays[2, begin:end]
        for t in range(end - begin):
            one, two = low * per_v[t], high * per_v[t]
            enters = max(max(near * per_u[t], min(one, two)), 0.0)
            leaves = min(min(far * per_u[t], max(one, two)), 1.0)
            metres[t] += price * max(leaves - enters, 0.0)


@kernel
def _enter(sides, x, y, half, begins, rays, per_wall):
    """Add the walls that rays enter through these sides, times the cost of each.

    A corner is either to the left of a ray, or on it or to its right, for both sides of the wall that share it; so no
    ray slips through between two sides.
    """
    for k in range(sides.shape[0]):
        near, far = sides[k, 0] - x, sides[k, 1] - x
        low, high, price = sides[k, 2] - y, sides[k, 3] - y, per_wall[sides[k, 4]]
        kind = sides[k, 5]
        if far < 0.0 or price == 0.0 or (near <= 0.0 if kind == 0 else low <= 0.0 if kind == 1 else low >= 0.0):
            continue
        first, last = _directions(near, far, low, high, half)
        begin, end = begins[first] // _LANES * _LANES, (begins[last + 1] + _LANES - 1) // _LANES * _LANES
        du, dv, walls = rays[4, begin:end], rays[5, begin:end], rays[3, begin:end]
        per, apart = (rays[0, begin:end], near) if kind == 0 else (rays[1, begin:end], low)
        # The ray passes between the two ends: the first is on its right, the second on its left.
        if kind == 1:
            near, far = far, near
        for t in range(end - begin):
            one, two = near * dv[t] - low * du[t], far * dv[t] - high * du[t]
            walls[t] += price if (one >= 0.0) & (two < 0.0) & (apart * per[t] < 1.0) else 0.0


@kernel
def _put_aside(rays, marks, begins, directions, n, ring, distance_m, most, limited, count, cost):
    """Keep the rays that go beyond a ring of tiles; return their number, and the ring in which the last ends.

    The cost of the others is written. If costs only grow and are ``limited``, so is that of rays that cost more than
    ``most``. See `through`, `_fan_out`.
    """
    kept, last = 0, 0
    pair, toward, rings, metres, walls = marks[0], marks[1], marks[2], rays[2], rays[3]
    for direction in range(directions + 2):
        begins[direction] = 0
    for t in range(n):
        k = pair[t]
        total = metres[t] * distance_m[k] + (walls[t] if count else 0.0)
        if rings[t] <= ring or (limited and total > most[k]):
            cost[k] = total if total <= most[k] else math.inf
            continue
        for part in range(6 if count else 3):
            rays[part, kept] = rays[part, t]
        pair[kept], toward[kept], rings[kept] = k, toward[t], rings[t]
        begins[toward[t] + 1] += 1
        last = max(last, rings[t])
        kept += 1
    for direction in range(directions + 1):
        begins[direction + 1] += begins[direction]
    return kept, last


@kernel
def through(made_of, rectangles, rectangles_at, sides, sides_at, u, v, per_metre, per_wall, a, b, distance_m, most):
    """Return the cost of the walls between pairs, float64 (m,); inf above ``most``.

    A stretch through cells of one material, without a gap, is one wall. A wall that a ray only touches at a corner may
    count or not, but the same in both directions.

    Successive pairs with one robot are processed together: their rays are sorted by direction, so those that a
    rectangle can meet are neighbours. The walls come tile by tile, in rings around the robot. If there is a limit, rays
    that are done or cost too much are removed after some of the rings.

    Args:
        made_of: uint8 (rows, columns), material of each cell; the last of the materials is air.
        rectangles, rectangles_at: see `rectangles_of`.
        sides, sides_at: see `sides_of`; empty if walls cost only by the metre.
        u, v: positions in cells from the corner of cell [0, 0], (n,).
        per_metre: cost of a metre of each material, (k,).
        per_wall: cost of each wall of a material, (k,).
        a, b: the pairs, int64 (m,), see `by_eye`.
        distance_m: their distances, (m,).
        most: limit above which the exact cost does not matter, (m,).
    """
    rows, columns = made_of.shape
    across, down, cost = -(-columns // TILE), -(-rows // TILE), np.empty(a.shape[0])
    measure, count, limited, grows = False, sides.shape[0] > 0, False, True
    for k in range(per_metre.shape[0]):
        measure, grows = measure or per_metre[k] != 0.0, grows and per_metre[k] >= 0.0 and per_wall[k] >= 0.0
    for k in range(most.shape[0]):
        limited = limited or (grows and most[k] < math.inf)
    room = (u.shape[0] + _LANES - 1) // _LANES * _LANES
    rays, marks, begins = np.zeros((6, room)), np.empty((4, room), np.int32), np.empty(_BINS + 2, np.int32)
    tiles = np.empty((2, u.shape[0]), np.int32)
    for robot in range(u.shape[0]):
        tiles[0, robot] = min(max(math.floor(u[robot] / TILE), 0), across - 1)
        tiles[1, robot] = min(max(math.floor(v[robot] / TILE), 0), down - 1)
    begin, asked, left = 0, 0, 0
    while begin < a.shape[0]:
        i, j, end = a[begin], b[begin], begin + 1
        eye = i if _rightwards(u[i], v[i], u[j], v[j]) else j
        while end < min(a.shape[0], begin + room) and (a[end] == eye or b[end] == eye):
            other = a[end] + b[end] - eye
            if not _rightwards(u[eye], v[eye], u[other], v[other]):
                break
            end += 1
        x, y, n, ring, due = u[eye], v[eye], end - begin, 0, 1
        directions, last = _fan_out(u, v, tiles, eye, a[begin:end], b[begin:end], count, rays, marks, begins)
        if count:
            for t in range(n):
                column, row = math.floor(x), math.ceil(y) - 1 if rays[5, t] < 0.0 else math.floor(y)
                if 0 <= row < rows and 0 <= column < columns:
                    rays[3, t] = per_wall[made_of[row, column]]
        while n > 0:
            column, row = tiles[0, eye], tiles[1, eye]
            for i in range(max(row - ring, 0), min(row + ring + 1, down)):
                whole = abs(i - row) == ring
                for j in range(column if whole else column + ring, min(column + ring + 1, across)):
                    tile = i * across + j
                    if rectangles_at[tile] == rectangles_at[tile + 1]:
                        continue
                    borders = j * TILE - x, (j + 1) * TILE - x, i * TILE - y, (i + 1) * TILE - y
                    first, final = _directions(*borders, 0.5 * directions)
                    if borders[1] < 0.0 or begins[first] == begins[final + 1]:
                        continue
                    if measure:
                        some = rectangles[rectangles_at[tile] : rectangles_at[tile + 1]]
                        _cross(some, x, y, 0.5 * directions, begins, rays, per_metre)
                    if count:
                        some = sides[sides_at[tile] : sides_at[tile + 1]]
                        _enter(some, x, y, 0.5 * directions, begins, rays, per_wall)
            if ring >= last or (limited and ring == due and (2 * left <= asked or asked < _TRIAL)):
                due, asked = 2 * ring + 2, asked + (n if ring < last else 0)
                limits = distance_m[begin:end], most[begin:end], limited, count
                n, last = _put_aside(rays, marks, begins, directions, n, ring, *limits, cost[begin:end])
                left += n
            ring += 1
        begin = end
    return cost
