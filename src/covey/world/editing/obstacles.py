"""Cells that objects fill, and the position of an object that moves along a path."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.lazy import shapely

Repeat = Literal["loop", "back_and_forth", "once"]


@dataclass(frozen=True, eq=False)
class Patch:
    """Some cells: those of ``mask``, bool (h, w), whose first cell is [row, column] of the grid."""

    row: int
    column: int
    mask: np.ndarray

    def same(self, other: "Patch") -> bool:
        """Return whether these are the same cells."""
        return (self.row, self.column) == (other.row, other.column) and np.array_equal(self.mask, other.mask)

    def clipped(self, shape: tuple[int, int]) -> "Patch | None":
        """Return the part inside an array; None if there is none."""
        h, w = self.mask.shape
        r0, c0 = max(self.row, 0), max(self.column, 0)
        r1, c1 = min(self.row + h, shape[0]), min(self.column + w, shape[1])
        if r0 >= r1 or c0 >= c1:
            return None
        mask = self.mask[r0 - self.row : r1 - self.row, c0 - self.column : c1 - self.column]
        return Patch(r0, c0, mask) if mask.any() else None


def shape_patch(grid: Grid, shape: Any) -> Patch | None:
    """Return the cells that a shapely polygon [m] of the world frame fills (`shapes.rasterize`); None outside."""
    from covey.world.editing.shapes import rasterize

    x, y, c, s, resolution = grid.frame

    def to_grid(points: np.ndarray) -> np.ndarray:
        dx, dy = points[:, 0] - x, points[:, 1] - y
        return np.column_stack((c * dx + s * dy, c * dy - s * dx)) / resolution

    shape = shapely.transform(shape, to_grid)
    left, bottom, right, top = (math.floor(v) for v in shape.bounds)
    rows, columns = grid.shape
    row0, row1, column0, column1 = max(bottom - 1, 0), min(top + 2, rows), max(left - 1, 0), min(right + 2, columns)
    if row0 >= row1 or column0 >= column1:
        return None
    window = Grid(np.empty((row1 - row0, column1 - column0), np.uint8), 1.0, (float(column0), float(row0), 0.0))
    mask = rasterize(window, shape)
    return Patch(row0, column0, mask) if mask.any() else None


def disc_patch(v: float, u: float, radius: float, shape: tuple[int, int]) -> Patch | None:
    """Return the cells of an array whose centres lie in a disc, or None.

    Args:
        v, u: its centre along rows and columns, in cells.
        radius: in cells.
        shape: shape of the array.
    """
    return _centres_inside(v, u, radius, radius, lambda dv, du: dv * dv + du * du <= radius * radius, shape)


def rectangle_patch(
    v: float, u: float, length: float, width: float, heading: float, shape: tuple[int, int]
) -> Patch | None:
    """Return the cells of an array whose centres lie in a rectangle, or None.

    Args:
        v, u: its centre along rows and columns, in cells.
        length, width: in cells.
        heading: direction of its length [rad].
        shape: shape of the array.
    """
    c, s = math.cos(heading), math.sin(heading)

    def inside(dv: np.ndarray, du: np.ndarray) -> np.ndarray:
        return (np.abs(c * du + s * dv) <= 0.5 * length) & (np.abs(c * dv - s * du) <= 0.5 * width)

    half_v, half_u = 0.5 * (abs(s) * length + abs(c) * width), 0.5 * (abs(c) * length + abs(s) * width)
    return _centres_inside(v, u, half_v, half_u, inside, shape)


def _centres_inside(
    v: float, u: float, half_v: float, half_u: float, inside: Any, shape: tuple[int, int]
) -> Patch | None:
    r0, r1 = max(math.floor(v - half_v), 0), min(math.floor(v + half_v) + 1, shape[0])
    c0, c1 = max(math.floor(u - half_u), 0), min(math.floor(u + half_u) + 1, shape[1])
    if r0 >= r1 or c0 >= c1:
        return None
    dv, du = np.arange(r0, r1)[:, None] + 0.5 - v, np.arange(c0, c1)[None] + 0.5 - u
    mask = np.broadcast_to(inside(dv, du), (r1 - r0, c1 - c0))
    return Patch(r0, c0, mask) if mask.any() else None


class Way:
    """A path through points, parametrised by the travelled distance.

    Args:
        points: x, y [m], shape (k, 2); with one point, the object stands still.
        repeat: at the last point, ``loop`` goes on to the first, ``back_and_forth`` turns round, ``once`` stops.
    """

    def __init__(self, points: Any, repeat: Repeat = "back_and_forth"):
        line = np.array(points, float).reshape(-1, 2)
        if not len(line) or not np.isfinite(line).all():
            raise InvalidValueError(f"a path is {points!r}; it needs at least one point [x, y] in metres")
        if repeat == "loop":
            line = np.vstack((line, line[:1]))
        steps = np.hypot(*np.diff(line, axis=0).T) if len(line) > 1 else np.empty(0)
        self._line = line[np.concatenate(([True], steps > 0))]
        self._at = np.concatenate(([0.0], np.cumsum(steps[steps > 0])))
        self.length_m, self.repeat = float(self._at[-1]), repeat

    def place(self, distance_m: float) -> tuple[float, float, float]:
        """Return x, y [m] and the heading [rad] after a distance [m] from the first point."""
        if not self.length_m:
            return float(self._line[0, 0]), float(self._line[0, 1]), 0.0
        s, back = distance_m, False
        if self.repeat == "loop":
            s = math.fmod(s, self.length_m)
        elif self.repeat == "back_and_forth":
            s = math.fmod(s, 2.0 * self.length_m)
            back = s > self.length_m
            s = 2.0 * self.length_m - s if back else s
        s = min(s, self.length_m)
        k = min(int(np.searchsorted(self._at, s, side="right")) - 1, len(self._line) - 2)
        (x0, y0), (x1, y1) = self._line[k].tolist(), self._line[k + 1].tolist()
        share = (s - self._at[k]) / (self._at[k + 1] - self._at[k])
        x, y = float(x0 + share * (x1 - x0)), float(y0 + share * (y1 - y0))
        return x, y, math.atan2(y0 - y1, x0 - x1) if back else math.atan2(y1 - y0, x1 - x0)
