"""The proximity ring."""

import math

import numpy as np
import pytest
from scipy.stats import kstest

from covey.sensors import Proximity

KEYS = np.zeros(1, np.uint64)


def read(truth, **fields):
    return Proximity(**fields).read(truth, np.array([0]), KEYS, 0).row(0)


def test_sectors_go_counter_clockwise_from_straight_ahead(make_truth):
    truth = make_truth([[5, 5, 0.4], [5 + math.cos(0.4 + math.pi / 2), 5 + math.sin(0.4 + math.pi / 2), 0]])
    reading = read(truth, sectors=4, range_m=2.0)
    assert reading.presence.tolist() == [False, True, False, False]
    assert reading[1] is True
    assert reading[0] is False
    assert reading.any()
    assert len(reading) == 4
    np.testing.assert_allclose(reading.ranges, [math.inf, 0.8, math.inf, math.inf])
    np.testing.assert_allclose(reading.angles, [0, math.pi / 2, -math.pi, -math.pi / 2])


def test_more_rays_find_what_stands_between_two_single_rays(make_truth):
    away = math.radians(15)
    truth = make_truth([[0, 0, 0], [2 * math.cos(away), 2 * math.sin(away), 0]], radius=0.2)
    assert not read(truth, sectors=8, range_m=3.0).any()
    reading = read(truth, sectors=8, range_m=3.0, rays_per_sector=9)  # a ray each 5 degrees, -20 ... 20 in sector 0
    assert reading.presence.tolist() == [True] + 7 * [False]
    assert reading.ranges[0] == pytest.approx(1.8)


def test_ranges_start_at_the_ring(make_truth):
    solid = np.zeros((100, 100), bool)
    solid[:, 70] = True
    truth = make_truth([[5.05, 5.05, 0]], solid)
    assert read(truth, sectors=1, range_m=2.0, ring_radius_m=0.3).ranges[0] == pytest.approx(1.65)
    assert not read(truth, sectors=1, range_m=1.64, ring_radius_m=0.3).any()
    assert read(truth, sectors=1, range_m=1.66, ring_radius_m=0.3).any()


def test_blind_to_robots_when_asked(make_truth):
    truth = make_truth([[5, 5, 0], [6, 5, 0]])
    assert read(truth, sectors=1, range_m=2.0)[0]
    assert not read(truth, sectors=1, range_m=2.0, sees_robots=False)[0]


def test_a_row_shares_no_memory_with_the_batch(make_truth):
    row = read(make_truth([[5, 5, 0]]))
    assert all(a.base is None and a.flags.writeable for a in (row.presence, row.ranges))
    assert isinstance(row.angles.base.base, bytes)  # nobody can write it
    assert not row.angles.flags.writeable  # the same for all robots


def test_a_ring_errs_as_it_is_told(make_truth):
    """They stand 1.5 m from a wall ahead and far from all else."""
    n = 2000
    solid = np.zeros((200, 100), bool)
    solid[:, 60] = True
    truth = make_truth(np.tile([4.5, 10.0, 0.0], (n, 1)), solid)
    keys, members = np.arange(n).astype(np.uint64), np.arange(n)

    def ahead(**errors):
        reading = Proximity(sectors=4, range_m=3.0, sees_robots=False, **errors).read(truth, members, keys, 7)
        assert (reading.presence == np.isfinite(reading.ranges)).all()
        return reading.ranges[:, 0]

    assert ahead() == pytest.approx(1.5)
    noisy = ahead(sigma_m=0.1)
    assert noisy.mean() == pytest.approx(1.5, abs=4 * 0.1 / math.sqrt(n))
    assert noisy.std() == pytest.approx(0.1, rel=0.07)
    assert np.isinf(ahead(dropout=0.2)).mean() == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / n))
    strange = ahead(outliers=0.3)
    strange = strange[np.abs(strange - 1.5) > 1e-9]
    assert strange.size / n == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / n))
    assert kstest(strange, "uniform", (0.0, 3.0)).pvalue > 1e-3
