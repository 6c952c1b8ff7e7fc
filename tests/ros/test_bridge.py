"""A simulation among ROS 2 programs that share no code with it."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import urllib.request
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.ros.world import delivered, until

import covey
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.ros import messages as m
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.qos import COMMAND
from covey.ros.run import commanded, run_in_ros
from covey.ros.settings import BridgeSettings
from covey.ros.types import types_of
from covey.scenario.load import load_scenario
from covey.scenario.run import run_scenario
from covey.sensors.lidar import Lidar

ROOT = Path(__file__).parents[2]
ROOM = covey.World.empty(8.0, 6.0)  # the origin is in its middle
LIDAR = Lidar(rays=90, range_m=8.0, rate_hz=10.0)


def program(name, *arguments):
    """Start a program of this folder, which has nothing of Covey."""
    tag = os.environ["CYCLONEDDS_URI"].split("<Tag>")[1].split("</Tag>")[0]
    others = {key: value for key, value in os.environ.items() if key != "CYCLONEDDS_URI"}
    domain, *rest = map(str, arguments)
    command = [sys.executable, "-m", f"tests.ros.{name}", domain, tag, *rest]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=others, cwd=ROOT)


def answer_of(started):
    """Return what a program printed, once it has ended without any complaint."""
    out, errors = started.communicate(timeout=60)
    assert errors == ""  # Cyclone complains there about bytes and types that it cannot read
    return json.loads(out.splitlines()[-1])


def team(bridge, starts, *, sensors=(LIDAR,), **how):
    """Return a simulation of robots that ROS drives."""
    model = disc().model_copy(update={"sensors": tuple(sensors)})
    group = Group("scout", model, starts, "commanded")
    return covey.Simulation(ROOM, [group], hosting=bridge.hosting, **how)


def in_lockstep(domain, steps=30, lidar=LIDAR):
    """Return what the driver of one robot got in a run in lockstep, and the poses of the robot."""
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("lockstep", stamped=True))
        sim = team(bridge, [(0.0, 0.0, 0.0)], sensors=[lidar])
        started = program("driver", domain, "scout0", steps)
        poses = []
        sim.observers.append(lambda snapshot: poses.append(snapshot.pose[0].copy()))
        sim.run(before_step=bridge.before_step, until_s=steps * sim.clock.step_s)
        return answer_of(started), poses


def test_a_program_drives_a_robot_in_lockstep(domain):
    got, poses = in_lockstep(domain)
    times = [round(0.1 * k, 6) for k in range(30)]
    assert got["clocks"] == times
    assert got["scans"] == times
    # the command of a step acts in that step: 0.3 m/s since the first
    odometry = {t: (x, y, v) for t, x, y, v in got["odom"]}
    assert sorted(odometry) == times
    for t in times:
        assert odometry[t] == pytest.approx((0.3 * t, 0.0, 0.3 if t else 0.0), abs=1e-9)
    assert [pose[0] for pose in poses] == pytest.approx([0.03 * (k + 1) for k in range(30)], abs=1e-9)
    # map -> odom is where it started, odom -> base_footprint is what the odometry says
    frames = {(parent, child) for _, parent, child, _ in got["tf"]}
    assert frames == {("map", "odom"), ("odom", "base_footprint")}
    assert {t: x for t, parent, _, x in got["tf"] if parent == "odom"} == pytest.approx(
        {t: 0.3 * t for t in times}, abs=1e-9
    )
    assert sorted(map(tuple, got["static"])) == [("base_footprint", "base_link"), ("base_link", "base_scan")]
    # the first scan is that from the middle of a room of 8 x 6 m
    frame, first, step, *ranges = got["first"]
    assert frame == "base_scan"
    assert (first, step) == pytest.approx((-math.pi, math.tau / 90), abs=1e-6)
    angles = [first + k * step for k in range(90)]
    walls = [min(4.0 / max(abs(math.cos(a)), 1e-9), 3.0 / max(abs(math.sin(a)), 1e-9)) for a in angles]
    assert ranges == pytest.approx(walls, abs=1e-4)


@pytest.mark.slow
def test_two_runs_in_lockstep_see_the_same_scans(domain):
    noisy = Lidar(rays=90, range_m=8.0, rate_hz=10.0, sigma_m=0.02)
    one, another = (in_lockstep(domain, 8, noisy)[0]["ranges"] for _ in range(2))
    assert one == another


# -- step by step, with the peer of `peer.py`: between two steps, all that was sent arrives, both ways ------------------


@pytest.fixture
def bridged(domain):
    """Return a function that makes a bridge and its simulation; the robots act as fast as the test steps."""
    with Participant(domain) as ros:

        def make(starts, settings=BridgeSettings("max"), **how):
            bridge = Bridge(ros, settings)
            sim = team(bridge, starts, **how)
            bridge.before_step(sim)  # makes the topics
            return bridge, sim

        yield make


def step(bridge, sim, count=1):
    """Step; whoever hears what was sent has it."""
    for _ in range(count):
        bridge.before_step(sim)
        sim.step()
        delivered(bridge.participant)


def stepping(bridge, sim, ask, most=2000):
    """Step until an answer is true; return it. No step is taken while something is on its way."""
    for _ in range(most):
        step(bridge, sim)
        if answer := ask():
            return answer
    raise AssertionError(f"it did not come in {most} steps")


def sender(peer, topic, kind):
    """Let the peer send on a topic, once both sides have met."""
    peer.advertise(topic=topic, kind=kind)
    until(lambda: peer.matched(topic=topic))


def test_a_robot_drives_as_cmd_vel_says_and_stops_when_it_is_silent(bridged, peer):
    bridge, sim = bridged([(0.0, 0.0, 0.0)])
    sender(peer, "rt/scout0/cmd_vel", "Twist")
    peer.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": 0.5}, "angular": {"z": 0.0}})
    stepping(bridge, sim, lambda: sim.commands[0, 0] == 0.5)
    step(bridge, sim, 20)
    assert sim.state.pose[0] == pytest.approx(
        [0.3, 0.0, 0.0]
    )  # 0.5 m/s for 0.5 s, and the step in which that is noticed
    assert sim.commands[0].tolist() == [0.0, 0.0, 0.0]


def test_a_command_that_is_no_number_is_left_out(bridged, peer, caplog):
    bridge, sim = bridged([(0.0, 0.0, 0.0)])
    sender(peer, "rt/scout0/cmd_vel", "Twist")
    peer.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": 0.5}})
    stepping(bridge, sim, lambda: sim.commands[0, 0] == 0.5)
    peer.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": math.nan}})
    peer.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": math.inf}})
    peer.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": 1e308, "y": 1e308}})
    stepping(bridge, sim, lambda: bridge.commands[0].bad == 3)
    assert np.isfinite(sim.state.pose).all()
    assert [one.message for one in caplog.records if "left out" in one.message] == [
        "scout0: a message on cmd_vel is left out: a number is not finite, or too large"
    ]


def test_of_a_flood_the_newest_command_counts(bridged, peer):
    bridge, sim = bridged([(0.0, 0.0, 0.0)])
    sender(peer, "rt/scout0/cmd_vel", "Twist")
    peer.write(topic="rt/scout0/cmd_vel", repeat=5001)  # 0, 1, ... 5000 m/s
    stepping(bridge, sim, lambda: sim.commands[0, 0] == 5000.0)
    step(bridge, sim)
    assert abs(sim.state.twist[0, 0]) <= 1.0  # the robot's largest speed


def test_commands_of_another_type_are_not_heard_and_said_once(bridged, peer, caplog):
    peer.advertise(topic="rt/scout0/cmd_vel", kind="TwistStamped")
    bridge, sim = bridged([(0.0, 0.0, 0.0)])

    def said():
        return [one.message for one in caplog.records if "nobody hears" in one.message]

    until(bridge.participant.misfits)
    bridge.control._next_warning = 0.0  # it looks every two seconds
    step(bridge, sim)
    assert said() == [
        "/scout0/cmd_vel has a sender of geometry_msgs/msg/TwistStamped, which nobody hears: it takes geometry_msgs/msg/Twist"
    ]
    peer.write(topic="rt/scout0/cmd_vel", values={"twist": {"linear": {"x": 0.5}}})
    step(bridge, sim, 20)
    assert sim.state.pose[0].tolist() == [0.0, 0.0, 0.0]


def test_a_sender_of_cmd_vel_with_best_effort_is_heard(bridged, peer):
    bridge, sim = bridged([(0.0, 0.0, 0.0)])
    peer.advertise(topic="rt/scout0/cmd_vel", kind="Twist", reliable=False)
    until(lambda: peer.matched(topic="rt/scout0/cmd_vel"))
    peer.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": 0.5}})
    step(bridge, sim)
    assert sim.commands[0, 0] == 0.5


def test_where_a_sender_with_best_effort_is_not_heard_it_is_said(bridged, peer, caplog):
    bridge, sim = bridged([(0.0, 0.0, 0.0)])
    peer.advertise(topic="rt/scout0/goal_pose", kind="PoseStamped", reliable=False)
    until(bridge.participant.unreliable)
    for _ in range(2):
        bridge.control._next_warning = 0.0  # it looks every two seconds
        step(bridge, sim)
    assert [one.message for one in caplog.records] == [
        "/scout0/goal_pose has a sender with best effort, which nobody hears: it takes reliable senders"
    ]


def test_two_simulations_on_one_domain_are_told_of_each_other(bridged, domain, caplog):
    bridge, sim = bridged([(0.0, 0.0, 0.0)])
    step(bridge, sim)
    assert not caplog.records
    with Participant(domain) as other:
        beside = Bridge(other, BridgeSettings("max"))
        twin = team(beside, [(0.0, 0.0, 0.0)])
        for one, its in ((bridge, sim), (beside, twin)):
            until(partial(one.participant.others, "/clock"))
            for _ in range(2):
                if one is bridge:
                    one.control._next_warning = 0.0  # it looks every two seconds
                step(one, its)
    said = [one.message for one in caplog.records if "/clock" in one.message]
    assert len(said) == 2
    assert f"another program on domain {domain} sends /clock, too: time jumps between both." in said[0]


def test_texts_that_are_no_text_are_left_out(bridged):
    bridge, sim = bridged([(0.0, 0.0, 0.0)])
    with Participant(bridge.participant.domain_id) as other:
        tags = other.node("other").writer("/scout0/leave_tag", "std_msgs/msg/String", COMMAND)
        (heard,) = (one for one in bridge.robots[0].node.readers if one.topic == "rt/scout0/leave_tag")
        until(lambda: tags.matched and heard.matched)
        tags.write(bytes.fromhex("0001000003000000fffe0000"))  # 0xff is in no UTF-8
        stepping(bridge, sim, lambda: bridge.commands[0].bad)
    assert not sim.communication.tags.tags


def test_messages_go_over_the_simulated_radio(bridged, peer):
    bridge, sim = bridged([(-3.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (3.0, 0.0, 0.0)], radio=3.0)
    for name in ("scout1", "scout2"):
        peer.read(topic=f"rt/{name}/heard/text", kind="String")
        until(lambda name=name: peer.matched(topic=f"rt/{name}/heard/text"))
    sender(peer, "rt/scout0/radio/text", "String")
    peer.write(topic="rt/scout0/radio/text", values={"data": "here"})
    heard = stepping(bridge, sim, lambda: peer.take(topic="rt/scout1/heard/text"))
    step(bridge, sim, 10)
    assert heard == [{"data": "here"}]
    assert peer.take(topic="rt/scout1/heard/text") == []  # once
    assert peer.take(topic="rt/scout2/heard/text") == []  # it is 6 m away


def test_a_tag_is_left_and_read(bridged, peer):
    bridge, sim = bridged([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    sender(peer, "rt/scout0/leave_tag", "String")
    peer.write(topic="rt/scout0/leave_tag", values={"data": "been here"})
    stepping(bridge, sim, lambda: sim.communication.tags_in_reach)
    ((tag),) = sim.communication.tags_in_reach[1]
    assert (tag.content, tag.distance_m) == ("been here", pytest.approx(1.0))


def test_the_robots_own_navigator_goes_where_an_action_says(bridged, peer):
    bridge, sim = bridged([(0.0, 0.0, 0.0)])
    action = "/scout0/navigate_to_pose/_action"
    peer.client(name="goal", service=f"{action}/send_goal", kind="NavigateToPose_SendGoal")
    peer.client(name="result", service=f"{action}/get_result", kind="NavigateToPose_GetResult")
    peer.read(topic=f"rt{action}/feedback", kind="NavigateToPose_FeedbackMessage")
    until(lambda: peer.ready(name="goal") and peer.ready(name="result"))
    until(lambda: peer.matched(topic=f"rt{action}/feedback"))
    pose = {"header": {"frame_id": "map"}, "pose": {"position": {"x": 2.0, "y": 1.0}, "orientation": {"w": 1.0}}}
    goal_id = {"uuid": list(range(16))}
    peer.call(name="goal", number=1, values={"goal_id": goal_id, "goal": {"pose": pose}})
    (reply,) = stepping(bridge, sim, lambda: peer.replies(name="goal"))
    assert reply["accepted"]
    peer.call(name="result", number=1, values={"goal_id": goal_id})
    (result,) = stepping(bridge, sim, lambda: peer.replies(name="result"))
    assert (result["status"], result["result"]["error_code"]) == (4, 0)
    assert np.hypot(*(sim.state.pose[0, :2] - (2.0, 1.0))) < 0.2
    left = [one["feedback"]["distance_remaining"] for one in peer.take(topic=f"rt{action}/feedback")]
    assert left == sorted(left, reverse=True)
    assert left[0] == pytest.approx(math.hypot(2.0, 1.0), abs=0.1)


def test_a_goal_is_refused_in_an_unknown_frame_and_ended_by_cmd_vel(bridged, peer):
    bridge, sim = bridged([(0.0, 0.0, 0.0)])
    action = "/scout0/navigate_to_pose/_action"
    for name, kind in (("send_goal", "SendGoal"), ("get_result", "GetResult")):
        peer.client(name=name, service=f"{action}/{name}", kind=f"NavigateToPose_{kind}")
        until(lambda name=name: peer.ready(name=name))
    pose = {"header": {"frame_id": "moon"}, "pose": {"position": {"x": 2.0}, "orientation": {"w": 1.0}}}
    peer.call(name="send_goal", number=1, values={"goal_id": {"uuid": [1] * 16}, "goal": {"pose": pose}})
    (reply,) = stepping(bridge, sim, lambda: peer.replies(name="send_goal"))
    assert not reply["accepted"]
    pose["header"]["frame_id"] = "odom"
    peer.call(name="send_goal", number=2, values={"goal_id": {"uuid": [2] * 16}, "goal": {"pose": pose}})
    (reply,) = stepping(bridge, sim, lambda: peer.replies(name="send_goal"))
    assert reply["accepted"]
    peer.call(name="get_result", number=1, values={"goal_id": {"uuid": [2] * 16}})
    sender(peer, "rt/scout0/cmd_vel", "Twist")
    peer.write(topic="rt/scout0/cmd_vel", values={"linear": {"x": -0.1}})
    (result,) = stepping(bridge, sim, lambda: peer.replies(name="get_result"))
    assert result["status"] == 6
    assert "replaced" in result["result"]["error_msg"]


def test_who_comes_late_gets_the_maps_and_the_frames(bridged, peer):
    bridge, sim = bridged([(0.0, 0.0, 0.0)], BridgeSettings("max", true_map=True))
    step(bridge, sim, 5)
    for topic, kind in (
        ("/scout0/map", "OccupancyGrid"),
        ("/true_map", "OccupancyGrid"),
        ("/merged_map", "OccupancyGrid"),
    ):
        peer.read(topic=f"rt{topic}", kind=kind, latched=True, depth=1)
        until(lambda topic=topic: peer.matched(topic=f"rt{topic}"))
    peer.read(topic="rt/scout0/tf_static", kind="TFMessage", latched=True, depth=1)
    (frames,) = until(lambda: peer.take(topic="rt/scout0/tf_static"))
    assert len(frames["transforms"]) == 2
    (true,) = stepping(bridge, sim, lambda: peer.take(topic="rt/true_map"))
    cells = np.array(true["data"]).reshape(true["info"]["height"], true["info"]["width"])
    assert np.array_equal(cells == 100, sim.world.grid.cells == 1)
    (own,) = stepping(bridge, sim, lambda: peer.take(topic="rt/scout0/map"))
    belief = sim.localization.belief_of[0]
    assert own["info"]["resolution"] == pytest.approx(belief.grid.resolution)
    assert (own["info"]["origin"]["position"]["x"], own["info"]["origin"]["position"]["y"]) == belief.grid.origin[:2]
    assert np.array_equal(np.array(own["data"]).reshape(belief.grid.shape), belief.occupancy())
    assert own["header"]["frame_id"] == "map"
    assert stepping(bridge, sim, lambda: peer.take(topic="rt/merged_map"))


def test_robots_that_slam_toolbox_maps_for_do_not_map():
    office = load_scenario("office")
    (group,), (with_maps,) = commanded(office, maps=False).robots, commanded(office, maps=True).robots
    assert group.robot.mapping is None
    assert commanded(office, maps=False).share_maps is None
    assert office.share_maps is not None  # so that the test can fail
    assert commanded(office, maps=True).share_maps == office.share_maps
    assert with_maps.robot.mapping == office.robots[0].robot.mapping is not None
    assert {one.controller.program.name for one in (group, with_maps)} == {"commanded"}
    (slam,) = commanded(load_scenario("office", {"robots.scout.localization": "slam"}), maps=False).robots
    assert slam.robot.mapping is not None  # it needs one for itself


def test_ros_watches_while_controllers_drive(domain, peer, tmp_path):
    scenario = load_scenario("hello", {"stop.timeout_s": 2})
    alone = run_scenario(scenario, tmp_path / "alone")
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("max", drives=False))
        watched = run_in_ros(scenario, tmp_path / "watched", bridge)
        assert not bridge.commands
    tables = [(run.folder / "measurements.parquet").read_bytes() for run in (alone, watched)]
    assert tables[0] == tables[1]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_end_the_command_and_keep_the_run(domain, peer, start, tmp_path, how, code):
    started = start("ros", "run", "hello", "-s", "stop={timeout_s: 36000}", "--out", "run", "-q")
    peer.read(topic="rt/clock", kind="Clock", depth=100)

    def after_three_steps():
        told = [one["clock"] for one in peer.take(topic="rt/clock")]
        return any(one["sec"] or one["nanosec"] >= 300_000_000 for one in told)

    until(after_three_steps, 120.0)
    os.kill(started.pid, how)
    _, said = started.communicate(timeout=60)
    assert started.returncode == code
    first, second, *_, last = said.splitlines()
    assert first == (
        f"ROS 2 jazzy, domain {domain}, this machine only: start the others with ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST"
    )
    assert "rmw_cyclonedds_cpp" in second
    assert "steps were late" in last
    run = covey.Run(tmp_path / "run")
    assert run.status == "interrupted"
    assert run.measurements.height > 2


def test_a_page_shows_the_run_that_ros_drives(domain, peer, start):
    started = start("ros", "run", "hello", "--live", "--out", "run", "-q")
    address = until(lambda: re.findall(r"only watch +(http\S+)", started.complained.read_text()), 120.0)[0]
    with urllib.request.urlopen(address, timeout=60) as answer:
        assert "<title>" in answer.read().decode()
    sender(peer, "rt/covey/control", "String")
    peer.write(topic="rt/covey/control", values={"data": "end"})
    assert started.wait(timeout=60) == 3  # nobody looks at the page


def test_an_estimate_has_the_bytes_of_its_fields():
    types, full = types_of("jazzy"), np.zeros((6, 6))
    full[:2, :2], full[5, 5] = [[0.1, 0.02], [0.02, 0.3]], 0.05
    values = {"header": m.header((3, 4), "map"), "pose": {"pose": m.pose((1.0, 2.0, 0.5)), "covariance": full.ravel()}}
    estimate = m.EstimateMessage(types, "map")
    row = m.rows_of(np.array([[1.0, 2.0, 0.5]]))[0]
    told = estimate.encode((3, 4), row, [0.1, 0.02, 0.0, 0.02, 0.3, 0.0, 0.0, 0.0, 0.05])
    assert told == types.encode(m.EstimateMessage.TYPE, values)


def test_frames_have_the_names_of_their_robots_if_asked(bridged, peer):
    peer.read(topic="rt/tf", kind="TFMessage", depth=100)
    bridge, sim = bridged([(1.0, 2.0, 0.0), (0.0, 0.0, 0.0)], BridgeSettings("max", prefixed=True))
    until(lambda: peer.matched(topic="rt/tf"))
    (first, *_) = stepping(bridge, sim, lambda: peer.take(topic="rt/tf"))
    frames = {one["child_frame_id"]: one for one in first["transforms"]}
    assert {(one["header"]["frame_id"], name) for name, one in frames.items()} == {
        ("map", "scout0/odom"),
        ("map", "scout1/odom"),
        ("scout0/odom", "scout0/base_footprint"),
        ("scout1/odom", "scout1/base_footprint"),
    }
    start = frames["scout0/odom"]["transform"]["translation"]
    assert (start["x"], start["y"]) == pytest.approx((1.0, 2.0))  # odom begins at the start
