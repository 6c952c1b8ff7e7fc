"""Clouds of points of 3-D lidars and depth cameras."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.references.geometry import cast_reference

from covey.errors import InvalidValueError
from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.compare import errors, interval_coverage, rmse_m, true_altitude
from covey.mapping.records import ElevationMapping
from covey.sensors import DepthCamera, Lidar3D, sensor_keys
from covey.world.generators.grounds import hills
from covey.world.ground import Ground

KEYS = sensor_keys(3, "cloud", ["a", "b", "c"])
EXACT = {"sigma_m": 0.0}


def on(ground, make_truth, pose, tilt=(0.0, 0.0), **changes):
    pose = np.array(pose, float).reshape(-1, 3)
    attitude = np.column_stack((ground.altitude_at(pose[:, :2]), np.tile(tilt, (len(pose), 1))))
    return make_truth(pose, ground=ground, altitude_roll_pitch=attitude, **changes)


def test_rings_meet_level_ground_where_trigonometry_says(make_truth):
    ground = Ground.of(np.full((101, 101), 3.0), 1.0)
    sensor = Lidar3D(rings=3, rays=8, elevation_deg=0, declination_deg=30, range_m=10, height_m=0.5, **EXACT)
    reading = sensor.read(on(ground, make_truth, [[2.0, 1.0, 0.7]]), np.array([0]), KEYS[:1], 0).row(0)
    expected = np.repeat([0.5 / math.sin(math.radians(30)), 0.5 / math.sin(math.radians(15)), math.inf], 8)
    np.testing.assert_allclose(reading.ranges, expected)
    points = reading.points[:16]
    np.testing.assert_allclose(points[:, 2], 3.0)
    np.testing.assert_allclose(np.hypot(points[:8, 0], points[:8, 1]), 0.5 / math.tan(math.radians(30)))
    assert np.isnan(reading.points[16:]).all()
    np.testing.assert_allclose(points[4, :2], [0.5 / math.tan(math.radians(30)), 0.0], atol=1e-9)  # straight ahead


@pytest.mark.parametrize(
    "sensor", [Lidar3D(rings=8, rays=40, range_m=8, **EXACT), DepthCamera(width=20, height=12, **EXACT)]
)
def test_points_lie_on_the_ground_whatever_the_tilt_and_no_nearer_than_a_plain_ray_finds(make_truth, sensor):
    ground = hills(size_m=(40.0, 40.0), spacing_m=0.5, height_m=6.0, wavelength_m=20.0, seed=3)
    pose = np.array([[1.0, 2.0, 0.4], [-5.0, 3.0, 2.5], [4.0, -8.0, -2.0]])
    truth = on(ground, make_truth, pose, tilt=(0.15, 0.2))
    readings = sensor.read(truth, np.arange(3), KEYS, 0)
    for i, (x, y, heading) in enumerate(pose):
        points = readings.row(i).points
        hit = np.isfinite(points[:, 0])
        assert hit.sum() > 50
        c, s = math.cos(heading), math.sin(heading)
        world = np.column_stack((x + c * points[:, 0] - s * points[:, 1], y + s * points[:, 0] + c * points[:, 1]))
        np.testing.assert_allclose(points[hit, 2], ground.altitude_at(world[hit]), atol=1e-6)
    from covey.sensors.wedge import placed

    at = np.empty((4, 3))
    mount = np.array([sensor.mount_x_m, sensor.mount_y_m, sensor.height_m, 0.0, math.radians(sensor.mount_pitch_deg)])
    placed(pose[0], truth.altitude_roll_pitch[0], mount, 0.0, at)
    c, s = math.cos(0.4), math.sin(0.4)
    for k in np.flatnonzero(np.isfinite(readings.ranges[0]))[::25]:
        ahead, left, up = readings.points[0, k]
        way = np.array([1.0 + c * ahead - s * left, 2.0 + s * ahead + c * left, up]) - at[0]
        length = float(np.linalg.norm(way))
        assert length == pytest.approx(readings.ranges[0, k])
        assert cast_reference(ground.altitude, ground.frame, at[0], way / length, 30.0) == pytest.approx(
            length, abs=1e-6
        )


@pytest.mark.parametrize("kind", [Lidar3D, DepthCamera], ids=lambda kind: kind.__name__)
def test_outliers_are_as_often_as_said_and_anywhere_in_the_range(make_truth, kind):
    share, n = 0.1, 3
    shape = {"rings": 50, "rays": 200} if kind is Lidar3D else {"width": 100, "height": 100}
    truth = on(Ground.of(np.zeros((101, 101)), 1.0), make_truth, np.zeros((n, 3)))
    options = {"range_m": 8.0, "min_range_m": 2.0, **shape, **EXACT}
    exact = kind(**options).read(truth, np.arange(n), KEYS, 3).ranges
    got = kind(outliers=share, **options).read(truth, np.arange(n), KEYS, 3).ranges
    strange = got[got != exact]
    rays = n * 10_000
    assert strange.size == pytest.approx(share * rays, abs=4 * math.sqrt(share * (1 - share) * rays))
    assert stats.kstest(strange, "uniform", (2.0, 6.0)).pvalue > 1e-3


def test_walls_are_hit_below_their_top_and_seen_over_above_it(make_truth):
    ground = Ground.of(np.zeros((21, 21)), 0.5, origin=(0.0, 0.0))
    walls = np.zeros((100, 100), bool)
    walls[:, 70:72] = True
    truth = on(ground, make_truth, [[5.0, 5.0, 0.0]], solid=walls, wall_height_m=0.8)
    sensor = Lidar3D(rings=2, rays=1, elevation_deg=10, declination_deg=0, range_m=4, fov_deg=10, **EXACT)
    ranges = sensor.read(truth, np.array([0]), KEYS[:1], 0).ranges[0]
    assert ranges.tolist() == [pytest.approx(2.0), math.inf]  # at 10 degrees it passes 0.85 m above the ground


def test_a_camera_has_the_field_of_view_of_a_pinhole(make_truth):
    camera = DepthCamera(fov_deg=90, width=4, height=2, mount_pitch_deg=90, mount_x_m=0, height_m=2, **EXACT)
    truth = on(Ground.of(np.zeros((21, 21)), 1.0), make_truth, [[0.0, 0.0, 0.0]])
    points = camera.read(truth, np.array([0]), KEYS[:1], 0).row(0).points
    expected = [(x, y) for x in (0.5, -0.5) for y in (1.5, 0.5, -0.5, -1.5)]
    np.testing.assert_allclose(points[:, :2], expected, atol=1e-9)


def test_noise_has_the_declared_deviation_along_the_ray(make_truth):
    truth = on(Ground.of(np.zeros((101, 101)), 1.0), make_truth, [[0.0, 0.0, 0.0]])
    sensor = Lidar3D(rings=4, rays=360, elevation_deg=-5, declination_deg=15, sigma_m=0.05)
    error = (
        sensor.read(truth, np.array([0]), KEYS[:1], 4).ranges[0]
        - sensor.model_copy(update=EXACT).read(truth, np.array([0]), KEYS[:1], 4).ranges[0]
    )
    assert stats.kstest(error[np.isfinite(error)] / 0.05, "norm").pvalue > 1e-3


@pytest.mark.parametrize("sensor", [Lidar3D(range_m=8, height_m=1.0), DepthCamera()])
def test_a_belief_finer_than_the_ground_is_fed_by_clouds(make_truth, sensor):
    ground = hills(size_m=(40.0, 40.0), spacing_m=1.0, height_m=5.0, wavelength_m=20.0, seed=5)
    beliefs = Elevations.covering(ground, ["a"], ElevationMapping(spacing_m=0.25))
    for step in range(40):
        angle = 2 * math.pi * step / 40
        pose = np.array([[5 * math.cos(angle), 5 * math.sin(angle), angle + 1.5]])
        truth = on(ground, make_truth, pose)
        sensor.read(truth, np.array([0]), KEYS[:1], step).into(beliefs, np.array([0]), np.array([0]), pose, step)
    error = errors(beliefs[0], true_altitude(ground, beliefs.grid))
    assert np.isfinite(error).sum() > 1000
    assert rmse_m(error) < 0.04
    assert interval_coverage(error, beliefs[0].interval()) > 0.85


def test_nonsense_is_refused(make_truth):
    with pytest.raises(InvalidValueError, match="a lidar3d looks at the ground, but the world has none"):
        Lidar3D().read(make_truth([[0, 0, 0]]), np.array([0]), KEYS[:1], 0)
    with pytest.raises(ValueError, match="must be positive"):
        Lidar3D(elevation_deg=-20, declination_deg=15)
