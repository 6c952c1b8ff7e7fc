"""Sparse Cholesky factor, against dense algebra."""

import numpy as np
import pytest

from covey.mapping.slam.block_cholesky import factorise, find_pattern


def matrix(n, pairs, rng):
    """Return a random positive definite matrix (3n, 3n) with blocks at the pairs."""
    dense = np.zeros((3 * n, 3 * n))
    for a, b in pairs:
        dense[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] = rng.normal(size=(3, 3))
    dense += dense.T
    for k in range(n):
        half = rng.normal(size=(3, 3))
        dense[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = half @ half.T
    return dense + (0.5 - min(0.0, np.linalg.eigvalsh(dense)[0])) * np.eye(3 * n)


def blocks(dense, pattern, pairs):
    block = dense.reshape(len(dense) // 3, 3, -1, 3).transpose(0, 2, 1, 3)
    order = np.argsort(pattern.place)
    below = np.zeros((len(pattern.a_column), 3, 3))
    for k, (a, b) in enumerate(pairs):
        below[pattern.slot[k]] = block[a, b] if pattern.place[a] > pattern.place[b] else block[b, a]
    return block[order, order].copy(), below


@pytest.mark.parametrize(("n", "m"), [(1, 0), (2, 1), (5, 4), (30, 60), (80, 100)])
def test_a_system_is_solved_as_by_dense_algebra(n, m):
    rng = np.random.default_rng(n)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)], int).reshape(-1, 2)
    dense = matrix(n, pairs, rng)
    pattern = find_pattern(n, pairs[:, 0], pairs[:, 1])
    factor = factorise(pattern, *blocks(dense, pattern, pairs))
    assert factor is not None
    right = rng.normal(size=(n, 3))
    np.testing.assert_allclose(factor.solve(right).ravel(), np.linalg.solve(dense, right.ravel()), rtol=1e-8, atol=1e-9)
    inverse = np.linalg.inv(dense)
    for row in range(n):
        _, half = factor.half_columns(row)
        half = half.reshape(-1, 3)
        here = slice(3 * row, 3 * row + 3)
        np.testing.assert_allclose(half.T @ half, inverse[here, here], rtol=1e-8, atol=1e-9)


def test_a_matrix_that_is_not_positive_definite_has_no_factor():
    pairs = np.array([[0, 1], [1, 2]])
    dense = matrix(3, pairs, np.random.default_rng(0))
    pattern = find_pattern(3, pairs[:, 0], pairs[:, 1])
    for k in range(9):
        worse = dense.copy()
        worse[k, k] = -1.0
        assert factorise(pattern, *blocks(worse, pattern, pairs)) is None
    dense[0, 0] = np.nan
    assert factorise(pattern, *blocks(dense, pattern, pairs)) is None


def test_a_chain_has_no_fill():
    """Whatever the order of its rows, a tree can be eliminated leaf by leaf."""
    shuffled = np.random.default_rng(4).permutation(200)
    pattern = find_pattern(200, shuffled[:-1], shuffled[1:])
    assert len(pattern.l_row) == 199
