"""What group controllers may answer, and the body twists that it means."""

import numpy as np
import pytest

import covey
from covey.errors import ControllerError
from covey.onboard.group_answer import are_finite, checked, twists_of
from covey.onboard.group_view import GroupFacts, GroupView
from covey.onboard.step import GroupOutput


def view(kinematics="unicycle", count=3):
    robot = covey.RobotModel(name="r", kinematics=kinematics, radius_m=0.1)
    return GroupView(GroupFacts("r", tuple(f"r{i}" for i in range(count)), robot, 0.1, np.zeros((0, 2)), 1))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((0.5, -1.0), [[0.5, 0, -1.0]] * 3),
        ((1, True), [[1, 0, 1]] * 3),
        ((0.5, np.array([1, 2, 3])), [[0.5, 0, 1], [0.5, 0, 2], [0.5, 0, 3]]),
        ((np.float64(0.5), [1, 2, 3]), [[0.5, 0, 1], [0.5, 0, 2], [0.5, 0, 3]]),
        ((0.5, 0.25, -1.0), [[0.5, 0.25, -1.0]] * 3),
        (np.array([[1, 2], [3, 4], [5, 6]]), [[1, 0, 2], [3, 0, 4], [5, 0, 6]]),
        (np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]).T, [[1, 0, 2], [3, 0, 4], [5, 0, 6]]),
        ([[1, 2], [3, 4], [5, 6]], [[1, 0, 2], [3, 0, 4], [5, 0, 6]]),
        (np.broadcast_to(np.arange(3.0), (3, 3)), [[0, 1, 2]] * 3),
    ],
)
def test_speeds_and_turn_rates_become_body_twists(answer, expected):
    np.testing.assert_array_equal(twists_of(answer, view())["r"], expected)


def test_velocities_of_holonomic_robots_stay_two_columns():
    assert twists_of((0.5, 1.0), view("holonomic"))["r"].tolist() == [[0.5, 1.0]] * 3


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ((0.5, float("nan")), "turn of r0 is nan"),
        ((float("-inf"), 0.0, 0.0), "vx of r0 is -inf"),
        ((0.5, np.array([0.0, 0.0, np.inf])), "turn of r2 is inf"),
        (np.array([[0, 0, 0], [0, np.nan, 0], [0, 0, 0]]), "vy of r1 is nan"),
    ],
)
def test_commands_that_are_no_numbers_are_refused_by_the_robot_and_the_column(answer, name):
    with pytest.raises(ControllerError, match=name):
        twists_of(answer, view())


def test_only_finite_values_of_the_right_shape_pass_the_check():
    good = np.ones((3, 3))
    assert are_finite(good)
    assert are_finite(np.full((2, 2), 1e308))
    assert checked(GroupOutput({"r": good}), ["r"], {"r": 3}).failure is None
    bad = good.copy()
    bad[2, 1] = np.nan
    for forged in (bad, good[:2], good.astype(int), good.tolist(), None):
        assert checked(GroupOutput({"r": forged}), ["r"], {"r": 3}).failure is not None
