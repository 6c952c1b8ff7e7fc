"""How many runs reached their goal: Wilson's interval of a share."""

import math

import numpy as np

from covey.errors import InvalidValueError
from covey.lazy import special


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of the probability of success.

    Raises:
        InvalidValueError: there are no runs, or more successes than runs.

    References:
        E. B. Wilson: Probable inference, the law of succession, and statistical inference. JASA 22, 1927. L. D. Brown,
        T. T. Cai, A. DasGupta: Interval estimation for a binomial proportion. Statist. Sci. 16, 2001.

    Examples:
        >>> [round(end, 3) for end in wilson(1, 8)]
        [0.022, 0.471]
    """
    if not 0 <= successes <= n or n < 1:
        raise InvalidValueError(f"{successes} successes of {n} runs; give at least one run, and no more successes")
    z = float(special.ndtri((1.0 + level) / 2.0))
    share, middle = successes / n, (successes + z * z / 2) / (n + z * z)
    away = z * math.sqrt(n * share * (1 - share) + z * z / 4) / (n + z * z)
    low, high = np.clip((middle - away, middle + away), 0.0, 1.0)
    return (0.0 if not successes else float(low)), (1.0 if successes == n else float(high))
