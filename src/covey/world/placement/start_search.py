"""Placement of robots one by one at the first free place, in some order of the cells."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from covey.errors import PlacementError
from covey.world.standing import TOUCH, nearest_cell, passable
from covey.world.world import World, label_by_size

_CHUNK = 4096  # cells processed at a time
_EVERYWHERE = 8
"""So many times the work of a group is spent to know the room of all cells, for the groups after it."""


class BodyLookup:
    """Look-up of bodies that may touch a body, by squares as wide as the widest body."""

    def __init__(self, radius: float):
        self.radius = radius
        self._width, self._squares = max(2.0 * radius, 1e-9), defaultdict[tuple[int, int], list[int]](list)

    def add(self, index: int, x: float, y: float) -> None:
        """Add a body at a place [m]."""
        self._squares[self._square(x, y)].append(index)

    def indices(self, x: float, y: float) -> list[int]:
        """Return, in order, all bodies that may touch a body at a place [m], and possibly a few more."""
        i, j = self._square(x, y)
        return sorted(k for a in (-1, 0, 1) for b in (-1, 0, 1) for k in self._squares.get((i + a, j + b), ()))

    def _square(self, x: float, y: float) -> tuple[int, int]:
        return math.floor(x / self._width), math.floor(y / self._width)


class Standing:
    """The bodies that stand in a world, with what was computed to place them: the next ones need not begin anew.

    Args:
        world: the truth.
        taken: shape (k, 3), x, y and radius [m] of bodies that stand from the start.

    Attributes:
        taken: float64 (k, 3), all bodies that stand.
    """

    def __init__(self, world: World, taken: Any = ()):
        self.world, self.taken = world, np.asarray(taken, float).reshape(-1, 3)
        self._left: dict[tuple[float, float], tuple[np.ndarray, int]] = {}
        self._room: np.ndarray | None = None  # of each cell, see `room`
        self._room_of = 0  # so many bodies
        self._passable: dict[float, np.ndarray] = {}
        self._largest: dict[float, np.ndarray] = {}
        self._centres: dict[float, np.ndarray] = {}
        self._orders: dict[Hashable, _Order] = {}
        self._near = BodyLookup(0.0)
        self._near_of = 0  # so many bodies

    def emptied(self) -> "Standing":
        """Return the same world without bodies, with what was computed of the world alone."""
        other = Standing(self.world)
        other._passable, other._largest, other._centres = self._passable, self._largest, self._centres
        return other

    def add(self, places: np.ndarray, radii: np.ndarray) -> None:
        """Add bodies at places, (m, 2) [m], with radii, (m,) [m]."""
        self.taken = np.vstack((self.taken, np.column_stack((places, radii))))

    def near(self, radius: float) -> BodyLookup:
        """Return the look-up of the bodies that may touch a body of a radius [m]."""
        widest = max(radius, float(self.taken[:, 2].max(initial=0.0)))
        if widest > self._near.radius:
            self._near, self._near_of = BodyLookup(widest), 0
        for k in range(self._near_of, len(self.taken)):
            self._near.add(k, *self.taken[k, :2].tolist())
        self._near_of = len(self.taken)
        return self._near

    def left(self, widest: float, gap_m: float) -> np.ndarray:
        """Return a copy of the cells, bool (rows, columns), on which a body of a radius [m] keeps a gap [m] to all."""
        left, count = self._left.get((widest, gap_m), (None, 0))
        left = np.ones(self.world.grid.shape, bool) if left is None else left
        for x, y, radius in self.taken[count:]:
            _fence(self.world, left, x, y, radius + widest + gap_m)
        self._left[widest, gap_m] = left, len(self.taken)
        return left.copy()

    def room(self, cells: np.ndarray) -> np.ndarray:
        """Return the distance [m] of the centres of cells from the edge of the nearest body, float64 (m,).

        Args:
            cells: flat indices, (m,).
        """
        grid, new = self.world.grid, self.taken[self._room_of :]
        if not len(self.taken):
            return np.full(len(cells), math.inf)
        if grid.cells.size * len(new) > _EVERYWHERE * len(cells) * len(self.taken):
            return _nearer(np.full(len(cells), math.inf), self.centres(cells), self.taken)
        if self._room is None:
            self._room = np.full(grid.shape, math.inf)
        for body in new:
            reach = float(self._room.max()) + body[2]  # beyond it, every cell has a nearer body
            row, column = grid.to_cells(body[:2])
            side = min(math.ceil(min(reach / grid.resolution, 1e9)) + 1, sum(grid.shape))
            r, c = max(0, row - side), max(0, column - side)
            window = self._room[r : max(0, row + side + 1), c : max(0, column + side + 1)]
            corner = np.array((r, c))
            for k, line in enumerate(window):
                at = np.column_stack((np.full(len(line), k), np.arange(len(line)))) + corner
                _nearer(line, grid.to_world(at), body[None])
        self._room_of = len(self.taken)
        return self._room.ravel()[cells]

    def centres(self, cells: np.ndarray) -> np.ndarray:
        """Return the centres, (m, 2) [m], of cells given as flat indices, (m,)."""
        return self.world.grid.to_world(np.column_stack(np.unravel_index(cells, self.world.grid.shape)))

    def passable(self, radius: float) -> np.ndarray:
        """Return `passable`, computed once."""
        if radius not in self._passable:
            self._passable[radius] = passable(self.world, radius)
        return self._passable[radius]

    def largest(self, radius: float) -> np.ndarray:
        """Return the largest connected part of `passable`: flat indices in order, (m,); empty if there is none."""
        if radius not in self._largest:
            self._largest[radius] = np.flatnonzero(label_by_size(self.passable(radius))[0] == 1)
        return self._largest[radius]

    def centres_of_largest(self, radius: float) -> np.ndarray:
        """Return the centres, (m, 2) [m], of the cells of `largest`, computed once."""
        if radius not in self._centres:
            self._centres[radius] = self.centres(self.largest(radius))
        return self._centres[radius]

    def order(self, key: Hashable, chunks: Callable[[], Iterator[np.ndarray]]) -> "_Order":
        """Return the order of a key where it was left; what was passed before is not free for a body of that key."""
        if key not in self._orders:
            self._orders[key] = _Order(chunks())
        return self._orders[key]

    def forget(self, key: Hashable) -> None:
        """Begin the order of a key anew the next time."""
        self._orders.pop(key, None)


class _Order:
    """Cells in an order, in chunks (m, 2); what is put back comes first."""

    def __init__(self, chunks: Iterator[np.ndarray]):
        self._chunks, self._back = chunks, np.empty((0, 2), int)

    def __iter__(self) -> "_Order":
        return self

    def __next__(self) -> np.ndarray:
        back, self._back = self._back, self._back[:0]
        return back if len(back) else next(self._chunks)

    def put_back(self, cells: np.ndarray) -> None:
        """Put cells of the last chunk back."""
        self._back = cells


class StartSearch:
    """The search for places of bodies in a world.

    Its methods other than `fill` return orders: they yield the cells in which the widest body can stand, best first, as
    int (m, 2) of rows and columns.

    Args:
        standing: the bodies that stand already.
        radii: shape (n,), circumscribed radius of each body [m].
        names: of the robots, for errors.
    """

    def __init__(self, standing: Standing, radii: np.ndarray, names: Sequence[str]):
        self.standing, self.world, self.radii, self.names = standing, standing.world, radii, names
        self.widest = float(radii.max(initial=0.0))

    def fill(
        self, order: Callable[[], Iterator[np.ndarray]], gap_m: float, heading_deg: float, key: Hashable = None
    ) -> np.ndarray:
        """Return the poses of the bodies, float64 (n, 3), if each takes the first cell of an order that is left.

        Args:
            order: returns the order.
            gap_m: free space between two bodies [m].
            heading_deg: heading of all bodies [deg].
            key: of orders that are equal for bodies of the same size and gap; None: drawn anew for each group.

        Raises:
            PlacementError: the order has too few cells.
        """
        placed = np.empty((len(self.radii), 3))
        placed[:, 2] = math.radians(heading_deg)
        if not len(placed):
            return placed
        left = self.standing.left(self.widest, gap_m)
        of = (key, self.widest, gap_m)
        chunks = _Order(order()) if key is None else self.standing.order(of, order)
        count = 0
        for cells in chunks:
            while len(cells := cells[left[cells[:, 0], cells[:, 1]]]):
                x, y = placed[count, :2] = self.world.grid.to_world(cells[0])
                _fence(self.world, left, x, y, self.radii[count] + self.widest + gap_m)
                count += 1
                if count == len(placed):
                    chunks.put_back(cells)
                    return placed
        self.standing.forget(of)
        raise too_many(self.names, count, len(placed), gap_m)

    def outwards(self, room: np.ndarray | None, around: tuple[float, float] | None = None) -> Iterator[np.ndarray]:
        """Flood a room, or the world, from the cell nearest to a point [m], else from the most open one."""
        inside = self._inside(room)
        if not inside.any():
            return
        if around is None:
            seed = np.array(np.unravel_index(np.argmax(np.where(inside, self.world.clearance, -1)), inside.shape))
        else:
            seed = nearest_cell(self.world.grid, inside, around)
            assert seed is not None, "one is inside"
        for ring in _flood(inside, (int(seed[0]), int(seed[1]))):
            yield ring[np.lexsort((ring[:, 1], ring[:, 0], np.hypot(*(ring - seed).T)))]

    def x_then_y(self, room: np.ndarray) -> Iterator[np.ndarray]:
        """Traverse a room from its west side, column by column, each northwards."""
        cells = np.argwhere(self._inside(room))
        return _chunks(cells[np.lexsort((cells[:, 0], cells[:, 1]))])

    def anywhere(self, random: np.random.Generator) -> Iterator[np.ndarray]:
        """Traverse the largest part of the world, connected over edges and corners, in random order."""
        self._inside(None)
        chunks = _chunks(random.permutation(self.standing.largest(self.widest)))
        return (np.column_stack(np.unravel_index(chunk, self.world.grid.shape)) for chunk in chunks)

    def hallway_ends(self) -> Iterator[np.ndarray]:
        """Traverse the halls, the cells nearest to the edge of the world first; ties by column, then row.

        Raises:
            PlacementError: the world has no halls.
        """
        if not self.world.halls:
            raise PlacementError(
                f"{self.world.name} has no halls, so no robot can start at their ends; use a generated building or "
                "office, or {together: {}}, {spread: {}}, {apart: {}} or {room: largest}"
            )
        grid = self.world.grid
        cells = np.argwhere(self._inside(None))
        points = grid.to_world(cells)
        in_hall = np.zeros(len(cells), bool)
        for x0, y0, x1, y1 in self.world.halls:
            in_hall |= np.all((points > (x0, y0)) & (points < (x1, y1)), axis=1)
        cells = cells[in_hall]
        edge = np.minimum(cells, np.array(grid.shape) - 1 - cells).min(axis=1)
        return _chunks(cells[np.lexsort((cells[:, 0], cells[:, 1], edge))])

    def _inside(self, room: np.ndarray | None) -> np.ndarray:
        inside = self.standing.passable(self.widest)
        inside = inside if room is None else inside & room
        if len(self.radii) and not inside.any():
            raise fits_nowhere(self.names[0], self.widest, self.world)
        return inside


def fits_nowhere(name: str, radius_m: float, world: World) -> PlacementError:
    """Return the error that a body of this radius fits nowhere; if the file of the world is why, it says so."""
    do = "" if world.remark else "; use a smaller body or a wider world"
    return PlacementError(
        f"{name} fits nowhere: no free cell keeps {radius_m:g} m from the walls; {world.cells_in_words}{do}"
    )


def too_many(names: Sequence[str], fit: int, wanted: int, gap_m: float) -> PlacementError:
    """Return the error that there is no room for all robots."""
    return PlacementError(
        f"{names[fit]} does not fit: only {fit} of {wanted} robots have room here with gaps of {gap_m:g} m; use fewer "
        "or smaller robots, a smaller gap_m, or a larger place"
    )


def _nearer(room: np.ndarray, points: np.ndarray, bodies: np.ndarray) -> np.ndarray:
    """Lower the room [m] of points, in place, to that left by bodies (x, y, radius)."""
    for x, y, radius in bodies:
        np.minimum(room, np.hypot(points[:, 0] - x, points[:, 1] - y) - radius, out=room)
    return room


def _chunks(cells: np.ndarray) -> Iterator[np.ndarray]:
    for first in range(0, len(cells), _CHUNK):
        yield cells[first : first + _CHUNK]


def _fence(world: World, left: np.ndarray, x: float, y: float, distance_m: float) -> None:
    """Clear the cells of ``left`` whose centres are within a distance of a point [m]."""
    row, column = world.grid.to_cells((x, y))
    reach = math.ceil(distance_m / world.grid.resolution) + 1
    corner = np.maximum((row - reach, column - reach), 0)
    window = left[corner[0] : max(0, row + reach + 1), corner[1] : max(0, column + reach + 1)]
    centres = world.grid.to_world(np.argwhere(np.ones(window.shape, bool)) + corner)
    near = np.hypot(centres[:, 0] - x, centres[:, 1] - y) < distance_m - TOUCH
    window &= ~near.reshape(window.shape)


def _flood(inside: np.ndarray, seed: tuple[int, int]) -> Iterator[np.ndarray]:
    """Yield the cells (m, 2) at 0, 1, 2, … steps (over edges and corners) from the seed."""
    rows, columns = inside.shape
    left = inside.copy()
    left[seed] = False
    ring = np.array([seed])
    steps = np.array([(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b])
    while len(ring):
        yield ring
        near = (ring[:, None] + steps).reshape(-1, 2)
        near = near[np.all((near >= 0) & (near < (rows, columns)), axis=1)]
        near = near[left[near[:, 0], near[:, 1]]]
        left[near[:, 0], near[:, 1]] = False
        ring = np.stack(np.divmod(np.unique(near[:, 0] * columns + near[:, 1]), columns), axis=-1)
