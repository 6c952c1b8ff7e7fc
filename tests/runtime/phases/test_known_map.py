"""Robots that find themselves in a known map, in simulated offices."""

import math

import numpy as np
import pytest

import covey
from covey.errors import ScenarioError
from covey.mapping.localization import KnownMap
from covey.scenario.load import load
from covey.world.world import FREE, WALL

NOISY = {"robots.0.count": 1, "robots.0.robot.sensors.odometry.noise": "gmapping"}


def office(seed=0, known_map=None, **overrides):
    localization = {"robots.0.localization": {"known_map": known_map or {}}, "seed": seed, "stop.timeout_s": 200}
    return load("office", NOISY | localization | overrides)


def drive(sim, until_s):
    """Return the errors of the position [m] at the end of each step."""
    errors = []
    while sim.time < until_s and not sim.done:
        sim.step()
        errors.append(np.hypot(*(sim.localization.carried - sim.state.pose)[:, :2].T))
    return np.array(errors)


def carry(sim, seed):
    """Put the robot on the first place, of a random order, that is at least 4 m away and free for it."""
    grid = sim.world_state.grid
    for x, y in grid.to_world(np.random.default_rng(seed).permutation(np.argwhere(grid.cells == FREE))):
        before = sim.state.pose[0, :2].copy()
        if math.hypot(x - before[0], y - before[1]) > 4.0:
            sim.do({"place": sim.names[0], "pose": [float(x), float(y), 40.0 * seed]})
            sim.step()
            if np.hypot(*(sim.state.pose[0, :2] - before)) > 3.0:  # else a wall was too near
                return


def test_a_robot_knows_its_place_to_some_centimetres_and_how_well():
    sim = office(1)
    errors = drive(sim, 40.0)
    assert errors.mean() < 0.06
    assert errors.max() < 0.4
    deviation = math.sqrt(sim.localization.covariance[0, :2, :2].trace())
    assert 0.01 < deviation < 0.5
    np.testing.assert_allclose(sim.robot("scout0").pose_covariance, sim.localization.covariance[0])
    sim.close()


@pytest.mark.slow
def test_with_an_unknown_start_it_finds_its_place_within_twenty_seconds():
    for seed in range(2):
        sim = office(seed, {"start": "unknown"})
        errors = drive(sim, 30.0)
        assert errors[200:].max() < 0.4, seed
        sim.close()


@pytest.mark.slow
def test_a_robot_that_is_carried_elsewhere_finds_itself_within_a_minute():
    """Many rooms of this office look alike with a lidar of 3.5 m: it must drive out of a wrong one first."""
    for seed in range(2):
        sim = office(seed)
        assert drive(sim, 20.0)[-1] < 0.3
        carry(sim, seed)
        errors = drive(sim, 90.0)
        assert errors[0] > 3.0
        assert errors[600:].max() < 0.4, seed
        sim.close()


def test_the_same_seed_gives_the_same_estimates():
    found = []
    for seed in (1, 1, 2):
        sim = office(seed)
        drive(sim, 3.0)
        found.append(sim.localization.pose.tobytes())
        sim.close()
    assert found[0] == found[1] != found[2]


@pytest.mark.slow
def test_with_an_old_plan_that_the_truth_contradicts(tmp_path):
    """The plan has a block of wall that is not there any more, and lacks every wall along one line."""
    world = office().world
    cells = world.grid.cells.copy()
    rows, columns = cells.shape
    cells[rows // 2 - 10 : rows // 2 + 10, columns // 3 : columns // 3 + 10] = WALL
    cells[20:-20, 2 * columns // 3] = FREE
    assert (cells != world.grid.cells).sum() > 100
    world.replace(grid=world.grid.with_cells(cells)).save(tmp_path / "plan.yaml")
    for seed in range(2):
        sim = office(seed, {"map": str(tmp_path / "plan.yaml")})
        errors = drive(sim, 60.0)
        assert errors.mean() < 0.1
        assert errors.max() < 0.5
        sim.close()


YAML = """
world: {{empty_m: [8, 6]}}
robots:
  - {{name: scout, robot: turtlebot3_waffle, localization: {localization}}}
"""


@pytest.mark.parametrize(
    ("localization", "problem"),
    [
        ("{known_map: {start: somewhere}}", "start"),
        ("{known_map: {map: nowhere.yaml}}", "nowhere.yaml"),
        ("{known_map: {filter: {min_particles: 3}}}", "min_particles"),
        ("{known_map: {filter: {max_particles: 100}}}", "max_particles is 100"),
        ("{knwon_map: {}}", "localization"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, localization, problem):
    path = tmp_path / "s.yaml"
    path.write_text(YAML.format(localization=localization))
    with pytest.raises(ScenarioError, match=problem):
        load(path)


def test_a_plan_beside_the_scenario_is_found(tmp_path, monkeypatch):
    path = tmp_path / "s.yaml"
    path.write_text(YAML.format(localization="{known_map: {map: plan.yaml}}"))
    covey.World.empty(8, 6).save(tmp_path / "plan.yaml")
    sim = load(path)
    monkeypatch.chdir("/")
    assert drive(sim, 1.0).max() < 0.5
    sim.close()


@pytest.mark.parametrize(("known_map", "east_m"), [({"map": "plan"}, 0.5), ({}, 0.0)])
def test_with_the_old_plan_it_is_where_the_plan_says(known_map, east_m):
    """The walls of the plan lie 0.5 m farther east than the true ones, and so does the robot by its scans."""
    world = covey.World.empty(8, 6, 0.1)
    cells = np.full(world.grid.shape, WALL, np.uint8)
    cells[10:50, 10:65] = FREE
    cells[25:50, 30:33] = WALL
    world = world.with_cells(cells)
    world = world.replace(plan=world.with_cells(np.roll(cells, 5, axis=1)))
    settings = KnownMap(start_sigma_m=0.5, **known_map)
    group = covey.Group("k", covey.robots.turtlebot3_waffle(), [(0.5, -1.0, 0.0)], localization=settings)
    sim = covey.Simulation(world, [group], controller=circling, seed=1)
    while sim.time < 20.0:
        sim.step()
    off = []
    while sim.time < 40.0:
        sim.step()
        off.append((sim.localization.carried - sim.state.pose)[0, :2])
    np.testing.assert_allclose(np.mean(off, axis=0), (east_m, 0.0), atol=0.08)
    sim.close()


def circling(robot):
    robot.drive(0.15, 0.3)
