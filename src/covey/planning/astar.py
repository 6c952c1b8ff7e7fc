"""A*: the cheapest path from one cell to another.

References:
    P. E. Hart, N. J. Nilsson, B. Raphael: A formal basis for the heuristic determination of minimum cost paths.
    IEEE Transactions on Systems Science and Cybernetics 4(2), 1968.
"""

import numpy as np

from covey.planning.dijkstra import cheapest_path


def astar(cost: np.ndarray, source: tuple[int, int], target: tuple[int, int]) -> tuple[np.ndarray, float]:
    """Return the cheapest 8-connected path over a grid, without cutting corners, and its cost.

    Args:
        cost: float32 (rows, columns) from `covey.planning.costs.traversal_cost`: 1 … 50, or inf for impassable cells.
        source: row and column of the start; may itself be impassable.
        target: row and column of the goal.

    Returns:
        int64 (m, 2), the rows and columns from source to target, empty (0, 2) if there is no path; and the cost in
        cells (inf if there is no path).

    Examples:
        >>> path, length = astar(np.ones((3, 4), np.float32), (0, 0), (2, 3))
        >>> len(path), round(length, 3)
        (4, 3.828)
    """
    return cheapest_path(cost, source, target)
