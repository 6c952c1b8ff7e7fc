"""The number of runs that a difference needs to be found."""

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError
from covey.lazy import special
from covey.results.statistics.ranks import differences


def runs_needed(p: float, *, paired: bool = False, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Return how many runs of each kind (paired: how many pairs) a two-sided rank test needs; None for no difference.

    Both tests need N = (z_(1-alpha/2) + z_power)^2 / (3 (p - 1/2)^2). For Mann-Whitney, N is both samples together, of
    equal size; for Wilcoxon's signed-rank test, the pairs. It is at least the number that makes p < alpha possible, and
    just this number if one kind always wins (p is 0 or 1), where the formula, an approximation, asks for too many.

    Args:
        p: the difference to find: P(a > b) + P(a = b) / 2 (see `a12`); paired: the probability that the sum of two
            differences is positive (see `walsh_share`).
        paired: whether runs are compared in pairs.
        alpha: level of the test: that of the whole family over the number of its tests.
        power: probability to find the difference.

    Raises:
        InvalidValueError: a number is not between 0 and 1.

    References:
        G. E. Noether: MetricSample size determination for some common nonparametric tests. JASA 82, 1987.

    Examples:
        >>> runs_needed(0.3, power=0.9)
        44
        >>> runs_needed(1.0, paired=True)
        6
    """
    if not (0.0 <= p <= 1.0 and 0.0 < alpha < 1.0 and 0.0 < power < 1.0):
        raise InvalidValueError(f"p {p:g}, alpha {alpha:g}, power {power:g}: all are probabilities, between 0 and 1")
    if math.isclose(p, 0.5, abs_tol=1e-9):
        return None
    total = (special.ndtri(1.0 - alpha / 2.0) + special.ndtri(power)) ** 2 / (3.0 * (p - 0.5) ** 2)
    possible = next(n for n in itertools.count(1) if 2.0 / (2**n if paired else math.comb(2 * n, n)) < alpha)
    if p in (0.0, 1.0):
        return possible
    return max(possible, math.ceil(total if paired else total / 2.0))


def walsh_share(a: ArrayLike, b: ArrayLike) -> float:
    """Return P(d + d' > 0) + P(d + d' = 0) / 2 of two different pairs' differences a - b, for paired `runs_needed`.

    Opposite timeouts cancel, and two timeouts in a pair count as no difference. With a single pair it is 1, 0 or 1/2.

    Raises:
        InvalidValueError: the samples differ in length, are empty or hold NaN.
    """
    d = np.nan_to_num(differences(a, b), nan=0.0, posinf=np.inf, neginf=-np.inf)
    if len(d) == 1:
        return float(0.5 + 0.5 * np.sign(d[0]))
    ordered, n = np.sort(d), len(d)
    from_zero, above = (np.searchsorted(ordered, -ordered, side) for side in ("left", "right"))
    positive = int(np.sum(n - above)) - int(np.sum(d > 0))  # each sum twice, without those of a value with itself
    zero = int(np.sum(above - from_zero)) - int(np.sum(d == 0))
    return (positive + 0.5 * zero) / (n * (n - 1))
