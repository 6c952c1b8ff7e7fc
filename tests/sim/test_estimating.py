"""Estimates in the records belong to the same instant as the true poses beside them."""

import numpy as np

import covey
from covey.sim.estimating import carry, carry_reference


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
