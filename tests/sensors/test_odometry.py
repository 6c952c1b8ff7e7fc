"""Odometry and its models of noise."""

import itertools
import math

import numpy as np
import pytest

from covey.geometry import Pose
from covey.geometry.se2 import compose, wrap_angle
from covey.mapping.dead_reckoning import grow
from covey.sensors import Odometry, sensor_keys
from covey.sensors.odometry import GmappingNoise, VelocityNoise, WhiteNoise, odometry_reference


def keys(n):
    return sensor_keys(5, "odometry", [f"r{i}" for i in range(n)])


def moved(make_truth, motion, n=1, heading=0.7):
    """Return the truth of n robots that all made one motion (in the body frame) since the previous sample."""
    before = Pose(1.0, -2.0, heading)
    return make_truth(np.tile(before @ motion, (n, 1)), pose_before=np.tile(before, (n, 1)))


def test_without_noise_the_motions_add_up_to_the_path(make_truth):
    random = np.random.default_rng(0)
    path = np.cumsum(random.normal(0, 0.5, (200, 3)), axis=0)
    estimate = Pose(*path[0])
    for before, now in itertools.pairwise(path):
        truth = make_truth([now], pose_before=before[None].copy())
        reading = Odometry().read(truth, np.array([0]), keys(1), 3).row(0)
        assert -math.pi <= reading.dheading < math.pi
        estimate = estimate @ (reading.dx, reading.dy, reading.dheading)
    np.testing.assert_allclose(estimate[:2], path[-1, :2], atol=1e-9)
    assert math.cos(estimate.heading - path[-1, 2]) == pytest.approx(1.0)


@pytest.mark.parametrize("noise", [GmappingNoise(), VelocityNoise(alpha=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))])
def test_noise_agrees_with_the_numpy_reference(make_truth, noise):
    random = np.random.default_rng(1)
    before = random.normal(0, 2, (50, 3))
    truth = make_truth(before + random.normal(0, 0.3, (50, 3)), pose_before=before)
    truth.pose[7] = before[7]
    sensor = Odometry(noise=noise)
    got = sensor.read(truth, np.arange(50), keys(50), 2).motion
    model, a = sensor.noise_model
    expected = odometry_reference(before, truth.pose, keys(50), 2, model, a)
    np.testing.assert_allclose(got, expected, atol=1e-12)
    np.testing.assert_allclose(got[7], 0.0, atol=1e-12)  # who does not move, does not drift


def test_gmapping_deviations_are_those_of_its_formulas(make_truth):
    n, (dx, dy, turn) = 40_000, (0.5, 0.2, -0.3)
    truth = moved(make_truth, (dx, dy, turn), n)
    noise = GmappingNoise(m_per_m=0.1, rad_per_m=0.2, m_per_rad=0.05, rad_per_rad=0.3)
    motion = Odometry(noise=noise).read(truth, np.arange(n), keys(n), 0).motion
    expected = [
        0.1 * 0.5 + 0.05 * 0.3 + 0.3 * 0.1 * 0.2,
        0.1 * 0.2 + 0.05 * 0.3 + 0.3 * 0.1 * 0.5,
        0.3 * 0.3 + 0.2 * math.hypot(0.5, 0.2),
    ]
    np.testing.assert_allclose(motion.std(axis=0), expected, rtol=0.02)
    np.testing.assert_allclose(motion.mean(axis=0), [dx, dy, turn], atol=0.003)
    assert np.abs(np.corrcoef(motion.T)[np.triu_indices(3, 1)]).max() < 0.02


def test_velocity_deviations_are_those_of_thrun_on_an_arc(make_truth):
    """Length l and turn w of the reading recovered from its arc: Var l = a1 l^2 + a2 w^2, Var of the heading a3..a6."""
    n, length, turn = 40_000, 0.4, 0.5
    chord = length * math.sin(turn / 2) / (turn / 2)
    truth = moved(make_truth, (chord * math.cos(turn / 2), chord * math.sin(turn / 2), turn), n)
    a = (0.01, 0.002, 0.003, 0.02, 0.004, 0.005)
    motion = Odometry(noise=VelocityNoise(alpha=a)).read(truth, np.arange(n), keys(n), 0).motion
    half = np.arctan2(motion[:, 1], motion[:, 0])
    recovered = np.hypot(motion[:, 0], motion[:, 1]) * half / np.sin(half)
    assert recovered.mean() == pytest.approx(length, abs=0.002)
    assert recovered.std() == pytest.approx(math.sqrt(a[0] * length**2 + a[1] * turn**2), rel=0.02)
    assert (2 * half).std() == pytest.approx(math.sqrt(a[2] * length**2 + a[3] * turn**2), rel=0.02)
    both = (a[2] + a[4]) * length**2 + (a[3] + a[5]) * turn**2
    assert motion[:, 2].std() == pytest.approx(math.sqrt(both), rel=0.02)


def test_backwards_is_the_mirror_of_forwards(make_truth):
    sensor = Odometry(noise=VelocityNoise())
    forward = sensor.read(moved(make_truth, (0.3, 0.0, 0.0)), np.array([0]), keys(1), 0).motion[0]
    back = sensor.read(moved(make_truth, (-0.3, 0.0, 0.0)), np.array([0]), keys(1), 0).motion[0]
    assert back[0] < 0 < forward[0]
    assert back[2] == pytest.approx(forward[2])


@pytest.mark.parametrize("sample", [0, 1, 2, 7])
def test_white_noise_agrees_with_the_numpy_reference(make_truth, sample):
    random = np.random.default_rng(1)
    before = random.normal(0, 2, (50, 3))
    truth = make_truth(before + random.normal(0, 0.3, (50, 3)), pose_before=before)
    sensor = Odometry(noise=WhiteNoise())
    got = sensor.read(truth, np.arange(50), keys(50), sample).motion
    expected = odometry_reference(before, truth.pose, keys(50), sample, *sensor.noise_model)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_white_noise_does_not_add_up(make_truth):
    """After 40 samples of driving on a circle the sum is off by the noise of one pose: its covariance is stated."""
    n, step = 4000, Pose(0.3, 0.0, 0.2)
    sensor, true = Odometry(noise="white"), Pose(1.0, 2.0, 0.5)
    estimate = np.tile(true, (n, 1))
    covariance, heading = np.zeros((n, 3, 3)), estimate[:, 2].copy()
    for sample in range(1, 41):
        before, true = true, true @ step
        truth = make_truth(np.tile(true, (n, 1)), pose_before=np.tile(before, (n, 1)))
        motion = sensor.read(truth, np.arange(n), keys(n), sample).motion
        estimate = compose(estimate, motion)
        grow(covariance, heading, motion, *sensor.noise_model, np.empty(0))
    error = estimate - np.array(true)
    error[:, 2] = wrap_angle(error[:, 2])
    np.testing.assert_allclose(error.std(axis=0), [0.022, 0.022, 0.02], rtol=0.05)
    np.testing.assert_allclose(covariance, np.tile(np.diag([0.022**2, 0.022**2, 0.02**2]), (n, 1, 1)))


def test_noise_by_name_or_with_parameters():
    assert Odometry.model_validate({"noise": "gmapping"}).noise == GmappingNoise()
    given = {"noise": {"model": "velocity", "alpha": [0, 0, 0, 0, 0, 0.1]}}
    assert Odometry.model_validate(given).noise == VelocityNoise(alpha=(0, 0, 0, 0, 0, 0.1))
    with pytest.raises(ValueError, match="'none', 'gmapping', 'velocity'"):
        Odometry.model_validate({"noise": "gmaping"})
