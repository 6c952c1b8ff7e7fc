import math

import numpy as np
import pytest

import covey
from covey.controllers import controllers
from covey.controllers.basic.wall_follower import gap_along, left_hand
from covey.errors import InvalidValueError
from covey.onboard.controller import Program
from covey.robots.catalogue import disc, pioneer3dx


@pytest.mark.parametrize(
    ("front_free", "wall_left", "turned_left", "move"),
    [
        (True, True, False, "forward"),  # along the wall
        (False, True, False, "right"),  # a corner
        (True, False, False, "left"),  # the wall has ended
        (True, False, True, "forward"),  # and round its end
        (False, False, True, "left"),
        (False, True, True, "right"),
    ],
)
def test_the_left_hand_rule(front_free, wall_left, turned_left, move):
    assert left_hand(front_free, wall_left, turned_left) == move


def test_a_lane_meets_what_stands_in_it():
    angles = np.radians([-90.0, 0.0, 10.0, 90.0])
    ranges = np.array([0.3, math.inf, 2.0, math.nan])
    assert gap_along(ranges, angles, 0.0, 0.2) == math.inf  # 2 m at 10 degrees is 0.35 m beside the lane
    assert gap_along(ranges, angles, 0.0, 0.4) == pytest.approx(2.0 * math.cos(math.radians(10)))
    assert gap_along(ranges, angles, -math.pi / 2, 0.1) == pytest.approx(0.3)


@pytest.mark.slow
def test_it_goes_round_the_room_with_the_wall_on_its_left_and_never_to_an_island():
    # The pillar in the middle of the room is 3 m from all walls.
    pillar = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
    world = covey.World.polygons([(-4, -4), (4, -4), (4, 4), (-4, 4)], obstacles_m=[pillar], resolution_m=0.1)
    group = covey.Group("w", covey.robots.disc(), [(-2, -2, 0)], controllers.get("wall_follower"))
    sim = covey.Simulation(world, [group], seed=2)
    poses = []
    for _ in range(1200):
        sim.step()
        poses.append(sim.state.pose[0, :2].copy())
    x, y = np.array(poses)[300:].T
    assert (np.maximum(np.abs(x), np.abs(y)) > 4 - 1.4).all()
    turned = np.unwrap(np.arctan2(y, x))
    assert turned[-1] - turned[0] < -2 * math.pi  # clockwise, all the way round
    assert sim.close().metrics["collisions_wall"] == 0


def test_it_goes_through_doors():
    world = covey.World.polygons(
        [(-6, -3), (6, -3), (6, 3), (-6, 3)], walls_m=[[(0, -3), (0, -0.6)], [(0, 0.6), (0, 3)]], resolution_m=0.1
    )
    group = covey.Group("w", covey.robots.disc(), [(-4, 0, 0)], controllers.get("wall_follower"))
    sim = covey.Simulation(world, [group], seed=2, stop=covey.Stop(explored=0.99, timeout_s=200))
    sim.run()
    assert sim.status == "reached"


def test_cells_must_have_a_size():
    with pytest.raises(InvalidValueError, match="cell_m"):
        world = covey.World.empty(4, 4)
        group = covey.Group(
            "w", covey.robots.disc(), [(0, 0, 0)], Program(controllers.get("wall_follower"), {"cell_m": 0})
        )
        sim = covey.Simulation(world, [group], seed=2)
        sim.step()
        raise sim.deciding.failures[0].error


@pytest.mark.parametrize("robot", [disc, pioneer3dx])
@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_it_leaves_a_corner_that_it_nearly_touches(robot, heading):
    """Two walls 1 cm beside it reach into the lane that it wants free ahead, whichever way it faces."""
    at = 4.0 - robot().outer_radius_m - 0.01
    group = covey.Group("r", robot(), [(-at, -at, heading)], "wall_follower")
    sim = covey.Simulation(covey.World.empty(8, 8, resolution_m=0.05), [group], seed=1)
    while sim.time < 45.0 and math.hypot(*(sim.state.pose[0, :2] + at)) < 0.3:
        sim.step()
    assert math.hypot(*(sim.state.pose[0, :2] + at)) >= 0.3
