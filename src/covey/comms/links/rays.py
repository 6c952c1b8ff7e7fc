"""What lies between two robots: which pairs are near, and what their rays go through. Compiled when first used."""

import itertools
import math

import numpy as np

from covey.geometry.raycast import march_flat, to_grid
from covey.kernel import kernel

_PROBES = np.array([4, 2, 6, 1, 3, 5, 7]) / 8.0
"""Where on the way a look is cast before it is walked: most ways that thick walls block are found so."""
_PROBE = 1.0 / 8.0
_TRIAL = 200  # so many pairs are probed; then only while that spares the walk for half of them
_BINS = 256
"""Into how many directions half a circle is divided; so many for 2, by `in_sight`."""
_PER = _BINS / 2.0
_CLEAR = 1e-4  # cells, or bins: far more than rounding
_INSIDE = 0.5 - 1e-6  # a probe counts this near to the middle of its cell [cells]: not on a border, however rounded


@kernel
def near_pairs(x, y, order, reach):
    """Return all pairs within a distance of each other: a < b, int64 (m,), and how far apart, float64 (m,).

    Args:
        x, y: positions [m], (n,).
        order: the robots by falling or rising x, int64 (n,).
        reach: [m], finite or infinite.
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
def blocks_of(solid):
    """Return rectangles of solid cells, and which of them each cell belongs to; together they hold all solid cells.

    Args:
        solid: uint8 (rows, columns).

    Returns:
        first column, last + 1, first row, last + 1 of each, float64 (k, 4), and int32 (rows, columns), -1 where free.
    """
    rows, columns = solid.shape
    which, count = np.full((rows, columns), -1, np.int32), 0
    found = np.empty((rows * columns, 4))
    for row in range(rows):
        for column in range(columns):
            if not solid[row, column] or which[row, column] >= 0:
                continue
            right, below, whole = column + 1, row + 1, True
            while right < columns and solid[row, right]:
                right += 1
            while below < rows and whole:
                for j in range(column, right):
                    whole = whole and solid[below, j] != 0
                below += 1 if whole else 0
            for i in range(row, below):
                for j in range(column, right):
                    which[i, j] = count
            found[count, 0], found[count, 1], found[count, 2], found[count, 3] = column, right, row, below
            count += 1
    return found[:count].copy(), which


@kernel
def in_sight(skip, blocks, which, u, v, a, b):
    """Return which pairs have no solid square between them, uint8 (m,).

    What has stood in the way of a robot is remembered by direction, while pairs with that robot follow each other: it
    hides all that is behind. That pays where a robot has many pairs.

    Args:
        skip: see `covey.geometry.raycast.skip_field`.
        blocks, which: see `blocks_of`; nothing is remembered without.
        u, v: positions in cells from the corner of cell [0, 0], (n,).
        a, b: the pairs, int64 (m,); a ray has the same direction whoever asks.
    """
    seen, eye, hides = np.empty(a.shape[0], np.uint8), np.int64(-1), np.empty(_BINS, np.int32)
    probed, spared = 0, 0
    flat, rows, columns = skip.reshape(-1), skip.shape[1], skip.shape[2]
    for k in range(a.shape[0]):
        i, j = a[k], b[k]
        if u[i] > u[j] or (u[i] == u[j] and v[i] > v[j]):
            i, j = j, i
        x, y, du, dv = u[i], v[i], u[j] - u[i], v[j] - v[i]
        length, seen[k] = abs(du) + abs(dv), 0
        remembers = which.size > 0 and length > 0.0
        if remembers:
            if i != eye:
                eye = i
                for n in range(_BINS):
                    hides[n] = -1
            block = hides[int((1.0 + dv / length) * _PER) & (_BINS - 1)]  # du is never negative
            if block >= 0 and (
                u[j] > max(blocks[block, 0], x + 1.0) + _CLEAR
                and (y >= blocks[block, 2] or v[j] > blocks[block, 2] + _CLEAR)
                and (y <= blocks[block, 3] or v[j] < blocks[block, 3] - _CLEAR)
            ):
                continue
        block, probes = -1, _PROBES.size if probed < _TRIAL or 2 * spared > probed else 0
        probed += probes > 0
        for p in range(probes + 1):
            if p == probes:
                t = march_flat(flat, rows, columns, x, y, du, dv, 1.0)
                seen[k], t = t >= 1.0, t + _CLEAR / max(length, _CLEAR)  # into the cell that was hit
            else:
                t = _PROBES[p]
            at_u, at_v = x + t * du, y + t * dv
            column, row = math.floor(at_u), math.floor(at_v)
            if row < 0 or column < 0 or row >= rows or column >= columns:
                continue
            inside = p == probes or max(abs(at_u - column - 0.5), abs(at_v - row - 0.5)) < _INSIDE
            if inside and flat[np.uint64(row * columns + column)] == 0:
                block, spared = which[row, column] if remembers else -1, spared + (p < probes)
                break
        if block < 0 or seen[k]:
            continue
        near, far, low, high = blocks[block, 0] - x, blocks[block, 1] - x, blocks[block, 2] - y, blocks[block, 3] - y
        near = max(near, 1.0)
        if far > near:  # what is less than a cell ahead is left out
            low, high = (
                low / ((far if low > 0.0 else near) + abs(low)),
                high / ((far if high < 0.0 else near) + abs(high)),
            )
            for n in range(math.ceil((1.0 + low) * _PER + _CLEAR), math.floor((1.0 + high) * _PER - _CLEAR)):
                hides[n] = block
    return seen


@kernel
def same_field(made_of):
    """Return how far each cell sees cells like itself, uint8 (4, rows, columns): a skip field of every material.

    As `covey.geometry.raycast.skip_field`, where a square ends at the first cell that is made of something else.

    Args:
        made_of: uint8 (rows, columns).
    """
    rows, columns = made_of.shape
    same = np.ones((4, rows, columns), np.uint8)
    for q in range(4):
        step_x, step_y = 1 - 2 * (q & 1), 1 - (q & 2)
        for i in range(1, rows):
            row = i if step_y < 0 else rows - 1 - i
            for j in range(1, columns):
                column = j if step_x < 0 else columns - 1 - j
                what = made_of[row, column]
                if (
                    made_of[row + step_y, column] == what
                    and made_of[row, column + step_x] == what
                    and made_of[row + step_y, column + step_x] == what
                ):
                    side = min(same[q, row + step_y, column], same[q, row, column + step_x])
                    side = min(side, same[q, row + step_y, column + step_x])
                    same[q, row, column] = min(side + 1, 255)
    return same


@kernel
def cross(same, made_of, u, v, du, dv, length, per_metre, per_wall, most):
    """Return the cost of what the segment from (u, v) to (u + du, v + dv) goes through.

    A stretch through cells of one material, without a gap, is one wall. The walk leaps through squares of cells that
    are alike, as `covey.geometry.raycast.march` does; it ends when the cost is above ``most``.

    Args:
        same: see `same_field`.
        made_of: uint8 (rows, columns), what each cell is made of; the last of the materials is air.
        u, v, du, dv: start and displacement in cells.
        length: of the segment [m].
        per_metre: cost of a metre of each material, (k,).
        per_wall: cost of each wall of a material, (k,).
        most: where to give up.
    """
    rows, columns, air = made_of.shape[0], made_of.shape[1], per_metre.shape[0] - 1
    q, x0, y0, sx, sy = 0, 0, 0, 1, 1
    ix, iy = math.floor(u), math.floor(v)
    if du < 0.0:
        q, x0, sx, ix = 1, columns - 1, -1, columns - math.ceil(u)
        u, du = columns - u, -du
    if dv < 0.0:
        q, y0, sy, iy = q + 2, rows - 1, -1, rows - math.ceil(v)
        v, dv = rows - v, -dv
    if ix >= columns or iy >= rows:
        return 0.0
    per_u = 1.0 / du if du != 0.0 else math.inf
    per_v = 1.0 / dv if dv != 0.0 else math.inf
    t = 0.0
    if ix < 0 or iy < 0:
        tx, ty = -u * per_u if ix < 0 else 0.0, -v * per_v if iy < 0 else 0.0
        t = max(tx, ty)
        ix = 0 if tx >= ty else min(max(math.floor(u + t * du), 0), columns - 1)
        iy = 0 if ty >= tx else min(max(math.floor(v + t * dv), 0), rows - 1)
    t_end = min(1.0, (columns - u) * per_u, (rows - v) * per_v)
    cost, before = 0.0, air
    while t < t_end:
        row, column, start = np.uint64(y0 + sy * iy), np.uint64(x0 + sx * ix), t
        side, here = int(same[np.uint64(q), row, column]), int(made_of[row, column])
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
        if here != air:
            if here != before:
                cost += per_wall[here]
            cost += (min(t, t_end) - start) * length * per_metre[here]
            if cost > most:
                return cost
        before = here
    return cost


@kernel
def at_least(same, made_of, u, v, du, dv, length, per_metre, most):
    """Return what `cross` costs at least, looked at here and there only; it ends when that is above ``most``.

    Around each probe, the square of cells that are made of the same is crossed, up to where the next probe is.
    """
    q, found = (1 if du < 0.0 else 0) + (2 if dv < 0.0 else 0), 0.0
    for p in range(_PROBES.size):
        t = _PROBES[p]
        x, y = u + t * du, v + t * dv
        column, row = math.floor(x), math.floor(y)
        if row < 0 or column < 0 or row >= made_of.shape[0] or column >= made_of.shape[1]:
            continue
        here = made_of[row, column]
        if per_metre[here] > 0.0 and max(abs(x - column - 0.5), abs(y - row - 0.5)) < _INSIDE:
            side, end = int(same[q, row, column]), _PROBE
            if du != 0.0:
                end = min(end, ((column + 1 - side if du < 0.0 else column + side) - x) / du)
            if dv != 0.0:
                end = min(end, ((row + 1 - side if dv < 0.0 else row + side) - y) / dv)
            found += end * length * per_metre[here]
            if found > most:
                return found
    return found


@kernel
def through(same, made_of, u, v, cell_m, a, b, per_metre, per_wall, most):
    """Return the cost of what lies between pairs, float64 (m,), see `cross`; inf above ``most``, (m,).

    Args:
        same, made_of: the walls, see `cross`.
        u, v: positions in cells from the corner of cell [0, 0], (n,).
        cell_m: side of a cell [m].
        a, b: the pairs, int64 (m,).
        per_metre, per_wall: see `cross`.
        most: where the exact cost does not matter any more, (m,).
    """
    cost, lowest, probed, spared = np.empty(a.shape[0]), per_metre.min(), 0, 0
    for k in range(a.shape[0]):
        i, j = a[k], b[k]
        du, dv = u[j] - u[i], v[j] - v[i]
        length = math.sqrt(du * du + dv * dv) * cell_m
        if lowest >= 0.0 and most[k] < math.inf and (probed < _TRIAL or 2 * spared > probed):
            probed += 1
            least = at_least(same, made_of, u[i], v[i], du, dv, length, per_metre, most[k])
            if least > most[k] + 1e-9 * (1.0 + abs(most[k])):
                cost[k], spared = math.inf, spared + 1
                continue
        cost[k] = cross(same, made_of, u[i], v[i], du, dv, length, per_metre, per_wall, most[k])
        if cost[k] > most[k]:
            cost[k] = math.inf
    return cost


def through_reference(solid, material, frame, start, end, per_metre, per_wall) -> float:
    """Plain reference of `through` for one pair: cut the segment at all lines of the grid, look at each piece."""
    (u, v), (w, z) = to_grid.py_func(frame, *start), to_grid.py_func(frame, *end)
    cuts = {0.0, 1.0}
    for p, q in ((u, w), (v, z)):
        if p != q:
            lines = np.arange(math.ceil(min(p, q)), math.floor(max(p, q)) + 1)
            cuts |= set(((lines - p) / (q - p)).tolist())
    at = sorted(t for t in cuts if 0.0 <= t <= 1.0)
    length, cost, inside = math.hypot(end[0] - start[0], end[1] - start[1]), 0.0, -1
    for t0, t1 in itertools.pairwise(at):
        if t1 - t0 < 1e-12:
            continue
        middle = 0.5 * (t0 + t1)
        column, row = math.floor(u + middle * (w - u)), math.floor(v + middle * (z - v))
        if not (0 <= row < solid.shape[0] and 0 <= column < solid.shape[1]) or not solid[row, column]:
            inside = -1
            continue
        made_of = int(material[row, column]) if material is not None else 0
        if made_of != inside:
            cost, inside = cost + per_wall[made_of], made_of
        cost += (t1 - t0) * length * per_metre[made_of]
    return cost
