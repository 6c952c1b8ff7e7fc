import math

import numpy as np
import pytest
from tests.controllers.conftest import put

from covey.controllers.exploration.nearest_frontier import choose_nearest
from covey.controllers.exploration.tnf import NextFrontier, target, unknown_beside, utility, wavefront
from covey.controllers.teammates import Mate, Teammates
from covey.geometry import Pose

NONE = np.empty((0, 2))

# 2 m to the west a frontier of one cell, 4 m to the east one of five.
UNEQUAL = """
    #######?
    #####..?
    #####..?
    ?..R...?
    #####..?
    #####..?
    #######?
"""


def test_information_counts_unknown_cells_and_is_shared_by_all_frontiers():
    # Two frontiers as far away; cells with 3 and 1 unknown neighbours against one with 3. alpha = beta = 1: no distance.
    points = np.array([[3.0, 0.0], [-3.0, 0.0], [3.0, 0.0]])
    value = utility(points, np.array([0, 1, 0]), np.array([3, 3, 1]), np.zeros(2), NONE, NONE, 1.0, 1.0)
    seen = 5 * math.exp(-12.5)
    expected = [0.5 * (4 * 5 + 14 * seen) + 1.0, 0.5 * (3 * 5 + 6 * seen) + 1.0]
    np.testing.assert_allclose(value, expected)


def test_distance_is_the_density_of_the_beta_distribution():
    # One cell at 1 m, one at 4 m, which is the farthest: w = 1/2 and 1. Beta(2, 3): 12 w (1 - w)^2 = 1.5 and 0.
    points = np.array([[1.0, 0.0], [4.0, 0.0]])
    np.testing.assert_allclose(wavefront(points, np.array([0, 1]), np.zeros(2)), [0.5, 1.0])
    value = utility(points, np.array([0, 1]), np.zeros(2), np.zeros(2), NONE, NONE, 2.0, 3.0)
    information = 0.5 * 9 * 5 * math.exp(-12.5)
    np.testing.assert_allclose(value, [1.5 + information, information])


def test_w_stays_below_one_however_long_the_frontier():
    points = np.column_stack((np.full(200, 3.0), np.linspace(-10, 10, 200)))
    assert wavefront(points, np.zeros(200, int), np.zeros(2))[0] < 1


def test_a_robot_in_sight_and_a_goal_that_was_told_push_away():
    points, label, unknown = np.array([[4.0, 0.0], [-4.0, 0.0]]), np.array([0, 1]), np.array([3, 3])
    alone = utility(points, label, unknown, np.zeros(2), NONE, NONE, 8.0, 8.0)
    assert alone[0] == alone[1]
    beside = np.array([[3.0, 0.0]])  # 1 and 7 m away: w = sqrt(1/7) and 1
    near = np.array([1 - math.sqrt(1 / 7), 0.0])
    sighted = utility(points, label, unknown, np.zeros(2), beside, NONE, 8.0, 8.0)
    np.testing.assert_allclose(sighted, alone - near)
    promised = (3 * 5 + 6 * 5 * math.exp(-12.5)) / 2  # the same of both
    told = utility(points, label, unknown, np.zeros(2), NONE, beside, 8.0, 8.0)
    np.testing.assert_allclose(told, alone - promised * near)


def test_a_told_goal_outweighs_that_its_frontier_promises_more():
    # Five cells 4 m to the east, where another robot goes, against three 4 m to the west: TNF takes the longer one.
    away = np.arange(-2.0, 3.0)
    points = np.vstack((np.column_stack((np.full(5, 4.0), away)), np.column_stack((np.full(3, -4.0), away[1:4]))))
    label, unknown = np.array([0] * 5 + [1] * 3), np.full(8, 3)
    goal = np.array([[4.0, 0.0]])
    assert np.argmax(utility(points, label, unknown, np.zeros(2), NONE, NONE, 8.0, 8.0)) == 0
    assert np.argmax(utility(points, label, unknown, np.zeros(2), NONE, goal, 8.0, 8.0)) == 1


def test_the_next_frontier_is_the_one_that_promises_more_not_the_nearer(robot_on):
    robot = robot_on(UNEQUAL)
    frontiers = robot.frontiers("explore", 1)
    allowed = np.ones(len(frontiers.cells), bool)
    assert choose_nearest(robot, frontiers, allowed) == (1.5, 3.5)
    choice = NextFrontier(8.0, 8.0, 1.0)
    assert choice(robot, frontiers, allowed) == (6.5, 3.5)
    assert choice(robot, frontiers, allowed) == (6.5, 3.5)  # it keeps to it
    allowed = frontiers.cells[:, 1] < 4
    assert choice(robot, frontiers, allowed) == (1.5, 3.5)
    assert choice(robot, frontiers, np.zeros_like(allowed)) is None


def test_unknown_neighbours_are_counted_within_the_map():
    occupancy = np.array([[-1, 0, 0], [-1, 0, 100]], np.int8)
    assert unknown_beside(occupancy, np.array([[0, 1], [0, 2], [1, 1]])).tolist() == [2, 0, 2]


def test_the_target_is_between_first_middle_and_last_cell():
    points = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])
    everywhere = np.ones(5, bool)
    assert target(points, everywhere, np.array([5.0, 5.0])) == (0.0, 2.0)
    assert target(points, np.array([1, 1, 0, 0, 1], bool), np.array([5.0, 5.0])) == (0.0, 1.0)


@pytest.mark.parametrize(("ago_s", "goal"), [(1.0, (5.5, 1.5)), (100.0, (1.5, 1.5))])
def test_fftnf_leaves_the_frontier_that_another_goes_to_as_long_as_it_is_news(robot_on, ago_s, goal):
    # Two equal frontiers: the first, in the west, unless another robot goes there.
    robot = robot_on("""
        #######
        ?.R...?
        #######
    """)
    put(robot, pose=Pose(3.5, 1.5, 0.0), time_s=200.0)
    team = Teammates(every_s=2.0, forget_s=60.0)
    team.mates["r1"] = Mate(robot.time - ago_s, Pose(9, 9, 0), (1.5, 1.5), {})
    frontiers = robot.frontiers("explore", 1)
    choice = NextFrontier(1.0, 1.0, 1.0, team)
    assert choice(robot, frontiers, np.ones(len(frontiers.cells), bool)) == goal
