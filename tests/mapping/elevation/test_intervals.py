"""The 95 % intervals of beliefs about the ground hold the truth in 95 % of cases, whatever the sensor."""

import math

import numpy as np
import pytest

from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.compare import compare, true_altitude
from covey.mapping.records import ElevationMapping
from covey.sensors import DepthCamera, Lidar3D, Wedge
from covey.sensors.sensor import sensor_keys
from covey.sensors.truth import Truth
from covey.world.generators.grounds import boulders, hills, ridges
from covey.world.ground import Ground

LIDAR = Lidar3D(range_m=8.0, rays=120)
ONE, WALLS = np.array([0]), np.zeros((4, 4), bool)
SKIP, FRAME = skip_field(WALLS), Grid(WALLS, 1.0).frame


def landscape(seed):
    """One of hills, ridges or boulders."""
    if seed % 3 == 0:
        return hills(size_m=(20.0, 20.0), height_m=2.0, wavelength_m=20.0, seed=seed)
    if seed % 3 == 1:
        return ridges(size_m=(20.0, 20.0), height_m=1.5, wavelength_m=25.0, seed=seed)
    return boulders(size_m=(20.0, 20.0), spacing_m=1.0, seed=seed)


def look(beliefs, sensor, ground, pose, sample, keys):
    """Let the belief take in one reading, taken by a body that stands level on the ground."""
    attitude = np.array([[float(ground.altitude_at(pose[0, :2])), 0.0, 0.0]])
    still, one, felt = np.zeros((1, 3)), np.ones(1, np.int64), (np.zeros((0, 3)), (0, 0))
    truth = Truth(SKIP, FRAME, pose, pose, still, still[None], one, *felt, one, 0.1, ground, attitude)
    sensor.read(truth, ONE, keys, sample).into(beliefs, ONE, ONE, pose, sample)


def drive_about(sensor, ground, test="innovation", seed=0, sights=36, spacing_m=None):
    """Return what a robot believes that goes in a circle and stands for a third of the time."""
    beliefs = Elevations.covering(ground, ["a"], ElevationMapping(change_test=test, spacing_m=spacing_m))
    keys = sensor_keys(seed, sensor.kind, ["a"])
    for sample in range(sights):
        angle = 0.1 * max(sample - sights // 3, 0)
        pose = np.array([[3.0 * math.cos(angle), 3.0 * math.sin(angle), angle + 0.5 * math.pi]])
        look(beliefs, sensor, ground, pose, sample, keys)
    return beliefs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sensor", "spacing_m"),
    [(Wedge(), None), (LIDAR, None), (LIDAR, 0.5), (DepthCamera(), None)],
)
def test_over_20_landscapes_the_truth_lies_in_the_95_percent_interval_in_95_percent(sensor, spacing_m):
    shares, errors = [], []
    for seed in range(20):
        ground = landscape(seed)
        beliefs = drive_about(sensor, ground, seed=seed, spacing_m=spacing_m)
        found = compare(beliefs[0], true_altitude(ground, beliefs.grid))
        assert found.measured_share > 0.05
        shares.append(found.interval_coverage)
        errors.append(found.rmse_m)
    assert np.mean(shares) == pytest.approx(0.95, abs=0.03)
    assert min(shares) > 0.85
    assert np.median(errors) < 0.1


def test_what_a_cloud_says_of_a_vertex_is_the_bayesian_estimate_of_all_its_points():
    """Against dense linear algebra: unknowns are all vertices, neighbours of the one asked for normal around it."""
    random = np.random.default_rng(2)
    altitude = random.normal(0.0, 0.2, (4, 4))
    ground = Ground.of(altitude, 1.0, origin=(0.0, 0.0))
    points = np.column_stack((random.uniform(0.0, 3.0, (40, 2)), np.zeros(40)))
    points[:, 2] = ground.altitude_at(points[:, :2]) + random.normal(0.0, 0.02, 40)
    beliefs = Elevations(["a"], (4, 4), (0.0, 0.0), 1.0, ElevationMapping(change_test="none"))
    eye = np.array([[1.5, 1.5, 1e4]])
    beliefs.see_points(ONE, ONE, np.zeros((1, 3)), points[None], eye, 0.02, 0)
    for a, b in ((1, 1), (2, 2), (0, 0), (3, 1)):
        value, variance = by_hand(points, a, b)
        assert beliefs[0].altitude()[a, b] == pytest.approx(value, abs=1e-5)
        # beside what noise and the shape of the ground leave open there is a floor of 0.06 of the deviation of a range
        assert beliefs[0].variance()[a, b] == pytest.approx(variance + (0.06 * 0.02) ** 2, rel=1e-3)


def by_hand(points, a, b):
    """Return altitude and variance of a vertex from the points in the triangles around it."""
    near = [(0, 0), (0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0)]
    rows, values = [], []
    for x, y, z in points:
        i, j = math.floor(y), math.floor(x)
        u, v = x - j, y - i
        corners = {(i, j): 1 - max(u, v), (i + 1, j + 1): min(u, v), ((i, j + 1) if u >= v else (i + 1, j)): abs(u - v)}
        if (a, b) in corners:
            rows.append([corners.get((a + p, b + q), 0.0) for p, q in near])
            values.append(z)
    design = np.array(rows)
    information = design.T @ design / 0.02**2
    for k, (p, q) in enumerate(near[1:], 1):
        weight = 1.0 / (0.5**2 * (p * p + q * q))
        information[k, k] += weight
        information[0, 0] += weight
        information[0, k] -= weight
        information[k, 0] -= weight
    covariance = np.linalg.inv(information)
    return float((covariance @ design.T @ np.array(values))[0] / 0.02**2), float(covariance[0, 0])


def test_the_same_sight_again_and_again_does_not_make_a_belief_surer_than_its_shape_lets_it_be():
    """One ray, 0.3 m beside a vertex on a slope that nobody knows: a thousand sights do not tell the altitude there."""
    beliefs = Elevations(["a"], (4, 4), (0.0, 0.0), 1.0, ElevationMapping(change_test="none"))
    slope, random = 0.4, np.random.default_rng(1)
    for step in range(1000):
        point = np.array([[[1.3, 1.0, 0.3 * slope + random.normal(0.0, 0.02)]]])
        beliefs.see_points(ONE, ONE, np.zeros((1, 3)), point, np.array([[1.3, 1.0, 1e4]]), 0.02, step)
    # The neighbour in the east is 1 m away, its altitude less that of the vertex has a deviation of 0.5 m.
    assert beliefs[0].interval()[1, 1] == pytest.approx(1.96 * 0.3 * 0.5, rel=0.05)
    assert abs(beliefs[0].altitude()[1, 1]) < beliefs[0].interval()[1, 1]
