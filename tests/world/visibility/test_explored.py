import math
import os

import numpy as np
import psutil
import pytest

from covey.errors import InvalidValueError
from covey.geometry.beams import crossed_cells
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.memory import small_pages
from covey.world.visibility.covered import CoveredCells, put_back
from covey.world.visibility.explored import ExploredTruth


def test_a_beam_explores_the_cells_it_crosses_for_its_robot_and_for_the_team():
    truth = ExploredTruth(Grid(np.ones((10, 10), bool), 0.5), 2)
    truth.mark([1], np.array([[0.25, 0.25, 0.0]]), np.array([[2.0]]), np.array([0.0]), (0, 0, 0), 3)
    assert truth.share_each.tolist() == [0.0, 0.05]
    truth.mark([0], np.array([[0.25, 0.25, math.pi / 2]]), np.array([[2.0]]), np.array([0.0]), (0, 0, 0), 7)
    assert truth.share_each.tolist() == [0.05, 0.05]
    assert truth.share_union == 0.09  # both crossed the corner cell
    assert truth.first_step[0].tolist() == [3] * 5 + [-1] * 5
    assert truth.first_step[:, 0].tolist() == [3] + [7] * 4 + [-1] * 5
    assert truth.last_step[0, 0] == 7
    assert truth.explored(0).sum() == truth.explored(1).sum() == 5
    assert truth.explored().sum() == 9


def test_only_explorable_cells_count():
    goal = np.zeros((10, 10), bool)
    goal[0, 2:4] = True
    truth = ExploredTruth(Grid(goal, 0.5), 1)
    truth.mark([0], np.array([[0.25, 0.25, 0.0]]), np.array([[9.0]]), np.array([0.0]), (0, 0, 0), 0)
    assert truth.share_union == 1.0
    assert truth.total == 2
    with pytest.raises(InvalidValueError, match="0 explorable cells"):
        ExploredTruth(Grid(np.zeros((3, 3)), 0.5), 1)


@pytest.mark.parametrize("seen_every", [1, 10])
def test_shares_and_steps_are_those_of_the_plain_reference(seen_every):
    rng = np.random.default_rng(8)
    grid = Grid(rng.random((57, 83)) < 0.7, 0.3, (-4.0, 2.0, 0.5))
    truth, mount, angles = ExploredTruth(grid, 3, seen_every), (0.2, 0.1, -0.4), np.sort(rng.uniform(-3, 3, 25))
    each, first, last = [set(), set(), set()], {}, {}
    goal = {(int(r), int(c)) for r, c in np.argwhere(grid.cells)}
    for step in range(60):
        robots = rng.permutation(3)[:2]
        places = grid.to_world(rng.uniform((0, 0), grid.shape, (2, 2)))
        poses = np.column_stack((places, rng.uniform(-3, 3, 2)))
        ranges = rng.uniform(0.1, 9.0, (2, 25))
        ranges[0, 3] = np.nan
        truth.mark(robots, poses, ranges, angles, mount, step)
        for robot, pose, row in zip(robots, poses, ranges, strict=True):
            crossed = set().union(*beams(grid, Pose(*pose) @ Pose(*mount), row, angles)) & goal
            each[robot] |= crossed
            for cell in crossed:
                first.setdefault(cell, step)
                last[cell] = step
    np.testing.assert_allclose(truth.share_each, [len(cells) / len(goal) for cells in each])
    assert truth.share_union == pytest.approx(len(first) / len(goal))
    found = truth.first_step
    assert {(int(r), int(c)): int(found[r, c]) for r, c in np.argwhere(found >= 0)} == first
    if seen_every == 1:
        assert all(truth.last_step[cell] == step for cell, step in last.items())
    assert {tuple(cell) for cell in np.argwhere(truth.explored(1)).tolist()} == each[1]


def beams(grid, sensor, ranges, angles):
    in_grid = Pose(*grid.origin).inverse() @ sensor
    u, v = in_grid.x / grid.resolution, in_grid.y / grid.resolution
    for r, angle in zip(ranges / grid.resolution, angles + in_grid.heading, strict=True):
        if r > 0:
            yield crossed_cells(u, v, u + r * math.cos(angle), v + r * math.sin(angle))


def test_the_heat_map_is_at_most_its_period_old():
    truth = ExploredTruth(Grid(np.ones((4, 40), bool), 1.0), 1, seen_every=10)
    for step in range(100):
        truth.mark(
            [0], np.array([[0.5, 0.5, 0.0]]), np.array([[float(max(40 - step, 1))]]), np.array([0.0]), (0, 0, 0), step
        )
    exact = np.array([99, 99, *(40 - np.arange(2, 40))])
    assert (np.abs(truth.last_step[0] - exact) <= 10).all()


def test_nothing_outside_or_without_number_is_marked():
    truth = ExploredTruth(Grid(np.ones((10, 10), bool), 0.5), 1)
    angles = np.linspace(-3, 3, 9)
    for pose in ([99.0, 99.0, 0.0], [math.nan, 0.0, 0.0]):
        truth.mark([0], np.array([pose]), np.full((1, 9), 2.0), angles, (0, 0, 0), 0)
    truth.mark([0], np.array([[1.0, 1.0, 0.0]]), np.full((1, 9), np.inf), angles, (0, 0, 0), 0)
    assert truth.share_union == 0.0


def test_bodies_cover_the_cells_whose_centres_they_reach():
    grid = Grid(np.ones((50, 70), bool), 0.1, (-2.0, 1.0, 0.3))
    coverage = CoveredCells(grid, 2)
    poses = np.array([[0.5, 3.2, 0.4], [-1.0, 2.0, -1.0]])
    discs = np.array([[[0.1, 0.0, 0.3], [-0.2, 0.05, 0.2]], [[0.0, 0.0, 0.25], [0.0, 0.0, 0.0]]])
    coverage.mark(poses, discs, 4)
    coverage.mark(poses[:1], discs[:1], 9)
    centres = grid.to_world(np.stack(np.indices(grid.shape), axis=-1))
    expected = np.full(grid.shape, -1)
    for robot, step in ((1, 4), (0, 9)):
        for x, y, radius in discs[robot]:
            at = Pose(*poses[robot]) @ (x, y)
            expected[np.linalg.norm(centres - at, axis=-1) <= radius - (radius == 0)] = step
    np.testing.assert_array_equal(coverage.last_step, expected)
    assert coverage.share == (expected >= 0).sum() / 3500


def test_bodies_cover_all_that_they_sweep_on_a_straight_way():
    rng, grid = np.random.default_rng(3), Grid(np.ones((60, 80), bool), 0.1, (-4.0, -3.0, 0.3))
    centres = grid.to_world(np.stack(np.indices(grid.shape), axis=-1))
    for _ in range(100):
        before, after = rng.uniform((-3, -2, -3), (4, 6, 3), (2, 1, 3))
        discs = np.array([[[rng.uniform(-0.3, 0.3), 0.1, rng.uniform(0.05, 0.6)], [0.0, 0.0, rng.uniform(0.0, 0.3)]]])
        coverage, expected = CoveredCells(grid), np.zeros(grid.shape, bool)
        coverage.mark(after, discs, 0, before)
        for x, y, radius in discs[0]:
            a, b = Pose(*before[0]) @ (x, y), Pose(*after[0]) @ (x, y)
            way = np.subtract(b, a)
            share = np.clip((centres - a) @ way / (way @ way), 0.0, 1.0)
            expected |= np.linalg.norm(centres - a - share[..., None] * way, axis=-1) <= radius
        np.testing.assert_array_equal(coverage.last_step >= 0, expected)


def test_bodies_that_come_back_cover_every_cell_they_pass():
    rng, grid = np.random.default_rng(5), Grid(np.ones((90, 150), bool), 0.1)
    centres = grid.to_world(np.stack(np.indices(grid.shape), axis=-1))
    coverage, passed = CoveredCells(grid, 3), np.zeros((3, *grid.shape), bool)
    discs = np.array([[[0.0, 0.0, radius]] for radius in (0.08, 0.4, 1.5)])  # the last: more rows than words are kept
    poses = np.array([[3.0, 4.0, 0.0], [6.3, 4.5, 0.0], [9.5, 5.0, 0.0]])
    for step in range(120):
        poses[:, :2] += rng.normal(0.0, 0.1, (3, 2))
        coverage.mark(poses, discs, step)
        for i, ((x, y, _), radius) in enumerate(zip(poses, discs[:, 0, 2], strict=True)):
            passed[i] |= np.hypot(centres[..., 0] - x, centres[..., 1] - y) <= radius
    np.testing.assert_array_equal(coverage.passed_by, passed.sum(axis=0))
    assert coverage.share == passed.any(axis=0).mean()


def test_many_bodies_of_any_speed_cover_what_they_sweep():
    """More robots than are cut at once, more words than are kept: they stand, drive along an axis, cross or leave."""
    rng, grid, n = np.random.default_rng(7), Grid(np.ones((70, 100), bool), 0.1), 130
    centres = grid.to_world(np.stack(np.indices(grid.shape), axis=-1))
    coverage, passed, last = CoveredCells(grid, n), np.zeros((n, *grid.shape), bool), np.full(grid.shape, -1)
    discs = np.tile([0.0, 0.0, 0.0], (n, 1, 1)) + rng.choice([0.0, 0.04, 0.13, 0.5], (n, 1, 1)) * [0.0, 0.0, 1.0]
    poses = rng.uniform((-1, -1, -3), (11, 8, 3), (n, 3))
    for step in range(3):
        before, way = poses.copy(), rng.normal(0, 1, (n, 2)) * rng.choice([0.0, 0.1, 4.0], (n, 2))
        poses[:, :2] += way
        coverage.mark(poses, discs, step, before)
        for i, radius in enumerate(discs[:, 0, 2]):
            share = np.clip((centres - before[i, :2]) @ way[i] / max(way[i] @ way[i], 1e-300), 0.0, 1.0)
            apart = np.linalg.norm(centres - before[i, :2] - share[..., None] * way[i], axis=-1)
            passed[i] |= (apart <= radius) & (radius > 0)
            last[(apart <= radius) & (radius > 0)] = step
    np.testing.assert_array_equal(coverage.last_step, last)
    np.testing.assert_array_equal(coverage.passed_by, passed.sum(axis=0))
    assert coverage.share == passed.any(axis=0).mean()
    assert passed.any(axis=(1, 2)).sum() > 70


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e19])
def test_a_body_without_a_place_covers_nothing_and_others_cover_as_without_it(wrong):
    """Rows of such a place are the smallest whole number; their count must not go round to the largest one."""
    at, discs = np.array([[3.0, 2.0, 0.0]] * 4), np.tile([[[0.0, 0.0, 0.2]]], (4, 1, 1))
    alone, covered = (CoveredCells(Grid(np.ones((50, 60), np.uint8), 0.1), 4) for _ in range(2))
    alone.mark(at[:1], discs[:1], 0)
    after = at + np.array([[0.0, 0.0, 0.0], [0.0, wrong, 0.0], [wrong, wrong, 0.0], [wrong * np.inf, 0.0, 0.0]])
    for step in range(2):
        covered.mark(after, discs, 0, at if step == 0 else after)
    np.testing.assert_array_equal(covered.last_step, alone.last_step)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_process_that_is_forked_changes_nothing_here():
    cells = small_pages((2, 3, 4), np.uint32)
    child = os.fork()
    if child == 0:
        cells[:] = 7
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert not cells.any()


def test_the_memory_of_coverage_is_that_of_what_robots_cover():
    robots, side = 400, 1024  # 50 MB in all; a robot covers rows of 4 cells, in one or two pages of 4 kB
    process, place = psutil.Process(), (np.arange(robots) % 20)[:, None] * [40.0, 0.0, 0.0] + [20.0, 500.0, 0.0]
    coverage = CoveredCells(Grid(np.ones((side, side), bool), 1.0), robots)
    discs = np.tile([0.0, 0.0, 2.0], (robots, 1, 1))
    coverage.mark(place[:1], discs[:1], 0)
    before = process.memory_info().rss
    coverage.mark(place, discs, 1)
    put_back(*coverage.arrays[3:])
    assert process.memory_info().rss - before < 2 * robots * 4096 + 2**22
    assert coverage.passed_by[500].sum() == 4 * robots  # centres within sqrt(2**2 - 0.5**2) = 1.94 m of the middle


def test_the_memory_of_what_robots_explored_is_that_of_the_rows_that_they_saw():
    robots, side = 400, 1024  # 65 MB in all; a robot sees 22 rows, in two or three pages of 4 kB, which hold 32 rows
    process, place = psutil.Process(), np.tile([500.0, 500.0, 0.0], (robots, 1))
    explored = ExploredTruth(Grid(np.ones((side, side), np.uint8), 1.0), robots)
    angles, ranges = np.linspace(-np.pi, np.pi, 90), np.full((robots, 90), 10.0)
    explored.mark([0], place[:1], ranges[:1], angles, (0.0, 0.0, 0.0), 0)
    before = process.memory_info().rss
    explored.mark(np.arange(robots), place, ranges, angles, (0.0, 0.0, 0.0), 1)
    assert process.memory_info().rss - before < 6 * robots * 4096 + 2**22
    assert explored.share_each == pytest.approx(explored.share_union)
    assert explored.share_union > 0
