"""One cell at a time is the same cell."""

import numpy as np

from covey.geometry import Grid


def test_the_cell_of_one_point_is_that_of_many():
    grid = Grid(np.zeros((7, 9)), 0.3, (-1.2, 0.7, 0.4))
    points = np.random.default_rng(5).uniform(-3.0, 3.0, (200, 2))
    assert [grid.cell_at(x, y) for x, y in points.tolist()] == [tuple(c) for c in grid.to_cells(points).tolist()]
