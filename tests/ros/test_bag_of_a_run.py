"""A run of ``covey ros run`` that another program records, as ``ros2 bag record`` does, and what comes of the bag.

The same controller decides in the simulation, as a node that drives the simulated robot, and as a node before whose eyes
only the bag is played.
"""

import threading
import time

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from tests.ros.world import until

import covey
from covey.cli import main
from covey.onboard.group import Group
from covey.robots.catalogue import turtlebot3_burger
from covey.ros.bag_reading import read_bag_of_robots
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.node import ControllerNode
from covey.ros.node_setup import controller_named, node_setup
from covey.ros.qos import LATCHED, QosProfile
from covey.ros.settings import BridgeSettings
from covey.ros.types import types_of
from covey.scenario.run import run_scenario

TYPES = types_of("jazzy")
CLOCK, TWIST = "rosgraph_msgs/msg/Clock", "geometry_msgs/msg/Twist"
TOPICS = {
    "/clock": CLOCK,
    "/scout0/scan": "sensor_msgs/msg/LaserScan",
    "/scout0/odom": "nav_msgs/msg/Odometry",
    "/scout0/tf": "tf2_msgs/msg/TFMessage",
    "/scout0/tf_static": "tf2_msgs/msg/TFMessage",
    "/scout0/pose": "geometry_msgs/msg/PoseWithCovarianceStamped",
    "/scout0/ground_truth": "nav_msgs/msg/Odometry",
    "/scout0/contact": "std_msgs/msg/Bool",
    "/scout0/cmd_vel": TWIST,
}
CODE = '''
import numpy as np


async def wander(robot, *, near_m=0.6):
    """Drive on, and turn away from what is near; note each change of mind."""
    turning = False
    while True:
        scan = robot.readings.get("lidar")
        if scan is not None:
            ahead = np.abs(np.angle(np.exp(1j * scan.angles))) < 0.6
            near = float(np.min(scan.ranges[ahead])) < near_m
            if near != turning:
                turning = near
                robot.note(f"{'turn' if near else 'go on'} at {robot.pose.x:.3f} {robot.pose.y:.3f}")
        robot.drive(0.0 if turning else 0.2, 0.9 if turning else 0.1)
        await robot.sleep(0.1)
'''
SCENARIO = """
format: 1
name: walk
world: {empty_m: [3, 2.5]}
robots:
  - {name: scout, robot: turtlebot3_burger, start: [[0, 0, 20]], controller: ./mine.py:wander}
stop: {timeout_s: 12}
"""


class Recorder:
    """Another program on the domain that keeps the bytes of all messages, as ``ros2 bag record`` does."""

    def __init__(self, domain, names=tuple(TOPICS)):
        self.participant = Participant(domain, "jazzy")
        node, keep = self.participant.node("recorder"), QosProfile(depth=1000)
        self._readers = {
            name: node.reader(name, TOPICS[name], LATCHED if name.endswith("static") else keep) for name in names
        }
        self.heard = []

    @property
    def matched(self):
        return all(reader.matched for reader in self._readers.values())

    def take(self):
        """Keep what has come; of what came together the clock is the last, as it was sent."""
        for name in sorted(self._readers, key=lambda name: name == "/clock"):
            self.heard += [(time.time_ns(), name, bytes(data)) for data in self._readers[name].take()]

    def of(self, name):
        return [data for _, topic, data in self.heard if topic == name]

    def write(self, folder, storage):
        """Write a bag as Jazzy's recorder does: the bytes as they came, at the time when they came."""
        with Writer(folder, version=9, storage_plugin=storage) as writer:
            made = {name: writer.add_connection(name, TOPICS[name], typestore=TYPES.store) for name in self._readers}
            for at, name, data in self.heard:
                writer.write(made[name], at, data)
        return folder


def setup_in(folder):
    (folder / "mine.py").write_text(CODE)
    (folder / "walk.yaml").write_text(SCENARIO)
    scenario = covey.load_scenario(folder / "walk.yaml")
    return scenario, node_setup(scenario, "scout0", controller_named("./mine.py:wander", folder))


class Deciding:
    """A node, in a thread, with what it decides: its time [s], the newest scan that it has, and its twist."""

    def __init__(self, domain, setup, each_step=lambda: None):
        self.participant = Participant(domain, "jazzy")
        self.node = ControllerNode(self.participant, setup)
        self.decided, self._each_step = [], each_step
        self.node.on_step = self._note
        self._thread = threading.Thread(target=self.node.run)
        self._thread.start()

    def _note(self, time_s, given, answer):
        self._each_step()
        self.decided.append((round(time_s, 3), tuple(map(float, answer.twist))))

    def end(self):
        self.node.ended = "the test is over"
        self._thread.join(timeout=60)
        assert not self._thread.is_alive()
        self.node.close()
        self.participant.close()


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """Return the folder of the scenario, and its run in the process of the simulation."""
    folder = tmp_path_factory.mktemp("walk")
    scenario, _ = setup_in(folder)
    return folder, run_scenario(scenario, folder / "here")


@pytest.fixture
def driven(walked, domain):
    """Return the run that a node drove, the recorder of it, and what the node decided."""
    folder, _ = walked
    scenario, setup = setup_in(folder)
    with Participant(domain, "jazzy") as ros:
        bridge = Bridge(ros, BridgeSettings("lockstep", true_poses=True))
        model = turtlebot3_burger()
        group = Group("scout", model, [(0.0, 0.0, np.radians(20.0))], "commanded")
        sim = covey.Simulation(covey.World.empty(3, 2.5), [group], hosting=bridge.hosting, seed=scenario.seed)
        bridge.before_step(sim)  # makes the topics
        recorder = Recorder(domain)
        node = Deciding(domain, setup, recorder.take)
        until(lambda: recorder.matched)
        run = sim.run(before_step=bridge.before_step, until_s=12.0)
        recorder.take()
        node.end()
    recorder.participant.close()
    return run, recorder, node.decided


def played(domain, setup, folder):
    """Play a bag step by step before a node; return what it decided. A step ends when it is ready, as in lockstep."""
    from rosbags.highlevel import AnyReader

    with Participant(domain, "jazzy") as ros, AnyReader([folder]) as bag:
        player = ros.node("player")
        topics = {one.topic: one.msgtype for one in bag.connections if not one.topic.endswith("cmd_vel")}
        keep = {"static": LATCHED}
        writers = {
            name: player.writer(name, kind, keep.get(name[-6:], QosProfile(100))) for name, kind in topics.items()
        }
        ready = player.reader("/scout0/ready", CLOCK, QosProfile(100))
        node = Deciding(domain, setup)
        needed = [writers[name] for name in ("/clock", "/scout0/scan", "/scout0/odom")]
        until(lambda: ready.matched and all(writer.matched for writer in needed))
        step = []
        for one, _, data in bag.messages():
            if one.topic not in writers:
                continue
            step.append((one.topic, bytes(data)))
            if one.topic == "/clock":
                at = TYPES.decode(CLOCK, bytes(data)).clock
                answered, again = False, 0.0
                while not answered:
                    if time.monotonic() >= again:  # as lockstep does for a robot without an answer
                        again = time.monotonic() + 1.0
                        for name, message in step:
                            writers[name].write(message)
                    stamps = [TYPES.decode(CLOCK, got).clock for got in ready.take()]
                    answered = any((one.sec, one.nanosec) >= (at.sec, at.nanosec) for one in stamps)
                    time.sleep(0.0002)
                step.clear()
        node.end()
    return node.decided


def test_the_bag_of_a_run_becomes_the_same_run(driven, tmp_path):
    run, recorder, _ = driven
    for storage in (StoragePlugin.SQLITE3, StoragePlugin.MCAP):
        folder = recorder.write(tmp_path / storage.name, storage)
        (robot,) = read_bag_of_robots(folder).robots
        assert (robot.name, len(robot.log)) == ("scout0", len(recorder.of("/scout0/scan")))
        for measured, data in zip(robot.log.ranges, recorder.of("/scout0/scan"), strict=True):
            hit = np.isfinite(measured)
            np.testing.assert_array_equal(measured[hit], ranges_of(data)[hit])
    assert main(["ros", "import", str(folder), "--out", str(tmp_path / "run"), "-q"]) == 0
    imported = covey.Run(tmp_path / "run")
    begin = run.pose_times[0]
    times = imported.pose_times - imported.pose_times[0] + begin
    for axis in range(2):
        true = np.interp(times, run.pose_times, run.poses[:, 0, axis])
        np.testing.assert_allclose(imported.poses[:, 0, axis], true, atol=2e-3)
    assert imported.pose_times[-1] - imported.pose_times[0] == pytest.approx(11.9, abs=0.21)


def ranges_of(data):
    return TYPES.decode("sensor_msgs/msg/LaserScan", data).ranges


def test_a_controller_decides_alike_in_a_simulation_as_a_node_and_before_a_bag(walked, driven, domain, tmp_path):
    folder, here = walked
    _, recorder, as_node = driven
    _, setup = setup_in(folder)
    before_the_bag = played(domain, setup, recorder.write(tmp_path / "bag", StoragePlugin.MCAP))
    assert before_the_bag == as_node  # the same readings, the same decisions
    twists = [TYPES.decode(TWIST, data) for data in recorder.of("/scout0/cmd_vel")]
    assert [(one.linear.x, one.angular.z) for one in twists][: len(as_node)] == [(v, w) for _, (v, _, w) in as_node]
    rows = here.measurements
    commands = dict(
        zip(
            np.round(0.1 * (rows["step"].to_numpy() - 1), 3).tolist(),
            zip(rows["command_vx_m_s"].to_list(), rows["command_omega_rad_s"].to_list(), strict=True),
            strict=True,
        )
    )
    assert len(as_node) > 100
    assert {w for _, (_, _, w) in as_node} == {0.1, 0.9}
    for time_s, (v, _, w) in as_node:
        assert commands[time_s] == pytest.approx((v, w)), time_s
