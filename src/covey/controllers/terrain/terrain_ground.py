"""The ground on which a robot plans: its map without the places that it has found to be bad."""

import math
from collections.abc import Iterable

import numpy as np

from covey.controllers.terrain.terrain_looking import BLIND_M, Margin
from covey.geometry.grid import Grid
from covey.onboard.handle import Robot
from covey.planning.best_first import LandscapePaths
from covey.planning.edges import edge_vertices

_AROUND_M = 20.0  # paths lead around mates that stand within this distance


class DrivableGround:
    """The map on which one robot plans: with the ground under the robot, without places where it was stuck recently.

    Args:
        clearance_m: distance of paths from vertices that are too steep [m].
    """

    def __init__(self, clearance_m: float):
        self._clearance_m, self._margin = clearance_m, Margin()
        self._hard: list[tuple[float, float, float]] = []  # x, y [m] of a bad place, and until when it counts [s]
        self._known: tuple[float, int] | None = None  # time and number of bad places when the map was read last ...
        self._cells = np.empty((0, 0), np.int8)  # ... and its cells then

    def avoid(self, x: float, y: float, until_s: float) -> None:
        """Treat a place [m] as bad until a time [s]."""
        self._hard.append((x, y, until_s))

    def ways(self, robot: Robot, around: Iterable[tuple[float, float]] = ()) -> LandscapePaths:
        """Return the paths over the map, around the given places that are far enough to pass [m]."""
        assert robot.map is not None
        grid = robot.map.grid
        self._hard = [place for place in self._hard if place[2] > robot.time]
        known = robot.time, len(self._hard)
        if known != self._known:
            self._known, self._cells = known, grid.cells.copy()
            self._margin.apply(robot, self._cells)
            window, near = _disc(grid, robot.pose.x, robot.pose.y, BLIND_M)
            self._cells[window][near & (self._cells[window] < 0)] = 0
            for x, y, _ in self._hard:
                window, near = _disc(grid, x, y, 0.5 * max(grid.resolution, 0.5))
                self._cells[window][near] = 100
        cells = self._cells.copy() if around else self._cells
        for x, y in around:
            if BLIND_M < math.dist((x, y), robot.pose[:2]) < _AROUND_M:
                window, near = _disc(grid, x, y, 0.5)
                cells[window][near] = 100
        return LandscapePaths(grid.with_cells(cells), self._clearance_m)


def edges_of(ways: LandscapePaths, start: tuple[float, float]) -> np.ndarray:
    """Return the edge points of the map that can be reached, float64 (k, 2) [m]."""
    edges = edge_vertices(ways.grid.cells)
    reached = np.isfinite(ways.distances(*start))
    return ways.grid.to_world(edges[reached[edges[:, 0], edges[:, 1]]])


def apart(points: np.ndarray, places: Iterable[tuple[float, float]], apart_m: float) -> np.ndarray:
    """Return the points that are farther than a distance from all places [m]."""
    for x, y in places:
        points = points[np.hypot(points[:, 0] - x, points[:, 1] - y) > apart_m]
    return points


def good_ground(
    ways: LandscapePaths, place: tuple[float, float], others: Iterable[tuple[float, float]], within_m: float
) -> list[tuple[float, float]]:
    """Return at most five passable vertices nearest to a place, within a distance and not taken by others [m]."""
    window, near = _disc(ways.grid, *place, within_m)
    corner = window[0].start, window[1].start
    points = ways.grid.to_world(np.argwhere(near & ways.passable[window]) + corner)
    points = apart(points, others, 0.6 * within_m)
    nearest = np.argsort(np.hypot(*(points - place).T), kind="stable")[:5]
    return [(x, y) for x, y in points[nearest].tolist()]


def is_edge(grid: Grid, place: tuple[float, float]) -> bool:
    """Return whether a place [m] lies at the edge of the drivable map."""
    row, column = grid.cell_at(*place)
    around = grid.cells[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    return bool((around < 0).any()) and grid.cells[row, column] == 0


def is_all_bad(ways: LandscapePaths, place: tuple[float, float], within_m: float) -> bool:
    """Return whether everything at and around a place [m] is mapped and not drivable."""
    window, near = _disc(ways.grid, *place, within_m)
    return bool((ways.grid.cells[window][near] > 50).all())


def _disc(grid: Grid, x: float, y: float, radius_m: float) -> tuple[tuple[slice, slice], np.ndarray]:
    """Return a window of the grid, and its vertices within a radius of a point [m], or else the nearest one."""
    x0, y0, _ = grid.origin
    row, column = (y - y0) / grid.resolution - 0.5, (x - x0) / grid.resolution - 0.5
    reach = radius_m / grid.resolution
    rows = slice(max(math.floor(row - reach), 0), max(math.ceil(row + reach) + 1, 0))
    columns = slice(max(math.floor(column - reach), 0), max(math.ceil(column + reach) + 1, 0))
    r = np.arange(rows.start, min(rows.stop, grid.shape[0]))[:, None]
    c = np.arange(columns.start, min(columns.stop, grid.shape[1]))[None]
    near = (r - row) ** 2 + (c - column) ** 2 <= reach * reach
    return (rows, columns), near | ((r == round(row)) & (c == round(column)))
