"""Rubble: blocks of random shapes on a field."""

import math
from typing import NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.kernel import kernel
from covey.random import generator
from covey.world.generators.tiles import label_over_edges
from covey.world.materials import MATERIALS, made_of, with_materials
from covey.world.world import FREE, WALL, World, check_parts

_SIDES = 6
_TRIES = 1000  # largest number of consecutive blocks without a place
_LOOKED = 100_000_000  # largest number of cells around blocks that are checked in total
_THROW = 1500  # checking this many cells takes as long as the rest of a throw
_AREA = 0.55  # mean area of a block, as a share of the square of its width


class _Block(NamedTuple):
    """A convex polygon: the places within all distances [m] of a point, along unit vectors (sides, 2)."""

    x: float
    y: float
    normals: np.ndarray
    distances: np.ndarray


def rubble(
    *,
    size_m: tuple[float, float] = (30.0, 30.0),
    density: float = 0.15,
    block_m: tuple[float, float] = (0.5, 2.0),
    passage_m: float = 1.0,
    material: str | None = None,
    resolution_m: float = 0.1,
    seed: int = 0,
) -> World:
    """Return a walled field of rubble, centred on the origin.

    Blocks are thrown until they cover a share of the field. A block stays where it falls unless it would cut places
    off: a disc of diameter ``passage_m`` can reach every place in which a disc wider by 2.5 cells fits. Gaps between
    blocks that cannot be entered are filled.

    Args:
        size_m: width and height of the field inside its wall [m].
        density: covered share of the field; from about 0.3 on, blocks lie in heaps.
        block_m: smallest and largest width of a block [m], through its centre; it is longer across corners.
        passage_m: width of the narrowest passage [m].
        material: material of blocks and wall; ``random``: one per block; None: no material.
        resolution_m: side of a grid cell [m].
        seed: the same seed gives the same field.

    Raises:
        InvalidValueError: the density is not reached.
    """
    if not 0 <= density < 1:
        raise InvalidValueError(f"density is {density!r}; it is a share, from 0 to less than 1")
    if not 0 < block_m[0] <= block_m[1] or not math.isfinite(block_m[1]):
        raise InvalidValueError(f"block_m is {list(block_m)}; it must be the least and the largest width in metres")
    if not 0 < passage_m < min(size_m):
        raise InvalidValueError(f"passage_m is {passage_m!r}; it must be positive and less than size_m, {list(size_m)}")
    mean_m2 = _AREA * (block_m[0] ** 2 + block_m[0] * block_m[1] + block_m[1] ** 2) / 3
    check_parts(density * size_m[0] * size_m[1] / mean_m2, "blocks")
    world = World.empty(*size_m, resolution_m, name="rubble")
    cells = world.grid.cells
    # Cells on which a disc can stand, by the distance of their centres from those of the blocks: 0.71 cells more for
    # half the diagonal of a cell, 0.5 for a step.
    reach = passage_m / 2 + 1.25 * resolution_m
    passable = world.free & (world.clearance >= passage_m / 2)
    if not passable.any():
        raise InvalidValueError(f"size_m is {list(size_m)}; it is too narrow for passages of {passage_m:g} m")
    random = generator(seed, "world/rubble")
    materials = np.zeros(cells.shape, np.uint8)
    wanted, covered, misses, looked = density * np.count_nonzero(world.free), 0, 0, 0
    while covered < wanted:
        block = _throw(random, size_m, block_m)
        kind = int(random.integers(len(MATERIALS)))
        window, inside = _around(world, block, reach)
        filled = inside & (cells[window] == FREE)
        looked += inside.size + _THROW
        left = _left(passable[window], filled, resolution_m, reach)
        if filled.any() and (np.array_equal(left, passable[window]) or _in_one_piece(left)):
            passable[window] = left
            cells[window][filled] = WALL
            materials[window][filled] = kind
            covered += np.count_nonzero(filled)
            misses = 0
        else:
            misses += 1
        if looked > _LOOKED:
            raise InvalidValueError(
                f"density is {density:g}, but after the largest number of attempts blocks cover only "
                f"{density * covered / wanted:.3g} of the field; use a smaller size_m or density, or larger block_m"
            )
        if misses > _TRIES:
            raise InvalidValueError(
                f"density is {density:g}, but blocks cover only {density * covered / wanted:.3g} of the field before "
                f"they would close passages; use a smaller density or passage_m, or other block_m"
            )
    _fill_gaps(cells, passable)
    world = World(world.grid, "rubble")
    return with_materials(world, materials) if material == "random" else made_of(world, material)


def _throw(random: np.random.Generator, size_m: tuple[float, float], block_m: tuple[float, float]) -> _Block:
    x, y = (float(random.uniform(-side / 2, side / 2)) for side in size_m)
    width = random.uniform(*block_m)
    angles = 2 * math.pi / _SIDES * (np.arange(_SIDES) + random.uniform(-0.3, 0.3, _SIDES)) + random.uniform(0, math.pi)
    distances = width / 2 * random.uniform(0.6, 1.0, _SIDES)
    return _Block(x, y, np.column_stack((np.cos(angles), np.sin(angles))), distances)


def _around(world: World, block: _Block, reach_m: float) -> tuple[tuple[slice, slice], np.ndarray]:
    """Return the window of cells within reach of a block, and which of their centres are inside it."""
    # A corner between two sides is at most 1 / cos(48 deg) = 1.5 times as far as they are.
    far = 1.5 * float(block.distances.max()) + reach_m + world.grid.resolution
    (r0, c0), (r1, c1) = (world.grid.cell_at(block.x + side, block.y + side) for side in (-far, far))
    rows, columns = world.grid.shape
    r0, c0, r1, c1 = max(r0, 0), max(c0, 0), min(r1 + 1, rows), min(c1 + 1, columns)
    inside = np.empty((r1 - r0, c1 - c0), np.bool_)
    _cut(inside, r0, c0, world.grid.frame, block.x, block.y, block.normals, block.distances)
    return (slice(r0, r1), slice(c0, c1)), inside


@kernel
def _cut(inside, r0, c0, frame, x, y, normals, distances):
    """Fill ``inside``, a window from row ``r0`` and column ``c0``: the cells whose centres lie in a block at x, y."""
    for r in range(inside.shape[0]):
        dy = frame[1] + (r0 + r + 0.5) * frame[4] - y
        for c in range(inside.shape[1]):
            dx = frame[0] + (c0 + c + 0.5) * frame[4] - x
            inside[r, c] = True
            for k in range(distances.shape[0]):
                if normals[k, 0] * dx + normals[k, 1] * dy > distances[k]:
                    inside[r, c] = False
                    break


@kernel
def _left(passable, filled, resolution, reach):
    """Return which passable cells lie farther than ``reach`` [m] from all filled ones, bool (rows, columns)."""
    rows, columns = filled.shape
    near = int(reach / resolution) + 1  # cells, at least as far as the reach
    wide = np.full(near + 1, -1)  # number of cells to either side within reach of a cell at this distance in rows
    side = near
    for up in range(near + 1):
        while side >= 0 and math.sqrt((side * resolution) ** 2 + (up * resolution) ** 2) > reach:
            side -= 1
        wide[up] = side
    rows_up = np.full(columns, near + 1)  # rows to the nearest filled cell of each column, first from the south
    rows_to = np.empty((rows, columns), np.int64)
    for r in range(rows):
        for c in range(columns):
            rows_up[c] = 0 if filled[r, c] else min(rows_up[c] + 1, near + 1)
            rows_to[r, c] = rows_up[c]
    rows_up[:] = near + 1
    left, change = passable.copy(), np.zeros(columns + 1, np.int64)
    for r in range(rows - 1, -1, -1):
        change[:] = 0
        for c in range(columns):
            rows_up[c] = 0 if filled[r, c] else min(rows_up[c] + 1, near + 1)
            up = min(rows_up[c], rows_to[r, c])
            if up <= near and wide[up] >= 0:
                change[max(0, c - wide[up])] += 1
                change[min(columns, c + wide[up] + 1)] -= 1
        blocked = 0
        for c in range(columns):
            blocked += change[c]
            if blocked:
                left[r, c] = False
    return left


@kernel
def _in_one_piece(mask):
    """Return whether the cells of a mask are connected over edges; False for an empty mask."""
    rows, columns = mask.shape
    seen = np.zeros((rows, columns), np.bool_)
    stack = np.empty((rows * columns, 2), np.int64)
    pieces = 0
    for row in range(rows):
        for column in range(columns):
            if not mask[row, column] or seen[row, column]:
                continue
            pieces += 1
            if pieces > 1:
                return False
            seen[row, column], stack[0, 0], stack[0, 1], count = True, row, column, 1
            while count:
                count -= 1
                r, c = stack[count, 0], stack[count, 1]
                for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                    i, j = r + dr, c + dc
                    if 0 <= i < rows and 0 <= j < columns and mask[i, j] and not seen[i, j]:
                        seen[i, j], stack[count, 0], stack[count, 1] = True, i, j
                        count += 1
    return pieces == 1


def _fill_gaps(cells: np.ndarray, passable: np.ndarray) -> None:
    """Fill the free cells that cannot be reached over edges from passable cells."""
    labels, count = label_over_edges(cells == FREE)
    reached = np.zeros(count + 1, bool)
    reached[labels[passable]] = True
    cells[(cells == FREE) & ~reached[labels]] = WALL
