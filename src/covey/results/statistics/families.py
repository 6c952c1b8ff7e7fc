"""Families of tests: Holm and Tarone for a question asked beforehand, Benjamini and Hochberg for all others."""

from collections.abc import Sequence

import numpy as np


def holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p values adjusted as a family: the i-th smallest times (m - i + 1), made monotone, at most 1.

    References:
        S. Holm: A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 1979.

    Examples:
        >>> holm([0.01, 0.04, 0.03, 0.005]).tolist()
        [0.03, 0.06, 0.06, 0.02]
    """
    p = np.asarray(p, float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def tarone(smallest_p: Sequence[float] | np.ndarray, alpha: float = 0.05) -> np.ndarray:
    """Return which tests of a family count: those that could be significant after correction for their own number.

    With m the smallest number for which at most m tests have a smallest p of alpha / m or less, these tests count. What
    they could have shown depends on the numbers of runs and on ties only, so leaving out the others is no choice by
    outcome, and Holm's correction of those that count holds the level of the whole family.

    References:
        R. E. Tarone: A modified Bonferroni method for discrete data. Biometrics 46, 1990. G. Hommel, F. Krummenauer:
        Improvements and modifications of Tarone's multiple test procedure for discrete data. Biometrics 54, 1998.

    Examples:
        >>> tarone([0.0078] * 4 + [0.25] * 4).tolist()
        [True, True, True, True, False, False, False, False]
    """
    smallest = np.asarray(smallest_p, float)
    m = next(m for m in range(1, len(smallest) + 2) if (smallest <= alpha / m).sum() <= m)
    return smallest <= alpha / m


def benjamini_hochberg(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p values adjusted for the false discovery rate: the share of false ones among those below a level.

    References:
        Y. Benjamini, Y. Hochberg: Controlling the false discovery rate. J. R. Statist. Soc. B 57, 1995.

    Examples:
        >>> benjamini_hochberg([0.01, 0.02, 0.03, 0.5]).round(4).tolist()
        [0.04, 0.04, 0.04, 0.5]
    """
    p = np.asarray(p, float)
    order = np.argsort(p, kind="stable")
    raised = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(raised[::-1])[::-1])
    return adjusted
