"""The bytes and hashes of messages, compared with those of a real ROS 2 Jazzy and with bytes written by hand."""

import struct

import numpy as np
import pytest

from covey.errors import InvalidValueError, UnknownNameError
from covey.ros.messages import Seen, markers
from covey.ros.types import MessageError, dds_name, types_of


def test_bytes_are_those_of_a_real_ros(golden):
    types = types_of("jazzy")
    for kind, one in golden("jazzy_cdr.json").items():
        assert types.encode(kind, one["fields"]).hex() == one["cdr"], kind
        assert types.encode(kind, types.decode(kind, bytes.fromhex(one["cdr"]))).hex() == one["cdr"], kind
        assert types.hash(kind) == one["hash"], kind


@pytest.mark.parametrize("distro", ["humble", "jazzy"])
def test_what_a_robot_sees_has_the_bytes_of_its_markers(distro):
    types = types_of(distro)
    seen = Seen(types, "scout0/base_footprint", "robot")
    for count, stamp in ((0, (0, 0)), (1, (12, 345)), (5, (3, 0)), (2, (2, 1)), (5, (4, 999_999_999))):
        names, places = [7 * k for k in range(count)], np.arange(3.0 * count).reshape(-1, 3) - stamp[0]
        fields = markers(stamp, "scout0/base_footprint", ["robot"] * count, names, places, [""] * count)
        assert seen.encode(stamp, names, places) == types.encode(Seen.TYPE, fields)


def test_hashes_are_those_of_a_real_ros(golden):
    types = types_of("jazzy")
    known = {kind: value for kind, value in golden("jazzy_type_hashes.json").items() if kind in types}
    assert len(known) == 160
    assert {kind: types.hash(kind) for kind in known} == known


def test_hashes_of_the_ros_index():
    types = types_of("jazzy")
    assert (
        types.hash("std_msgs/msg/String") == "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
    )
    assert (  # it has an array of char, which ROS means as uint8
        types.hash("rmw_dds_common/msg/ParticipantEntitiesInfo")
        == "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e"
    )


def test_bytes_written_by_hand():
    types = types_of("jazzy")
    twist = types.encode("geometry_msgs/msg/Twist", {"linear": {"x": 0.5}, "angular": {"z": -1.0}})
    assert twist == b"\0\1\0\0" + struct.pack("<6d", 0.5, 0, 0, 0, 0, -1)
    text = types.encode("std_msgs/msg/String", {"data": "abc"})
    assert text == b"\0\1\0\0" + struct.pack("<I", 4) + b"abc\0"
    grid = types.encode("nav_msgs/msg/OccupancyGrid", {"data": [-1, 0, 100], "info": {"width": 3, "height": 1}})
    assert grid[-7:] == struct.pack("<I3b", 3, -1, 0, 100)


@pytest.mark.parametrize("distro", ["humble", "iron", "jazzy", "kilted", "lyrical", "rolling"])
def test_each_distribution_has_the_messages_of_a_robot(distro):
    types = types_of(distro)
    for kind in ("sensor_msgs/msg/LaserScan", "nav_msgs/msg/Odometry", "tf2_msgs/msg/TFMessage"):
        assert types.decode(kind, types.encode(kind, {})) is not None
    gid = types.decode("rmw_dds_common/msg/Gid", types.encode("rmw_dds_common/msg/Gid", {}))
    assert len(gid.data) == (24 if distro == "humble" else 16)


def test_nested_values_and_rows():
    types = types_of("jazzy")
    stamped = {"header": {"frame_id": "odom"}, "transform": {"rotation": {"w": 1}}}
    message = types.message("tf2_msgs/msg/TFMessage", {"transforms": [stamped, stamped]})
    assert [one.header.frame_id for one in message.transforms] == ["odom", "odom"]
    back = types.decode("nav_msgs/msg/Odometry", types.encode("nav_msgs/msg/Odometry", {}))
    np.testing.assert_array_equal(back.pose.covariance, np.zeros(36))


def test_what_is_no_message():
    types = types_of("jazzy")
    good = types.encode("geometry_msgs/msg/Twist", {})
    for bad in (b"", good[:3], good[:-1], good + b"12345678", b"\0\7\0\0" + good[4:], b"\0\1\0\0"):
        with pytest.raises(MessageError, match="geometry_msgs/msg/Twist"):
            types.decode("geometry_msgs/msg/Twist", bad)
    endless = b"\0\1\0\0" + struct.pack("<I", 2**32 - 1) + b"abc\0"
    for kind in ("std_msgs/msg/String", "tf2_msgs/msg/TFMessage", "sensor_msgs/msg/PointCloud2"):
        with pytest.raises(MessageError):
            types.decode(kind, endless)
    with pytest.raises(UnknownNameError, match="ranges"):
        types.encode("sensor_msgs/msg/LaserScan", {"range": [1.0]})
    with pytest.raises(UnknownNameError, match="LaserScan"):
        types.encode("sensor_msgs/msg/LaserScam", {})
    with pytest.raises(UnknownNameError, match="jazzy"):
        types_of("jazy")
    with pytest.raises(InvalidValueError, match="LaserScan"):
        dds_name("LaserScan")
