"""Placement of robots one by one at the first free place, in some order of the cells."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from covey.errors import PlacementError
from covey.geometry.grid import Grid
from covey.world.world import World, label_by_size

TOUCH = 1e-9
"""Overlap of bodies that is tolerated as rounding [m]."""

_CHUNK = 4096  # cells processed at a time


class StartSearch:
    """The search for places of bodies in a world.

    Its methods other than `fill` return orders: they yield the cells in which the widest body can stand, best first, as
    int (m, 2) of rows and columns.

    Args:
        world: the truth.
        radii: shape (n,), circumscribed radius of each body [m].
        taken: shape (k, 3), x, y and radius [m] of bodies that stand already.
        names: of the robots, for errors.
    """

    def __init__(self, world: World, radii: np.ndarray, taken: np.ndarray, names: Sequence[str]):
        self.world, self.radii, self.taken, self.names = world, radii, taken, names
        self.widest = float(radii.max(initial=0.0))

    def fill(self, order: Iterator[np.ndarray], gap_m: float, heading_deg: float) -> np.ndarray:
        """Return the poses of the bodies, float64 (n, 3), if each takes the first cell of an order that is left.

        Raises:
            PlacementError: the order has too few cells.
        """
        placed = np.empty((len(self.radii), 3))
        placed[:, 2] = math.radians(heading_deg)
        if not len(placed):
            return placed
        left = np.ones(self.world.grid.shape, bool)
        for x, y, radius in self.taken:
            _fence(self.world, left, x, y, radius + self.widest + gap_m)
        count = 0
        for cells in order:
            while len(cells := cells[left[cells[:, 0], cells[:, 1]]]):
                x, y = placed[count, :2] = self.world.grid.to_world(cells[0])
                _fence(self.world, left, x, y, self.radii[count] + self.widest + gap_m)
                count += 1
                if count == len(placed):
                    return placed
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
        labels, _ = label_by_size(self._inside(None))
        chunks = _chunks(random.permutation(np.flatnonzero(labels == 1)))
        return (np.column_stack(np.unravel_index(chunk, labels.shape)) for chunk in chunks)

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
        inside = passable(self.world, self.widest)
        inside = inside if room is None else inside & room
        if len(self.radii) and not inside.any():
            raise PlacementError(
                f"{self.names[0]} fits nowhere: no free cell keeps {self.widest:g} m from the walls; use a smaller "
                "body or a wider world"
            )
        return inside


def nearest_cell(
    grid: Grid, mask: np.ndarray, point: tuple[float, float], allows: Callable[[np.ndarray], np.ndarray] | None = None
) -> np.ndarray | None:
    """Return row and column of the True cell whose centre is nearest to a point [m], or None.

    Args:
        grid: the grid of the cells.
        mask: bool (rows, columns).
        point: x, y [m].
        allows: returns which of some centres (m, 2) [m] count, bool (m,); None: all.
    """
    at = np.clip(grid.to_cells(point), 0, np.array(mask.shape) - 1)
    beyond, reach = float(np.hypot(*(grid.to_world(at) - point))), 16
    while True:
        low, high = np.maximum(at - reach, 0), at + reach + 1
        cells = low + np.argwhere(mask[low[0] : high[0], low[1] : high[1]])
        points = grid.to_world(cells)
        if allows is not None:
            allowed = allows(points)
            cells, points = cells[allowed], points[allowed]
        away = np.hypot(*(points - point).T)
        is_all = not low.any() and bool((high >= mask.shape).all())
        if len(cells) and (is_all or away.min() <= reach * grid.resolution - beyond):  # all others are farther
            return cells[np.argmin(away)]
        if is_all:
            return None
        reach *= 4


def passable(world: World, radius: float) -> np.ndarray:
    """Return the cells, bool (rows, columns), on whose centres a body of a radius [m] can stand."""
    return world.free & (world.clearance >= radius * (1 - 1e-6))


def too_many(names: Sequence[str], fit: int, wanted: int, gap_m: float) -> PlacementError:
    """Return the error that there is no room for all robots."""
    return PlacementError(
        f"{names[fit]} does not fit: only {fit} of {wanted} robots have room here with gaps of {gap_m:g} m; use fewer "
        "or smaller robots, a smaller gap_m, or a larger place"
    )


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
