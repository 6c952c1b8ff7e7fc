"""Quality of a map: the known part of the explorable area, and the errors.

References:
    Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-based testbed for realistic multi-robot simulation.
    Robotics 6(3), 2017 (map completeness, error and quality).
    J. M. Santos, D. Portugal, R. P. Rocha: An evaluation of 2D SLAM techniques available in Robot Operating System.
    SSRR 2013 (the average distance to the nearest neighbour).
"""

import hashlib
import math
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from cachetools import LRUCache, cached

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.kernel import kernel
from covey.mapping.exchange.shared_maps import SharedMaps
from covey.mapping.occupancy.evidence import TILE

EITHER = 50
"""True state of a map cell with both wall and free space: right as free or occupied, wrong as unknown."""

BEHIND = -2
"""True state of a map cell full of wall next to one of `EITHER`, in which beams may end: only wrong as free."""

_TOUCH = 1e-6  # cells of the world: cells that share no more than an edge do not overlap


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """The truth on the cells of a map.

    Attributes:
        states: int8 (rows, columns): 0 free, 100 occupied, `EITHER`, `BEHIND`, -1 not compared. Compared are cells with
            explorable space, and cells full of wall next to (4-neighbours) an entirely free one. No sensor can see the
            inside of walls, closed rooms, or the outside of the world. A cell holds what its area overlaps, however
            small the part: a map whose surfaces are off by less than half a cell has no wrong cell, whatever its yaw.
        explorable: uint16 or uint32 (rows, columns), explorable cells of the world whose centres lie in each cell.
        explorable_m2: their area G in the whole world [m^2].
        world_cell_m2: area of a cell of the world [m^2]. map_cell_m2: area of a cell of the map [m^2].
    """

    states: np.ndarray
    explorable: np.ndarray
    explorable_m2: float
    world_cell_m2: float
    map_cell_m2: float


def _key(*grids: Grid) -> tuple[Any, ...]:
    masks = [hashlib.blake2b(np.packbits(grid.cells).tobytes(), digest_size=16).digest() for grid in grids[:2]]
    return (*masks, *((grid.shape, grid.origin, grid.resolution) for grid in grids))


@cached(LRUCache(8e6, lambda truth: truth.states.size), _key, Lock())  # at most 40 MB
def ground_truth(wall: Grid, explorable: Grid, map_grid: Grid) -> GroundTruth:
    """Return the truth of a world on the cells of a map.

    Args:
        wall, explorable: cells of the world (bool), on the same grid; cells of unknown truth are in neither.
        map_grid: the grid of the map; its cells are not used.

    Raises:
        InvalidValueError: nothing is explorable.
    """
    total = int(np.count_nonzero(explorable.cells))
    if not total:
        raise InvalidValueError("no cell of the world is explorable; completeness and quality have no meaning")
    most = (map_grid.resolution / wall.resolution + 1.0) ** 2  # centres of cells of the world in a cell of the map
    counts = np.zeros(map_grid.shape, np.uint16 if most < 2**16 else np.uint32)
    walls, seen, full = (np.zeros(map_grid.shape, np.bool_) for _ in range(3))
    solid, free = wall.cells.astype(np.bool_, copy=False), explorable.cells.astype(np.bool_, copy=False)
    _lay_over(solid, free, wall.frame, map_grid.frame, counts, walls, seen, full)
    states = np.where(seen, np.where(walls, np.int8(EITHER), np.int8(0)), np.int8(-1))
    states[full & _beside(states == EITHER)] = BEHIND
    states[full & _beside(states == 0)] = 100
    area = wall.resolution**2
    return GroundTruth(states, counts, total * area, area, map_grid.resolution**2)


@kernel
def _lay_over(wall, explorable, world, frame, counts, walls, seen, full):
    """Find what of a world each cell of a map holds.

    Two squares overlap if their shadows do on the axes of both (the separating axis theorem).

    Args:
        wall, explorable: bool, cells of the world.
        world, frame: `Grid.frame` of the world and of the map.
        counts: unsigned (rows, columns), to which the explorable cells whose centres lie in a cell are added.
        walls, seen: bool (rows, columns), set where a wall, or an explorable cell, overlaps a cell.
        full: bool (rows, columns), set where only walls do.
    """
    rows, columns = walls.shape
    c, s = world[2] * frame[2] + world[3] * frame[3], world[2] * frame[3] - world[3] * frame[2]  # turn of the map
    size = frame[4] / world[4]
    dx, dy = frame[0] - world[0], frame[1] - world[1]
    left, low = (world[2] * dx + world[3] * dy) / world[4], (world[2] * dy - world[3] * dx) / world[4]
    reach = 0.5 * size * (abs(c) + abs(s)) - _TOUCH
    across = 0.5 * (size + abs(c) + abs(s)) - _TOUCH
    for row in range(rows):
        for column in range(columns):
            x, y = size * (column + 0.5), size * (row + 0.5)
            u, v = left + c * x - s * y, low + s * x + c * y
            only_wall = True
            for q in range(math.floor(v - reach), math.floor(v + reach) + 1):
                for p in range(math.floor(u - reach), math.floor(u + reach) + 1):
                    du, dv = p + 0.5 - u, q + 0.5 - v
                    if abs(c * du + s * dv) >= across or abs(c * dv - s * du) >= across:
                        continue
                    is_inside = 0 <= q < wall.shape[0] and 0 <= p < wall.shape[1]
                    is_wall = is_inside and wall[q, p]
                    only_wall &= is_wall
                    walls[row, column] |= is_wall
                    seen[row, column] |= is_inside and explorable[q, p]
            full[row, column] = only_wall
    for q in range(wall.shape[0]):
        for p in range(wall.shape[1]):
            if explorable[q, p]:  # as `Grid.to_world` and `Grid.to_cells`
                u, v = (p + 0.5) * world[4], (q + 0.5) * world[4]
                x, y = (
                    world[0] + world[2] * u - world[3] * v - frame[0],
                    world[1] + world[3] * u + world[2] * v - frame[1],
                )
                column = math.floor((frame[2] * x + frame[3] * y) / frame[4])
                row = math.floor((-frame[3] * x + frame[2] * y) / frame[4])
                if 0 <= row < rows and 0 <= column < columns:
                    counts[row, column] += 1


def _beside(mask: np.ndarray) -> np.ndarray:
    padded = np.pad(mask, 1)
    return padded[2:, 1:-1] | padded[:-2, 1:-1] | padded[1:-1, 2:] | padded[1:-1, :-2]


def explored_area(occupancy: np.ndarray, truth: GroundTruth) -> float:
    """Return A [m^2]: the explorable area on known cells of a map, int8 (rows, columns)."""
    return float(truth.explorable[occupancy >= 0].sum() * truth.world_cell_m2)


def map_completeness(occupancy: np.ndarray, truth: GroundTruth) -> float:
    """Return A / G (Yan et al. 2017)."""
    return explored_area(occupancy, truth) / truth.explorable_m2


def map_error(occupancy: np.ndarray, truth: GroundTruth) -> int:
    """Return the number of compared cells with a wrong state (unknown, free, occupied) (Yan 2017)."""
    right = (occupancy == truth.states) | ((truth.states == EITHER) & (occupancy >= 0))
    through = (truth.states == BEHIND) & (occupancy == 0)
    return int(np.count_nonzero(~right & (truth.states >= 0) | through))


def map_wrong(occupancy: np.ndarray, truth: GroundTruth) -> int:
    """Return the number of compared cells that are known, and whose state (free, occupied) is wrong."""
    return map_error(occupancy, truth) - int(np.count_nonzero((occupancy < 0) & (truth.states >= 0)))


def map_quality(occupancy: np.ndarray, truth: GroundTruth) -> float:
    """Return (A - error * cell area) / G (Yan et al. 2017); 1 is perfect, and a map that is mostly wrong is below 0."""
    wrong = map_error(occupancy, truth) * truth.map_cell_m2
    return (explored_area(occupancy, truth) - wrong) / truth.explorable_m2


def wall_iou(occupancy: np.ndarray, truth: GroundTruth) -> float | None:
    """Return the intersection over the union of mapped and true walls, over the compared cells; None without walls.

    A cell that holds both wall and free space counts if it is mapped as a wall, as one that is right.
    """
    occupied, compared = occupancy == 100, truth.states >= 0
    both = int(np.count_nonzero(occupied & (truth.states >= EITHER)))
    either = int(np.count_nonzero(occupied & compared | (truth.states == 100)))
    return both / either if either else None


def wall_distance(belief: Grid, wall: Grid) -> float | None:
    """Return the mean distance [m] of the mapped walls, at their cells' centres, from the nearest true wall (ADNN).

    Args:
        belief: the map, int8, as everywhere.
        wall: cells of the world that are wall (bool); centres in it have the distance 0, others that from the centre of
            their cell to that of the nearest one. Centres outside it count from its border.

    Returns:
        None if the map or the world has no walls.
    """
    at = np.argwhere(belief.cells == 100)
    if not len(at) or not wall.cells.any():
        return None
    found = wall.to_cells(belief.to_world(at))
    held = np.clip(found, 0, np.array(wall.shape) - 1)
    far = np.sqrt(_squared_ways(wall.cells, held)) * wall.resolution
    outside = wall.resolution * np.hypot(*(found - held).T)
    return float((far + outside).mean())


@kernel
def _squared_ways(wall, at):
    """Return the squared distances [cells^2] of cells from the nearest cell of a wall, int64 (k,).

    The columns hold the way to the wall up or down; a row is searched to both sides (Saito and Toriwaki, Pattern
    Recognition 27, 1994). ``wall``: bool (rows, columns); ``at``: rows and columns of the cells, (k, 2).
    """
    rows, columns = wall.shape
    along = np.empty((rows, columns), np.int64)
    far = np.full(columns, rows + columns)  # farther than any cell
    for r in range(rows):
        for c in range(columns):
            far[c] = 0 if wall[r, c] else far[c] + 1
            along[r, c] = far[c]
    far[:] = rows + columns
    for r in range(rows - 1, -1, -1):
        for c in range(columns):
            far[c] = 0 if wall[r, c] else far[c] + 1
            along[r, c] = min(along[r, c], far[c])
    out = np.empty(len(at), np.int64)
    for i in range(len(at)):
        r, c = at[i]
        best, offset = along[r, c] ** 2, 1
        while offset * offset < best and (c >= offset or c + offset < columns):
            if c >= offset:
                best = min(best, offset * offset + along[r, c - offset] ** 2)
            if c + offset < columns:
                best = min(best, offset * offset + along[r, c + offset] ** 2)
            offset += 1
        out[i] = best
    return out


class KnownShare:
    """The share of G that each belief of a team and their union know, updated tile by tile.

    It equals `map_completeness` of each belief, and of the union.
    """

    def __init__(self, beliefs: SharedMaps, truth: GroundTruth):
        n, tiles = beliefs.tile_changed.shape
        self._beliefs, self._truth = beliefs, truth
        self._version = np.full(n, -1, np.int64)
        self._tiles = np.zeros((n + 1, tiles), np.int64)

    def update(self) -> tuple[np.ndarray, float]:
        """Return the present shares of each robot, float64 (n,), and of the union."""
        beliefs, truth = self._beliefs, self._truth
        count_known(beliefs.occupancy, truth.explorable, beliefs.tile_changed, self._version, self._tiles)
        self._version[:] = beliefs.version
        shares = self._tiles.sum(axis=1) * truth.world_cell_m2 / truth.explorable_m2
        return shares[:-1], float(shares[-1])


class KnownShareApart:
    """Like `KnownShare`, for beliefs on different grids.

    Args:
        beliefs: beliefs of a team.
        places: grids of the beliefs in the world; the cells are not used.
        explorable: cells of the world (bool).
    """

    def __init__(self, beliefs: SharedMaps, places: list[Grid], explorable: Grid):
        points = explorable.to_world(np.argwhere(explorable.cells))
        self._beliefs, self._cells = beliefs, []
        for place in places:
            rows, columns = place.to_cells(points).T
            self._cells.append((rows * place.shape[1] + columns).astype(np.int32))

    def update(self) -> tuple[np.ndarray, float]:
        """Return the present shares of each robot, float64 (n,), and of the union."""
        known = [
            occupancy.ravel()[cells] >= 0 for occupancy, cells in zip(self._beliefs.occupancy, self._cells, strict=True)
        ]
        return np.array([np.mean(k) for k in known]), float(np.mean(np.any(known, axis=0)))


@kernel
def count_known(occupancy, weights, changed, version, tiles):
    """Update the sums of weights on known cells in tiles that changed after ``version`` (n,).

    Args:
        occupancy: int8 (n, rows, columns). weights: uint16 or uint32 (rows, columns). changed: int64 (n, tiles).
        tiles: int64 (n + 1, tiles), sums of each robot and of the union.
    """
    n, per_row = occupancy.shape[0], occupancy.shape[2] // TILE
    known = np.empty(TILE, np.uint8)
    for tile in range(changed.shape[1]):
        top, left = tile // per_row * TILE, tile % per_row * TILE
        any_changed = False
        for i in range(n):
            if changed[i, tile] > version[i]:
                any_changed = True
                total = 0
                for row in range(top, top + TILE):
                    cells, weight = occupancy[i, row, left : left + TILE], weights[row, left : left + TILE]
                    for k in range(TILE):
                        total += weight[k] if cells[k] >= 0 else 0
                tiles[i, tile] = total
        if any_changed:
            total = 0
            for row in range(top, top + TILE):
                for k in range(TILE):
                    known[k] = 0
                for i in range(n):
                    cells = occupancy[i, row, left : left + TILE]
                    for k in range(TILE):
                        known[k] |= cells[k] >= 0
                weight = weights[row, left : left + TILE]
                for k in range(TILE):
                    total += weight[k] if known[k] != 0 else 0
            tiles[n, tile] = total
