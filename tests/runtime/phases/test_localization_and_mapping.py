"""Estimates in the records belong to the same instant as the true poses beside them."""

import numpy as np
import pytest

import covey
from covey.errors import InvalidValueError
from covey.mapping.localization import Odometry
from covey.runtime.phases.observing import carry, carry_reference


def test_carry_agrees_with_its_reference():
    rng = np.random.default_rng(3)
    estimate, before, after = (rng.uniform(-3, 3, (50, 3)) for _ in range(3))
    out = np.empty((50, 3))
    carry(estimate, before, after, out)
    np.testing.assert_allclose(out, carry_reference(estimate, before, after), atol=1e-12)


def circle(robot):
    robot.drive(0.5, 1.0)


def test_with_true_localization_the_recorded_estimate_is_the_recorded_pose():
    sim = covey.Simulation(covey.World.empty(8, 8), robots=2, controller=circle)
    for _ in range(20):
        sim.step()
    run = sim.close()
    assert np.ptp(run.poses[:, 0, 0]) > 0.2
    np.testing.assert_allclose(run.estimates, run.poses, atol=1e-9)


def test_dead_reckoning_drifts_by_default_and_under_both_models():
    scenario = covey.load_scenario("loop").replace("robots.scout.count", 1).replace("stop.timeout_s", 20.0)
    scenario = scenario.replace("robots.scout.localization", "odometry")
    errors = []
    for noise in (None, "gmapping", "velocity"):
        changed = scenario if noise is None else scenario.replace("robots.scout.robot.sensors.odometry.noise", noise)
        run = changed.build().run()
        apart = np.hypot(*(run.estimates - run.poses)[:, 0, :2].T)
        assert apart[0] < 0.01
        errors.append(apart[-1])
    assert 0.001 < errors[0] < 1.0  # 20 m of way at 1 % and 0.02 rad/m
    assert min(errors[1:]) > 0.02


def test_odometry_needs_an_odometry_sensor():
    with pytest.raises(InvalidValueError, match="has no odometry sensor"):
        covey.Group("a", covey.robots.maes(), [[0, 0, 0]], localization=Odometry())
