"""What the way costs robots elsewhere: nearly what a full search says, and never through a wall."""

import numpy as np
import pytest
from tests.references.onboard import blocks_reference

from covey.geometry import Grid
from covey.onboard.driving import Driving
from covey.onboard.travel_cost import _blocks, travel, travel_from

NOBODY = np.empty((0, 2))
RADIUS = 0.3


def rooms(resolution, door_m):
    """Two rooms of 6 x 6 m; the wall between them is one cell thick and has a door at its northern end."""
    side = round(6.0 / resolution)
    cells = np.zeros((side, 2 * side), np.int8)
    cells[[0, -1]], cells[:, [0, -1]], cells[:, side] = 100, 100, 100
    door = round(door_m / resolution)
    cells[side - 1 - door : side - 1, side] = 0
    return Grid(cells, resolution, (0.0, 0.0, 0.0))


def both(grid, start, goals):
    cells = grid.to_cells(goals)
    field = travel(grid, start, RADIUS, Driving(), NOBODY)
    fine = field.cost[cells[:, 0], cells[:, 1]] * grid.resolution
    coarse = travel_from(grid, (1.0, 1.0), RADIUS, Driving(), NOBODY, np.array([start]), cells)[0]
    return fine, coarse[0]


@pytest.mark.parametrize("resolution", [0.05, 0.1, 0.2])
def test_the_estimate_is_near_the_full_search(resolution):
    grid = rooms(resolution, 1.6)
    fine, coarse = both(grid, (1.5, 1.5), np.array([[4.5, 1.5], [7.5, 1.5], [10.5, 4.5]]))
    assert fine[1] > 10.0  # round by the door, not 6 m through the wall
    np.testing.assert_allclose(coarse, fine, rtol=0.2)


@pytest.mark.parametrize("resolution", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("shift", [0, 1])
def test_a_thin_wall_is_a_wall(resolution, shift):
    grid = rooms(resolution, 0.0)
    grid.cells[:, grid.shape[1] // 2 + shift] = 100
    grid.cells[1:-1, grid.shape[1] // 2 + shift - 1] = 0
    grid.cells[1:-1, grid.shape[1] // 2 + shift + 1] = 0
    fine, coarse = both(grid, (1.5, 1.5), np.array([[4.5, 1.5], [7.5, 1.5]]))
    assert np.isfinite(fine[0])
    assert np.isfinite(coarse[0])
    assert np.isinf(fine[1])
    assert np.isinf(coarse[1])


def test_a_start_beside_a_wall_has_a_way_out_and_one_outside_the_map_has_none():
    grid = rooms(0.1, 1.6)
    goal = np.array([[4.5, 1.5]])
    starts = np.array([[0.15, 1.5], [-5.0, 1.5]])
    costs = travel_from(grid, (1.0, 1.0), RADIUS, Driving(), NOBODY, starts, grid.to_cells(goal))[0]
    assert np.isfinite(costs[0, 0])
    assert np.isinf(costs[1, 0])


def test_what_the_way_costs_counts_the_places_where_it_did_not_get_through():
    grid = rooms(0.1, 1.6)
    cells, start = grid.to_cells(np.array([[4.5, 1.5], [7.5, 1.5]])), np.array([[1.5, 1.5]])
    jams = np.array([[6.05, y] for y in (4.4, 5.0, 5.6)])  # the door
    free, jammed = (
        travel_from(grid, (1.0, 1.0), RADIUS, Driving(), NOBODY, start, cells, j)[0][0] for j in (NOBODY, jams)
    )
    field = travel(grid, (1.5, 1.5), RADIUS, Driving(), NOBODY, jams)
    fine = field.cost[cells[:, 0], cells[:, 1]] * grid.resolution
    assert jammed[0] == free[0]
    assert jammed[1] > free[1] + 50.0
    assert fine[1] > free[1] + 50.0


@pytest.mark.parametrize("block", [1, 3, 4])
def test_blocks_are_those_of_plain_numpy(block):
    """Also where the last blocks are smaller."""
    random = np.random.default_rng(2)
    cost = random.uniform(1, 50, (31, 46)).astype(np.float32)
    cost[random.random(cost.shape) < 0.3] = np.inf
    occupancy = random.choice([-1, 0, 100], cost.shape).astype(np.int8)
    least, most = _blocks(cost, occupancy, block)
    np.testing.assert_array_equal(least, blocks_reference(cost, block, np.minimum))
    np.testing.assert_array_equal(most, blocks_reference(occupancy, block, np.maximum))
