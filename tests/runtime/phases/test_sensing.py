"""Sensors that nobody reads: what they explore does not depend on it."""

import numpy as np
import pytest

import covey
from covey.geometry.grid import Grid
from covey.onboard.group import Group
from covey.robots.model import RobotModel
from covey.runtime.simulation import Simulation
from covey.sensors import Lidar
from covey.world.world import World


def roam(robot):
    """Go round in an own circle."""
    robot.drive(0.5, 0.2 if robot.collided else 0.1)


@covey.controller(sees=("collided",))
def blind(robot):
    """Do so without a look at the lidar."""
    roam(robot)


@covey.controller(sees=("collided", "lidar"))
def seeing(robot):
    """Do so, and be allowed to look."""
    roam(robot)


def simulation(controller, **lidar) -> Simulation:
    cells = np.zeros((80, 100), np.uint8)
    cells[30:36, :60] = cells[50:, 70:74] = 1
    world = World(Grid(cells, 0.1))
    sensors = [Lidar(rays=90, range_m=6.0, **({"sees_robots": False} | lidar))]
    robot = RobotModel(kinematics="unicycle", radius_m=0.15, max_speed_m_s=0.5, max_turn_rad_s=2.0, sensors=sensors)
    start = np.array([[1.0, 1.0, 0.3], [5.0, 1.5, 2.0], [8.5, 7.0, -1.0]])
    return Simulation(world, [Group("r", robot, start, covey.Program(controller))], seed=3)


def explored(sim: Simulation, fault: bool = False) -> tuple[np.ndarray, np.ndarray]:
    for step in range(120):
        if step == 20:
            sim.add_wall([3.0, 0.2], [3.0, 2.8], name="w", thickness_m=0.8)
        if step == 60:
            sim.remove_wall("w")
        if step == 10 and fault:
            sim.fault("sensor", "r0", for_s=4.0)
        sim.step()
    assert sim.scoring.exploration.cells is not None
    result = sim.scoring.exploration.cells.first_step.copy(), sim.scoring.exploration.share.copy()
    sim.close()
    return result


def test_a_lidar_that_nobody_reads_explores_the_same_also_where_walls_come_and_go():
    unread, read = simulation(blind), simulation(seeing)
    assert unread.sensing.banks[0].unread
    assert not read.sensing.banks[0].unread
    for one, other in zip(explored(unread), explored(read), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_lidar_that_nobody_reads_explores_nothing_while_it_is_broken():
    one, other = (explored(simulation(controller), fault=True) for controller in (blind, seeing))
    np.testing.assert_array_equal(one[0], other[0])
    assert one[1][0] < explored(simulation(blind))[1][0]


@pytest.mark.parametrize("controller", [seeing, roam])
def test_a_lidar_that_a_controller_may_look_at_is_read(controller):
    assert not simulation(controller).sensing.banks[0].unread


def test_what_sees_robots_is_read_since_they_hide_what_is_behind():
    assert not simulation(blind, sees_robots=True).sensing.banks[0].unread
