"""The progress checker."""

import math

from covey.onboard.driving import Driving
from covey.onboard.navigation.progress_checker import ProgressChecker


def run(place, until_s):
    checker = ProgressChecker(Driving(progress_m=0.3, stuck_after_s=10.0))
    checker.restart(0.0, *place(0.0))
    for second in range(1, until_s + 1):
        checker.update(float(second), *place(float(second)))
    return checker


def test_a_robot_that_stands_is_stuck_after_its_time_and_not_before():
    assert not run(lambda t: (0.0, 0.0), 10).stands
    assert run(lambda t: (0.0, 0.0), 11).stands
    assert not run(lambda t: (0.04 * t, 0.0), 60).stands  # 0.3 m in 8 s


def test_a_robot_that_goes_to_and_fro_does_not_stand_but_roams():
    checker = run(lambda t: (0.5 * math.sin(t), 0.0), 22)
    assert (checker.stands, checker.roams) == (False, False)
    checker = run(lambda t: (0.5 * math.sin(t), 0.0), 23)  # 2.25 times as long as for one that stands
    assert (checker.stands, checker.roams) == (False, True)
    assert not checker.roams_hopelessly(67.0)
    assert checker.roams_hopelessly(68.0)


def test_who_stands_on_purpose_is_excused():
    checker = run(lambda t: (0.0, 0.0), 6)
    assert checker.stalled_s(6.0) == 6.0
    checker.excuse(6.0, 0.0, 0.0)
    assert checker.stalled_s(7.0) == 1.0
    checker.update(11.0, 0.0, 0.0)
    assert checker.stands  # but that is no progress
