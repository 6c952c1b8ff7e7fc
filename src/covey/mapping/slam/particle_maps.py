"""Maps of many particles in tiles that they share until one of them changes a tile.

A cell holds the number of beams that ended in it (hits), the number of beams that ended in it or passed through it
(visits), and the mean of the points where they ended. Particles drawn from one parent refer to the same tiles, so
drawing copies only numbers of tiles; a tile that is referred to more than once is copied when a scan changes it.

References:
    G. Grisetti, C. Stachniss, W. Burgard: Improved techniques for grid mapping with Rao-Blackwellized particle
    filters. IEEE Transactions on Robotics 23(1), 2007.
    J. Amanatides, A. Woo: A fast voxel traversal algorithm for ray tracing. Eurographics 1987.
"""

import math
from typing import NamedTuple

import numpy as np

from covey.geometry.grid import Grid
from covey.kernel import bare, kernel

TILE = 32
"""Cells along the side of a tile."""
FULL_ABOVE = 0.1
"""Beams may match a cell, it is full, if more than this share of the beams through it ended in it (gmapping)."""
_SPARE = 4  # tiles by which the map grows beyond what a scan needs
_FIRST = 256  # tiles with which the store begins


class ParticleTiles(NamedTuple):
    """Tiles for kernels; tile 0 is blank and never changed. Cells of a tile are counted row by row.

    Attributes:
        hits: int32 (tiles, TILE²).
        visits: int32 (tiles, TILE²).
        means: float32 (tiles, TILE², 2), mean u, v [cells] of the hits from the lower left corner of their cell.
        full: uint32 (tiles, TILE), which cells are full: a bit per column of each row.
        references: int32 (tiles,), how many places of all maps refer to the tile.
        free: int32 (tiles,), tiles that nothing refers to are its first ``count[0]`` ones.
        count: int64 (1,).
    """

    hits: np.ndarray
    visits: np.ndarray
    means: np.ndarray
    full: np.ndarray
    references: np.ndarray
    free: np.ndarray
    count: np.ndarray


def bytes_of(cells: float) -> float:
    """Return the memory of one map of so many cells [bytes]: hits, visits, means, and a bit for full cells."""
    return cells * (4.0 + 4.0 + 8.0 + 0.125)


class ParticleMaps:
    """The maps of n particles.

    Attributes:
        store: the tiles.
        table: int32 (n, rows, columns) of tiles, which tile each particle has there.
        corner: x, y [m] of the lower left corner of the table, in the map's frame.
        resolution: side of a cell [m].
    """

    def __init__(self, count: int, resolution: float):
        self.resolution = resolution
        self.corner = np.zeros(2)
        self.table = np.zeros((count, 0, 0), np.int32)
        self.store = _enlarged(None, _FIRST)

    @property
    def frame(self) -> np.ndarray:
        """x, y [m] of the corner and side of a cell [m], for kernels, (3,)."""
        return np.array([*self.corner, self.resolution])

    @property
    def nbytes(self) -> int:
        """Memory of all maps [bytes]."""
        return self.table.nbytes + sum(part.nbytes for part in self.store)

    def add(self, poses: np.ndarray, beams: np.ndarray) -> None:
        """Add a scan to every map, each at its particle's pose.

        Args:
            poses: of the particles, (n, 3).
            beams: float64 (k, 5), see `beams_of`.
        """
        if not len(beams):
            return
        reach = np.hypot(beams[:, 0], beams[:, 1]).max() + math.hypot(*beams[0, 3:]) + self.resolution
        self._cover(poses[:, :2].min(axis=0) - reach, poses[:, :2].max(axis=0) + reach)
        lengths = np.hypot(beams[:, 0] - beams[0, 3], beams[:, 1] - beams[0, 4]) / self.resolution
        cells = np.empty(int((1.5 * lengths + 4.0).sum()), np.int32)
        done = 0
        while done < len(poses):
            touched = np.full(self.table.shape[1:], -1, np.int32)
            done = add_scan(done, self.table, self.store, self.frame, poses, beams, touched, cells)
            if done < len(poses):
                self.store = _enlarged(self.store, len(self.store.hits) * 3 // 2)

    def draw(self, parents: np.ndarray) -> None:
        """Replace the map of each particle with that of its parent, (n,)."""
        self.table = self.table[parents]
        store = self.store
        references = np.bincount(self.table.ravel(), minlength=len(store.hits))
        references[0] = 0
        freed = np.flatnonzero((references == 0) & (store.references > 0))[::-1]
        store.references[:] = references
        count = store.count[0]
        store.free[count : count + len(freed)] = freed
        store.count[0] += len(freed)

    def grid(self, particle: int, occupied_above: float) -> Grid:
        """Return the map of one particle: occupied 100, free 0, unknown -1, cut to the tiles that it has."""
        table = self.table[particle]
        used = np.argwhere(table > 0)
        if not len(used):
            return Grid(np.full((1, 1), -1, np.int8), self.resolution)
        low, high = used.min(axis=0), used.max(axis=0) + 1
        part = table[low[0] : high[0], low[1] : high[1]]
        hits, visits = self.store.hits[part], self.store.visits[part]
        cells = np.where(visits == 0, -1, np.where(hits > occupied_above * visits, 100, 0)).astype(np.int8)
        rows, columns = part.shape
        cells = cells.reshape(rows, columns, TILE, TILE).swapaxes(1, 2).reshape(rows * TILE, columns * TILE)
        x, y = self.corner + low[::-1] * TILE * self.resolution
        return Grid(cells, self.resolution, (float(x), float(y), 0.0))

    def _cover(self, low: np.ndarray, high: np.ndarray) -> None:
        """Make the table larger, if need be, so that it holds the points between two corners [m]."""
        side = TILE * self.resolution
        first = np.floor((low - self.corner) / side).astype(int)
        last = np.floor((high - self.corner) / side).astype(int)
        columns, rows = self.table.shape[2], self.table.shape[1]
        before = np.where(first < 0, _SPARE - first, 0)
        after = np.maximum(last + 1 - np.array([columns, rows]), 0)
        after[after > 0] += _SPARE
        if before.any() or after.any():
            self.table = np.pad(self.table, ((0, 0), (before[1], after[1]), (before[0], after[0])))
            self.corner = self.corner - before * side


def beams_of(ends: np.ndarray, hit: np.ndarray, laser_xy: tuple[float, float]) -> np.ndarray:
    """Return beams for `ParticleMaps.add`, (k, 5): x, y of the end [m], 1 for a hit, x, y of the laser [m].

    Args:
        ends: (k, 2) [m] in the robot's frame.
        hit: bool (k,): whether something is at the end.
        laser_xy: the laser in the robot's frame [m].
    """
    return np.column_stack((ends, hit, np.broadcast_to(np.asarray(laser_xy, float), ends.shape)))


def _enlarged(store: ParticleTiles | None, tiles: int) -> ParticleTiles:
    """Return a store with more tiles and the same contents."""
    area = TILE * TILE
    new = ParticleTiles(
        np.zeros((tiles, area), np.int32),
        np.zeros((tiles, area), np.int32),
        np.zeros((tiles, area, 2), np.float32),
        np.zeros((tiles, TILE), np.uint32),
        np.zeros(tiles, np.int32),
        np.zeros(tiles, np.int32),
        np.zeros(1, np.int64),
    )
    before = 1
    if store is not None:
        before = len(store.hits)
        for old, part in zip(store[:6], new[:6], strict=True):
            part[:before] = old
        new.count[0] = store.count[0]
    added = np.arange(tiles - 1, before - 1, -1, dtype=np.int32)
    new.free[new.count[0] : new.count[0] + len(added)] = added
    new.count[0] += len(added)
    return new


@kernel
def add_scan(first, table, store, frame, poses, beams, touched, cells):
    """Add a scan to the maps of the particles from ``first`` on; return the particle at which free tiles ran out.

    A beam adds a visit to each cell that it passes through, and to the cell of its end a visit and a hit.

    Args:
        table, store, frame: see `ParticleMaps`; the table holds the ends of all beams.
        poses: float64 (n, 3).
        beams: float64 (k, 5), see `beams_of`.
        touched: int32 (rows, columns) of tiles, -1: for the kernel's use.
        cells: int32, longer than all beams together have cells: for the kernel's use.
    """
    table, beams, cells, touched = bare(table), bare(beams), bare(cells), bare(touched)
    store = ParticleTiles(
        bare(store.hits),
        bare(store.visits),
        bare(store.means),
        bare(store.full),
        bare(store.references),
        bare(store.free),
        bare(store.count),
    )
    width = table.shape[2] * TILE
    for p in range(first, table.shape[0]):
        c, s, resolution = math.cos(poses[p, 2]), math.sin(poses[p, 2]), frame[2]
        x, y = (poses[p, 0] - frame[0]) / resolution, (poses[p, 1] - frame[1]) / resolution
        count, needed = 0, 0
        for i in range(beams.shape[0]):
            u0 = x + (c * beams[i, 3] - s * beams[i, 4]) / resolution
            v0 = y + (s * beams[i, 3] + c * beams[i, 4]) / resolution
            u1 = x + (c * beams[i, 0] - s * beams[i, 1]) / resolution
            v1 = y + (s * beams[i, 0] + c * beams[i, 1]) / resolution
            start = count
            count = _walk(u0, v0, u1, v1, width, cells, count)
            for k in range(start, count + 1):  # the last one is the cell of the end
                cell = cells[k] if k < count else int(v1) * width + int(u1)
                row, column = cell // width // TILE, cell % width // TILE
                if touched[row, column] != p:
                    touched[row, column] = p
                    needed += 1
        if needed > store.count[0]:
            return p
        for row in range(table.shape[1]):
            for column in range(table.shape[2]):
                if touched[row, column] == p:
                    _own(table, store, p, row, column)
        for k in range(count):
            row, column = cells[k] // width, cells[k] % width
            tile, cell = table[p, row // TILE, column // TILE], row % TILE * TILE + column % TILE
            store.visits[tile, cell] += 1
            if store.full[tile, row % TILE] >> np.uint32(column % TILE) & np.uint32(1):
                _note(store, tile, cell)
        for i in range(beams.shape[0]):
            if beams[i, 2] > 0.0:
                u = x + (c * beams[i, 0] - s * beams[i, 1]) / resolution
                v = y + (s * beams[i, 0] + c * beams[i, 1]) / resolution
                row, column = int(v), int(u)
                tile, cell = table[p, row // TILE, column // TILE], row % TILE * TILE + column % TILE
                store.visits[tile, cell] += 1
                store.hits[tile, cell] += 1
                hits = store.hits[tile, cell]
                store.means[tile, cell, 0] += (u - column - store.means[tile, cell, 0]) / hits
                store.means[tile, cell, 1] += (v - row - store.means[tile, cell, 1]) / hits
                _note(store, tile, cell)
    return table.shape[0]


@kernel
def _walk(u0, v0, u1, v1, width, cells, count):
    """Write the cells of a segment, without the last one, from place ``count`` on; return the place after them."""
    column, row, du, dv = int(u0), int(v0), u1 - u0, v1 - v0
    right, up = (1 if du > 0.0 else -1), (1 if dv > 0.0 else -1)
    across, along = abs(int(u1) - column), abs(int(v1) - row)
    step_u, step_v = (1.0 / abs(du) if du != 0.0 else math.inf), (1.0 / abs(dv) if dv != 0.0 else math.inf)
    next_u = (column + 1 - u0 if du > 0.0 else u0 - column) * step_u if across else math.inf
    next_v = (row + 1 - v0 if dv > 0.0 else v0 - row) * step_v if along else math.inf
    cell = row * width + column
    for _ in range(across + along):
        cells[count] = cell
        count += 1
        if along == 0 or (across > 0 and next_u < next_v):
            cell += right
            next_u += step_u
            across -= 1
        else:
            cell += up * width
            next_v += step_v
            along -= 1
    return count


@kernel
def _own(table, store, p, row, column):
    """Give a particle a copy of a tile, unless nobody else has this tile."""
    tile = table[p, row, column]
    if tile != 0 and store.references[tile] == 1:
        return
    store.count[0] -= 1
    mine = store.free[store.count[0]]
    store.hits[mine], store.visits[mine] = store.hits[tile], store.visits[tile]
    store.means[mine], store.full[mine] = store.means[tile], store.full[tile]
    store.references[tile] -= 1
    store.references[mine] = 1
    table[p, row, column] = mine


@kernel
def _note(store, tile, cell):
    """Note whether a cell is full."""
    bit = np.uint32(1) << np.uint32(cell % TILE)
    if store.hits[tile, cell] > FULL_ABOVE * store.visits[tile, cell]:
        store.full[tile, cell // TILE] |= bit
    else:
        store.full[tile, cell // TILE] &= ~bit
