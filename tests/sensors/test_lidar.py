"""Noise, dropout, limits and repeatability of the lidar."""

import hashlib
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats
from tests.references.sensors import measure_reference

from covey.sensors import Lidar, sensor_keys


def box(side=100):
    """A closed room of 10 x 10 m at 0.1 m."""
    solid = np.zeros((side, side), bool)
    solid[[0, -1]] = solid[:, [0, -1]] = True
    return solid


def poses(n, seed=0):
    random = np.random.default_rng(seed)
    return np.column_stack((random.uniform(1, 9, (n, 2)), random.uniform(-3, 3, n)))


def test_measured_values_agree_with_the_numpy_reference(make_truth):
    truth = make_truth(poses(6), box())
    keys = sensor_keys(3, "lidar", [f"r{i}" for i in range(6)])
    for rays in (1, 31, 32):
        sensor = Lidar(rays=rays, range_m=6.0, sigma_m=0.2, dropout=0.1, outliers=0.05, min_range_m=1.0)
        got = sensor.read(truth, np.arange(6), keys, 5)
        expected = measure_reference(got.truth, keys, 5, (0.2, 0.1, 0.05), 1.0, 6.0)
        np.testing.assert_allclose(got.ranges, expected, rtol=0, atol=1e-12)


def test_noise_is_normal_with_the_declared_deviation_and_independent_between_rays(make_truth):
    truth = make_truth(poses(200), box())
    keys = sensor_keys(1, "lidar", [f"r{i}" for i in range(200)])
    reading = Lidar(rays=100, range_m=50.0, sigma_m=0.03, sees_robots=False).read(truth, np.arange(200), keys, 0)
    error = (reading.ranges - reading.truth) / 0.03
    assert stats.kstest(error.ravel(), "norm").pvalue > 1e-3
    correlation = np.corrcoef(error.T)[np.triu_indices(100, 1)]
    assert np.abs(correlation).max() < 5 / math.sqrt(200)


def test_dropout_loses_the_declared_share_of_the_rays(make_truth):
    truth = make_truth(poses(100), box())
    keys = sensor_keys(1, "lidar", [f"r{i}" for i in range(100)])
    for dropout in (0.0, 0.2, 1.0):
        ranges = Lidar(rays=200, range_m=50.0, dropout=dropout).read(truth, np.arange(100), keys, 0).ranges
        share = np.isnan(ranges).mean()
        assert share == pytest.approx(dropout, abs=5 * math.sqrt(dropout * (1 - dropout) / 20_000))


def test_nothing_within_range_reads_inf_and_too_near_reads_the_minimum(make_truth):
    truth = make_truth([[5.0, 5.0, 0.0], [0.25, 5.0, math.pi]], box())
    reading = Lidar(rays=1, range_m=4.0, min_range_m=0.5).read(truth, np.arange(2), np.zeros(2, np.uint64), 0)
    assert reading.ranges.tolist() == [[math.inf], [0.5]]
    assert reading.truth[0, 0] == 4.0
    assert reading.truth[1, 0] == pytest.approx(0.15)


def test_the_mount_moves_and_turns_the_fan(make_truth):
    truth = make_truth([[5.0, 5.0, 0.0]], box())
    sensor = Lidar(rays=1, range_m=9.0, mount_x_m=1.0, mount_y_m=0.5, mount_heading_deg=90)
    reading = sensor.read(truth, np.array([0]), np.zeros(1, np.uint64), 0).row(0)
    assert reading.ranges[0] == pytest.approx(9.9 - 5.5)
    np.testing.assert_allclose(reading.points(), [[1.0, 4.9]], atol=1e-9)


def test_noise_does_not_depend_on_who_else_is_there_or_in_which_order_they_are_read(make_truth):
    place = poses(5)
    sensor = Lidar(rays=40, range_m=20.0, sigma_m=0.05, dropout=0.1, sees_robots=False)
    names = ["a", "b", "c", "d", "e"]
    all_five = sensor.read(make_truth(place, box()), np.arange(5), sensor_keys(9, "front", names), 7).ranges
    order = np.array([4, 1, 0])
    some = sensor.read(make_truth(place, box()), order, sensor_keys(9, "front", [names[i] for i in order]), 7).ranges
    np.testing.assert_array_equal(some, all_five[order])
    alone = sensor.read(make_truth(place[1:2], box()), np.array([0]), sensor_keys(9, "front", ["b"]), 7).ranges
    np.testing.assert_array_equal(alone[0], all_five[1])
    other_sensor = sensor.read(make_truth(place, box()), np.arange(5), sensor_keys(9, "rear", names), 7).ranges
    assert not np.any((other_sensor == all_five) & np.isfinite(all_five))


SCRIPT = """
import hashlib, numpy as np
from covey.geometry import Grid
from covey.geometry.raycast import skip_field
from covey.sensors import Truth, sick_lms500, sensor_keys
solid = np.zeros((50, 50), bool); solid[[0, -1]] = solid[:, [0, -1]] = True
pose = np.array([[1.0, 1.0, 0.3], [3.0, 2.0, -1.0], [2.2, 4.1, 2.0]])
truth = Truth(skip_field(solid), Grid(solid, 0.1).frame, pose, pose, pose * 0, np.full((3, 1, 3), 0.1),
              np.ones(3, int), np.empty((0, 3)), (0, 0), np.arange(3), 0.1)
got = sick_lms500().read(truth, np.arange(3), sensor_keys(4, "lidar", ["a", "b", "c"]), 11)
digest = hashlib.sha256(got.ranges.tobytes()).hexdigest()
"""


@pytest.mark.slow
def test_another_process_with_another_hash_seed_reads_the_same_bytes():
    here: dict = {}
    exec(SCRIPT, here)
    assert len(here["digest"]) == 2 * hashlib.sha256().digest_size
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    command = [sys.executable, "-c", SCRIPT + "print(digest)"]
    there = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == here["digest"]


def test_a_row_shares_no_memory_with_the_batch(make_truth):
    readings = Lidar(rays=8).read(make_truth(poses(2), box()), np.arange(2), np.zeros(2, np.uint64), 0)
    row = readings.row(1)
    assert all(a.base is None and a.flags.writeable for a in (row.ranges, row.mount))
    row.ranges[:] = -1
    assert readings.ranges.min() >= 0
    with pytest.raises(ValueError, match="WRITEABLE"):  # the same for all robots and scans
        row.angles.flags.writeable = True


def test_outliers_are_as_often_as_said_and_anywhere_in_the_range(make_truth):
    n, share = 200, 0.1
    sensor = Lidar(rays=200, range_m=8.0, min_range_m=2.0, outliers=share, sees_robots=False)
    got = sensor.read(
        make_truth(np.tile([5.0, 5.0, 0.0], (n, 1)), box()), np.arange(n), np.arange(n).astype(np.uint64), 3
    )
    strange = got.ranges[got.ranges != np.where(got.truth >= 8.0, np.inf, got.truth)]
    rays = n * 200
    assert strange.size == pytest.approx(share * rays, abs=4 * math.sqrt(share * (1 - share) * rays))
    assert stats.kstest(strange, "uniform", (2.0, 6.0)).pvalue > 1e-3
