"""Kalman fusion per vertex, the tests for changes, drops and obstacles, what is drivable, files."""

import math

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.compare import (
    compare,
    errors,
    interval_coverage,
    max_error_m,
    rmse_m,
    true_altitude,
)
from covey.mapping.records import ElevationMapping
from covey.sensors.sensor import sensor_keys
from covey.sensors.truth import Truth
from covey.sensors.wedge import Wedge, WedgeReadings, Windows
from covey.world.ground import Ground

SIGMA, ONE = 0.02, np.array([0])
HIGH = np.array([[3.0, 3.0, 1e4]])  # from there rays go straight down
NOWHERE = np.zeros((1, 3))


def team(names=("a",), side=32, spacing=1.0, **mapping):
    return Elevations(list(names), (side, side), (0.0, 0.0), spacing, ElevationMapping(**mapping))


def reading(altitude, kind=None, again=None, corner=(0, 0), spacing=1.0, sigma=SIGMA, pose=NOWHERE):
    """What a wedge would tell of a square of vertices from ``corner`` on."""
    altitude = np.atleast_2d(np.array(altitude, float))
    kind = np.where(np.isfinite(altitude), 1, 0) if kind is None else np.atleast_2d(kind)
    again = altitude if again is None else np.atleast_2d(np.array(again, float))
    windows = Windows(np.array([corner]), np.array([0.0, 0.0, spacing]), np.array(pose, float))
    return WedgeReadings.inside(windows, kind.astype(np.uint8)[None], altitude[None], again[None], sigma)


def see(beliefs, *arguments, step=0, robot=0, pose=NOWHERE, **options):
    reading(*arguments, **options).into(beliefs, np.array([robot]), ONE, np.array(pose, float), step)


def measured_often(test, altitudes, count, side=64, change=None):
    """A scout that hangs still and measures ``count`` times; ``change``: sample and the altitudes from then on."""
    beliefs = team(side=side, change_test=test)
    ground = Ground.of(altitudes, 1.0, origin=(0.0, 0.0))
    middle, walls = 0.5 * (side - 1), np.zeros((4, 4), bool)
    pose = np.array([[middle, middle, 0.0]])
    eye = Wedge(
        mount_pitch_deg=90, fov_deg=170, elevation_deg=80, declination_deg=80, range_m=400, occlusion=False, level=True
    )
    keys = sensor_keys(1, "wedge", ["a"])
    for sample in range(count):
        if change is not None and sample == change[0]:
            ground = Ground.of(change[1], 1.0, origin=(0.0, 0.0))
        truth = Truth(
            skip_field(walls),
            Grid(walls, 1.0).frame,
            pose,
            pose,
            np.zeros((1, 3)),
            np.zeros((1, 1, 3)),
            np.ones(1, np.int64),
            np.zeros((0, 3)),
            (0, 0),
            ONE,
            0.1,
            ground,
            np.array([[100.0, 0.0, 0.0]]),
        )
        eye.read(truth, ONE, keys, sample).into(beliefs, ONE, ONE, pose, sample)
    assert (beliefs[0].marks()[:side, :side] == 1).all()
    return beliefs


def test_n_measurements_make_their_mean_and_a_variance_of_r_over_n():
    beliefs = team(change_test="none")
    values = np.random.default_rng(0).normal(3.0, SIGMA, 7)
    for step, value in enumerate(values):
        see(beliefs, [[value]], corner=(4, 9), step=step)
    belief = beliefs[0]
    assert belief.altitude()[4, 9] == pytest.approx(values.mean(), abs=1e-12)
    assert belief.variance()[4, 9] == pytest.approx(SIGMA**2 / 7)
    assert belief.interval()[4, 9] == pytest.approx(1.96 * SIGMA / math.sqrt(7))
    assert (belief.last_seen[4, 9], belief.last_seen[4, 8], belief.last_changed[4, 9]) == (6, -1, -1)
    assert np.isfinite(belief.altitude()).sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "share", "rmse"),
    [("paper", 0.222, 0.0089), ("innovation", 0.0, SIGMA / math.sqrt(240)), ("none", 0.0, SIGMA / math.sqrt(200))],
)
def test_still_ground_is_found_changed_as_often_as_was_published_and_never_by_default(test, share, rmse):
    beliefs = measured_often(test, np.zeros((64, 64)), 200)  # 4000 vertices, 200 measurements
    assert beliefs.resets.sum() / beliefs.measured[0] == pytest.approx(share, abs=0.001)
    error = errors(beliefs[0], np.zeros((64, 64)))
    assert rmse_m(error) == pytest.approx(rmse, rel=0.04)  # innovation: with 4 more measurements in 5 % of 200
    assert compare(beliefs[0], np.zeros((64, 64))) == pytest.approx(
        (rmse_m(error), max_error_m(error), interval_coverage(error, beliefs[0].interval()), 1.0)
    )
    if test != "paper":
        assert interval_coverage(error, beliefs[0].interval()) == pytest.approx(0.95, abs=0.015)
        assert max_error_m(error) == np.abs(error).max()


def noticed_by_hand(step_m, before, sights, sure, noise):
    """A plain filter of 20 000 vertices: how many sights after a step each is found changed, inf: never.

    ``sure``: how many standard deviations off the mean of five is; ``noise``: whether those count that of the sensor.
    """
    random, n = np.random.default_rng(8), 20_000
    mean, variance, delay = np.zeros(n), np.full(n, np.inf), np.full(n, np.inf)
    for sight in range(-before, sights):
        truth = step_m if sight >= 0 else 0.0
        one, four = truth + random.normal(0.0, SIGMA, n), truth + random.normal(0.0, SIGMA / 2, n)
        odd = np.abs(one - mean) > 1.96 * np.sqrt(variance + noise * SIGMA**2)
        value, of = np.where(odd, 0.2 * one + 0.8 * four, one), np.where(odd, SIGMA**2 / 5, SIGMA**2)
        changed = odd & (np.abs(value - mean) > sure * np.sqrt(variance + noise * SIGMA**2 / 5))
        if sight >= 0:
            delay = np.where(changed & np.isinf(delay), sight, delay)
        variance = np.where(changed, np.inf, variance)
        mean = mean + (value - mean) / (1.0 + of / variance)
        variance = 1.0 / (1.0 / variance + 1.0 / of)
    return delay


@pytest.mark.parametrize(
    ("test", "step_m", "delay"),
    [("paper", 0.05, 0.06), ("innovation", 0.05, None), ("innovation", 0.1, 0.0), ("innovation", 1.0, 0.0)],
)
def test_a_step_is_noticed_after_as_many_measurements_as_was_published_or_reckoned(test, step_m, delay):
    before, sights = 15, 8
    expected = noticed_by_hand(step_m, before, sights, *((1.96, 0.0) if test == "paper" else (4.0, 1.0)))
    first = np.full((64, 64), np.inf)
    for last in range(sights):  # `last_changed` tells the last change: look at shorter runs for the first
        again = measured_often(test, np.zeros((64, 64)), before + 1 + last, change=(before, np.full((64, 64), step_m)))
        changed = again[0].last_changed
        delays = np.where(changed >= before, changed - before, np.inf)
        first = np.minimum(first, delays)
        if np.isfinite(first).all():
            break
    known = np.isfinite(expected)
    assert np.isfinite(first).mean() == pytest.approx(known.mean(), abs=0.01)
    assert first[np.isfinite(first)].mean() == pytest.approx(expected[known].mean(), rel=0.08, abs=0.02)
    if delay is not None:
        assert first[np.isfinite(first)].mean() == pytest.approx(delay, rel=0.12, abs=0.02)
        assert rmse_m(errors(again[0], np.full((64, 64), step_m))) < SIGMA


def test_a_change_is_believed_from_the_mean_of_five_measurements_and_a_slip_is_fused():
    beliefs = team()
    for step in range(9):
        see(beliefs, [[0.0]], step=step)
    see(beliefs, [[0.1]], again=[[-0.005]], step=9)  # one measurement was off, the mean of all five is 0.016
    assert beliefs.resets.sum() == 0
    known, five = SIGMA**2 / 9, SIGMA**2 / 5
    assert beliefs[0].altitude()[0, 0] == pytest.approx(0.016 * known / (known + five))
    see(beliefs, [[1.0]], again=[[1.05]], step=10)
    belief = beliefs[0]
    assert belief.altitude()[0, 0] == pytest.approx(0.2 * 1.0 + 0.8 * 1.05)
    assert belief.variance()[0, 0] == pytest.approx(SIGMA**2 / 5)
    assert (belief.last_changed[0, 0], beliefs.resets.sum()) == (10, 1)


def test_a_vertex_below_the_wedge_lies_5_m_below_its_nearest_measured_neighbour_until_it_is_seen():
    beliefs = team()
    see(beliefs, [[1.0, np.nan, np.nan, -3.0], [np.nan] * 4], kind=[[1, 0, 0, 2], [0, 0, 0, 0]], corner=(2, 2))
    belief = beliefs[0]
    assert belief.altitude()[2, 5] == pytest.approx(1.0 - 5.0)
    assert belief.interval()[2, 5] == pytest.approx(1.0)
    assert (belief.marks()[2, 5], belief.occupancy()[2, 5], belief.occupancy()[2, 2]) == (2, 100, 0)
    see(beliefs, [[-3.0]], corner=(2, 5), step=5)
    assert belief.altitude()[2, 5] == pytest.approx(-3.0)
    assert belief.occupancy()[2, 5] == 0
    see(beliefs, [[-3.5]], kind=[[2]], corner=(2, 5), step=6)
    assert belief.marks()[2, 5] == 2  # measured above what is now the edge of the wedge: it has gone down
    assert belief.last_changed[2, 5] == 6


def test_a_drop_tells_nothing_new_of_a_vertex_that_is_known_to_lie_there():
    beliefs = team()
    see(beliefs, [[-3.0]], corner=(2, 5))
    see(beliefs, [[-2.0]], kind=[[2]], corner=(2, 5), step=1)  # it is below -2 m
    assert beliefs[0].marks()[2, 5] == 1
    assert beliefs.resets.sum() == 0


def test_a_vertex_that_was_measured_above_what_hides_it_now_is_not_known_any_more():
    beliefs = team()
    see(beliefs, np.zeros((3, 4)), corner=(1, 4))
    belief = beliefs[0]
    see(beliefs, [[0.1]], kind=[[4]], corner=(2, 6), step=1)  # it lies below 0.1 m: that was known
    assert (belief.marks()[2, 6], belief.occupancy()[2, 6]) == (1, 0)
    see(beliefs, [[-0.3]], kind=[[4]], corner=(2, 6), step=2)
    assert (belief.marks()[2, 6], belief.last_changed[2, 6], belief.last_seen[2, 6]) == (0, 2, 0)
    assert belief.occupancy()[2, 5:7].tolist() == [0, -1]
    see(beliefs, [[-1.0]], corner=(2, 6), step=3)
    assert (belief.occupancy()[2, 5:7] == 100).all()


def test_a_vertex_that_is_hidden_and_too_low_to_be_driven_to_is_a_drop_until_somebody_sees_it():
    beliefs = team()
    see(beliefs, np.zeros((3, 3)), corner=(1, 4))
    belief = beliefs[0]
    see(beliefs, [[-0.39]], kind=[[4]], corner=(2, 7), step=1)  # there may be drivable ground
    assert (belief.marks()[2, 7], belief.occupancy()[2, 6]) == (0, 0)
    see(beliefs, [[-0.41]], kind=[[4]], corner=(2, 7), step=2)
    assert (belief.marks()[2, 7], belief.occupancy()[2, 6], belief.occupancy()[2, 5]) == (2, 100, 0)
    assert belief.altitude()[2, 7] == -5.0
    see(beliefs, [[-0.1]], corner=(2, 7), step=3)
    assert (belief.marks()[2, 7], belief.occupancy()[2, 6]) == (1, 0)


@pytest.mark.parametrize("around", [1, 0])  # with vertices around it that stay known, and the only one that was
def test_who_is_told_that_a_vertex_is_not_known_any_more_forgets_it_too(around):
    beliefs = team(("a", "b"))
    see(beliefs, np.zeros((1 + 2 * around, 1 + 2 * around)), corner=(2 - around, 6 - around))
    beliefs.share(np.ones((2, 2), bool))
    assert beliefs[1].marks()[2, 6] == 1
    see(beliefs, [[-0.3]], kind=[[4]], corner=(2, 6), step=2)
    beliefs.share(np.ones((2, 2), bool))
    assert [belief.marks()[2, 6] for belief in beliefs] == [0, 0]
    assert beliefs[1].last_changed[2, 6] == 2


def test_a_robot_starts_with_the_ground_below_it_as_level_but_not_surely_so():
    beliefs = team(("a", "b"))
    beliefs.stand(np.array([1]), np.array([[10.0, 6.2]]), np.array([1.5]), 0.5)
    belief = beliefs[1]
    assert np.argwhere(belief.marks() > 0).tolist() == [[6, 10]]
    assert belief.altitude()[6, 10] == 1.5
    assert belief.interval()[6, 10] == pytest.approx(1.96 * 0.5 * 0.2)  # a slope of 0.5 over 0.2 m
    assert (beliefs[0].marks() == 0).all()


def test_unsafe_ground_begins_at_the_first_cell_with_a_corner_that_is_not_known_or_too_steep():
    beliefs, points = team(), np.empty((200, 2))
    altitude = np.zeros((10, 10))
    altitude[:, 7:] = -1.0  # a cliff from x = 6 to 7
    see(beliefs, altitude)  # what lies beyond x = 9, y = 9 is not known
    count = beliefs[0].unsafe_ground(points, 0, (4.5, 4.5, 0.0), 3.1, 0.3)
    found = points[:count]
    assert count == 72 // 3 + 1  # as far as it looks: at bearings up to 60 degrees
    np.testing.assert_allclose(found[:, 0], 1.5, atol=0.06)
    close = beliefs[0].unsafe_ground(points, 0, (5.9, 4.5, np.pi), 3.0, 0.3)  # with the cliff close behind it
    nearest = points[:close][np.argmin(np.hypot(*points[:close].T))]
    assert -0.3 < nearest[0] < -0.15  # so near that it cannot come nearer, and can go away
    assert beliefs[0].unsafe_ground(points, 0, (4.5, 4.5, 0.0), 1.4, 0.3) == 0


def test_a_vertex_above_the_wedge_is_an_obstacle():
    beliefs = team()
    see(beliefs, [[0.0, 0.5]], kind=[[1, 3]], corner=(2, 5))
    belief = beliefs[0]
    assert (belief.marks()[2, 6], belief.occupancy()[2, 6], belief.altitude()[2, 6]) == (3, 100, 0.5)
    see(beliefs, [[1.5]], kind=[[3]], corner=(2, 5), step=3)  # a bank has been raised on what was measured as level
    assert (belief.marks()[2, 5], belief.last_changed[2, 5]) == (3, 3)


@pytest.mark.parametrize(("spacing", "step_m"), [(1.0, 0.4), (0.5, 0.2), (2.0, 0.8)])
def test_steps_of_more_than_40_cm_per_metre_to_any_of_8_neighbours_are_not_drivable(spacing, step_m):
    altitude = np.zeros((5, 12))
    altitude[2, 2], altitude[2, 8] = 0.99 * step_m, 1.01 * step_m
    beliefs = team(spacing=spacing)
    see(beliefs, altitude, spacing=spacing, sigma=1e-6, corner=(3, 4))
    got = beliefs[0].occupancy()[3:8, 4:16]
    expected = np.zeros((5, 12))
    expected[1:4, 7:10] = 100
    np.testing.assert_array_equal(got, expected)
    assert beliefs[0].unknown.sum() == 32 * 32 - 60


def test_the_version_grows_only_when_a_vertex_becomes_drivable_undrivable_or_known():
    beliefs = team(side=64)
    see(beliefs, [[0.0, 0.1]], corner=(40, 40))
    assert beliefs.version.tolist() == [1]
    assert beliefs.tile_changed[0].tolist() == [0, 0, 0, 1]
    see(beliefs, [[0.01, 0.11]], corner=(40, 40), step=1)
    assert beliefs.version.tolist() == [1]
    see(beliefs, [[0.0, 3.0]], corner=(40, 40), step=2)
    assert beliefs.version.tolist() == [2]


def test_vertices_lie_as_seen_from_where_the_robot_thinks_it_is():
    beliefs = team()
    true, thinks = [[10.0, 10.0, 0.0]], [[20.0, 12.0, math.pi / 2]]
    reading([[1.0, 1.1]], corner=(10, 12), pose=true).into(beliefs, ONE, ONE, np.array(thinks), 0)
    belief = beliefs[0].altitude()
    assert (belief[14, 20], belief[15, 20]) == (1.0, 1.1)  # 2 and 3 m ahead, which it takes for north
    assert np.isfinite(belief).sum() == 2


def test_points_of_a_plane_give_its_altitude_at_the_vertices_and_honest_intervals():
    random, beliefs = np.random.default_rng(3), team(spacing=0.25, change_test="none")
    slopes = random.normal(0, 0.3, 2)
    inside = 0
    for step in range(30):
        points = np.column_stack((random.uniform(0.5, 5.5, (4000, 2)), np.zeros(4000)))
        points[:, 2] = points[:, :2] @ slopes + random.normal(0, SIGMA, 4000)
        fresh = team(spacing=0.25)
        for some in (beliefs, fresh):
            some.see_points(ONE, ONE, NOWHERE, points[None], HIGH, SIGMA, step)
        truth = np.add.outer(np.arange(32) * 0.25 * slopes[1], np.arange(32) * 0.25 * slopes[0])
        inside += interval_coverage(errors(fresh[0], truth), fresh[0].interval()) / 30
    assert inside == pytest.approx(0.95, abs=0.015)
    assert rmse_m(errors(beliefs[0], truth)[3:22, 3:22]) < 0.003  # at the rim points lie on one side only
    assert np.isfinite(beliefs[0].altitude()).sum() == 21 * 21


def test_a_robot_that_knows_the_ground_starts_with_it():
    ground = Ground.of(np.arange(40 * 50).reshape(40, 50) * 0.01, 1.0, origin=(-3.0, 2.0))
    beliefs = Elevations.covering(ground, ["a", "b"])
    assert beliefs.grid.shape == (64, 64)
    np.testing.assert_allclose(beliefs.grid.to_world((0, 0)), (-3.0, 2.0))
    beliefs.know_ground(np.array([1]), ground)
    truth = true_altitude(ground, beliefs.grid)
    np.testing.assert_allclose(truth[:40, :50], ground.altitude)
    assert np.isnan(truth).sum() == 64 * 64 - 2000
    np.testing.assert_allclose(beliefs[1].altitude(), truth)
    assert np.isnan(beliefs[0].altitude()).all()
    assert compare(beliefs[0], truth)[3] == 0.0
    assert compare(beliefs[1], truth)[:1] + compare(beliefs[1], truth)[2:] == (0.0, 1.0, 1.0)
    assert Elevations.covering(ground, ["a"], ElevationMapping(spacing_m=0.5)).grid.shape == (96, 128)


def test_a_belief_is_saved_and_loaded(tmp_path):
    beliefs = team(("a", "b"))
    see(beliefs, [[1.0, -2.0], [0.5, 1.0]], kind=[[1, 2], [3, 1]], corner=(3, 4))
    beliefs[0].save(tmp_path / "hills.npz")
    beliefs[1].load(tmp_path / "hills.npz")
    for name in ("altitude", "variance", "marks", "occupancy"):
        np.testing.assert_array_equal(getattr(beliefs[1], name)(), getattr(beliefs[0], name)())
    beliefs.share(np.ones((2, 2), bool))
    assert beliefs.clock.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(InvalidValueError, match="vertices 1 m apart, from"):
        team(spacing=0.5)[0].load(tmp_path / "hills.npz")
    (tmp_path / "other.npz").write_bytes(b"no")
    with pytest.raises(InvalidValueError, match="holds no belief about the ground"):
        beliefs[0].load(tmp_path / "other.npz")
    with pytest.raises(InvalidValueError, match="must be positive"):
        Elevations([], (3, 3))
