"""Boustrophedon decomposition: cells that a robot covers in parallel lanes, and these lanes.

References:
    H. Choset: Coverage of known spaces: the boustrophedon cellular decomposition. Autonomous Robots 9(3), 2000.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Strip:
    """A cell of the decomposition: one run of rows in each of some neighbouring columns.

    Attributes:
        first: its first column.
        low, high: first and last row in each column, int (m,).
    """

    first: int
    low: np.ndarray
    high: np.ndarray

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.low)

    @property
    def area(self) -> int:
        """Number of grid cells."""
        return int((self.high - self.low + 1).sum())


def decompose(standing: np.ndarray) -> list[Strip]:
    """Return the cells of a region, in the order of their first column and row.

    A line sweeps over the columns. A cell continues as long as its run of standing cells has exactly one neighbouring
    run on either side. Where runs split, join, begin or end, cells begin or end.

    Args:
        standing: bool (rows, columns), where the centre of the robot may be.

    Examples:
        >>> room = np.ones((5, 7), bool)
        >>> room[2, 3] = False  # a pillar
        >>> [(s.first, s.columns, int(s.low[0]), int(s.high[0])) for s in decompose(room)]
        [(0, 3, 0, 4), (3, 1, 0, 1), (3, 1, 3, 4), (4, 3, 0, 4)]
    """
    done: list[tuple[int, list[tuple[int, int]]]] = []
    active: list[tuple[int, list[tuple[int, int]]]] = []
    for column in range(standing.shape[1] + 1):
        runs = _runs(standing[:, column]) if column < standing.shape[1] else []
        beside = [[k for k, run in enumerate(runs) if _touch(cell[1][-1], run)] for cell in active]
        before = [sum(k in b for b in beside) for k in range(len(runs))]
        goes_on = {b[0]: i for i, b in enumerate(beside) if len(b) == 1 and before[b[0]] == 1}
        done += [cell for i, cell in enumerate(active) if i not in goes_on.values()]
        active = [
            (active[goes_on[k]][0], [*active[goes_on[k]][1], run]) if k in goes_on else (column, [run])
            for k, run in enumerate(runs)
        ]
    done.sort(key=lambda cell: (cell[0], cell[1][0]))
    return [Strip(first, np.array([r[0] for r in runs]), np.array([r[1] for r in runs])) for first, runs in done]


def lanes(strip: Strip, width: float) -> list[tuple[int, int, int]]:
    """Return the lanes of a cell, evenly spaced and at most ``width`` columns apart: (column, first row, last row).

    Examples:
        >>> lanes(decompose(np.ones((5, 8), bool))[0], 4.0)
        [(0, 0, 4), (4, 0, 4), (7, 0, 4)]
    """
    gaps = max(1, math.ceil((strip.columns - 1) / width)) if strip.columns > 1 else 0
    at = [round(k * (strip.columns - 1) / gaps + 1e-9) for k in range(gaps + 1)] if gaps else [0]
    return [(strip.first + k, int(strip.low[k]), int(strip.high[k])) for k in at]


def zigzag(rows: list[tuple[int, int, int]], corner: int) -> list[tuple[int, int]]:
    """Return the ends of the lanes in driving order, as (row, column).

    Args:
        rows: see `lanes`.
        corner: where to begin: if bit 0 is set, with the last lane; if bit 1 is set, at the last row.

    Examples:
        >>> zigzag([(0, 0, 4), (4, 0, 4)], 0)
        [(0, 0), (4, 0), (4, 4), (0, 4)]
    """
    up, path = not corner & 2, []
    for column, low, high in rows[::-1] if corner & 1 else rows:
        path += [(low, column), (high, column)] if up else [(high, column), (low, column)]
        up = not up
    return path


def _runs(column: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], column.astype(np.int8), [0]))))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


def _touch(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]
