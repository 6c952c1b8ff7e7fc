"""Robots of a scenario go on with the map that SLAM made of an earlier drive."""

import numpy as np
import pytest
from tests.mapping.slam.test_hard_cases import LASER, RING, SETTINGS, WALLS, noisy, odometry, seen, way, world_of

import covey
from covey.errors import InvalidValueError, ScenarioError
from covey.geometry.se2 import compose
from covey.mapping.slam.following import follow
from covey.mapping.slam.log import Log
from covey.mapping.slam.saved_graph import graph_as_bytes
from covey.mapping.slam_localizer import Slam
from covey.scenario.build import inputs, set_up
from covey.scenario.load import load_scenario
from covey.sensors import Lidar
from covey.sensors.odometry import GmappingNoise, Odometry

WORLD = world_of(12, 10, *WALLS)
SENSORS = (Lidar(range_m=8.0, rays=180, sigma_m=0.01), Odometry(noise=GmappingNoise()))
ROBOT = covey.robots.pioneer3dx().model_copy(update={"sensors": SENSORS})


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """Return the folder of a graph of a drive round the ring, and where that began."""
    truth, rng = way(RING), np.random.default_rng(0)
    moved = [np.zeros(3)]
    for motion in odometry(rng, truth)[1:]:
        moved.append(compose(moved[-1], motion))
    scans = np.array([noisy(rng, seen(WORLD, pose)) for pose in truth])
    log = Log("a", LASER, scans, np.array(moved), np.arange(len(truth)) * 0.1, np.array(moved), np.arange(len(truth)))
    folder = tmp_path_factory.mktemp("earlier")
    (folder / "graph.npz").write_bytes(graph_as_bytes(log, follow(log, SETTINGS).slam))
    x, y, heading = truth[0].tolist()
    return str(folder), (x, y, float(np.degrees(heading)))


async def drives(robot):
    for goal in ((0, -2.8), (-4, -2.8), (3.5, -2.8)):
        await robot.goto(goal)


async def along(robot):
    """Drive by odometry: the robot does not know where it is."""
    await robot.forward(6.0)
    await robot.turn(-np.pi / 2)
    await robot.forward(4.5)


def simulation(localization, starts=((2.0, -2.8, 3.1),), controller=drives):
    groups = [covey.Group("one", ROBOT, list(starts), localization=localization)]
    return covey.Simulation(WORLD, groups, controller, stop=covey.Stop(timeout_s=60))


def error_of(sim, robot=0):
    return float(np.hypot(*(sim.localization.pose - sim.state.pose)[robot, :2]))


def test_robots_that_know_where_they_start_have_the_map_and_one_frame(graph):
    folder, at = graph
    sim = simulation(Slam(from_=folder, at=at), [(2.0, -2.8, 3.1), (4.0, 1.0, -1.5)])
    known = [(sim.localization.belief_of[k].occupancy() >= 0).mean() for k in (0, 1)]
    assert min(known) > 0.4, "the map of the earlier drive"
    for _ in range(60):
        sim.step()
    robots = sim.localization.localizers[0][1].robots
    assert all(robot.pieces.joined == [True, True] for robot in robots)
    assert max(error_of(sim, k) for k in (0, 1)) < 0.15


def test_a_robot_that_does_not_know_where_it_starts_finds_itself_on_the_map(graph):
    folder, at = graph
    sim = simulation(Slam(from_=folder, at=at, start="unknown"), controller=along)
    robot = sim.localization.localizers[0][1].robots[0]
    sim.step()
    assert robot.pieces.joined == [True, False]
    assert np.trace(sim.localization.covariance[0, :2, :2]) > 100.0
    while not (sim.done or robot.pieces.joined[-1]):
        sim.step()
    assert robot.pieces.joined == [True, True]
    assert error_of(sim) < 0.3


def test_what_goes_with_a_map_needs_one_and_a_team_does_not_go_with_it(graph):
    with pytest.raises(ValueError, match="at goes with from, the map of an earlier drive"):
        Slam(at=(1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="have one frame already"):
        Slam(from_=graph[0], team={})
    with pytest.raises(InvalidValueError, match="there is no file"):
        simulation(Slam(from_="nowhere.npz"))


def test_a_scenario_names_its_map_from_its_own_folder(graph, tmp_path):
    text = """
world: {generate: office}
robots: [{name: a, robot: turtlebot3_waffle, localization: {slam: {from: %s}}, controller: still}]
stop: {timeout_s: 1}
"""
    (tmp_path / "good.yaml").write_text(text % graph[0])
    (tmp_path / "bad.yaml").write_text(text % "missing")
    assert [path.name for path in inputs(load_scenario(tmp_path / "good.yaml"))] == ["graph.npz"]
    with pytest.raises(ScenarioError, match=r"localization\.from: there is no file"):
        set_up(load_scenario(tmp_path / "bad.yaml"))
