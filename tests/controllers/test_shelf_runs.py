"""Whole runs of the shelf: they finish, touch no wall, survive partners that vanish, and say when they are done."""

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.controllers.coverage.ssb import _passed
from covey.onboard.controller import Program

WALLS = [[(0.0, -3.0), (0.0, -0.6)], [(0.0, 0.6), (0.0, 3.0)]]
OUTLINE = [(-6, -3), (6, -3), (6, 3), (-6, 3)]
EXPLORERS = ["fftnf", "greed", "minotaur", "tnf"]


async def vanishing(robot, *, name="greed", at_s=4.0, **parameters):
    """Do as a strategy does, and fail at a time [s]."""
    strategy = controllers.get(name)(robot, **parameters)
    outcome = None
    while robot.time < at_s:
        outcome = await strategy.send(outcome)
    raise RuntimeError("lost")


def parameters_of(name):
    return {"door_m": 1.2} if name == "minotaur" else {}


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_team_explores_two_rooms_and_says_so_though_one_vanishes(name):
    world = covey.World.polygons(OUTLINE, walls_m=WALLS, resolution_m=0.1)
    given = parameters_of(name)
    lost = Program(vanishing, {"name": name, **given})
    groups = [
        covey.Group("scout", covey.robots.disc(), [(-4, 0, 0), (-4, 1, 0)], Program(controllers.get(name), given)),
        covey.Group("lost", covey.robots.disc(), [(-4, -1, 0)], lost),
    ]
    sim = covey.Simulation(world, groups, seed=1, share_maps=1.0, stop=covey.Stop(timeout_s=200))
    run = sim.run()
    assert sim.status == "reached"  # every controller has come to its end
    assert run.metrics["explored_share"] > 0.99
    assert run.metrics["collisions_wall"] == 0


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_robot_alone_without_radio_or_sight_explores_all(name):
    world = covey.World.polygons(OUTLINE, walls_m=WALLS, resolution_m=0.1)
    model = covey.robots.disc()
    model = model.model_copy(update={"sensors": tuple(s for s in model.sensors if s.kind != "neighbours")})
    group = covey.Group("scout", model, [(-4, 0, 0)], Program(controllers.get(name), parameters_of(name)))
    sim = covey.Simulation(world, [group], seed=1, radio=0.01, stop=covey.Stop(explored=0.99, timeout_s=200))
    sim.run()
    assert sim.status == "reached"


def test_ssb_covers_all_that_its_body_gets_to_and_its_tiles_are_told(run_on):
    sim, run = run_on("ssb", (3, 2), robots=2, timeout_s=200)
    assert sim.status == "reached"
    last = sim.scoring.coverage.cells.last_step
    rows, columns = np.nonzero(sim.scoring.coverage.cells._goal)
    x, y = sim.world.grid.to_world(np.column_stack((rows, columns))).T
    inner = (np.abs(x) < 1.5 - 0.3) & (np.abs(y) < 1.0 - 0.3)  # what is not beside a wall
    assert (last[rows, columns] >= 0)[inner].mean() > 0.95
    assert np.all(run.series("distance_m")[-1] > 3)  # they shared the work
    assert run.metrics["collisions"] == run.metrics["collisions_wall"] == 0


@pytest.mark.slow
def test_ssb_goes_on_when_its_partner_vanishes():
    world = covey.World.empty(3, 2, resolution_m=0.1)
    groups = [
        covey.Group("a", covey.robots.disc(), [(-1, 0, 0)], controllers.get("ssb")),
        covey.Group("b", covey.robots.disc(), [(1, 0.5, 0)], Program(vanishing, {"name": "ssb", "at_s": 3.0})),
    ]
    sim = covey.Simulation(world, groups, seed=1, share_maps=1.0, stop=covey.Stop(timeout_s=300))
    sim.run()
    assert sim.status == "reached"
    assert sim.scoring.coverage.cells.share > 0.6


def test_ssb_drives_the_lanes_of_a_room_once_and_without_standing_still():
    # 6 x 4 m in lanes of 0.27 m: 24 / 0.27 = 89 m of way at up to 1 m/s. A strip one cell wide stays along the walls.
    world = covey.World.empty(6, 4, resolution_m=0.1)
    group = covey.Group("a", covey.robots.disc(), [(-2.5, -1.5, 0)], controllers.get("ssb"))
    sim = covey.Simulation(world, [group], seed=1, stop=covey.Stop(covered=0.9, timeout_s=300))
    run = sim.run()
    assert sim.status == "reached"
    assert run.series("distance_m")[-1, 0] < 24 / 0.27
    assert sim.time < 1.4 * 24 / 0.27
    covered = sim.scoring.coverage.cells
    inner = covered.last_step[2:-2, 2:-2] >= 0
    assert inner.mean() > 0.97


def test_ssb_without_radio_covers_alone(run_on):
    sim, _ = run_on("ssb", (3, 2), robots=1, timeout_s=200, radio=0.01)
    assert sim.status == "reached"
    assert sim.scoring.coverage.cells.share > 0.7


def test_a_tile_is_passed_by_the_way_not_by_its_ends():
    assert _passed((0.0, 0.0), (2.0, 0.0), (1.0, 0.25)) == 0.25
    assert _passed((0.0, 0.0), (0.0, 0.0), (3.0, 4.0)) == 5.0
    assert _passed((0.0, 0.0), (1.0, 0.0), (4.0, 4.0)) == 5.0


@pytest.mark.parametrize(
    ("name", "parameters", "word"),
    [
        ("tnf", {"alpha": 0.5}, "alpha"),
        ("fftnf", {"beta": 0.0}, "beta"),
        ("lvd", {"tile_m": 0.0}, "tile_m"),
        ("ssb", {"tile_m": 0.001}, "tile_m"),
        ("ssb", {"reserve": 0}, "reserve"),
        ("minotaur", {"door_m": 0.0}, "door_m"),
        ("brick_and_mortar", {"cell_m": -1.0}, "cell_m"),
    ],
)
def test_senseless_parameters_are_named(name, parameters, word):
    group = covey.Group("g", covey.robots.disc(), [(0, 0, 0)], Program(controllers.get(name), parameters))
    sim = covey.Simulation(covey.World.empty(4, 4), [group])
    sim.step()
    assert word in str(sim.deciding.failures[0].error)
