"""The widest way through a map."""

import numpy as np
import pytest

from covey.planning.widest import CAP_M, widest_ways


def room(*gaps):
    """A room of 30 x 40 cells with a wall across it, which has gaps: first row and width."""
    cells = np.zeros((30, 40), np.int8)
    cells[:, 20] = 100
    for first, width in gaps:
        cells[first : first + width, 20] = 0
    return cells


@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
@pytest.mark.parametrize("width", [0, 1, 2, 5, 8])
def test_a_gap_is_as_wide_as_its_cells(width, turned):
    cells, start, goal = room((10, width)), (15, 4), np.array([[25, 36]])
    if turned:
        cells, start, goal = np.ascontiguousarray(cells.T), start[::-1], goal[:, ::-1]
    assert widest_ways(cells, 0.1, start, goal, 0.2) == pytest.approx([0.1 * width])


def test_the_widest_of_several_ways_counts_and_its_narrowest_gap():
    cells = room((2, 3), (20, 6))
    cells[:, 30] = 100
    cells[12:17, 30] = 0
    goals = np.array([[15, 25], [15, 36]])
    assert widest_ways(cells, 0.1, (15, 4), goals, 0.2) == pytest.approx([0.6, 0.5])


def test_without_walls_all_ways_are_wide_and_places_by_a_wall_are_no_narrower():
    assert widest_ways(np.full((9, 9), -1, np.int8), 0.1, (1, 1), np.array([[7, 7]]), 0.1).tolist() == [CAP_M]
    assert widest_ways(room((10, 6)), 0.1, (3, 18), np.array([[26, 21]]), 0.5) == pytest.approx([0.6])
