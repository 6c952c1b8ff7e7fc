"""The changing part of a world during a simulation: cells, data computed from them, the ground, and the log of edits.

A `World` never changes. A simulation has one `WorldState` and edits it in place; data computed from the cells are
updated only around the change. All users of the state (sensors, contacts, scoring, radio) see the change in their next
step.
"""

from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.raycast import update_skip
from covey.world.clearance import clearance, update_clearance
from covey.world.ground import Ground, GroundEdit, Heightfield
from covey.world.targets import NO_TARGETS, Targets
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, Border, World

Window = tuple[int, int, int, int]
"""First row, last row + 1, first column, last column + 1."""
_ONE_BY_ONE = 64
"""After more edits than this, it is faster to process all cells again."""


class Edit(NamedTuple):
    """An edit's window and its changed cells: int32 (k, 4), step, row x columns + column, before, after."""

    window: Window
    changed: np.ndarray


class WorldState:
    """A world that changes.

    It shares its arrays with its first `World`, and with each that `world` returns, until the next edit, which first
    copies them.

    Args:
        world: the world at the start.
        targets: the targets in it.

    Attributes:
        grid, free, solid, skip, materials, material_names, version: as in `World`.
        name, border, wall_height_m, doors, halls, polygon, remark: as in `World`; constant.
        ground: None if the world has no ground.
        targets: the targets in the world; constant.
        step: the step recorded with edits.
        log: all edits of cells so far.
    """

    def __init__(self, world: World, targets: Targets = NO_TARGETS):
        self._world: World | None = world
        self.targets = targets
        self.grid, self.free, self.solid, self.skip = world.grid, world.free, world.solid, world.skip
        self.materials, self.material_names, self.version = world.materials, world.material_names, world.version
        self.border: Border = world.border
        self.name, self.wall_height_m, self.doors, self.halls = (
            world.name,
            world.wall_height_m,
            world.doors,
            world.halls,
        )
        self.polygon, self.remark = world.polygon, world.remark
        self.ground = None if world.ground is None else GroundState(world.ground)
        self._clearance: np.ndarray | None = vars(world).get("clearance")
        self._stale: Window | None = None  # around all changes since the last update of the clearance
        self.step = 0
        self.log: list[Edit] = []

    @property
    def clearance(self) -> np.ndarray:
        """As in `World`; updated on access."""
        if self._clearance is None:
            self._clearance = clearance(self.solid, self.grid.resolution)
        elif self._stale is not None:
            update_clearance(self._clearance, self.solid, self.grid.resolution, self._stale)
        self._stale = None
        return self._clearance

    @property
    def world(self) -> World:
        """The present world."""
        ground = None if self.ground is None else self.ground.ground
        if self._world is None or self._world.ground is not ground:
            self._world = World(
                self.grid,
                self.name,
                self.border,
                self.wall_height_m,
                self.materials,
                self.material_names,
                self.version,
                self.doors,
                self.halls,
                ground,
                polygon=self.polygon,
                remark=self.remark,
            )
            known = {} if self._clearance is None else {"clearance": self.clearance}
            vars(self._world).update(known, free=self.free, solid=self.solid, skip=self.skip)  # not computed again
        return self._world

    def edit(self, row: int, column: int, cells: np.ndarray, materials: np.ndarray | None = None) -> None:
        """Change a rectangle of cells, and increase the version.

        Args:
            row, column: the cell with the smallest row and column.
            cells: the new cells, uint8 (h, w), inside the array.
            materials: their materials, uint8 (h, w); None: unchanged.
        """
        self._own_arrays()
        window: Window = (row, row + cells.shape[0], column, column + cells.shape[1])
        at = slice(window[0], window[1]), slice(window[2], window[3])
        self.log.append(Edit(window, self._changed(window, self.grid.cells[at], cells)))
        solid = (cells == WALL) | (cells == UNKNOWN)
        changes = not np.array_equal(self.solid[at], solid)
        self.solid[at], self.free[at] = solid, cells == FREE
        self.grid.cells[at] = cells
        if materials is not None and self.materials is not None:
            self.materials[at] = materials
        if changes:
            update_skip(self.solid, self.skip, window)
            w = self._stale or window
            self._stale = min(w[0], window[0]), max(w[1], window[1]), min(w[2], window[2]), max(w[3], window[3])
        self.version += 1

    @property
    def changed(self) -> np.ndarray:
        """The cells that changed so far, int32 (k, 4), see `Edit`."""
        return np.concatenate([np.empty((0, 4), np.int32), *(edit.changed for edit in self.log)])

    def edited_since(self, version: int) -> list[Window] | None:
        """Return the edits since a version; None if they cover everything, or are too many to process one by one."""
        count = self.version - version
        return [edit.window for edit in self.log[len(self.log) - count :]] if count <= _ONE_BY_ONE else None

    def allow_materials(self, names: tuple[str, ...]) -> None:
        """Set the material names to ``names``, which begin with the present ones; give every cell a material."""
        self._own_arrays()
        if self.materials is None:
            self.materials = np.zeros(self.grid.shape, np.uint8)
        self.material_names = names

    def _own_arrays(self) -> None:
        """Replace arrays that belong to a `World` by copies."""
        if self._world is None:
            return
        self._world = None
        self.grid = self.grid.with_cells(self.grid.cells.copy())
        self.free, self.solid, self.skip = self.free.copy(), self.solid.copy(), self.skip.copy()
        if self._clearance is not None:
            self._clearance = self._clearance.copy()
        if self.materials is not None:
            self.materials = self.materials.copy()

    def _changed(self, window: Window, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        rows, columns = np.nonzero(before != after)
        changed = np.empty((len(rows), 4), np.int32)
        changed[:, 0], changed[:, 2], changed[:, 3] = self.step, before[rows, columns], after[rows, columns]
        changed[:, 1] = (rows + window[0]) * self.grid.shape[1] + columns + window[2]
        return changed


AnyWorld = World | WorldState
"""Argument type of functions that only read walls and ground."""


class GroundState(Heightfield):
    """A ground that changes. It shares the altitudes of its `Ground` until the next edit copies them."""

    def __init__(self, ground: Ground):
        self._ground: Ground | None = ground
        self.altitude, self.spacing_m, self.origin = ground.altitude, ground.spacing_m, ground.origin
        self.range_m, self.name, self.version = ground.range_m, ground.name, ground.version

    @property
    def ground(self) -> Ground:
        """The present ground."""
        if self._ground is None:
            self._ground = Ground(self.altitude, self.spacing_m, self.origin, self.range_m, self.name, self.version)
        return self._ground

    def apply(self, edit: GroundEdit) -> None:
        """Apply an edit to the ground, and increase the version."""
        if self._ground is not None:
            self._ground, self.altitude = None, self.altitude.copy()
        h, w = edit.after.shape
        self.altitude[edit.row : edit.row + h, edit.column : edit.column + w] = edit.after
        self.version += 1


def check_edit(world: World, row: int, column: int, cells: Any, materials: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the cells and materials of an edit as arrays, or raise `InvalidValueError`."""
    cells = np.array(cells, np.uint8, ndmin=2)
    rows, columns = world.grid.shape
    inside = 0 <= row <= rows - cells.shape[0] and 0 <= column <= columns - cells.shape[1]
    if cells.ndim != 2 or not cells.size or not inside or cells.max() > OPEN:
        raise InvalidValueError(
            f"an edit of {cells.shape} cells from [{row}, {column}] on does not fit; cells are 0 to {OPEN}, and the "
            f"rectangle lies inside the {rows} x {columns} cells of the world"
        )
    if materials is None:
        return cells, None
    materials = np.array(materials, np.uint8, ndmin=2)
    if world.materials is None or materials.shape != cells.shape or materials.max() >= len(world.material_names):
        raise InvalidValueError(
            f"materials of shape {materials.shape} do not fit cells of shape {cells.shape}; each is an index into the "
            f"materials of the world, {world.material_names}"
        )
    return cells, materials
