"""Altitude and tilt of bodies that move in the plane, above a ground."""

import math
from typing import Any

import numpy as np

from covey.geometry.heightfield import altitude_at, slopes_at
from covey.kernel import kernel


def stand(ground: Any, pose: np.ndarray, out: np.ndarray) -> None:
    """Set altitude and tilt of each robot to those of the ground below its centre.

    Args:
        ground: `covey.world.ground.Ground`; None: a level plane at altitude 0, and ``out`` stays as it is.
        pose: float64 (n, 3), x, y [m], heading [rad].
        out: float64 (n, 3), altitude [m], roll, pitch [rad], as in `TeamState.altitude_roll_pitch`; written.
    """
    if ground is not None:
        slopes = slopes_at(ground.altitude, ground.frame, np.ascontiguousarray(pose[:, :2]))
        _stand(ground.altitude, ground.frame, slopes, pose, out)


@kernel
def _stand(altitude, frame, slopes, pose, out):
    """Write altitude [m], roll and pitch [rad] into ``out`` (n, 3), from slopes (n, 2) dz/dx, dz/dy below each."""
    for i in range(pose.shape[0]):
        c, s = math.cos(pose[i, 2]), math.sin(pose[i, 2])
        ahead, left = c * slopes[i, 0] + s * slopes[i, 1], c * slopes[i, 1] - s * slopes[i, 0]
        out[i, 0] = altitude_at(altitude, frame, pose[i, 0], pose[i, 1])
        out[i, 1] = math.asin(left / math.sqrt(1.0 + ahead * ahead + left * left))
        out[i, 2] = -math.atan(ahead)
