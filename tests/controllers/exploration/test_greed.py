import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.controllers.exploration.greed import choose_by_steps
from covey.controllers.exploration.nearest_frontier import choose_nearest
from covey.onboard.controller import Program
from covey.planning.progress import Blacklist
from covey.scenario.records import Scenario

NOTHING = Blacklist(tolerance_m=1.0)
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
    assert choose_by_steps(robot, frontiers, allowed, NOTHING, 1.0) == (4.5, 1.5)  # 3 steps
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
    assert choose_by_steps(robot, frontiers, np.ones(len(frontiers.cells), bool), NOTHING, 1.0) == (5.5, 1.5)


def test_what_is_refused_or_behind_walls_is_passed_over(robot_on):
    robot = robot_on(WIDE)
    frontiers = robot.frontiers("explore", 1)
    allowed = frontiers.cells[:, 0] > 2
    assert choose_by_steps(robot, frontiers, allowed, NOTHING, 1.0) == (4.5, 3.5)
    assert choose_by_steps(robot, frontiers, np.zeros_like(allowed), NOTHING, 1.0) is None


@pytest.mark.parametrize("tile_m", [0.0, -1.0])
def test_tiles_have_a_size(tile_m):
    group = covey.Group("g", covey.robots.disc(), [(0, 0, 0)], Program(controllers.get("greed"), {"tile_m": tile_m}))
    sim = covey.Simulation(covey.World.empty(4, 4), [group])
    sim.step()
    assert "tile_m" in str(sim.deciding.failures[0].error)


# The unseen lies at the end of a passage one cell wide; the place before it is open.
PASSAGE = """
    #########
    #....####
    #R.....?#
    #....####
    #########
"""


def test_the_place_to_go_to_has_half_a_tile_to_the_walls(robot_on):
    robot = robot_on(PASSAGE)
    frontiers = robot.frontiers("explore", 1)
    allowed = np.ones(len(frontiers.cells), bool)
    assert frontiers.cells.tolist() == [[2, 6]]
    assert choose_by_steps(robot, frontiers, allowed, NOTHING, 1.0) == (6.5, 2.5)  # half a metre on either side
    # A tile of 2 m needs 1 m to the walls: the nearest such cell lies in the hall, 3 cells back: a corner of the
    # wall is sqrt(5) - 0.5 = 1.7 m from it, and sqrt(2) - 0.5 = 0.9 m from the next one.
    assert choose_by_steps(robot, frontiers, allowed, NOTHING, 2.0) == (3.5, 2.5)
    tried = Blacklist(tolerance_m=1.0)
    tried.add((3.5, 2.5))
    assert choose_by_steps(robot, frontiers, allowed, tried, 2.0) == (6.5, 2.5)  # it showed nothing: into the passage


def test_greedy_robots_in_a_cave_go_on_and_do_not_stand():
    sim = Scenario.model_validate(
        {
            "name": "cave",
            "world": {"generate": "cave", "size_m": [30, 30], "seed": 1},
            "robots": [
                {"name": "scout", "robot": "maes", "count": 2, "start": {"together": {}}, "controller": "greed"}
            ],
            "radio": {"range_m": 100},
            "share_maps": {"every_s": 1},
            "stop": {"explored": 0.99, "timeout_s": 200},
        }
    ).build()
    stood, steps, before = 0, 0, sim.state.pose[:, :2].copy()
    while not sim.done:
        sim.step()
        stood += int((np.hypot(*(sim.state.pose[:, :2] - before).T) < 0.002).sum())
        steps, before = steps + 2, sim.state.pose[:, :2].copy()
    assert sim.status == "reached"
    assert stood < 0.1 * steps  # nothing in greed waits
