"""The smallest distance between two robots."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from covey.runtime.phases.observing import closest


@pytest.mark.parametrize("count", [2, 3, 40])
def test_the_smallest_distance_is_that_of_scipy_while_robots_move(count):
    rng, order = np.random.default_rng(count), np.arange(count)
    pose = rng.uniform(-5, 5, (count, 3))
    for step in range(50):
        pose[:, :2] += rng.normal(0, 1.0, (count, 2))
        if step % 10 == 5:
            pose[rng.integers(count), 0] = pose[0, 0]  # on a line, or in the same place
        assert closest(pose, order) == pytest.approx(pdist(pose[:, :2]).min(), abs=1e-12)
        assert (np.diff(pose[order, 0]) >= 0).all()


def test_one_robot_is_near_nobody():
    assert math.isnan(closest(np.zeros((1, 3)), np.arange(1)))
    assert closest(np.zeros((2, 3)), np.arange(2)) == 0.0
