"""Rescue with a plan: what the plan shows is searched, whatever the damage has changed."""

import math

import numpy as np

import covey
from covey.controllers.rescue.missed import Eye, Missed
from covey.missions import Rescue
from covey.onboard.controller import Program

TARGETS = [
    {"kind": "victim", "identity": 0, "at": (-5.9, 1.0), "on": "wall"},
    {"kind": "small_fire", "identity": 1, "at": (0.5, -2.9), "on": "wall"},
    {"kind": "victim", "identity": 2, "at": (5.9, -1.0), "on": "wall"},
    {"kind": "big_fire", "identity": 4, "at": (3.0, 2.9), "on": "wall"},
]
PAIR = [(-2.0, -1.0, 0.0), (-2.0, 1.0, math.pi)]


def two_rooms(door_y):
    """Return a world of two rooms with a door of 1 m in the wall between them."""
    walls = [[[0, -3], [0, door_y - 0.5]], [[0, door_y + 0.5], [0, 3]]]
    return covey.World.polygons([[-6, -3], [6, -3], [6, 3], [-6, 3]], walls_m=walls, wall_m=0.1)


def rescue(world, timeout_s=200.0, **changes):
    robot = covey.robots.turtlebot3_waffle_pi()
    program = Program("search_plan", {"targets": 4})
    group = covey.Group("robot", robot, PAIR, program, known_map="plan")
    options = {"mission": Rescue(preset="dat160_2025"), "share_maps": 1.0, "targets": TARGETS, "radio": 50.0} | changes
    return covey.Simulation(world, [group], seed=1, stop=covey.Stop(timeout_s=timeout_s), **options).run()


def test_two_robots_with_a_right_plan_find_everything_and_meet():
    run = rescue(two_rooms(1.5))
    assert run.status == "reached"
    assert run.metrics["targets_found"] == 4
    assert run.metrics["false_reports"] == 0


def test_a_plan_with_the_door_elsewhere_is_overruled():
    run = rescue(two_rooms(1.5).replace(plan=two_rooms(-1.5)))
    assert run.metrics["targets_found"] == 4
    assert run.metrics["meeting_s"] is not None


def test_the_places_see_all_faces_that_can_be_seen():
    world = two_rooms(1.5)
    cells = np.where(world.solid, 100, 0).astype(np.int8)
    camera = next(s for s in covey.robots.turtlebot3_waffle_pi().sensors if s.kind == "tag_camera")
    searched = Missed(world.grid, Eye.of(camera))
    lattice = np.argwhere(world.clearance >= 0.3)
    lattice = lattice[(lattice % 8 == 0).all(axis=1)]
    sights = searched.sights(cells, lattice)
    seen = np.unique(sights.patches[sights.patches >= 0])
    chosen = [place for place, _ in sights.cover(searched.missed, 200, 0.5)]
    by_chosen = np.unique(sights.patches[chosen][sights.patches[chosen] >= 0])
    np.testing.assert_array_equal(by_chosen, seen)
    assert len(chosen) < len(lattice) / 5
    # 36 m of outer walls from inside, and both sides of 5 m of inner wall: 46 m of faces.
    assert 0.8 * 46 / 0.25 <= len(seen) <= 1.2 * 46 / 0.25
