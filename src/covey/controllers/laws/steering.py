"""From a wanted velocity in the world to the command of a robot."""

from typing import Any

import numpy as np

from covey.geometry.se2 import wrap_angle


def steered(heading: np.ndarray, velocity: np.ndarray, turn_gain: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the speed [m/s] and turn rate [rad/s] of unicycles that follow velocities, shapes (n,).

    A unicycle turns towards the velocity, and drives with that part of it that lies ahead; while the velocity points
    backwards it only turns.

    Args:
        heading: of the robots [rad], shape (n,).
        velocity: wanted, in the world frame [m/s], shape (n, 2).
        turn_gain: turn rate per angle to the velocity [1/s].
    """
    speed = np.hypot(velocity[:, 0], velocity[:, 1])
    off = wrap_angle(np.arctan2(velocity[:, 1], velocity[:, 0]) - heading)
    return speed * np.maximum(np.cos(off), 0.0), np.where(speed > 0.0, turn_gain * off, 0.0)


def driven(team: Any, velocity: np.ndarray, turn_gain: float = 3.0) -> Any:
    """Return the answer of a law for wanted velocities: holonomic robots take them as they are, see `steered`.

    Args:
        team: a `GroupView` that shows the pose.
        velocity, turn_gain: as in `steered`.
    """
    return velocity if is_holonomic(team) else steered(team.heading, velocity, turn_gain)


def is_holonomic(team: Any) -> bool:
    """Return whether the robots of a team move in any direction."""
    return team.robot.kinematics == "holonomic"


def towards(position: np.ndarray, goal: np.ndarray, speed: np.ndarray | float, period_s: float) -> np.ndarray:
    """Return the velocities to goals at a speed, slower in the last step, so that it ends there: (n, 2) [m/s].

    Args:
        position, goal: [m], shape (n, 2).
        speed: [m/s], a number or (n,).
        period_s: for which a velocity is held [s].
    """
    way = goal - position
    distance = np.hypot(way[:, 0], way[:, 1])
    return way * (np.minimum(speed, distance / period_s) / np.maximum(distance, 1e-300))[:, None]


def middle_of(workspace: np.ndarray) -> np.ndarray:
    """Return the centroid of the area of a polygon, float64 (2,) [m].

    Args:
        workspace: its corners [m], shape (m, 2).

    Examples:
        >>> middle_of(np.array([(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0)])).tolist()
        [2.0, 1.0]
    """
    corners = np.asarray(workspace, float)
    nearby = corners - corners[0]  # so that little is lost far from the origin
    after = np.roll(nearby, -1, axis=0)
    across = nearby[:, 0] * after[:, 1] - after[:, 0] * nearby[:, 1]
    return corners[0] + ((nearby + after) * across[:, None]).sum(axis=0) / (3.0 * across.sum())
