"""Caves, grown by a cellular automaton."""

import math

import numpy as np

from covey.errors import InvalidValueError
from covey.lazy import ndimage
from covey.random import generator
from covey.world.editing.obstacles import disc_patch
from covey.world.generators.tiles import cells_along, enlarge, in_tiles, label_over_edges, world_of_tiles
from covey.world.materials import made_of, patches, with_materials
from covey.world.world import World

MAX_TILES = 500_000
"""Largest number of tiles of a cave."""


def cave(
    *,
    size_m: tuple[float, float] = (50.0, 50.0),
    tile_m: float = 1.0,
    fill: float = 0.45,
    smoothing_runs: int = 4,
    neighbour_walls: int = 4,
    min_wall_m2: float = 10.0,
    min_room_m2: float = 10.0,
    connection_m: float = 4.0,
    border_m: float = 2.0,
    passage_m: float = 2.0,
    rounded: bool = True,
    material: str | None = None,
    resolution_m: float = 0.25,
    seed: int = 0,
) -> World:
    """Return a cave, centred on the origin, with one connected free area.

    Tiles are wall at random, and a cellular automaton smooths them. Narrow corridors are closed, small walls and small
    rooms removed, and separate rooms connected. A disc of diameter ``passage_m`` can reach every place in which it
    fits: places behind narrower gaps are connected or closed. The defaults are those of MAES 2.0, with a tile of 1 m.

    Args:
        size_m: width and height [m], multiples of ``tile_m``.
        tile_m: side of the squares on which the cave grows [m].
        fill: probability that a tile is wall at the start.
        smoothing_runs: number of runs of the automaton over all tiles.
        neighbour_walls: a tile with more walls than this among its 8 neighbours becomes wall, with fewer free.
        min_wall_m2: walls of a smaller area [m²] become free.
        min_room_m2: rooms of a smaller area [m²] become wall.
        connection_m: radius of the discs that cut a passage between rooms [m].
        border_m: thickness of the wall all around [m].
        passage_m: width of the narrowest passage [m], rounded up to whole tiles.
        rounded: whether corners are cut at 45 degrees, by marching squares; else walls are squares.
        material: material of the walls; ``random``: in patches; None: no material.
        resolution_m: side of a grid cell [m]; ``tile_m`` is a multiple.
        seed: the same seed gives the same cave.

    Raises:
        InvalidValueError: lengths are not multiples of a tile, or no room is left.

    References:
        M. Z. Andreasen, P. I. Holler, M. K. Jensen, M. Albano: MAES: a ROS 2-compatible simulation tool for exploration
        and coverage algorithms. Artificial Life and Robotics 28, 2023; its source of June 2022.
    """
    columns, rows = (in_tiles(value, tile_m, f"size_m[{i}]") for i, value in enumerate(size_m))
    border, passage = in_tiles(border_m, tile_m, "border_m"), max(1, math.ceil(passage_m / tile_m - 1e-9))
    if not 0 <= fill <= 1 or smoothing_runs < 0 or not 0 <= neighbour_walls <= 8:
        raise InvalidValueError(
            f"fill is {fill}, smoothing_runs {smoothing_runs}, neighbour_walls {neighbour_walls}; fill is a "
            "probability from 0 to 1, smoothing_runs not negative, neighbour_walls from 0 to 8"
        )
    if min(columns, rows) < 2 * border + passage + 2:
        raise InvalidValueError(
            f"size_m is {list(size_m)}; with this border and passage_m it must be at least "
            f"{(2 * border + passage + 2) * tile_m:g} m both ways"
        )
    if rows * columns > MAX_TILES:
        raise InvalidValueError(
            f"size_m is {list(size_m)}, {columns} x {rows} tiles; a cave grows on at most {MAX_TILES}: use a larger "
            "tile_m or a smaller size_m"
        )
    along = cells_along(rows, columns, tile_m, resolution_m)
    inside = seeded(rows - 2 * border, columns - 2 * border, fill, generator(seed, "world/cave"))
    for _ in range(smoothing_runs):
        inside = smoothed(inside, neighbour_walls)
    inside = without_narrow(inside)
    inside |= smaller(~inside, min_wall_m2 / tile_m**2)
    inside = connected(inside, passage, connection_m / tile_m, min_room_m2 / tile_m**2)
    is_open = np.pad(inside, border)
    world = world_of_tiles(is_open, tile_m, resolution_m, "cave", rounded)
    if material == "random":
        found = patches(is_open.shape, smoothing_runs, generator(seed, "world/cave/material"))
        return with_materials(world, enlarge(found, along))
    return made_of(world, material)


def seeded(rows: int, columns: int, fill: float, random: np.random.Generator) -> np.ndarray:
    """Return bool (rows, columns), True for free: edge tiles are wall, the others with the probability ``fill``."""
    tiles = random.random((rows, columns)) >= fill
    tiles[[0, -1]] = tiles[:, [0, -1]] = False
    return tiles


def smoothed(tiles: np.ndarray, neighbour_walls: int) -> np.ndarray:
    """Run the automaton once.

    A tile with more walls around it than ``neighbour_walls`` becomes wall. One with fewer becomes free.
    """
    around = ndimage.convolve((~tiles).astype(np.int8), np.ones((3, 3), np.int8), mode="constant", cval=1) - ~tiles
    return np.where(around == neighbour_walls, tiles, around < neighbour_walls)


def without_narrow(tiles: np.ndarray) -> np.ndarray:
    """Close narrow corridors until none is left.

    A free tile stays if it is one of three free tiles in a row, and of three in a column, and has a free neighbour on
    each of its two diagonals.
    """
    while True:
        p = np.pad(tiles, 2)
        west_east = p[:, :-2] & p[:, 1:-1] & p[:, 2:]  # three in a row, at their middle, one column narrower
        south_north = p[:-2] & p[1:-1] & p[2:]
        row = (west_east[:, :-2] | west_east[:, 1:-1] | west_east[:, 2:])[2:-2]
        column = (south_north[:-2] | south_north[1:-1] | south_north[2:])[:, 2:-2]
        rising, falling = p[1:-3, 1:-3] | p[3:-1, 3:-1], p[1:-3, 3:-1] | p[3:-1, 1:-3]
        kept = tiles & row & column & rising & falling
        if np.array_equal(kept, tiles):
            return tiles
        tiles = kept


def smaller(mask: np.ndarray, least: float) -> np.ndarray:
    """Return the edge-connected parts of a mask that have fewer tiles than ``least``."""
    labels, _ = label_over_edges(mask)
    small = np.bincount(labels.ravel()) < least
    small[0] = False
    return small[labels]


def connected(tiles: np.ndarray, passage: int, radius: float, min_room: float) -> np.ndarray:
    """Return the tiles that a square of ``passage`` x ``passage`` tiles covers when it moves in one connected area.

    A room is an area that such a square can cover by moving over edges. Rooms with fewer tiles than ``min_room`` are
    dropped, but never the largest. While there are several rooms, a line of discs joins the largest one with the
    nearest other, at their nearest places.

    Args:
        tiles: bool (rows, columns), True for free; the edge is wall.
        passage: side of the square in tiles.
        radius: radius of the discs in tiles.
        min_room: smallest area of a room in tiles.

    Raises:
        InvalidValueError: the square fits nowhere.
    """
    stands = _stands(tiles, passage)
    labels, count = label_over_edges(stands)
    if not count:
        raise InvalidValueError(
            f"no room of {passage} x {passage} tiles is left; use a smaller fill or passage_m, a larger size_m, or "
            "another seed"
        )
    areas = np.array([np.count_nonzero(_covered(labels == k + 1, passage)) for k in range(count)])
    kept = areas >= min(min_room, areas.max())
    tiles = _covered(np.append(False, kept)[labels], passage)
    while True:
        stands = _stands(tiles, passage)
        labels, count = label_over_edges(stands)
        if count == 1:
            return _covered(stands, passage)
        is_main = labels == 1 + np.argmax(np.bincount(labels.ravel())[1:])
        distance, nearest = ndimage.distance_transform_edt(~is_main, return_indices=True)  # pyright: ignore
        there = np.unravel_index(np.argmin(np.where(stands & ~is_main, distance, np.inf)), labels.shape)
        tiles = _cut(tiles, nearest[(slice(None), *there)], np.array(there), passage, radius)


def _stands(tiles: np.ndarray, side: int) -> np.ndarray:
    """Return the south-western tiles of all squares of free tiles."""
    for axis in (0, 1):
        narrow = tiles
        for step in range(1, side):
            narrow = narrow & _shifted(tiles, -step, axis)
        tiles = narrow
    return tiles


def _covered(stands: np.ndarray, side: int) -> np.ndarray:
    """Return the tiles under the squares whose south-western tiles are given."""
    for axis in (0, 1):
        wide = stands
        for step in range(1, side):
            wide = wide | _shifted(stands, step, axis)
        stands = wide
    return stands


def _shifted(tiles: np.ndarray, step: int, axis: int) -> np.ndarray:
    """Return the tiles shifted along an axis, filled with False."""
    moved = np.roll(tiles, step, axis)
    entering = (slice(None),) * axis + (slice(None, step) if step > 0 else slice(step, None),)
    moved[entering] = False
    return moved


def _cut(tiles: np.ndarray, a: np.ndarray, b: np.ndarray, side: int, radius: float) -> np.ndarray:
    """Free a line of tiles from ``a`` to ``b`` (row, column), each with a square to its north-east and a disc."""
    tiles = tiles.copy()
    steps = int(np.abs(b - a).sum())
    middle = (side - 1) / 2
    at = a.copy()
    for k in range(steps + 1):
        tiles[at[0] : at[0] + side, at[1] : at[1] + side] = True
        disc = disc_patch(at[0] + middle + 0.5, at[1] + middle + 0.5, radius, tiles.shape)
        if disc is not None:
            h, w = disc.mask.shape
            tiles[disc.row : disc.row + h, disc.column : disc.column + w] |= disc.mask
        # Step along the axis on which the straight line is further ahead.
        ahead = np.abs(a + (b - a) * ((k + 1) / max(steps, 1)) - at)
        axis = int(np.argmax(ahead))
        at[axis] += np.sign(b - a)[axis]
    tiles[[0, -1]] = tiles[:, [0, -1]] = False
    return tiles
