"""Controllers of files as nodes of ROS 2, in processes of their own, against ``covey ros run`` in lockstep."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.controllers.test_onnx import network
from tests.ros.nodes import LIMIT_S, in_process, node, said_by, simulator
from tests.ros.world import until

import covey
from covey.errors import ControllerError, CoveyError
from covey.ros.dds import Participant
from covey.ros.node import ControllerNode, NodeSettings
from covey.ros.node_setup import controller_named, node_setup

CODE = '''
from dataclasses import dataclass

import numpy as np

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


@dataclass(frozen=True)
class Plan:
    """What a robot tells the others."""

    at_s: float
    goal: tuple


async def together(robot, *, legs=100):
    """Explore: go to places that nobody knows yet, and where none of the others goes."""
    grid, plans = robot.map.grid, {}
    places = [(x, y) for x in range(-37, 40, 5) for y in range(-37, 40, 5)]
    for leg in range(legs):
        plans.update({m.sender: m.payload.goal for m in robot.messages("plan")})
        known = robot.map.occupancy() >= 0
        new = [p for p in places if not known[grid.cell_at(*p)]]
        new = [p for p in new if all(np.hypot(*np.subtract(p, q)) > 6.0 for q in plans.values())]
        goal = min(new, key=lambda p: np.hypot(*np.subtract(p, robot.pose[:2])), default=None)
        robot.note(f"to {goal}, {plans}, legs {robot.blackboard.get('legs', 0)}; {known.sum()}")
        robot.blackboard["legs"] = robot.blackboard.get("legs", 0) + 1
        if goal is None:
            break
        robot.send(Plan(robot.time, goal), kind="plan")
        end_s = robot.time + 3.0
        await robot.goto(goal, until=lambda me: me.time > end_s)
    robot.finish()


def fails(robot):
    robot.drive(0.3)
    if robot.time > 0.45:
        raise ValueError("no more")
'''
HALL = '''
import numpy as np


async def explore(robot):
    """Go to the nearest border of the unknown while there is one, and note the area that is free on the map [m^2]."""
    while goal := robot.nearest(robot.frontiers().cells):
        end_s = robot.time + 1.0
        await robot.goto(goal, until=lambda me: me.time > end_s)
    robot.finish()
    robot.note(f"{robot.map.grid.resolution**2 * np.count_nonzero(robot.map.free)}")
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
TEAM = """
format: 1
name: team
world: {terrain: maze}
robots:
  - name: scout
    robot: {base: pioneer3dx, mapping: {resolution_m: 0.2, min_motion_m: 0.2, min_turn_deg: 3}}
    count: 2
    start: {line: {from: [-38.3, 38.1], step: [0, -1.7]}}
    controller: ./mine.py:together
radio: {range_m: 200}
share_maps: {every_s: 1}
stop: {timeout_s: 13}
"""


@pytest.fixture(autouse=True)
def files(tmp_path):
    for name, text in (("mine.py", CODE), ("hall.py", HALL), ("room.yaml", WORLD), ("team.yaml", TEAM)):
        (tmp_path / name).write_text(text)


@pytest.mark.slow
def test_a_team_takes_the_same_decisions_in_process_in_processes_and_as_nodes(start, tmp_path):
    world = simulator(start, "team.yaml")
    found = said_by(start, "team.yaml", dict.fromkeys(("scout0", "scout1"), "./mine.py:together"))
    here, wanted = in_process(tmp_path / "team.yaml")
    there, notes = in_process(tmp_path / "team.yaml", "there", {"execution.controllers": "processes"})
    assert (here.folder / "measurements.parquet").read_bytes() == (there.folder / "measurements.parquet").read_bytes()
    assert notes == wanted
    assert found.keys() == wanted.keys()
    for name, lines in wanted.items():
        decided, cells = zip(*(line.split("; ") for line in lines), strict=True)
        said, known = zip(*(line.split("; ") for line in found[name]), strict=True)
        assert said == decided
        assert len(said) > 3
        assert "'scout" in said[-1]  # it has heard the other
        # ranges travel as float32, headings as quaternions: what lies on the edge of a cell may count to the next one
        np.testing.assert_allclose(np.array(known, int), np.array(cells, int), rtol=0.02)
    assert world.wait(timeout=LIMIT_S) == 3  # its time is over


def test_a_policy_drives_a_robot_as_a_node_as_in_the_environments_in_which_it_was_trained(start, tmp_path):
    weights = np.random.default_rng(1).normal(size=(360, 2)) / np.sqrt(360)
    network(tmp_path / "policy.onnx", {"ranges": weights}, {"ranges": 360}, 2)
    scenario = covey.load_scenario(tmp_path / "room.yaml", {"robots.scout.controller": "still", "stop.timeout_s": 4})
    worlds = covey.learning.vector_env(scenario, 2, observe="ranges", every_s=0.5)
    worlds.worlds[0].save_record(tmp_path / "policy.onnx")
    shown, _ = worlds.reset(seed=0)
    poses = []
    for _ in range(8):
        shown, *_ = worlds.step(shown @ weights.astype(np.float32))
        poses.append(worlds.batch.state.pose[0].copy() if worlds.batch else worlds.worlds[0].sim.state.pose[0].copy())
    worlds.close()
    world = simulator(start, "room.yaml", "-s", "stop.timeout_s=4")
    ours = node(start, "{name: onnx_each, file: policy.onnx}", "scout0", "room.yaml")
    _, complaints = ours.communicate(timeout=LIMIT_S)
    assert ours.returncode == 0, complaints
    assert world.wait(timeout=LIMIT_S) == 3  # its time is over
    run = covey.Run(tmp_path / "run")
    # velocities are left out: a robot that asks for itself knows their mean over a step, and they change within it
    np.testing.assert_allclose(run.poses[4::5, 0][:7], np.array(poses)[:7], atol=1e-5)  # ranges travel as float32
    assert np.ptp(run.poses[:, 0, :2], axis=0).max() > 0.1


def test_nodes_of_robots_without_a_simulated_radio_write_to_each_other(start, tmp_path):
    simulator(start, "team.yaml")
    said = said_by(start, "team.yaml", dict.fromkeys(("scout0", "scout1"), "./mine.py:together"), "--direct")
    (tmp_path / "alone.yaml").write_text(TEAM.replace("share_maps: {every_s: 1}", ""))
    _, alone = in_process(tmp_path / "alone.yaml", "alone")
    for name, other in (("scout0", "scout1"), ("scout1", "scout0")):
        goals, found = said[name][-1].split("; ")
        assert f"'{other}'" in goals
        assert int(found) > 1.015 * int(alone[name][-1].split("; ")[1])  # the other's cells are on its map


def test_robots_that_no_scenario_describes_explore_together(domain, tag, start, tmp_path):
    command = [sys.executable, "-m", "tests.ros.toy", str(domain), tag, "-5", "5"]
    toys = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    about = "--robot", "disc", "--radius", "0.2", "--max-speed", "1", "--area", "16", "--direct"
    nodes = [
        start(
            "ros", "node", "./hall.py:explore", "--name", name, "--start", x, "0", "0", *about, "--team", "toy0", "toy1"
        )
        for name, x in (("toy0", "-5"), ("toy1", "5"))
    ]
    ways = json.loads(toys.communicate(timeout=LIMIT_S)[0])
    for ours, (way, nearest, _) in zip(nodes, ways, strict=True):
        said, complaints = ours.communicate(timeout=LIMIT_S)
        assert ours.returncode == 0, complaints
        area = float(said.split()[-1])
        assert abs(area - 12 * 3) < 0.05 * (2 * (12 + 3))  # all of the hall, but for cells at its walls
        assert 0.5 < way < 7.0  # alone it must come from x = 5 to within 3 m of the wall at -6: 8 m
        assert nearest > 0.2 - 0.02


def test_a_signal_ends_it_and_stops_the_robot(start, tmp_path, peer):
    long = "-s", "stop.timeout_s=10000"
    world, ours = start("ros", "run", "room.yaml", "--speed", "4", "--out", "run", "-q", *long), node(start)
    until(ours.said.read_text, LIMIT_S)  # the first corner
    os.kill(ours.pid, signal.SIGTERM)
    _, complaints = ours.communicate(timeout=LIMIT_S)
    assert ours.returncode == 143, complaints
    peer.read(topic="rt/clock", kind="Clock", depth=1)
    ended = until(lambda: peer.take(topic="rt/clock"))[0]["clock"]["sec"]
    until(lambda: any(one["clock"]["sec"] > ended + 1 for one in peer.take(topic="rt/clock")))
    os.kill(world.pid, signal.SIGINT)
    assert world.wait(timeout=LIMIT_S) == 130
    commands = covey.Run(tmp_path / "run").measurements["command_vx_m_s"].to_numpy()
    assert commands.max() > 0.5
    assert commands[-1] == 0.0


@pytest.mark.slow
def test_a_controller_that_fails_stops_the_robot_and_the_run_waits_for_another(start, tmp_path, domain):
    world = simulator(start, "room.yaml")
    setup = node_setup(
        covey.load_scenario(tmp_path / "room.yaml"), "scout0", controller_named("./mine.py:fails", tmp_path)
    )
    for _ in range(2):
        with Participant(domain) as ros:
            ours = ControllerNode(ros, setup)
            with pytest.raises(ControllerError, match="no more"):
                ours.run()
            ours.close()
        assert world.returncode is None
    os.kill(world.pid, signal.SIGINT)
    assert world.wait(timeout=LIMIT_S) == 130
    assert covey.Run(tmp_path / "run").measurements["command_vx_m_s"].to_numpy().max() > 0.25


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
    with pytest.raises(CoveyError, match=says):
        node_setup(covey.load_scenario("hello"), name, controller_named(controller, tmp_path))
