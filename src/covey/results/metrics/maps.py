"""How well the map at the end agrees with the truth (001-31 … 001-34)."""

import numpy as np

from covey.geometry.grid import Grid
from covey.results.maps import FREE, UNKNOWN, WALL, Maps, values_at
from covey.results.metrics.registry import metrics
from covey.results.run import Run


def truth_at(truth: Grid, belief: Grid) -> np.ndarray:
    """Return what each cell of ``belief`` should hold, int8 of its shape: 100 occupied, 0 free, -1 unknown.

    A cell is occupied when it touches any wall cell, free when it lies on free cells only, and unknown otherwise
    (outside the world, or outside an open border). It is sampled at points no further apart than the true cells.
    """
    samples = max(1, int(np.ceil(belief.resolution / truth.resolution - 1e-9)))
    wall, free = np.zeros(belief.shape, bool), np.ones(belief.shape, bool)
    for row_part in (np.arange(samples) + 0.5) / samples:
        for column_part in (np.arange(samples) + 0.5) / samples:
            value = values_at(truth, belief, UNKNOWN, row_part, column_part)
            wall |= value == WALL
            free &= value == FREE
    return np.where(wall, 100, np.where(free, 0, -1)).astype(np.int8)


def map_error_cells(truth: Grid, belief: Grid) -> int:
    """Return the number of cells where a map and the truth differ (001-32), among those known in both.

    Unknown cells of the map are left out: they lower the completeness already.
    """
    expected, occupancy = truth_at(truth, belief), belief.cells
    return int(np.count_nonzero((expected != -1) & (occupancy != -1) & ((occupancy >= 50) != (expected == 100))))


def known_area_m2(maps: Maps, belief: Grid) -> float:
    """Return A [m^2]: the area of the cells of G whose centres are known in ``belief``."""
    known = values_at(belief, maps.truth, -1) != -1
    return int(np.count_nonzero(known & maps.explorable)) * maps.truth.resolution**2


def map_quality_of(maps: Maps, belief: Grid) -> float | None:
    """Return (A - error * w) / G with w the area of a cell of the map (001-34); 1 for a whole and faultless map."""
    if not maps.explorable.any():
        return None
    wrong = map_error_cells(maps.truth, belief) * belief.resolution**2
    return (known_area_m2(maps, belief) - wrong) / maps.explorable_area_m2


@metrics.register("map_completeness")
def map_completeness(run: Run) -> float | None:
    """A/G with A the area of G that is known in the union of the robots' maps (001-31); None without maps."""
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
