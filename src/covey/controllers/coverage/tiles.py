"""Coarse tiles over a robot's own map: which tiles are open, and where in them the robot can stand."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from covey.geometry import Grid
from covey.kernel import kernel

Tile = tuple[int, int]
"""Row and column of a tile; tile (0, 0) has its south-west corner at the origin of the world frame."""

UNSEEN, OPEN, SOLID = -1, 0, 1
_FREE, _STANDING, _MIGHT = np.uint8(1), np.uint8(2), np.uint8(4)  # free; the robot can stand there; or if it is free
EAST, NORTH, WEST, SOUTH = range(4)
STEPS: tuple[Tile, ...] = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Row and column steps to the east, north, west and south; a left turn adds 1 to a direction."""


def beside(tile: Tile, direction: int) -> Tile:
    """Return the neighbouring tile in a direction; any integer is a direction.

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
        stand: float64 (rows, columns, 2), where to stand in an open tile [m]: its centre if possible.
    """

    tile_m: float
    first: Tile
    state: np.ndarray
    stand: np.ndarray

    def at(self, tile: Tile) -> int:
        """Return the state of a tile; tiles outside the map are solid."""
        row, column = tile[0] - self.first[0], tile[1] - self.first[1]
        inside = 0 <= row < self.state.shape[0] and 0 <= column < self.state.shape[1]
        return int(self.state[row, column]) if inside else SOLID

    def place(self, tile: Tile) -> tuple[float, float]:
        """Return where to stand in an open tile [m]."""
        x, y = self.stand[tile[0] - self.first[0], tile[1] - self.first[1]].tolist()
        return x, y

    def places(self, tiles: np.ndarray) -> np.ndarray:
        """Return where to stand in open tiles, int64 (k, 2), as float64 (k, 2) [m]."""
        row, column = (tiles - self.first).T
        return self.stand[row, column]

    def open(self) -> np.ndarray:
        """Return all open tiles, int64 (k, 2), row by row."""
        return np.argwhere(self.state == OPEN) + self.first


def coarse(occupancy: Grid, reachable: np.ndarray, tile_m: float, reach_m: float = 0.0) -> Tiles:
    """Return the tiles over a map.

    A tile is open if the robot can stand in it, or just beside it with its body over free cells of it. A tile is unseen
    if the robot can stand only in an unknown cell of it; else it is solid. For walls along the borders of tiles this is
    MAES' rule, by which one solid cell makes a tile solid.

    The robot stands at the centre of an open tile if all cells around have room; else on a centre line beside the cell
    nearest to the centre, if all cells around have room; else in that cell.

    Args:
        occupancy: int8 cells, -1 unknown, 0 free, 100 occupied, yaw 0.
        reachable: bool (rows, columns), the cells that the robot can drive to; unknown ones count as free.
        tile_m: side of a tile [m], not less than a cell.
        reach_m: distance from the robot at which it covers the centre of a cell [m].

    Examples:
        >>> grid = Grid(np.array([[0, 0, 100, -1]], np.int8), 0.5)
        >>> coarse(grid, grid.cells != 100, 1.0).state.tolist()
        [[0, -1]]
    """
    x, y, row, column, first = _axes(occupancy.shape, occupancy.resolution, occupancy.origin, tile_m)
    near = _offsets(reach_m, occupancy.resolution)
    state, stand = _coarse(occupancy.cells, reachable, x, y, row, column, first, tile_m, near)
    return Tiles(tile_m, (int(first[0]), int(first[1])), state, stand)


@lru_cache(4)
def _axes(
    shape: tuple[int, int], resolution: float, origin: tuple[float, float, float], tile_m: float
) -> tuple[np.ndarray, ...]:
    """Return the centres x and y [m] of columns and rows, the indices at which each row and column of tiles begins
    (and the last one ends), and the first tile."""
    rows, columns = shape
    grid = Grid(np.empty((0, 0)), resolution, origin)
    x = grid.to_world(np.column_stack((np.zeros(columns), np.arange(columns))))[:, 0]
    y = grid.to_world(np.column_stack((np.arange(rows), np.zeros(rows))))[:, 1]
    first, starts = [], []
    for centres in (y, x):
        tile = np.floor(centres / tile_m + 1e-9).astype(int)
        first.append(tile[0])
        starts.append(np.searchsorted(tile, np.arange(tile[0], tile[-1] + 2)))
    return np.ascontiguousarray(x), np.ascontiguousarray(y), *starts, np.array(first)


@lru_cache(4)
def _offsets(reach_m: float, resolution: float) -> np.ndarray:
    """Return the steps in rows and columns, int64 (k, 2), to the cells within a distance [m], from the south-west."""
    most = int(reach_m / resolution)
    near = [(i, k) for i in range(-most, most + 1) for k in range(-most, most + 1)]
    return np.array([o for o in near if math.hypot(*o) * resolution <= reach_m])


@kernel
def _coarse(cells, reachable, x, y, row, column, first, tile_m, near):
    """Return the state of each tile and where to stand in it; see `_axes` and `coarse`."""
    rows, columns = cells.shape
    kind = np.empty((rows, columns), np.uint8)
    for r in range(rows):
        for c in range(columns):
            free, unknown = np.uint8(cells[r, c] == 0), np.uint8(cells[r, c] == -1)
            kind[r, c] = free * _FREE | np.uint8(reachable[r, c]) * (free * _STANDING | unknown * _MIGHT)
    resolution = x[1] - x[0] if columns > 1 else 1.0
    middle_x = np.empty(column.size - 1)
    left_right = np.empty((column.size - 1, 2), np.int64)
    for k in range(column.size - 1):
        middle_x[k] = (k + first[1] + 0.5) * tile_m
        left_right[k, 0], left_right[k, 1] = _around(middle_x[k], x[0], resolution)
    state = np.full((row.size - 1, column.size - 1), SOLID, np.int8)
    stand = np.full((row.size - 1, column.size - 1, 2), np.nan)
    band = np.empty(columns, np.uint8)
    for i in range(row.size - 1):
        middle_y = (i + first[0] + 0.5) * tile_m
        down_up = _around(middle_y, y[0], resolution)
        for c in range(columns):
            band[c] = 0
        for r in range(row[i], row[i + 1]):
            for c in range(columns):
                band[c] |= kind[r, c]
        for k in range(column.size - 1):
            kinds = np.uint8(0)
            for c in range(column[k], column[k + 1]):
                kinds |= band[c]
            if kinds & _STANDING:
                if _fits(kind, down_up, (left_right[k, 0], left_right[k, 1])):
                    state[i, k], stand[i, k, 0], stand[i, k, 1] = OPEN, middle_x[k], middle_y
                    continue
            elif kinds & _MIGHT:
                state[i, k] = UNSEEN
                continue
            elif not kinds & _FREE:
                continue
            px, py, least = np.nan, np.nan, np.inf
            wanted = _STANDING if kinds & _STANDING else _FREE
            for n in range(1 if kinds & _STANDING else near.shape[0]):
                for r in range(row[i], row[i + 1]):
                    for c in range(column[k], column[k + 1]):
                        if not kind[r, c] & wanted:
                            continue
                        down, right = r, c
                        if wanted == _FREE:
                            down = min(max(r + near[n, 0], 0), rows - 1)
                            right = min(max(c + near[n, 1], 0), columns - 1)
                        if kind[down, right] & _STANDING:
                            away = math.hypot(x[right] - middle_x[k], y[down] - middle_y)
                            if away <= least:
                                px, py, least = x[right], y[down], away
            if least == np.inf:
                continue
            state[i, k], stand[i, k, 0], stand[i, k, 1] = OPEN, px, py
            if _fits(kind, down_up, (left_right[k, 0], left_right[k, 1])):
                stand[i, k, 0], stand[i, k, 1] = middle_x[k], middle_y
            elif _fits(kind, _around(py, y[0], resolution), (left_right[k, 0], left_right[k, 1])):
                stand[i, k, 0] = middle_x[k]
            elif _fits(kind, down_up, _around(px, x[0], resolution)):
                stand[i, k, 1] = middle_y
    return state, stand


@kernel
def _around(p, first, resolution):
    """Return the first and the last of the one or two rows or columns next to a coordinate [m]."""
    place = (p - first) / resolution
    return math.floor(place + 1e-6), math.ceil(place - 1e-6)


@kernel
def _fits(kind, down_up, left_right):
    """Return whether there is room in all cells around a place."""
    if down_up[0] < 0 or down_up[1] >= kind.shape[0] or left_right[0] < 0 or left_right[1] >= kind.shape[1]:
        return False
    both = kind[down_up[0], left_right[0]] & kind[down_up[0], left_right[1]]
    return both & kind[down_up[1], left_right[0]] & kind[down_up[1], left_right[1]] & _STANDING != 0
