"""Driving on level ground goes as commanded, and skid steering as Coulomb's law of friction has it."""

import math

import numpy as np
import pytest

from covey.physics.mujoco.physics import TerrainPhysics
from covey.robots.catalogue import skid_steer
from covey.robots.team import TeamModel, TeamState
from covey.world.ground import Ground
from covey.world.world import World

pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")


def drive(world, models, poses, commands, steps, state=None):
    """Hold commands for some steps of 0.1 s; return physics and state."""
    physics, state = TerrainPhysics(world, TeamModel.of(models)), state or TeamState.at(poses)
    for _ in range(steps):
        physics.step(state, np.array(commands, float), 10)
    return physics, state


def plain(rows=40, slope=0.0):
    """A plane through the origin that rises along x."""
    x = np.arange(rows) - 0.5 * (rows - 1)
    return Ground.of(np.tile(slope * x, (rows, 1))).world()


@pytest.mark.parametrize("world", [World.empty(40, 40), plain()], ids=["plane", "height field"])
def test_straight_on_it_comes_as_far_as_it_is_told(world):
    _, state = drive(world, [skid_steer()], [[0, 0, 0]], [[0.5, 0, 0]], 100)
    way = 0.5 * 10 - 0.5 * 0.5**2 / 2.0  # less what it needs to reach 0.5 m/s at 2 m/s2
    assert state.pose[0, 0] == pytest.approx(way, rel=0.02)
    assert abs(state.pose[0, 1]) < 0.05
    assert state.distance_m[0] == pytest.approx(way, rel=0.02)
    assert np.abs(state.altitude_roll_pitch).max() < 0.02


@pytest.mark.parametrize("world", [World.empty(40, 40), plain()], ids=["plane", "height field"])
def test_it_turns_on_the_spot_as_fast_as_coulomb_lets_it(world):
    physics, state = drive(world, [skid_steer()], [[0.3, 0.4, 0]], [[0, 0, 1.0]], 10)
    before = state.pose[0, 2]
    for _ in range(20):
        physics.step(state, np.array([[0, 0, 1.0]]), 10)
    assert (state.pose[0, 2] - before) % (2 * math.pi) == pytest.approx(2.0, rel=0.07)
    assert np.hypot(*(state.pose[0, :2] - (0.3, 0.4))) < 0.05


def test_who_brakes_on_a_slope_stays_where_it_is():
    for heading in (0.0, math.pi / 2):
        physics, state = drive(plain(slope=0.35), [skid_steer()], [[0, 0, heading]], [[0, 0, 0]], 20)
        before = state.pose.copy()
        for _ in range(100):
            physics.step(state, np.zeros((1, 3)), 10)
        assert np.abs(state.pose - before).max() < 0.003
    assert state.altitude_roll_pitch[0, 1] == pytest.approx(-math.atan(0.35), abs=0.01)


def test_it_climbs_a_slope_and_its_nose_points_up():
    _, state = drive(plain(slope=0.35), [skid_steer()], [[0, 0, 0]], [[0.5, 0, 0]], 60)
    assert state.pose[0, 0] > 2.4
    assert state.altitude_roll_pitch[0, 0] == pytest.approx(0.35 * state.pose[0, 0], abs=0.03)
    assert state.altitude_roll_pitch[0, 2] == pytest.approx(-math.atan(0.35), abs=0.03)
