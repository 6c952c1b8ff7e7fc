"""Controllers of files as nodes of ROS 2, in processes of their own, against ``covey ros run`` in lockstep."""

import os
import signal
import subprocess
import sys

import pytest

import covey
from covey.errors import CoveyError
from covey.ros.dds import Participant
from covey.ros.node import ControllerNode, NodeSettings
from covey.ros.node_setup import controller_named, node_setup
from covey.scenario.run import run_scenario

LIMIT_S = 240
CODE = '''
import covey


async def roam(robot, *, turns=4):
    """Drive to the four corners, and note what the map holds there."""
    for x, y in ((2, 2), (-2, 2), (-2, -2), (2, -2))[:turns]:
        answer = await robot.goto((x, y))
        known = int((robot.map.occupancy() >= 0).sum())
        robot.note(f"{answer} at {robot.pose.x:.3f} {robot.pose.y:.3f}, {known} cells")
    robot.finish()


@covey.controller(scope="group", sees=("pose",))
def all_of_us(group):
    return 0.0 * group.pose


def fails(robot):
    robot.drive(0.3)
    if robot.time > 0.45:
        raise ValueError("no more")
'''
WORLD = """
format: 1
name: room
world: {empty_m: [8, 6]}
robots:
  - name: scout
    robot: {base: turtlebot3_burger, max_speed_m_s: 0.8, max_wheel_speed_m_s: 1.2}
    start: [[0, 0, 90]]
    controller: ./mine.py:roam
stop: {timeout_s: 30}
"""


@pytest.fixture
def start(domain, tmp_path):
    """Return a function that starts ``covey`` with some arguments in the folder of a scenario; all end with the test."""
    (tmp_path / "mine.py").write_text(CODE)
    (tmp_path / "room.yaml").write_text(WORLD)
    environment, started = os.environ | {"ROS_DOMAIN_ID": str(domain)}, []

    def begin(*arguments):
        command = [sys.executable, "-m", "covey", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(command, cwd=tmp_path, env=environment, **pipes))
        return started[-1]

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def run(start, *more):
    return start("ros", "run", "room.yaml", "--speed", "lockstep", "--out", "run", "-q", *more)


def node(start, controller="./mine.py:roam", *more):
    return start("ros", "node", controller, "--name", "scout0", "--scenario", "room.yaml", *more)


def test_a_controller_of_a_file_takes_the_same_decisions_as_in_the_process_of_the_simulation(start, tmp_path):
    simulator, ours = run(start), node(start)
    events = run_scenario(covey.load_scenario(tmp_path / "room.yaml"), tmp_path / "here").events
    here = [(0.1 * (e["step"] - 1), e["text"]) for e in events.to_dicts() if e["kind"] == "note"]
    said, complaints = ours.communicate(timeout=LIMIT_S)
    assert ours.returncode == 0, complaints
    assert simulator.wait(timeout=LIMIT_S) == 3  # its time is over
    assert len(here) == 4
    assert said.splitlines() == [f"{time_s:.2f} s  {text}" for time_s, text in here]


def test_a_signal_ends_it_and_stops_the_robot(start, tmp_path):
    simulator, ours = start("ros", "run", "room.yaml", "--speed", "4", "--out", "run", "-q"), node(start)
    assert ours.stdout.readline()  # the first corner
    ours.send_signal(signal.SIGTERM)
    _, complaints = ours.communicate(timeout=LIMIT_S)
    assert ours.returncode == 130, complaints
    assert simulator.wait(timeout=LIMIT_S) == 3
    commands = covey.Run(tmp_path / "run").measurements["command_vx_m_s"].to_numpy()
    assert commands.max() > 0.5
    assert commands[-1] == 0.0


def test_a_controller_that_fails_stops_the_robot_and_says_why(start, tmp_path):
    simulator, ours = run(start), node(start, "./mine.py:fails")
    _, complaints = ours.communicate(timeout=LIMIT_S)
    assert ours.returncode == 1
    assert "no more" in complaints
    again = node(start, "./mine.py:fails")  # the run waited for it
    _, complaints = again.communicate(timeout=LIMIT_S)
    assert "no more" in complaints
    assert simulator.poll() is None
    simulator.send_signal(signal.SIGINT)
    simulator.communicate(timeout=LIMIT_S)
    assert simulator.returncode == 130


def test_without_a_robot_it_says_what_is_missing(domain):
    setup = node_setup(covey.load_scenario("hello"), "robot0")
    with Participant(domain) as ros:
        node = ControllerNode(ros, setup, NodeSettings(patience_s=0.5))
        with pytest.raises(CoveyError, match=r"/clock and /robot0/odom within 0.5 s; .* needs --wall.* domain"):
            node.run()
        node.close()


@pytest.mark.parametrize(
    ("controller", "name", "says"),
    [
        ("./mine.py:roam", "robot7", "robot7"),
        ("roam_not", "robot0", "roam_not"),
        ("./mine.py:roams", "robot0", "roams"),
        ("./mine.py:all_of_us", "robot0", "whole group"),
    ],
)
def test_bad_input_says_what_is_wrong(tmp_path, controller, name, says):
    (tmp_path / "mine.py").write_text(CODE)
    with pytest.raises(CoveyError, match=says):
        node_setup(covey.load_scenario("hello"), name, controller_named(controller, tmp_path))
