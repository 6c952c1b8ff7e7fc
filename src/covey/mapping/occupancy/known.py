"""The map that a robot is given before it starts."""

import numpy as np

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
