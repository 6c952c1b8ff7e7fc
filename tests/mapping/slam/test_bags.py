"""ROS bags: what is made of their messages, and real bags of ROS 1 and 2, written by another library."""

import json
import math
from types import SimpleNamespace as Of

import numpy as np
import pytest

from covey.cli import main
from covey.errors import InvalidValueError
from covey.geometry.mounting import Mount
from covey.geometry.se2 import Pose
from covey.mapping.map_of_scans import map_of
from covey.mapping.slam import bags
from covey.mapping.slam.bag_frames import planar
from covey.mapping.slam.bags import read_bag
from covey.mapping.slam.following import follow, follow_with_particles
from covey.mapping.slam.log import load_log, save_log
from covey.mapping.slam.particle_settings import ParticleSettings

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


def log_of(scans, moved, at=(0.0, 0.0, 0.0), upside_down=False):
    """Return the log of messages of scans and odometry."""
    track = bags.track_of(
        [(0.0, one) for one in moved], lambda one: planar(one.pose.pose.position, one.pose.pose.orientation)
    )
    return bags.log_of("a", scans, track, Mount(Pose(*at), upside_down))


def test_odometry_is_interpolated_at_each_scan():
    moved = [odometry(2.0, 1.0, math.pi / 2), odometry(0.0, 0.0), odometry(1.0, 1.0)]  # in any order
    log = log_of([scan(t) for t in (-0.5, 0.25, 1.0, 1.5, 2.5)], moved)
    np.testing.assert_allclose(log.times, [0.25, 1.0, 1.5])  # before and after, nothing is known
    np.testing.assert_allclose(log.odometry, [[0.25, -1, 0], [1, -1, 0], [1, -1, math.pi / 4]], atol=1e-9)


def test_ranges_below_the_least_are_no_return():
    log = log_of([scan(0.0, [0.05] + [1.0] * (len(ANGLES) - 1))], [odometry(0.0), odometry(1.0)], (0.1, 0.0, 0.0))
    assert log.laser.returns(log.ranges).sum() == len(ANGLES) - 1
    assert (log.laser.range_max, log.laser.mount) == (10.0, (0.1, 0.0, 0.0))
    np.testing.assert_allclose(log.laser.angles, ANGLES, atol=1e-6)


@pytest.mark.parametrize(
    ("scans", "moved", "said"),
    [
        ([], [odometry(0.0)], "the bag a has 0 scans with beams and 1 poses of odometry"),
        ([scan(0.0, [])], [odometry(0.0)], "the bag a has 0 scans with beams and 1 poses of odometry"),
        ([scan(0.0)], [], "the bag a has 1 scans with beams and 0 poses of odometry"),
        (
            [scan(5.0)],
            [odometry(0.0), odometry(1.0)],
            "scans are from 5.000 to 5.000 s, .* from 0.000 to 1.000 s; are the",
        ),
        ([scan(0.5)], [odometry(0.0), odometry(1.0, math.nan)], "row 0 of odometry is not finite"),
    ],
)
def test_messages_that_make_no_log_are_told(scans, moved, said):
    with pytest.raises(InvalidValueError, match=said):
        log_of(scans, moved)


def test_scans_with_other_beams_are_taken_with_their_own(tmp_path):
    """A lidar makes 5 beams a scan, once 4 and once none; a wall is 2 m ahead."""
    wide, narrow = np.radians([-40.0, -20.0, 0.0, 20.0, 40.0]), np.radians([-30.0, -10.0, 10.0, 30.0])

    def seen(time_s, angles):
        of = scan(time_s, 2.0 / np.cos(angles), np.radians(20.0))
        of.angle_min = angles[0] if len(angles) else 0.0
        return of

    given = [seen(0.0, wide), seen(0.1, narrow), seen(0.2, narrow[:0]), seen(0.3, wide)]
    log = log_of(given, [odometry(0.0, 0.0), odometry(1.0, 0.0)])
    np.testing.assert_allclose(log.times, [0.0, 0.1, 0.3])
    assert log.remarks == (
        "1 of 4 scans have no beams, and are left out.",
        "1 of 3 scans have other beams than most, which have 5 from -40.0 to 40.0 degrees: 4 to 5 beams. Each scan is "
        "taken with its own.",
    )
    save_log(tmp_path / "a.npz", log)
    for one in (log, load_log(tmp_path / "a.npz")):
        for row, angles in enumerate((wide, narrow, wide)):
            bearings, ranges = one.scan(row)
            np.testing.assert_allclose(bearings, angles, atol=1e-9)
            np.testing.assert_allclose(ranges * np.cos(bearings), 2.0, rtol=1e-6)
        assert one.is_beam().sum() == 14


@pytest.mark.parametrize("method", ["graph", "particles"])
def test_slam_follows_scans_with_beams_of_their_own(method):
    """Of a fan of 91 beams each scan holds others: the way is as with all of them."""
    rng = np.random.default_rng(1)
    times = np.arange(0.0, 8.0, 0.2)
    whole = [scan(t) for t in times]
    for k, of in enumerate(whole):
        first, last = rng.integers(0, 9), rng.integers(80, 92)
        of.angle_min, of.ranges = ANGLES[first], of.ranges[first:last] if k else of.ranges[first:]
    log = log_of(whole, [odometry(0.0), odometry(10.0)])
    assert log.fans is not None
    found = follow(log) if method == "graph" else follow_with_particles(log, ParticleSettings(particles=5))
    atol = 0.03 if method == "graph" else 0.1  # wrong beams would be off by 24 degrees
    np.testing.assert_allclose(found.poses[:, 0], SPEED * times, atol=atol)
    np.testing.assert_allclose(found.poses[:, 1:], 0.0, atol=atol)
    drawn = map_of(log, log.odometry, 0.1, 10.0)  # the room lies 6 m east of where it is in the odometry
    walls = np.argwhere(drawn.cells == 100)
    x, y = drawn.origin[0] + 0.1 * (walls[:, 1] + 0.5), drawn.origin[1] + 0.1 * (walls[:, 0] + 0.5)
    off = np.minimum.reduce([np.abs(x - 12.0), np.abs(y + 3.0), np.abs(y - 1.0), np.abs(x - 6.0)])
    assert len(walls) > 100
    assert off.max() < 0.1


@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_a_lidar_that_hangs_upside_down_is_mirrored_back(heading):
    """Seen from below the beams turn the other way; of an odd fan with another heading, too."""
    hanging = scan(0.0)
    hanging.angle_min, hanging.angle_increment = -1.0, 0.4
    hanging.ranges = np.array([1.0, 2.0, 3.0], np.float32)
    log = log_of([hanging], [odometry(0.0), odometry(1.0)], (0.1, 0.2, heading), upside_down=True)
    bearings = heading - np.array([-1.0, -0.6, -0.2])  # roll by pi turns y and z over
    points = np.array([0.1, 0.2]) + np.array([[1.0], [2.0], [3.0]]) * np.column_stack(
        (np.cos(bearings), np.sin(bearings))
    )
    np.testing.assert_allclose(log.laser.points(log.ranges[0]), points[::-1], atol=1e-6)
    assert (np.diff(log.laser.angles) > 0.0).all()


def placed(parent, child, x, heading):
    turn = Of(x=0.0, y=0.0, z=math.sin(0.5 * heading), w=math.cos(0.5 * heading))
    header = Of(frame_id=parent, stamp=stamp(0.0))
    return Of(header=header, child_frame_id=child, transform=Of(translation=Of(x=x, y=0.0, z=0.1), rotation=turn))


def of_frame(frame, message):
    message.header.frame_id = frame
    return message


def driven(scans, *transforms):
    """Return the log of a robot whose bag holds topics of scans; its frame is base."""
    moved = [(0.0, of_frame("odom", odometry(t))) for t in (0.0, 1.0, 2.0)]
    for _, one in moved:
        one.child_frame_id = "base"
    topics = {topic: [(0.0, of_frame(frame, one)) for one in each] for topic, (frame, each) in scans.items()}
    messages = {bags.SCAN: topics, bags.ODOMETRY: {"/odom": moved}}
    messages[bags.TF] = {"/tf_static": [(0.0, Of(transforms=list(transforms)))]}
    (robot,), _ = bags.Topics(messages).robots("a")
    return robot.log


AHEAD, BACK = placed("base", "ahead", 0.2, 0.0), placed("base", "back", -0.3, math.pi)


def test_a_bag_with_two_lidars_uses_both_each_with_its_own_mount():
    front, rear = [scan(t) for t in (0.0, 0.5, 1.0)], [scan(t, [1.0, 2.0]) for t in (0.25, 0.75)]
    twice = [scan(t) for t in (0.0, 0.5)]  # the scans of one lidar in another topic
    topics = {"/scan": ("ahead", front), "/rear/scan": ("back", rear), "/scan_filtered": ("/ahead", twice)}
    log = driven(topics, AHEAD, BACK)
    np.testing.assert_allclose(log.times, [0.0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(log.odometry[:, 0], 7.0 + SPEED * log.times)
    mounts = np.array([log.mount(row) for row in range(5)])
    np.testing.assert_allclose(mounts[::2], [(0.2, 0.0, 0.0)] * 3, atol=1e-9)
    np.testing.assert_allclose(np.abs(mounts[1::2]), [(0.3, 0.0, math.pi)] * 2, atol=1e-9)
    assert [len(log.scan(row)[1]) for row in range(5)] == [len(ANGLES), 2, len(ANGLES), 2, len(ANGLES)]


def test_a_lidar_whose_place_is_not_known_is_left_out_beside_one_that_is():
    topics = {"/scan": ("ahead", [scan(0.0), scan(1.0)]), "/rear/scan": ("back", [scan(0.5)])}
    assert driven(topics, AHEAD).times.tolist() == [0.0, 1.0]
    assert driven(topics, BACK).times.tolist() == [0.0, 1.0], "and so is the second, if the first may be anywhere"


@pytest.mark.parametrize("base", ["base", "base_link"])
def test_scans_in_the_frame_of_the_robot_are_made_from_others_and_count_alone_or_not_at_all(base):
    """As what merges two lidars publishes them, or what smooths the scans of one."""
    front, merged = [scan(0.0), scan(1.0)], [scan(0.25), scan(0.5)]
    topics = {"/scan": ("ahead", front), "/scan_merged": (base, merged)}
    assert driven(topics, AHEAD, placed("base", "base_link", 0.0, 0.0)).times.tolist() == [0.0, 1.0]
    topics = {"/scan": (base, merged), "/front/scan": ("ahead", front)}
    assert driven(topics, AHEAD, placed("base", "base_link", 0.0, 0.0)).times.tolist() == [0.25, 0.5]


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


@pytest.mark.usefixtures("undrawn")
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
    ("topics", "missing"),
    [
        (["scan"], "nav_msgs/msg/Odometry, and no transforms that lead from a frame odom to the frame 'laser' of its"),
        (["odom"], "sensor_msgs/msg/LaserScan; a log needs scans and odometry. It has: "),
    ],
)
def test_a_bag_without_scans_or_odometry_is_told(topics, missing, tmp_path, capsys):
    path = write("bag", tmp_path / "half", topics, 1.0)
    assert main(["slam", str(path), "--out", str(tmp_path / "out")]) == 2
    assert f"half.bag has no {missing}" in capsys.readouterr().err


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_bag_that_is_cut_off_is_told(share, tmp_path, capsys):
    data = write("bag", tmp_path / "whole", seconds=2.0).read_bytes()
    (tmp_path / "cut.bag").write_bytes(data[: round(share * len(data))])
    assert main(["slam", str(tmp_path / "cut.bag"), "--out", str(tmp_path / "out")]) == 2
    assert "cut.bag cannot be read as a bag: " in capsys.readouterr().err
