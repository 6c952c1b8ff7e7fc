"""Polygons and walls as cells."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from shapely.geometry import LineString, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.validation import explain_validity

from covey.errors import InvalidValueError
from covey.geometry.constant import constant
from covey.geometry.grid import Grid
from covey.kernel import kernel
from covey.lazy import ndimage
from covey.records import MOST
from covey.world.materials import made_of, material_index
from covey.world.world import FREE, OPEN, UNKNOWN, WALL, Border, World, check_size

Points = Sequence[Sequence[float]]

_SPLIT = 8
_BLOCK = _SPLIT**3  # cells
_NUDGE = 1e-6  # of a cell: a centre on an edge belongs to the side of larger x and y despite rounding


def polygon(vertices: Points, what: str = "polygon") -> Polygon:
    """Return the simple polygon with these vertices [m], or raise `InvalidValueError` with the reason."""
    if len(vertices) < 3:
        raise InvalidValueError(f"{what} has {len(vertices)} vertices; it needs at least 3")
    if not np.all(np.abs(np.asarray(vertices, float)) <= MOST):
        raise InvalidValueError(f"{what} has a vertex that is not finite, or beyond {MOST:g} m")
    shape = Polygon(vertices)
    if not shape.is_valid or shape.area <= 0:
        reason = explain_validity(shape) if not shape.is_valid else "it has no area"
        raise InvalidValueError(f"{what} is not a simple polygon: {reason}; its edges must not cross or touch")
    return shape


def wall(points: Points, thickness_m: float, what: str = "wall") -> Polygon:
    """Return a wall along a line of points [m]; it extends half its thickness to each side and past both ends.

    Because of these ends, walls that meet at a point close the corner.
    """
    line = np.asarray(points, float)
    if len(line) < 2 or not np.all(np.abs(line) <= MOST) or np.all(line == line[0]):
        need = f"it needs at least two different points [x, y] in metres, none beyond {MOST:g} m"
        raise InvalidValueError(f"{what} is {points!r}; {need}")
    if not (math.isfinite(thickness_m) and thickness_m > 0):
        raise InvalidValueError(f"the thickness of {what} is {thickness_m!r}; it must be a positive number of metres")
    return LineString(line).buffer(thickness_m / 2, cap_style="square", join_style="mitre")  # pyright: ignore


def walls(lines: Sequence[Any], thickness_m: float) -> np.ndarray:
    """Return the walls along lines of two points [m], arrays (2, 2), as `wall` makes them, in one go."""
    found = shapely.linestrings(np.asarray(lines, float))
    return np.asarray(shapely.buffer(found, thickness_m / 2, cap_style="square", join_style="mitre"))


def rasterize(grid: Grid, shape: BaseGeometry) -> np.ndarray:
    """Return which cells a polygon (or several) fills, bool (rows, columns), for a grid without yaw.

    A cell is filled if its centre is inside. Where a shape is narrower than a cell's diagonal, it fills every cell that
    it overlaps, so a thin wall has no gaps.
    """
    filled = _centres_inside(grid, shape)
    h = grid.resolution * math.sqrt(0.5)
    opened = shape.buffer(-h, join_style="mitre").buffer(h * (1 + 1e-6), join_style="mitre")  # pyright: ignore
    thin = shapely.difference(shape, opened)
    for part in shapely.get_parts(thin):
        if part.area > 1e-9 * grid.resolution**2:
            _fill_overlapped(grid, part, filled)
    return filled


def _centres_inside(grid: Grid, shape: BaseGeometry) -> np.ndarray:
    """Apply the even-odd rule at cell centres: each edge toggles all cells to its right in the rows that it spans."""
    rows, columns = grid.shape
    toggles = np.zeros((rows, columns + 1), bool)
    x0, y0, resolution = grid.origin[0], grid.origin[1], grid.resolution
    for ring in (r for p in shapely.get_parts(shape) for r in (p.exterior, *p.interiors)):
        points = (shapely.get_coordinates(ring) - (x0, y0)) / resolution - 0.5 - _NUDGE
        _toggle(points, toggles)
    return np.logical_xor.accumulate(toggles[:, :-1], axis=1)


@kernel
def _toggle(points, toggles):
    """Toggle, for each edge of a ring of points [cells], the first cell on its right in each row that it spans."""
    rows, columns = toggles.shape[0], toggles.shape[1] - 1
    for k in range(len(points) - 1):
        xa, ya, xb, yb = points[k, 0], points[k, 1], points[k + 1, 0], points[k + 1, 1]
        if ya > yb:
            xa, ya, xb, yb = xb, yb, xa, ya
        for row in range(max(0, math.ceil(ya)), min(rows, math.ceil(yb))):
            crossing = math.ceil(xa + (row - ya) * ((xb - xa) / (yb - ya)))
            toggles[row, min(max(crossing, 0), columns)] ^= True


def _fill_overlapped(grid: Grid, part: BaseGeometry, filled: np.ndarray) -> None:
    """Fill the cells that a shape overlaps: skip blocks of cells that it does not touch, then smaller blocks."""
    shapely.prepare(part)
    corners = grid.to_cells([part.bounds[:2], part.bounds[2:]])
    (r0, c0), (r1, c1) = np.clip(corners, 0, np.array(grid.shape) - 1) // _BLOCK
    at = _BLOCK * np.mgrid[r0 : r1 + 1, c0 : c1 + 1].reshape(2, -1).T
    side = _BLOCK
    while True:
        at = at[shapely.intersects(part, _squares(grid, at, side))]
        if side == 1:
            break
        side //= _SPLIT
        within = side * np.mgrid[:_SPLIT, :_SPLIT].reshape(2, -1).T
        at = (at[:, None] + within).reshape(-1, 2)
        at = at[np.all(at < grid.shape, axis=1)]
    over = shapely.area(shapely.intersection(part, _squares(grid, at, 1))) > 1e-6 * grid.resolution**2
    filled[tuple(at[over].T)] = True


def _squares(grid: Grid, at: np.ndarray, side: int) -> np.ndarray:
    """Return squares of ``side`` x ``side`` cells [m], given the first cell of each."""
    y, x = grid.origin[1] + at[:, 0] * grid.resolution, grid.origin[0] + at[:, 1] * grid.resolution
    return shapely.box(x, y, x + side * grid.resolution, y + side * grid.resolution)


def workspace(
    workspace_m: Points,
    *,
    obstacles_m: Sequence[Points] = (),
    walls_m: Sequence[Points] = (),
    wall_m: float = 0.1,
    border: Border = "wall",
    resolution_m: float = 0.05,
    material: str | None = None,
    obstacle_materials: Sequence[str] = (),
    wall_materials: Sequence[str] = (),
    name: str = "workspace",
) -> World:
    """Return a polygonal world with polygonal obstacles and thin walls.

    Args:
        workspace_m: vertices [m] of the workspace, a simple polygon.
        obstacles_m: vertices [m] of each obstacle.
        walls_m: points [m] along each wall.
        wall_m: thickness of these walls [m].
        border: ``wall`` closes the workspace with a ring of wall cells just outside it; ``open`` lets robots leave.
        resolution_m: side of a cell [m].
        material: material of the border, the obstacles and the walls; None for no material.
        obstacle_materials: material of each obstacle, instead of ``material``.
        wall_materials: material of each of ``walls_m``, instead of ``material``.
        name: name of the world.

    Raises:
        InvalidValueError: a polygon is not simple, a wall has no length, or an obstacle lies outside.
    """
    room = polygon(workspace_m, "the workspace")
    solids = [polygon(p, f"obstacle {i + 1}") for i, p in enumerate(obstacles_m)]
    solids += [wall(p, wall_m, f"wall {i + 1}") for i, p in enumerate(walls_m)]
    for i, solid in enumerate(solids):
        if not solid.intersects(room):
            kind, k = ("obstacle", i + 1) if i < len(obstacles_m) else ("wall", i + 1 - len(obstacles_m))
            raise InvalidValueError(f"{kind} {k} lies outside the workspace; move it in or leave it out")
    own = _one_each("obstacle", obstacle_materials, len(obstacles_m), material)
    own += _one_each("wall", wall_materials, len(walls_m), material)
    grid = grid_around(room.bounds, resolution_m)
    inside = _centres_inside(grid, room)
    if not inside.any():
        raise InvalidValueError(
            f"no cell of {resolution_m} m has its centre in the workspace; use a finer resolution_m or a larger polygon"
        )
    cells = grid.cells
    cells[:] = OPEN if border == "open" else UNKNOWN
    if border == "wall":
        ring = np.asarray(ndimage.binary_dilation(inside, np.ones((3, 3))), bool)
        cells[ring] = WALL
    cells[inside] = FREE
    if solids:
        filled = rasterize(grid, shapely.union_all(solids))
        cells[filled & ((cells == FREE) | (cells == OPEN))] = WALL
    world = made_of(World(grid, name, border, polygon=constant(np.array(workspace_m, float))), material)
    if world.materials is not None:
        for solid, index in zip(solids, own, strict=True):
            world.materials[rasterize(grid, solid)] = index
    return world


def _one_each(what: str, names: Sequence[str], count: int, material: str | None) -> list[int]:
    """Return the index of the material of each obstacle or wall."""
    if names and (material is None or len(names) != count):
        raise InvalidValueError(
            f"{what}_materials names {len(names)} materials; it must have one for each {what}, {count}, and material "
            "must say what the rest is made of"
        )
    return [material_index(name) for name in names or [material] * count if name is not None]


def grid_around(bounds: Sequence[float], resolution_m: Any) -> Grid:
    """Return a grid of free cells over a box [m], with one more cell on each side."""
    if not (math.isfinite(resolution_m) and resolution_m > 0):
        raise InvalidValueError(f"resolution_m is {resolution_m!r}; it must be a positive number of metres")
    left, bottom, right, top = bounds
    columns = math.ceil((right - left) / resolution_m - _NUDGE) + 2
    rows = math.ceil((top - bottom) / resolution_m - _NUDGE) + 2
    check_size(rows, columns, resolution_m)
    return Grid(np.zeros((rows, columns), np.uint8), resolution_m, (left - resolution_m, bottom - resolution_m, 0.0))
