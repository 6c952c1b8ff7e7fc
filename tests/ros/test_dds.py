"""Writers and readers of one process; ``test_peer.py`` has a second process that shares no code."""

import os
import socket

import pytest
from tests.ros.world import until

from covey.errors import CoveyError, InvalidValueError, UnknownNameError
from covey.ros.dds import Participant
from covey.ros.qos import COMMAND, LATCHED, SENSOR
from covey.ros.reach import configuration, domain_of, reach_of, udp_sockets

TWIST, TEXT = "geometry_msgs/msg/Twist", "std_msgs/msg/String"


def test_bytes_go_in_and_out(domain):
    with Participant(domain) as ros:
        robot = ros.node("base", "/robot_0")
        writer, reader = (
            robot.writer("cmd_vel", TWIST, COMMAND),
            ros.node("teleop").reader("/robot_0/cmd_vel", TWIST, COMMAND),
        )
        until(lambda: writer.matched and reader.matched)
        sent = [ros.types.encode(TWIST, {"linear": {"x": float(k)}}) for k in range(3)]
        for data in sent:
            writer.write(data)
        taken = []
        until(lambda: taken.extend(reader.take()) or len(taken) == 3)
        assert taken == sent
        assert reader.take() == []


def test_a_slow_reader_keeps_the_newest(domain):
    with Participant(domain) as ros:
        writer, reader = ros.node("a").writer("/x", TEXT, COMMAND), ros.node("b").reader("/x", TEXT, COMMAND)
        until(lambda: writer.matched and reader.matched)
        for k in range(1000):
            writer.write(ros.types.encode(TEXT, {"data": str(k)}))
        taken = []
        until(lambda: taken.extend(reader.take()) or (taken and ros.types.decode(TEXT, taken[-1]).data == "999"))
        assert [ros.types.decode(TEXT, data).data for data in taken][-COMMAND.depth :] == [
            str(k) for k in range(990, 1000)
        ]


def test_who_joins_late_gets_what_is_latched(domain):
    with Participant(domain) as ros:
        latched, passing = ros.node("a").writer("/map", TEXT, LATCHED), ros.node("b").writer("/scan", TEXT, SENSOR)
        for writer in (latched, passing):
            writer.write(ros.types.encode(TEXT, {"data": "old"}))
            writer.write(ros.types.encode(TEXT, {"data": "new"}))
        late = ros.node("late")
        of_map, of_scan = late.reader("/map", TEXT, LATCHED), late.reader("/scan", TEXT, SENSOR)
        (data,) = until(of_map.take)
        assert ros.types.decode(TEXT, data).data == "new"
        assert of_scan.take() == []


def test_names_of_topics(domain):
    with Participant(domain) as ros:
        node = ros.node("base", "/team/robot_0")
        assert node.topic_name("scan") == "/team/robot_0/scan"
        assert node.topic_name("/clock") == "/clock"
        assert node.topic_name("~/state") == "/team/robot_0/base/state"
        assert ros.node("sim").topic_name("map") == "/map"
        for bad in (("1base", "/"), ("base", "robot"), ("base", "/robot-0"), ("", "/"), ("base", "/a/"), ("bäse", "/")):
            with pytest.raises(InvalidValueError, match="a namespace is"):
                ros.node(*bad)
        with pytest.raises(UnknownNameError, match="LaserScan"):
            node.writer("scan", "sensor_msgs/msg/LaserScam", SENSOR)


def test_nothing_is_heard_beyond_this_machine_unless_asked(domain, monkeypatch):
    with Participant(domain) as ros:
        assert ros.reach == "LOCALHOST"
        assert "this machine only" in str(ros)
    assert "127.0.0.1" in configuration("LOCALHOST")
    assert "<AllowMulticast>false" in configuration("LOCALHOST")
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    assert reach_of(None) == "SUBNET"
    assert reach_of("OFF") == "OFF"
    assert "127.0.0.1" not in configuration("SUBNET")
    monkeypatch.setenv("ROS_LOCALHOST_ONLY", "1")
    assert reach_of(None) == "LOCALHOST"
    with pytest.raises(UnknownNameError, match="SUBNET"):
        reach_of("LAN")
    assert configuration("SUBNET").startswith(
        "<CycloneDDS><Domain><Discovery><LeaseDuration>1 s<"
    )  # what the user set comes first


@pytest.mark.skipif(not hasattr(socket, "SO_BINDTODEVICE"), reason="only Linux ties a socket to a device")
def test_its_sockets_hear_this_machine_only_unless_asked(domain):
    before = udp_sockets()
    for reach, device in (("LOCALHOST", b"lo"), ("SUBNET", b"")):
        with Participant(domain, reach=reach):
            opened = udp_sockets() - before
            assert len(opened) >= 3  # discovery, data, and what it sends with
            for number in opened:
                with socket.socket(fileno=os.dup(number)) as end:
                    assert end.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0") == device
        assert udp_sockets() == before


def test_the_domain_is_that_of_ros(domain, monkeypatch):
    assert domain_of(None) == 0
    monkeypatch.setenv("ROS_DOMAIN_ID", "42")
    assert domain_of(None) == 42
    assert domain_of(7) == 7
    for bad in (-1, 233, "x"):
        with pytest.raises(InvalidValueError, match="0 to 232"):
            domain_of(bad)


def test_the_distribution_is_that_of_ros(domain, monkeypatch):
    monkeypatch.setenv("ROS_DISTRO", "humble")
    with Participant(domain) as ros:
        assert ros.types.distro == "humble"
    monkeypatch.setenv("ROS_DISTRO", "melodic")
    with pytest.raises(UnknownNameError, match="jazzy"):
        Participant(domain)


def test_a_configuration_that_cyclone_does_not_know(domain, monkeypatch, capfd):
    monkeypatch.setenv("CYCLONEDDS_URI", "<CycloneDDS><Domain><Nonsense/></Domain></CycloneDDS>")
    with pytest.raises(CoveyError, match=f"domain {domain} of ROS 2 cannot be joined"):
        Participant(domain)
