"""Breadth-first search over a grid: the fewest steps between four-connected cells.

References:
    E. F. Moore: The shortest path through a maze. Proc. International Symposium on the Theory of Switching, 1959.
"""

import numpy as np

from covey.kernel import kernel


def nearest_by_steps(passable: np.ndarray, source: tuple[int, int], target: np.ndarray) -> tuple[int, int] | None:
    """Return the target that takes the fewest steps east, north, west or south; None if none can be reached.

    Args:
        passable: bool (rows, columns), the cells that steps may lead through; targets and the source may be others.
        source: row and column.
        target: bool (rows, columns).

    Of targets at the same number of steps, the one whose earlier steps lead further east wins, then north, …

    Examples:
        >>> passable = np.array([[1, 1, 1], [0, 0, 1], [1, 1, 1]], bool)
        >>> target = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]], bool)
        >>> nearest_by_steps(passable, (0, 0), target)
        (2, 0)
        >>> nearest_by_steps(passable & ~target, (0, 1), passable & False)
    """
    hit = flood(
        np.ascontiguousarray(passable).view(np.uint8), source[0], source[1], np.ascontiguousarray(target).view(np.uint8)
    )
    return divmod(int(hit), passable.shape[1]) if hit >= 0 else None


@kernel
def flood(passable, row, column, target):
    """Return the flat index of the first cell of ``target`` that a breadth-first search meets, or -1."""
    rows, columns = passable.shape
    queue = np.empty(rows * columns, np.int32)
    seen = np.zeros((rows, columns), np.uint8)
    queue[0] = row * columns + column
    seen[row, column] = 1
    first, last = 0, 1
    while first < last:
        here = queue[first]
        first += 1
        r, c = here // columns, here % columns
        if target[r, c]:
            return here
        if not passable[r, c] and here != row * columns + column:
            continue
        for move in range(4):
            a = r + (move == 1) - (move == 3)
            b = c + (move == 0) - (move == 2)
            if 0 <= a < rows and 0 <= b < columns and not seen[a, b] and (passable[a, b] or target[a, b]):
                seen[a, b] = 1
                queue[last] = a * columns + b
                last += 1
    return -1
