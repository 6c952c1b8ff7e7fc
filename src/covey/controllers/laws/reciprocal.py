"""Optimal reciprocal collision avoidance: each robot does half of what keeps each pair apart for some time."""

import math

import numpy as np

from covey.kernel import kernel

_SMALL = 1e-10


@kernel
def orca_velocity(
    position, velocity, wanted, apart_m, top_speed_m_s, horizon_s, period_s, walls, wall_m, wall_horizon_s
):
    """Return the velocities of ORCA, those nearest to the wanted ones in the half-planes of a robot, float64 (n, 2).

    The relative velocity of two robots that leads to a distance below ``apart_m`` within the horizon lies in the
    velocity obstacle, a cone cut off by a disc. Let u be the smallest change that takes the present one out of it, or
    just to its border from outside; each robot must change its velocity by at least u/2 in that direction. All robots
    must use the same velocities and distances. If everybody finds a velocity in its half-planes (``fits``), no two
    come nearer than ``apart_m`` while they keep it, up to the horizon. If not, a robot takes the one that breaks the
    half-planes of other robots least, and nothing is guaranteed; walls are kept in any case. Walls are half-planes
    here, e v >= -(d - D)/horizon with the unit vector e from the nearest point of each, not the velocity obstacles of
    segments of the paper: more cautious, and kept exactly.

    Args:
        position: centres [m], (n, 2).
        velocity: present velocities [m/s], (n, 2).
        wanted: velocities that a law wants [m/s], (n, 2).
        apart_m: smallest distance of two centres [m].
        top_speed_m_s: largest speed [m/s].
        horizon_s: time for which robots stay apart [s].
        period_s: control period, in which robots that are too near move apart [s].
        walls: both ends of each wall, x1, y1, x2, y2 [m], (m, 4).
        wall_m: smallest distance of a centre and a wall [m].
        wall_horizon_s: the time in which a robot may reach a wall [s], at least the period.

    Returns:
        velocity: float64 (n, 2) [m/s].
        fits: whether all half-planes of a robot hold, bool (n,).

    References:
        J. van den Berg, S. J. Guy, M. Lin, D. Manocha: Reciprocal n-body collision avoidance. Robotics Research, STAR
        70, 2011.
    """
    n, m = len(position), len(walls)
    found, fits = np.empty((n, 2)), np.ones(n, np.bool_)
    planes = np.empty((n + m, 4))  # a point of the border and the normal into what is allowed
    reach = apart_m + 2.0 * top_speed_m_s * horizon_s
    for i in range(n):
        count = 0
        for k in range(m):
            dx, dy = from_segment(position[i, 0], position[i, 1], walls[k])
            far = math.hypot(dx, dy)
            if far > 0.0 and far < wall_m + top_speed_m_s * wall_horizon_s:
                ex, ey = dx / far, dy / far
                limit = -max(far - wall_m, 0.0) / wall_horizon_s
                planes[count] = limit * ex, limit * ey, ex, ey
                count += 1
        hard = count
        for j in range(n):
            px, py = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1]
            if j == i or px * px + py * py >= reach * reach:
                continue
            vx, vy = velocity[i, 0] - velocity[j, 0], velocity[i, 1] - velocity[j, 1]
            ux, uy, ex, ey = way_out(px, py, vx, vy, apart_m, horizon_s, period_s, 1.0 if i < j else -1.0)
            planes[count] = velocity[i, 0] + 0.5 * ux, velocity[i, 1] + 0.5 * uy, ex, ey
            count += 1
        wx, wy = wanted[i, 0], wanted[i, 1]
        speed = math.hypot(wx, wy)
        if speed > top_speed_m_s:
            wx, wy = wx * top_speed_m_s / speed, wy * top_speed_m_s / speed
        failed, x, y = nearest_allowed(planes, count, top_speed_m_s, wx, wy, False)
        if failed < count:
            fits[i] = False
            x, y = least_broken(planes, count, hard, failed, top_speed_m_s, x, y)
        found[i, 0], found[i, 1] = x, y
    return found, fits


@kernel(inline=True)
def from_segment(x, y, segment):
    """Return the vector to a point from the nearest one of a segment."""
    wx, wy = segment[2] - segment[0], segment[3] - segment[1]
    length2 = wx * wx + wy * wy
    share = ((x - segment[0]) * wx + (y - segment[1]) * wy) / length2 if length2 > 0.0 else 0.0
    share = min(max(share, 0.0), 1.0)
    return x - segment[0] - share * wx, y - segment[1] - share * wy


@kernel
def way_out(px, py, vx, vy, apart_m, horizon_s, period_s, side):
    """Return the change u of a relative velocity to the border of the velocity obstacle, and the normal out of it.

    Args:
        px, py: the other robot's place, relative [m].
        vx, vy: velocity relative to the other robot [m/s].
        apart_m: smallest distance [m].
        horizon_s: time for which they stay apart [s].
        period_s: if they are too near already, they are apart after this time [s].
        side: if both legs are equally near, 1: pass on the right, -1: the same seen from the other one's frame is the
            right, too; kept for robots at one place.
    """
    far2 = px * px + py * py
    late = horizon_s if far2 > apart_m * apart_m else period_s
    wx, wy = vx - px / late, vy - py / late
    along = wx * px + wy * py
    w = math.hypot(wx, wy)
    if far2 <= apart_m * apart_m or (along < 0.0 and along * along > apart_m * apart_m * w * w):
        if w > _SMALL:
            ex, ey = wx / w, wy / w
        elif far2 > 0.0:
            ex, ey = -px / math.sqrt(far2), -py / math.sqrt(far2)
        else:
            ex, ey = side, 0.0
        return (apart_m / late - w) * ex, (apart_m / late - w) * ey, ex, ey
    leg = math.sqrt(far2 - apart_m * apart_m)
    if px * wy - py * wx > 0.0:  # the left leg; its direction, and the normal to its left
        dx, dy = (px * leg - py * apart_m) / far2, (px * apart_m + py * leg) / far2
        ex, ey = -dy, dx
    else:
        dx, dy = (px * leg + py * apart_m) / far2, (-px * apart_m + py * leg) / far2
        ex, ey = dy, -dx
    out = vx * ex + vy * ey
    return -out * ex, -out * ey, ex, ey


@kernel
def nearest_allowed(planes, count, top, wx, wy, farthest):
    """Return how many half-planes hold in turn, and the velocity in them and in a disc that is nearest to a wanted one.

    The half-planes are added one after another. If the velocity so far breaks one, the best one lies on its border.

    Args:
        planes: a point of the border and the normal into what is allowed, (m, 4).
        count: number of filled rows.
        top: radius of the disc [m/s].
        wx, wy: the wanted velocity [m/s], in the disc.
        farthest: take the velocity farthest along (wx, wy), a unit vector, instead of the nearest one.
    """
    x, y = (top * wx, top * wy) if farthest else (wx, wy)
    for i in range(count):
        ex, ey = planes[i, 2], planes[i, 3]
        if (x - planes[i, 0]) * ex + (y - planes[i, 1]) * ey >= -_SMALL:
            continue
        dx, dy = ey, -ex
        along = planes[i, 0] * dx + planes[i, 1] * dy
        root = along * along + top * top - planes[i, 0] ** 2 - planes[i, 1] ** 2
        if root < 0.0:
            return i, x, y
        low, high = -along - math.sqrt(root), -along + math.sqrt(root)
        for j in range(i):
            slope = dx * planes[j, 2] + dy * planes[j, 3]
            ahead = (planes[i, 0] - planes[j, 0]) * planes[j, 2] + (planes[i, 1] - planes[j, 1]) * planes[j, 3]
            if abs(slope) <= _SMALL:
                if ahead < -_SMALL:
                    return i, x, y
                continue
            if slope > 0.0:
                low = max(low, -ahead / slope)
            else:
                high = min(high, -ahead / slope)
            if low > high:
                return i, x, y
        if farthest:
            at = high if dx * wx + dy * wy > 0.0 else low
        else:
            at = min(max((wx - planes[i, 0]) * dx + (wy - planes[i, 1]) * dy, low), high)
        x, y = planes[i, 0] + at * dx, planes[i, 1] + at * dy
    return count, x, y


@kernel
def least_broken(planes, count, hard, begin, top, x, y):
    """Return the velocity in a disc that breaks the worst half-plane least; the first ``hard`` ones always hold.

    For each half-plane that is broken more than the worst so far, the best velocity is farthest along its normal, among
    those that break no earlier one more than it: half-planes again, whose borders are the bisectors.

    Args:
        planes, count, top: see `nearest_allowed`.
        hard: number of half-planes that hold.
        begin: first one that could not be met.
        x, y: the velocity that meets those before it [m/s].
    """
    if begin < hard:
        return 0.0, 0.0
    worst, bisectors = 0.0, np.empty((count, 4))
    for i in range(begin, count):
        ex, ey = planes[i, 2], planes[i, 3]
        broken = -((x - planes[i, 0]) * ex + (y - planes[i, 1]) * ey)
        if broken <= worst:
            continue
        bisectors[:hard] = planes[:hard]
        filled = hard
        for j in range(hard, i):
            nx, ny = planes[j, 2] - ex, planes[j, 3] - ey
            length = math.hypot(nx, ny)
            if length <= _SMALL:
                continue  # parallel: the farther one counts, and this one is broken more
            offset = planes[j, 0] * planes[j, 2] + planes[j, 1] * planes[j, 3] - planes[i, 0] * ex - planes[i, 1] * ey
            nx, ny, offset = nx / length, ny / length, offset / length
            bisectors[filled] = offset * nx, offset * ny, nx, ny
            filled += 1
        done, new_x, new_y = nearest_allowed(bisectors, filled, top, ex, ey, True)
        if done == filled:
            x, y = new_x, new_y
        worst = max(-((x - planes[i, 0]) * ex + (y - planes[i, 1]) * ey), 0.0)
    return x, y
