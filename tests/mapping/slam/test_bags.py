"""ROS bags: what is made of their messages, and real bags of ROS 1 and 2, written by another library."""

import json
import math
from types import SimpleNamespace as Of

import numpy as np
import pytest

from covey.cli import main
from covey.errors import InvalidValueError
from covey.mapping.slam.bags import log_of, read_bag

WIDE, TALL = 6.0, 4.0
ANGLES = np.radians(np.arange(-135.0, 135.5, 3.0))
SPEED = 0.2  # m/s, eastwards from (1, 2)


def distances(x, y):
    """Return the distances [m] to the walls of an empty room along the beams of a robot that looks east."""
    c, s = np.cos(ANGLES), np.where(np.abs(np.sin(ANGLES)) < 1e-9, 1e-9, np.sin(ANGLES))
    return np.minimum(np.where(c > 0.0, (WIDE - x) / c, -x / c), np.where(s > 0.0, (TALL - y) / s, -y / s))


def stamp(time_s):
    return Of(sec=math.floor(time_s), nanosec=round(1e9 * (time_s % 1.0)))


def scan(time_s, ranges=None, step=ANGLES[1] - ANGLES[0]):
    ranges = distances(1.0 + SPEED * time_s, 2.0) if ranges is None else ranges
    return Of(header=Of(stamp=stamp(time_s)), angle_min=ANGLES[0], angle_increment=step, range_min=0.1, range_max=10.0,
              ranges=np.asarray(ranges, np.float32))  # fmt: skip


def odometry(time_s, x=None, heading=0.0):
    position = Of(x=7.0 + SPEED * time_s if x is None else x, y=-1.0, z=0.0)
    turn = Of(x=0.0, y=0.0, z=math.sin(0.5 * heading), w=math.cos(0.5 * heading))
    return Of(header=Of(stamp=stamp(time_s)), pose=Of(pose=Of(position=position, orientation=turn)))


def test_odometry_is_interpolated_at_each_scan():
    moved = [odometry(2.0, 1.0, math.pi / 2), odometry(0.0, 0.0), odometry(1.0, 1.0)]  # in any order
    log = log_of("a", [scan(t) for t in (-0.5, 0.25, 1.0, 1.5, 2.5)], moved, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(log.times, [0.25, 1.0, 1.5])  # before and after, nothing is known
    np.testing.assert_allclose(log.odometry, [[0.25, -1, 0], [1, -1, 0], [1, -1, math.pi / 4]], atol=1e-9)


def test_ranges_below_the_least_are_no_return():
    log = log_of("a", [scan(0.0, [0.05] + [1.0] * (len(ANGLES) - 1))], [odometry(0.0), odometry(1.0)], (0.1, 0.0, 0.0))
    assert log.laser.returns(log.ranges).sum() == len(ANGLES) - 1
    assert (log.laser.range_max, log.laser.mount) == (10.0, (0.1, 0.0, 0.0))
    np.testing.assert_allclose(log.laser.angles, ANGLES, atol=1e-6)


@pytest.mark.parametrize(
    ("scans", "moved", "said"),
    [
        ([], [odometry(0.0)], "the bag a has 0 scans and 1 messages of odometry"),
        ([scan(0.0)], [], "the bag a has 1 scans and 0 messages of odometry"),
        ([scan(0.0), scan(0.1, [1.0, 2.0])], [odometry(0.0)], "the beams of scan 1 are not those of scan 0"),
        ([scan(0.0), scan(0.1, step=0.5)], [odometry(0.0)], "the beams of scan 1 are not those of scan 0"),
        ([scan(5.0)], [odometry(0.0), odometry(1.0)], "no scan has odometry before and after it; are the clocks"),
        ([scan(0.5)], [odometry(0.0), odometry(1.0, math.nan)], "row 0 of odometry is not finite"),
    ],
)
def test_messages_that_make_no_log_are_told(scans, moved, said):
    with pytest.raises(InvalidValueError, match=said):
        log_of("a", scans, moved, (0.0, 0.0, 0.0))


def write(kind, path, topics=("scan", "odom"), seconds=10.0):
    """Write a bag of a robot that drives through the room; return the file or folder to read."""
    typesys = pytest.importorskip("rosbags.typesys")
    rosbag1, rosbag2 = (pytest.importorskip(f"rosbags.{name}") for name in ("rosbag1", "rosbag2"))
    store = typesys.get_typestore(typesys.Stores.ROS1_NOETIC if kind == "bag" else typesys.Stores.ROS2_HUMBLE)
    types = store.types
    path = path.with_suffix(".bag") if kind == "bag" else path
    if kind == "bag":
        writer, code = rosbag1.Writer(path), store.serialize_ros1
    else:
        plugin = rosbag2.StoragePlugin.MCAP if kind == "mcap" else rosbag2.StoragePlugin.SQLITE3
        writer, code = rosbag2.Writer(path, version=9, storage_plugin=plugin), store.serialize_cdr

    def made(name, **fields):
        return types[name](**fields)

    def header(time_s):
        at = stamp(time_s)
        fields = {"stamp": made("builtin_interfaces/msg/Time", sec=at.sec, nanosec=at.nanosec), "frame_id": "laser"}
        return made("std_msgs/msg/Header", **fields, **({"seq": 0} if kind == "bag" else {}))

    def laser(time_s):
        of = scan(time_s)
        fields = {"angle_min": of.angle_min, "angle_max": ANGLES[-1], "angle_increment": of.angle_increment}
        fields |= {"time_increment": 0.0, "scan_time": 0.1, "range_min": 0.1, "range_max": 10.0, "ranges": of.ranges}
        return made(SCAN, header=header(time_s), intensities=np.zeros(0, np.float32), **fields)

    def wheels(time_s):
        of = odometry(time_s).pose.pose
        point = made("geometry_msgs/msg/Point", **vars(of.position))
        pose = made(
            "geometry_msgs/msg/Pose",
            position=point,
            orientation=made("geometry_msgs/msg/Quaternion", **vars(of.orientation)),
        )
        none = made("geometry_msgs/msg/Vector3", x=0.0, y=0.0, z=0.0)
        twist = made("geometry_msgs/msg/Twist", linear=none, angular=none)
        return made(
            MOVED, header=header(time_s), child_frame_id="base",
            pose=made("geometry_msgs/msg/PoseWithCovariance", pose=pose, covariance=np.zeros(36)),
            twist=made("geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=np.zeros(36)),
        )  # fmt: skip

    SCAN, MOVED = "sensor_msgs/msg/LaserScan", "nav_msgs/msg/Odometry"
    sent = {"scan": (SCAN, laser, 0.2), "odom": (MOVED, wheels, 0.3)}
    due = sorted((time_s, name) for name in topics for time_s in np.arange(0.0, seconds, sent[name][2]))
    with writer:
        connections = {name: writer.add_connection(f"/{name}", sent[name][0], typestore=store) for name in topics}
        for time_s, name in due:
            kind_of, make, _ = sent[name]
            writer.write(connections[name], round(1e9 * (100.0 + time_s)), code(make(time_s), kind_of))
    return path


@pytest.mark.parametrize("kind", ["bag", "mcap", "db3"])
def test_a_bag_becomes_a_way_and_a_map(kind, tmp_path):
    path = write(kind, tmp_path / "drive")
    log = read_bag(path)
    np.testing.assert_allclose(log.times, np.arange(0.0, 9.85, 0.2), atol=1e-6)
    np.testing.assert_allclose(log.odometry[:, 0], 7.0 + SPEED * log.times, atol=1e-6)
    np.testing.assert_allclose(log.ranges, [distances(1.0 + SPEED * t, 2.0) for t in log.times], rtol=1e-5)
    assert main(["slam", str(path), "--out", str(tmp_path / "out"), "-q"]) == 0
    found = np.loadtxt(tmp_path / "out" / "trajectory.tum")
    np.testing.assert_allclose(found[:, 1], SPEED * log.times, atol=0.03)
    np.testing.assert_allclose(found[:, 2], 0.0, atol=0.03)
    assert json.loads((tmp_path / "out" / "scores.json").read_text())["log"] == "drive"


@pytest.mark.parametrize("kind", ["mcap", "db3"])
def test_the_file_in_the_folder_of_a_bag_is_read_too(kind, tmp_path):
    (file,) = write(kind, tmp_path / "drive", seconds=1.0).glob(f"*.{kind}")
    assert len(read_bag(file)) == 5


@pytest.mark.parametrize(
    ("topics", "missing"), [(["scan"], "nav_msgs/msg/Odometry"), (["odom"], "sensor_msgs/msg/LaserScan")]
)
def test_a_bag_without_scans_or_odometry_is_told(topics, missing, tmp_path, capsys):
    path = write("bag", tmp_path / "half", topics, 1.0)
    assert main(["slam", str(path), "--out", str(tmp_path / "out")]) == 2
    assert f"half.bag has no {missing}; a log needs scans and odometry. It has: " in capsys.readouterr().err


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_bag_that_is_cut_off_is_told(share, tmp_path, capsys):
    data = write("bag", tmp_path / "whole", seconds=2.0).read_bytes()
    (tmp_path / "cut.bag").write_bytes(data[: round(share * len(data))])
    assert main(["slam", str(tmp_path / "cut.bag"), "--out", str(tmp_path / "out")]) == 2
    assert "cut.bag cannot be read as a bag: " in capsys.readouterr().err
