"""Readings, poses and maps of Covey as ROS messages: pure functions, without any transport.

A message is a dict of its fields, nested like the message, where what is left out is zero; `Types.encode` makes its
bytes. Scans, odometry and transforms, which are sent in each step, have buffers that were encoded once: only the
numbers that change are written into them.

Frames follow REP 105 (map, odom, base_footprint, base_link) and REP 103 (x ahead, y left, z up; z ahead if optical).

References:
    ROS REP 103, 105, 117 (ranges beyond the largest are +inf, lost ones NaN) and 118 (depth images).
"""

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.ros.types import Types

MAP, ODOM, FOOTPRINT, BASE = "map", "odom", "base_footprint", "base_link"
"""Names of the frames of REP 105, and of the base, which stands on the ground and leans with it."""
OPTICAL = (-0.5, 0.5, -0.5, 0.5)
"""Quaternion x, y, z, w of the optical frame (right, down, ahead) in the frame of its camera."""
_MARK = 0x5EED5EED
_PLANAR = np.ix_((0, 1, 5), (0, 1, 5))
UNKNOWN = 1e6
"""Variance of what is not known [m², rad² or their like per s²]; 0 would say that it is exact."""
_LINE_LIST, _CUBE = 5, 1

Stamp = tuple[int, int]
"""Seconds and nanoseconds."""
Fields = dict[str, Any]
"""A message: its fields, nested; what is left out is zero."""


def stamp_of(substeps: int, substep_s: float) -> Stamp:
    """Return the time of a substep.

    Examples:
        >>> stamp_of(123, 0.01)
        (1, 230000000)
    """
    return divmod(substeps * round(substep_s * 1e9), 1_000_000_000)


def header(stamp: Stamp, frame: str) -> Fields:
    """Return a std_msgs/Header."""
    return {"stamp": time(stamp), "frame_id": frame}


def time(stamp: Stamp) -> Fields:
    """Return a builtin_interfaces/Time."""
    return {"sec": stamp[0], "nanosec": stamp[1]}


def quaternion(yaw: float, pitch: float = 0.0, roll: float = 0.0) -> Fields:
    """Return the rotation by roll about x, then pitch about y, then yaw about z [rad]."""
    x, y, z, w = quaternions(np.array(yaw), np.array(pitch), np.array(roll)).tolist()
    return {"x": x, "y": y, "z": z, "w": w}


def quaternions(yaw: np.ndarray, pitch: np.ndarray, roll: np.ndarray) -> np.ndarray:
    """Return quaternions x, y, z, w, shape (..., 4), of rotations [rad]: roll about x, then pitch, then yaw."""
    cy, sy, cp, sp, cr, sr = (f(0.5 * a) for a in (yaw, pitch, roll) for f in (np.cos, np.sin))
    return np.stack(
        (
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ),
        axis=-1,
    )


def rows_of(poses: np.ndarray, altitude_roll_pitch: np.ndarray | None = None) -> np.ndarray:
    """Return poses (n, 3) as x, y, z [m] and quaternion x, y, z, w, float64 (n, 7)."""
    flat = np.zeros((len(poses), 3)) if altitude_roll_pitch is None else altitude_roll_pitch
    turn = quaternions(poses[:, 2], flat[:, 2], flat[:, 1])
    return np.column_stack((poses[:, :2], flat[:, 0], turn))


def speeds_of(motion: np.ndarray) -> np.ndarray:
    """Return the constant twists, times the time, that lead to motions x, y [m], heading [rad], (m, 3): logarithms.

    Examples:
        >>> speeds_of(np.array([[1.0, 1.0, 0.5 * math.pi]])).round(6).tolist()  # a quarter of a circle of 1 m
        [[1.570796, 0.0, 1.570796]]
    """
    half = 0.5 * motion[:, 2]
    shrink = np.where(np.abs(half) < 1e-6, 1.0 - half**2 / 3.0, half / np.tan(np.where(half == 0.0, 1.0, half)))
    x, y = motion[:, 0], motion[:, 1]
    return np.column_stack((shrink * x + half * y, shrink * y - half * x, motion[:, 2]))


def yaw_of(x: float, y: float, z: float, w: float) -> float:
    """Return the heading [rad] of a quaternion."""
    return math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def known(covariance: np.ndarray) -> np.ndarray:
    """Return a covariance (k, k) for a message: a row or column that is not known, NaN, has the variance `UNKNOWN`.

    Examples:
        >>> known(np.array([[0.1, np.nan], [np.nan, np.nan]])).tolist()
        [[0.1, 0.0], [0.0, 1000000.0]]
    """
    missing = np.isnan(covariance)
    return np.where(missing, UNKNOWN * np.eye(len(covariance)), covariance) if missing.any() else covariance


def pose(at: Sequence[float], z: float = 0.0) -> Fields:
    """Return a geometry_msgs/Pose of x, y [m], heading [rad]."""
    return {"position": {"x": float(at[0]), "y": float(at[1]), "z": z}, "orientation": quaternion(float(at[2]))}


# -- sent in each step: encoded once -----------------------------------------------------------------------------------


class ScanMessage:
    """A sensor_msgs/LaserScan whose stamp and ranges change.

    Args:
        types: of the distribution.
        frame: name of the frame of the fan.
        angles: directions of the rays [rad], evenly spread, counter-clockwise, in the frame.
        range_m: smallest and largest range [m].
        period_s: time between two scans [s].
    """

    TYPE = "sensor_msgs/msg/LaserScan"

    def __init__(self, types: Types, frame: str, angles: np.ndarray, range_m: tuple[float, float], period_s: float):
        n = len(angles)
        values = {
            "header": header((0, 0), frame),
            "angle_min": float(angles[0]),
            "angle_max": float(angles[-1]),
            "angle_increment": float(angles[1] - angles[0]) if n > 1 else math.tau,
            "scan_time": period_s,
            "range_min": range_m[0],
            "range_max": range_m[1],
            "ranges": np.zeros(n, np.float32),
        }
        self._buffer = bytearray(types.encode(self.TYPE, values))
        self._ranges = np.frombuffer(self._buffer, "<f4", n, len(self._buffer) - 4 - 4 * n)

    def encode(self, stamp: Stamp, ranges: np.ndarray) -> bytes:
        """Return the bytes; ``ranges``: (rays,) [m]."""
        struct.pack_into("<iI", self._buffer, 4, *stamp)
        self._ranges[:] = ranges
        return bytes(self._buffer)


class OdometryMessage:
    """A nav_msgs/Odometry whose stamp, pose, twist and covariances change.

    Args:
        types: of the distribution.
        frame, child: names of its frames.
        planar: altitude, roll and pitch are 0, and that is known; otherwise nothing is known about them.
    """

    TYPE = "nav_msgs/msg/Odometry"

    def __init__(self, types: Types, frame: str, child: str, *, planar: bool = True):
        values = {"header": header((0, 0), frame), "child_frame_id": child}
        self._buffer = bytearray(types.encode(self.TYPE, values))
        numbers = np.frombuffer(self._buffer, "<f8", 85, len(self._buffer) - 8 * 85)
        self._pose, self._twist = numbers[:7], numbers[43:49]
        self._spread, self._twist_spread = numbers[7:43].reshape(6, 6), numbers[49:].reshape(6, 6)
        if not planar:
            for spread in (self._spread, self._twist_spread):
                spread[2, 2] = spread[3, 3] = spread[4, 4] = UNKNOWN

    def encode(
        self,
        stamp: Stamp,
        row: np.ndarray,
        twist: Sequence[float],
        spread: np.ndarray | None = None,
        twist_spread: np.ndarray | None = None,
    ) -> bytes:
        """Return the bytes.

        Args:
            stamp: the time.
            row: pose as in `rows_of`.
            twist: vx, vy [m/s], omega [rad/s] of the child.
            spread, twist_spread: covariances (3, 3) of x, y and heading, and of the twist; NaN is `UNKNOWN`; None: 0.
        """
        struct.pack_into("<iI", self._buffer, 4, *stamp)
        self._pose[:] = row
        self._twist[0], self._twist[1], self._twist[5] = twist
        if spread is not None:
            self._spread[_PLANAR] = known(spread)
        if twist_spread is not None:
            self._twist_spread[_PLANAR] = known(twist_spread)
        return bytes(self._buffer)


class EstimateMessage:
    """A geometry_msgs/PoseWithCovarianceStamped whose stamp, pose and covariance change."""

    TYPE = "geometry_msgs/msg/PoseWithCovarianceStamped"

    def __init__(self, types: Types, frame: str):
        self._buffer = bytearray(types.encode(self.TYPE, {"header": header((0, 0), frame)}))
        numbers = np.frombuffer(self._buffer, "<f8", 43, len(self._buffer) - 8 * 43)
        self._pose, self._covariance = numbers[:7], numbers[7:].reshape(6, 6)

    def encode(self, stamp: Stamp, row: np.ndarray, planar: Sequence[float]) -> bytes:
        """Return the bytes; ``row``: pose as in `rows_of`; ``planar``: covariance of x, y, heading, nine numbers."""
        struct.pack_into("<iI", self._buffer, 4, *stamp)
        self._pose[:] = row
        self._covariance[_PLANAR] = known(np.reshape(planar, (3, 3)))
        return bytes(self._buffer)


class Transforms:
    """A tf2_msgs/TFMessage of several transforms with one stamp.

    Args:
        types: of the distribution.
        frames: parent and child frame of each transform.
    """

    TYPE = "tf2_msgs/msg/TFMessage"

    def __init__(self, types: Types, frames: Iterable[tuple[str, str]]):
        marks = [(parent, child, float(_MARK + k)) for k, (parent, child) in enumerate(frames)]
        values = [
            {
                "header": header((_MARK, _MARK), parent),
                "child_frame_id": child,
                "transform": {"translation": {"x": mark}},
            }
            for parent, child, mark in marks
        ]
        self._buffer = bytearray(types.encode(self.TYPE, {"transforms": values}))
        self._stamps, self._rows, at = [], [], 0
        for _, _, mark in marks:
            self._stamps.append(at := self._buffer.index(struct.pack("<iI", _MARK, _MARK), at))
            self._rows.append(at := self._buffer.index(struct.pack("<d", mark), at))

    def encode(self, stamp: Stamp, rows: np.ndarray) -> bytes:
        """Return the bytes; ``rows``: poses of the children in their parents, as in `rows_of`."""
        packed = struct.pack("<iI", *stamp)
        for at, place, row in zip(self._stamps, self._rows, rows, strict=True):
            self._buffer[at : at + 8] = packed
            self._buffer[place : place + 56] = row.tobytes()
        return bytes(self._buffer)


def clock(stamp: Stamp) -> bytes:
    """Return the bytes of a rosgraph_msgs/Clock."""
    return b"\0\1\0\0" + struct.pack("<iI", *stamp)


# -- the others --------------------------------------------------------------------------------------------------------


def transform(
    parent: str, child: str, at: Sequence[float], rotation: Sequence[float] | None = None, stamp: Stamp = (0, 0)
) -> Fields:
    """Return a geometry_msgs/TransformStamped.

    Args:
        at: x, y, z [m], and, without a rotation, heading and pitch [rad].
        rotation: quaternion x, y, z, w.
    """
    x, y, z, *angles = map(float, at)
    turn = quaternion(*angles) if rotation is None else dict(zip("xyzw", rotation, strict=True))
    place = {"translation": {"x": x, "y": y, "z": z}, "rotation": turn}
    return {"header": header(stamp, parent), "child_frame_id": child, "transform": place}


def occupancy_grid(stamp: Stamp, frame: str, grid: Grid, cells: np.ndarray) -> Fields:
    """Return a nav_msgs/OccupancyGrid.

    Args:
        grid: place and resolution of the cells.
        cells: int8 (rows, columns): -1 unknown, 0 free to 100 occupied; row 0 has the smallest y.
    """
    rows, columns = cells.shape
    info = {"map_load_time": time(stamp), "resolution": grid.resolution, "width": columns, "height": rows}
    info["origin"] = pose(grid.origin)
    return {"header": header(stamp, frame), "info": info, "data": np.ascontiguousarray(cells, np.int8).ravel()}


def grid_update(stamp: Stamp, frame: str, at: tuple[int, int], cells: np.ndarray) -> Fields:
    """Return a map_msgs/OccupancyGridUpdate: a rectangle of an occupancy grid, where it has changed.

    Args:
        at: column and row of its first cell.
        cells: int8 (rows, columns), see `occupancy_grid`.
    """
    rows, columns = cells.shape
    place = {"x": at[0], "y": at[1], "width": columns, "height": rows}
    return {"header": header(stamp, frame), **place, "data": np.ascontiguousarray(cells, np.int8).ravel()}


def point_cloud(stamp: Stamp, frame: str, points: np.ndarray) -> Fields:
    """Return a sensor_msgs/PointCloud2 of x, y, z; ``points``: (rows, columns, 3) [m], NaN where nothing was hit."""
    rows, columns, _ = points.shape
    fields = [{"name": name, "offset": 4 * k, "datatype": 7, "count": 1} for k, name in enumerate("xyz")]
    data = np.ascontiguousarray(points, "<f4").view(np.uint8).ravel()
    shape = {"height": rows, "width": columns, "point_step": 12, "row_step": 12 * columns}
    return {"header": header(stamp, frame), **shape, "fields": fields, "data": data}


def depth_image(stamp: Stamp, frame: str, depth: np.ndarray) -> Fields:
    """Return a sensor_msgs/Image of type 32FC1; ``depth``: (height, width) [m] along the optical axis."""
    rows, columns = depth.shape
    data = np.ascontiguousarray(depth, "<f4").view(np.uint8).ravel()
    shape = {"height": rows, "width": columns, "step": 4 * columns, "encoding": "32FC1"}
    return {"header": header(stamp, frame), **shape, "data": data}


def camera_info(stamp: Stamp, frame: str, width: int, height: int, fov: float) -> Fields:
    """Return the sensor_msgs/CameraInfo of a pinhole camera with square pixels; ``fov``: left to right edge [rad]."""
    focal, x, y = 0.5 * width / math.tan(0.5 * fov), 0.5 * (width - 1), 0.5 * (height - 1)
    return {
        "header": header(stamp, frame),
        "height": height,
        "width": width,
        "distortion_model": "plumb_bob",
        "d": np.zeros(5),
        "k": np.array([focal, 0.0, x, 0.0, focal, y, 0.0, 0.0, 1.0]),
        "r": np.eye(3).ravel(),
        "p": np.array([focal, 0.0, x, 0.0, 0.0, focal, y, 0.0, 0.0, 0.0, 1.0, 0.0]),
    }


def imu(
    stamp: Stamp,
    frame: str,
    turn_rate: float,
    acceleration: Sequence[float],
    sigmas: tuple[float, float],
    *,
    planar: bool = True,
) -> Fields:
    """Return a sensor_msgs/Imu without orientation.

    Args:
        turn_rate: about the vertical axis [rad/s].
        acceleration: ahead, left, up, with gravity [m/s²].
        sigmas: standard deviations of a sample of both.
        planar: the robot does not roll and pitch; otherwise nothing is known about these rates.
    """
    gyro, accelerometer = (np.diag([sigma**2] * 3).ravel() for sigma in sigmas)
    return {
        "header": header(stamp, frame),
        "orientation": quaternion(0.0),
        "orientation_covariance": np.array([-1.0, *[0.0] * 8]),
        "angular_velocity": {"z": float(turn_rate)},
        "angular_velocity_covariance": gyro if planar else np.array([UNKNOWN, 0, 0, 0, UNKNOWN, 0, 0, 0, gyro[8]]),
        "linear_acceleration": dict(zip("xyz", map(float, acceleration), strict=True)),
        "linear_acceleration_covariance": accelerometer,
    }


def battery(stamp: Stamp, used_j: float, capacity_wh: float, volt: float = 12.0) -> Fields:
    """Return a sensor_msgs/BatteryState of a battery of 12 V with a capacity, of which some energy has been used."""
    left = max(0.0, 1.0 - used_j / (3600.0 * capacity_wh))
    capacity = capacity_wh / volt
    return {
        "header": header(stamp, ""),
        "voltage": volt if left else 0.0,
        "temperature": math.nan,
        "current": math.nan,
        "charge": left * capacity,
        "capacity": capacity,
        "design_capacity": capacity,
        "percentage": left,
        "power_supply_status": 2,
        "present": True,
    }


def markers(
    stamp: Stamp, frame: str, kinds: Iterable[str], names: Iterable[int], places: np.ndarray, texts: Iterable[str]
) -> Fields:
    """Return a visualization_msgs/MarkerArray: first one that deletes those before, then one cube for each thing seen.

    Args:
        kinds: ``ns`` of each.
        names: ``id`` of each.
        places: (k, 3) [m] in the frame.
        texts: ``text`` of each.
    """
    every: list[Fields] = [{"header": header(stamp, frame), "action": 3}]
    for kind, name, place, text in zip(kinds, names, places, texts, strict=True):
        at = {"position": dict(zip("xyz", map(float, place), strict=True)), "orientation": quaternion(0.0)}
        cube = {"type": _CUBE, "scale": dict.fromkeys("xyz", 0.15), "color": {"r": 1.0, "g": 0.5, "a": 1.0}}
        every.append({"header": header(stamp, frame), "ns": kind, "id": int(name), "pose": at, "text": text, **cube})
    return {"markers": every}


def links(stamp: Stamp, frame: str, places: np.ndarray, names: Sequence[str], pairs: np.ndarray) -> Fields:
    """Return a visualization_msgs/Marker of lines between robots; its text has sender and receiver of each.

    Args:
        places: (n, 2) [m]. pairs: (k, 2), sender and receiver.
    """
    ends = [{"x": float(places[i, 0]), "y": float(places[i, 1])} for pair in pairs for i in pair]
    text = "\n".join(f"{names[a]} {names[b]}" for a, b in pairs.tolist())
    line = {"type": _LINE_LIST, "scale": {"x": 0.03}, "color": {"g": 0.8, "b": 0.2, "a": 1.0}}
    at = pose((0.0, 0.0, 0.0))
    return {"header": header(stamp, frame), "ns": "links", "pose": at, "points": ends, "text": text, **line}


def status(name: str, text: str, values: Mapping[str, Any], *, wrong: bool = False) -> Fields:
    """Return a diagnostic_msgs/DiagnosticStatus."""
    pairs = [{"key": key, "value": str(value)} for key, value in values.items()]
    return {"level": 2 if wrong else 0, "name": name, "message": text, "hardware_id": name, "values": pairs}


def twist_of(message: Any) -> tuple[float, float, float]:
    """Return vx, vy [m/s], omega [rad/s] of a decoded Twist or TwistStamped."""
    twist = getattr(message, "twist", message)
    return twist.linear.x, twist.linear.y, twist.angular.z


def twist_in(data: bytes) -> tuple[float, float, float] | None:
    """Return the same of the bytes of a Twist; None if they are not in the form that nearly all have."""
    if len(data) != 52 or data[:2] != b"\0\1":
        return None
    vx, vy, _, _, _, omega = struct.unpack_from("<6d", data, 4)
    return vx, vy, omega


def planar_pose(message: Any) -> Pose | None:
    """Return x, y [m], heading [rad] of a decoded Pose; None if a number is not finite."""
    p, q = message.position, message.orientation
    numbers = p.x, p.y, yaw_of(q.x, q.y, q.z, q.w)
    return Pose(*numbers) if all(map(math.isfinite, numbers)) else None


class Seen:
    """A visualization_msgs/MarkerArray as of `markers`, of one kind and without texts, for many times.

    The bytes for each number of things are made once; stamps, numbers and places are written into them.
    """

    TYPE = "visualization_msgs/msg/MarkerArray"

    def __init__(self, types: Types, frame: str, kind: str):
        self._types, self._frame, self._kind = types, frame, kind
        self._made: dict[int, tuple[bytearray, list[int], list[tuple[int, int]]]] = {}

    def encode(self, stamp: Stamp, names: Sequence[int], places: np.ndarray) -> bytes:
        """Return the bytes; ``names``: ``id`` of each; ``places``: (k, 3) [m] in the frame."""
        if len(names) not in self._made:
            self._made[len(names)] = self._make(len(names))
        buffer, stamps, rows = self._made[len(names)]
        for offset in stamps:
            struct.pack_into("<iI", buffer, offset, *stamp)
        for (of_name, of_place), name, place in zip(rows, names, places.tolist(), strict=True):
            struct.pack_into("<i", buffer, of_name, name)
            struct.pack_into("<3d", buffer, of_place, *place)
        return bytes(buffer)

    def _make(self, count: int) -> tuple[bytearray, list[int], list[tuple[int, int]]]:
        """Return bytes for some things, where the stamps are in them, and where number and place of each are."""
        stamp, first = (0x5AA55AA5, 0x3CC33CC3), 0x69960000  # found again in the bytes, as nothing else is like them
        places = 1e200 * (1.0 + np.arange(3.0 * count).reshape(-1, 3))
        every = markers(stamp, self._frame, [self._kind] * count, range(first, first + count), places, [""] * count)
        data, at = self._types.encode(self.TYPE, every), 0
        stamps: list[int] = []
        while (at := data.find(struct.pack("<iI", *stamp), at + 1)) >= 0:
            stamps.append(at)
        rows = [
            (data.index(struct.pack("<i", first + k)), data.index(struct.pack("<d", places[k, 0])))
            for k in range(count)
        ]
        return bytearray(data), stamps, rows
