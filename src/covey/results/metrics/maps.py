"""Agreement of the map at the end with the truth (Yan et al. 2017); formulas: `covey.mapping.occupancy.compare`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from covey.geometry.grid import Grid
from covey.results.metrics.registry import metrics

if TYPE_CHECKING:
    from covey.mapping.occupancy.compare import GroundTruth
    from covey.results.run import Run


def _of(run: "Run", measure: Callable[..., Any], belief: Grid | None) -> Any:
    """Return a measure of `covey.mapping.occupancy.compare` of one map; None without a map or anything to explore."""
    if run.maps is None or belief is None or not run.maps.explorable.any():
        return None
    return measure(belief.cells, run.maps.ground_truth(belief))


def _on_ground(run: "Run") -> frozenset[str]:
    """Return the robots whose maps show drivable ground, not walls; ``belief_…`` metrics measure these maps."""
    landscape = run.landscape
    return frozenset() if landscape is None else frozenset(landscape.beliefs)


@metrics.register("map_completeness")
def map_completeness(run: "Run") -> float | None:
    """A/G with A the area of G that is known in the union of the robots' maps (Yan et al. 2017); None without maps."""
    from covey.mapping.occupancy import compare

    return _of(run, compare.map_completeness, run.maps and run.maps.union)


@metrics.register("map_error_cells")
def map_error_cells(run: "Run") -> int | None:
    """Cells of the union of the maps whose state is not the true one (Yan 2017); None without maps, and on a ground."""
    from covey.mapping.occupancy import compare

    return None if _on_ground(run) else _of(run, compare.map_error, run.maps and run.maps.union)


def quality(run: "Run", union: Grid | None) -> float | None:
    """Return (A - error * w) / G of a union of the robots' maps, see `map_quality`."""
    from covey.mapping.occupancy import compare

    return None if _on_ground(run) else _of(run, compare.map_quality, union)


def quality_known(run: "Run", union: Grid | None) -> float | None:
    """Return (A - wrong * w) / G of a union of the robots' maps, see `map_quality_known`."""
    from covey.mapping.occupancy import compare

    def known(cells: np.ndarray, truth: "GroundTruth") -> float:
        wrong = compare.map_wrong(cells, truth) * truth.map_cell_m2
        return (compare.explored_area(cells, truth) - wrong) / truth.explorable_m2

    return None if _on_ground(run) else _of(run, known, union)


@metrics.register("map_quality")
def map_quality(run: "Run") -> float | None:
    """(A - error * w) / G of the union of the maps, w the area of a map cell (Yan 2017); None as for the error."""
    return quality(run, run.maps and run.maps.union)


@metrics.register("map_quality_known")
def map_quality_known(run: "Run") -> float | None:
    """(A - wrong * w) / G of the union of the maps, wrong only among known cells; None as for the error.

    Unlike `map_quality` it does not count what is unknown as an error: an incomplete map without a wrong cell has A/G.
    """
    return quality_known(run, run.maps and run.maps.union)


@metrics.register("map_iou")
def map_iou(run: "Run") -> float | None:
    """Walls mapped and true / walls mapped or true, of the union of the maps; None as for the error."""
    from covey.mapping.occupancy import compare

    return None if _on_ground(run) else _of(run, compare.wall_iou, run.maps and run.maps.union)


@metrics.register("map_adnn_m")
def map_adnn_m(run: "Run") -> float | None:
    """Mean distance of the union's wall cells from the nearest true wall [m] (Santos 2013); None as for the error."""
    from covey.mapping.occupancy.compare import wall_distance
    from covey.results.maps import WALL

    if run.maps is None or run.maps.union is None or _on_ground(run):
        return None
    truth = run.maps.truth
    return wall_distance(run.maps.union, truth.with_cells(truth.cells == WALL))


@metrics.register("map_error_cells_mean")
def map_error_cells_mean(run: "Run") -> float | None:
    """Mean over robots of the cells of each one's own map, with all that it merged, whose state is not the true one."""
    from covey.mapping.occupancy import compare

    return _mean_over_robots(run, compare.map_error)


@metrics.register("map_wrong_cells_mean")
def map_wrong_cells_mean(run: "Run") -> float | None:
    """Mean over robots of the known cells of each one's own map that are wrong: free for occupied, or the reverse."""
    from covey.mapping.occupancy import compare

    return _mean_over_robots(run, compare.map_wrong)


def _mean_over_robots(run: "Run", measure: Callable[..., int]) -> float | None:
    if run.maps is None or not run.maps.robots or _on_ground(run):
        return None
    errors = [_of(run, measure, grid) for grid in run.maps.robots if grid is not None]
    return sum(errors) / len(errors) if errors and None not in errors else None


@metrics.register("map_quality_by_robot")
def map_quality_by_robot(run: "Run") -> dict[str, float | None] | None:
    """(A - error * w) / G of each robot's own map (Yan et al. 2017); None without maps, and for maps of a ground."""
    from covey.mapping.occupancy import compare

    if run.maps is None or not run.maps.robots:
        return None
    on_ground = _on_ground(run)
    grids = [None if name in on_ground else grid for name, grid in zip(run.names, run.maps.robots, strict=True)]
    return {name: _of(run, compare.map_quality, grid) for name, grid in zip(run.names, grids, strict=True)}
