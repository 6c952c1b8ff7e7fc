"""A second process that shares no code with Covey sees the graph, the topics, the services and the actions."""

import json
import signal
import subprocess
import sys
import textwrap

import pytest
from tests.ros.world import PeerProcess, until

from covey.ros import reach
from covey.ros.actions import ActionServer, Status
from covey.ros.dds import Participant
from covey.ros.qos import CLOCK, COMMAND, LATCHED, ODOMETRY, SENSOR, TF
from covey.ros.services import Service, ServiceClient

SCAN, TWIST, TEXT = "sensor_msgs/msg/LaserScan", "geometry_msgs/msg/Twist", "std_msgs/msg/String"
NAVIGATE = "nav2_msgs/action/NavigateToPose"


@pytest.mark.parametrize(("distro", "length"), [("jazzy", 16), ("humble", 24)])
def test_the_graph(domain, peer, distro, length):
    peer.read(topic="ros_discovery_info", kind=f"ParticipantEntitiesInfo{length}", latched=True)
    with Participant(domain, distro) as ros:
        robot, sim = ros.node("base", "/robot_0"), ros.node("sim")
        robot.writer("scan", SCAN, SENSOR)
        robot.reader("cmd_vel", TWIST, COMMAND)
        sim.writer("/clock", "rosgraph_msgs/msg/Clock", CLOCK)
        Service(robot, "pause", "std_srvs/srv/SetBool")
        ros.announce()
        graph = peer.graph_of(participants=1, writers=4, readers=2)
        assert [one["user_data"] for one in graph["participants"]] == ["enclave=/;"]
        announced = {(one["topic"], one["type"]): one for name in ("writers", "readers") for one in graph[name]}
        assert set(announced) == {
            ("ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"),
            ("rt/robot_0/scan", "sensor_msgs::msg::dds_::LaserScan_"),
            ("rt/clock", "rosgraph_msgs::msg::dds_::Clock_"),
            ("rt/robot_0/cmd_vel", "geometry_msgs::msg::dds_::Twist_"),
            ("rq/robot_0/pauseRequest", "std_srvs::srv::dds_::SetBool_Request_"),
            ("rr/robot_0/pauseReply", "std_srvs::srv::dds_::SetBool_Response_"),
        }
        data = {topic: one["user_data"] for (topic, _), one in announced.items()}
        service = data["rq/robot_0/pauseRequest"].split(";")[0]
        assert service == data["rr/robot_0/pauseReply"].split(";")[0]
        assert service.startswith("serviceid=")
        assert service.count(".") == 15
        if distro == "jazzy":
            assert data["rt/robot_0/scan"] == (
                "typehash=RIHS01_64c191398013af96509d518dac71d5164f9382553fce5c1f8cca5be7924bd828;"
            )
        else:  # Humble knows no hashes
            assert data["rt/robot_0/scan"] == ""
        (info,) = until(lambda: peer.take(topic="ros_discovery_info"))
        gids = {one["topic"]: list(bytes.fromhex(one["guid"])) + [0] * (length - 16) for one in announced.values()}
        assert info["gid"]["data"][:16] == list(bytes.fromhex(graph["participants"][0]["guid"]))
        nodes = {
            (one["node_namespace"], one["node_name"]): (
                [gid["data"] for gid in one["writer_gid_seq"]],
                [gid["data"] for gid in one["reader_gid_seq"]],
            )
            for one in info["node_entities_info_seq"]
        }
        assert nodes == {
            ("/robot_0", "base"): (
                [gids["rt/robot_0/scan"], gids["rr/robot_0/pauseReply"]],
                [gids["rt/robot_0/cmd_vel"], gids["rq/robot_0/pauseRequest"]],
            ),
            ("/", "sim"): ([gids["rt/clock"]], []),
        }


# What the two differ in: how long a write may wait; how types may be coerced. Fast DDS announces neither its history,
# which is then read as the default, nor which service an endpoint belongs to.
NOT_SAID = {
    "cyclonedds": ("Policy.Reliability", "Policy.TypeConsistency"),
    "fastrtps": ("Policy.Reliability", "Policy.TypeConsistency", "Policy.History", "Policy.DurabilityService",
                 "Policy.TimeBasedFilter"),
}  # fmt: skip


@pytest.mark.parametrize("middleware", NOT_SAID)
def test_endpoints_are_those_of_a_real_node(domain, peer, recorded, middleware):
    """The last of each name in the recording of Fast DDS is its own; those before it are of a node with Cyclone DDS."""
    real = _listed(recorded(f"ls_rmw_{middleware}_cpp.txt"))
    with Participant(domain) as ros:
        robot = ros.node("base", "/robot_9")
        robot.writer("scan", SCAN, SENSOR)
        Service(robot, "trig", "std_srvs/srv/Trigger")
        graph = peer.graph_of(writers=3, readers=1)
    compared = 0
    for letter, name in (("W", "writers"), ("R", "readers")):
        for one in graph[name]:
            kind, user_data, policies = real[letter, one["topic"]]
            assert one["type"] == kind
            ours, theirs = (_without_id(data) for data in (one["user_data"], user_data))
            assert ours.removeprefix("serviceid;" * (middleware == "fastrtps")) == theirs
            for policy in policies:  # they are cut off after 110 characters
                if not policy.startswith(NOT_SAID[middleware]) and "trig" not in one["topic"]:
                    assert any(own.startswith(policy) for own in one["qos"]), policy
                    compared += 1
            assert any(own.startswith("Policy.Reliability.Reliable") for own in one["qos"])
    assert compared > 20


def _listed(text):
    """Return by letter and topic: type, user data and policies, as they were printed."""
    found, key = {}, None
    for line in text.splitlines():
        if line.startswith(("W ", "R ")):
            topic, kind, data = line[2:].split(" | ")
            key = line[0], topic
            found[key] = kind, data[2:-1], []
        elif line.strip().startswith("["):
            found[key][2].extend(json.loads(line.strip().replace("'", '"')))
    return found


def _without_id(user_data):
    return ";".join(part.split("=")[0] if part.startswith("serviceid") else part for part in user_data.split(";"))


def test_messages_in_both_directions(domain, peer):
    with Participant(domain) as ros:
        robot = ros.node("base", "/robot_0")
        writers = [
            (robot.writer("scan", SCAN, SENSOR), "rt/robot_0/scan", SCAN, {
                "header": {"stamp": {"sec": 12, "nanosec": 345}, "frame_id": "base_scan"},
                "angle_min": -1.5, "range_max": 3.5, "ranges": [0.5, 2.25, float("inf")],
            }),
            (robot.writer("odom", "nav_msgs/msg/Odometry", ODOMETRY), "rt/robot_0/odom", "nav_msgs/msg/Odometry", {
                "child_frame_id": "base_footprint",
                "pose": {"pose": {"position": {"x": 1.25}, "orientation": {"z": 0.5}}, "covariance": [0.5] * 36},
                "twist": {"twist": {"angular": {"z": -0.25}}},
            }),
            (robot.writer("tf", "tf2_msgs/msg/TFMessage", TF), "rt/robot_0/tf", "tf2_msgs/msg/TFMessage", {
                "transforms": [
                    {"header": {"frame_id": "odom"}, "child_frame_id": "base_footprint", "transform": {"rotation": {"w": 1}}},
                    {"header": {"frame_id": "odo"}, "child_frame_id": "b", "transform": {"translation": {"y": 2}}},
                ],
            }),
        ]  # fmt: skip
        commands = robot.reader("cmd_vel", TWIST, COMMAND)
        for _, topic, kind, _ in writers:
            peer.read(topic=topic, kind=kind.rsplit("/")[-1])
        peer.advertise(topic="rt/robot_0/cmd_vel", kind="Twist")
        for writer, topic, kind, values in writers:
            until(lambda topic=topic: peer.matched(topic=topic))
            writer.write(ros.types.encode(kind, values))
            (got,) = until(lambda topic=topic: peer.take(topic=topic))
            _holds(got, values)
        until(lambda: peer.matched(topic="rt/robot_0/cmd_vel"))
        peer.write(topic="rt/robot_0/cmd_vel", values={"linear": {"x": 0.5}, "angular": {"z": -1.25}})
        (data,) = until(commands.take)
        twist = ros.types.decode(TWIST, data)
        assert (twist.linear.x, twist.linear.y, twist.angular.z) == (0.5, 0.0, -1.25)


def _holds(got, values):
    for name, value in values.items():
        if isinstance(value, dict):
            _holds(got[name], value)
        elif isinstance(value, list) and isinstance(value[0], dict):
            assert len(got[name]) == len(value)
            for one, wanted in zip(got[name], value, strict=True):
                _holds(one, wanted)
        else:
            assert got[name] == value


def test_who_joins_late_gets_a_map_of_9_million_cells(domain, peer):
    with Participant(domain) as ros:
        maps = ros.node("sim").writer("map", "nav_msgs/msg/OccupancyGrid", LATCHED)
        data = bytes([0, 100, 0]) * 3_000_000
        values = {"info": {"width": 3000, "height": 3000}, "data": memoryview(data).cast("b")}
        maps.write(ros.types.encode("nav_msgs/msg/OccupancyGrid", values))
        late = Participant(domain)  # in this process, as the peer takes seconds to make objects of 9 million cells
        reader = late.node("late").reader("/map", "nav_msgs/msg/OccupancyGrid", LATCHED)
        (got,) = until(reader.take)
        assert late.types.decode("nav_msgs/msg/OccupancyGrid", got).data.sum() == 300_000_000
        late.close()


def test_services(domain, peer):
    kind = "std_srvs/srv/SetBool"
    with Participant(domain) as ros:
        service = Service(ros.node("sim"), "pause", kind)
        ros.announce()
        for name in ("a", "b"):
            peer.client(name=name, service="/pause", kind="SetBool")
        for name in ("a", "b"):
            until(lambda name=name: peer.ready(name=name))
        peer.call(name="a", number=1, values={"data": True})
        peer.call(name="b", number=1, values={"data": False})
        peer.call(name="a", number=2, values={"data": False})
        requests = []
        until(lambda: requests.extend(service.take()) or len(requests) == 3)
        asked = [ros.types.decode(f"{kind}_Request", request.data).data for request in requests]
        assert sorted((one.number, value) for one, value in zip(requests, asked, strict=True)) == [
            (1, False), (1, True), (2, False),
        ]  # fmt: skip
        for request in reversed(requests):  # in any order
            text = f"{request.client}/{request.number}"
            service.reply(request, ros.types.encode(f"{kind}_Response", {"success": True, "message": text}))
        got = {"a": [], "b": []}

        def collect():
            service.take()  # sends what waited for a client to be ready
            for name, replies in got.items():
                replies += peer.replies(name=name)
            return len(got["a"]) == 2 and len(got["b"]) == 1

        until(collect)
        assert sorted(one["message"] for one in got["a"]) == ["1000/1", "1000/2"]
        assert [one["message"] for one in got["b"]] == ["2000/1"]


def test_a_service_of_one_process_and_a_client_of_the_other_side(domain):
    with Participant(domain) as ros:
        service = Service(ros.node("sim"), "trigger", "std_srvs/srv/Trigger")
        client = ServiceClient(ros.node("other"), "/trigger", "std_srvs/srv/Trigger")
        assert client.take() == []
        until(lambda: client.ready)
        number = client.call(ros.types.encode("std_srvs/srv/Trigger_Request", {}))
        (request,) = until(service.take)
        service.reply(request, ros.types.encode("std_srvs/srv/Trigger_Response", {"message": "done"}))
        ((got, data),) = until(lambda: service.take() or client.take())
        assert got == number
        assert ros.types.decode("std_srvs/srv/Trigger_Response", data).message == "done"


def test_an_action(domain, peer):
    base, one, two = "/robot_0/navigate_to_pose/_action", [1] * 16, [2] * 16
    with Participant(domain) as ros:
        server = ActionServer(ros.node("nav", "/robot_0"), "navigate_to_pose", NAVIGATE)
        for name, kind in (("send_goal", "NavigateToPose_SendGoal"), ("get_result", "NavigateToPose_GetResult")):
            peer.client(name=name, service=f"{base}/{name}", kind=kind)
        peer.client(name="cancel_goal", service=f"{base}/cancel_goal", kind="CancelGoal")
        peer.read(topic=f"rt{base}/feedback", kind="NavigateToPose_FeedbackMessage")
        peer.read(topic=f"rt{base}/status", kind="GoalStatusArray", latched=True)
        for name in ("send_goal", "get_result", "cancel_goal"):
            until(lambda name=name: peer.ready(name=name))
        until(lambda: peer.matched(topic=f"rt{base}/feedback"))

        def reply(name):
            return until(lambda: (server.new_goals(7_000_000_000) and None) or peer.replies(name=name))[0]

        goals = []
        for number, goal in enumerate((one, two)):
            values = {"goal_id": {"uuid": goal}, "goal": {"pose": {"pose": {"position": {"x": 4.5}}}}}
            peer.call(name="send_goal", number=number, values=values)
            (new,) = until(lambda: server.new_goals(5_000_000_000))
            assert (list(new.id), new.goal.pose.pose.position.x) == (goal, 4.5)
            new.accept()
            assert reply("send_goal") | {"client": 0} == {
                "client": 0, "number": number, "accepted": True, "stamp": {"sec": 5, "nanosec": 0},
            }  # fmt: skip
            goals.append(new)
        for number, goal in enumerate((one, two)):
            peer.call(name="get_result", number=number, values={"goal_id": {"uuid": goal}})
        until(lambda: server.new_goals(6_000_000_000) or all(goal._asking for goal in goals))

        goals[0].feedback({"distance_remaining": 2.5, "number_of_recoveries": 3})
        (told,) = until(lambda: peer.take(topic=f"rt{base}/feedback"))
        assert (told["goal_id"]["uuid"], told["feedback"]["distance_remaining"]) == (one, 2.5)
        assert told["feedback"]["number_of_recoveries"] == 3

        peer.call(name="cancel_goal", number=9, values={"goal_info": {"goal_id": {"uuid": two}}})
        answer = reply("cancel_goal")
        assert answer["return_code"] == 0
        assert [info["goal_id"]["uuid"] for info in answer["goals_canceling"]] == [two]
        assert (goals[0].status, goals[1].status) == (Status.EXECUTING, Status.CANCELING)
        assert server.active == goals
        goals[1].end(Status.CANCELED)
        assert reply("get_result")["status"] == 5
        goals[0].end(Status.SUCCEEDED, {"error_msg": "none"})
        answer = reply("get_result")
        assert (answer["number"], answer["status"], answer["result"]["error_msg"]) == (0, 4, "none")
        assert server.active == []

        peer.call(name="cancel_goal", number=10, values={"goal_info": {"goal_id": {"uuid": one}}})
        assert reply("cancel_goal")["return_code"] == 3  # it has ended
        peer.call(name="cancel_goal", number=11, values={"goal_info": {"goal_id": {"uuid": [3] * 16}}})
        assert reply("cancel_goal")["return_code"] == 2  # nobody knows it
        peer.call(name="get_result", number=12, values={"goal_id": {"uuid": [3] * 16}})
        assert reply("get_result")["status"] == 0
        peer.call(name="send_goal", number=13, values={"goal_id": {"uuid": one}})  # the same goal twice
        assert reply("send_goal")["accepted"] is False
        states = until(lambda: peer.take(topic=f"rt{base}/status"))[-1]["status_list"]
        assert [state["status"] for state in states] == [4, 5]


def test_32_robots(domain, peer):
    peer.read(topic="ros_discovery_info", kind="ParticipantEntitiesInfo16", latched=True)
    with Participant(domain) as ros:
        for k in range(32):
            node = ros.node("base", f"/robot_{k}")
            for topic, kind in (("scan", SCAN), ("odom", "nav_msgs/msg/Odometry"), ("tf", "tf2_msgs/msg/TFMessage")):
                node.writer(topic, kind, SENSOR)
            node.reader("cmd_vel", TWIST, COMMAND)
        ros.announce()
        graph = peer.graph_of(participants=1, writers=97, readers=32)
        info = until(lambda: peer.take(topic="ros_discovery_info"))[-1]["node_entities_info_seq"]
    guids = {
        one["guid"] for name in ("writers", "readers") for one in graph[name] if one["topic"] != "ros_discovery_info"
    }
    told = [bytes(gid["data"]).hex() for one in info for gid in one["writer_gid_seq"] + one["reader_gid_seq"]]
    assert len(told) == 128
    assert set(told) == guids
    assert {one["node_namespace"] for one in info} == {f"/robot_{k}" for k in range(32)}


@pytest.mark.slow
def test_a_peer_that_is_killed_is_forgotten_and_does_not_hold_us_up(domain, peer):
    with Participant(domain) as ros:
        robot = ros.node("base", "/robot_0")
        scans, commands = robot.writer("scan", SCAN, SENSOR), robot.reader("cmd_vel", TWIST, COMMAND)
        peer.read(topic="rt/robot_0/scan", kind="LaserScan")
        peer.advertise(topic="rt/robot_0/cmd_vel", kind="Twist")
        until(lambda: scans.matched and commands.matched and peer.matched(topic="rt/robot_0/cmd_vel"))
        peer.write(topic="rt/robot_0/cmd_vel", values={"linear": {"x": 1.0}})
        until(commands.take)
        peer.process.send_signal(signal.SIGKILL)
        data = ros.types.encode(SCAN, {"ranges": [1.0] * 360})

        def forgotten():
            scans.write(data)
            return scans.matched == commands.matched == 0

        until(forgotten)  # after the lease: 10 s where nobody sets another
        assert commands.take() == []


@pytest.mark.slow
def test_a_simulator_that_is_killed_vanishes_and_may_come_back(domain, peer):
    program = textwrap.dedent("""
        import sys, time
        from covey.ros.dds import Participant
        from covey.ros.qos import LATCHED
        ros = Participant(int(sys.argv[1]))
        writer = ros.node("sim").writer("/chat", "std_msgs/msg/String", LATCHED)
        writer.write(ros.types.encode("std_msgs/msg/String", {"data": sys.argv[2]}))
        time.sleep(60)
    """)
    peer.read(topic="rt/chat", kind="String", latched=True)
    for text in ("first life", "second life"):
        simulator = subprocess.Popen([sys.executable, "-c", program, str(domain), text])
        try:
            assert [one["data"] for one in until(lambda: peer.take(topic="rt/chat"))] == [text]
            assert peer.graph_of(participants=1, writers=2)
        finally:
            simulator.kill()
            simulator.wait()
        until(lambda: peer.graph() == {"participants": [], "writers": [], "readers": []})
        assert peer.matched(topic="rt/chat") == 0


def test_bytes_that_are_no_message_are_dropped(domain, tag, monkeypatch, capfd):
    no_types = (
        "<IgnoreTypeInformation>1.15,1.16</IgnoreTypeInformation>"  # a real ROS tells none that could be compared
    )
    monkeypatch.setattr(reach, "_ALWAYS", f"<Compatibility>{no_types}</Compatibility>")
    peer = PeerProcess(domain, tag)
    with Participant(domain) as ros:
        commands = ros.node("base").reader("/cmd_vel", TWIST, COMMAND)
        ros.announce()
        for kind in ("ShortTwist", "Twist"):
            peer.advertise(topic="rt/cmd_vel", kind=kind)
            until(lambda: peer.matched(topic="rt/cmd_vel") and commands.matched)
            peer.write(topic="rt/cmd_vel", values={"linear": {"x": len(kind)}})
        (data,) = until(commands.take)
        assert ros.types.decode(TWIST, data).linear.x == len("Twist")
    peer.close()
    assert capfd.readouterr().err.count("deserialization rt/cmd_vel/") == 1  # Cyclone DDS says so, and goes on
