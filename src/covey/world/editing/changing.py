"""A changing world: doors, added walls and obstacles over the permanent cells."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.lazy import shapely
from covey.world.doors import Door
from covey.world.editing.obstacles import Patch, shape_patch
from covey.world.state import AnyWorld, WorldState
from covey.world.world import FREE, OPEN, WALL, World

DEFAULT_MATERIAL = "concrete"
"""Material of walls without one, once a wall with a material is put up."""
_BLOCK = 32  # rows and columns of the blocks of cells by which things are found


def door_patch(world: AnyWorld, door: Door) -> Patch:
    """Return the cells of a door.

    Raises:
        InvalidValueError: it contains no cell centre of the world.
    """
    patch = shape_patch(world.grid, shapely.box(door.x0_m, door.y0_m, door.x1_m, door.y1_m))
    if patch is None:
        raise InvalidValueError(f"door {door.name!r} lies outside the world, or holds no cell; move or enlarge it")
    return patch


def with_doors(world: World, doors: Sequence[Door]) -> World:
    """Return the world with more doors; their cells are floor, or wall while they are shut."""
    if not doors:
        return world
    cells = world.grid.cells.copy()
    for door in doors:
        _fill(cells, door_patch(world, door), FREE if door.open else WALL)
    return world.replace(grid=world.grid.with_cells(cells), doors=(*world.doors, *doors))


def with_doors_open(world: World) -> World:
    """Return the world with all doors open; the world itself if they are open."""
    shut = [door for door in world.doors if not door.open]
    if not shut:
        return world
    cells = world.grid.cells.copy()
    for door in shut:
        _fill(cells, door_patch(world, door), FREE)
    return world.with_cells(cells)


class Structures:
    """The doors, added walls and obstacles of a world, by name.

    Args:
        world: its cells are edited.

    Attributes:
        doors: the cells of each door, by its name.
    """

    def __init__(self, world: WorldState):
        self.world = world
        self._cells = with_doors_open(world.world).grid.cells.copy()
        self._things: dict[str, _Thing] = {}
        self._near: dict[tuple[int, int], dict[str, None]] = {}  # names of the things in each block of cells
        self._count = 0  # of all things put up so far
        self.doors = {door.name: door_patch(world, door) for door in world.doors}
        for door in world.doors:
            if not door.open:
                self._enter(_door(door.name), self.doors[door.name], None)

    def is_open(self, door: str) -> bool:
        """Return whether a door is open."""
        return _door(door) not in self._things

    def open_door(self, door: str) -> None:
        """Open a door."""
        self._remove(_door(door))

    def close_door(self, door: str) -> None:
        """Shut a door."""
        self._put(_door(door), self.doors[door], None)

    def stands(self, name: str) -> bool:
        """Return whether a wall or an obstacle of this name stands."""
        return name in self._things

    def put(self, name: str, patch: Patch, material: str = "") -> None:
        """Put up a wall or an obstacle, or move it; its cells lie inside the array."""
        index = self._material(material) if material else None
        self._put(name, patch, index)

    def remove(self, name: str) -> tuple[Patch, str]:
        """Take a wall or an obstacle away; return its cells and its material."""
        patch, material = self._remove(name)
        return patch, "" if material is None else self.world.material_names[material]

    def clear(self, patch: Patch) -> Patch:
        """Tear down the world's own walls in some cells; return the cells that were walls."""
        part = _part(self._cells, patch)
        walls = patch.mask & (part == WALL)
        part[walls] = FREE
        self._repaint(patch)
        return Patch(patch.row, patch.column, walls)

    def rebuild(self, patch: Patch) -> None:
        """Put up the world's own walls in some cells."""
        _part(self._cells, patch)[patch.mask] = WALL
        self._repaint(patch)

    def newly_solid(self, patch: Patch) -> Patch:
        """Return the cells of a patch that are passable now."""
        return Patch(patch.row, patch.column, patch.mask & ~_part(self.world.solid, patch))

    def _put(self, name: str, patch: Patch, material: int | None) -> None:
        before = self._leave(name) if name in self._things else None
        self._enter(name, patch, material)
        self._repaint(patch if before is None else _union(before.patch, patch))

    def _remove(self, name: str) -> tuple[Patch, int | None]:
        thing = self._leave(name)
        self._repaint(thing.patch)
        return thing.patch, thing.material

    def _enter(self, name: str, patch: Patch, material: int | None) -> None:
        self._things[name] = _Thing(self._count, patch, material)
        self._count += 1
        for block in _blocks(patch):
            self._near.setdefault(block, {})[name] = None

    def _leave(self, name: str) -> "_Thing":
        thing = self._things.pop(name)
        for block in _blocks(thing.patch):
            del self._near[block][name]
            if not self._near[block]:
                del self._near[block]
        return thing

    def _things_near(self, window: Patch) -> "list[_Thing]":
        """Return the things in the blocks of a window, in the order in which they were put up."""
        names = {name for block in _blocks(window) for name in self._near.get(block, ())}
        return sorted(map(self._things.__getitem__, names), key=lambda thing: thing.number)

    def _repaint(self, window: Patch) -> None:
        """Recompute the cells of a window from the permanent cells and the structures."""
        cells = _part(self._cells, window).copy()
        materials = None
        for _, patch, material in self._things_near(window):
            mask = _overlap(patch, window)
            if mask is None:
                continue
            cells[mask & ((cells == FREE) | (cells == OPEN))] = WALL
            if material is not None and self.world.materials is not None:
                materials = _part(self.world.materials, window).copy() if materials is None else materials
                materials[mask] = material
        if materials is not None or not np.array_equal(cells, _part(self.world.grid.cells, window)):
            self.world.edit(window.row, window.column, cells, materials)

    def _material(self, name: str) -> int:
        names = self.world.material_names if self.world.materials is not None else (DEFAULT_MATERIAL,)
        if name not in names:
            names = (*names, name)
        if self.world.materials is None or names != self.world.material_names:
            self.world.allow_materials(names)
        return names.index(name)


def robot_in(world: AnyWorld, patch: Patch, discs: np.ndarray) -> int:
    """Return the first robot whose body overlaps cells, or -1.

    Args:
        world: the world of the cells.
        patch: the cells.
        discs: bodies, float64 (n, k, 3): x, y, radius [m] in the world frame; radius 0 means no disc.
    """
    if not patch.mask.any():
        return -1
    x, y, c, s, resolution = world.grid.frame
    dx, dy = discs[..., 0] - x, discs[..., 1] - y
    u, v, radius = (c * dx + s * dy) / resolution, (c * dy - s * dx) / resolution, discs[..., 2] / resolution
    h, w = patch.mask.shape
    near_v = np.abs(v - patch.row - 0.5 * h) < 0.5 * h + radius
    near = near_v & (np.abs(u - patch.column - 0.5 * w) < 0.5 * w + radius) & (radius > 0)
    if not near.any():
        return -1
    rows, columns = np.nonzero(patch.mask)
    rows, columns = rows + patch.row, columns + patch.column
    for i, k in np.argwhere(near):
        away_v = np.maximum(np.maximum(rows - v[i, k], v[i, k] - rows - 1), 0.0)
        away_u = np.maximum(np.maximum(columns - u[i, k], u[i, k] - columns - 1), 0.0)
        if (away_v**2 + away_u**2 < radius[i, k] ** 2).any():
            return int(i)
    return -1


class _Thing(NamedTuple):
    """What was put up: how many were before, its cells, and its material, an index, or None."""

    number: int
    patch: Patch
    material: int | None


def _blocks(patch: Patch) -> Iterator[tuple[int, int]]:
    """Return the blocks of cells that the rectangle around a patch touches."""
    (h, w), row, column = patch.mask.shape, patch.row, patch.column
    rows = range(row // _BLOCK, (row + h - 1) // _BLOCK + 1)
    return product(rows, range(column // _BLOCK, (column + w - 1) // _BLOCK + 1))


def _door(name: str) -> str:
    return f"door {name}"  # a wall may have the same name as a door


def _part(cells: np.ndarray, patch: Patch) -> np.ndarray:
    h, w = patch.mask.shape
    return cells[patch.row : patch.row + h, patch.column : patch.column + w]


def _fill(cells: np.ndarray, patch: Patch, value: int) -> None:
    part = _part(cells, patch)
    part[patch.mask & (part <= WALL)] = value


def _overlap(patch: Patch, window: Patch) -> np.ndarray | None:
    """Return which cells of a window a patch fills, bool of the window's shape; None if none."""
    h, w = window.mask.shape
    part = Patch(patch.row - window.row, patch.column - window.column, patch.mask).clipped((h, w))
    if part is None:
        return None
    mask = np.zeros((h, w), bool)
    _part(mask, part)[:] = part.mask
    return mask


def _union(a: Patch, b: Patch) -> Patch:
    """Return the cells of two patches."""
    row, column = min(a.row, b.row), min(a.column, b.column)
    rows = max(a.row + a.mask.shape[0], b.row + b.mask.shape[0]) - row
    columns = max(a.column + a.mask.shape[1], b.column + b.mask.shape[1]) - column
    mask = np.zeros((rows, columns), bool)
    union: Any = Patch(row, column, mask)
    for patch in (a, b):
        _part(mask, Patch(patch.row - row, patch.column - column, patch.mask))[:] |= patch.mask
    return union
