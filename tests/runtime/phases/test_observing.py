"""What follows from a step: the smallest distance between two robots, the energy, the estimates at its end."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from tests.references.runtime import carry_reference

from covey.runtime.phases.observing import closest, measured


@pytest.mark.parametrize("count", [2, 3, 40, 400])
def test_the_smallest_distance_is_that_of_scipy_while_robots_move(count):
    rng, order, pair = np.random.default_rng(count), np.arange(count), np.arange(2)
    pose = rng.uniform(-5, 5, (count, 3))
    for step in range(50):
        pose[:, :2] += rng.normal(0, 1.0, (count, 2))
        if step % 10 == 5:
            pose[rng.integers(count), 0] = pose[0, 0]  # on a line, or in the same place
        nearest = closest(pose, order, pair)
        assert nearest == pytest.approx(pdist(pose[:, :2]).min(), abs=1e-12)
        assert np.hypot(*(pose[pair[0], :2] - pose[pair[1], :2])) == pytest.approx(nearest, abs=1e-12)
        assert (np.diff(pose[order, 0]) >= 0).all()


def test_two_robots_on_a_line_through_rounded_places_are_found_again():
    rng, pair = np.random.default_rng(1), np.arange(2)
    for _ in range(500):
        pose = np.zeros((2, 3))
        pose[:, rng.integers(2)] = rng.uniform(-100, 100, 2)
        for order in (np.arange(2), np.arange(2)[::-1].copy()):
            assert closest(pose, order, pair) == np.abs(pose[0] - pose[1]).max()


def test_one_robot_is_near_nobody():
    assert math.isnan(closest(np.zeros((1, 3)), np.arange(1), np.arange(2)))
    assert closest(np.zeros((2, 3)), np.arange(2), np.arange(2)) == 0.0


def test_energy_is_idle_power_times_time_and_drive_energy_times_distance():
    energy, (before, pose, estimate) = np.full(3, -1.0), np.random.default_rng(1).uniform(-3, 3, (3, 3, 3))
    carried, places = np.empty((3, 3)), (np.arange(3), np.arange(2))
    drive_j_m, idle_w, way_m = np.array([5.0, 5.0, 0.0]), np.array([1.0, 0.5, 2.0]), np.array([0.0, 2.0, 3.0])
    nearest = measured(pose, carried, drive_j_m, way_m, idle_w, energy, before, estimate, *places, 4.0)
    assert energy.tolist() == [4.0, 12.0, 8.0]
    assert nearest == pytest.approx(pdist(pose[:, :2]).min(), abs=1e-12)
    np.testing.assert_allclose(carried, carry_reference(estimate, before, pose), atol=1e-12)
