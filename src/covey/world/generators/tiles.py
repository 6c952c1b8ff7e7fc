"""Worlds drawn on tiles: squares of several cells."""

import math

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.lazy import ndimage
from covey.world.world import FREE, WALL, World, check_size


def in_tiles(value_m: float, tile_m: float, what: str, least: int = 1, unit: str = "tile_m") -> int:
    """Return a length [m] as a whole number of tiles, or raise `InvalidValueError` if it is not one."""
    for name, value in ((unit, tile_m), (what, value_m)):
        if not (math.isfinite(value) and value >= 0 and (value > 0 or name == what)):
            raise InvalidValueError(f"{name} is {value!r}; it must be a positive number of metres")
    count = round(value_m / tile_m)
    if abs(count * tile_m - value_m) > 1e-9 * max(value_m, tile_m) or count < least:
        near = (
            f"it must be a multiple ({least} or more) of {unit}, {tile_m:g} m, such as {max(count, least) * tile_m:g}"
        )
        raise InvalidValueError(f"{what} is {value_m:g}; {near}")
    return count


def cells_along(rows: int, columns: int, tile_m: float, resolution_m: float) -> int:
    """Return the number of cells along a tile.

    Raises:
        InvalidValueError: the number is not whole, or the world has too many cells.
    """
    along = in_tiles(tile_m, resolution_m, "tile_m", unit="resolution_m")
    check_size(rows * along, columns * along, resolution_m)
    return along


def enlarge(tiles: np.ndarray, along: int) -> np.ndarray:
    """Return an array of cells, ``along`` x ``along`` for each tile."""
    return np.repeat(np.repeat(tiles, along, axis=0), along, axis=1)


def world_of_tiles(is_open: np.ndarray, tile_m: float, resolution_m: float, name: str, rounded: bool = False) -> World:
    """Return the world in which the tiles ``is_open``, bool (rows, columns), are free and all others wall.

    With ``rounded``, corners are cut by marching squares over the tile centres: at 45 degrees, halfway between two
    centres. Where a square of ``n`` tiles can move from tile to tile, a disc of that diameter still can.
    """
    rows, columns = is_open.shape
    along = cells_along(rows, columns, tile_m, resolution_m)
    walls = enlarge(~is_open, along)
    if rounded:
        walls = _cut_corners(walls, ~is_open, along)
    cells = np.where(walls, WALL, FREE).astype(np.uint8)
    return World(Grid(cells, resolution_m, (-columns * tile_m / 2, -rows * tile_m / 2, 0.0)), name)


def _cut_corners(walls: np.ndarray, tiles: np.ndarray, along: int) -> np.ndarray:
    """Give the diamond around each meeting point of four tiles, which reaches half a tile far, one value.

    It is wall if three of the four tiles are, or two that meet at their corner; free if only one is. If two walls are
    side by side there is no corner to cut.
    """
    rows, columns = tiles.shape
    padded = np.pad(tiles, 1, constant_values=True)
    a, b, c, d = padded[:-1, :-1], padded[:-1, 1:], padded[1:, :-1], padded[1:, 1:]
    count = a.astype(np.int8) + b + c + d
    fill, clear = (count == 3) | ((count == 2) & (a == d)), count == 1
    # The corner of tiles nearest to each cell centre, and the distance to it along each axis in tiles.
    centre = [(np.arange(n * along) + 0.5) / along for n in (rows, columns)]
    corner = [np.floor(t + 0.5).astype(np.int64) for t in centre]
    near = np.abs(centre[0] - corner[0])[:, None] + np.abs(centre[1] - corner[1]) <= 0.5
    at = np.ix_(*corner)
    return np.where(near & clear[at], False, walls | (near & fill[at]))


def label_over_edges(mask: np.ndarray) -> tuple[np.ndarray, int]:
    """Label the edge-connected parts of a mask as 1, 2, …; return the labels and their number."""
    labels = np.empty(mask.shape, np.int32)
    return labels, int(ndimage.label(mask, output=labels))  # pyright: ignore
