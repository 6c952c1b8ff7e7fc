"""Bearing-disallow: bearings that a robot avoids because a team mate is near.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007: an arc towards
    each mate, "inversely proportional to the separation distance, starting at 0 degrees at two meters and increasing to
    180 degrees (effectively a wall) at one meter".
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

Law = Literal["inverse", "linear"]


def arc_width(
    distance_m: float,
    law: Law = "inverse",
    d_outer_m: float = 2.0,
    d_inner_m: float = 1.0,
    w_max: float = math.pi,
) -> float:
    """Return the full width [rad] of the arc towards a mate.

    Args:
        distance_m: distance of the mate [m].
        law: ``inverse``: a / d + b through (``d_outer_m``, 0) and (``d_inner_m``, ``w_max``), by default
            360° / d - 180°; ``linear``: a straight line through the same points.
        d_outer_m, d_inner_m: distances at which the arc begins, and at which it is widest [m].
        w_max: the largest width [rad].

    Examples:
        >>> [round(math.degrees(arc_width(1.5, law)), 6) for law in ("inverse", "linear")]
        [60.0, 90.0]
    """
    if distance_m >= d_outer_m:
        return 0.0
    if distance_m <= d_inner_m:
        return w_max
    if law == "linear":
        return w_max * (d_outer_m - distance_m) / (d_outer_m - d_inner_m)
    return w_max * (1.0 / distance_m - 1.0 / d_outer_m) / (1.0 / d_inner_m - 1.0 / d_outer_m)


def allowed_bearings(desired: float, arcs: Sequence[tuple[float, float]]) -> list[float]:
    """Return the bearings [rad] to choose from, nearest to the desired one first; empty if all are disallowed.

    They are the desired bearing, if it is allowed, and the ends of the arcs that lie in no other arc.

    Args:
        desired: the desired bearing [rad].
        arcs: middle and full width of each arc [rad].

    Examples:
        >>> [round(b, 6) for b in allowed_bearings(0.0, [(0.1, 0.6)])]
        [-0.2, 0.4]
        >>> allowed_bearings(0.0, [(0.0, 0.0)])
        [0.0]
    """
    arcs = [(middle, width) for middle, width in arcs if width > 0.0]
    ends: Iterable[float] = (middle + side * 0.5 * width for middle, width in arcs for side in (1.0, -1.0))
    candidates = [desired, *(desired + _wrapped(end - desired) for end in ends)]
    free = [b for b in candidates if all(abs(_wrapped(b - m)) >= 0.5 * w - 1e-9 for m, w in arcs)]
    return sorted(free, key=lambda b: (round(abs(b - desired), 9), b))


def _wrapped(angle: float) -> float:
    return math.remainder(angle, math.tau)
