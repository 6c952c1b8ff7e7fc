"""Simple sensors, each a function of a few lines: read them to write your own."""

import math

import numpy as np

from covey.sensors.own import sensor


@sensor("compass", sees="heading", draws="heading")
def compass(robot, random, sigma_deg: float = 2.0):
    """The heading in the world frame [rad]."""
    return math.remainder(robot.heading + math.radians(random.normal(0.0, sigma_deg)), 2.0 * math.pi)


@sensor("beacon", sees=("pose", "walls", "time"), draws="ray")
def beacon(
    robot,
    random,
    x_m: float = 0.0,
    y_m: float = 0.0,
    vx_m_s: float = 0.0,
    vy_m_s: float = 0.0,
    range_m: float = 10.0,
    sigma_m: float = 0.0,
    sigma_deg: float = 0.0,
):
    """Range [m] and bearing [rad] of a point that stands or drives on; NaN beyond its range, or behind a wall."""
    point = x_m + vx_m_s * robot.time, y_m + vy_m_s * robot.time
    noise = random.normal(size=2)
    away = robot.distance_to(point)
    if away > range_m or not robot.can_see(point):
        return math.nan, math.nan
    return away + sigma_m * noise[0], robot.bearing_to(point) + math.radians(sigma_deg) * noise[1]


@sensor("relative_pose", sees=("pose", "others"), draws="place")
def relative_pose(robot, random, of: int = 0, sigma_m: float = 0.0, sigma_deg: float = 0.0):
    """Place x ahead, y to the left [m] and heading [rad] of one other robot, the ``of``-th of the others."""
    if not 0 <= of < len(robot.others):
        return math.nan, math.nan, math.nan
    other, noise = robot.others[of], random.normal(size=3)
    away, bearing = robot.distance_to(other), robot.bearing_to(other)
    turn = math.remainder(other[2] - robot.pose[2] + math.radians(sigma_deg) * noise[2], 2.0 * math.pi)
    return away * math.cos(bearing) + sigma_m * noise[0], away * math.sin(bearing) + sigma_m * noise[1], turn


@sensor("sector_camera", sees=("pose", "others", "walls"), draws="sectors")
def sector_camera(robot, random, fov_deg: float = 60.0, range_m: float = 5.0, sectors: int = 6, miss: float = 0.0):
    """Distance [m] to the nearest robot in each sector of the field of view, from right to left; inf for none.

    It misses a robot with the probability ``miss``.
    """
    nearest = np.full(sectors, math.inf)
    for other, chance in zip(robot.others, random.random(len(robot.others)), strict=True):
        away, along = robot.distance_to(other), robot.bearing_to(other) / math.radians(fov_deg) + 0.5
        if 0.0 <= along < 1.0 and away <= range_m and chance >= miss and robot.can_see(other):
            sector = int(along * sectors)
            nearest[sector] = min(nearest[sector], away)
    return nearest
