"""A generated office floor: corridors, rooms with doors, desks and pillars."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from covey.errors import InvalidValueError
from covey.random import generator
from covey.world.doors import Door
from covey.world.editing.shapes import walls
from covey.world.generators.terrains import world_of_walls
from covey.world.materials import made_of
from covey.world.world import World, check_parts, check_size

_PASSAGE_M = 1.0  # free width around furniture and in front of doors
_DESK_M = (1.4, 0.7)
_PILLAR_M = 0.3


@dataclass(frozen=True)
class _Room:
    """A rectangle [m] between the centre lines of its walls, and the centres of its doors."""

    left: float
    bottom: float
    right: float
    top: float
    doors: list[tuple[float, float]]


def office(
    *,
    size_m: tuple[float, float] = (30.0, 15.0),
    corridor_m: float = 2.0,
    room_m: tuple[float, float] = (3.5, 6.5),
    door_m: float = 1.0,
    wall_m: float = 0.2,
    furniture: bool = True,
    material: str | None = None,
    resolution_m: float = 0.05,
    seed: int = 0,
) -> World:
    """Return an office floor, centred on the origin; every room can be reached.

    Corridors run from west to east with a row of rooms on either side, one corridor per 15 m of height or so. If there
    are several, one more crosses them in the middle. Each room has a door to its corridor, and some have a door to the
    next room. The world has ``doors`` and ``halls``, the corridors.

    Args:
        size_m: width and height between the centre lines of the outer walls [m].
        corridor_m: width of the corridors [m].
        room_m: smallest and largest width of a room [m].
        door_m: width of the doors [m].
        wall_m: thickness of all walls [m].
        furniture: whether rooms have desks and pillars.
        material: material of the walls; ``random``: one for all; None: no material.
        resolution_m: side of a grid cell [m].
        seed: the same seed gives the same floor.
    """
    width, height = size_m
    check_size(round(height / resolution_m), round(width / resolution_m), resolution_m)
    bands = max(1, round(height / 15))
    depth = (height / bands - corridor_m) / 2
    if not 0 < wall_m <= 0.5 or not door_m >= wall_m or not corridor_m >= door_m + wall_m:
        raise InvalidValueError(
            f"corridor_m {corridor_m}, door_m {door_m} and wall_m {wall_m} do not fit: a wall is at most 0.5 m thick, "
            "a door at least as wide as a wall, a corridor wider than a door and a wall"
        )
    if room_m[0] < door_m + 2 * wall_m + 0.4 or room_m[1] < 1.5 * room_m[0]:
        raise InvalidValueError(
            f"room_m is {list(room_m)}; the first must be at least {door_m + 2 * wall_m + 0.4:g} (a door and its "
            "walls), the second at least 1.5 times the first"
        )
    if depth < room_m[0] or width < 2 * room_m[0] + corridor_m:
        raise InvalidValueError(
            f"size_m is {list(size_m)}; with these rooms it must be at least {2 * room_m[0] + corridor_m:g} m both ways"
        )
    check_parts(10 * bands * (width / room_m[0]), "walls, doors and desks")
    random = generator(seed, "world/office")
    frame = shapely.box(-width / 2, -height / 2, width / 2, height / 2).exterior
    solids: list[Any] = [frame.buffer(wall_m / 2, join_style="mitre")]
    rooms: list[_Room] = []
    # Spans of rooms along x: with several corridors, on both sides of the one that crosses them.
    spans = [(-width / 2, width / 2)]
    if bands > 1:
        spans = [(-width / 2, -corridor_m / 2), (corridor_m / 2, width / 2)]
    for band in range(bands):
        south = -height / 2 + band * height / bands
        north = south + height / bands
        for bottom, top, door_y in ((south, south + depth, south + depth), (north - depth, north, north - depth)):
            for span in spans:
                rooms += _row(random, span, bottom, top, door_y, room_m, door_m, wall_m, solids, bands > 1)
        if band:
            sides = spans if bands > 1 else []
            solids += [[(a, south), (b, south)] for a, b in sides]
    if furniture:
        for room in rooms:
            solids += _furnish(random, room, wall_m)
    lines = [k for k, solid in enumerate(solids) if isinstance(solid, list)]
    for k, solid in zip(lines, walls([solids[k] for k in lines], wall_m), strict=True):
        solids[k] = solid
    world = world_of_walls(shapely.union_all(solids), width / 2, height / 2, wall_m, resolution_m, "office")
    middles = [(band + 0.5) * height / bands - height / 2 for band in range(bands)]
    halls = [(-width / 2, y - corridor_m / 2, width / 2, y + corridor_m / 2) for y in middles]
    if bands > 1:
        halls.append((-corridor_m / 2, -height / 2, corridor_m / 2, height / 2))
    half = wall_m / 2
    world = world.replace(
        doors=_doors(rooms, door_m, wall_m),
        halls=tuple((x0 + half, y0 + half, x1 - half, y1 - half) for x0, y0, x1, y1 in halls),
    )
    return made_of(world, material, generator(seed, "world/office/material"))


def _row(random, span, bottom, top, door_y, room_m, door_m, wall_m, solids, crossed) -> list[_Room]:
    """Fill a row with rooms: add their walls to ``solids`` and return them."""
    borders = _split(random, *span, *room_m)
    margin = wall_m + 0.2
    rooms = []
    for left, right in pairwise(borders):
        x = random.uniform(left + margin + door_m / 2, right - margin - door_m / 2)
        solids += _wall_with_door((left, door_y), (right, door_y), (x - left), door_m, wall_m)
        rooms.append(_Room(left, bottom, right, top, [(x, door_y)]))
    for west, east in pairwise(rooms):
        if random.random() < 0.35:
            y = random.uniform(bottom + margin + door_m / 2, top - margin - door_m / 2)
            solids += _wall_with_door((east.left, bottom), (east.left, top), y - bottom, door_m, wall_m)
            west.doors.append((east.left, y))
            east.doors.append((east.left, y))
        else:
            solids.append([(east.left, bottom), (east.left, top)])
    if crossed:
        solids += [[(x, bottom), (x, top)] for x in span]
    return rooms


def _split(random: np.random.Generator, start: float, end: float, least: float, largest: float) -> list[float]:
    """Return the borders of rooms that fill the span, with random widths between the smallest and the largest."""
    length = end - start
    count = int(random.integers(int(np.ceil(length / largest)), max(int(length // least), 1) + 1))
    count = max(1, min(count, int(length // least)))
    shares = least + (length - count * least) * random.dirichlet(np.full(count, 4.0))
    return [start, *(start + np.cumsum(shares)[:-1]).tolist(), end]


def _wall_with_door(a, b, middle_m: float, door_m: float, wall_m: float) -> list[Any]:
    """Return the lines of the two pieces of a wall from ``a`` to ``b`` beside a door with the given centre."""
    along = np.array((b[0] - a[0], b[1] - a[1]), float)
    length = float(np.hypot(*along))
    along /= length
    gap = (door_m + wall_m) / 2
    points = [tuple(a + along * s) for s in (0.0, middle_m - gap, middle_m + gap, length)]
    return [points[:2], points[2:]]


def _doors(rooms: list[_Room], door_m: float, wall_m: float) -> tuple[Door, ...]:
    """Return the doors as rectangles, each once; doors to corridors are in walls along x, the others along y."""
    found = []
    for room in rooms:
        for x, y in room.doors:
            along_x = y in (room.bottom, room.top)
            dx, dy = (door_m / 2, wall_m / 2) if along_x else (wall_m / 2, door_m / 2)
            found.append((x - dx, y - dy, x + dx, y + dy))
    return tuple(Door(f"d{i}", *corners) for i, corners in enumerate(dict.fromkeys(found)))


def _furnish(random: np.random.Generator, room: _Room, wall_m: float) -> list[BaseGeometry]:
    """Return desks along the west and east walls and a pillar, all with passages around them."""
    placed: list[BaseGeometry] = []
    ways = shapely.union_all(shapely.buffer(shapely.points(room.doors), 1.5 * _PASSAGE_M, quad_segs=16))
    inner = (room.left + wall_m / 2, room.bottom + wall_m / 2, room.right - wall_m / 2, room.top - wall_m / 2)
    long, deep = _DESK_M
    for _ in range(int(random.integers(1, 5))):
        y = random.uniform(inner[1], max(inner[1], inner[3] - long))
        x = inner[0] if random.random() < 0.5 else inner[2] - deep
        _put(placed, shapely.box(x, y, x + deep, y + long), ways, inner)
    if (inner[2] - inner[0]) * (inner[3] - inner[1]) > 20:
        x, y = (random.uniform(inner[k] + _PASSAGE_M, inner[k + 2] - _PASSAGE_M - _PILLAR_M) for k in (0, 1))
        _put(placed, shapely.box(x, y, x + _PILLAR_M, y + _PILLAR_M), ways, inner)
    return placed


def _put(placed: list[BaseGeometry], item: BaseGeometry, ways: BaseGeometry, inner: tuple[float, ...]) -> None:
    """Place an item if a passage remains to all other items and doors.

    The item touches a wall or leaves a passage to it.
    """
    left, bottom, right, top = item.bounds
    gaps = (left - inner[0], bottom - inner[1], inner[2] - right, inner[3] - top)
    if any(1e-6 < gap < _PASSAGE_M for gap in gaps) or any(gap < -1e-6 for gap in gaps):
        return
    if not item.intersects(ways) and all(item.distance(other) >= _PASSAGE_M for other in placed):
        placed.append(item)
