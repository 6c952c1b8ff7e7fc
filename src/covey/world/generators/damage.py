"""Damage to a world: gaps in walls, rubble, furniture that has moved. What is left stays in one piece for robots."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from covey.errors import InvalidValueError
from covey.lazy import ndimage, shapely
from covey.random import generator
from covey.world.clearance import update_clearance
from covey.world.editing.changing import door_patch, with_doors_open
from covey.world.editing.obstacles import Patch, shape_patch
from covey.world.world import FREE, OPEN, WALL, World, label_by_size

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

_AROUND_M = 2.5  # a gap opens and rubble closes a way if that is so within this distance
_THICKEST_M, _WIDEST_M = 1.3, 2.6  # wall that can have a gap, way that rubble can close
_HALF_BLOCK_M = (0.2, 0.4)  # half the thickness of rubble that closes a way
_DESK_M = ((0.5, 0.8), (0.8, 1.5))  # smallest and largest depth and length of furniture
_MOVED_M = 4.0  # furniture moves at most this far
_TRIES = 150  # for each gap, heap and piece of furniture

_Point = np.ndarray
"""x, y [m] in the world frame."""

Disc = tuple[float, float, float]
"""x, y, radius [m]."""

_T = TypeVar("_T")


class _Piece(NamedTuple):
    """A piece of furniture: its middle, length and depth [m]."""

    place: _Point
    length: float
    depth: float


def damaged(
    world: World,
    *,
    walls_gone: int = 3,
    gap_m: tuple[float, float] = (0.9, 1.8),
    blocked: int = 2,
    rubble: int = 8,
    rubble_m: tuple[float, float] = (0.3, 1.0),
    furniture: int = 4,
    body_m: float = 0.3,
    spare_m: Sequence[Disc] = ((0.0, 0.0, 2.0),),
    seed: int = 0,
) -> World:
    """Return the damaged world; its ``plan`` is the world before, with the furniture at its old places.

    A disc of the radius ``body_m`` gets from everywhere to everywhere where it did before, unless something stands
    there now. Doors that the damage changes are no doors any longer. Each number is the most that finds room.

    Args:
        world: the world before the damage.
        walls_gone: number of gaps that open ways through walls.
        gap_m: smallest and largest width of a gap [m].
        blocked: number of ways that rubble closes.
        rubble: number of other heaps of rubble.
        rubble_m: smallest and largest width of a heap [m].
        furniture: pieces that stand elsewhere than in the plan.
        body_m: radius of the disc [m].
        spare_m: discs x, y, radius [m] without damage.
        seed: the same seed gives the same damage; gaps, rubble and furniture have streams of their own.

    Raises:
        InvalidValueError: there is nowhere room for the disc.
    """
    then, now = (_Floor(world, body_m, spare_m) for _ in range(2))
    random = generator(seed, "world/damage/furniture")
    stood = [_tried(lambda: _stand(then, random, _piece(then, random), math.pi / 2)) for _ in range(furniture)]
    of_gaps = generator(seed, "world/damage/gaps")
    gaps = [_tried(lambda: _gap(now, of_gaps, gap_m)) for _ in range(walls_gone)]
    of_blocks = generator(seed, "world/damage/blocked")
    for _ in range(blocked):
        _tried(lambda: _block(now, of_blocks))
    for piece in stood:
        if piece is not None:
            _tried(lambda piece=piece: _stand(now, random, _moved(piece, random), math.pi / 18))
    of_rubble = generator(seed, "world/damage/rubble")
    broken = [gap for gap in gaps if gap is not None]
    for _ in range(rubble):
        _tried(lambda: _heap(now, of_rubble, rubble_m, broken))
    doors = tuple(door for door in world.doors if not now.changed(door_patch(world, door)).any())
    return now.applied_to(world).replace(plan=then.applied_to(world), doors=doors)


class _Floor:
    """The cells of a world that is being changed, and where a disc can be.

    Attributes:
        world: the world before, with its doors open.
        cells: the present cells.
        clearance: as in `World`, of the present cells.
        room: bool, the largest connected part of the cells in which the centre of the disc can be.
    """

    def __init__(self, world: World, radius_m: float, spare: Sequence[Disc]):
        self.world = with_doors_open(world)
        self.cells, self.clearance, self._radius = self.world.grid.cells.copy(), self.world.clearance, radius_m
        centres = world.grid.to_world(np.moveaxis(np.indices(world.grid.shape), 0, -1))
        self._spared = np.zeros(world.grid.shape, bool)
        for x, y, radius in spare:
            self._spared |= np.hypot(*np.moveaxis(centres - (x, y), -1, 0)) < radius
        self.room = label_by_size(self._passable(self.clearance))[0] == 1
        if not self.room.any():
            raise InvalidValueError(
                f"damage: a disc with body_m {radius_m:g} m has room nowhere in this world; make it smaller"
            )

    def changed(self, patch: Patch) -> np.ndarray:
        """Return the cells of a patch that have changed, bool (h, w)."""
        at = _part(patch, 0, self.cells.shape)
        return patch.mask & (self.cells[at] != self.world.grid.cells[at])

    def applied_to(self, world: World) -> World:
        """Return a world with all changes of cells."""
        return world.with_cells(np.where(self.cells == self.world.grid.cells, world.grid.cells, self.cells))

    def look(self, point: _Point, direction: _Point, most_m: float) -> tuple[np.ndarray, np.ndarray]:
        """Return distances [m] from a point on, and the cells there; `OPEN` beyond the array."""
        ways = np.arange(0.0, most_m, self.world.grid.resolution / 2)
        at = self.world.grid.to_cells(point + ways[:, None] * direction)
        inside = self.world.grid.inside(at)
        return ways, np.where(inside, self.cells[tuple(np.where(inside[:, None], at, 0).T)], OPEN)

    def change(self, shape: "BaseGeometry", before: int, after: int, fewer: int = 0) -> bool:
        """Change the cells ``before`` in a shape to ``after``, and return whether that was possible.

        It is not if the room of the disc falls apart, if a gap leads outside, or if nearby the room does not have more
        parts then (``fewer`` -1) or fewer (1).
        """
        patch, grid = shape_patch(self.world.grid, shape), self.world.grid
        if patch is None:
            return False
        at, near = _part(patch, 0, grid.shape), _part(patch, math.ceil(_AROUND_M / grid.resolution), grid.shape)
        old = self.cells[at].copy()
        mask = patch.mask & (old == before)
        if not mask.any() or (mask & self._spared[at]).any() or (after == FREE and self._leads_out(patch)):
            return False
        self.cells[at][mask] = after
        window = at[0].start, at[0].stop, at[1].start, at[1].stop
        clear = self.clearance.copy()
        update_clearance(clear, (self.cells != FREE) & (self.cells != OPEN), grid.resolution, window)
        passable = self._passable(clear)
        room = label_by_size(passable)[0] == 1
        if not (self.room & passable & ~room).any():
            parts = [int(ndimage.label(of[near], np.ones((3, 3)))[1]) for of in (self.room, room)]  # pyright: ignore
            if not fewer or fewer * (parts[0] - parts[1]) > 0:
                self.clearance, self.room = clear, room
                return True
        self.cells[at] = old
        return False

    def _leads_out(self, patch: Patch) -> bool:
        around = _part(patch, 1, self.cells.shape)
        whole = all(s.stop - s.start == size + 2 for s, size in zip(around, patch.mask.shape, strict=True))
        outside = (self.cells[around] != FREE) & (self.cells[around] != WALL)
        return not whole or bool((outside & ndimage.binary_dilation(np.pad(patch.mask, 1), np.ones((3, 3)))).any())

    def _passable(self, clear: np.ndarray) -> np.ndarray:
        return (self.cells == FREE) & (clear >= self._radius)


def _part(patch: Patch, margin: int, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Return the cells of a patch and a margin around it."""
    h, w = patch.mask.shape
    return (
        slice(max(patch.row - margin, 0), min(patch.row + h + margin, shape[0])),
        slice(max(patch.column - margin, 0), min(patch.column + w + margin, shape[1])),
    )


def _tried(put: Callable[[], _T | None]) -> _T | None:
    """Return the first result that is not None, of so many tries."""
    return next((found for _ in range(_TRIES) if (found := put()) is not None), None)


def _somewhere(floor: _Floor, random: np.random.Generator, within_m: float = math.inf) -> _Point:
    """Return a random place of the disc, at most so far from a wall."""
    near = floor.room & (floor.clearance <= within_m)
    cells = np.flatnonzero(near if near.any() else floor.room)
    cell = np.unravel_index(cells[int(random.integers(len(cells)))], floor.room.shape)
    return floor.world.grid.to_world(np.array(cell))


def _gap(floor: _Floor, random: np.random.Generator, sizes: tuple[float, float]) -> _Point | None:
    """Break a gap into a wall between two places that the disc reaches; return its middle."""
    place, width = _somewhere(floor, random), random.uniform(*sizes)
    along = _turned(math.pi / 2 * int(random.integers(4)) + floor.world.grid.origin[2])
    ways, cells = floor.look(place, along, 6.0)
    first = int((cells != FREE).argmax())
    behind = first + int((cells[first:] != WALL).argmax())
    if cells[first] != WALL or cells[behind] != FREE or ways[behind] - ways[first] > _THICKEST_M:
        return None
    across, edge = np.array([-along[1], along[0]]), floor.world.grid.resolution
    depths = [ways[first] - edge, ways[first] - edge, ways[behind] + edge, ways[behind] + edge]
    sides = width / 2 * np.array([-1, 1, 1, -1]) * random.uniform(0.85, 1.15, 4)
    corners = [place + d * along + s * across for d, s in zip(depths, sides, strict=True)]
    middle = place + (ways[first] + ways[behind]) / 2 * along
    return middle if floor.change(shapely.Polygon(corners), WALL, FREE, fewer=1) else None


def _block(floor: _Floor, random: np.random.Generator) -> _Point | None:
    """Close a way with rubble across its narrowest direction, half of them at doors; return its middle."""
    place, doors = _somewhere(floor, random, within_m=_WIDEST_M / 2), floor.world.doors
    if doors and random.random() < 0.5:
        door = doors[int(random.integers(len(doors)))]
        place = np.array([(door.x0_m + door.x1_m) / 2, (door.y0_m + door.y1_m) / 2])
    half = random.uniform(*_HALF_BLOCK_M)
    chords = []
    for angle in np.arange(8) * math.pi / 8:
        both = [floor.look(place, sign * _turned(angle), _WIDEST_M) for sign in (1, -1)]
        reach = [ways[(cells != FREE).argmax()] if (cells != FREE).any() else math.inf for ways, cells in both]
        chords.append((sum(reach), angle, reach))
    length, angle, (ahead, back) = min(chords)
    if length > _WIDEST_M:
        return None
    along, across = _turned(angle), _turned(angle + math.pi / 2)
    steps = np.linspace(-back - 0.1, ahead + 0.1, 9)
    rough = half * random.uniform(0.5, 1.4, (2, 9))
    sides = [[place + s * along + sign * r * across for s, r in zip(steps, of, strict=True)]
             for sign, of in zip((1, -1), rough, strict=True)]  # fmt: skip
    return place if floor.change(shapely.Polygon([*sides[0], *sides[1][::-1]]), FREE, WALL, fewer=-1) else None


def _heap(
    floor: _Floor, random: np.random.Generator, sizes: tuple[float, float], gaps: Sequence[_Point]
) -> _Point | None:
    """Put a heap of rubble somewhere, half of them near gaps; return its middle."""
    middle = _somewhere(floor, random)
    if gaps and random.random() < 0.5:
        middle = gaps[int(random.integers(len(gaps)))] + random.normal(0.0, 0.7, 2)
    angles = np.sort(random.uniform(0.0, 2 * math.pi, 8))
    reach = random.uniform(*sizes) / 2 * random.uniform(0.7, 1.0, 8)
    heap = shapely.MultiPoint([middle + r * _turned(a) for r, a in zip(reach, angles, strict=True)]).convex_hull
    return middle if floor.change(heap, FREE, WALL) else None


def _piece(floor: _Floor, random: np.random.Generator) -> _Piece:
    depth, length = (random.uniform(*sizes) for sizes in _DESK_M)
    return _Piece(_somewhere(floor, random), length, depth)


def _moved(piece: _Piece, random: np.random.Generator) -> _Piece:
    return piece._replace(place=piece.place + random.uniform(-_MOVED_M, _MOVED_M, 2))


def _stand(floor: _Floor, random: np.random.Generator, piece: _Piece, turns: float) -> _Piece | None:
    """Put a piece of furniture at a place, turned by a random multiple of an angle [rad]; return it."""
    angle = turns * int(random.integers(round(2 * math.pi / turns))) + floor.world.grid.origin[2]
    along, across = _turned(angle) * piece.length / 2, _turned(angle + math.pi / 2) * piece.depth / 2
    middle = piece.place
    corners = [middle - along - across, middle + along - across, middle + along + across, middle - along + across]
    return piece if floor.change(shapely.Polygon(corners), FREE, WALL) else None


def _turned(angle: float) -> _Point:
    return np.array([math.cos(angle), math.sin(angle)])
