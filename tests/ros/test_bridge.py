"""A simulation among ROS 2 programs that share no code with it."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import covey
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.ros.bridge import Bridge
from covey.ros.dds import Participant
from covey.ros.settings import Settings
from covey.sensors.lidar import Lidar

HERE = Path(__file__).parent
ROOM = covey.World.empty(8.0, 6.0)  # the origin is in its middle
LIDAR = Lidar(rays=90, range_m=8.0, rate_hz=10.0)


def program(name, *arguments):
    """Start a program of this folder, which has nothing of Covey."""
    tag = os.environ["CYCLONEDDS_URI"].split("<Tag>")[1].split("</Tag>")[0]
    others = {key: value for key, value in os.environ.items() if key != "CYCLONEDDS_URI"}
    domain, *rest = map(str, arguments)
    command = [sys.executable, str(HERE / name), domain, tag, *rest]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=others)


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
        bridge = Bridge(ros, Settings("lockstep", stamped=True))
        sim = team(bridge, [(0.0, 0.0, 0.0)], sensors=[lidar])
        started = program("driver.py", domain, "scout0", steps)
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


def test_a_scan_is_what_the_lidar_measured(domain):
    got, _ = in_lockstep(domain, 1)
    frame, first, step, *ranges = got["first"]
    assert frame == "base_scan"
    assert (first, step) == pytest.approx((-math.pi, math.tau / 90), abs=1e-6)
    # from the middle of a room of 8 x 6 m
    angles = [first + k * step for k in range(90)]
    walls = [min(4.0 / max(abs(math.cos(a)), 1e-9), 3.0 / max(abs(math.sin(a)), 1e-9)) for a in angles]
    assert ranges == pytest.approx(walls, abs=1e-4)


def test_two_runs_in_lockstep_see_the_same_scans(domain):
    noisy = Lidar(rays=90, range_m=8.0, rate_hz=10.0, sigma_m=0.02)
    one, another = (in_lockstep(domain, 15, noisy)[0]["ranges"] for _ in range(2))
    assert one == another
