"""Ejecta: the removed ground of a crater flies as rocks along parabolas and stays where they land."""

import math

import numpy as np

from covey.geometry.heightfield import altitudes_at

GRAVITY = 9.81
ROCK_M3 = 0.03
"""Volume of a rock [m^3], a block of about 0.3 m; rocks of a large crater are larger."""
MOST_ROCKS = 5000
FARTHEST = 3.0
"""On level ground, rocks fly up to this many radii from the centre of a crater."""

_STEP_S = 0.02
_GOLDEN = math.pi * (3.0 - math.sqrt(5.0))


def landed(
    altitude: np.ndarray, frame: np.ndarray, centre_m: tuple[float, float], radius_m: float, volume_m3: float
) -> np.ndarray:
    """Return where the rocks of a crater land: x, y [m], float64 (rocks, 2), some of them outside the ground.

    They leave the rim at 45 degrees, evenly all around. Their speeds are such that on level ground their layer gets
    thinner with the third power of the distance; on a slope they fly farther down than up.

    Args:
        altitude, frame: the ground with the crater, see `covey.geometry.heightfield`.
        centre_m: x, y of the crater's centre [m].
        radius_m: radius of its rim [m].
        volume_m3: volume of all rocks [m^3].

    References:
        T. R. McGetchin, M. Settle, J. W. Head: Radial thickness variation in impact crater ejecta. Earth and Planetary
        Science Letters 20, 1973 (thickness as distance^-3).
    """
    count = min(max(round(volume_m3 / ROCK_M3), 1), MOST_ROCKS)
    number = np.arange(count)
    angle = number * _GOLDEN
    # In a layer proportional to r^-3, the share (1 - R / r) / (1 - R / farthest) lies within r.
    share = (number + 0.5) / count
    distance = radius_m / (1.0 - share * (1.0 - 1.0 / FARTHEST))
    speed = np.sqrt(GRAVITY * (distance - radius_m) / 2.0)  # along each axis, at 45 degrees
    way = np.column_stack((np.cos(angle), np.sin(angle)))
    start = np.array(centre_m) + radius_m * way
    z0 = altitudes_at(altitude, frame, start)
    above = np.zeros(count)  # height above the ground at the previous step
    place, flying, t = start.copy(), np.arange(count), 0.0
    while len(flying):
        t += _STEP_S
        at = start[flying] + (speed[flying] * t)[:, None] * way[flying]
        now = z0[flying] + speed[flying] * t - 0.5 * GRAVITY * t * t - altitudes_at(altitude, frame, at)
        down = now <= 0
        before = above[flying[down]]
        back = np.where(before - now[down] > 0, -now[down] / np.maximum(before - now[down], 1e-12), 0.0) * _STEP_S
        place[flying[down]] = at[down] - (speed[flying[down]] * back)[:, None] * way[flying[down]]
        above[flying] = now
        flying = flying[~down]
    return place


def spread(altitude: np.ndarray, frame: np.ndarray, places: np.ndarray, volume_m3: float) -> None:
    """Raise the vertices nearest to rocks by their volume, in place; rocks outside the ground are lost."""
    rows, columns = altitude.shape
    column, row = np.rint((places[:, 0] - frame[0]) / frame[2]), np.rint((places[:, 1] - frame[1]) / frame[2])
    on = (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
    each = volume_m3 / len(places) / frame[2] ** 2
    np.add.at(altitude, (row[on].astype(int), column[on].astype(int)), each)
