"""Polygons: which points are inside."""

import numpy as np


def contains(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return which points (..., 2) are inside a simple polygon, vertices (m, 2); on the border either may be true.

    A point is inside if a ray from it to the east crosses the border an odd number of times.

    Examples:
        >>> contains(np.array([[0, 0], [2, 0], [0, 2]]), np.array([[0.5, 0.5], [1.5, 1.5]])).tolist()
        [True, False]

    References:
        M. Shimrat: Algorithm 112, position of point relative to polygon. Communications of the ACM 5(8), 1962.
    """
    (xa, ya), (xb, yb) = polygon.T, np.roll(polygon, -1, axis=0).T
    x, y = points[..., 0, None], points[..., 1, None]
    spans = (ya > y) != (yb > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = xa + (y - ya) * (xb - xa) / (yb - ya)
    return np.logical_xor.reduce(spans & (x < crossing), axis=-1)
