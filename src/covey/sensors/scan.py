"""Fans of exact rays against walls and the bodies of other robots, for all robots with equal sensors in one call."""

import math

import numpy as np

from covey.geometry.constant import is_constant
from covey.geometry.raycast import cast_fan
from covey.kernel import kernel
from covey.sensors.truth import NO_BODIES, Bodies, Truth, bucket_window


def scan(
    truth: Truth, members: np.ndarray, mount: np.ndarray, angles: np.ndarray, range_m: float, sees_robots: bool
) -> np.ndarray:
    """Return the distances [m] that a fan on each member measures without noise, float64 (m, rays).

    A ray ends at the first wall or body of another robot; ``range_m`` means that nothing is within range. A robot's own
    body is transparent to its own rays. A fan that starts inside another body measures 0.

    Args:
        truth: the true positions.
        members: int64 (m,), robots that carry the fan.
        mount: float64 (3,), x, y [m], heading [rad] of the fan in the body frame.
        angles: float64 (rays,) [rad], evenly spaced, ascending, over at most a full circle, in the frame of the mount.
        range_m: range [m].
        sees_robots: whether bodies are seen, or only walls.
    """
    distance = np.empty((members.shape[0], angles.shape[0]))
    scan_into(*seen_of(truth, sees_robots), members, mount, *fan_of(angles), range_m, distance)
    return distance


def seen_of(truth: Truth, sees_robots: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
    """Return what a fan may hit, for kernels: skip field, its frame, the poses, and `Bodies` as a plain tuple."""
    bodies = truth.bodies if sees_robots and truth.team_size > 1 else NO_BODIES
    return truth.skip, truth.frame, truth.pose, tuple(bodies)  # a named tuple takes three times as long to pass


def fan_of(angles: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return the directions, the first angle and the spacing of a fan; those of a constant array are remembered."""
    known = _fans.get(id(angles))
    if known is not None:  # it holds the array, so no other one has its id
        return known[1]
    spacing = (angles[-1] - angles[0]) / (angles.shape[0] - 1) if angles.shape[0] > 1 else 2.0 * math.pi
    fan = np.column_stack((np.cos(angles), np.sin(angles))), float(angles[0]), float(spacing)
    if is_constant(angles) and len(_fans) < _MOST_FANS:
        _fans[id(angles)] = angles, fan
    return fan


_fans: dict[int, tuple[np.ndarray, tuple[np.ndarray, float, float]]] = {}
_MOST_FANS = 256


@kernel
def _mounted(pose, mount):
    if mount[0] == 0.0 and mount[1] == 0.0:
        return pose[0], pose[1], pose[2] + mount[2]
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return pose[0] + c * mount[0] - s * mount[1], pose[1] + s * mount[0] + c * mount[1], pose[2] + mount[2]


@kernel
def scan_into(skip, frame, pose, bodies, members, mount, directions, first, spacing, range_m, distance):
    """Do as `scan`; the result is ``distance``, float64 (m, rays) [m].

    Args:
        skip, frame, pose, bodies: see `seen_of`.
        members, mount, range_m: as in `scan`.
        directions, first, spacing: see `fan_of`.
    """
    bodies = Bodies(*bodies)
    for i in range(members.shape[0]):
        x, y, heading = _mounted(pose[members[i]], mount)
        cast_fan(skip, frame, x, y, heading, directions, range_m, distance[i])
        farthest, c, s, is_turned = 0.0, 1.0, 0.0, False  # few have somebody near, and only these need the direction
        for j in range(distance.shape[1]):
            farthest = max(farthest, distance[i, j])
        row0, row1, column0, column1 = bucket_window(bodies, members[i], x, y, farthest + bodies.place[3])
        for row in range(row0, row1 + 1):
            b = row * bodies.shape[1]
            for p in range(bodies.start[b + column0], bodies.start[b + column1 + 1]):
                robot = bodies.robots[p]
                if robot == members[i]:
                    continue
                for k in range(bodies.disc_count[robot]):
                    dx, dy = bodies.discs[robot, k, 0] - x, bodies.discs[robot, k, 1] - y
                    limit = farthest + bodies.discs[robot, k, 2]
                    if dx * dx + dy * dy < limit * limit:
                        if not is_turned:
                            c, s, is_turned = math.cos(heading), math.sin(heading), True
                        px, py = c * dx + s * dy, c * dy - s * dx
                        _see_disc(px, py, bodies.discs[robot, k, 2], directions, first, spacing, distance[i])


@kernel
def _see_disc(px, py, radius, directions, first, spacing, distance):
    """Shorten the rays that hit one disc at (px, py) [m] in the frame of the fan."""
    rays = directions.shape[0]
    away = math.sqrt(px * px + py * py)
    if away <= radius:
        for j in range(rays):
            distance[j] = 0.0
        return
    # The rays to check; an upper bound of the angle of a tangent: asin(a) <= a + (pi / 2 - 1) a^3.
    a = radius / away
    half = a + (0.5 * math.pi - 1.0) * a * a * a
    bearing = math.atan2(py, px) - first
    while bearing < half:
        bearing += 2.0 * math.pi
    while bearing + half >= 0.0:
        low = max(0, math.floor((bearing - half) / spacing))
        high = min(rays - 1, math.ceil((bearing + half) / spacing))
        for j in range(low, high + 1):
            along = px * directions[j, 0] + py * directions[j, 1]
            across = px * directions[j, 1] - py * directions[j, 0]
            rest = radius * radius - across * across
            if rest >= 0.0 and along > 0.0:
                distance[j] = min(distance[j], along - math.sqrt(rest))
        bearing -= 2.0 * math.pi
