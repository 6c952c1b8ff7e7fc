"""What the topic ``odom`` says: poses, twists of the wheels, and how sure both are."""

import numpy as np
import pytest

import covey
from covey.geometry.se2 import compose, inverse
from covey.mapping.localization import DeadReckoning
from covey.onboard.group import Group
from covey.robots.catalogue import disc
from covey.ros import messages as m
from covey.ros.reckoning import Reckoning
from covey.ros.types import types_of
from covey.sensors.odometry import GmappingNoise, NoNoise, Odometry, WhiteNoise

STEP_S = 0.1


def driven(noise, twist, steps, *, kinematics="differential", rate_hz=10.0, localization=None, start=(0.0, 0.0, 0.0)):
    """Return the odometry after each step of a robot that is driven with a twist."""
    sensors = () if noise is None else (Odometry(noise=noise, rate_hz=rate_hz),)
    model = disc().model_copy(update={"sensors": sensors, "kinematics": kinematics})
    how = {} if localization is None else {"localization": localization}
    sim = covey.Simulation(covey.World.empty(40, 40), [Group("r", model, [start], "commanded", **how)], seed=3)
    reckoning, found = Reckoning(sim), []
    for _ in range(steps + 1):
        sim.robot("r0").drive(twist[0], twist[2], vy=twist[1])
        sim.step()
        found.append(reckoning.update())
    sim.close()
    return found


@pytest.mark.parametrize("noise", [None, NoNoise()])
@pytest.mark.parametrize(
    ("kinematics", "twist"),
    [("differential", (0.4, 0.0, 0.7)), ("holonomic", (0.3, -0.2, 0.5)), ("unicycle", (-0.3, 0.0, 0.0))],
)
def test_on_an_arc_the_twist_is_that_of_the_body_at_the_stamp(noise, kinematics, twist):
    for one in driven(noise, twist, 20, kinematics=kinematics)[2:]:
        assert one.twist[0] == pytest.approx(twist, abs=1e-9)


def test_wheels_cannot_slide_sideways_whatever_their_noise():
    for noise in (GmappingNoise(), WhiteNoise()):
        found = driven(noise, (0.4, 0.0, 0.7), 40)[2:]
        assert {one.twist[0, 1] for one in found} == {0.0}
        assert np.std([one.twist[0, 0] for one in found]) > 0.01  # it is measured


def test_a_slow_sensor_keeps_its_twist_between_its_samples():
    assert [one.twist[0, 0] for one in driven(NoNoise(), (0.4, 0.0, 0.0), 10, rate_hz=5.0)[4:]] == pytest.approx(
        [0.4] * 7
    )


@pytest.mark.parametrize("localization", [None, DeadReckoning()])
def test_the_covariance_of_a_straight_way_grows_with_each_sample(localization):
    """Each sample of 0.04 m adds (0.1 · 0.04)² m² to x, (0.3 · 0.1 · 0.04)² to y."""
    noise = GmappingNoise(m_per_m=0.1, rad_per_m=0.0, m_per_rad=0.0, rad_per_rad=0.0)
    found = driven(noise, (0.4, 0.0, 0.0), 50, localization=localization, start=(0.0, 0.0, np.pi / 2))
    samples = 50  # those of the steps that have been taken
    expected = [samples * 0.004**2, samples * 0.0012**2, 0.0]
    assert np.diag(found[-1].spread[0]) == pytest.approx(expected, rel=0.15)  # of measured ways, which are noisy
    assert np.diag(found[-1].twist_spread[0]) == pytest.approx([0.04**2, 0.0, 0.0], rel=0.5)


@pytest.mark.parametrize("localization", [None, DeadReckoning()])
def test_the_covariance_is_that_of_the_errors_of_many_robots(localization):
    """Errors that their covariance whitens have the identity as theirs: drawn n times, to 1 / sqrt(n) and sqrt(2 / n)."""
    side, twist = 18, (0.4, 0.0, 0.7)
    starts = [(x, y, 0.3) for x in range(-side, side, 2) for y in range(-side, side, 2)]
    noise = GmappingNoise(m_per_m=0.1, rad_per_m=0.02, m_per_rad=0.05, rad_per_rad=0.08)
    model = disc().model_copy(update={"sensors": (Odometry(noise=noise, rate_hz=10.0),)})
    how = {} if localization is None else {"localization": localization}
    sim = covey.Simulation(covey.World.empty(44, 44), [Group("r", model, starts, "commanded", **how)], seed=3)
    reckoning, truth = Reckoning(sim), compose(inverse(np.array(starts)), sim.state.pose)
    for robot in sim.names:
        sim.robot(robot).drive(twist[0], twist[2])
    for _ in range(31):
        truth = compose(inverse(np.array(starts)), sim.state.pose)
        sim.step()
        found = reckoning.update()
    sim.close()
    error = found.pose - truth
    error[:, 2] = (error[:, 2] + np.pi) % (2.0 * np.pi) - np.pi
    white = np.linalg.solve(np.linalg.cholesky(found.spread), error[:, :, None])[:, :, 0]
    n, of_white = len(starts), white.T @ white / len(starts)
    assert np.diag(of_white) == pytest.approx(np.ones(3), abs=4.0 * np.sqrt(2.0 / n))
    assert of_white[np.triu_indices(3, 1)] == pytest.approx(np.zeros(3), abs=4.0 / np.sqrt(n))
    assert white.mean(axis=0) == pytest.approx(np.zeros(3), abs=4.0 / np.sqrt(n))


def test_white_noise_does_not_add_up():
    (*_, last) = driven(WhiteNoise(sigma_m=0.02, sigma_rad=0.03), (0.4, 0.0, 0.2), 30)
    assert np.diag(last.spread[0]) == pytest.approx([0.02**2, 0.02**2, 0.03**2])


def test_who_knows_its_pose_is_sure_and_who_does_not_says_so():
    (*_, last) = driven(None, (0.4, 0.0, 0.2), 3)
    assert not last.spread.any()
    types, row = types_of("jazzy"), m.rows_of(np.zeros((1, 3)))[0]
    for planar, others in ((True, 0.0), (False, m.UNKNOWN)):
        odometry = m.OdometryMessage(types, "odom", "base", planar=planar)
        message = types.decode(
            odometry.TYPE, odometry.encode((0, 0), row, (1, 2, 3), np.full((3, 3), np.nan), np.eye(3))
        )
        sure = np.diag(message.pose.covariance.reshape(6, 6))
        assert sure.tolist() == [m.UNKNOWN, m.UNKNOWN, others, others, others, m.UNKNOWN]
        assert np.diag(message.twist.covariance.reshape(6, 6)).tolist() == [1, 1, others, others, others, 1]
    estimate = m.EstimateMessage(types, "map")
    message = types.decode(estimate.TYPE, estimate.encode((0, 0), row, [np.nan] * 9))
    assert np.diag(message.pose.covariance.reshape(6, 6)).tolist() == [m.UNKNOWN, m.UNKNOWN, 0, 0, 0, m.UNKNOWN]


def test_a_gyro_says_of_which_rates_it_knows_nothing():
    level, tilting = (m.imu((0, 0), "base", 0.1, (0, 0, 9.8), (0.01, 0.1), planar=planar) for planar in (True, False))
    assert np.diag(level["angular_velocity_covariance"].reshape(3, 3)) == pytest.approx([1e-4] * 3)
    assert np.diag(tilting["angular_velocity_covariance"].reshape(3, 3)) == pytest.approx([m.UNKNOWN, m.UNKNOWN, 1e-4])
