"""Buildings: halls first, then rooms, then doors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.generators.floor_plan import Box, SharedWall, TilePlan, shared_walls
from covey.world.generators.tiles import cells_along, in_tiles
from covey.world.materials import made_of
from covey.world.world import World, check_parts


class Lengths(NamedTuple):
    """Lengths of a building in tiles: halls, smallest side of a room, doors and their padding, walls."""

    hall: int
    room: int
    door: int
    padding: int
    wall: int


def building(
    *,
    size_m: tuple[float, float] = (50.0, 50.0),
    tile_m: float = 1.0,
    hall_share: float = 0.2,
    hall_m: float = 4.0,
    min_room_m: float = 6.0,
    door_m: float = 2.0,
    door_padding_m: float = 2.0,
    room_split: float = 0.85,
    wall_m: float = 1.0,
    border_m: float = 1.0,
    material: str | None = None,
    resolution_m: float = 0.25,
    seed: int = 0,
) -> World:
    """Return a building, centred on the origin; every room can be reached.

    Straight halls are laid through the largest remaining area, alternately from north to south and from west to east.
    Walls repeatedly split the areas between them into rooms. Doors are cut until everything is connected; no passage
    is narrower than ``door_m``. The world has ``doors`` and ``halls``. The defaults are those of MAES 2.0, with a tile
    of 1 m; walls of 0.25 m and doors of 1.25 m need ``tile_m`` 0.25.

    Args:
        size_m: width and height [m]; all lengths are multiples of ``tile_m``.
        tile_m: side of the squares on which the floor is drawn [m].
        hall_share: halls are laid until they take this share of the area inside the border, or no more fits.
        hall_m: width of the halls [m], at least ``door_m``.
        min_room_m: the sides of all rooms are longer than this [m].
        door_m: width of the doors [m].
        door_padding_m: length of wall beside a door [m]; less if two rooms share too little of a wall.
        room_split: probability to split a part of an area again; each area is split at least once if there is room.
        wall_m: thickness of the walls [m].
        border_m: extra thickness of the outer walls [m].
        material: material of the walls; ``random``: one for the whole building; None: no material. Doors are made of
            wood.
        resolution_m: side of a grid cell [m]; ``tile_m`` is a multiple.
        seed: the same seed gives the same building.

    Raises:
        InvalidValueError: lengths are not multiples of a tile or do not fit together.

    References:
        M. Z. Andreasen, P. I. Holler, M. K. Jensen, M. Albano: MAES: a ROS 2-compatible simulation tool for exploration
        and coverage algorithms. Artificial Life and Robotics 28, 2023; its source of June 2022.
    """
    columns, rows = (in_tiles(value, tile_m, f"size_m[{i}]") for i, value in enumerate(size_m))
    cells_along(rows, columns, tile_m, resolution_m)
    lengths = Lengths(
        in_tiles(hall_m, tile_m, "hall_m"),
        in_tiles(min_room_m, tile_m, "min_room_m"),
        in_tiles(door_m, tile_m, "door_m"),
        in_tiles(door_padding_m, tile_m, "door_padding_m", 0),
        in_tiles(wall_m, tile_m, "wall_m"),
    )
    border = in_tiles(border_m, tile_m, "border_m", 0)
    _check(lengths, tile_m, hall_share, room_split)
    least = 2 * (border + lengths.wall) + lengths.room + 1
    if min(columns, rows) < least:
        raise InvalidValueError(f"size_m is {list(size_m)}; it must be at least {least * tile_m:g} m both ways")
    check_parts(4 * columns * rows / (lengths.room + lengths.wall + 1) ** 2, "walls")
    random = generator(seed, "world/building")
    floor = plan(Box(0, 0, columns, rows).shrunk(border), columns, rows, lengths, hall_share, room_split, random)
    world = floor.world(tile_m, resolution_m, "building")
    return made_of(world, material, generator(seed, "world/building/material"))


def _check(lengths: Lengths, tile_m: float, hall_share: float, room_split: float) -> None:
    hall, room, door, padding, wall = lengths
    if not 0 <= hall_share <= 1 or not 0 <= room_split <= 1:
        raise InvalidValueError(f"hall_share is {hall_share} and room_split {room_split}; both are from 0 to 1")
    if hall < door:
        raise InvalidValueError(f"hall_m is {hall * tile_m:g}; a hall is at least as wide as a door, {door * tile_m:g}")
    # If walls meet a wall from both sides, a room still shares half a side with a neighbour: a door fits there.
    least = max(2 * padding + door, 2 * door + wall - 1)
    if room < least:
        raise InvalidValueError(
            f"min_room_m is {room * tile_m:g}; with doors of {door * tile_m:g} m, {padding * tile_m:g} m beside them "
            f"and walls of {wall * tile_m:g} m it must be at least {least * tile_m:g}"
        )


def plan(
    area: Box,
    columns: int,
    rows: int,
    lengths: Lengths,
    hall_share: float,
    room_split: float,
    random: np.random.Generator,
) -> TilePlan:
    """Return the plan of a building that fills ``area`` on a floor of ``columns`` x ``rows`` tiles."""
    halls, regions = lay_halls(area, lengths, hall_share, random)
    rooms = [
        room for region in regions for room in split(region.shrunk(lengths.wall), 1, True, lengths, room_split, random)
    ]
    inner = area.shrunk(lengths.wall)
    closed = [Box(max(h.x0, inner.x0), max(h.y0, inner.y0), min(h.x1, inner.x1), min(h.y1, inner.y1)) for h in halls]
    doors = cut_doors(closed, rooms, lengths, random)
    return TilePlan(columns, rows, tuple(closed), tuple(rooms), tuple(doors))


def lay_halls(area: Box, lengths: Lengths, share: float, random: np.random.Generator) -> tuple[list[Box], list[Box]]:
    """Return the halls, in order, and the regions between them.

    Each hall goes through the largest region, alternately along y and x, at a random place with space for a room on
    both sides.
    """
    halls, regions, axis = [], [area], 0
    while sum(hall.area for hall in halls) < share * area.area:
        k = max(range(len(regions)), key=lambda i: regions[i].area)
        region = regions[k]
        low, high = region[axis], region[axis + 2]
        walls = 2 * lengths.wall
        first = low + lengths.room + walls + 1
        last = high - 2 - max(2 * lengths.room, lengths.hall + lengths.room + walls)
        if first > last:
            break
        at = int(random.integers(first, last + 1))
        halls.append(region.cut(axis, at, at + lengths.hall))
        regions[k : k + 1] = [region.cut(axis, low, at), region.cut(axis, at + lengths.hall, high)]
        axis = 1 - axis
    return halls, regions


def split(box: Box, axis: int, forced: bool, lengths: Lengths, chance: float, random: np.random.Generator) -> list[Box]:
    """Return the rooms of a box, split by a wall across an axis, and its parts by walls across alternating axes.

    Unless forced, a split happens with a probability. If no wall fits across the axis, the other axis is tried once.
    """
    if not forced and random.random() >= chance:
        return [box]
    low, high = box[axis], box[axis + 2]
    first, last = low + lengths.room + 1, high - 2 - max(2 * lengths.room, lengths.wall + lengths.room)
    if first > last:
        return [box] if forced else split(box, 1 - axis, True, lengths, chance, random)
    at = int(random.integers(first, last + 1))
    parts = box.cut(axis, low, at), box.cut(axis, at + lengths.wall, high)
    return [room for part in parts for room in split(part, 1 - axis, False, lengths, chance, random)]


def cut_doors(halls: Sequence[Box], rooms: Sequence[Box], lengths: Lengths, random: np.random.Generator) -> list[Box]:
    """Return doors that connect everything.

    Starting at the halls, each connected place gets 1 to 3 doors (at most one per wall between the two) to each
    unconnected neighbour, largest first. If the walls are too short for the padding, and nothing else is left, a single
    door has no padding.
    """
    spaces = sorted(_groups(halls), key=_area, reverse=True)
    spaces += sorted(([room] for room in rooms), key=_area, reverse=True)
    doors: list[Box] = []
    around = [np.array(space) for space in spaces]
    bounds = np.array([(*boxes[:, :2].min(0), *boxes[:, 2:].max(0)) for boxes in around])
    left = np.ones(len(spaces), bool)
    done, fresh, left[0] = [0], [0], False
    while left.any():
        reached = []
        for here in fresh:
            for there in np.flatnonzero(left & _near(bounds, here, lengths.wall)).tolist():
                walls = _walls(spaces[there], spaces[here], lengths, lengths.padding)
                if walls:
                    most = int(random.integers(1, 4))
                    doors += [wall.door(lengths.door, lengths.padding, random) for wall in walls[:most]]
                    left[there] = False
                    reached.append(there)
        if not reached:
            walls, there = next(
                (walls, there)
                for there in np.flatnonzero(left).tolist()
                for here in np.array(done)[_near(bounds, there, lengths.wall)[done]].tolist()
                if (walls := _walls(spaces[there], spaces[here], lengths, 0))
            )
            doors.append(walls[0].door(lengths.door, 0, random))
            left[there] = False
            reached = [there]
        fresh = reached
        done += reached
    return doors


def _near(bounds: np.ndarray, k: int, wall: int) -> np.ndarray:
    """Return which places, given as bounding boxes (m, 4), are at most a wall's thickness from place ``k``."""
    x0, y0, x1, y1 = bounds[k]
    across = (bounds[:, 0] <= x1 + wall) & (bounds[:, 2] >= x0 - wall)
    return across & (bounds[:, 1] <= y1 + wall) & (bounds[:, 3] >= y0 - wall)


def _groups(halls: Sequence[Box]) -> list[list[Box]]:
    """Return groups of halls that touch each other."""
    groups: list[list[Box]] = []
    for hall in halls:
        near = [group for group in groups if any(hall.touches(other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), hall])
    return groups


def _area(space: list[Box]) -> int:
    return sum(box.area for box in space)


def _walls(there: list[Box], here: list[Box], lengths: Lengths, padding: int) -> list[SharedWall]:
    """Return the walls between two places that are long enough for a door."""
    least = lengths.door + 2 * padding + (padding > 0)
    walls = [wall for a in there for b in here for wall in shared_walls(a, b, lengths.wall)]
    return [wall for wall in walls if wall.length >= least]
