"""Plans that cover: cells and lanes of the boustrophedon, walks round spanning trees, parts for several robots."""

from itertools import pairwise

import numpy as np
import pytest

from covey.planning.boustrophedon import decompose, lanes, zigzag
from covey.planning.spanning_tree import sections, small_cell, straight_runs, whole_walk


def blobs(seed, shape=(24, 30)):
    generator = np.random.default_rng(seed)
    free = np.ones(shape, bool)
    for _ in range(5):
        r, c, h, w = generator.integers((1, 1, 1, 1), (shape[0] - 6, shape[1] - 6, 6, 6))
        free[r : r + h, c : c + w] = False
    return free


@pytest.mark.parametrize("seed", range(8))
def test_every_place_is_in_exactly_one_cell_and_cells_can_be_swept(seed):
    free = blobs(seed)
    count = np.zeros(free.shape, int)
    for strip in decompose(free):
        for k, (low, high) in enumerate(zip(strip.low, strip.high, strict=True)):
            count[low : high + 1, strip.first + k] += 1
        touches = (strip.low[1:] <= strip.high[:-1]) & (strip.low[:-1] <= strip.high[1:])
        assert touches.all()  # the lane beside can be reached within the cell
    np.testing.assert_array_equal(count, free)


def test_a_pillar_makes_four_cells_as_in_the_paper():
    free = np.ones((10, 20), bool)
    free[4:6, 8:12] = False
    assert [(s.first, s.columns, int(s.low[0]), int(s.high[0])) for s in decompose(free)] == [
        (0, 8, 0, 9),
        (8, 4, 0, 3),
        (8, 4, 6, 9),
        (12, 8, 0, 9),
    ]


def test_lanes_are_never_wider_apart_than_the_tool_and_reach_both_ends():
    for columns in range(1, 40):
        at = [c for c, _, _ in lanes(decompose(np.ones((3, columns), bool))[0], 4.0)]
        assert at[0] == 0
        assert at[-1] == columns - 1
        assert max(np.diff(at), default=0) <= 4


def test_a_field_can_be_begun_at_each_corner():
    rows = [(0, 0, 5), (3, 0, 5), (6, 0, 5)]
    assert [zigzag(rows, corner)[0] for corner in range(4)] == [(0, 0), (0, 6), (5, 0), (5, 6)]
    for corner in range(4):
        path = zigzag(rows, corner)
        assert len(path) == 6
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(path))  # never aslant


@pytest.mark.parametrize("seed", range(8))
def test_the_walk_round_the_tree_visits_every_small_cell_once_and_comes_home(seed):
    """Gabriely & Rimon 2001, theorem 1: STC covers every cell that can be reached exactly once."""
    free = blobs(seed, (9, 11))
    start = tuple(np.argwhere(free)[0].tolist())

    def is_free(cell):
        return 0 <= cell[0] < 9 and 0 <= cell[1] < 11 and bool(free[cell])

    walk = [small_cell(state) for state in whole_walk(is_free, (*start, 0))]
    reached, edge = {start}, [start]
    while edge:
        r, c = edge.pop()
        for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if is_free(cell) and cell not in reached:
                reached.add(cell)
                edge.append(cell)
    expected = {(2 * r + a, 2 * c + b) for r, c in reached for a in (0, 1) for b in (0, 1)}
    assert len(walk) == len(expected)
    assert set(walk) == expected
    for (a, b), (c, d) in zip(walk, walk[1:] + walk[:1], strict=True):
        assert abs(a - c) + abs(b - d) == 1


def test_the_tree_grows_counter_clockwise_from_where_the_robot_came():
    # A plus of five large cells, begun in the southern one: north, then from the middle east, north and west.
    plus = {(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)}
    walk = whole_walk(lambda cell: cell in plus, (0, 1, 0))
    order = list(dict.fromkeys((r, c) for r, c, _ in walk))
    assert order == [(0, 1), (1, 1), (1, 2), (2, 1), (1, 0)]


def test_straight_runs_end_where_the_walk_turns():
    walk = whole_walk(lambda cell: cell in {(0, 0), (0, 1), (0, 2)}, (0, 0, 0))
    runs = list(straight_runs(walk))
    assert [small_cell(run[-1]) for run in runs] == [(0, 0), (0, 5), (1, 5), (1, 0)]
    assert sum(len(run) for run in runs) == len(walk)


def test_sections_are_equal_and_together_the_whole_walk():
    parts = sections({"a": 10, "b": 11, "c": 12}, 30)
    assert sorted(k % 30 for part in parts.values() for k in part) == list(range(30))
    assert {len(part) for part in parts.values()} == {10}
    assert parts["a"][0] == 10
