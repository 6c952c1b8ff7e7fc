import numpy as np
import pytest

from covey.onboard.reachable import flood
from covey.planning.dijkstra import dijkstra


@pytest.mark.parametrize("seed", range(10))
def test_a_robot_can_come_to_the_cells_that_a_search_comes_to(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 40, 2)
    cost = np.where(rng.random((rows, columns)) < 0.4, np.inf, rng.uniform(1, 50, (rows, columns))).astype(np.float32)
    source = int(rng.integers(rows)), int(rng.integers(columns))
    np.testing.assert_array_equal(flood(cost, *source), np.isfinite(dijkstra(cost, source).cost))
