"""Choice of a velocity among walls and moving robots that choose theirs in the same way.

References:
    J. van den Berg, M. Lin, D. Manocha: Reciprocal velocity obstacles for real-time multi-agent navigation. ICRA 2008.
"""

import math

from covey.kernel import kernel
from covey.planning.obstacles import AGE, HEADING, VX, VY, X, Y

WALL_RADIUS, KEEP, HORIZON, WALL_HORIZON, LEFT_COST, TURN_COST = range(6)
"""Places in the array of an avoidance: radius of the robot's disc for walls [m], distance to keep from the centre of
another robot [m], horizon for robots [s], horizon for walls [s], cost of passing on the left by a right angle, half the
cost of turning around."""
DIRECTIONS = 32
SPEEDS = 3


@kernel
def time_to_contact(px, py, vx, vy, radius):
    """Return when a point that moves with (vx, vy) comes within ``radius`` of (px, py); inf if never, 0 if inside."""
    closing = px * vx + py * vy
    gap = px * px + py * py - radius * radius
    if gap <= 0.0:
        return 0.0 if closing > 0.0 else math.inf
    speed2 = vx * vx + vy * vy
    root = closing * closing - speed2 * gap
    if closing <= 0.0 or root < 0.0 or speed2 == 0.0:
        return math.inf
    return (closing - math.sqrt(root)) / speed2


@kernel
def free_distance(points, count, ux, uy, radius):
    """Return how far a disc can move from the origin in direction (ux, uy) before it touches a point; inf: for ever."""
    best = math.inf
    for i in range(count):
        along = points[i, 0] * ux + points[i, 1] * uy
        if along <= 0.0:
            continue
        root = radius * radius - (points[i, 0] ** 2 + points[i, 1] ** 2 - along * along)
        if root > 0.0:
            best = min(best, max(along - math.sqrt(root), 0.0))
    return best


@kernel
def reciprocal_velocity(want_x, want_y, own_x, own_y, top_speed, goal_distance, points, count, tracks, params):
    """Return the velocity nearest to the desired one that avoids walls and other robots for some time.

    A robot does half of the avoidance for a moving robot and all of it for a standing one, and passes on the right.

    Args:
        want_x, want_y: desired velocity [m/s]. All vectors are in the body frame.
        own_x, own_y: present velocity [m/s].
        top_speed: largest speed [m/s].
        goal_distance: walls farther than this do not matter [m].
        points, count: wall points float64 (k, 2) [m] and the number of filled rows.
        tracks: float64 (k, 8) of `covey.planning.obstacles`.
        params: float64 (6,), see `WALL_RADIUS`.
    """
    wall_radius, keep, horizon = params[WALL_RADIUS], params[KEEP], params[HORIZON]
    wall_horizon, left_cost = params[WALL_HORIZON], params[LEFT_COST]
    want = math.hypot(want_x, want_y)
    course = math.atan2(want_y, want_x) if want > 0.0 else 0.0
    best, best_x, best_y = math.inf, 0.0, 0.0
    any_other, turning = False, params[TURN_COST]
    for k in range(tracks.shape[0]):
        if tracks[k, AGE] != math.inf and math.hypot(tracks[k, X], tracks[k, Y]) < 5.0:
            any_other = True
    for d in range(DIRECTIONS):
        turn = math.pi * ((d + 1) // 2) / (DIRECTIONS // 2) * (-1.0 if d % 2 else 1.0)
        ux, uy = math.cos(course + turn), math.sin(course + turn)
        side = left_cost * min(turn, math.pi - turn) / (0.5 * math.pi) if any_other and turn > 0.0 else 0.0
        free = -1.0  # not known yet
        for k in range(SPEEDS + 1):
            if k == SPEEDS and d > 0:
                continue
            speed = max(want, 0.3 * top_speed) * (1.0 - k / SPEEDS)
            vx, vy = speed * ux, speed * uy
            cost = math.hypot(vx - want_x, vy - want_y) / top_speed
            if speed > 0.0:
                cost += side + turning * (1.0 - ux)
            if cost >= best:
                continue
            if free < 0.0:
                free = free_distance(points, count, ux, uy, wall_radius)
            if free < goal_distance and free < wall_horizon * speed:
                cost += 2.0 * (1.0 - free / (wall_horizon * speed))
            if any_other and cost < best:
                for j in range(tracks.shape[0]):
                    if tracks[j, AGE] == math.inf:
                        continue
                    px, py, ox, oy = tracks[j, X], tracks[j, Y], tracks[j, VX], tracks[j, VY]
                    share = 0.5 if ox * ox + oy * oy > 0.01 else 1.0
                    rx = (vx - own_x) / share + own_x - ox
                    ry = (vy - own_y) / share + own_y - oy
                    contact = time_to_contact(px, py, rx, ry, keep)
                    if contact < horizon:
                        cost += 0.35 * (horizon / max(contact, 0.15) - 1.0)
            if cost < best:
                best, best_x, best_y = cost, vx, vy
    return best_x, best_y


@kernel
def velocity_in_lane(dx, dy, scale, own_x, own_y, top_speed, goal_distance, points, count, tracks, params):
    """Return `lane` for a point (dx, dy) [m]; if that is 0, `reciprocal_velocity` for ``scale`` [1/s] x the point."""
    shift = lane(dx, dy, points, count, tracks, params[WALL_RADIUS], params[KEEP])
    if shift > 0.0:
        return shift, 0.0, 0.0
    vx, vy = reciprocal_velocity(
        scale * dx, scale * dy, own_x, own_y, top_speed, goal_distance, points, count, tracks, params
    )
    return 0.0, vx, vy


@kernel
def lane(dx, dy, points, count, tracks, wall_radius, keep):
    """Return how far to the right [m] of a point (dx, dy) ahead to aim, because of oncoming robots.

    In a passage not much wider than two robots, any robot in sight counts.

    Args:
        dx, dy: the point [m]. All vectors are in the body frame.
        points, count: wall points float64 (k, 2) [m] and the number of filled rows.
        tracks: float64 (k, 8) of `covey.planning.obstacles`.
        wall_radius: distance to keep from walls [m].
        keep: distance to keep from the centre of another robot [m].
    """
    length = math.hypot(dx, dy)
    if length < 1e-6:
        return 0.0
    ux, uy = dx / length, dy / length
    shift, left, right = 0.0, math.inf, math.inf
    for i in range(count):
        along, across = points[i, 0] * ux + points[i, 1] * uy, points[i, 1] * ux - points[i, 0] * uy
        if abs(along - length) < 0.5 * keep:
            if across > 0.0:
                left = min(left, across)
            else:
                right = min(right, -across)
    passage = left + right < 3.0 * keep
    for k in range(tracks.shape[0]):
        if tracks[k, AGE] == math.inf:
            continue
        if passage and math.hypot(tracks[k, X], tracks[k, Y]) < 6.0:
            shift = 0.5 * keep + 0.05
            break
        along, across = tracks[k, X] * ux + tracks[k, Y] * uy, tracks[k, Y] * ux - tracks[k, X] * uy
        coming = tracks[k, VX] * ux + tracks[k, VY] * uy
        heading = math.cos(tracks[k, HEADING]) * ux + math.sin(tracks[k, HEADING]) * uy
        opposed = coming < -0.1 or (coming < 0.1 and heading < -0.5)
        if opposed and -0.2 < along < 6.0 and -1.5 * keep < across < 1.5 * keep:
            shift = max(shift, 0.5 * keep + 0.05)
    while shift > 0.0:
        x, y = dx + shift * uy, dy - shift * ux
        free = True
        for i in range(count):
            if (points[i, 0] - x) ** 2 + (points[i, 1] - y) ** 2 < wall_radius * wall_radius:
                free = False
                break
        if free:
            return shift
        shift -= 0.06
    return 0.0
