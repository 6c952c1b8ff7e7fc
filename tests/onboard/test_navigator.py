"""The navigator in closed loop with the physics and the sensors of the catalogue's robots."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from covey.geometry import Grid
from covey.onboard.driving import DriveLimits
from covey.onboard.navigator import Navigator
from covey.physics.planar.physics import PlanarPhysics
from covey.robots.catalogue import robots
from covey.robots.model import RobotModel
from covey.robots.team import TeamModel, TeamState
from covey.sensors import Lidar
from covey.sensors.neighbours import NeighboursReading
from covey.sensors.truth import Truth
from covey.world.world import World

NOBODY = np.empty((0, 2))
KEYS = np.zeros(1, np.uint64)
SCAN = Lidar(rays=180, fov_deg=190, range_m=26, rate_hz=10, sigma_m=0.01)


class Known:
    """A belief that knows the world and never changes."""

    def __init__(self, world):
        cells = np.where(world.solid, 100, 0).astype(np.int8)
        self.grid, self.version = Grid(cells, world.grid.resolution, world.grid.origin), 1

    def occupancy(self):
        return self.grid.cells

    def unsafe_ground(self, points, count, pose, reach_m, keep_m):
        return count


def drive(order, model, world=None, start=(0.0, 0.0, 0.3), known=None, timeout_s=150.0):
    """Carry out an order until the navigator ends it; return state, final pose once it stands, contacts, and time."""
    world = world or World.empty(100, 100, resolution_m=0.5)
    team, state = TeamModel.of([model]), TeamState.at([start])
    physics = PlanarPhysics(world, team)
    navigator = Navigator(DriveLimits.of(model), np.array(model.body_discs))
    order(navigator)
    command, result, contacts, time_s = (0.0, 0.0, 0.0), "driving", 0, 0.0
    while result == "driving" and time_s < timeout_s:
        truth = Truth(
            world.skip, world.grid.frame, state.pose, state.pose, state.twist, team.discs, team.disc_count,
            np.empty((0, 3)), (0, 10), np.zeros(1, np.int64), 0.1,
        )  # fmt: skip
        lidar = SCAN.read(truth, np.zeros(1, np.int64), KEYS, round(time_s * 10)).row(0)
        command, result = navigator.command(state.pose[0], command, known, lidar, None, time_s)
        contacts += len(physics.step(state, np.array([command]), 10).kind)
        time_s += 0.1
    for _ in range(20):
        physics.step(state, np.zeros((1, 3)), 10)
    return result, state.pose[0], contacts, time_s


def catalogue():
    delayed = RobotModel(
        name="delayed", radius_m=0.2, max_speed_m_s=1.5, acceleration_m_s2=1.0, command_delay_s=0.2, speed_lag_s=0.1
    )
    holonomic = RobotModel(name="omni", kinematics="holonomic", radius_m=0.2, max_speed_m_s=1.0, acceleration_m_s2=2.0)
    return [*(robots.get(name)() for name in robots.names()), delayed, holonomic]


@pytest.mark.parametrize("model", catalogue(), ids=lambda m: m.name)
@pytest.mark.parametrize("distance", [1.0, 5.0, 20.0, -1.0])
def test_forward_ends_within_a_tenth_of_a_metre(model, distance):
    state, pose, contacts, _ = drive(lambda n: n.forward(distance), model)
    assert (state, contacts) == ("reached", 0)
    along = (math.cos(0.3), math.sin(0.3))
    assert math.hypot(pose[0] - distance * along[0], pose[1] - distance * along[1]) < 0.1


@pytest.mark.parametrize("model", catalogue(), ids=lambda m: m.name)
@pytest.mark.parametrize("angle", [0.2, -math.pi / 2, math.pi, 7.0])
def test_turn_ends_at_the_angle_on_the_spot(model, angle):
    state, pose, _, _ = drive(lambda n: n.turn(angle), model)
    assert state == "reached"
    assert abs((pose[2] - 0.3 - angle + math.pi) % (2 * math.pi) - math.pi) < 0.05
    assert np.hypot(pose[0], pose[1]) < 0.01


@pytest.mark.parametrize("model", catalogue(), ids=lambda m: m.name)
def test_goto_without_a_map_reaches_a_point_and_a_heading(model):
    state, pose, _, time_s = drive(lambda n: n.start((2.0, -1.5), heading=2.0), model)
    assert state == "reached"
    assert math.hypot(pose[0] - 2.0, pose[1] + 1.5) < 0.1 + 0.02
    if model.max_turn_rad_s > 0:
        assert abs((pose[2] - 2.0 + math.pi) % (2 * math.pi) - math.pi) < 0.06
    assert time_s < 2.5 / model.max_speed_m_s + 8.0


def two_rooms():
    """A wall of 0.2 m across a room of 8 m x 6 m, with a doorway of 0.8 m at the top."""
    wall = [[(-0.1, -3), (0.1, -3), (0.1, 1.5), (-0.1, 1.5)], [(-0.1, 2.3), (0.1, 2.3), (0.1, 3), (-0.1, 3)]]
    return World.polygons([(-4, -3), (4, -3), (4, 3), (-4, 3)], obstacles_m=wall, resolution_m=0.1)


@pytest.mark.parametrize("name", ["pioneer3dx", "turtlebot3_waffle", "maes"])
def test_goto_through_a_doorway_touches_nothing(name):
    world = two_rooms()
    model, known = robots.get(name)(), Known(world)
    state, pose, contacts, _ = drive(lambda n: n.start((3.0, -2.0)), model, world, (-3.0, -2.0, 1.0), known)
    assert (state, contacts) == ("reached", 0)
    assert math.hypot(pose[0] - 3.0, pose[1] + 2.0) < 0.12


@pytest.mark.parametrize("goal", [(0.0, 0.0), (-0.1, -1.0), (40.0, 0.0), (3.96, 0.0)], ids=str)
def test_a_goal_in_a_wall_or_outside_the_map_is_unreachable_at_once(goal):
    world = two_rooms()
    model, known = robots.get("pioneer3dx")(), Known(world)
    state, _, contacts, time_s = drive(lambda n: n.start(goal), model, world, (-3.0, -2.0, 1.0), known)
    assert (state, contacts) == ("unreachable", 0)
    assert time_s <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize("model", catalogue(), ids=lambda m: m.name)
@pytest.mark.parametrize("gap_m", [0.0, 0.02])
def test_a_robot_that_starts_in_a_corner_can_always_leave_it(model, gap_m):
    """Its circle touches both walls, or nearly; it looks in any direction, and goes along a wall or to the middle."""
    world = World.polygons([(0, 0), (3, 0), (3, 3), (0, 3)], resolution_m=0.05)
    at, known = model.outer_radius_m + gap_m, Known(world)
    for heading in np.radians(range(0, 360, 45)):
        for goal in ((at + 0.6, at + 0.6), (at + 0.8, at + 0.2)):
            state, _, _, time_s = drive(lambda n, to=goal: n.start(to), model, world, (at, at, heading), known, 40.0)
            assert state == "reached", (heading, goal)
            assert time_s < 8.0 + 3.0 / model.max_speed_m_s


@pytest.mark.parametrize("name", ["disc", "turtlebot3_burger"])
def test_it_goes_slowly_through_a_door_that_is_a_little_wider_than_its_body(name):
    """2 cm are left on each side, less than the gap to walls that it keeps elsewhere."""
    model = robots.get(name)()
    half = model.outer_radius_m + 0.02
    wall = [[(-0.1, -2), (0.1, -2), (0.1, -half), (-0.1, -half)], [(-0.1, half), (0.1, half), (0.1, 2), (-0.1, 2)]]
    world = World.polygons([(-2, -2), (2, -2), (2, 2), (-2, 2)], obstacles_m=wall, resolution_m=0.01)
    state, pose, _, _ = drive(lambda n: n.start((1.0, 0.0)), model, world, (-1.0, 0.2, 0.0), Known(world), 60.0)
    assert state == "reached"
    assert math.hypot(pose[0] - 1.0, pose[1]) < 0.12


def test_a_goal_in_a_closed_room_is_unreachable_at_once():
    wall = [[(-0.1, -3), (0.1, -3), (0.1, 3), (-0.1, 3)]]
    world = World.polygons([(-4, -3), (4, -3), (4, 3), (-4, 3)], obstacles_m=wall, resolution_m=0.1)
    state, _, _, time_s = drive(
        lambda n: n.start((3.0, 0.0)), robots.get("pioneer3dx")(), world, (-3.0, 0.0, 0.0), Known(world)
    )
    assert state == "unreachable"
    assert time_s <= 0.2


def test_without_a_map_a_goal_behind_a_wall_ends_as_stuck_and_touches_nothing():
    wall = [[(-0.1, -3), (0.1, -3), (0.1, 3), (-0.1, 3)]]
    world = World.polygons([(-4, -3), (4, -3), (4, 3), (-4, 3)], obstacles_m=wall, resolution_m=0.1)
    state, _, contacts, time_s = drive(
        lambda n: n.start((3.0, 0.0)), robots.get("pioneer3dx")(), world, (-3.0, 0.0, 0.0)
    )
    assert (state, contacts) == ("stuck", 0)
    assert time_s < 120


def test_forward_stops_before_a_wall():
    world = World.empty(6, 6, resolution_m=0.1)
    model = robots.get("pioneer3dx")()
    state, pose, contacts, _ = drive(lambda n: n.forward(10.0), model, world, (0.0, 0.0, 0.0))
    assert (state, contacts) == ("stuck", 0)
    assert 2.4 < pose[0] < 3.0


def beside(distance, time_s):
    """Return what a robot reads of one neighbour straight ahead that rocks to and fro, so that it is not parked."""
    ranges = np.array([distance + 0.1 * math.sin(3.0 * time_s)])
    one = np.zeros(1)
    return NeighboursReading(ranges, one, np.array([0]), np.array([math.nan]))


def test_where_robots_may_hide_the_way_a_closed_room_is_looked_at_for_some_seconds():
    wall = [[(-0.1, -3), (0.1, -3), (0.1, 3), (-0.1, 3)]]
    known = Known(World.polygons([(-4, -3), (4, -3), (4, 3), (-4, 3)], obstacles_m=wall, resolution_m=0.1))
    model = robots.get("pioneer3dx")()
    navigator = Navigator(DriveLimits.of(model), np.array(model.body_discs), identity=1)
    navigator.start((3.0, 0.0))
    state, step = "driving", 0
    while state == "driving" and step < 600:
        step += 1
        _, state = navigator.command((-3.0, 0.0, 0.0), (0, 0, 0), known, None, beside(1.5, 0.1 * step), 0.1 * step)
    assert state == "unreachable"
    assert 5.0 < 0.1 * step < 20.0


@pytest.mark.parametrize(("moves", "least_s", "most_s"), [(False, 40.0, 90.0), (True, 200.0, 300.0)])
def test_a_robot_waits_longer_for_one_that_still_moves_than_for_one_that_stands(moves, least_s, most_s):
    model = robots.get("pioneer3dx")()
    navigator = Navigator(DriveLimits.of(model), np.array(model.body_discs), identity=1)
    navigator.start((3.0, 0.0))
    state, step = "driving", 0
    while state == "driving" and step < 4000:
        step += 1
        near = beside(0.9, 0.1 * step if moves else 0.0)
        _, state = navigator.command((0.0, 0.0, 0.0), (0, 0, 0), None, None, near, 0.1 * step)
    assert state == "stuck"
    assert least_s <= 0.1 * step <= most_s


def _crossing():
    path = Path(__file__).parents[2] / "benchmarks" / "crossing.py"
    spec = importlib.util.spec_from_file_location("crossing", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(("situation", "seed"), [("circle", 0), ("corridor", 1), ("doorway", 0)])
def test_robots_in_each_others_way_all_arrive_without_contact(situation, seed):
    """Issue: 12 swap places across a circle of 10 m; 4 meet 4 in a corridor of 1.5 m; a doorway of 0.8 m both ways."""
    result = _crossing().cross(situation, seed)
    assert result.arrived == result.robots
    assert result.contacts_robot == result.contacts_wall == 0
    assert result.missed_m < 0.12
