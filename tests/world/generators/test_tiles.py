import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.generators.tiles import enlarge, in_tiles, world_of_tiles


def marching_squares(tiles, along):
    """Walls by marching squares over the tile centres, one point after the other; beyond the tiles all is wall."""
    rows, columns = tiles.shape
    wall = np.zeros((rows * along, columns * along), bool)
    for r, c in np.ndindex(wall.shape):
        y, x = (r + 0.5) / along - 0.5, (c + 0.5) / along - 0.5
        r0, c0 = int(np.floor(y)), int(np.floor(x))
        v, u = y - r0, x - c0
        value = {}
        for i in (0, 1):
            for j in (0, 1):
                inside = 0 <= r0 + i < rows and 0 <= c0 + j < columns
                value[i, j] = not (inside and tiles[r0 + i, c0 + j])
        near = (int(v >= 0.5), int(u >= 0.5))
        count = sum(value.values())
        to_corner = abs(v - near[0]) + abs(u - near[1])
        if to_corner < 0.5 - 1e-9 or count in (0, 4) or (count == 2 and value[0, 0] != value[1, 1]):
            wall[r, c] = value[near]
        else:
            wall[r, c] = count > 1  # between the corners: only a single wall stays by itself
    return wall


@pytest.mark.parametrize("along", [1, 2, 3, 4, 5])
def test_rounded_corners_are_those_of_marching_squares(along):
    tiles = np.pad(generator(along, "test").random((12, 9)) < 0.6, 1)
    world = world_of_tiles(tiles, 1.0, 1 / along, "test", rounded=True)
    np.testing.assert_array_equal(world.solid, marching_squares(tiles, along))


def test_without_them_a_tile_is_a_square_of_cells():
    tiles = np.array([[False, False, False], [False, True, False], [False, False, False]])
    world = world_of_tiles(tiles, 0.5, 0.25, "test")
    np.testing.assert_array_equal(world.free, enlarge(tiles, 2))
    assert world.grid.extent == pytest.approx((-0.75, 0.75, -0.75, 0.75))


@pytest.mark.parametrize(
    ("value_m", "tile_m", "count"), [(3.0, 1.0, 3), (1.2, 0.1, 12), (0.3, 0.1, 3), (50, 1 / 3, 150)]
)
def test_lengths_in_tiles(value_m, tile_m, count):
    assert in_tiles(value_m, tile_m, "size_m") == count


@pytest.mark.parametrize("value_m", [0.05, 0.0, -1.0, float("nan"), float("inf"), 1.25])
def test_what_is_no_number_of_tiles_is_refused(value_m):
    with pytest.raises(InvalidValueError, match="wall_m is"):
        in_tiles(value_m, 0.1, "wall_m")
