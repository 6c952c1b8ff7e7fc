"""The map that scans at known poses show."""

import math
from typing import NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.mapping.exchange.shared_maps import MAX_CELLS
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.records import Mapping
from covey.mapping.slam.log import Log

_MARGIN_M = 0.5
_BATCH = 50  # scans that are drawn at a time
_LOOKED_AT = 500  # scans of which is asked what the map explains


def map_of(log: Log, poses: np.ndarray, resolution_m: float, range_m: float) -> Grid:
    """Return the map that the scans of a log show: int8, -1 unknown, 0 free, 100 occupied.

    Args:
        log: n scans; what is no return says nothing about the place.
        poses: of the robot at the scans, (n, 3).
        resolution_m: side of a cell [m].
        range_m: returns beyond it only clear the cells up to it [m].

    Raises:
        InvalidValueError: the map would be too large.
    """
    laser = log.laser
    mounts = np.array([laser.mount]) if log.mounts is None else log.mounts
    reach = min(range_m, laser.range_max) + _MARGIN_M + float(np.hypot(mounts[:, 0], mounts[:, 1]).max())
    low, high = poses[:, :2].min(axis=0) - reach, poses[:, :2].max(axis=0) + reach
    low = resolution_m * np.floor(low / resolution_m)
    if np.prod((high - low) / resolution_m) > MAX_CELLS:
        wide, tall = high - low
        raise InvalidValueError(
            f"a map of {wide:.0f} m x {tall:.0f} m has more than {MAX_CELLS:,} cells of {resolution_m:g} m: take a "
            "coarser --resolution"
        )
    mapping = Mapping(resolution_m=resolution_m, max_range_m=range_m)
    beliefs = Beliefs(["map"], tuple(high - low), tuple(low), mapping)
    batch = _BATCH if log.fans is None and log.mounts is None else 1
    for first in range(0, len(poses), batch):
        part = slice(first, first + batch)
        angles, ranges = (laser.angles, log.ranges[part]) if log.fans is None else log.scan(first)
        scans = np.atleast_2d(np.where(laser.returns(ranges), ranges, np.nan))
        robots = np.zeros(len(scans), np.int64)
        beliefs.update(robots, poses[part], scans, angles, log.mount(first), laser.range_max, 0)
    return _cropped(beliefs.grid)


class Explained(NamedTuple):
    """What a map explains of some scans of its log.

    Attributes:
        rows: the scans, (m,).
        returns: how many of their returns are near enough to count, (m,).
        at_walls: how many of these end at a wall of the map, (m,).
    """

    rows: np.ndarray
    returns: np.ndarray
    at_walls: np.ndarray

    def share(self, first: int = 0, last: int | None = None) -> float:
        """Return the share of the returns of the scans ``first`` to ``last`` that end at a wall; NaN: none returns.

        Where a map has walls twice, or a stretch is bent, less of it is explained.
        """
        part = (self.rows >= first) & (self.rows <= (self.rows[-1] if last is None else last))
        returns = int(self.returns[part].sum())
        return int(self.at_walls[part].sum()) / returns if returns else math.nan


def explained_by(log: Log, poses: np.ndarray, grid: Grid, range_m: float, near_m: float = 0.1) -> Explained:
    """Return how many returns of a log end at a wall of its map; of a long log some hundred scans are looked at.

    Args:
        log: n scans.
        poses: of the robot at the scans, (n, 3).
        grid: the map, 100 occupied.
        range_m: returns beyond it do not count.
        near_m: so near a return must be to an occupied cell [m].
    """
    reach = math.ceil(near_m / grid.resolution)
    steps = [(r, c) for r in range(-reach, reach + 1) for c in range(-reach, reach + 1) if r * r + c * c <= reach**2]
    walls = np.pad(grid.cells >= 50, reach + 1)
    near = np.zeros_like(walls)
    for r, c in steps:
        near |= np.roll(walls, (r, c), (0, 1))
    rows = np.unique(np.linspace(0, len(log) - 1, min(len(log), _LOOKED_AT)).astype(int))
    returns, at_walls = np.zeros(len(rows), int), np.zeros(len(rows), int)
    for k, row in enumerate(rows.tolist()):
        points = log.points(row, range_m)
        c, s = math.cos(poses[row, 2]), math.sin(poses[row, 2])
        cells = np.rint(grid.to_cells(points @ np.array([[c, s], [-s, c]]) + poses[row, :2])).astype(int) + reach + 1
        cells = np.clip(cells, 0, np.array(near.shape) - 1)
        returns[k], at_walls[k] = len(points), int(near[cells[:, 0], cells[:, 1]].sum())
    return Explained(rows, returns, at_walls)


def _cropped(grid: Grid) -> Grid:
    """Return the part of a map that is known, with a margin of a few cells."""
    known = grid.cells >= 0
    if not known.any():
        return grid
    (top, bottom), (left, right) = (
        (max(0, int(found[0]) - 4), int(found[-1]) + 5) for found in map(np.flatnonzero, (known.any(1), known.any(0)))
    )
    x, y, yaw = grid.origin
    corner = (x + left * grid.resolution, y + top * grid.resolution, yaw)
    return Grid(np.array(grid.cells[top:bottom, left:right]), grid.resolution, corner)
