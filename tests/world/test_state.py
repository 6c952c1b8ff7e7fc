"""The state of a world while a simulation runs, and the worlds that it hands out."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest

import covey
from covey.geometry.raycast import skip_field
from covey.world.clearance import clearance
from covey.world.doors import Door
from covey.world.editing.ground_edits import crater
from covey.world.ground import Ground
from covey.world.state import WorldState
from covey.world.world import FREE, WALL, World


def test_what_a_state_hands_out_stays_as_it_is_and_shows_what_was_then():
    given = World.empty(4, 4, resolution_m=0.1)
    state, worlds, cells = WorldState(given), [], []
    for row in (10, 20, 30):
        state.clearance  # noqa: B018
        worlds.append(state.world)
        cells.append(state.grid.cells.copy())
        assert state.world is worlds[-1]  # nothing has happened
        state.edit(row, 10, np.full((1, 12), WALL, np.uint8))
    worlds.append(state.world)
    cells.append(state.grid.cells.copy())
    assert worlds[0] is given
    assert [world.version for world in worlds] == [0, 1, 2, 3]
    for world, expected in zip(worlds, cells, strict=True):
        np.testing.assert_array_equal(world.grid.cells, expected)
        np.testing.assert_array_equal(world.free, expected == FREE)
        np.testing.assert_array_equal(world.skip, skip_field(expected == WALL))
        np.testing.assert_array_equal(world.clearance, clearance(expected == WALL, 0.1))


def test_an_edit_copies_nothing_unless_a_world_was_handed_out():
    world = Ground.of(np.zeros((30, 30))).world()
    world.clearance  # noqa: B018
    state = WorldState(world)
    wall = np.full((2, 2), WALL, np.uint8)
    arrays = None
    for place in (5, 10, 15):
        state.edit(place, place, wall)
        state.ground.apply(crater(state.ground, (place - 15.0, 0.0), 1.0, 2.0))
        now = state.grid.cells, state.free, state.solid, state.skip, state.clearance, state.ground.altitude
        assert arrays is None or all(a is b for a, b in zip(arrays, now, strict=True))
        arrays = now
    handed_out = state.world
    assert handed_out.skip is state.skip
    state.edit(20, 20, wall)
    assert state.skip is not handed_out.skip


def test_the_log_says_which_cells_changed_when_and_the_state_what_was_edited_since():
    state = WorldState(World.empty(4, 4, resolution_m=1.0))  # 6 x 6 cells with the border
    for step, row in ((3, 1), (7, 2)):
        state.step = step
        state.edit(row, 0, np.full((1, 3), WALL, np.uint8))
    assert state.changed.tolist() == [[3, 7, 0, 1], [3, 8, 0, 1], [7, 13, 0, 1], [7, 14, 0, 1]]
    assert state.edited_since(1) == [(2, 3, 0, 3)]
    assert state.edited_since(2) == []
    assert state.edited_since(-100) is None


def test_a_ground_that_was_handed_out_stays_as_it_is():
    source = Ground.of(np.zeros((21, 21)))
    state = WorldState(source.world())
    before = state.world
    state.ground.apply(crater(state.ground, (0.0, 0.0), 2.0, 5.0))
    after = state.world
    assert before.ground is source
    assert (before.ground.altitude_at((0, 0)), after.ground.altitude_at((0, 0))) == (0.0, -2.0)
    state.ground.apply(crater(state.ground, (0.0, 0.0), 2.0, 5.0))
    assert after.ground.altitude_at((0, 0)) == -2.0
    assert state.ground.altitude_at((0, 0)) == -4.0
    assert state.world.ground.version == 2


def test_an_edited_ground_is_another_one():
    source = Ground.of(np.zeros((21, 21)))
    dug = source.edited(crater(source, (0.0, 0.0), 2.0, 5.0))
    assert (source.altitude_at((0, 0)), dug.altitude_at((0, 0))) == (0.0, -2.0)
    assert (source.version, dug.version) == (0, 1)


def test_a_world_kept_from_a_simulation_stays_as_it_was():
    sim = covey.Simulation(World.empty(6, 6, resolution_m=0.1), 1, lambda robot: None)
    before = sim.world
    sim.add_wall((-2, 1), (2, 1))
    sim.step()
    assert before.free_area_m2 == pytest.approx(36)
    assert before.grid.cells.max() == 1
    assert np.count_nonzero(before.grid.cells == WALL) == 4 * 61
    assert sim.world.free_area_m2 < 35.5


def test_all_else_of_a_world_is_handed_on():
    ground = Ground.of(np.zeros((8, 8)), name="moor", range_m=(-3, 4), origin=(-3.0, -4.0))
    door = Door("d", -1.0, -1.0, 1.0, 1.0)
    made = np.zeros((8, 8), np.uint8)
    hall = (-2.0, -2.0, 2.0, 2.0)
    world = ground.world().replace(
        name="moor", wall_height_m=3.0, doors=(door,), halls=(hall,), materials=made, material_names=("brick",)
    )
    state = WorldState(world)
    state.edit(3, 3, np.array([[WALL]], np.uint8))
    state.ground.apply(crater(state.ground, (0.0, 0.0), 1.0, 2.0))
    now = state.world
    for field in dataclasses.fields(World):
        if field.name not in ("grid", "ground", "materials", "version"):
            assert getattr(now, field.name) == getattr(world, field.name), field.name
    np.testing.assert_array_equal(now.materials, made)
    assert (now.grid.resolution, now.grid.origin) == (world.grid.resolution, world.grid.origin)
    for field in dataclasses.fields(Ground):
        if field.name not in ("altitude", "version"):
            assert getattr(now.ground, field.name) == getattr(ground, field.name), field.name


def test_the_first_world_is_let_go_once_it_has_been_edited():
    world = World.empty(4, 4, resolution_m=1.0)
    state, kept = WorldState(world), weakref.ref(world)
    del world
    state.edit(1, 1, np.array([[WALL]], np.uint8))
    gc.collect()
    assert kept() is None
