"""Performance profiles: how often a strategy is within a factor of the best one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from covey.errors import InvalidValueError


@dataclass(frozen=True)
class Profile:
    """Performance profiles of some strategies.

    Attributes:
        ratios: every factor at which a profile rises, from 1, shape (r,).
        share: share of the problems that each strategy solves within that factor of the best, shape (r, strategies).
    """

    ratios: np.ndarray
    share: np.ndarray


def performance_profile(values: ArrayLike) -> Profile:
    """Return rho_s(tau), the share of problems p on which t(p, s) <= tau min over s of t(p, s).

    The first row is the share of problems on which a strategy is best, the last row the share that it solves.

    Args:
        values: time or cost by problem and strategy, shape (problems, strategies), above 0; infinite where the
            strategy did not reach the goal. A problem that no strategy solves counts against all.

    Raises:
        InvalidValueError: there are no values, or one is zero, negative or NaN.

    References:
        E. D. Dolan, J. J. Moré: Benchmarking optimization software with performance profiles. Math. Program. 91, 2002.

    Examples:
        >>> profile = performance_profile([[1.0, 2.0], [3.0, 3.0], [4.0, np.inf]])
        >>> profile.ratios.tolist(), profile.share.round(2).tolist()
        ([1.0, 2.0], [[1.0, 0.33], [1.0, 0.67]])
    """
    values = np.asarray(values, float)
    if values.ndim != 2 or not values.size or not (values > 0).all():
        raise InvalidValueError(
            f"values of shape {values.shape}; a performance profile takes one number above 0 for each problem (row) "
            "and strategy (column), infinity where it failed"
        )
    best = values.min(axis=1, keepdims=True)
    ratio = np.full(values.shape, np.inf)
    np.divide(values, best, out=ratio, where=np.isfinite(best))
    ratios = np.unique(np.append(ratio[np.isfinite(ratio)], 1.0))
    return Profile(ratios, (ratio[None] <= ratios[:, None, None]).mean(axis=1))
