import math

import numpy as np
import pytest
import shapely
from scipy import ndimage

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.world.editing.shapes import rasterize, wall
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, World

ROOM = [(0, 0), (10, 0), (10, 10), (0, 10)]


def grid(size=100, resolution=0.1):
    return Grid(np.zeros((size, size), np.uint8), resolution)


def test_a_shape_is_the_cells_with_their_centre_inside():
    shape = shapely.Polygon([(1.03, 1.2), (8.4, 2.1), (6.2, 5.0), (8.0, 9.1), (2.2, 7.7)], [[(4, 4), (5, 4), (5, 5)]])
    g = grid()
    centres = g.to_world(np.argwhere(np.ones(g.shape, bool)))
    expected = shapely.contains_xy(shape, centres[:, 0], centres[:, 1]).reshape(g.shape)
    filled = rasterize(g, shape)
    assert expected.sum() > 2000
    assert (filled & ~expected).sum() <= 12  # the acute corners, narrower than a cell
    assert not (expected & ~filled).any()


@pytest.mark.parametrize("cells", [1, 2, 3, 7])
def test_a_rectangle_on_the_lattice_is_exact(cells):
    filled = rasterize(grid(), shapely.box(1.0, 2.0, 1.0 + 0.1 * cells, 5.0))
    expected = np.zeros((100, 100), bool)
    expected[20:50, 10 : 10 + cells] = True
    np.testing.assert_array_equal(filled, expected)


@pytest.mark.parametrize("thickness", [0.2, 0.3, 0.4])
def test_a_wall_has_its_thickness(thickness):
    filled = rasterize(grid(), wall([(2, 5), (8, 5)], thickness))
    assert filled.sum(axis=0)[30] == round(thickness / 0.1)
    assert filled.any(axis=0).sum() == round((6 + thickness) / 0.1)


@pytest.mark.parametrize("angle", np.linspace(0, math.pi, 14, endpoint=False))
@pytest.mark.parametrize("thickness", [0.001, 0.06, 0.1, 0.13])
def test_a_thin_wall_has_no_gap(angle, thickness):
    ends = np.array((5.02, 5.01)) + 4.0 * np.outer((-1, 1), (math.cos(angle), math.sin(angle)))
    filled = rasterize(grid(), wall(ends.tolist(), thickness))
    # In one piece over edges: nothing passes, not even over a corner.
    assert ndimage.label(filled)[1] == 1
    assert filled[tuple(grid().to_cells(ends).T)].all()


def test_thin_walls_that_meet_close_the_corner():
    world = World.polygons(ROOM, walls_m=[[(3, 3), (6, 3), (6, 6)], [(6, 6), (3, 6)], [(3, 6), (3, 3)]], wall_m=0.01)
    inside = world.grid.to_cells((4.5, 4.5))
    outside = world.grid.to_cells((1, 1))
    labels, areas = world.components()
    assert len(areas) == 2
    assert labels[tuple(inside)] == 2
    assert labels[tuple(outside)] == 1


def test_a_workspace_has_the_area_of_its_polygon_and_a_closed_border():
    corners = [(0, 0), (8, 0), (8, 4), (4, 4), (4, 7), (0, 7)]  # an L: 8 x 4 + 4 x 3
    world = World.polygons(corners, resolution_m=0.1)
    assert world.free_area_m2 == pytest.approx(44)
    cells = world.grid.cells
    beyond = ndimage.binary_dilation(cells == FREE, np.ones((3, 3))) & (cells != FREE)
    assert (cells[beyond] == WALL).all()
    assert cells[-1, -1] == UNKNOWN


def test_an_obstacle_takes_its_area_away():
    triangle = [(2, 2), (6, 2), (2, 5)]
    world = World.polygons(ROOM, obstacles_m=[triangle], resolution_m=0.02)
    assert world.free_area_m2 == pytest.approx(100 - 6, abs=0.05)


def test_beyond_an_open_border_cells_are_open():
    world = World.polygons([(0, 0), (4, 0), (0, 4)], border="open", resolution_m=0.1)
    assert set(np.unique(world.grid.cells)) == {FREE, OPEN}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workspace_m": [(0, 0), (1, 0)]}, "at least 3"),
        ({"workspace_m": [(0, 0), (1, 1), (1, 0), (0, 1)]}, "Self-intersection"),
        ({"workspace_m": [(0, 0), (1, 1), (2, 2)]}, "not a simple polygon"),
        ({"workspace_m": [(0, 0), (1, math.nan), (1, 1)]}, "not finite"),
        ({"workspace_m": ROOM, "obstacles_m": [[(20, 20), (21, 20), (21, 21)]]}, "obstacle 1 lies outside"),
        ({"workspace_m": ROOM, "walls_m": [[(1, 1), (1, 1)]]}, "two different points"),
        ({"workspace_m": ROOM, "walls_m": [[(1, 1), (2, 2)]], "wall_m": 0}, "thickness"),
        ({"workspace_m": ROOM, "resolution_m": 0}, "resolution_m is 0"),
        ({"workspace_m": ROOM, "resolution_m": 1e-6}, "at most"),
        ({"workspace_m": [(0, 0), (0.01, 0), (0, 0.01)], "resolution_m": 0.5}, "no cell"),
    ],
)
def test_what_is_no_workspace_is_refused(arguments, message):
    with pytest.raises(InvalidValueError, match=message):
        World.polygons(**arguments)


@pytest.mark.parametrize("far_m", [1e13, 1e200, 1e308, math.inf])
def test_a_shape_too_large_for_numbers_is_refused(far_m):
    room = [(0, 0), (10, 0), (10, 10), (0, 10)]
    with pytest.raises(InvalidValueError, match=r"obstacle 1 has a vertex .* beyond 1e\+12 m"):
        World.polygons(room, obstacles_m=[[(0, 0), (far_m, 0), (far_m, far_m)]])
    with pytest.raises(InvalidValueError, match=r"wall 1 .* beyond 1e\+12 m"):
        World.polygons(room, walls_m=[[(0, 0), (far_m, 0)]])
