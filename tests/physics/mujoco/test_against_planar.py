"""On level ground both physics agree, and terrain repeats itself to the byte in another process."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import covey
from covey.onboard.group import Group
from covey.physics.mujoco.physics import TerrainPhysics
from covey.physics.planar.physics import PlanarPhysics
from covey.robots.catalogue import disc, maes, pioneer3dx, skid_steer, turtlebot3_waffle
from covey.robots.team import TeamModel, TeamState
from covey.world.ground import Ground
from covey.world.world import World

pytest.importorskip("mujoco", reason="MuJoCo, of the extra covey[terrain], is not installed")


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("robot", [pioneer3dx, turtlebot3_waffle])
def test_60_s_of_the_same_commands_end_within_5_percent_of_the_way(robot, seed):
    model, rng = robot(), np.random.default_rng(seed)
    commands = rng.uniform((-0.2, 0, -0.3), (1, 0, 0.3), (12, 3)) * (model.max_speed_m_s, 0, model.max_turn_rad_s)
    team, world = TeamModel.of([model]), World.empty(200, 200, 0.5)
    ends = []
    for physics in (PlanarPhysics(world, team), TerrainPhysics(world, team)):
        state = TeamState.at([[0, 0, 0.3]])
        for command in commands:
            for _ in range(50):
                physics.step(state, command[None], 10)
        ends.append(state)
    way = ends[0].distance_m[0]
    assert np.hypot(*(ends[0].pose - ends[1].pose)[0, :2]) < 0.05 * way
    assert ends[1].distance_m[0] == pytest.approx(way, rel=0.02)


@pytest.mark.parametrize("model", [disc(), maes()], ids=lambda model: model.name)
def test_a_robot_that_starts_at_once_in_the_plane_falls_behind_by_what_friction_takes_and_then_is_as_fast(model):
    """With wheels that grip up to a, a robot loses v²/2a at the start; in the plane it loses v x lag."""
    ways, speeds = [], []
    for physics in (PlanarPhysics(World.empty(40, 4, 0.5), TeamModel.of([model])), None):
        physics = physics or TerrainPhysics(World.empty(40, 4, 0.5), TeamModel.of([model]))
        state, rows = TeamState.at([[-15, 0, 0]]), []
        for _ in range(20):
            physics.step(state, np.array([[model.max_speed_m_s, 0, 0]]), 10)
            rows.append(state.twist[0, 0])
        ways.append(state.pose[0, 0])
        speeds.append(rows)
    v, a = model.max_speed_m_s, speeds[1][0] / 0.1
    assert a < 0.8 * 9.81
    assert ways[0] - ways[1] == pytest.approx(v * v / (2.0 * a) - v * model.speed_lag_s, rel=0.2)
    assert speeds[1][-1] == pytest.approx(speeds[0][-1], rel=3e-3)


@pytest.mark.parametrize("substep_s", [0.002, 0.01, 0.02])
def test_a_trace_holds_the_wanted_poses_after_each_substep(substep_s):
    team, command = TeamModel.of([skid_steer()]), np.array([[0.5, 0, 0.3]])
    whole, parts = (
        TerrainPhysics(World.empty(9, 9), team, substep_s),
        TerrainPhysics(World.empty(9, 9), team, substep_s),
    )
    one, other = TeamState.at([[0, 0, 0]]), TeamState.at([[0, 0, 0]])
    trace, wanted = np.full((8, 2, 1, 3), np.nan), np.array([1, 0, 1, 1, 0, 1, 1, 1], np.uint8)
    whole.step(one, command, 8, trace, wanted)
    for k in range(8):
        parts.step(other, command, 1)
        if wanted[k]:
            assert trace[k, 0] == pytest.approx(other.pose, abs=1e-12)
            assert trace[k, 1] == pytest.approx(other.altitude_roll_pitch, abs=1e-12)
        else:
            assert np.isnan(trace[k]).all()
    assert np.array_equal(trace[7, 0], one.pose)


def test_a_delayed_command_acts_later():
    model = pioneer3dx().model_copy(update={"command_delay_s": 0.2})
    physics, state = TerrainPhysics(World.empty(9, 9), TeamModel.of([model])), TeamState.at([[0, 0, 0]])
    physics.step(state, np.array([[1.0, 0, 0]]), 20)
    assert not state.drive.any()
    assert abs(state.pose[0, 0]) < 1e-3
    physics.step(state, np.array([[1.0, 0, 0]]), 10)
    assert state.drive[0, 0] == pytest.approx(0.25)


class Wanders:
    def step(self, robot):
        robot.drive(0.4, robot.random.uniform(-1, 1))


def digest():
    """Return a hash of where six robots on hills, with a wall, are after 3 s."""
    altitude = np.sin(np.arange(40) / 5.0)[:, None] * np.cos(np.arange(40) / 4.0)
    world = Ground.of(altitude).world(World.empty(30, 30, 0.5))
    start = np.array([[0.9 * i - 2.0, 0.0, 0.5 * i] for i in range(6)])
    group = Group("robot", skid_steer(), start)
    sim = covey.Simulation(world, [group], controller=Wanders, seed=3, physics="terrain")
    for _ in range(30):
        sim.step()
    sim.close()
    state = sim.state
    arrays = state.pose, state.twist, state.altitude_roll_pitch, state.distance_m
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()


@pytest.mark.slow
def test_another_process_comes_to_the_same_bytes():
    here = digest()
    assert here == digest()
    code = "import importlib.util as u, sys; s = u.spec_from_file_location('t', sys.argv[1]); "
    code += "m = u.module_from_spec(s); s.loader.exec_module(m); print(m.digest())"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    there = subprocess.run([sys.executable, "-c", code, __file__], capture_output=True, text=True, env=environment)
    assert there.stdout.strip() == here, there.stderr[-2000:]


def test_a_planar_world_runs_in_both_physics():
    group = Group("robot", pioneer3dx(), np.array([[-1.0, 0, 0], [1.0, 0, 2.0]]))
    for physics in ("planar", "terrain"):
        sim = covey.Simulation(World.empty(8, 8, 0.1), [group], controller=Wanders, seed=1, physics=physics)
        for _ in range(20):
            sim.step()
        assert sim.close().status == "stopped"
        assert np.abs(sim.state.pose[:, :2]).max() < 4


def test_other_physics_are_refused():
    with pytest.raises(ValueError, match="unknown physics 'magic'; known: planar, terrain"):
        covey.Simulation(World.empty(3, 3), physics="magic")
