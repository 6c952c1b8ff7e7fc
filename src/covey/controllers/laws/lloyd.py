"""Lloyd coverage: each robot drives to the centroid of its Voronoi cell."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covey.controllers.laws.steering import is_holonomic
from covey.geometry.voronoi import Density, voronoi
from covey.onboard.controller import controller
from covey.robots.parameters import Coordinate, Gain, Metres, Points, Weight

Peaks = tuple[tuple[Coordinate, Coordinate, Metres, Weight], ...]
"""x, y, width [m] and weight of each."""


def lloyd_velocity(position: np.ndarray, centroid: np.ndarray, gain: float = 1.0) -> np.ndarray:
    """Return the velocities of holonomic robots, -k (p - C), shape (n, 2) [m/s], world frame.

    They go against the gradient of the coverage cost, 2 M (p - C), so the cost H never grows.

    Args:
        position: p [m], shape (n, 2).
        centroid: C of the Voronoi cells [m], shape (n, 2).
        gain: k [1/s]. With a control period T, the cost never grows as long as k T <= 2.
    """
    return gain * (centroid - position)


def lloyd_speeds(pose: np.ndarray, centroid: np.ndarray, gain: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the speed [m/s] and turn rate [rad/s] of unicycles, shapes (n,).

    With the error e = p - C in the frame of the robot, v = -k e_x and the turn rate is 2 k atan(e_y / e_x): a robot
    with its centroid behind it drives backwards.

    Args:
        pose: x, y [m], heading [rad], shape (n, 3).
        centroid: C of the Voronoi cells [m], shape (n, 2).
        gain: k [1/s]. With a control period T, the cost never grows as long as k T <= 1.
    """
    c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    ex, ey = (pose[:, :2] - centroid).T
    ahead, left = c * ex + s * ey, c * ey - s * ex
    return -gain * ahead, 2.0 * gain * np.arctan2(left * np.where(ahead < 0.0, -1.0, 1.0), np.abs(ahead))


def peaks(given: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Return a density: the sum of w exp(-r² / (2 s²)) over peaks.

    Args:
        given: x, y [m], width s [m] and weight w of each peak, shape (k, 4).

    Examples:
        >>> peaks([(0.0, 0.0, 1.0, 2.0)])(np.array([(0.0, 0.0), (1.0, 0.0)])).round(3).tolist()
        [2.0, 1.213]
    """
    table = np.asarray(given, float)

    def density(points: np.ndarray) -> np.ndarray:
        square = ((points[:, None] - table[:, :2]) ** 2).sum(axis=2)
        return np.exp(-0.5 * square / table[:, 2] ** 2) @ table[:, 3]

    return density


@controller("lloyd", scope="group", sees=("pose",), missions=())
def lloyd(team: Any, *, gain: Gain = 1.0, density: Peaks | Density = (), workspace_m: Points = ()) -> Any:
    """Cover a convex workspace: each robot drives to the centroid of its Voronoi cell.

    The team comes to rest in a centroidal configuration, a local minimum of the coverage cost. Which one depends on
    the start. The workspace must be convex.

    Args:
        gain: speed per distance to the centroid [1/s].
        density: how much each place matters: rows of x, y [m], width [m] and weight of a peak, or in Python any
            function of points (k, 2). Empty: all places alike.
        workspace_m: corners of the workspace [m]; empty: that of the team.

    References:
        J. Cortés, S. Martínez, T. Karatas, F. Bullo: Coverage control for mobile sensing networks. IEEE Transactions
        on Robotics and Automation 20(2), 2004.
    """
    weight = density if callable(density) else peaks(density) if density else None
    cells = voronoi(team.position, workspace_m or team.workspace, weight)
    if is_holonomic(team):
        return lloyd_velocity(team.position, cells.centroid, gain)
    return lloyd_speeds(team.pose, cells.centroid, gain)
