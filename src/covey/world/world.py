"""`World`: the truth that robots move in, as square cells."""

import dataclasses
import io
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.constant import constant
from covey.geometry.grid import Grid
from covey.lazy import Image, ndimage
from covey.world.doors import Door
from covey.world.ground import Ground

FREE, WALL, UNKNOWN, OPEN = 0, 1, 2, 3
"""Values of cells: free; wall; unknown in the map file (outside the world, and solid); outside an open workspace."""

MAX_CELLS = 40_000_000
"""Largest number of cells of a world (a square of 500 m at 0.05 m fits); a run in such a world takes 20 s and 5 GB to
start."""

MAX_PARTS = 40_000
"""Largest number of roads, rooms or blocks of a generated world."""

_SHADES = ((255, 255, 255), (58, 58, 58), (211, 215, 220), (238, 241, 244))
"""Colours of free cells, walls, unknown and open ones in a picture."""

Border = Literal["wall", "open"]


@dataclass(frozen=True, eq=False)
class World:
    """The truth: a grid of cells and their materials. A `World` never changes; a change gives another world.

    During a simulation, `covey.world.state.WorldState` changes (decision 006).

    Attributes:
        grid: uint8 cells, each `FREE`, `WALL`, `UNKNOWN` or `OPEN`.
        name: its name in pictures and errors.
        border: ``wall``: closed; ``open``: robots may leave over the edge, which is an event.
        wall_height_m: height of all walls [m].
        materials: uint8 of the shape of the cells, index into ``material_names``, or None.
        material_names: names of the materials.
        version: grows by one with each change of the cells.
        doors: rectangles that can be closed, with different names.
        halls: x0, y0, x1, y1 [m] of the halls of a building, rectangles.
        ground: the landscape below everything; None: a level plane at altitude 0.
        plan: the world before its damage, see `covey.world.generators.damage`; None: it has no damage.
        polygon: vertices of the workspace that it was made of, float64 (m, 2) [m]; None: it was made otherwise.
        remark: why the file that it comes from is read as it is, if that may surprise; empty: it does not.
    """

    grid: Grid
    name: str = "world"
    border: Border = "wall"
    wall_height_m: float = 2.0
    materials: np.ndarray | None = None
    material_names: tuple[str, ...] = ()
    version: int = 0
    doors: tuple[Door, ...] = ()
    halls: tuple[tuple[float, float, float, float], ...] = ()
    ground: Ground | None = None
    plan: "World | None" = None
    polygon: np.ndarray | None = None
    remark: str = ""

    def __post_init__(self) -> None:
        cells = self.grid.cells
        if cells.dtype != np.uint8 or cells.ndim != 2 or cells.size == 0 or cells.max() > OPEN:
            raise InvalidValueError(
                f"the cells of a world are {cells.dtype} of shape {cells.shape}; they must be uint8 of shape "
                f"(rows, columns), none empty, each 0 (free), 1 (wall), 2 (unknown) or 3 (open)"
            )
        if self.materials is not None:
            if self.materials.dtype != np.uint8 or self.materials.shape != cells.shape:
                raise InvalidValueError(
                    f"materials are {self.materials.dtype} of shape {self.materials.shape}; they must be uint8 of the "
                    f"shape of the cells, {cells.shape}"
                )
            if int(self.materials.max()) >= len(self.material_names):
                raise InvalidValueError(
                    f"a cell has material {int(self.materials.max())}, but there are only "
                    f"{len(self.material_names)} material_names"
                )
        twice = [name for name, times in Counter(door.name for door in self.doors).items() if times > 1]
        if twice:
            raise InvalidValueError(f"{len(twice)} door names stand twice, {twice[0]!r} first; each needs its own")

    def __repr__(self) -> str:
        rows, columns = self.grid.shape
        cell = self.grid.resolution
        ground = ", with ground" if self.ground is not None else ""
        return f"<World {self.name}: {columns * cell:g} m x {rows * cell:g} m, cells of {cell:g} m{ground}>"

    @property
    def cells_in_words(self) -> str:
        """How many cells are walls, free and unknown, and why the file that it comes from is read so."""
        cells = self.grid.cells
        kinds = {"wall": WALL, "free": FREE, "unknown": UNKNOWN, "open": OPEN}
        counts = {kind: int((cells == value).sum()) for kind, value in kinds.items()}
        shares = [
            f"{count:,} {kind} ({100.0 * count / cells.size:.1f} %)"
            for kind, count in counts.items()
            if count or kind != "open"
        ]
        return f"of the {cells.size:,} cells, {', '.join(shares)}" + (f": {self.remark}" if self.remark else "")

    def plot(self) -> "Image.Image":
        """Return a picture of the cells, +y up, for example ``world.plot().save("world.png")``; notebooks show it."""
        rows, columns = self.grid.shape
        image = Image.fromarray(np.array(_SHADES, np.uint8)[self.grid.cells[::-1]])
        zoom = max(1, round(600 / max(rows, columns)))
        return image.resize((columns * zoom, rows * zoom), Image.Resampling.NEAREST)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.plot().save(buffer, "PNG")
        return buffer.getvalue()

    def replace(self, **changes: Any) -> "World":
        """Return a copy with other attributes."""
        return dataclasses.replace(self, **changes)

    def with_cells(self, cells: np.ndarray) -> "World":
        """Return a copy with other cells at the same place, and the next version."""
        return self.replace(grid=self.grid.with_cells(np.ascontiguousarray(cells, np.uint8)), version=self.version + 1)

    def edited(self, row: int, column: int, cells: Any, materials: Any = None) -> "World":
        """Return the next version, with a new rectangle of cells from [row, column] on.

        Data computed from the cells are updated, not recomputed.

        Args:
            row, column: the cell with the smallest row and column.
            cells: the new cells, shape (h, w), each `FREE`, `WALL`, `UNKNOWN` or `OPEN`.
            materials: their materials; None: unchanged.

        Raises:
            InvalidValueError: the rectangle is not inside the array, or a value is not allowed.
        """
        from covey.world.state import WorldState, check_edit

        cells, materials = check_edit(self, row, column, cells, materials)
        state = WorldState(self)
        state.edit(row, column, cells, materials)
        return state.world

    @cached_property
    def free(self) -> np.ndarray:
        """Bool (rows, columns): cells in the world without walls."""
        return self.grid.cells == FREE

    @cached_property
    def solid(self) -> np.ndarray:
        """Bool (rows, columns): cells that stop bodies and rays, `WALL` or `UNKNOWN`."""
        return (self.grid.cells == WALL) | (self.grid.cells == UNKNOWN)

    @cached_property
    def skip(self) -> np.ndarray:
        """uint8 (4, rows, columns): the skip field of `solid`, see `covey.geometry.raycast`."""
        from covey.geometry.raycast import skip_field

        return skip_field(self.solid)

    @cached_property
    def clearance(self) -> np.ndarray:
        """float32 (rows, columns): distance [m] from each cell centre to the nearest solid square."""
        from covey.world.clearance import clearance

        return clearance(self.solid, self.grid.resolution)

    @property
    def workspace_m(self) -> np.ndarray:
        """Vertices of its polygon, float64 (m, 2) [m], read-only; without one the rectangle around its free cells."""
        if self.polygon is not None:
            return self.polygon
        rows, columns = np.flatnonzero(self.free.any(axis=1)), np.flatnonzero(self.free.any(axis=0))
        (low, high), (left, right) = ((at[0], at[-1]) if len(at) else (0, -1) for at in (rows, columns))
        corners = [(low, left), (low, right + 1), (high + 1, right + 1), (high + 1, left)]
        return constant(self.grid.to_world(np.array(corners, float) - 0.5))

    @property
    def free_area_m2(self) -> float:
        """Area of the free cells [m²]."""
        return int(np.count_nonzero(self.free)) * self.grid.resolution**2

    def components(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the connected parts of the free cells (over edges and corners), the largest first.

        Returns:
            labels: int32 (rows, columns); 1 is the largest part, 0 is not free.
            areas_m2: area of each part [m²], descending.
        """
        labels, counts = label_by_size(self.free)
        return labels, counts * self.grid.resolution**2

    def largest_room(self, door_m: float = 1.2) -> np.ndarray:
        """Return the cells of the largest room, bool (rows, columns), if openings up to ``door_m`` count as closed.

        Its cells are at least ``door_m / 2`` from the walls. If the world is narrower than that everywhere, they are
        all free cells of the largest component.
        """
        labels, counts = label_by_size(self.free & (self.clearance >= door_m / 2))
        return labels == 1 if len(counts) else self.components()[0] == 1

    def save(self, path: str | Path) -> None:
        """Write the world as a ROS map: ``path`` (YAML) and a PGM beside it; reading it back gives the same world."""
        from covey.world.io.map_writer import save_map

        save_map(self, Path(path))

    @staticmethod
    def empty(
        width_m: float, height_m: float, resolution_m: float = 0.05, border: Border = "wall", name: str = "empty"
    ) -> "World":
        """Return an empty rectangle, centred on the origin."""
        rows, columns = _count(height_m, resolution_m, "height_m"), _count(width_m, resolution_m, "width_m")
        check_size(rows + 2, columns + 2, resolution_m)
        cells = np.full((rows + 2, columns + 2), WALL if border == "wall" else OPEN, np.uint8)
        cells[1:-1, 1:-1] = FREE
        origin = (-(columns / 2 + 1) * resolution_m, -(rows / 2 + 1) * resolution_m, 0.0)
        return World(Grid(cells, resolution_m, origin), name, border)

    @staticmethod
    def from_file(path: str | Path, **options: Any) -> "World":
        """Read a ROS map (YAML), an image (PGM, PNG) or a floor plan (DXF, SVG).

        The options are those of `covey.world.io.map_files.read_map`, or of a floor plan those of
        `covey.world.io.floor_plans.read_floor_plan`.
        """
        if Path(path).suffix.lower() in (".dxf", ".svg"):
            from covey.world.io.floor_plans import read_floor_plan

            return read_floor_plan(Path(path), **options).world
        from covey.world.io.map_files import read_map

        return read_map(Path(path), **options)

    @staticmethod
    def terrain(name: str, **options: Any) -> "World":
        """Return ``loop``, ``cross``, ``zigzag`` or ``maze``; options: `covey.world.generators.terrains.terrain`."""
        from covey.world.generators.terrains import terrain

        return terrain(name, **options)

    @staticmethod
    def polygons(workspace_m: Any, **options: Any) -> "World":
        """Return a workspace with obstacles and walls; see `covey.world.editing.shapes.workspace` for the options."""
        from covey.world.editing.shapes import workspace

        return workspace(workspace_m, **options)

    @staticmethod
    def maze(**options: Any) -> "World":
        """Return a generated maze; see `covey.world.generators.mazes.maze` for the options."""
        from covey.world.generators.mazes import maze

        return maze(**options)

    @staticmethod
    def office(**options: Any) -> "World":
        """Return a generated office floor; see `covey.world.generators.office.office` for the options."""
        from covey.world.generators.office import office

        return office(**options)

    @staticmethod
    def cave(**options: Any) -> "World":
        """Return a generated cave; see `covey.world.generators.caves.cave` for the options."""
        from covey.world.generators.caves import cave

        return cave(**options)

    @staticmethod
    def building(**options: Any) -> "World":
        """Return a generated building; see `covey.world.generators.buildings.building` for the options."""
        from covey.world.generators.buildings import building

        return building(**options)

    @staticmethod
    def rooms(**options: Any) -> "World":
        """Return a generated grid of rooms; see `covey.world.generators.rooms.rooms` for the options."""
        from covey.world.generators.rooms import rooms

        return rooms(**options)

    @staticmethod
    def rubble(**options: Any) -> "World":
        """Return a generated field of rubble; see `covey.world.generators.rubble.rubble` for the options."""
        from covey.world.generators.rubble import rubble

        return rubble(**options)

    @staticmethod
    def rescue(**options: Any) -> "World":
        """Return a generated floor for rescue; see `covey.world.generators.rescue.rescue` for the options."""
        from covey.world.generators.rescue import rescue

        return rescue(**options)

    def damaged(self, **options: Any) -> "World":
        """Return this world after some damage; see `covey.world.generators.damage.damaged` for the options."""
        from covey.world.generators.damage import damaged

        return damaged(self, **options)


def label_by_size(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Label the 8-connected parts of ``mask``: int32 labels, 1 the largest (equal ones by first cell), and counts."""
    labels = np.empty(mask.shape, np.int32)
    count = int(ndimage.label(mask, np.ones((3, 3), int), output=labels))  # pyright: ignore
    counts = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    order = np.argsort(-counts, kind="stable")
    rank = np.zeros(count + 1, np.int32)
    rank[order + 1] = np.arange(1, count + 1)
    return rank[labels], counts[order]


def check_size(rows: int, columns: int, resolution_m: float) -> None:
    """Raise `InvalidValueError` if a world would have too many cells."""
    if rows * columns > MAX_CELLS:
        raise InvalidValueError(
            f"the world would have {columns:.9g} x {rows:.9g} cells of {resolution_m} m; at most {MAX_CELLS:,} are "
            "allowed: use a coarser resolution_m or a smaller size"
        )


def check_parts(count: float, what: str) -> None:
    """Raise `InvalidValueError` if a generated world would have too many parts."""
    if count > MAX_PARTS:
        raise InvalidValueError(
            f"the world would have {count:.3g} {what}; at most {MAX_PARTS} are allowed: use larger ones, or a smaller "
            "size_m"
        )


def closed(grid: Grid, fill: int = WALL) -> Grid:
    """Return the grid with a ring of ``fill`` around it, or unchanged if all its edge cells are solid."""
    cells = grid.cells
    edge = np.concatenate((cells[0], cells[-1], cells[:, 0], cells[:, -1]))
    if np.all((edge == WALL) | (edge == UNKNOWN)):
        return grid
    x, y = grid.to_world((-1.5, -1.5))
    return Grid(np.pad(cells, 1, constant_values=fill), grid.resolution, (float(x), float(y), grid.origin[2]))


def _count(size_m: float, resolution_m: float, what: str) -> int:
    if not (isinstance(size_m, (int, float, np.number)) and math.isfinite(size_m) and size_m > 0):
        raise InvalidValueError(f"{what} is {size_m!r}; it must be a positive number of metres")
    if not (math.isfinite(resolution_m) and resolution_m > 0):
        raise InvalidValueError(f"resolution_m is {resolution_m!r}; it must be a positive number of metres")
    return max(1, round(size_m / resolution_m))
