"""`Senses`: what a controller that is a node of ROS 2 hears of its robot: odometry, frames and readings.

Times are nanoseconds. A message that comes twice is taken once, by its stamp.
"""

import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from covey.geometry.mounting import Mount, planar_mount, seen_from_above, transform_of
from covey.geometry.se2 import Pose
from covey.ros import messages as m
from covey.ros.dds import Node, Reader
from covey.ros.node_setup import NodeSetup
from covey.ros.qos import LATCHED, ODOMETRY, SENSOR, TF, QosProfile
from covey.ros.types import MessageError
from covey.sensors.bumper import BumperReading
from covey.sensors.cloud import CloudReadings
from covey.sensors.imu import ImuReading
from covey.sensors.lidar import LidarReading
from covey.sensors.neighbours import NeighboursReading
from covey.sensors.proximity import ProximityReading
from covey.sensors.tag_camera import TagCameraReading

_SAME_M, _SAME_RAD = 1e-3, 1e-4
"""Numbers that have gone through ROS and differ by less than this from the record's are the record's."""
MOST_RAYS = 10_000
_MOST_POINTS = 4_000_000
_KEPT = 200
"""How many poses of the odometry are kept, to know where the robot was at a scan."""
_MOST = 64
"""How many readings of a sensor are kept between two steps."""


class Sense:
    """One sensor of the robot, as a topic.

    Attributes:
        record: of the sensor.
        stamp_ns: of its newest message; None: none has come.
        newest: this message.
        missing: it was waited for in vain, and is not waited for until it comes again.
    """

    def __init__(self, record: Any, reader: Reader, stamp_of: Callable[[Any], int | None], read: Callable[[Any], Any]):
        self.record, self.reader, self._stamp_of, self._read = record, reader, stamp_of, read
        self.stamp_ns: int | None = None
        self.newest: Any = None
        self._come: deque[tuple[int, Any]] = deque(maxlen=_MOST)
        self.missing = False

    def poll(self, decode: Callable[[str, bytes], Any], now_ns: int | None) -> None:
        """Take what has come; a message without a stamp is of ``now_ns``."""
        for data in self.reader.take():
            message = decode(self.reader.kind, data)
            if message is None:
                continue
            stamp_ns = self._stamp_of(message)
            stamp_ns = now_ns if stamp_ns is None else stamp_ns
            if stamp_ns is None or (self.stamp_ns is not None and stamp_ns <= self.stamp_ns):
                continue
            self.stamp_ns, self.newest, self.missing = stamp_ns, message, False
            self._come.append((stamp_ns, message))

    def new_readings(self) -> list[tuple[int, Any]]:
        """Return times and readings since the last call, oldest first; what no reading can be made of is left out."""
        come, self._come = [*self._come], deque[tuple[int, Any]](maxlen=_MOST)
        readings = ((stamp_ns, self._read(message)) for stamp_ns, message in come)
        return [(stamp_ns, reading) for stamp_ns, reading in readings if reading is not None]

    def forget(self) -> None:
        """Forget what has come."""
        self.stamp_ns, self.missing = None, False
        self._come.clear()

    def lacks(self, now_ns: int) -> bool:
        """Return whether a reading that should have come by now has not."""
        period_ns = 1e9 / self.record.rate_hz
        return self.stamp_ns is not None and not self.missing and now_ns - self.stamp_ns > 0.999 * period_ns


class Senses:
    """What a node hears of its robot.

    Args:
        node: of the controller, in the namespace of the robot.
        setup: the robot.
        prefixed: transforms come on /tf and /tf_static for all robots.

    Attributes:
        odom_ns: time of the newest odometry; None: none has come.
        base: frame of the robot's base, as its odometry says.
        bad: number of messages that could not be read.
    """

    def __init__(self, node: Node, setup: NodeSetup, prefixed: bool):
        self._types, self._setup = node.participant.types, setup
        self.bad = 0
        self._odometry = node.reader("odom", m.OdometryMessage.TYPE, ODOMETRY.best_effort())
        self._pose = node.reader("pose", m.EstimateMessage.TYPE, ODOMETRY.best_effort())
        at = "/" if prefixed else ""
        self._tf = node.reader(f"{at}tf", m.Transforms.TYPE, TF.best_effort())
        self._static = node.reader(f"{at}tf_static", m.Transforms.TYPE, LATCHED)
        self._contact = node.reader("contact", "std_msgs/msg/Bool", SENSOR.best_effort())
        self.sensors = {record.name: sense for record in setup.sensors if (sense := self._sense(node, record))}
        self.scans, self.gyro = self._needed(node, setup.scans), self._needed(node, setup.gyro)
        self._frames: dict[str, tuple[str, np.ndarray]] = {}  # parent of a frame, and its pose (4, 4) in it
        self._moving: dict[str, tuple[str, np.ndarray]] = {}  # the same of frames that move, such as on a slope
        records = {record.name: record for record in setup.spawn.spec.model.sensors}
        self.grounds = [self._ground(node, records[name]) for name in setup.grounds]
        self.begin()

    def begin(self) -> None:
        """Forget what was heard: time begins anew."""
        self.odom_ns: int | None = None
        self.base, self._odom_frame = m.FOOTPRINT, m.ODOM
        self._track: deque[tuple[int, Pose]] = deque(maxlen=_KEPT)
        self._map_odom: Pose | None = None
        self._estimate: tuple[int, Pose, tuple[float, ...]] | None = None
        self._touched = False
        for sense in self.all:
            sense.forget()

    # -- taking what has come ------------------------------------------------------------------------------------------

    def poll(self, now_ns: int | None) -> None:
        """Take all messages that have come."""
        for data in self._odometry.take():
            if (message := self.decode(self._odometry.kind, data)) is not None:
                self._take_odometry(message)
        if data := self._static.take():
            for message in filter(None, (self.decode(self._static.kind, one) for one in data)):
                for one in message.transforms:
                    pose = transform_of(one.transform.translation, one.transform.rotation)
                    self._frames[one.child_frame_id] = one.header.frame_id, pose
        for data in self._tf.take()[-20:]:
            if (message := self.decode(self._tf.kind, data)) is not None:
                for one in message.transforms:
                    if one.child_frame_id == self._odom_frame:
                        self._map_odom = _planar(one.transform)
                    elif self.grounds:
                        pose = transform_of(one.transform.translation, one.transform.rotation)
                        self._moving[one.child_frame_id] = one.header.frame_id, pose
        for data in self._pose.take()[-1:]:
            if (message := self.decode(self._pose.kind, data)) is not None:
                pose = m.planar_pose(message.pose.pose)
                if pose is not None:
                    spread = np.asarray(message.pose.covariance).reshape(6, 6)[np.ix_((0, 1, 5), (0, 1, 5))]
                    spread = np.where(spread >= m.UNKNOWN, np.nan, spread)
                    self._estimate = ns_of(message.header.stamp), pose, tuple(spread.ravel().tolist())
        for data in self._contact.take():
            message = self.decode(self._contact.kind, data)
            self._touched |= message is not None and bool(message.data)
        for sense in self.all:
            sense.poll(self.decode, now_ns)

    def decode(self, kind: str, data: bytes) -> Any:
        """Return a message; None, and count it, if the bytes are none."""
        try:
            return self._types.decode(kind, data)
        except MessageError:
            self.bad += 1
            return None

    @property
    def odom_topic(self) -> str:
        """The topic of its odometry."""
        return self._odometry.topic.removeprefix("rt")

    def lacks(self, now_ns: int) -> bool:
        """Return whether odometry or a reading of this time is still to come."""
        return self.odom_ns != now_ns or any(sense.lacks(now_ns) for sense in self.all)

    def give_up(self, now_ns: int) -> None:
        """Do not wait any more for sensors that have nothing of this time, until they come again."""
        for sense in self.all:
            sense.missing = sense.missing or sense.lacks(now_ns)

    def unknown(self) -> str:
        """Return what of the lidar that maps is not known: its scans, or its frame; empty: nothing."""
        if self.scans is None:
            return ""
        if self.scans.newest is None:
            return f"nothing comes on {self.scans.reader.topic.removeprefix('rt')}"
        frame = self.scans.newest.header.frame_id
        return (
            f"tf_static does not say where {frame or 'a scan without a frame'} is" if self._mount(frame) is None else ""
        )

    # -- what it means -------------------------------------------------------------------------------------------------

    def pose(self, now_ns: int, home: Pose) -> tuple[Pose, tuple[float, ...]]:
        """Return the estimated pose in the map, and its covariance, nine numbers; empty: not known.

        It is that of ``pose`` if it is of this time, else of the frames, else by odometry from ``home``, its start.
        """
        if self._estimate is not None and self._estimate[0] == now_ns:
            return self._estimate[1], self._estimate[2]
        return (home if self._map_odom is None else self._map_odom) @ self.odometry, ()

    @property
    def odometry(self) -> Pose:
        """The newest pose in the frame odom."""
        return self._track[-1][1]

    def moved_since(self, then_ns: int) -> Pose:
        """Return the newest pose in the frame of the robot at an earlier time, by odometry."""
        after = self._track[-1]
        for before in reversed(self._track):
            if before[0] <= then_ns:
                share = 0.0 if after[0] == before[0] else min(1.0, (then_ns - before[0]) / (after[0] - before[0]))
                step = before[1].inverse() @ after[1]
                at = before[1] @ Pose(share * step.x, share * step.y, share * step.heading)
                return at.inverse() @ self._track[-1][1]
            after = before
        return after[1].inverse() @ self._track[-1][1]

    def touched(self) -> bool:
        """Return, once, whether it has touched something."""
        touched, self._touched = self._touched, False
        return touched

    def fan(self) -> LidarReading | None:
        """Return the newest scan for the map; None if there is none."""
        if self.scans is None or self.scans.newest is None:
            return None
        return self._lidar(self.scans.record, self.scans.newest)

    def _mount(self, frame: str) -> Mount | None:
        """Return how the lidar of a frame is mounted on the base; None: not known.

        Raises:
            InvalidValueError: it is tilted.
        """
        pose = self._place(frame, self._frames)
        return None if pose is None else planar_mount(pose, frame)

    def _place(self, frame: str, frames: Mapping[str, tuple[str, np.ndarray]]) -> np.ndarray | None:
        """Return the pose (4, 4) of a frame in that of the base; None: not known."""
        pose = np.eye(4)
        for _ in range(20):  # a loop of frames has no end
            if frame == self.base:
                return pose
            if frame not in frames:
                return None
            frame, above = frames[frame]
            pose = above @ pose
        return None

    def _take_odometry(self, message: Any) -> None:
        pose, stamp_ns = m.planar_pose(message.pose.pose), ns_of(message.header.stamp)
        if pose is None or (self.odom_ns is not None and stamp_ns <= self.odom_ns):
            return
        self.odom_ns = stamp_ns
        self._odom_frame, self.base = message.header.frame_id or m.ODOM, message.child_frame_id or m.FOOTPRINT
        self._track.append((stamp_ns, pose))

    @property
    def all(self) -> list[Sense]:
        """Its sensors."""
        needed = [sense for sense in (self.scans, self.gyro, *self.grounds) if sense is not None]
        return [*self.sensors.values(), *(sense for sense in needed if sense not in self.sensors.values())]

    # -- sensors -------------------------------------------------------------------------------------------------------

    def _needed(self, node: Node, name: str | None) -> Sense | None:
        """Return a sensor of the robot, which its controller need not read."""
        if name is None or name in self.sensors:
            return self.sensors.get(name or "")
        return self._sense(node, next(s for s in self._setup.spawn.spec.model.sensors if s.name == name))

    def _sense(self, node: Node, record: Any) -> Sense | None:
        made = {
            "scan": ("sensor_msgs/msg/LaserScan", _of_header, self._lidar),
            "ring": ("sensor_msgs/msg/LaserScan", _of_header, _ring),
            "imu": ("sensor_msgs/msg/Imu", _of_header, _imu),
            "bearings": ("std_msgs/msg/Float64MultiArray", _unknown, _bumper),
            "robots": ("visualization_msgs/msg/MarkerArray", _of_markers, _neighbours),
            "tags": ("visualization_msgs/msg/MarkerArray", _of_markers, _tag_camera),
            "numbers": ("std_msgs/msg/Float64MultiArray", _unknown, lambda of, message: of.reading(message.data)),
        }.get(record.form)
        if made is None:
            return None
        kind, stamp_of, read = made
        first = next((s.name for s in self._setup.spawn.spec.model.sensors if "scan" in s.feeds), None)
        every = QosProfile(_MOST).best_effort()  # also of a sensor with many samples in a step
        reader = node.reader("scan" if record.name == first else record.name, kind, every)
        return Sense(record, reader, stamp_of, lambda message: read(record, message))

    def _ground(self, node: Node, record: Any) -> Sense:
        """Return a sensor with which the robot maps the ground."""
        topic, kind, read = record.name, "sensor_msgs/msg/PointCloud2", points_of
        if record.form == "depth":
            topic, kind, read = (
                f"{topic}/image_raw",
                "sensor_msgs/msg/Image",
                lambda message: depths_of(record, message),
            )
        reader = node.reader(topic, kind, QosProfile(_MOST).best_effort())
        return Sense(record, reader, _of_header, lambda message: self._cloud(record, message, read(message)))

    def _cloud(self, record: Any, message: Any, points: np.ndarray | None) -> CloudReadings | None:
        """Return points (k, 3) in the frame of a message as those about a robot that stands level."""
        frame = message.header.frame_id
        pose = self._place(frame, self._moving | self._frames)
        if pose is None or points is None:
            return None
        eye = pose[:3, 3]
        if frame == self.base:  # as of a wedge, whose points are where they are seen from above
            body = next((place for above, place in self._moving.values() if above == self.base), np.eye(4))
            eye = (body @ (record.mount_x_m, record.mount_y_m, record.height_m, 1.0))[:3]
        points = points @ pose[:3, :3].T + pose[:3, 3]
        ranges = np.linalg.norm(points - eye, axis=1)
        return CloudReadings(ranges[None], points[None], record.sigma_m, eye[None].copy())

    def _lidar(self, record: Any, message: Any) -> LidarReading | None:
        ranges, near, far = message.ranges, message.range_min, message.range_max
        spread = message.angle_min, message.angle_increment, near, far
        if not 0 < len(ranges) <= MOST_RAYS or not all(map(math.isfinite, spread)) or far <= 0:
            return None
        angles = message.angle_min + message.angle_increment * np.arange(len(ranges))
        known = self._mount(message.header.frame_id)
        if known is not None:
            angles, ranges = seen_from_above(angles, ranges, upside_down=known.upside_down)
        if len(ranges) == len(record.angles) and np.abs(angles - record.angles).max() < _SAME_RAD:
            angles = record.angles
        range_m = record.range_m if abs(far - record.range_m) < _SAME_M else float(far)
        mount = record.mount if known is None else np.array(known.pose)
        if np.abs(mount - record.mount).max() < _SAME_M:
            mount = record.mount
        ranges = np.where(ranges > np.float32(far), np.inf, ranges).astype(np.float64)
        ranges[ranges < np.float32(near)] = np.nan
        return LidarReading(ranges, angles, range_m, mount)


def ns_of(stamp: Any) -> int:
    """Return a builtin_interfaces/Time as nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def points_of(message: Any) -> np.ndarray | None:
    """Return the points of a sensor_msgs/PointCloud2, float64 (k, 3) [m]; None: it has no x, y and z."""
    kinds = {7: "f4", 8: "f8"}
    end = ">" if message.is_bigendian else "<"
    fields = {one.name: (end + kinds[one.datatype], int(one.offset)) for one in message.fields if one.datatype in kinds}
    count, step = int(message.width) * int(message.height), int(message.point_step)
    if not {*"xyz"} <= fields.keys() or count > _MOST_POINTS or count * step != len(message.data):
        return None
    if any(offset + int(kind[2:]) > step for kind, offset in fields.values()):
        return None
    formats, offsets = zip(*(fields[name] for name in "xyz"), strict=True)
    kind = np.dtype({"names": ["x", "y", "z"], "formats": formats, "offsets": offsets, "itemsize": step})
    points = np.frombuffer(bytes(message.data), kind, count)
    return _finite(np.column_stack([points[name].astype(np.float64) for name in "xyz"]))


def depths_of(record: Any, message: Any) -> np.ndarray | None:
    """Return the points of a depth image in its optical frame, float64 (k, 3) [m]: to the right, down and ahead.

    None: its size or its encoding is another than that of the record, whose field of view counts.
    """
    rows, columns = int(message.height), int(message.width)
    if (rows, columns) != (record.height, record.width) or message.encoding != "32FC1":
        return None
    if int(message.step) != 4 * columns or len(message.data) != 4 * rows * columns:
        return None
    depth = np.frombuffer(bytes(message.data), ">f4" if message.is_bigendian else "<f4").astype(np.float64)
    ahead, left, up = record.directions.T
    return _finite(np.column_stack((-left / ahead, -up / ahead, np.ones(len(ahead)))) * depth[:, None])


def _finite(points: np.ndarray) -> np.ndarray:
    """Return points (k, 3) without those that hit nothing."""
    return points[np.isfinite(points).all(axis=1)]


def _planar(transform: Any) -> Pose:
    at, turn = transform.translation, transform.rotation
    return Pose(at.x, at.y, m.yaw_of(turn.x, turn.y, turn.z, turn.w))


def _of_header(message: Any) -> int:
    return ns_of(message.header.stamp)


def _of_markers(message: Any) -> int | None:
    return ns_of(message.markers[0].header.stamp) if message.markers else None


def _unknown(_message: Any) -> None:
    return None


def _ring(record: Any, message: Any) -> ProximityReading | None:
    if len(message.ranges) != record.sectors:
        return None
    ranges = message.ranges.astype(np.float64) - record.ring_radius_m
    return ProximityReading(np.isfinite(ranges), ranges, math.tau / record.sectors * np.arange(record.sectors))


def _imu(_record: Any, message: Any) -> ImuReading:
    a = message.linear_acceleration
    return ImuReading(message.angular_velocity.z, np.array([a.x, a.y, a.z]))


def _bumper(_record: Any, message: Any) -> BumperReading:
    bearings = np.array(message.data, float)
    return BumperReading(len(bearings) > 0, float(bearings[-1]) if len(bearings) else math.nan, bearings)


def _seen(message: Any) -> tuple[list[Any], np.ndarray]:
    """Return what was seen, and its places (k, 3): a MarkerArray without the marker that deletes those before."""
    seen = [one for one in message.markers if one.action == 0]
    return seen, np.array([(p.x, p.y, p.z) for p in (one.pose.position for one in seen)], float).reshape(-1, 3)


def _neighbours(_record: Any, message: Any) -> NeighboursReading | None:
    seen, at = _seen(message)
    if not np.isfinite(at).all():
        return None
    away, bearings = np.hypot(at[:, 0], at[:, 1]), np.arctan2(at[:, 1], at[:, 0])
    return NeighboursReading(away, bearings, np.array([one.id for one in seen], np.int64), np.full(len(seen), np.nan))


def _tag_camera(record: Any, message: Any) -> TagCameraReading | None:
    seen, at = _seen(message)
    if not np.isfinite(at).all():
        return None
    x, y = (at[:, :2] - record.mount[:2]).T
    names, kinds = np.array([one.id for one in seen], np.int64), np.array([one.ns for one in seen], str)
    return TagCameraReading(names, kinds, np.hypot(x, y), np.arctan2(y, x), at)
