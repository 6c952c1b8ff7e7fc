"""A generated floor for rescue: a walled start room in a building of few straight walls."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely
from shapely.geometry import LineString, Polygon, box

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.random import generator
from covey.world.editing.shapes import rasterize
from covey.world.materials import made_of
from covey.world.world import FREE, UNKNOWN, WALL, World

WALL_M = 0.15
"""Thickness of the walls [m]."""

WALLS, LENGTH_M, NAVIGABLE_M2, SIZE_M = (28, 32), (94.0, 110.0), (110.0, 150.0), (19.0, 16.0)
"""Number of walls, their length [m], area for a disc of `DISC_M` [m²], and the largest width and height [m]."""

DISC_M = 0.18
"""Radius of the disc for which the navigable area is counted [m]."""

_STEP_M = 0.25  # all ends of walls but those of oblique ones lie on this lattice
_PASSAGE_M = 1.5  # between the centre lines of walls that do not touch
_SHORTEST_M = 1.0  # outer wall
_RING_M = 1.5  # least width of the way around the start room

Segment = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class RescuePlan:
    """The walls of a floor, in metres around the origin, which lies in the start room.

    Attributes:
        outline: the centre lines of the outer walls.
        room: x0, y0, x1, y1 of the start room between the centre lines of its walls.
        walls: the ends of the centre line of each wall, outer ones first.
    """

    outline: Polygon
    room: tuple[float, float, float, float]
    walls: tuple[Segment, ...]

    @property
    def length_m(self) -> float:
        """Length of all walls together [m]."""
        return math.fsum(math.dist(*ends) for ends in self.walls)

    def solid(self) -> shapely.geometry.base.BaseGeometry:
        """Return all walls as one shape."""
        lines = shapely.linestrings(np.array(self.walls))
        return shapely.union_all(shapely.buffer(lines, WALL_M / 2, cap_style="square", join_style="mitre"))


def rescue(*, resolution_m: float = 0.05, material: str | None = None, seed: int = 0) -> World:
    """Return a floor like those of a course on rescue robots; every part of it can be reached.

    A start room of about 4 x 6 m lies around the origin. A wall in its exit parts the ways to the left and
    right. `WALLS` straight walls of `WALL_M` have a length of `LENGTH_M`; a disc of `DISC_M` can be at `NAVIGABLE_M2`.
    No passage is narrower than 0.85 m.

    Args:
        resolution_m: side of a grid cell [m], at most 0.1.
        material: material of the walls; ``random``: one for all; None: no material.
        seed: the same seed gives the same floor.
    """
    if not 0 < resolution_m <= 0.1:
        raise InvalidValueError(f"resolution_m is {resolution_m}; for walls of {WALL_M} m it must be 0.1 or less")
    world = laid(rescue_plan(seed), resolution_m)
    return made_of(world, material, generator(seed, "world/rescue/material"))


def laid(plan: RescuePlan, resolution_m: float) -> World:
    """Return the floor with the walls of a plan."""
    left, bottom, right, top = (v + s * WALL_M / 2 for v, s in zip(plan.outline.bounds, (-1, -1, 1, 1), strict=True))
    columns, rows = (math.ceil(round(size / resolution_m, 6)) for size in (right - left, top - bottom))
    grid = Grid(np.full((rows, columns), UNKNOWN, np.uint8), resolution_m, (left, bottom, 0.0))
    grid.cells[rasterize(grid, plan.outline)] = FREE
    grid.cells[rasterize(grid, plan.solid())] = WALL
    return World(grid, "rescue", wall_height_m=2.5)


def rescue_plan(seed: int) -> RescuePlan:
    """Return the walls of the floor of a seed."""
    random = generator(seed, "world/rescue")
    while True:
        plan = _drawn(random)
        if plan is not None and _fits(plan):
            return plan


def _fits(plan: RescuePlan) -> bool:
    """Return whether a plan has the navigable area that it should have, in one part."""
    blocked = plan.solid().buffer(DISC_M, quad_segs=4)
    navigable = plan.outline.difference(blocked)
    low, high = NAVIGABLE_M2
    return isinstance(navigable, Polygon) and low + 1 <= navigable.area <= high - 1


def _drawn(random: np.random.Generator) -> RescuePlan | None:
    """Return a random plan with the right number and length of walls, or None where the draws do not fit."""
    room = _room(random)
    outline = _outline(random, room)
    if outline is None:
        return None
    ring: list[tuple[float, float]] = [(x, y) for x, y, *_ in outline.exterior.coords]
    walls: list[Segment] = list(pairwise(ring))
    walls += _room_walls(random, room, outline)
    count = int(random.integers(WALLS[0], WALLS[1] + 1)) - len(walls)
    length = random.uniform(LENGTH_M[0] + 1, LENGTH_M[1] - 1) - math.fsum(math.dist(*ends) for ends in walls)
    if count < 4 or not 1.5 * count <= length <= 3.5 * count:
        return None
    shares = np.cumsum(1.0 + (length - count) * random.dirichlet(np.full(count, 3.0)))
    lengths = np.diff(np.round(shares / _STEP_M) * _STEP_M, prepend=0.0)
    outer = len(walls) - 6
    for size in sorted(lengths.tolist(), reverse=True):
        spur = _spur(random, walls, outer, size, outline, room)
        if spur is None:
            return None
        walls.append(spur)
    return RescuePlan(outline, room, tuple(walls))


def _steps(random: np.random.Generator, low: float, high: float) -> float:
    """Return a random multiple of the lattice step in [low, high] [m]."""
    first, last = math.ceil(low / _STEP_M - 1e-9), math.floor(high / _STEP_M + 1e-9)
    return _STEP_M * int(random.integers(first, max(first, last) + 1))


def _room(random: np.random.Generator) -> tuple[float, float, float, float]:
    width, height = _steps(random, 3.75, 4.25), _steps(random, 5.75, 6.25)
    x, y = _steps(random, -2.0, 2.0 - width), _steps(random, -3.25, 3.25 - height)
    return x, y, x + width, y + height


def _outline(random: np.random.Generator, room: tuple[float, float, float, float]) -> Polygon | None:
    """Return a rectangle around the room with notches in its corners and sides, and perhaps an oblique corner."""
    width = _steps(random, 13.0, SIZE_M[0] - WALL_M)
    height = _steps(random, max(10.5, 170.0 / width), min(SIZE_M[1] - WALL_M, 250.0 / width))
    x = room[0] - _steps(random, _RING_M, width - (room[2] - room[0]) - _RING_M)
    y = room[1] - _steps(random, _RING_M, height - (room[3] - room[1]) - _RING_M)
    shape = box(x, y, x + width, y + height)
    keep = box(*room).buffer(_RING_M, join_style="mitre")
    for corner in shapely.get_coordinates(shape)[:4]:
        if random.random() < 0.85:
            shape = _notched(shape, keep, corner, _steps(random, 1.0, 4.0), _steps(random, 1.0, 3.5))
    for _ in range(int(random.integers(0, 3))):
        at = shape.exterior.interpolate(random.random(), normalized=True)
        corner = np.round(shapely.get_coordinates(at)[0] / _STEP_M) * _STEP_M
        shape = _notched(shape, keep, corner, _steps(random, 0.75, 1.25), _steps(random, 0.75, 1.25))
    shape = _oblique(random, shape, keep) if random.random() < 0.5 else shape
    edges = [math.dist(*ends) for ends in pairwise(shape.exterior.coords)]
    return shape if min(edges) >= _SHORTEST_M and len(edges) <= WALLS[1] - 10 else None


def _notched(shape: Polygon, keep: Polygon, corner: np.ndarray, half_x: float, half_y: float) -> Polygon:
    """Return the shape without a rectangle around a point of its edge, if enough of it remains around ``keep``."""
    x, y = corner
    cut = shape.difference(box(x - half_x, y - half_y, x + half_x, y + half_y))
    if not isinstance(cut, Polygon) or cut.area <= 0.6 * cut.envelope.area:
        return shape
    if not cut.interiors and cut.contains(keep):
        simple = cut.simplify(0.0)
        if isinstance(simple, Polygon) and isinstance(cut.buffer(-0.75, join_style="mitre"), Polygon):
            return simple
    return shape


def _oblique(random: np.random.Generator, shape: Polygon, keep: Polygon) -> Polygon:
    """Return the shape with one of its convex corners cut obliquely, if ``keep`` remains in it."""
    ring = shapely.get_coordinates(shape.exterior)[:-1]
    k = int(random.integers(len(ring)))
    before, here, after = ring[k - 1], ring[k], ring[(k + 1) % len(ring)]
    size = np.array([math.dist(before, here), math.dist(here, after)])
    if size.min() < 3.0:
        return shape
    a, b = (here + (to - here) * _steps(random, 1.0, s - 1.5) / s for to, s in zip((before, after), size, strict=True))
    cut = Polygon([*ring[:k], a, b, *ring[k + 1 :]])
    return cut if shape.contains(cut) and cut.contains(keep) else shape


def _room_walls(
    random: np.random.Generator, room: tuple[float, float, float, float], outline: Polygon
) -> list[Segment]:
    """Return the walls of the start room: three, two beside the exit in the east or west, and one in the exit."""
    x0, y0, x1, y1 = room
    gap = _steps(random, 2.25, 3.25)
    low = min(max(-gap / 2 + _steps(random, -0.25, 0.25), y0 + 0.75), y1 - 0.75 - gap)
    low = round(low / _STEP_M) * _STEP_M
    middle = round((low + gap / 2) / _STEP_M) * _STEP_M
    side, far, out = (x1, x0, 1) if random.random() < 0.5 else (x0, x1, -1)
    ray = LineString([(side, middle), (side + 20 * out, middle)]).intersection(outline.exterior)
    room_to_outer = shapely.Point(side, middle).distance(ray)
    begin = side - out * _steps(random, 0.5, 1.5)
    end = side + out * _steps(random, 0.25, min(4.0, room_to_outer - 1.25))
    return [
        ((far, y0), (far, y1)),
        ((far, y0), (side, y0)),
        ((far, y1), (side, y1)),
        ((side, y0), (side, low)),
        ((side, low + gap), (side, y1)),
        ((begin, middle), (end, middle)),
    ]


def _spur(
    random: np.random.Generator, walls: list[Segment], outer: int, size: float, outline: Polygon, room: Sequence[float]
) -> Segment | None:
    """Return a wall that begins on another wall, at a right angle, and keeps away from all the rest; or None."""
    ends = np.array(walls)
    low, high = ends.min(axis=1), ends.max(axis=1)
    shapely.prepare(outline)
    for _ in range(60):
        k = int(random.integers(len(walls)))
        (ax, ay), (bx, by) = walls[k]
        length = math.dist((ax, ay), (bx, by))
        along_x, along_y = (bx - ax) / length, (by - ay) / length
        if max(abs(along_x), abs(along_y)) < 1 - 1e-9:
            continue  # spurs stand on straight walls only
        if k >= outer + 5 and random.random() < 0.6:
            x, y = bx, by  # an angle at the end of a free wall
        elif length >= 2 * 1.25:
            away = _steps(random, 1.25, length - 1.25)
            x, y = ax + along_x * away, ay + along_y * away
        else:
            continue
        side = 1 if random.random() < 0.5 else -1
        normal_x, normal_y = -along_y * side, along_x * side
        end_x, end_y = x + normal_x * size, y + normal_y * size
        first, last = (min(x, end_x), min(y, end_y)), (max(x, end_x), max(y, end_y))
        if last[0] > room[0] and last[1] > room[1] and first[0] < room[2] and first[1] < room[3]:
            continue
        gaps = np.maximum(np.maximum(first - high, low - last), 0.0)  # to the box around each wall
        is_near = np.hypot(*gaps.T) < _PASSAGE_M
        is_near[k] = False
        if is_near.any():
            continue
        if outline.contains(LineString([(x + normal_x * 0.01, y + normal_y * 0.01), (end_x, end_y)])):
            return (x, y), (end_x, end_y)
    return None
