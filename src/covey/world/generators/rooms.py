"""A grid of equal rooms with doors between them."""

import numpy as np

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.generators.floor_plan import Box, SharedWall, TilePlan, shared_walls
from covey.world.generators.mazes import carve
from covey.world.generators.tiles import in_tiles
from covey.world.materials import made_of
from covey.world.world import World, check_parts, check_size


def rooms(
    *,
    size_m: tuple[float, float] = (30.0, 30.0),
    room_m: float = 6.0,
    door_m: float = 1.0,
    extra_doors: float = 0.3,
    wall_m: float = 0.2,
    material: str | None = None,
    resolution_m: float = 0.1,
    seed: int = 0,
) -> World:
    """Return a grid of equal rooms, centred on the origin; every room can be reached.

    A random maze connects all rooms, with a door at a random place of each wall that it opens; some other walls have a
    door too. No passage is narrower than ``door_m``. The world has ``doors``.

    Args:
        size_m: width and height between the centre lines of the outer walls [m], multiples of ``room_m``.
        room_m: pitch of the rooms [m]; a room is narrower by ``wall_m``.
        door_m: width of the doors [m].
        extra_doors: probability of a door in a wall that the maze leaves closed; 1: a door in every wall.
        wall_m: thickness of the walls [m].
        material: material of the walls; ``random``: one for all; None: no material. Doors are made of wood.
        resolution_m: side of a grid cell [m]; ``room_m``, ``door_m`` and ``wall_m`` are multiples.
        seed: the same seed gives the same rooms.
    """
    pitch, door, thickness = (
        in_tiles(value, resolution_m, what, unit="resolution_m")
        for value, what in ((room_m, "room_m"), (door_m, "door_m"), (wall_m, "wall_m"))
    )
    columns, rows = (in_tiles(value, room_m, f"size_m[{i}]", unit="room_m") for i, value in enumerate(size_m))
    check_size(rows * pitch + thickness, columns * pitch + thickness, resolution_m)
    if columns * rows < 2 or not 0 <= extra_doors <= 1:
        raise InvalidValueError(
            f"size_m is {list(size_m)} and extra_doors {extra_doors}; there must be 2 rooms or more, and a probability"
        )
    if pitch - thickness < door + 2 * thickness:
        raise InvalidValueError(
            f"room_m is {room_m:g}; with doors of {door_m:g} m and walls of {wall_m:g} m it must be at least "
            f"{door_m + 3 * wall_m:g}"
        )
    check_parts(columns * rows, "rooms")
    random = generator(seed, "world/rooms")
    closed = carve(columns, rows, 0.0, random)
    west_east = ~closed.east | (random.random(closed.east.shape) < extra_doors)
    south_north = ~closed.north | (random.random(closed.north.shape) < extra_doors)
    inner = [[_room(r, c, pitch, thickness) for c in range(columns)] for r in range(rows)]
    walls: list[SharedWall] = []
    walls += [wall for r, c in np.argwhere(west_east) for wall in shared_walls(inner[r][c], inner[r][c + 1], thickness)]
    walls += [
        wall for r, c in np.argwhere(south_north) for wall in shared_walls(inner[r][c], inner[r + 1][c], thickness)
    ]
    doors = tuple(wall.door(door, thickness, random) for wall in walls)
    boxes = tuple(room for row in inner for room in row)
    floor = TilePlan(columns * pitch + thickness, rows * pitch + thickness, (), boxes, doors)
    world = floor.world(resolution_m, resolution_m, "rooms")
    return made_of(world, material, generator(seed, "world/rooms/material"))


def _room(row: int, column: int, pitch: int, wall: int) -> Box:
    return Box(column * pitch + wall, row * pitch + wall, (column + 1) * pitch, (row + 1) * pitch)
