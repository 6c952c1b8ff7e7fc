"""What of a ground can be explored: against plain rays, behind banks of earth, and with walls."""

import math

import numpy as np
import pytest
from tests.references.geometry import cast_reference

import covey
from covey.world.editing.ground_edits import bank
from covey.world.generators.grounds import hills
from covey.world.ground import Ground
from covey.world.visibility.explorable_ground import GroundCells, explorable_ground, reachable_ground

VIEW = (4.0, 0.2, math.radians(30), math.radians(-30), 0.4)


def explorable(world, starts, views=(VIEW,)):
    cells = GroundCells(world)
    n = len(starts)
    return explorable_ground(world, cells, starts, np.full(n, 0.2), [*views][:n], cached=False)


def test_what_can_be_seen_agrees_with_plain_rays_from_all_that_can_be_reached():
    ground = hills(size_m=(13.0, 12.0), height_m=1.5, wavelength_m=8.0, roughness=0.3, seed=2)
    world = ground.world()
    starts = np.array([[0.0, 0.0, 0.0]])
    reached = reachable_ground(world, starts[:, :2], 0.2, 0.4)
    assert 5 < reached.sum() < 0.8 * reached.size
    vertices = ground.vertices()
    expected = np.zeros(reached.shape, bool)
    for i, j in np.ndindex(expected.shape):
        for a, b in np.argwhere(reached):
            eye = vertices[a, b] + (0, 0, 0.2)
            way = vertices[i, j] - eye
            length = np.linalg.norm(way)
            if length <= 4.0 and abs(way[2]) <= math.sin(math.radians(30)) * length:
                hit = cast_reference(ground.altitude, ground.frame, eye, way / length, length - 1e-6)
                expected[i, j] |= hit == math.inf
    np.testing.assert_array_equal(explorable(world, starts), expected & world.free)
    assert 0.1 < expected.mean() < 0.95


def test_what_lies_behind_a_bank_of_earth_cannot_be_explored_on_wheels_but_from_the_air():
    level = Ground.of(np.zeros((41, 41)), 1.0)
    ground = level.edited(bank(level, (3.0, -20.0), (3.0, 20.0), 2.0, 3.0))
    world = ground.world()
    got = explorable(world, [[-5.0, 0.0]])
    assert got[1:-1, 1:22].all()
    assert not got[:, 25:].any()
    flying = (15.0, 8.0, math.radians(-45), math.radians(-90), math.inf)
    np.testing.assert_array_equal(explorable(world, [[-5.0, 0.0]], [flying]), world.free)
    np.testing.assert_array_equal(explorable(world, [[-5.0, 0.0], [10.0, 0.0]], [VIEW, VIEW])[1:-1, 26:-1], True)


def test_with_walls_cells_lie_around_vertices_and_bodies_keep_off_the_walls():
    walls = covey.World.empty(10.0, 10.0, resolution_m=0.25)
    cells = walls.grid.cells.copy()
    middle = cells.shape[0] // 2
    cells[middle - 1 : middle + 1, :-4] = 1  # leaves a gap of less than a metre in the east
    walls = walls.replace(grid=walls.grid.with_cells(cells))
    ground = Ground.of(np.zeros((23, 23)), 0.5)
    world = ground.world(walls)
    around = GroundCells(world)
    which, found = around.at(np.array([[0.0, 1.0], [100.0, 0.0], [0.05, 0.95]]))
    centres = world.grid.to_world(np.column_stack(np.divmod(found, world.grid.shape[1])))
    assert np.bincount(which, minlength=3).tolist() == [4, 0, 4]
    assert (np.abs(centres - (0.0, 1.0)) <= 0.25).all()
    small = reachable_ground(world, np.array([[0.0, -3.0]]), 0.1, 0.2)
    large = reachable_ground(world, np.array([[0.0, -3.0]]), 0.6, 0.2)
    assert small[18, 11]
    assert not large[18, 11]
    assert large[5, 11]


@pytest.mark.parametrize("start", [[100.0, 0.0], [0.0, 0.0]])
def test_a_start_off_the_ground_or_in_the_steep_reaches_nothing_more(start):
    ground = Ground.of(np.arange(25.0).reshape(5, 5), 1.0)
    world = ground.world()
    reached = reachable_ground(world, np.array([start]), 0.2, 0.4)
    assert reached.sum() == (start == [0.0, 0.0])
