"""The cells of its own map that a robot can reach."""

import numpy as np

from covey.geometry import Grid
from covey.kernel import kernel
from covey.onboard.driving import Driving
from covey.onboard.navigation.route import NO_PLACES, passage


def reachable(
    grid: Grid,
    start: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    jams: np.ndarray = NO_PLACES,
) -> np.ndarray:
    """Return the reachable cells of a grid, bool (rows, columns); see `covey.onboard.travel_cost.travel`.

    They are the cells with a finite cost by `travel`, for a fraction of the work.
    """
    row, column = grid.cell_at(*start)
    if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]):
        return np.zeros(grid.shape, bool)
    _, cost = passage(grid, start, radius, driving, others, jams)
    return flood(cost, row, column)


@kernel
def flood(cost, row, column):
    """Return the cells that are connected with one cell by their sides, bool (rows, columns).

    Without cutting corners, moves to all eight neighbours reach the same cells.

    Args:
        cost: float32 (rows, columns), inf for impassable cells.
        row, column: start; may itself be impassable.
    """
    rows, columns = cost.shape
    width = columns + 2  # a border of impassable cells all around
    state = np.zeros((rows + 2) * width, np.uint8)  # 1 passable, 2 reached
    for r in range(rows):
        for c in range(columns):
            state[(r + 1) * width + c + 1] = cost[r, c] != np.inf
    stack, size = np.empty(rows * columns, np.int32), 1
    stack[0] = (row + 1) * width + column + 1
    state[stack[0]] = 2
    beside = (-width, -1, 1, width)
    while size > 0:
        size -= 1
        here = stack[size]
        for step in beside:
            cell = np.uint64(here + step)
            if state[cell] == 1:
                state[cell] = 2
                stack[size] = cell
                size += 1
    out = np.empty((rows, columns), np.bool_)
    for r in range(rows):
        for c in range(columns):
            out[r, c] = state[(r + 1) * width + c + 1] == 2
    return out
