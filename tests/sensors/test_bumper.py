"""The bumper."""

import math

import numpy as np

from covey.sensors import Bumper


def test_pressed_where_it_was_touched_and_covers(make_truth):
    contact = np.array([math.nan, 0.3, 2.0, -0.7])
    truth = make_truth(np.zeros((4, 3)), contact_bearing=contact)
    members = np.array([3, 0, 1, 2])
    all_around = Bumper().read(truth, members, np.zeros(4, np.uint64), 0)
    front = Bumper(fov_deg=90).read(truth, members, np.zeros(4, np.uint64), 0)
    assert all_around.pressed.tolist() == [True, False, True, True]
    assert front.pressed.tolist() == [True, False, True, False]
    assert all_around.row(2).bearing == 0.3
    assert bool(front.row(0))
    assert not front.row(3)
    assert math.isnan(front.row(3).bearing)
