"""Shadowing along the way of a robot: Gudmundson's correlation, over many seeds."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.references.comms import shadows_reference

from covey.comms.links.shadowing import shadows

SEEDS, D = 1500, 20.0


def along(moves_a, moves_b=0.0):
    """Shadowing of a link of 100 m in many worlds, before and after its ends moved."""
    x = np.array([0.0, moves_a]), np.array([100.0, 100.0 + moves_b])
    zero = np.zeros(2)
    return np.array([shadows(1000 + k, D, x[0], zero, x[1], zero) for k in range(SEEDS)]).T


@pytest.mark.parametrize(
    ("moves_a", "moves_b", "expected"),
    [(10.0, 0.0, math.exp(-0.5)), (20.0, 0.0, math.exp(-1.0)), (0.0, 10.0, math.exp(-0.5)), (10.0, 10.0, math.exp(-1))],
)
def test_the_correlation_falls_exponentially_with_the_way_of_either_end(moves_a, moves_b, expected):
    before, after = along(moves_a, moves_b)
    assert np.corrcoef(before, after)[0, 1] == pytest.approx(expected, abs=4 / math.sqrt(SEEDS))


def test_it_is_standard_normal_over_worlds_also_between_near_robots():
    far, near = (
        along(1.0)[0],
        np.array([shadows(k, D, *np.array([[0.0], [0.0], [3.0], [0.0]]))[0] for k in range(SEEDS)]),
    )
    for values in (far, near):
        assert stats.kstest(values, "norm").pvalue > 1e-3


def test_it_agrees_with_the_plain_reference_and_is_the_same_in_both_directions():
    random = np.random.default_rng(0)
    xa, ya, xb, yb = random.uniform(-50, 50, (4, 30))
    there = shadows(7, D, xa, ya, xb, yb)
    np.testing.assert_allclose(there, shadows_reference(7, D, xa, ya, xb, yb), atol=1e-10)
    np.testing.assert_allclose(there, shadows(7, D, xb, yb, xa, ya), atol=1e-10)
