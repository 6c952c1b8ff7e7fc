"""Routes over a map, without a robot."""

import numpy as np
import pytest

from covey.geometry import Grid
from covey.onboard.driving import Driving
from covey.onboard.navigation.right_of_way import point_on
from covey.onboard.navigation.route import Route, is_blocked, plan
from covey.world.world import World

NOBODY = np.empty((0, 2))


def two_rooms():
    """The map of a room of 8 m x 6 m with a wall of 0.2 m across it, and a doorway of 0.8 m at the top."""
    wall = [[(-0.1, -3), (0.1, -3), (0.1, 1.5), (-0.1, 1.5)], [(-0.1, 2.3), (0.1, 2.3), (0.1, 3), (-0.1, 3)]]
    world = World.polygons([(-4, -3), (4, -3), (4, 3), (-4, 3)], obstacles_m=wall, resolution_m=0.1)
    return Grid(np.where(world.solid, 100, 0).astype(np.int8), world.grid.resolution, world.grid.origin)


def test_a_route_is_planned_again_when_a_wall_appears_on_it():
    cells = np.zeros((40, 60), np.int8)
    grid = Grid(cells, 0.1)
    route = plan(grid, (0.5, 2.0), (5.5, 2.0), 0.3, Driving(), NOBODY, 0.1)
    assert isinstance(route, Route)
    place = (0.0, 0.0, 0.1, 0.2, 6.0)
    assert not is_blocked(route.line, 0, 0.5, 2.0, cells, *place)
    cells[10:, 30] = 100
    assert is_blocked(route.line, 0, 0.5, 2.0, cells, *place)
    around = plan(grid, (0.5, 2.0), (5.5, 2.0), 0.3, Driving(), NOBODY, 0.1)
    assert isinstance(around, Route)
    assert around.line[:, 1].min() < 0.9
    assert not is_blocked(around.line, 0, 0.5, 2.0, cells, *place)


def test_a_robot_that_the_map_shows_in_a_doorway_does_not_close_it():
    grid = two_rooms()
    ends = ((-3.0, -2.0), (3.0, -2.0))
    columns, rows = np.meshgrid(np.arange(grid.shape[1]), np.arange(grid.shape[0]))
    centres = grid.to_world(np.stack((rows, columns), -1))
    robot = np.hypot(centres[..., 0], centres[..., 1] - 2.0) < 0.34
    jammed = grid.with_cells(np.where(robot, 100, grid.cells).astype(np.int8))
    assert plan(jammed, *ends, 0.29, Driving(), NOBODY, 0.1) == "no way"
    assert plan(jammed, *ends, 0.29, Driving(), NOBODY, 0.1, lambda: np.array([(3.0, 1.0)])) == "no way"
    assert isinstance(plan(jammed, *ends, 0.29, Driving(), NOBODY, 0.1, lambda: np.array([(0.0, 2.0)])), Route)
    there = ((-3.0, -2.0), (0.0, 2.0))  # the goal is where the map shows the robot, at one with the wall
    assert plan(jammed, *there, 0.29, Driving(), NOBODY, 0.1) == "wall"
    assert isinstance(plan(jammed, *there, 0.29, Driving(), NOBODY, 0.1, lambda: np.array([(0.0, 2.0)])), Route)


def test_a_doorway_is_a_narrow_stretch_and_a_corridor_for_two_is_not():
    route = plan(two_rooms(), (-3.0, -2.0), (3.0, -2.0), 0.29, Driving(), NOBODY, 0.1)
    assert isinstance(route, Route)
    assert len(route.narrow) == 1
    begin, end = route.narrow[0]
    assert point_on(route.line, 0.5 * (begin + end))[:2] == pytest.approx((0.0, 1.9), abs=0.25)
    cells = np.full((40, 100), 100, np.int8)
    cells[12:28, 2:-2] = 0  # 1.6 m wide
    wide = plan(Grid(cells, 0.1), (0.6, 2.0), (9.4, 2.0), 0.29, Driving(), NOBODY, 0.1)
    assert isinstance(wide, Route)
    assert len(wide.narrow) == 0
