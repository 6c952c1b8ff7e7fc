"""Where a robot can drive on a landscape, from the steepness of the ground around each vertex.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007: a vertex cannot
    be driven on when any of its eight neighbours, a metre apart, differs by more than 0.4 m.
"""

import numpy as np

from covey.geometry.heightfield import steepness

MAX_SLOPE = 0.4
"""Steepest drivable ground [m per m]: 0.4 m between vertices that are 1 m apart."""
UNMAPPED, DRIVABLE, STEEP = -1, 0, 100
"""State of a vertex, in the values of occupancy grids."""


def drivability(altitude: np.ndarray, spacing_m: float = 1.0, max_slope: float = MAX_SLOPE) -> np.ndarray:
    """Return the state of each vertex of a landscape, int8 (rows, columns): `UNMAPPED`, `DRIVABLE` or `STEEP`.

    A vertex is steep if it differs from any of its eight neighbours, including the diagonal ones, by more than the
    slope times the spacing. Unmapped neighbours are ignored.

    Args:
        altitude: float64 (rows, columns) [m], NaN where unknown.
        spacing_m: distance of neighbouring vertices [m].
        max_slope: see `MAX_SLOPE`.

    Examples:
        >>> drivability(np.array([[0.0, 0.4, 0.9], [0.0, 0.0, np.nan]])).tolist()
        [[0, 100, 100], [0, 100, -1]]
    """
    most = steepness(np.ascontiguousarray(altitude, float))
    limit = max_slope * spacing_m * (1.0 + 1e-9)  # tolerates rounding, as of altitudes in steps of 0.1 m
    return np.where(np.isnan(most), UNMAPPED, np.where(most <= limit, DRIVABLE, STEEP)).astype(np.int8)
