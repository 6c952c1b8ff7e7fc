"""From the velocities of a law to what robots are commanded.

A law for points in the plane gives a velocity for each point. A holonomic robot moves its centre so. A robot with
wheels cannot; but the point at a distance l ahead of its axle can move in any direction.

References:
    R. Olfati-Saber: Near-identity diffeomorphisms and exponential epsilon-tracking and epsilon-stabilization of
    first-order nonholonomic SE(2) vehicles. American Control Conference 2002.
"""

from typing import Any

import numpy as np

from covey.robots.model import RobotModel

FARTHEST = 0.9
"""Largest |velocity| x period / (2 l): beyond 1, a point behind a robot is reached by turning more than half around."""


def points_of(team: Any, look_ahead_m: float) -> np.ndarray:
    """Return the points that a law moves [m], float64 (n, 2): the centres of holonomic robots, else points ahead.

    Args:
        team: the view of a group controller that sees ``pose``.
        look_ahead_m: distance l of the points ahead of robots with wheels [m].
    """
    if team.robot.kinematics == "holonomic":
        return team.position
    return points_ahead(team.pose, look_ahead_m)


def commands_of(team: Any, velocity: np.ndarray, look_ahead_m: float) -> Any:
    """Return the answer of a group controller whose points move with these velocities.

    Args:
        team: the view of a group controller that sees ``pose``.
        velocity: of the points in the world frame [m/s], (n, 2).
        look_ahead_m: see `points_of`.
    """
    if team.robot.kinematics == "holonomic":
        return velocity
    return unicycle(velocity, team.heading, look_ahead_m, team.dt)


def points_ahead(pose: np.ndarray, look_ahead_m: float) -> np.ndarray:
    """Return the points at a distance [m] ahead of poses (n, 3), float64 (n, 2)."""
    return pose[:, :2] + look_ahead_m * np.column_stack((np.cos(pose[:, 2]), np.sin(pose[:, 2])))


def unicycle(
    velocity: np.ndarray, heading: np.ndarray, look_ahead_m: float, period_s: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return speeds [m/s] and turn rates [rad/s] that move the points ahead by velocity x period, exactly.

    Held for the period T, speed v and turn rate w move the point along an arc: its velocity is R(w t) u with
    u = (v, l w) in the body frame. The chord of the arc is the wanted way c, at the angle p to the heading, if
    tan(w T / 2) = x sin p / (1 + x cos p), x = |c| / (2 l). The arc leaves its chord by at most |c|^2 / (8 l) for
    small x. Ways longer than 2 l x `FARTHEST` are shortened to that.

    Args:
        velocity: wanted mean velocity of the points in the world frame [m/s], (n, 2).
        heading: of the robots [rad], (n,).
        look_ahead_m: distance l of the points ahead of the axle [m].
        period_s: control period T [s].

    Examples:
        >>> speed, turn = unicycle(np.array([[0.0, 0.1]]), np.zeros(1), 0.2, 0.1)
        >>> round(float(turn[0]), 4)  # 0.1 m/s sideways over 0.2 m, and a little less
        0.4999
    """
    c, s = np.cos(heading), np.sin(heading)
    ahead = c * velocity[:, 0] + s * velocity[:, 1]
    left = c * velocity[:, 1] - s * velocity[:, 0]
    share = period_s / (2.0 * look_ahead_m)
    scale = FARTHEST / np.maximum(share * np.hypot(ahead, left), FARTHEST)
    ahead, left = ahead * scale, left * scale
    half = np.arctan2(share * left, 1.0 + share * ahead)
    chord = np.sinc(half / np.pi)
    return (np.cos(half) * ahead + np.sin(half) * left) / chord, 2.0 * half / period_s


def top_speed(robot: RobotModel, look_ahead_m: float, period_s: float) -> float:
    """Return the speed [m/s] that the point of a robot reaches in every direction, see `unicycle`.

    With wheels it is bounded by the top speed, by the turn rate times l, and by the faster wheel, |v| + |w| b.
    """
    if robot.kinematics == "holonomic":
        return robot.max_speed_m_s
    top = min(robot.max_speed_m_s, look_ahead_m * robot.max_turn_rad_s)
    wheels = [w for w in (robot.max_wheel_speed_m_s, robot.max_wheel_speed_turning_m_s) if w is not None]
    if wheels and robot.kinematics == "differential":
        top = min(top, min(wheels) / float(np.hypot(1.0, robot.wheel_semi_axis_m / look_ahead_m)))
    half = min(top * period_s / (2.0 * look_ahead_m), FARTHEST)
    return min(top * float(np.sinc(half / np.pi)), 2.0 * look_ahead_m * FARTHEST / period_s)
