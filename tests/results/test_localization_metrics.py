"""Metrics of localization, worked by hand: one robot drives along a line, and its wheels count a tenth too much."""

import math

import numpy as np
import pytest
from scipy import ndimage

from covey.geometry.grid import Grid
from covey.mapping.occupancy.compare import ground_truth, wall_distance, wall_iou
from covey.mapping.slam.scores import true_relations
from covey.results.metrics import metrics


class Driven:
    """What the metrics read of a run."""

    def __init__(self, poses, estimates, names=("a", "b"), times=None):
        self.poses, self.estimates, self.names = poses, estimates, names
        self.manifest = {}
        self.pose_times = np.arange(1, len(poses) + 1) / 10 if times is None else times

    def has(self, _table):
        return False

    def ways(self, robots):
        return self.poses[:, robots], self.estimates[:, robots]

    def pose_blocks(self):
        half = len(self.poses) // 2
        return iter(((self.poses[:half], self.estimates[:half]), (self.poses[half:], self.estimates[half:])))


def line(metres=10.0, steps=101):
    x = np.linspace(0.0, metres, steps)
    return np.column_stack((x, np.zeros(steps), np.zeros(steps)))


def of(name, run):
    return metrics.get(name)(run)


@pytest.fixture
def run():
    """Two robots drive 10 m in 10 s; a estimates 11 m, b knows the truth."""
    truth = np.stack((line(), line()), axis=1)
    found = truth.copy()
    found[:, 0, 0] *= 1.1
    return Driven(truth, found)


def test_errors_of_a_line_that_is_a_tenth_too_long(run):
    spread = np.sqrt(np.mean(np.square(0.1 * (line()[:, 0] - 5.0))))
    expected = {
        "displacement_error_m": 0.1,
        "displacement_error_sd_m": 0.0,
        "displacement_error_m2": 0.01,
        "displacement_error_deg": 0.0,
        "displacement_error_by_robot_m": {"a": 0.1},
        "ate_m": spread,
        "ate_by_robot_m": {"a": spread},
        "rpe_m": 0.1,
        "rpe_deg": 0.0,
        "position_error_m": 0.25,  # half of a's 0.5 m
        "position_error_max_m": 1.0,
        "position_error_end_m": 1.0,
    }
    found = {name: of(name, run) for name in expected}
    assert found == {
        name: {k: pytest.approx(v, abs=1e-9) for k, v in value.items()}
        if isinstance(value, dict)
        else pytest.approx(value, abs=1e-9)
        for name, value in expected.items()
    }


def test_turns_count_in_degrees():
    truth = np.stack((line(), line()), axis=1)
    found = truth.copy()
    found[:, 0, 2] += np.radians(3.0) * truth[:, 0, 0]  # 3 degrees for each metre
    run = Driven(truth, found)
    assert of("displacement_error_deg", run) == pytest.approx(3.0)
    assert of("displacement_error_deg2", run) == pytest.approx(9.0)
    assert of("rpe_deg", run) == pytest.approx(3.0)


def test_robots_that_knew_their_true_poses_have_no_values(run):
    known = Driven(run.poses, run.poses.copy())
    known.poses[5, 0, 2], known.estimates[5, 0, 2] = np.pi, -np.pi  # the same heading
    names = [n for n in metrics.names() if metrics.get(n).__module__.endswith(".localization")]
    values = {name: of(name, known) for name in names}
    assert values.pop("position_error_m") == 0.0
    assert len(values) >= 13
    assert set(values.values()) == {None}


def test_a_robot_that_stood_still_has_no_places():
    truth = np.zeros((30, 1, 3))
    run = Driven(truth, truth + np.array([0.3, 0.4, 0.0]), names=("a",))
    assert of("displacement_error_m", run) is None
    assert of("position_error_end_m", run) == pytest.approx(0.5)
    assert of("ate_m", run) == pytest.approx(0.0, abs=1e-12)
    assert of("rpe_m", Driven(truth[:5], run.estimates[:5], names=("a",))) is None  # shorter than 1 s


def test_a_way_that_ends_a_hair_before_a_whole_metre_has_its_place():
    along = np.append(np.linspace(0.0, 4.5, 10), 5.0 - 1e-12)
    truth = np.column_stack((along, np.zeros((11, 2))))
    relations = true_relations(truth)
    np.testing.assert_array_equal(relations.second, [2, 4, 6, 8, 10])


def test_relations_of_a_way_there_and_back():
    x = np.concatenate((np.arange(0.0, 20.0, 0.25), np.arange(20.0, -0.01, -0.25)))
    truth = np.column_stack((x, np.zeros(len(x)), np.where(np.arange(len(x)) <= 80, 0.0, math.pi)))
    relations = true_relations(truth)
    # 40 from place to place; back at 15 m … 0 m the same places were left 10 m before or more, and at 16 m that at 14 m.
    assert len(relations) == 40 + 16 + 1
    returns = relations[np.arange(40, 57)]
    gap = np.abs(x[returns.first] - x[returns.second])
    assert sorted(gap.tolist()) == [0.0] * 16 + [2.0]
    np.testing.assert_allclose(np.abs(returns.motion[:, 2]), math.pi)


def room():
    """Return walls and free cells of a room of 8 x 8 cells of 1 m within walls of one cell."""
    wall = np.ones((10, 10), bool)
    wall[1:-1, 1:-1] = False
    return Grid(wall, 1.0), Grid(~wall, 1.0)


def test_iou_counts_walls_that_are_mapped_and_true():
    wall, free = room()
    occupancy = np.where(wall.cells, 100, 0).astype(np.int8)
    truth = ground_truth(wall, free, wall.with_cells(occupancy))
    assert wall_iou(occupancy, truth) == 1.0  # corners are beside no free cell, and are not compared
    occupancy[0, 1:9] = 0  # 8 of 32 walls are missing
    assert wall_iou(occupancy, truth) == pytest.approx(24 / 32)
    occupancy[4, 1:5] = 100  # 4 that are none
    assert wall_iou(occupancy, truth) == pytest.approx(24 / 36)


@pytest.mark.parametrize(("shape", "share"), [((60, 40), 0.001), ((30, 80), 0.1), ((1, 9), 0.2), ((9, 1), 0.2)])
def test_distance_of_walls_is_that_of_an_exact_distance_transform(shape, share):
    rng = np.random.default_rng(1)
    wall, mapped = rng.random(shape) < share, np.where(rng.random(shape) < 0.5, 100, 0).astype(np.int8)
    wall.flat[rng.integers(wall.size)] = True
    far = ndimage.distance_transform_edt(~wall)[mapped == 100]
    assert wall_distance(Grid(mapped, 1.0), Grid(wall, 1.0)) == far.mean()


def test_distance_of_mapped_walls_from_true_ones():
    wall, _ = room()
    shifted = np.full((10, 10), -1, np.int8)
    shifted[3, 1:9] = 100  # 3 m from the wall in row 0, but 1 m and 2 m from those at the ends
    assert wall_distance(wall.with_cells(shifted), wall) == pytest.approx((1 + 2 + 3 + 3 + 3 + 3 + 2 + 1) / 8)
    outside = Grid(np.full((1, 1), 100, np.int8), 1.0, (4.0, -3.0, 0.0))
    assert wall_distance(outside, wall) == pytest.approx(3.0)
    assert wall_distance(wall.with_cells(np.zeros((10, 10), np.int8)), wall) is None
