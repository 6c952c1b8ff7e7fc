"""`Grid`: an array of square cells with a resolution and an origin."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covey.errors import InvalidValueError


@dataclass(frozen=True, eq=False)
class Grid:
    """Square cells in the plane.

    Attributes:
        cells: shape (rows, columns) or (rows, columns, ...); row 0 is the southernmost (smallest y), column 0 the
            westernmost (smallest x), when the yaw is 0.
        resolution: side of a cell [m].
        origin: x, y [m] and yaw [rad] of the outer corner of cell [0, 0] in the world frame.
    """

    cells: np.ndarray
    resolution: float
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    frame: np.ndarray = field(init=False, repr=False)
    """The grid for kernels, float64 (5,): x, y of the origin, cos and sin of its yaw, resolution."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.resolution) and self.resolution > 0):
            raise InvalidValueError(f"resolution is {self.resolution!r}; it must be a positive number of metres")
        x, y, yaw = self.origin
        object.__setattr__(self, "frame", np.array([x, y, math.cos(yaw), math.sin(yaw), self.resolution]))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.cells.shape[0], self.cells.shape[1]

    @property
    def size_m(self) -> tuple[float, float]:
        """Width (along the columns) and height (along the rows) [m]."""
        rows, columns = self.shape
        return columns * self.resolution, rows * self.resolution

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """left, right, bottom, top [m] in the grid's own axes, for matplotlib's imshow."""
        width, height = self.size_m
        return self.origin[0], self.origin[0] + width, self.origin[1], self.origin[1] + height

    def with_cells(self, cells: np.ndarray) -> "Grid":
        """Return a grid with the same resolution and origin over other cells."""
        return Grid(cells, self.resolution, self.origin)

    def to_cells(self, points_world: Any) -> np.ndarray:
        """Return rows and columns, integer shape (..., 2), of the cells that hold points [m] of shape (..., 2)."""
        points = np.asarray(points_world, float)
        x0, y0, c, s, resolution = self.frame
        dx, dy = points[..., 0] - x0, points[..., 1] - y0
        columns, rows = (c * dx + s * dy) / resolution, (-s * dx + c * dy) / resolution
        return np.floor(np.stack((rows, columns), axis=-1)).astype(np.int64)

    def cell_at(self, x: float, y: float) -> tuple[int, int]:
        """Return row and column of the cell that holds a point [m]; faster than `to_cells` for one point."""
        x0, y0, c, s, resolution = self.frame.tolist()
        dx, dy = x - x0, y - y0
        return math.floor((-s * dx + c * dy) / resolution), math.floor((c * dx + s * dy) / resolution)

    def to_world(self, cells: Any) -> np.ndarray:
        """Return the centres [m], shape (..., 2) as x, y, of cells given as rows and columns, shape (..., 2)."""
        index = np.asarray(cells, float)
        x0, y0, c, s, resolution = self.frame
        u, v = (index[..., 1] + 0.5) * resolution, (index[..., 0] + 0.5) * resolution
        return np.stack((x0 + c * u - s * v, y0 + s * u + c * v), axis=-1)

    def inside(self, cells: Any) -> np.ndarray:
        """Return which rows and columns, shape (..., 2), lie inside the grid."""
        index = np.asarray(cells)
        return np.all((index >= 0) & (index < np.array(self.shape)), axis=-1)
