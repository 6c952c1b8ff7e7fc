"""A message that is changed in place has the bytes of one that is made anew."""

import numpy as np
import pytest

from covey.errors import UnknownNameError
from covey.ros.prepared import Prepared
from covey.ros.types import types_of

TYPES = types_of("jazzy")


def stamped(frame):
    return {"header": {"frame_id": frame, "stamp": {"sec": 12, "nanosec": 345678901}}}


@pytest.mark.parametrize(
    ("kind", "at_first", "changes"),
    [
        (
            "sensor_msgs/msg/LaserScan",
            {"header": {"frame_id": "robot_0/base_scan"}, "angle_min": -1.5, "ranges": [0] * 7},
            {"header.stamp": (12, 345678901), "ranges": [0.5, 1, np.inf, 2.5, 3, 3.5, 0.25]},
        ),
        (
            "nav_msgs/msg/Odometry",
            {"header": {"frame_id": "odom"}, "child_frame_id": "base_footprint", "pose": {"covariance": [0.5] * 36}},
            {
                "header.stamp": (4, 5),
                "pose.pose": (1, 2, 0, 0, 0, 0.6, 0.8),
                "twist.twist": (0.5, 0, 0, 0, 0, -0.25),
                "twist.covariance": np.arange(36),
            },
        ),
        (
            "tf2_msgs/msg/TFMessage",
            {"transforms": [{"header": {"frame_id": "odom"}, "child_frame_id": "b" * k} for k in range(9)]},
            {f"transforms.{k}.transform": np.arange(7) + k for k in range(9)}
            | {f"transforms.{k}.header.stamp": (k, 7) for k in range(9)},
        ),
        ("nav_msgs/msg/OccupancyGrid", {"data": [0] * 6, "info": {"width": 3}}, {"data": [0, -1, 100, 50, 0, -1]}),
        ("rosgraph_msgs/msg/Clock", {}, {"clock": (3, 4)}),
        ("sensor_msgs/msg/BatteryState", {"location": "ab", "present": True}, {"percentage": 0.5, "cell_voltage": []}),
    ],
)
def test_bytes_are_those_of_a_new_message(kind, at_first, changes):
    prepared, anew = Prepared(TYPES, kind, at_first), TYPES.message(kind, at_first)
    assert prepared.data() == TYPES.encode(kind, anew)
    for path, values in changes.items():
        if np.size(values) == 0:
            continue
        prepared.view(path)[:] = values
        _set(anew, path, values)
    assert prepared.data() == TYPES.encode(kind, anew)


def _set(message, path, values):
    """Write values into the attributes of a message, one after the other."""
    *outer, last = path.split(".")
    for name in outer:
        message = message[int(name)] if name.isdigit() else getattr(message, name)
    old = getattr(message, last)
    if isinstance(old, np.ndarray):
        old[:] = values
    elif isinstance(old, float):
        setattr(message, last, values)
    else:
        values, leaves = list(values), []
        _leaves(old, leaves)
        for (at, name), value in zip(leaves, values, strict=True):
            setattr(at, name, value)


def _leaves(message, found):
    for name in message.__dataclass_fields__:
        if name != "__msgtype__":
            value = getattr(message, name)
            if hasattr(value, "__dataclass_fields__"):
                _leaves(value, found)
            else:
                found.append((message, name))


def test_what_is_no_row_of_numbers():
    odometry = Prepared(TYPES, "nav_msgs/msg/Odometry", {})
    for path in ("header.frame_id", "pose.position", "", "child"):
        with pytest.raises(UnknownNameError, match="nav_msgs/msg/Odometry"):
            odometry.view(path)
    assert odometry.view("pose").shape == (43,)
    with pytest.raises(UnknownNameError, match="ranges"):
        Prepared(TYPES, "sensor_msgs/msg/LaserScan", {}).view("ranges")  # it has none
