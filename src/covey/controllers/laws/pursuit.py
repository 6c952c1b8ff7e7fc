"""Pursuit of an evader: straight at it, or by Voronoi cells.

The Voronoi cell of the evader is what it reaches before the pursuers, if all are equally fast. A pursuer that drives
to the midpoint of the edge that it shares with the evader makes its own cell grow the fastest: if p moves by dp, its
cell grows by L (m - p).dp / |e - p|, with m the midpoint and L the length of the edge. With equal speeds, and if the
pursuer sees where the evader has gone before it moves, the cell of the pursuer never shrinks.

References:
    H. Huang, W. Zhang, J. Ding, D. M. Stipanović, C. J. Tomlin: Guaranteed decentralized pursuit-evasion in the plane
    with multiple pursuers. CDC 2011.
    Z. Zhou, W. Zhang, J. Ding, H. Huang, D. M. Stipanović, C. J. Tomlin: Cooperative pursuit with Voronoi partitions.
    Automatica 72, 2016.
"""

import math
from typing import Any, Literal

import numpy as np

from covey.controllers.laws.evasion import Evasion, corners_within, refuge
from covey.controllers.laws.steering import driven, towards
from covey.geometry.voronoi import BORDER, clip, convex, moments, voronoi
from covey.kernel import kernel
from covey.onboard.controller import controller
from covey.robots.parameters import Gain, Metres, Pace, Points

Pursuit = Literal["pure", "midpoint", "area_growing"]

_DIRECTIONS = 72
_TOUCH_M = 0.01  # bodies this near touch
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


def midpoints(pursuers: np.ndarray, evader: np.ndarray, polygon: Any) -> np.ndarray:
    """Return the points that the pursuers drive to: (n, 2) [m].

    It is the midpoint of the Voronoi edge that the pursuer shares with the evader. A pursuer that shares none with it
    drives at the evader itself.

    Args:
        pursuers: positions [m], shape (n, 2).
        evader: position [m], shape (2,).
        polygon: corners of the convex workspace [m], shape (m, 2).

    Examples:
        >>> midpoints(np.array([(1.0, 1.0)]), np.array([3.0, 1.0]), [(0, 0), (4, 0), (4, 4), (0, 4)]).tolist()
        [[2.0, 2.0]]
    """
    n = len(pursuers)
    cells = voronoi(np.vstack((pursuers, evader)), polygon)
    edges = [cells.edge(i, n) for i in range(n)]
    return np.array([evader if edge is None else edge.mean(axis=0) for edge in edges])


def best_move(pursuer: np.ndarray, evader: np.ndarray, polygon: Any, step_m: float) -> np.ndarray:
    """Return where a pursuer has the largest Voronoi cell, among the points at ``step_m`` from it: (2,) [m].

    It compares directions all around, and then looks closer around the best one. A step further than to the evader
    ends on the evader.

    Args:
        pursuer, evader: positions [m], shape (2,).
        polygon: corners of the convex workspace [m], shape (m, 2).
        step_m: length of the move [m].
    """
    if np.hypot(*(evader - pursuer)) <= step_m:
        return np.array(evader, float)
    angle = _best_direction(*pursuer, *evader, convex(polygon), step_m)
    return pursuer + step_m * np.array([math.cos(angle), math.sin(angle)])


@kernel
def _best_direction(px, py, ex, ey, polygon, step):
    """Return the direction [rad] of the move with the largest cell."""
    ahead, best, most = math.atan2(ey - py, ex - px), 0.0, -1.0
    for k in range(_DIRECTIONS):
        angle = ahead + 2.0 * math.pi * k / _DIRECTIONS
        area = _own_area(px + step * math.cos(angle), py + step * math.sin(angle), ex, ey, polygon)
        if area > most:
            best, most = angle, area
    low, high = best - 2.0 * math.pi / _DIRECTIONS, best + 2.0 * math.pi / _DIRECTIONS
    while high - low > 1e-6:
        a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        area_a = _own_area(px + step * math.cos(a), py + step * math.sin(a), ex, ey, polygon)
        if area_a > _own_area(px + step * math.cos(b), py + step * math.sin(b), ex, ey, polygon):
            high = b
        else:
            low = a
    return 0.5 * (low + high)


@kernel
def _own_area(px, py, ex, ey, polygon):
    """Return the area [m²] of the part of a polygon nearer to p than to e."""
    count = len(polygon)
    across, cut, cut_across = np.empty(count, np.int64), np.empty((count + 1, 2)), np.empty(count + 1, np.int64)
    dx, dy = ex - px, ey - py
    limit = dx * (px + 0.5 * dx) + dy * (py + 0.5 * dy)
    count = clip(polygon, across, count, dx, dy, limit, BORDER, cut, cut_across)
    return moments(cut, count, px, py)[0]


@controller("pursuit", scope="group", sees=("pose", "others"), missions=())
class PursuitAndEvasion:
    """Play pursuit and evasion: the last robot of the group evades, all others pursue it.

    With ``evader: others`` all pursue, each the nearest robot of another group, such as an `Evader`.

    It is done, and a run without another goal ends, when a pursuer has caught the evader. All move at once; with
    ``turns`` the evader moves in one step, and the pursuers, who have seen where it went, in the next.

    Args:
        rule: of the pursuers. pure: straight at the evader. midpoint: to the midpoint of the Voronoi edge shared with
            it. area_growing: the move that makes the Voronoi cell of a pursuer the largest.
        evasion: of the evader, among four corners. clockwise: to the next one when a pursuer is near. opposite,
            diagonal: away from the pursuer.
        speed_m_s: of the pursuers [m/s].
        evader_speed_m_s: of the evader [m/s].
        near_m: with clockwise, the evader leaves a corner when a pursuer is nearer than this [m].
        capture_m: a pursuer as near as this, or that touches the evader, has caught it [m].
        turns: whether pursuers and evader move in turns.
        turn_gain: of robots that must turn: turn rate per angle to their way [1/s].
        workspace_m: corners of the convex workspace [m]; empty: that of the team. The evader's corners are 10 % of its
            sides from its border.
        evader: who evades: the last robot of the group, or others; then neither ``turns`` nor the end are theirs.

    References:
        Z. Zhou, W. Zhang, J. Ding, H. Huang, D. M. Stipanović, C. J. Tomlin: Cooperative pursuit with Voronoi
        partitions. Automatica 72, 2016.
    """

    def __init__(
        self,
        rule: Pursuit = "midpoint",
        evasion: Evasion = "clockwise",
        speed_m_s: Pace = 0.9,
        evader_speed_m_s: Pace = 1.0,
        near_m: Metres = 3.0,
        capture_m: Metres = 0.2,
        turns: bool = False,
        turn_gain: Gain = 3.0,
        workspace_m: Points = (),
        evader: Literal["last", "others"] = "last",
    ):
        self.evasion: Evasion = evasion
        self.rule, self.turns, self.evader = rule, turns, evader
        self.speed_m_s, self.evader_speed_m_s = speed_m_s, evader_speed_m_s
        self.near_m, self.capture_m, self.turn_gain, self.workspace_m = near_m, capture_m, turn_gain, workspace_m
        self.caught_s = math.inf
        self._corner, self._moves = 0, 0

    def step(self, team: Any) -> Any:
        """Return the commands of all robots."""
        if self.evader == "others":
            return self._pursue(team)
        velocity, position = np.zeros((team.count, 2)), team.position
        pursuers, evader = position[:-1], position[-1]
        distance = np.hypot(*(pursuers - evader).T)
        reach = max(self.capture_m, 2.0 * team.robot.outer_radius_m + _TOUCH_M)
        if math.isinf(self.caught_s) and (distance <= reach).any():
            self.caught_s = team.time
            team.note(team.count - 1, f"caught by {team.names[int(distance.argmin())]}")
            team.finish()
        if math.isfinite(self.caught_s) or not len(pursuers):
            return driven(team, velocity)
        polygon = np.array(self.workspace_m or team.workspace)
        if not self.turns or self._moves % 2 == 0:
            corners = corners_within(polygon)
            nearest = pursuers[distance.argmin()]
            self._corner = refuge(self.evasion, evader, nearest, corners, self._corner, self.near_m)
            velocity[-1] = towards(evader[None], corners[self._corner][None], self.evader_speed_m_s, team.dt)[0]
        if not self.turns or self._moves % 2 == 1:
            velocity[:-1] = self._chase(pursuers, evader, polygon, team.dt)
        self._moves += 1
        return driven(team, velocity, self.turn_gain)

    def _pursue(self, team: Any) -> Any:
        """Return the commands of robots that all pursue, each the nearest robot of another group."""
        others, position, polygon = team.fields["others"], team.position, np.array(self.workspace_m or team.workspace)
        if not len(others):
            return driven(team, np.zeros((team.count, 2)))
        nearest = np.hypot(*(position[:, None] - others[None, :, :2]).transpose(2, 0, 1)).argmin(axis=1)
        velocity = np.zeros((team.count, 2))
        for k in np.unique(nearest).tolist():
            own = nearest == k
            velocity[own] = self._chase(position[own], others[k, :2], polygon, team.dt)
        return driven(team, velocity, self.turn_gain)

    def _chase(self, pursuers: np.ndarray, evader: np.ndarray, polygon: np.ndarray, period_s: float) -> np.ndarray:
        """Return the velocities of the pursuers."""
        if self.rule == "area_growing":
            step_m = self.speed_m_s * period_s
            return (np.array([best_move(p, evader, polygon, step_m) for p in pursuers]) - pursuers) / period_s
        goals = midpoints(pursuers, evader, polygon) if self.rule == "midpoint" else np.tile(evader, (len(pursuers), 1))
        return towards(pursuers, goals, self.speed_m_s, period_s)
