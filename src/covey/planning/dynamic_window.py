"""The dynamic window: speeds that can be reached in one step, and from which the robot can still brake without contact.

References:
    D. Fox, W. Burgard, S. Thrun: The dynamic window approach to collision avoidance. IEEE Robotics and Automation
    Magazine 4(1), 1997.
    D. Zhou, Z. Wang, S. Bandyopadhyay, M. Schwager: Fast, on-line collision avoidance for dynamic vehicles using
    buffered Voronoi cells. IEEE Robotics and Automation Letters 2(2), 2017 (each robot keeps to its half of the gap).
"""

import math

from covey.kernel import kernel
from covey.planning.obstacles import AGE, X, Y

MIN_SPEED, MAX_SPEED, MAX_TURN, ACCELERATION, DECELERATION, TURN_ACCELERATION = range(6)
PERIOD, REACTION, RADIUS, WALL_MARGIN, ROBOT_MARGIN, MAX_WHEEL, SEMI_AXIS = range(6, 13)
"""Places in the array of limits [m, s, rad]: speeds, accelerations, control period, time until a command acts, radius
of the body's disc, margins to walls and to other robots, wheel speed (0: unlimited) and wheel semi-axis."""
V_SAMPLES, W_SAMPLES = 7, 15
PATH_SAMPLES = 6


@kernel
def braking_path(v, w, v0, limits, out):
    """Fill ``out`` (k, 2) with points of the path until the robot stands, if (v, w) is commanded for one more step.

    The path is the arc of (v, w). Its length is the distance driven at ``v0`` [m/s] until the command acts, during the
    step, and while braking.
    """
    length = (
        abs(v0) * limits[REACTION] + 0.5 * (abs(v0) + abs(v)) * limits[PERIOD] + v * v / (2.0 * limits[DECELERATION])
    )
    sign = -1.0 if v < 0.0 or (v == 0.0 and v0 < 0.0) else 1.0
    curvature = w / v if abs(v) > 1e-3 else 0.0
    curvature = min(max(curvature, -20.0), 20.0)
    for i in range(out.shape[0]):
        s = sign * length * (i + 1) / out.shape[0]
        if abs(curvature) < 1e-6:
            out[i, 0], out[i, 1] = s, 0.0
        else:
            out[i, 0] = math.sin(curvature * s) / curvature
            out[i, 1] = (1.0 - math.cos(curvature * s)) / curvature
    return length


@kernel
def is_safe(way, points, count, tracks, limits):
    """Return True if a braking path keeps clear of wall points and stays on its own side of every other robot.

    If the robot is already closer than the margin, the path must not come closer.
    """
    wall = limits[RADIUS] + limits[WALL_MARGIN]
    for i in range(count):
        px, py = points[i, 0], points[i, 1]
        now = math.sqrt(px * px + py * py)
        allowed = min(wall, now) - 1e-4
        for k in range(way.shape[0]):
            dx, dy = px - way[k, 0], py - way[k, 1]
            if dx * dx + dy * dy < allowed * allowed:
                return False
    for j in range(tracks.shape[0]):
        if tracks[j, AGE] == math.inf:
            continue
        px, py = tracks[j, X], tracks[j, Y]
        distance = math.sqrt(px * px + py * py)
        if distance < 1e-6:
            return False
        mine = max(0.5 * distance - limits[RADIUS] - limits[ROBOT_MARGIN], 1e-3)
        for k in range(way.shape[0]):
            if (way[k, 0] * px + way[k, 1] * py) / distance > mine:
                return False
    return True


@kernel
def dynamic_window(v0, w0, want_v, want_w, points, count, tracks, limits, way):
    """Return the safe command (v, w) of the dynamic window that is nearest to a desired one.

    Args:
        v0, w0: present speed and turn rate [m/s, rad/s].
        want_v, want_w: desired speed and turn rate [m/s, rad/s].
        points, count: wall points in the body frame, float64 (k, 2) [m], and the number of filled rows.
        tracks: other robots, float64 (k, 8) of `covey.planning.obstacles`.
        limits: float64 (13,), see `MIN_SPEED`.
        way: float64 (k, 2), workspace.

    Returns:
        v, w, and whether a safe command was found; if not, the command brakes as hard as possible. A robot that stands
        then may still turn: on the spot its disc comes nearer to nothing.
    """
    dt = limits[PERIOD]
    v_low = max(limits[MIN_SPEED], v0 - (limits[DECELERATION] if v0 > 0.0 else limits[ACCELERATION]) * dt)
    v_high = min(limits[MAX_SPEED], v0 + (limits[ACCELERATION] if v0 >= 0.0 else limits[DECELERATION]) * dt)
    w_low, w_high = (
        max(-limits[MAX_TURN], w0 - limits[TURN_ACCELERATION] * dt),
        min(limits[MAX_TURN], w0 + limits[TURN_ACCELERATION] * dt),
    )
    v_low, v_high, w_low, w_high = min(v_low, v_high), max(v_low, v_high), min(w_low, w_high), max(w_low, w_high)
    v_aim, w_aim = min(max(want_v, v_low), v_high), min(max(want_w, w_low), w_high)
    best, best_v, best_w, found = math.inf, 0.0, 0.0, False
    for i in range(V_SAMPLES + 1):
        v_sample = v_aim if i == 0 else v_low + (v_high - v_low) * (i - 1) / (V_SAMPLES - 1)
        for k in range(W_SAMPLES + 1):
            v, w = v_sample, w_aim if k == 0 else w_low + (w_high - w_low) * (k - 1) / (W_SAMPLES - 1)
            if limits[MAX_WHEEL] > 0.0:
                wheel = abs(v) + abs(w) * limits[SEMI_AXIS]
                if wheel > limits[MAX_WHEEL]:
                    v, w = v * limits[MAX_WHEEL] / wheel, w * limits[MAX_WHEEL] / wheel
            cost = abs(v - want_v) / limits[MAX_SPEED] + 0.3 * abs(w - want_w) / limits[MAX_TURN]
            if cost >= best:
                continue
            braking_path(v, w, v0, limits, way)
            if is_safe(way, points, count, tracks, limits):
                best, best_v, best_w, found = cost, v, w, True
    if not found:
        v = max(v0 - limits[DECELERATION] * dt, 0.0) if v0 > 0.0 else min(v0 + limits[DECELERATION] * dt, 0.0)
        if abs(v0) > 1e-3:
            return v, w0 * v / v0, False
        most = (
            limits[MAX_WHEEL] / limits[SEMI_AXIS] if limits[MAX_WHEEL] > 0.0 and limits[SEMI_AXIS] > 0.0 else math.inf
        )
        return v, min(max(w_aim, -most), most), False
    return best_v, best_w, True


@kernel
def holonomic_window(v0x, v0y, want_x, want_y, points, count, tracks, limits, way):
    """Return the safe velocity nearest to a desired one, for a robot that drives in any direction.

    Args as in `dynamic_window`, velocities in the body frame [m/s].

    Returns:
        vx, vy, and whether a safe velocity was found; if not, the command brakes as hard as possible.
    """
    dt, v0 = limits[PERIOD], math.hypot(v0x, v0y)
    for k in range(5):
        vx, vy = want_x * (1.0 - 0.25 * k), want_y * (1.0 - 0.25 * k)
        change = math.hypot(vx - v0x, vy - v0y)
        most = dt * (limits[ACCELERATION] if math.hypot(vx, vy) > v0 else limits[DECELERATION])
        if change > most:
            vx, vy = v0x + (vx - v0x) * most / change, v0y + (vy - v0y) * most / change
        v = math.hypot(vx, vy)
        length = v0 * limits[REACTION] + 0.5 * (v0 + v) * dt + v * v / (2.0 * limits[DECELERATION])
        for i in range(way.shape[0]):
            share = length * (i + 1) / way.shape[0]
            way[i, 0], way[i, 1] = (share * vx / v, share * vy / v) if v > 0.0 else (0.0, 0.0)
        if is_safe(way, points, count, tracks, limits):
            return vx, vy, True
    scale = max(v0 - limits[DECELERATION] * dt, 0.0) / v0 if v0 > 0.0 else 0.0
    return v0x * scale, v0y * scale, False
