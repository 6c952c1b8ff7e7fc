"""Which cells of its own map a robot can get to."""

import numpy as np

from covey.geometry import Grid
from covey.kernel import kernel
from covey.robots.driving import Driving
from covey.robots.route import passage


def reachable(
    grid: Grid, start: tuple[float, float], radius: float, driving: Driving, others: np.ndarray
) -> np.ndarray:
    """Return the cells of an occupancy grid that can be come to, bool (rows, columns); see `covey.robots.reach.travel`.

    They are those for which `travel` has a finite cost, for a fraction of the work.
    """
    row, column = grid.cell_at(*start)
    if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]):
        return np.zeros(grid.shape, bool)
    _, cost = passage(grid, start, radius, driving, others)
    return flood(cost, row, column)


@kernel
def flood(cost, row, column):
    """Return the cells that hang together with one by their sides, bool (rows, columns).

    Without cutting corners, moves to all eight neighbours lead to the same cells.

    Args:
        cost: float32 (rows, columns), inf for not passable.
        row, column: where to begin; may itself be impassable.
    """
    rows, columns = cost.shape
    out = np.zeros((rows, columns), np.bool_)
    stack = np.empty(2 * rows * columns + 1, np.int32)
    stack[0], size = row * columns + column, 1
    while size > 0:
        size -= 1
        r = stack[size] // columns
        left = right = stack[size] - r * columns
        if out[r, left]:
            continue
        while left > 0 and cost[r, left - 1] != np.inf:
            left -= 1
        while right < columns - 1 and cost[r, right + 1] != np.inf:
            right += 1
        for c in range(left, right + 1):
            out[r, c] = True
        for near in (r - 1, r + 1):
            if not 0 <= near < rows:
                continue
            inside = False
            for c in range(left, right + 1):
                before, inside = inside, cost[near, c] != np.inf and not out[near, c]
                if inside and not before:
                    stack[size] = near * columns + c
                    size += 1
    return out
