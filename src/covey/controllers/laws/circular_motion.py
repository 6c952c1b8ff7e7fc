"""Collective circular motion: robots that drive at one speed circle around a beacon and keep apart.

The turn rate of a robot is a term of the beacon plus one of each neighbour that it sees:

    k_b g(rho; c_b, rho_0) alpha(gamma) + sum of k_v g(rho_j; c_v, d_0) beta(gamma_j)

rho and gamma are distance and bearing; alpha counts bearings from 0 to psi and the rest as negative, beta all from -pi
to pi. g is negative below its second number, so a robot turns away from what is too near, and positive above.

References:
    N. Ceccarelli, M. Di Marco, A. Garulli, A. Giannitrapani: Collective circular motion of multi-vehicle systems.
    Automatica 44(12), 2008.
"""

import math
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from covey.controllers.laws.steering import middle_of
from covey.geometry.se2 import wrap_angle
from covey.onboard.controller import controller
from covey.robots.parameters import Degrees, Gain, Metres, Pace, PointOrMiddle, Velocity

PSI = 1.75 * math.pi
"""Bearings of the beacon above this count as negative [rad]; between 3/2 pi and 2 pi."""

Above1 = Annotated[float, Field(gt=1, le=1000)]


def pull(distance: Any, c: float, at_m: float) -> Any:
    """Return g(rho; c, rho_0) = ln(((c - 1) rho + rho_0) / (c rho_0)): negative below rho_0, 0 there, positive above.

    Args:
        distance: rho [m], a number or an array.
        c: above 1; -ln c is the value at 0.
        at_m: rho_0 [m].
    """
    return np.log(((c - 1.0) * np.asarray(distance) + at_m) / (c * at_m))


def beacon_turn(distance: Any, bearing: Any, k_b: float, c_b: float, rho_0: float) -> np.ndarray:
    """Return the turn rate by the beacon [rad/s]; 0 for a robot on it.

    Args:
        distance, bearing: of the beacon, as each robot sees it [m], [rad], shapes (n,).
        k_b: gain [1/s]. c_b, rho_0 [m]: of `pull`.
    """
    bearing = np.asarray(bearing) % (2.0 * math.pi)
    alpha = np.where(bearing <= PSI, bearing, bearing - 2.0 * math.pi)
    return np.where(np.asarray(distance) > 0.0, k_b * pull(distance, c_b, rho_0) * alpha, 0.0)


def neighbour_turn(
    pose: np.ndarray, k_v: float, c_v: float, d_0: float, d_l: float, alpha_v: float, d_s: float
) -> np.ndarray:
    """Return the turn rate by the neighbours that each robot sees [rad/s], shape (n,).

    It sees those nearer than ``d_s``, and those nearer than ``d_l`` within ``alpha_v`` of its heading.

    Args:
        pose: x, y [m], heading [rad], shape (n, 3).
        k_v: gain [1/s]. c_v, d_0 [m]: of `pull`.
        d_l: [m]. alpha_v: [rad]. d_s: [m].
    """
    way = pose[None, :, :2] - pose[:, None, :2]
    distance = np.hypot(way[..., 0], way[..., 1])
    bearing = wrap_angle(np.arctan2(way[..., 1], way[..., 0]) - pose[:, None, 2])
    seen = (distance <= d_s) | ((distance <= d_l) & (np.abs(bearing) <= alpha_v))
    np.fill_diagonal(seen, False)
    return np.where(seen, k_v * pull(distance, c_v, d_0) * bearing, 0.0).sum(axis=1)


def equilibrium_radius(speed: float, k_b: float, c_b: float, rho_0: float) -> float:
    """Return the radius [m] of the counter-clockwise circle of one robot: v / rho = k_b g(rho; c_b, rho_0) pi / 2.

    Args:
        speed: v [m/s]. k_b: [1/s]. c_b, rho_0 [m]: of `pull`.

    Examples:
        >>> round(equilibrium_radius(0.3, k_b=0.15, c_b=2.0, rho_0=1.5), 3)
        3.053
    """
    low = high = rho_0
    while high * pull(high, c_b, rho_0) < 2.0 * speed / (math.pi * k_b):
        high *= 2.0
    for _ in range(80):  # rho g grows above rho_0
        middle = 0.5 * (low + high)
        if middle * pull(middle, c_b, rho_0) < 2.0 * speed / (math.pi * k_b):
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def clockwise_radii(speed: float, k_b: float, c_b: float, rho_0: float) -> tuple[float, ...]:
    """Return the radii [m] of the clockwise circles of one robot: none or two.

    On them -v / rho = k_b g(rho; c_b, rho_0) 3/2 pi. There are none if the least value of rho g is above
    -2 v / (3 pi k_b): then every robot circles counter-clockwise.
    Arguments as in `equilibrium_radius`.

    Examples:
        >>> clockwise_radii(0.3, k_b=0.15, c_b=2.0, rho_0=1.5)
        ()
    """
    wanted = -2.0 * speed / (3.0 * math.pi * k_b)
    valley = _valley(c_b, rho_0)
    if valley * pull(valley, c_b, rho_0) > wanted:
        return ()
    found = []
    for outer in (0.0, rho_0):  # rho g is 0 at both, and least between them
        inner = valley
        for _ in range(80):
            middle = 0.5 * (inner + outer)
            if middle * pull(middle, c_b, rho_0) < wanted:
                inner = middle
            else:
                outer = middle
        found.append(0.5 * (inner + outer))
    return tuple(found)


def _valley(c: float, at_m: float) -> float:
    """Return where rho g is least [m]: its derivative g + (c - 1) rho / ((c - 1) rho + rho_0) grows from -ln c on."""
    low, high = 0.0, at_m
    for _ in range(80):
        middle = 0.5 * (low + high)
        if pull(middle, c, at_m) + (c - 1.0) * middle / ((c - 1.0) * middle + at_m) < 0.0:
            low = middle
        else:
            high = middle
    return low


@controller("circular_motion", scope="group", sees=("pose",), missions=())
def circular_motion(
    team: Any,
    *,
    beacon_m: PointOrMiddle = (),
    beacon_velocity_m_s: Velocity = (0.0, 0.0),
    beacon_stops_s: Annotated[float, Field(ge=0, le=1e9)] = 1e9,
    speed_m_s: Pace = 0.3,
    k_b: Gain = 0.15,
    c_b: Above1 = 2.0,
    rho_0_m: Metres = 1.5,
    k_v: Gain = 0.05,
    c_v: Above1 = 2.0,
    d_0_m: Metres = 1.2,
    d_l_m: Metres = 2.5,
    alpha_v_deg: Degrees = 45.0,
    d_s_m: Metres = 0.6,
) -> tuple[np.ndarray, np.ndarray]:
    """Circle around a beacon, which may move, counter-clockwise, at a constant speed, and keep apart.

    Only range and bearing of the beacon and of near robots count. The robots do not space equally in general. They
    keep apart only by turning, so check the smallest separation.

    Args:
        beacon_m: where the beacon is at the start [m]; empty: in the middle of the workspace.
        beacon_velocity_m_s: how it moves [m/s].
        beacon_stops_s: when it stops [s].
        speed_m_s: of all robots [m/s].
        k_b, c_b, rho_0_m: gain [1/s] of the beacon; its attraction begins at ``rho_0_m``.
        k_v, c_v, d_0_m: gain [1/s] of a neighbour; its attraction begins at ``d_0_m``.
        d_l_m, alpha_v_deg: a robot sees others within this distance and angle ahead.
        d_s_m: and within this distance all around.

    References:
        N. Ceccarelli, M. Di Marco, A. Garulli, A. Giannitrapani: Collective circular motion of multi-vehicle systems.
        Automatica 44(12), 2008.
    """
    at = beacon_m or middle_of(team.workspace)
    beacon = np.array(at) + np.array(beacon_velocity_m_s) * min(team.time, beacon_stops_s)
    turn = beacon_turn(team.distance_to(beacon), team.bearing_to(beacon), k_b, c_b, rho_0_m)
    turn = turn + neighbour_turn(team.pose, k_v, c_v, d_0_m, d_l_m, np.radians(alpha_v_deg), d_s_m)
    return np.full(team.count, speed_m_s), turn
