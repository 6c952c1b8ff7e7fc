"""Reading of markers: each rate, what hides a marker, noise, and the faults."""

import math

import numpy as np
import pytest
from scipy import stats
from shapely import LineString, Point, box
from shapely.ops import unary_union

import covey
from covey.errors import InvalidValueError
from covey.geometry.se2 import Pose
from covey.robots.catalogue import disc
from covey.sensors import sensor_keys
from covey.sensors.degradation import Degradation
from covey.sensors.tag_camera import TagCamera
from covey.testing import check_sensor
from covey.world.targets import Targets
from covey.world.world import World

SHARP = TagCamera(detect_near=1, detect_far=1, detect_slant=1, sigma_m=0, sigma_per_m=0, false_per_min=0)
"""A camera without errors."""


def targets(places, normals=None, kinds=None, identities=None):
    places = np.array(places, float).reshape(-1, 2)
    n = len(places)
    return Targets(
        tuple(kinds or ["victim"] * n),
        np.arange(n) if identities is None else np.array(identities),
        np.column_stack((places, np.full(n, 0.25))),
        np.zeros((n, 2)) if normals is None else np.array(normals, float).reshape(-1, 2),
        np.full(n, 0.5),
    )


def read(camera, truth, samples=1, robots=1):
    """Return the readings of the first robots in some samples, oldest first."""
    keys = sensor_keys(1, camera.name, [f"r{i}" for i in range(len(truth.pose))])
    return [camera.read(truth, np.arange(robots), keys[:robots], k) for k in range(samples)]


def test_range_bearing_identity_kind_and_position_by_hand(make_truth):
    seen = targets([(1, 3), (0.6, 2), (1, 0)], kinds=("victim", "big_fire", "victim"), identities=(7, 4, 9))
    truth = make_truth([[1, 1, math.pi / 2]], targets=seen)
    row = read(SHARP.model_copy(update={"mount_x_m": 0.1, "mount_y_m": -0.02}), truth)[0].row(0)
    assert row.any()
    assert row.identities.tolist() == [4, 7]  # the third is behind
    assert row.kinds.tolist() == ["big_fire", "victim"]
    np.testing.assert_allclose(row.positions, [(1.0, 0.4, 0.25), (2.0, 0.0, 0.25)], atol=1e-12)
    np.testing.assert_allclose(row.ranges, [math.hypot(0.9, 0.42), math.hypot(1.9, 0.02)])
    np.testing.assert_allclose(row.bearings, [math.atan2(0.42, 0.9), math.atan2(0.02, 1.9)])
    np.testing.assert_allclose(row.places(Pose(1, 1, math.pi / 2))[:, :2], [(0.6, 2), (1, 3)], atol=1e-12)


@pytest.mark.parametrize(
    ("angle_deg", "away", "seen"),
    [(31.0, 2, True), (31.2, 2, False), (-31.0, 2, True), (-31.2, 2, False), (0, 3.99, True), (0, 4.01, False)],
)
def test_the_field_of_view_and_the_range_end_sharply(make_truth, angle_deg, away, seen):
    angle = math.radians(angle_deg)
    truth = make_truth([[0, 0, 0.3]], targets=targets([(away * math.cos(angle + 0.3), away * math.sin(angle + 0.3))]))
    assert read(SHARP, truth)[0].count.tolist() == [int(seen)]


@pytest.mark.parametrize(("turned_deg", "seen"), [(59, True), (61, False), (-59, True), (-61, False), (180, False)])
def test_only_the_shown_side_within_the_largest_incidence(make_truth, turned_deg, seen):
    angle = math.pi + math.radians(turned_deg)
    truth = make_truth([[0, 0, 0]], targets=targets([(2, 0)], [(math.cos(angle), math.sin(angle))]))
    assert read(SHARP, truth)[0].count.tolist() == [int(seen)]


def test_walls_and_bodies_hide_targets_as_in_shapely(make_truth):
    """100 robots among 300 targets in a field of blocks: a target is read where its segment meets nothing."""
    random = np.random.default_rng(5)
    solid = random.random((80, 80)) < 0.02
    walls = [box(c * 0.1, r * 0.1, c * 0.1 + 0.1, r * 0.1 + 0.1) for r, c in np.argwhere(solid)]
    pose = np.column_stack((random.uniform(0.5, 7.5, (100, 2)), random.uniform(-4, 4, 100)))
    places, angles = random.uniform(0.2, 7.8, (300, 2)), random.uniform(-4, 4, 300)
    seen = targets(places, np.column_stack((np.cos(angles), np.sin(angles))))
    truth = make_truth(pose, solid, targets=seen, radius=0.08)
    camera = SHARP.model_copy(update={"range_m": 3.0, "max_count": 300})
    [readings] = read(camera, truth, robots=100)
    blocked, bodies = unary_union(walls), [Point(x, y).buffer(0.08, quad_segs=64) for x, y, _ in pose]
    hidden = 0
    for i, (x, y, heading) in enumerate(pose):
        expected = set()
        for t, (px, py) in enumerate(places):
            away, bearing = math.hypot(px - x, py - y), math.atan2(py - y, px - x)
            turn = (bearing - heading + math.pi) % math.tau - math.pi
            slant = (bearing - angles[t] + math.tau) % math.tau - math.pi
            if away > 3.0 or abs(turn) > math.radians(31.1) or abs(slant) > math.radians(60):
                continue
            line = LineString([(x, y), (px, py)])
            if line.intersects(blocked) or any(line.intersects(b) for k, b in enumerate(bodies) if k != i):
                hidden += 1
            else:
                expected.add(t)
        assert set(readings.row(i).identities.tolist()) == expected
    assert hidden > 100
    assert readings.count.sum() > 100


@pytest.mark.parametrize(
    ("away", "slant_deg", "turn_deg_s", "chance"),
    [
        (1e-3, 0, 0, 0.9),
        (4.0 - 1e-9, 0, 0, 0.5),
        (2.0, 0, 0, 0.7),
        (2.0, 30, 0, 0.7 * 0.8),
        (2.0, 59.999, 0, 0.7 * 0.6),
        (2.0, 0, 119, 0.7),
        (2.0, 0, 240, 0.35),
        (2.0, 30, -360, 0.7 * 0.8 / 3),
    ],
)
def test_the_chance_to_detect(make_truth, away, slant_deg, turn_deg_s, chance):
    """4000 samples against the formula; a correct camera fails one of these tests in a million runs."""
    camera = SHARP.model_copy(update={"detect_near": 0.9, "detect_far": 0.5, "detect_slant": 0.6, "blur_deg_s": 120.0})
    angle = math.pi + math.radians(slant_deg)
    twist = np.array([[0.0, 0.0, math.radians(turn_deg_s)]])
    truth = make_truth([[0, 0, 0]], targets=targets([(away, 0)], [(math.cos(angle), math.sin(angle))]), twist=twist)
    hits = sum(int(readings.count[0]) for readings in read(camera, truth, 4000))
    assert stats.binomtest(hits, 4000, chance).pvalue > 1e-6


@pytest.mark.parametrize("away", [1.0, 3.0])
def test_the_noise_of_a_place_grows_with_the_distance(make_truth, away):
    camera = SHARP.model_copy(update={"sigma_m": 0.05, "sigma_per_m": 0.1})
    truth = make_truth([[0, 0, 0]], targets=targets([(away, 0)]))
    errors = np.array([r.row(0).positions[0] for r in read(camera, truth, 4000)]) - (away, 0, 0.25)
    for axis in range(3):
        assert stats.kstest(errors[:, axis] / (0.05 + 0.1 * away), "norm").pvalue > 1e-6
    correlation = np.corrcoef(errors.T)[np.triu_indices(3, 1)]
    assert np.abs(correlation).max() < 5 / math.sqrt(4000)


def test_false_alarms_come_at_their_rate_anywhere_in_view(make_truth):
    camera = SHARP.model_copy(update={"false_per_min": 60.0, "rate_hz": 10.0, "dictionary": 8})
    truth = make_truth([[0, 0, 0]], targets=targets([(-1, 0)], identities=(3,), kinds=("small_fire",)))
    rows = [r.row(0) for r in read(camera, truth, 6000)]
    alarms = [row for row in rows if row.any()]
    assert stats.binomtest(len(alarms), 6000, 0.1).pvalue > 1e-6
    names = np.array([row.identities[0] for row in alarms])
    assert stats.chisquare(np.bincount(names, minlength=8)).pvalue > 1e-6
    assert {(row.identities[0] == 3, row.kinds[0]) for row in alarms} == {(True, "small_fire"), (False, "unknown")}
    angles, away = np.array([row.bearings[0] for row in alarms]), np.array([row.ranges[0] for row in alarms])
    half = math.radians(31.1)
    assert stats.kstest(angles, stats.uniform(-half, 2 * half).cdf).pvalue > 1e-6
    assert stats.kstest((away / 4.0) ** 2, "uniform").pvalue > 1e-6  # uniform over the area of the view


def test_false_alarms_stay_before_walls_and_have_identities_of_targets(make_truth):
    solid = np.zeros((40, 40), bool)
    solid[:, 20] = True
    camera = SHARP.model_copy(update={"false_per_min": 600.0})
    truth = make_truth([[1.0, 2.0, 0]], solid, targets=targets([(0.1, 0.1)] * 2, identities=(5, 900)))
    rows = [r.row(0) for r in read(camera, truth, 200)]
    assert all(len(row) == 1 for row in rows)
    assert {int(row.identities[0]) for row in rows} == {5, 900}
    ahead = np.array([row.positions[0, 0] for row in rows])
    assert ahead.max() == pytest.approx(1.0)
    assert (ahead < 0.99).any()


def test_without_targets_there_are_no_identities_for_false_alarms(make_truth):
    camera = SHARP.model_copy(update={"false_per_min": 600.0})
    assert read(camera, make_truth([[0, 0, 0]]))[0].count.tolist() == [0]


def test_the_nearest_are_kept(make_truth):
    truth = make_truth([[0, 0, 0]], targets=targets([(3, 0), (1, 0.1), (2, 0), (0.5, 0)]))
    row = read(SHARP.model_copy(update={"max_count": 3}), truth)[0].row(0)
    assert row.identities.tolist() == [3, 1, 2]


def test_a_draw_depends_on_no_other_target_or_robot(make_truth):
    camera = TagCamera(false_per_min=0, sigma_per_m=0.1)
    alone = make_truth([[0, 0, 0]], targets=targets([(2, 0)], identities=(6,)))
    crowd = make_truth([[0, 0, 0], [-3, 0, 0]], targets=targets([(1, 0.2), (2, 0)], identities=(2, 6)))
    for one, many in zip(read(camera, alone, 50), read(camera, crowd, 50, robots=2), strict=True):
        mine, theirs = one.row(0), many.row(0)
        np.testing.assert_array_equal(mine.positions, theirs.positions[theirs.identities == 6])


def test_it_passes_the_checks_of_sensors():
    check_sensor(TagCamera())
    check_sensor(TagCamera(false_per_min=600, dictionary=5))


def test_a_camera_that_holds_the_last_marker():
    """A robot that turns away goes on reading the marker, at the same place before it."""
    robot = disc().model_copy(update={"sensors": (SHARP.model_copy(update={"holds_last": True}),), "mapping": None})
    seen = []

    async def turn(robot):
        await robot.sleep(0.2)
        seen.append(robot.tag_camera)
        await robot.turn(math.pi)
        seen.append(robot.tag_camera)

    world = World.empty(6, 6)
    group = covey.Group("r", robot, [(0, 0, 0)], turn)
    covey.Simulation(world, [group], targets=[{"kind": "victim", "at": (2, 0), "on": "floor"}]).run(until_s=4)
    np.testing.assert_allclose(seen[0].positions, [(2, 0, 0.25)], atol=1e-9)
    assert seen[1].identities.tolist() == [0]
    assert seen[1].positions[0, 0] > 1.5  # although the target is behind it now


def test_degraded(make_truth):
    truth = make_truth([[0, 0, 0]], targets=targets([(1, 0), (2, 0.5), (3, 0)]))
    [readings] = read(SHARP, truth)
    readings.degrade(0, Degradation(0, np.uint64(1), range_m=2.5))
    assert readings.row(0).identities.tolist() == [0, 1]
    assert readings.truth.max() <= 2.5
    [noisy] = read(SHARP, truth)
    noisy.degrade(0, Degradation(0, np.uint64(1), noise_m=0.3))
    row = noisy.row(0)
    np.testing.assert_allclose(np.hypot(*row.positions[:, :2].T), row.ranges)
    assert (np.diff(row.ranges) > 0).all()
    [lost] = read(SHARP, truth)
    lost.degrade(0, Degradation(0, np.uint64(1), dropout=1.0))
    assert lost.count.tolist() == [0]
    assert np.isnan(lost.truth).all(), "a camera that gives no image searches nothing"
    [half] = read(SHARP, truth)
    half.degrade(0, Degradation(0, np.uint64(1), dropout=0.5))
    assert 0.2 < np.isnan(half.truth).mean() < 0.8


def test_the_view_ends_at_walls_and_is_nothing_while_blurred(make_truth):
    solid = np.zeros((40, 40), bool)
    solid[:, 20] = True
    twist = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, 1.5]])
    truth = make_truth([[1.0, 2.0, 0], [1.0, 1.0, 0]], solid, targets=targets([(0.1, 0.1)]), twist=twist)
    [readings] = read(SHARP, truth, robots=2)
    angles = SHARP.angles
    np.testing.assert_allclose(readings.truth[0], 1.0 / np.cos(angles), rtol=1e-9)
    assert np.isnan(readings.truth[1]).all()


def test_bad_input():
    with pytest.raises(InvalidValueError, match="more than one per sample"):
        TagCamera(false_per_min=601, rate_hz=10)
    with pytest.raises(InvalidValueError, match="incidence_deg"):
        TagCamera(incidence_deg=90)
