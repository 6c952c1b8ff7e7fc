"""Laws of the drive: exact arcs, saturation, acceleration, lag, delay."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.kernel import kernel
from covey.physics import motion
from covey.physics.planar.physics import PlanarPhysics
from covey.robots.catalogue import disc, maes, pioneer3dx
from covey.robots.model import RobotModel
from covey.robots.team import TeamModel, TeamState


def open_world(side_m=20.0, resolution=0.5):
    cells = int(side_m / resolution)
    solid = np.zeros((cells, cells), bool)
    origin = (-side_m / 2, -side_m / 2, 0.0)
    return SimpleNamespace(grid=Grid(solid.astype(np.uint8), resolution, origin), skip=skip_field(solid), version=0)


def run(model, command, steps, substeps=10, pose=(0.0, 0.0, 0.0), world=None, substep_s=0.01):
    """Return the state after some steps of one robot, and its poses and twists after each step."""
    physics = PlanarPhysics(world or open_world(), TeamModel.of([model]), substep_s)
    state, poses, twists = TeamState.at([pose]), [], []
    for _ in range(steps):
        physics.step(state, np.array([command], float), substeps)
        poses.append(state.pose[0].copy())
        twists.append(state.twist[0].copy())
    return state, np.array(poses), np.array(twists)


@pytest.mark.parametrize(
    ("v", "turn", "substeps"), [(0.5, 0.3, 1), (0.5, 0.3, 10), (-0.9, 2.9, 10), (1.0, 1e-9, 10), (1.0, 0.0, 10)]
)
def test_constant_command_follows_its_arc_for_200_s(v, turn, substeps):
    model = disc("unicycle").model_copy(update={"max_turn_rad_s": 5.0})
    state, poses, _ = run(
        model, (v, 0.0, turn), 20_000 // substeps, substeps, pose=(1.0, -2.0, 0.4), world=open_world(5000.0, 50.0)
    )
    for k in (len(poses) // 3, len(poses) - 1):
        t = (k + 1) * substeps * 0.01
        if turn == 0.0:
            x, y = 1.0 + v * t * math.cos(0.4), -2.0 + v * t * math.sin(0.4)
        else:
            a, b = 0.4 + turn * t / 2, v * t * np.sinc(turn * t / 2 / np.pi)
            x, y = 1.0 + b * math.cos(a), -2.0 + b * math.sin(a)
        assert math.hypot(poses[k, 0] - x, poses[k, 1] - y) < 1e-6
        assert abs(math.remainder(poses[k, 2] - 0.4 - turn * t, 2 * math.pi)) < 1e-9
    assert poses[:, 2].min() >= -math.pi
    assert poses[:, 2].max() < math.pi
    assert state.distance_m[0] == pytest.approx(abs(v) * 200.0, rel=1e-9)


def test_arc_agrees_with_small_steps_also_sideways():
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, y, a, vx, vy, turn = rng.uniform(-2, 2, 6)
        time, n = rng.uniform(0, 3), 20_000
        angles = a + turn * (np.arange(n) + 0.5) * time / n
        expected = x + np.sum(np.cos(angles) * vx - np.sin(angles) * vy) * time / n
        expected_y = y + np.sum(np.sin(angles) * vx + np.cos(angles) * vy) * time / n
        assert motion.arc(x, y, a, vx, vy, turn, time)[:2] == pytest.approx((expected, expected_y), abs=1e-7)


def reference_saturate(model, vx, vy, turn):
    if model.kinematics == "holonomic":
        scale = min(1.0, model.max_speed_m_s / max(math.hypot(vx, vy), 1e-12))
        return vx * scale, vy * scale, float(np.clip(turn, -model.max_turn_rad_s, model.max_turn_rad_s))
    if model.kinematics == "unicycle":
        top, spin = model.max_speed_m_s, model.max_turn_rad_s
        return float(np.clip(vx, -top, top)), 0.0, float(np.clip(turn, -spin, spin))
    b, wheel = model.wheel_semi_axis_m, model.max_wheel_speed_m_s
    left, right = vx - b * turn, vx + b * turn
    factor = min(
        1.0,
        wheel / max(abs(left), abs(right), 1e-12),
        model.max_speed_m_s / max(abs(vx), 1e-12),
        model.max_turn_rad_s / max(abs(turn), 1e-12),
    )
    return vx * factor, 0.0, turn * factor


@pytest.mark.parametrize("kinematics", ["differential", "unicycle", "holonomic"])
def test_saturation_agrees_with_the_wheels(kinematics):
    model = RobotModel(
        kinematics=kinematics,
        radius_m=0.2,
        max_speed_m_s=1.0,
        max_turn_rad_s=4.0,
        max_wheel_speed_m_s=1.1,
        wheel_semi_axis_m=0.2,
    )
    team = TeamModel.of([model])
    for vx, vy, turn in np.random.default_rng(2).uniform(-6, 6, (200, 3)):
        expected = reference_saturate(model, vx, vy, turn)
        for saturate in (motion.saturate, motion.saturate.py_func):
            assert saturate(team.kinematics, team.limits, 0, vx, vy, turn) == pytest.approx(expected, abs=1e-12)


def test_pioneer_on_full_curve_keeps_curvature_and_wheel_speed():
    _, _, twists = run(pioneer3dx(), (1.2, 0.0, 2.0), 30)
    v, _, turn = twists[-1]
    assert turn / v == pytest.approx(2.0 / 1.2)
    assert v + 0.1785 * turn == pytest.approx(1.2)


def test_acceleration_and_deceleration_take_their_time():
    model = disc("unicycle").model_copy(update={"acceleration_m_s2": 2.0, "deceleration_m_s2": 4.0})
    physics, state = PlanarPhysics(open_world(), TeamModel.of([model])), TeamState.at([[0, 0, 0]])
    speeds = []
    for command in [1.0] * 60 + [0.0] * 40:
        physics.step(state, np.array([[command, 0.0, 0.0]]), 1)
        speeds.append(state.twist[0, 0])
    assert speeds[24] == pytest.approx(0.5)
    assert speeds[49] == pytest.approx(1.0)
    assert speeds[59] == 1.0
    assert speeds[60 + 11] == pytest.approx(1.0 - 12 * 0.04)
    assert speeds[60 + 25] == pytest.approx(0.0, abs=1e-12)


def test_a_turn_brakes_a_robot_no_harder_than_its_deceleration_and_no_wheel_is_too_fast():
    model = disc().model_copy(
        update={
            "max_speed_m_s": 1.2,
            "max_turn_rad_s": 10.0,
            "max_wheel_speed_m_s": 1.2,
            "wheel_semi_axis_m": 0.1,
            "acceleration_m_s2": 1.0,
            "deceleration_m_s2": 2.0,
        }
    )
    physics, state = PlanarPhysics(open_world(), TeamModel.of([model])), TeamState.at([[0, 0, 0]])
    speeds, turns = [], []
    for command in [(1.2, 0.0, 0.0)] * 130 + [(0.2, 0.0, 10.0)] * 60:
        physics.step(state, np.array([command]), 1)
        speeds.append(state.twist[0, 0])
        turns.append(state.twist[0, 2])
    assert speeds[129] == pytest.approx(1.2)
    assert np.diff(speeds).min() == pytest.approx(-2.0 * 0.01)
    assert np.max(np.abs(speeds) + 0.1 * np.abs(turns)) <= 1.2 + 1e-12
    ends = 1.2 * np.array([0.2, 10.0]) / (0.2 + 10.0 * 0.1)  # scaled until the faster wheel goes 1.2 m/s
    assert (speeds[-1], turns[-1]) == pytest.approx(tuple(ends))


@pytest.mark.parametrize("substeps", [1, 3, 10])
def test_delayed_command_acts_after_its_delay(substeps):
    model = disc("unicycle").model_copy(update={"command_delay_s": 0.15})
    physics, state = PlanarPhysics(open_world(), TeamModel.of([model])), TeamState.at([[0, 0, 0]])
    trace = np.zeros((substeps, 2, 1, 3))
    way = []
    for k in range(60 // substeps):
        physics.step(state, np.array([[1.0 if k * substeps < 30 else 0.0, 0.0, 0.0]]), substeps, trace)
        way += trace[:, 0, 0, 0].tolist()
    expected = 0.01 * np.clip(np.arange(1, 61) - 15, 0, 30)
    assert np.allclose(way, expected, atol=1e-12)


def test_maes_reaches_3_m_per_s_by_its_recursion():
    _, _, twists = run(maes(), (3.0, 0.0, 0.0), 30, substeps=1)
    v, expected = 0.0, []
    for _ in range(30):
        v = (v + 0.01 * 60.0) / (1.0 + 20.0 * 0.01)
        expected.append(v)
    assert np.allclose(twists[:, 0], expected, rtol=0, atol=1e-12)
    _, _, twists = run(maes(), (9.0, 0.0, 0.0), 30)
    assert twists[-1, 0] == pytest.approx(3.0)


def test_maes_on_its_measured_circle_and_on_the_spot():
    # Wheel factors 0.902 and 1.0: MAES's own data have radius 5 and 0.96 m/s.
    turn = 1.998 * (1.0 - 0.902)
    _, _, twists = run(maes(), (3.0, 0.0, 3.0 * turn / 0.951), 40)
    v, _, w = twists[-1]
    assert v == pytest.approx(0.951, abs=0.002)
    assert v == pytest.approx(0.96, rel=0.02)
    assert v / w == pytest.approx(5.0, rel=0.05)
    _, _, twists = run(maes(), (0.0, 0.0, 9.0), 40)
    assert twists[-1, 2] == pytest.approx(3.996, rel=1e-3)


def test_respond_agrees_with_plain_python():
    rng = np.random.default_rng(3)
    team = TeamModel.of([maes(), pioneer3dx(), disc("holonomic")])
    for i in (0, 1, 2):
        for row in rng.uniform(-1, 1, (50, 6)):
            fast = motion.respond(team.kinematics, team.limits, i, 0.01, *row)
            assert fast == pytest.approx(motion.respond.py_func(team.kinematics, team.limits, i, 0.01, *row), abs=1e-15)


def test_holonomic_moves_sideways_and_others_do_not():
    state, _, _ = run(disc("holonomic"), (0.0, 0.5, 0.0), 10)
    assert state.pose[0] == pytest.approx([0.0, 0.5, 0.0], abs=1e-12)
    state, _, _ = run(disc("unicycle"), (0.0, 0.5, 0.0), 10)
    assert state.pose[0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_trace_holds_every_substep_and_changes_nothing():
    models = [pioneer3dx(), maes(), disc("holonomic").model_copy(update={"command_delay_s": 0.05})]
    starts = [[0, 0, 0], [3, 0, 1], [0, 3, 2]]
    rng = np.random.default_rng(4)
    commands = rng.uniform(-1, 1, (30, 3, 3))
    ends = []
    for traced in (False, True):
        physics, state = PlanarPhysics(open_world(), TeamModel.of(models)), TeamState.at(starts)
        trace = np.full((10, 2, 3, 3), np.nan)
        for command in commands:
            before = state.pose.copy()
            physics.step(state, command, 10, trace if traced else None)
            if traced:
                assert (trace[-1, 0] == state.pose).all()
                steps = np.diff(np.concatenate((before[None], trace[:, 0])), axis=0)
                assert np.hypot(steps[..., 0], steps[..., 1]).max() <= 0.03 + 1e-12
        ends.append(state.pose.tobytes() + state.distance_m.tobytes())
    assert ends[0] == ends[1]


def test_command_that_is_not_finite_is_refused():
    physics, state = PlanarPhysics(open_world(), TeamModel.of([disc()])), TeamState.at([[0, 0, 0]])
    with pytest.raises(InvalidValueError, match="robot 0"):
        physics.step(state, np.array([[np.nan, 0.0, 0.0]]), 10)


def test_a_length_is_that_of_hypot_to_the_last_bit():
    numbers = np.append(np.random.default_rng(0).normal(size=6), [0.0, -0.0, 1e-320, -1e300, math.inf, -math.inf])
    for x in numbers:
        for y in numbers:
            assert _length(x, y) == math.hypot(x, y)
    assert math.isnan(_length(math.nan, 0.0))


@kernel
def _length(x, y):
    return motion.length(x, y)
