import numpy as np

from covey.controllers.tiles import EAST, OPEN, SOLID, SOUTH, UNSEEN, beside, coarse, tile_of
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
    assert tiles.open() == [(0, 0)]


def test_directions():
    assert beside((0, 0), EAST) == (0, 1)
    assert beside((0, 0), EAST - 1) == beside((0, 0), SOUTH) == (-1, 0)
