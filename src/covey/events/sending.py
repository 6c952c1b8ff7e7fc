"""Sending a robot to a place by hand: a way over ground that is free in truth, and the twists that follow it."""

import math

import numpy as np

from covey.planning.astar import astar
from covey.planning.follow import lookahead
from covey.planning.shorten import shorten
from covey.world.standing import obstacle, passable
from covey.world.state import AnyWorld

NEAR_M = 0.05
"""Distance from the place at which a robot stops [m]."""
_ROOM_M = 0.03  # between a body and the walls along its way
_AHEAD_M = 0.4
_TURN_FIRST_RAD = 0.6
_GAIN = 2.0  # turn rate per error of the heading, and speed per distance left [1/s]


def way_to(
    world: AnyWorld, start: np.ndarray, to: np.ndarray, radius_m: float, others: np.ndarray
) -> np.ndarray | None:
    """Return the corners of the shortest way of a disc between two places, (m, 2) [m]; None: there is none.

    It keeps some centimetres from walls and other bodies. If no way does, it leads over the places where the body can
    stand, see `covey.world.standing`.

    Args:
        world: the truth.
        start, to: x, y [m].
        radius_m: radius of the body [m].
        others: x, y, radius [m] of bodies to go around, (k, 3).
    """
    roomy = _way(world, world.clearance > radius_m + _ROOM_M, start, to, radius_m + _ROOM_M, others)
    if roomy is not None:
        return roomy
    free = passable(world, radius_m)
    for x, y in (start, to):
        if not obstacle(world, x, y, radius_m, others[:0], ())[0]:
            free[world.grid.cell_at(x, y)] = True
    return _way(world, free, start, to, radius_m, others)


def _way(
    world: AnyWorld, free: np.ndarray, start: np.ndarray, to: np.ndarray, reach_m: float, others: np.ndarray
) -> np.ndarray | None:
    """Return the corners of the shortest way over free cells that keeps a distance from the edges of others."""
    place = world.grid
    for x, y, radius in others.tolist():
        reach = int((radius + reach_m) / place.resolution) + 2
        row, column = place.cell_at(x, y)
        r0, c0 = max(row - reach, 0), max(column - reach, 0)
        rows, columns = np.mgrid[r0 : min(row + reach + 1, free.shape[0]), c0 : min(column + reach + 1, free.shape[1])]
        centres = place.to_world(np.stack((rows, columns), axis=-1))
        apart = np.hypot(centres[..., 0] - x, centres[..., 1] - y)
        free[rows, columns] &= apart > radius + reach_m
    cost = np.where(free, np.float32(1.0), np.float32(np.inf))
    (row, column), (to_row, to_column) = (place.to_cells(point).tolist() for point in (start, to))
    ends = (int(row), int(column)), (int(to_row), int(to_column))
    inside = all(0 <= row < cost.shape[0] and 0 <= column < cost.shape[1] for row, column in ends)
    if not inside or not free[ends[1]]:
        return None
    cells = astar(cost, *ends).cells
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
