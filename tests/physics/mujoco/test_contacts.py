"""Walls and other robots stop a body; contacts are counted when they begin."""

import math

import numpy as np
import pytest

from covey.physics.mujoco.physics import TerrainPhysics
from covey.physics.mujoco.walls import rectangles
from covey.physics.protocol import ROBOT_CONTACT, WALL_CONTACT
from covey.robots.catalogue import aerial_scout, disc, pioneer3dx, skid_steer
from covey.robots.team import TeamModel, TeamState
from covey.world.ground import Ground
from covey.world.world import WALL, World

pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")


def drive(world, models, poses, commands, steps):
    """Hold commands for some steps of 0.1 s; return physics, state and the rows (kind, robot, other, step)."""
    physics, state, rows = TerrainPhysics(world, TeamModel.of(models)), TeamState.at(poses), []
    for k in range(steps):
        contacts = physics.step(state, np.array(commands, float), 10)
        rows += [(*row, k) for row in zip(contacts.kind, contacts.robot, contacts.other, strict=True)]
    return physics, state, rows


def hilly():
    """A room of 10 x 10 m on a slope."""
    x = np.arange(40) - 19.5
    return Ground.of(np.tile(0.1 * x, (40, 1))).world(World.empty(10, 10, 0.1))


def test_rectangles_are_exactly_the_solid_cells_and_do_not_overlap():
    rng = np.random.default_rng(1)
    for solid in (rng.random((30, 41)) < 0.5, rng.random((8, 9)) < 0.95, np.zeros((5, 5), bool), np.ones((5, 7), bool)):
        painted = np.zeros(solid.shape, int)
        for first, last, left, right in rectangles(solid):
            painted[first:last, left:right] += 1
        assert np.array_equal(painted, solid.astype(int))
    frame = np.ones((100, 120), bool)
    frame[1:-1, 1:-1] = False
    assert len(rectangles(frame)) == 4


@pytest.mark.parametrize("world", [World.empty(10, 10, 0.1), hilly()], ids=["plane", "slope"])
@pytest.mark.parametrize("robot", [pioneer3dx, skid_steer])
def test_a_wall_stops_a_robot_and_is_one_contact(world, robot):
    model = robot()
    _, state, rows = drive(world, [model], [[2, 0, 0]], [[0.5, 0, 0]], 100)
    front = max(x for x, _ in model.footprint_m)
    assert state.pose[0, 0] + front == pytest.approx(5.0, abs=0.03)
    assert rows[0][:3] == (WALL_CONTACT, 0, -1)
    assert len(rows) <= 3  # it may bounce a little
    assert rows[0][3] == pytest.approx((3 - front) / 0.05, abs=3)
    assert state.contact_bearing[0] == pytest.approx(0.0, abs=math.pi / 4)
    assert abs(state.twist[0, 0]) < 0.02
    assert state.drive[0, 0] == pytest.approx(0.5)


def test_a_turned_grid_has_its_walls_where_they_are():
    world = World.empty(6, 4, 0.1)
    grid = type(world.grid)(world.grid.cells, 0.1, (1.0, 2.0, 0.5))
    centre = grid.to_world((grid.shape[0] / 2 - 0.5, grid.shape[1] / 2 - 0.5))
    _, state, rows = drive(world.replace(grid=grid), [disc()], [[*centre, 0.5]], [[0.5, 0, 0]], 80)
    way = (state.pose[0, :2] - centre) @ (math.cos(0.5), math.sin(0.5))
    assert way == pytest.approx(3.0 - 0.15, abs=0.02)
    assert len(rows) == 1


def test_two_robots_that_meet_are_one_contact_of_both():
    _, state, rows = drive(
        World.empty(10, 10), [skid_steer(), skid_steer()], [[-1, 0, 0], [1, 0, math.pi]], [[0.4, 0, 0]] * 2, 40
    )
    assert [row[:3] for row in rows] == [(ROBOT_CONTACT, 0, 1)]
    assert state.pose[1, 0] - state.pose[0, 0] == pytest.approx(0.44, abs=0.03)
    assert np.isfinite(state.contact_bearing).all()


def test_a_robot_that_moves_along_a_wall_slides():
    _, state, rows = drive(World.empty(20, 4, 0.1), [disc()], [[-5, 1.7, 0.3]], [[0.5, 0, 0]], 35)
    assert state.pose[0, 0] > -3.6
    assert state.pose[0, 1] <= 2.0 - 0.14
    assert rows


def test_the_landscape_ends_at_a_fence():
    _, state, rows = drive(Ground.of(np.zeros((11, 11))).world(), [skid_steer()], [[3, 0, 0]], [[1, 0, 0]], 60)
    assert 4.5 < state.pose[0, 0] + 0.22 < 5.1
    assert rows[0][:3] == (WALL_CONTACT, 0, -1)


def test_what_flies_touches_nothing_and_follows_the_ground():
    x = np.arange(60) - 29.5
    world = Ground.of(np.tile(2.0 * np.sin(x / 5.0), (60, 1))).world(World.empty(16, 16, 0.5))
    _, state, rows = drive(world, [aerial_scout(height_m=6.0)], [[-9, 0, 0]], [[2, 1, 0.1]], 50)
    assert not rows
    assert state.altitude_roll_pitch[0, 0] == pytest.approx(world.ground.altitude_at(state.pose[0, :2]) + 6.0)
    assert state.distance_m[0] > 0.9 * math.hypot(2, 1) * 5
    assert state.twist[0, :2] == pytest.approx((2, 1))


def test_a_halted_robot_brakes_and_one_that_flies_hovers():
    physics, state, _ = drive(
        World.empty(20, 20), [skid_steer(), aerial_scout()], [[0, 0, 0], [3, 0, 0]], [[1, 0, 0]] * 2, 20
    )
    state.halted[:] = True
    for _ in range(5):
        physics.step(state, np.ones((2, 3)), 10)
    before = state.pose.copy()
    physics.step(state, np.ones((2, 3)), 10)
    assert np.abs(state.pose - before).max() < 1e-3
    assert not state.drive.any()


def test_what_has_vanished_stays_where_it_is_and_is_in_nobodys_way():
    models = [skid_steer(), skid_steer()]
    physics, state, _ = drive(World.empty(10, 10), models, [[0, 0, 0], [1.5, 0, 0]], [[0, 0, 0]] * 2, 5)
    state.halted[1] = state.vanished[1] = True
    before, rows = state.pose[1].copy(), 0
    for _ in range(40):
        rows += len(physics.step(state, np.array([[0.7, 0, 0], [0, 0, 0]]), 10))
    assert rows == 0
    assert state.pose[0, 0] > 2.0
    assert np.abs(state.pose[1] - before).max() < 1e-3


@pytest.mark.parametrize("rebuilt", [False, True])
def test_what_comes_back_is_in_the_way_again(rebuilt):
    """Also if the walls have changed meanwhile, for which the engine is compiled anew."""
    from covey.world.state import WorldState

    world = WorldState(World.empty(10, 10, 0.1))
    physics, state, _ = drive(world, [skid_steer(), skid_steer()], [[0, 0, 0], [1.5, 0, 0]], [[0, 0, 0]] * 2, 5)
    state.halted[1] = state.vanished[1] = True
    physics.step(state, np.zeros((2, 3)), 10)
    if rebuilt:
        world.edit(1, 5, np.full((2, 2), WALL, np.uint8))
        physics.step(state, np.zeros((2, 3)), 10)
    state.halted[1] = state.vanished[1] = False
    state.pose[1] = 1.2, 0.0, 0.0
    before = state.pose[1].copy()
    for _ in range(30):
        physics.step(state, np.array([[0.7, 0, 0], [0, 0, 0]]), 10)
    length = 2 * max(disc[0] + disc[2] for disc in skid_steer().body_discs)
    assert state.pose[1, 0] - state.pose[0, 0] > 0.8 * length
    assert state.pose[0, 0] < 1.4
    assert abs(state.pose[1, 1] - before[1]) < 0.3


def test_a_robot_off_the_ground_is_refused():
    from covey.errors import InvalidValueError

    physics = TerrainPhysics(Ground.of(np.zeros((11, 11))).world(), TeamModel.of([disc(), disc()]))
    with pytest.raises(InvalidValueError, match=r"robot 1 stands at \(7, 0\) m.*-5"):
        physics.stand(TeamState.at([[0, 0, 0], [7, 0, 0]]))


def test_a_wall_that_goes_away_lets_through():
    from covey.world.state import WorldState

    cells = World.empty(10, 4, 0.1).grid.cells.copy()
    cells[:, 70:72] = WALL
    world = WorldState(World.empty(10, 4, 0.1).with_cells(cells))
    physics, state, _ = drive(world, [disc()], [[0, 0, 0]], [[0.5, 0, 0]], 60)
    assert state.pose[0, 0] == pytest.approx(1.9 - 0.15, abs=0.02)
    world.edit(1, 70, np.zeros((40, 2), np.uint8))
    for _ in range(40):
        physics.step(state, np.array([[0.5, 0, 0]]), 10)
    assert state.pose[0, 0] > 3.0
