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


def coarse(occupancy: Grid, reachable: np.ndarray, tile_m: float, reach_m: float = 0.0) -> Tiles:
    """Return the tiles over a map.

    A tile is open when the robot can stand somewhere in it, or just beside it with its body over free cells of it;
    unseen when it cannot but might in an unknown cell; else solid. For walls along the borders of tiles that is MAES'
    rule, by which one solid cell makes a tile solid.

    Args:
        occupancy: int8 cells, -1 unknown, 0 free, 100 occupied, yaw 0.
        reachable: bool (rows, columns), the cells that the robot can drive to, unknown ones taken for free.
        tile_m: side of a tile [m], not less than a cell.
        reach_m: how far from where it stands the robot covers the centre of a cell [m].

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
    row, column = row - first[0], column - first[1]
    state = np.full((int(row[-1]) + 1, int(column[-1]) + 1), SOLID, np.int8)
    middle_x = (np.arange(state.shape[1]) + first[1] + 0.5) * tile_m
    middle_y = (np.arange(state.shape[0]) + first[0] + 0.5) * tile_m
    stand = np.full((*state.shape, 2), np.nan)

    def open_up(i: np.ndarray, k: np.ndarray, r: np.ndarray, c: np.ndarray) -> None:
        """Open the tiles (i, k) with the cells (r, c) to stand on; of those for one tile the nearest to its centre."""
        away = np.hypot(x[c] - middle_x[k], y[r] - middle_y[i])
        order = np.argsort(-away, kind="stable")  # the last one stays
        at = i[order], k[order]
        state[at] = OPEN
        stand[at] = np.stack((x[c[order]], y[r[order]]), axis=-1)

    r, c = np.nonzero(reachable & (occupancy.cells == -1))
    state[row[r], column[c]] = UNSEEN
    standing = reachable & (occupancy.cells == 0)
    r, c = np.nonzero(standing)
    open_up(row[r], column[c], r, c)
    r, c = np.nonzero((occupancy.cells == 0) & (state[row[:, None], column] == SOLID))
    most = int(reach_m / occupancy.resolution)
    near = [(i, k) for i in range(-most, most + 1) for k in range(-most, most + 1)]
    offsets = np.array([o for o in near if math.hypot(*o) * occupancy.resolution <= reach_m])
    down, right = np.clip(r + offsets[:, :1], 0, rows - 1), np.clip(c + offsets[:, 1:], 0, columns - 1)
    which, cell = np.nonzero(standing[down, right])
    open_up(row[r[cell]], column[c[cell]], down[which, cell], right[which, cell])
    _to_middle(stand, middle_x, middle_y, standing, x, y)
    return Tiles(tile_m, first, state, stand)


def _to_middle(
    stand: np.ndarray, middle_x: np.ndarray, middle_y: np.ndarray, standing: np.ndarray, x: np.ndarray, y: np.ndarray
) -> None:
    """Move where to stand to the centre of the tile, or to its centre line, where there is room in all cells around."""
    i, k = np.nonzero(np.isfinite(stand[:, :, 0]))
    px, py = stand[i, k].T
    resolution = x[1] - x[0] if len(x) > 1 else 1.0
    for qx, qy in ((px, middle_y[i]), (middle_x[k], py), (middle_x[k], middle_y[i])):  # the last that fits stays
        u, v = (qx - x[0]) / resolution, (qy - y[0]) / resolution
        fits = np.ones(len(i), bool)
        for row in (np.floor(v + 1e-6), np.ceil(v - 1e-6)):
            for column in (np.floor(u + 1e-6), np.ceil(u - 1e-6)):
                r, c = row.astype(int), column.astype(int)
                inside = (r >= 0) & (r < len(y)) & (c >= 0) & (c < len(x))
                fits &= inside & standing[np.clip(r, 0, len(y) - 1), np.clip(c, 0, len(x) - 1)]
        stand[i[fits], k[fits]] = np.stack((qx, qy), axis=-1)[fits]
