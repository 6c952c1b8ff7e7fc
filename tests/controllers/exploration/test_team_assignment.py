"""What a robot decides when it hears of others, on maps small enough to see it."""

import numpy as np
import pytest
from tests.references.controllers import middles_reference

from covey.controllers import (
    cost_utility,
    greedy_assignment,
    hungarian_assignment,
    iterative_assignment,
    minpos,
)
from covey.controllers.exploration.nearest_frontier import choose_nearest
from covey.controllers.exploration.team_assignment import candidates, middles
from covey.controllers.teammates import Mate
from covey.geometry import Pose
from covey.planning import assignment as by

# A corridor with an unknown end at either side: 3 m to the west of the robot, 5 m to the east.
CORRIDOR = """
    ###########
    ?...R.....?
    ###########
"""
RULES = {
    "greedy_assignment": lambda costs, robot: by.greedy_assignment(costs)[robot],
    "iterative_assignment": lambda costs, robot: by.iterative_assignment(costs)[robot],
    "hungarian_assignment": lambda costs, robot: by.hungarian_assignment(costs)[robot],
    "minpos": by.minpos,
    "cost_utility": lambda costs, robot: by.cost_utility(costs / 8.0, _in_sight)[robot],
}


def _in_sight(goal):
    return np.eye(2)[goal]  # the two ends are 8 m apart: as far as the sensor sees


def mate(x, y, goal=None):
    return Mate(0.0, Pose(x, y, 0.0), goal, {})


def found(robot, mates, piece_m=10.0):
    frontiers = robot.frontiers("explore", 1)
    return candidates(robot, frontiers, np.ones(len(frontiers.cells), bool), mates, piece_m)


def test_the_shelf_holds_them_all():
    for item in (greedy_assignment, iterative_assignment, hungarian_assignment, minpos, cost_utility):
        assert item.covey_sees == ("pose", "map", "shared_map", "radio")


@pytest.mark.parametrize("rule", RULES)
def test_a_mate_at_the_near_end_sends_the_robot_to_the_far_one(robot_on, rule):
    robot = robot_on(CORRIDOR)
    frontiers = robot.frontiers("explore", 1)
    assert choose_nearest(robot, frontiers, np.ones(len(frontiers.cells), bool)) == (1.5, 1.5)
    here = found(robot, {"a0": mate(2.5, 1.5)})
    assert here.points[RULES[rule](here.costs, here.robot)].tolist() == [9.5, 1.5]


@pytest.mark.parametrize("rule", RULES)
def test_alone_it_goes_to_the_nearest(robot_on, rule):
    here = found(robot_on(CORRIDOR), {})
    assert here.points[RULES[rule](here.costs, here.robot)].tolist() == [1.5, 1.5]


def test_rows_are_in_the_order_of_names_and_costs_are_ways(robot_on):
    robot = robot_on(CORRIDOR)
    here = found(robot, {"z9": mate(8.5, 1.5), "a0": mate(2.5, 1.5)})
    assert here.robot == 1  # a0, r0, z9
    west = here.points[:, 0].argmin()
    cheap = here.costs / here.costs.min()  # a corridor of 1 m is tight: each metre costs the same, but more than 1
    np.testing.assert_allclose(cheap[:, west], [1, 3, 7], rtol=0.05)
    np.testing.assert_allclose(cheap[:, 1 - west], [7, 5, 1], rtol=0.05)


def test_of_many_mates_the_nearest_ten_count(robot_on):
    here = found(robot_on(CORRIDOR), {f"a{i:02}": mate(9.5 - 0.1 * i, 1.5) for i in range(30)})
    assert here.costs.shape == (11, 2)


def test_a_mate_behind_a_wall_cannot_get_there(robot_on):
    robot = robot_on("""
        ###########
        #.........#
        ###########
        ?...R.....?
        ###########
    """)
    here = found(robot, {"a0": mate(2.5, 3.5)})
    assert np.isinf(here.costs[0]).all()
    assert np.isfinite(here.costs[1]).all()


def test_what_cannot_be_reached_is_no_candidate(robot_on):
    assert (
        found(
            robot_on("""
                ######?
                #.R.#.?
                ######?
            """),
            {},
        )
        is None
    )


def test_long_frontiers_are_cut_and_short_ones_are_not():
    line = np.column_stack((np.zeros(21, int), np.arange(21)))
    assert len(middles(line, np.zeros(21, int), 100.0)) == 1
    cut = middles(line, np.zeros(21, int), 7.0)
    assert len(cut) == 3
    gaps = np.diff(np.sort(cut[:, 1]))
    assert (gaps >= 5).all()
    two = middles(line, (np.arange(21) > 10).astype(int), 100.0)
    assert two.tolist() == [[0, 5], [0, 15]]


@pytest.mark.parametrize("seed", range(12))
def test_the_pieces_of_frontiers_are_those_of_plain_numpy(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(0, 150))
    cells, label = random.integers(0, 40, (count, 2)), random.integers(0, 5, count)
    if seed % 2:
        label.sort()
    for piece in (0.0, 5.0, 12.5, 100.0):
        assert middles(cells, label, piece).tolist() == middles_reference(cells, label, piece).tolist()
