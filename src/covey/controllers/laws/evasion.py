"""Evasion: an evader among corner targets, away from its pursuer. Three rules.

They differ in what a pursuer needs against them, see `docs/laws.md`:

* clockwise: wait at a corner; when the pursuer is near, go to the next corner clockwise.
* opposite: the corner opposite to the pursuer, from the centre; of the two beside that direction, the counter-clockwise
  one.
* diagonal: the corner on the other side of both middle lines.

References:
    M. Casini, A. Garulli: MARS: an educational environment for multiagent robot simulations. Modelling and Simulation
    in Engineering, 2016 (the first rule won against pure pursuit; the others are simpler).
"""

import math
from typing import Literal

import numpy as np

Evasion = Literal["clockwise", "opposite", "diagonal"]

_AT_CORNER_M = 1e-6


def refuge(rule: Evasion, evader: np.ndarray, pursuer: np.ndarray, corners: np.ndarray, at: int, near_m: float) -> int:
    """Return the corner that a rule goes to; arguments as in `next_corner`."""
    if rule == "clockwise":
        return next_corner(evader, pursuer, corners, at, near_m)
    return (opposite_corner if rule == "opposite" else diagonal_corner)(pursuer, corners)


def next_corner(evader: np.ndarray, pursuer: np.ndarray, corners: np.ndarray, at: int, near_m: float) -> int:
    """Return the corner that the clockwise rule goes to.

    Args:
        evader, pursuer: positions [m], shape (2,).
        corners: clockwise [m], shape (k, 2).
        at: the corner that it went to so far.
        near_m: it leaves its corner when the pursuer is nearer than this [m].
    """
    waits = np.hypot(*(evader - corners[at])) < _AT_CORNER_M
    return (at + 1) % len(corners) if waits and np.hypot(*(pursuer - evader)) < near_m else at


def opposite_corner(pursuer: np.ndarray, corners: np.ndarray) -> int:
    """Return the corner that the opposite rule goes to.

    The direction of the pursuer from the middle is rounded to a quarter turn; 225 degrees further is the corner.

    Args:
        pursuer: its position [m], shape (2,).
        corners: [m], shape (k, 2).

    Examples:
        >>> opposite_corner(np.array([0.0, 0.5]), np.array([(1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 1.0)]))
        0
    """
    x, y = pursuer - corners.mean(axis=0)
    wanted = math.floor(math.atan2(y, x) / (0.5 * math.pi) + 0.5) * 0.5 * math.pi + 1.25 * math.pi
    way = corners - corners.mean(axis=0)
    return int(np.argmax(way @ (math.cos(wanted), math.sin(wanted)) / np.hypot(*way.T)))


def diagonal_corner(pursuer: np.ndarray, corners: np.ndarray) -> int:
    """Return the corner that the diagonal rule goes to; arguments as in `opposite_corner`.

    Examples:
        >>> diagonal_corner(np.array([0.3, 0.2]), np.array([(1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 1.0)]))
        0
    """
    x, y = pursuer - corners.mean(axis=0)
    wanted = np.array([-1.0 if x > 0.0 else 1.0, -1.0 if y > 0.0 else 1.0])
    return int(np.argmax((corners - corners.mean(axis=0)) @ wanted))


def corners_within(polygon: np.ndarray, inset: float = 0.1) -> np.ndarray:
    """Return four corners in the bounding box of a polygon, clockwise from the upper right, shape (4, 2) [m].

    Args:
        polygon: [m], shape (m, 2).
        inset: distance of the corners from the sides of the box, as a share of its sides.
    """
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    low, high = low + inset * (high - low), high - inset * (high - low)
    return np.array([high, (high[0], low[1]), low, (low[0], high[1])])
