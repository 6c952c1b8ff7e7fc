"""Pairs of robots, how far they are apart, and what lies between them."""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from covey.comms.links.rays import blocks_of, in_sight, near_pairs, same_field, through
from covey.world.world import World

_MANY = 200  # pairs for each robot
_NO_BLOCKS = np.empty((0, 4)), np.empty((0, 0), np.int32)


# A simulation edits its world in place: what is computed of it holds for one version.


@lru_cache(maxsize=2)
def _blocks(world: World, version: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rectangles that the walls are made of, see `blocks_of`."""
    return blocks_of(world.solid.view(np.uint8))


@lru_cache(maxsize=2)
def _walls(world: World, version: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what the walls are made of, all alike, uint8 (rows, columns), 1 is air; and how far each cell is so."""
    made_of = (~world.solid).astype(np.uint8)
    return same_field(made_of), made_of


@lru_cache(maxsize=2)
def _materials(world: World, version: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the same with an index into the materials of the world, air coming after the last."""
    assert world.materials is not None
    made_of = np.where(world.solid, world.materials, len(world.material_names)).astype(np.uint8)
    return same_field(made_of), made_of


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
        blocks = _blocks(self.world, self.world.version) if len(self) > _MANY * len(self.x) else _NO_BLOCKS
        return in_sight(self.world.skip, *blocks, *self._cells, self.a, self.b).view(bool)

    def through_m(self, most_m: float = float("inf")) -> np.ndarray:
        """Return the length inside walls between each pair [m], float64 (m,); inf where it is above ``most_m``."""
        return self._cost(_walls(self.world, self.world.version), [1.0], [0.0], np.full(len(self), most_m))

    def walls(self) -> np.ndarray:
        """Return how many walls lie between each pair, float64 (m,); a stretch without a gap is one wall."""
        return self._cost(_walls(self.world, self.world.version), [0.0], [1.0], np.full(len(self), np.inf))

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
        world = self.world
        if world.materials is None:
            return self._cost(_walls(world, world.version), [other[0]], [other[1]], most)
        metres = [per_metre.get(name, other[0]) for name in world.material_names]
        walls = [per_wall.get(name, other[1]) for name in world.material_names]
        return self._cost(_materials(world, world.version), metres, walls, most)

    def _cost(self, made: Any, per_metre: list[float], per_wall: list[float], most: np.ndarray) -> np.ndarray:
        cell_m, most = self.world.grid.resolution, np.ascontiguousarray(most, float)
        costs = np.array([*per_metre, 0.0]), np.array([*per_wall, 0.0])
        return through(*made, *self._cells, cell_m, self.a, self.b, *costs, most)
