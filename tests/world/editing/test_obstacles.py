"""Cells under things, and places on a path."""

import math

import numpy as np
import pytest
import shapely

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.world.editing.obstacles import Patch, Way, disc_patch, rectangle_patch, shape_patch
from covey.world.editing.shapes import rasterize


def painted(patch, shape):
    cells = np.zeros(shape, bool)
    part = patch.clipped(shape)
    if part is not None:
        h, w = part.mask.shape
        cells[part.row : part.row + h, part.column : part.column + w] = part.mask
    return cells


def test_a_disc_fills_the_cells_whose_centres_it_holds():
    v, u = np.mgrid[:20, :30] + 0.5
    inside = np.hypot(v - 7.3, u - 25.1) <= 5.2
    assert np.array_equal(painted(disc_patch(7.3, 25.1, 5.2, (20, 30)), (20, 30)), inside)


def test_a_rectangle_turns_with_its_heading():
    v, u = np.mgrid[:40, :40] + 0.5
    heading = 0.7
    along = (u - 20.2) * math.cos(heading) + (v - 19.6) * math.sin(heading)
    across = (v - 19.6) * math.cos(heading) - (u - 20.2) * math.sin(heading)
    inside = (np.abs(along) <= 9.0) & (np.abs(across) <= 3.0)
    assert np.array_equal(painted(rectangle_patch(19.6, 20.2, 18.0, 6.0, heading, (40, 40)), (40, 40)), inside)


def test_a_shape_fills_the_same_cells_in_its_window_as_in_the_whole_grid():
    grid = Grid(np.zeros((60, 80), np.uint8), 0.1, (-3.0, 1.0, 0.0))
    for shape in (
        shapely.box(-1.0, 2.0, 0.5, 3.3),
        shapely.LineString([(-2, 2), (3, 6)]).buffer(0.04),
        shapely.box(-9, -9, -2.5, 2),
    ):
        patch = shape_patch(grid, shape)
        assert np.array_equal(painted(patch, grid.shape), rasterize(grid, shape))


def test_a_turned_grid_is_filled_where_the_shape_is():
    grid = Grid(np.zeros((60, 80), np.uint8), 0.1, (2.0, 1.0, 0.5))
    shape = shapely.Point(*grid.to_world((30, 40))).buffer(1.0)
    cells = np.argwhere(painted(shape_patch(grid, shape), grid.shape))
    centres = grid.to_world(cells)
    assert np.hypot(*(centres - grid.to_world((30, 40))).T).max() <= 1.0
    assert len(cells) == pytest.approx(math.pi / 0.01, rel=0.05)


def test_nothing_is_filled_outside():
    assert shape_patch(Grid(np.zeros((5, 5), np.uint8), 0.1), shapely.box(3, 3, 4, 4)) is None
    assert Patch(7, 0, np.ones((2, 2), bool)).clipped((5, 5)) is None


@pytest.mark.parametrize(
    ("repeat", "distance", "place"),
    [
        ("once", 3.0, (3.0, 0.0, 0.0)),
        ("once", 6.0, (4.0, 2.0, math.pi / 2)),
        ("once", 99.0, (4.0, 3.0, math.pi / 2)),
        ("back_and_forth", 8.0, (4.0, 2.0, -math.pi / 2)),
        ("back_and_forth", 15.0, (1.0, 0.0, 0.0)),
        ("loop", 9.5, (2.0, 1.5, math.atan2(-3, -4))),
        ("loop", 13.0, (1.0, 0.0, 0.0)),
    ],
)
def test_places_on_a_way_of_4_and_3_metres(repeat, distance, place):
    assert Way([(0, 0), (4, 0), (4, 3)], repeat).place(distance) == pytest.approx(place)


def test_a_way_of_one_point_stands_still_and_one_of_none_is_refused():
    assert Way([(1, 2)]).place(7.0) == (1.0, 2.0, 0.0)
    with pytest.raises(InvalidValueError, match="at least one point"):
        Way([])
