"""Delays and lost messages, against the roots of the delayed equations."""

import math

import numpy as np
import pytest
from scipy.special import lambertw

import covey
from covey import graphs
from covey.comms.radio import Radio
from covey.onboard.controller import Program
from covey.robots.model import RobotModel

SMALL = RobotModel(name="point", kinematics="holonomic", radius_m=1e-4, max_speed_m_s=100.0)


def decay(delay_s, step_s=0.025, lambda_max=3.0, seconds=40.0):
    """Measured rate [1/s] at which three robots that see each other move apart (+) or together (-)."""
    gain = 0.5 * math.pi / lambda_max  # the bound is a delay of 1 s
    model = SMALL.model_copy(update={"command_delay_s": delay_s})
    shape = np.array([(-12.0, 0.0), (12.0, 0.0), (0.0, 15.0)])  # consensus of x - shape: nobody gets in the way
    program = Program("formation_displacement", {"shape_m": shape.tolist(), "graph": graphs.complete(), "gain": gain})
    start = np.column_stack((shape + np.array([(-0.5, 0.1), (0.45, 0.2), (0.1, -0.4)]), np.zeros(3)))
    group = covey.Group("r", model, start, program)
    execution = covey.Execution(step_s=step_s, substep_s=step_s, step_budget_s=60.0)
    sim = covey.Simulation(covey.World.empty(80, 80, resolution_m=1.0), [group], execution=execution)
    spread = []
    while sim.time < seconds:
        sim.step()
        assert not sim.deciding.failures
        away = sim.state.pose[:, :2] - shape
        away -= away.mean(axis=0)
        spread.append((away**2).sum())
    sim.close()
    period = round(4.0 / step_s)  # of the oscillation at the bound
    early, late = (math.sqrt(sum(spread[-k * period :][:period])) for k in (9, 1))
    return math.log(late / early) / (8 * 4.0)


@pytest.mark.parametrize(("share", "sign"), [(0.95, -1), (1.05, 1)])
def test_consensus_is_stable_below_the_bound_of_the_delay_and_not_above(share, sign):
    # Olfati-Saber, Murray 2004, theorem 10: stable if and only if the delay is below pi / (2 lambda_max)
    rate = decay(share)
    assert sign * rate > 0.01
    # x' = -a x(t - T) has the rightmost root W(-a T)/T; a command that is held for 0.025 s adds half of that
    late = share + 0.0125
    assert rate == pytest.approx((lambertw(-0.5 * math.pi * late) / late).real, abs=3e-3)


STRIP = [(0.0, -0.05), (8.0, -0.05), (8.0, 0.05), (0.0, 0.05)]
CENTROIDS = [1.0, 3.0, 5.0, 7.0]  # of four in a strip of 8 m


def in_a_strip(program, x, model=SMALL, step_s=0.05, **settings):
    """Four robots on the middle line of a strip."""
    start = np.column_stack((x, np.zeros((4, 2))))
    execution = covey.Execution(step_s=step_s, substep_s=step_s)
    world = covey.World.empty(20, 20, resolution_m=0.5)
    return covey.Simulation(world, [covey.Group("r", model, start, program)], execution=execution, **settings)


@pytest.mark.parametrize(("share", "sign"), [(0.95, -1), (1.05, 1)])
def test_coverage_is_stable_below_the_bound_of_the_delay_and_not_above(share, sign):
    # in a strip C_i = (p_{i-1} + 2 p_i + p_{i+1}) / 4, so x' = -k (I - dC/dp) x(t - T) has the eigenvalue 1 for the
    # mode that alternates; it is the largest, so the bound is pi / (2 k)
    gain, mode = 0.5 * math.pi, np.array([1.0, -1.0, 1.0, -1.0])
    model = SMALL.model_copy(update={"command_delay_s": share})
    program = Program("lloyd", {"gain": gain, "workspace_m": STRIP})
    sim, along = in_a_strip(program, CENTROIDS + 0.1 * mode, model), []
    while sim.time < 24.0:
        sim.step()
        along.append((sim.state.pose[:, 0] - CENTROIDS) @ mode)
    sim.close()
    early, late = (math.sqrt(sum(np.square(along[-k * 80 :][:80]))) for k in (5, 1))  # a period of 4 s
    held = share + 0.025
    expected = (lambertw(-gain * held) / held).real
    assert sign * math.log(late / early) > 0.1
    assert math.log(late / early) / 16.0 == pytest.approx(expected, abs=3e-3)


def test_lost_and_late_messages_do_not_change_where_coverage_ends():
    # messages come 3 s late, more than the bound of 1.57 s for commands, and six of ten not at all
    program = Program("lloyd_by_radio", {"workspace_m": STRIP})
    radio = Radio(range_m=20.0, latency_s=3.0, loss=0.6)
    sim = in_a_strip(program, [0.7, 2.2, 5.5, 6.8], step_s=0.5, radio=radio, seed=3)
    for _ in range(7):
        sim.step()
    assert np.abs(sim.state.pose[:, 0] - CENTROIDS).max() > 0.5
    for _ in range(193):
        sim.step()
    sim.close()
    assert np.abs(sim.state.pose[:, 0] - CENTROIDS).max() < 0.01


def test_lost_messages_slow_the_mean_as_a_smaller_gain_does():
    start = np.array([(-3.0, 0.0), (0.0, 1.0), (3.0, 2.0)])
    loss, gain, step_s, steps, teams = 0.4, 1.0, 0.1, 10, 80
    x, before = start.copy(), start.copy()
    for k in range(steps):
        told = before.sum(axis=0) - before - 2.0 * x  # those of the step before; the first ones come in the second step
        x, before = x + step_s * (1.0 - loss) * gain * told * (k > 0), x
    middle = 40.0 * np.column_stack(np.divmod(np.arange(teams), 9)) - (160.0, 160.0)  # teams out of reach of each other
    place = (middle[:, None] + start).reshape(-1, 2)
    program = Program("consensus_by_radio", {"gain": gain})
    group = covey.Group("r", SMALL, np.column_stack((place, np.zeros(len(place)))), program)
    world = covey.World.empty(400, 400, resolution_m=2.0)
    sim = covey.Simulation(world, [group], seed=4, radio=Radio(range_m=10.0, loss=loss))
    for _ in range(steps):
        sim.step()
    ends = sim.state.pose[:, :2].reshape(teams, 3, 2) - middle[:, None]
    sim.close()
    error = np.std(ends, axis=0) / math.sqrt(teams)
    assert (error < 0.08).all()
    assert (np.abs(np.mean(ends, axis=0) - x) < 4.0 * error).all()
    assert np.abs(x - start).max() > 1.0
