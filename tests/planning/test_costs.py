import numpy as np
import pytest
from tests.references.planning import clearance_reference, traversal_cost_reference

from covey.planning.costs import clearance, refresh_cost, soften, traversal_cost


def random_map(seed, shape=(60, 80), occupied=0.02):
    draw = np.random.default_rng(seed)
    cells = np.where(draw.random(shape) < 0.2, -1, 0).astype(np.int8)
    cells[draw.random(shape) < occupied] = 100
    cells[20, 10:60] = 100
    return cells


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("resolution", "cap"), [(0.05, 1.0), (0.1, 0.8), (0.2, 2.0)])
def test_clearance_is_the_exact_distance_transform_of_scipy(seed, resolution, cap):
    cells = random_map(seed)
    assert clearance(cells, resolution, cap) == pytest.approx(clearance_reference(cells, resolution, cap), abs=1e-6)


def test_clearance_of_a_map_without_walls_is_the_cap():
    assert (clearance(np.zeros((5, 9), np.int8), 0.1, 0.7) == np.float32(0.7)).all()


def test_clearance_counts_from_the_near_side_of_the_wall_cell():
    cells = np.zeros((1, 6), np.int8)
    cells[0, 0] = 100
    assert clearance(cells, 0.2, 5.0)[0] == pytest.approx([0.0, 0.1, 0.3, 0.5, 0.7, 0.9])


@pytest.mark.parametrize("unknown", [1.3, np.inf])
def test_traversal_cost_agrees_with_numpy(unknown):
    cells = random_map(3)
    near = clearance(cells, 0.1, 1.0)
    arguments = (cells, near, 0.2, 0.7, 6.0, unknown)
    assert traversal_cost(*arguments) == pytest.approx(traversal_cost_reference(*arguments), rel=1e-5)


def test_a_robot_that_stands_too_close_to_a_wall_finds_a_way_out_but_not_through_the_wall():
    cells = np.zeros((9, 9), np.int8)
    cells[:, 0] = 100
    cost = traversal_cost(cells, clearance(cells, 0.1, 1.0), 0.25, 0.6, 6.0, 1.0)
    assert np.isinf(cost[4, 1])
    soften(cost, cells, 4, 1, 3)
    assert cost[4, 1] == 50.0
    assert np.isinf(cost[:, 0]).all()


@pytest.mark.parametrize("shape", [(60, 80), (70, 64), (31, 97), (300, 420)])
@pytest.mark.parametrize("unknown", [1.3, np.inf])
def test_costs_brought_up_to_date_are_those_of_the_whole_map(shape, unknown):
    draw = np.random.default_rng(5)
    lethal, comfort, cap, weight = 0.2, 0.7, 1.0, 6.0

    def cost_of(cells):
        return traversal_cost_reference(cells, clearance_reference(cells, 0.1, cap), lethal, comfort, weight, unknown)

    cells = random_map(1, shape)
    held, cost = cells.copy(), cost_of(cells)
    for k in range(12):  # some cells anywhere, pieces of wall, or nothing
        for r, c in draw.integers(0, shape, size=(k % 4 + 20 * (k == 11), 2)):
            cells[r : r + draw.integers(1, 6), c : c + draw.integers(1, 20)] = draw.choice([-1, 0, 100])
        refresh_cost(cost, held, cells, 0.1, lethal, comfort, cap, weight, unknown)
        assert (held == cells).all()
        np.testing.assert_allclose(cost, cost_of(cells), rtol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_softened_are_the_lethal_cells_around_that_are_not_occupied(seed):
    draw = np.random.default_rng(seed)
    for _ in range(20):
        cells = draw.choice([-1, 0, 100], (15, 21)).astype(np.int8)
        cost = np.where((cells == 100) | (draw.random(cells.shape) < 0.4), np.inf, 3.0).astype(np.float32)
        (row, column), radius = draw.integers(-2, (17, 23)), int(draw.integers(0, 6))
        near = np.hypot(*(np.indices(cells.shape) - [[[row]], [[column]]])) <= radius
        expected = np.where(near & np.isinf(cost) & (cells <= 50), 50.0, cost)
        soften(cost, cells, row, column, radius)
        np.testing.assert_array_equal(cost, expected)
