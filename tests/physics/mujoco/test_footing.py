"""Kernels of terrain physics against plain NumPy, SciPy's rotations, and planar physics."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from covey.geometry.grid import Grid
from covey.physics.mujoco.drives import TORQUE, TWIST, regulate, steer
from covey.physics.mujoco.footing import anything_near, clearance, follow, read, rotation, stand
from covey.physics.planar.physics import PlanarPhysics
from covey.robots.catalogue import pioneer3dx, skid_steer
from covey.robots.team import TeamModel, TeamState
from covey.world.ground import Ground
from covey.world.world import World

RNG = np.random.default_rng(5)
GROUND = Ground.of(RNG.uniform(-1, 1, (20, 25)), 0.7)


def quaternions(count):
    q = RNG.normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def clearance_numpy(ground, points, pose):
    """Plain reference of `clearance`."""
    turn = Rotation.from_quat(pose[[4, 5, 6, 3]])
    placed = pose[:3] + turn.apply(points)
    return float((placed[:, 2] - ground.altitude_at(placed[:, :2])).min())


def test_rotations_are_those_of_scipy():
    for q in quaternions(20):
        assert rotation(q) == pytest.approx(Rotation.from_quat(q[[1, 2, 3, 0]]).as_matrix(), abs=1e-12)


def test_clearance_is_that_of_the_lowest_point():
    for q in quaternions(20):
        points, at = RNG.uniform(-0.4, 0.4, (30, 3)), RNG.uniform((-6, -4, -1), (6, 4, 3))
        expected = clearance_numpy(GROUND, points[:21], np.concatenate((at, q)))
        found = clearance(GROUND.altitude, GROUND.frame, points, 21, at, rotation(q))
        assert found == pytest.approx(expected, abs=1e-12)


def test_who_is_put_on_a_slope_leans_with_it_and_touches_it():
    x, y = np.meshgrid(np.arange(30.0) - 14.5, np.arange(30.0) - 14.5)
    ground = Ground.of(0.2 * x - 0.3 * y)
    points = RNG.uniform((-0.3, -0.2, 0), (0.3, 0.2, 0.2), (40, 3))
    points[:4] = [[0.3, 0.2, 0], [0.3, -0.2, 0], [-0.3, 0.2, 0], [-0.3, -0.2, 0]]
    for heading in RNG.uniform(-3, 3, 10):
        pose = stand(ground.altitude, ground.frame, points, 1.2, -3.4, heading)
        turn = Rotation.from_quat(pose[[4, 5, 6, 3]])
        assert turn.apply((0, 0, 1)) == pytest.approx(ground.normal_at((1.2, -3.4)), abs=1e-9)
        assert turn.as_euler("ZYX")[0] == pytest.approx(heading)
        assert clearance_numpy(ground, points, pose) == pytest.approx(0.0, abs=1e-9)
        assert pose[2] == pytest.approx(ground.altitude_at((1.2, -3.4)), abs=1e-9)


def test_bodies_follow_the_ground_by_their_least_clearance():
    after = GROUND.replace(altitude=GROUND.altitude + RNG.uniform(-1, 1, GROUND.shape), range_m=(-5, 5))
    points, q = RNG.uniform(-0.3, 0.3, (3, 12, 3)), np.zeros(21)
    gaps = (0.01, -0.002, 0.8)  # stands, sunk in a little, in the air
    for i, gap in enumerate(gaps):
        pose = np.concatenate((RNG.uniform((-6, -4, 0), (6, 4, 0)), quaternions(1)[0]))
        pose[2] += gap - clearance_numpy(GROUND, points[i], pose)
        q[7 * i : 7 * i + 7] = pose
    before = q.copy()
    count, position = np.full(4, 12), np.array([0, 7, 14, -1])
    arrays = GROUND.altitude, after.altitude, GROUND.frame, np.concatenate((points, points[:1]))
    moved = follow(*arrays, count, position, q)
    now = [clearance_numpy(after, points[i], q[7 * i : 7 * i + 7]) for i in range(3)]
    assert now[:2] == pytest.approx(gaps[:2], abs=1e-9)
    assert now[2] >= -1e-9
    assert moved[3] == 0.0
    assert q - before == pytest.approx(np.concatenate([[0, 0, m, 0, 0, 0, 0] for m in moved[:3]]))


def test_the_state_is_that_of_the_engine_in_the_terms_of_robotics():
    q = np.concatenate((RNG.uniform(-2, 2, (4, 3)), quaternions(4)), axis=1)
    v, pose, twist, tilt = RNG.normal(size=6), np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 3))
    distance, trace, wanted = np.zeros(1), np.full((4, 2, 1, 3), np.nan), np.array([1, 0, 0, 1], np.uint8)
    bodies = np.array([0]), np.array([0]), np.zeros(1)
    edge = np.array([-9.0, 9.0, -9.0, 9.0])
    ground = GROUND.altitude, GROUND.frame, edge
    read(bodies, q, v, ground, np.zeros((4, 1, 3)), 0.01, pose, twist, tilt, distance, wanted, trace)
    turns = Rotation.from_quat(q[:, [4, 5, 6, 3]])
    yaw, pitch, roll = turns.as_euler("ZYX").T
    assert pose[0] == pytest.approx((*q[3, :2], yaw[3]))
    assert tilt[0] == pytest.approx((q[3, 2], roll[3], pitch[3]))
    assert trace[0, 0, 0] == pytest.approx((*q[0, :2], yaw[0]))
    assert trace[0, 1, 0] == pytest.approx((q[0, 2], roll[0], pitch[0]))
    assert np.isnan(trace[1:3]).all()
    way = np.linalg.norm(np.diff(np.vstack((np.zeros(3), q[:, :3])), axis=0), axis=1).sum()
    assert distance[0] == pytest.approx(way)
    assert twist[0, :2] == pytest.approx(Rotation.from_euler("Z", -yaw[3]).apply(v[:3])[:2])
    assert twist[0, 2] == pytest.approx(turns[3].apply(v[3:])[2])


def test_near_is_who_could_touch_a_wall_or_another():
    world = World.empty(20, 20, 0.1)
    edge, radius = np.array([-9.0, 9.0, -8.5, 9.0]), np.array([0.3, 0.4])

    def near(poses, flies=(False, False)):
        arrays = world.skip, world.grid.frame, edge, np.array(poses, float), radius, np.array(flies)
        return anything_near(*arrays, 0.5)

    assert not near([[0, 0, 0], [5, 5, 0]])
    assert near([[0, 0, 0], [1.6, 0, 0]])
    assert not near([[0, 0, 0], [1.8, 0, 0]])
    assert not near([[0, 0, 0], [1.6, 0, 0]], (False, True))
    assert near([[0, 0, 0], [8.2, 0, 0]])
    assert near([[0, -7.8, 0], [5, 5, 0]])
    assert near([[0, 0, 0], [7, 8.6, 0]])


def test_nobody_is_near_only_when_all_keep_apart_and_off_the_walls_and_the_edge():
    cells = np.zeros((80, 80), np.uint8)
    cells[30:34, 50:52] = 1
    world = World(Grid(cells, 0.25, (-10.0, -10.0, 0.0)))
    columns, rows = np.meshgrid(np.arange(80), np.arange(80))
    corners = -10.0 + 0.25 * np.column_stack((columns[cells == 1], rows[cells == 1]))
    edge, radius, reach, found = np.array([-9.0, 9.0, -8.0, 9.5]), np.array([0.3, 0.5, 0.4]), 0.2, []
    for _ in range(400):
        pose, flies = RNG.uniform(-9, 9, (3, 3)), RNG.random(3) < 0.2
        near = by_a_wall = False
        for i in np.flatnonzero(~flies):
            (x, y), far = pose[i, :2], radius[i] + reach
            others = [math.dist((x, y), pose[j, :2]) - radius[j] - reach for j in np.flatnonzero(~flies) if j != i]
            near |= min([x + 9.0, 9.0 - x, y + 8.0, 9.5 - y, *others]) < far
            wall = np.hypot(*np.maximum(np.maximum(corners - (x, y), (x, y) - corners - 0.25), 0.0).T).min()
            near |= wall < far
            by_a_wall |= wall < 5.0  # which it may take for nearer than it is
        got = anything_near(world.skip, world.grid.frame, edge, pose, radius, flies, reach)
        assert got == near or (got and by_a_wall)
        found.append(got)
    assert 20 < sum(found) < 380


def test_twist_drives_run_as_in_the_plane():
    model = pioneer3dx().model_copy(update={"command_delay_s": 0.03, "speed_lag_s": 0.1})
    team, state = TeamModel.of([model, skid_steer()]), TeamState.at([[0, 0, 0], [4, 0, 0]])
    planar = PlanarPhysics(World.empty(200, 200, 1.0), team)
    delay = np.array([3, 0])
    past, drive, drives, controls = np.zeros((2, 4, 3)), np.zeros((2, 3)), np.zeros((10, 2, 3)), np.zeros((10, 2))
    figures = np.array([[1.0, 0.2, 0.1, 1], [-1.0, 0.2, 0.1, 1]])
    arrays = (team.kinematics, team.limits, delay, np.array([TWIST, TWIST])), (np.array([0, 0]), figures), past
    for k in range(20):
        command = RNG.uniform(-2, 2, (2, 3))
        planar.step(state, command, 10)
        steer(*arrays, 10 * k, 0.01, command, np.zeros(2, bool), drive, drives, controls)
        assert drive == pytest.approx(state.drive, abs=1e-12)
        v, turn = drives[:, 0, 0], drives[:, 0, 2]
        assert controls == pytest.approx(np.column_stack((v - 0.2 * turn, v + 0.2 * turn)) / 0.1)


def test_torques_come_late_by_the_delay_are_shared_by_the_wheels_of_a_side_and_end_when_a_robot_is_halted():
    team = TeamModel.of([skid_steer(), skid_steer()])
    figures = np.array([[1.0, 0.2, 0.1, 2], [1.0, 0.2, 0.1, 2], [-1.0, 0.2, 0.1, 1], [1.0, 0.2, 0.1, 1]])
    arrays = (team.kinematics, team.limits, np.array([2, 0]), np.array([TORQUE, TORQUE]))
    motors, past, drive = (np.array([0, 0, 0, 1]), figures), np.zeros((2, 3, 3)), np.ones((2, 3))
    given, got = [], []
    for k in range(3):
        commands = RNG.uniform(-9, 9, (2, 3))
        drives, controls = np.empty((3, 2, 3)), np.empty((3, 4))
        steer(arrays, motors, past, 3 * k, 0.01, commands, np.array([False, k == 2]), drive, drives, controls)
        given += [commands] * 3
        got += controls.tolist()
    left, right = np.array(given)[:, 0, :2].T
    late = np.concatenate((np.zeros((2, 2)), np.column_stack((left, right))[:-2]))
    other = np.where(np.arange(9) < 6, np.array(given)[:, 1, 0], 0.0)
    assert np.array(got) == pytest.approx(np.column_stack((late[:, 0] / 2, late[:, 0] / 2, late[:, 1], other)))
    assert drive.tolist() == [[1.0] * 3, [0.0] * 3]


def test_motors_hold_speeds_and_give_torques_up_to_their_limits():
    motors = (
        np.array([0, 0, 1, 1]),
        np.array([0, 0, 1, 1], np.uint8),
        np.full(4, 2.0),
        np.full(4, 5.0),
        np.full(4, 10.0),
    )
    integral, torque, halted = np.zeros(4), np.empty(4), np.zeros(2, bool)
    speed, wanted = np.array([1.0, 4.0, 0.0, 9.5]), np.array([2.0, 2.0, 7.0, 4.0])
    regulate(motors, wanted, halted, speed, integral, 0.1, torque)
    assert integral == pytest.approx([0.2, -0.4, 0, 0])
    assert torque == pytest.approx([4.2, 3.6, 5.0, 2.5])  # half the torque at 95 % of the top speed
    for _ in range(100):
        regulate(motors, wanted, halted, speed, integral, 0.1, torque)
    assert integral[:2] == pytest.approx([5.0, -5.0])
    halted[1] = True
    regulate(motors, np.zeros(4), halted, speed, integral, 0.1, torque)
    assert integral[3] == pytest.approx(2.0 * 0.1 * -9.5)
    assert TORQUE != TWIST
    assert math.isfinite(torque.sum())
