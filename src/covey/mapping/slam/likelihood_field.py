"""The likelihood field: how well the end points of a scan fit the walls of a map, at many poses."""

import math
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.kernel import kernel
from covey.lazy import ndimage
from covey.mapping.slam.known_map_settings import KnownMapSettings

STEPS = 2000
"""Entries of the tables over the distance to a wall."""


class LikelihoodField:
    """The distances to the walls of a map, and what they say about the end point of a beam.

    The density of an end point at a distance d from the nearest wall is z_hit exp(-d^2 / 2 sigma^2) + z_rand /
    range_max. Between the centres of cells d is interpolated. It is 0 at the surface of a wall and grows to both sides.
    A beam that would come out of a wall on its far side, because half a sigma before its end it is in the wall, has the
    depth of that point and half a sigma as its d: thin walls would pull the robot through them otherwise.

    Args:
        occupancy: cells of the map, -1 unknown, 0 free, 100 occupied, int8 (rows, columns).
        grid: resolution and origin of the cells.
        settings: the weights z_hit and z_rand, sigma, and the distance that all larger ones count as.
        range_max: range of the lidar [m].

    Attributes:
        distance: signed distances [m] at the centres of the cells, with a margin around the map, negative in walls.
        frame: its grid for kernels, see `covey.geometry.grid.Grid`.
        free: its free cells, rows and columns, (k, 2).

    Raises:
        InvalidValueError: the cells are not such a map, or none of them is free, or none occupied.

    References:
        S. Thrun, W. Burgard, D. Fox: Probabilistic Robotics. MIT Press 2005, table 6.3.
    """

    def __init__(self, occupancy: np.ndarray, grid: Grid, settings: KnownMapSettings, range_max: float):
        wall = _walls(occupancy)
        if not (occupancy == 0).any():
            raise InvalidValueError("the map has no free cell; there is no place for a robot")
        sigma_m, most_m = settings.hit_sigma_m, settings.max_distance_m
        margin = math.ceil(most_m / grid.resolution)
        wall = np.pad(wall, margin)
        self.free = np.argwhere(occupancy == 0) + margin
        corner = Pose(*grid.origin) @ (-margin * grid.resolution, -margin * grid.resolution)
        self.frame = Grid(wall, grid.resolution, (*corner, grid.origin[2])).frame
        away: Any = ndimage.distance_transform_edt(~wall)
        deep: Any = ndimage.distance_transform_edt(wall)
        self.distance = grid.resolution * np.where(wall, 0.5 - deep, away - 0.5)
        self.step_m, self.before_m = most_m / STEPS, 0.5 * sigma_m
        close = np.exp(-0.5 * (np.arange(STEPS + 1) * self.step_m / sigma_m) ** 2)
        close[STEPS] = 0.0
        density = settings.hit_weight * close + settings.random_weight / range_max
        self.tables = np.stack((np.log(density), close))

    def score(self, poses: np.ndarray, beams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean logarithm of the density of the end points of a scan, and how many fit, both (n,).

        Args:
            poses: x, y [m], heading [rad] of the robot in the world frame, (n, 3).
            beams: end points in the robot's frame [m] and the cosine and sine of the beams' directions, (k, 4), k > 0.

        Returns:
            The mean logarithms, and the mean of exp(-d^2 / 2 sigma^2): 1 if every beam ends at a wall, 0 if none does.
        """
        log_density, fit = np.empty(len(poses)), np.empty(len(poses))
        ends = np.hstack((beams[:, :2], beams[:, :2] - self.before_m * beams[:, 2:]))
        score(poses, ends, self.before_m, self.distance, self.frame, self.tables, self.step_m, log_density, fit)
        return log_density, fit


def _walls(occupancy: np.ndarray) -> np.ndarray:
    """Check a map; return which cells are occupied."""
    if occupancy.ndim != 2 or not occupancy.size:
        raise InvalidValueError(f"the map has the shape {occupancy.shape}; it must have rows and columns")
    others = np.setdiff1d(occupancy, (-1, 0, 100))
    if len(others):
        raise InvalidValueError(
            f"the map holds {others[0]}; its cells must be -1 (unknown), 0 (free) or 100 (occupied)"
        )
    wall = occupancy == 100
    if not wall.any():
        raise InvalidValueError("the map has no occupied cell; there is nothing to localize by")
    return wall


@kernel
def score(poses, ends, before_m, distance, frame, tables, step_m, log_density, fit):
    """Fill ``log_density`` and ``fit``, see `LikelihoodField.score`.

    Args:
        ends: (k, 4), the end points of beams, and points ``before_m`` before them.
        tables: logarithm of the density, and exp(-d^2 / 2 sigma^2), by distance in steps.
    """
    last, count = tables.shape[1] - 1, ends.shape[0]
    x0, y0, gc, gs, resolution = frame
    per_cell, per_step = 1.0 / resolution, 1.0 / step_m
    far_m = 6.0 * before_m  # three sigma: from here on a beam fits no wall anyway
    for i in range(poses.shape[0]):
        dx, dy = poses[i, 0] - x0, poses[i, 1] - y0
        u0, v0 = (gc * dx + gs * dy) * per_cell - 0.5, (gc * dy - gs * dx) * per_cell - 0.5
        c, s = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        a, b = (gc * c + gs * s) * per_cell, (gc * s - gs * c) * per_cell
        sum_log, sum_close = 0.0, 0.0
        for k in range(count):
            d = abs(_signed(distance, u0 + a * ends[k, 0] - b * ends[k, 1], v0 + b * ends[k, 0] + a * ends[k, 1]))
            if d < far_m:
                before = _signed(distance, u0 + a * ends[k, 2] - b * ends[k, 3], v0 + b * ends[k, 2] + a * ends[k, 3])
                d = d if before >= 0.0 else before_m - before
            at = int(min(d * per_step + 0.5, last))
            sum_log += tables[0, at]
            sum_close += tables[1, at]
        log_density[i], fit[i] = sum_log / count, sum_close / count


@kernel(inline=True)
def _signed(distance, u, v):
    """Return the distance at a point of the grid, interpolated between the centres of cells; inf beside the grid."""
    if not (0.0 <= u < distance.shape[1] - 1 and 0.0 <= v < distance.shape[0] - 1):
        return math.inf
    column, row = np.uintp(u), np.uintp(v)  # not negative: spares the check for indices from the end
    fu, fv = u - column, v - row
    one = np.uintp(1)
    a, b = distance[row, column], distance[row, column + one]
    c, d = distance[row + one, column], distance[row + one, column + one]
    below, above = a + (b - a) * fu, c + (d - c) * fu
    return below + (above - below) * fv
