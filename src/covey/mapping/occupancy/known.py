"""The map that a robot is given before it starts: the truth, or an old plan."""

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid


def occupancy_on(map_grid: Grid, solid: Grid, free: Grid) -> np.ndarray:
    """Return a world as cells of a map: int8 (rows, columns), 100 occupied, 0 free, -1 neither.

    A cell is occupied if wall fills at least half of it, as in a map from lidar scans. Otherwise it is free if some of
    it is free.

    Args:
        map_grid: the grid of the map; its cells are not used.
        solid, free: cells of the world (bool), on the same grid.
    """
    per_side = max(2, int(np.ceil(2 * map_grid.resolution / solid.resolution)))
    offsets = (np.arange(per_side) + 0.5) / per_side - 0.5
    walls, open_ = np.zeros(map_grid.shape, np.int32), np.zeros(map_grid.shape, np.int32)
    index = np.moveaxis(np.indices(map_grid.shape), 0, -1)
    for i in offsets:
        for j in offsets:
            at = solid.to_cells(map_grid.to_world(index + np.array([i, j])))
            inside = solid.inside(at)
            at = np.where(inside[..., None], at, 0)
            walls += inside & (solid.cells[at[..., 0], at[..., 1]] != 0)
            open_ += inside & (free.cells[at[..., 0], at[..., 1]] != 0)
    occupied = 2 * walls >= per_side**2
    return np.where(occupied, 100, np.where(open_ > 0, 0, -1)).astype(np.int8)


PLAN_PERCENT = 62
"""Occupancy of a wall of an old plan [%]; of a free cell it is the rest. The log-odds are ± 0.5: with the published
model, one scan that hits a free cell overrules it, and two that pass through a wall."""


def as_plan(occupancy: np.ndarray) -> np.ndarray:
    """Return a map, -1, 0 or 100, as the weak evidence of an old plan, for `Beliefs.know`."""
    return np.where(occupancy < 0, -1, np.where(occupancy > 50, PLAN_PERCENT, 100 - PLAN_PERCENT)).astype(np.int8)


def check_same_place(plan: Grid, world: Grid, name: str) -> None:
    """Raise `InvalidValueError` if a plan does not cover the same box as a world, up to one cell on each side.

    The cell is that of the coarser of both; a plan of a larger place is refused, too.
    """
    boxes = []
    for grid in (plan, world):
        rows, columns = grid.shape
        corners = grid.to_world(np.array([(r, c) for r in (0, rows) for c in (0, columns)]) - 0.5)
        boxes.append(np.concatenate((corners.min(axis=0), corners.max(axis=0))))
    if np.abs(boxes[0] - boxes[1]).max() > max(plan.resolution, world.resolution) * (1 + 1e-6):
        covers = [f"{b[0]:.4g} to {b[2]:.4g} m and {b[1]:.4g} to {b[3]:.4g} m" for b in boxes]
        raise InvalidValueError(
            f"the plan {name} covers x, y of {covers[0]}, but the world {covers[1]}; give a plan of the same box, "
            "up to one cell on each side"
        )
