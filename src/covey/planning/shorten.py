"""Shortening of grid paths by lines of sight."""

import numpy as np

from covey.kernel import kernel


@kernel
def line_cost(cost, row0, column0, row1, column1):
    """Return the cost of the straight line between two cell centres [cells x cost]; inf through an impassable cell.

    The line is sampled about three times per cell.
    """
    dr, dc = row1 - row0, column1 - column0
    length = np.sqrt(float(dr * dr + dc * dc))
    count = int(np.ceil(3.0 * max(abs(dr), abs(dc)))) + 1
    total = 0.0
    for i in range(count):
        t = (i + 0.5) / count
        value = cost[int(row0 + t * dr + 0.5), int(column0 + t * dc + 0.5)]
        if value == np.inf:
            return np.inf
        total += value
    return total / count * length


@kernel
def shorten(path, cost, slack):
    """Return the corners of a path after straight lines that cost no more have replaced its stretches.

    Cells near walls cost more, so a shortcut never trades clearance for length.

    Args:
        path: int64 (m, 2), rows and columns of neighbouring cells.
        cost: float32 (rows, columns), the costs with which the path was planned.
        slack: share by which a line may cost more than the stretch that it replaces, e.g. 0.02.

    Returns:
        int64 (k, 2), the kept cells, first and last included.
    """
    m = path.shape[0]
    if m < 3:
        return path.copy()
    come = np.zeros(m)
    for i in range(1, m):
        come[i] = come[i - 1] + line_cost(cost, path[i - 1, 0], path[i - 1, 1], path[i, 0], path[i, 1])
        if come[i] == np.inf:  # only the source may be impassable
            come[i] = come[i - 1] + 50.0
    keep = np.empty(m, np.int64)
    keep[0], kept, at = 0, 1, 0
    while at < m - 1:
        best, step, failures = at + 1, 2, 0
        while best < m - 1 and failures < 3:
            to = min(at + step, m - 1)
            direct = line_cost(cost, path[at, 0], path[at, 1], path[to, 0], path[to, 1])
            if direct <= (1.0 + slack) * (come[to] - come[at]):
                best, failures = to, 0
            elif to == m - 1:
                break
            else:
                failures += 1
            step += 1 + step // 8
        keep[kept] = best
        kept, at = kept + 1, best
    return path[keep[:kept]]
