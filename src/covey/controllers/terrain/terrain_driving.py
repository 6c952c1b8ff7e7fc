"""Driving over a landscape along waypoints: follow the line, avoid team mates, and back off when stuck."""

import math
from collections.abc import Iterable

import numpy as np

from covey.onboard.driving import DriveLimits, Driving
from covey.onboard.handle import Robot
from covey.planning.best_first import LandscapePaths
from covey.planning.disallow import allowed_bearings, arc_width
from covey.planning.dynamic_window import PATH_SAMPLES, dynamic_window
from covey.planning.follow import lookahead

AHEAD_M = 0.8
"""The robot steers to the point of its path at this distance ahead [m]."""
OFF_M = 0.75
"""A robot farther than this from its path needs a new one [m]."""
_TURN = math.radians(35)  # if it is farther off the bearing than this, it turns on the spot
_GRAZE = math.radians(5)  # it may drive this far into an arc
_SIDES = math.radians(60)  # two sides of a mate whose bearings differ by less are equally good
_PROGRESS_M, _PATIENCE_S, _BACK_S = 0.3, 8.0, 2.0
_POINTS, _NO_TRACKS = 128, np.empty((0, 8))


class Disallow:
    """The bearings that a robot avoids because of its team mates, see `covey.planning.disallow`.

    Args:
        law: ``inverse`` or ``linear``.
        d_outer_m, d_inner_m: distances at which the arc begins, and at which it has its full width [m].
        w_max_deg: full width [degrees].
    """

    def __init__(self, law: str, d_outer_m: float, d_inner_m: float, w_max_deg: float):
        self.law, self.d_outer_m, self.d_inner_m, self.w_max = law, d_outer_m, d_inner_m, math.radians(w_max_deg)

    def arcs(self, x: float, y: float, mates: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        """Return middle and width [rad] of the arcs towards mates, given their positions and the robot's [m]."""
        found = []
        for mate_x, mate_y in mates:
            width = arc_width(
                math.hypot(mate_x - x, mate_y - y),
                self.law,  # pyright: ignore[reportArgumentType] (checked by the controller)
                self.d_outer_m,
                self.d_inner_m,
                self.w_max,
            )
            if width > 0.0:
                found.append((math.atan2(mate_y - y, mate_x - x), width))
        return found


class Driver:
    """Drives one robot along one path after another.

    Attributes:
        way: the path, float64 (k, 2) [m]; empty if there is none.
        stuck: number of times in a row that the robot has made no progress.
    """

    def __init__(self, disallow: Disallow, speed: float):
        self.disallow, self.speed = disallow, speed
        self.way = np.empty((0, 2))
        self.stuck = 0
        self._segment = 0
        self._least_m, self._least_s = math.inf, 0.0  # least path length left, and since when
        self._back_until_s = -math.inf
        self._bearing: float | None = None
        self._stuck_at = (math.inf, math.inf)

    def set_path(self, robot: Robot, way: np.ndarray) -> None:
        """Begin another path; a new path to the same goal does not reset the progress timer."""
        if not len(self.way) or math.dist(self.way[-1], way[-1]) > AHEAD_M:
            self._least_s = robot.time
        self.way, self._segment = np.ascontiguousarray(way), 0
        self._least_m = float(np.hypot(*np.diff(way, axis=0).T).sum())

    def stop(self, robot: Robot) -> None:
        """Drop the path and stand."""
        self.way = np.empty((0, 2))
        robot.stop()

    @property
    def goal(self) -> tuple[float, float] | None:
        """The end of the path [m]."""
        return (float(self.way[-1, 0]), float(self.way[-1, 1])) if len(self.way) else None

    def left(self, robot: Robot) -> np.ndarray:
        """Return the rest of the path from the robot's position, float64 (m, 2) [m]."""
        return np.vstack((robot.pose[:2], self.way[self._segment + 1 :])) if len(self.way) else self.way

    def turn_to(self, robot: Robot, heading: float) -> float:
        """Turn on the spot towards a heading [rad]; return the remaining angle [rad]."""
        off = math.remainder(heading - robot.pose.heading, math.tau)
        most = 0.6 * robot.model.max_turn_rad_s
        robot.drive(0.0, min(max(2.0 * off, -most), most))
        return abs(off)

    def go(self, robot: Robot, ways: LandscapePaths, mates: Iterable[tuple[float, float]], within_m: float) -> str:
        """Drive on for a step.

        Args:
            robot: the robot.
            ways: the ground as the robot believes it to be.
            mates: positions of the others [m].
            within_m: the path ends within this distance of its end [m].

        Returns:
            ``driving``; ``there`` at the end of the path; ``lost`` if the robot is far off its path; ``stuck`` if it
            has made no progress and has backed off.
        """
        x, y, heading = robot.pose
        top = self.speed * robot.model.max_speed_m_s
        if robot.time < self._back_until_s:
            _drive(robot, -0.4 * top, 0.0)
            return "driving"
        to_x, to_y, self._segment, left_m, off_m = lookahead(self.way, self._segment, x, y, AHEAD_M)
        gap_m = math.hypot(self.way[-1, 0] - x, self.way[-1, 1] - y)
        if gap_m <= within_m:
            return "there"
        if off_m > OFF_M and len(self.way) > 1 and self._segment + 2 < len(self.way):
            return "lost"
        if math.dist(self._stuck_at, (x, y)) > 2.0:
            self.stuck = 0
        if left_m + off_m < self._least_m - _PROGRESS_M:
            self._least_m, self._least_s = left_m + off_m, robot.time
        if robot.time > self._least_s + _PATIENCE_S:
            self._stuck_at = x, y
            self._back_until_s = robot.time + _BACK_S * robot.random.uniform(0.5, 1.5)
            self._least_m, self._least_s = math.inf, self._back_until_s
            self.stuck += 1
            return "stuck"
        arcs = self.disallow.arcs(x, y, mates)
        bearing = self._bearing = self._choose(math.atan2(to_y - y, to_x - x), x, y, ways, arcs)
        if bearing is None:
            robot.drive(0.0, 0.0)
            return "driving"
        off = math.remainder(bearing - heading, math.tau)
        most = 0.6 * robot.model.max_turn_rad_s
        omega = min(max(2.0 * off, -most), most)
        v = 0.0 if abs(off) > _TURN else top * math.cos(off) * min(1.0, 0.15 + max(left_m, gap_m))
        if any(abs(math.remainder(heading - middle, math.tau)) < 0.5 * width - _GRAZE for middle, width in arcs):
            v = 0.0  # do not drive into disallowed bearings while turning
        _drive(robot, v, omega)
        return "driving"

    def _choose(
        self, desired: float, x: float, y: float, ways: LandscapePaths, arcs: list[tuple[float, float]]
    ) -> float | None:
        """Return the allowed bearing nearest to the desired one that leads over drivable ground; None if there is none.

        Of two bearings at about the same distance, it is the one taken before.
        """
        if not arcs:
            return desired
        good = []
        for bearing in allowed_bearings(desired, arcs):
            ahead = np.array([(x, y), (x + AHEAD_M * math.cos(bearing), y + AHEAD_M * math.sin(bearing))])
            if bearing == desired:
                return desired
            if ways.is_clear(ahead):
                good.append(bearing)
        if not good or self._bearing is None:
            return good[0] if good else None
        before, least = self._bearing, abs(good[0] - desired)
        as_good = [b for b in good if abs(b - desired) < least + _SIDES]
        return min(as_good, key=lambda b: abs(math.remainder(b - before, math.tau)))


def _drive(robot: Robot, v: float, omega: float) -> None:
    """Drive at a speed [m/s] and turn rate [rad/s], or as close to them as unsafe ground allows.

    Forwards and backwards, the robot can always stop before it reaches ground that is not known to be good.
    """
    assert robot.map is not None
    driving, limits, radius = Driving(), DriveLimits.of(robot.model), robot.model.outer_radius_m
    points, reach = np.empty((_POINTS, 2)), 2.0 * radius + limits.max_speed
    count = robot.map.unsafe_ground(points, 0, tuple(robot.pose), reach, radius + driving.wall_margin_m)
    if count:
        window, way = limits.window(radius, driving), np.empty((PATH_SAMPLES, 2))
        now, _, turning = robot.twist
        v, omega, _ = dynamic_window(now, turning, v, omega, points, count, _NO_TRACKS, window, way)
    robot.drive(v, omega)
