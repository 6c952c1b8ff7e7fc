"""Parameters of Covey's nodes, as ``ros2 param`` asks for them, and the description of a robot."""

import math
import threading
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.ros.world import until

import covey
from covey.onboard.controller import Program
from covey.onboard.group import Group
from covey.robots.catalogue import robots
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.description import urdf_of
from covey.ros.messages import transform
from covey.ros.parameters import Parameters, known_of
from covey.ros.services import ServiceClient
from covey.ros.settings import BridgeSettings

KINDS = {
    "list_parameters": "ListParameters",
    "get_parameters": "GetParameters",
    "get_parameter_types": "GetParameterTypes",
    "describe_parameters": "DescribeParameters",
    "set_parameters": "SetParameters",
    "set_parameters_atomically": "SetParametersAtomically",
}


@pytest.fixture
def ask(domain):
    """Return a function that asks a node with some parameters."""
    with Participant(domain) as ros, Participant(domain) as other:
        node, client = ros.node("covey", "/scout0"), other.node("tool")
        parameters = Parameters(ros)
        parameters.offer(
            node, {"use_sim_time": True, "robot": {"radius_m": 0.2, "wheels": 2, "body": [[0, 1.5], [2, 3]]}}
        )
        clients = {
            name: ServiceClient(client, f"/scout0/covey/{name}", f"rcl_interfaces/srv/{kind}")
            for name, kind in KINDS.items()
        }

        def call(name, **values):
            kind, one = f"rcl_interfaces/srv/{KINDS[name]}", clients[name]
            until(lambda: one.ready)
            number = one.call(other.types.encode(f"{kind}_Request", values))

            def answered():
                parameters.serve()
                return [data for which, data in one.take() if which == number]

            (data,) = until(answered)
            return other.types.decode(f"{kind}_Response", data)

        yield call


def test_names_have_dots_and_are_listed_by_prefix_and_depth(ask):
    names = ["robot.body.0", "robot.body.1", "robot.radius_m", "robot.wheels", "use_sim_time"]
    whole = ask("list_parameters").result
    assert (list(whole.names), list(whole.prefixes)) == (names, ["robot.body", "robot"])
    assert list(ask("list_parameters", depth=1).result.names) == ["use_sim_time"]
    assert list(ask("list_parameters", prefixes=["robot"], depth=1).result.names) == ["robot.radius_m", "robot.wheels"]
    assert list(ask("list_parameters", prefixes=["robot.body"]).result.names) == names[:2]
    assert not list(ask("list_parameters", prefixes=["rob"]).result.names)


def test_values_have_their_types_and_unknown_ones_are_not_set(ask):
    names = ["use_sim_time", "robot.wheels", "robot.radius_m", "robot.body.0", "robot.body.1", "nothing"]
    values = ask("get_parameters", names=names).values
    assert [one.type for one in values] == [1, 2, 3, 8, 7, 0]
    assert list(ask("get_parameter_types", names=names).types) == [1, 2, 3, 8, 7, 0]
    assert (values[0].bool_value, values[1].integer_value, values[2].double_value) == (True, 2, 0.2)
    assert list(values[3].double_array_value) == [0.0, 1.5]
    assert list(values[4].integer_array_value) == [2, 3]


def test_they_are_read_only_and_say_so(ask):
    (about,) = ask("describe_parameters", names=["robot.wheels"]).descriptors
    assert (about.name, about.type, about.read_only) == ("robot.wheels", 2, True)
    wish = {"name": "robot.wheels", "value": {"type": 2, "integer_value": 3}}
    results = ask("set_parameters", parameters=[wish, wish]).results
    assert [one.successful for one in results] == [False, False]
    assert "read-only" in results[0].reason
    assert not ask("set_parameters_atomically", parameters=[wish]).result.successful
    assert ask("get_parameters", names=["robot.wheels"]).values[0].integer_value == 2


def test_an_independent_client_reads_those_of_a_robot_and_its_description(domain, peer):
    with Participant(domain) as ros:
        bridge = Bridge(ros, BridgeSettings("max"))
        group = Group("scout", robots.get("turtlebot3_waffle")(), [(0.0, 0.0, 0.0)], "commanded")
        sim = covey.Simulation(covey.World.empty(4.0, 3.0), [group], hosting=bridge.hosting)
        bridge.before_step(sim)  # makes the topics
        run = threading.Thread(target=sim.run, kwargs={"before_step": bridge.before_step, "until_s": 1e6})
        run.start()
        try:
            for word, kind in (("list", "ListParameters"), ("get", "GetParameters")):
                peer.client(name=word, service=f"/scout0/covey/{word}_parameters", kind=kind)
                until(lambda word=word: peer.ready(name=word))
            peer.call(name="list", number=1, values={"prefixes": ["robot.sensors"]})
            (reply,) = until(lambda: peer.replies(name="list"))
            assert "robot.sensors.0.range_m" in reply["result"]["names"]
            peer.call(name="get", number=2, values={"names": ["robot.max_speed_m_s", "controller.name"]})
            (reply,) = until(lambda: peer.replies(name="get"))
            assert reply["values"][0]["double_value"] == pytest.approx(0.26)
            assert reply["values"][1]["string_value"] == "commanded"
            peer.read(topic="rt/scout0/robot_description", kind="String", latched=True)
            (text,) = until(lambda: peer.take(topic="rt/scout0/robot_description"))
            assert [link.get("name") for link in ElementTree.fromstring(text["data"].partition("\n")[2]).iter("link")]
        finally:
            sim.end()
            run.join(timeout=30)


@pytest.mark.parametrize("name", ["turtlebot3_waffle", "pioneer3dx", "skid_steer"])
def test_the_parameters_of_robots_that_ship_can_be_sent(name, domain):
    with Participant(domain) as ros:
        parameters = Parameters(ros)
        parameters.offer(ros.node("covey"), known_of(robots.get(name)(), Program("nearest_frontier")))
        (offer,) = parameters._offers
        for _, answer in offer.services[:1]:
            names = answer(ros.types.message("rcl_interfaces/srv/ListParameters_Request"))["result"]["names"]
        asked = ros.types.message("rcl_interfaces/srv/GetParameters_Request", {"names": names})
        values = offer.services[1][1](asked)
        ros.types.encode("rcl_interfaces/srv/GetParameters_Response", values)
        assert "robot.name" in names


def test_values_that_no_message_can_hold_are_shown_as_text(domain):
    """A parameter of a controller may be anything; who asks for it must not end the run."""
    with Participant(domain) as ros:
        parameters = Parameters(ros)
        parameters.offer(
            ros.node("covey"), {"big": 2**63, "bad": "a\0b\ud800", "rows": [2**70, 1], "words": ["\ud800"]}
        )
        answer = parameters._offers[0].services[1][1]
        asked = ros.types.message(
            "rcl_interfaces/srv/GetParameters_Request", {"names": ["bad", "big", "rows.0", "words"]}
        )
        kind = "rcl_interfaces/srv/GetParameters_Response"
        values = ros.types.decode(kind, ros.types.encode(kind, answer(asked))).values
    assert [one.string_value for one in values[:3]] == ["a?b?", str(2**63), str(2**70)]
    assert list(values[3].string_array_value) == ["?"]


def test_a_description_has_the_frames_of_tf_where_tf_has_them():
    model = robots.get("turtlebot3_waffle")()
    frames = [
        transform("base_footprint", "base_link", (0.0, 0.0, 0.01, 0.0)),
        transform("base_link", "base_scan", (-0.064, 0.1, 0.2, math.pi / 2)),
        transform("base_link", "camera", (0.1, 0.0, 0.3, 0.0, 0.4)),
    ]
    root = ElementTree.fromstring(urdf_of(model, "scout0", "base_footprint", "base_link", frames).partition("\n")[2])
    assert (root.tag, root.get("name")) == ("robot", "scout0")
    assert [link.get("name") for link in root.findall("link")] == ["base_footprint", "base_link", "base_scan", "camera"]
    joints = {joint.find("child").get("link"): joint for joint in root.findall("joint")}
    assert joints["base_scan"].find("parent").get("link") == "base_link"
    assert [float(x) for x in joints["base_scan"].find("origin").get("rpy").split()] == pytest.approx(
        [0, 0, math.pi / 2], abs=1e-5
    )
    assert [float(x) for x in joints["camera"].find("origin").get("rpy").split()] == pytest.approx(
        [0, 0.4, 0], abs=1e-5
    )
    radii = [float(one.get("radius")) for one in root.iterfind("link[@name='base_link']/visual/geometry/cylinder")]
    assert radii == pytest.approx(np.array(model.body_discs)[:, 2].tolist())
