"""Which frontier each strategy goes to, on maps small enough to see it."""

import numpy as np
import pytest

from covey.controllers.cost_frontier import cheapest_entries
from covey.controllers.first_frontier import choose_first
from covey.controllers.frontier_loop import thresholds
from covey.controllers.nearest_frontier import choose_nearest
from covey.mapping.frontiers import Frontiers

# A corridor with an unknown end at either side: 3 m to the west of the robot, 5 m to the east.
CORRIDOR = """
    ###########
    ?...R.....?
    ###########
"""
# The same, and a wall across the western arm: the way there leads round by the east.
DETOUR = """
    ???????????
    ?#########?
    ?#.......#?
    ?#.#####.#?
    ?..#.R...#?
    ?#######.#?
    ?######...?
"""


def everywhere(robot, min_cells=1):
    frontiers = robot.frontiers("explore", min_cells)
    return frontiers, np.ones(len(frontiers.cells), bool)


def test_nearest_goes_to_the_nearer_end(robot_on):
    robot = robot_on(CORRIDOR)
    assert choose_nearest(robot, *everywhere(robot)) == (1.5, 1.5)


def test_nearest_counts_the_way_not_the_bee_line(robot_on):
    robot = robot_on(DETOUR)
    frontiers, allowed = everywhere(robot)
    assert sorted(map(tuple, frontiers.cells.tolist())) == [(0, 9), (2, 1)]
    # The western frontier is 4 m away by air and 13 m by floor, the south-eastern one 4.5 m by air and about 6 m by floor.
    assert choose_nearest(robot, frontiers, allowed) == (9.5, 0.5)


def test_a_refused_goal_is_passed_over(robot_on):
    robot = robot_on(CORRIDOR)
    frontiers, allowed = everywhere(robot)
    allowed[(frontiers.cells == (1, 1)).all(axis=1)] = False
    assert choose_nearest(robot, frontiers, allowed) == (9.5, 1.5)
    assert choose_nearest(robot, frontiers, np.zeros_like(allowed)) is None


def test_nearest_goes_to_the_middle_of_a_wide_frontier(robot_on):
    robot = robot_on("""
        #######
        #....?#
        #....?#
        #R...?#
        #....?#
        #....?#
        #######
    """)
    frontiers, allowed = everywhere(robot)
    assert frontiers.sizes.tolist() == [5]
    assert choose_nearest(robot, frontiers, allowed) == (4.5, 3.5)
    allowed[(frontiers.cells == (3, 4)).all(axis=1)] = False
    x, y = choose_nearest(robot, frontiers, allowed)
    assert x == 4.5
    assert y in (2.5, 4.5)


def test_a_frontier_behind_a_wall_is_no_goal(robot_on):
    robot = robot_on("""
        ######?
        #.R.#.?
        ######?
    """)
    frontiers, allowed = everywhere(robot)
    assert len(frontiers) == 1
    assert choose_nearest(robot, frontiers, allowed) is None
    assert choose_first(robot, frontiers, allowed) is None


def test_first_takes_the_southernmost_row_and_in_it_the_westernmost_cell(robot_on):
    robot = robot_on("""
        #?#######
        #.......#
        #..R....#
        #.......#
        #####?#?#
    """)
    frontiers, allowed = everywhere(robot)
    assert choose_first(robot, frontiers, allowed) == (5.5, 1.5)
    allowed[(frontiers.cells == (1, 5)).all(axis=1)] = False
    assert choose_first(robot, frontiers, allowed) == (7.5, 1.5)
    allowed[(frontiers.cells == (1, 7)).all(axis=1)] = False
    assert choose_first(robot, frontiers, allowed) == (1.5, 3.5)


@pytest.mark.parametrize(
    ("potential_scale", "gain_scale", "best"),
    [
        (0.005, 1.0, 1),  # 0.05 - 1.5 against 0.1 - 2 against 0.02 - 0.5
        (1.0, 1.0, 2),  # 10 - 1.5, 20 - 2, 4 - 0.5
        (0.1, 1.0, 0),  # 1 - 1.5 = -0.5, 2 - 2 = 0, 0.4 - 0.5 = -0.1
        (1.0, 0.0, 2),
    ],
)
def test_cost_weighs_the_way_against_the_length(potential_scale, gain_scale, best):
    # Three frontiers of 3, 4 and 1 cells of 0.5 m; the nearest cell of each lies 10, 20 and 4 m away.
    label = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    way = np.array([12.0, 10.0, 11.0, 23.0, 22.0, 21.0, 20.0, 4.0])
    cells = np.column_stack((label, np.arange(8)))
    sizes = np.array([3, 4, 1])
    frontiers = Frontiers(cells, label, sizes, np.zeros((3, 2)), np.zeros((3, 2), np.int64))
    entry, cost = cheapest_entries(way, frontiers, 0.5, potential_scale, gain_scale)
    assert entry.tolist() == [1, 6, 7]
    np.testing.assert_allclose(cost, potential_scale * np.array([10, 20, 4]) - gain_scale * np.array([1.5, 2, 0.5]))
    assert np.argmin(cost) == best


def test_what_cannot_be_reached_costs_infinitely_much():
    label = np.array([0, 0, 1])
    frontiers = Frontiers(np.zeros((3, 2), np.int64), label, np.array([2, 1]), np.zeros((2, 2)), np.zeros((2, 2)))
    entry, cost = cheapest_entries(np.array([np.inf, 3.0, np.inf]), frontiers, 1.0, 1.0, 1.0)
    assert entry[0] == 1
    assert cost.tolist() == [1.0, np.inf]


def test_small_frontiers_are_left_for_later_not_for_ever():
    assert list(thresholds(20)) == [20, 10, 5, 2, 1]
    assert list(thresholds(1)) == [1]
