"""Shadowing that changes slowly along the paths of the two robots of a link.

References:
    M. Gudmundson: Correlation model for shadow fading in mobile radio systems. Electronics Letters 27(23), 1991
    (the correlation exp(-d / D)).
    Z. Wang, E. K. Tameh, A. R. Nix: Joint shadowing process in urban peer-to-peer radio channels. IEEE Transactions on
    Vehicular Technology 57(1), 2008 (both ends move: the correlations multiply; a sum of sinusoids).
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from covey.kernel import kernel
from covey.random import uniform2_numpy

SINUSOIDS = 128


def shadows(key: Any, correlation_m: float, xa: Any, ya: Any, xb: Any, yb: Any) -> np.ndarray:
    """Return standard normal shadowing of links between two places, the same in both directions, float64 (m,).

    If one end moves by d, the correlation is exp(-d / ``correlation_m``); if both move, it is the product.

    Args:
        key: the noise stream.
        correlation_m: D [m].
        xa, ya, xb, yb: the two ends of each link [m], float64 (m,).

    Examples:
        >>> x, y = np.array([0.0, 40.0]), np.zeros(2)
        >>> there, back = shadows(7, 10.0, x, y, x[::-1].copy(), y)
        >>> bool(abs(there - back) < 1e-12)
        True
    """
    out = np.empty(len(xa))
    _shadows(_waves(int(key), float(correlation_m)), correlation_m, xa, ya, xb, yb, out)
    return out


@lru_cache(maxsize=16)
def _waves(key: int, correlation_m: float) -> np.ndarray:
    """Return wave vectors at both ends [rad/m] and a phase [rad], float64 (`SINUSOIDS`, 5).

    exp(-d / D) in the plane has the spectrum (1 + (k D)^2)^(-3/2), of which the share below k is
    1 - (1 + (k D)^2)^(-1/2).
    """
    u = np.stack(uniform2_numpy(np.uint64(key), np.arange(SINUSOIDS)[:, None], np.arange(3)), axis=-1)
    length = np.sqrt((1.0 - u[:, :2, 0]) ** -2 - 1.0) / correlation_m
    angle = 2.0 * np.pi * u[:, :2, 1]
    x, y = length * np.cos(angle), length * np.sin(angle)
    return np.column_stack((x[:, 0], y[:, 0], x[:, 1], y[:, 1], 2.0 * np.pi * u[:, 2, 0]))


@kernel
def _shadows(waves, correlation_m, xa, ya, xb, yb, out):
    for i in range(out.shape[0]):
        total = 0.0
        for k in range(waves.shape[0]):
            here = waves[k, 0] * xa[i] + waves[k, 1] * ya[i] + waves[k, 2] * xb[i] + waves[k, 3] * yb[i]
            back = waves[k, 0] * xb[i] + waves[k, 1] * yb[i] + waves[k, 2] * xa[i] + waves[k, 3] * ya[i]
            total += math.cos(here + waves[k, 4]) + math.cos(back + waves[k, 4])
        # Each direction has the variance n / 2, and both together have the correlation exp(-2 d / D).
        apart = math.hypot(xa[i] - xb[i], ya[i] - yb[i])
        out[i] = total / math.sqrt(waves.shape[0] * (1.0 + math.exp(-2.0 * apart / correlation_m)))
