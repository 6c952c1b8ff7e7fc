"""Coarse tiles over a robot's own map: which are open, and where in them the robot can stand."""

import math
from dataclasses import dataclass

import numpy as np

from covey.geometry import Grid

Tile = tuple[int, int]
"""Row and column in the plane: tile (0, 0) has its south-west corner at the origin of the world frame."""

UNSEEN, OPEN, SOLID = -1, 0, 1
EAST, NORTH, WEST, SOUTH = range(4)
STEPS: tuple[Tile, ...] = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Row and column steps to the east, north, west and south: turning left adds 1 to a direction."""


def beside(tile: Tile, direction: int) -> Tile:
    """Return the tile next to one in a direction, any integer.

    Examples:
        >>> beside((2, 5), NORTH), beside((2, 5), EAST - 1)
        ((3, 5), (1, 5))
    """
    step = STEPS[direction % 4]
    return tile[0] + step[0], tile[1] + step[1]


def tile_of(x: float, y: float, tile_m: float) -> Tile:
    """Return the tile that holds a point [m]."""
    return math.floor(y / tile_m), math.floor(x / tile_m)


@dataclass(frozen=True, eq=False)
class Tiles:
    """The tiles that a map covers.

    Attributes:
        tile_m: side of a tile [m].
        first: the tile in the south-west.
        state: int8 (rows, columns), `UNSEEN`, `OPEN` or `SOLID`.
        stand: float64 (rows, columns, 2), where to stand in an open tile [m]; its centre if possible.
    """

    tile_m: float
    first: Tile
    state: np.ndarray
    stand: np.ndarray

    def at(self, tile: Tile) -> int:
        """Return the state of a tile; what lies off the map is solid."""
        row, column = tile[0] - self.first[0], tile[1] - self.first[1]
        inside = 0 <= row < self.state.shape[0] and 0 <= column < self.state.shape[1]
        return int(self.state[row, column]) if inside else SOLID

    def place(self, tile: Tile) -> tuple[float, float]:
        """Return where to stand in an open tile [m]."""
        x, y = self.stand[tile[0] - self.first[0], tile[1] - self.first[1]].tolist()
        return x, y

    def open(self) -> list[Tile]:
        """Return all open tiles, row by row."""
        found = np.argwhere(self.state == OPEN) + np.array(self.first)
        return [(int(r), int(c)) for r, c in found]


def coarse(occupancy: Grid, reachable: np.ndarray, tile_m: float) -> Tiles:
    """Return the tiles over a map.

    A tile is open when the robot can stand somewhere in it, unseen when it cannot but might in an unknown cell, else
    solid. For walls along the borders of tiles that is MAES' rule, by which one solid cell makes a tile solid.

    Args:
        occupancy: int8 cells, -1 unknown, 0 free, 100 occupied, yaw 0.
        reachable: bool (rows, columns), the cells that the robot can drive to, unknown ones taken for free.
        tile_m: side of a tile [m], not less than a cell.

    Examples:
        >>> grid = Grid(np.array([[0, 0, 100, -1]], np.int8), 0.5)
        >>> coarse(grid, grid.cells != 100, 1.0).state.tolist()
        [[0, -1]]
    """
    rows, columns = occupancy.shape
    x = occupancy.to_world(np.column_stack((np.zeros(columns), np.arange(columns))))[:, 0]
    y = occupancy.to_world(np.column_stack((np.arange(rows), np.zeros(rows))))[:, 1]
    row, column = np.floor(y / tile_m + 1e-9).astype(int), np.floor(x / tile_m + 1e-9).astype(int)
    first = int(row[0]), int(column[0])
    shape = int(row[-1]) - first[0] + 1, int(column[-1]) - first[1] + 1
    state = np.full(shape, SOLID, np.int8)
    stand = np.full((*shape, 2), np.nan)
    r, c = np.nonzero(reachable & (occupancy.cells == -1))
    state[row[r] - first[0], column[c] - first[1]] = UNSEEN
    r, c = np.nonzero(reachable & (occupancy.cells == 0))
    away = np.hypot(x[c] - (column[c] + 0.5) * tile_m, y[r] - (row[r] + 0.5) * tile_m)
    order = np.argsort(-away, kind="stable")  # of cells in one tile the last, the nearest to its centre, stays
    r, c = r[order], c[order]
    at = row[r] - first[0], column[c] - first[1]
    state[at] = OPEN
    stand[at] = np.stack((x[c], y[r]), axis=-1)
    return Tiles(tile_m, first, state, stand)
