"""Cyclic pursuit: robot i follows robot i + 1, and the last follows the first.

In a regular formation {n/d} the robots stand on a circle, n of them, and the way over all of them goes d times around
it. All see their leader under the bearing pi d / n. Two laws, with r the distance and a the bearing of the leader:

* proportional: v = k_r r, turn rate k_a a. The formation keeps its size only for one ratio k_a / k_r, see `ratio`.
* constant speed: v = s, turn rate k a. The circle has the radius s n / (k pi d).

References:
    J. A. Marshall, M. E. Broucke, B. A. Francis: Formations of vehicles in cyclic pursuit. IEEE Transactions on
    Automatic Control 49(11), 2004 (constant speed).
    J. A. Marshall, M. E. Broucke, B. A. Francis: Pursuit formations of unicycles. Automatica 42(1), 2006
    (speed proportional to the distance).
"""

import math
from typing import Any, Literal

import numpy as np

from covey.geometry.se2 import wrap_angle
from covey.onboard.controller import controller
from covey.robots.parameters import Gain, Pace

Law = Literal["proportional", "constant_speed"]


def ratio(n: int, d: int = 1) -> float:
    """Return the ratio k_a / k_r for which a regular formation {n/d} keeps its size: 2 sin(pi d/n) / (pi d/n).

    Below it the formation spirals outward, above it inward, see `growth_rate`.

    Examples:
        >>> round(ratio(6), 4)
        1.9099
    """
    angle = math.pi * d / n
    return 2.0 * math.sin(angle) / angle


def radius(n: int, gain: float, speed: float, d: int = 1) -> float:
    """Return the radius [m] of the circle at constant speed: s n / (k pi d).

    Args:
        n: number of robots.
        gain: k [1/s].
        speed: s [m/s].
        d: how often the way over all robots goes around.

    Examples:
        >>> round(radius(6, gain=0.5, speed=0.3), 4)
        1.1459
    """
    return speed * n / (gain * math.pi * d)


def growth_rate(n: int, k_r: float, k_a: float, d: int = 1) -> float:
    """Return the rate [1/s] at which a regular formation under the proportional law grows; negative: it shrinks.

    With A = pi d / n, a formation that keeps its shape sees its leaders under the bearing a with
    2 k_r sin A cos(a - A) = k_a a, because the chords turn as fast as the robots. Its size then grows at the rate
    2 k_r sin A sin(a - A).

    Args:
        n, d: the formation.
        k_r: speed per distance [1/s].
        k_a: turn rate per bearing [1/s].
    """
    angle, low, high = math.pi * d / n, 0.0, math.pi
    for _ in range(80):  # k_a a grows; the cosine falls from a = A on, and is no root before that is below
        middle = 0.5 * (low + high)
        if k_a * middle < 2.0 * k_r * math.sin(angle) * math.cos(middle - angle):
            low = middle
        else:
            high = middle
    return 2.0 * k_r * math.sin(angle) * math.sin(low - angle)


def modes(n: int, d: int = 1, law: Law = "proportional", gain: float = 1.0) -> np.ndarray:
    """Return the eigenvalues of the linearisation around a regular formation [1/s], without those of its symmetries.

    Each robot has a displacement (two numbers, in the frame that it has in the rotating formation) and a change of its
    heading. Robot i + 1 is robot i turned by 2 pi d / n, so the 3 n equations fall apart into n blocks 3 x 3, one for
    each wave around the ring. Three eigenvalues say nothing about the shape: two of moving the whole formation
    (+- i times its rate of rotation) and one of rotating it (0); under the proportional law also that of its size (0).
    These are left out: 3 n - 3 or 3 n - 4 remain. The formation is locally stable if all have negative real parts.

    Args:
        n, d: the formation.
        law: proportional, with k_a / k_r = `ratio`, or constant speed.
        gain: k_a, or k [1/s]; all eigenvalues are proportional to it.

    Examples:
        >>> bool(modes(6).real.max() < 0), bool(modes(6, 2).real.max() < 0)
        (True, False)
    """
    angle = math.pi * d / n
    own, after = _blocks(n, d, law)
    found = []
    for wave in range(n):
        values = list(np.linalg.eigvals(own + np.exp(2j * math.pi * wave / n) * after))
        known = [0.0, 0.0][: 2 if law == "proportional" else 1] if wave == 0 else []
        known += [1j * angle] if (wave - d) % n == 0 else []
        known += [-1j * angle] if (wave + d) % n == 0 else []
        for value in known:
            values.pop(int(np.argmin(np.abs(np.array(values) - value))))
        found += values
    return gain * np.array(found)


def _blocks(n: int, d: int, law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Return how the change (forward, left, heading) of a robot depends on its own, and on that of its leader.

    For k_a = 1 and the distance 1 between neighbours: the formation rotates with the bearing A = pi d / n. With complex
    displacements z, the leader is at exp(iA) + exp(2iA) z' - z; dr + i da = exp(-iA) (exp(2iA) z' - z) - i heading.
    """
    angle = math.pi * d / n
    seen = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])  # times exp(-iA)
    own, after = np.zeros((3, 3)), np.zeros((3, 3))
    changes = {"own": np.column_stack((-seen, (0.0, -1.0))), "after": np.column_stack((seen.T, (0.0, 0.0)))}
    k_r = 1.0 / ratio(n, d) if law == "proportional" else 0.0
    for matrix, change in ((own, changes["own"]), (after, changes["after"])):
        matrix[0] += k_r * change[0]
        matrix[2] += change[1]
    speed = 0.5 * angle / math.sin(angle)  # rate of rotation times radius, for the distance 1
    own += np.array([[0.0, angle, 0.0], [-angle, 0.0, speed], [0.0, 0.0, 0.0]])
    return own, after


def formation(n: int, radius_m: float, d: int = 1, bearing: float | None = None) -> np.ndarray:
    """Return the poses of a regular formation {n/d} around the origin, (n, 3): x, y [m], heading [rad].

    Args:
        n, d: the formation.
        radius_m: of its circle [m].
        bearing: under which each sees its leader [rad]; None: pi d / n, so that all drive along the circle.
    """
    angle = math.pi * d / n
    at = 2.0 * angle * np.arange(n)
    heading = at + 0.5 * math.pi + angle - (angle if bearing is None else bearing)
    return np.column_stack((radius_m * np.cos(at), radius_m * np.sin(at), wrap_angle(heading)))


@controller("cyclic_pursuit", scope="group", sees=("pose",), missions=())
def cyclic_pursuit(
    team: Any, *, law: Law = "constant_speed", k_r: Gain = 0.2, k_a: Gain = 0.4, speed_m_s: Pace = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    """Follow the next robot of the ring: the team comes to drive on one circle, equally spaced.

    Args:
        law: constant_speed: all drive at ``speed_m_s``, on a circle of the radius speed n / (k_a pi). proportional:
            the speed is ``k_r`` times the distance, and the circle keeps its size only if
            k_a / k_r = 2 sin(pi/n) / (pi/n).
        k_r: speed per distance [1/s], of the proportional law.
        k_a: turn rate per bearing [1/s].
        speed_m_s: of the law of constant speed [m/s].

    References:
        J. A. Marshall, M. E. Broucke, B. A. Francis: Pursuit formations of unicycles. Automatica 42(1), 2006.
    """
    leader = team.after(1)
    speed = k_r * team.distance_to(leader) if law == "proportional" else np.full(team.count, speed_m_s)
    return speed, k_a * team.bearing_to(leader)
