"""Logs from ROS bags: messages ``sensor_msgs/LaserScan`` and ``nav_msgs/Odometry``, of ROS 1 and 2.

Both topics are those with the most messages of their kind. The odometry at a scan is interpolated between the messages
before and after its stamp; scans before the first or after the last one are left out. The place of the laser is not
looked for in ``/tf``: give it as ``laser``.
"""

import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import CoveyError, InvalidValueError
from covey.geometry.se2 import compose
from covey.mapping.slam.log import Laser, Log, relative

_SCAN, _ODOMETRY = "sensor_msgs/msg/LaserScan", "nav_msgs/msg/Odometry"


def read_bag(path: str | Path, mount: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Log:
    """Read a bag: a ``.bag`` file of ROS 1, a folder, ``.mcap`` or ``.db3`` file of ROS 2.

    Args:
        path: the bag.
        mount: pose x, y [m], heading [rad] of the laser on the robot.

    Raises:
        CoveyError: the library ``rosbags`` is not installed.
        InvalidValueError: the bag is missing or damaged, or has no scans or no odometry.
    """
    path = Path(path)
    if not path.exists():
        raise InvalidValueError(f"there is no bag {str(path)!r}")
    try:
        highlevel, typesys = (importlib.import_module(f"rosbags.{name}") for name in ("highlevel", "typesys"))
    except ImportError as error:
        raise CoveyError("bags need rosbags; install it with: pip install 'covey[bags]'") from error
    otherwise = typesys.get_typestore(typesys.Stores.LATEST)
    try:
        with highlevel.AnyReader([path], default_typestore=otherwise) as reader:
            scans, odometry = _messages(reader, path, _SCAN), _messages(reader, path, _ODOMETRY)
    except CoveyError:
        raise
    except Exception as error:  # of whatever damage
        raise InvalidValueError(f"{path} cannot be read as a bag: {' '.join(str(error).split())[:200]}") from error
    return log_of(path.stem, scans, odometry, mount)


def _messages(reader: Any, path: Path, kind: str) -> list[Any]:
    """Return the messages of the topic that has most of a kind."""
    topics = [one for one in reader.connections if one.msgtype == kind]
    if not topics:
        known = ", ".join(sorted({one.msgtype for one in reader.connections})) or "nothing"
        raise InvalidValueError(f"{path} has no {kind}; a log needs scans and odometry. It has: {known}")
    name = max(topics, key=lambda one: one.msgcount).topic
    chosen = [one for one in topics if one.topic == name]
    return [reader.deserialize(data, one.msgtype) for one, _, data in reader.messages(connections=chosen)]


def log_of(name: str, scans: list[Any], odometry: list[Any], mount: tuple[float, float, float]) -> Log:
    """Return the log of messages ``LaserScan`` and ``Odometry``, in the order of the bag.

    Raises:
        InvalidValueError: there are none, their beams differ, or no scan has odometry before and after it.
    """
    if not scans or not odometry:
        raise InvalidValueError(f"the bag {name} has {len(scans)} scans and {len(odometry)} messages of odometry")
    first = scans[0]
    for k, scan in enumerate(scans):
        if len(scan.ranges) != len(first.ranges) or not math.isclose(
            scan.angle_increment, first.angle_increment, rel_tol=1e-6
        ):
            raise InvalidValueError(f"the bag {name}: the beams of scan {k} are not those of scan 0")
    at = np.array([_stamp(one) for one in odometry])
    poses = np.array([_pose(one.pose.pose) for one in odometry])
    order = np.argsort(at, kind="stable")
    at, poses = at[order], poses[order]
    times = np.array([_stamp(one) for one in scans])
    inside = np.flatnonzero((times >= at[0]) & (times <= at[-1]))
    if not len(inside):
        raise InvalidValueError(f"the bag {name}: no scan has odometry before and after it; are the clocks the same?")
    after = np.clip(np.searchsorted(at, times[inside], side="left"), 1, max(len(at) - 1, 1))
    after = np.minimum(after, len(at) - 1)
    before = np.maximum(after - 1, 0)
    span = at[after] - at[before]
    share = np.where(span > 0.0, (times[inside] - at[before]) / np.where(span > 0.0, span, 1.0), 0.0)
    found = compose(poses[before], share[:, None] * relative(poses[before], poses[after]))
    ranges = np.array([scans[k].ranges for k in inside], np.float32)
    ranges[ranges < first.range_min] = np.nan
    angles = first.angle_min + first.angle_increment * np.arange(ranges.shape[1])
    laser = Laser(angles, float(first.range_max), mount)
    return Log(name, laser, ranges, found, times[inside], found, np.arange(len(found)))


def _stamp(message: Any) -> float:
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def _pose(pose: Any) -> tuple[float, float, float]:
    q = pose.orientation
    heading = math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))
    return pose.position.x, pose.position.y, heading
