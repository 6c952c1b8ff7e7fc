"""The cost for a robot to reach the cells of its own map."""

import math

import numpy as np

from covey.geometry import Grid
from covey.onboard.driving import Driving
from covey.onboard.navigation.route import ground, lethal_clearance, passage
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
) -> Field | None:
    """Return the cost to come from ``start`` to the cells of an occupancy grid, in cells of open floor.

    Args:
        grid: the belief, int8 (-1 unknown, 0 free, 100 occupied), yaw 0.
        start: x, y [m].
        radius: radius of the robot's body [m].
        driving: how the robot plans.
        others: float64 (k, 2), robots in sight [m], which do not count as walls.

    Returns:
        The field; None if ``start`` lies outside the grid.
    """
    row, column = grid.cell_at(*start)
    if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]):
        return None
    _, cost = passage(grid, start, radius, driving, others)
    return dijkstra(cost, (row, column))


def cheapest_cell(
    grid: Grid,
    start: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    cells: np.ndarray,
) -> tuple[int, int] | None:
    """Return the cell of ``cells``, int (k, 2), that is cheapest to reach, or None. Other arguments as in `travel`."""
    row, column = grid.cell_at(*start)
    if not (0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]):
        return None
    _, cost = passage(grid, start, radius, driving, others)
    found = cheapest(cost, (row, column), cells)
    return found if found[0] >= 0 else None


def travel_from(
    grid: Grid,
    here: tuple[float, float],
    radius: float,
    driving: Driving,
    others: np.ndarray,
    starts: np.ndarray,
    cells: np.ndarray,
) -> np.ndarray:
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

    Returns:
        float64 (n, k); inf where no path is known, or the start lies outside the grid.
    """
    occupancy, cost = ground(grid, here, radius, driving, others)
    sides = math.ceil(lethal_clearance(radius, grid.resolution) / grid.resolution + 0.5) - 1
    block = sides + 1  # a wall of one cell and its two sides, 2 * sides + 1 cells, always fill one block across
    coarse, solid = _blocks(cost, block, np.minimum), _blocks(occupancy, block, np.maximum)
    out = np.full((len(starts), len(cells)), np.inf)
    reach = math.ceil((radius + 0.1) / (block * grid.resolution))
    at, places = cells // block, grid.to_cells(starts) // block
    inside = np.flatnonzero(((places >= 0) & (places < coarse.shape)).all(axis=1))
    ahead = None
    if len(inside) > _FEW:
        easiest = coarse.copy()
        for i in inside:
            soften(easiest, solid, *places[i], reach)
        ahead = costs_ahead(easiest, places[inside], at)
    for i in inside:
        own = coarse.copy()
        soften(own, solid, *places[i], reach)
        out[i] = costs_to(own, places[i], at, ahead)
    return out * (block * grid.resolution)


def _blocks(cells: np.ndarray, block: int, choose: np.ufunc) -> np.ndarray:
    """Return one value for each block of cells, the least or the greatest of them; the last blocks may be smaller."""
    if block == 1:
        return cells
    rows = choose.reduceat(cells, np.arange(0, cells.shape[0], block), axis=0)
    return choose.reduceat(rows, np.arange(0, cells.shape[1], block), axis=1)
