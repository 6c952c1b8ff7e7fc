"""Artificial potential fields: the goal attracts, obstacles repel, and the robot goes downhill.

With d the distance to the goal and D the distance to an obstacle, its potential is the sum of

* attraction: zeta d² / 2 up to d*, and d* zeta d - zeta d*² / 2 beyond;
* repulsion: eta (1/D - 1/Q)² d^m / 2 for D up to Q, and 0 beyond. With m = 0 this is Khatib's. A goal close to an
  obstacle is then not the lowest point (goals non-reachable with obstacles nearby, GNRON); with m = 2 it is.

A robot stops in a local minimum, such as in a room with the goal behind its wall.

References:
    O. Khatib: Real-time obstacle avoidance for manipulators and mobile robots. International Journal of Robotics
    Research 5(1), 1986.
    S. S. Ge, Y. J. Cui: New potential functions for mobile robot path planning. IEEE Transactions on Robotics and
    Automation 16(5), 2000.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field

from covey.controllers.laws.steering import driven, middle_of
from covey.onboard.controller import controller
from covey.robots.parameters import Gain, Metres, Pace, Points, Seconds, Segments

_FAR_M = 1e9  # where an obstacle is that is not there
_NEAREST_M = 1e-3  # a body that touches an obstacle is repelled as from here


class Gains(NamedTuple):
    """The numbers of a potential field.

    Attributes:
        zeta: strength of the goal [1/s]; the force is the wanted velocity.
        d_star: d*, up to which the attraction grows [m].
        eta: strength of the obstacles.
        q_star: Q, up to which obstacles repel [m].
        gnron: m, the power of the distance to the goal in the repulsion; 0: Khatib's field.
    """

    zeta: float = 1.0
    d_star: float = 1.0
    eta: float = 0.1
    q_star: float = 1.0
    gnron: float = 0.0


def potential(position: np.ndarray, goal: np.ndarray, obstacles: np.ndarray, gains: Gains = Gains()) -> np.ndarray:
    """Return the potential at each position, shape (n,).

    Args:
        position: [m], shape (n, 2).
        goal: of each [m], shape (n, 2).
        obstacles: the nearest point of each obstacle [m], shape (n, k, 2); not finite: no obstacle.
        gains: of the field.
    """
    zeta, d_star, eta, q, power = gains
    d = np.hypot(*(position - goal).T)
    _, gap = _away(position, obstacles)
    near = np.where(gap <= q, (1.0 / gap - 1.0 / q) ** 2, 0.0).sum(axis=1)
    attraction = np.where(d <= d_star, 0.5 * zeta * d**2, d_star * zeta * (d - 0.5 * d_star))
    return attraction + 0.5 * eta * near * d**power


def force(position: np.ndarray, goal: np.ndarray, obstacles: np.ndarray, gains: Gains = Gains()) -> np.ndarray:
    """Return the force on each robot, the negative gradient of `potential`, shape (n, 2).

    Arguments as in `potential`.
    """
    zeta, d_star, eta, q, power = gains
    way = goal - position
    d = np.maximum(np.hypot(*way.T), 1e-300)
    total = way * (zeta * np.minimum(1.0, d_star / d))[:, None]
    away, gap = _away(position, obstacles)
    steep = np.where(gap <= q, 1.0 / gap - 1.0 / q, 0.0)
    push = eta * steep / gap**3 * d[:, None] ** power
    total += np.where((steep > 0.0)[..., None], push[..., None] * away, 0.0).sum(axis=1)
    if power:
        total += way * (0.5 * power * eta * (steep**2).sum(axis=1) * d ** (power - 2.0))[:, None]
    return total


def _away(position: np.ndarray, obstacles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ways from obstacles, (n, k, 2), and their lengths, (n, k) [m]."""
    away = position[:, None] - np.nan_to_num(obstacles, nan=_FAR_M, posinf=_FAR_M, neginf=-_FAR_M)
    return away, np.maximum(np.hypot(away[..., 0], away[..., 1]), _NEAREST_M)


def nearest_points(position: np.ndarray, walls: np.ndarray) -> np.ndarray:
    """Return the point of each wall that is nearest to each position, shape (n, k, 2) [m].

    Args:
        position: [m], shape (n, 2).
        walls: both ends of each [m], shape (k, 2, 2).
    """
    start, along = walls[:, 0], walls[:, 1] - walls[:, 0]
    length = np.maximum((along**2).sum(axis=1), 1e-300)
    share = (((position[:, None] - start) * along).sum(axis=2) / length).clip(0.0, 1.0)
    return start + share[..., None] * along


def seen_points(pose: np.ndarray, reading: Any) -> np.ndarray:
    """Return the nearest point that each robot's range sensor shows, shape (n, 1, 2) [m]; infinite if none.

    Args:
        pose: x, y [m], heading [rad], shape (n, 3).
        reading: of a lidar or proximity ring: ``ranges`` [m], (n, k), not finite: nothing, and ``angles`` [rad].
    """
    ranges = np.nan_to_num(reading.ranges, nan=np.inf)
    ray = ranges.argmin(axis=1)
    distance = np.take_along_axis(ranges, ray[:, None], axis=1)[:, 0]
    angle = pose[:, 2] + np.broadcast_to(reading.angles, ranges.shape)[np.arange(len(ray)), ray]
    with np.errstate(invalid="ignore"):
        return (pose[:, :2] + distance[:, None] * np.column_stack((np.cos(angle), np.sin(angle))))[:, None]


@controller("potential_field", scope="group", sees=("pose", "goals", "lidar", "proximity"), missions=())
class PotentialField:
    """Go downhill in a potential field, from way-point to way-point; a robot in a local minimum says that it is stuck.

    A force is taken as a velocity. The walls are those given, or the nearest point that the robot's lidar or proximity
    ring shows.

    Args:
        waypoints_m: x, y of the goals [m], one after the other, for each robot of the group; empty: the goal that
            the mission has for each, or the middle of the workspace.
        walls_m: x1, y1, x2, y2 of both ends of each known wall [m]; empty: what lidar or proximity show.
        zeta: strength of the goal [1/s].
        d_star_m: distance up to which its attraction grows [m].
        eta: strength of the obstacles.
        q_star_m: distance up to which they repel [m].
        gnron: power of the distance to the goal in the repulsion; 0: Khatib's field; 2: a goal near a wall is reached.
        speed_m_s: largest speed [m/s].
        turn_gain: of robots that must turn: turn rate per angle to the force [1/s].
        arrived_m: a way-point is reached at this distance [m].
        stuck_m: a robot that goes no further than this [m] in ``stuck_s`` is stuck,
        stuck_s: unless it has arrived [s].

    References:
        O. Khatib: Real-time obstacle avoidance for manipulators and mobile robots. International Journal of Robotics
        Research 5(1), 1986.
    """

    def __init__(
        self,
        waypoints_m: Points = (),
        walls_m: Segments = (),
        zeta: Gain = 1.0,
        d_star_m: Metres = 1.0,
        eta: Gain = 0.1,
        q_star_m: Metres = 1.0,
        gnron: Annotated[float, Field(ge=0, le=10)] = 0.0,
        speed_m_s: Pace = 0.5,
        turn_gain: Gain = 3.0,
        arrived_m: Metres = 0.1,
        stuck_m: Metres = 0.1,
        stuck_s: Seconds = 10.0,
    ):
        self.waypoints = np.array(waypoints_m, float).reshape(-1, 2)
        self.walls = np.array(walls_m, float).reshape(-1, 2, 2)
        self.gains = Gains(zeta, d_star_m, eta, q_star_m, gnron)
        self.speed_m_s, self.turn_gain = speed_m_s, turn_gain
        self.arrived_m, self.stuck_m, self.stuck_s = arrived_m, stuck_m, stuck_s
        self.leg = self.last = np.zeros(0, np.int64)
        self.stuck = self.arrived = np.zeros(0, bool)

    def step(self, team: Any) -> Any:
        """Return the commands of all robots."""
        position = team.position
        if not len(self.leg):
            self.stuck = np.zeros(team.count, bool)
            if not len(self.waypoints) and "goals" in team.fields:
                self.waypoints, self.leg = team.goals, np.arange(team.count)
                self.last = self.leg
            else:
                if not len(self.waypoints):
                    self.waypoints = middle_of(team.workspace)[None]
                self.leg, self.last = np.zeros(team.count, np.int64), np.full(team.count, len(self.waypoints) - 1)
            self._since, self._anchor = np.full(team.count, team.time), position.copy()
        goal = self.waypoints[self.leg]
        reached = np.hypot(*(position - goal).T) <= self.arrived_m
        self.arrived = reached & (self.leg == self.last)
        self.leg = np.where(reached & ~self.arrived, self.leg + 1, self.leg)
        self._watch(team)
        pull = force(position, self.waypoints[self.leg], self._obstacles(team), self.gains)
        strength = np.hypot(*pull.T)
        velocity = pull * np.minimum(1.0, self.speed_m_s / np.maximum(strength, 1e-300))[:, None]
        return driven(team, np.where(self.arrived[:, None], 0.0, velocity), self.turn_gain)

    def _watch(self, team: Any) -> None:
        """Find out who is stuck, and say it once."""
        moved = np.hypot(*(team.position - self._anchor).T) > self.stuck_m
        free = moved | self.arrived
        self._since = np.where(free, team.time, self._since)
        self._anchor = np.where(free[:, None], team.position, self._anchor)
        stuck = team.time - self._since >= self.stuck_s
        for i in np.flatnonzero(stuck & ~self.stuck):
            x, y = self.waypoints[self.leg[i]]
            team.note(i, f"stuck in a local minimum of the potential on the way to ({x:g}, {y:g})")
        self.stuck = stuck

    def _obstacles(self, team: Any) -> np.ndarray:
        """Return the nearest point of each obstacle, (n, k, 2) [m]."""
        if len(self.walls):
            return nearest_points(team.position, self.walls)
        for sensor in ("lidar", "proximity"):
            reading = getattr(team, sensor, None)
            if reading is not None:
                return seen_points(team.pose, reading)
        return np.empty((team.count, 0, 2))
