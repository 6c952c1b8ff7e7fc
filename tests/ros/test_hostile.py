"""What a simulation does when the programs around it are killed, stand still, are many, or belong to others."""

import math
import os
import signal
import threading

import numpy as np
import psutil
import pytest
from tests.ros.test_bridge import answer_of, program, sender, step, stepping, team
from tests.ros.world import Looks, PeerProcess, until

from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.qos import COMMAND
from covey.ros.settings import BridgeSettings

STILL = [0.0, 0.0, 0.0]

TEXT = "std_msgs/msg/String"


def test_a_robot_stops_when_its_driver_is_killed(domain, peer):
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("max"))
        sim = team(bridge, [(-3.0, 0.0, 0.0)])
        step(bridge, sim)
        sender(peer, "rt/scout0/cmd_vel", "Twist")
        peer.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": 0.5}})
        stepping(bridge, sim, lambda: sim.commands[0, 0] == 0.5)
        begun = sim.state.pose[0, 0]
        peer.process.kill()
        step(bridge, sim, 50)
        assert sim.commands[0].tolist() == STILL
        assert sim.state.pose[0, 0] - begun < 0.5 * 0.7  # it was silent for 0.5 s, and a step or two


@pytest.mark.slow
def test_lockstep_waits_for_a_driver_that_was_killed_until_another_comes(domain):
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("lockstep", stamped=True))
        sim = team(bridge, [(0.0, 0.0, 0.0)])
        bridge.before_step(sim)  # makes the topics
        looks = Looks(bridge)
        first = program("driver", domain, "scout0", 1_000_000)
        run = threading.Thread(target=sim.run, kwargs={"before_step": bridge.before_step, "until_s": 1000.0})
        run.start()
        try:
            until(lambda: sim.clock.step >= 5)
            first.kill()
            first.communicate()
            until(lambda: not bridge.commands[0]._twist.matched)  # nothing of it is on its way
            stood = looks.held()
            second = program("driver", domain, "scout0", stood + 10)
            got = answer_of(second)
            until(lambda: sim.clock.step == stood + 10)  # the last answer acts, and the next step waits
            assert got["clocks"] == pytest.approx([0.1 * k for k in range(stood, stood + 10)])
        finally:
            sim.end()
            run.join(timeout=30)
        assert not run.is_alive()


def test_a_reader_that_stands_still_does_not_stop_the_simulation(domain, peer):
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("max"))
        sim = team(bridge, [(0.0, 0.0, 0.0)])
        step(bridge, sim)
        for topic, kind, latched in (("scan", "LaserScan", False), ("map", "OccupancyGrid", True)):
            peer.read(topic=f"rt/scout0/{topic}", kind=kind, latched=latched, depth=5)
        until(lambda: peer.matched(topic="rt/scout0/scan") and peer.matched(topic="rt/scout0/map"))
        stepping(bridge, sim, lambda: peer.take(topic="rt/scout0/scan"))
        letters, letter = (
            ros.node("a").writer("/letters", TEXT, COMMAND),
            ros.types.encode(TEXT, {"data": "a" * 20_000}),
        )
        peer.read(topic="rt/letters", kind="String")
        until(lambda: peer.matched(topic="rt/letters"))
        os.kill(peer.process.pid, signal.SIGSTOP)
        until(lambda: psutil.Process(peer.process.pid).status() == psutil.STATUS_STOPPED)
        try:
            letters.write(letter)
            assert not letters.await_readers(1_000_000)
            letters.settle(letter)  # it gives up
            for _ in range(300):
                bridge.before_step(sim)
                sim.step()
        finally:
            os.kill(peer.process.pid, signal.SIGCONT)
        assert bridge.robots[0].refused == 0
        stood, topic = sim.time, "rt/scout0/scan"  # after a lease it is forgotten, and found again
        until(lambda: step(bridge, sim) or any(_time(scan) > stood for scan in peer.take(topic=topic)))


def _time(message):
    return message["header"]["stamp"]["sec"] + 1e-9 * message["header"]["stamp"]["nanosec"]


def test_two_simulations_in_two_domains_do_not_hear_each_other(domain, tag, peer):
    beside = PeerProcess(domain + 100, tag)
    with Participant(domain) as one, Participant(domain + 100) as other:
        bridges = [Bridge(ros, BridgeSettings("max")) for ros in (one, other)]
        sims = [team(bridge, [(0.0, 0.0, 0.0)]) for bridge in bridges]
        for bridge, sim in zip(bridges, sims, strict=True):
            step(bridge, sim)
        for each, speed in ((peer, 0.25), (beside, -0.25)):
            sender(each, "rt/scout0/cmd_vel", "Twist")
            each.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": speed}})
        for bridge, sim, speed in zip(bridges, sims, (0.25, -0.25), strict=True):
            stepping(bridge, sim, lambda sim=sim: sim.commands[0, 0])
            assert sim.commands[0, 0] == speed
        assert len(peer.graph()["participants"]) == len(beside.graph()["participants"]) == 1
    beside.close()


@pytest.mark.slow
def test_32_robots_are_32_nodes_and_each_hears_its_own_commands(domain, peer):
    peer.read(topic="ros_discovery_info", kind="ParticipantEntitiesInfo16", latched=True)
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("max"))
        starts = [(x, y, math.pi / 2) for x in np.linspace(-3.5, 3.5, 8) for y in (-2.0, -1.0, 0.0, 1.0)]
        sim = team(bridge, starts)
        step(bridge, sim)
        names = {"/", *(f"/scout{k}" for k in range(32))}

        def all_named(infos):  # the graph is announced as it grows
            return any({node["node_namespace"] for node in one["node_entities_info_seq"]} == names for one in infos)

        until(lambda: all_named(peer.take(topic="ros_discovery_info")))
        for k in (0, 17, 31):
            sender(peer, f"rt/scout{k}/cmd_vel", "Twist")
        heard = np.zeros(32)  # the last command of each: it ends after 0.5 s, perhaps before that of the next has come
        for k in (0, 17, 31):
            peer.write(topic=f"rt/scout{k}/cmd_vel", values={"angular": {"z": 0.01 * (k + 1)}})

        def all_heard():
            turns = sim.commands[:, 2]
            heard[turns != 0] = turns[turns != 0]
            return np.count_nonzero(heard) == 3

        stepping(bridge, sim, all_heard)
        assert heard[[0, 17, 31]] == pytest.approx([0.01, 0.18, 0.32])


def test_readings_are_those_of_the_world_at_the_promised_rate(domain, peer):
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("max", true_poses=True))
        sim = team(bridge, [(-1.0, 0.5, 0.3)])
        step(bridge, sim)
        kinds = {"scan": "LaserScan", "odom": "Odometry", "ground_truth": "Odometry", "tf": "TFMessage"}
        for topic, kind in kinds.items():
            peer.read(topic=f"rt/scout0/{topic}", kind=kind, depth=100)
        peer.read(topic="rt/clock", kind="Clock", depth=100)
        for topic in kinds:
            until(lambda topic=topic: peer.matched(topic=f"rt/scout0/{topic}"))
        until(lambda: peer.matched(topic="rt/clock"))
        sender(peer, "rt/scout0/cmd_vel", "Twist")
        peer.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": 0.4}, "angular": {"z": 0.5}})
        stepping(bridge, sim, lambda: sim.commands[0, 0])
        got = {topic: [] for topic in [*kinds, "clock"]}

        def collect():
            for topic, messages in got.items():
                messages += peer.take(topic="rt/clock" if topic == "clock" else f"rt/scout0/{topic}")
            return len(got["scan"]) >= 10

        stepping(bridge, sim, collect)
        until(lambda: collect() and len({len(messages) for messages in got.values()}) == 1)
    times = [_time(scan) for scan in got["scan"]]
    assert np.diff(times) == pytest.approx(0.1)  # the lidar has 10 Hz
    assert [one["clock"]["sec"] + 1e-9 * one["clock"]["nanosec"] for one in got["clock"]] == pytest.approx(times)
    true = {_time(one): _pose(one["pose"]["pose"]) for one in got["ground_truth"]}
    for scan in got["scan"]:
        x, y, heading = true[_time(scan)]
        angles = scan["angle_min"] + scan["angle_increment"] * np.arange(len(scan["ranges"])) + heading
        with np.errstate(divide="ignore"):  # the room is 8 x 6 m, around the origin
            to_x = (np.copysign(4.0, np.cos(angles)) - x) / np.cos(angles)
            to_y = (np.copysign(3.0, np.sin(angles)) - y) / np.sin(angles)
        assert scan["ranges"] == pytest.approx(np.minimum(to_x, to_y), abs=1e-3)
    for message, odometry in zip(got["tf"], got["odom"], strict=True):
        (frame,) = (one for one in message["transforms"] if one["header"]["frame_id"] == "odom")
        at = odometry["pose"]["pose"]
        assert frame["transform"]["translation"] == pytest.approx(at["position"])
        assert frame["transform"]["rotation"] == pytest.approx(at["orientation"])
    for odometry in got["odom"]:  # odom is where it started: truth = start ∘ odometry
        x, y, heading = _pose(odometry["pose"]["pose"])
        back = (
            -1.0 + x * math.cos(0.3) - y * math.sin(0.3),
            0.5 + x * math.sin(0.3) + y * math.cos(0.3),
            heading + 0.3,
        )
        assert true[_time(odometry)] == pytest.approx(back, abs=1e-9)


def _pose(pose):
    """Return x, y [m] and heading [rad] of a pose without roll and pitch."""
    turn = pose["orientation"]
    return pose["position"]["x"], pose["position"]["y"], 2.0 * math.atan2(turn["z"], turn["w"])
