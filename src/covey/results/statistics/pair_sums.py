"""The k-th smallest of all sums of two values, found without a list of all sums."""

import numpy as np

_FEW, _FEW_IN_ROW = 20_000, 4
"""So many sums, or so many for each row, are listed instead of searched."""
_SIGN = np.int64(-(2**63))


def sums(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return x + y; opposite infinities cancel."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(x) & (x == -y), 0.0, x + y)


def kth_sum(x: np.ndarray, y: np.ndarray, k: int, *, within: bool = False) -> float:
    """Return the k-th smallest (from 0) of the `sums` of a value of ``x`` and one of ``y``.

    The rounded sums of sorted values never decrease along a row or a column. So the sums up to a number are found by a
    binary search in every row, and the number by bisection over all floats. It takes O((n + m) log m) for each of at
    most 64 bisections, where a list takes n m. The result is that of the sorted list, to the bit.

    Args:
        x, y: values in increasing order, shapes (n,) and (m,); infinite ones are allowed.
        k: 0 <= k < number of sums.
        within: ``x`` and ``y`` are one sample; count each sum of two of its values once, and each value with itself.

    References:
        D. B. Johnson, T. Mizoguchi: Selecting the Kth element in X + Y and X_1 + X_2 + ... + X_m. SIAM J. Comput. 7,
        1978: rows of candidates that shrink.
    """
    first = np.arange(len(x)) if within else np.zeros(len(x), np.int64)
    last = np.full(len(x), len(y), np.int64)
    low, high = _rank(sums(x[0], y[0])), _rank(sums(x[-1], y[-1]))
    skipped = 0  # sums before `first` in their rows
    while low < high and np.sum(last - first) > max(_FEW, _FEW_IN_ROW * len(x)):
        middle = low + (high - low) // 2
        split = _up_to(_float(middle), x, y, first, last)
        smaller = int(np.sum(split - first))
        if skipped + smaller > k:
            high, last = middle, split
        else:
            low, first, skipped = middle + 1, split, skipped + smaller
    if low == high:
        return _float(low)
    size = last - first
    rows = np.repeat(np.arange(len(x)), size)
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(size) - size - first, size)
    return float(np.partition(sums(x[rows], y[columns]), k - skipped)[k - skipped])


def _up_to(number: float, x: np.ndarray, y: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return for each row, between two columns, the first column whose sum is larger than a number."""
    with np.errstate(invalid="ignore"):
        found = np.clip(np.searchsorted(y, number - x, "right"), first, last)  # right but for rounding and infinities
    ends = found == last
    ends[~ends] = sums(x[~ends], y[found[~ends]]) > number
    starts = found == first
    starts[~starts] = sums(x[~starts], y[found[~starts] - 1]) <= number
    wrong = np.flatnonzero(~(starts & ends))
    low, high = first[wrong], last[wrong]
    while len(open_ := np.flatnonzero(low < high)):
        middle = (low[open_] + high[open_]) // 2
        fits = sums(x[wrong[open_]], y[middle]) <= number
        low[open_[fits]] = middle[fits] + 1
        high[open_[~fits]] = middle[~fits]
    found[wrong] = low
    return found


def _rank(number: np.ndarray) -> int:
    """Return the place of a float in the order of all floats; 0.0 and -0.0 share one."""
    bits = int((np.float64(number) + 0.0).view(np.int64))
    return bits if bits >= 0 else -(bits - int(_SIGN))


def _float(rank: int) -> float:
    """Return the float at a place, the inverse of `_rank`."""
    return float(np.int64(rank).view(np.float64)) if rank >= 0 else -float(np.int64(-rank).view(np.float64))
