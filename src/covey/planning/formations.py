"""Formations: the places of a team's robots around an objective.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007: six robots in a
    hexagon around the objective, in a pentagon with one robot on it, or in a single rank centred on it.
"""

import math
from typing import Literal

import numpy as np

from covey.errors import InvalidValueError, UnknownNameError

FormationName = Literal["hexagon", "pentagon", "rank"]
SpacingOf = Literal["radius", "neighbours"]
FORMATIONS: tuple[str, ...] = ("hexagon", "pentagon", "rank")


def slots(
    formation: str,
    count: int,
    centre: tuple[float, float] = (0.0, 0.0),
    spacing_m: float = 2.0,
    facing: float = 0.0,
    spacing_of: str = "radius",
) -> np.ndarray:
    """Return the places of a formation, float64 (count, 2), x, y [m].

    * ``hexagon``: on the corners of a hexagon, the first of them ahead of the centre; from the seventh robot on, along
      further hexagons, each wider by the first one's radius. Fewer robots are spread over the corners.
    * ``pentagon``: one robot on the centre, the others likewise on pentagons.
    * ``rank``: in a centred line across the facing, from its right to its left.

    Args:
        formation: one of `FORMATIONS`.
        count: number of robots, at least 1.
        centre: the objective [m].
        spacing_m: radius of the innermost ring, or distance of neighbours in the rank [m].
        facing: direction that the formation faces [rad].
        spacing_of: ``neighbours``: the spacing s is that of neighbours on the ring. In a hexagon that equals the
            radius; a pentagon then has the radius s / (2 sin 36°) = 0.8507 s. With ``radius``, the neighbours of a
            pentagon are 1.1756 s apart.

    Raises:
        InvalidValueError: there are no robots, or the spacing is not positive.

    Examples:
        >>> slots("rank", 3, (10.0, 0.0), 2.0).round(6).tolist()
        [[10.0, -2.0], [10.0, 0.0], [10.0, 2.0]]
    """
    if count < 1 or not (math.isfinite(spacing_m) and spacing_m > 0):
        raise InvalidValueError(f"{count} robots {spacing_m!r} m apart: give at least one, and a positive spacing")
    if formation == "rank":
        across = (np.arange(count) - 0.5 * (count - 1)) * spacing_m
        offsets = np.column_stack((np.zeros(count), across))
    elif formation == "hexagon":
        offsets = _rings(6, count, spacing_m)
    elif formation == "pentagon":
        radius_m = spacing_m / (2.0 * math.sin(math.pi / 5.0)) if spacing_of == "neighbours" else spacing_m
        offsets = np.vstack((np.zeros((1, 2)), _rings(5, count - 1, radius_m)))
    else:
        raise UnknownNameError("formation", formation, FORMATIONS)
    c, s = math.cos(facing), math.sin(facing)
    return np.asarray(centre, float) + offsets @ np.array([[c, s], [-s, c]])


def _rings(sides: int, count: int, radius_m: float) -> np.ndarray:
    """Return places on nested polygons, float64 (count, 2), with equal distances between neighbours on all of them."""
    corners = radius_m * np.array([(math.cos(a), math.sin(a)) for a in np.arange(sides) * math.tau / sides])
    if count <= sides:
        return corners[[k * sides // count for k in range(count)]]
    places: list[np.ndarray] = []
    ring = 1
    while len(places) < count:
        for k in range(sides * ring):
            side, step = divmod(k, ring)
            places.append((ring - step) * corners[side] + step * corners[(side + 1) % sides])
        ring += 1
    return np.array(places[:count])
