"""Random mazes, carved depth first."""

import numpy as np
import shapely

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.generators.lattice import LatticeWalls, wall_shapes
from covey.world.generators.terrains import check_roads, world_of_walls
from covey.world.materials import made_of
from covey.world.world import World, check_parts, check_size


def maze(
    *,
    size_m: tuple[float, float] = (30.0, 30.0),
    road_m: float = 2.0,
    wall_m: float = 0.2,
    opening: float = 0.0,
    material: str | None = None,
    resolution_m: float = 0.1,
    seed: int = 0,
) -> World:
    """Return a maze of square cells with thin walls between them, centred on the origin.

    Args:
        size_m: width and height [m], multiples of ``road_m``.
        road_m: pitch of the cells [m]; a road is narrower by ``wall_m``.
        wall_m: thickness of the walls [m].
        opening: probability that a cell loses its walls on all four sides; 0 gives a perfect maze (one way between any
            two places), 1 an empty hall.
        material: material of the walls; ``random``: one for all; None: no material.
        resolution_m: side of a grid cell [m].
        seed: the same seed gives the same maze.

    References:
        The opening probability: A. Linardakis, I. Varlamis, G. T. Papadopoulos: Distributed maze exploration using
        multiple agents and optimal goal assignment. 2024 (theirs is 1 - obs_prob).
    """
    columns, rows = round(size_m[0] / road_m), round(size_m[1] / road_m)
    fits = abs(columns * road_m - size_m[0]) < 1e-9 * size_m[0] and abs(rows * road_m - size_m[1]) < 1e-9 * size_m[1]
    if not fits or columns < 2 or rows < 2:
        raise InvalidValueError(f"size_m is {list(size_m)}; each must be a multiple (2 or more) of road_m, {road_m} m")
    check_parts(columns * rows, "cells of road_m")
    check_roads(road_m, wall_m, resolution_m)
    check_size(round(size_m[1] / resolution_m), round(size_m[0] / resolution_m), resolution_m)
    walls = carve(columns, rows, opening, generator(seed, "world/maze"))
    half_w, half_h = size_m[0] / 2, size_m[1] / 2
    frame = shapely.box(-half_w, -half_h, half_w, half_h).exterior.buffer(wall_m / 2, join_style="mitre")
    solid = shapely.union_all([frame, *wall_shapes(walls, road_m, wall_m)])
    world = world_of_walls(solid, half_w, half_h, wall_m, resolution_m, "maze")
    return made_of(world, material, generator(seed, "world/maze/material"))


def carve(columns: int, rows: int, opening: float, random: np.random.Generator) -> LatticeWalls:
    """Return the walls of a maze that is carved depth first and then opened.

    A walk goes to a random unvisited neighbour and removes the wall to it; without one it goes back. Then each cell
    loses its four walls with the probability ``opening``.
    """
    if not 0 <= opening <= 1:
        raise InvalidValueError(f"opening is {opening!r}; it is a probability, from 0 to 1")
    east, north = np.ones((rows, columns - 1), bool), np.ones((rows - 1, columns), bool)
    visited = np.zeros((rows, columns), bool)
    path = [(int(random.integers(rows)), int(random.integers(columns)))]
    visited[path[0]] = True
    while path:
        r, c = path[-1]
        around = ((r, c + 1), (r + 1, c), (r, c - 1), (r - 1, c))
        free = [(a, b) for a, b in around if 0 <= a < rows and 0 <= b < columns and not visited[a, b]]
        if not free:
            path.pop()
            continue
        a, b = free[int(random.integers(len(free)))]
        if a == r:
            east[r, min(b, c)] = False
        else:
            north[min(a, r), c] = False
        visited[a, b] = True
        path.append((a, b))
    opened = random.random((rows, columns)) < opening
    east &= ~(opened[:, :-1] | opened[:, 1:])
    north &= ~(opened[:-1] | opened[1:])
    return LatticeWalls(east, north)
