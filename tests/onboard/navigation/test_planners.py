"""Planners of others: they change no map of costs, and what they answer is looked at."""

from typing import Any

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry import Grid
from covey.onboard.driving import Driving
from covey.onboard.navigation.route import NO_PLACES, plan
from covey.planning.planner import Planner

START, GOAL = (0.5, 0.5), (3.5, 2.5)
GRID = Grid(np.zeros((40, 40), np.int8), 0.1)


class Fixed(Planner):
    """Answers what it is told, and spoils the costs that it is given."""

    answer: Any = (((5, 5), (25, 35)), 7)

    def corners(self, cost, start, goal):
        cost[:] = np.inf
        return self.answer


def route(planner=None):
    driving = Driving() if planner is None else Driving(planner=planner)
    return plan(GRID, START, GOAL, 0.2, driving, NO_PLACES, 0.1)


def test_costs_stay_as_they_are():
    before, spoiled, after = route(), route(Fixed()), route()
    assert (spoiled.problem, spoiled.work) == ("", 7)
    np.testing.assert_allclose(spoiled.line, [START, GOAL])
    np.testing.assert_array_equal(after.line, before.line)
    assert after.problem == before.problem == ""


def test_no_corners_are_no_way():
    lost = route(Fixed(answer=((), 3)))
    assert (lost.problem, lost.work) == ("no way", 3)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        "ab",
        ((5, 5), (25, 35)),
        (((5.5, 5), (25, 35)), 1),
        (((5, 5), (25, 40)), 1),
        (((-1, 5), (25, 35)), 1),
        ((5, 25), 1),
        (((5, 5),), -1),
    ],
    ids=repr,
)
def test_another_answer_is_refused_in_words(wrong):
    with pytest.raises(InvalidValueError, match=r"planner 'Fixed' gives .*; return the corners, integers \(k, 2\)"):
        route(Fixed(answer=wrong))
