"""Kernels of the belief: they turn a scan into a robot's own evidence."""

import math

import numpy as np

from covey.geometry.beams import mark_fan, sensor_in_grid
from covey.kernel import bare, kernel
from covey.mapping.exchange.merge_rules import PLAIN
from covey.mapping.occupancy.tiles import TILE, TILE_CELLS, Store, TeamTiles, show, state_of

_HIT = 2
_LONGEST_SLANT = 20.0
_TIE = 0.01  # cells: a cell that wall fills by half is wall, also after rounding


@kernel
def _lean(directions, ranges, i, j):
    """Return how far the line through the returns of beams i and j goes ahead, along i, while it goes to the left by 1.

    NaN if beam j has no return.
    """
    across = directions[i, 0] * directions[j, 1] - directions[i, 1] * directions[j, 0]
    along = directions[i, 0] * directions[j, 0] + directions[i, 1] * directions[j, 1]
    if not (ranges[j] > 0.0 and math.isfinite(ranges[j])) or across == 0.0:
        return math.nan
    return (ranges[j] * along - ranges[i]) / (ranges[j] * across)


@kernel
def _surface(directions, ranges, i):
    """Return how the surface that beam i meets lies, from the returns of the beams beside it.

    First, 1 / sin of the angle between beam and surface: the path of the beam through a wall is longer than the wall
    is thick by this factor. The surface goes through the returns of the beam and of one neighbour, the one that gives
    the wider angle. So the edge of an obstacle in front of a far wall does not count as a surface.

    Second, how far this surface goes ahead while it goes to the left by 1: 0, at a right angle to the beam, unless both
    neighbours lean to the same side. So a post, the jamb of a door or noise of near returns does not turn the surface.

    1 and 0 for the first and the last beam, and where no neighbour has a return.
    """
    if i == 0 or i == ranges.size - 1:
        return 1.0, 0.0
    right, left = _lean(directions, ranges, i, i - 1), _lean(directions, ranges, i, i + 1)
    lean = right if abs(right) < abs(left) or math.isnan(left) else left
    if math.isnan(lean):
        return 1.0, 0.0
    return min(math.sqrt(1.0 + lean * lean), _LONGEST_SLANT), lean if right * left > 0.0 else 0.0


@kernel
def mark_scan(mark, box, frame, pose, mount, directions, ranges, range_m, max_range, max_free):
    """Mark the cells that one scan shows as free (1) or occupied (2). A cell with both marks counts as occupied.

    A return lies *on* the wall. A beam marks cells as free up to half a cell before the wall, and the occupied cell is
    the one half a cell behind the return; both are measured across the wall, and half a cell is half of its width in
    that direction (0.5 along an axis, 0.71 along a diagonal). So a cell counts as wall if its centre lies behind the
    surface, that is, if wall fills half of it or more, and small noise does not change that. A beam at a grazing angle
    crosses many cells of the wall before its return; it does not mark them as free. Where the surface is not sure, see
    `_surface`, the occupied cell is behind the return along the beam.

    Args:
        mark: uint8 (rows, columns), the marks.
        box: int64 (4,), first and last row, first and last column of the marks; widened.
        frame, pose, mount: of the grid, the robot and its sensor, see `covey.geometry.beams.sensor_in_grid`.
        directions: float64 (rays, 2), unit vectors in the frame of the sensor.
        ranges: float64 (rays,) [m]; inf is no return, NaN or <= 0 no measurement.
        range_m: range of the sensor [m].
        max_range: largest range of returns that are used [m].
        max_free: without a return, cells are free up to this range [m].
    """
    u, v, c, s = sensor_in_grid(frame, pose, mount)
    if not math.isfinite(u + v + c + s):
        return
    resolution = frame[4]
    far, free = min(range_m, max_range), min(range_m, max_free)
    ends, behind = np.empty((ranges.size, 2)), np.empty((ranges.size, 2))
    for i in range(ranges.size):
        r = ranges[i]
        if not r > 0.0:
            ends[i, 0] = ends[i, 1] = math.nan
            continue
        du, dv = c * directions[i, 0] - s * directions[i, 1], s * directions[i, 0] + c * directions[i, 1]
        if r <= far:
            slant, lean = _surface(directions, ranges, i)
            nu, nv, size = du + lean * dv, dv - lean * du, math.sqrt(1.0 + lean * lean)
            nu, nv = nu / size, nv / size
            half = 0.5 * (abs(nu) + abs(nv))
            length = max(r / resolution - (half + _TIE) * slant, 0.0)
            behind[i, 0] = u + r / resolution * du + (half - _TIE) * nu
            behind[i, 1] = v + r / resolution * dv + (half - _TIE) * nv
        else:
            length = min(r, free if math.isinf(r) else far) / resolution
        ends[i, 0], ends[i, 1] = u + length * du, v + length * dv
    mark_fan(mark, u, v, ends, box)
    for i in range(ranges.size):
        r = ranges[i]
        if r > 0.0 and r <= far:
            column, row = math.floor(behind[i, 0]), math.floor(behind[i, 1])
            if row >= 0 and row < mark.shape[0] and column >= 0 and column < mark.shape[1]:
                mark[row, column] = _HIT
                box[0], box[1] = min(box[0], row), max(box[1], row)
                box[2], box[3] = min(box[2], column), max(box[3], column)


@kernel
def use_segment(mark, own, published, joined, occupancy, model):
    """Add the evidence of 32 neighbouring cells marked by `mark_scan`; return whether the state of any changed.

    Evidence of a seen cell is never 0, so 0 means never seen. The loop has no branch, for the vector unit.

    Args:
        mark: uint8 (32,), marks of the cells.
        own, published, joined: values of these cells, see `covey.mapping.occupancy.tiles.state_of`; ``own`` is changed.
        occupancy: int8 (32,), states of the cells, changed.
        model: int64 (262,): miss, hit, lowest and highest evidence, in units, and `MergeRule.table`.
    """
    turned, sized = np.int8(0), joined.dtype.type  # the narrowest types, for the vector unit
    rule, none, one = model[4:], np.int16(0), np.int16(1)
    plain = rule[0] == PLAIN
    gain, loss, low, high = np.int16(model[1]), np.int16(-model[0]), np.int16(model[2]), np.int16(model[3])
    for k in range(TILE):
        m = mark[k]
        delta = gain if m == _HIT else (loss if m == 1 else none)
        seen = one if m == _HIT else (-one if m == 1 else none)
        after = min(max(np.int16(own[k] + delta), low), high)
        after = np.int8(seen if after == none else after)
        own[k] = after
        if plain:
            total = sized(joined[k] - sized(published[k]) + sized(after))
            state = np.int8(100 if total > 0 else (0 if total < 0 else -1))
        else:
            state = np.int8(state_of(after, published[k], joined[k], rule))
        turned |= state ^ occupancy[k]
        occupancy[k] = state
    return turned != 0


@kernel
def use_marks(mark, box, robot, team, store, stamp, model):
    """Turn the marks of a scan into evidence, and clear them; return whether the state of any cell changed.

    Published evidence is copied before it changes. The store must have a free slot and a free page for each tile in
    the box.

    Args:
        mark: uint8 (rows, columns), marks in the rows box[0] to box[1] and the columns box[2] to box[3].
        team, store: `TeamTiles`, `Store`.
        stamp: time stamp, as in `Store.seen`.
        model: see `use_segment`.
    """
    turned = False
    low, high, now = np.int16(model[2]), np.int16(model[3]), np.uint16(stamp)
    per_row = mark.shape[1] // TILE
    mark, occupancy = bare(mark), bare(team.occupancy)[robot]
    words, evidence, seen, joined = mark.view(np.uint64), bare(store.evidence), bare(store.seen), bare(store.joined)
    for tile_row in range(box[0] // TILE, box[1] // TILE + 1):
        top = tile_row * TILE
        for tile_column in range(box[2] // TILE, box[3] // TILE + 1):
            tile, left, word = tile_row * per_row + tile_column, tile_column * TILE, tile_column * 4
            slot, page, node = team.own[robot, tile], team.page[robot, tile], team.node[robot, tile]
            published = store.parts[node, robot]
            is_mine = slot != 0 and store.version[slot] == 0
            turned_here = False
            for row in range(max(top, box[0]), min(top + TILE, box[1] + 1)):
                if words[row, word] | words[row, word + 1] | words[row, word + 2] | words[row, word + 3] == 0:
                    continue
                at = slice((row - top) * TILE, (row - top) * TILE + TILE)
                if page == 0:
                    page = store.used[2]
                    store.used[2] += 1
                    team.page[robot, tile] = page
                    for k in range(TILE_CELLS):
                        store.seen[page, k] = 0
                marks, when, own = mark[row, left : left + TILE], seen[page, at], evidence[slot, at]
                useful = False
                for k in range(TILE):
                    when[k] = now if marks[k] != 0 else when[k]
                    useful |= ((marks[k] == 1) & (own[k] > low)) | ((marks[k] == _HIT) & (own[k] < high))
                if useful:
                    if not is_mine:
                        slot, is_mine = copied(slot, store), True
                        team.own[robot, tile] = slot
                        own = evidence[slot, at]
                    states = occupancy[row, left : left + TILE]
                    turned_here |= use_segment(marks, own, evidence[published, at], joined[node, at], states, model)
                words[row, word] = words[row, word + 1] = words[row, word + 2] = words[row, word + 3] = 0
            if turned_here:
                team.changed[robot, tile] = team.version[robot] + 1
                turned = True
    return turned


@kernel
def copied(slot, store):
    """Return a new, unpublished slot with a copy of the evidence of another."""
    new = store.free_slots[store.used[0]]
    store.used[0] += 1
    store.version[new] = store.size[new] = 0
    for k in range(TILE_CELLS):
        store.evidence[new, k] = store.evidence[slot, k]
    return new


@kernel
def use_scans(
    directions, frame, model, motion, scratch, team, store, robots, first, poses, ranges, mount, limits, stamp
):
    """Add one scan of each robot to its belief, starting at the scan ``first``.

    Args:
        team, store: the arrays of a `TeamTiles` and of a `Store`, as plain tuples.
        robots: int64 (m,), indices of the robots in the team.
        poses: float64 (m, 3), poses of their bodies, x, y [m], heading [rad].
        ranges: float64 (m, rays) [m].
        directions: float64 (rays, 2), unit vectors in the frame of the sensor.
        mount: float64 (3,), pose of the sensor on the body.
        limits: range of the sensor, largest range of used returns, and of free space without a return [m].
        stamp: time stamp, as in `Store.seen`.
        model: see `use_segment`.
        motion: a scan is used after at least this much driving [m] or turning [rad] since the last used scan.
        scratch: uint8 (rows, columns), all 0 before and after.

    Returns:
        The first scan that was not processed because there may be too little room, m if all were; and the number of
        scans used.
    """
    team, store = TeamTiles(*team), Store(*store)
    box = np.empty(4, np.int64)
    used = 0
    for k in range(first, robots.size):
        i = robots[k]
        pose, last = poses[k], team.mapped_pose[i]
        turned = abs((pose[2] - last[2] + math.pi) % (2.0 * math.pi) - math.pi)
        if math.hypot(pose[0] - last[0], pose[1] - last[1]) < motion[0] and turned < motion[1]:
            continue
        box[0], box[1], box[2], box[3] = scratch.shape[0], -1, scratch.shape[1], -1
        mark_scan(scratch, box, frame, pose, mount, directions, ranges[k], limits[0], limits[1], limits[2])
        tiles = max(box[1] // TILE - box[0] // TILE + 1, 0) * max(box[3] // TILE - box[2] // TILE + 1, 0)
        if tiles > min(store.free_slots.size - store.used[0], store.seen.shape[0] - store.used[2]):
            return k, used
        last[0], last[1], last[2] = pose[0], pose[1], pose[2]
        team.version[i] += use_marks(scratch, box, i, team, store, stamp, model)
        used += 1
    return robots.size, used


@kernel
def put_tiles(robot, tiles, cells, team, store, rule):
    """Write a robot's own evidence into its tiles, and update its map.

    The store must have a free slot for each tile. Published evidence is copied before it changes.

    Args:
        robot: index of the robot.
        tiles: int32 (k,), indices of the tiles.
        cells: int8 (k, 1024), their evidence.
        team, store: `TeamTiles`, `Store`.
        rule: see `MergeRule.table`.
    """
    per_row = team.occupancy.shape[2] // TILE
    turned = False
    for k in range(tiles.size):
        tile = tiles[k]
        slot = team.own[robot, tile]
        if slot == 0 or store.version[slot] != 0:
            slot = copied(slot, store)
            team.own[robot, tile] = slot
        own = store.evidence[slot]
        for c in range(own.size):
            own[c] = cells[k, c]
        node = team.node[robot, tile]
        published, joined = store.evidence[store.parts[node, robot]], store.joined[node]
        top, left = tile // per_row * TILE, tile % per_row * TILE
        if show(own, published, joined, store.joined[node, :0], team.occupancy[robot], top, left, rule):
            team.changed[robot, tile] = team.version[robot] + 1
            turned = True
    team.version[robot] += turned
