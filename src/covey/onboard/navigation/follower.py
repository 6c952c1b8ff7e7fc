"""Path controller: the twist that brings a robot to its next point and avoids obstacles."""

import math
from typing import Any

import numpy as np

from covey.onboard.driving import DriveLimits, Driving, approach_speed
from covey.onboard.navigation.obstacle_view import ObstacleView
from covey.onboard.navigation.robots_in_sight import RobotsInSight
from covey.planning.dynamic_window import (
    MIN_SPEED,
    PATH_SAMPLES,
    TURN_ACCELERATION,
    WALL_MARGIN,
    dynamic_window,
    holonomic_window,
)
from covey.planning.reciprocal import WALL_RADIUS, reciprocal_velocity, velocity_in_lane

Command = tuple[float, float, float]

_TIGHT_S = 2.0  # a robot too near to a wall that has stood for longer than this keeps less distance from it ...
_BEFORE_TIGHT_S, _BEFORE_M = 8.0, 0.5  # ... as does one that has stood for this time so near before a narrow way ...
_AMONG_OTHERS_S, _OTHERS_M = 20.0, 2.0  # ... but with another robot within this distance, which may be the cause, later
_LEAST_GAP_M, _NOISE_M = 0.01, 0.002
_CREEP = 0.4  # share of the top speed in a tight place


class Follower:
    """Steers a body of some radius [m] within the limits of its drive, around the obstacles and robots in view.

    It keeps a gap to walls. A robot that stands by a wall, because it has been put nearer to it than that or because
    its way is narrower, keeps the little that there is, and drives slowly, until it has its usual gap again.
    """

    def __init__(self, limits: DriveLimits, driving: Driving, radius: float, view: ObstacleView, robots: RobotsInSight):
        self._limits, self._view, self._robots = limits, view, robots
        self._window, self._way = limits.window(radius, driving), np.empty((PATH_SAMPLES, 2))
        self._deceleration, self._turn_deceleration = 0.8 * limits.braking, 0.8 * float(self._window[TURN_ACCELERATION])
        self._lead_s = limits.lead_s
        self._turn_gain = min(3.0, 0.5 / self._lead_s)
        self._avoidance = np.array([*driving.gaps(radius), 3.0, 0.8, 0.25, 0.15])
        self._radius, self._usual_m, self._tight = radius, driving.gaps(radius)[0], False

    def approach(self, left_m: float) -> float:
        """Return the speed for driving towards a place without overshoot [m/s]."""
        return min(approach_speed(left_m, self._deceleration, self._lead_s), self._limits.max_speed)

    def fit(self, stalled_s: float, has_way: bool) -> None:
        """Choose the gap to walls, given the time without progress [s] and whether its map shows a way past them."""
        if stalled_s <= _TIGHT_S and not self._tight:
            return
        near_m, before_m = self._view.nearest_m, self._avoidance[WALL_RADIUS] if self._tight else 0.0
        is_inside, alone = near_m < self._usual_m, not self._robots.any_before(math.inf, _OTHERS_M)
        if alone or stalled_s > _AMONG_OTHERS_S:
            is_before = has_way and stalled_s > _BEFORE_TIGHT_S and near_m < self._usual_m + _BEFORE_M
            self._tight = is_before or (is_inside and (self._tight or stalled_s > _TIGHT_S))
        else:
            self._tight = self._tight and is_inside
        keep_m = min(self._usual_m, self._radius + _LEAST_GAP_M, max(near_m - _NOISE_M, 0.0, before_m))
        self._avoidance[WALL_RADIUS] = keep_m if self._tight else self._usual_m
        self._window[WALL_MARGIN] = self._avoidance[WALL_RADIUS] - self._radius

    def turn(self, angle: float, w: float) -> float:
        """Return the turn rate [rad/s] for turning by an angle [rad], given the present turn rate."""
        if self._acts_at_once(self._limits.turn_acceleration):
            rate = (angle - w * self._limits.reaction) / self._limits.period  # it turns until the command acts
            return max(-self._limits.max_turn, min(self._limits.max_turn, rate))
        return self._turn_rate(angle)

    def straight(self, left_m: float, error_rad: float, v: float, w: float) -> Command:
        """Return the command to drive straight by a distance, backwards if negative, given the heading error."""
        sign = math.copysign(1.0, left_m)
        speed = sign * self.approach(abs(left_m))
        if self._acts_at_once(self._limits.deceleration):
            speed = (left_m - v * self._limits.reaction) / self._limits.period  # it rolls until the command acts
            speed = max(-self._limits.max_speed, min(self._limits.max_speed, speed))
        if sign < 0.0:
            speed = max(speed, float(self._window[MIN_SPEED]))
        if abs(left_m) < 0.2 or abs(error_rad) < self._limits.straight_angle:
            error_rad = 0.0
        return self.safe(v, w, speed, self._turn_gain * error_rad)

    def towards(
        self, dx: float, dy: float, heading: float, twist: Any, speed: float, left_m: float, in_lane: bool = True
    ) -> Command:
        """Return the command to drive towards an offset [m] in the map frame at a speed, around obstacles.

        ``left_m`` is the distance to the goal [m]; with ``in_lane``, keep to the right of others.
        """
        if self._tight:
            speed = min(speed, _CREEP * self._limits.max_speed)
        c, s = math.cos(heading), math.sin(heading)
        vx, vy = self._avoid(c * dx + s * dy, c * dy - s * dx, twist, speed, left_m, in_lane)
        v, vy_now, w = twist
        if self._limits.kinematics == "holonomic":
            rate = 0.5 * self._turn_gain * math.atan2(vy, vx) if self._limits.max_turn > 0.0 else 0.0
            view, tracks = self._view, self._robots.tracks
            vx, vy, _ = holonomic_window(v, vy_now, vx, vy, view.points, view.count, tracks, self._window, self._way)
            return vx, vy, rate
        wanted = math.hypot(vx, vy)
        if wanted < 1e-3:
            return self.safe(v, w, 0.0, 0.0)
        angle = math.atan2(vy, vx)
        if abs(angle) > 2.8 and abs(w) > 0.1:  # do not change the side while turning around
            angle = math.copysign(angle, w)
        rate = math.copysign(min(self._turn_gain * abs(angle), abs(self._turn_rate(angle))), angle)
        if abs(angle) < self._limits.straight_angle:
            rate = 0.0
        forward = wanted * max(math.cos(angle), 0.0) ** 2 if abs(angle) < 1.0 else 0.0
        return self.safe(v, w, forward, rate)

    def safe(self, v: float, w: float, want_v: float, want_w: float) -> Command:
        """Return the safe command nearest to the desired one."""
        view, tracks = self._view, self._robots.tracks
        v, w, _ = dynamic_window(v, w, want_v, want_w, view.points, view.count, tracks, self._window, self._way)
        return v, 0.0, w

    def _avoid(
        self, bx: float, by: float, twist: Any, speed: float, left_m: float, in_lane: bool
    ) -> tuple[float, float]:
        """Return the velocity in the body frame nearest to the desired one that avoids contact for some time [m/s]."""
        length = math.hypot(bx, by)
        scale = speed / length if length > 1e-9 else 0.0
        view, tracks = self._view, self._robots.tracks
        sight = (
            twist[0], twist[1], self._limits.max_speed, left_m, view.points, view.count, tracks, self._avoidance
        )  # fmt: skip
        if in_lane:
            shift, vx, vy = velocity_in_lane(bx, by, scale, *sight)
            if not shift > 0.0:
                return vx, vy
            bx, by = bx + shift * by / length, by - shift * bx / length
            length = math.hypot(bx, by)
            scale = speed / length if length > 1e-9 else 0.0
        return reciprocal_velocity(scale * bx, scale * by, *sight)

    def _turn_rate(self, angle: float) -> float:
        """Return the turn rate [rad/s] for turning by an angle [rad] without overshoot."""
        rate = approach_speed(abs(angle), self._turn_deceleration, self._lead_s)
        return math.copysign(min(rate, self._limits.max_turn), angle)

    def _acts_at_once(self, acceleration: float) -> bool:
        return math.isinf(acceleration) and self._limits.reaction < self._limits.period
