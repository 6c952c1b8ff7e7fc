"""`Ground`: the altitudes of a landscape, on which robots drive and walls stand."""

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid

if TYPE_CHECKING:
    from covey.world.world import World

MAX_VERTICES = 25_000_000
"""Largest number of vertices of a ground (a square of 250 m at 0.05 m fits)."""

_AT_ONCE = 250_000
"""Number of wall cells processed at a time."""

MAX_ALTITUDE_M = 100_000.0
"""Largest absolute altitude of a ground [m]; larger numbers are surely not metres."""

MARGIN_M = 10.0
"""Default margin of edits below the lowest and above the highest altitude [m]."""

Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class GroundEdit:
    """An edit: the altitudes [m] of a rectangle of vertices from [row, column] on, before and after."""

    row: int
    column: int
    before: np.ndarray
    after: np.ndarray


class Heightfield:
    """Altitudes at the vertices of a square lattice, with flat triangles between them, and queries on them.

    Vertex [row, column] lies at (x0 + column * spacing, y0 + row * spacing): row 0 is the southernmost.

    Attributes:
        altitude: float64 (rows, columns), [m].
        spacing_m: distance of neighbouring vertices along x and y [m].
        origin: x, y [m] of vertex [0, 0] in the world frame.
        range_m: lowest and highest altitude that edits may produce [m].
        name: its name in pictures and errors.
        version: grows by one with each edit.
    """

    altitude: np.ndarray
    spacing_m: float
    origin: tuple[float, float]
    range_m: Range
    name: str
    version: int

    @cached_property
    def frame(self) -> np.ndarray:
        """float64 (3,): x, y of vertex [0, 0] and the spacing [m], the lattice in the form of kernels."""
        return np.array([*self.origin, self.spacing_m], np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of vertices."""
        return self.altitude.shape[0], self.altitude.shape[1]

    @property
    def size_m(self) -> tuple[float, float]:
        """Width (along x) and height (along y) from the first to the last vertex [m]."""
        return (self.shape[1] - 1) * self.spacing_m, (self.shape[0] - 1) * self.spacing_m

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """left, right, bottom, top [m] of the vertices."""
        (x, y), (width, height) = self.origin, self.size_m
        return x, x + width, y, y + height

    def vertices(self) -> np.ndarray:
        """Return x, y and altitude [m] of all vertices, shape (rows, columns, 3)."""
        rows, columns = self.shape
        x = self.origin[0] + np.arange(columns) * self.spacing_m
        y = self.origin[1] + np.arange(rows) * self.spacing_m
        return np.stack((*np.meshgrid(x, y), self.altitude), axis=-1)

    def contains(self, points: Any) -> np.ndarray:
        """Return which points [m], shape (..., 2), lie on the ground or its edge."""
        points = np.asarray(points, float)
        left, right, bottom, top = self.bounds
        x, y = points[..., 0], points[..., 1]
        return (left <= x) & (x <= right) & (bottom <= y) & (y <= top)

    def altitude_at(self, points: Any) -> np.ndarray:
        """Return the altitude [m] at points [m] of shape (..., 2); beyond the edge, that of its nearest point."""
        from covey.geometry.heightfield import altitudes_at

        points = np.asarray(points, float)
        return altitudes_at(self.altitude, self.frame, _flat(points)).reshape(points.shape[:-1])

    def normal_at(self, points: Any) -> np.ndarray:
        """Return the unit normal, upwards, of the triangle that holds each point: shape (..., 2) to (..., 3)."""
        from covey.geometry.heightfield import slopes_at

        points = np.asarray(points, float)
        slopes = slopes_at(self.altitude, self.frame, _flat(points))
        normals = np.column_stack((-slopes, np.ones(len(slopes))))
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return normals.reshape(*points.shape[:-1], 3)

    def cast(self, origins: Any, directions: Any, range_m: float = math.inf) -> np.ndarray:
        """Return the distance from each origin along its direction to the ground [m]; infinite without a hit.

        Args:
            origins: x, y, z [m], shape (m, 3).
            directions: unit vectors, shape (m, 3).
            range_m: largest distance [m].
        """
        from covey.geometry.heightfield import cast

        rays = (np.ascontiguousarray(a, np.float64) for a in (origins, directions))
        return cast(self.altitude, self.frame, *rays, float(range_m))

    def steepness(self) -> np.ndarray:
        """Return the largest difference [m] of each vertex from its up to eight neighbours: (rows, columns)."""
        from covey.geometry.heightfield import steepness

        return steepness(self.altitude)


@dataclass(frozen=True, eq=False)
class Ground(Heightfield):
    """The truth about the landscape. A `Ground` never changes; a change gives another ground.

    During a simulation, `covey.world.state.GroundState` changes.
    """

    altitude: np.ndarray
    spacing_m: float
    origin: tuple[float, float]
    range_m: Range
    name: str = "ground"
    version: int = 0

    def __post_init__(self) -> None:
        check_altitudes(self.altitude, f"the ground {self.name!r}")
        if not (math.isfinite(self.spacing_m) and self.spacing_m > 0):
            raise InvalidValueError(f"spacing_m is {self.spacing_m!r}; it must be a positive number of metres")
        if not all(abs(v) <= 1e9 for v in self.origin):
            raise InvalidValueError(f"origin is {list(self.origin)}; it must be two numbers of metres, at most 1e9")
        low, high = float(self.altitude.min()), float(self.altitude.max())
        if not (-2 * MAX_ALTITUDE_M <= self.range_m[0] <= low and high <= self.range_m[1] <= 2 * MAX_ALTITUDE_M):
            raise InvalidValueError(
                f"range_m is {list(self.range_m)}, but the ground has altitudes from {low:g} to {high:g} m; give a "
                "[lowest, highest] that holds these and all that edits shall ask for"
            )

    @staticmethod
    def of(
        altitude: Any,
        spacing_m: float = 1.0,
        *,
        origin: tuple[float, float] | None = None,
        range_m: Range | None = None,
        name: str = "ground",
    ) -> "Ground":
        """Return the ground with these altitudes [m], an array of (rows, columns), row 0 in the south.

        Args:
            altitude: any numbers; they are copied.
            spacing_m: distance between vertices [m].
            origin: x, y [m] of vertex [0, 0]; default: the middle of the ground is at (0, 0).
            range_m: lowest and highest altitude for edits [m]; default: 10 m below the lowest to 10 m above the
                highest.
            name: name of the ground.

        Raises:
            InvalidValueError: there are too few or too many vertices, an altitude is not finite, or the spacing is 0.
        """
        altitude = np.array(altitude, np.float64, order="C")
        check_altitudes(altitude, f"the ground {name!r}")
        if origin is None:
            rows, columns = altitude.shape
            origin = -0.5 * (columns - 1) * spacing_m, -0.5 * (rows - 1) * spacing_m
        if range_m is None:
            range_m = float(altitude.min()) - MARGIN_M, float(altitude.max()) + MARGIN_M
        return Ground(altitude, spacing_m, origin, range_m, name)

    def replace(self, **changes: Any) -> "Ground":
        """Return a copy with other attributes."""
        return dataclasses.replace(self, **changes)

    def edited(self, edit: GroundEdit) -> "Ground":
        """Return the next version, after an edit."""
        from covey.world.state import GroundState

        state = GroundState(self)
        state.apply(edit)
        return state.ground

    def resampled(self, spacing_m: float) -> "Ground":
        """Return the ground with its surface sampled at another spacing [m]; its middle stays."""
        if not (math.isfinite(spacing_m) and spacing_m > 0):
            raise InvalidValueError(f"spacing_m is {spacing_m!r}; it must be a positive number of metres")
        columns, rows = (1 + int(side / spacing_m * (1 + 1e-12)) for side in self.size_m)
        check_shape(rows, columns, f"resampled at {spacing_m:g} m, the ground {self.name!r}")
        left, right, bottom, top = self.bounds
        origin = 0.5 * (left + right - (columns - 1) * spacing_m), 0.5 * (bottom + top - (rows - 1) * spacing_m)
        x, y = origin[0] + np.arange(columns) * spacing_m, origin[1] + np.arange(rows) * spacing_m
        altitude = np.ascontiguousarray(self.altitude_at(np.stack(np.meshgrid(x, y), axis=-1)))
        return self.replace(altitude=altitude, spacing_m=float(spacing_m), origin=origin)

    def save(self, path: str | Path, **options: Any) -> None:
        """Write the ground in the format of the suffix; options: `covey.world.io.ground_writer.save_ground`."""
        from covey.world.io.ground_writer import save_ground

        save_ground(self, Path(path), **options)

    @staticmethod
    def from_file(path: str | Path, **options: Any) -> "Ground":
        """Read an image or grid of altitudes; see `covey.world.io.ground_files.read_ground` for the options."""
        from covey.world.io.ground_files import read_ground

        return read_ground(Path(path), **options)

    def world(self, walls: "World | None" = None) -> "World":
        """Return the world of this ground, with walls on it if given.

        Without walls there is one free cell around each vertex. Cells at the edge lie half beyond the ground: they are
        outside, and robots may leave over them. With walls the cells are those of ``walls``; cells beyond the ground
        are walls.
        """
        from covey.world.world import FREE, OPEN, WALL, World

        if walls is None:
            (x, y), half = self.origin, 0.5 * self.spacing_m
            cells = np.full(self.shape, OPEN, np.uint8)
            cells[1:-1, 1:-1] = FREE
            grid = Grid(cells, self.spacing_m, (x - half, y - half, 0.0))
            return World(grid, self.name, "open", ground=self)
        rows, columns = walls.grid.shape
        on_ground, many = np.empty((rows, columns), np.bool_), max(_AT_ONCE // columns, 1)
        for row in range(0, rows, many):
            index = np.moveaxis(np.mgrid[row : min(row + many, rows), :columns], 0, -1)
            on_ground[row : row + many] = self.contains(walls.grid.to_world(index))
        if not on_ground[walls.free].any():
            raise InvalidValueError(
                f"no free cell of {walls.name!r} lies on the ground {self.name!r}, which reaches from "
                f"({self.bounds[0]:g}, {self.bounds[2]:g}) to ({self.bounds[1]:g}, {self.bounds[3]:g}) m; move the "
                "walls, or take a larger ground"
            )
        cells = np.where(on_ground, walls.grid.cells, WALL).astype(np.uint8)
        return walls.replace(grid=walls.grid.with_cells(cells), ground=self)


def check_shape(rows: int, columns: int, what: str) -> None:
    """Raise `InvalidValueError` if a ground would have too few or too many vertices."""
    if rows < 2 or columns < 2 or rows * columns > MAX_VERTICES:
        raise InvalidValueError(
            f"{what} would have {columns} x {rows} vertices; it needs at least 2 x 2, and at most {MAX_VERTICES:.3g} "
            "are allowed: use another spacing or size"
        )


def check_altitudes(altitude: np.ndarray, what: str) -> None:
    """Raise `InvalidValueError` if an array cannot be the altitudes of a ground."""
    if altitude.ndim != 2:
        raise InvalidValueError(f"{what} has altitudes of shape {altitude.shape}; it must be (rows, columns)")
    check_shape(altitude.shape[0], altitude.shape[1], what)
    if altitude.dtype != np.float64 or not altitude.flags.c_contiguous:
        raise InvalidValueError(f"{what} has altitudes of {altitude.dtype}; use Ground.of, which copies any numbers")
    if np.isfinite(altitude).all():
        low, high = float(altitude.min()), float(altitude.max())
        if max(-low, high) > MAX_ALTITUDE_M:
            raise InvalidValueError(
                f"{what} reaches from {low:g} to {high:g} m; altitudes are from {-MAX_ALTITUDE_M:g} to "
                f"{MAX_ALTITUDE_M:g} m: give the m_per_step and zero_m of the file, or another unit"
            )
    else:
        row, column = np.argwhere(~np.isfinite(altitude))[0].tolist()
        count = int(np.count_nonzero(~np.isfinite(altitude)))
        raise InvalidValueError(
            f"{what} has {count} altitudes that are not finite numbers, the first, {altitude[row, column]}, at "
            f"[{row}, {column}]; fill the holes first"
        )


def _flat(points: np.ndarray) -> np.ndarray:
    if points.ndim == 0 or points.shape[-1] != 2:
        raise InvalidValueError(f"points have shape {points.shape}; it must be (..., 2): x, y [m]")
    return np.ascontiguousarray(points.reshape(-1, 2))
