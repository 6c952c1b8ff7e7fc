"""What a wedge sees of the ground, what hides it, and the noise."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.references.geometry import cast_reference
from tests.references.sensors import noise_reference

from covey.errors import InvalidValueError
from covey.geometry.sight import is_hidden, shadow
from covey.sensors import Wedge, look_down, sensor_keys
from covey.sensors.wedge import ABOVE, BELOW, HIDDEN, SEEN, kinds_reference, placed
from covey.world.ground import Ground

KEYS = sensor_keys(3, "wedge", ["a", "b", "c", "d"])
MOUNTED = {"mount_x_m": 0.0}


def rough(shape=(41, 41), spacing=0.5, seed=0, height=1.0):
    random = np.random.default_rng(seed)
    coarse = random.normal(0, height, (shape[0] // 4 + 3, shape[1] // 4 + 3))
    fine = Ground.of(coarse, 4 * spacing, origin=(0.0, 0.0))
    i, j = np.mgrid[: shape[0], : shape[1]] * spacing
    wiggle = 0.1 * height * random.normal(size=shape)
    return Ground.of(fine.altitude_at(np.stack((j, i), -1)) + wiggle, spacing, origin=(0.0, 0.0))


def on(ground, make_truth, pose, tilt=(0.0, 0.0), above=0.0, **changes):
    """The truth of robots that stand on a ground, ``above`` [m] over it."""
    pose = np.array(pose, float).reshape(-1, 3)
    attitude = np.column_stack((ground.altitude_at(pose[:, :2]) + above, np.tile(tilt, (len(pose), 1))))
    return make_truth(pose, ground=ground, altitude_roll_pitch=attitude, **changes)


def seen_by(sensor, truth, robot=0, kind=SEEN):
    """Rows and columns that a sensor says this of."""
    readings = sensor.read(truth, np.arange(len(truth.pose)), KEYS[: len(truth.pose)], 0)
    return {tuple(v) for v in vertices_of(readings, robot, kind).tolist()}


def vertices_of(readings, robot, kind=SEEN):
    """Rows and columns on the lattice of the vertices of a kind."""
    return np.argwhere(readings.kind[robot] == kind) + readings.truth.corner[robot]


def test_level_ground_is_seen_from_346_mm_on_and_nearer_than_that_nothing_is_told(make_truth):
    ground = Ground.of(np.zeros((3, 801)), 0.01, origin=(0.0, -0.01))
    truth = on(ground, make_truth, [[0.0, 0.0, 0.0]])
    sensor = Wedge(sigma_m=0.0)
    columns = [c for r, c in seen_by(sensor, truth) if r == 1]
    nearest, farthest = 0.01 * min(columns) - 0.15, 0.01 * max(columns) - 0.15
    assert 0.2 / math.tan(math.radians(30)) <= nearest < 0.3465 + 0.01  # 003: from about 350 mm
    assert math.hypot(farthest, 0.2) <= 5.0 < math.hypot(farthest + 0.01, 0.2)
    assert not seen_by(sensor, truth, kind=BELOW)


@pytest.mark.parametrize(("depth", "kind"), [(0.376, SEEN), (0.379, BELOW)])
def test_a_point_1_m_ahead_is_seen_down_to_377_mm_below_ground_level(make_truth, depth, kind):
    altitude = np.zeros((5, 9))
    altitude[2, 4] = -depth  # tan 30 degrees x 1 m - 0.2 m = 0.3774 m
    truth = on(Ground.of(altitude, 1.0, origin=(-3.0, -2.0)), make_truth, [[0.0, 0.0, 0.0]])
    for occlusion in (True, False):
        sensor = Wedge(sigma_m=0.0, occlusion=occlusion, **MOUNTED)
        assert (2, 4) in seen_by(sensor, truth, kind=kind)
        readings = sensor.read(truth, np.array([0]), KEYS[:1], 0)
        at = readings.row(0).altitude[tuple(np.array([2, 4]) - readings.truth.corner[0])]
        assert at == pytest.approx(-depth if kind == SEEN else -0.3774, abs=1e-4)  # else the edge of the wedge


def test_a_point_above_the_wedge_is_told_as_such(make_truth):
    altitude = np.zeros((5, 9))
    altitude[2, 4] = 0.9  # 0.2 m + tan 30 degrees x 1 m = 0.777 m
    truth = on(Ground.of(altitude, 1.0, origin=(-3.0, -2.0)), make_truth, [[0.0, 0.0, 0.0]])
    assert seen_by(Wedge(**MOUNTED), truth, kind=ABOVE) == {(2, 4)}


@pytest.mark.parametrize("changes", [{}, {"level": True}, {"fov_deg": 300.0, "mount_heading_deg": 80.0}, {"near": 1}])
def test_kinds_agree_with_the_plain_reference_for_bodies_of_any_tilt(make_truth, changes):
    sensor = Wedge(occlusion=False, **(changes if "near" not in changes else {"height_m": 1.0, "range_m": 9.0}))
    seen = 0
    for seed in range(3):
        ground = rough(seed=seed)
        random = np.random.default_rng(seed)
        pose = np.column_stack((random.uniform(5, 15, (4, 2)), random.uniform(-3, 3, 4)))
        truth = on(ground, make_truth, pose, tilt=(0.2, -0.3))
        readings = sensor.read(truth, np.arange(4), KEYS, 0)
        at = np.empty((4, 3))
        for i in range(4):
            placed(truth.pose[i], truth.altitude_roll_pitch[i], sensor._place, sensor._limits[6], at)
            near = sensor.height_m / math.tan(math.radians(sensor.declination_deg))
            expected = kinds_reference(ground.altitude, ground.frame, at, sensor._limits, near)
            kind, (top, left) = readings.kind[i], readings.truth.corner[i]
            got = np.zeros_like(expected)
            for a, b in np.argwhere(kind):
                got[top + a, left + b] = kind[a, b]
            np.testing.assert_array_equal(got, expected)
            seen += np.count_nonzero(got == SEEN)
    assert seen > 500


def test_what_the_ground_hides_agrees_with_rays_against_its_triangles(make_truth):
    hidden = 0
    for seed in range(4):
        ground = rough(seed=seed, height=0.6)
        truth = on(ground, make_truth, [[10.0, 10.0, 1.3 * seed]])
        sensor = Wedge(sigma_m=0.0, fov_deg=200.0, elevation_deg=45.0, declination_deg=45.0)
        at = np.empty((4, 3))
        placed(truth.pose[0], truth.altitude_roll_pitch[0], sensor._place, 0.0, at)
        expected = set()
        for row, column in seen_by(sensor.model_copy(update={"occlusion": False}), truth):
            way = ground.vertices()[row, column] - at[0]
            length = np.linalg.norm(way)
            if cast_reference(ground.altitude, ground.frame, at[0], way / length, length - 1e-6) == math.inf:
                expected.add((row, column))
            else:
                hidden += 1
        assert seen_by(sensor, truth) == expected
    assert hidden > 100


@pytest.mark.parametrize(("height", "tilt"), [(0.05, (0.0, 0.0)), (0.4, (0.1, 0.2)), (1.5, (0.0, -0.1))])
def test_on_a_fine_grid_the_same_is_hidden_as_when_every_way_is_looked_at(make_truth, height, tilt):
    hidden, sensor = 0, Wedge(sigma_m=0.0, fov_deg=150.0, elevation_deg=40.0, declination_deg=40.0)
    for seed in range(4):
        ground = rough((161, 161), 0.08, seed, height)
        truth = on(ground, make_truth, [[6.0 + 0.01 * seed, 6.3, 1.7 * seed]], tilt)
        at = np.empty((4, 3))
        placed(truth.pose[0], truth.altitude_roll_pitch[0], sensor._place, 0.0, at)
        (u, v), z = (at[0, :2] - ground.frame[:2]) / ground.frame[2], at[0, 2]
        everything = sensor.model_copy(update={"occlusion": False})
        for kind in (SEEN, BELOW, ABOVE):
            inside = seen_by(everything, truth, kind=kind)
            shown = {(r, c) for r, c in inside if not is_hidden(ground.altitude, u, v, z, r, c, 0.0)}
            assert seen_by(sensor, truth, kind=kind) == shown
            hidden += len(inside) - len(shown)
        readings = sensor.read(truth, np.arange(1), KEYS[:1], 0)
        for row, column in vertices_of(readings, 0, HIDDEN)[::20]:
            told = readings.altitude[0][tuple((row, column) - readings.truth.corner[0])]
            assert told == pytest.approx(shadow(ground.altitude, u, v, z, row, column, 0.0), abs=1e-9)
    assert hidden > 500


def test_the_wedge_turns_with_the_heading_and_tilts_with_the_body_unless_it_stays_level(make_truth):
    ground = Ground.of(np.zeros((101, 101)), 0.1, origin=(-5.0, -5.0))
    ahead = seen_by(Wedge(range_m=3.0, **MOUNTED), on(ground, make_truth, [[0, 0, 0]]))
    left = seen_by(Wedge(range_m=3.0, **MOUNTED), on(ground, make_truth, [[0, 0, math.pi / 2]]))
    assert {(c, 100 - r) for r, c in ahead} == left
    nose_down = on(ground, make_truth, [[0, 0, 0]], tilt=(0.0, math.radians(20)))
    nearest = min(c for r, c in seen_by(Wedge(**MOUNTED), nose_down) if r == 50)
    x = 0.2 * math.sin(math.radians(20))  # the sensor itself moves ahead and down
    z = 0.2 * math.cos(math.radians(20))
    assert 0.1 * nearest - 5 - x == pytest.approx(z / math.tan(math.radians(50)), abs=0.1)
    level = seen_by(Wedge(level=True, **MOUNTED), nose_down)
    assert level == seen_by(Wedge(level=True, **MOUNTED), on(ground, make_truth, [[0, 0, 0]]))


def test_walls_hide_the_ground_behind_them_and_rise_above_the_wedge(make_truth):
    ground = Ground.of(np.zeros((21, 21)), 0.5, origin=(0.0, 0.0))
    walls = np.zeros((100, 100), bool)
    walls[:, 68:72] = True  # x from 6.8 to 7.2 m
    truth = on(ground, make_truth, [[5.0, 5.0, 0.0]], solid=walls)
    seen, above = seen_by(Wedge(), truth), seen_by(Wedge(), truth, kind=ABOVE)
    assert max(c for _, c in seen) == 13  # 6.5 m
    assert {c for r, c in above if abs(r - 10) < 3} == {14}
    flying = on(ground, make_truth, [[5.0, 5.0, 0.0]], solid=walls, above=3.0)
    wide = seen_by(Wedge(range_m=8, declination_deg=80), flying)
    assert max(c for _, c in wide if c <= 13) == 13
    assert not any(
        c > 13 for r, c in wide if r == 10
    )  # 3.2 m over walls of 2 m it still sees nothing 1.5 m behind them
    low = on(ground, make_truth, [[5.0, 5.0, 0.0]], solid=walls, above=3.0, wall_height_m=1.0)
    behind = {c for r, c in seen_by(Wedge(range_m=8, declination_deg=80, mount_x_m=0), low) if r == 10 and c > 13}
    # From 3.2 m over the wall's far upper edge at x = 7.2, 1 m high, it sees the ground from 5 + 2.2 x 3.2 / 2.2 = 8.2 m.
    assert min(behind) == 17  # 8.5 m


def test_a_scout_in_the_air_sees_the_square_below_it(make_truth):
    ground = Ground.of(np.zeros((41, 41)), 1.0)
    truth = on(ground, make_truth, [[0.0, 0.0, 0.0]], above=10.01)
    rows, columns = np.array(sorted(seen_by(look_down(), truth))).T - 20
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (-10, 10, -10, 10)
    assert (np.hypot(rows, columns) <= math.sqrt(15.0**2 - 10.0**2)).all()


def test_noise_is_normal_repeatable_and_the_same_in_any_company(make_truth):
    ground = rough((81, 81), 0.25)
    pose = [[10.0, 10.0, 0.3], [5.0, 12.0, 2.0]]
    truth, sensor = on(ground, make_truth, pose), Wedge(sigma_m=0.05, occlusion=False)
    both = sensor.read(truth, np.arange(2), KEYS[:2], 7)
    alone = sensor.read(truth, np.array([1]), KEYS[1:2], 7)
    np.testing.assert_array_equal(both.altitude[1], alone.altitude[0])
    vertices = vertices_of(both, 1)
    first, second = noise_reference(KEYS[1], 7, vertices[:, 0] * 81 + vertices[:, 1], 0.05)
    at = tuple((vertices - both.truth.corner[1]).T)
    true = ground.altitude[tuple(vertices.T)]
    np.testing.assert_allclose(both.altitude[1][at], true + first, atol=1e-12)
    np.testing.assert_allclose(both.again[1][at], true + second, atol=1e-12)
    samples = [sensor.read(truth, np.array([1]), KEYS[1:2], k) for k in range(40)]
    error = np.concatenate([s.altitude[0][at] - true for s in samples]) / 0.05
    of_four = np.concatenate([s.again[0][at] - true for s in samples]) / (0.05 / 2)  # the mean of four
    assert stats.kstest(error, "norm").pvalue > 1e-3
    assert stats.kstest(of_four, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(error, of_four)[0, 1]) < 5 / math.sqrt(len(error))


def test_at_the_edge_of_the_ground_only_its_vertices_are_seen(make_truth):
    ground = Ground.of(np.zeros((11, 11)), 1.0, origin=(0.0, 0.0))
    truth = on(ground, make_truth, [[9.8, 5.0, 0.0], [30.0, 5.0, 0.0]])
    assert seen_by(Wedge(fov_deg=360, **MOUNTED), truth)
    assert max(c for _, c in seen_by(Wedge(fov_deg=360, **MOUNTED), truth)) == 10
    assert not seen_by(Wedge(fov_deg=360, **MOUNTED), truth, robot=1)


def test_a_world_without_ground_and_a_wedge_without_height_are_refused(make_truth):
    with pytest.raises(InvalidValueError, match="the world has none; give it a `height_map`"):
        Wedge().read(make_truth([[0, 0, 0]]), np.array([0]), KEYS[:1], 0)
    with pytest.raises(ValueError, match="one of them must be positive"):
        Wedge(elevation_deg=0, declination_deg=0)


def test_a_robot_is_told_where_vertices_lie_from_its_own_body_and_nothing_of_where_it_is(make_truth):
    altitude = np.zeros((9, 9))
    altitude[4, 7] = 0.25
    truth = on(Ground.of(altitude, 1.0, origin=(100.0, -4.0)), make_truth, [[107.0, 3.0, -math.pi / 2]])
    reading = Wedge(sigma_m=0.0, occlusion=False).read(truth, np.array([0]), KEYS[:1], 0).row(0)
    higher = reading.points()[reading.points()[:, 2] > 0.1]
    np.testing.assert_allclose(higher, [[3.0, 0.0, 0.25]], atol=1e-12)  # (107, 0) is 3 m south of it, where it looks
    assert np.abs(reading.window).max() < 10.0  # 107 m is not told
