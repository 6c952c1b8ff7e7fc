import numpy as np
import pytest
from scipy import ndimage
from tests.references.controllers import coarse_reference

from covey.controllers.coverage.tiles import EAST, OPEN, SOLID, SOUTH, UNSEEN, beside, coarse, tile_of
from covey.geometry import Grid


def test_tiles_lie_on_whole_multiples_whatever_the_origin_of_the_map():
    cells = np.zeros((8, 8), np.int8)
    tiles = coarse(Grid(cells, 0.25, (-0.75, 0.5, 0.0)), np.ones((8, 8), bool), 1.0)
    assert tiles.first == (0, -1)
    assert tiles.state.tolist() == [[OPEN] * 3] * 3
    assert np.hypot(*(np.array(tiles.place((1, 0))) - (0.5, 1.5))) < 0.2  # a cell at the centre of the tile
    assert tile_of(-0.1, 2.3, 1.0) == (2, -1)
    assert tiles.at((7, 7)) == SOLID


def test_a_tile_is_open_where_the_robot_can_stand_and_that_is_where_it_stands():
    cells = np.zeros((4, 12), np.int8)
    cells[:, 4:8] = 100
    cells[0, 4] = 0  # free, but the robot does not get there
    cells[:, 8:] = -1
    reachable = cells != 100
    reachable[0, 4] = False
    reachable[:, 0:3] = False
    tiles = coarse(Grid(cells, 0.25), reachable, 1.0)
    assert tiles.state.tolist() == [[OPEN, SOLID, UNSEEN]]
    assert tiles.place((0, 0))[0] == 0.875
    assert tiles.open().tolist() == [[0, 0]]


def test_directions():
    assert beside((0, 0), EAST) == (0, 1)
    assert beside((0, 0), EAST - 1) == beside((0, 0), SOUTH) == (-1, 0)


def test_a_tile_along_a_wall_is_open_when_the_body_reaches_over_it_from_beside():
    # The wall is in the south. Cells of 0.25 m, tiles of 0.5 m; the robot, of radius 0.3 m, stands from row 3 on.
    cells = np.zeros((8, 8), np.int8)
    cells[0] = 100
    standing = np.zeros((8, 8), bool)
    standing[2:7, 1:7] = True
    grid = Grid(cells, 0.25)
    assert coarse(grid, standing, 0.5).at((0, 1)) == SOLID
    tiles = coarse(grid, standing, 0.5, 0.3)
    assert tiles.at((0, 1)) == OPEN
    assert tiles.place((0, 1)) == (0.75, 0.625)  # on the centre line, over the cells of row 1
    assert tiles.at((0, 3)) == OPEN
    assert tiles.place((0, 3)) == (1.625, 0.625)  # at the end of the lane, where there is no room on it


def test_a_robot_stands_at_the_centre_of_a_tile_where_there_is_room_all_around():
    tiles = coarse(Grid(np.zeros((8, 8), np.int8), 0.25), np.ones((8, 8), bool), 0.5)
    assert tiles.place((1, 2)) == (1.25, 0.75)


@pytest.mark.parametrize("seed", range(20))
def test_the_kernel_gives_what_its_reference_gives(seed):
    rng = np.random.default_rng(seed)
    shape, resolution = rng.integers(1, 60, 2), rng.choice([0.05, 0.25, 1.0])
    noise, hidden = (ndimage.gaussian_filter(rng.normal(size=shape), s) for s in (1, 3))
    cells = np.where(noise > np.quantile(noise, 0.8), 100, 0).astype(np.int8)
    cells[hidden > np.quantile(hidden, 0.7)] = -1
    reachable = (cells != 100) & (rng.random(shape) < rng.choice([0.3, 0.9, 1.0]))
    grid = Grid(cells, resolution, (rng.choice([0.0, -0.75, 3.3]), rng.choice([0.0, 0.5, -2.2]), 0.0))
    tile_m = resolution * rng.choice([1.0, 1.5, 2.0, 2.14, 7.3])
    tiles, wanted = (f(grid, reachable, tile_m, 0.6 * tile_m) for f in (coarse, coarse_reference))
    assert tiles.first == wanted.first
    np.testing.assert_array_equal(tiles.state, wanted.state)
    np.testing.assert_array_equal(tiles.stand, wanted.stand)
