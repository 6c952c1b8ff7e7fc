"""A small picture of a simulation as it is now, for `covey.learning.environment.Environment.render`."""

import numpy as np

from covey.runtime.simulation import Simulation

_LONGEST = 480  # pixels
_WALL, _FLOOR, _SEEN, _GOAL = (60, 60, 60), (225, 225, 225), (255, 255, 255), (46, 160, 67)
_ROBOTS = ((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0))


def picture(sim: Simulation, goals: np.ndarray | None = None) -> np.ndarray:
    """Return a picture, uint8 (height, width, 3): walls, what the team has explored, robots and goals; y is up.

    Args:
        goals: x, y [m] of the robots' goals, (n, 2).
    """
    grid = sim.world_state.grid
    zoom = max(_LONGEST / max(grid.shape), 1e-9)
    height, width = (max(round(size * zoom), 1) for size in grid.shape)
    rows = np.minimum(((np.arange(height) + 0.5) / zoom).astype(int), grid.shape[0] - 1)
    columns = np.minimum(((np.arange(width) + 0.5) / zoom).astype(int), grid.shape[1] - 1)
    colours = np.empty((*grid.shape, 3), np.uint8)
    colours[:] = _FLOOR
    if (explored := sim.scoring.exploration.cells) is not None:
        colours[explored.explored(None)] = _SEEN
    colours[grid.cells > 0] = _WALL
    out = colours[np.ix_(rows, columns)]
    y, x = np.mgrid[:height, :width]
    pixel_m = grid.resolution / zoom
    centre = grid.to_world(np.stack(((y + 0.5) / zoom - 0.5, (x + 0.5) / zoom - 0.5), axis=-1))
    for i, (pose, radius) in enumerate(zip(sim.state.pose, sim.model.radius, strict=True)):
        colour = _ROBOTS[i % len(_ROBOTS)]
        if goals is not None:
            away = np.hypot(*(centre - goals[i]).transpose(2, 0, 1))
            out[np.abs(away - max(radius, 3 * pixel_m)) < pixel_m] = colour
        away = np.hypot(*(centre - pose[:2]).transpose(2, 0, 1))
        out[away <= max(radius, 2.5 * pixel_m)] = colour
        nose = pose[:2] + max(radius, 2.5 * pixel_m) * np.array([np.cos(pose[2]), np.sin(pose[2])])
        out[np.hypot(*(centre - nose).transpose(2, 0, 1)) <= max(1.2 * pixel_m, 0.3 * radius)] = (20, 20, 20)
    return np.ascontiguousarray(out[::-1])
