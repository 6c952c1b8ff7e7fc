"""Remove the returns that come from team mates from a scan, so that they do not appear as walls in the map."""

import math

import numpy as np

from covey.kernel import kernel

MARGIN_M = 0.15
"""Returns within a body's radius plus this of a mate's centre belong to the mate [m]."""


@kernel
def hide_team_mates(ranges, angles, mount, count, away, bearings, radius):
    """Replace, in place, the returns that lie on team mates by NaN (no measurement).

    This is the map filter of multi-robot mapping (the exercise of the DAT160 rescue challenge). Without it, maps
    contain walls where team mates stood.

    Args:
        ranges: float64 (m, rays) [m], one scan of each of m robots; inf for no return.
        angles: float64 (rays,) ascending [rad] in the frame of the sensor.
        mount: float64 (3,), x, y [m], heading [rad] of the sensor on the body.
        count: int64 (m,), number of team mates that each robot sees.
        away, bearings: float64 (m, width), distance [m] and bearing [rad] of their centres in the body frame.
        radius: float64 (m,), returns within this distance [m] of a centre are on the team mate.
    """
    rays = angles.shape[0]
    for i in range(ranges.shape[0]):
        for k in range(count[i]):
            x = away[i, k] * math.cos(bearings[i, k]) - mount[0]
            y = away[i, k] * math.sin(bearings[i, k]) - mount[1]
            distance = math.hypot(x, y)
            half = math.asin(radius[i] / distance) if distance > radius[i] else math.pi
            towards = math.atan2(y, x) - mount[2]
            towards -= 2.0 * math.pi * (math.floor((towards - half - angles[0]) / (2.0 * math.pi)) + 1.0)
            while towards - half <= angles[rays - 1]:  # the arc that it fills, and the same a turn further on
                low, high = 0, rays
                while low < high:
                    middle = (low + high) // 2
                    if angles[middle] < towards - half:
                        low = middle + 1
                    else:
                        high = middle
                while low < rays and angles[low] <= towards + half:
                    r = ranges[i, low]
                    if r < math.inf:
                        square = distance**2 + r**2 - 2.0 * distance * r * math.cos(angles[low] - towards)
                        if square <= radius[i] ** 2:
                            ranges[i, low] = math.nan
                    low += 1
                towards += 2.0 * math.pi


def seen_from(moved: np.ndarray, away: np.ndarray, bearings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distances [m] and bearings [rad] of places in another frame, such as that of the robot some time earlier.

    Args:
        moved: float64 (m, 3), poses in that frame, x, y [m], heading [rad], of the frame in which they are given.
        away, bearings: float64 (m, width), as given.
    """
    x, y, heading = moved.T[:, :, None]
    x, y = x + away * np.cos(heading + bearings), y + away * np.sin(heading + bearings)
    return np.hypot(x, y), np.arctan2(y, x)
