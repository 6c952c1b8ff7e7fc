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


_ONE = np.uint64(1)


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
    framed = np.zeros((rows + 2, width), np.uint8)  # 1 passable, 2 reached
    for r in range(rows):
        to, of = framed[r + 1, 1:-1], cost[r]
        for c in range(columns):
            to[c] = of[c] != np.inf
    state = framed.reshape(-1)
    stack, size = np.empty(2 * state.size, np.int32), 1  # cells whose row is filled to both sides from there
    stack[0] = (row + 1) * width + column + 1
    state[stack[0]] = 1
    while size > 0:
        size -= 1
        first = np.uint64(stack[size])
        if state[first] != 1:
            continue
        last = first
        while state[first - _ONE] == 1:
            first -= _ONE
        while state[last + _ONE] == 1:
            last += _ONE
        for shift in (-width, width):
            before = np.uint8(0)
            for cell in range(first, last + _ONE):
                other = np.uint64(np.int64(cell) + shift)
                if state[other] == 1 and before != 1:
                    stack[size] = other
                    size += 1
                before = state[other]
        for cell in range(first, last + _ONE):
            state[cell] = 2
    out = np.empty((rows, columns), np.bool_)
    for r in range(rows):
        to, of = out[r], framed[r + 1, 1:-1]
        for c in range(columns):
            to[c] = of[c] == 2
    return out
