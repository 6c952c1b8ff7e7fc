"""A*: the cheapest path from one cell to another.

References:
    P. E. Hart, N. J. Nilsson, B. Raphael: A formal basis for the heuristic determination of minimum cost paths.
    IEEE Transactions on Systems Science and Cybernetics 4(2), 1968.
"""

import numpy as np

from covey.planning.dijkstra import Path, cheapest_path


def astar(cost: np.ndarray, source: tuple[int, int], target: tuple[int, int]) -> Path:
    """Return the cheapest 8-connected path over a grid, without cutting corners.

    Args:
        cost: float32 (rows, columns) from `covey.planning.costs.traversal_cost`: 1 … 50, or inf for impassable cells.
        source: row and column of the start; may itself be impassable.
        target: row and column of the goal.

    Examples:
        >>> path = astar(np.ones((3, 4), np.float32), (0, 0), (2, 3))
        >>> len(path.cells), round(path.cost, 3)
        (4, 3.828)
    """
    return cheapest_path(cost, source, target)
