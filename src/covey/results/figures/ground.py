"""Worlds and maps as coloured cells in the world frame."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Affine2D

from covey.geometry.grid import Grid
from covey.results.figures.style import FREE_COLOR, OPEN_COLOR, UNKNOWN_COLOR, WALL_COLOR, rgb
from covey.results.maps import FREE, OPEN, UNKNOWN, WALL, Maps


def corners(grid: Grid) -> np.ndarray:
    """Return the outer corners of a grid in the world frame [m], shape (4, 2)."""
    rows, columns = grid.shape
    return grid.to_world(np.array([[0, 0], [0, columns], [rows, columns], [rows, 0]]) - 0.5)


def bounds(grid: Grid) -> tuple[float, float, float, float]:
    """Return left, right, bottom, top [m] of a grid in the world frame, for any yaw."""
    (left, bottom), (right, top) = corners(grid).min(axis=0), corners(grid).max(axis=0)
    return left, right, bottom, top


def show_cells(axes: Axes, grid: Grid, pixels: np.ndarray, zorder: float = 0.0) -> None:
    """Draw the colours ``pixels``, uint8 (rows, columns, 3 or 4), at the place of ``grid``, its yaw included."""
    limits = axes.get_xlim(), axes.get_ylim()
    x, y, yaw = grid.origin
    image = axes.imshow(pixels, origin="lower", extent=grid.extent, interpolation="nearest", zorder=zorder)
    if yaw:
        image.set_transform(Affine2D().rotate_around(x, y, yaw) + axes.transData)
        image.set_interpolation("antialiased")
    axes.set(xlim=limits[0], ylim=limits[1])


def show_walls(axes: Axes, truth: Grid, zorder: float) -> None:
    """Draw the walls of a world, and nothing where it has none."""
    pixels = np.zeros((*truth.shape, 4), np.uint8)
    pixels[truth.cells == WALL] = (*rgb(WALL_COLOR), 255)
    if pixels.any():
        show_cells(axes, truth, pixels, zorder)


def part_of(grid: Grid, box: np.ndarray) -> Grid:
    """Return the part of a grid around a box of the world, left, bottom, right, top [m]; it may have no cells."""
    left, bottom, right, top = box.tolist()
    at = grid.to_cells([(left, bottom), (right, bottom), (right, top), (left, top)])
    (row, column), (last, end) = at.min(axis=0).clip(0), at.max(axis=0).clip(-1) + 1
    cells = grid.cells[row:last, column:end]
    x, y, cosine, sine, side = grid.frame.tolist()
    u, v = column * side, row * side
    return Grid(cells, side, (x + cosine * u - sine * v, y + sine * u + cosine * v, grid.origin[2]))


def truth_pixels(truth: Grid) -> np.ndarray:
    """Return the colours of a world, uint8 (rows, columns, 3)."""
    palette = np.zeros((256, 3), np.uint8)
    for value, color in ((FREE, FREE_COLOR), (WALL, WALL_COLOR), (UNKNOWN, UNKNOWN_COLOR), (OPEN, OPEN_COLOR)):
        palette[value] = rgb(color)
    return palette[truth.cells]


def occupancy_pixels(belief: Grid) -> np.ndarray:
    """Return the colours of a map (-1 unknown, 0 free, 100 occupied), uint8 (rows, columns, 3)."""
    palette = np.stack([rgb(UNKNOWN_COLOR), rgb(FREE_COLOR), rgb(WALL_COLOR)])
    return palette[np.where(belief.cells < 0, 0, np.where(belief.cells < 50, 1, 2))]


def cropped(maps: Maps) -> tuple[float, float, float, float]:
    """Return left, right, bottom, top [m] around the inside of the world, with a small margin."""
    used = np.argwhere((maps.truth.cells == FREE) | (maps.truth.cells == WALL))
    if not len(used):
        return bounds(maps.truth)
    points = maps.truth.to_world(used)
    margin = maps.truth.resolution / 2 + 0.005 * float(np.ptp(points, axis=0).max())
    (left, bottom), (right, top) = points.min(axis=0) - margin, points.max(axis=0) + margin
    return left, right, bottom, top
