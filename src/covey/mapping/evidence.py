"""Kernels of the belief: a scan becomes evidence, and tiles of evidence move between robots."""

import math

import numpy as np

from covey.geometry.beams import mark_beam, sensor_in_grid
from covey.kernel import kernel

TILE = 32
"""Side of a tile in cells."""

_HIT = 2
_LONGEST_SLANT = 20.0


@kernel
def _slant(directions, ranges, i):
    """Return how much longer than across a surface the way of beam i through it is: 1 / sin of the angle between them.

    The surface is that through the returns of the beam and of one of its neighbours, the one that makes the angle
    wider: so the edge of an obstacle before a far wall is not taken for a surface. 1 without two neighbours.
    """
    if i == 0 or i == ranges.size - 1:
        return 1.0
    r, cotangent = ranges[i], math.inf
    for j in (i - 1, i + 1):
        across = abs(directions[i, 0] * directions[j, 1] - directions[i, 1] * directions[j, 0])
        along = directions[i, 0] * directions[j, 0] + directions[i, 1] * directions[j, 1]
        if ranges[j] > 0.0 and math.isfinite(ranges[j]) and across > 0.0:
            cotangent = min(cotangent, abs(r - ranges[j] * along) / (ranges[j] * across))
    return min(math.sqrt(1.0 + cotangent * cotangent), _LONGEST_SLANT) if cotangent < math.inf else 1.0


@kernel
def mark_scan(mark, box, frame, pose, mount, directions, ranges, range_m, max_range, max_free):
    """Mark the cells that one scan says are free (1) or occupied (2), each cell once, occupied first.

    The way is free up to where the beam is half a cell before the wall, and the occupied cell is the one half a cell
    behind the return: a return lies *on* the wall, and so a cell counts as wall where wall fills more than half of it
    (exactly so for a beam across the wall), whatever side noise throws the return to. A beam that meets a wall at a
    grazing angle runs along the wall's own cells for long, which says nothing about them.

    Args:
        ranges: float64 (rays,) [m]; inf is no return, nan or <= 0 no measurement.
        range_m: range of the sensor; max_range: returns are believed up to here; max_free: no return means free up
            to here [m].
    """
    u, v, c, s = sensor_in_grid(frame, pose, mount)
    if not math.isfinite(u + v + c + s):
        return
    resolution = frame[4]
    far, free = min(range_m, max_range), min(range_m, max_free)
    for i in range(ranges.size):
        r = ranges[i]
        if not r > 0.0:
            continue
        if r <= far:
            length = max(r / resolution - 0.5 * _slant(directions, ranges, i), 0.0)
        else:
            length = min(r, free if math.isinf(r) else far) / resolution
        du, dv = c * directions[i, 0] - s * directions[i, 1], s * directions[i, 0] + c * directions[i, 1]
        mark_beam(mark, u, v, u + length * du, v + length * dv, box)
    for i in range(ranges.size):
        r = ranges[i]
        if r > 0.0 and r <= far:
            length = r / resolution + 0.5
            du, dv = c * directions[i, 0] - s * directions[i, 1], s * directions[i, 0] + c * directions[i, 1]
            column, row = math.floor(u + length * du), math.floor(v + length * dv)
            if row >= 0 and row < mark.shape[0] and column >= 0 and column < mark.shape[1]:
                mark[row, column] = _HIT
                box[0], box[1] = min(box[0], row), max(box[1], row)
                box[2], box[3] = min(box[2], column), max(box[3], column)


@kernel
def use_segment(mark, own, log_odds, occupancy, miss, hit, low, high):
    """Add evidence to 32 neighbouring cells that `mark_scan` marked; return whether evidence and state changed.

    Evidence of a cell that was seen is never 0, so 0 means never seen. Without a branch, for the vector unit.
    """
    news = turned = 0
    for k in range(TILE):
        m, before = mark[k], own[k]
        delta = hit if m == _HIT else (-miss if m == 1 else 0)
        seen = 1 if m == _HIT else (-1 if m == 1 else 0)
        after = min(max(before + delta, low), high)
        after = seen if after == 0 else after
        own[k] = after
        total = log_odds[k] + after - before
        log_odds[k] = total
        state = 100 if total > 0 else (0 if total < 0 else -1)
        news |= after ^ before
        turned |= state ^ occupancy[k]
        occupancy[k] = state
    return news != 0, turned != 0


@kernel
def use_marks(mark, box, own, log_odds, occupancy, seen, dirty, changed, version, stamp, model):
    """Turn the marks of a scan into evidence, wipe them, and return whether the state of any cell changed.

    Args:
        own, log_odds, occupancy, seen: int8, int16, int8, int32 (rows, columns), sides multiples of 32.
        dirty: uint8 (tiles,): evidence changed since it was published. changed: int64 (tiles,): version of the belief
            at which the state of a cell last changed.
        model: int64 (4,): miss, hit, lowest, highest, in units.
    """
    any_changed = False
    miss, hit, low, high = model[0], model[1], model[2], model[3]
    tiles_per_row = mark.shape[1] // TILE
    words = mark.view(np.uint64)
    for row in range(box[0], box[1] + 1):
        for tile_column in range(box[2] // TILE, box[3] // TILE + 1):
            word = tile_column * 4
            if words[row, word] | words[row, word + 1] | words[row, word + 2] | words[row, word + 3] == 0:
                continue
            at = slice(tile_column * TILE, tile_column * TILE + TILE)
            marks, when, evidence = mark[row, at], seen[row, at], own[row, at]
            useful = 0
            for k in range(TILE):
                when[k] = stamp if marks[k] != 0 else when[k]
                useful |= ((marks[k] == 1) & (evidence[k] > low)) | ((marks[k] == _HIT) & (evidence[k] < high))
            if useful:
                news, turned = use_segment(marks, evidence, log_odds[row, at], occupancy[row, at], miss, hit, low, high)
                tile = row // TILE * tiles_per_row + tile_column
                if news:
                    dirty[tile] = 1
                if turned:
                    changed[tile] = version
                    any_changed = True
            words[row, word] = words[row, word + 1] = words[row, word + 2] = words[row, word + 3] = 0
    return any_changed


@kernel
def take_tile(new, old, log_odds, occupancy, tile):
    """Replace one origin's evidence in one tile of a merged grid; return whether the state of any cell changed.

    Args:
        new, old: int8 (1024,), the newer and the held evidence of the tile.
        log_odds, occupancy: int16, int8 (rows, columns) of the merged belief.
    """
    per_row = log_odds.shape[1] // TILE
    top, left = tile // per_row * TILE, tile % per_row * TILE
    turned = 0
    for i in range(TILE):
        fresh, stale = new[i * TILE : i * TILE + TILE], old[i * TILE : i * TILE + TILE]
        news = 0
        for k in range(TILE):
            news |= fresh[k] ^ stale[k]
        if news == 0:
            continue
        total, state = log_odds[top + i, left : left + TILE], occupancy[top + i, left : left + TILE]
        for k in range(TILE):
            value = np.int16(total[k] + fresh[k] - stale[k])
            total[k] = value
            now = np.int8(100 if value > 0 else (0 if value < 0 else -1))
            turned |= now ^ state[k]
            state[k] = now
    return turned != 0


@kernel
def use_scans(robots, poses, ranges, directions, mount, limits, step, frame, model, motion, scratch, team):
    """Take one scan of each robot in; return how many were used (the others have hardly moved).

    Args:
        robots: int64 (m,), rows of the team. poses: (m, 3) of the bodies. ranges: (m, rays) [m]. directions: (rays, 2)
            unit vectors in the frame of the sensor. mount: (3,), the sensor on the body.
        limits: range of the sensor, of believed returns, of free space without a return [m].
        motion: least driving [m] and turning [rad] since the last scan that was used.
        scratch: uint8 (rows, columns), all 0 before and after.
        team: own, log_odds, occupancy, seen, dirty, changed, version and mapped_pose of all robots.
    """
    own, log_odds, occupancy, seen, dirty, changed, version, mapped_pose = team
    box = np.empty(4, np.int64)
    used = 0
    for k in range(robots.size):
        i = robots[k]
        pose, last = poses[k], mapped_pose[i]
        turned = abs((pose[2] - last[2] + math.pi) % (2.0 * math.pi) - math.pi)
        if math.hypot(pose[0] - last[0], pose[1] - last[1]) < motion[0] and turned < motion[1]:
            continue
        last[0], last[1], last[2] = pose[0], pose[1], pose[2]
        box[0], box[1], box[2], box[3] = scratch.shape[0], -1, scratch.shape[1], -1
        mark_scan(scratch, box, frame, pose, mount, directions, ranges[k], limits[0], limits[1], limits[2])
        if use_marks(
            scratch, box, own[i], log_odds[i], occupancy[i], seen[i], dirty[i], changed[i], version[i] + 1, step, model
        ):
            version[i] += 1
        used += 1
    return used


@kernel
def publish_tiles(robot, own, dirty, slots, clock, store, store_version, free):
    """Copy a robot's changed tiles into free slots of the store; return how many.

    Args:
        own: int8 (rows, columns). dirty: uint8 (tiles,). slots: int32 (robots, robots, tiles): holder, origin, tile.
        clock: int64 (robots, robots): newest publication of an origin that a holder has.
        store, store_version: int8 (slots, 1024), int64 (slots,). free: int32, slots to use, in this order.
    """
    count = 0
    per_row = own.shape[1] // TILE
    for tile in range(dirty.size):
        if dirty[tile]:
            slot = free[count]
            count += 1
            dirty[tile] = 0
            top, left = tile // per_row * TILE, tile % per_row * TILE
            for i in range(TILE):
                for k in range(TILE):
                    store[slot, i * TILE + k] = own[top + i, left + k]
            store_version[slot] = clock[robot, robot] + 1
            slots[robot, robot, tile] = slot
    if count:
        clock[robot, robot] += 1
    return count


@kernel
def take_origin(holder, giver, origin, slots, clock, store, store_version, log_odds, occupancy, changed, version):
    """Let a holder take the newer tiles of one origin from a giver; return how many tiles it took."""
    count = 0
    turned = False
    for tile in range(slots.shape[2]):
        new, old = slots[giver, origin, tile], slots[holder, origin, tile]
        if new != old and store_version[new] > store_version[old]:
            count += 1
            slots[holder, origin, tile] = new
            if take_tile(store[new], store[old], log_odds[holder], occupancy[holder], tile):
                changed[holder, tile] = version[holder] + 1
                turned = True
    clock[holder, origin] = clock[giver, origin]
    if turned:
        version[holder] += 1
    return count


@kernel
def exchange(hears, before, order, slots, clock, store, store_version, log_odds, occupancy, changed, version, taken):
    """Let every robot take, at once, what those it hears held before this round.

    Of each origin a robot takes from whoever had the newest. Robots with old news go first: whom they read has
    fresher news and so comes later, unchanged until then; nothing has to be copied to make the round simultaneous.

    Args:
        hears: bool (robots, robots), row i: whom robot i hears.
        before: int64 (robots, robots), a copy of the clock.
        order: int64 (robots, robots), column o: the robots by rising clock of origin o.
        taken: int64 (robots,), set to the number of tiles that each took.
    """
    n = hears.shape[0]
    for robot in range(taken.size):
        taken[robot] = 0
    for origin in range(n):
        for k in range(n):
            holder = order[k, origin]
            giver = holder
            if holder != origin:
                for j in range(n):
                    if hears[holder, j] and before[j, origin] > before[giver, origin]:
                        giver = j
            if giver != holder:
                taken[holder] += take_origin(
                    holder, giver, origin, slots, clock, store, store_version, log_odds, occupancy, changed, version
                )
