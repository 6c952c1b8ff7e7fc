"""The whole software of a robot in its node: localization, mapping, coordination, navigation, one process per robot."""

import math

import numpy as np
import pytest
from tests.ros.nodes import LIMIT_S, in_process, node, said_by, simulator
from tests.ros.world import until

from covey.geometry import Pose
from covey.ros.bag_writing import write

CODE = '''
import math


async def look_around(robot):
    """Drive up and down where nobody else is, and note when it is there, its estimate, and how much the map holds."""
    x = robot.pose.x
    for y in (1.5, -1.5):
        answer = await robot.goto((x, y))
        robot.note(f"{answer.state}; {robot.pose.x} {robot.pose.y} {(robot.map.occupancy() >= 0).sum()}")
    robot.finish()


async def drive(robot):
    """Drive to and fro at the far end of the hall."""
    for x in (11, 10, 11):
        await robot.goto((x, 2))
    robot.finish()


async def watch(robot):
    """Stand still until the far end of the hall is on the map."""
    while robot.map.occupancy()[robot.map.grid.cell_at(13.0, 2.0)] < 0:
        await robot.sleep(0.1)
    robot.note("the far end is known")
    robot.finish()


async def survey(robot):
    """Turn on the spot, and note the altitudes around that both know in the end, as far as it knows them."""
    robot.drive(0.0, 1.0)
    await robot.sleep(6.0)
    places = [(x, y) for x in range(-9, 10) for y in range(-9, 10)]
    altitude = robot.map.altitude()
    robot.note(" ".join(str(altitude[robot.map.grid.cell_at(*place)]) for place in places))
    robot.finish()


async def find(robot):
    """Stand still until the start of the other is found, and note where it is."""
    (name,) = {"r0", "r1"} - {robot.name}
    while (at := robot.frame_of(name)) is None:
        await robot.sleep(0.1)
    robot.note(f"{at.x} {at.y} {at.heading}")
    robot.finish()
'''
ALONE = """
format: 1
name: alone
world: {empty_m: [8, 6]}
robots:
  - name: a
    robot: &burger {base: turtlebot3_burger, max_speed_m_s: 0.8, max_wheel_speed_m_s: 1.2}
    start: [[-2.5, -1, 90]]
    localization: slam
    controller: ./mine.py:look_around
  - {name: b, robot: *burger, start: [[0, -1, 90]], localization: particles, controller: ./mine.py:look_around}
  - {name: c, robot: *burger, start: [[2.5, -1, 90]], localization: known_map, controller: ./mine.py:look_around}
  - name: d
    robot:
      base: turtlebot3_burger
      max_speed_m_s: 0.8
      max_wheel_speed_m_s: 1.2
      sensors:
        - {kind: lidar, range_m: 3.5, rays: 90, fov_deg: 360, rate_hz: 5}
        - {kind: odometry, rate_hz: 10, noise: {model: gmapping, rad_per_m: 0.5}}  # its gyro knows better
        - {kind: imu, rate_hz: 50}
      mapping: {resolution_m: 0.1}
    start: [[-1.2, -1, 90]]
    localization: odometry
    controller: ./mine.py:look_around
stop: {timeout_s: 12.5}
"""
LED = """
format: 1
name: led
world:
  workspace_m: [[0, 0], [12, 0], [12, 8], [0, 8]]
  obstacles_m: [[[4, 0], [4.3, 0], [4.3, 5], [4, 5]], [[8, 3], [8.3, 3], [8.3, 8], [8, 8]]]
robots:
  - name: scout
    robot:
      base: pioneer3dx
      sensors:
        - {kind: lidar, range_m: 4, rays: 180, fov_deg: 360, rate_hz: 10}
        - {kind: odometry, rate_hz: 10}
        - {kind: neighbours, range_m: 10}
      mapping: {resolution_m: 0.1}
    count: 2
    start: [[1.5, 2, 90], [2.8, 2, 90]]
    localization: slam
    controller: leader
share_maps: {every_s: 1}
stop: {timeout_s: 10.0}  # at 10.3 s a goal lies on the edge of a wall's cell: 2e-8 m, the float32 of ranges, decide
"""
HALL = """
format: 1
name: hall
world: {workspace_m: [[0, 0], [14, 0], [14, 4], [0, 4]]}
robots:
  - name: scout
    robot:
      base: disc
      sensors: [{kind: lidar, range_m: 4, rays: 180, fov_deg: 360, rate_hz: 10}]
      mapping: {resolution_m: 0.1}
    count: 2
    start: {line: {from: [2, 2], step: [8, 0]}}
    controller: ./mine.py:drive
share_maps: {every_s: 0.5}
record: {scans_every_s: 0.2}
stop: {timeout_s: 8}
"""
UNKNOWN = """
format: 1
name: unknown
world:
  workspace_m: [[0, 0], [14, 0], [14, 10], [0, 10]]
  obstacles_m:
    - [[4, 0], [4.3, 0], [4.3, 5], [4, 5]]
    - [[8, 3], [14, 3], [14, 3.3], [8, 3.3]]
    - [[10, 6.5], [11.5, 6.5], [11.5, 7.5], [10, 7.5]]
    - [[7, 8], [8.5, 8], [8.5, 9.2], [7, 9.2]]
    - [[8.5, 4.5], [9.5, 4.5], [9.5, 5.5], [8.5, 5.5]]
    - [[0, 6.5], [1.5, 6.5], [1.5, 7.5], [0, 7.5]]
    - [[5.2, 0], [5.6, 0], [5.6, 0.8], [5.2, 0.8]]
robots:
  - name: r
    robot:
      base: disc
      sensors: [{kind: lidar, range_m: 15, rays: 720, fov_deg: 360, rate_hz: 10, sees_robots: false}]
      mapping: {resolution_m: 0.1}
    count: 2
    start: [[6.2, 6.4, 23], [6.6, 2.4, 126]]
    controller: ./mine.py:find
share_maps: {policy: on_meeting, start_poses: unknown, align_every_s: 1}
stop: {timeout_s: 1.5}
"""

HILLS = """
format: 1
name: hills
world: {generate: hills, size_m: [24, 24], height_m: 2, seed: 3}
robots: [{name: s, count: 2, robot: SENSORS, start: [[-5, 0, 0], [5, 0, 90]], controller: ./mine.py:survey}]
share_maps: {every_s: 1}
stop: {timeout_s: 8}
"""
WITH_LIDAR = "{base: skid_steer, sensors: [{kind: lidar3d, rings: 12, rays: 90, mount_pitch_deg: 0, height_m: 1}]}"


@pytest.fixture
def wrote(tmp_path):
    """Return a function that writes a scenario, and the file of its controllers, and returns its path."""
    (tmp_path / "mine.py").write_text(CODE)

    def write_scenario(text):
        (tmp_path / "s.yaml").write_text(text)
        return tmp_path / "s.yaml"

    return write_scenario


@pytest.mark.slow
def test_robots_localize_themselves_in_their_nodes(start, wrote):
    path = wrote(ALONE)
    simulator(start, "s.yaml", "--no-localization")
    said = said_by(start, "s.yaml", dict.fromkeys(("a0", "b0", "c0", "d0"), "./mine.py:look_around"), "--localize")
    _, wanted = in_process(path)
    assert said.keys() == wanted.keys()
    for name, lines in wanted.items():
        for line, other in zip(lines, said[name], strict=True):
            (decision, numbers), (decided, found) = line.split("; "), other.split("; ")
            assert decided == decision
            x, y, cells = map(float, numbers.split())
            there_x, there_y, there_cells = map(float, found.split())
            # ranges travel as float32: with all else equal, a particle more or less is drawn
            assert math.hypot(there_x - x, there_y - y) < 0.02
            assert abs(there_cells - cells) < 0.005 * cells


@pytest.mark.slow
def test_a_leader_and_its_follower_with_slam_decide_the_same_in_process_and_as_nodes(start, wrote):
    path = wrote(LED)
    simulator(start, "s.yaml", "--no-localization")
    said = said_by(start, "s.yaml", {"scout0": "leader", "scout1": "leader"}, "--localize")
    _, wanted = in_process(path)
    assert said == wanted
    assert all("frontier at" in lines[0] for lines in wanted.values())


@pytest.mark.parametrize(("model", "most_m"), [("skid_steer", 0.15), (WITH_LIDAR, 1e-5)], ids=["wedge", "lidar"])
def test_nodes_map_the_ground_together(start, wrote, model, most_m):
    path = wrote(HILLS.replace("SENSORS", model))
    simulator(start, "s.yaml")
    said = said_by(start, "s.yaml", dict.fromkeys(("s0", "s1"), "./mine.py:survey"))
    _, wanted = in_process(path)
    for name, (line,) in wanted.items():
        here, there = (np.array(text.split("  ")[1].split(), float) for text in (line, *said[name]))
        both = np.isfinite(here) & np.isfinite(there)
        assert both.sum() == np.isfinite(here).sum() > 100  # what the other one saw, too
        assert np.abs(here - there)[both].max() < most_m


def test_nodes_that_do_not_know_each_others_starts_find_them_when_they_meet(start, wrote):
    wrote(UNKNOWN)
    simulator(start, "s.yaml")
    said = said_by(start, "s.yaml", {"r0": "./mine.py:find", "r1": "./mine.py:find"})
    starts = [Pose(6.2, 6.4, math.radians(23)), Pose(6.6, 2.4, math.radians(126))]
    true = starts[0].inverse() @ starts[1]
    (line,) = said["r0"]
    x, y, heading = map(float, line.split("  ")[1].split())
    assert math.hypot(x - true.x, y - true.y) < 0.05
    assert abs(heading - true.heading) < math.radians(0.5)


def test_a_recorded_robot_takes_the_place_of_one_beside_a_simulated_one(start, wrote, tmp_path, peer):
    write(in_process(wrote(HALL))[0], tmp_path / "rec.mcap")
    more = "-s", "robots.scout.count=1", "-s", "stop.timeout_s=10000"
    start("ros", "run", "s.yaml", *more, "--speed", "2", "--out", "run", "-q")
    simulated = node(start, "./mine.py:watch", "scout0", "s.yaml", "--direct")
    node(start, "./mine.py:watch", "scout1", "s.yaml", "--direct", "--prefixed")
    read = {"rt/scout1/scan", "rt/scout1/odom", "rt/tf", "rt/tf_static"}
    until(lambda: read <= {one["topic"] for one in peer.graph()["readers"]}, LIMIT_S)  # else it is played to nobody
    topics = [word for topic in ("/scout1/scan", "/scout1/odom", "/tf", "/tf_static") for word in ("--topic", topic)]
    start("ros", "play", "rec.mcap", *topics, "--time", "follow")
    # the lidar of scout0 reaches to x = 6: only the recorded robot has seen the far end
    assert until(simulated.said.read_text, LIMIT_S).split("  ")[1] == "the far end is known\n"
