"""Algebra of single poses against matrices of homogeneous coordinates, and NumPy's linear algebra."""

import numpy as np

from covey.mapping.slam.one_pose import between, carried, composed, ends_of, inverted, lower_factor, turned


def matrix(pose):
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0.0, 0.0, 1.0]])


def random_covariance(generator):
    a = generator.normal(size=(3, 3))
    return a @ a.T + np.eye(3)


def test_poses_are_chained_as_matrices_are():
    generator = np.random.default_rng(1)
    for _ in range(20):
        a, b = generator.uniform(-3.0, 3.0, (2, 3))
        np.testing.assert_allclose(matrix(composed(a, b)), matrix(a) @ matrix(b), atol=1e-12)
        np.testing.assert_allclose(matrix(between(a, b)), np.linalg.inv(matrix(a)) @ matrix(b), atol=1e-12)
        assert -np.pi <= composed(a, b)[2] < np.pi
        assert -np.pi <= between(a, b)[2] < np.pi


def test_the_inverse_is_that_of_linear_algebra():
    m = random_covariance(np.random.default_rng(2))
    np.testing.assert_allclose(inverted(m), np.linalg.inv(m), rtol=1e-10)


def test_a_covariance_is_turned_by_the_rotation_on_both_sides():
    m, heading = random_covariance(np.random.default_rng(3)), 0.7
    rotation = matrix((0.0, 0.0, heading))
    np.testing.assert_allclose(turned(m, heading), rotation.T @ m @ rotation, atol=1e-12)


def test_a_covariance_is_carried_by_the_derivatives_of_the_composition():
    """The derivatives of first * motion are taken by central differences."""
    generator = np.random.default_rng(4)
    first, motion = generator.uniform(-1.0, 1.0, (2, 3))
    covariance, information = random_covariance(generator), random_covariance(generator)
    step = 1e-6 * np.eye(3)
    by_first = np.column_stack([(composed(first + h, motion) - composed(first - h, motion)) / 2e-6 for h in step])
    by_motion = np.column_stack([(composed(first, motion + h) - composed(first, motion - h)) / 2e-6 for h in step])
    expected = by_first @ covariance @ by_first.T + by_motion @ np.linalg.inv(information) @ by_motion.T
    found = carried(covariance, first, composed(first, motion), information)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_only_beams_that_return_from_near_have_ends():
    ranges = np.array([1.0, np.inf, np.nan, 5.0, 0.0, 2.0])
    beams = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, -1.0]])
    points = np.zeros((6, 2))
    assert ends_of(ranges, beams, 0.5, 0.25, 5.0, points) == 2
    np.testing.assert_array_equal(points[:2], [[1.5, 0.25], [0.5, -1.75]])


def test_the_factor_is_that_of_linear_algebra():
    m = random_covariance(np.random.default_rng(5))
    np.testing.assert_allclose(lower_factor(m), np.linalg.cholesky(m)[np.tril_indices(3)], rtol=1e-12)
