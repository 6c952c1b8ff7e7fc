"""Getting stuck, falling and rolling over are reported when they begin and end."""

import math

import numpy as np
import pytest

from covey.physics.mujoco.incidents import STUCK_S, Incidents
from covey.physics.mujoco.physics import TerrainPhysics
from covey.physics.protocol import Incident
from covey.robots.catalogue import aerial_scout, skid_steer
from covey.robots.team import TeamModel, TeamState
from covey.world.editing.ground_edits import crater
from covey.world.ground import Ground
from covey.world.state import WorldState
from covey.world.world import World

pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")


def drive(physics, state, commands, seconds):
    """Hold commands; return the incidents and the times [s] of their steps."""
    found = []
    for k in range(round(seconds * 10)):
        physics.step(state, np.array(commands, float), 10)
        found += [(incident, 0.1 * (k + 1)) for incident in physics.incidents]
    return found


def test_who_pushes_a_wall_is_stuck_until_it_drives_away():
    physics, state = TerrainPhysics(World.empty(6, 6), TeamModel.of([skid_steer()])), TeamState.at([[2, 0, 0]])
    ((incident, time),) = drive(physics, state, [[0.5, 0, 0]], 8)
    assert incident == Incident("stuck", 0)
    assert STUCK_S + 1.0 < time < STUCK_S + 3.0
    assert not drive(physics, state, [[0, 0, 0]], 5)
    ((incident, time),) = drive(physics, state, [[-0.5, 0, 0]], 3)
    assert incident == Incident("freed", 0)
    assert time < 1.0


def test_a_slope_that_is_too_steep_is_where_it_gets_stuck():
    x = np.clip(np.arange(60) - 29.5, 0, None)
    world = Ground.of(np.tile(0.95 * x, (40, 1))).world()
    physics, state = TerrainPhysics(world, TeamModel.of([skid_steer()])), TeamState.at([[-3, 0, 0]])
    kinds = [incident.kind for incident, _ in drive(physics, state, [[0.4, 0, 0]], 20)]
    assert "stuck" in kinds
    assert state.pose[0, 0] < 1.5


def test_who_stands_because_it_is_told_to_or_turns_or_flies_is_not_stuck():
    models = [skid_steer(), skid_steer(), skid_steer(), aerial_scout()]
    physics = TerrainPhysics(World.empty(20, 20), TeamModel.of(models))
    state = TeamState.at([[0, 0, 0], [3, 0, 0], [6, 0, 0], [0, 5, 0]])
    state.halted[2] = True
    assert not drive(physics, state, [[0, 0, 0], [0, 0, 0.5], [0.5, 0, 0], [0, 0, 0]], 6)


def test_a_robot_that_falls_on_its_side_has_rolled_and_is_righted_when_it_is_put_up():
    physics, state = TerrainPhysics(World.empty(20, 20), TeamModel.of([skid_steer()])), TeamState.at([[0, 0, 0]])
    drive(physics, state, [[0, 0, 0]], 0.5)
    physics._data.qpos[2:7] = (0.3, math.cos(math.pi / 2), math.sin(math.pi / 2), 0, 0)
    assert [incident for incident, _ in drive(physics, state, [[0, 0, 0]], 2)] == [Incident("rolled", 0)]
    assert abs(state.altitude_roll_pitch[0, 1]) > math.radians(60)
    state.pose[0, 0] = 1.0  # put down elsewhere, upright
    assert [incident for incident, _ in drive(physics, state, [[0, 0, 0]], 1)] == [Incident("righted", 0)]


def test_who_drives_off_a_cliff_falls_once_and_who_drives_downhill_or_flies_or_sinks_with_the_ground_does_not():
    x = np.arange(40) - 20.0
    altitude = np.tile(-0.4 * np.clip(x, 0, None), (40, 1))  # as steep as can be driven on
    altitude[:20] = np.where(x > 0, -2.0, 0.0)
    world = WorldState(Ground.of(altitude, origin=(-20.0, -20.0)).world())
    ground = world.ground
    model = TeamModel.of([skid_steer(), skid_steer(), aerial_scout(), skid_steer()])
    state = TeamState.at([[-1.5, -6, 0], [-1.5, 6, 0], [-1.5, -10, 0], [-15, 6, 0]])
    physics = TerrainPhysics(world, model)
    found = drive(physics, state, [[0.5, 0, 0]] * 3 + [[0, 0, 0]], 5)
    ground.apply(crater(ground, (-15.0, 6.0), 3.0, 4.0))
    found += drive(physics, state, [[0, 0, 0]] * 4, 1)
    falls = [incident.robot for incident, _ in found if incident.kind == "fell"]
    assert falls == [0]
    assert state.altitude_roll_pitch[1, 0] < -0.2
    assert state.altitude_roll_pitch[3, 0] < -2.5


def _at(x):
    return np.array([[x, 0.0, 0.0]])


def test_the_rule_by_its_numbers():
    model = TeamModel.of([skid_steer()])
    watch, level, halted = Incidents(model, np.full(1, np.nan), np.zeros(1, bool)), np.zeros((1, 3)), np.zeros(1, bool)
    drives = np.array([[0.5, 0.0, 0.0]])
    first = [k for k in range(1, 60) if watch.detect(_at(0.0), level, drives, halted, 0.1)]
    assert first == [1 + round(STUCK_S / 0.1)]
    assert not watch.detect(_at(0.19), level, drives, halted, 0.1)
    assert watch.detect(_at(0.21), level, drives, halted, 0.1) == [Incident("freed", 0)]
    slow = [watch.detect(_at(0.02 * k), level, drives, halted, 0.1) for k in range(60)]
    assert not any(slow)
