"""Floor plans: halls, rooms and doors as rectangles on a lattice of tiles."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from covey.world.doors import Door
from covey.world.generators.tiles import world_of_tiles
from covey.world.world import World


class Box(NamedTuple):
    """The tiles of columns ``x0`` to ``x1`` - 1 and rows ``y0`` to ``y1`` - 1."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def area(self) -> int:
        """Number of tiles."""
        return (self.x1 - self.x0) * (self.y1 - self.y0)

    def cut(self, axis: int, first: int, end: int) -> "Box":
        """Return the part from ``first`` to ``end`` - 1 along an axis, 0 for x and 1 for y."""
        return Box(first, self.y0, end, self.y1) if axis == 0 else Box(self.x0, first, self.x1, end)

    def shrunk(self, by: int) -> "Box":
        """Return the box without an outer ring of tiles."""
        return Box(self.x0 + by, self.y0 + by, self.x1 - by, self.y1 - by)

    def touches(self, other: "Box") -> bool:
        """Return whether two boxes overlap or share part of an edge."""
        wide = min(self.x1, other.x1) - max(self.x0, other.x0)
        high = min(self.y1, other.y1) - max(self.y0, other.y0)
        return min(wide, high) >= 0 and max(wide, high) > 0


@dataclass(frozen=True)
class TilePlan:
    """The free parts of a floor of walls, in tiles from its south-western corner.

    Attributes:
        columns: width of the floor.
        rows: height of the floor.
        halls: halls in the order in which they were laid; they may touch.
        rooms: rooms between walls.
        doors: openings in the walls.
    """

    columns: int
    rows: int
    halls: tuple[Box, ...]
    rooms: tuple[Box, ...]
    doors: tuple[Box, ...]

    def tiles(self) -> np.ndarray:
        """Return the tiles that are free with all doors open, bool (rows, columns)."""
        is_open = np.zeros((self.rows, self.columns), bool)
        for box in (*self.halls, *self.rooms, *self.doors):
            is_open[box.y0 : box.y1, box.x0 : box.x1] = True
        return is_open

    def world(self, tile_m: float, resolution_m: float, name: str) -> World:
        """Return the world, centred on the origin, with its doors (all open) and halls."""
        world = world_of_tiles(self.tiles(), tile_m, resolution_m, name)
        doors = tuple(Door(f"d{i}", *self._metres(box, tile_m)) for i, box in enumerate(self.doors))
        return world.replace(doors=doors, halls=tuple(self._metres(box, tile_m) for box in self.halls))

    def _metres(self, box: Box, tile_m: float) -> tuple[float, float, float, float]:
        x0, y0, x1, y1 = (
            (value - size / 2) * tile_m for value, size in zip(box, 2 * (self.columns, self.rows), strict=True)
        )
        return x0, y0, x1, y1


class SharedWall(NamedTuple):
    """A piece of wall between two boxes, along an axis, 0 for x and 1 for y."""

    axis: int
    box: Box

    @property
    def length(self) -> int:
        """Number of tiles along its axis."""
        return self.box[self.axis + 2] - self.box[self.axis]

    def door(self, width: int, padding: int, random: np.random.Generator) -> Box:
        """Return a door of a given width at a random place in it, at least ``padding`` from its ends."""
        first = self.box[self.axis] + padding + int(random.integers(self.length - 2 * padding - width + 1))
        return self.box.cut(self.axis, first, first + width)


def shared_walls(a: Box, b: Box, thickness: int) -> list[SharedWall]:
    """Return the walls of a given thickness between two boxes: at most one, on one of the four sides of ``a``."""
    found = []
    for axis in (0, 1):
        first, end = max(a[axis], b[axis]), min(a[axis + 2], b[axis + 2])
        across = 1 - axis
        for low, high in ((b[across + 2], a[across]), (a[across + 2], b[across])):
            if first < end and high - low == thickness:
                found.append(SharedWall(axis, a.cut(axis, first, end).cut(across, low, high)))
    return found
