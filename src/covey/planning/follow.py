"""Path following: the point ahead on a path that a robot steers to.

References:
    R. C. Coulter: Implementation of the pure pursuit path tracking algorithm. CMU-RI-TR-92-01, 1992.
"""

import math

from covey.kernel import kernel


@kernel
def lookahead(path, start, x, y, distance):
    """Return the point of a path to steer to: ``distance`` along the path beyond the place nearest to the robot.

    Args:
        path: float64 (m, 2), m >= 1: corners of the path [m].
        start: index of the segment to search from; the robot never goes back to earlier ones.
        x, y: position of the robot [m], in the frame of the path.
        distance: lookahead along the path [m].

    Returns:
        x, y of the point [m], the segment nearest to the robot, the length of path left from there [m], and the
        distance of the robot from the path [m].
    """
    m = path.shape[0]
    if m == 1:
        away = math.hypot(path[0, 0] - x, path[0, 1] - y)
        return path[0, 0], path[0, 1], 0, away, 0.0
    nearest, share, off, along = start, 0.0, math.inf, 0.0
    for i in range(start, m - 1):
        dx, dy = path[i + 1, 0] - path[i, 0], path[i + 1, 1] - path[i, 1]
        length2 = dx * dx + dy * dy
        t = 0.0
        if length2 > 0.0:
            t = min(max(((x - path[i, 0]) * dx + (y - path[i, 1]) * dy) / length2, 0.0), 1.0)
        d = math.hypot(path[i, 0] + t * dx - x, path[i, 1] + t * dy - y)
        if d < off:
            nearest, share, off = i, t, d
        along += math.sqrt(length2)
        if along > 3.0 and i > start:  # a later part of the path that returns close by is not a shortcut
            break
    left, tx, ty, to_go = 0.0, path[m - 1, 0], path[m - 1, 1], distance
    found = False
    for i in range(nearest, m - 1):
        t = share if i == nearest else 0.0
        dx, dy = path[i + 1, 0] - path[i, 0], path[i + 1, 1] - path[i, 1]
        length = math.hypot(dx, dy)
        part = (1.0 - t) * length
        if not found and part >= to_go and length > 0.0:
            t += to_go / length
            tx, ty, found = path[i, 0] + t * dx, path[i, 1] + t * dy, True
        to_go -= part
        left += part
    return tx, ty, nearest, left, off
