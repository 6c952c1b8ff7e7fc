"""Pairs of robots, their distances, and the walls between them."""

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from covey.comms.links.rays import TILE, by_eye, near_pairs, rectangles_of, sides_of, through
from covey.world.state import AnyWorld, WorldState

_NONE = np.empty((0, 6), np.int32), np.empty(0, np.int64)
_TOUCH_M = 1e-9  # length of wall: a ray that only touches a corner is not blocked


class _Walls:
    """The walls of a world in the form of `through`. Edits update it tile by tile.

    Args:
        world: a world, or its state, which may be edited.
        named: whether materials count: each has its index in the world, and air comes after the last. Else walls are 1.

    Attributes:
        made_of: material of each cell, uint8 (rows, columns).
    """

    def __init__(self, world: AnyWorld, named: bool):
        self.world, self.named, self._version, self._air = world, named, -1, -1
        self._stale = np.ones((2, math.prod(-(-side // TILE) for side in world.grid.shape)), bool)
        self._parts: list[Any] = [(np.empty((0, k), np.int32), np.zeros(1, np.int64)) for k in (5, 6)]

    def update(self) -> None:
        """Process the changes of the world."""
        world, air = self.world, len(self.world.material_names) if self.named else 0
        if self._version == world.version and self._air == air:
            return
        (rows, columns), windows = world.grid.shape, None
        if self._air == air and isinstance(world, WorldState):
            windows = world.edited_since(self._version)
        if not self.named:
            self.made_of = world.solid.view(np.uint8)
        elif windows is None:
            self.made_of = np.empty((rows, columns), np.uint8)
        stale = self._stale.reshape(2, -(-rows // TILE), -1)
        for low, high, left, right in [(0, rows, 0, columns)] if windows is None else windows:
            if self.named:
                assert world.materials is not None
                at = slice(low, high), slice(left, right)
                self.made_of[at] = np.where(world.solid[at], world.materials[at], air)
            # A side of a cell depends on the cell beside it.
            stale[:, max(low - 1, 0) // TILE : high // TILE + 1, max(left - 1, 0) // TILE : right // TILE + 1] = True
        self._version, self._air = world.version, air

    def part(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rectangles, 0, or the sides, 1."""
        if self._stale[k].any():
            of = sides_of if k else rectangles_of
            self._parts[k] = of(self.made_of, self._air, self._stale[k], *self._parts[k])
            self._stale[k] = False
        return self._parts[k]


_walls_of = lru_cache(maxsize=4)(_Walls)


class Pairs:
    """Pairs of robots in a world. The effect of walls is computed when a link model asks for it.

    Args:
        world: the world with the walls.
        xy: true positions of the team [m], float64 (n, 2).
        a, b: the pairs, int64 (m,), a < b.
        distance_m: their distances, float64 (m,).
    """

    def __init__(self, world: AnyWorld, xy: np.ndarray, a: np.ndarray, b: np.ndarray, distance_m: np.ndarray):
        self.world, self.a, self.b, self.distance_m = world, a, b, distance_m
        self.xy = xy

    @cached_property
    def x(self) -> np.ndarray:
        """True x of the team [m], float64 (n,)."""
        return np.ascontiguousarray(self.xy[:, 0])

    @cached_property
    def y(self) -> np.ndarray:
        """True y of the team [m], float64 (n,)."""
        return np.ascontiguousarray(self.xy[:, 1])

    @cached_property
    def _cells(self) -> tuple[np.ndarray, np.ndarray]:
        """The positions in cells from the corner of cell [0, 0], along the columns and along the rows."""
        x0, y0, c, s, cell_m = self.world.grid.frame
        dx, dy = self.x - x0, self.y - y0
        return (c * dx + s * dy) / cell_m, (c * dy - s * dx) / cell_m

    def __len__(self) -> int:
        return len(self.a)

    @staticmethod
    def near(world: AnyWorld, xy: np.ndarray, reach_m: float) -> "Pairs":
        """Return all pairs within a distance of each other."""
        x, y = np.ascontiguousarray(xy[:, 0]), np.ascontiguousarray(xy[:, 1])
        return Pairs(world, xy, *near_pairs(x, y, np.argsort(x, kind="stable"), float(reach_m)))

    @staticmethod
    def of(world: AnyWorld, xy: np.ndarray, a: np.ndarray, b: np.ndarray) -> "Pairs":
        """Return the given pairs at any distance."""
        apart = xy[a] - xy[b]
        return Pairs(world, xy, a, b, np.sqrt(apart[:, 0] ** 2 + apart[:, 1] ** 2))

    def select(self, chosen: np.ndarray) -> "Pairs":
        """Return the chosen pairs, by a bool mask (m,) or indices."""
        return Pairs(self.world, self.xy, self.a[chosen], self.b[chosen], self.distance_m[chosen])

    @cached_property
    def in_sight(self) -> np.ndarray:
        """Which pairs have no wall between them, bool (m,)."""
        return self.through_m(_TOUCH_M) <= _TOUCH_M

    def through_m(self, most_m: float = float("inf")) -> np.ndarray:
        """Return the length inside walls between each pair [m], float64 (m,); inf where it is above ``most_m``."""
        return self._cost(False, [0.0, 1.0], [0.0, 0.0], np.full(len(self), most_m))

    def walls(self) -> np.ndarray:
        """Return the number of walls between each pair, float64 (m,); a stretch without a gap is one wall."""
        return self._cost(False, [0.0, 0.0], [0.0, 1.0], np.full(len(self), np.inf))

    def wall_loss(
        self,
        per_metre: Mapping[str, float],
        per_wall: Mapping[str, float],
        other: tuple[float, float],
        most: np.ndarray,
    ) -> np.ndarray:
        """Return the cost of the walls between each pair, float64 (m,); inf where it is above ``most``, (m,).

        Args:
            per_metre: cost of a metre of each material of the world, by name.
            per_wall: cost of a wall of each material.
            other: cost of a metre, and of a wall, of other materials.
            most: limit above which the exact cost does not matter.
        """
        if self.world.materials is None:
            return self._cost(False, [0.0, other[0]], [0.0, other[1]], most)
        names = self.world.material_names
        metres, walls = [per_metre.get(name, other[0]) for name in names], [per_wall.get(n, other[1]) for n in names]
        return self._cost(True, [*metres, 0.0], [*walls, 0.0], most)

    def _cost(self, named: bool, per_metre: list[float], per_wall: list[float], most: np.ndarray) -> np.ndarray:
        if not len(self):
            return np.empty(0)
        walls = _walls_of(self.world, named)
        walls.update()
        sides = walls.part(1) if any(per_wall) else _NONE
        costs = np.array(per_metre), np.array(per_wall)
        of_pairs: Any = self.a, self.b, self.distance_m, np.ascontiguousarray(most, float)
        order = by_eye(*self._cells, self.a, self.b)
        if len(order):
            of_pairs = [part[order] for part in of_pairs]
        cost = through(walls.made_of, *walls.part(0), *sides, *self._cells, *costs, *of_pairs)
        if len(order):
            cost[order] = cost.copy()
        return cost
