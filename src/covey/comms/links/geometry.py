"""Pairs of robots, how far they are apart, and what lies between them."""

from collections.abc import Mapping
from functools import cached_property, lru_cache

import numpy as np

from covey.comms.links.rays import near_pairs, rectangles_of, sides_of, through
from covey.world.world import World

_NONE = np.empty((0, 6), np.int32), np.empty(0, np.int64)
_TOUCH_M = 1e-9  # of wall: a ray that touches a corner, not one that is hidden


# A simulation edits its world in place: what is computed of it holds for one version.


@lru_cache(maxsize=4)
def _made_of(world: World, version: int, named: bool) -> tuple[np.ndarray, int]:
    """Return what each cell is made of, uint8 (rows, columns), and the material that is air.

    Named materials have their index in the world, air comes after the last; else all walls are 0 and air is 1.
    """
    if not named or world.materials is None:
        return (~world.solid).astype(np.uint8), 1
    air = len(world.material_names)
    return np.where(world.solid, world.materials, air).astype(np.uint8), air


@lru_cache(maxsize=4)
def _rectangles(world: World, version: int, named: bool) -> tuple[np.ndarray, np.ndarray]:
    return rectangles_of(*_made_of(world, version, named))


@lru_cache(maxsize=4)
def _sides(world: World, version: int, named: bool) -> tuple[np.ndarray, np.ndarray]:
    return sides_of(*_made_of(world, version, named))


class Pairs:
    """Some pairs of robots in a world. What walls do is worked out when a link model asks for it.

    Args:
        world: the walls between them.
        xy: true positions of the team [m], float64 (n, 2).
        a, b: the pairs, int64 (m,), a < b.
        distance_m: how far apart, float64 (m,).

    Attributes:
        x, y: true positions of the team [m], float64 (n,).
    """

    def __init__(self, world: World, xy: np.ndarray, a: np.ndarray, b: np.ndarray, distance_m: np.ndarray):
        self.world, self.a, self.b, self.distance_m = world, a, b, distance_m
        self.x, self.y = np.ascontiguousarray(xy[:, 0]), np.ascontiguousarray(xy[:, 1])
        self.xy = xy

    @cached_property
    def _cells(self) -> tuple[np.ndarray, np.ndarray]:
        """The positions in cells from the corner of cell [0, 0], along the columns and along the rows."""
        x0, y0, c, s, cell_m = self.world.grid.frame
        dx, dy = self.x - x0, self.y - y0
        return (c * dx + s * dy) / cell_m, (c * dy - s * dx) / cell_m

    def __len__(self) -> int:
        return len(self.a)

    @staticmethod
    def near(world: World, xy: np.ndarray, reach_m: float) -> "Pairs":
        """Return all pairs within a distance of each other."""
        x, y = np.ascontiguousarray(xy[:, 0]), np.ascontiguousarray(xy[:, 1])
        return Pairs(world, xy, *near_pairs(x, y, np.argsort(x, kind="stable"), float(reach_m)))

    @staticmethod
    def of(world: World, xy: np.ndarray, a: np.ndarray, b: np.ndarray) -> "Pairs":
        """Return the given pairs, whatever their distance."""
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
        return self._cost(False, [1.0], [0.0], np.full(len(self), most_m))

    def walls(self) -> np.ndarray:
        """Return how many walls lie between each pair, float64 (m,); a stretch without a gap is one wall."""
        return self._cost(False, [0.0], [1.0], np.full(len(self), np.inf))

    def wall_loss(
        self,
        per_metre: Mapping[str, float],
        per_wall: Mapping[str, float],
        other: tuple[float, float],
        most: np.ndarray,
    ) -> np.ndarray:
        """Return what the walls between each pair cost, float64 (m,); inf where it is above ``most``, (m,).

        Args:
            per_metre: cost of a metre of each material of the world, by its name.
            per_wall: cost of a wall of each material.
            other: cost of a metre, and of a wall, of what is not named.
            most: where the exact cost does not matter any more.
        """
        names = self.world.material_names if self.world.materials is not None else ("",)
        metres, walls = [per_metre.get(name, other[0]) for name in names], [per_wall.get(n, other[1]) for n in names]
        return self._cost(self.world.materials is not None, metres, walls, most)

    def _cost(self, named: bool, per_metre: list[float], per_wall: list[float], most: np.ndarray) -> np.ndarray:
        if not len(self):
            return np.empty(0)
        key = self.world, self.world.version, named
        sides = _sides(*key) if any(per_wall) else _NONE
        costs = np.array([*per_metre, 0.0]), np.array([*per_wall, 0.0])
        walls = _made_of(*key)[0], *_rectangles(*key), *sides
        return through(*walls, *self._cells, self.a, self.b, self.distance_m, *costs, np.ascontiguousarray(most, float))
