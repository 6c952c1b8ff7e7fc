"""Bags as runs, worlds and logs; the bags are written by rosbags, which belongs to nobody here."""

import math

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import covey
from covey.cli import main
from covey.errors import InvalidValueError
from covey.mapping.slam.bags import read_bag
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


def changed(given, kinds):
    """Yield the messages with those of some types replaced; None leaves one out."""
    for time_s, topic, kind, message in given:
        if kind not in kinds:
            yield time_s, topic, kind, message
        elif (other := kinds[kind](message)) is not None:
            yield time_s, topic, *other


def leaning(*angles):
    """Return the quaternion of turns about x, y and z, one after the other about the axes of the robot."""
    x, y, z, w = 0.0, 0.0, 0.0, 1.0
    for axis, angle in enumerate(angles):
        s, c = math.sin(angle / 2), math.cos(angle / 2)
        a, b, d = (s if axis == k else 0.0 for k in range(3))
        x, y, z, w = (
            c * x + a * w + b * z - d * y,
            c * y - a * z + b * w + d * x,
            c * z + a * y - b * x + d * w,
            c * w - (a * x + b * y + d * z),
        )
    return T["geometry_msgs/msg/Quaternion"](x, y, z, w)


def mounted(quaternion, given):
    """Yield the messages with the lidar turned in another way."""
    for time_s, topic, kind, message in given:
        for one in message.transforms if topic.endswith("tf_static") else ():
            one.transform.rotation = quaternion
        yield time_s, topic, kind, message


@pytest.mark.parametrize(
    "turned", [(math.pi, 0.0, MOUNT[2]), (0.0, math.pi, MOUNT[2] - math.pi), (3.1, 0.05, MOUNT[2])]
)
def test_a_lidar_that_hangs_upside_down_sees_the_same(turned, recorded, tmp_path):
    def from_below(message):
        """What an upside-down lidar with the same heading says: the beam at an angle looks where -angle is."""
        message.ranges = np.roll(message.ranges[::-1], 1)  # from -180 degrees on, in steps of 6
        return "sensor_msgs/msg/LaserScan", message

    hanging = changed(mounted(leaning(*turned), messages()), {"sensor_msgs/msg/LaserScan": from_below})
    (upright,) = read_bag_of_robots(recorded).robots
    path = write(tmp_path / "bag", hanging)
    for log in (read_bag_of_robots(path).robots[0].log, read_bag(path)):
        assert log.laser.mount == pytest.approx(MOUNT, abs=0.01)
        for row in (0, 30):
            seen = log.laser.points(log.ranges[row])
            truth = upright.log.laser.points(upright.log.ranges[row])
            apart = np.hypot(*(seen[:, None] - truth[None]).transpose(2, 0, 1))
            assert len(seen) == len(truth)
            assert apart.min(axis=1).max() < 0.05


@pytest.mark.parametrize(("turned", "tilt"), [((math.pi / 2, 0, 0), 90), ((0, 0.3, 1.0), 17), ((2.9, 0, 0), 166)])
def test_a_tilted_lidar_is_refused_in_words(turned, tilt, tmp_path, capsys):
    path = write(tmp_path / "bag", mounted(leaning(*turned), messages(seconds=1.0)))
    assert main(["ros", "import", str(path), "--to", "log", "--out", str(tmp_path / "a.npz")]) == 2
    assert f"the lidar in the frame 'laser' is tilted by {tilt} degrees against the robot" in capsys.readouterr().err
    assert main(["slam", str(path), "--out", str(tmp_path / "out")]) == 2
    assert "a planar lidar is upright or upside down (roll pi)" in capsys.readouterr().err


@pytest.mark.parametrize("chain", [("odom", "base_link"), ("scout0/odom", "scout0/base"), ("world", "base_footprint")])
def test_odometry_comes_from_tf_where_there_is_no_topic(chain, recorded, tmp_path):
    """The commonest bags have scans and transforms alone; a frame that moves is odometry even if its name is not."""
    frame, base = chain

    def as_transform(message):
        at, p = message.header.stamp, message.pose.pose.position
        moved = T["geometry_msgs/msg/Transform"](
            T["geometry_msgs/msg/Vector3"](p.x, p.y, 0.0), message.pose.pose.orientation
        )
        one = T["geometry_msgs/msg/TransformStamped"](T["std_msgs/msg/Header"](at, frame), base, moved)
        return "tf2_msgs/msg/TFMessage", T["tf2_msgs/msg/TFMessage"]([one])

    given = []
    for time_s, topic, kind, message in changed(messages(tf=False), {"nav_msgs/msg/Odometry": as_transform}):
        given.append((time_s, "/tf" if topic == "/odom" else topic, kind, message))
    over = transform(BEGIN, base, "base_link", 0.0, 0.0, 0.0)
    if base != "base_link":
        given.append((BEGIN, "/tf_static", "tf2_msgs/msg/TFMessage", T["tf2_msgs/msg/TFMessage"]([over])))
    path = write(tmp_path / "bag", given)
    (robot,), (usual,) = read_bag_of_robots(path).robots, read_bag_of_robots(recorded).robots
    np.testing.assert_allclose(robot.odometry.values, usual.odometry.values, atol=1e-9)
    for log in (robot.log, read_bag(path)):
        np.testing.assert_allclose(log.odometry, usual.log.odometry, atol=1e-9)
        assert log.laser.mount == pytest.approx(MOUNT)
        assert log.remarks == ()


def test_scans_without_any_odometry_are_told_with_their_frames(tmp_path, capsys):
    given = changed(messages(tf=False, grids=False), {"nav_msgs/msg/Odometry": lambda _: None})
    path = write(tmp_path / "bag", given)
    assert main(["ros", "import", str(path)]) == 2
    said = capsys.readouterr().err
    assert "no transforms that lead from a frame odom to the frame 'laser' of its scans" in said
    assert "its transforms: base_link → laser" in said


def test_a_lidar_in_a_namespace_of_its_own_belongs_to_the_only_odometry(tmp_path):
    given = [
        (time_s, {"/scan": "/rplidar/scan", "/odom": "/base/odom"}.get(topic, topic), kind, message)
        for time_s, topic, kind, message in messages(seconds=2.0)
    ]
    (robot,) = read_bag_of_robots(write(tmp_path / "bag", given)).robots
    assert (robot.name, len(robot.log)) == ("robot", 11)


def test_a_lidar_of_which_no_transform_speaks_is_taken_at_the_centre_and_said(tmp_path, capsys):
    given = [one for one in messages(tf=False, seconds=1.0) if one[1] != "/tf_static"]
    path = write(tmp_path / "bag", given)
    assert main(["ros", "import", str(path), "--to", "log", "--out", str(tmp_path / "a.npz")]) == 0
    assert "No transform says where the frame 'laser' of the lidar is; it is taken to be" in capsys.readouterr().out
    assert load_log(tmp_path / "a.npz").laser.mount == (0.0, 0.0, 0.0)


def test_scans_that_vary_become_a_run(tmp_path):
    """A cheap lidar makes 58 to 62 beams a turn."""
    counts = iter(np.random.default_rng(2).integers(58, 63, 1000).tolist())

    def uneven(message):
        n = next(counts)
        angles = -math.pi + math.tau / n * np.arange(n)
        where = np.rint((angles + math.pi) / message.angle_increment).astype(int) % len(message.ranges)
        message.angle_increment, message.ranges = math.tau / n, message.ranges[where]
        return "sensor_msgs/msg/LaserScan", message

    bag = read_bag_of_robots(write(tmp_path / "bag", changed(messages(), {"sensor_msgs/msg/LaserScan": uneven})))
    (remark,) = bag.robots[0].log.remarks
    assert "scans have other beams than most" in remark
    assert "58 to 62 beams" in remark
    run = run_of(bag)
    assert 0.6 < run.series("explored_share_union")[-1] < 1.0
    points = run.scans["robot"]["lidar"].points(step=60)
    wall = np.minimum.reduce(
        [np.abs(points[:, 0] - one) for one in (0, WIDE)] + [np.abs(points[:, 1] - one) for one in (0, TALL)]
    )
    assert wall.max() < 3.5 * math.radians(6.0)  # these ranges are of beams up to half a step beside


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
