"""Where a robot can drive on a landscape: by the steepness of the ground around each of its vertices.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007: a vertex cannot
    be driven on when any of its eight neighbours, a metre apart, differs by more than 0.4 m.
"""

import numpy as np

from covey.geometry.heightfield import steepness

MAX_SLOPE = 0.4
"""Steepest ground that is driven on [m per m]: 0.4 m from vertex to vertex where these are 1 m apart."""
UNMAPPED, DRIVABLE, STEEP = -1, 0, 100
"""What a vertex is, in the values of occupancy grids."""


def drivability(altitude: np.ndarray, spacing_m: float = 1.0, max_slope: float = MAX_SLOPE) -> np.ndarray:
    """Return what each vertex of a landscape is: int8 (rows, columns), `UNMAPPED`, `DRIVABLE` or `STEEP`.

    A vertex is steep when it differs from any of its eight neighbours, the diagonal ones too, by more than the slope
    times the spacing. Neighbours that are not mapped say nothing.

    Args:
        altitude: float64 (rows, columns) [m], NaN where nothing is known.
        spacing_m: distance of neighbouring vertices [m].
        max_slope: see `MAX_SLOPE`.

    Examples:
        >>> drivability(np.array([[0.0, 0.4, 0.9], [0.0, 0.0, np.nan]])).tolist()
        [[0, 100, 100], [0, 100, -1]]
    """
    most = steepness(np.ascontiguousarray(altitude, float))
    limit = max_slope * spacing_m * (1.0 + 1e-9)  # altitudes in steps of 0.1 m that differ by 0.4 m and some rounding
    return np.where(np.isnan(most), UNMAPPED, np.where(most <= limit, DRIVABLE, STEEP)).astype(np.int8)
