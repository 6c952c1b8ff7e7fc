"""Pairs of robots, how far they are apart, and what lies between them."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from covey.world.world import World

_ONE = np.zeros((1, 1), np.uint8)


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

    def __len__(self) -> int:
        return len(self.a)

    @staticmethod
    def near(world: World, xy: np.ndarray, reach_m: float) -> "Pairs":
        """Return all pairs within a distance of each other."""
        from covey.comms.links.rays import near_pairs

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
        from covey.comms.links.rays import in_sight

        return in_sight(self.world.skip, self.world.grid.frame, self.x, self.y, self.a, self.b).view(bool)

    def through_m(self, most_m: float = float("inf")) -> np.ndarray:
        """Return the length inside walls between each pair [m], float64 (m,); inf where it is above ``most_m``."""
        return self._cost(_ONE, np.ones(1), np.zeros(1), np.full(len(self), most_m))

    def walls(self) -> np.ndarray:
        """Return how many walls lie between each pair, float64 (m,); a stretch without a gap is one wall."""
        return self._cost(_ONE, np.zeros(1), np.ones(1), np.full(len(self), np.inf))

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
            return self._cost(_ONE, np.array([other[0]]), np.array([other[1]]), most)
        names: Sequence[str] = world.material_names
        metres = np.array([per_metre.get(n, other[0]) for n in names], float)
        walls = np.array([per_wall.get(n, other[1]) for n in names], float)
        return self._cost(world.materials, metres, walls, most)

    def _cost(self, material: np.ndarray, per_metre: np.ndarray, per_wall: np.ndarray, most: np.ndarray) -> Any:
        from covey.comms.links.rays import through

        place = self.world.skip, material, self.world.grid.frame, self.x, self.y, self.a, self.b
        return through(*place, per_metre, per_wall, np.ascontiguousarray(most, float))
