"""Dijkstra and A* against networkx on random grids, and what a path is made of."""

import itertools
import math
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest

from covey.planning.astar import astar
from covey.planning.dijkstra import cheapest, costs_ahead, costs_to, dijkstra, trace
from covey.planning.shorten import line_cost, shorten


def random_costs(seed, shape=(17, 23)):
    draw = np.random.default_rng(seed)
    cost = (1.0 + 20.0 * draw.random(shape) ** 4).astype(np.float32)
    cost[draw.random(shape) < 0.25] = np.inf
    cost[0, 0] = cost[-1, -1] = 1.0
    return cost


def graph_of(cost):
    """Return the same moves as a graph: 8-connected, diagonal only between two passable neighbours."""
    graph = nx.Graph()
    rows, columns = cost.shape
    graph.add_node((0, 0))
    for r in range(rows):
        for c in range(columns):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                i, k = r + dr, c + dc
                if not (i < rows and 0 <= k < columns) or np.isinf(cost[[r, i], [c, k]]).any():
                    continue
                if dr and dc and np.isinf([cost[r, k], cost[i, c]]).any():
                    continue
                weight = math.hypot(dr, dc) * 0.5 * (float(cost[r, c]) + float(cost[i, k]))
                graph.add_edge((r, c), (i, k), weight=weight)
    return graph


@pytest.mark.parametrize("seed", range(12))
def test_dijkstra_has_the_cost_to_come_of_networkx_everywhere(seed):
    cost = random_costs(seed)
    expected = np.full(cost.shape, np.inf)
    for cell, length in nx.single_source_dijkstra_path_length(graph_of(cost), (0, 0)).items():
        expected[cell] = length
    assert dijkstra(cost, (0, 0)).cost == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("source", [(0, 0), (16, 3), (8, 22)])
def test_the_costs_to_some_cells_are_those_of_a_search_for_all_to_the_bit(seed, source):
    cost = random_costs(seed)
    cost[8, 22] = np.inf  # a search may begin where nothing passes
    everything = dijkstra(cost, source).cost
    draw = np.random.default_rng(seed)
    for count in (0, 1, 5, 40):
        cells = np.argwhere(draw.permutation(cost.size).reshape(cost.shape) < count)
        cells = np.vstack((cells, [source]))[: count + 1 - count % 2]  # the source itself may be among them
        assert costs_to(cost, source, cells)[0].tolist() == everything[cells[:, 0], cells[:, 1]].tolist()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("flat", [True, False])
def test_who_knows_what_lies_ahead_finds_the_same_costs_to_the_bit(seed, flat):
    cost = random_costs(seed, (61, 67))
    if flat:  # a thousand ways that cost the same but for rounding
        cost[np.isfinite(cost)] = 1.0
    draw = np.random.default_rng(seed)
    sources, cells = draw.integers(0, 61, (5, 2)), draw.integers(0, 61, (7, 2))
    easier = np.where(draw.random(cost.shape) < 0.01, np.float32(1.0), cost)
    ahead, _ = costs_ahead(easier, sources, cells)
    for source in sources:
        expected = dijkstra(cost, source).cost[cells[:, 0], cells[:, 1]]
        assert costs_to(cost, source, cells, ahead)[0].tolist() == expected.tolist()


def test_who_knows_what_lies_ahead_does_not_search_behind():
    cost, cells = np.ones((61, 67), np.float32), np.array([[30, 60], [33, 60]])
    ahead, _ = costs_ahead(cost, np.array([[30, 30]]), cells)
    assert 0 < costs_to(cost, (30, 30), cells, ahead)[1] < 500 < costs_to(cost, (30, 30), cells)[1]


def test_a_search_for_some_cells_ends_when_it_has_come_to_them():
    cost = np.ones((60, 60), np.float32)
    cost[:, 40] = np.inf
    assert 0 < costs_to(cost, (30, 30), np.array([[30, 33], [28, 30], [30, 40]]))[1] < 100


@pytest.mark.parametrize("seed", range(12))
def test_astar_finds_the_shortest_path_of_networkx(seed):
    cost = random_costs(seed)
    graph, target = graph_of(cost), (cost.shape[0] - 1, cost.shape[1] - 1)
    path, length, _ = astar(cost, (0, 0), target)
    if target not in graph or not nx.has_path(graph, (0, 0), target):
        assert len(path) == 0
        assert length == math.inf
        return
    assert length == pytest.approx(nx.shortest_path_length(graph, (0, 0), target, "weight"), rel=1e-4)
    steps = [tuple(cell) for cell in path.tolist()]
    assert steps[0] == (0, 0)
    assert steps[-1] == target
    assert sum(graph.edges[a, b]["weight"] for a, b in itertools.pairwise(steps)) == pytest.approx(length, rel=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_search_stops_at_the_cheapest_cell_of_a_mask(seed):
    cost = random_costs(seed)
    mask = np.random.default_rng(seed + 100).random(cost.shape) < 0.05
    mask[0, 0] = False
    come = dijkstra(cost, (0, 0)).cost
    field = dijkstra(cost, (0, 0), mask)
    reachable = mask & np.isfinite(come)
    if not reachable.any():
        assert field.hit == (-1, -1)
    else:
        assert field.cost[field.hit] == pytest.approx(come[reachable].min(), rel=1e-6)
        assert tuple(trace(field.parent, *field.hit)[0]) == (0, 0)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("share", [0.003, 0.02, 0.3])
def test_the_cheapest_of_some_cells_is_where_a_search_for_them_stops(seed, share):
    cost = random_costs(seed, (37, 43))
    mask = np.random.default_rng(seed + 100).random(cost.shape) < share
    assert cheapest(cost, (0, 0), np.argwhere(mask))[0] == dijkstra(cost, (0, 0), mask).hit


def test_of_cells_that_cost_the_same_a_search_takes_the_same_with_and_without_knowing_where_they_are():
    cost = np.ones((41, 41), np.float32)
    for reach in range(1, 20):
        cells = 20 + reach * np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
        mask = np.zeros(cost.shape, bool)
        mask[tuple(cells.T)] = True
        assert cheapest(cost, (20, 20), cells)[0] == dijkstra(cost, (20, 20), mask).hit


def test_a_diagonal_between_two_walls_is_closed():
    cost = np.array([[1, np.inf], [np.inf, 1]], np.float32)
    assert dijkstra(cost, (0, 0)).cost[1, 1] == np.inf
    assert len(astar(cost, (0, 0), (1, 1)).cells) == 0


def test_shortening_leaves_two_corners_in_the_open_and_one_more_around_an_obstacle():
    cost = np.ones((40, 60), np.float32)
    path, length, _ = astar(cost, (2, 3), (31, 55))
    assert shorten(path, cost, 0.01).tolist() == [[2, 3], [31, 55]]
    assert line_cost(cost, 2, 3, 31, 55) == pytest.approx(math.hypot(29, 52))
    assert math.hypot(29, 52) < length
    cost[:30, 30] = np.inf
    path = astar(cost, (5, 5), (5, 55)).cells
    kept = shorten(path, cost, 0.01)
    assert 3 <= len(kept) <= 5
    for a, b in itertools.pairwise(kept):
        assert math.isfinite(line_cost(cost, *a, *b))


def test_shortening_does_not_trade_clearance_for_length():
    cost = np.ones((21, 41), np.float32)
    cost[9:12, 5:36] = 20.0  # expensive ground between start and goal
    path, length, _ = astar(cost, (10, 0), (10, 40))
    kept = shorten(path, cost, 0.01)
    total = sum(line_cost(cost, *a, *b) for a, b in itertools.pairwise(kept))
    assert total <= 1.01 * length
    assert np.abs(kept[:, 0] - 10).max() >= 2


def test_searches_count_what_they_put_in_their_queues():
    cost, cell = np.ones((30, 40), np.float32), np.array([[15, 25]])
    assert dijkstra(cost, (15, 20)).work >= cost.size  # every cell at least once
    assert 0 < astar(cost, (15, 20), (15, 25)).work < 0.2 * cost.size
    assert 0 < cheapest(cost, (15, 20), cell)[1] < 0.2 * cost.size


def test_all_searches_of_a_thread_use_the_same_memory():
    cost, far = np.ones((500, 500), np.float32), np.array([[499, 499]])
    tracemalloc.start()
    with ThreadPoolExecutor(1) as pool:  # which has no arrays from before
        total = pool.submit(lambda: (dijkstra(cost, (0, 0)), cheapest(cost, (0, 0), far))).result()[1][0]
        peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == (499, 499)
    assert peak < 1.4 * 8 * 12 * cost.size  # room for 8 entries of 12 bytes a cell, once, and less than half of it more


@pytest.mark.parametrize("seed", range(6))
def test_a_line_costs_its_length_times_the_mean_of_the_cells_below_it_and_corners_are_left_out_only_if_that_is_no_dearer(
    seed,
):
    draw, cost = np.random.default_rng(seed), random_costs(seed, (37, 43))

    def by_hand(a, b):
        a, b = np.asarray(a), np.asarray(b)
        count = 3 * int(np.abs(b - a).max()) + 1
        under = np.floor(a + (np.arange(count)[:, None] + 0.5) / count * (b - a) + 0.5).astype(int)
        return math.dist(a, b) * float(cost[tuple(under.T)].astype(float).mean())

    for _ in range(200):
        a, b = draw.integers(0, (37, 43), (2, 2))
        assert line_cost(cost, *a, *b) == pytest.approx(by_hand(a, b))
    reachable = np.argwhere(np.isfinite(dijkstra(cost, (0, 0)).cost))
    for target in draw.choice(reachable, 10):
        path = astar(cost, (0, 0), tuple(target)).cells
        kept, steps = shorten(path, cost, 0.02).tolist(), path.tolist()
        places = [steps.index(cell) for cell in kept]
        assert places == sorted(set(places))
        assert (kept[0], kept[-1]) == ([0, 0], target.tolist())
        for first, last in itertools.pairwise(places):
            along = sum(by_hand(a, b) for a, b in itertools.pairwise(steps[first : last + 1]))
            assert by_hand(steps[first], steps[last]) <= 1.02 * along + 1e-6
