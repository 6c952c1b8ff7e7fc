"""Ways over a landscape: the paper's Figure 4, and random ground against networkx and shapely."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from shapely import LineString, MultiPoint

from covey.geometry import Grid
from covey.planning.best_first import LandscapePaths, best_first, is_clear, nearest_passable, search

# De Rango, Nahavandi 2007, Figure 4: the maximum local gradient [0.1 m per m] at x = 120 … 130 (columns),
# z = 130 … 148 (rows). More than 4 cannot be driven on. The path leads from (129, 131) to (127, 146).
FIGURE_4 = """
3 5 4 6 6 3 0 0 0 0 0
4 3 5 5 6 0 0 0 0 0 0
4 4 3 3 5 3 0 0 0 0 0
5 3 4 3 3 3 1 0 0 0 0
4 3 2 2 2 2 2 2 2 0 0
2 1 1 1 2 2 2 2 2 0 0
2 2 2 2 2 1 2 2 3 3 0
3 2 2 2 2 2 3 3 3 3 3
2 2 2 2 2 2 4 6 7 7 7
3 4 4 4 4 5 5 4 7 7 7
4 4 4 4 4 4 5 4 6 8 8
2 4 4 4 4 4 6 4 5 6 8
2 3 4 4 6 6 6 6 6 5 4
3 4 4 6 6 6 6 6 4 4 3
4 5 4 5 6 6 5 4 5 4 4
4 4 5 5 5 5 5 5 4 3 3
4 4 4 5 5 5 4 3 4 3 3
4 4 4 4 4 4 4 4 3 3 3
4 4 4 4 4 4 3 4 3 3 3
"""


def graph_of(passable, cuts_corners=True):
    graph = nx.Graph()
    rows, columns = passable.shape
    for r, c in np.argwhere(passable).tolist():
        graph.add_node((r, c))
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            i, k = r + dr, c + dc
            if not (i < rows and 0 <= k < columns and passable[i, k]):
                continue
            if dr and dc and not cuts_corners and not (passable[r, k] and passable[i, c]):
                continue
            graph.add_edge((r, c), (i, k), weight=math.hypot(dr, dc))
    return graph


def length_of(points):
    return float(np.hypot(*np.diff(np.asarray(points, float), axis=0).T).sum())


def bad_points(grid):
    return MultiPoint(grid.to_world(np.argwhere(grid.cells > 50)))


def test_figure_4_is_solved_with_few_waypoints_that_stay_half_a_metre_from_what_is_too_steep():
    gradient = np.array([line.split() for line in FIGURE_4.split("\n") if line], int)
    assert gradient.shape == (19, 11)
    cells = np.where(gradient > 4, 100, 0).astype(np.int8)
    grid = Grid(cells, 1.0, (119.5, 129.5, 0.0))  # the cell of vertex (x, z) = (120, 130) has its centre there
    way = LandscapePaths(grid).plan((129.0, 131.0), (127.0, 146.0))
    assert way is not None
    assert way[0].tolist() == [129.0, 131.0]
    assert way[-1].tolist() == [127.0, 146.0]
    columns, rows = np.round(way - (120, 130)).astype(int).T
    assert (gradient[rows, columns] <= 4).all()
    assert LineString(way).distance(bad_points(grid)) >= 0.5
    # The forward pass is as short as any chain over these vertices; the waypoints are fewer and the way not longer.
    chain = best_first(cells == 0, (1, 9), (16, 7))
    shortest = nx.shortest_path_length(graph_of(cells == 0), (1, 9), (16, 7), weight="weight")
    assert length_of(chain) == pytest.approx(shortest)
    assert len(way) <= 8 < len(chain)
    assert length_of(way) <= shortest
    # There is one gap: at x = 120 … 122 the steep band (z = 142 … 146) ends, and the way goes through it.
    assert way[:, 0].min() <= 121.0


@pytest.mark.parametrize("cuts_corners", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_the_forward_pass_is_as_short_as_networkx_finds_it(seed, cuts_corners):
    passable = np.random.default_rng(seed).random((23, 31)) > 0.35
    passable[0, 0] = passable[-1, -1] = True
    lengths = nx.single_source_dijkstra_path_length(graph_of(passable, cuts_corners), (0, 0))
    come, _ = search(passable, cuts_corners, 0, 0, -1, -1)
    for cell in itertools.product(range(23), range(31)):
        assert come[cell] == pytest.approx(lengths.get(cell, np.inf))
    chain = best_first(passable, (0, 0), (22, 30), cuts_corners)
    assert len(chain) > 0 if (22, 30) in lengths else len(chain) == 0
    if len(chain):
        assert length_of(chain) == pytest.approx(lengths[22, 30])
        assert np.abs(np.diff(chain, axis=0)).max() == 1


def far_from_bad(grid, way):
    """Return the least distance of each leg from a bad vertex [m]."""
    bad = bad_points(grid)
    return [LineString(pair).distance(bad) for pair in itertools.pairwise(way)]


@pytest.mark.parametrize("spacing_m", [1.0, 0.25])
@pytest.mark.parametrize("seed", range(6))
def test_waypoints_keep_their_distance_on_any_ground_at_any_spacing(seed, spacing_m):
    draw = np.random.default_rng(seed)
    shape = (40, 40)
    cells = np.where(draw.random(shape) < (0.3 if spacing_m == 1.0 else 0.02), 100, 0).astype(np.int8)
    grid = Grid(cells, spacing_m, (-3.0, 7.0, 0.0))
    ways = LandscapePaths(grid)
    distance = ways.distances(*grid.to_world((20, 20)))
    goals = np.argwhere(np.isfinite(distance))
    assert len(goals) > 50
    start = grid.to_world(ways.vertex(*grid.to_world((20, 20)), 2.0))
    for goal in draw.choice(goals, 20):
        way = ways.plan(tuple(start), tuple(grid.to_world(goal)))
        assert way is not None
        assert way[-1] == pytest.approx(grid.to_world(goal))
        assert min(far_from_bad(grid, way), default=1.0) >= 0.5 - 1e-6
        assert length_of(way) <= distance[tuple(goal)] + 1e-6


def test_lines_do_not_pass_over_what_is_not_mapped():
    cells = np.zeros((7, 7), np.int8)
    cells[1:6, 3] = -1
    ways = LandscapePaths(Grid(cells, 1.0))
    way = ways.plan((0.5, 3.5), (6.5, 3.5))
    assert way is not None
    assert len(way) > 2
    for (x0, y0), (x1, y1) in itertools.pairwise(way):
        for t in np.linspace(0, 1, 50):
            column, row = int(x0 + t * (x1 - x0)), int(y0 + t * (y1 - y0))
            assert cells[row, column] == 0
    cells[:, 3] = -1
    assert LandscapePaths(Grid(cells, 1.0)).plan((0.5, 3.5), (6.5, 3.5)) is None


def test_a_diagonal_between_two_bad_vertices_is_as_wide_as_it_is():
    # Two bad vertices at the corners of a square, the way along its other diagonal: 0.707 m from both.
    cells = np.array([[0, 100], [100, 0]], np.int8)
    for spacing_m, is_wide_enough in ((1.0, True), (0.71, True), (0.70, False)):
        ways = LandscapePaths(Grid(cells, spacing_m))
        way = ways.plan((0.5 * spacing_m, 0.5 * spacing_m), (1.5 * spacing_m, 1.5 * spacing_m))
        assert (way is not None) is is_wide_enough


def test_a_goal_beside_a_bad_vertex_is_approached_as_near_as_the_rule_allows():
    cells = np.zeros((5, 5), np.int8)
    cells[2, 3] = 100  # at (3.5, 2.5)
    way = LandscapePaths(Grid(cells, 1.0)).plan((0.5, 2.5), (3.05, 2.5))  # 0.45 m from it
    assert way is not None
    assert way[-1].tolist() == [2.5, 2.5]
    assert LandscapePaths(Grid(cells, 1.0)).plan((0.5, 2.5), (3.5, 2.5)) is None


def test_a_robot_on_bad_ground_begins_beside_it():
    cells = np.full((5, 5), 100, np.int8)
    cells[:, 3:] = 0
    way = LandscapePaths(Grid(cells, 1.0)).plan((2.4, 2.5), (4.5, 0.5))
    assert way is not None
    assert way[0].tolist() == [2.4, 2.5]
    assert LandscapePaths(Grid(cells, 1.0)).plan((0.5, 2.5), (4.5, 0.5)) is None


@pytest.mark.parametrize("seed", range(5))
def test_clear_lines_are_those_that_shapely_finds_far_enough(seed):
    draw = np.random.default_rng(seed)
    cells = np.where(draw.random((12, 12)) < 0.1, 100, 0).astype(np.int8)
    bad = MultiPoint(np.argwhere(cells > 50))
    seen = set()
    for _ in range(300):
        a, b, reach = draw.uniform(0, 11, 2), draw.uniform(0, 11, 2), draw.uniform(0.2, 2.5)
        seen.add(expected := LineString([a, b]).distance(bad) >= reach)
        assert is_clear(cells, a, b, reach) == expected
    assert seen == {True, False}


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_passable_vertex_is_the_nearest_of_all_within_reach(seed):
    draw, none = np.random.default_rng(seed), 0
    around = np.ones((29, 34), bool)  # beyond the map all would be passable
    passable = around[8:-8, 8:-8]
    passable[:] = draw.random(passable.shape) < 0.1
    rows, columns = np.indices(passable.shape)
    for _ in range(300):
        row, column, within = *draw.uniform(-3, (16, 21)), draw.uniform(0.0, 4.0)
        away = np.where(passable, np.hypot(rows - row, columns - column), np.inf)
        expected = np.unravel_index(np.argmin(away), away.shape) if away.min() <= within else (-1, -1)
        assert nearest_passable(passable, row, column, within) == expected
        none += expected == (-1, -1)
    assert 20 < none < 280
