"""Sparse Cholesky factor of symmetric matrices of 3 × 3 blocks, one row and column of blocks per pose.

The pattern is worked out once per graph (`Pattern`), the numbers again in every iteration. Blocks instead of numbers
make the pattern nine times smaller and keep the inner loop in registers.

References:
    T. A. Davis: Direct Methods for Sparse Linear Systems. SIAM 2006 (elimination tree, up-looking Cholesky).
    J. W. H. Liu: Modification of the minimum-degree algorithm by multiple elimination. ACM TOMS 11, 1985.
"""

from dataclasses import dataclass

import numpy as np

from covey.kernel import kernel
from covey.lazy import sparse, sparse_linalg


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where the blocks of a matrix A and of its factor L are; A is symmetric, so only blocks below the diagonal count.

    Rows and columns are in the order of elimination. The arrays ``rows`` go by rows of A, ``columns`` by columns of L.

    Attributes:
        place: place of each row in the order of elimination, (n,).
        slot: for each pair given to `find_pattern` its block of A below the diagonal, (m,).
        turned: whether the pair's block is stored transposed, (m,).
        a_start, a_column: rows of A: the blocks of row k are ``a_start[k]:a_start[k + 1]``, in these columns.
        l_start, l_row: columns of L below the diagonal.
        r_start, r_column, r_block: rows of L left of the diagonal: columns, and blocks as numbered by ``l_row``.
    """

    place: np.ndarray
    slot: np.ndarray
    turned: np.ndarray
    a_start: np.ndarray
    a_column: np.ndarray
    l_start: np.ndarray
    l_row: np.ndarray
    r_start: np.ndarray
    r_column: np.ndarray
    r_block: np.ndarray


@dataclass(frozen=True, eq=False)
class Factor:
    """The factor L, A = L Lᵀ: its blocks on the diagonal (n, 3, 3) and below it (k, 3, 3)."""

    pattern: Pattern
    diagonal: np.ndarray
    below: np.ndarray

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return x (n, 3) with A x = ``right`` (n, 3)."""
        pattern = self.pattern
        x = np.empty_like(right)
        x[pattern.place] = right
        _substitute(pattern.l_start, pattern.l_row, self.diagonal, self.below, x)
        return x[pattern.place]

    def half_columns(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows (k,) and blocks (k, 3, 3) that are not zero of L⁻¹ E, E the columns of one row of blocks.

        The product of the transpose of one such column with another is a block of A⁻¹.
        """
        pattern = self.pattern
        return _half_columns(pattern.l_start, pattern.l_row, self.diagonal, self.below, pattern.place[row])


def find_pattern(n: int, first: np.ndarray, second: np.ndarray) -> Pattern:
    """Return the pattern of a matrix of n × n blocks with blocks at pairs (m,) of different rows, and on the diagonal.

    The order is the one of multiple minimum degree; SuperLU finds it on the pattern of blocks.
    """
    place = _order(n, first, second)
    a, b = place[first], place[second]
    low, high = np.minimum(a, b), np.maximum(a, b)
    key, slot = np.unique(high * n + low, return_inverse=True)
    a_start = np.searchsorted(key, np.arange(n + 1) * n)
    a_column = key % max(n, 1)
    parts = _fill(n, a_start, a_column)
    return Pattern(place, slot, a < b, a_start, a_column, *parts)


def _order(n: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    if n < 3:
        return np.arange(n)
    ones, every = np.ones(len(first)), np.arange(n)
    rows = np.concatenate((first, second, every))
    columns = np.concatenate((second, first, every))
    # Diagonally dominant, so that SuperLU keeps the order of the columns for the rows.
    laplacian = sparse.csc_array((np.concatenate((-ones, -ones, np.ones(n))), (rows, columns)), shape=(n, n))
    laplacian.setdiag(1.0 + np.bincount(first, minlength=n) + np.bincount(second, minlength=n))
    settings = {"SymmetricMode": True}
    factor = sparse_linalg.splu(laplacian, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=settings)
    return factor.perm_c.astype(np.int64)


def factorise(pattern: Pattern, diagonal: np.ndarray, below: np.ndarray) -> Factor | None:
    """Return the factor of a matrix, or None if it is not positive definite.

    Args:
        pattern: its pattern.
        diagonal: blocks on the diagonal in the order of elimination, (n, 3, 3).
        below: blocks below the diagonal, as ``pattern.slot`` numbers them, (s, 3, 3).
    """
    p = pattern
    factor = Factor(p, np.empty_like(diagonal), np.empty((len(p.l_row), 3, 3)))
    good = _factorise(
        p.a_start, p.a_column, diagonal, below,
        p.l_start, p.l_row, p.r_start, p.r_column, p.r_block,
        factor.diagonal, factor.below,
    )  # fmt: skip
    return factor if good else None


@kernel
def _fill(n, a_start, a_column):
    """Elimination tree, and with it the pattern of L by columns and by rows."""
    parent = np.full(n, -1, np.int64)
    ancestor = np.full(n, -1, np.int64)
    count = np.zeros(n + 1, np.int64)
    for k in range(n):
        for p in range(a_start[k], a_start[k + 1]):
            i = a_column[p]
            while i != -1 and i < k:
                above = ancestor[i]
                ancestor[i] = k
                if above == -1:
                    parent[i] = k
                i = above
    seen = np.full(n, -1, np.int64)
    for k in range(n):
        seen[k] = k
        for p in range(a_start[k], a_start[k + 1]):
            i = a_column[p]
            while seen[i] != k:
                seen[i] = k
                count[i + 1] += 1
                i = parent[i]
    l_start = np.cumsum(count)
    l_row = np.empty(l_start[n], np.int64)
    r_start = np.zeros(n + 1, np.int64)
    free = l_start[:n].copy()
    seen[:] = -1
    for k in range(n):
        seen[k] = k
        r_start[k + 1] = r_start[k]
        for p in range(a_start[k], a_start[k + 1]):
            i = a_column[p]
            while seen[i] != k:
                seen[i] = k
                l_row[free[i]] = k
                free[i] += 1
                r_start[k + 1] += 1
                i = parent[i]
    r_column, r_block = np.empty_like(l_row), np.empty_like(l_row)
    free = r_start[:n].copy()
    for j in range(n):
        for p in range(l_start[j], l_start[j + 1]):
            k = l_row[p]
            r_column[free[k]] = j
            r_block[free[k]] = p
            free[k] += 1
    return l_start, l_row, r_start, r_column, r_block


@kernel
def _factorise(a_start, a_column, a_diagonal, a_below, l_start, l_row, r_start, r_column, r_block, diagonal, below):
    """Up-looking: row k of L solves a triangular system with the rows above it."""
    n = len(a_diagonal)
    x = np.zeros((n, 3, 3))
    for k in range(n):
        for p in range(a_start[k], a_start[k + 1]):
            x[a_column[p]] = a_below[p]
        d00, d10, d11 = a_diagonal[k, 0, 0], a_diagonal[k, 1, 0], a_diagonal[k, 1, 1]
        d20, d21, d22 = a_diagonal[k, 2, 0], a_diagonal[k, 2, 1], a_diagonal[k, 2, 2]
        for r in range(r_start[k], r_start[k + 1]):
            j, at = r_column[r], r_block[r]
            e = diagonal[j]
            b = x[j]
            v0 = 1.0 / e[0, 0]
            v1 = 1.0 / e[1, 1]
            v2 = 1.0 / e[2, 2]
            b00 = b[0, 0] * v0
            b10 = b[1, 0] * v0
            b20 = b[2, 0] * v0
            b01 = (b[0, 1] - b00 * e[1, 0]) * v1
            b11 = (b[1, 1] - b10 * e[1, 0]) * v1
            b21 = (b[2, 1] - b20 * e[1, 0]) * v1
            b02 = (b[0, 2] - b00 * e[2, 0] - b01 * e[2, 1]) * v2
            b12 = (b[1, 2] - b10 * e[2, 0] - b11 * e[2, 1]) * v2
            b22 = (b[2, 2] - b20 * e[2, 0] - b21 * e[2, 1]) * v2
            b[:] = 0.0
            for p in range(l_start[j], at):
                c = below[p]
                t = x[l_row[p]]
                for q in range(3):
                    c0, c1, c2 = c[q, 0], c[q, 1], c[q, 2]
                    t[0, q] -= b00 * c0 + b01 * c1 + b02 * c2
                    t[1, q] -= b10 * c0 + b11 * c1 + b12 * c2
                    t[2, q] -= b20 * c0 + b21 * c1 + b22 * c2
            c = below[at]
            c[0, 0], c[0, 1], c[0, 2] = b00, b01, b02
            c[1, 0], c[1, 1], c[1, 2] = b10, b11, b12
            c[2, 0], c[2, 1], c[2, 2] = b20, b21, b22
            d00 -= b00 * b00 + b01 * b01 + b02 * b02
            d10 -= b10 * b00 + b11 * b01 + b12 * b02
            d11 -= b10 * b10 + b11 * b11 + b12 * b12
            d20 -= b20 * b00 + b21 * b01 + b22 * b02
            d21 -= b20 * b10 + b21 * b11 + b22 * b12
            d22 -= b20 * b20 + b21 * b21 + b22 * b22
        if not d00 > 0.0:
            return False
        l00 = np.sqrt(d00)
        l10, l20 = d10 / l00, d20 / l00
        d11 -= l10 * l10
        if not d11 > 0.0:
            return False
        l11 = np.sqrt(d11)
        l21 = (d21 - l20 * l10) / l11
        d22 -= l20 * l20 + l21 * l21
        if not d22 > 0.0:
            return False
        e = diagonal[k]
        e[:] = 0.0
        e[0, 0], e[1, 0], e[1, 1] = l00, l10, l11
        e[2, 0], e[2, 1], e[2, 2] = l20, l21, np.sqrt(d22)
    return True


@kernel
def _substitute(l_start, l_row, diagonal, below, x):
    """Solve L Lᵀ x = x in place."""
    n = len(diagonal)
    for j in range(n):
        e = diagonal[j]
        x0 = x[j, 0] / e[0, 0]
        x1 = (x[j, 1] - e[1, 0] * x0) / e[1, 1]
        x2 = (x[j, 2] - e[2, 0] * x0 - e[2, 1] * x1) / e[2, 2]
        x[j, 0], x[j, 1], x[j, 2] = x0, x1, x2
        for p in range(l_start[j], l_start[j + 1]):
            c, i = below[p], l_row[p]
            for q in range(3):
                x[i, q] -= c[q, 0] * x0 + c[q, 1] * x1 + c[q, 2] * x2
    for j in range(n - 1, -1, -1):
        e = diagonal[j]
        x0, x1, x2 = x[j, 0], x[j, 1], x[j, 2]
        for p in range(l_start[j], l_start[j + 1]):
            c, i = below[p], l_row[p]
            for q in range(3):
                x0 -= c[q, 0] * x[i, q]
                x1 -= c[q, 1] * x[i, q]
                x2 -= c[q, 2] * x[i, q]
        x2 /= e[2, 2]
        x1 = (x1 - e[2, 1] * x2) / e[1, 1]
        x[j, 0], x[j, 1], x[j, 2] = (x0 - e[1, 0] * x1 - e[2, 0] * x2) / e[0, 0], x1, x2


@kernel
def _half_columns(l_start, l_row, diagonal, below, row):
    """Only rows on the path to the root of the elimination tree are not zero; the parent is the first row below."""
    path = [row]
    while l_start[path[-1]] < l_start[path[-1] + 1]:
        path.append(l_row[l_start[path[-1]]])
    rows = np.array(path)
    x = np.zeros((len(path), 3, 3))
    for q in range(3):
        x[0, q, q] = 1.0
    for s in range(len(rows)):
        j = rows[s]
        e = diagonal[j]
        for q in range(3):
            x[s, 0, q] /= e[0, 0]
            x[s, 1, q] = (x[s, 1, q] - e[1, 0] * x[s, 0, q]) / e[1, 1]
            x[s, 2, q] = (x[s, 2, q] - e[2, 0] * x[s, 0, q] - e[2, 1] * x[s, 1, q]) / e[2, 2]
        t = s
        for p in range(l_start[j], l_start[j + 1]):
            while rows[t] != l_row[p]:
                t += 1
            c = below[p]
            for a in range(3):
                for q in range(3):
                    x[t, a, q] -= c[a, 0] * x[s, 0, q] + c[a, 1] * x[s, 1, q] + c[a, 2] * x[s, 2, q]
    return rows, x
