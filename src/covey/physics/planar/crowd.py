"""One control step of a team in the plane: all substeps in one compiled call."""

import math

import numpy as np

from covey.kernel import bare, kernel
from covey.physics.motion import ARM, MAX_SPEED, MAX_TURN, RADIUS, SMALLEST_DISC, arc, length, respond, saturate, sinc
from covey.physics.planar.contacts import TOLERANCE_M, body_overlap, cell_at, free_radius, move, wall_overlap

UNSEEN = -2
"""No cell, see `advance`."""

HYSTERESIS_M = 2e-3
"""A contact ends when the gap is wider than this [m]."""

_APART = math.cos(math.radians(10.0))  # wall points closer in direction than this count as one contact
_NEAR, _FAR = math.radians(9.9), math.radians(10.1)  # between these, and a turn less, the cosine is compared
_SLIP = 1.05
"""Largest displacement of a body in contact, as a multiple of the distance that it drives."""


@kernel
def advance(
    skip,
    frame,
    count,
    commands,
    partners,
    wanted,
    trace,
    kinematics,
    limits,
    delay,
    discs,
    past,
    pose,
    twist,
    drive,
    halted,
    world_id,
    distance,
    bearing,
    wall_contact,
    order,
    goals,
    cell,
    clear,
    feels,
    clock,
    dt,
    substeps,
):
    """Advance all robots by ``substeps`` of ``dt`` [s] in place; return the contacts that begin, and those that last.

    If a command is not finite, nobody moves.

    Robots that can reach neither a wall nor another robot in this step simply follow their arcs. The others advance
    substep by substep, in the order of the team; while one moves, the rest stand still.

    Args:
        partners: int64 (m, 2), pairs i < j of robots in contact, sorted by i.
        wanted: uint8 (substeps,); if ``wanted[k]``, the poses after substep k are written to ``trace[k, 0]``.
        cell, clear: int64 and float64 (n,), the cell in which each robot was seen last, and its `free_radius` there;
            `UNSEEN` for none, and after the walls have changed.
        feels: uint8 (1,), whether all contact points are listed; else only the last one of each robot, with substep -1.

    Returns:
        the first robot whose command is not finite, -1 for none; and None if nobody touches anything, else
        float64 (m, 6): kind (0 wall, 1 robot), robot, other (-1 for a wall), substep, x, y [m] of each new contact;
        float64 (k, 3): substep, robot, and bearing [rad] in its body frame of each contact point; and ``partners``
        for the next call.
    """
    n = pose.shape[0]
    for i in range(n):
        if not (math.isfinite(commands[i, 0]) and math.isfinite(commands[i, 1]) and math.isfinite(commands[i, 2])):
            return i, None
    pose, twist, drive, goals, commands = bare(pose), bare(twist), bare(drive), bare(goals), bare(commands)
    halted, distance, bearing, wall_contact = bare(halted), bare(distance), bare(bearing), bare(wall_contact)
    limits, trace, wanted = bare(limits), bare(trace), bare(wanted)
    team = (bare(kinematics), limits, bare(delay), bare(past), clock, dt)
    place, bodies = (bare(skip), bare(frame)), (bare(discs), bare(count), limits)
    reach = np.empty(n)
    for i in range(n):
        bearing[i] = np.nan
        reach[i] = _prepare(team, i, halted, commands, drive, twist, goals, substeps)
    _see(place, pose, bare(cell), bare(clear))
    pairs = find_pairs(pose, limits, reach, world_id, partners, order)
    links, first = link(pairs, n)
    busy, size = np.empty(n, np.int64), np.int64(0)  # a literal 0 would cause a second compilation
    for i in range(n):
        if clear[i] - limits[i, RADIUS] - reach[i] - HYSTERESIS_M > 0.0:
            wall_contact[i] = 0
            if first[i] == first[i + 1]:
                _roam(team, i, goals, substeps, pose, twist, drive, halted, distance, wanted, trace)
                continue
        busy[size] = i
        size += 1
    if size == 0:  # so there are no pairs either
        return np.int64(-1), None
    touch = np.empty((n + len(pairs), 3))
    for b in range(size + len(pairs)):
        touch[busy[b] if b < size else n + b - size, 0] = 0.0
    events, begun = np.empty(((size + len(pairs)) * (substeps // 2 + 1), 6)), 0
    felt, feeling = np.empty((size + 2 * len(pairs), 3)), np.int64(0)
    for k in range(substeps):
        near = (bare(pairs), bare(links), bare(first))
        moving = (pose, twist, drive, goals, halted, distance)
        _mingle(team, place, bodies, near, moving, bare(touch), bare(busy), size, k, wanted, trace)
        begun = _note(place, bodies, pairs, touch, wall_contact, busy, size, pose, k, events, begun)
        felt, feeling = _feel(
            place, bodies, pairs, touch, wall_contact, busy, size, pose, bearing, feels[0] > 0, k, felt, feeling
        )
    if not feels[0]:
        felt, feeling = _last_felt(busy, size, bearing)
    lasting = _partners(pairs, n)
    if begun + feeling + len(lasting) == 0:  # None costs less than empty arrays on the way to Python
        return np.int64(-1), None
    return np.int64(-1), (events[:begun], felt[:feeling], lasting)


@kernel
def _see(place, pose, cell, clear):
    """Write the cell in which each robot is, and `free_radius` there if it has changed.

    The walls around a robot lie apart in memory from those around the next one, so most of the time goes into waiting
    for it. The second loop waits for the memory of many robots at once.
    """
    skip, frame = place
    moved, size = np.empty(len(pose), np.int64), np.int64(0)
    for i in range(len(pose)):
        column, row = cell_at(frame, pose[i, 0], pose[i, 1])
        is_inside = (row >= 0) & (column >= 0) & (row < skip.shape[1]) & (column < skip.shape[2])
        at = row * skip.shape[2] + column if is_inside else -1
        moved[size] = i
        size += at != cell[i]
        cell[i] = at
    for k in range(size):
        i = moved[k]
        clear[i] = free_radius(skip, frame, pose[i, 0], pose[i, 1])


@kernel(inline=True)
def _mingle(team, place, bodies, near, moving, touch, busy, size, k, wanted, trace):
    """Advance the robots in ``busy`` by substep k, one after another."""
    pose, twist, drive, goals, halted, distance = moving
    for b in range(size):
        i = busy[b]
        if not halted[i]:
            _jostle(team, place, bodies, near, touch, i, k, goals, pose, twist, drive, distance)
        if wanted[k]:
            _write(trace, k, i, pose[i, 0], pose[i, 1], pose[i, 2])


@kernel(inline=True)
def _write(trace, k, i, x, y, heading):
    trace[k, 0, i, 0], trace[k, 0, i, 1], trace[k, 0, i, 2] = x, y, heading


@kernel(inline=True)
def _prepare(team, i, halted, commands, drive, twist, goals, substeps):
    """Store the goal twist of robot i; return the largest distance [m] that any point of it can move in this step."""
    kinematics, limits, delay, past, clock, dt = team
    if halted[i]:
        _stop(drive, i)
        _stop(twist, i)
    vx, vy, turn = saturate(kinematics, limits, i, commands[i, 0], commands[i, 1], commands[i, 2])
    goals[i, 0], goals[i, 1], goals[i, 2] = vx, vy, turn
    if delay[i] > 0:
        depth = past.shape[1]
        for k in range(substeps if halted[i] else 0):
            _put(past, i, (clock + k) % depth, goals)
        vx, vy, turn = limits[i, MAX_SPEED], 0.0, limits[i, MAX_TURN]
    if halted[i]:
        return 0.0
    speed = max(length(vx, vy), length(drive[i, 0], drive[i, 1]))
    fastest = speed + max(abs(turn), abs(drive[i, 2])) * limits[i, ARM]
    return substeps * (_SLIP * dt * fastest + TOLERANCE_M)


@kernel(inline=True)
def _steer(team, i, k, goals, drive):
    """Set the drive twist of robot i for substep k of this step; return True if it is steady."""
    kinematics, limits, delay, past, clock, dt = team
    vx, vy, turn = goals[i, 0], goals[i, 1], goals[i, 2]
    if delay[i] > 0:
        depth = past.shape[1]
        _put(past, i, (clock + k) % depth, goals)
        t = (clock + k - delay[i]) % depth
        vx, vy, turn = past[i, t, 0], past[i, t, 1], past[i, t, 2]
    a, b, c = drive[i, 0], drive[i, 1], drive[i, 2]
    vx, vy, turn = respond(kinematics, limits, i, dt, a, b, c, vx, vy, turn)
    drive[i, 0], drive[i, 1], drive[i, 2] = vx, vy, turn
    return vx == a and vy == b and turn == c and delay[i] == 0


@kernel(inline=True)
def _roam(team, i, goals, substeps, pose, twist, drive, halted, distance, wanted, trace):
    """Advance robot i, which cannot touch anything, by all substeps; a steady twist is one arc."""
    dt = team[5]
    done = np.int64(0)
    while done < substeps:
        steady = halted[i] or _steer(team, i, done, goals, drive)
        vx, vy, turn = drive[i, 0], drive[i, 1], drive[i, 2]
        span = substeps - done if steady else 1
        x, y, heading = pose[i, 0], pose[i, 1], pose[i, 2]
        for k in range(span):
            if wanted[done + k]:
                px, py, angle = arc(x, y, heading, vx, vy, turn, (k + 1) * dt)
                _write(trace, done + k, i, px, py, angle)
        pose[i, 0], pose[i, 1], pose[i, 2] = arc(x, y, heading, vx, vy, turn, span * dt)
        distance[i] += span * dt * length(vx, vy)
        done += span
    twist[i, 0], twist[i, 1], twist[i, 2] = drive[i, 0], drive[i, 1], drive[i, 2]


@kernel(inline=True)
def _jostle(team, place, bodies, near, touch, i, k, goals, pose, twist, drive, distance):
    """Advance robot i by one substep among walls and other robots; set its twist to the actual motion."""
    limits, dt = team[1], team[5]
    _steer(team, i, k, goals, drive)
    vx, vy, turn = drive[i, 0], drive[i, 1], drive[i, 2]
    speed = length(vx, vy)
    furthest = dt * (speed + abs(turn) * limits[i, ARM])
    if speed == 0.0 and turn == 0.0:
        _stop(twist, i)
        return
    x, y, heading = pose[i, 0], pose[i, 1], pose[i, 2]
    parts = 1 + int(furthest / (0.5 * limits[i, SMALLEST_DISC]))
    walls = free_radius(place[0], place[1], x, y) <= limits[i, RADIUS] + _SLIP * furthest + TOLERANCE_M
    whole = True
    for _ in range(parts):
        goal = arc(pose[i, 0], pose[i, 1], pose[i, 2], vx, vy, turn, dt / parts)
        shift = (_SLIP * furthest + TOLERANCE_M) / parts
        whole &= move(place, bodies, pose, near, i, goal, shift, walls, touch)
    if whole:
        twist[i, 0], twist[i, 1], twist[i, 2] = vx, vy, turn
        distance[i] += speed * dt
        return
    dx, dy, turned = pose[i, 0] - x, pose[i, 1] - y, pose[i, 2] - heading
    turned -= 2.0 * math.pi * math.floor((turned + math.pi) / (2.0 * math.pi))
    c, s = math.cos(heading + 0.5 * turned), math.sin(heading + 0.5 * turned)
    chord = dt * sinc(0.5 * turned)
    twist[i, 0], twist[i, 1], twist[i, 2] = (c * dx + s * dy) / chord, (c * dy - s * dx) / chord, turned / dt
    distance[i] += math.hypot(dx, dy)


@kernel(inline=True)
def _note(place, bodies, pairs, touch, wall_contact, busy, size, pose, k, events, begun):
    """Record the contacts that begin in substep k, and end those with a gap; return the number of rows in ``events``.

    For a contact that lasts without a push, the nearest point is written to ``touch``; its first column stays 0.
    """
    n = len(pose)
    for b in range(size + len(pairs)):
        p = b - size
        row = busy[b] if p < 0 else n + p
        i, j = (row, -1) if p < 0 else (pairs[p, 0], pairs[p, 1])
        lasts, before = touch[row, 0] > 0.0, wall_contact[i] > 0 if p < 0 else pairs[p, 2] > 0
        if lasts and not before:
            events[begun, 0], events[begun, 1], events[begun, 2] = 0 if p < 0 else 1, i, j
            events[begun, 3], events[begun, 4], events[begun, 5] = k, touch[row, 1], touch[row, 2]
            begun += 1
        if before and not lasts:
            if p < 0:
                overlap, x, y, _, _ = wall_overlap(place, bodies, i, pose[i, 0], pose[i, 1], pose[i, 2], HYSTERESIS_M)
            else:
                overlap, x, y, _, _, _, _ = body_overlap(
                    bodies, pose, i, pose[i, 0], pose[i, 1], pose[i, 2], j, HYSTERESIS_M
                )
            lasts, touch[row, 1], touch[row, 2] = overlap > -HYSTERESIS_M, x, y
        if p < 0:
            wall_contact[i] = lasts
        else:
            pairs[p, 2] = lasts
    return begun


@kernel
def _feel(place, bodies, pairs, touch, wall_contact, busy, size, pose, bearing, feels, k, felt, feeling):
    """Write the bearings of the contacts of substep k, and clear ``touch``; if it ``feels``, append all points to
    ``felt``. Return ``felt`` and its row count."""
    n = len(pose)
    for b in range(size + len(pairs)):
        p = b - size
        row = busy[b] if p < 0 else n + p
        touch[row, 0] = 0.0
        if p < 0 and wall_contact[row] > 0:
            begin = feeling
            c, s = math.cos(pose[row, 2]), math.sin(pose[row, 2])
            if not feels:
                bearing[row] = _bearing(pose, row, c, s, touch[row, 1], touch[row, 2])
                continue
            felt, feeling = _felt(pose, row, c, s, touch[row, 1], touch[row, 2], k, felt, feeling)
            bearing[row] = felt[begin, 2]
            felt, feeling = _feel_walls(place, bodies, row, pose, c, s, k, felt, feeling, begin)
        for end in range(2 if p >= 0 and pairs[p, 2] > 0 else 0):
            i = pairs[p, 1 - end]
            c, s = math.cos(pose[i, 2]), math.sin(pose[i, 2])
            if not feels:
                bearing[i] = _bearing(pose, i, c, s, touch[row, 1], touch[row, 2])
                continue
            felt, feeling = _felt(pose, i, c, s, touch[row, 1], touch[row, 2], k, felt, feeling)
            bearing[i] = felt[feeling - 1, 2]
    return felt, feeling


@kernel
def _last_felt(busy, size, bearing):
    """Return a row of `advance` for each robot that has touched something, and how many there are."""
    felt, feeling = np.empty((size, 3)), np.int64(0)
    for b in range(size):
        i = busy[b]
        if not math.isnan(bearing[i]):
            felt[feeling, 0], felt[feeling, 1], felt[feeling, 2] = -1.0, i, bearing[i]
            feeling += 1
    return felt, feeling


@kernel
def _feel_walls(place, bodies, i, pose, c, s, k, felt, feeling, begin):
    """Append the wall points that body i touches, without those in nearly the direction of a row from ``begin`` on.

    ``c``, ``s``: cosine and sine of its heading.
    """
    skip, frame = place
    discs, count, _ = bodies
    side = frame[4]
    for d in range(count[i]):
        x = pose[i, 0] + c * discs[i, d, 0] - s * discs[i, d, 1]
        y = pose[i, 1] + s * discs[i, d, 0] + c * discs[i, d, 1]
        u = frame[2] * (x - frame[0]) + frame[3] * (y - frame[1])
        v = frame[2] * (y - frame[1]) - frame[3] * (x - frame[0])
        reach = discs[i, d, 2] + HYSTERESIS_M
        top, left = max(0, math.floor((v - reach) / side)), max(0, math.floor((u - reach) / side))
        for row in range(top, min(skip.shape[1] - 1, math.floor((v + reach) / side)) + 1):
            for column in range(left, min(skip.shape[2] - 1, math.floor((u + reach) / side)) + 1):
                if skip[0, row, column] > 0:
                    continue
                at_u = min(max(u, column * side), (column + 1) * side)
                at_v = min(max(v, row * side), (row + 1) * side)
                if (at_u - u) ** 2 + (at_v - v) ** 2 > reach * reach:
                    continue
                at_x = frame[0] + frame[2] * at_u - frame[3] * at_v
                at_y = frame[1] + frame[3] * at_u + frame[2] * at_v
                felt, feeling = _felt(pose, i, c, s, at_x, at_y, k, felt, feeling)
                for other in range(begin, feeling - 1):
                    off = abs(felt[other, 2] - felt[feeling - 1, 2])
                    if _FAR < off < 2.0 * math.pi - _FAR:
                        continue
                    if off < _NEAR or math.cos(off) > _APART:
                        feeling -= 1
                        break
    return felt, feeling


@kernel
def _felt(pose, i, c, s, x, y, k, felt, feeling):
    """Append a contact point x, y [m] of robot i in substep k; ``c``, ``s``: cosine and sine of its heading."""
    if feeling == len(felt):
        more = np.empty((2 * len(felt) + 8, 3))
        for r in range(len(felt)):
            more[r, 0], more[r, 1], more[r, 2] = felt[r, 0], felt[r, 1], felt[r, 2]
        felt = more
    felt[feeling, 0], felt[feeling, 1], felt[feeling, 2] = k, i, _bearing(pose, i, c, s, x, y)
    return felt, feeling + 1


@kernel
def _bearing(pose, i, c, s, x, y):
    """Return the direction [rad] in [-pi, pi] of a world point, in the body frame of robot i."""
    dx, dy = x - pose[i, 0], y - pose[i, 1]
    return math.atan2(c * dy - s * dx, c * dx + s * dy)


@kernel
def find_pairs(pose, limits, reach, world_id, partners, order):
    """Return the pairs of robots that can touch within their reaches, int64 (m, 3): i < j, and 1 if in contact, else 0.

    The search sweeps along x, world by world. ``order`` keeps the robots sorted by world and x between calls.
    ``partners``: see `advance`.
    """
    n = pose.shape[0]
    begin = np.zeros(n + 1, np.int64)
    for p in range(len(partners)):
        begin[partners[p, 0] + 1] += 1
    for i in range(n):
        begin[i + 1] += begin[i]
    order, pose, limits, reach, world_id = bare(order), bare(pose), bare(limits), bare(reach), bare(world_id)
    xs, ys, widest = np.empty(n), np.empty(n), 0.0  # in this order: neighbours in the sweep are neighbours in memory
    worlds = np.empty(n, np.int64)
    for i in range(n):
        widest = max(widest, limits[i, RADIUS] + reach[i])
    for a in range(n):
        i, b = order[a], a
        x, world = pose[i, 0], world_id[i]
        while b > 0 and (xs[b - 1] > x if worlds[b - 1] == world else worlds[b - 1] > world):
            order[b], xs[b], ys[b], worlds[b] = order[b - 1], xs[b - 1], ys[b - 1], worlds[b - 1]
            b -= 1
        order[b], xs[b], ys[b], worlds[b] = i, x, pose[i, 1], world
    most, end, last = widest + HYSTERESIS_M + widest, np.uint64(0), np.uint64(n)
    crowded, ends, count = np.empty(n, np.int64), np.empty(n, np.int64), np.int64(0)
    for a in range(n):  # few have somebody near, so pairs are made in a loop of its own
        first, near = np.uint64(a), 0
        while end < last and xs[end] - xs[first] <= most and worlds[end] == worlds[first]:
            end += np.uint64(1)
        for b in range(first + np.uint64(1), end):
            near += abs(ys[b] - ys[first]) <= most
        crowded[count], ends[count] = a, end
        count += near > 0
    pairs, size = np.empty((n, 3), np.int64), 0
    for c in range(count):
        pairs, size = _pair(crowded[c], ends[c], xs, ys, order, limits, reach, partners, begin, pairs, size)
    return pairs[:size]


@kernel
def _pair(a, end, xs, ys, order, limits, reach, partners, begin, pairs, size):
    """Append the pairs of the robot at place a of ``order`` with those behind it and before ``end``."""
    i = order[a]
    for b in range(a + 1, end):
        j, dx, dy = order[b], xs[b] - xs[a], ys[b] - ys[a]
        far = limits[i, RADIUS] + reach[i] + HYSTERESIS_M + limits[j, RADIUS] + reach[j]
        if dx * dx + dy * dy > far * far:
            continue
        if size == len(pairs):
            pairs = _grown(pairs)
        low, high = min(i, j), max(i, j)
        pairs[size, 0], pairs[size, 1], pairs[size, 2] = low, high, 0
        for k in range(begin[low], begin[low + 1]):
            if partners[k, 1] == high:
                pairs[size, 2] = 1
        size += 1
    return pairs, size


@kernel
def link(pairs, n):
    """Return (links, first): ``links[first[i]:first[i + 1]]`` are the rows of ``pairs`` with robot i."""
    first, links = np.zeros(n + 1, np.int64), np.empty(2 * len(pairs), np.int64)
    for p in range(len(pairs)):
        first[pairs[p, 0] + 1] += 1
        first[pairs[p, 1] + 1] += 1
    for i in range(n):
        first[i + 1] += first[i]
    at = first[:n].copy()
    for p in range(len(pairs)):
        for k in range(2):
            i = pairs[p, k]
            links[at[i]] = p
            at[i] += 1
    return links, first


@kernel
def _grown(pairs):
    more = np.empty((2 * len(pairs), 3), np.int64)
    for p in range(len(pairs)):
        more[p, 0], more[p, 1], more[p, 2] = pairs[p, 0], pairs[p, 1], pairs[p, 2]
    return more


@kernel
def _partners(pairs, n):
    """Return the pairs in contact, int64 (m, 2), sorted by their first robot."""
    at = np.zeros(n + 1, np.int64)
    for p in range(len(pairs)):
        at[pairs[p, 0] + 1] += pairs[p, 2] > 0
    for i in range(n):
        at[i + 1] += at[i]
    partners = np.empty((at[n], 2), np.int64)
    for p in range(len(pairs)):
        if pairs[p, 2] > 0:
            i = pairs[p, 0]
            partners[at[i], 0], partners[at[i], 1] = i, pairs[p, 1]
            at[i] += 1
    return partners


@kernel(inline=True)
def _stop(twist, i):
    twist[i, 0], twist[i, 1], twist[i, 2] = 0.0, 0.0, 0.0


@kernel(inline=True)
def _put(past, i, t, goals):
    past[i, t, 0], past[i, t, 1], past[i, t, 2] = goals[i, 0], goals[i, 1], goals[i, 2]
