"""How well the map at the end agrees with the truth (001-31 … 001-34)."""

import numpy as np

from covey.geometry.grid import Grid
from covey.results.maps import FREE, WALL, Maps
from covey.results.metrics.registry import metrics
from covey.results.run import Run


def truth_at(truth: Grid, belief: Grid) -> np.ndarray:
    """Return what each cell of ``belief`` should hold, int8 of its shape: 100 occupied, 0 free, -1 unknown.

    A cell is occupied when it touches any wall cell, free when it lies on free cells only, and unknown otherwise
    (outside the world, or outside an open border). It is sampled at points no further apart than the true cells.
    """
    samples = max(1, int(np.ceil(belief.resolution / truth.resolution - 1e-9)))
    corners = truth_indices(truth, belief.to_world([[-0.5, -0.5], [0.5, -0.5], [-0.5, 0.5]]))
    down, right = corners[1] - corners[0], corners[2] - corners[0]  # true rows and columns per cell of the belief
    wall, free = np.zeros(belief.shape, bool), np.ones(belief.shape, bool)
    rows, columns = (np.arange(count)[:, None] for count in belief.shape)
    for dv in (np.arange(samples) + 0.5) / samples:
        for du in (np.arange(samples) + 0.5) / samples:
            along_rows, along_columns = corners[0] + (rows + dv) * down, (columns + du) * right
            i, j = (np.floor(along_rows[:, None, k] + along_columns[None, :, k]).astype(np.int64) for k in (0, 1))
            inside = (i >= 0) & (i < truth.shape[0]) & (j >= 0) & (j < truth.shape[1])
            value = truth.cells[np.where(inside, i, 0), np.where(inside, j, 0)]
            wall |= inside & (value == WALL)
            free &= inside & (value == FREE)
    return np.where(wall, 100, np.where(free, 0, -1)).astype(np.int8)


def truth_indices(truth: Grid, points_world: np.ndarray) -> np.ndarray:
    """Return rows and columns as real numbers, shape (..., 2), of points [m]; whole numbers are edges of cells."""
    x0, y0, c, s, resolution = truth.frame
    dx, dy = points_world[..., 0] - x0, points_world[..., 1] - y0
    return np.stack((c * dy - s * dx, c * dx + s * dy), axis=-1) / resolution


def map_error_cells(truth: Grid, belief: Grid) -> int:
    """Return the number of cells where a map and the truth differ (001-32), among those known in both.

    Unknown cells of the map are left out: they lower the completeness already.
    """
    expected, occupancy = truth_at(truth, belief), belief.cells
    return int(np.count_nonzero((expected != -1) & (occupancy != -1) & ((occupancy >= 50) != (expected == 100))))


def known_area_m2(maps: Maps, belief: Grid) -> float:
    """Return A [m^2]: the area of the cells of G whose centres are known in ``belief``."""
    cells = belief.to_cells(maps.truth.to_world(np.argwhere(maps.explorable)))
    cells = cells[belief.inside(cells)]
    return int(np.count_nonzero(belief.cells[cells[:, 0], cells[:, 1]] != -1)) * maps.truth.resolution**2


def map_quality_of(maps: Maps, belief: Grid) -> float | None:
    """Return (A - error * w) / G with w the area of a cell of the map (001-34); 1 for a whole and faultless map."""
    if not maps.explorable.any():
        return None
    wrong = map_error_cells(maps.truth, belief) * belief.resolution**2
    return (known_area_m2(maps, belief) - wrong) / maps.explorable_area_m2


@metrics.register("map_completeness")
def map_completeness(run: Run) -> float | None:
    """A/G with A the area of G that is known in the union of the robots' maps at the end (001-31); None without maps."""
    maps = run.maps
    if maps is None or maps.union is None or not maps.explorable.any():
        return None
    return known_area_m2(maps, maps.union) / maps.explorable_area_m2


@metrics.register("map_error_cells")
def union_map_error_cells(run: Run) -> int | None:
    """Cells of the union of the maps whose value differs from the truth, known in both (001-32); None without maps."""
    maps = run.maps
    return None if maps is None or maps.union is None else map_error_cells(maps.truth, maps.union)


@metrics.register("map_quality")
def map_quality(run: Run) -> float | None:
    """(A - error * w) / G of the union of the maps, w the area of a map cell (001-34); None without maps."""
    maps = run.maps
    return None if maps is None or maps.union is None else map_quality_of(maps, maps.union)


@metrics.register("map_quality_by_robot")
def map_quality_by_robot(run: Run) -> dict[str, float | None] | None:
    """(A - error * w) / G of each robot's own map (001-34); None without maps."""
    maps = run.maps
    if maps is None or not maps.robots:
        return None
    return {name: map_quality_of(maps, grid) for name, grid in zip(run.names, maps.robots, strict=True)}


@metrics.register("coverage_share")
def coverage_share(run: Run) -> float | None:
    """Share of the cells of G that a body has passed over (MAES "covered", on bodies); None without maps."""
    maps = run.maps
    if maps is None or not maps.explorable.any():
        return None
    return float((maps.last_covered[maps.explorable] >= 0).mean())
