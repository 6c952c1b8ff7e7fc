"""The Rao-Blackwellised filter: each stage against a plain reference or a case worked by hand, and a simulated room."""

import math

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, wrap_angle
from covey.mapping.slam.log import Laser, relative
from covey.mapping.slam.particle_maps import TILE, ParticleMaps, beams_of
from covey.mapping.slam.particle_matching import (
    NOTHING,
    MatchSearch,
    climb,
    likelihood,
    match_particles,
    near_for,
    score,
    view_of,
    window_for,
)
from covey.mapping.slam.particle_settings import PRESETS, ParticleSettings
from covey.mapping.slam.particles import ParticleSlam, bridged, effective, move_particles, normalized, systematic
from covey.random import stream_key

KEY = stream_key(3, "particles")
BEAMS = np.linspace(-np.pi, np.pi, 120, endpoint=False)
WEST, EAST, SOUTH, NORTH = -3.02, 4.02, -2.02, 3.02  # not where cells meet
WALLS = np.array(
    [
        [WEST, SOUTH, EAST, SOUTH],
        [EAST, SOUTH, EAST, NORTH],
        [EAST, NORTH, WEST, NORTH],
        [WEST, NORTH, WEST, SOUTH],
        [1.52, 1.02, 2.52, 1.02],
        [2.52, 1.02, 2.52, 2.02],
    ]
)
SEARCH = MatchSearch(0.05, 1, 0.05, 0.05, 5, 0.0, 0.075)


def scan_at(pose, walls=WALLS, angles=BEAMS, most=10.0):
    """Return the distances from a pose to the nearest of some walls x0, y0, x1, y1, ``most`` without one."""
    out = np.full(len(angles), most)
    for i, angle in enumerate(angles + pose[2]):
        d = np.array([math.cos(angle), math.sin(angle)])
        for x0, y0, x1, y1 in walls:
            e, w = np.array([x1 - x0, y1 - y0]), np.array([x0 - pose[0], y0 - pose[1]])
            cross = d[0] * e[1] - d[1] * e[0]
            if abs(cross) > 1e-12:
                r, along = (w[0] * e[1] - w[1] * e[0]) / cross, (w[0] * d[1] - w[1] * d[0]) / cross
                if r > 0 and 0 <= along <= 1:
                    out[i] = min(out[i], r)
    return out


def map_of(poses, resolution=0.05):
    """Return a map of one particle with the scans of poses, and the laser."""
    maps = ParticleMaps(1, resolution)
    for pose in poses:
        r = scan_at(pose)
        ends = np.column_stack((r * np.cos(BEAMS), r * np.sin(BEAMS)))
        maps.add(np.array([pose], float), beams_of(ends, r < 10.0, (0.0, 0.0)))
    return maps


def beams_at(pose, resolution):
    r = scan_at(pose)
    along = np.column_stack((np.cos(BEAMS), np.sin(BEAMS)))
    return np.column_stack((r[:, None] * along / resolution, along))


def cell_dicts(maps, particle=0):
    """Return hits, visits and means of one particle by cell (row, column)."""
    found = {}
    rows, columns = maps.table.shape[1:]
    for tr in range(rows):
        for tc in range(columns):
            tile = maps.table[particle, tr, tc]
            for cell in np.flatnonzero(maps.store.visits[tile]):
                row, column = tr * TILE + cell // TILE, tc * TILE + cell % TILE
                found[row, column] = (
                    int(maps.store.hits[tile, cell]),
                    int(maps.store.visits[tile, cell]),
                    maps.store.means[tile, cell] + [column, row],
                )
    return found


def plain_miss(cells, u, v, dx, dy, size):
    """Return the squared distance of the end of a beam to the nearest hit, from a dictionary of cells."""

    def full(row, column):
        hits, visits, _ = cells.get((row, column), (0, 1, None))
        return hits > 0.1 * visits

    down, left = math.floor(0.5 - math.sqrt(2) * dy), math.floor(0.5 - math.sqrt(2) * dx)
    least = math.inf
    for row in range(math.floor(v) - size, math.floor(v) + size + 1):
        for column in range(math.floor(u) - size, math.floor(u) + size + 1):
            if full(row, column) and not full(row + down, column + left):
                mean = cells[row, column][2]
                least = min(least, (mean[0] - u) ** 2 + (mean[1] - v) ** 2)
    return least


def plain_score(cells, frame, pose, beams, search):
    """Return score and log-likelihood."""
    c, s, x, y = math.cos(pose[2]), math.sin(pose[2]), (pose[0] - frame[0]) / frame[2], (pose[1] - frame[1]) / frame[2]
    total, log = 0.0, 0.0
    for ex, ey, dx, dy in beams:
        squared = plain_miss(
            cells, x + c * ex - s * ey, y + s * ex + c * ey, c * dx - s * dy, s * dx + c * dy, search.kernel
        )
        squared *= frame[2] ** 2
        total += math.exp(-squared / search.sigma)
        log -= min(squared, 0.5) / search.likelihood if squared < math.inf else 0.5 / search.likelihood
    return total, log


def fresh(beams, resolution, size=1):
    near = near_for(len(beams), size)
    near.key[:] = NOTHING
    return window_for(beams, resolution), near


def test_noise_of_the_motion_has_the_deviations_of_the_model():
    poses = np.zeros((100_000, 3))
    move_particles(KEY, 5, np.array([0.4, -0.1, 0.3]), (0.1, 0.2, 0.3, 0.4), poses)
    np.testing.assert_allclose(poses.mean(axis=0), [0.4, -0.1, 0.3], atol=2e-3)
    expected = [
        0.1 * 0.4 + 0.2 * 0.3 + 0.3 * 0.1 * 0.1,
        0.1 * 0.1 + 0.2 * 0.3 + 0.3 * 0.1 * 0.4,
        0.4 * 0.3 + 0.3 * math.hypot(0.4, 0.1),
    ]
    np.testing.assert_allclose(poses.std(axis=0), expected, rtol=0.01)
    assert abs(np.corrcoef(poses.T) - np.eye(3)).max() < 0.02


def test_a_motion_is_in_the_frame_of_the_robot():
    poses = np.array([[1.0, 2.0, np.pi / 2]])
    move_particles(KEY, 0, np.array([0.5, 0.1, np.pi]), (0.0, 0.0, 0.0, 0.0), poses)
    np.testing.assert_allclose(poses, [[0.9, 2.5, -np.pi / 2]], atol=1e-12)


def test_weights_are_exponentials_of_the_gain():
    weights = normalized(np.array([-8.0, -2.0]), 3.0)  # exp(-6 / (3 * 2)) to 1
    np.testing.assert_allclose(weights, [math.exp(-1) / (1 + math.exp(-1)), 1 / (1 + math.exp(-1))])


@pytest.mark.parametrize(("weights", "number"), [([0.25] * 4, 4.0), ([0, 1, 0, 0], 1.0), ([0.5, 0.5, 0, 0], 2.0)])
def test_effective_number(weights, number):
    assert effective(np.array(weights)) == pytest.approx(number)


def test_systematic_drawing_worked_by_hand():
    # points 0.125, 0.375, 0.625, 0.875 among the bounds 0.1, 0.3, 0.6, 1
    assert systematic(np.array([0.1, 0.2, 0.3, 0.4]), 0.5).tolist() == [1, 2, 3, 3]


def test_systematic_drawing_keeps_shares_to_less_than_one():
    weights = np.random.default_rng(1).dirichlet(np.ones(50))
    drawn = np.bincount(systematic(weights, 0.3), minlength=50)
    assert (abs(drawn - 50 * weights) < 1).all()


def test_counts_of_one_beam_worked_by_hand():
    maps = ParticleMaps(1, 1.0)
    maps.add(np.array([[0.5, 0.5, 0.0]]), beams_of(np.array([[3.0, 1.2]]), np.array([True]), (0.0, 0.0)))
    column, row = np.floor(-maps.corner).astype(int)
    found = {(r - row, c - column): cell[:2] for (r, c), cell in cell_dicts(maps).items()}
    # from (0.5, 0.5) to (3.5, 1.7): the beam leaves row 0 at x = 1.75
    assert found == {(0, 0): (0, 1), (0, 1): (0, 1), (1, 1): (0, 1), (1, 2): (0, 1), (1, 3): (1, 1)}


def test_counts_are_those_of_points_along_the_beams():
    poses = np.array([[0.31, 0.17, 0.4], [0.71, -0.13, 0.6]])
    maps = map_of(poses)
    hits, visits = {}, {}
    for at in poses:
        for r, angle in zip(scan_at(at), BEAMS + at[2], strict=True):
            direction = np.array([math.cos(angle), math.sin(angle)])
            points = (at[:2] + np.linspace(0, r, 20_001)[:, None] * direction - maps.corner) / 0.05
            end = tuple(np.floor(points[-1][::-1]).astype(int))
            columns, rows = np.floor(points).astype(int).T
            crossed = {divmod(int(number), 100_000) for number in np.unique(rows * 100_000 + columns)}
            for cell in crossed:
                visits[cell] = visits.get(cell, 0) + 1
            hits[end] = hits.get(end, 0) + 1
    found = cell_dicts(maps)
    assert {cell: f[0] for cell, f in found.items() if f[0]} == hits
    # points so far apart may miss a cell of which a beam cuts off a corner
    assert sum(abs(f[1] - visits.get(cell, 0)) for cell, f in found.items()) <= 0.001 * sum(visits.values())
    assert set(visits) <= set(found)


def test_the_mean_of_hits_is_that_of_their_points():
    maps = ParticleMaps(1, 0.5)
    for x in (1.0, 1.1, 1.3):
        maps.add(np.zeros((1, 3)), beams_of(np.array([[x, 0.2]]), np.array([True]), (0.0, 0.0)))
    (mean,) = [cell[2] for cell in cell_dicts(maps).values() if cell[0]]
    np.testing.assert_allclose(mean * 0.5 + maps.corner, [3.4 / 3, 0.2], atol=1e-6)


def test_particles_share_tiles_until_one_changes():
    maps = ParticleMaps(3, 0.1)
    beam = beams_of(np.array([[1.0, 0.0]]), np.array([True]), (0.0, 0.0))
    poses = np.zeros((3, 3))
    poses[:, 1] = [0.05, 0.25, 0.45]
    maps.add(poses, beam)
    first = cell_dicts(maps, 1)
    maps.draw(np.array([1, 1, 1]))
    tiles = len(maps.store.hits) - maps.store.count[0] - 1
    assert tiles == len(np.unique(maps.table[maps.table > 0])) == np.count_nonzero(maps.table[0])
    poses[:] = poses[1]
    maps.add(poses, beams_of(np.array([[0.0, 0.3]]), np.array([True]), (0.0, 0.0)))
    maps.draw(np.array([0, 0, 2]))
    maps.add(np.vstack((poses[:2], [[0.0, 9.0, 0.0]])), beam)
    assert cell_dicts(maps, 0).keys() == cell_dicts(maps, 1).keys()
    assert set(first) < set(cell_dicts(maps, 0))
    for cell, (hits, visits, _) in first.items():  # the second beam visits the cell of the laser once more
        again = cell_dicts(maps, 2)[cell]
        assert again[0] == hits
        assert again[1] - visits in (0, 1)
    held = maps.store.references
    np.testing.assert_array_equal(held[1:], np.bincount(maps.table.ravel(), minlength=len(held))[1:])


def test_score_and_likelihood_of_a_pose_worked_by_hand():
    maps = ParticleMaps(1, 0.1)
    maps.add(np.array([[0.05, 0.05, 0.0]]), beams_of(np.array([[1.0, 0.0]]), np.array([True]), (0.0, 0.0)))
    beams = np.array([[10.0, 0.0, 1.0, 0.0]])
    window, near = fresh(beams, 0.1)
    view = view_of(maps.table, maps.store, maps.frame, 0, np.array([0.05, 0.05, 0.0]), window)
    near_by = score(view, near, maps.frame, 0.09, 0.08, 0.0, beams, SEARCH, -1.0)
    assert near_by == pytest.approx(math.exp(-(0.04**2 + 0.03**2) / 0.05), rel=1e-5)
    assert score(view, near, maps.frame, 0.4, 0.05, 0.0, beams, SEARCH, -1.0) == 0.0
    seen = likelihood(view, near, maps.frame, 0.09, 0.08, 0.0, beams, SEARCH)
    assert seen == pytest.approx(-(0.04**2 + 0.03**2) / 0.075, rel=1e-4)
    assert likelihood(view, near, maps.frame, 0.4, 0.05, 0.0, beams, SEARCH) == pytest.approx(-0.5 / 0.075)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_scores_are_those_of_the_plain_reference(size):
    maps = map_of([[0.0, 0.0, 0.0], [0.5, 0.2, 0.3], [-0.5, 0.6, -0.4]], 0.1)
    cells, beams = cell_dicts(maps), beams_at([0.3, 0.1, 0.2], 0.1)
    search = SEARCH._replace(kernel=size)
    window, near = fresh(beams, 0.1, size)
    view = view_of(maps.table, maps.store, maps.frame, 0, np.zeros(3), window)
    rng = np.random.default_rng(size)
    for k in range(25):
        pose = rng.normal([0.3, 0.1, 0.2], 0.02 + 0.02 * k)  # far ones leave the window and the table
        total, log = plain_score(cells, maps.frame, pose, beams, search)
        assert score(view, near, maps.frame, *pose, beams, search, -1.0) == pytest.approx(total, rel=1e-9)
        assert likelihood(view, near, maps.frame, *pose, beams, search) == pytest.approx(log, rel=1e-9)
        assert score(view, near, maps.frame, *pose, beams, search, total + 0.01) < total + 0.01


def test_the_hill_climb_is_that_of_the_plain_reference():
    maps = map_of([[0.0, 0.0, 0.0], [0.5, 0.2, 0.3]], 0.1)
    cells, beams = cell_dicts(maps), beams_at([0.3, 0.1, 0.2], 0.1)
    window, near = fresh(beams, 0.1)
    start = np.array([0.36, 0.06, 0.24])
    view = view_of(maps.table, maps.store, maps.frame, 0, start, window)
    *found, best = climb(view, near, maps.frame, *start, beams, SEARCH)

    at, value, step, halved = start.copy(), plain_score(cells, maps.frame, start, beams, SEARCH)[0], 0.05, 0
    while True:
        before, base = value, at.copy()
        for axis in range(3):
            for sign in (1, -1):
                trial = base.copy()
                trial[axis] += sign * step
                total = plain_score(cells, maps.frame, trial, beams, SEARCH)[0]
                if total > value:
                    at, value = trial, total
        if value <= before:
            if halved == 5:
                break
            halved, step = halved + 1, step / 2
    np.testing.assert_allclose([*found, best], [*at, value], atol=1e-9)
    assert abs(at - [0.3, 0.1, 0.2]).max() < 0.03


def test_a_match_that_scores_too_little_is_not_used():
    maps = map_of([[0.0, 0.0, 0.0]])
    beams = beams_at([0.1, 0.0, 0.0], 0.05)
    window, near = fresh(beams, 0.05)
    for minimum, moves in ((0.0, True), (len(beams) + 1.0, False)):
        poses, scores, out = np.array([[0.05, 0.0, 0.02]]), np.empty(1), np.empty(1)
        search = SEARCH._replace(minimum=minimum)
        match_particles(maps.table, maps.store, maps.frame, poses, beams, search, window, near, scores, out)
        assert (abs(poses - [0.05, 0.0, 0.02]).max() > 0.0) == moves
        assert 0.75 * len(beams) < scores[0] <= len(beams)


def test_poses_between_processed_scans_share_the_error_of_odometry():
    motions = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]])
    nodes = np.array([[0.0, 0, 0], [3, 0.3, 0]])
    found = bridged(motions, np.array([0, 3]), nodes, 0.5, 0.25)
    expected = [[0, 0, 0], [1, 0.1, 0], [2, 0.2, 0], [3, 0.3, 0], [4, 0.3, 0]]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_poses_between_processed_scans_follow_curves():
    motions = np.random.default_rng(4).normal(0.3, 0.3, (30, 3))
    expected = [np.array([1.0, 2.0, 3.0])]
    for motion in motions[1:]:
        expected.append(compose(expected[-1], motion))
    calls = np.array([0, 7, 20])
    found = bridged(motions, calls, np.array(expected)[calls], 0.5, 0.25)
    np.testing.assert_allclose(found[:, :2], np.array(expected)[:, :2], atol=1e-12)
    np.testing.assert_allclose(wrap_angle(found - expected)[:, 2], 0.0, atol=1e-12)


def drive(count=70):
    """Return true poses of a robot on a closed way in the room, and its odometry motions with drift."""
    turn = np.linspace(0, 2 * np.pi, count)
    poses = np.column_stack((0.5 + 1.2 * np.sin(turn), -0.9 + 0.3 * np.cos(turn), 0.5 * np.sin(turn)))
    rng = np.random.default_rng(2)
    true = np.vstack((np.zeros(3), relative(poses[:-1], poses[1:])))
    motions = true * (1 + rng.normal(0, 0.05, true.shape)) + np.array([0.004, -0.002, 0.004])
    motions[0] = 0.0
    return poses, motions


def slam_in_room(key, poses, motions, **settings):
    chosen = {"particles": 10, "linear_update_m": 0.2, "angular_update_rad": 0.15} | settings
    slam = ParticleSlam(Laser(BEAMS, 10.0), ParticleSettings(**chosen), key, poses[0])
    noise = np.random.default_rng(7).normal(0, 0.005, (len(poses), len(BEAMS)))
    scans = np.array([scan_at(pose) for pose in poses]) + noise
    steps = [slam.update(motion, scan) for motion, scan in zip(motions, scans, strict=True)]
    return slam, steps


@pytest.fixture(scope="module")
def room():
    poses, motions = drive()
    return poses, motions, *slam_in_room(KEY, poses, motions)


def test_a_robot_in_a_room_finds_its_way(room):
    poses, motions, slam, steps = room
    odometry = [poses[0]]
    for motion in motions[1:]:
        odometry.append(compose(odometry[-1], motion))
    drift = np.hypot(*(np.array(odometry)[-1] - poses[-1])[:2])
    online = np.array([pose for pose, _, _ in steps])
    assert drift > 0.15
    assert np.hypot(*(online - poses)[:, :2].T).max() < 0.1  # two cells
    assert np.hypot(*(slam.trajectory() - poses)[:, :2].T).max() < 0.1
    assert abs(wrap_angle(slam.trajectory() - poses)[:, 2]).max() < 0.03
    assert 1.0 <= slam.effective <= 10.0
    for _, revision, covariance in steps:
        assert revision >= 0
        np.testing.assert_array_less(-1e-15, np.linalg.eigvalsh(covariance))


def test_the_map_shows_the_walls(room):
    slam = room[2]
    grid = slam.map()
    occupied = grid.to_world(np.argwhere(grid.cells == 100))
    distance = np.minimum.reduce([np.abs(occupied[:, 0] - x) for x in (WEST, EAST, 2.52)])
    distance = np.minimum(distance, np.minimum.reduce([np.abs(occupied[:, 1] - y) for y in (SOUTH, NORTH, 1.02)]))
    assert len(occupied) > 300
    assert (distance < 0.1).mean() > 0.98
    assert grid.cells[tuple(grid.to_cells([0.5, -1.0]))] == 0
    assert (grid.cells == -1).any()


@pytest.mark.slow
def test_repeats_agree_to_the_byte_and_other_keys_differ(room):
    poses, motions, slam, steps = room
    again, repeated = slam_in_room(KEY, poses, motions)
    assert again.trajectory().tobytes() == slam.trajectory().tobytes()
    assert again.map().cells.tobytes() == slam.map().cells.tobytes()
    assert all(a[2].tobytes() == b[2].tobytes() and a[1] == b[1] for a, b in zip(steps, repeated, strict=True))
    other, _ = slam_in_room(stream_key(4, "particles"), poses, motions)
    assert other.trajectory().tobytes() != slam.trajectory().tobytes()


def test_between_processed_scans_odometry_carries_the_pose(room):
    poses, motions, _, _ = room
    slam, steps = slam_in_room(KEY, poses, motions, linear_update_m=1e6, angular_update_rad=1e6, match_every_scan=False)
    assert slam.processed == 1
    expected = poses[0]
    for motion, (pose, _, _) in zip(motions, steps, strict=True):
        expected = compose(expected, motion)
        np.testing.assert_allclose(pose, expected, atol=1e-12)
    assert np.trace(steps[-1][2]) > np.trace(steps[5][2]) > 0.0


def test_a_match_of_each_scan_corrects_the_poses_between(room):
    poses, motions, _, _ = room
    errors = {}
    for match in (False, True):
        _, steps = slam_in_room(
            KEY, poses, motions, linear_update_m=0.5, angular_update_rad=0.5, match_every_scan=match
        )
        online = np.array([pose for pose, _, _ in steps])
        errors[match] = abs(wrap_angle(online - poses)[:, 2]).mean()
    assert errors[True] < 0.6 * errors[False]


@pytest.mark.parametrize(("slipped_below", "found"), [(0.6, True), (0.0, False)])
def test_a_slip_of_the_wheels_is_found(slipped_below, found):
    true = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [-0.5, 0.3, 0.4], [-0.4, 0.3, 0.4]])
    motions = np.array([[0.0, 0, 0], [0.2, 0, 0], [0.3, 0, 0], [0.1, 0, 0]])  # the third one says nothing of the slip
    _, steps = slam_in_room(
        KEY, true, motions, linear_update_m=0.05, slipped_below=slipped_below, match_every_scan=False
    )
    error = abs(steps[-1][0] - true[-1])
    assert (error.max() < 0.05) == found


def test_scans_are_processed_after_way_turning_or_time():
    laser, scan = Laser(BEAMS, 10.0), scan_at([0.0, 0.0, 0.0])
    for step, elapsed, expected in (([0.3, 0, 0], 0.0, 3), ([0, 0, 0.2], 0.0, 4), ([0, 0, 0], 0.25, 4)):
        settings = ParticleSettings(particles=2, linear_update_m=0.6, angular_update_rad=0.3, temporal_update_s=0.5)
        slam = ParticleSlam(laser, settings, KEY)
        for _ in range(7 if expected == 4 else 6):
            slam.update(np.array(step, float), scan, elapsed)
        assert slam.processed == expected


def test_a_match_along_a_corridor_is_less_certain_than_across():
    walls = np.array([[-50, -1, 50, -1], [-50, 1, 50, 1]])
    angles = np.linspace(-1.5, 1.5, 181)
    scan = scan_at([0.0, 0.0, 0.0], walls, angles)
    settings = ParticleSettings(sampling_range_m=0.1, likelihood_gain=1.0)
    slam = ParticleSlam(Laser(angles, 10.0), settings, KEY)
    for k in range(8):
        _, _, covariance = slam.update(np.array([float(k > 0), 0.0, 0.0]), scan)
    assert covariance[0, 0] > 4.0 * covariance[1, 1]


def test_beams_that_are_no_returns_are_left_out():
    scan = scan_at([0.0, 0.0, 0.0])
    good = ParticleSlam(Laser(BEAMS, 10.0), ParticleSettings(particles=2), KEY)
    holes = ParticleSlam(Laser(np.append(BEAMS, [0.1] * 5), 10.0), ParticleSettings(particles=2), KEY)
    bad = np.append(scan, [np.nan, np.inf, -1.0, 0.0, 10.0])
    for _ in range(3):
        a, b = good.update(np.array([0.5, 0, 0]), scan), holes.update(np.array([0.5, 0, 0]), bad)
        assert a[0].tobytes() == b[0].tobytes()
    assert good.map().cells.tobytes() == holes.map().cells.tobytes()


def test_a_scan_without_returns_is_not_processed():
    slam = ParticleSlam(Laser(BEAMS, 10.0), ParticleSettings(particles=2), KEY, (1.0, 2.0, 0.0))
    pose, _, _ = slam.update(np.zeros(3), np.full(len(BEAMS), np.nan))
    np.testing.assert_array_equal(pose, [1.0, 2.0, 0.0])
    assert slam.map().cells.tolist() == [[-1]]
    pose, _, _ = slam.update(np.array([0.5, 0.0, 0.0]), np.full(len(BEAMS), np.nan))
    np.testing.assert_allclose(slam.trajectory(), [[1.0, 2.0, 0.0], [1.5, 2.0, 0.0]])
    np.testing.assert_allclose(pose, [1.5, 2.0, 0.0])


def test_beams_beyond_the_usable_range_only_mark_free_cells():
    settings = ParticleSettings(particles=1, usable_range_m=1.0, longest_range_m=5.0)
    slam = ParticleSlam(Laser(np.array([0.0, np.pi / 2, np.pi]), 10.0), settings, KEY, (0.02, 0.02, 0.0))
    slam.update(np.zeros(3), np.array([0.5, 3.0, 7.0]))
    grid = slam.map()
    at = {
        point: grid.cells[tuple(grid.to_cells(point))]
        for point in [(0.52, 0.02), (0.02, 0.9), (0.02, 1.1), (-0.5, 0.02)]
    }
    assert list(at.values()) == [100, 0, -1, -1]


@pytest.mark.parametrize("motion", [None, [np.nan, 0.0, 0.0], [1.0, 2.0], [0.0, 0.0, np.inf]])
def test_without_odometry_there_is_an_error(motion):
    slam = ParticleSlam(Laser(BEAMS, 10.0), ParticleSettings(particles=2), KEY)
    with pytest.raises(InvalidValueError, match="need odometry: three finite numbers"):
        slam.update(motion, np.ones(len(BEAMS)))


def test_a_scan_of_another_number_of_beams_is_an_error():
    slam = ParticleSlam(Laser(BEAMS, 10.0), ParticleSettings(particles=2), KEY)
    with pytest.raises(InvalidValueError, match="the laser has 120 beams"):
        slam.update(np.zeros(3), np.ones(7))


def test_presets_are_those_of_the_earlier_systems():
    assert ParticleSettings.preset("gmapping") == ParticleSettings(slipped_below=0.0, match_every_scan=False)
    yan, dat = ParticleSettings.preset("yan2017"), ParticleSettings.preset("dat160")
    assert (yan.resolution_m, yan.usable_range_m, yan.longest_range_m, yan.particles) == (0.2, 25.0, 26.0, 30)
    assert (dat.particles, dat.minimum_score, dat.turn_by_turn, dat.temporal_update_s) == (120, 100.0, 0.02, 0.5)
    assert sorted(PRESETS) == ["dat160", "gmapping", "yan2017"]
    with pytest.raises(InvalidValueError, match="did you mean 'gmapping'"):
        ParticleSettings.preset("gmaping")
