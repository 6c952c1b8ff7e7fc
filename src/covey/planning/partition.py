"""Partition of a waypoint graph into connected parts, one for each robot."""

import numpy as np


def spectral_parts(distance: np.ndarray, count: int) -> list[np.ndarray]:
    """Return the parts of recursive spectral bisection: the largest part is cut until there are ``count``.

    The weight of two waypoints is exp(-d² / 2 s²), where s is the standard deviation of all distances. The signs of the
    second eigenvector of the Laplacian cut a part; if all signs are equal, its median does.

    Args:
        distance: path lengths between waypoints [m], (k, k).
        count: number of parts; at most k are made.

    Returns:
        The waypoints of each part, int64, ascending; the parts in the order of their first waypoint.

    References:
        P. Kabelíková: Graph partitioning using spectral methods. Master thesis, VSB Ostrava, 2006.
        A. Pothen, H. D. Simon, K.-P. Liou: Partitioning sparse matrices with eigenvectors of graphs. SIAM J. Matrix
        Analysis 11(3), 1990.

    Examples:
        >>> place = np.array([0.0, 1.0, 9.0, 10.0, 2.0])
        >>> [part.tolist() for part in spectral_parts(abs(place[:, None] - place), 2)]
        [[0, 1, 4], [2, 3]]
    """
    parts = [np.arange(len(distance))]
    while len(parts) < min(count, len(distance)):
        largest = max(range(len(parts)), key=lambda i: (len(parts[i]), -i))
        part = parts.pop(largest)
        parts += _bisect(part, distance)
    return sorted(parts, key=lambda part: int(part[0]))


def _bisect(part: np.ndarray, distance: np.ndarray) -> list[np.ndarray]:
    finite = distance[np.isfinite(distance)]
    sigma = float(finite.std()) or 1.0
    d = distance[np.ix_(part, part)]
    weight = np.where(np.isfinite(d), np.exp(-(np.where(np.isfinite(d), d, 0.0) ** 2) / (2 * sigma**2)), 0.0)
    np.fill_diagonal(weight, 0.0)
    _, vectors = np.linalg.eigh(np.diag(weight.sum(axis=1)) - weight)
    second = vectors[:, 1]
    second = second * (1.0 if second[np.argmax(np.abs(second))] > 0 else -1.0)  # an eigenvector's sign is arbitrary
    side = second > 1e-12
    if side.all() or not side.any():
        side = np.zeros(len(part), bool)
        side[np.argsort(second, kind="stable")[len(part) // 2 :]] = True
    return [part[side], part[~side]]
