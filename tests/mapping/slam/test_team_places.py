"""Which key frames of two robots are compared."""

import numpy as np

from covey.mapping.slam.log import relative
from covey.mapping.slam.team_places import _side_by_side


def matrix(pose):
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0.0, 0.0, 1.0]])


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
