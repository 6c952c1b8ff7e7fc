"""Edited worlds: after any edits everything is as if it had been computed anew, and nobody else's world changed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.raycast import cast_ray, skip_field
from covey.world.clearance import clearance
from covey.world.state import WorldState
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, World


def random_world(seed, rows, columns, fill):
    random = np.random.default_rng(seed)
    cells = np.where(random.random((rows, columns)) < fill, WALL, FREE).astype(np.uint8)
    return World(Grid(cells, 0.1, (-2.0, 1.0, 0.3))), random


def assert_as_new(world):
    solid = (world.grid.cells == WALL) | (world.grid.cells == UNKNOWN)
    assert np.array_equal(world.solid, solid)
    assert np.array_equal(world.free, world.grid.cells == FREE)
    assert np.array_equal(world.skip, skip_field(solid))
    assert np.array_equal(world.clearance, clearance(solid, world.grid.resolution))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 70), st.integers(1, 70), st.sampled_from([0.0, 0.01, 0.2, 0.7]), st.data())
def test_any_edits_leave_the_fields_that_a_new_world_would_have(seed, rows, columns, fill, data):
    world, random = random_world(seed, rows, columns, fill)
    world = WorldState(world)
    world.clearance  # noqa: B018
    for _ in range(data.draw(st.integers(1, 5))):
        row, column = int(random.integers(rows)), int(random.integers(columns))
        h, w = int(random.integers(1, rows - row + 1)), int(random.integers(1, columns - column + 1))
        kind = random.integers(3)
        cells = random.integers(0, OPEN + 1, (h, w)) if kind == 2 else np.full((h, w), (FREE, WALL)[kind])
        world.edit(row, column, cells.astype(np.uint8))
        assert np.array_equal(world.skip, skip_field(world.solid))
        if random.random() < 0.5:
            assert_as_new(world)
    assert_as_new(world)


@pytest.mark.parametrize("place", [(300, 300), (0, 0), (599, 599), (10, 590)])
def test_a_pillar_in_a_great_hall_is_seen_as_far_as_the_skip_field_counts(place):
    hall = World(Grid(np.zeros((600, 600), np.uint8), 0.1))
    pillar = hall.edited(*place, [[WALL]])
    assert_as_new(pillar)
    assert_as_new(pillar.edited(*place, [[FREE]]))


def test_an_edit_is_a_new_version_and_the_old_world_stays():
    old = World.empty(4, 4, resolution_m=0.1)
    before = old.grid.cells.copy(), old.skip.copy(), old.clearance.copy(), old.free_area_m2
    new = old.edited(10, 10, np.full((20, 2), WALL)).edited(12, 10, np.full((2, 2), FREE))
    assert (old.version, new.version) == (0, 2)
    assert np.array_equal(old.grid.cells, before[0])
    assert np.array_equal(old.skip, before[1])
    assert np.array_equal(old.clearance, before[2])
    assert old.free_area_m2 == before[3] == pytest.approx(new.free_area_m2 + 0.36)


def test_a_ray_meets_the_new_wall():
    old = World.empty(10, 10, resolution_m=0.1)
    row, column = old.grid.to_cells((2.05, 0.0))
    new = old.edited(int(row), int(column), [[WALL]])
    frame = old.grid.frame
    assert cast_ray(old.skip, frame, 0.0, 0.03, 0.0, 20.0) == pytest.approx(5.0)
    assert cast_ray(new.skip, frame, 0.0, 0.03, 0.0, 20.0) == pytest.approx(2.0)


def test_materials_of_the_new_cells():
    world = World.empty(2, 2, resolution_m=0.5)
    made = world.replace(materials=np.zeros(world.grid.shape, np.uint8), material_names=("brick", "wood"))
    new = made.edited(2, 2, [[WALL]], [[1]])
    assert new.materials[2, 2] == 1
    assert not made.materials.any()
    with pytest.raises(InvalidValueError, match="materials"):
        made.edited(2, 2, [[WALL]], [[2]])


@pytest.mark.parametrize("at", [(-1, 0), (0, 60), (42, 0)])
def test_what_does_not_fit_is_refused(at):
    with pytest.raises(InvalidValueError, match="inside"):
        World.empty(4, 4, resolution_m=0.1).edited(*at, [[WALL, WALL]])
