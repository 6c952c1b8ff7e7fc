"""Whole explorations: every strategy finishes, and a robot that can see no more says so."""

import math

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.controllers.exploration.frontier_loop import explore as explore_by
from covey.runtime.stop import Stop

# Two rooms of 6 x 6 m with a door of 1.2 m between them.
DOOR = [[(0.0, -3.0), (0.0, -0.6)], [(0.0, 0.6), (0.0, 3.0)]]
OUTLINE = [(-6, -3), (6, -3), (6, 3), (-6, 3)]


def rooms(walls, obstacles=()):
    return covey.World.polygons(OUTLINE, walls_m=walls, obstacles_m=list(obstacles), resolution_m=0.1)


def explore(world, name, **stop):
    group = covey.Group("scout", covey.robots.disc(), [(-4.0, 0.0, 0.0)], controllers.get(name))
    sim = covey.Simulation(world, [group], seed=1, stop=Stop(**stop))
    return sim, sim.run()


@pytest.mark.parametrize("name", ["nearest_frontier", "cost_frontier", "first_frontier"])
def test_every_strategy_explores_two_rooms(name):
    sim, run = explore(rooms(DOOR), name, explored=0.99, timeout_s=120)
    assert sim.status == "reached"
    assert run.metrics["collisions_wall"] == 0
    # The far corners of the second room can only be seen from beyond the door.
    assert run.metrics["exploration_cost_m"] > 3.0


def test_a_closed_room_is_neither_waited_for_nor_counted():
    closed = [[(0.0, -3.0), (0.0, 3.0)]]
    sim, run = explore(rooms(closed), "nearest_frontier", explored=1.0, timeout_s=120)
    assert sim.status in ("reached", "exhausted")
    assert sim.time < 60
    assert run.metrics["explored_share"] > 0.99  # of what can be explored: the room that it stands in


def test_a_gap_too_narrow_for_the_body_ends_the_exploration_not_the_patience():
    # Through a slit of 0.2 m a robot of 0.3 m sees a part of the second room and its frontiers, and never gets there.
    slit = [[(0.0, -3.0), (0.0, -0.1)], [(0.0, 0.1), (0.0, 3.0)]]
    sim, run = explore(rooms(slit), "nearest_frontier", timeout_s=600)
    assert sim.status == "reached"  # without a share to reach, the goal is that the controllers are done
    assert sim.time < 300
    assert run.metrics["collisions_wall"] == 0


@pytest.mark.slow
def test_a_robot_that_has_nothing_left_looks_behind_itself_for_doors_that_have_opened():
    scenario = covey.load_scenario("depot_doors").replace("seed", 8)  # its last door opens behind their scanners
    run = scenario.build().run()
    assert run.status == "reached"
    assert run.metrics["explored_share"] >= 0.97


@pytest.mark.parametrize(
    "near_m", [math.inf, 7.0, 3.0]
)  # how far goals of greed, minotaur, next_best_view may be seen from
def test_a_goal_that_was_reached_bans_only_what_lies_beside_it(near_m):
    goals, banned = [], []

    def choose(robot, frontiers, allowed):
        points = robot.map.grid.to_world(frontiers.cells)
        far = np.all([np.hypot(*(points - g).T) > 1.5 for g in goals] or [np.ones(len(points), bool)], axis=0)
        banned.append(int((far & ~allowed).sum()))
        goal = robot.nearest(frontiers.cells[allowed])
        goals.extend([] if goal is None else [goal])
        return goal

    @covey.controller(sees=("pose", "map", "shared_map"))
    async def goes_by(robot):
        await explore_by(robot, choose, definition="explore", min_cells=1, replan_s=math.inf, near_m=near_m)

    group = covey.Group("scout", covey.robots.disc(), [(-4.0, 0.0, 0.0)], goes_by)
    covey.Simulation(rooms(DOOR), [group], seed=1, stop=Stop(explored=0.99, timeout_s=120)).run()
    assert len(goals) > 1
    assert not any(banned)
