"""What errors of the pose make of altitudes: slopes around a vertex, variances, and intervals that hold the truth."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import covey
from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.compare import compare, true_altitude
from covey.mapping.elevation.slopes import ENOUGH, REACH, SLOPE, SURELY, WIDER, PoseUncertainty, shifted, slopes_around
from covey.mapping.elevation.slopes import steps_off as steps
from covey.mapping.localization import Noise
from covey.mapping.records import ElevationMapping
from covey.onboard.group import Group
from covey.sensors import DepthCamera, Lidar3D, Wedge
from covey.sensors.sensor import sensor_keys
from covey.sensors.truth import Truth
from covey.world.ground import Ground

LIDAR = Lidar3D(range_m=8.0, rays=120)
ONE, WALLS = np.array([0]), np.zeros((4, 4), bool)
SKIP, FRAME = skip_field(WALLS), Grid(WALLS, 1.0).frame


def plane(degrees, azimuth=0.4, half=20):
    """A plane of a slope that rises in a direction."""
    x, y = np.meshgrid(np.arange(-half, half + 1.0), np.arange(-half, half + 1.0))
    rise = math.tan(math.radians(degrees))
    return Ground.of(rise * (x * math.cos(azimuth) + y * math.sin(azimuth)), 1.0, origin=(-half, -half))


def around_by_hand(mark, mean, variance, a, b, spacing):
    """The same as `slopes_around`, by slices."""
    part = slice(max(a - REACH, 0), a + REACH + 1), slice(max(b - REACH, 0), b + REACH + 1)
    good = (mark[part] == 1) & (variance[part] <= (SURELY * spacing) ** 2)
    z = np.where(good, mean[part], np.nan)
    east, north = (z[:, 1:] - z[:, :-1]) / spacing, (z[1:] - z[:-1]) / spacing
    across = (z[1:, 1:] - z[:-1, :-1]) / spacing
    bends = [east[:, 1:] - east[:, :-1], north[1:] - north[:-1], (across[1:, 1:] - across[:-1, :-1]) / math.sqrt(2.0)]
    bends = np.concatenate([bend[np.isfinite(bend)] for bend in bends])
    v = np.where(good, variance[part], np.nan) / spacing**2
    noise = [v[:, 2:] + 4 * v[:, 1:-1] + v[:, :-2], v[2:] + 4 * v[1:-1] + v[:-2]]
    noise.append((v[2:, 2:] + 4 * v[1:-1, 1:-1] + v[:-2, :-2]) / 2.0)
    noise = np.concatenate([of[np.isfinite(of)] for of in noise])
    rough = (bends**2 / 2.0).sum()
    rough *= min(rough / (noise.sum() / 2.0), 1.0) if len(bends) and noise.sum() else 1.0
    unknown = max(1.0 - len(bends) / ENOUGH, 1e-5)
    single = (unknown * SLOPE**2 + WIDER * rough) / (unknown + len(bends))
    slopes = [of[np.isfinite(of)] for of in (east, north)]
    means = [of.mean() if len(of) else 0.0 for of in slopes]
    return [*means, *(single / len(of) if len(of) else 0.0 for of in slopes), single]


@pytest.mark.parametrize("deviation", [0.2, 0.02])  # the ground is rough; or beliefs do not know it better
def test_slopes_around_a_vertex_are_means_and_half_the_mean_square_of_bends(deviation):
    random = np.random.default_rng(1)
    mean, found = random.normal(0.0, deviation, (9, 11)), np.empty(5)
    mark, variance = random.integers(0, 2, (9, 11)).astype(np.uint8), random.uniform(0.0, 0.003, (9, 11))
    for a, b in np.ndindex(9, 11):
        slopes_around(mark, mean, variance, a, b, 0.5, found)
        assert found == pytest.approx(around_by_hand(mark, mean, variance, a, b, 0.5))


def test_on_a_plane_slopes_are_known_and_on_unknown_ground_they_are_not():
    found, variance = np.empty(5), np.zeros((9, 9))
    column, row = np.meshgrid(np.arange(9.0), np.arange(9.0))
    slopes_around(np.ones((9, 9), np.uint8), 0.3 * column - 0.1 * row, variance, 4, 4, 1.0, found)
    assert found[:2] == pytest.approx((0.3, -0.1))
    assert np.sqrt(found[2:]).max() < 0.001
    slopes_around(np.zeros((9, 9), np.uint8), 0.3 * column, variance, 4, 4, 1.0, found)
    assert found == pytest.approx((0.0, 0.0, 0.0, 0.0, SLOPE**2))


def test_an_error_of_the_pose_moves_a_point_and_the_slope_makes_an_altitude_of_it():
    """First-order propagation: the altitude at (dx, dy) depends on x, y and heading by -(gx, gy, gy dx - gx dy)."""
    random = np.random.default_rng(2)
    for _ in range(20):
        root, (dx, dy), (gx, gy) = random.normal(size=(3, 3)), random.normal(0, 4, 2), random.normal(0, 0.5, 2)
        covariance = 0.01 * root @ root.T
        moves = np.array([[1.0, 0.0, -dy], [0.0, 1.0, dx]]) @ covariance @ np.array([[1.0, 0.0, -dy], [0.0, 1.0, dx]]).T
        known = np.array([gx, gy, 0.0, 0.0, 0.0])
        of_altitude, xx, yy = shifted(covariance, dx, dy, known)
        assert of_altitude == pytest.approx(np.array([gx, gy]) @ moves @ np.array([gx, gy]))
        assert (xx, yy) == pytest.approx(np.diag(moves))
        unsure, _, _ = shifted(covariance, dx, dy, np.array([gx, gy, 0.01, 0.02, 0.04]))
        assert unsure == pytest.approx(of_altitude + 0.05 * xx + 0.06 * yy)


def test_a_vertex_that_counts_for_the_nearest_one_is_off_by_whole_spacings():
    assert steps(0.0, 1.0) == 0.0
    for deviation in (0.2, 0.7, 3.0):
        k = np.arange(-30, 31)
        share = norm.cdf((k + 0.5) / deviation) - norm.cdf((k - 0.5) / deviation)
        assert steps((deviation * 0.5) ** 2, 0.5) == pytest.approx((k**2 * share).sum(), rel=1e-5)
    assert steps(0.02**2, 1.0) == 0.0  # 2 cm never move a vertex to the next one, 1 m away


def circling(sensor, ground, seed, sigma, white, told=True, spacing_m=None, sights=30):
    """Return errors and deviations of what a robot believes that drives in a circle and errs about its pose."""
    beliefs = Elevations.covering(ground, ["a"], ElevationMapping(spacing_m=spacing_m))
    random, keys = np.random.default_rng(seed), sensor_keys(seed, sensor.kind, ["a"])
    covariance, off = np.diag(np.square((sigma[0], sigma[0], sigma[1]))), random.normal(0.0, 1.0, 3)
    still, one, felt = np.zeros((1, 3)), np.ones(1, np.int64), (np.zeros((0, 3)), (0, 0))
    errors = PoseUncertainty(covariance[None], np.array([white])) if told else None
    for sample in range(sights):
        angle = 0.2 * sample
        pose = np.array([[3.0 * math.cos(angle), 3.0 * math.sin(angle), angle + 0.5 * math.pi]])
        level = np.array([[float(ground.altitude_at(pose[0, :2])), 0.0, 0.0]])
        truth = Truth(SKIP, FRAME, pose, pose, still, still[None], one, *felt, one, 0.1, ground, level)
        off = random.normal(0.0, 1.0, 3) if white else off
        thinks = pose + off * (sigma[0], sigma[0], sigma[1])
        sensor.read(truth, ONE, keys, sample).into(beliefs, ONE, ONE, thinks, sample, errors)
    measured = beliefs[0].marks() == 1
    error = (beliefs[0].altitude() - true_altitude(ground, beliefs.grid))[measured]
    return error, np.sqrt(beliefs[0].variance()[measured])


@pytest.mark.parametrize("sensor", [LIDAR, DepthCamera()])
@pytest.mark.parametrize(("sigma", "white"), [((0.02, math.radians(0.5)), True), ((0.05, math.radians(1.0)), False)])
def test_intervals_hold_the_truth_on_slopes_though_the_pose_is_not_known(sensor, sigma, white):
    """Errors of each step, or one for all steps: on 30 degrees, 2 cm are 1.2 cm of altitude, and 0.5 degrees 1.5 cm."""
    seeds, sights = (3, 30) if white else (12, 8)
    runs = [circling(sensor, plane(30), seed, sigma, white, sights=sights) for seed in range(seeds)]
    error, deviation = (np.concatenate(part) for part in zip(*runs, strict=True))
    assert (np.abs(error) <= 1.96 * deviation).mean() > 0.9  # of twelve errors for all steps, one may be beyond
    assert 0.45 < math.sqrt(np.mean(error**2) / np.mean(deviation**2)) < 1.2
    blind, thinks = circling(sensor, plane(30), 0, sigma, white, told=False)
    assert (np.abs(blind) <= 1.96 * thinks).mean() < 0.8


def test_on_flat_ground_errors_of_the_pose_cost_nothing():
    error, deviation = circling(LIDAR, plane(0), 0, (0.05, math.radians(1.0)), False)
    assert np.abs(error).max() < 0.06
    assert np.median(deviation) < 0.005  # a tenth of what 30 degrees make of it
    assert np.sqrt(np.mean(deviation**2)) < 0.05


@pytest.mark.parametrize("sensor", [LIDAR, DepthCamera()])
def test_on_flat_ground_intervals_are_not_much_wider_than_the_errors(sensor):
    """Where the pose is known: errors over deviations have a deviation of 1 if intervals are exact."""
    error, deviation = circling(sensor, plane(0), 0, (1e-9, 1e-9), True)
    assert 0.5 < np.std(error / deviation) < 1.1
    assert 0.93 < (np.abs(error) <= 1.96 * deviation).mean() < 0.995


def test_a_wedge_tells_vertices_apart_so_only_errors_of_half_a_spacing_count():
    """At a spacing of 0.25 m, 3 degrees at 5 m move a vertex by one or two of them in most sights."""
    sigma = (0.02, math.radians(3.0))
    runs = [circling(Wedge(), plane(20), seed, sigma, True, spacing_m=0.25) for seed in range(2)]
    error, deviation = (np.concatenate(part) for part in zip(*runs, strict=True))
    assert (np.abs(error) <= 1.96 * deviation).mean() > 0.93
    assert np.median(deviation) < 0.2
    exact, known = circling(Wedge(), plane(20), 0, (0.02, math.radians(0.5)), True)
    assert 0.92 < (np.abs(exact) <= 1.96 * known).mean() < 0.99


def test_a_simulation_passes_on_what_its_robots_do_not_know():
    shares = {}
    for white in (True, None):
        noise = Noise(sigma_m=0.05, sigma_rad=0.02) if white else covey.mapping.localization.TruePose()
        model = covey.robots.disc().model_copy(update={"sensors": (LIDAR,), "mapping": ElevationMapping()})
        group = Group("s", model, [(-2.0, 0.0, 0.0)], localization=noise)
        sim = covey.Simulation(plane(25, half=12).world(), [group], lambda robot: robot.drive(0.5, 0.3), seed=3)
        for _ in range(30):
            sim.step()
        beliefs = sim.localization.teams[0].beliefs
        shares[white] = compare(beliefs[0], true_altitude(sim.world.ground, beliefs.grid)).interval_coverage
        sim.close()
    assert shares[True] > 0.9
    assert shares[None] > 0.9
