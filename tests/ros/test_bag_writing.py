"""A run as a bag of ROS 2, read back by mcap and rosbags."""

import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from scipy.linalg import expm

import covey
from covey.cli import main
from covey.mapping.localization import DeadReckoning as Drifting
from covey.results.maps import WALL
from covey.robots.catalogue import disc
from covey.sensors.lidar import Lidar
from covey.sensors.odometry import GmappingNoise, Odometry

MOUNT = (0.1, -0.05, 30.0)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    lidar = Lidar(rays=60, range_m=4.0, rate_hz=5.0, mount_x_m=MOUNT[0], mount_y_m=MOUNT[1], mount_heading_deg=MOUNT[2])
    wheels = Odometry(rate_hz=10.0, noise=GmappingNoise())
    model = disc().model_copy(update={"sensors": (lidar, wheels)})

    async def turn(robot):
        await robot.drive(0.4, 0.3)

    group = covey.Group("scout", model, np.array([[-1.0, 0.0, 0.3], [1.0, 0.5, -1.0]]), turn, localization=Drifting())
    sim = covey.Simulation(
        covey.World.empty(6, 5),
        [group],
        seed=3,
        stop=covey.Stop(timeout_s=4.0),
        record=covey.Details(scans_every_s=0.2, maps_every_s=2.0),
        recording=tmp_path_factory.mktemp("bag") / "run",
    )
    return sim.run()


@pytest.fixture(scope="module")
def bag(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("bag") / "run.mcap"
    assert main(["export", str(run.folder), "--format", "ros2", "--out", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def messages(bag):
    """Return the messages by topic, with their times [s], as rosbags reads them."""
    found = {}
    with AnyReader([Path(bag)]) as reader:
        for connection, at, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            found.setdefault(connection.topic, []).append((at / 1e9, message))
    return found


def heading(q):
    return math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y**2 + q.z**2))


def matrix(x, y, turn):
    return np.array([[math.cos(turn), -math.sin(turn), x], [math.sin(turn), math.cos(turn), y], [0.0, 0.0, 1.0]])


def of_transform(message):
    t = message.transform
    return matrix(t.translation.x, t.translation.y, heading(t.rotation))


def stamp(header):
    return header.stamp.sec + 1e-9 * header.stamp.nanosec


def test_transforms_lead_from_the_map_to_where_robots_take_themselves_to_be(run, messages):
    frames = messages["/tf"]
    assert [at for at, _ in frames] == pytest.approx(run.pose_times.tolist())
    assert np.abs(run.poses - run.estimates).max() > 0.01  # the odometry drifts
    for (_, message), estimates in zip(frames, run.estimates, strict=True):
        by_child = {one.child_frame_id: one for one in message.transforms}
        for name, estimate in zip(run.names, estimates, strict=True):
            start, odom = by_child[f"{name}/odom"], by_child[f"{name}/base_footprint"]
            assert (start.header.frame_id, odom.header.frame_id) == ("map", f"{name}/odom")
            np.testing.assert_allclose(of_transform(start) @ of_transform(odom), matrix(*estimate), atol=1e-9)
    first = {one.child_frame_id: one for one in frames[0][1].transforms}
    np.testing.assert_allclose(of_transform(first["scout1/odom"]), matrix(1.0, 0.5, -1.0), atol=1e-12)


def test_odometry_integrates_its_twists(messages):
    odometry = [message for _, message in messages["/scout0/odom"]]
    pose = matrix(
        *([odometry[0].pose.pose.position.x, odometry[0].pose.pose.position.y]),
        heading(odometry[0].pose.pose.orientation),
    )
    for before, now in pairwise(odometry):
        span, twist = stamp(now.header) - stamp(before.header), now.twist.twist
        vx, vy, omega = twist.linear.x, twist.linear.y, twist.angular.z
        pose = pose @ expm(span * np.array([[0, -omega, vx], [omega, 0, vy], [0, 0, 0]]))  # an arc, in its own frame
    last = odometry[-1].pose.pose
    np.testing.assert_allclose(pose, matrix(last.position.x, last.position.y, heading(last.orientation)), atol=1e-9)


def test_true_poses_are_there(run, messages):
    for i, name in enumerate(run.names):
        found = [message.pose.pose for _, message in messages[f"/{name}/ground_truth"]]
        np.testing.assert_allclose([(p.position.x, p.position.y) for p in found], run.poses[:, i, :2], atol=1e-12)
        np.testing.assert_allclose(np.sin([heading(p.orientation) for p in found] - run.poses[:, i, 2]), 0, atol=1e-12)
    assert {message.header.frame_id for _, message in messages["/scout0/ground_truth"]} == {"map"}


def test_scans_hit_the_walls_from_where_the_robot_was(run, messages):
    static = {one.child_frame_id: one for one in messages["/tf_static"][0][1].transforms}
    base, scan_frame = static["scout0/base_link"], static["scout0/base_scan"]
    mount = of_transform(base) @ of_transform(scan_frame)
    np.testing.assert_allclose(mount, matrix(MOUNT[0], MOUNT[1], math.radians(MOUNT[2])), atol=1e-6)
    truth = {round(at, 6): message.pose.pose for at, message in messages["/scout0/ground_truth"]}
    hits = 0
    for at, scan in messages["/scout0/scan"]:
        assert stamp(scan.header) == pytest.approx(at)
        assert scan.header.frame_id == "scout0/base_scan"
        if round(at, 6) not in truth:
            continue
        pose = truth[round(at, 6)]
        eye = matrix(pose.position.x, pose.position.y, heading(pose.orientation)) @ mount
        angles = scan.angle_min + scan.angle_increment * np.arange(len(scan.ranges))
        near = np.isfinite(scan.ranges)
        points = (
            eye @ np.stack((scan.ranges * np.cos(angles), scan.ranges * np.sin(angles), np.ones(len(angles))))[:, near]
        )
        wall = np.minimum(np.abs(np.abs(points[0]) - 3.0), np.abs(np.abs(points[1]) - 2.5))
        robots = np.linalg.norm(points[:2] - [[1.0], [0.5]], axis=0) < 3.0
        assert (wall[~robots] < 1e-4).all()  # the room has 6 m x 5 m; float32 ranges
        hits += int((wall < 1e-4).sum())
    assert hits > 100


def test_maps_have_ros_values_in_place(run, messages):
    ((_, truth),) = messages["/true_map"]
    cells = np.reshape(truth.data, (truth.info.height, truth.info.width))
    np.testing.assert_array_equal(cells == 100, run.maps.truth.cells == WALL)
    assert truth.info.resolution == pytest.approx(run.maps.truth.resolution)
    assert (truth.info.origin.position.x, truth.info.origin.position.y) == run.maps.truth.origin[:2]
    grown = messages["/scout0/map"]
    assert [round(at, 6) for at, _ in grown] == [
        run.times[run.steps == step][0] for step in run.map_changes.steps if step
    ] or len(grown) == 3
    known = [int((np.asarray(message.data) >= 0).sum()) for _, message in grown]
    assert known == sorted(known)
    assert known[-1] > known[0]
    last = grown[-1][1]
    np.testing.assert_array_equal(np.reshape(last.data, run.maps.robots[0].shape), run.maps.robots[0].cells)


def test_the_file_says_what_ros_needs_to_play_it(bag):
    with bag.open("rb") as stream:
        reader = make_reader(stream)
        summary = reader.get_summary()
        assert reader.get_header().profile == "ros2"
        records = list(reader.iter_metadata())
    assert [(one.name, one.metadata["ROS_DISTRO"]) for one in records] == [("rosbag2", "jazzy")]
    assert {channel.message_encoding for channel in summary.channels.values()} == {"cdr"}
    assert {schema.encoding for schema in summary.schemas.values()} == {"ros2msg"}
    for (
        channel
    ) in summary.channels.values():  # rosbag2 and Foxglove read the type of a message by the name of its schema
        schema = summary.schemas[channel.schema_id]
        assert re.fullmatch(r"\w+/msg/\w+", schema.name)
        assert channel.metadata["topic_type_hash"].startswith("RIHS01_")
        (qos,) = yaml.safe_load(channel.metadata["offered_qos_profiles"])
        assert {"history", "depth", "reliability", "durability", "deadline", "lifespan", "liveliness"} <= set(qos)
    offered = {one.topic: one.metadata["offered_qos_profiles"] for one in summary.channels.values()}
    for topic in ("/tf_static", "/true_map", "/scout0/map"):
        assert "durability: 1" in offered[topic]  # transient local: a late RViz gets them
    assert "durability: 2" in offered["/scout0/scan"]
    scan = next(one for one in summary.schemas.values() if one.name == "sensor_msgs/msg/LaserScan")
    assert "float32[] ranges" in scan.data.decode()
    assert "MSG: std_msgs/Header" in scan.data.decode()


def test_the_old_spelling_of_a_bag_of_ros_is_hidden_and_names_the_new_one(run, bag, tmp_path, capsys):
    assert main(["export", "--help"]) == 0
    assert "--mcap" not in capsys.readouterr().out
    assert main(["export", str(run.folder), "--mcap", "--out", str(tmp_path / "run.mcap")]) == 0
    assert "--mcap is the old spelling of --format ros2" in capsys.readouterr().err
    assert (tmp_path / "run.mcap").read_bytes() == bag.read_bytes()
    assert main(["export", str(run.folder), "--mcap", "--format", "html"]) == 2
    assert "--mcap means --format ros2" in capsys.readouterr().err


def test_formats_with_the_same_ending_are_told_apart(run, tmp_path, capsys):
    assert main(["export", str(run.folder), "--format", "ros2", "--out", str(tmp_path / "a.db3")]) == 2
    assert "ends with .mcap" in capsys.readouterr().err
