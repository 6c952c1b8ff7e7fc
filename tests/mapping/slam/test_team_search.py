import numpy as np
import pytest

from covey.geometry.se2 import wrap_angle
from covey.mapping.slam.team_search import nearest


@pytest.mark.parametrize("first", [0, 7, 40])
def test_the_nearest_key_frame_is_that_of_least_way_and_turn(first):
    draws = np.random.default_rng(first)
    mine, theirs = (draws.uniform([-9, -9, -3], [9, 9, 3], (n, 3)) for n in (50, 40))
    way = np.hypot(*(mine[:, None, :2] - theirs[None, first:, :2]).transpose(2, 0, 1))
    cost = way + np.abs(wrap_angle(mine[:, None, 2] - theirs[None, first:, 2])) / np.pi
    expected = [first + int(row.argmin()) if len(row) and row.min() < 2.5 else -1 for row in cost]
    assert first == 40 or {-1} < set(expected)
    assert nearest(mine, theirs, first).tolist() == expected
