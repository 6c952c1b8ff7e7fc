"""The map that scans at known poses show."""

import math

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


def explained_by(log: Log, poses: np.ndarray, grid: Grid, range_m: float, near_m: float = 0.1) -> float:
    """Return the share of the returns of a log that end at a wall of its map; NaN: there is no return.

    Where a map has walls twice, or a stretch is bent, less of it is explained.

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
    many = hits = 0
    for row in np.unique(np.linspace(0, len(log) - 1, min(len(log), _LOOKED_AT)).astype(int)).tolist():
        points = log.points(row, range_m)
        c, s = math.cos(poses[row, 2]), math.sin(poses[row, 2])
        cells = np.rint(grid.to_cells(points @ np.array([[c, s], [-s, c]]) + poses[row, :2])).astype(int) + reach + 1
        cells = np.clip(cells, 0, np.array(near.shape) - 1)
        many, hits = many + len(points), hits + int(near[cells[:, 0], cells[:, 1]].sum())
    return hits / many if many else math.nan


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
