"""Estimates in the records belong to the same instant as the true poses beside them."""

import numpy as np
import pytest
from tests.references.runtime import carry_reference

import covey
from covey.errors import InvalidValueError
from covey.mapping.localization import DeadReckoning
from covey.mapping.records import Mapping
from covey.runtime.phases.observing import carry
from covey.sensors import Lidar, Neighbours


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


@pytest.mark.slow
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
        covey.Group("a", covey.robots.maes(), [[0, 0, 0]], localization=DeadReckoning())


def test_a_mate_is_no_wall_though_the_lidar_looks_when_the_sensor_of_mates_does_not():
    """A Pioneer's lidar has 25 Hz, its sensor of mates 10 Hz: in the time between, a robot turns by a fifth of a radian."""

    def spin(robot):
        robot.drive(0.0, 2.5)

    at = np.array([(-2.0, 0.0, 0.0), (0.5, 0.0, 0.0)])
    pioneer = covey.robots.pioneer3dx()
    assert [s.rate_hz for s in pioneer.sensors if s.name in ("lidar", "neighbours")] == [25.0, 10.0]
    sim = covey.Simulation(covey.World.empty(10, 10), [covey.Group("a", pioneer, at, spin)], seed=1)
    for _ in range(50):
        sim.step()
    for robot, mate in ((0, 1), (1, 0)):
        belief = sim.localization.teams[0].beliefs[robot]
        walls = belief.grid.to_world(np.argwhere(belief.occupancy() > 0))
        assert len(walls) > 50
        assert np.hypot(*(walls - at[mate, :2]).T).min() > 1.0


def test_mates_are_hidden_from_those_that_see_them_also_beside_robots_without_that_sensor():
    lidar = Lidar(rays=180, range_m=4.0)
    seeing, blind = (
        covey.robots.disc().model_copy(update={"sensors": (lidar, *more), "mapping": Mapping(resolution_m=0.1)})
        for more in ((Neighbours(range_m=3.0),), ())
    )
    groups = [covey.Group("blind", blind, [(1.0, 0.0, 0.0)]), covey.Group("seeing", seeing, [(-1.0, 0.0, 0.0)])]
    for some in (groups, groups[::-1]):
        sim = covey.Simulation(covey.World.empty(8, 8), some, lambda robot: robot.drive(0.0))
        sim.step()
        maps = {sim.names[i]: belief for i, belief in sim.localization.belief_of.items()}
        near = {name: walls_near(belief, -1.0 if name == "blind0" else 1.0) for name, belief in maps.items()}
        assert near == {"blind0": True, "seeing0": False}
        sim.close()


def walls_near(belief, x):
    """Return whether a map shows a wall within 0.4 m of (x, 0)."""
    cells = np.argwhere(belief.occupancy() == 100)
    return bool((np.hypot(*(belief.grid.to_world(cells) - (x, 0.0)).T) < 0.4).any())
