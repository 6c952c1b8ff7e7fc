"""Sending a robot to a place by hand: a way over ground that is free in truth, and the twists that follow it."""

import math

import numpy as np

from covey.geometry.grid import Grid
from covey.planning.astar import astar
from covey.planning.follow import lookahead
from covey.planning.shorten import shorten

NEAR_M = 0.05
"""Distance from the place at which a robot stops [m]."""
_ROOM_M = 0.03  # between a body and the walls along its way
_AHEAD_M = 0.4
_TURN_FIRST_RAD = 0.6
_GAIN = 2.0  # turn rate per error of the heading, and speed per distance left [1/s]


def way_to(
    place: Grid, clearance: np.ndarray, start: np.ndarray, to: np.ndarray, radius_m: float, others: np.ndarray
) -> np.ndarray | None:
    """Return the corners of the shortest way of a disc between two places, (m, 2) [m]; None: there is none.

    Args:
        place: the grid of the world.
        clearance: distance of each cell from the nearest wall [m], (rows, columns).
        start, to: x, y [m]; the start may be closer to a wall than the body is wide.
        radius_m: radius of the body [m].
        others: x, y, radius [m] of bodies to go around, (k, 3).
    """
    free = clearance > radius_m + _ROOM_M
    for x, y, radius in others.tolist():
        reach = int((radius + radius_m) / place.resolution) + 2
        row, column = place.cell_at(x, y)
        r0, c0 = max(row - reach, 0), max(column - reach, 0)
        rows, columns = np.mgrid[r0 : min(row + reach + 1, free.shape[0]), c0 : min(column + reach + 1, free.shape[1])]
        centres = place.to_world(np.stack((rows, columns), axis=-1))
        apart = np.hypot(centres[..., 0] - x, centres[..., 1] - y)
        free[rows, columns] &= apart > radius + radius_m + _ROOM_M
    cost = np.where(free, np.float32(1.0), np.float32(np.inf))
    (row, column), (to_row, to_column) = (place.to_cells(point).tolist() for point in (start, to))
    ends = (int(row), int(column)), (int(to_row), int(to_column))
    inside = all(0 <= row < cost.shape[0] and 0 <= column < cost.shape[1] for row, column in ends)
    if not inside or not free[ends[1]]:
        return None
    cells, _ = astar(cost, *ends)
    if not len(cells):
        return None
    corners = place.to_world(shorten(cells, cost, 0.02))
    return np.vstack((start, corners[1:-1], to)).astype(float)


def twist_along(
    path: np.ndarray, segment: int, pose: np.ndarray, max_speed_m_s: float, max_turn_rad_s: float
) -> tuple[float, float, int, bool]:
    """Return speed [m/s] and turn rate [rad/s] along a way, the segment that is reached, and whether the end is."""
    x, y, heading = pose.tolist()
    if math.hypot(path[-1, 0] - x, path[-1, 1] - y) <= NEAR_M:
        return 0.0, 0.0, segment, True
    tx, ty, segment, left, _ = lookahead(path, segment, x, y, _AHEAD_M)
    error = math.remainder(math.atan2(ty - y, tx - x) - heading, math.tau)
    turn = float(np.clip(_GAIN * error, -max_turn_rad_s, max_turn_rad_s))
    left = max(left, math.hypot(path[-1, 0] - x, path[-1, 1] - y))
    speed = 0.0 if abs(error) > _TURN_FIRST_RAD else min(max_speed_m_s, _GAIN * left) * math.cos(error)
    return speed, turn, segment, False
