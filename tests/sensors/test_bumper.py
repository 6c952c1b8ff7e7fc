"""The bumper."""

import math

import numpy as np
import pytest

from covey.sensors import Bumper


def test_pressed_where_it_was_touched_and_covers(make_truth):
    felt = np.array([[10.0, 1.0, 0.3], [10.0, 2.0, 2.0], [10.0, 3.0, -0.7]])
    truth = make_truth(np.zeros((4, 3)), felt=felt)
    members = np.array([3, 0, 1, 2])
    all_around = Bumper().read(truth, members, np.zeros(4, np.uint64), 0)
    front = Bumper(fov_deg=90).read(truth, members, np.zeros(4, np.uint64), 0)
    assert all_around.pressed.tolist() == [True, False, True, True]
    assert front.pressed.tolist() == [True, False, True, False]
    assert all_around.row(2).bearing == 0.3
    assert bool(front.row(0))
    assert not front.row(3)
    assert math.isnan(front.row(3).bearing)


def test_pressed_ahead_also_when_touched_from_behind_at_the_same_time(make_truth):
    felt = np.array([[10.0, 0.0, 0.1], [10.0, 0.0, math.pi]])
    truth = make_truth(np.zeros((1, 3)), felt=felt)
    keys, member = np.zeros(1, np.uint64), np.zeros(1, np.int64)
    front = Bumper(fov_deg=90).read(truth, member, keys, 0).row(0)
    assert front.pressed
    assert front.bearing == 0.1
    all_around = Bumper().read(truth, member, keys, 0).row(0)
    assert all_around.bearings.tolist() == [0.1, math.pi]
    assert all_around.bearing == math.pi


@pytest.mark.parametrize(("since", "expected"), [((0, 9), [0.1, 0.2]), ((3, 9), [0.2]), ((3, 6), []), ((9, 12), [0.4])])
def test_it_feels_what_touched_since_its_previous_sample_and_until_this_one(make_truth, since, expected):
    felt = np.array([[3.0, 0.0, 0.1], [7.0, 0.0, 0.2], [12.0, 0.0, 0.4]])
    truth = make_truth(np.zeros((1, 3)), felt=felt, felt_since=since)
    assert Bumper().read(truth, np.zeros(1, np.int64), np.zeros(1, np.uint64), 0).row(0).bearings.tolist() == expected
