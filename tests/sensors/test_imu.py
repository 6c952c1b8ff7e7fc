"""The IMU: its noise by Allan deviation and moments, and what it measures of the motion."""

import math

import numpy as np
import pytest
from tests.references.sensors import walk_reference

import covey
from covey.sensors import Imu, sensor_keys
from covey.sensors.imu import GRAVITY_M_S2
from covey.testing import check_sensor

GYRO = ("gyro_noise", "gyro_walk", "gyro_bias_rad_s", "gyro_scale")
ACCELEROMETER = ("accel_noise", "accel_walk", "accel_bias_m_s2", "accel_scale")
PERFECT = dict.fromkeys((*GYRO, *ACCELEROMETER), 0.0)


def keys(n):
    return sensor_keys(5, "imu", [f"r{i}" for i in range(n)])


def standing(make_truth, n, dt_s=0.1):
    pose = np.zeros((n, 3))
    return make_truth(pose, pose_before=pose, pose_earlier=pose, dt_s=dt_s, dt_before_s=dt_s)


def series(sensor, make_truth, n, samples):
    """Return the turn rates and accelerations of n robots that stand, (samples, n, 4)."""
    truth, robots, streams = standing(make_truth, n, 1.0 / sensor.rate_hz), np.arange(n), keys(n)
    found = [sensor.read(truth, robots, streams, sample) for sample in range(samples)]
    return np.array([np.column_stack((one.turn_rate, one.acceleration)) for one in found])


def allan_deviation(values, count):
    """Return the overlapping Allan deviation of series (samples, n), of averages over ``count`` samples."""
    sums = np.cumsum(np.vstack((np.zeros(values.shape[1]), values)), axis=0)
    means = (sums[count:] - sums[:-count]) / count
    return math.sqrt(0.5 * np.mean((means[count:] - means[:-count]) ** 2))


@pytest.mark.slow
def test_the_allan_deviation_is_that_of_its_noise_and_its_walk(make_truth):
    """White noise N and walk K: N² / t + K² t / 3 (IEEE Std 952-1997, annex C)."""
    noise, walk = {"gyro_noise": 1e-3, "gyro_walk": 1e-4}, {"accel_noise": 2e-2, "accel_walk": 3e-3}
    sensor = Imu(rate_hz=10, **{**PERFECT, **noise, **walk})
    values = series(sensor, make_truth, 60, 5000)
    values[:, :, 3] -= GRAVITY_M_S2
    for axis, (n, k) in enumerate([(1e-3, 1e-4), *[(2e-2, 3e-3)] * 3]):
        for time_s, tolerance in ((1.0, 0.02), (10.0, 0.04), (100.0, 0.15)):
            found = allan_deviation(values[:, :, axis], round(10 * time_s))
            assert found == pytest.approx(math.sqrt(n * n / time_s + k * k * time_s / 3), rel=tolerance), (axis, time_s)


def test_the_walk_agrees_with_its_reference_and_has_independent_normal_steps(make_truth):
    sensor = Imu(rate_hz=1, **{**PERFECT, "gyro_walk": 1.0, "accel_walk": 1.0})
    truth, streams = standing(make_truth, 3, 1.0), keys(3)
    for sample in (0, 1, 2, 7, 4096, 123_457):
        reading = sensor.read(truth, np.arange(3), streams, sample)
        for i in range(3):
            expected = walk_reference(streams[i], sample)
            assert reading.turn_rate[i] == pytest.approx(expected[0], abs=1e-9)
            np.testing.assert_allclose(reading.acceleration[i] - [0, 0, GRAVITY_M_S2], expected[1:], atol=1e-9)
    values = series(sensor, make_truth, 4, 3000).reshape(3000, 16)
    np.testing.assert_allclose(values[0].reshape(4, 4)[:, :3], 0.0, atol=1e-12)
    steps = np.diff(values, axis=0)
    np.testing.assert_allclose(steps.std(axis=0), 1.0, atol=0.06)
    np.testing.assert_allclose(steps.mean(axis=0), 0.0, atol=0.08)
    assert np.abs(np.corrcoef(np.hstack((steps[1:], steps[:-1])).T) - np.eye(32)).max() < 0.08


def test_bias_and_scale_belong_to_the_robot(make_truth):
    n = 20_000
    sensor = Imu(
        **{**PERFECT, "gyro_bias_rad_s": 0.02, "accel_bias_m_s2": 0.3, "accel_scale": 0.01, "gyro_scale": 0.05}
    )
    first, later = (sensor.read(standing(make_truth, n), np.arange(n), keys(n), sample) for sample in (0, 99))
    np.testing.assert_array_equal(first.turn_rate, later.turn_rate)
    assert first.turn_rate.std() == pytest.approx(0.02, rel=0.02)
    assert abs(first.turn_rate.mean()) < 0.0006
    expected = [0.3, 0.3, math.hypot(0.3, 0.01 * GRAVITY_M_S2)]
    np.testing.assert_allclose(first.acceleration.std(axis=0), expected, rtol=0.02)
    pose = np.tile([0.0, 0.0, 0.2], (n, 1))
    turning = make_truth(
        pose, pose_before=pose - [0, 0, 0.2], pose_earlier=pose - [0, 0, 0.4], dt_s=0.1, dt_before_s=0.1
    )
    rates = sensor.read(turning, np.arange(n), keys(n), 0).turn_rate - first.turn_rate
    assert rates.mean() == pytest.approx(2.0, abs=0.003)
    assert rates.std() == pytest.approx(0.05 * 2.0, rel=0.02)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_on_a_circle_it_measures_the_turn_rate_and_the_centripetal_acceleration(make_truth, side):
    speed, radius, dt = 1.5, 3.0, 0.01
    rate = side * speed / radius
    times = np.array([0.0, dt, 2 * dt]) + 8.0
    heading = rate * times
    path = np.column_stack((side * radius * np.sin(heading), -side * radius * np.cos(heading), heading))
    truth = make_truth(path[2:], pose_before=path[1:2], pose_earlier=path[:1], dt_s=dt, dt_before_s=dt)
    reading = Imu(**PERFECT).read(truth, np.arange(1), keys(1), 3).row(0)
    assert reading.turn_rate == pytest.approx(rate)
    ahead, left, up = reading.acceleration
    assert (left, up) == (pytest.approx(side * speed**2 / radius, rel=1e-3), GRAVITY_M_S2)
    assert abs(ahead) < 0.01


def test_it_measures_speeding_up_and_the_first_step_from_rest(make_truth):
    path = np.array([[0.0, 0.0, 0.5], [0.01, 0.0, 0.5], [0.04, 0.0, 0.5]])
    path[:, :2] = path[:, :1] * [math.cos(0.5), math.sin(0.5)]
    sensor = Imu(**PERFECT)
    truth = make_truth(path[2:], pose_before=path[1:2], pose_earlier=path[:1], dt_s=0.1, dt_before_s=0.1)
    np.testing.assert_allclose(sensor.read(truth, np.arange(1), keys(1), 2).acceleration[0, :2], [2.0, 0.0], atol=1e-9)
    truth = make_truth(path[1:2], pose_before=path[:1], pose_earlier=path[:1], dt_s=0.1, dt_before_s=0.0)
    np.testing.assert_allclose(sensor.read(truth, np.arange(1), keys(1), 1).acceleration[0, :2], [1.0, 0.0], atol=1e-9)


def test_a_robot_that_is_tilted_feels_gravity_aslant(make_truth):
    """Roll 0.2 to the right, and pitch 0.1 down: the gravity of a body turned by R is R' (0, 0, g)."""
    roll, pitch = 0.2, 0.1
    about_x = np.array([[1, 0, 0], [0, math.cos(roll), -math.sin(roll)], [0, math.sin(roll), math.cos(roll)]])
    about_y = np.array([[math.cos(pitch), 0, math.sin(pitch)], [0, 1, 0], [-math.sin(pitch), 0, math.cos(pitch)]])
    pose = np.zeros((1, 3))
    truth = make_truth(pose, pose_before=pose, dt_s=0.1, altitude_roll_pitch=np.array([[0.0, roll, pitch]]))
    reading = Imu(**PERFECT).read(truth, np.arange(1), keys(1), 0)
    np.testing.assert_allclose(reading.acceleration[0], (about_y @ about_x).T @ [0, 0, GRAVITY_M_S2], atol=1e-12)


def test_it_passes_the_checks_of_sensors():
    check_sensor(Imu())


def test_in_a_run_its_rates_add_up_to_the_heading_and_being_carried_is_no_turn():
    robot = covey.robots.pioneer3dx()
    robot = robot.model_copy(update={"sensors": (*robot.sensors, Imu(**PERFECT))})

    async def turns(robot):
        for place in ((2, 1), (-2, 0), (1, -2)):
            await robot.goto(place)

    world = covey.World.empty(12, 12)
    sim = covey.Simulation(world, [covey.Group("one", robot, [(0, 0, 0)])], turns, stop=covey.Stop(timeout_s=20))
    bank = next(bank for bank in sim.sensing.banks if bank.record.kind == "imu")
    angle, carried, largest = 0.0, 0.0, 0.0
    for step in range(100):
        if step == 50:
            carried = math.radians(140.0) - float(sim.state.pose[0, 2])
            sim.do({"place": "one0", "pose": [-3.0, 3.0, 140.0]})
        before = sim.state.pose[0, 2]
        sim.step()
        angle += sum(0.01 * float(sample.readings.turn_rate[0]) for sample in bank.samples)
        if step < 50:
            largest = max(largest, *(np.abs(sample.readings.acceleration[0, :2]).max() for sample in bank.samples))
            assert math.cos(angle - before) > 1 - 1e-9, step
    assert math.cos(angle + carried - before) > 1 - 1e-9
    assert 2.5 <= largest < 7.0  # it speeds up with 2.5 m/s2; 1.2 m/s and 5.24 rad/s would make 6.3 m/s2
    sim.close()
