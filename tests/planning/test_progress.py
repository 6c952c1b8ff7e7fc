"""Time without progress, and goals that were in vain."""

import numpy as np
import pytest

from covey.planning.progress import Approach, Blacklist, ProgressTimer


def test_progress_timer_runs_out_only_without_motion():
    timer = ProgressTimer(distance_m=0.1, timeout_s=3.0)
    timer.restart(0.0, 0.0, 0.0)
    assert not any(timer.expired(0.1 * k, 0.02 * k, 0.0) for k in range(100))
    timer.restart(20.0, 5.0, 5.0)
    assert not timer.expired(22.9, 5.05, 5.0)
    assert timer.waited(22.9) == pytest.approx(2.9)
    assert timer.expired(23.1, 5.0, 5.05)


def test_blacklist_knows_goals_near_a_listed_one():
    listed = Blacklist(tolerance_m=0.5)
    listed.add((1.0, 2.0))
    listed.add((1.1, 2.0))
    assert len(listed) == 1
    assert (1.3, 2.3) in listed
    assert (1.5, 2.5) not in listed


def test_of_many_places_those_beside_a_listed_goal_are_told_apart_at_once():
    listed = Blacklist(tolerance_m=1.0)
    places = np.array([[[0.0, 0.0], [0.9, 0.0]], [[0.0, 1.1], [5.0, 5.5]]])
    assert listed.clear(places).all()
    listed.add((0.0, 0.0))
    listed.add((5.0, 5.0))
    assert listed.clear(places).tolist() == [[False, False], [True, False]]
    assert listed.clear(places).tolist() == [[tuple(p) not in listed for p in row] for row in places.tolist()]


def test_a_pursuit_without_coming_nearer_ends_and_one_that_rested_begins_anew():
    approach, here, goal = Approach(gain_m=1.0, patience_s=30.0, same_m=1.0, forget_s=20.0), (0.0, 0.0), (9.0, 0.0)
    assert all(approach.step(5.0 * k, here, goal, 40.0 - 2.0 * k) is None for k in range(12))  # it comes nearer
    assert approach.step(60.0, (7.0, 0.0), (8.5, 0.5), 2.0) is None  # the same goal, for all that
    assert approach.step(65.0, here, (0.0, 5.0), 9.0) is None  # another one in between, which does not count
    ends = [approach.step(70.0 + 5.0 * k, here, goal, 12.0) for k in range(8)]
    assert ends == [None] * 7 + [(7.0, 0.0)]
    assert approach.step(110.0, here, goal, 12.0) is None
    assert approach.step(135.0, here, goal, 12.0) is None  # the pursuit rested for 25 s
    assert [approach.step(t, here, goal, 12.0) for t in (150.0, 164.0)] == [None, None]
    assert approach.step(166.0, here, goal, 12.0) == here
