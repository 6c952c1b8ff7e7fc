"""The goal checker."""

from covey.onboard.driving import DriveLimits, Driving
from covey.onboard.navigation.goal_checker import GoalChecker

CHECKER = GoalChecker(DriveLimits(deceleration=2.0, reaction=0.1), Driving(heading_tolerance_rad=0.05))


def test_a_robot_too_fast_to_stop_at_a_point_is_not_there_yet():
    assert CHECKER.at_point(0.09, 0.0, 0.1)
    assert not CHECKER.at_point(0.11, 0.0, 0.1)
    assert CHECKER.at_point(0.0, 0.34, 0.1)  # 0.2 s until it brakes, and then 0.34 ** 2 / 4 m: 0.097 m
    assert not CHECKER.at_point(0.0, 0.35, 0.1)  # 0.101 m


def test_a_distance_and_an_angle_are_reached_at_rest():
    assert CHECKER.at_distance(-0.019, 0.09)
    assert not CHECKER.at_distance(0.021, 0.0)
    assert not CHECKER.at_distance(0.0, -0.11)
    assert CHECKER.at_angle(-0.024, 0.09)
    assert not CHECKER.at_angle(0.026, 0.0)
    assert not CHECKER.at_angle(0.0, 0.11)
