"""Thin walls on the lines of a square lattice, as in mazes."""

from dataclasses import dataclass

import numpy as np
from shapely.geometry.base import BaseGeometry

from covey.world.editing.shapes import wall


@dataclass(frozen=True)
class LatticeWalls:
    """The inner walls between square lattice cells, row 0 in the south.

    Attributes:
        east: bool (rows, columns - 1): a wall between cell [r, c] and cell [r, c + 1].
        north: bool (rows - 1, columns): a wall between cell [r, c] and cell [r + 1, c].
    """

    east: np.ndarray
    north: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of lattice cells."""
        return self.east.shape[0], self.north.shape[1]


def wall_shapes(walls: LatticeWalls, pitch_m: float, wall_m: float) -> list[BaseGeometry]:
    """Return the straight walls as polygons around the origin, with collinear segments merged.

    Args:
        walls: the lattice edges with a wall.
        pitch_m: side of a lattice cell [m].
        wall_m: thickness of the walls [m].
    """
    rows, columns = walls.shape
    left, bottom = -columns * pitch_m / 2, -rows * pitch_m / 2
    shapes: list[BaseGeometry] = []
    for c in range(columns - 1):
        x = left + (c + 1) * pitch_m
        for first, end in _runs(walls.east[:, c]):
            shapes.append(wall([(x, bottom + first * pitch_m), (x, bottom + end * pitch_m)], wall_m))
    for r in range(rows - 1):
        y = bottom + (r + 1) * pitch_m
        for first, end in _runs(walls.north[r]):
            shapes.append(wall([(left + first * pitch_m, y), (left + end * pitch_m, y)], wall_m))
    return shapes


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Return [first, end) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
