"""Laws of contact: nobody overlaps, bodies slide, contacts are counted when they begin."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.raycast import skip_field
from covey.physics.planar import contacts
from covey.physics.planar.physics import PlanarPhysics
from covey.robots.catalogue import disc, maes, pioneer3dx, robots
from covey.robots.model import RobotModel
from covey.robots.team import TeamModel, TeamState


def world_of(solid, resolution=0.05, origin=(0.0, 0.0, 0.0)):
    solid = np.asarray(solid, bool)
    return SimpleNamespace(
        grid=Grid(solid.astype(np.uint8), resolution, origin), skip=skip_field(solid), solid=solid, version=0
    )


def room(width_m, height_m, resolution=0.05):
    solid = np.zeros((round(height_m / resolution) + 2, round(width_m / resolution) + 2), bool)
    solid[[0, -1], :] = solid[:, [0, -1]] = True
    return world_of(solid, resolution, (-resolution, -resolution, 0.0))


def world_discs(model, state):
    """Centres (n, k, 2) and radii (n, k) of all discs in the world frame; unused rows have radius NaN."""
    c, s = np.cos(state.pose[:, 2])[:, None], np.sin(state.pose[:, 2])[:, None]
    x, y, radius = model.discs.transpose(2, 0, 1)
    centres = np.stack((state.pose[:, :1] + c * x - s * y, state.pose[:, 1:2] + s * x + c * y), -1)
    return centres, np.where(radius > 0, radius, np.nan)


def wall_overlap(world, model, state):
    """Deepest overlap [m] of each robot with a cell square, by looking at every square."""
    x0, y0, c, s, side = world.grid.frame
    rows, columns = np.nonzero(world.solid)
    centres, radii = world_discs(model, state)
    dx, dy = centres[..., 0] - x0, centres[..., 1] - y0
    u, v = (c * dx + s * dy)[..., None], (c * dy - s * dx)[..., None]
    du = np.maximum(np.maximum(columns * side - u, u - (columns + 1) * side), 0.0)
    dv = np.maximum(np.maximum(rows * side - v, v - (rows + 1) * side), 0.0)
    return np.nanmax(radii - np.hypot(du, dv).min(-1), axis=1)


def robot_overlap(model, state):
    """Deepest overlap [m] between two robots."""
    centres, radii = world_discs(model, state)
    gap = np.hypot(*(centres[:, None, :, None] - centres[None, :, None, :]).transpose(4, 0, 1, 2, 3))
    overlap = np.nan_to_num(radii[:, None, :, None] + radii[None, :, None, :] - gap, nan=-np.inf).max((2, 3))
    return overlap[~np.eye(len(overlap), dtype=bool)].max()


def drive(world, models, poses, commands, steps, substeps=10):
    """Hold commands; return the team, the state, and the rows (kind, robot, other, step) of the contacts."""
    team = TeamModel.of(models)
    physics, state, rows = PlanarPhysics(world, team), TeamState.at(poses), []
    for k in range(steps):
        begun = physics.step(state, np.asarray(commands, float), substeps)
        rows += [(int(a), int(b), int(c), k) for a, b, c in zip(begun.kind, begun.robot, begun.other, strict=True)]
    return team, state, rows


def catalogue():
    return [robots.get(name)() for name in robots.names()] + [disc("holonomic")]


def in_squares(team, side_m, rng):
    """Start poses on a lattice, shuffled headings."""
    n = len(team)
    across = math.ceil(math.sqrt(n))
    spots = (np.stack(np.meshgrid(np.arange(across), np.arange(across)), -1).reshape(-1, 2)[:n] + 0.5) * side_m / across
    return np.column_stack((spots, rng.uniform(-np.pi, np.pi, n)))


@pytest.mark.slow
def test_crowd_of_every_model_never_overlaps():
    rng, world = np.random.default_rng(5), room(6.0, 6.0)
    world.solid[60:64, 20:100] = True
    world.skip = skip_field(world.solid)
    team = TeamModel.of([catalogue()[k % len(catalogue())] for k in range(49)])
    starts = in_squares(team, 6.0, rng)
    starts[np.abs(starts[:, 1] - 3.0) < 0.5, 1] += 0.1
    state, physics, count = TeamState.at(starts), PlanarPhysics(world, team), 0
    free = wall_overlap(world, team, state) <= 0.0
    model = TeamModel.of([m for m, ok in zip([team.models[k] for k in team.model_id], free, strict=True) if ok])
    state, physics = TeamState.at(starts[free]), PlanarPhysics(world, model)
    assert free.sum() > 35
    limits = np.column_stack((model.max_speed, model.max_speed, model.max_turn))
    for k in range(800):
        if k % 20 == 0:
            commands = limits * rng.choice([-1.0, 0.3, 1.0], (len(model), 3))
        count += len(physics.step(state, commands, 10))
        if k % 20 < 2:
            assert wall_overlap(world, model, state).max() < 1e-3
            assert robot_overlap(model, state) < 1e-3
    assert state.pose[:, :2].min() > 0.0
    assert state.pose[:, :2].max() < 6.0
    assert count > 100


@pytest.mark.parametrize("substeps", [10, 1])
@pytest.mark.parametrize("name", ["pioneer3dx", "turtlebot3_burger", "turtlebot3_waffle", "maes", "disc"])
def test_no_model_gets_through_a_wall_of_one_cell(name, substeps):
    solid = np.zeros((60, 200), bool)
    solid[:, 150] = True
    model = robots.get(name)()
    for heading in (0.0, 0.5):
        command = [[model.max_speed_m_s, 0.0, 0.0]]
        steps = int(2.0 / model.max_speed_m_s / 0.01 / substeps)
        team, state, rows = drive(world_of(solid), [model], [[6.8, 1.5, heading]], command, steps, substeps)
        assert state.pose[0, 0] < 7.5
        assert wall_overlap(world_of(solid), team, state)[0] < 1e-3
        assert rows[0][:3] == (0, 0, -1)


def test_long_substep_and_tiny_fast_robot_do_not_tunnel():
    solid = np.zeros((60, 200), bool)
    solid[:, 150] = True
    model = RobotModel(kinematics="unicycle", radius_m=0.02, max_speed_m_s=10.0)
    physics, state = (
        PlanarPhysics(world_of(solid), TeamModel.of([model, model]), 0.1),
        TeamState.at([[2, 1, 0], [4, 1, 0]]),
    )
    state.halted[1] = True
    physics.step(state, np.array([[10.0, 0, 0], [10.0, 0, 0]]), 20)
    assert state.pose[0, 0] == pytest.approx(4.0 - 0.04, abs=1e-4)
    state.pose[1, 1] = 2.0
    physics.step(state, np.array([[10.0, 0, 0], [10.0, 0, 0]]), 20)
    assert state.pose[0, 0] == pytest.approx(7.5 - 0.02, abs=1e-4)


@pytest.mark.parametrize("model", [disc(), pioneer3dx(), maes()], ids=lambda m: m.name)
def test_body_slides_along_a_wall_at_the_speed_along_it(model):
    angle = math.radians(30.0)
    _, state, rows = drive(room(12.0, 5.0), [model], [[1.0, 0.7, -angle]], [[0.8, 0.0, 0.0]], 80)
    assert rows[0][:3] == (0, 0, -1)
    assert len(rows) == 1
    assert state.twist[0, :2] == pytest.approx(
        [0.8 * math.cos(angle) ** 2, 0.8 * math.cos(angle) * math.sin(angle)], abs=5e-3
    )
    assert state.pose[0, 2] == pytest.approx(-angle)
    assert state.contact_bearing[0] == pytest.approx(-math.pi / 2 + angle, abs=1.0)


def test_head_on_into_a_wall_stops_there_with_bumper_and_distance():
    _, state, rows = drive(room(5.0, 5.0), [disc()], [[2.0, 2.5, 0.0]], [[1.0, 0.0, 0.0]], 50)
    assert state.pose[0] == pytest.approx([5.0 - 0.15, 2.5, 0.0], abs=1e-6)
    assert state.distance_m[0] == pytest.approx(2.85, abs=1e-6)
    assert state.twist[0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    assert state.contact_bearing[0] == pytest.approx(0.0, abs=0.2)
    assert rows == [(0, 0, -1, 28)]


def test_contact_begins_again_only_after_a_gap():
    world, team = room(5.0, 5.0), TeamModel.of([disc()])
    physics, state, begun = PlanarPhysics(world, team), TeamState.at([[4.8, 2.5, 0.0]]), []
    for speed in (1.0, 0.0, 1.0, -0.01, 1.0, -0.5, 1.0):  # 0.01 m/s for 0.1 s is a gap of 1 mm
        contacts_of_step = physics.step(state, np.array([[speed, 0.0, 0.0]]), 10)
        begun.append(len(contacts_of_step))
        touching = speed in (1.0, 0.0, -0.01)
        assert np.isnan(state.contact_bearing[0]) != touching
    assert begun == [1, 0, 0, 0, 0, 0, 1]


def test_two_robots_meet_once_and_both_are_named():
    world = room(10.0, 5.0)
    commands = [[0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]
    _, state, rows = drive(world, [disc(), disc()], [[4.0, 2.5, 0.0], [6.0, 2.5, math.pi]], commands, 40)
    assert [row[:3] for row in rows] == [(1, 0, 1)]
    assert state.pose[1, 0] - state.pose[0, 0] == pytest.approx(0.3, abs=2e-3)
    assert state.pose[:, 0].mean() == pytest.approx(5.0, abs=0.01)
    assert state.contact_bearing == pytest.approx([0.0, 0.0], abs=1e-6)


def test_a_dozen_robots_that_push_one_are_a_dozen_contacts_however_long_they_push():
    big, small = disc("unicycle", radius_m=1.0), disc("unicycle", radius_m=0.1)
    around = np.linspace(0.0, 2.0 * math.pi, 12, endpoint=False)
    ring = np.column_stack((5.0 + 1.3 * np.cos(around), 5.0 + 1.3 * np.sin(around), around + math.pi))
    commands = [[0.0, 0.0, 0.0]] + [[0.5, 0.0, 0.0]] * 12
    _, _, rows = drive(room(10.0, 10.0), [big] + [small] * 12, [[5.0, 5.0, 0.0], *ring], commands, 20)
    assert sorted(row[:3] for row in rows) == [(1, 0, other) for other in range(1, 13)]


def felt_bearings(world, models, poses, commands, steps):
    """Return the directions [degrees] of all that touched robot 0 in the last substep, ascending."""
    physics, state = PlanarPhysics(world, TeamModel.of(models)), TeamState.at(poses)
    felt = [physics.step(state, np.array(commands, float), 10).felt for _ in range(steps)][-1]
    return sorted(np.degrees(felt[(felt[:, 0] == 9) & (felt[:, 1] == 0), 2]).tolist())


def test_a_robot_feels_the_wall_ahead_and_the_robot_that_runs_into_it_from_behind():
    poses, commands = [[4.6, 2.5, 0.0], [3.5, 2.5, 0.0]], [[0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]
    bearings = felt_bearings(room(5.0, 5.0), [disc(), disc()], poses, commands, 30)
    assert len(bearings) == 2
    assert bearings[0] == pytest.approx(0.0, abs=10.0)
    assert abs(bearings[1]) == pytest.approx(180.0, abs=1.0)


@pytest.mark.parametrize("stands", [False, True])
def test_a_robot_in_a_corner_feels_both_walls_driving_and_standing(stands):
    model, world = disc("holonomic"), room(5.0, 5.0)
    physics, state = PlanarPhysics(world, TeamModel.of([model])), TeamState.at([[4.5, 4.6, 0.0]])
    felt = physics.step(state, np.array([[0.5, 0.5, 0.0]]), 100).felt
    if stands:
        felt = physics.step(state, np.zeros((1, 3)), 100).felt
    assert sorted(np.degrees(felt[felt[:, 0] == 99, 2])) == pytest.approx([0.0, 90.0], abs=10.0)


def test_moving_robot_slides_around_a_halted_one_and_does_not_push_it():
    models, poses = [disc(), disc()], [[2.0, 2.5, 0.0], [4.0, 2.55, 0.3]]
    physics, state = PlanarPhysics(room(10.0, 5.0), TeamModel.of(models)), TeamState.at(poses)
    state.halted[1] = True
    for _ in range(60):
        physics.step(state, np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]), 10)
    assert state.pose[1] == pytest.approx(poses[1], abs=0.0)
    assert state.pose[0, 0] > 5.0
    assert state.distance_m[1] == 0.0


def test_files_of_robots_in_different_worlds_do_not_meet():
    models, poses = [disc(), disc()], [[2.0, 2.5, 0.0], [4.0, 2.5, math.pi]]
    physics, state = PlanarPhysics(room(10.0, 5.0), TeamModel.of(models)), TeamState.at(poses)
    state.world_id[:] = 0, 1
    for _ in range(20):
        assert len(physics.step(state, np.array([[1.0, 0.0, 0.0]] * 2), 10)) == 0
    assert state.pose[:, 0] == pytest.approx([4.0, 2.0])


@pytest.mark.parametrize("model", catalogue(), ids=lambda m: f"{m.name}_{m.kinematics}")
def test_straight_drive_through_a_corridor_5_mm_wider_than_the_body(model):
    half = max(abs(y) + radius for _, y, radius in model.body_discs) + 0.0025
    solid = np.ones((3, 400), bool)
    solid[1] = False
    side = 2.0 * half
    world = world_of(solid, side, (0.0, -3.0 * half, 0.0))
    steps = int(3.0 / model.max_speed_m_s / 0.1) + 10
    team, state, rows = drive(world, [model], [[1.0, 0.0, 0.0]], [[model.max_speed_m_s, 0.0, 0.0]], steps)
    assert rows == []
    assert state.pose[0, 0] > 3.5
    team, state, rows = drive(world, [model], [[1.0, 0.0, 0.0]], [[0.5 * model.max_speed_m_s, 0.0, 0.3]], steps)
    assert wall_overlap(world_of(solid[:, :60], side, (0.0, -3.0 * half, 0.0)), team, state)[0] < 1e-3


@pytest.mark.parametrize("model", [pioneer3dx(), robots.get("turtlebot3_waffle")(), disc()], ids=lambda m: m.name)
def test_robot_in_a_corner_can_turn_and_leave(model):
    world = room(4.0, 4.0)
    _, state, _ = drive(world, [model], [[0.6, 0.6, -2.2]], [[model.max_speed_m_s, 0.0, 0.0]], 60)
    physics, team = PlanarPhysics(world, TeamModel.of([model])), TeamModel.of([model])
    for _ in range(40):
        physics.step(state, np.array([[0.0, 0.0, 0.9]]), 10)
        assert wall_overlap(world, team, state)[0] < 1e-3
    assert abs(math.remainder(state.pose[0, 2] + 2.2, 2 * math.pi)) > 1.0
    before = state.distance_m[0]
    for _ in range(30):
        physics.step(state, np.array([[model.max_speed_m_s, 0.0, 0.0]]), 10)
    assert wall_overlap(world, team, state)[0] < 1e-3
    assert state.distance_m[0] - before > 0.5


def test_acute_corner_holds_without_overlap():
    rows, columns = np.mgrid[:120, :120]
    solid = (columns - 20 < 2 * np.abs(rows - 60) * 1.2) & (columns < 100)
    world = world_of(~(~solid & (columns >= 20)) | (columns == 119))
    team = TeamModel.of([disc("unicycle")])
    state, physics = TeamState.at([[4.0, 3.0, math.pi]]), PlanarPhysics(world, team)
    rng = np.random.default_rng(6)
    for _ in range(300):
        physics.step(state, np.array([[1.0, 0.0, rng.uniform(-1, 1)]]), 10)
        assert wall_overlap(world, team, state)[0] < 1e-3


def test_turned_grid_is_the_turned_world():
    rng = np.random.default_rng(7)
    solid = rng.random((80, 80)) < 0.01
    solid[[0, -1], :] = solid[:, [0, -1]] = True
    solid[30:50, 30:50] = False
    yaw, shift = 0.7, (3.0, -2.0)
    models = [pioneer3dx(), disc()]
    poses = np.array([[2.0, 2.0, 0.3], [2.0, 2.6, 2.0]])
    c, s = math.cos(yaw), math.sin(yaw)

    def turned(p):
        x, y = p[:, 0], p[:, 1]
        return np.column_stack((shift[0] + c * x - s * y, shift[1] + s * x + c * y, p[:, 2] + yaw))

    commands = [[0.6, 0.0, 0.4], [0.9, 0.0, -0.2]]
    _, straight, rows = drive(world_of(solid), models, poses, commands, 60)
    _, other, other_rows = drive(world_of(solid, 0.05, (*shift, yaw)), models, turned(poses), commands, 60)
    assert np.allclose(turned(straight.pose)[:, :2], other.pose[:, :2], atol=1e-6)
    assert rows == other_rows
    assert len(rows) > 0
    assert np.allclose(straight.twist, other.twist, atol=1e-4)


def test_a_wall_that_comes_up_is_felt_as_by_physics_that_never_saw_the_place_without_it():
    """The wall is 2 cm ahead of a robot, which then meets it in the cell in which it was before."""
    world, team, command = room(6.0, 4.0), TeamModel.of([disc(radius_m=0.17)]), np.array([[0.5, 0.0, 0.0]])
    start = [[60 * 0.05 - 0.05 - 0.17 - 0.02, 2.02, 0.0]]
    physics, state = PlanarPhysics(world, team), TeamState.at(start)
    physics.step(state, 0.0 * command, 1)
    world.skip[:] = skip_field(world.solid | (np.arange(world.solid.shape[1]) == 60))
    world.version += 1
    other, fresh, met = PlanarPhysics(world, team), TeamState.at(start), 0
    for _ in range(8):
        felt, expected = physics.step(state, command, 1), other.step(fresh, command, 1)
        np.testing.assert_array_equal(state.pose, fresh.pose)
        np.testing.assert_array_equal(felt.robot, expected.robot)
        met += len(expected.robot)
    assert met == 1
    assert math.floor(state.pose[0, 0] / 0.05) == math.floor(start[0][0] / 0.05)


def test_body_may_leave_an_open_world_and_come_back():
    physics = PlanarPhysics(world_of(np.zeros((40, 40), bool)), TeamModel.of([disc()]))
    state = TeamState.at([[1.0, 1.0, 0.0]])
    for speed in [1.0] * 50 + [-1.0] * 50:
        physics.step(state, np.array([[speed, 0.0, 0.0]]), 10)
    assert state.pose[0] == pytest.approx([1.0, 1.0, 0.0], abs=1e-9)


def test_body_that_starts_in_a_wall_works_its_way_out():
    world = room(5.0, 5.0)
    team, state, _ = drive(world, [disc()], [[4.95, 2.5, math.pi / 2]], [[0.5, 0.0, 0.0]], 20)
    assert wall_overlap(world, team, state)[0] < 1e-3


def test_nearest_wall_agrees_with_a_look_at_every_square():
    rng = np.random.default_rng(8)
    solid = rng.random((40, 50)) < 0.1
    world = world_of(solid, 0.1, (1.0, 2.0, 0.4))
    team = TeamModel.of([disc(radius_m=0.3)])
    for u, v in rng.uniform(0.5, 3.5, (300, 2)):
        x, y = 1.0 + math.cos(0.4) * u - math.sin(0.4) * v, 2.0 + math.sin(0.4) * u + math.cos(0.4) * v
        expected = 0.3 - wall_overlap(world, team, TeamState.at([[x, y, 0.0]]))[0]
        found, px, py = contacts.nearest_wall(world.skip, world.grid.frame, x, y, 0.3)
        if expected < 0.3:
            assert found == pytest.approx(expected, abs=1e-12)
            assert math.hypot(px - x, py - y) == pytest.approx(expected, abs=1e-12)
        else:
            assert found == np.inf
        assert contacts.nearest_wall.py_func(world.skip, world.grid.frame, x, y, 0.3) == (found, px, py)
        assert contacts.free_radius(world.skip, world.grid.frame, x, y) <= expected + 1e-12


def test_same_input_gives_the_same_bytes():
    ends = []
    for _ in range(2):
        models = catalogue() * 4
        rng = np.random.default_rng(9)
        starts = in_squares(models, 7.0, rng)
        _, state, rows = drive(room(7.0, 7.0), models, starts, rng.uniform(-1, 1, (len(models), 3)), 50)
        ends.append((state.pose.tobytes(), state.twist.tobytes(), rows))
    assert ends[0] == ends[1]


def test_a_command_that_is_not_finite_is_refused_before_anybody_moves():
    model, state = TeamModel.of([disc(), disc()]), TeamState.at([(1.0, 1.0, 0.0), (2.0, 2.0, 0.0)])
    physics, before = PlanarPhysics(room(4, 4), model), state.pose.copy()
    with pytest.raises(InvalidValueError, match=r"command of robot 1 is .*nan.*; it must be three finite numbers"):
        physics.step(state, np.array([[0.3, 0.0, 0.0], [0.1, 0.0, math.nan]]), 10)
    np.testing.assert_array_equal(state.pose, before)


def test_without_feeling_all_but_the_list_of_points_is_the_same():
    model = TeamModel.of([disc() for _ in range(6)])
    starts = [[0.5 + 0.7 * k, 0.6, 1.1 * k] for k in range(6)]
    world, random = room(4.5, 1.2), np.random.default_rng(3)
    both = [(PlanarPhysics(world, model, feels=feels), TeamState.at(starts)) for feels in (True, False)]
    touched = 0
    for _ in range(30):
        commands = random.uniform(-1, 1, (6, 3)) * (1, 0, 2)
        full, last = (physics.step(state, commands, 10) for physics, state in both)
        for name in ("kind", "robot", "other", "x", "y", "substep"):
            np.testing.assert_array_equal(getattr(full, name), getattr(last, name))
        for name in ("pose", "twist", "distance_m", "contact_bearing"):
            np.testing.assert_array_equal(getattr(both[0][1], name), getattr(both[1][1], name))
        assert set(last.felt[:, 1]) == set(full.felt[:, 1])
        touched += len(last.felt)
    assert touched > 10
