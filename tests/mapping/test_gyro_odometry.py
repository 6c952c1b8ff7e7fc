"""The gyro says how much a robot turns, the wheels how far it goes."""

import math

import numpy as np
import pytest

from covey.mapping.dead_reckoning import GyroOdometry

PERFECT = (0.0, 0.0, 0.0, 0.0)


def test_an_arc_that_the_wheels_take_for_straight():
    """0.5 m of way and 0.2 rad of the gyro: the chord points 0.1 rad to the left."""
    odometry = GyroOdometry(2, PERFECT)
    odometry.see([(0.05, np.array([1.0, 0.0])), (0.1, np.array([3.0, 0.0]))])
    motion, variance = odometry.fuse(0.1, np.array([[0.5, 0.0, 0.0], [0.3, 0.1, 0.4]]))
    np.testing.assert_allclose(motion[0], [0.5 * math.cos(0.1), 0.5 * math.sin(0.1), 0.2])
    c, s = math.cos(-0.2), math.sin(-0.2)
    np.testing.assert_allclose(motion[1], [c * 0.3 - s * 0.1, s * 0.3 + c * 0.1, 0.0])
    np.testing.assert_array_equal(variance, [0.0, 0.0])


@pytest.mark.parametrize("rate_hz", [100, 10, 7, 3])
def test_samples_of_the_gyro_may_fall_between_those_of_the_wheels(rate_hz):
    odometry, turned = GyroOdometry(1, PERFECT), []
    times = np.arange(1, 10 * rate_hz + 1) / rate_hz
    for k in range(1, 51):
        odometry.see((time_s, np.array([0.5])) for time_s in times[(times > (k - 1) / 10) & (times <= k / 10)])
        turned.append(odometry.fuse(k / 10, np.array([[0.1, 0.0, 0.0]]))[0][0, 2])
    first = math.ceil(10 / rate_hz)  # before the first sample the gyro says nothing
    np.testing.assert_allclose(turned[first:], 0.05)


def test_a_lost_sample_leaves_the_turn_to_the_wheels():
    odometry = GyroOdometry(2, (1e-4, 0.0, 0.0, 0.0))
    odometry.see([(0.1, np.array([np.nan, 1.0]))])
    motion, variance = odometry.fuse(0.1, np.array([[0.5, 0.0, 0.3], [0.5, 0.0, 0.1]]))
    np.testing.assert_allclose(motion, [[0.5, 0.0, 0.3], [0.5, 0.0, 0.1]])
    assert math.isnan(variance[0])
    assert variance[1] == pytest.approx(1e-8 * 0.1)


def test_standing_wheels_tell_the_bias():
    noise, bias, random = 1e-3, 0.02, np.random.default_rng(3)
    odometry, times = GyroOdometry(1, (noise, 0.0, 0.05, 0.0)), 0.1 * np.arange(1, 301)
    turned = 0.0
    for k, time_s in enumerate(times):
        drives = k >= 200
        rate = bias + 0.3 * drives + noise / math.sqrt(0.1) * random.normal(size=1)
        odometry.see([(time_s, rate)])
        motion, _ = odometry.fuse(time_s, np.array([[0.1 * drives, 0.0, 0.0]]))
        assert drives or not motion.any()
        turned += motion[0, 2]
    # 20 s of standing leave noise / sqrt(20 s) of the bias, which acts for 10 s; the noise adds noise * sqrt(10 s)
    deviation = noise * math.hypot(10.0 / math.sqrt(20.0), math.sqrt(10.0))
    assert turned == pytest.approx(3.0, abs=4 * deviation)


def test_a_gyro_that_contradicts_standing_wheels_is_believed():
    odometry = GyroOdometry(1, (1e-3, 1e-5, 0.01, 0.0))
    for k in range(1, 11):
        odometry.see([(0.1 * k, np.array([1.0]))])
        motion, _ = odometry.fuse(0.1 * k, np.zeros((1, 3)))
        np.testing.assert_allclose(motion, [[0.0, 0.0, 0.1]])
