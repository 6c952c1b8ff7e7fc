"""Edits: cells of a world change, and what was computed of them is brought up to date around the change only.

A `World` never changes for whoever made it. A simulation keeps a copy of its own, `editable`, and changes that in
place with `edit`, so whatever holds it (sensors, contacts, scoring, radio) sees the change in its next step.
"""

from collections import deque
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.raycast import update_skip
from covey.world.editing.ground_edits import editable_ground
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, World

Window = tuple[int, int, int, int]
"""First row, last row + 1, first column, last column + 1."""
_REMEMBERED = 64
"""So many edits are known one by one."""


def editable(world: World) -> World:
    """Return a copy that `edit` may change in place; it shares the arrays of ``world`` until then, its ground not."""
    copy = world.replace(ground=None if world.ground is None else editable_ground(world.ground))
    copy.__dict__.update(skip=world.skip)
    if "clearance" in world.__dict__:
        copy.__dict__["clearance"] = world.clearance
    return copy


def edit(world: World, row: int, column: int, cells: np.ndarray, materials: np.ndarray | None = None) -> None:
    """Change a rectangle of cells of an `editable` world in place, and make it the next version.

    Args:
        world: an `editable` world.
        row, column: the first cell, of the smallest row and column.
        cells: the new cells, uint8 (h, w), inside the array.
        materials: their materials, uint8 (h, w); None leaves those as they are.
    """
    _own_arrays(world)
    window: Window = (row, row + cells.shape[0], column, column + cells.shape[1])
    at = slice(window[0], window[1]), slice(window[2], window[3])
    solid = (cells == WALL) | (cells == UNKNOWN)
    changes = not np.array_equal(world.solid[at], solid)
    world.solid[at], world.free[at] = solid, cells == FREE
    world.grid.cells[at] = cells
    if materials is not None and world.materials is not None:
        world.materials[at] = materials
    if changes:
        update_skip(world.solid, world.skip, window)
        _postpone_clearance(world, window)
    object.__setattr__(world, "version", world.version + 1)
    world.__dict__.setdefault("edited_lately", deque(maxlen=_REMEMBERED)).append(window)


def edited_since(world: World, version: int) -> list[Window] | None:
    """Return what was changed of a world in place since it was at ``version``; None if that is not known any more."""
    windows = world.__dict__.get("edited_lately", ())
    count = world.version - version
    return list(windows)[len(windows) - count :] if 0 <= count <= len(windows) else None


def allow_materials(world: World, names: tuple[str, ...]) -> None:
    """Give an `editable` world in place the materials ``names``, of which its own are the first; all cells have one."""
    if world.materials is None:
        object.__setattr__(world, "materials", np.zeros(world.grid.shape, np.uint8))
    object.__setattr__(world, "material_names", names)


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


def _own_arrays(world: World) -> None:
    """Replace arrays that are shared with another world by copies, once."""
    if "owned" in world.__dict__:
        return
    object.__setattr__(world, "grid", world.grid.with_cells(world.grid.cells.copy()))
    if world.materials is not None:
        object.__setattr__(world, "materials", world.materials.copy())
    world.__dict__.update(owned=True, skip=world.skip.copy(), free=world.free.copy(), solid=world.solid.copy())


def _postpone_clearance(world: World, window: Window) -> None:
    """Leave the clearance to whoever asks for it next, with the box around all that changed since it was right."""
    known = world.__dict__.pop("clearance", None)
    if known is not None:
        world.__dict__["clearance_before"] = (known, window)
    elif "clearance_before" in world.__dict__:
        array, w = world.__dict__["clearance_before"]
        box = min(w[0], window[0]), max(w[1], window[1]), min(w[2], window[2]), max(w[3], window[3])
        world.__dict__["clearance_before"] = (array, box)
