"""Obstacles near a robot, in its body frame: wall points from a lidar and from a map, and tracks of other robots."""

import math

import numpy as np

from covey.kernel import kernel

X, Y, VX, VY, ID, AGE, HEADING, STILL = range(8)
"""Columns of an array of tracks: position [m], velocity over ground [m/s] (body frame), identity, age of the last
sighting [s] (infinite: the row is free), heading relative to the own one [rad] (NaN: unknown; if the sensor does not
give it, the course of the last motion), time since it last moved [s]."""
MEMORY_S = 0.6
"""Lifetime of a track that is not seen [s]."""
MOVING_M_S = 0.12
"""A robot slower than this counts as standing still [m/s]."""


@kernel
def track(tracks, identity, distance, bearing, heading, vx, vy, omega, elapsed):
    """Update the tracks of other robots, in place, with one neighbour reading.

    Velocities are smoothed differences of successive sightings, corrected for the robot's own motion. The robot's pose
    is not used, so its noise does not matter. Returns the number of rows up to the last one in use.

    Args:
        tracks: float64 (k, 8), see `X`.
        identity, distance, bearing, heading: the reading: int64 (-1: unknown), [m], [rad], [rad] relative (NaN:
            unknown).
        vx, vy, omega: the robot's own twist since the last call [m/s, rad/s].
        elapsed: time since the last call [s].
    """
    c, s = math.cos(omega * elapsed), math.sin(omega * elapsed)
    middle_c, middle_s = math.cos(0.5 * omega * elapsed), math.sin(0.5 * omega * elapsed)
    dx, dy = (middle_c * vx - middle_s * vy) * elapsed, (middle_s * vx + middle_c * vy) * elapsed
    for k in range(tracks.shape[0]):
        if tracks[k, AGE] == math.inf:
            continue
        x, y = tracks[k, X] - dx, tracks[k, Y] - dy  # the other's last position in the new body frame
        tracks[k, X], tracks[k, Y] = c * x + s * y, -s * x + c * y
        x, y = tracks[k, VX], tracks[k, VY]
        tracks[k, VX], tracks[k, VY] = c * x + s * y, -s * x + c * y
        tracks[k, AGE] += elapsed
        tracks[k, HEADING] -= omega * elapsed
        tracks[k, STILL] += elapsed
    for i in range(identity.size):
        row, free, near = -1, -1, 0.5
        x, y = distance[i] * math.cos(bearing[i]), distance[i] * math.sin(bearing[i])
        for k in range(tracks.shape[0]):
            if tracks[k, AGE] == math.inf:
                if free < 0:
                    free = k
            elif tracks[k, ID] == identity[i]:
                away = math.hypot(tracks[k, X] - x, tracks[k, Y] - y)
                if identity[i] >= 0 or (away < near and tracks[k, AGE] > 0.0):  # nameless: the nearest not yet matched
                    row, near = k, away
        if row >= 0:
            age = tracks[row, AGE]
            if age > 1e-9:
                guessed = age - elapsed  # so long it has been moved by its velocity, unseen
                tracks[row, VX] += 0.5 * ((x - tracks[row, X] + guessed * tracks[row, VX]) / age - tracks[row, VX])
                tracks[row, VY] += 0.5 * ((y - tracks[row, Y] + guessed * tracks[row, VY]) / age - tracks[row, VY])
        elif free >= 0:
            row = free
            tracks[row, VX] = tracks[row, VY] = tracks[row, STILL] = 0.0
            tracks[row, HEADING] = math.nan
        else:
            continue
        tracks[row, X], tracks[row, Y], tracks[row, ID], tracks[row, AGE] = x, y, identity[i], 0.0
        moving = math.hypot(tracks[row, VX], tracks[row, VY]) > MOVING_M_S
        if moving:
            tracks[row, STILL] = 0.0
        if not math.isnan(heading[i]):
            tracks[row, HEADING] = heading[i]
        elif moving:
            tracks[row, HEADING] = math.atan2(tracks[row, VY], tracks[row, VX])
    used = 0
    for k in range(tracks.shape[0]):
        if tracks[k, AGE] > 0.0 and tracks[k, AGE] != math.inf:
            if tracks[k, AGE] > MEMORY_S:
                tracks[k, AGE] = math.inf
            else:
                tracks[k, X] += tracks[k, VX] * elapsed
                tracks[k, Y] += tracks[k, VY] * elapsed
        if tracks[k, AGE] != math.inf:
            used = k + 1
    return used


@kernel
def lidar_points(points, ranges, angles, mount_x, mount_y, mount_yaw, reach, spacing, tracks, other_radius):
    """Fill an array with the hits of a scan as points in the body frame; return their number.

    Left out are hits farther than ``reach`` [m] from the body's origin, hits on tracked robots (within ``other_radius``
    [m] of one), and hits closer than ``spacing`` [m] to the one before.
    """
    near, others = np.empty((tracks.shape[0], 2)), 0
    for k in range(tracks.shape[0]):
        if tracks[k, AGE] != math.inf and math.hypot(tracks[k, X], tracks[k, Y]) < reach + other_radius:
            near[others, 0], near[others, 1] = tracks[k, X], tracks[k, Y]
            others += 1
    count = 0
    limit = reach + math.hypot(mount_x, mount_y)
    last_x, last_y = math.inf, math.inf
    for i in range(ranges.size):
        if not ranges[i] < limit or count >= points.shape[0]:
            continue
        angle = mount_yaw + angles[i]
        x, y = mount_x + ranges[i] * math.cos(angle), mount_y + ranges[i] * math.sin(angle)
        if x * x + y * y > reach * reach or (x - last_x) ** 2 + (y - last_y) ** 2 < spacing * spacing:
            continue
        on_other = False
        for k in range(others):
            if (x - near[k, 0]) ** 2 + (y - near[k, 1]) ** 2 < other_radius * other_radius:
                on_other = True
        if not on_other:
            points[count, 0], points[count, 1] = x, y
            last_x, last_y, count = x, y, count + 1
    return count


@kernel
def seen_points(
    points, ranges, angles, mount_x, mount_y, mount_yaw, reach, spacing, tracks, other_radius,
    occupancy, resolution, x0, y0, x, y, heading, map_reach,
):  # fmt: skip
    """Fill an array with `lidar_points` followed by `map_points`; return the number of the first, and of all.

    Arguments as for these functions; ``map_reach`` [m] is the ``reach`` of `map_points`.
    """
    count = lidar_points(points, ranges, angles, mount_x, mount_y, mount_yaw, reach, spacing, tracks, other_radius)
    seen_from, seen_to = mount_yaw + angles[0], mount_yaw + angles[-1]
    return count, map_points(
        points, count, occupancy, resolution, x0, y0, x, y, heading, map_reach, seen_from, seen_to, tracks, other_radius
    )


@kernel
def move_points(points, count, vx, vy, omega, elapsed):
    """Transform the first ``count`` points, in place, from the body frame ``elapsed`` seconds ago to the present one.

    Since then the robot has moved with the twist (vx, vy [m/s], omega [rad/s]).
    """
    c, s = math.cos(omega * elapsed), math.sin(omega * elapsed)
    middle_c, middle_s = math.cos(0.5 * omega * elapsed), math.sin(0.5 * omega * elapsed)
    dx, dy = (middle_c * vx - middle_s * vy) * elapsed, (middle_s * vx + middle_c * vy) * elapsed
    for i in range(count):
        x, y = points[i, 0] - dx, points[i, 1] - dy
        points[i, 0], points[i, 1] = c * x + s * y, -s * x + c * y


@kernel
def map_points(points, count, occupancy, resolution, x0, y0, x, y, heading, reach, seen_from, seen_to, tracks, radius):
    """Append the occupied cells near a robot that are outside its lidar's field of view, as points in the body frame.

    Args:
        points, count: the array and the number of filled rows; the new number is returned.
        occupancy, resolution, x0, y0: int8 grid (above 50 is occupied), its cell size and corner [m].
        x, y, heading: the robot in the grid's frame [m, rad].
        reach: distance up to which cells count [m].
        seen_from, seen_to: bearings between which the lidar looks [rad]; cells there are left out.
        tracks, radius: cells within ``radius`` [m] of a tracked robot are left out.
    """
    rows, columns = occupancy.shape
    c, s = math.cos(heading), math.sin(heading)
    row0, row1 = int((y - reach - y0) // resolution), int((y + reach - y0) // resolution)
    column0, column1 = int((x - reach - x0) // resolution), int((x + reach - x0) // resolution)
    for row in range(max(row0, 0), min(row1 + 1, rows)):
        for column in range(max(column0, 0), min(column1 + 1, columns)):
            if occupancy[row, column] <= 50 or count >= points.shape[0]:
                continue
            dx, dy = x0 + (column + 0.5) * resolution - x, y0 + (row + 0.5) * resolution - y
            px, py = c * dx + s * dy, -s * dx + c * dy
            bearing = math.atan2(py, px)
            if px * px + py * py > reach * reach or seen_from <= bearing <= seen_to:
                continue
            on_other = False
            for k in range(tracks.shape[0]):
                if tracks[k, AGE] != math.inf and math.hypot(px - tracks[k, X], py - tracks[k, Y]) < radius:
                    on_other = True
            if not on_other:
                points[count, 0], points[count, 1] = px, py
                count += 1
    return count
