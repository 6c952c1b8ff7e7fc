"""Remove the returns that come from team mates from a scan, so that they do not appear as walls in the map."""

import math
from typing import NamedTuple

import numpy as np

from covey.kernel import kernel

MARGIN_M = 0.15
"""Returns within a body's radius plus this of a mate's centre belong to the mate [m]."""


class Mates(NamedTuple):
    """The team mates that a sensor for them shows to m robots, around the time of a scan.

    Attributes:
        count: number that each robot sees, int64 (m,).
        away, bearings: distance [m] and bearing [rad] of their centres in the body frame, (m, width).
        moved: pose (m, 3) of that body frame in the one at the scan; None: both are of one time.
    """

    count: np.ndarray
    away: np.ndarray
    bearings: np.ndarray
    moved: np.ndarray | None = None

    def of(self, k: int) -> "Mates":
        """Return those of one robot."""
        row, moved = slice(k, k + 1), self.moved
        return Mates(self.count[row], self.away[row], self.bearings[row], None if moved is None else moved[row])


def without_mates(
    ranges: np.ndarray, angles: np.ndarray, mount: np.ndarray, mates: Mates | None, reach_m: float
) -> np.ndarray:
    """Return a copy of scans (m, rays) [m] without the returns from mates that a sensor for them shows.

    Args:
        ranges, angles, mount: see `hide_team_mates`.
        mates: as the sensor shows them; None: there is none, or the lidar sees no robots.
        reach_m: returns within this distance of a mate's centre are on the mate [m].
    """
    ranges = ranges.copy()
    if mates is not None:
        seen = mates.away, mates.bearings
        if mates.moved is not None:
            seen = seen_from(mates.moved, *seen)
        hide_team_mates(ranges, angles, mount, mates.count, *seen, np.full(len(ranges), reach_m))
    return ranges


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
