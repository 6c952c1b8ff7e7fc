"""Kernel of starts that lie as far apart as possible."""

import math

import numpy as np

from covey.kernel import kernel
from covey.world.standing import TOUCH

_PART = 32  # neighbouring points that are passed over together


@kernel
def farthest(points, rank, room, radii, gap_m, chosen):
    """Choose a point for each body, the one with the most room, and return how many have enough.

    Args:
        points: places among which to choose, x, y [m], (m, 2); neighbours in it are near to each other.
        rank: int64 (m,), the order of the points: of equal ones the first counts.
        room: float64 (m,), distance of each from the edge of the nearest body [m]; changed.
        radii: of the bodies [m], (n,). gap_m: smallest free space between two [m].
        chosen: int64 (n,), output: which point each gets.
    """
    parts = (room.size + _PART - 1) // _PART
    box, largest = np.empty((parts, 4)), np.empty(parts)
    for part in range(parts):
        own = points[part * _PART : (part + 1) * _PART]
        box[part, 0], box[part, 1] = own[:, 0].min(), own[:, 0].max()
        box[part, 2], box[part, 3] = own[:, 1].min(), own[:, 1].max()
        largest[part] = _largest(room, part)
    for i in range(radii.size):
        most_room, best = largest.max(), -1
        if most_room < radii[i] + gap_m - TOUCH:
            return i
        for part in range(parts):
            if largest[part] == most_room:
                for k in range(part * _PART, min((part + 1) * _PART, room.size)):
                    if room[k] == most_room and (best < 0 or rank[k] < rank[best]):
                        best = k
        chosen[i] = best
        x, y, radius = points[best, 0], points[best, 1], radii[i]
        for part in range(parts):
            dx = max(box[part, 0] - x, x - box[part, 1], 0.0)
            dy = max(box[part, 2] - y, y - box[part, 3], 0.0)
            near = largest[part] + radius
            if near < 0.0 or dx * dx + dy * dy > near * near * (1.0 + 1e-9):
                continue  # all its points have a nearer body, also with rounding
            for k in range(part * _PART, min((part + 1) * _PART, room.size)):
                dx, dy, near = points[k, 0] - x, points[k, 1] - y, room[k] + radius
                if dx * dx + dy * dy <= near * near * (1.0 + 1e-9):
                    room[k] = min(room[k], math.hypot(dx, dy) - radius)
            largest[part] = _largest(room, part)
    return radii.size


@kernel
def _largest(room, part):
    """Return the most room of the points of a part [m]."""
    found = -math.inf
    for k in range(part * _PART, min((part + 1) * _PART, room.size)):
        found = max(found, room[k])
    return found


def ranks(order: np.ndarray) -> np.ndarray:
    """Return where each number from 0 on is in an order of them, int64 (m,)."""
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order))
    return found
