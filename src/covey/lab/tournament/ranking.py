"""Ratings of players from the games that they won."""

from typing import NamedTuple

import numpy as np

_PRIOR = 0.5  # of a draw against an average player: ratings stay finite for who has won all


class Rating(NamedTuple):
    """Ratings of m players.

    Attributes:
        strength: float64 (m,), log odds against an average player of the same side; 0 is average.
        low, high: ends of the 95 % interval, float64 (m,).
    """

    strength: np.ndarray
    low: np.ndarray
    high: np.ndarray


def bradley_terry(wins: np.ndarray, sides: np.ndarray | None = None) -> Rating:
    """Return ratings by the model of Bradley and Terry: P(i beats j) = 1 / (1 + exp(strength[j] - strength[i])).

    Each player also has half a win and half a loss against an average one, so that ratings are finite. The interval is
    that of the normal approximation at the maximum.

    Args:
        wins: float64 (m, m): how often i has beaten j; a draw counts one half for both.
        sides: int (m,), the side of each player; ratings of each side have the mean 0. None: one side.

    References:
        R. A. Bradley, M. E. Terry: Rank analysis of incomplete block designs. Biometrika 39, 1952. Newton's method; the
        likelihood is concave: D. R. Hunter: MM algorithms for generalized Bradley-Terry models. Annals of Statistics
        32, 2004.

    Examples:
        >>> bradley_terry(np.array([[0.0, 3.0], [1.0, 0.0]])).strength.round(2).tolist()
        [0.47, -0.47]
    """
    m = len(wins)
    sides = np.zeros(m, int) if sides is None else np.asarray(sides)
    games, won = wins + wins.T, wins.sum(axis=1)
    x = np.zeros(m)
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(x[None, :] - x[:, None]))
        q = 1.0 / (1.0 + np.exp(-x))
        slope = won - (games * p).sum(axis=1) + _PRIOR * (1.0 - 2.0 * q)
        bend = games * p * (1.0 - p)
        hessian = np.diag(bend.sum(axis=1) + 2.0 * _PRIOR * q * (1.0 - q)) - bend
        step = np.linalg.solve(hessian, slope)
        x = x + step * min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))
        if np.abs(step).max() < 1e-10:
            break
    same = sides[:, None] == sides[None, :]
    centre = np.eye(m) - same / same.sum(axis=1, keepdims=True)
    width = 1.96 * np.sqrt(np.maximum(np.diag(centre @ np.linalg.inv(hessian) @ centre.T), 0.0))
    x = centre @ x
    return Rating(x, x - width, x + width)
