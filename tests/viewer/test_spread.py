"""How uncertain estimates are: by formulas worked by hand, and against the errors of many robots."""

import numpy as np
import pytest

import covey
from covey.mapping.localization import Noise, Odometry, Truth
from covey.sensors.odometry import GmappingNoise, NoNoise, VelocityNoise
from covey.sensors.odometry import Odometry as OdometrySensor
from covey.viewer.spread import Spread


def drive(noise, side, twist, steps, localization=None):
    """Let a square of robots drive in a large room, one as the other; return the simulation and the spread."""
    model = covey.robots.disc().model_copy(update={"sensors": (OdometrySensor(noise=noise),)})
    x, y = np.meshgrid(3.0 * np.arange(side), 3.0 * np.arange(side))
    starts = np.column_stack((x.ravel(), y.ravel(), np.zeros(side * side))) - (1.5 * side, 1.5 * side, 0.0)

    async def go(robot):
        await robot.drive(*twist)

    world = covey.World.empty(3.0 * side + 8.0, 3.0 * side + 8.0, resolution_m=0.5)
    group = covey.Group("s", model, starts, localization=localization or Odometry())
    sim = covey.Simulation(world, [group], go, seed=5)
    spread = Spread(sim)
    sim.observers.append(spread.take)
    for _ in range(steps):
        sim.step()
    return sim, spread


def test_a_straight_way_by_hand():
    """Along: K (srr d)^2. Across: the errors of the heading act on all that follows."""
    srr, srt, d = 0.1, 0.05, 0.05
    noise = GmappingNoise(m_per_m=srr, rad_per_m=srt, m_per_rad=0.0, rad_per_rad=0.0)
    sim, spread = drive(noise, 1, (0.5, 0.0), 101)
    assert sim.state.pose[0, 0] == pytest.approx(-1.5 + 101 * d, abs=1e-6)
    k = 100  # motions that have been measured
    along, across = spread.covariance[0, 0, 0], spread.covariance[0, 1, 1]
    # what is measured has errors of 10 %, too: their squares are 1 % larger on average
    assert along == pytest.approx(k * (srr * d) ** 2, rel=0.06)
    heading = (srt * d) ** 2
    assert spread.covariance[0, 2, 2] == pytest.approx(k * heading, rel=0.06)
    expected = k * (0.3 * srr * d) ** 2 + heading * d**2 * (k - 1) * k * (2 * k - 1) / 6
    assert across == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("noise", [GmappingNoise(), VelocityNoise(alpha=(0.02, 0.01, 0.01, 0.02, 0.01, 0.01))])
@pytest.mark.parametrize("twist", [(0.5, 0.0), (0.5, 0.4)])
def test_errors_of_many_robots_are_as_large_as_said(noise, twist):
    sim, spread = drive(noise, 14, twist, 40)
    errors = sim.localization.carried - sim.state.pose
    found, said = np.cov(errors.T), spread.covariance.mean(axis=0)
    for place in ((0, 0), (1, 1), (2, 2)):
        assert said[place] == pytest.approx(found[place], rel=0.35), place
    apart = np.sqrt(np.linalg.det(said[:2, :2]) / np.linalg.det(found[:2, :2]))
    assert 0.65 < apart < 1.5


def test_localizations_without_drift():
    for kind, expected in ((Truth(), 0.0), (Noise(sigma_m=0.3), 0.09)):
        _, spread = drive(NoNoise(), 1, (0.5, 0.0), 3, kind)
        np.testing.assert_allclose(spread.of_places, [[expected, 0.0, expected]], rtol=1e-6)
    _, spread = drive(NoNoise(), 1, (0.5, 0.0), 3)
    assert not spread.covariance.any()
