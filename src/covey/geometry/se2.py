"""Planar poses: position [m] and heading [rad], x forward, y left, counter-clockwise positive (ROS REP 103)."""

import math
from typing import Any, NamedTuple

import numpy as np


def wrap_angle(angle: Any) -> Any:
    """Return the same angle [rad] in [-pi, pi), for a number or an array of any shape.

    Examples:
        >>> wrap_angle(1.5 * math.pi) == -0.5 * math.pi
        True
    """
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


class Pose(NamedTuple):
    """A pose in the plane: x, y [m] and heading [rad].

    ``T_world_a @ T_a_b`` composes poses; ``T_world_a @ (x, y)`` maps a point of frame a into the world.

    Examples:
        >>> Pose(1.0, 2.0, math.pi / 2) @ (1.0, 0.0)
        (1.0, 3.0)
    """

    x: float
    y: float
    heading: float = 0.0

    def __matmul__(self, other: Any) -> Any:
        c, s = math.cos(self.heading), math.sin(self.heading)
        x, y = self.x + c * other[0] - s * other[1], self.y + s * other[0] + c * other[1]
        return Pose(x, y, wrap_angle(self.heading + other[2])) if len(other) == 3 else (x, y)

    def inverse(self) -> "Pose":
        """Return T_a_world for this T_world_a."""
        c, s = math.cos(self.heading), math.sin(self.heading)
        return Pose(-c * self.x - s * self.y, s * self.x - c * self.y, wrap_angle(-self.heading))

    def distance_to(self, point: Any) -> float:
        """Return the straight distance [m] to a point or pose."""
        return math.hypot(point[0] - self.x, point[1] - self.y)

    def bearing_to(self, point: Any) -> float:
        """Return the direction of a point or pose as seen from here, [rad] in [-pi, pi), 0 straight ahead."""
        return wrap_angle(math.atan2(point[1] - self.y, point[0] - self.x) - self.heading)


def compose(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compose batches of poses, shapes (..., 3) that broadcast: T_world_a, T_a_b -> T_world_b."""
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    x = a[..., 0] + c * b[..., 0] - s * b[..., 1]
    y = a[..., 1] + s * b[..., 0] + c * b[..., 1]
    return np.stack(np.broadcast_arrays(x, y, wrap_angle(a[..., 2] + b[..., 2])), axis=-1)


def inverse(a: np.ndarray) -> np.ndarray:
    """Invert a batch of poses, shape (..., 3)."""
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    x = -c * a[..., 0] - s * a[..., 1]
    y = s * a[..., 0] - c * a[..., 1]
    return np.stack((x, y, wrap_angle(-a[..., 2])), axis=-1)
