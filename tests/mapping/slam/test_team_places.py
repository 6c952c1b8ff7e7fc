"""What a scan looked through and what it hit, by hand; which key frames are compared."""

import numpy as np
import pytest

from covey.mapping.slam.log import relative
from covey.mapping.slam.team_places import _side_by_side, through_and_on


def matrix(pose):
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("motion", [(0.0, 0.0, 0.0), (1.0, -2.0, 0.5 * np.pi)])
def test_a_scan_looks_through_what_is_nearer_than_its_returns_and_hits_what_is_on_them(motion):
    """Returns all around on a half circle of 5 m ahead of a lidar at (0.2, 0); nothing is known behind it."""
    mount, bearing = np.array([0.2, 0.0]), np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2001)
    returns = mount + 5.0 * np.column_stack((np.cos(bearing), np.sin(bearing)))
    # nearer (2), on the returns (1), farther (1), and behind the lidar (2)
    seen = np.array([(3.2, 0.0), (1.6, 1.4), (5.2, 0.0), (9.2, 0.0), (-2.0, 0.0), (-4.8, 0.0)])
    x, y, turn = motion
    back = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    points = (seen - (x, y)) @ back  # in the frame whose pose is the motion
    assert through_and_on(points, returns, np.array(motion), mount) == (2, 1)


def test_key_frames_are_paired_with_the_nearest_as_the_nearest_relation_says():
    """Against NumPy's distances from where matrices of homogeneous coordinates put the key frame."""
    generator = np.random.default_rng(3)
    steps = generator.normal(size=(2, 150, 3)) * (0.3, 0.3, 0.1)
    (first, second), ends = np.cumsum(steps, axis=1), generator.integers(0, 150, (8, 2))
    motion = relative(first[ends[:, 0]], second[ends[:, 1]]) + generator.normal(size=(8, 3)) * 0.1
    rows, motions = _side_by_side(first, second, ends, motion)
    assert len(rows) > 20
    for (i, k), there in zip(rows, motions, strict=True):
        x = np.argmin(np.abs(ends[:, 0] - i))
        over = np.linalg.inv(matrix(motion[x])) @ np.linalg.inv(matrix(first[ends[x, 0]])) @ matrix(first[i])
        here = matrix(second[ends[x, 1]]) @ over
        near = np.arange(max(0, ends[x, 1] - 60), min(150, ends[x, 1] + 61))
        away = np.hypot(*(second[near, :2] - here[:2, 2]).T)
        assert k == near[np.argmin(away)]
        assert away.min() < 4.0
        np.testing.assert_allclose(matrix(there), np.linalg.inv(matrix(second[k])) @ here, atol=1e-9)
