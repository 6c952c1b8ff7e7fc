"""The explorable cells: the denominator G of every explored share."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covey.geometry.constant import constant
from covey.geometry.raycast import march_flat, skip_field
from covey.kernel import kernel
from covey.world.disk_cache import kept_cells
from covey.world.standing import passable
from covey.world.world import World, label_by_size

_FAN = 1024
"""Number of directions tried from a cell: 6 mm apart at 1 m, 16 cm at 26 m."""

_VERSION = f"1 {_FAN}"  # version of the algorithm; part of the cache key


def explorable(world: World, starts: Any, radius_m: Any, range_m: Any, *, cached: bool = True) -> np.ndarray:
    """Return which free cells the team can see at all, bool (rows, columns).

    A body reaches the cells whose centre keeps its radius from all walls and that such cells connect with its start. It
    sees a free cell if a straight line from the cell's centre enters a reached cell within the range, before it meets a
    wall.

    Args:
        world: the truth.
        starts: shape (n, 2) or (n, 3), x and y [m] of the robots in the world frame.
        radius_m: circumscribed radius of the bodies [m], one number or shape (n,).
        range_m: range of the sensors [m], one number or shape (n,).
        cached: keep the result in the user's cache folder, and read it from there.
    """
    starts = np.atleast_2d(np.asarray(starts, float))[:, :2]
    bodies = np.broadcast_to(np.asarray(radius_m, float), len(starts))
    ranges = np.broadcast_to(np.asarray(range_m, float), len(starts))

    def made() -> np.ndarray:
        return ExplorableFrom(world).of(starts, bodies, ranges).copy()

    return kept_cells("explorable", _VERSION, world, (starts, bodies, ranges), made) if cached else made()


class ExplorableFrom:
    """The cells of a world that teams with several starts can see; what follows from the same parts is found once."""

    def __init__(self, world: World):
        self._world, self._reachable = world, ReachableFrom(world)
        self._seen: dict[Any, np.ndarray] = {}

    def of(self, starts: np.ndarray, bodies: np.ndarray, ranges: np.ndarray) -> np.ndarray:
        """Return what a team can see, bool (rows, columns), read-only.

        Args:
            starts: x, y [m] of the robots, (n, 2).
            bodies, ranges: radius of each body, and range of its sensor [m], float64 (n,).
        """
        kinds = sorted({(float(b), float(r)) for b, r in zip(bodies, ranges, strict=True)})
        seen = [self._of_kind(starts[(bodies == kind[0]) & (ranges == kind[1])], *kind) for kind in kinds]
        return seen[0] if len(seen) == 1 else constant(np.logical_or.reduce(seen))

    def _of_kind(self, starts: np.ndarray, radius_m: float, range_m: float) -> np.ndarray:
        parts, reached = self._reachable.of(starts, radius_m)
        if (key := (range_m, *parts)) not in self._seen:
            self._seen[key] = constant(visible_from(self._world, reached(), range_m))
        return self._seen[key]


class ReachableFrom:
    """The cells of a world that bodies can reach from several starts."""

    def __init__(self, world: World):
        self._world = world
        self._parts: dict[float, tuple[np.ndarray, int]] = {}  # by radius: labels, and how many

    def of(self, starts: np.ndarray, radius_m: float) -> tuple[tuple[Any, ...], Callable[[], np.ndarray]]:
        """Return what these cells follow from, to be a key, and a function that returns them, see `reachable`."""
        if radius_m not in self._parts:
            labels, counts = label_by_size(passable(self._world, radius_m))
            self._parts[radius_m] = labels, len(counts)
        labels, count = self._parts[radius_m]
        cells, around = _cells_at(self._world, starts)
        parts = np.unique(labels[around[:, 0], around[:, 1]])
        parts = parts[parts > 0]
        aside = np.unique(cells[~np.isin(labels[cells[:, 0], cells[:, 1]], parts)], axis=0)

        def reached() -> np.ndarray:
            wanted = np.zeros(count + 1, bool)
            wanted[parts] = True
            return wanted[labels] | _mask(labels.shape, aside)

        return (radius_m, parts.tobytes(), aside.tobytes()), reached


def _cells_at(world: World, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the free cells, int64 (k, 2), at starts (n, 2) [m], and those around them, as a body may stand in a cell
    whose centre is a little too near to a wall."""
    grid = world.grid
    cells = grid.to_cells(starts)
    cells = cells[grid.inside(cells)]
    cells = cells[world.free[cells[:, 0], cells[:, 1]]]
    around = (cells[:, None] + [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]).reshape(-1, 2)
    return cells, around[grid.inside(around)]


def reachable(world: World, starts: np.ndarray, radius_m: float) -> np.ndarray:
    """Return the cells, bool (rows, columns), whose centre a disc can reach from any start (n, 2) [m]."""
    cells, around = _cells_at(world, starts)
    shape = world.grid.shape
    return connected(passable(world, radius_m), _mask(shape, around)) | _mask(shape, cells)


def visible_from(world: World, reached: np.ndarray, range_m: float) -> np.ndarray:
    """Return the free cells, bool (rows, columns), that are visible within ``range_m`` [m] from the reached cells."""
    stop = skip_field(world.solid | reached)
    seen = _see(stop, reached.astype(np.uint8), world.free.astype(np.uint8), _fan(), range_m / world.grid.resolution)
    return seen & world.free


@kernel
def _see(stop, reached, free, fan, reach):
    """Return the reached cells and those that see one: along some direction, within reach and before a wall.

    Between a cell and the reached cell that it sees, all cells see it too. So only neighbours of seen cells are tried,
    first in the direction of the reached cell that the neighbour sees.
    """
    rows, columns = reached.shape
    flat = stop.reshape(-1)
    sight = np.full(rows * columns, -1, np.int32)  # for each cell, the reached cell that it sees
    neighbour = np.full(rows * columns, -1, np.int32)  # the neighbour from which it was tried
    queue = np.empty(rows * columns, np.int32)
    count = 0
    for i in range(rows * columns):
        if reached[i // columns, i % columns]:
            sight[i] = neighbour[i] = queue[count] = i
            count += 1
    head = 0
    while head < count:
        i = int(queue[head])
        row, column = i // columns, i % columns
        head += 1
        k = -1
        while sight[i] < 0 and k < fan.shape[0]:
            if k < 0:
                goal = int(sight[neighbour[i]])
                du, dv = float(goal % columns - column), float(goal // columns - row)
                length = math.hypot(du, dv)
                du, dv = du / length, dv / length
            else:
                du, dv = fan[k, 0], fan[k, 1]
            k += 1
            t = march_flat(flat, rows, columns, column + 0.5, row + 0.5, du, dv, reach)
            if t < reach:
                c, r = math.floor(column + 0.5 + (t + 1e-6) * du), math.floor(row + 0.5 + (t + 1e-6) * dv)
                if 0 <= r < rows and 0 <= c < columns and reached[r, c]:
                    sight[i] = r * columns + c
        if sight[i] < 0:
            continue
        for r in range(max(0, row - 2), min(rows, row + 3)):
            for c in range(max(0, column - 2), min(columns, column + 3)):
                j = r * columns + c
                if free[r, c] and neighbour[j] < 0:
                    neighbour[j] = i
                    queue[count] = j
                    count += 1
    return (sight >= 0).reshape((rows, columns))


def _fan() -> np.ndarray:
    """Return unit vectors, shape (_FAN, 2), each in the middle of the widest gap between the earlier ones."""
    bits = _FAN.bit_length() - 1
    order = np.array([int(f"{k:0{bits}b}"[::-1], 2) for k in range(_FAN)])
    angles = order * (2 * math.pi / _FAN)
    return np.stack((np.cos(angles), np.sin(angles)), axis=-1)


def connected(mask: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Return the 8-connected parts of ``mask`` that contain a seed."""
    labels, counts = label_by_size(mask)
    wanted = np.zeros(len(counts) + 1, bool)
    wanted[labels[seeds & mask]] = True
    return wanted[labels]


def _mask(shape: tuple[int, int], cells: np.ndarray) -> np.ndarray:
    mask = np.zeros(shape, bool)
    mask[cells[:, 0], cells[:, 1]] = True
    return mask
