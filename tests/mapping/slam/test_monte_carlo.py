"""Localization in a known map: its parts against plain references, the whole in rooms that are worked by arrays."""

import math

import numpy as np
import pytest
from scipy import ndimage, special, stats

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.se2 import compose, inverse, wrap_angle
from covey.mapping.slam.kld import BIN_M, clusters, moments, particles_needed, resample
from covey.mapping.slam.known_map_settings import KnownMapSettings
from covey.mapping.slam.likelihood_field import LikelihoodField
from covey.mapping.slam.log import Laser
from covey.mapping.slam.monte_carlo import MonteCarlo, StartPose, move, predict, scatter
from covey.random import stream_key

KEY = stream_key(7, "test")
LASER = Laser(-np.pi + np.pi / 30 * np.arange(60), 8.0, (0.1, 0.0, 0.0))
SETTINGS = KnownMapSettings(candidates=20_000)


def rooms():
    """Two rooms of different shape with a door between them and a pillar, 12 x 8 m, cells of 0.1 m."""
    cells = np.zeros((80, 120), np.int8)
    cells[[0, -1]] = cells[:, [0, -1]] = 100
    cells[:, 70:72] = 100
    cells[30:42, 70:72] = 0
    cells[20:28, 25:31] = cells[50:54, 85:105] = cells[60:, 40:43] = 100
    return cells, Grid(cells, 0.1, (-2.0, -1.0, 0.0))


def scans(poses, cells, grid, laser=LASER):
    """Return the ranges (n, B) of rays that go on by 1 cm until they are in a wall."""
    at = compose(poses, np.array(laser.mount))
    out = np.full((len(poses), len(laser.angles)), np.inf)
    reach = np.arange(0.0, laser.range_max, 0.01)
    for i, (x, y, heading) in enumerate(at):
        turn = heading + laser.angles[:, None]
        points = np.stack((x + reach * np.cos(turn), y + reach * np.sin(turn)), -1)
        index = grid.to_cells(points)
        index = np.clip(index, 0, np.array(cells.shape) - 1)
        wall = cells[index[..., 0], index[..., 1]] == 100
        out[i] = np.where(wall.any(1), reach[wall.argmax(1)], np.inf)
    return out


def tour(steps=120):
    """Poses of a robot that drives round through both rooms, 0.1 m a step, (steps, 3)."""
    corners = np.array(
        [(-1.0, 0.0), (3.5, 0.3), (4.0, 2.6), (8.0, 2.6), (9.0, 1.0), (6.0, 0.5), (5.9, 2.6), (0.0, 3.0)]
    )
    legs = np.diff(corners, axis=0)
    ways = np.hypot(*legs.T)
    at = 0.1 * np.arange(steps)
    along = np.cumsum(np.r_[0.0, ways])
    leg = np.clip(np.searchsorted(along, at, side="right") - 1, 0, len(legs) - 1)
    places = corners[leg] + legs[leg] / ways[leg][:, None] * (at - along[leg])[:, None]
    return np.column_stack((places, np.arctan2(legs[leg, 1], legs[leg, 0])))


def motions(poses, rng, share=0.1):
    exact = compose(inverse(poses[:-1]), poses[1:])
    size = np.hypot(exact[:, 0], exact[:, 1]) + np.abs(exact[:, 2])
    return np.vstack((np.zeros(3), exact + rng.normal(size=exact.shape) * share * size[:, None]))


def follow(start, poses, ranges, seed=0, settings=SETTINGS, cells=None, noise_m=0.01, dropped=0.0, jump=None):
    """Let the filter follow a drive; return its errors (n, 2) in m and rad, and the filter."""
    known, grid = rooms()
    rng = np.random.default_rng(seed)
    filter_ = MonteCarlo(LASER, known if cells is None else cells, grid, settings, stream_key(seed, "robot0"), start)
    motion = motions(poses, rng)
    if jump is not None:
        motion[jump] = 0.0
    errors = []
    for k, pose in enumerate(poses):
        scan = ranges[k] + rng.normal(size=ranges.shape[1]) * noise_m
        found, covariance = filter_.update(motion[k], None if rng.random() < dropped else scan)
        assert np.isfinite(covariance).all()
        errors.append((math.hypot(*(found - pose)[:2]), abs(wrap_angle(found[2] - pose[2]))))
    return np.array(errors), filter_


@pytest.fixture(scope="module")
def drive():
    poses = tour()
    return poses, scans(poses, *rooms())


def near(pose):
    return StartPose(tuple((pose + np.array([0.1, -0.1, 0.05])).tolist()), (0.15, 0.15, 0.08))


def test_it_follows_a_robot_from_a_known_start(drive):
    poses, ranges = drive
    errors, filter_ = follow(near(poses[0]), poses, ranges)
    assert errors[20:, 0].mean() < 0.06
    assert errors[20:, 0].max() < 0.25
    assert np.degrees(errors[20:, 1].mean()) < 2.0
    assert filter_.count == SETTINGS.min_particles
    assert filter_.fit > 0.8
    assert filter_.certainty > 0.95
    assert not filter_.is_lost


@pytest.mark.parametrize("harder", [{"noise_m": 0.05}, {"dropped": 0.2}])
def test_it_follows_with_a_worse_lidar(drive, harder):
    poses, ranges = drive
    for seed in range(3):
        errors, _ = follow(near(poses[0]), poses, ranges, seed, **harder)
        assert errors[20:, 0].mean() < 0.08
        assert errors[20:, 0].max() < 0.4


@pytest.mark.slow
def test_it_finds_itself_from_anywhere(drive):
    poses, ranges = drive
    for seed in range(10):
        errors, filter_ = follow(None, poses, ranges, seed)
        assert errors[40:, 0].max() < 0.4, seed
        assert not filter_.is_lost


@pytest.mark.slow
def test_a_robot_that_was_put_elsewhere_is_found_again_within_three_metres_of_way():
    before, after = tour()[:60], tour()[60:][::-1]
    poses = np.concatenate((before, compose(after, np.array([0.0, 0.0, np.pi]))))
    ranges = scans(poses, *rooms())
    jump = math.hypot(*(poses[60] - poses[59])[:2])
    assert jump > 4.0
    for seed in range(10):
        errors, filter_ = follow(near(poses[0]), poses, ranges, seed, jump=60)
        assert errors[58, 0] < 0.3
        assert errors[61, 0] > 1.0
        assert errors[90:, 0].max() < 0.4, seed
        assert not filter_.is_lost


def test_without_recovery_a_robot_that_was_put_elsewhere_stays_lost():
    poses = np.concatenate((tour()[:60], tour()[60:][::-1]))
    ranges = scans(poses, *rooms())
    settings = SETTINGS.model_copy(update={"recovery_fast": 0.0, "recovery_slow": 0.0})
    errors, filter_ = follow(near(poses[0]), poses, ranges, settings=settings, jump=60)
    assert errors[70:100, 0].min() > 1.0  # later the drive comes back to where it was lost
    assert filter_.doubt == 0.0


def test_a_door_that_is_closed_in_the_map_but_open_in_truth_does_no_harm(drive):
    poses, ranges = drive
    old, _ = rooms()
    old[30:42, 70:72] = 100
    errors, _ = follow(near(poses[0]), poses, ranges, cells=old)
    assert errors[20:, 0].max() < 0.4


@pytest.mark.parametrize("noise_m", [0.0, 0.05])
def test_the_covariance_is_about_that_of_the_errors(drive, noise_m):
    """NEES is 3 for a consistent filter; 0.1 to 0.4 with the spread of the particles, whose beams end 0.2 m off."""
    (poses, ranges), nees = drive, []
    deviations, grid = np.array([0.1, 0.1, 0.05]), rooms()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        start = StartPose(tuple((poses[0] + deviations * rng.normal(size=3)).tolist()), tuple(deviations))
        filter_ = MonteCarlo(LASER, *grid, SETTINGS, stream_key(seed, "robot0"), start)
        for k, motion in enumerate(motions(poses, rng)):
            before = filter_.updates
            found, covariance = filter_.update(motion, ranges[k] + rng.normal(size=60) * noise_m)
            if filter_.updates > before:
                off = found - poses[k]
                off[2] = wrap_angle(off[2])
                nees.append(off @ np.linalg.solve(covariance, off))
    assert 0.6 < np.mean(nees) < 4.0


def test_between_two_scans_that_count_the_covariance_grows_with_the_motion(drive):
    """The filter waits until the robot has turned by 0.2 rad; meanwhile the odometry errs, by 0.2 turn^2 (alpha1)."""
    poses, ranges = drive
    filter_ = MonteCarlo(LASER, *rooms(), SETTINGS, KEY, StartPose(tuple(poses[0].tolist()), (0.1, 0.1, 0.05)))
    _, before = filter_.update(np.zeros(3), ranges[0])
    _, turned = filter_.update(np.array([0.0, 0.0, 0.15]), ranges[0])
    assert filter_.updates == 1
    assert turned[2, 2] == pytest.approx(before[2, 2] + SETTINGS.turn_from_turn * 0.15**2)
    _, driven = filter_.update(np.array([0.1, 0.0, 0.0]), ranges[0])
    assert filter_.updates == 1
    assert np.trace(driven[:2, :2]) > np.trace(turned[:2, :2]) + 0.5 * SETTINGS.way_from_way * 0.1**2


def test_a_predicted_covariance_is_that_of_moved_particles():
    noise, pose = np.array([0.02, 0.01, 0.02, 0.01, 0.005]), np.array([1.0, 2.0, 0.6])
    covariance = np.array([[0.02, 0.004, 0.001], [0.004, 0.01, -0.001], [0.001, -0.001, 0.002]])
    particles = np.random.default_rng(0).multivariate_normal(pose, covariance, 200_000)
    for motion in ([0.3, 0.1, 0.4], [0.005, 0.0, 0.5], [-0.4, 0.0, 0.1]):
        moved = particles.copy()
        move(moved, np.array(motion), noise, KEY, 1)
        found = np.cov(np.column_stack((moved[:, :2], np.unwrap(moved[:, 2]))).T)
        np.testing.assert_allclose(predict(covariance, pose, np.array(motion), noise), found, rtol=0.05, atol=4e-4)


def test_in_a_corridor_the_covariance_grows_along_it():
    """Two parallel walls, their ends out of sight: the scan tells nothing of the place along them."""
    rng = np.random.default_rng(3)
    cells = np.zeros((40, 600), np.int8)
    cells[[0, -1]] = 100
    grid = Grid(cells, 0.1, (0.0, 0.0, 0.0))
    poses = np.column_stack((20.0 + 0.1 * np.arange(150), np.full(150, 2.0), np.zeros(150)))
    ranges = np.broadcast_to(scans(poses[:1], cells, grid), (150, 60))
    filter_ = MonteCarlo(LASER, cells, grid, SETTINGS, KEY, StartPose((20.0, 2.0, 0.0), (0.05, 0.05, 0.02)))
    along, across = [], []
    for k, motion in enumerate(motions(poses, rng)):
        _, covariance = filter_.update(motion, ranges[k])
        along.append(math.sqrt(covariance[0, 0]))
        across.append(math.sqrt(covariance[1, 1]))
    assert across[-1] < 0.15
    # every 0.3 m the model of the motion adds a variance of 0.2 * 0.3^2, and nothing takes any away
    expected = math.sqrt(150 / 3 * 0.2 * 0.3**2)
    assert 0.6 * expected < along[-1] < 1.4 * expected
    assert along[-1] > 3.0 * across[-1]


def test_the_same_key_gives_the_same_bytes_and_another_key_others(drive):
    poses, ranges = drive
    particles = [follow(None, poses[:30], ranges, seed)[1].particles.tobytes() for seed in (1, 1, 2)]
    assert particles[0] == particles[1] != particles[2]


def test_between_updates_the_pose_follows_the_odometry(drive):
    poses, ranges = drive
    filter_ = MonteCarlo(LASER, *rooms(), SETTINGS, KEY, near(poses[0]))
    first, _ = filter_.update(np.zeros(3), ranges[0])
    moved, _ = filter_.update(np.array([0.1, 0.0, 0.1]), ranges[1])
    np.testing.assert_allclose(moved, compose(first, np.array([0.1, 0.0, 0.1])), atol=1e-12)
    after, _ = filter_.update(np.array([0.2, 0.0, 0.0]), None)
    np.testing.assert_allclose(after, compose(moved, np.array([0.2, 0.0, 0.0])), atol=1e-12)
    blind = np.full(60, np.nan)
    np.testing.assert_allclose(filter_.update(np.array([0.5, 0.0, 0.0]), blind)[0][2], moved[2], atol=1e-12)


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        (np.zeros((5, 5), np.int8), "no occupied cell"),
        (np.full((5, 5), 100, np.int8), "no free cell"),
        (np.array([[0, 100, 7]], np.int8), "holds 7"),
        (np.zeros(5, np.int8), "must have rows and columns"),
    ],
)
def test_what_is_no_map_is_refused(cells, problem):
    with pytest.raises(InvalidValueError, match=problem):
        MonteCarlo(LASER, cells, Grid(np.zeros((5, 5)), 0.1), SETTINGS, KEY)


def test_other_bad_input_is_refused():
    cells, grid = rooms()
    with pytest.raises(InvalidValueError, match="no negative deviation"):
        MonteCarlo(LASER, cells, grid, SETTINGS, KEY, StartPose((0.0, 0.0, 0.0), (0.1, -0.1, 0.1)))
    filter_ = MonteCarlo(LASER, cells, grid, SETTINGS, KEY)
    with pytest.raises(InvalidValueError, match="has 3 ranges; the lidar has 60 beams"):
        filter_.update(np.zeros(3), np.ones(3))
    with pytest.raises(InvalidValueError, match="max_particles is 20; it must be at least min_particles, 500"):
        KnownMapSettings(max_particles=20)


# -- the parts -----------------------------------------------------------------------------------------------------------


def test_the_field_is_that_of_the_table_in_the_book():
    """Density of each end point by SciPy's spline of order 1 over the distances to the surfaces of walls."""
    rng = np.random.default_rng(3)
    cells, grid = rooms()
    field = LikelihoodField(cells, grid, SETTINGS, 8.0)
    poses = np.column_stack((rng.uniform(-1.5, 9.5, 50), rng.uniform(-0.5, 6.5, 50), rng.uniform(-3, 3, 50)))
    points, turn = rng.uniform(-4, 4, (30, 2)), rng.uniform(-3, 3, 30)
    ways = np.column_stack((np.cos(turn), np.sin(turn)))
    log_density, fit = field.score(poses, np.hstack((points, ways)))
    wall = np.pad(cells == 100, 20)
    away, deep = ndimage.distance_transform_edt(~wall), ndimage.distance_transform_edt(wall)
    surface = 0.1 * np.where(wall, 0.5 - deep, away - 0.5)
    for i, pose in enumerate(poses):
        d, before = (
            surface_at(surface, compose(pose, np.column_stack((p, np.zeros(30))))[:, :2])
            for p in (points, points - 0.1 * ways)
        )
        d = np.where((np.abs(d) < 0.6) & (before < 0.0), 0.1 - before, np.abs(d))
        close = np.where(d < 2.0, np.exp(-0.5 * (d / 0.2) ** 2), 0.0)
        assert log_density[i] == pytest.approx(np.log(0.5 * close + 0.5 / 8.0).mean(), abs=4e-3)
        assert fit[i] == pytest.approx(close.mean(), abs=2e-3)


def surface_at(surface, places):
    """Return the signed distances of places, 9 m beside the map with its margin of 2 m."""
    at = np.array([(places[:, 1] + 3.0) / 0.1 - 0.5, (places[:, 0] + 4.0) / 0.1 - 0.5])
    inside = (at >= 0).all(0) & (at[0] < 119) & (at[1] < 159)
    return np.where(inside, ndimage.map_coordinates(surface, at, order=1, cval=9.0), 9.0)


def test_without_errors_particles_move_as_measured():
    rng = np.random.default_rng(3)
    particles = np.column_stack((rng.uniform(-5, 5, 20), rng.uniform(-5, 5, 20), rng.uniform(-3, 3, 20)))
    for motion in ([0.3, 0.1, 0.2], [-0.3, 0.0, 0.1], [0.0, 0.0, 1.0], [0.004, 0.0, 0.3]):
        moved = particles.copy()
        move(moved, np.array(motion), np.zeros(5), KEY, 1)
        expected = compose(particles, np.array(motion))
        np.testing.assert_allclose(moved[:, :2], expected[:, :2], atol=1e-12)
        np.testing.assert_allclose(wrap_angle(moved[:, 2] - expected[:, 2]), 0.0, atol=1e-12)


@pytest.mark.parametrize("backward", [False, True])
def test_errors_of_the_motion_are_those_of_the_book(backward):
    """A way of 1 m with turns of 0.3 before and 0.1 after it: variances worked by hand."""
    a1, a2, a3, a4 = 0.02, 0.01, 0.03, 0.04
    motion = np.array([math.cos(0.3), math.sin(0.3), 0.4])
    if backward:  # straight back along the same line: the turns are the same beside two half turns
        motion[:2] *= -1.0
    particles = np.zeros((200_000, 3))
    move(particles, motion, np.array([a1, a2, a3, a4, 0.0]), KEY, 1)
    ways = np.hypot(particles[:, 0], particles[:, 1])
    assert ways.std() == pytest.approx(math.sqrt(a3 + a4 * (0.3**2 + 0.1**2)), rel=0.02)
    direction = wrap_angle(np.arctan2(particles[:, 1], particles[:, 0]) - math.atan2(motion[1], motion[0]))
    assert direction[ways > 0.2].std() == pytest.approx(math.sqrt(a1 * 0.3**2 + a2), rel=0.02)
    turns = wrap_angle(particles[:, 2] - motion[2])
    assert turns.std() == pytest.approx(math.sqrt(a1 * (0.3**2 + 0.1**2) + 2 * a2), rel=0.02)


@pytest.mark.parametrize("bins", [2, 10, 100, 1000])
def test_the_number_of_particles_is_the_quantile_of_chi_square(bins):
    """Fox 2003: n = chi2(1 - delta, k - 1) / (2 epsilon), which the formula approximates (Wilson and Hilferty)."""
    exact = stats.chi2.ppf(special.ndtr(0.99), bins - 1) / (2 * 0.05)
    assert particles_needed(bins, 0.05, 0.99) == pytest.approx(exact, rel=0.02, abs=1.0)
    assert particles_needed(1, 0.05, 0.99) == 1


def drawn(particles, weights, candidates=None, shares=(0.0, 0.0), most=5000):
    candidates = np.empty((0, 3)) if candidates is None else candidates
    chances = np.full(len(candidates), 1.0 / max(len(candidates), 1))
    out, of = np.empty((most, 3)), np.empty(most)
    n = resample(particles, weights, candidates, chances, shares, KEY, 3, 0.05, 0.99, 500, out, of)
    return out[:n], of[:n] / of[:n].sum()


def test_resampling_draws_by_weight_and_as_many_as_are_needed():
    rng = np.random.default_rng(3)
    together = rng.normal(scale=0.1, size=(1000, 3)) + np.array([0.25, 0.25, 0.1])
    assert len(drawn(together, np.full(1000, 1e-3))[0]) == 500
    apart = np.column_stack((rng.uniform(0, 20, 3000), rng.uniform(0, 20, 3000), rng.uniform(-3, 3, 3000)))
    assert len(drawn(apart, np.full(3000, 1 / 3000))[0]) == 5000
    few = np.column_stack((3.0 * np.arange(4), np.zeros((4, 2))))
    found, weight = drawn(few, np.array([0.1, 0.2, 0.3, 0.4]))
    counts = np.array([(found[:, 0] == x).sum() for x in few[:, 0]])
    assert stats.chisquare(counts, len(found) * np.array([0.1, 0.2, 0.3, 0.4])).pvalue > 0.001
    np.testing.assert_allclose(weight, 1.0 / len(found))
    mixed, weight = drawn(few, np.full(4, 0.25), np.full((50, 3), 40.0), shares=(0.3, 0.01))
    assert (mixed[:, 0] == 40.0).mean() == pytest.approx(0.3, abs=0.07)
    assert weight[mixed[:, 0] == 40.0].sum() == pytest.approx(0.01, rel=0.4)


def test_clusters_are_the_connected_parts_of_the_bins():
    rng = np.random.default_rng(3)
    particles = np.column_stack((rng.uniform(-4, 4, 150), rng.uniform(-4, 4, 150), rng.uniform(-3.14, 3.14, 150)))
    label = np.empty(150, np.int64)
    count = clusters(particles, label)
    bins = np.floor(np.column_stack((particles[:, :2] / BIN_M, particles[:, 2] / (np.pi / 18)))).astype(int)
    apart = np.abs(bins[:, None] - bins[None])
    apart[..., 2] = np.minimum(apart[..., 2], 36 - apart[..., 2])
    joined = (apart <= 1).all(-1).astype(float)
    for _ in range(8):
        joined = np.minimum(joined @ joined, 1.0)  # who is joined by 256 steps
    assert count == len(np.unique(joined, axis=0))
    np.testing.assert_array_equal(label[:, None] == label[None], joined > 0)


def test_moments_are_those_of_weighted_particles():
    rng = np.random.default_rng(3)
    particles = rng.normal(scale=0.2, size=(400, 3)) + np.array([1.0, 2.0, 3.1])
    particles[:, 2] = wrap_angle(particles[:, 2])
    weights = rng.uniform(size=400)
    weights /= weights.sum()
    covariance = np.empty((3, 3))
    pose = np.array(moments(particles, weights, np.zeros(400, np.int64), 0, covariance))
    np.testing.assert_allclose(pose[:2], weights @ particles[:, :2], atol=1e-12)
    assert wrap_angle(pose[2] - 3.1) == pytest.approx(0.0, abs=0.05)
    off = particles - pose
    off[:, 2] = wrap_angle(off[:, 2])
    np.testing.assert_allclose(covariance, (off * weights[:, None]).T @ off, atol=1e-12)


def test_poses_anywhere_are_on_free_cells_and_even():
    cells = np.array([[0, 100, 0, -1], [0, 0, 100, 0]], np.int8)
    grid = Grid(cells, 0.5, (1.0, -2.0, 0.3))
    out = np.empty((6000, 3))
    scatter(np.argwhere(cells == 0), grid.frame, KEY, 1, out)
    at = grid.to_cells(out[:, :2])
    counts = np.zeros(cells.shape)
    np.add.at(counts, tuple(at.T), 1)
    assert not counts[cells != 0].any()
    assert stats.chisquare(counts[cells == 0]).pvalue > 0.001
    assert stats.kstest(out[:, 2], stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 0.001
