"""Bags as runs, worlds and logs; the bags are written by rosbags, which belongs to nobody here."""

import math

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import covey
from covey.cli import main
from covey.errors import InvalidValueError
from covey.mapping.slam.log import load_log
from covey.results.maps import UNKNOWN, WALL
from covey.ros.bag_reading import read_bag_of_robots
from covey.ros.bag_run import run_of
from covey.world.world import World

STORE = get_typestore(Stores.ROS2_JAZZY)
T = STORE.types
BEGIN = 1_700_000_000.0  # of a wall clock, as on a real robot
WIDE, TALL = 6.0, 4.0
ANGLES = np.radians(np.arange(-180.0, 180.0, 6.0))
MOUNT = (0.2, 0.0, 3.0)  # the lidar looks back
START, SPEED = (1.0, 2.0), 0.2  # in the map; eastwards
ODOM = (0.5, -0.25, math.pi / 2)  # of odom in the map
SCALE = 1.02  # of the odometry


def at(time_s):
    nanoseconds = round(1e9 * time_s)
    return T["builtin_interfaces/msg/Time"](nanoseconds // 10**9, nanoseconds % 10**9)


def header(time_s, frame):
    return T["std_msgs/msg/Header"](at(time_s), frame)


def turn(yaw):
    return T["geometry_msgs/msg/Quaternion"](0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))


def pose(x, y, yaw):
    return T["geometry_msgs/msg/Pose"](T["geometry_msgs/msg/Point"](x, y, 0.0), turn(yaw))


def transform(time_s, parent, child, x, y, yaw):
    moved = T["geometry_msgs/msg/Transform"](T["geometry_msgs/msg/Vector3"](x, y, 0.0), turn(yaw))
    return T["geometry_msgs/msg/TransformStamped"](header(time_s, parent), child, moved)


def still():
    zero = T["geometry_msgs/msg/Vector3"](0.0, 0.0, 0.0)
    return T["geometry_msgs/msg/TwistWithCovariance"](T["geometry_msgs/msg/Twist"](zero, zero), np.zeros(36))


def odometry(time_s, x, y, yaw, frame="odom", child="base_link"):
    where = T["geometry_msgs/msg/PoseWithCovariance"](pose(x, y, yaw), np.zeros(36))
    return T["nav_msgs/msg/Odometry"](header(time_s, frame), child, where, still())


def scan(time_s, x, y):
    """Return the scan of a robot at (x, y) that looks east, in an empty room."""
    eye, beams = x + MOUNT[0], ANGLES + MOUNT[2]
    c, s = np.cos(beams), np.sin(beams)
    c, s = (np.where(np.abs(one) < 1e-9, 1e-9, one) for one in (c, s))
    ranges = np.minimum(np.where(c > 0, (WIDE - eye) / c, -eye / c), np.where(s > 0, (TALL - y) / s, -y / s))
    ranges[ranges > 3.5] = np.inf
    step = float(ANGLES[1] - ANGLES[0])
    kind = T["sensor_msgs/msg/LaserScan"]
    nothing = np.zeros(0, np.float32)
    return kind(
        header(time_s, "laser"), ANGLES[0], ANGLES[-1], step, 0.0, 0.2, 0.05, 3.5, ranges.astype(np.float32), nothing
    )


def grid(cells, origin=(-0.1, -0.2, 0.0), resolution=0.1):
    info = T["nav_msgs/msg/MapMetaData"](at(BEGIN), resolution, cells.shape[1], cells.shape[0], pose(*origin))
    return T["nav_msgs/msg/OccupancyGrid"](header(BEGIN, "map"), info, cells.ravel())


def room():
    cells = np.zeros((45, 63), np.int8)
    cells[[0, 1, -2, -1]] = cells[:, [0, -1, -2]] = 100
    cells[20, 30], cells[20, 31], cells[20, 32] = -1, 50, 19
    return cells


def messages(space="", seconds=12.0, tf=True, grids=True):
    """Yield (time [s], topic, type, message) of a robot that drives eastwards in a room."""
    tf_topics = (f"{space}/tf", f"{space}/tf_static")
    if grids:
        yield BEGIN, f"{space}/map", "nav_msgs/msg/OccupancyGrid", grid(room())
    base = transform(BEGIN, "base_link", "laser", *MOUNT)
    yield BEGIN, tf_topics[1], "tf2_msgs/msg/TFMessage", T["tf2_msgs/msg/TFMessage"]([base])
    c, s = math.cos(ODOM[2]), math.sin(ODOM[2])
    for k in range(round(seconds * 20) + 1):
        time_s = BEGIN + 0.05 * k
        x, y = START[0] + SPEED * 0.05 * k, START[1]
        dx, dy = SCALE * (x - START[0]) + START[0] - ODOM[0], y - ODOM[1]
        yield (
            time_s,
            f"{space}/odom",
            "nav_msgs/msg/Odometry",
            odometry(time_s, c * dx + s * dy, -s * dx + c * dy, -ODOM[2]),
        )
        if tf and k % 2 == 0:  # something corrects the drift: the map's transform to odom moves
            back = transform(time_s, "map", "odom", ODOM[0] - (SCALE - 1.0) * (x - START[0]), *ODOM[1:])
            yield time_s, tf_topics[0], "tf2_msgs/msg/TFMessage", T["tf2_msgs/msg/TFMessage"]([back])
        if k % 4 == 0:
            yield time_s, f"{space}/scan", "sensor_msgs/msg/LaserScan", scan(time_s, x, y)
        if k == 20:
            twist = still().twist
            twist.linear.x = SPEED
            yield time_s, f"{space}/cmd_vel", "geometry_msgs/msg/Twist", twist


def write(folder, given, storage=StoragePlugin.MCAP):
    with Writer(folder, version=9, storage_plugin=storage) as writer:
        connections = {}
        for time_s, topic, kind, message in sorted(given, key=lambda one: one[0]):
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=STORE)
            writer.write(connections[topic], round(1e9 * time_s), STORE.serialize_cdr(message, kind))
    return folder


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return write(tmp_path_factory.mktemp("bags") / "drive", messages())


def test_a_robot_is_found_with_its_lidar_and_its_poses_in_the_map(recorded):
    bag = read_bag_of_robots(recorded)
    (robot,) = bag.robots
    assert (robot.name, robot.better_by, list(bag.maps)) == ("robot", "tf", ["/map"])
    assert robot.log.laser.mount == pytest.approx(MOUNT)
    assert robot.log.laser.range_max == pytest.approx(3.5)
    assert len(robot.log) == 61
    x = START[0] + SPEED * (robot.better.times - BEGIN)
    np.testing.assert_allclose(robot.better.values[::2, 0], x[::2], atol=1e-9)  # tf has 10 Hz, odom 20 Hz
    np.testing.assert_allclose(robot.better.values[:, 1:], [[START[1], 0.0]] * len(x), atol=1e-9)
    np.testing.assert_allclose(robot.log.reference[:, 0], x[::4], atol=1e-9)
    assert robot.commands.values.tolist() == [[SPEED, 0.0, 0.0]]


@pytest.mark.parametrize("storage", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_the_run_has_its_way_its_drift_and_what_it_saw(tmp_path, storage):
    bag = write(tmp_path / "bag", messages(), storage)
    run = run_of(read_bag_of_robots(bag), tmp_path / "run")
    assert (run.status, run.names, len(run.times)) == ("stopped", ("robot",), 120)
    x = START[0] + SPEED * run.pose_times
    np.testing.assert_allclose(run.poses[:, 0, 0], x, atol=1e-9)
    np.testing.assert_allclose(run.estimates[:, 0, 0], START[0] + SCALE * SPEED * run.pose_times, atol=1e-6)
    np.testing.assert_allclose(run.series("vx_m_s")[5:, 0], SPEED, atol=1e-6)
    assert run.metrics["exploration_cost_m"] == pytest.approx(SPEED * 11.9, rel=0.01)
    assert run.metrics["position_error_end_m"] == pytest.approx(0.02 * SPEED * 12.0, abs=1e-3)
    commands = run.series("command_vx_m_s")[:, 0]
    assert np.isnan(commands[:9]).all()
    assert (commands[9:] == SPEED).all()
    # the beams that return end at the walls of the room
    points = run.scans["robot"]["lidar"].points(step=60)
    assert len(points) > 20
    wall = np.minimum.reduce(
        [np.abs(points[:, 0]), np.abs(points[:, 0] - WIDE), np.abs(points[:, 1]), np.abs(points[:, 1] - TALL)]
    )
    assert wall.max() < 1e-5
    # from x = 3.4 + 0.2 it has seen all within 3.5 m: of the 6 m, and more, everything but corners in the east
    share = run.series("explored_share_union")
    assert (np.diff(share) >= 0.0).all()
    assert 0.6 < share[-1] < 1.0
    assert main(["plot", str(tmp_path / "run"), "overview"]) == 0
    assert main(["export", str(tmp_path / "run"), "--out", str(tmp_path / "run.html")]) == 0


def test_a_map_becomes_a_world(recorded, tmp_path):
    assert main(["ros", "import", str(recorded), "--to", "map", "--out", str(tmp_path / "room.yaml")]) == 0
    world = World.from_file(tmp_path / "room.yaml")
    cells = room()
    assert world.grid.resolution == pytest.approx(0.1)
    assert world.grid.origin == pytest.approx((-0.1, -0.2, 0.0))
    np.testing.assert_array_equal(world.grid.cells == WALL, cells == 100)
    unknown = np.zeros(cells.shape, bool)
    unknown[20, 30:32] = True  # -1, and 50 %; 19 % is free
    np.testing.assert_array_equal(world.grid.cells == UNKNOWN, unknown)


def test_a_log_becomes_one_for_slam(recorded, tmp_path):
    assert main(["ros", "import", str(recorded), "--to", "log", "--out", str(tmp_path / "drive.npz")]) == 0
    log = load_log(tmp_path / "drive.npz")
    assert log.laser.mount == pytest.approx(MOUNT)
    np.testing.assert_allclose(np.hypot(*np.diff(log.odometry[:, :2], axis=0).T), SCALE * SPEED * 0.2, atol=1e-6)
    assert (tmp_path / "drive_relations.csv").is_file()


def test_without_a_map_the_scans_draw_the_world(tmp_path):
    bag = read_bag_of_robots(write(tmp_path / "bag", messages(tf=False, grids=False)))
    assert bag.robots[0].better is None
    run = run_of(bag, poses="odometry")
    np.testing.assert_allclose(run.poses, run.estimates)
    cells, grid_ = run.maps.truth.cells, run.maps.truth
    south = bag.robots[0].odometry.values[0]  # its left and right walls lie 2 m beside it
    for side in (2.0, -2.0):
        place = south[:2] + side * np.array([-math.sin(south[2]), math.cos(south[2])])
        row, column = grid_.to_cells(place[None])[0]
        assert (cells[row - 2 : row + 3, column - 2 : column + 3] == WALL).any()
    slam = run_of(bag)  # nothing better: SLAM over the scans
    moved = np.hypot(*(slam.poses[-1, 0, :2] - slam.poses[0, 0, :2]))
    assert moved == pytest.approx(SPEED * 11.9, abs=0.05)  # the scans know what the odometry does not


def test_two_robots_in_namespaces(tmp_path):
    given = [*messages("/a"), *messages("/b/c", grids=False)]
    run = run_of(read_bag_of_robots(write(tmp_path / "bag", given)))
    assert run.names == ("a", "b_c")
    np.testing.assert_allclose(run.poses[:, 0], run.poses[:, 1], atol=1e-9)


def test_a_run_comes_back_from_its_own_bag(tmp_path, capsys):
    sim = covey.Simulation(
        covey.World.empty(6, 5),
        robots=2,
        controller="nearest_frontier",
        seed=1,
        stop=covey.Stop(timeout_s=5.0),
        record=covey.Details(scans_every_s=0.1),
        recording=tmp_path / "run",
    )
    run = sim.run()
    assert main(["export", str(tmp_path / "run"), "--format", "ros2", "--out", str(tmp_path / "b.mcap")]) == 0
    assert main(["ros", "import", str(tmp_path / "b.mcap"), "--out", str(tmp_path / "again"), "-q"]) == 0
    again = covey.Run(tmp_path / "again")
    assert again.names == run.names
    np.testing.assert_allclose(again.poses, run.poses[1:], atol=1e-9)  # the first is where the bag begins
    np.testing.assert_array_equal(again.maps.truth.cells == WALL, run.maps.truth.cells == WALL)
    assert again.series("explored_share_union")[-1] == pytest.approx(run.series("explored_share_union")[-1], abs=0.02)


def test_what_is_no_bag_or_says_nothing_is_refused(tmp_path, recorded, capsys):
    with pytest.raises(InvalidValueError, match="there is no bag"):
        read_bag_of_robots(tmp_path / "none.mcap")
    (tmp_path / "bad.mcap").write_bytes(b"\x89MCAP0\r\n" + bytes(100))
    with pytest.raises(InvalidValueError, match="cannot be read as a bag"):
        read_bag_of_robots(tmp_path / "bad.mcap")
    text = T["std_msgs/msg/String"]("hello")
    with pytest.raises(InvalidValueError, match="has no odometry and no map; it has: std_msgs/msg/String"):
        read_bag_of_robots(write(tmp_path / "text", [(BEGIN, "/chatter", "std_msgs/msg/String", text)]))
    only_map = write(tmp_path / "map", [(BEGIN, "/map", "nav_msgs/msg/OccupancyGrid", grid(room()))])
    with pytest.raises(InvalidValueError, match="has maps, but no robot"):
        run_of(read_bag_of_robots(only_map))
    assert main(["ros", "import", str(recorded), "--map", "/there"]) == 2
    assert "has no map on /there; it has /map" in capsys.readouterr().err
    assert main(["ros", "import", str(recorded), "--to", "map", "--poses", "slam"]) == 2
    assert "--poses is for --to run" in capsys.readouterr().err
