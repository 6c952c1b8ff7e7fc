"""What sensors send, by the form of their messages: the topic, the frame, and the readings as messages."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covey.ros import messages as m
from covey.ros.messages import BASE, FOOTPRINT, Stamp
from covey.ros.qos import SENSOR
from covey.ros.robot_node import RobotNode
from covey.sensors.wedge import SEEN

Output = Callable[[Stamp, Any, int], None]
"""Sends the readings of a sensor, batched over its robots; the last argument is the row of the robot."""


def output_of(record: Any, first: bool, node: RobotNode, frames: list[m.Fields]) -> Output | None:
    """Return what sends the readings of a sensor of a robot; None if it has no topic of its own.

    Args:
        record: the sensor.
        first: it is the first lidar of the robot, which sends on ``scan``, from ``base_scan``.
        node: the node of the robot.
        frames: gets the static transforms to the frames of the sensor.
    """
    return _OUTPUTS[record.form](record, first, node, frames) if record.form else None


def _lidar(record: Any, first: bool, node: RobotNode, frames: list[m.Fields]) -> Output:
    topic, frame = ("scan", node.frame("base_scan")) if first else (record.name, node.frame(record.name))
    x, y, heading = record.mount.tolist()
    frames.append(m.transform(node.frame(BASE), frame, (x, y, 0.0, heading)))
    scan = m.ScanMessage(node.types, frame, record.angles, (record.min_range_m, record.range_m), 1.0 / record.rate_hz)
    send = node.topic(topic, scan.TYPE, SENSOR)
    return lambda stamp, readings, row: send(scan.encode(stamp, readings.ranges[row]))


def _ring(record: Any, _first: bool, node: RobotNode, _frames: list[m.Fields]) -> Output:
    angles, ring = math.tau / record.sectors * np.arange(record.sectors), record.ring_radius_m
    limits = ring, ring + record.range_m
    scan = m.ScanMessage(node.types, node.frame(BASE), angles, limits, 1.0 / record.rate_hz)
    send = node.topic(record.name, scan.TYPE, SENSOR)
    return lambda stamp, readings, row: send(scan.encode(stamp, readings.ranges[row] + ring))


def _mounted(record: Any, node: RobotNode, frames: list[m.Fields]) -> str:
    """Return the frame of a sensor of clouds, and add its transform."""
    frame = node.frame(record.name)
    angles = math.radians(record.mount_heading_deg), math.radians(record.mount_pitch_deg)
    at = record.mount_x_m, record.mount_y_m, record.height_m, *angles
    frames.append(m.transform(node.frame(BASE), frame, at))
    return frame


def _cloud(record: Any, _first: bool, node: RobotNode, frames: list[m.Fields]) -> Output:
    frame, shape = _mounted(record, node, frames), (record.rings, record.rays, 3)
    send = node.messages(record.name, "sensor_msgs/msg/PointCloud2", SENSOR)

    def output(stamp: Stamp, readings: Any, row: int) -> None:
        ranges = readings.ranges[row]
        points = np.where(np.isfinite(ranges), ranges, np.nan)[:, None] * record.directions
        send(m.point_cloud(stamp, frame, points.reshape(shape)))

    return output


def _depth(record: Any, _first: bool, node: RobotNode, frames: list[m.Fields]) -> Output:
    optical = f"{_mounted(record, node, frames)}_optical"
    frames.append(m.transform(node.frame(record.name), optical, (0.0, 0.0, 0.0), m.OPTICAL))
    image = node.messages(f"{record.name}/image_raw", "sensor_msgs/msg/Image", SENSOR)
    about = node.messages(f"{record.name}/camera_info", "sensor_msgs/msg/CameraInfo", SENSOR)
    size, ahead = (record.height, record.width), record.directions[:, 0]

    def output(stamp: Stamp, readings: Any, row: int) -> None:
        image(m.depth_image(stamp, optical, (readings.ranges[row] * ahead).reshape(size)))
        about(m.camera_info(stamp, optical, record.width, record.height, math.radians(record.fov_deg)))

    return output


def _imu(record: Any, _first: bool, node: RobotNode, _frames: list[m.Fields]) -> Output:
    send, frame = node.messages(record.name, "sensor_msgs/msg/Imu", SENSOR), node.frame(BASE)
    fast = math.sqrt(record.rate_hz)
    sigmas = record.gyro_noise * fast, record.accel_noise * fast
    return lambda stamp, readings, row: send(
        m.imu(stamp, frame, readings.turn_rate[row], readings.acceleration[row], sigmas, planar=node.planar)
    )


def _bumper(record: Any, _first: bool, node: RobotNode, _frames: list[m.Fields]) -> Output:
    send = node.messages(record.name, "std_msgs/msg/Float64MultiArray", SENSOR)

    def output(_stamp: Stamp, readings: Any, row: int) -> None:
        send({"data": readings.row(row).bearings})

    return output


def _tag_camera(record: Any, _first: bool, node: RobotNode, _frames: list[m.Fields]) -> Output:
    send, frame = node.messages(record.name, "visualization_msgs/msg/MarkerArray", SENSOR), node.frame(FOOTPRINT)

    def output(stamp: Stamp, readings: Any, row: int) -> None:
        seen = readings.row(row)
        texts = [f"{kind} {name}" for kind, name in zip(seen.kinds, seen.identities, strict=True)]
        send(m.markers(stamp, frame, map(str, seen.kinds), seen.identities.tolist(), seen.positions, texts))

    return output


def _neighbours(record: Any, _first: bool, node: RobotNode, _frames: list[m.Fields]) -> Output:
    robots = m.Seen(node.types, node.frame(FOOTPRINT), "robot")
    send = node.topic(record.name, robots.TYPE, SENSOR)

    def output(stamp: Stamp, readings: Any, row: int) -> None:
        seen = readings.row(row)
        places = np.column_stack((seen.points(), np.zeros(len(seen))))
        send(robots.encode(stamp, seen.identities.tolist(), places))

    return output


def _wedge(record: Any, _first: bool, node: RobotNode, _frames: list[m.Fields]) -> Output:
    send, frame = node.messages(record.name, "sensor_msgs/msg/PointCloud2", SENSOR), node.frame(FOOTPRINT)
    return lambda stamp, readings, row: send(m.point_cloud(stamp, frame, readings.row(row).points(SEEN)[None]))


def _numbers(record: Any, _first: bool, node: RobotNode, _frames: list[m.Fields]) -> Output:
    send = node.messages(record.name, "std_msgs/msg/Float64MultiArray", SENSOR)

    def output(_stamp: Stamp, readings: Any, row: int) -> None:
        own = [array[row] for name, array in readings.arrays().items() if name not in readings.shared]
        send({"data": np.concatenate([np.ravel(array).astype(float) for array in own])})

    return output


_OUTPUTS: dict[str, Callable[[Any, bool, RobotNode, list[m.Fields]], Output]] = {
    "scan": _lidar,
    "ring": _ring,
    "cloud": _cloud,
    "depth": _depth,
    "imu": _imu,
    "bearings": _bumper,
    "tags": _tag_camera,
    "robots": _neighbours,
    "points": _wedge,
    "numbers": _numbers,
}
"""The forms of messages, see `SensorRecord.form`; ``numbers``: all that its readings hold, one after the other."""
