"""Contacts of bodies, made of discs, with wall cells and with each other.

A wall is the union of its cell squares, and a disc touches the nearest point of a square. Each body moves while all
others stand still. It is pushed along the normal of its deepest overlap until no overlap is left, so it slides.
"""

import math

import numpy as np

from covey.kernel import kernel
from covey.physics.motion import ARM, RADIUS

TOLERANCE_M = 1e-4
"""Overlap [m] that a pose may keep."""

_TOUCH = 1e-9
_PUSHES = 12
_BURIED_M = 2e-3  # a pose with an overlap that may be kept is never pushed this far


@kernel(inline=True)
def cell_at(frame, x, y):
    """Return column and row of the cell at a world point x, y [m]."""
    u, v = frame[2] * (x - frame[0]) + frame[3] * (y - frame[1]), frame[2] * (y - frame[1]) - frame[3] * (x - frame[0])
    return math.floor(u / frame[4]), math.floor(v / frame[4])


@kernel(inline=True)
def free_radius(skip, frame, x, y):
    """Return a lower bound [m] of the distance from a world point x, y [m] to the nearest wall; may be negative."""
    column, row = cell_at(frame, x, y)
    if row < 0 or column < 0 or row >= skip.shape[1] or column >= skip.shape[2]:
        return -1.0
    cells = min(
        min(skip[0, row, column], skip[1, row, column]),
        min(skip[2, row, column], skip[3, row, column]),
    )
    return (float(cells) - 1.0) * frame[4]


@kernel(inline=True)
def nearest_wall(skip, frame, x, y, reach):
    """Return distance, x, y [m] of the wall point nearest to x, y; distance inf if none is nearer than ``reach``."""
    u, v = frame[2] * (x - frame[0]) + frame[3] * (y - frame[1]), frame[2] * (y - frame[1]) - frame[3] * (x - frame[0])
    side = frame[4]
    first_row, last_row = max(0, math.floor((v - reach) / side)), math.floor((v + reach) / side)
    first, last = max(0, math.floor((u - reach) / side)), math.floor((u + reach) / side)
    last_row, last = min(last_row, skip.shape[1] - 1), min(last, skip.shape[2] - 1)
    best, at_u, at_v = reach * reach, np.inf, np.inf
    for row in range(first_row, last_row + 1):
        near_v = min(max(v, row * side), (row + 1) * side)
        dv = near_v - v
        if dv * dv >= best:
            continue
        column = first
        while column <= last:
            free = int(skip[0, row, column])
            if free > 0:
                column += free
                continue
            near_u = min(max(u, column * side), (column + 1) * side)
            du = near_u - u
            if du * du + dv * dv < best:
                best, at_u, at_v = du * du + dv * dv, near_u, near_v
            column += 1
    if at_u == np.inf:
        return np.inf, 0.0, 0.0
    return (
        math.sqrt(best),
        frame[0] + frame[2] * at_u - frame[3] * at_v,
        frame[1] + frame[3] * at_u + frame[2] * at_v,
    )


@kernel
def wall_overlap(place, bodies, i, x, y, heading, reach):
    """Return wall overlap [m], contact point and disc centre of the disc of body i that is deepest in a wall.

    The overlap is negative for a gap, and -inf if no wall is within ``reach`` [m] of any disc.
    """
    skip, frame = place
    discs, count, limits = bodies
    c, s = 1.0, 0.0
    if limits[i, ARM] > 0.0:
        c, s = math.cos(heading), math.sin(heading)
    deepest, at_x, at_y, centre_x, centre_y = -np.inf, 0.0, 0.0, x, y
    for k in range(count[i]):
        dx, dy = x + c * discs[i, k, 0] - s * discs[i, k, 1], y + s * discs[i, k, 0] + c * discs[i, k, 1]
        distance, px, py = nearest_wall(skip, frame, dx, dy, discs[i, k, 2] + reach)
        overlap = discs[i, k, 2] - distance
        if overlap > deepest:
            deepest, at_x, at_y, centre_x, centre_y = overlap, px, py, dx, dy
    return deepest, at_x, at_y, centre_x, centre_y


@kernel(inline=True)
def body_overlap(bodies, pose, i, x, y, heading, j, reach):
    """Return overlap [m] of bodies i and j, contact point and both disc centres, for the two discs that overlap most.

    Body i is at the given pose. The overlap is negative for a gap, and -inf if the gap is wider than ``reach`` [m].
    """
    discs, count, limits = bodies
    far = limits[i, RADIUS] + limits[j, RADIUS] + reach
    other_x, other_y = pose[j, 0], pose[j, 1]
    gap_x, gap_y = other_x - x, other_y - y
    if gap_x * gap_x + gap_y * gap_y >= far * far:
        return -np.inf, 0.0, 0.0, x, y, other_x, other_y
    c, s, other_c, other_s = 1.0, 0.0, 1.0, 0.0
    if limits[i, ARM] > 0.0:
        c, s = math.cos(heading), math.sin(heading)
    if limits[j, ARM] > 0.0:
        other_c, other_s = math.cos(pose[j, 2]), math.sin(pose[j, 2])
    deepest, ax, ay, bx, by, radius = -np.inf, x, y, other_x, other_y, 0.0
    for k in range(count[i]):
        px, py = x + c * discs[i, k, 0] - s * discs[i, k, 1], y + s * discs[i, k, 0] + c * discs[i, k, 1]
        for m in range(count[j]):
            qx = other_x + other_c * discs[j, m, 0] - other_s * discs[j, m, 1]
            qy = other_y + other_s * discs[j, m, 0] + other_c * discs[j, m, 1]
            overlap = discs[i, k, 2] + discs[j, m, 2] - math.hypot(qx - px, qy - py)
            if overlap > deepest:
                deepest, ax, ay, bx, by, radius = overlap, px, py, qx, qy, discs[i, k, 2]
    if deepest < -reach:
        return -np.inf, 0.0, 0.0, ax, ay, bx, by
    distance = math.hypot(bx - ax, by - ay)
    share = radius / distance if distance > 0.0 else 0.0
    return deepest, ax + share * (bx - ax), ay + share * (by - ay), ax, ay, bx, by


@kernel(inline=True)
def deepest_overlap(place, bodies, pose, near, i, x, y, heading, walls):
    """Return overlap [m], push direction, contact point and partner of the deepest overlap of body i at a pose.

    ``near`` is (pairs, links, first): ``links[first[i]:first[i + 1]]`` are the rows of ``pairs`` with body i.
    The partner is a row of ``pairs``, -1 for a wall, -2 for nothing.
    """
    pairs, links, first = near
    deepest, nx, ny, at_x, at_y, partner = 0.0, 0.0, 0.0, 0.0, 0.0, -2
    if walls:
        overlap, px, py, ax, ay = wall_overlap(place, bodies, i, x, y, heading, 0.0)
        if overlap > deepest:
            deepest, nx, ny, at_x, at_y, partner = overlap, ax - px, ay - py, px, py, -1
    for k in range(first[i], first[i + 1]):
        p = links[k]
        j = pairs[p, 0] + pairs[p, 1] - i
        overlap, px, py, ax, ay, bx, by = body_overlap(bodies, pose, i, x, y, heading, j, 0.0)
        if overlap > deepest:
            deepest, nx, ny, at_x, at_y, partner = overlap, ax - bx, ay - by, px, py, p
    length = math.hypot(nx, ny)
    if length > 0.0:
        nx, ny = nx / length, ny / length
    return deepest, nx, ny, at_x, at_y, partner


@kernel(inline=True)
def push_out(place, bodies, pose, near, i, x, y, heading, walls, touch):
    """Return x, y [m] of body i after it is pushed out of walls and other bodies, and the remaining overlap [m].

    Contacts are written to ``touch`` as 1 and x, y [m] of the point: in row i for a wall, n + p for row p of the pairs.
    """
    left = 0.0
    for pushes in range(_PUSHES + 1):
        left, nx, ny, at_x, at_y, partner = deepest_overlap(place, bodies, pose, near, i, x, y, heading, walls)
        if left <= _TOUCH or pushes == _PUSHES:
            break
        row = i if partner == -1 else len(pose) + partner
        touch[row, 0], touch[row, 1], touch[row, 2] = 1.0, at_x, at_y
        if nx == 0.0 and ny == 0.0:
            break
        x, y = x + left * nx, y + left * ny
    return x, y, left


@kernel(inline=True)
def move(place, bodies, pose, near, i, goal, shift, walls, touch):
    """Move body i towards a goal pose (x, y, heading), among walls and other bodies; return True if it gets there.

    The body is placed at the goal and pushed out of overlaps. If that fails, it tries to move without turning, then to
    turn on the spot, and otherwise stays. So a body that starts without overlap never overlaps by more than
    `TOLERANCE_M`. A body that starts inside a wall or another body moves out step by step.

    Args:
        shift: the largest displacement [m] allowed, contacts included.
    """
    x, y, heading = pose[i, 0], pose[i, 1], pose[i, 2]
    for attempt in range(4):
        if bodies[2][i, ARM] == 0.0 and (attempt == 1 or attempt == 2):
            continue
        aim_x, aim_y = (x, y) if attempt >= 2 else (goal[0], goal[1])
        aim_heading = heading if attempt % 2 == 1 else goal[2]
        to_x, to_y, left = push_out(place, bodies, pose, near, i, aim_x, aim_y, aim_heading, walls, touch)
        far = math.hypot(to_x - x, to_y - y)
        if attempt < 3 and left <= TOLERANCE_M and far <= shift:
            pose[i, 0], pose[i, 1], pose[i, 2] = to_x, to_y, aim_heading
            return attempt == 0 and to_x == goal[0] and to_y == goal[1]
        if attempt == 3 and far > _BURIED_M:
            pose[i, 0], pose[i, 1] = x + (to_x - x) * min(1.0, shift / far), y + (to_y - y) * min(1.0, shift / far)
    return False
