"""The four terrains on which exploration is compared: loop, cross, zigzag, maze.

The published terrains are 80 x 80 m on a lattice of 8 m, centred on the origin, with walls 2 m high. The thickness of
the walls is not published; here it is 0.2 m, centred on the lattice lines. The geometry is that of the authors' maps,
straightened to the lattice.

References:
    Z. Yan, L. Fabresse, J. Laval, N. Bouraqadi: Building a ROS-Based Testbed for Realistic Multi-Robot Simulation:
    Taking the Exploration as an Example. Robotics 6(3):21, 2017.
"""

import math
from typing import Literal, get_args

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.world.editing.shapes import rasterize
from covey.world.generators.lattice import LatticeWalls, wall_shapes
from covey.world.world import UNKNOWN, WALL, World, check_parts, check_size, closed

Terrain = Literal["loop", "cross", "zigzag", "maze"]

# One row of the maze each, from the north: cells (0 is the westernmost) with a wall to their east, and to their south.
_MAZE_EAST = ("68", "047", "03678", "1456", "258", "01247", "1346", "237", "1458", "67")
_MAZE_SOUTH = ("12368", "2346", "13578", "148", "14689", "269", "12579", "12579", "134")


def terrain(
    name: str, *, size_m: float = 80.0, road_m: float = 8.0, wall_m: float = 0.2, resolution_m: float = 0.1
) -> World:
    """Return one of the four terrains, centred on the origin.

    Args:
        name: ``loop``, ``cross``, ``zigzag`` or ``maze``.
        size_m: side of the square between the centre lines of the outer walls [m].
        road_m: width of the roads, the pitch of the lattice [m].
        wall_m: thickness of the walls [m].
        resolution_m: side of a cell [m].

    Raises:
        InvalidValueError: an unknown name, or a size that does not fit the lattice.
    """
    if name not in get_args(Terrain):
        raise InvalidValueError(f"there is no terrain {name!r}; known: {', '.join(get_args(Terrain))}")
    for what, value in (("size_m", size_m), ("road_m", road_m), ("wall_m", wall_m), ("resolution_m", resolution_m)):
        if not (math.isfinite(value) and value > 0):
            raise InvalidValueError(f"{what} is {value!r}; it must be a positive number of metres")
    check_roads(road_m, wall_m, resolution_m)
    check_size(round(size_m / resolution_m), round(size_m / resolution_m), resolution_m)
    half = size_m / 2
    frame = shapely.box(-half, -half, half, half).exterior.buffer(wall_m / 2, join_style="mitre")
    solid = shapely.union_all([frame, *_INSIDE[name](size_m, road_m, wall_m)])
    return world_of_walls(solid, half, half, wall_m, resolution_m, name)


def start_line(i: int, size_m: float = 80.0, road_m: float = 8.0) -> Pose:
    """Return the start of robot ``i``: x = -38, y = 38 - 2 i [m] on the published size, heading east.

    On other sizes, robots start a quarter of a road from the west wall, and a quarter of a road apart.

    Examples:
        >>> start_line(29)
        Pose(x=-38.0, y=-20.0, heading=0.0)
    """
    return Pose(road_m / 4 - size_m / 2, size_m / 2 - road_m / 4 * (i + 1), 0.0)


def check_roads(road_m: float, wall_m: float, resolution_m: float) -> None:
    """Raise `InvalidValueError` if the cells are too coarse for the roads between the walls."""
    if road_m - wall_m < 2 * resolution_m:
        raise InvalidValueError(
            f"road_m is {road_m} and wall_m {wall_m}; between the walls there must be at least two cells of "
            f"resolution_m, {resolution_m} m"
        )


def world_of_walls(
    solid: BaseGeometry, half_width_m: float, half_height_m: float, wall_m: float, resolution_m: float, name: str
) -> World:
    """Return the world with the walls ``solid``, and outer walls at the given half sizes [m] around the origin."""
    columns, rows = (2 * math.ceil((half + wall_m / 2) / resolution_m - 1e-6) for half in (half_width_m, half_height_m))
    check_size(rows, columns, resolution_m)
    grid = Grid(
        np.zeros((rows, columns), np.uint8), resolution_m, (-columns / 2 * resolution_m, -rows / 2 * resolution_m, 0.0)
    )
    grid.cells[rasterize(grid, solid)] = WALL
    # If the outer walls do not end on the border of a cell, cells outside them are left over.
    x = np.abs(np.arange(columns) + 0.5 - columns / 2) * resolution_m > half_width_m
    y = np.abs(np.arange(rows) + 0.5 - rows / 2) * resolution_m > half_height_m
    grid.cells[(x[None, :] | y[:, None]) & (grid.cells != WALL)] = UNKNOWN
    return World(closed(grid), name)


def _loop(size: float, road: float, wall: float) -> list[BaseGeometry]:
    """Return one solid block with a road around it."""
    if size <= 2 * road:
        raise InvalidValueError(f"size_m is {size}; a loop with roads of {road} m must be larger than {2 * road} m")
    side = size / 2 - road
    return [shapely.box(-side, -side, side, side)]


def _cross(size: float, road: float, wall: float) -> list[BaseGeometry]:
    """Return four solid blocks: a ring road and two roads that cross in the middle."""
    if size <= 3 * road:
        raise InvalidValueError(f"size_m is {size}; a cross with roads of {road} m must be larger than {3 * road} m")
    near, far = road / 2, size / 2 - road
    spans = ((-far, -near), (near, far))
    return [shapely.box(left, bottom, right, top) for left, right in spans for bottom, top in spans]


def _zigzag(size: float, road: float, wall: float) -> list[BaseGeometry]:
    """Return thin walls, a road apart, alternately from the south and the north; each leaves a road at its end."""
    columns = _lattice_cells(size, road, "zigzag")
    east = np.ones((columns, columns - 1), bool)
    east[-1, ::2] = False
    east[0, 1::2] = False
    return wall_shapes(LatticeWalls(east, np.zeros((columns - 1, columns), bool)), road, wall)


def _maze(size: float, road: float, wall: float) -> list[BaseGeometry]:
    """Return the maze of 10 x 10 cells."""
    if _lattice_cells(size, road, "maze") != 10:
        raise InvalidValueError(f"size_m is {size}; the maze has 10 x 10 cells of road_m: {10 * road} m")
    return wall_shapes(maze_walls(), road, wall)


_INSIDE = {"loop": _loop, "cross": _cross, "zigzag": _zigzag, "maze": _maze}


def maze_walls() -> LatticeWalls:
    """Return the inner walls of the maze terrain."""
    east, north = np.zeros((10, 9), bool), np.zeros((9, 10), bool)
    for from_north, cells in enumerate(_MAZE_EAST):
        east[9 - from_north, [int(c) for c in cells]] = True
    for from_north, cells in enumerate(_MAZE_SOUTH):
        north[8 - from_north, [int(c) for c in cells]] = True
    return LatticeWalls(east, north)


def _lattice_cells(size: float, road: float, name: str) -> int:
    cells = round(size / road)
    if cells < 2 or abs(size / road - cells) > 1e-9:
        raise InvalidValueError(f"size_m is {size}; a {name} needs a multiple (2 or more) of road_m, {road} m")
    check_parts(cells, "roads side by side")
    return cells
