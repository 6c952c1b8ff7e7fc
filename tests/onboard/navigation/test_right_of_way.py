"""Who goes first at a doorway, and where the other one waits."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from covey.geometry import Grid
from covey.onboard.navigation.right_of_way import GO, RETREAT, WAIT, RightOfWay, may_enter, project, waiting_place

LINE = np.array([[0.0, 0.0], [10.0, 0.0]])  # with a doorway from 4.9 to 5.1 m


@pytest.mark.parametrize(
    ("x", "heading", "identity", "still", "expected"),
    [
        (5.0, math.pi, 9, 0.0, WAIT),  # comes through the door
        (5.0, 0.0, 1, 0.0, GO),  # goes through ahead of us
        (6.0, math.pi, 1, 0.0, WAIT),  # wants in from beyond, and is first
        (6.0, math.pi, 9, 0.0, GO),  # wants in from beyond, and is not
        (6.0, math.pi, 1, 9.0, GO),  # stands beyond for long: parked
        (6.0, 0.0, 1, 0.0, GO),  # goes away
        (4.0, math.pi, 9, 0.0, WAIT),  # has come out and is in front of us
    ],
)
def test_right_of_way_at_a_doorway(x, heading, identity, still, expected):
    others = np.array([[x, 0.0, heading, identity, still]])
    assert may_enter(LINE, 4.9, 5.1, 3.0, others, 5, 0.0) == expected


def test_of_two_inside_the_one_with_the_larger_identity_comes_back_out():
    others = np.array([[5.6, 0.0, math.pi, 1.0, 0.0]])
    assert may_enter(LINE, 4.0, 6.0, 4.8, others, 5, 2.0) == RETREAT
    assert may_enter(LINE, 4.0, 6.0, 4.8, others, 0, 2.0) == GO


def test_the_waiting_place_is_on_the_right_of_the_way_and_free():
    cells = np.zeros((80, 100), np.int8)
    cells[:36, 50] = cells[44:, 50] = 100
    line = np.array([[1.0, 4.0], [9.0, 4.0]])
    place = (cells, 0.0, 0.0, 0.1, 0.33, 0.68)
    x, y, found = waiting_place(line, 4.0, 3.5, 4.0, np.empty((0, 5)), *place)
    assert found
    assert x < 4.2
    assert y < 4.0 - 0.68
    taken = np.array([[x, y, 0.0, 1.0, 0.0]])
    other_x, other_y, found = waiting_place(line, 4.0, 3.5, 4.0, taken, *place)
    assert found
    assert math.hypot(other_x - x, other_y - y) >= 0.68


def test_project_gives_the_place_on_a_line_and_its_side():
    line = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 3.0]])
    assert project(line, 1.0, 0.5) == pytest.approx((1.0, 0.5, 0.0))
    assert project(line, 2.5, 2.0) == pytest.approx((4.0, -0.5, math.pi / 2))
    assert project(line, -1.0, 0.0) == pytest.approx((-1.0, 0.0, 0.0))


def test_a_robot_waits_while_one_comes_through_the_door_and_goes_when_it_has_passed():
    cells = np.zeros((80, 100), np.int8)
    cells[:36, 50] = cells[44:, 50] = 100
    belief = SimpleNamespace(grid=Grid(cells, 0.1), occupancy=lambda: cells)
    plan = SimpleNamespace(line=np.array([[1.0, 4.0], [9.0, 4.0]]), narrow=[[3.9, 4.2]])
    rule, pose = RightOfWay(5, 0.33, 0.68), (4.0, 4.0, 0.0)
    coming = np.array([[1.0, 0.0, 0.0, 0.0, 9.0, 0.0, math.pi, 0.0]])  # ahead, in the door, and heading for this one
    aside = rule.wait_at(plan, 3.0, pose, coming, belief, 0.0)
    assert aside is not None
    (x, y), hold_s = aside
    assert (x < 4.2, y < 4.0 - 0.68, hold_s) == (True, True, 0.0)  # before the door, on the right, until it is free
    assert (
        rule.wait_at(plan, 3.0, pose, coming, belief, 0.1) == aside
    )  # it does not look for another place at each step
    passed = coming.copy()
    passed[0, 0] = -2.0
    assert rule.wait_at(plan, 3.0, pose, passed, belief, 0.0) is None
    assert rule.place is None
