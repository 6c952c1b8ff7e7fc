"""The cost for a robot to reach the cells of its own map."""

import math

import numpy as np

from covey.geometry import Grid
from covey.kernel import kernel
from covey.onboard.driving import Driving
from covey.onboard.navigation.route import NO_PLACES, ground, lethal_clearance, passage, shun
from covey.planning.costs import soften
from covey.planning.dijkstra import Field, cheapest, costs_ahead, costs_to, dijkstra

_FEW = 2
"""With at most this many starts the search has no estimate of the cost ahead, because it would not pay."""


def travel(
    grid: Grid,
    start: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    jams: np.ndarray = NO_PLACES,
) -> Field | None:
    """Return the cost to come from ``start`` to the cells of an occupancy grid, in cells of open floor.

    Args:
        grid: the belief, int8 (-1 unknown, 0 free, 100 occupied), yaw 0.
        start: x, y [m].
        radius: radius of the robot's body [m].
        driving: how the robot plans.
        others: float64 (k, 2), robots in sight [m], which do not count as walls.
        jams: float64 (k, 2), places where it did not get through [m].

    Returns:
        The field; None if ``start`` lies outside the grid.
    """
    row, column = grid.cell_at(*start)
    if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]):
        return None
    _, cost = passage(grid, start, radius, driving, others, jams)
    return dijkstra(cost, (row, column))


def cheapest_cell(
    grid: Grid,
    start: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    cells: np.ndarray,
    jams: np.ndarray = NO_PLACES,
) -> tuple[tuple[int, int] | None, int]:
    """Return the cell of ``cells``, int (k, 2), that is cheapest to reach, or None; and the work of the search.

    Other arguments as in `travel`.
    """
    row, column = grid.cell_at(*start)
    if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]):
        return None, 0
    _, cost = passage(grid, start, radius, driving, others, jams)
    cell, work = cheapest(cost, (row, column), cells)
    return cell if cell[0] >= 0 else None, work


def travel_from(
    grid: Grid,
    here: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    starts: np.ndarray,
    cells: np.ndarray,
    jams: np.ndarray = NO_PLACES,
) -> tuple[np.ndarray, int]:
    """Estimate the cost of driving from some places to some cells, in metres of open floor.

    The search runs over blocks of cells, each as cheap as its cheapest cell. Blocks are small enough that no wall, with
    the clearance on its two sides, is skipped.

    Args:
        grid: the belief, int8 (-1 unknown, 0 free, 100 occupied), yaw 0.
        here: x, y [m], position of the robot that holds the belief.
        radius: radius of the robots' bodies [m].
        driving: how they plan.
        others: float64 (k, 2), robots in sight [m], which do not count as walls.
        starts: float64 (n, 2), x, y [m].
        cells: int64 (k, 2), rows and columns.
        jams: float64 (k, 2), places where they did not get through [m].

    Returns:
        float64 (n, k), inf where no path is known, or the start lies outside the grid; and the work of the searches.
    """
    occupancy, cost = ground(grid, here, radius, driving, others)
    if len(jams):
        cost = cost.copy()
        shun(cost, jams, grid, radius)
    sides = math.ceil(lethal_clearance(radius, grid.resolution) / grid.resolution + 0.5) - 1
    block = sides + 1  # a wall of one cell and its two sides, 2 * sides + 1 cells, always fill one block across
    coarse, solid = _blocks(cost, occupancy, block)
    out = np.full((len(starts), len(cells)), np.inf)
    reach = math.ceil((radius + 0.1) / (block * grid.resolution))
    at, places = cells // block, grid.to_cells(starts) // block
    inside = np.flatnonzero(((places >= 0) & (places < coarse.shape)).all(axis=1))
    ahead, work = None, 0
    if len(inside) > _FEW:
        easiest = coarse.copy()
        for i in inside:
            soften(easiest, solid, *places[i], reach)
        ahead, work = costs_ahead(easiest, places[inside], at)
    for i in inside:
        own = coarse.copy()
        soften(own, solid, *places[i], reach)
        out[i], entries = costs_to(own, places[i], at, ahead)
        work += entries
    return out * (block * grid.resolution), work


@kernel
def _blocks(cost, occupancy, block):
    """Return the least cost and the greatest occupancy of each block of cells; the last blocks may be smaller."""
    rows, columns, width = -(-cost.shape[0] // block), -(-cost.shape[1] // block), cost.shape[1]
    least, most = np.empty((rows, columns), np.float32), np.empty((rows, columns), np.int8)
    low, high = np.empty(width, np.float32), np.empty(width, np.int8)
    for i in range(rows):
        low[:], high[:] = cost[i * block], occupancy[i * block]
        for r in range(i * block + 1, min((i + 1) * block, cost.shape[0])):  # all columns of a row at once
            of_cost, of_occupancy = cost[r], occupancy[r]
            for c in range(width):
                low[c] = of_cost[c] if of_cost[c] < low[c] else low[c]
            for c in range(width):
                high[c] = of_occupancy[c] if of_occupancy[c] > high[c] else high[c]
        for k in range(columns):
            to_least, to_most = low[k * block], high[k * block]
            for c in range(k * block + 1, min((k + 1) * block, width)):
                to_least, to_most = min(to_least, low[c]), max(to_most, high[c])
            least[i, k], most[i, k] = to_least, to_most
    return least, most
