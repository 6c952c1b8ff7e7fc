import math

import numpy as np

from covey.planning.rooms import Wall, cast, find_doorways, find_walls


def grid(drawing: str) -> np.ndarray:
    """Return the map of a drawing, the north on top."""
    return np.array([[{"?": -1, ".": 0, "#": 100}[c] for c in row] for row in drawing.split()[::-1]], np.int8)


ROOM = grid("""
    ?????????
    ####..###
    #.......#
    #.......#
    #.......?
    #########
""")


def test_walls_are_runs_with_a_free_side():
    walls = find_walls(ROOM, 2)
    assert Wall((0, 1), (0, 7), 1) in walls  # the south wall; its corners touch nothing free
    assert Wall((1, 0), (3, 0), 0) in walls
    assert Wall((2, 8), (3, 8), 2) in walls
    assert Wall((4, 1), (4, 3), 3) in walls
    assert len(walls) == 5 + 1 - 1  # and the piece (4, 6) … (4, 7)
    assert all(w.free != 1 or w.start[0] == 0 for w in walls)


def test_an_opening_between_two_walls_is_a_doorway_seen_from_inside():
    (door,) = find_doorways(ROOM, find_walls(ROOM, 2), (2.0, 4.0), 2, 3)
    assert door == ((4.0, 4.5), 2, 1)
    assert find_doorways(ROOM, find_walls(ROOM, 2), (2.0, 4.0), 3, 4) == []


def test_rays_end_at_the_first_cell_that_is_not_free():
    ends, state = cast(ROOM, 2, 2, np.array([0.0, math.pi, -math.pi / 2]), 20)
    assert ends.tolist() == [[2, 8], [2, 0], [0, 2]]
    assert state.tolist() == [100, 100, 100]
    ends, state = cast(ROOM, 1, 4, np.array([0.0, math.pi / 2]), 20)
    assert ends.tolist() == [[1, 8], [5, 4]]
    assert state.tolist() == [-1, -1]
    ends, state = cast(ROOM, 1, 4, np.array([0.0]), 2)
    assert (ends.tolist(), state.tolist()) == ([[1, 6]], [0])
