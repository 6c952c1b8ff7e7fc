"""Which frontier each strategy goes to, on maps small enough to see it."""

import numpy as np

from covey.controllers.exploration.cost_frontier import backed_off, choose_cheapest, frontier_cost
from covey.controllers.exploration.first_frontier import choose_first
from covey.controllers.exploration.frontier_loop import thresholds
from covey.controllers.exploration.nearest_frontier import choose_nearest
from covey.mapping.occupancy.frontiers import find_frontiers
from covey.planning.progress import Blacklist

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


def test_a_metre_of_way_weighs_as_much_as_in_the_source():
    # navfn adds 50 for each cell of open floor: at 0.2 m and 0.005 a metre weighs 0.005 x 50 / 0.2 = 1.25, and a metre
    # of frontier 1. So 3 m of frontier 4 m away (5 - 3) cost less than 7 m of frontier 8 m away (10 - 7).
    way, cells = np.array([4.0, 8.0]), np.array([15, 35])
    np.testing.assert_allclose(frontier_cost(way, cells, 0.2, 0.005, 1.0), [2.0, 3.0])
    np.testing.assert_allclose(frontier_cost(way, cells, 0.2, 0.0, 1.0), [-3.0, -7.0])
    np.testing.assert_allclose(frontier_cost(way, cells, 0.1, 0.005, 0.0), [10.0, 20.0])  # twice as many cells


# One cell of the unknown 3 m to the west, three of them 13 m to the east; goals lie one cell before them.
NEAR_OR_WIDE = """
    ###################
    ##...............?#
    ?..R.............?#
    ##...............?#
    ###################
"""


def test_two_metres_of_way_are_worth_more_than_two_metres_of_frontier_far_away(robot_on):
    # In cells of 1 m a metre weighs 0.25 at least: about 0.25 - 1 in the west against 3 - 3 in the east.
    robot = robot_on(NEAR_OR_WIDE)
    frontiers, allowed = everywhere(robot)
    assert choose_cheapest(robot, frontiers, allowed, Blacklist(), 0.005, 1.0) == (2.5, 2.5)
    # 250 times less, as metres with the same scale were: -1 against -3.
    assert choose_cheapest(robot, frontiers, allowed, Blacklist(), 0.005 / 250, 1.0) == (15.5, 2.5)


def test_a_goal_lies_before_the_middle_of_the_frontier(robot_on):
    # The body of 0.15 m takes one cell of 1 m: of the centre of gravity and the cell before it, this is nearer.
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
    assert choose_cheapest(robot, frontiers, allowed, Blacklist(), 0.005, 1.0) == (3.5, 3.5)
    refused = Blacklist(tolerance_m=1.5)
    refused.add((3.5, 3.5))  # in vain; the centre of gravity, 1 m from it, with it
    allowed = refused.clear(robot.map.grid.to_world(frontiers.cells))
    assert choose_cheapest(robot, frontiers, allowed, refused, 0.005, 1.0) == (4.5, 1.5)  # the nearest of the others
    assert choose_cheapest(robot, frontiers, np.zeros_like(allowed), refused, 0.005, 1.0) is None


def test_the_way_back_from_a_frontier_follows_the_mean_direction_of_the_unknown():
    cells = np.zeros((9, 9), np.int8)
    cells[6:, :] = cells[:, 6:] = -1  # the unknown in the north and in the east: the frontier is an angle
    frontiers = find_frontiers(cells)
    goals = backed_off(cells, frontiers, 2)
    # 11 cells: 0 ... 5 of row 5, 0 ... 4 of column 5. Mean row (6 x 5 + 10) / 11, and the same column.
    np.testing.assert_allclose(goals[0, 0], [40 / 11, 40 / 11])
    step = goals[0, 1] - goals[0, 0]
    np.testing.assert_allclose(step, [-np.sqrt(0.5), -np.sqrt(0.5)])  # south-west, one cell
    np.testing.assert_allclose(goals[0, 2] - goals[0, 1], step)


def test_small_frontiers_are_left_for_later_not_for_ever():
    assert list(thresholds(20)) == [20, 10, 5, 2, 1]
    assert list(thresholds(1)) == [1]
