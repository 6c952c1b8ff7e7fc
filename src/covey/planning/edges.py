"""Edges of the mapped ground: which of them a team explores, and whether a turn on the spot reveals more.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007.
"""

import math

import numpy as np

from covey.kernel import kernel


def edge_vertices(occupancy: np.ndarray) -> np.ndarray:
    """Return the edge of the mapped ground: drivable vertices with an unmapped one among their eight neighbours.

    Args:
        occupancy: int8 (rows, columns): -1 unmapped, 0 drivable, above 50 bad. There is nothing to map outside it.

    Returns:
        int64 (k, 2), rows and columns in storage order.

    Examples:
        >>> edge_vertices(np.array([[0, 0, 0, -1], [0, 0, 100, -1]], np.int8)).tolist()
        [[0, 2]]
    """
    unmapped = np.pad(occupancy < 0, 1)
    rows, columns = occupancy.shape
    wide = unmapped[:, :-2] | unmapped[:, 1:-1] | unmapped[:, 2:]
    beside = wide[:-2] | wide[1:-1] | wide[2:]
    return np.argwhere((occupancy == 0) & beside[:rows, :columns])


def share_edges(points: np.ndarray, objective: np.ndarray, robots: np.ndarray, apart_m: float = 3.0) -> np.ndarray:
    """Assign edge points: the one nearest to the objective first, then others apart from it, by proximity.

    The robot nearest to the first point goes there. Then the nearest pair of a robot without a point and a point at
    least ``apart_m`` from all assigned ones is assigned, again and again.

    Args:
        points: float64 (k, 2) [m].
        objective: float64 (2,) [m].
        robots: float64 (n, 2), positions of the robots [m].
        apart_m: least distance between assigned points [m].

    Returns:
        int64 (n,), the point of each robot; -1 if none is left for it.

    Examples:
        >>> line = np.column_stack((np.arange(6.0), np.zeros(6)))
        >>> share_edges(line, np.array([9.0, 0.0]), np.array([[0.0, 1.0], [1.0, 1.0]])).tolist()
        [0, 5]
    """
    goals = np.full(len(robots), -1, np.int64)
    if not len(points) or not len(robots):
        return goals
    costs = np.hypot(*(points[None] - robots[:, None]).transpose(2, 0, 1))
    j = int(np.argmin(np.hypot(*(points - objective).T)))
    i = int(np.argmin(costs[:, j]))
    while costs[i, j] < np.inf:
        goals[i] = j
        costs[i] = np.inf
        costs[:, np.hypot(*(points - points[j]).T) < apart_m] = np.inf
        i, j = divmod(int(np.argmin(costs)), len(points))
    return goals


@kernel
def revealed_by_turning(occupancy, row, column, near, far, bins):
    """Return the number of unmapped vertices that a robot may see by turning at a place, by bearing; lengths in cells.

    Vertices count if they lie between ``near`` and ``far`` and no bad vertex lies on the straight line to them, because
    it may hide them.

    Args:
        occupancy: int8 (rows, columns).
        row, column: where the robot stands, as fractional numbers.
        near, far: least and largest distance that it sees.
        bins: number of equal sectors.

    Returns:
        int64 (bins,), the first from bearing 0 (along the columns) counter-clockwise.
    """
    rows, columns = occupancy.shape
    count = np.zeros(bins, np.int64)
    for r in range(max(math.ceil(row - far), 0), min(math.floor(row + far) + 1, rows)):
        for c in range(max(math.ceil(column - far), 0), min(math.floor(column + far) + 1, columns)):
            dr, dc = r - row, c - column
            d = math.hypot(dr, dc)
            if occupancy[r, c] >= 0 or d < near or d > far:
                continue
            steps, hidden = int(2.0 * d) + 1, False
            for i in range(1, steps):
                a, b = math.floor(row + dr * i / steps + 0.5), math.floor(column + dc * i / steps + 0.5)
                if 0 <= a < rows and 0 <= b < columns and occupancy[a, b] > 50:
                    hidden = True
                    break
            if not hidden:
                count[int((math.atan2(dr, dc) / math.tau) % 1.0 * bins) % bins] += 1
    return count


def turn_to_reveal(count: np.ndarray, heading: float, fov: float) -> float:
    """Return the smallest turn on the spot that brings all sectors with something to reveal into view [rad].

    Args:
        count: number of vertices to see in each of equal sectors, see `revealed_by_turning`.
        heading: present middle of the field of view [rad].
        fov: width of the field of view [rad].

    Returns:
        Counter-clockwise positive; 0 if everything is in view already.

    Examples:
        >>> round(turn_to_reveal(np.array([0, 1, 0, 0]), 0.0, math.pi / 2) / math.pi, 3)  # to the north-west
        0.75
    """
    half, sector = 0.5 * fov, math.tau / len(count)
    left = right = 0.0
    for k in np.flatnonzero(count).tolist():
        start = math.remainder(k * sector - heading, math.tau) % math.tau  # of the sector, counter-clockwise from ahead
        end = start + sector
        if end <= half + 1e-9 or start >= math.tau - half - 1e-9:
            continue
        left, right = max(left, end - half), max(right, math.tau - start - half)
    return left if left <= right else -right
