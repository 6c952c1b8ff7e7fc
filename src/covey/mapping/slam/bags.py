"""Logs from ROS bags, of ROS 1 and 2: messages ``sensor_msgs/LaserScan`` with ``nav_msgs/Odometry`` or transforms.

A robot is a namespace. The odometry at a scan is interpolated between the messages before and after its stamp; scans
before the first or after the last one are left out. Where lidars are, and which way up, comes from the transforms. A
log has the scans of all lidars of its robot, in the order of their stamps.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import CoveyError, InvalidValueError, near_file
from covey.geometry.mounting import Mount, seen_from_above
from covey.geometry.se2 import compose
from covey.mapping.slam.bag_frames import PoseTrack, TransformTree, planar, stamp_of
from covey.mapping.slam.fans import joined
from covey.mapping.slam.lidars import taking_turns
from covey.mapping.slam.log import Laser, Log, relative
from covey.plain_files import check_plain

SCAN, ODOMETRY, TF = "sensor_msgs/msg/LaserScan", "nav_msgs/msg/Odometry", "tf2_msgs/msg/TFMessage"
_BASES = ("base_link", "base_footprint")
TRUTH = "ground_truth"
"""The topic with the true odometry of a simulated robot."""


def check_bag(path: Path) -> None:
    """Refuse a path that is neither a file nor a folder.

    Raises:
        InvalidValueError: there is nothing, or a pipe or a device.
    """
    if not path.exists():
        raise InvalidValueError(f"there is no bag {str(path)!r}{near_file(path)}")
    try:
        if not path.is_dir():
            check_plain(path)
    except OSError as error:
        raise InvalidValueError(f"{path} cannot be read as a bag: {error}") from error


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a bag with rosbags' ``AnyReader``: a ``.bag`` file, a folder, an ``.mcap`` or ``.db3`` file.

    Raises:
        CoveyError: the library ``rosbags`` is not installed.
        InvalidValueError: the bag is missing or damaged.
    """
    check_bag(path)
    try:
        highlevel, typesys = (importlib.import_module(f"rosbags.{name}") for name in ("highlevel", "typesys"))
    except ImportError as error:
        raise CoveyError("bags need rosbags; install it with: pip install 'covey[bags]'") from error
    otherwise = typesys.get_typestore(typesys.Stores.LATEST)
    try:
        with highlevel.AnyReader([path], default_typestore=otherwise) as reader:
            yield reader
    except CoveyError:
        raise
    except Exception as error:  # of whatever damage
        raise InvalidValueError(f"{path} cannot be read as a bag: {' '.join(str(error).split())[:200]}") from error


@dataclass(frozen=True, eq=False)
class BagDrive:
    """The way and the scans of a robot of a bag.

    Attributes:
        space: its namespace, such as ``/scout0``; empty for topics without one.
        odometry: poses in its frame of odometry.
        odometry_frame: this frame.
        log: scans of its lidars with odometry; None: no scans.
        frames: its transforms.
    """

    space: str
    odometry: PoseTrack
    odometry_frame: str
    log: Log | None
    frames: TransformTree


class Topics:
    """The messages of a bag, by type and topic.

    Args:
        messages: for each type the topics, and for each topic the time of arrival [s] and the message, in their order.
    """

    def __init__(self, messages: dict[str, dict[str, list[tuple[float, Any]]]]):
        self._messages = messages

    def of(self, kind: str) -> dict[str, list[tuple[float, Any]]]:
        """Return the topics of a type that have messages."""
        return {topic: messages for topic, messages in self._messages.get(kind, {}).items() if messages}

    def chosen(self, space: str, kinds: tuple[str, ...], name: str, but: str = "") -> list[list[tuple[float, Any]]]:
        """Return the topics of these types below a namespace: first the one with this name, then by most messages."""
        mine = {
            topic: messages
            for kind in kinds
            for topic, messages in self.of(kind).items()
            if topic.startswith(f"{space}/") and last_of(topic) != but
        }
        order = sorted(mine, key=lambda topic: (topic == f"{space}/{name}", len(mine[topic])), reverse=True)
        return [mine[topic] for topic in order]

    def robots(self, name: str) -> tuple[list[BagDrive], str]:
        """Return the robots, by namespace, and why others with scans are none; empty: there are none.

        Raises:
            InvalidValueError: of a robot's lidars each is tilted; or scans and odometry do not fit, see `log_of`.
        """
        scans, odometry = self.of(SCAN), self.of(ODOMETRY)
        spaces = {space_of(topic) for topic in scans} | {space_of(t) for t in odometry if last_of(t) == "odom"}
        robots, why = [], ""
        for space in sorted(spaces or {space_of(topic) for topic in odometry}):
            robot, said = self._robot(name, space)
            robots += [] if robot is None else [robot]
            why = why or said
        moved = [topic for topic in odometry if last_of(topic) != TRUTH]
        if scans and len(moved) == 1 and not any(one.log for one in robots):  # /rplidar/scan and /base/odom
            robots = [one for one in (self._robot(name, "")[0],) if one is not None]
        return robots, why

    def _robot(self, bag: str, space: str) -> tuple[BagDrive | None, str]:
        frames = TransformTree({topic: [one for _, one in each] for topic, each in self.of(TF).items()}, space)
        odometry, fans = self.chosen(space, (ODOMETRY,), "odom", but=TRUTH), self.chosen(space, (SCAN,), "scan")
        if odometry:
            first = odometry[0][0][1]
            frame, base = first.header.frame_id, first.child_frame_id
            track = track_of(odometry[0], lambda one: planar(one.pose.pose.position, one.pose.pose.orientation))
        elif fans:
            scan = fans[0][0][1].header.frame_id
            if (found := frames.odometry_above(scan)) is None:
                return None, (
                    f"no {ODOMETRY}, and no transforms that lead from a frame odom to the frame {scan!r} of its scans; "
                    f"its transforms: {frames.known()}"
                )
            frame, base = found
            track = frames.above(base)
            assert track is not None
        else:
            return None, ""
        log = None
        if fans:
            name = space.strip("/").replace("/", "_") or bag
            log = self._log(name, fans, track, frames, base)
        return BagDrive(space, track, frame, log, frames), ""

    def _log(
        self, name: str, fans: list[list[tuple[float, Any]]], track: PoseTrack, frames: TransformTree, base: str
    ) -> Log:
        """Return the log of the lidars that are not tilted; of several topics with one frame the first counts.

        If it is not known where the first one is, it is the only one; else all whose place is known. Scans in the frame
        of the robot itself are made from those of others, and count alone or not at all.
        """
        refused: InvalidValueError | None = None
        logs, taken, placed = list[Log](), set[str](), True
        for scans in fans:
            frame = scans[0][1].header.frame_id.lstrip("/")
            try:
                mount, doubt = frames.mount(base, frame)
                is_placed = frame not in {base.lstrip("/"), *_BASES} and (not doubt or frames.holds(frame))
                if frame not in taken and (not logs or (placed and is_placed)):
                    logs.append(log_of(name, [one for _, one in scans], track, mount, (doubt,) if doubt else ()))
                    placed = is_placed
                    taken.add(frame)
            except InvalidValueError as error:
                refused = refused or error
        if not logs:
            assert refused is not None
            raise InvalidValueError(f"the robot {name} of the bag: {refused}") from refused
        return taking_turns(name, logs, [log.times for log in logs])


def read_bag(path: str | Path) -> Log:
    """Read the log of a bag; of several robots that with most scans.

    Args:
        path: a ``.bag`` file of ROS 1, a folder, ``.mcap`` or ``.db3`` file of ROS 2.

    Raises:
        CoveyError: the library ``rosbags`` is not installed.
        InvalidValueError: the bag is missing or damaged, or has no scans or no odometry.
    """
    path = Path(path)
    with opened(path) as reader:
        known = ", ".join(sorted({one.msgtype for one in reader.connections})) or "nothing"
        robots, why = topics_of(reader, (SCAN, ODOMETRY, TF)).robots(path.stem)
        scans = any(one.msgtype == SCAN and one.msgcount for one in reader.connections)
    logs = [one.log for one in robots if one.log is not None]
    if not logs:
        lacks = f"no {SCAN}" if not scans else why or f"no {ODOMETRY} beside its scans"
        raise InvalidValueError(f"{path} has {lacks}; a log needs scans and odometry. It has: {known}")
    return max(logs, key=len)


def topics_of(reader: Any, kinds: tuple[str, ...]) -> Topics:
    """Read all messages of some types."""
    found: dict[str, dict[str, list[tuple[float, Any]]]] = {}
    wanted = [one for one in reader.connections if one.msgtype in kinds]
    for connection, at, data in reader.messages(connections=wanted) if wanted else ():  # none would mean all
        topics = found.setdefault(connection.msgtype, {})
        topics.setdefault(connection.topic, []).append((1e-9 * at, reader.deserialize(data, connection.msgtype)))
    return Topics(found)


def log_of(name: str, scans: list[Any], odometry: PoseTrack, mount: Mount, remarks: tuple[str, ...] = ()) -> Log:
    """Return the log of messages ``LaserScan``, in the order of the bag.

    Args:
        name: of the log.
        scans: the messages; each may have beams of its own.
        odometry: poses of the robot.
        mount: of the lidar.
        remarks: what is already known to be odd.

    Raises:
        InvalidValueError: there are none, or no scan has odometry before and after it.
    """
    said, at, poses = list(remarks), odometry.times, odometry.values
    full = [one for one in scans if len(one.ranges) and one.angle_increment]
    if len(full) < len(scans):
        said.append(f"{len(scans) - len(full)} of {len(scans)} scans have no beams, and are left out.")
    if not full or not len(at):
        raise InvalidValueError(f"the bag {name} has {len(full)} scans with beams and {len(at)} poses of odometry")
    times = np.array([stamp_of(one) for one in full])
    inside = np.flatnonzero((times >= at[0]) & (times <= at[-1]))
    if not len(inside):
        raise InvalidValueError(
            f"the bag {name}: no scan has odometry before and after it: the scans are from {times.min():.3f} to "
            f"{times.max():.3f} s, the odometry is from {at[0]:.3f} to {at[-1]:.3f} s; are the clocks the same?"
        )
    if len(inside) < len(full):
        said.append(
            f"{len(full) - len(inside)} of {len(full)} scans have no odometry before and after, and are left out."
        )
    full, times = [full[k] for k in inside], times[inside]
    after = np.clip(np.searchsorted(at, times, side="left"), 1, max(len(at) - 1, 1))
    after = np.minimum(after, len(at) - 1)
    before = np.maximum(after - 1, 0)
    span = at[after] - at[before]
    share = np.where(span > 0.0, (times - at[before]) / np.where(span > 0.0, span, 1.0), 0.0)
    found = compose(poses[before], share[:, None] * relative(poses[before], poses[after]))
    fans = joined(*zip(*(_beams(one, mount.upside_down) for one in full), strict=True))
    said += [fans.remark] if fans.remark else []
    ranges = fans.ranges
    least, most = (np.array([getattr(one, name) for one in full])[:, None] for name in ("range_min", "range_max"))
    with np.errstate(invalid="ignore"):
        ranges[ranges < least] = np.nan
        ranges[(ranges >= most) & (most < most.max())] = np.inf  # no return, although others reach farther
    laser = Laser(fans.angles, float(most.max()), mount.pose)
    rows = np.arange(len(found))
    return Log(name, laser, ranges, found, times, found, rows, fans=fans.each, remarks=tuple(said))


def _beams(scan: Any, upside_down: bool) -> tuple[float, float, np.ndarray]:
    """Return the bearing of the first beam, the step to the next one [rad], and the ranges [m]."""
    count = len(scan.ranges)
    if not upside_down:
        return scan.angle_min, scan.angle_increment, scan.ranges
    angles, ranges = seen_from_above(
        scan.angle_min + scan.angle_increment * np.arange(count), scan.ranges, upside_down=True
    )
    return float(angles[0]), scan.angle_increment, ranges


def track_of(messages: list[tuple[float, Any]], values_of) -> PoseTrack:
    """Return stamped values in the order of their stamps; a message without a header has the time of its arrival."""
    times = [stamp_of(one) if hasattr(one, "header") else at for at, one in messages]
    order, values = np.argsort(times, kind="stable"), np.array([values_of(one) for _, one in messages], float)
    return PoseTrack(np.array(times, float)[order], values[order])


def space_of(topic: str) -> str:
    """Return the namespace of a topic: ``/scout0`` of ``/scout0/scan``; empty for ``/scan``."""
    return topic.rpartition("/")[0]


def last_of(topic: str) -> str:
    """Return the last part of the name of a topic."""
    return topic.rpartition("/")[2]
