"""What cameras could have read, and the first time that they read a marker."""

import math

import numpy as np
import pytest

import covey
from covey.missions.search import located
from covey.results.maps import Maps
from covey.robots.catalogue import disc
from covey.sensors import TagCamera
from covey.world.targets import Targets
from covey.world.world import World

SHARP = TagCamera(detect_near=1, detect_far=1, detect_slant=1, sigma_m=0, sigma_per_m=0, false_per_min=0)


def team(camera, poses, controller):
    robot = disc().model_copy(update={"sensors": (*disc().sensors, camera)})
    return [covey.Group("r", robot, poses, controller)]


async def turn_once(robot):
    await robot.drive(0.0, 0.5, for_s=math.tau / 0.5)


def test_a_turn_in_a_small_room_searches_all_and_sights_all():
    """From the middle of a room of 3 x 3 m every face is seen within 45°; the second robot does not turn."""
    world = World.empty(3, 3, 0.1)
    targets = [{"draw": "victim", "count": 4}, {"kind": "big_fire", "identity": 9, "at": (-1.5, 0), "size_m": 0.2}]
    groups = team(SHARP, [(0, 0, 0)], turn_once)
    run = covey.Simulation(world, groups, targets=targets).run(until_s=14)
    assert run.metrics["searched"] == pytest.approx(1.0)
    assert run.metrics["searched_cells"] > 0.99
    assert run.metrics["searched_t90_s"] == pytest.approx((0.9 * math.tau - math.radians(62.2)) / 0.5, abs=1.0)
    seen = run.events.filter(run.events["kind"] == "sighted")
    assert sorted(seen["other"].to_list()) == ["0", "1", "2", "3", "9"]
    fire = seen.filter(seen["other"] == "9")
    assert fire["text"].to_list() == ["big_fire"]
    assert (fire["x_m"][0], fire["y_m"][0]) == pytest.approx((-1.495, 0.0), abs=0.01)
    assert run.maps.faces.shape == (120, 4)
    assert (run.maps.faces[:, 3] > 0).all()


def test_shares_of_each_robot_and_of_the_team(tmp_path):
    world = World.empty(3, 3, 0.1)
    groups = team(SHARP, [(-0.4, 0, math.pi), (0.4, 0, 0)], None)
    sim = covey.Simulation(world, groups, recording=tmp_path / "run")
    run = sim.run(until_s=1)
    each, union = run.series("searched_share")[-1], run.series("searched_share_union")[-1]
    assert (each > 0.05).all()
    assert each.sum() == pytest.approx(union)  # they look to opposite walls
    assert run.metrics["search_overlap"] == pytest.approx(0.0)
    again = Maps.load(tmp_path / "run" / "maps.npz", robots=2)
    np.testing.assert_array_equal(again.faces, sim.scoring.search.faces.table)
    assert (again.first_searched >= 0).sum() / sim.scoring.search.cells.total == pytest.approx(
        run.series("searched_cells_share_union")[-1]
    )


def located_reference(identities, positions, ranges, poses, targets, sigma_m, sigma_per_m):
    """NumPy reference of `located`."""
    row, column = np.nonzero(identities >= 0)
    names, body, (c, s) = identities[row, column], positions[row, column], (f(poses[row, 2]) for f in (np.cos, np.sin))
    x, y = poses[row, 0] + c * body[:, 0] - s * body[:, 1], poses[row, 1] + s * body[:, 0] + c * body[:, 1]
    at, noise = targets.rows(names), sigma_m + sigma_per_m * ranges[row, column]
    away = np.linalg.norm(np.column_stack((x, y, body[:, 2])) - targets.positions[at], axis=1)
    is_true = (at >= 0) & (away < np.maximum(0.5, 5.0 * noise))
    return np.column_stack((row, column)), np.column_stack((x, y)), is_true


@pytest.mark.parametrize("seed", range(3))
def test_readings_are_located_as_by_numpy(seed):
    draw = np.random.default_rng(seed)
    at = draw.permutation(9)[:6], draw.uniform(-2, 2, (6, 3))
    targets = Targets(("victim",) * 6, *at, np.zeros((6, 2)), np.full(6, 0.5))
    identities = np.where(draw.random((5, 4)) < 0.6, draw.integers(0, 9, (5, 4)), -1)  # three of nine are no targets
    poses, ranges = draw.uniform(-3, 3, (5, 3)), draw.uniform(0.1, 4, (5, 4))
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    dx, dy, up = np.moveaxis(targets.positions[targets.rows(identities)] + draw.normal(0, 0.25, (5, 4, 3)), -1, 0)
    dx, dy = dx - poses[:, :1], dy - poses[:, 1:2]
    positions = np.stack((c[:, None] * dx + s[:, None] * dy, c[:, None] * dy - s[:, None] * dx, up), axis=-1)
    expected = located_reference(identities, positions, ranges, poses, targets, 0.02, 0.03)
    count = int((identities >= 0).sum())
    found = located(count, identities, positions, ranges, poses, *targets.by_identity, 0.02, 0.03)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], atol=1e-12)
    np.testing.assert_array_equal(found[2], expected[2])
    assert 0 < expected[2].sum() < count


def test_a_camera_that_turns_too_fast_searches_nothing():
    async def whirl(robot):
        await robot.drive(0.0, 3.0, for_s=3)

    groups = team(SHARP.model_copy(update={"blur_deg_s": 30.0}), [(0, 0, 0)], whirl)
    run = covey.Simulation(World.empty(3, 3, 0.1), groups).run(until_s=2)
    first = run.series("searched_share_union")
    assert first[-1] == first[2]  # only before it turned


def test_a_false_alarm_is_called_so():
    camera = SHARP.model_copy(update={"false_per_min": 600.0})
    groups = team(camera, [(0, 0, 0)], None)
    run = covey.Simulation(World.empty(6, 6), groups, targets=[{"kind": "victim", "at": (-3, 0)}]).run(until_s=1)
    seen = run.events.filter(run.events["kind"] == "sighted")
    assert seen["text"].to_list() == ["false alarm: victim"]


def test_without_cameras_nothing_is_added():
    run = covey.Simulation(World.empty(3, 3, 0.1), 1).run(until_s=1)
    assert run.metrics["searched"] is None
    assert "searched_share_union" not in run.team_columns
    assert run.maps.faces is None


@pytest.mark.slow
def test_the_same_bytes_with_all_errors_of_the_camera_damage_and_a_lossy_radio(tmp_path):
    async def search(robot):
        while True:
            robot.share_searched()
            robot.note(f"{robot.searched.share:.3f}, {robot.tag_camera.identities.tolist()}")
            await robot.turn(1.0)

    camera = TagCamera(false_per_min=60, holds_last=True, blur_deg_s=30.0)
    runs = []
    for name in ("a", "b"):
        sim = covey.Simulation(
            World.rescue(seed=1).damaged(seed=2),
            team(camera, [(0, 1, 0), (0, -1, 2)], search),
            seed=5,
            radio=covey.Radio(range_m=10, loss=0.3),
            targets=[{"draw": "victim", "count": 30}],
            recording=tmp_path / name,
        )
        runs.append(sim.run(until_s=8))
    files = ["events.parquet", "measurements.parquet", "team.parquet", "maps.npz"]
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    texts = runs[0].events.filter(runs[0].events["kind"] == "sighted")["text"].to_list()
    assert "false alarm: victim" in texts
