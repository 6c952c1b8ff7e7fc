"""From a commanded body twist to motion: saturation, response of the drive, exact arcs.

References:
    Unicycle, saturation by the fastest wheel: M. Casini, A. Garulli: MARS, 2016. First-order response: the
    semi-implicit drag of MAES, v <- (v + dt F/m) / (1 + drag dt).
"""

import math

from covey.kernel import kernel

DIFFERENTIAL, UNICYCLE, HOLONOMIC = 0, 1, 2

# Columns of `TeamModel.limits`, one row per robot.
MAX_SPEED, MAX_TURN, MAX_WHEEL, TURNING_WHEEL, SEMI_AXIS = 0, 1, 2, 3, 4
ACCELERATION, DECELERATION, TURN_ACCELERATION, TAU, TURN_TAU = 5, 6, 7, 8, 9
RADIUS, ARM, SMALLEST_DISC = 10, 11, 12

_SETTLED = 1e-9


@kernel(inline=True)
def saturate(kinematics, limits, i, vx, vy, turn):
    """Limit a commanded twist (vx, vy [m/s], turn [rad/s], body frame) to one that robot i can follow; return it.

    Differential: v and turn are scaled together, which keeps the curvature, until |v|, |turn| and the speed of the
    faster wheel, |v| + |turn| b, are within their limits. Unicycle: v and turn are limited separately. Holonomic: the
    speed hypot(vx, vy) is scaled and the turn limited.
    """
    top, spin = limits[i, MAX_SPEED], limits[i, MAX_TURN]
    if kinematics[i] == DIFFERENTIAL:
        rim = abs(turn) * limits[i, SEMI_AXIS]
        wheel = limits[i, MAX_WHEEL]
        if 2.0 * rim > 0.01 * limits[i, TURNING_WHEEL]:
            wheel = min(wheel, limits[i, TURNING_WHEEL])
        scale = 1.0
        if abs(vx) > top:
            scale = top / abs(vx)
        if abs(turn) * scale > spin:
            scale = spin / abs(turn)
        if (abs(vx) + rim) * scale > wheel:
            scale = wheel / (abs(vx) + rim)
        return vx * scale, 0.0, turn * scale
    turn = min(max(turn, -spin), spin)
    if kinematics[i] == UNICYCLE:
        return min(max(vx, -top), top), 0.0, turn
    speed = math.hypot(vx, vy)
    scale = top / speed if speed > top else 1.0
    return vx * scale, vy * scale, turn


@kernel(inline=True)
def respond(kinematics, limits, i, dt, vx, vy, turn, goal_vx, goal_vy, goal_turn):
    """Return the twist of robot i's drive one substep of ``dt`` [s] after (vx, vy, turn), for a constant goal twist.

    The lag comes first: v <- (v + dt/tau goal) / (1 + dt/tau). The limits of acceleration come next; braking has a
    limit of its own. If the faster wheel would be too fast, the robot brakes as hard as it can, and its turn is
    limited to what the wheels can then do.
    """
    new_vx, new_vy, new_turn = goal_vx, goal_vy, goal_turn
    if limits[i, TAU] > 0.0:
        k = dt / limits[i, TAU]
        new_vx, new_vy = (vx + k * goal_vx) / (1.0 + k), (vy + k * goal_vy) / (1.0 + k)
        if abs(new_vx - goal_vx) < _SETTLED and abs(new_vy - goal_vy) < _SETTLED:
            new_vx, new_vy = goal_vx, goal_vy
    if limits[i, TURN_TAU] > 0.0:
        k = dt / limits[i, TURN_TAU]
        new_turn = (turn + k * goal_turn) / (1.0 + k)
        if abs(new_turn - goal_turn) < _SETTLED:
            new_turn = goal_turn
    dx, dy = new_vx - vx, new_vy - vy
    braking = dx * vx + dy * vy < 0.0
    most = dt * (limits[i, DECELERATION] if braking else limits[i, ACCELERATION])
    change = length(dx, dy)
    if change > most:
        new_vx, new_vy = vx + dx * most / change, vy + dy * most / change
    most = dt * limits[i, TURN_ACCELERATION]
    new_turn = min(max(new_turn, turn - most), turn + most)
    if kinematics[i] == DIFFERENTIAL:
        top = max(limits[i, MAX_WHEEL] - abs(new_turn) * limits[i, SEMI_AXIS], 0.0)
        if abs(new_vx) > top:
            slowest = min(abs(vx) - dt * limits[i, DECELERATION], abs(new_vx)) if vx * new_vx > 0.0 else 0.0
            if slowest > top:
                room = max(limits[i, MAX_WHEEL] - slowest, 0.0)
                new_turn = math.copysign(min(abs(new_turn), room / limits[i, SEMI_AXIS]), new_turn)
            new_vx = math.copysign(max(top, slowest), new_vx)
    return new_vx, new_vy, new_turn


@kernel(inline=True)
def arc(x, y, heading, vx, vy, turn, time):
    """Return the pose (x, y [m], heading [rad] in [-pi, pi)) after ``time`` [s] at a constant body twist.

    The chord of the arc has the length time |v| sin(a)/a with a = turn time / 2. For motion straight ahead it points
    along the mean heading.
    """
    half = 0.5 * turn * time
    chord = time * sinc(half)
    c, s = math.cos(heading + half), math.sin(heading + half)
    new = heading + turn * time
    if new >= math.pi or new < -math.pi:
        new -= 2.0 * math.pi * math.floor((new + math.pi) / (2.0 * math.pi))
        if new >= math.pi:
            new = -math.pi
    return x + chord * (c * vx - s * vy), y + chord * (s * vx + c * vy), new


@kernel(inline=True)
def length(x, y):
    """Return the length of a vector; the same number as `math.hypot`, sooner for one along an axis."""
    return abs(x) if y == 0.0 else math.hypot(x, y)


@kernel(inline=True)
def sinc(a):
    """Return sin(a)/a; a series keeps it accurate near zero."""
    if abs(a) > 0.05:
        return math.sin(a) / a
    q = a * a
    return 1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0))
