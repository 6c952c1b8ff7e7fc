"""Wall points and other robots near a robot."""

import math

import numpy as np
import pytest

from covey.geometry import Grid, Pose
from covey.planning.obstacles import lidar_points, map_points, move_points, seen_points, track

HERE = (np.array([1]), np.array([4.0]))


def no_tracks():
    return np.full((4, 8), math.inf)


def one_track(x, y, vx=0.0, vy=0.0, identity=1):
    tracks = no_tracks()
    tracks[0] = x, y, vx, vy, identity, 0.0, math.atan2(vy, vx), 0.0
    return tracks


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
    assert tracks[0, 2:4] == pytest.approx([c * 0.3 - s * 0.4, -s * 0.3 - c * 0.4], abs=0.002)
    assert tracks[0, 7] == 0.0


@pytest.mark.parametrize("every", [1, 2, 4])
def test_a_slow_sensor_gives_the_same_velocity(every):
    """Another robot drives with (0.3, -0.4) m/s and is sampled every so many steps of 0.1 s."""
    tracks, nobody = no_tracks(), np.empty(0)
    for k in range(81):
        x, y = 3.0 + 0.03 * k, 1.0 - 0.04 * k
        sight = (np.array([7]), *np.array([[math.hypot(x, y)], [math.atan2(y, x)], [math.nan]]))
        seen = sight if k % every == 0 else (np.empty(0, np.int64), nobody, nobody, nobody)
        track(tracks, *seen, 0.0, 0.0, 0.0, 0.1)
    assert tracks[0, :4] == pytest.approx([5.4, -2.2, 0.3, -0.4], abs=1e-3)


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


def random_tracks(draw):
    tracks = no_tracks()
    for k in np.flatnonzero(draw.random(len(tracks)) < 0.6):
        tracks[k] = *draw.uniform(-2, 2, 4), k, 0.0, draw.uniform(-3, 3), 0.0
    return tracks


def on_other(point, tracks, radius):
    return any(math.dist(point, row[:2]) < radius for row in tracks[np.isfinite(tracks[:, 5])].tolist())


@pytest.mark.parametrize("seed", range(10))
def test_lidar_points_are_the_returns_that_count_one_by_one(seed):
    draw = np.random.default_rng(seed)
    angles = np.sort(draw.uniform(-math.pi, math.pi, 90))
    ranges = draw.choice([math.inf, math.nan, 1.0], 90, p=[0.1, 0.1, 0.8]) * draw.uniform(0.1, 4.0, 90)
    mount, reach, spacing = Pose(*draw.uniform(-0.3, 0.3, 3)), draw.uniform(1.0, 3.0), draw.uniform(0.0, 0.5)
    tracks, radius = random_tracks(draw), 0.5
    expected: list[tuple[float, float]] = []
    for distance, angle in zip(ranges.tolist(), angles.tolist(), strict=True):
        if not math.isfinite(distance):
            continue
        point = mount @ (distance * math.cos(angle), distance * math.sin(angle))
        far = math.hypot(*point) > reach
        if (
            not far
            and not on_other(point, tracks, radius)
            and (not expected or math.dist(point, expected[-1]) >= spacing)
        ):
            expected.append(point)
    points = np.empty((90, 2))
    count = lidar_points(points, ranges, angles, *mount, reach, spacing, tracks, radius)
    assert points[:count] == pytest.approx(np.array(expected).reshape(-1, 2), abs=1e-12)
    few = np.empty((count // 2, 2))
    assert lidar_points(few, ranges, angles, *mount, reach, spacing, tracks, radius) == len(few)
    np.testing.assert_array_equal(few, points[: len(few)])


@pytest.mark.parametrize("seed", range(10))
def test_map_points_are_the_cells_that_count_one_by_one(seed):
    draw = np.random.default_rng(seed)
    cells = draw.choice([-1, 0, 100], (25, 30)).astype(np.int8)
    grid, body = Grid(cells, 0.1, (-1.0, 0.7, 0.0)), Pose(*draw.uniform((-2, 0, -3), (3, 4, 3)))
    reach, (seen_from, seen_to) = draw.uniform(0.3, 2.0), np.sort(draw.uniform(-3, 3, 2))
    tracks, radius = random_tracks(draw), 0.5
    expected = []
    for cell in np.argwhere(cells > 50):
        point = body.inverse() @ grid.to_world(cell)
        if math.hypot(*point) <= reach and not seen_from <= math.atan2(point[1], point[0]) <= seen_to:
            expected += [] if on_other(point, tracks, radius) else [point]
    place = (cells, 0.1, -1.0, 0.7, *body, reach, seen_from, seen_to, tracks, radius)
    points = np.full((800, 2), 7.0)
    count = map_points(points, 3, *place)
    assert (points[:3] == 7.0).all()
    assert points[3:count] == pytest.approx(np.array(expected).reshape(-1, 2), abs=1e-12)
    few = np.empty((len(expected) // 2 + 1, 2))
    assert map_points(few, 0, *place) == min(len(few), len(expected))


def test_points_stay_where_they_are_while_the_robot_drives_a_curve():
    points, twist = np.random.default_rng(0).uniform(-2, 2, (20, 2)), (0.7, -0.3, 0.9)
    moved, pose = points.copy(), Pose(0.0, 0.0, 0.0)
    for _ in range(100):
        move_points(moved, 15, *twist, 0.01)
        pose = pose @ Pose(0.007, -0.003, 0.009)  # in small steps, the arc
    expected = [pose.inverse() @ point for point in points[:15]]
    assert moved[:15] == pytest.approx(np.array(expected), abs=0.01)
    np.testing.assert_array_equal(moved[15:], points[15:])


def test_robots_without_names_are_told_apart_by_where_they_were():
    """Two pass each other 1 m apart at 1 m/s; one is hidden for 0.4 s, and one more comes than there are rows."""
    draw, tracks = np.random.default_rng(2), np.full((2, 8), math.inf)
    nameless, nan, hidden = np.full(3, -1), np.full(3, math.nan), 0
    for k in range(40):
        at = np.array([[2.0, -2.0 + 0.1 * k], [3.0, 2.0 - 0.1 * k], [-9.0, 0.0]])
        seen = [j for j in draw.permutation(3) if not (j == 1 and 20 <= k < 24) and (j < 2 or k > 5)]
        away, bearing = np.hypot(*at[seen].T), np.arctan2(at[seen, 1], at[seen, 0])
        used = track(tracks, nameless[: len(seen)], away, bearing, nan[: len(seen)], 0.0, 0.0, 0.0, 0.1)
        assert used == 2
        if k > 12:
            order = np.argsort(tracks[:, 0])
            assert tracks[order, :2] == pytest.approx(at[:2], abs=0.02)
            assert tracks[order, 2:4] == pytest.approx(np.array([[0.0, 1.0], [0.0, -1.0]]), abs=0.01)
            assert tracks[order, 6] == pytest.approx([math.pi / 2, -math.pi / 2], abs=0.01)  # their course
            hidden += int(tracks[order[1], 5] > 0.0)
    assert hidden == 4


def test_a_robot_that_stands_is_known_to_and_its_heading_is_what_the_sensor_says():
    tracks = no_tracks()
    for k in range(20):
        speed = 0.5 if k < 10 else 0.0
        away = np.array([4.0 + 0.1 * speed * min(k, 10)])
        used = track(tracks, np.array([3]), away, np.zeros(1), np.array([0.7 - 0.05 * k]), 0.0, 0.0, 0.5, 0.1)
        assert used == 1
        assert tracks[0, 6] == pytest.approx(0.7 - 0.05 * k)
    # It is seen at one bearing while this robot turns by 0.5 rad/s, so it moves round it at 2 m/s: it never stood.
    assert tracks[0, 7] == 0.0
    for k in range(20):
        track(tracks, np.array([3]), away, np.array([-0.05 * (k + 1)]), np.array([math.nan]), 0.0, 0.0, 0.5, 0.1)
    assert 1.0 < tracks[0, 7] < 2.0  # it has stood since its speed, halved each time, fell below 0.12 m/s
    assert np.hypot(*tracks[0, 2:4]) < 1e-3
