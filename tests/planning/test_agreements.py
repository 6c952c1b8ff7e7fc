"""What robots agree on when they meet, worked by hand: times, absences, take-overs, and parts given away."""

import numpy as np
import pytest

from covey.planning.agreements import NOBODY, Agreements, Ledger
from covey.planning.meetings import Meeting, MeetingPlan

# Three parts in a row: 0 and 1 meet at waypoint 1, 1 and 2 at waypoint 2; they need 40, 50 and 30 s for a round.
PLAN = MeetingPlan(
    ((0, 1), (1, 2), (2, 3)), (Meeting(1, (0, 1), 0), Meeting(2, (1, 2), 1)), (40.0, 50.0, 30.0), start_s=100.0
)
TEAM = ["r0", "r1", "r2"]
WAY = np.full((4, 4), 20.0) - 20.0 * np.eye(4)


def agreements(name="r0", team=TEAM):
    return Agreements(name, PLAN, team)


def meet(meeting, now_s, *robots):
    offers = {robot.name: robot.offer(meeting, now_s) for robot in robots}
    for robot in robots:
        robot.settle(meeting, offers, now_s)
    for a in robots:
        for b in robots:
            a.owners.merge(b.owners.rows)
            a.times.merge(b.times.rows)


def test_first_times_come_from_the_colours():
    # The longest round is 50 s: colours 0 and 1 at 100 and 150 s, and again after a cycle of 100 s.
    assert agreements().times.rows == [((100.0, 200.0), 0), ((150.0, 250.0), 0)]


def test_newer_news_wins_and_equal_news_goes_to_the_first_name():
    a, b = Ledger(TEAM), Ledger(TEAM)
    a.put(2, "r0")
    b.put(2, "r1")
    b.put(1, "r2")
    a.merge(b.rows)
    b.merge(a.rows)
    assert a.rows == b.rows == [("r0", 0), ("r2", 1), ("r0", 1)]


def test_those_who_meet_agree_on_the_time_after_the_next_which_suits_the_slowest():
    r0, r1 = agreements("r0"), agreements("r1")
    # r0: 40 s after 200 s; r1: 50 s after its latest known meeting, at 250 s.
    assert (r0.offer(0, 100.0), r1.offer(0, 100.0)) == ((240.0, False), (300.0, False))
    meet(0, 100.0, r0, r1)
    assert r0.times[0] == r1.times[0] == (200.0, 300.0)
    assert r0.owners.rows == [(name, 0) for name in TEAM]


def test_a_part_changes_hands_when_its_owner_is_absent_twice_at_the_same_meeting():
    r0 = agreements("r0")
    meet(0, 110.0, r0)  # the first time only noted
    assert r0.parts_of("r0") == [0]
    assert (r0.takes, r0.takes_at, r0.times[0]) == ({1}, 0, (200.0, 240.0))
    meet(0, 210.0, r0)  # the second time taken, and the meeting with the third robot put off by one
    assert r0.parts_of("r0") == [0, 1]
    assert r0.times[1] == (250.0, 251.0)
    assert (r0.takes, r0.takes_at) == (set(), None)


def test_who_comes_back_keeps_his_part():
    r0, r1 = agreements("r0"), agreements("r1")
    meet(0, 110.0, r0)
    r1.times.merge(r0.times.rows)
    meet(0, 200.0, r0, r1)
    assert r0.owners.rows == [(name, 0) for name in TEAM]
    assert r0.takes == set()


def test_who_is_about_to_take_over_elsewhere_says_that_he_will_be_late():
    r0, r1 = agreements("r0"), agreements("r1")
    meet(1, 160.0, r1)  # r2 is absent
    assert r1.takes == {2}
    # Its own 50 s and the 30 s of part 2, after the latest meeting of the two: 250 + 50 s was agreed on at waypoint 2.
    assert r1.offer(0, 200.0) == (380.0, True)
    meet(0, 200.0, r0, r1)
    assert r0.times[0] == r1.times[0] == (380.0, 381.0)  # the next one, not the one after it
    # An overloaded robot takes over nothing more: r0 is absent now.
    meet(0, 390.0, r1)
    assert r1.takes == {2}


def test_who_has_most_parts_gives_one_away_and_it_is_taken_at_the_next_meeting_here():
    team = ["r0", "r0", "r1"]
    plan = MeetingPlan(PLAN.parts, (Meeting(2, (0, 1, 2), 0),), PLAN.intervals_s, 100.0)
    r0, r1 = (Agreements(name, plan, [*team, "r0"][:3]) for name in ("r0", "r1"))
    meet(0, 100.0, r0, r1)
    assert r0.owners.rows == [("r0", 0), ("r0", 0), ("r1", 0)]  # two and one: as equal as can be
    four = MeetingPlan((*PLAN.parts, (3, 0)), (Meeting(2, (0, 1, 2, 3), 0),), (*PLAN.intervals_s, 10.0), 100.0)
    r0, r1 = (Agreements(name, four, ["r0", "r0", "r0", "r1"]) for name in ("r0", "r1"))
    meet(0, 100.0, r0, r1)
    assert [owner for owner, _ in r1.owners.rows] == [NOBODY, "r0", "r0", "r1"]
    meet(0, 150.0, r0, r1)
    assert [owner for owner, _ in r0.owners.rows] == ["r1", "r0", "r0", "r1"]


def test_a_robot_without_a_part_takes_one_from_who_has_several():
    r2 = agreements("r2", ["r0", "r1", "r1"])
    assert r2.own_parts() == [1]
    alone = agreements("r2", ["r0", "r1", "r3"])
    assert alone.own_parts() == []


@pytest.mark.parametrize(
    ("times", "now_s", "wanted"),
    [
        ([(100.0, 200.0), (150.0, 250.0)], 0.0, (0, 100.0)),  # both can be kept: the earlier one
        (
            [(100.0, 200.0), (150.0, 250.0)],
            120.0,
            (1, 150.0),
        ),  # the first is missed; the second fits in before its next
        ([(100.0, 165.0), (150.0, 250.0)], 130.0, (0, 165.0)),  # it does not fit in
        ([(100.0, 110.0), (150.0, 250.0)], 120.0, (1, 150.0)),  # both times are over, and it does not fit in
        ([(100.0, 110.0), (190.0, 250.0)], 120.0, (0, 100.0)),  # both times are over, and it fits in: go at once
    ],
)
def test_which_meeting_comes_next(times, now_s, wanted):
    r1 = agreements("r1")
    for k, pair in enumerate(times):
        r1.times.put(k, pair)
    assert r1.next_meeting(WAY, 0, now_s) == wanted


def test_nobody_meets_himself():
    r0 = agreements("r0", ["r0", "r0", "r2"])
    assert r0.next_meeting(WAY, 0, 0.0) == (1, 150.0)
    assert agreements("r1", ["r0", "r1", "r1"]).next_meeting(WAY, 0, 0.0) == (0, 100.0)
    assert agreements("r0", ["r0"] * 3).next_meeting(WAY, 0, 0.0) == (None, np.inf)
