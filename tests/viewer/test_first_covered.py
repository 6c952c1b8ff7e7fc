"""When cells were first covered, worked by hand for a small disc over cells of 1 m."""

import numpy as np

from covey.geometry.grid import Grid
from covey.viewer.first_covered import first_covered


def test_a_robot_that_comes_back_changes_nothing():
    x = [0.5, 1.5, 2.5, 3.5, 2.5, 1.5]
    poses = np.array([[[one, 1.5, 0.0]] for one in x])
    steps = np.array([2, 4, 6, 8, 10])
    first = first_covered(Grid(np.zeros((3, 5), np.uint8), 1.0), poses, steps, [[[0.0, 0.0, 0.1]]])
    never = [-1] * 5
    np.testing.assert_array_equal(first, [never, [2, 2, 4, 6, -1], never])
