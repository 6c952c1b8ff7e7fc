import math

import numpy as np
import pytest
from pydantic import TypeAdapter

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse, wrap_angle
from covey.mapping.localization import DeadReckoning, Noise, TruePose, disturb
from covey.mapping.localizer import Equipment, LocalizerRecord, Scan, Sensed, localizers
from covey.mapping.particle_localizer import Particles
from covey.mapping.slam.log import Laser
from covey.mapping.slam_localizer import Slam
from covey.random import normal2_numpy

NAMES = ["scout0", "scout1", "scout2"]


def drive(steps=200, n=3):
    """True poses of robots that each drive a curve of their own, (steps, n, 3)."""
    poses = [np.array([[0.0, i, wrap_angle(3.0 + i)] for i in range(n)])]
    for _ in range(steps - 1):
        poses.append(compose(poses[-1], np.array([[0.1, 0.0, 0.02 * (i % 3 - 1)] for i in range(n)])))
    return np.array(poses)


def estimates(localizer, poses, odometry=None):
    out = []
    for step, pose in enumerate(poses):
        motion = compose(inverse(poses[max(step - 1, 0)]), pose) if odometry is None else odometry
        estimate, covariance, revision = localizer.update(Sensed(step, pose, (motion,)))
        assert covariance.shape == (len(pose), 3, 3)
        assert estimate.shape == pose.shape
        assert revision.dtype == np.int64
        assert (np.abs(estimate[:, 2]) <= math.pi).all()
        out.append(estimate)
    return np.array(out)


def test_truth_is_a_copy_of_the_truth():
    poses = drive()
    found = estimates(TruePose().build(NAMES, 1), poses)
    np.testing.assert_array_equal(found, poses)
    assert not np.shares_memory(found, poses)


def test_noise_is_white_with_the_stated_deviations():
    poses = np.zeros((4000, 3, 3))
    error = estimates(Noise().build(NAMES, 5), poses)
    np.testing.assert_allclose(error.std(axis=0), [[0.022, 0.022, 0.02]] * 3, rtol=0.06)
    np.testing.assert_allclose(error.mean(axis=0), 0.0, atol=4 * 0.022 / math.sqrt(4000))
    flat = error.reshape(len(error), -1)
    assert np.abs(np.corrcoef(np.hstack([flat[1:], flat[:-1]]).T) - np.eye(18)).max() < 0.08


def test_noise_belongs_to_the_name_and_the_step_not_to_the_group():
    poses = drive()
    whole = estimates(Noise().build(NAMES, 5), poses)
    alone = Noise().build([NAMES[2]], 5)
    one = alone.update(Sensed(77, poses[77, 2:])).pose
    np.testing.assert_array_equal(one[0], whole[77, 2])
    assert (estimates(Noise().build(NAMES, 6), poses) != whole).any()


def test_dead_reckoning_without_noise_is_the_truth():
    poses = drive()
    error = estimates(DeadReckoning().build(NAMES, 1), poses) - poses
    assert np.abs(error[..., :2]).max() < 1e-9
    assert np.abs(wrap_angle(error[..., 2])).max() < 1e-9


def test_dead_reckoning_follows_the_sensor_not_the_truth():
    found = estimates(DeadReckoning().build(NAMES, 1), drive(11), odometry=np.array([[0.2, 0.0, 0.0]] * 3))
    np.testing.assert_allclose(np.linalg.norm(found[-1, :, :2] - found[0, :, :2], axis=1), 10 * 0.2)


def test_dead_reckoning_adds_errors_up():
    tilted = np.array([[1.0, 0.0, 0.1]])  # straight ahead, but each metre reads 0.1 rad of turning
    localizer = DeadReckoning().build(["scout0"], 1)
    for step in range(21):
        pose = localizer.update(Sensed(step, np.array([[float(step), 0.0, 0.0]]), (tilted,))).pose
    x, y = np.sum(np.cos(0.1 * np.arange(20))), np.sum(np.sin(0.1 * np.arange(20)))
    np.testing.assert_allclose(pose, [[x, y, 2.0]])


def test_records_are_found_by_kind_and_by_name():
    record = TypeAdapter(LocalizerRecord).validate_python({"kind": "noise", "sigma_m": 0.1})
    assert record == Noise(sigma_m=0.1)
    assert localizers.names() == ["known_map", "noise", "odometry", "particles", "slam", "truth"]
    assert localizers.get("noise")() == Noise()
    with pytest.raises(InvalidValueError, match=r"Noise\.sigma_m: must be greater than or equal to 0"):
        Noise(sigma_m=-1)


def test_settings_of_particles_come_before_those_of_their_preset():
    record = TypeAdapter(LocalizerRecord).validate_python(
        {"kind": "particles", "preset": "yan2017", "filter": {"particles": 60, "longest_range_m": 20.0}}
    )
    assert isinstance(record, Particles)
    read = (
        record.filter.resolution_m,
        record.filter.particles,
        record.filter.longest_range_m,
        record.filter.usable_range_m,
    )
    assert read == (0.2, 60, 20.0, 25.0)
    assert TypeAdapter(LocalizerRecord).validate_python(record.model_dump()) == record
    with pytest.raises(InvalidValueError, match="preset"):
        Particles(preset="gmaping")


def test_particles_belong_to_the_name_not_to_the_group():
    laser = Laser(np.linspace(-3.0, 3.0, 90), 10.0)
    ranges = 3.0 + np.sin(np.arange(90) / 7.0)
    motion = np.array([[0.5, 0.0, 0.3]])

    def ends(names):
        localizer = Particles(filter={"particles": 8}).build(names, 5, Equipment(laser))
        m = len(names)
        for step in range(6):
            scan = Scan(np.tile(ranges, (m, 1)), laser, np.zeros((m, 3)))
            found = localizer.update(Sensed(step, np.zeros((m, 3)), (np.tile(motion, (m, 1)),), scan, 0.1 * step))
        return [robot._poses for robot in localizer.robots], found

    together, found = ends(NAMES)
    alone, _ = ends(NAMES[2:])
    np.testing.assert_array_equal(alone[0], together[2])
    assert (together[0] != together[1]).any()
    assert (np.linalg.eigvalsh(found.covariance) > -1e-12).all()


def test_the_way_before_the_first_scan_counts():
    laser = Laser(np.linspace(-3.0, 3.0, 90), 10.0)
    settings = {"particles": 4, "shift_by_shift": 0, "turn_by_shift": 0, "shift_by_turn": 0, "turn_by_turn": 0}
    for record in (Slam(), Particles(filter=settings)):
        localizer = record.build(NAMES[:1], 5, Equipment(laser))
        start, way = np.array([[2.0, 1.0, 0.5 * math.pi]]), np.array([[0.5, 0.0, 0.0]])
        localizer.update(Sensed(0, start))
        scan = Scan(np.full((1, 90), 3.0), laser, np.array([[0.1, 0.0, 0.0]]))
        np.testing.assert_allclose(localizer.update(Sensed(1, start, (way,), scan)).pose, [[2.0, 1.5, 0.5 * math.pi]])
        np.testing.assert_allclose(localizer.past(0, [0]), [[2.0, 1.4, 0.5 * math.pi]])


def test_particles_take_a_scan_after_the_time_of_their_setting():
    laser = Laser(np.linspace(-3.0, 3.0, 90), 10.0)
    localizer = Particles(filter={"particles": 2, "temporal_update_s": 0.5}).build(NAMES[:1], 5, Equipment(laser))
    newest = []
    for step in range(13):  # every 0.125 s, standing
        scan = Scan(np.full((1, 90), 3.0), laser, np.zeros((1, 3)))
        localizer.update(Sensed(step, np.zeros((1, 3)), (np.zeros((1, 3)),), scan, 0.125 * step))
        newest.append(localizer.newest(0))
    assert [row for row, _ in newest] == list(range(13))
    assert [row for row, processed in newest if processed] == [0, 4, 8, 12]


def test_maps_take_scans_of_slam_a_tenth_of_the_way_to_the_next_key_frame():
    laser, still = Laser(np.linspace(-3.0, 3.0, 90), 10.0), np.zeros((1, 3))
    localizer = Slam(graph={"key_frame_m": 0.3, "key_frame_deg": 15.0}).build(NAMES[:1], 5, Equipment(laser))
    ahead, aside = np.array([[0.02, 0.0, 0.0]]), np.array([[0.0, 0.0, np.radians(1.0)]])
    taken = []
    for step, motion in enumerate([still, *[ahead] * 8, *[still] * 5, *[aside] * 4]):
        localizer.update(Sensed(step, still, (motion,), Scan(np.full((1, 90), np.inf), laser, still)))
        taken.append(localizer.newest(0)[1])
    assert np.flatnonzero(taken).tolist() == [0, 2, 4, 6, 8, 15, 17]  # every 0.04 m or 2 degrees; none while it stands


def test_noise_is_that_of_the_streams():
    poses, sigma = drive(1, 500)[0], np.array([0.1, 0.2, 0.3])
    noisy = poses.copy()
    disturb(noisy, sigma, np.arange(500, dtype=np.uint64), 3)
    draws = (noisy - poses) / sigma
    draws[:, 2] = wrap_angle(noisy[:, 2] - poses[:, 2]) / sigma[2]
    np.testing.assert_allclose(draws.std(axis=0), 1.0, atol=0.12)
    assert len(np.unique(draws)) == 1500
    a, b = normal2_numpy(np.uint64(7), 3, np.arange(2))
    np.testing.assert_allclose(draws[7], np.stack((a, b), axis=1).ravel()[:3], rtol=1e-9, atol=1e-12)
