"""The buckets of bodies."""

import numpy as np
import pytest

from covey.sensors.truth import bucket_window

LAYOUTS = {
    "one": np.zeros((1, 2)),
    "all in one place": np.zeros((7, 2)),
    "on a line": np.column_stack((np.linspace(-50, 50, 40), np.zeros(40))),
    "on a diagonal": np.linspace(-50, 50, 40)[:, None].repeat(2, axis=1),
    "spread": np.random.default_rng(0).uniform(-30, 30, (200, 2)),
    "a cluster and one far away": np.vstack((np.random.default_rng(1).normal(0, 0.1, (50, 2)), [[1e5, 1e5]])),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_window_holds_every_robot_within_its_radius(make_truth, layout):
    place = LAYOUTS[layout]
    n = len(place)
    bodies = make_truth(np.column_stack((place, np.zeros(n)))).bodies
    assert sorted(bodies.robots.tolist()) == list(range(n))
    assert bodies.shape.prod() <= 3 * n + 1
    random = np.random.default_rng(2)
    for centre in np.vstack((place[:20], random.uniform(-80, 80, (20, 2)))):
        radius = random.uniform(0, 40)
        row0, row1, column0, column1 = bucket_window(bodies, 0, *centre, radius)
        found = set()
        for row in range(row0, row1 + 1):
            b = row * bodies.shape[1]
            found |= set(bodies.robots[bodies.start[b + column0] : bodies.start[b + column1 + 1]].tolist())
        assert found >= set(np.flatnonzero(np.hypot(*(place - centre).T) <= radius).tolist())


def test_discs_turn_with_their_robot(make_truth):
    truth = make_truth([[1.0, 2.0, np.pi / 2]], discs=[[0.3, 0.1, 0.2], [-0.4, 0.0, 0.1]])
    np.testing.assert_allclose(truth.bodies.discs[0], [[0.9, 2.3, 0.2], [1.0, 1.6, 0.1]], atol=1e-12)
    assert truth.bodies.place[3] == pytest.approx(max(np.hypot(0.3, 0.1) + 0.2, 0.5))
