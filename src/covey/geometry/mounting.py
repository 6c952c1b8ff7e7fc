"""How a planar lidar is mounted: upright or upside down, as a frame in three dimensions says.

A lidar that hangs upside down (roll pi) turns clockwise, seen from above: its beams are mirrored. A lidar with another
tilt does not measure in the plane of the floor, and nothing planar can be made of its scans.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import Pose

MOST_TILT_DEG = 5.0
"""A lidar may lean by so much [degrees]: ranges to walls change by 0.4 %."""


class Mount(NamedTuple):
    """The place of a planar lidar on a robot.

    Attributes:
        pose: x, y [m] and heading [rad] of its axis x in the robot's frame.
        upside_down: its beams turn the other way, see `seen_from_above`.
    """

    pose: Pose
    upside_down: bool = False


def transform_of(position: Any, quaternion: Any) -> np.ndarray:
    """Return the matrix (4, 4) of a translation with x, y, z [m] and a quaternion with x, y, z, w of any length.

    A quaternion of zeros, as a message without one has it, turns nothing.
    """
    q = np.array([quaternion.x, quaternion.y, quaternion.z, quaternion.w], float)
    length = math.hypot(*q)
    x, y, z, w = q / length if length > 0.0 else (0.0, 0.0, 0.0, 1.0)
    matrix = np.eye(4)
    matrix[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    matrix[:3, 3] = position.x, position.y, position.z
    return matrix


def planar_mount(T_robot_lidar: np.ndarray, frame: str) -> Mount:
    """Return how a lidar is mounted.

    Args:
        T_robot_lidar: its frame in that of the robot, whose axis z points up, (4, 4).
        frame: the name of its frame, for the message.

    Raises:
        InvalidValueError: it is neither upright nor upside down, to `MOST_TILT_DEG`.

    Examples:
        >>> from types import SimpleNamespace as Of
        >>> rolled = transform_of(Of(x=0.1, y=0.0, z=0.3), Of(x=1.0, y=0.0, z=0.0, w=0.0))  # by half a turn
        >>> planar_mount(rolled, "laser")
        Mount(pose=Pose(x=0.1, y=0.0, heading=0.0), upside_down=True)
    """
    turned = T_robot_lidar[:3, :3]
    up = float(turned[2, 2])
    if not abs(up) >= math.cos(math.radians(MOST_TILT_DEG)):
        tilt = math.degrees(math.acos(min(1.0, max(-1.0, up))))
        raise InvalidValueError(
            f"the lidar in the frame {frame!r} is tilted by {tilt:.0f} degrees against the robot: a planar lidar is "
            f"upright or upside down (roll pi), to {MOST_TILT_DEG:g} degrees. If it is mounted so, mend its transform "
            "in tf_static; if it scans another plane than the floor's, take another lidar"
        )
    x, y = (round(float(one), 9) for one in T_robot_lidar[:2, 3])
    return Mount(Pose(x, y, round(math.atan2(turned[1, 0], turned[0, 0]), 9)), up < 0.0)


def seen_from_above(angles: np.ndarray, *scans: np.ndarray, upside_down: bool) -> tuple[np.ndarray, ...]:
    """Return the angles (B,) of beams about the robot's axis z, and what they measured (..., B), in the same order.

    The beams of a lidar that hangs upside down are mirrored, and their order is reversed, so that it stays
    counter-clockwise.
    """
    if not upside_down:
        return angles, *scans
    return -angles[::-1], *(scan[..., ::-1] for scan in scans)


def on_beams(onto: np.ndarray, angles: np.ndarray, ranges: np.ndarray) -> np.ndarray:
    """Return a scan (B,) on other beams ``onto`` (A,): that of the nearest beam; nan where none is near.

    Both fans are evenly spaced. A direction is off by at most half of a step between the beams.
    """
    if len(angles) < 2:
        return np.full(len(onto), np.nan)
    step = (angles[-1] - angles[0]) / (len(angles) - 1)
    turns = math.tau / abs(step)
    at = (onto - angles[0]) / step
    if (len(angles) + 0.5) >= turns:  # a whole turn has no ends
        at = np.mod(at + 0.5, turns) - 0.5
    nearest = np.rint(at).astype(int)
    inside = (at > -0.75) & (at < len(angles) - 0.25)
    return np.where(inside, ranges[np.clip(nearest, 0, len(angles) - 1)], np.nan)
