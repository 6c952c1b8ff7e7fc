"""The referee of a rescue: each transition of its state machine, and the score by hand."""

import math

import numpy as np
import pytest

from covey.missions.referee import KindRule, Referee, Rules
from covey.missions.rescue import PRESETS, Rescue
from covey.results.event_data import Met

COURSE = Rules(
    kinds={"big_fire": KindRule(points=100, robots=2, within_m=2.0, meeting_points=300)},
    from_floor=True,
    look_every_s=0.5,
    whole_seconds=True,
    false_report_points=0.0,
    reports_per_min=None,
)
KINDS = ("small_fire", "small_fire", "victim", "small_fire", "big_fire")
PLACES = np.array([(1.0, 0.0, 0.25), (2.0, 0.0, 0.25), (3.0, 0.0, 0.25), (4.0, 0.0, 0.25), (10.0, 0.0, 0.25)])
ABLE = np.ones(2, bool)
START = np.array([(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)])


def course(**changes):
    """The course's five targets; the referee has seen the robots at their starts."""
    referee = Referee(COURSE.model_copy(update=changes), range(5), KINDS, PLACES)
    referee.judge(0.0, START, ABLE)
    return referee


def moved(x, y=0.0, turn=0.0):
    """Both robots, the first one moved from its start."""
    return START + np.array([(x, y, turn), (0.0, 0.0, 0.0)])


def at_fire(*off):
    """The robots so far (x) from the big fire."""
    return np.array([(10.0 + x, 0.0, 0.0) for x in off])


def running(time_s=1.0, **changes):
    """A referee whose clock started at a time."""
    referee = course(**changes)
    referee.judge(time_s, moved(0.2), ABLE)
    assert referee.state == "running"
    return referee


@pytest.mark.parametrize("pose", [moved(0.1001), moved(-0.1001), moved(0.0, 0.1001), moved(0.0, 0.0, 0.1001)])
def test_the_clock_starts_when_a_robot_has_moved_a_tenth_of_a_metre_or_radian(pose):
    referee = course()
    assert referee.judge(2.0, pose, ABLE) == [(0, "starts the clock")]
    assert (referee.state, referee.started_s) == ("running", 2.0)


@pytest.mark.parametrize("pose", [START, moved(0.099, 0.099), moved(0.0, 0.0, -0.099), moved(0.0, 0.0, 2 * np.pi)])
def test_the_clock_waits_while_nobody_has_moved_that_far(pose):
    referee = course()
    assert referee.judge(2.0, pose, ABLE) == []
    assert (referee.state, referee.elapsed_s, referee.score) == ("waiting", 0.0, 600.0)


def test_the_clock_may_start_with_the_run():
    referee = course(clock="start")
    assert (referee.state, referee.started_s) == ("running", 0.0)


def test_positions_are_looked_at_every_half_second_only():
    referee = course()
    assert referee.judge(0.4, moved(1.0), ABLE) == []
    assert referee.state == "waiting"
    referee.judge(0.5, moved(1.0), ABLE)
    assert referee.started_s == 0.5


def test_a_report_is_right_within_half_a_metre_of_the_floor_below_the_target_once():
    referee = running()
    assert referee.report(2.0, 0, 7, (0, 0, 0)).answer == "unknown identity"
    assert referee.report(2.0, 0, 2, (3.0, 0.5, 0.0)).answer == "too far"  # not nearer than 0.5 m
    assert referee.report(2.0, 0, 2, (3.0, 0.4, 0.31)).answer == "too far"  # 0.4² + 0.31² > 0.5²
    found = referee.report(2.5, 1, 2, (3.0, 0.4, 0.25))
    assert (found.answer, found.kind, found.points) == ("accepted", "victim", 100.0)
    assert found.error_m == pytest.approx(np.hypot(0.4, 0.25))
    assert referee.report(3.0, 0, 2, (3.0, 0.0, 0.0)).answer == "twice"
    assert (referee.found_s[2], referee.finder[2]) == (2.5, 1)
    assert (referee.false_reports, referee.refused_reports) == (3, 4)


def test_a_report_without_a_height_is_judged_in_the_plane():
    referee = running(from_floor=False)
    assert referee.report(2.0, 0, 0, (1.0, 0.49, np.nan)).answer == "accepted"
    assert referee.report(2.0, 0, 1, (2.0, 0.49, 0.0)).answer == "too far"  # 0.49² + 0.25² > 0.5²


def test_reports_count_before_the_clock_has_started():
    referee = course()
    assert referee.report(0.0, 0, 0, (1.0, 0.0, 0.0)).answer == "accepted"
    assert (referee.state, referee.score) == ("waiting", 700.0)


def test_two_robots_at_the_big_fire_meet_only_after_its_report():
    referee = running()
    assert referee.judge(2.0, at_fire(1.0, -1.0), ABLE) == []
    referee.report(2.2, 0, 4, (10.0, 0.0, 0.0))
    assert referee.judge(2.5, at_fire(1.0, 2.0), ABLE) == []  # 2 m are not nearer than 2 m
    assert referee.judge(3.0, at_fire(1.0, -1.99), np.array([True, False])) == []  # a robot that is dead is not there
    assert referee.judge(3.5, at_fire(1.0, -1.99), ABLE) == [(1, Met(4, "big_fire"))]
    assert referee.met_s[4] == 3.5
    assert referee.points == 400.0
    referee.judge(4.0, at_fire(0.0, 0.0), ABLE)
    assert referee.points == 400.0  # once


def test_a_meeting_may_have_to_last():
    referee = running(kinds={"big_fire": KindRule(robots=2, for_s=2.0)}, look_every_s=0.0)
    referee.report(1.0, 0, 4, (10.0, 0.0, 0.0))
    for time_s, pose in ((2.0, at_fire(0, 1)), (3.0, at_fire(0, 1)), (3.5, at_fire(0, 9)), (4.0, at_fire(0, 1))):
        assert referee.judge(time_s, pose, ABLE) == []
    assert referee.judge(5.9, at_fire(0, 1), ABLE) == []
    assert referee.judge(6.0, at_fire(0, 1), ABLE) == [(1, Met(4, "big_fire"))]


def test_all_targets_without_the_meeting_do_not_finish():
    referee = running()
    for k in range(5):
        referee.report(2.0, 0, k, PLACES[k] * (1, 1, 0))
    assert referee.judge(2.5, moved(0.2), ABLE) == []
    assert referee.state == "running"


def test_the_meeting_without_all_targets_does_not_finish():
    referee = running()
    referee.report(2.0, 0, 4, (10.0, 0.0, 0.0))
    referee.judge(2.5, at_fire(0, 1), ABLE)
    assert referee.state == "running"
    for k in range(4):
        referee.report(3.0, 0, k, PLACES[k] * (1, 1, 0))
    assert referee.judge(3.5, at_fire(0, 1), ABLE) == [(0, "completes the mission")]
    assert referee.state == "finished"


def test_the_end_freezes_clock_and_score_and_refuses_reports():
    referee = running(time_s=10.0)
    for k in range(5):
        referee.report(20.0, 0, k, PLACES[k] * (1, 1, 0))
    referee.judge(130.7, at_fire(0, 1), ABLE)
    assert referee.state == "finished"
    assert referee.elapsed_s == 120.0  # whole seconds of 120.7
    assert referee.score == 500 + 300 + (600 - 120)
    referee.judge(300.0, moved(0.0), ABLE)
    assert referee.score == 1280.0
    assert referee.report(300.0, 0, 0, (1.0, 0.0, 0.0)).answer == "over"
    assert referee.refused_reports == 1
    assert referee.false_reports == 0


def test_the_time_limit_closes_with_the_points_alone():
    referee = running(time_s=10.0)
    referee.report(20.0, 0, 0, (1.0, 0.0, 0.0))
    referee.judge(609.5, moved(0.2), ABLE)
    assert (referee.state, referee.score) == ("running", 101.0)  # 599 whole seconds
    assert referee.judge(610.0, moved(0.2), ABLE) == [(0, "is out of time")]
    assert (referee.state, referee.elapsed_s, referee.score) == ("closed", 600.0, 100.0)
    assert referee.report(611.0, 0, 1, (2.0, 0.0, 0.0)).answer == "over"
    assert referee.judge(612.0, at_fire(0, 1), ABLE) == []


def test_a_look_that_comes_late_takes_no_more_than_the_time_limit_off():
    referee = running(time_s=10.0)
    referee.report(20.0, 0, 0, (1.0, 0.0, 0.0))
    referee.judge(650.0, moved(0.2), ABLE)
    assert (referee.state, referee.elapsed_s, referee.score) == ("closed", 600.0, 100.0)


def test_a_refused_report_without_a_penalty_gives_zero_and_not_minus_zero():
    referee = Referee(Rules(false_report_points=0), [0], ["victim"], PLACES[:1])
    for identity, place in ((7, (0.0, 0.0, 0.0)), (0, (90.0, 0.0, 0.0))):
        points = referee.report(1.0, 0, identity, place).points
        assert (points, math.copysign(1.0, points)) == (0.0, 1.0)


def test_other_rules_give_other_scores():
    rules = Rules(
        kinds={"victim": KindRule(points=50)},
        time_limit_s=100,
        bonus_per_s=2,
        false_report_points=30,
        clock="start",
    )
    referee = Referee(rules, [0, 1], ["victim", "victim"], PLACES[:2])
    referee.judge(0.0, START, ABLE)
    referee.report(5.0, 0, 0, (1.0, 0.0, 0.25))
    assert referee.report(6.0, 0, 1, (9.0, 0.0, 0.25)).points == -30
    assert referee.report(6.0, 0, 0, (1.0, 0.0, 0.25)).points == 0  # twice is not false
    referee.judge(40.5, START, ABLE)
    assert referee.score == 50 - 30 + 2 * (100 - 40.5)


def test_a_robot_has_thirty_reports_a_minute_and_false_ones_cost():
    """A controller that reports everywhere: 30 of 1000 are judged, and cost 300 points; other robots have their own."""
    referee = Referee(Rules(clock="start"), [0], ["victim"], PLACES[:1])
    referee.judge(0.0, START, ABLE)
    answers = [referee.report(1.0, 0, 0, (50.0 + k, 0.0, 0.0)).answer for k in range(1000)]
    assert answers == 30 * ["too far"] + 970 * ["too many"]
    assert (referee.points, referee.false_reports, referee.refused_reports) == (-300.0, 30, 1000)
    assert referee.report(1.0, 1, 0, (50.0, 0.0, 0.0)).answer == "too far"
    assert referee.report(60.9, 0, 0, (1.0, 0.0, 0.25)).answer == "too many"
    assert referee.report(61.0, 0, 0, (1.0, 0.0, 0.25)).answer == "accepted"
    assert referee.points == 100.0 - 310.0


@pytest.mark.parametrize("preset", PRESETS)
def test_the_course_takes_any_number_of_reports_and_no_points_for_false_ones(preset):
    rules = Rescue(preset=preset)
    assert (rules.reports_per_min, rules.false_report_points) == (None, 0.0)
    assert Rescue(preset=preset, reports_per_min=5).reports_per_min == 5
