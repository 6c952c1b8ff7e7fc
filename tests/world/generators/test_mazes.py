import networkx
import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.generators.mazes import carve
from covey.world.world import World


def graph_of(walls):
    rows, columns = walls.shape
    graph = networkx.grid_2d_graph(rows, columns)
    graph.remove_edges_from(((r, c), (r, c + 1)) for r, c in np.argwhere(walls.east))
    graph.remove_edges_from(((r, c), (r + 1, c)) for r, c in np.argwhere(walls.north))
    return graph


@pytest.mark.parametrize("seed", range(5))
def test_a_maze_without_openings_is_a_tree(seed):
    assert networkx.is_tree(graph_of(carve(9, 6, 0.0, generator(seed, "maze"))))


def test_every_cell_opened_leaves_no_wall():
    walls = carve(9, 6, 1.0, generator(0, "maze"))
    assert not walls.east.any()
    assert not walls.north.any()


def test_opening_takes_walls_with_its_probability():
    # A wall stands when neither of its two cells is opened.
    closed, opened = (carve(80, 80, p, generator(1, "maze")) for p in (0.0, 0.3))
    standing = (opened.east.sum() + opened.north.sum()) / (closed.east.sum() + closed.north.sum())
    assert standing == pytest.approx(0.7**2, abs=0.03)


def test_the_world_is_in_one_piece_and_repeats_with_its_seed():
    first, again, other = (World.maze(size_m=(12, 8), seed=s) for s in (1, 1, 2))
    assert first.grid.size_m == pytest.approx((12.2, 8.2))
    assert len(first.components()[1]) == 1
    np.testing.assert_array_equal(first.grid.cells, again.grid.cells)
    assert (first.grid.cells != other.grid.cells).any()


@pytest.mark.parametrize(
    "options", [{"size_m": (11, 8)}, {"size_m": (2, 8)}, {"opening": 1.5}, {"wall_m": 2.0}, {"size_m": (1e5, 1e5)}]
)
def test_what_is_no_maze_is_refused(options):
    with pytest.raises(InvalidValueError):
        World.maze(**options)
