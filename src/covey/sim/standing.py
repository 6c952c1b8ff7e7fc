"""Standing: how bodies that move in the plane stand on a ground."""

import math
from typing import Any

import numpy as np

from covey.geometry.heightfield import altitude_at, slopes_at
from covey.kernel import kernel
from covey.robots.team import TeamState


def stand(ground: Any, state: TeamState) -> None:
    """Let each robot of a team stand on the ground below its centre, tilted as the ground is there.

    Args:
        ground: `covey.world.ground.Ground`; None: a level plane at altitude 0, where nothing is to be done.
        state: its ``altitude_roll_pitch`` is written.
    """
    if ground is not None:
        slopes = slopes_at(ground.altitude, ground.frame, np.ascontiguousarray(state.pose[:, :2]))
        _stand(ground.altitude, ground.frame, slopes, state.pose, state.altitude_roll_pitch)


@kernel
def _stand(altitude, frame, slopes, pose, out):
    """Write altitude [m], roll and pitch [rad] into ``out`` (n, 3), from slopes (n, 2) dz/dx, dz/dy below each."""
    for i in range(pose.shape[0]):
        c, s = math.cos(pose[i, 2]), math.sin(pose[i, 2])
        ahead, left = c * slopes[i, 0] + s * slopes[i, 1], c * slopes[i, 1] - s * slopes[i, 0]
        out[i, 0] = altitude_at(altitude, frame, pose[i, 0], pose[i, 1])
        out[i, 1] = math.asin(left / math.sqrt(1.0 + ahead * ahead + left * left))
        out[i, 2] = -math.atan(ahead)
