"""Laws of moving teams: their parts against formulas, and the numbers of `benchmarks/laws.py` in their short form."""

import importlib
import math

import numpy as np
import pytest

import covey
from covey.controllers.laws import circular_motion, cyclic_pursuit, evasion, lloyd, potential_field, pursuit, steering
from covey.geometry.voronoi import voronoi
from covey.onboard.controller import Program

SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]
CORNERS = np.array([(9.0, 9.0), (9.0, 1.0), (1.0, 1.0), (1.0, 9.0)])


@pytest.mark.slow
@pytest.mark.parametrize("part", ["lloyd", "pursuit", "cyclic", "circular", "fields"])
def test_every_number_is_what_theory_says(part):
    rows = list(importlib.import_module(f"laws_{part}").rows(short=True))
    assert len(rows) > 5
    assert not [str(row) for row in rows if not row.holds]


def test_lloyd_goes_against_the_gradient_of_the_cost():
    points, k = np.random.default_rng(0).uniform(1, 9, (6, 2)), 1e-5
    cells = voronoi(points, SQUARE)
    velocity = lloyd.lloyd_velocity(points, cells.centroid, gain=0.7)
    for i in range(6):
        for axis in range(2):
            moved = [points + sign * k * np.eye(12)[2 * i + axis].reshape(6, 2) for sign in (1, -1)]
            slope = (voronoi(moved[0], SQUARE).cost.sum() - voronoi(moved[1], SQUARE).cost.sum()) / (2 * k)
            assert slope == pytest.approx(-2 * cells.area[i] * velocity[i, axis] / 0.7, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("centroid", "speed", "turn"),
    [
        ((2.0, 0.0), 2.0, 0.0),
        ((-2.0, 0.0), -2.0, 0.0),  # behind: backwards, without turning
        ((1.0, 1.0), 1.0, 2 * math.pi / 4),
        ((-1.0, 1.0), -1.0, -2 * math.pi / 4),
        ((0.0, 0.0), 0.0, 0.0),
    ],
)
def test_a_unicycle_drives_forwards_or_backwards_to_its_centroid(centroid, speed, turn):
    given = lloyd.lloyd_speeds(np.zeros((1, 3)), np.array([centroid]), gain=1.0)
    assert (given[0][0], given[1][0]) == pytest.approx((speed, turn))


def test_a_unicycle_turns_towards_a_velocity_and_drives_what_lies_ahead():
    speed, turn = steering.steered(np.zeros(3), np.array([(1.0, 0.0), (0.0, 2.0), (0.0, 0.0)]), turn_gain=2.0)
    assert speed == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert turn == pytest.approx([0.0, math.pi, 0.0])


def test_the_midpoint_is_the_direction_in_which_the_cell_grows_fastest():
    pursuer, evader, k = np.array([3.0, 4.0]), np.array([6.5, 7.0]), 1e-5
    edge = voronoi([pursuer, evader], SQUARE).edge(0, 1)
    length = math.dist(*edge)
    middle = pursuit.midpoints(pursuer[None], evader, SQUARE)[0]
    for angle in np.arange(0, 6, 0.5):
        way = np.array([math.cos(angle), math.sin(angle)])
        grown = (
            voronoi([pursuer + k * way, evader], SQUARE).area[0] - voronoi([pursuer - k * way, evader], SQUARE).area[0]
        )
        assert grown / (2 * k) == pytest.approx(
            length * (middle - pursuer) @ way / math.dist(pursuer, evader), rel=1e-4
        )


def test_the_best_move_is_that_of_a_search_over_all_directions():
    pursuer, evader = np.array([3.0, 4.0]), np.array([6.5, 7.0])
    angles = np.linspace(0, 2 * math.pi, 20_001)
    moves = pursuer + 0.8 * np.column_stack((np.cos(angles), np.sin(angles)))
    areas = [voronoi([move, evader], SQUARE).area[0] for move in moves[::10]]
    best = pursuit.best_move(pursuer, evader, SQUARE, 0.8)
    assert math.dist(best, pursuer) == pytest.approx(0.8)
    assert voronoi([best, evader], SQUARE).area[0] >= max(areas) - 1e-9
    assert pursuit.best_move(pursuer, np.array([3.1, 4.1]), SQUARE, 0.8).tolist() == [3.1, 4.1]


def test_a_pursuer_that_is_no_neighbour_of_the_evader_drives_at_it():
    pursuers, evader = np.array([(4.0, 5.0), (2.0, 5.0)]), np.array([6.0, 5.0])
    goals = pursuit.midpoints(pursuers, evader, SQUARE)
    assert goals[1].tolist() == [6.0, 5.0]
    assert goals[0] == pytest.approx([5.0, 5.0])


def test_the_corners_of_the_evader():
    at = np.array([9.0, 9.0])
    assert evasion.corners_within(np.array(SQUARE, float)).tolist() == CORNERS.tolist()
    assert evasion.next_corner(at, np.array([7.0, 9.0]), CORNERS, 0, 3.0) == 1  # near, and it waits there
    assert evasion.next_corner(at, np.array([5.0, 9.0]), CORNERS, 0, 3.0) == 0
    assert evasion.next_corner(at - 0.5, np.array([7.0, 9.0]), CORNERS, 0, 3.0) == 0  # on its way
    quadrants = [(8.0, 8.0), (8.0, 2.0), (2.0, 2.0), (2.0, 8.0)]
    assert [evasion.diagonal_corner(np.array(p), CORNERS) for p in quadrants] == [2, 3, 0, 1]
    axes = [(9.0, 5.0), (5.0, 9.0), (1.0, 5.0), (5.0, 1.0)]
    assert [evasion.opposite_corner(np.array(p), CORNERS) for p in axes] == [2, 1, 0, 3]


def test_a_capture_is_told_and_ends_the_game():
    model = covey.RobotModel(kinematics="holonomic", radius_m=0.05, max_speed_m_s=2.0)
    group = covey.Group(
        "r", model, [(4, 5, 0), (5, 5, 0)], Program("pursuit", {"speed_m_s": 1.5, "evasion": "diagonal"})
    )
    sim = covey.Simulation(covey.World.polygons(SQUARE), [group], stop=covey.Stop(timeout_s=10))
    run = sim.run()
    assert [row["text"] for row in run.events.to_dicts() if row["kind"] == "note"] == ["caught by r0"]
    assert math.dist(sim.state.pose[0, :2], sim.state.pose[1, :2]) <= 0.2
    assert (sim.state.twist == 0).all()


def test_wide_robots_are_caught_when_they_touch():
    model = covey.RobotModel(kinematics="holonomic", radius_m=0.3, max_speed_m_s=2.0)
    group = covey.Group(
        "r", model, [(4, 5, 0), (5, 5, 0)], Program("pursuit", {"speed_m_s": 1.5, "evasion": "diagonal"})
    )
    run = covey.Simulation(covey.World.polygons(SQUARE), [group], stop=covey.Stop(timeout_s=10)).run()
    assert "caught by r0" in run.events["text"].to_list()


def test_growth_is_that_of_the_spiral_itself():
    # r(t) of a regular formation at the bearing that keeps: one short step of the closed loop, by hand
    k_r, k_a, n = 1.0, 1.7, 5
    rate = cyclic_pursuit.growth_rate(n, k_r, k_a)
    angle = math.pi / n
    bearing = angle + math.asin(rate / (2 * k_r * math.sin(angle)))
    assert k_a * bearing == pytest.approx(2 * k_r * math.sin(angle) * math.cos(bearing - angle))
    pose = cyclic_pursuit.formation(n, 1.0, bearing=bearing)
    ahead = np.roll(pose[:, :2], -1, axis=0) - pose[:, :2]
    seen = np.arctan2(ahead[:, 1], ahead[:, 0]) - pose[:, 2]
    assert np.cos(seen) == pytest.approx(np.full(n, math.cos(bearing)))
    speed = k_r * np.hypot(*ahead.T)
    outward = speed * (np.column_stack((np.cos(pose[:, 2]), np.sin(pose[:, 2]))) * pose[:, :2]).sum(axis=1)
    assert outward == pytest.approx(np.full(n, rate))


def test_a_formation_of_two_times_around_has_fewer_unstable_modes_than_eigenvalues():
    for n, d in ((5, 1), (5, 2), (8, 3)):
        assert len(cyclic_pursuit.modes(n, d)) == 3 * n - 4
        assert len(cyclic_pursuit.modes(n, d, "constant_speed")) == 3 * n - 3


def test_the_pull_changes_its_sign_where_it_is_told():
    assert circular_motion.pull(1.5, 2.0, 1.5) == 0.0
    assert circular_motion.pull(0.0, 2.0, 1.5) == pytest.approx(-math.log(2.0))
    assert circular_motion.pull(1.5 * (2 * math.e - 1), 2.0, 1.5) == pytest.approx(1.0)


def test_the_beacon_counts_most_bearings_to_the_left_and_neighbours_both_ways():
    k, far = 0.15 * math.log((3.0 + 1.5) / 3.0), 3.0
    turn = circular_motion.beacon_turn([far] * 3 + [0.0], [0.5 * math.pi, -0.5 * math.pi, -0.1, 1.0], 0.15, 2.0, 1.5)
    assert turn == pytest.approx([k * 0.5 * math.pi, k * 1.5 * math.pi, -0.1 * k, 0.0])
    pose = np.array([(0.0, 0.0, 0.0), (2.0, 0.2, 0.0), (-0.4, 0.1, 0.0)])
    turn = circular_motion.neighbour_turn(pose, 0.05, 2.0, 1.2, 2.5, math.pi / 4, 0.6)
    ahead, aside = math.hypot(2.0, 0.2), math.hypot(0.4, 0.1)
    by_hand = [math.log((r + 1.2) / 2.4) * math.atan2(y, x) for r, x, y in ((ahead, 2.0, 0.2), (aside, -0.4, 0.1))]
    assert turn[0] == pytest.approx(0.05 * sum(by_hand))
    assert turn[1] == 0.0  # the others are behind it, and not near


@pytest.mark.parametrize("gains", [(1.0, 1.0, 0.2, 1.0, 0.0), (1.0, 1.0, 0.2, 1.0, 2.0), (2.0, 0.5, 1.0, 2.0, 1.5)])
def test_the_force_is_the_gradient_of_the_potential(gains):
    rng, k = np.random.default_rng(0), 1e-6
    position, goal, obstacles = rng.uniform(-2, 2, (40, 2)), rng.uniform(-2, 2, (40, 2)), rng.uniform(-2, 2, (40, 3, 2))
    obstacles[:, 2] = np.inf  # nothing there
    numbers = potential_field.Gains(*gains)
    force = potential_field.force(position, goal, obstacles, numbers)
    for axis, step in enumerate(k * np.eye(2)):
        after, before = (potential_field.potential(position + s * step, goal, obstacles, numbers) for s in (1, -1))
        assert force[:, axis] == pytest.approx((before - after) / (2 * k), rel=1e-5, abs=1e-5)


def test_the_nearest_points_of_a_wall():
    points = potential_field.nearest_points(np.array([(1.0, 1.0), (5.0, 1.0)]), np.array([[(0.0, 0.0), (3.0, 0.0)]]))
    assert points[:, 0].tolist() == [[1.0, 0.0], [3.0, 0.0]]


def test_a_robot_with_a_lidar_needs_no_walls_given():
    model = covey.robots.disc()
    law = Program("potential_field", {"waypoints_m": ((1.4, 0.0),), "q_star_m": 0.5})
    group = covey.Group("r", model, [(-1, 0.05, 0)], law)
    world = covey.World.polygons([(-2, -2), (3, -2), (3, 2), (-2, 2)], walls_m=[[(1.0, -1.0), (1.0, 1.0)]])
    sim = covey.Simulation(world, [group], stop=covey.Stop(timeout_s=40))
    run = sim.run()
    assert run.metrics["collisions"] == 0
    assert "stuck in a local minimum of the potential on the way to (1.4, 0)" in run.events["text"].to_list()
