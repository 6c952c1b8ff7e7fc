"""The explorable part of a ground: the cells around the vertices that a robot can see from places it can reach."""

import math
from typing import Any

import numpy as np

from covey.geometry.heightfield import steepness
from covey.geometry.sight import is_hidden
from covey.kernel import kernel
from covey.world.disk_cache import kept_cells
from covey.world.standing import passable
from covey.world.visibility.explorable import connected
from covey.world.world import World

_VERSION = "1"  # version of the algorithm; part of the cache key


class GroundCells:
    """The cells of a world around each vertex of its ground: those whose centre has no nearer vertex."""

    def __init__(self, world: World):
        ground, grid = world.ground, world.grid
        assert ground is not None
        x0, y0, spacing = ground.frame.tolist()
        centres = grid.to_world(np.moveaxis(np.indices(grid.shape), 0, -1))
        self._shape, self._place = ground.altitude.shape, (x0, y0, spacing)
        column, row = (np.floor((centres[..., k] - (x0, y0)[k]) / spacing + 0.5).astype(np.int32) for k in (0, 1))
        inside = (row >= 0) & (row < self._shape[0]) & (column >= 0) & (column < self._shape[1])
        self.vertex = np.where(inside, row * self._shape[1] + column, -1)
        """int64 (rows, columns), the vertex of each cell, row by row; -1 outside the ground."""
        order = np.argsort(self.vertex, axis=None, kind="stable")
        self._cells = order[np.count_nonzero(~inside) :]
        self._first = np.searchsorted(self.vertex.ravel()[self._cells], np.arange(ground.altitude.size + 1))
        self._is_one_each = grid.cells.size == ground.altitude.size == len(np.unique(self.vertex))

    def at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells around the vertices that are nearest to points [m], (k, 2).

        Returns:
            For each cell the index of its point, int64 (c,), and the cell, row by row, int64 (c,).
        """
        x0, y0, spacing = self._place
        column, row = np.floor((points - (x0, y0)) / spacing + 0.5).astype(np.int64).T
        inside = (row >= 0) & (row < self._shape[0]) & (column >= 0) & (column < self._shape[1])
        if self._is_one_each:
            which = np.flatnonzero(inside)
            return which, self._cells[row[which] * self._shape[1] + column[which]]
        vertex = np.where(inside, row * self._shape[1] + column, 0)
        first, count = self._first[vertex], np.where(inside, self._first[vertex + 1] - self._first[vertex], 0)
        which = np.repeat(np.arange(len(points)), count)
        before = np.cumsum(count) - count
        return which, self._cells[first[which] + np.arange(len(which)) - before[which]]


def explorable_ground(
    world: World, cells: GroundCells, starts: Any, radius_m: Any, views: Any, *, cached: bool = True
) -> np.ndarray:
    """Return which free cells the robots can see at all, bool (rows, columns).

    A robot reaches the vertices that are drivable (no neighbour is higher or lower by more than its limit), that keep
    its radius from all walls, and that such vertices connect with its start. From a reached vertex, level and turned
    towards it, it sees a vertex within its range and between its lowest and highest direction, unless the ground hides
    it. Flying robots reach all vertices.

    Args:
        world: the truth, with a ground.
        cells: the cells of that world.
        starts: x and y [m] of the robots, shape (n, 2) or (n, 3).
        radius_m: radius of the bodies [m], shape (n,).
        views: shape (n, 5): range, height of the sensor above the ground [m], highest and lowest direction [rad], and
            the steepest drivable step [m], infinite for flying robots.
        cached: keep the result in the user's cache folder, and read it from there.
    """
    starts, views = np.atleast_2d(np.asarray(starts, float))[:, :2], np.ascontiguousarray(views, np.float64)
    ground, radius = world.ground, np.ascontiguousarray(radius_m, np.float64)
    assert ground is not None

    def made() -> np.ndarray:
        kinds = np.column_stack((radius, views))
        seen = np.zeros(ground.altitude.shape, np.bool_)
        for kind in np.unique(kinds, axis=0):
            reached = reachable_ground(world, starts[(kinds == kind).all(axis=1)], kind[0], kind[5])
            seen |= _see(ground.altitude, reached, _offsets(kind[1] / ground.spacing_m), ground.spacing_m, kind[1:5])
        return world.free & (cells.vertex >= 0) & seen.ravel()[np.maximum(cells.vertex, 0)]

    where = ground.altitude, ground.frame, starts, radius, views
    return kept_cells("explorable_ground", _VERSION, world, where, made) if cached else made()


def reachable_ground(world: World, starts: np.ndarray, radius_m: float, max_step_m: float) -> np.ndarray:
    """Return the vertices, bool (rows, columns), that a robot can reach from any start (k, 2) [m]."""
    ground = world.ground
    assert ground is not None
    shape = ground.altitude.shape
    if math.isinf(max_step_m):
        return np.ones(shape, np.bool_)
    drivable = steepness(ground.altitude) <= max_step_m
    place = world.grid.to_cells(ground.vertices()[..., :2])
    row, column = np.moveaxis(np.where(world.grid.inside(place)[..., None], place, 0), -1, 0)
    drivable &= passable(world, radius_m)[row, column] & world.grid.inside(place)
    at = np.floor((starts - ground.frame[:2]) / ground.frame[2] + 0.5).astype(np.int64)[:, ::-1]
    around = (at[:, None] + [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]).reshape(-1, 2)
    around = around[((around >= 0) & (around < shape)).all(axis=1)]
    begin = np.zeros(shape, np.bool_)
    begin[tuple(around.T)] = True
    out = connected(drivable, begin)
    at = at[((at >= 0) & (at < shape)).all(axis=1)]
    out[tuple(at.T)] = True
    return out


def _offsets(reach: float) -> np.ndarray:
    """Return all steps on the lattice, int64 (k, 2), up to a length, shortest first."""
    far = math.floor(reach)
    steps = np.argwhere(np.ones((2 * far + 1, 2 * far + 1))) - far
    length = np.hypot(*steps.T)
    order = np.lexsort((steps[:, 1], steps[:, 0], length))
    return np.ascontiguousarray(steps[order][length[order] <= reach])


@kernel
def _see(altitude, reached, offsets, spacing, view):
    """Return the vertices, bool (rows, columns), that are visible from any reached one.

    Args:
        offsets: int64 (k, 2), offsets of other vertices to look from, nearest first.
        view: range, height [m], highest and lowest direction [rad].
    """
    rows, columns = altitude.shape
    seen = np.zeros((rows, columns), np.bool_)
    highest, lowest = math.sin(view[2]), math.sin(view[3])
    for i in range(rows):
        for j in range(columns):
            for k in range(offsets.shape[0]):
                a, b = i + offsets[k, 0], j + offsets[k, 1]
                if a < 0 or b < 0 or a >= rows or b >= columns or not reached[a, b]:
                    continue
                flat = spacing * math.hypot(float(offsets[k, 0]), float(offsets[k, 1]))
                eye = altitude[a, b] + view[1]
                rise = altitude[i, j] - eye
                away = math.sqrt(flat * flat + rise * rise)
                if away > view[0] or rise > highest * away or rise < lowest * away:
                    continue
                if not is_hidden(altitude, float(b), float(a), eye, i, j, 0.0):
                    seen[i, j] = True
                    break
    return seen
