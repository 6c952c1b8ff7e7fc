"""Materials of walls, cell by cell, for radio links."""

from typing import Literal, get_args

import numpy as np

from covey.errors import InvalidValueError, did_you_mean
from covey.lazy import ndimage
from covey.world.world import World

Material = Literal["concrete", "brick", "wood", "drywall", "metal"]
AnyMaterial = Literal[Material, "random"]
MATERIALS: tuple[str, ...] = get_args(Material)
"""The materials that Covey knows; files may name others."""

DOOR = MATERIALS.index("wood")
"""Material of the doors of generated buildings."""


def material_index(name: str) -> int:
    """Return the index of a material in `MATERIALS`, or raise `InvalidValueError`."""
    if name not in MATERIALS:
        hint = did_you_mean(str(name), MATERIALS)
        raise InvalidValueError(f"there is no material {name!r}{hint}; known: {', '.join(MATERIALS)}")
    return MATERIALS.index(name)


def made_of(world: World, material: str | None, random: np.random.Generator | None = None) -> World:
    """Return the world with every cell of one material, and its doors of wood.

    Args:
        world: the world; the material of free cells matters if a wall is added there.
        material: one of `MATERIALS`; ``random`` draws one for the whole world; None: no material.
        random: generator for ``random``.
    """
    if material is None:
        return world
    if material == "random" and random is not None:
        index = int(random.integers(len(MATERIALS)))
    else:
        index = material_index(material)
    return with_materials(world, np.full(world.grid.shape, index, np.uint8))


def with_materials(world: World, materials: np.ndarray) -> World:
    """Return the world with an index into `MATERIALS` for each cell, uint8 (rows, columns), and its doors of wood."""
    materials = materials.copy()
    for door in world.doors:
        half = world.grid.resolution / 2
        (r0, c0), (r1, c1) = world.grid.to_cells(
            [(door.x0_m + half, door.y0_m + half), (door.x1_m - half, door.y1_m - half)]
        )
        materials[r0 : r1 + 1, c0 : c1 + 1] = DOOR
    return world.replace(materials=materials, material_names=MATERIALS)


def patches(shape: tuple[int, int], runs: int, random: np.random.Generator) -> np.ndarray:
    """Return patches of materials, uint8 (rows, columns), index into `MATERIALS`.

    Each cell draws a material; then, ``runs`` times, each takes the most frequent one of the 3 x 3 cells around it
    (ties: the first of `MATERIALS`), like the walls of a cave.
    """
    found = random.integers(len(MATERIALS), size=shape)
    for _ in range(runs):
        counts = [ndimage.convolve((found == k).astype(np.int8), np.ones((3, 3), np.int8)) for k in range(5)]
        found = np.argmax(counts, axis=0)
    return found.astype(np.uint8)
