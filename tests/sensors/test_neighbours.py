"""Range and bearing of other robots."""

import math

import numpy as np
import pytest
from tests.references.sensors import neighbours_reference

from covey.sensors import Neighbours, sensor_keys


def test_the_same_neighbours_as_a_plain_search(make_truth):
    random = np.random.default_rng(3)
    solid = random.random((80, 80)) < 0.03
    pose = np.column_stack((random.uniform(0.2, 7.8, (60, 2)), random.uniform(-4, 4, 60)))
    truth = make_truth(pose, solid, identity=np.arange(100, 160))
    keys = sensor_keys(2, "neighbours", [f"r{i}" for i in range(60)])
    members = np.array([5, 59, 0, 17])
    for sensor in (
        Neighbours(range_m=3.0, heading=True, range_sigma_m=0.1, bearing_sigma_deg=2),
        Neighbours(range_m=5.0, line_of_sight=False, identity=False, max_count=6),
    ):
        readings = sensor.read(truth, members, keys[members], 4)
        for i, own in enumerate(members):
            expected = neighbours_reference(truth, own, keys[own], 4, sensor)
            row = readings.row(i)
            assert len(row) == len(expected) > 0
            got = np.column_stack((row.ranges, row.bearings, row.identities, row.headings))
            np.testing.assert_allclose(got, np.array(expected), rtol=0, atol=1e-9)


def test_range_bearing_identity_and_heading_by_hand(make_truth):
    truth = make_truth([[1, 1, math.pi / 2], [1, 3, math.pi], [0, 1, 0], [9, 9, 0]])
    keys = np.zeros(1, np.uint64)
    row = Neighbours(range_m=3.0, heading=True).read(truth, np.array([0]), keys, 0).row(0)
    assert row.any()
    np.testing.assert_allclose(row.ranges, [1.0, 2.0])
    np.testing.assert_allclose(row.bearings, [math.pi / 2, 0.0], atol=1e-12)
    assert row.identities.tolist() == [2, 1]
    np.testing.assert_allclose(row.headings, [-math.pi / 2, math.pi / 2])
    np.testing.assert_allclose(row.points(), [[0, 1], [2, 0]], atol=1e-12)
    anonymous = Neighbours(range_m=3.0, identity=False).read(truth, np.array([0]), keys, 0).row(0)
    assert anonymous.identities.tolist() == [-1, -1]
    assert np.isnan(anonymous.headings).all()


def test_a_wall_hides_robots_from_each_other_unless_sight_is_not_needed(make_truth):
    solid = np.zeros((40, 40), bool)
    solid[:, 20] = True
    truth = make_truth([[1.05, 1.05, 0], [3.05, 1.05, 0]], solid)
    keys, members = np.zeros(2, np.uint64), np.arange(2)
    assert Neighbours().read(truth, members, keys, 0).count.tolist() == [0, 0]
    assert Neighbours(line_of_sight=False).read(truth, members, keys, 0).count.tolist() == [1, 1]


def test_the_nearest_are_kept_and_equals_are_ordered_by_index(make_truth):
    angles = np.arange(8) * math.pi / 4
    ring = np.column_stack((5 + 2 * np.round(np.cos(angles), 9), 5 + 2 * np.round(np.sin(angles), 9), 0 * angles))
    truth = make_truth(np.vstack(([[5, 5, 0], [5, 6, 0]], ring[::2])))
    row = Neighbours(max_count=3).read(truth, np.array([0]), np.zeros(1, np.uint64), 0).row(0)
    assert row.identities.tolist() == [1, 2, 3]


def test_alone_nobody_is_there(make_truth):
    row = Neighbours().read(make_truth([[5, 5, 0]]), np.array([0]), np.zeros(1, np.uint64), 0).row(0)
    assert len(row) == 0
    assert not row.any()
    assert row.points().shape == (0, 2)


def test_the_noise_of_a_neighbour_stays_when_another_robot_comes(make_truth):
    sensor = Neighbours(range_sigma_m=0.05, bearing_sigma_deg=3)
    keys = sensor_keys(1, "neighbours", ["a"])
    two = sensor.read(make_truth([[5, 5, 0], [7, 5, 0]]), np.array([0]), keys, 0).row(0)
    three = sensor.read(make_truth([[5, 5, 0], [7, 5, 0], [5, 6, 1]]), np.array([0]), keys, 0).row(0)
    assert three.identities.tolist() == [2, 1]
    assert (three.ranges[1], three.bearings[1]) == (two.ranges[0], two.bearings[0])
    assert two.ranges[0] != pytest.approx(2.0, abs=1e-6)
