"""Returns from team mates stay out of the map."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.references.mapping import hide_team_mates_reference

from covey.geometry import Pose
from covey.mapping.occupancy.team_mates import hide_team_mates, seen_from


def test_only_the_returns_on_the_team_mate_go():
    angles = np.linspace(-1.5, 1.5, 301)
    ranges = np.full((1, 301), 5.0)
    near = np.abs(angles) < 0.1
    ranges[0, near] = 1.8  # a body of radius 0.2 around (2, 0)
    hide_team_mates(ranges, angles, np.zeros(3), np.array([1]), np.array([[2.0]]), np.array([[0.0]]), np.array([0.3]))
    assert np.isnan(ranges[0, near]).all()
    assert (ranges[0, ~near] == 5.0).all()


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_kernel_agrees_with_numpy(seed):
    rng = np.random.default_rng(seed)
    m, rays, width = 3, 90, 4
    ranges = np.where(rng.random((m, rays)) < 0.1, np.inf, rng.uniform(0.1, 4.0, (m, rays)))
    angles = np.linspace(-np.pi, np.pi, rays, endpoint=False)
    mount = np.array([rng.normal(0, 0.2), rng.normal(0, 0.2), rng.normal()])
    count = rng.integers(0, width + 1, m)
    away, bearings = rng.uniform(0.3, 4.0, (m, width)), rng.uniform(-np.pi, np.pi, (m, width))
    radius = rng.uniform(0.1, 1.0, m)
    expected = hide_team_mates_reference(ranges, angles, mount, count, away, bearings, radius)
    hide_team_mates(ranges, angles, mount, count, away, bearings, radius)
    np.testing.assert_array_equal(np.isnan(ranges), np.isnan(expected))


def test_a_robot_that_has_turned_sees_mates_elsewhere():
    rng = np.random.default_rng(1)
    moved = rng.uniform(-2, 2, (3, 3))
    away, bearings = rng.uniform(0.3, 4.0, (3, 2)), rng.uniform(-np.pi, np.pi, (3, 2))
    away[2, 1] = np.inf  # an unused place
    found = np.stack(seen_from(moved, away, bearings), axis=-1)
    for i, k in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0)):
        x, y = Pose(*moved[i]) @ (away[i, k] * np.cos(bearings[i, k]), away[i, k] * np.sin(bearings[i, k]))
        np.testing.assert_allclose(found[i, k], [np.hypot(x, y), np.arctan2(y, x)])
