"""What every strategy that goes to frontiers shares."""

import numpy as np
import pytest

from covey.controllers.exploration.frontier_loop import _frontier_near


@pytest.mark.parametrize("seed", range(6))
def test_a_frontier_is_near_where_a_square_of_the_map_holds_a_free_cell_beside_an_unknown_one(seed):
    rng, found = np.random.default_rng(seed), []
    occupancy = rng.choice(np.array([-1, 0, 100], np.int8), (14, 19), p=[0.1, 0.1, 0.8])
    for row, column in np.ndindex(occupancy.shape):
        for reach in (0, 1, 2, 4):
            near = occupancy[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]
            unknown, free = near == -1, near == 0
            beside = [
                unknown[1:] & free[:-1],
                unknown[:-1] & free[1:],
                unknown[:, 1:] & free[:, :-1],
                unknown[:, :-1] & free[:, 1:],
            ]
            found.append(any(both.any() for both in beside))
            assert _frontier_near(occupancy, row, column, reach) == found[-1]
    assert 50 < sum(found) < len(found) - 50
