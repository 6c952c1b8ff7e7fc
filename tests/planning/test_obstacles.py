"""Following, seeing, avoiding, braking: what a robot does with what is near it."""

import math

import numpy as np
import pytest

from covey.planning.dynamic_window import braking_path, dynamic_window, holonomic_window
from covey.planning.follow import lookahead
from covey.planning.obstacles import lidar_points, map_points, move_points, seen_points, track
from covey.planning.progress import Blacklist, ProgressTimer
from covey.planning.reciprocal import free_distance, lane, reciprocal_velocity, time_to_contact, velocity_in_lane

# speeds, accelerations, period, reaction, radius, margins, wheel limit of a Pioneer
LIMITS = np.array([-0.5, 1.2, 5.24, 2.5, 2.5, 3.2, 0.1, 0.0, 0.29, 0.04, 0.03, 1.2, 0.1785])
PARAMS = np.array([0.33, 0.68, 3.0, 0.8, 0.25, 0.15])
HERE = (np.array([1]), np.array([4.0]))


def no_tracks():
    return np.full((4, 8), math.inf)


def one_track(x, y, vx=0.0, vy=0.0, identity=1):
    tracks = no_tracks()
    tracks[0] = x, y, vx, vy, identity, 0.0, math.atan2(vy, vx), 0.0
    return tracks


def test_lookahead_goes_round_the_corner_and_tells_what_is_left():
    path = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 3.0]])
    x, y, segment, left, off = lookahead(path, 0, 1.5, 0.2, 1.0)
    assert (x, y, segment) == (2.0, pytest.approx(0.5), 0)
    assert left == pytest.approx(3.5)
    assert off == pytest.approx(0.2)
    assert lookahead(path, 0, 2.0, 2.9, 5.0)[:2] == (2.0, 3.0)


def test_tracked_velocity_is_over_ground_whatever_the_robot_itself_does():
    """The other drives with (0.3, -0.4) m/s; the robot drives an arc of 0.8 m/s and 0.5 rad/s."""
    tracks, dt, v, w = no_tracks(), 0.1, 0.8, 0.5
    for k in range(40):
        heading = w * k * dt
        x, y = v / w * math.sin(heading), v / w * (1 - math.cos(heading))
        ox, oy = 3.0 + 0.3 * k * dt, 1.0 - 0.4 * k * dt
        bearing = math.atan2(oy - y, ox - x) - heading
        away = np.array([math.hypot(ox - x, oy - y)])
        track(tracks, np.array([7]), away, np.array([bearing]), np.array([math.nan]), v, 0.0, w, dt)
    c, s = math.cos(heading), math.sin(heading)
    assert tracks[0, 2:4] == pytest.approx([c * 0.3 - s * 0.4, -s * 0.3 - c * 0.4], abs=0.02)
    assert tracks[0, 7] == 0.0


def test_a_track_is_forgotten_when_it_is_not_seen():
    tracks, nobody = no_tracks(), np.empty(0)
    track(tracks, *HERE, np.zeros(1), np.zeros(1), 0.0, 0.0, 0.0, 0.1)
    assert np.isfinite(tracks[:, 5]).sum() == 1
    for _ in range(8):
        track(tracks, np.empty(0, np.int64), nobody, nobody, nobody, 0.0, 0.0, 0.0, 0.1)
    assert np.isfinite(tracks[:, 5]).sum() == 0


def test_lidar_points_leave_out_other_robots_and_move_with_the_robot():
    points = np.empty((50, 2))
    angles = np.radians([-90.0, 0.0, 45.0, 90.0])
    ranges = np.array([1.0, 2.0, math.inf, 1.5])
    count = lidar_points(points, ranges, angles, 0.1, 0.0, 0.0, 3.0, 0.04, one_track(2.4, 0.0), 0.4)
    assert points[:count] == pytest.approx(np.array([[0.1, -1.0], [0.1, 1.5]]), abs=1e-12)
    move_points(points, count, 1.0, 0.0, 0.0, 0.1)
    assert points[:count] == pytest.approx(np.array([[0.0, -1.0], [0.0, 1.5]]), abs=1e-12)


def test_map_points_are_the_occupied_cells_that_the_lidar_does_not_see():
    cells = np.zeros((20, 20), np.int8)
    cells[10, 15] = cells[10, 5] = 100
    points = np.empty((9, 2))
    arguments = (cells, 0.1, 0.0, 0.0, 1.05, 1.05, 0.0, 1.0)
    assert map_points(points, 0, *arguments, -1.0, 1.0, no_tracks(), 0.4) == 1
    assert points[0] == pytest.approx([-0.5, 0.0])
    assert map_points(points, 0, *arguments, 1.0, -1.0, no_tracks(), 0.4) == 2


def test_time_to_contact_and_free_distance_from_geometry():
    assert time_to_contact(5.0, 0.0, 2.0, 0.0, 1.0) == pytest.approx(2.0)
    assert time_to_contact(5.0, 1.1, 2.0, 0.0, 1.0) == math.inf
    assert time_to_contact(5.0, 0.6, 2.0, 0.0, 1.0) == pytest.approx(2.1)
    assert free_distance(np.array([[3.0, 0.3]]), 1, 1.0, 0.0, 0.5) == pytest.approx(2.6)
    assert free_distance(np.array([[3.0, 0.6]]), 1, 1.0, 0.0, 0.5) == math.inf


def test_robots_that_meet_head_on_pass_on_the_right():
    vx, vy = reciprocal_velocity(1.0, 0.0, 1.0, 0.0, 1.2, 9.0, np.empty((1, 2)), 0, one_track(2.5, 0.0, -1.0), PARAMS)
    assert vx > 0.5
    assert vy < 0.0
    assert lane(1.0, 0.0, np.empty((1, 2)), 0, one_track(4.0, 0.0, -1.0), 0.33, 0.68) == pytest.approx(0.39)
    assert lane(1.0, 0.0, np.empty((1, 2)), 0, one_track(4.0, 0.0, 1.0), 0.33, 0.68) == 0.0


def test_in_a_passage_for_two_the_lane_is_on_the_right_whichever_way_the_other_drives():
    walls = np.array([(1.0, 0.75), (1.0, -0.75)])
    assert lane(1.0, 0.0, walls, 2, one_track(4.0, 0.0, 1.0), 0.33, 0.68) == pytest.approx(0.39)
    assert lane(1.0, 0.0, walls, 2, one_track(7.0, 0.0, 1.0), 0.33, 0.68) == 0.0
    assert lane(1.0, 0.0, 2.0 * walls - (1.0, 0.0), 2, one_track(4.0, 0.0, 1.0), 0.33, 0.68) == 0.0


def test_the_free_way_is_taken_as_wanted_and_a_wall_ahead_is_not():
    free = reciprocal_velocity(1.0, 0.0, 1.0, 0.0, 1.2, 9.0, np.empty((1, 2)), 0, no_tracks(), PARAMS)
    assert free == pytest.approx((1.0, 0.0))
    wall = np.column_stack((np.full(41, 0.6), np.linspace(-2, 2, 41)))
    vx, _ = reciprocal_velocity(1.0, 0.0, 1.0, 0.0, 1.2, 9.0, wall, 41, no_tracks(), PARAMS)
    assert vx < 0.4


def test_braking_path_is_the_stopping_distance_along_the_arc():
    way = np.empty((6, 2))
    length = braking_path(1.0, 0.5, 1.0, LIMITS, way)
    assert length == pytest.approx(0.1 + 1.0 / 5.0)  # one period at 1 m/s, then v^2 / 2a
    assert np.hypot(way[-1, 0], way[-1, 1] - 2.0) == pytest.approx(2.0)  # on the circle of radius v / w
    assert np.arctan2(way[-1, 0], 2.0 - way[-1, 1]) * 2.0 == pytest.approx(length)


@pytest.mark.parametrize("seed", range(6))
def test_a_chosen_command_never_brakes_into_a_wall_or_beyond_the_middle_to_another_robot(seed):
    draw, way, found_some = np.random.default_rng(seed), np.empty((6, 2)), 0
    for _ in range(200):
        angle, away = draw.uniform(-math.pi, math.pi, 12), draw.uniform(0.4, 2.0, 12)
        points = np.column_stack((away * np.cos(angle), away * np.sin(angle)))
        other = draw.uniform(-2, 2, 2)
        if np.hypot(*other) < 0.7:
            continue
        v0, w0 = draw.uniform(-0.4, 1.2), draw.uniform(-1, 1)
        wanted = draw.uniform(-1, 1.2), draw.uniform(-3, 3)
        v, w, found = dynamic_window(v0, w0, *wanted, points, 12, one_track(*other), LIMITS, way)
        assert abs(v - v0) <= 0.25 + 1e-9
        assert not found or abs(w - w0) <= 0.32 + 1e-9
        if not found:
            continue
        found_some += 1
        braking_path(v, w, v0, LIMITS, way)
        gaps = np.hypot(*(points[:, None] - way[None]).transpose(2, 0, 1))
        assert (gaps.min(1) >= np.minimum(0.33, away) - 2e-4).all()
        reach = way @ other / np.hypot(*other)
        assert reach.max() <= max(np.hypot(*other) / 2 - 0.32, 1e-3) + 1e-9
    assert found_some > 50


def test_with_nothing_in_the_way_the_window_gives_what_is_wanted_or_the_nearest_it_can_reach():
    way, nothing = np.empty((6, 2)), np.empty((1, 2))
    assert dynamic_window(0.9, 0.0, 1.0, 0.2, nothing, 0, no_tracks(), LIMITS, way) == (1.0, 0.2, True)
    assert dynamic_window(0.0, 0.0, 1.0, 2.0, nothing, 0, no_tracks(), LIMITS, way) == pytest.approx((0.25, 0.32, True))
    vx, vy, found = holonomic_window(0.0, 0.9, 0.0, 1.0, nothing, 0, no_tracks(), LIMITS, way)
    assert (vx, vy, found) == (0.0, 1.0, True)


def test_a_holonomic_robot_slows_down_before_a_wall():
    wall = np.column_stack((np.linspace(-1, 1, 41), np.full(41, 0.6)))
    _, vy, found = holonomic_window(0.0, 0.5, 0.0, 1.2, wall, 41, no_tracks(), LIMITS, np.empty((6, 2)))
    assert found
    assert 0.5 * 0.0 + 0.05 * (0.5 + vy) + vy**2 / 5.0 <= 0.6 - 0.33 + 1e-3


def test_progress_timer_runs_out_only_without_motion():
    timer = ProgressTimer(distance_m=0.1, timeout_s=3.0)
    timer.restart(0.0, 0.0, 0.0)
    assert not any(timer.expired(0.1 * k, 0.02 * k, 0.0) for k in range(100))
    timer.restart(20.0, 5.0, 5.0)
    assert not timer.expired(22.9, 5.05, 5.0)
    assert timer.waited(22.9) == pytest.approx(2.9)
    assert timer.expired(23.1, 5.0, 5.05)


def test_blacklist_knows_goals_near_a_listed_one():
    listed = Blacklist(tolerance_m=0.5)
    listed.add((1.0, 2.0))
    listed.add((1.1, 2.0))
    assert len(listed) == 1
    assert (1.3, 2.3) in listed
    assert (1.5, 2.5) not in listed


def test_points_seen_and_remembered_are_those_of_both_kernels_one_after_the_other():
    angles, tracks = np.linspace(-1.5, 1.5, 61), one_track(0.8, 0.3)
    ranges = 0.5 + 0.4 * np.random.default_rng(3).random(61)
    occupancy = np.random.default_rng(4).choice(np.array([-1, 0, 100], np.int8), (30, 30))
    scan, place = (
        (ranges, angles, 0.1, 0.0, 0.2, 1.5, 0.04, tracks, 0.4),
        (occupancy, 0.1, -1.5, -1.5, 0.2, 0.1, 0.7, 1.0),
    )
    together, apart = np.zeros((256, 2)), np.zeros((256, 2))
    first = lidar_points(apart, *scan)
    both = map_points(apart, first, *place, 0.2 - 1.5, 0.2 + 1.5, tracks, 0.4)
    assert 0 < first < both
    assert seen_points(together, *scan, *place) == (first, both)
    np.testing.assert_array_equal(together, apart)


def test_the_velocity_in_a_lane_is_the_reciprocal_one_unless_somebody_comes():
    wanted = 1.0, 0.0, 1.2, 9.0, np.array([[0.9, 0.1]]), 1
    for other, aside in ((one_track(4.0, 0.0, 1.0), False), (one_track(4.0, 0.0, -1.0), True)):
        shift, vx, vy = velocity_in_lane(1.0, 0.2, 0.8, *wanted, other, PARAMS)
        assert (shift > 0.0) == aside
        assert shift == lane(1.0, 0.2, *wanted[-2:], other, PARAMS[0], PARAMS[1])
        if not aside:
            assert (vx, vy) == reciprocal_velocity(0.8, 0.8 * 0.2, *wanted, other, PARAMS)


def test_of_many_places_those_beside_a_listed_goal_are_told_apart_at_once():
    listed = Blacklist(tolerance_m=1.0)
    places = np.array([[[0.0, 0.0], [0.9, 0.0]], [[0.0, 1.1], [5.0, 5.5]]])
    assert listed.clear(places).all()
    listed.add((0.0, 0.0))
    listed.add((5.0, 5.0))
    assert listed.clear(places).tolist() == [[False, False], [True, False]]
    assert listed.clear(places).tolist() == [[tuple(p) not in listed for p in row] for row in places.tolist()]
