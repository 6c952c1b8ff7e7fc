import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.controllers.greed import choose_by_steps
from covey.controllers.nearest_frontier import choose_nearest
from covey.robots.controller import Program

# The unseen begins east of the column of free cells; the robot is in the south-west corner.
WIDE = """
    #######
    #....?#
    #....?#
    #....?#
    #....?#
    #R...?#
    #######
"""


def test_greed_takes_the_nearest_place_of_a_frontier_where_nearest_takes_its_middle(robot_on):
    robot = robot_on(WIDE)
    frontiers = robot.frontiers("explore", 1)
    allowed = np.ones(len(frontiers.cells), bool)
    assert choose_by_steps(robot, frontiers, allowed) == (4.5, 1.5)  # 3 steps
    assert choose_nearest(robot, frontiers, allowed) == (4.5, 3.5)


def test_steps_go_four_ways(robot_on):
    # 3 diagonal moves (4.2 m) lead to the north-east, 5 m to the east; in steps 6 against 5.
    robot = robot_on("""
        ####.?#
        ###..##
        ##..###
        #R....?
        #######
    """)
    frontiers = robot.frontiers("explore", 1)
    assert choose_by_steps(robot, frontiers, np.ones(len(frontiers.cells), bool)) == (5.5, 1.5)


def test_what_is_refused_or_behind_walls_is_passed_over(robot_on):
    robot = robot_on(WIDE)
    frontiers = robot.frontiers("explore", 1)
    allowed = frontiers.cells[:, 0] > 2
    assert choose_by_steps(robot, frontiers, allowed) == (4.5, 3.5)
    assert choose_by_steps(robot, frontiers, np.zeros_like(allowed)) is None


@pytest.mark.parametrize("tile_m", [0.0, -1.0])
def test_tiles_have_a_size(tile_m):
    group = covey.Group("g", covey.robots.disc(), [(0, 0, 0)], Program(controllers.get("greed"), {"tile_m": tile_m}))
    sim = covey.Simulation(covey.World.empty(4, 4), [group])
    sim.step()
    assert "tile_m" in str(sim.deciding.failures[0].error)
