"""Plain references of compiled code of `covey.runtime`: loops and NumPy, to compare with."""

import numpy as np

from covey.geometry.se2 import compose, inverse


def carry_reference(estimate: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """NumPy reference of `carry`."""
    return compose(estimate, compose(inverse(before), after))
