"""Surfaces: points with normals where the free space of an occupancy grid ends at walls."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from covey.geometry.grid import Grid
from covey.lazy import ndimage, spatial

NORMAL_M = 0.3
"""Distance [m] of two surface points that a difference of 1 between their unit normals counts as."""

FREE_EVERY = 7
"""One of so many free cells stands for all of them where their area is measured."""

_GAP_CELLS = 4  # rays 1.5 deg apart are 0.2 m apart after 8 m
_SMOOTH_CELLS = 1.5
_BENT_M, _BENT = 0.3, 0.07  # of ten normals in a row, one turned by 45 deg makes 0.05
_LEAST_SLOPE = 0.05  # at the side of a straight wall it is 0.09 or more, beside a lone cell 0.03


@dataclass(frozen=True, eq=False)
class Surfaces:
    """The surfaces of a map.

    Attributes:
        grid: the known part of the map, without gaps (`without_gaps`); int8 cells -1, 0, 100.
        seen_free: bool (rows, columns): cells that were free before gaps were filled.
        points: float64 (n, 2) [m] in the frame of the map, the centres of free cells with a wall beside them.
        normals: float64 (n, 2), unit vectors from the wall into the free space.
    """

    grid: Grid
    seen_free: np.ndarray
    points: np.ndarray
    normals: np.ndarray

    @property
    def reach_m(self) -> float:
        """Largest distance [m] between two points of one surface in two maps."""
        return max(0.25, 2.5 * self.grid.resolution)

    @property
    def width_m(self) -> float:
        """Largest distance [m] along the normal at which two such points still lie on each other."""
        return max(0.15, 1.5 * self.grid.resolution)

    @cached_property
    def tree(self) -> Any:
        """Search tree over x, y and `NORMAL_M` x the normal, so the back of a wall is far from its front."""
        return spatial.KDTree(np.hstack((self.points, NORMAL_M * self.normals)))

    @cached_property
    def squareness(self) -> float:
        """Mean resultant length of four times the angles of the normals: 1 if all walls stand at right angles."""
        angle = 4.0 * np.arctan2(self.normals[:, 1], self.normals[:, 0])
        return math.hypot(float(np.cos(angle).mean()), float(np.sin(angle).mean()))

    @cached_property
    def thickness(self) -> float:
        """Number of wall cells for each point of a surface: noise draws walls thick."""
        return float(np.count_nonzero(self.grid.cells == 100) / len(self.points))

    @cached_property
    def free_points(self) -> np.ndarray:
        """Centres [m] (m, 2) of one of `FREE_EVERY` free cells."""
        return self.grid.to_world(np.argwhere(self.grid.cells == 0)[::FREE_EVERY])

    @cached_property
    def free_cells(self) -> np.ndarray:
        """Bool (rows, columns): cells that are free."""
        return self.grid.cells == 0

    @cached_property
    def open_m(self) -> np.ndarray:
        """Distance [m] from each cell that was seen free to the nearest that is not free; 0 in others."""
        free = np.pad(self.grid.cells == 0, 1)
        distance: Any = ndimage.distance_transform_edt(free)
        return self.seen_free * distance[1:-1, 1:-1] * self.grid.resolution

    @cached_property
    def bent(self) -> np.ndarray:
        """How much the normals differ within 0.3 m of each point, float64 (n,), 0 … 1.

        It is 0 at a straight wall, and 1 at corners, at the ends of walls, and where both sides of a thin one are seen.
        """
        rows, columns = self.grid.to_cells(self.points).T
        images = np.zeros((3, *self.grid.shape))
        images[:, rows, columns] = *self.normals.T, np.ones(len(rows))
        side = 2 * round(_BENT_M / self.grid.resolution) + 1
        x, y, n = (ndimage.uniform_filter(image, side, mode="constant")[rows, columns] for image in images)
        return np.clip((1.0 - np.hypot(x, y) / n) / _BENT, 0.0, 1.0)

    def open_within(self, clearance_m: float) -> np.ndarray:
        """Return the cells, bool (rows, columns), with only free cells in a square of that half side [m].

        Free cells beside unknown ones are left out: the other robot may have seen a wall there.
        """
        reach = max(1, math.ceil(clearance_m / self.grid.resolution - 1e-9))
        return ndimage.maximum_filter((self.grid.cells != 0).astype(np.uint8), 2 * reach + 1) == 0

    def look_up(self, values: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the ``values``, (rows, columns), at points [m] (m, 2); False or 0 outside."""
        cells = self.grid.to_cells(points)
        inside = self.grid.inside(cells)
        flat = np.where(inside, cells[:, 0] * values.shape[1] + cells[:, 1], 0)
        return inside * values.ravel()[flat]


def find_surfaces(grid: Grid) -> Surfaces | None:
    """Return the surfaces of a map, or None if no free cell is beside a wall."""
    known = np.argwhere(grid.cells >= 0)
    if not len(known):
        return None
    (r0, c0), (r1, c1) = known.min(axis=0), known.max(axis=0) + 1
    x, y = grid.to_world((r0 - 0.5, c0 - 0.5))
    seen = np.ascontiguousarray(grid.cells[r0:r1, c0:c1])
    cells = without_gaps(seen)
    part = Grid(cells, grid.resolution, (float(x), float(y), grid.origin[2]))
    wall = np.pad(cells == 100, 1)
    beside = wall[2:, 1:-1] | wall[:-2, 1:-1] | wall[1:-1, 2:] | wall[1:-1, :-2]
    dense = (cells == 100).astype(np.float32)
    du = -ndimage.gaussian_filter(dense, _SMOOTH_CELLS, order=(0, 1))  # pyright: ignore[reportArgumentType]
    dv = -ndimage.gaussian_filter(dense, _SMOOTH_CELLS, order=(1, 0))  # pyright: ignore[reportArgumentType]
    slope = np.hypot(du, dv)
    at = np.argwhere((cells == 0) & beside & (slope > _LEAST_SLOPE))
    if not len(at):
        return None
    rows, columns = at.T
    normals = np.column_stack((du[rows, columns], dv[rows, columns])) / slope[rows, columns, None]
    return Surfaces(part, seen == 0, part.to_world(at), times(normals.astype(np.float64), grid.origin[2]))


def without_gaps(cells: np.ndarray) -> np.ndarray:
    """Return a map, int8 (rows, columns), whose unknown cells between walls are walls, and between free ones free.

    Far from a robot its rays lie apart. They leave stripes of unknown cells, and show walls as single cells.
    """
    full = cells.copy()
    for state in (0, 100):
        there = np.pad(cells == state, _GAP_CELLS)
        closed: Any = ndimage.binary_closing(there, np.ones((_GAP_CELLS + 1, _GAP_CELLS + 1)))
        full[closed[_GAP_CELLS:-_GAP_CELLS, _GAP_CELLS:-_GAP_CELLS] & (cells < 0)] = state
    return full


def times(vectors: np.ndarray, angle: float) -> np.ndarray:
    """Return vectors (n, 2) turned by an angle [rad]; without BLAS, so every machine gives the same bytes."""
    c, s = math.cos(angle), math.sin(angle)
    x, y = vectors[:, 0], vectors[:, 1]
    return np.column_stack((c * x - s * y, s * x + c * y))
