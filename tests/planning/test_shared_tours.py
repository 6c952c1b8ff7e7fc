from itertools import permutations, product

import numpy as np
import pytest
from tests.references.planning import shared_tours_reference

from covey.planning.shared_tours import shared_tours, tour_cost


def longest(tours, start, between, dwell=0.0):
    return max(tour_cost(tour, i, start, between, dwell) for i, tour in enumerate(tours))


def best(start, between):
    """Return the smallest longest tour of two robots, by trying everything."""
    k = start.shape[1]
    found = np.inf
    for who in product((0, 1), repeat=k):
        costs = []
        for robot in (0, 1):
            own = [g for g in range(k) if who[g] == robot]
            costs.append(min(tour_cost(list(order), robot, start, between) for order in permutations(own)))
        found = min(found, max(costs))
    return found


def test_against_all_tours_of_two_robots():
    random = np.random.default_rng(1)
    ratios = []
    for _ in range(20):
        places, robots = random.uniform(0, 10, (5, 2)), random.uniform(0, 10, (2, 2))
        start = np.hypot(*(robots[:, None] - places).transpose(2, 0, 1))
        between = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
        tours = shared_tours(start, between)
        assert sorted(goal for tour in tours for goal in tour) == list(range(5))
        ratios.append(longest(tours, start, between) / best(start, between))
    assert min(ratios) >= 1 - 1e-9
    assert np.mean(ratios) < 1.05
    assert max(ratios) < 1.3


def test_two_robots_share_a_row_of_places_and_the_stay_counts():
    places = np.arange(10.0)
    start = np.abs(np.array([[0.0], [9.0]]) - places)
    between = np.abs(places[:, None] - places)
    tours = shared_tours(start, between)
    assert sorted(map(sorted, tours)) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    # Nine stays of 10 at one end: one robot cannot have all of them, though they are all near it.
    together = np.zeros((9, 9))
    tours = shared_tours(np.array([[0.0] * 9, [5.0] * 9]), together, dwell=10.0)
    assert sorted(map(len, tours)) == [4, 5]


def test_what_nobody_can_reach_is_in_no_tour_and_what_one_can_reach_in_its_own():
    start = np.array([[1.0, np.inf, np.inf], [np.inf, np.inf, 1.0]])
    assert shared_tours(start, np.ones((3, 3))) == [[0], [2]]
    assert shared_tours(np.empty((2, 0)), np.empty((0, 0))) == [[], []]


def test_crossing_ways_are_turned_around():
    # A square with the robot at one corner: around it, not across it.
    places = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    between = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    tours = shared_tours(np.hypot(*places.T)[None], between)
    assert tour_cost(tours[0], 0, np.hypot(*places.T)[None], between) == pytest.approx(3.0)


def test_the_kernel_returns_the_tours_of_plain_python():
    random = np.random.default_rng(0)
    for robots in (1, 2, 4):
        places, robots_at = random.uniform(0, 15, (14, 2)), random.uniform(0, 15, (robots, 2))
        start = np.hypot(*(robots_at[:, None] - places).transpose(2, 0, 1))
        start[random.random(start.shape) < 0.2] = np.inf
        between = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
        for rounded in (start, between), (np.round(start), np.round(between)):  # the second with ties
            assert shared_tours(*rounded, dwell=1.0) == shared_tours_reference(*rounded, dwell=1.0)
