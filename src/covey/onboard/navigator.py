"""`Navigator`: drives one robot to goals, by its own estimate, map, lidar and sight of others."""

import math
from itertools import takewhile
from typing import Any, Literal

import numpy as np

from covey.geometry import wrap_angle
from covey.onboard import right_of_way, route
from covey.onboard.driving import DriveLimits, Driving, approach_speed
from covey.onboard.unsafe_ground import Balking
from covey.planning.dynamic_window import PATH_SAMPLES, dynamic_window, holonomic_window
from covey.planning.follow import lookahead
from covey.planning.obstacles import lidar_points, map_points, move_points, seen_points, track
from covey.planning.progress import ProgressTimer
from covey.planning.reciprocal import reciprocal_velocity, velocity_in_lane
from covey.robots.computer import Work

State = Literal["driving", "reached", "unreachable", "stuck"]
Command = tuple[float, float, float]

_STAND: Command = (0.0, 0.0, 0.0)
_TRACKS = 24
_POINTS = 256
_NO_LINE = np.zeros((1, 2))
_SEARCH_S = 12.0  # for how long a way that others may hide is looked for
_REMEMBER_S = 60.0  # for how long it is remembered where robots have been
_NEAR_M = 6.0  # robots nearer than this may hide a way
_REPLAN_S = 1.0
_QUEUE_M = 2.0  # robots nearer than this that move now and then are waited for
_TURN = 3.0  # ... for so many times as long as for anything else
_GOLDEN = 0.618034
_PROBLEMS = {
    "wall": "the goal is outside of the map, in a wall, or too near one",
    "no way": "its map shows no way to the goal",
}
_NOBODY = np.empty(0, np.int64)


class Navigator:
    """Drives one robot: to a goal (`start`), a distance straight on (`forward`), through an angle (`turn`).

    Everything is in the frame of the robot's estimated pose; nothing here knows the truth.

    Args:
        limits: what the drive can do.
        body: float (k, 3), discs x, y, radius [m] in the body frame.
        driving: how to plan and drive.
        identity: of this robot among its neighbours; the smaller one has the right of way.
    """

    def __init__(self, limits: DriveLimits, body: Any, driving: Driving | None = None, identity: int = 0):
        self.limits, self.driving, self.identity = limits, driving or Driving(), identity
        discs = np.asarray(body, float).reshape(-1, 3)
        self.radius = float((np.hypot(discs[:, 0], discs[:, 1]) + discs[:, 2]).max())
        self.state: State = "reached"
        self.work: Work | None = None
        self.line, self._problem = _NO_LINE, ""
        self._window = limits.window(self.radius, self.driving)
        self._deceleration = 0.8 * self._window[4]
        self._turn_deceleration = 0.8 * self._window[5]
        self._reaction = limits.period + limits.reaction
        self._turn_gain = min(3.0, 0.5 / self._reaction)
        keep = 2.0 * (self.radius + self.driving.robot_margin_m)
        self._avoidance = np.array([self.radius + self.driving.wall_margin_m, keep + 0.04, 3.0, 0.8, 0.25, 0.15])
        self._tracks = np.full((_TRACKS, 8), math.inf)
        self._others = self._tracks[:0]  # up to the last that is in use
        self._points = np.empty((_POINTS, 2))
        self._way = np.empty((PATH_SAMPLES, 2))
        self._count = 0
        self._time: float | None = None
        self._sighting: Any = None
        self._scan: Any = None
        self._angles: Any = None
        self._seen = (1.0, -1.0)
        self._scan_count, self._elapsed, self._twist = 0, 0.0, _STAND
        self._balking = Balking()
        self._belief: Any = None
        self._place: Any = None
        self._reach = 1.0 + 2.0 * self.radius + 0.5 * limits.max_speed
        self._walls = 0  # how many of the points are walls; the others are ground that must not be driven on
        self._met_s, self._remember_s = -math.inf, -math.inf
        self._forget_s = 0.0
        self._been: dict[tuple[int, int], float] = {}  # decimetres at which robots were seen, and when last
        self._mode: Literal["idle", "goto", "line", "turn"] = "idle"
        self._progress = ProgressTimer(self.driving.progress_m, self.driving.stuck_after_s)
        self._roaming = ProgressTimer(5.0 * self.driving.progress_m, 2.25 * self.driving.stuck_after_s)
        self._stall = ProgressTimer(self.driving.progress_m, self.driving.recover_after_s)

    # Orders

    def start(self, goal_xy: Any, heading: float | None = None, tolerance_m: float | None = None) -> None:
        """Drive to a point [m], and then turn to a heading [rad] if one is given."""
        self._begin("goto")
        self._goal, self._heading = (float(goal_xy[0]), float(goal_xy[1])), heading
        self._tolerance = self.driving.tolerance_m if tolerance_m is None else tolerance_m
        self._checked_version = -1
        self._narrow: list[list[float]] = []
        self._planned, self._waits, self._short, self._jammed = False, False, False, False
        self._jams = 0
        self._plan_time, self._lost_s = -math.inf, math.inf
        self._beside, self._beside_until = (0.0, 0.0), -math.inf

    def forward(self, distance_m: float) -> None:
        """Drive straight on by a distance [m]; a negative one backs up."""
        self._begin("line")
        self._distance, self._origin = float(distance_m), None

    def turn(self, angle_rad: float) -> None:
        """Turn on the spot by an angle [rad], counter-clockwise positive; it may be more than a full turn."""
        self._begin("turn")
        self._angle, self._last_heading = float(angle_rad), None

    def stop(self) -> None:
        """Give up the present goal and stand."""
        self._mode = "idle"

    def _begin(self, mode: Literal["goto", "line", "turn"]) -> None:
        self._mode, self.state = mode, "driving"
        self._fresh, self._segment, self._recovery_until = True, 0, -math.inf

    # One step

    def command(
        self, pose: Any, twist: Any, belief: Any, lidar: Any, neighbours: Any, time_s: float
    ) -> tuple[Command, State]:
        """Return the body twist (vx, vy [m/s], omega [rad/s]) for the next control period, and the state.

        Args:
            pose: estimated x, y [m], heading [rad].
            twist: estimated vx, vy [m/s], omega [rad/s] in the body frame.
            belief: the robot's map, or None: then it drives straight at its goal.
            lidar: the newest lidar reading, or None.
            neighbours: the newest neighbour reading, or None.
            time_s: simulated time [s], growing from call to call.
        """
        x, y, heading = pose
        v, _, w = twist
        self._see(twist, neighbours, time_s)
        if time_s >= self._remember_s:
            self._remember(x, y, heading, time_s)
        if self._mode == "idle":
            return _STAND, self.state
        if self.work is not None:
            self.work.add("control")
        if self._fresh:
            self._fresh = False
            self._progress.restart(time_s, x, y)
            self._roaming.restart(time_s, x, y)
            self._stall.restart(time_s, x, y)
        if self._mode == "turn":
            return self._turn_step(heading, w, time_s)
        self._look(lidar, belief, x, y, heading)
        if self._mode == "line":
            return self._line_step(x, y, heading, v, w, time_s)
        return self._goto_step(x, y, heading, v, w, belief, time_s)

    @property
    def reason(self) -> str:
        """Why it did not get there, for people; empty when it did, or is on its way."""
        if self.state == "unreachable":
            return _PROBLEMS.get(self._problem, "the ground ahead is not known to be good")
        return "it could not get on any further: something is in the way" if self.state == "stuck" else ""

    def _finish(self, state: State) -> tuple[Command, State]:
        self._mode, self.state = "idle", state
        return _STAND, state

    def _see(self, twist: Any, neighbours: Any, time_s: float) -> None:
        """Take in a neighbour reading."""
        elapsed = self.limits.period if self._time is None else time_s - self._time
        self._time, self._elapsed, self._twist = time_s, elapsed, twist
        if neighbours is None:
            return
        ranges, sighting = neighbours.ranges, self._sighting
        self._sighting = neighbours
        if len(ranges):
            if ranges[0] < _NEAR_M:  # the nearest comes first
                self._met_s = time_s
        elif not len(self._others):
            return
        used = track(
            self._tracks,
            _NOBODY if neighbours is sighting else neighbours.identities,
            ranges,
            neighbours.bearings,
            neighbours.headings,
            *twist,
            elapsed,
        )
        if used != len(self._others):
            self._others = self._tracks[:used]

    def _remember(self, x: float, y: float, heading: float, time_s: float) -> None:
        """Remember where the robots near by are: what the map will show there is no wall."""
        self._remember_s = time_s + 0.5
        if time_s >= self._forget_s:
            self._forget_s = time_s + 5.0
            old = takewhile(lambda been: time_s - been[1] >= _REMEMBER_S, self._been.items())
            for place in [place for place, _ in old]:
                del self._been[place]
        c, s, near = math.cos(heading), math.sin(heading), _NEAR_M + 1e-6
        for row in self._others.tolist():
            if row[5] < math.inf and -near < row[0] < near and -near < row[1] < near:
                ox, oy = x + c * row[0] - s * row[1], y + s * row[0] + c * row[1]
                if math.hypot(ox - x, oy - y) < _NEAR_M:
                    place = round(10.0 * ox), round(10.0 * oy)
                    self._been.pop(place, None)  # the one seen last comes last
                    self._been[place] = time_s

    def _look(self, lidar: Any, belief: Any, x: float, y: float, heading: float) -> None:
        """Collect the obstacle points that matter now."""
        self._see_walls(lidar, belief, x, y, heading)
        self._walls = self._count
        if belief is not None:
            keep = float(self._avoidance[0])
            self._count = belief.unsafe_ground(self._points, self._count, (x, y, heading), self._reach, keep)

    def _see_walls(self, lidar: Any, belief: Any, x: float, y: float, heading: float) -> None:
        points, tracks, other = self._points, self._others, self.radius + 0.12
        self._count, seen_from, seen_to, place = 0, 1.0, -1.0, ()
        if belief is not None:
            if belief is not self._belief:
                self._belief, self._place = belief, belief.grid
            grid = self._place
            x0, y0, _ = grid.origin
            place = belief.occupancy(), grid.resolution, x0, y0, x, y, heading, min(self._reach, 1.0)
        if lidar is not None:
            angles, (mx, my, yaw) = lidar.angles, lidar.mount.tolist()
            if angles is not self._angles:
                self._angles, self._seen = angles, (yaw + float(angles[0]), yaw + float(angles[-1]))
            seen_from, seen_to = self._seen
            if lidar is not self._scan:
                self._scan = lidar
                scan = points, lidar.ranges, angles, mx, my, yaw, self._reach, 0.04, tracks, other
                if place and seen_to - seen_from < 6.0:
                    self._scan_count, self._count = seen_points(*scan, *place)
                    return
                self._scan_count = lidar_points(*scan)
            else:
                move_points(points, self._scan_count, *self._twist, self._elapsed)
            self._count = self._scan_count
        if place and seen_to - seen_from < 6.0:
            self._count = map_points(points, self._count, *place, seen_from, seen_to, tracks, other)

    def _turn_step(self, heading: float, w: float, time_s: float) -> tuple[Command, State]:
        if self._last_heading is not None:
            self._angle -= wrap_angle(heading - self._last_heading)
        self._last_heading = heading
        if abs(self._angle) < 0.5 * self.driving.heading_tolerance_rad and abs(w) < 0.1:
            return self._finish("reached")
        if self._progress.expired(time_s, 10.0 * self._angle, 0.0):
            return self._finish("stuck")
        if math.isinf(self.limits.turn_acceleration) and self.limits.reaction < self.limits.period:
            rate = (self._angle - w * self.limits.reaction) / self.limits.period  # it turns on until the command acts
            return (0.0, 0.0, max(-self.limits.max_turn, min(self.limits.max_turn, rate))), "driving"
        return (0.0, 0.0, self._turn_rate(self._angle)), "driving"

    def _turn_rate(self, angle: float) -> float:
        """Return the turn rate [rad/s] with which to turn by an angle [rad] without overshoot."""
        rate = approach_speed(abs(angle), self._turn_deceleration, self._reaction)
        return math.copysign(min(rate, self.limits.max_turn), angle)

    def _line_step(
        self, x: float, y: float, heading: float, v: float, w: float, time_s: float
    ) -> tuple[Command, State]:
        if self._origin is None:
            self._origin = (x, y, heading)
        ox, oy, along = self._origin
        dx, dy = x - ox, y - oy
        driven = dx * math.cos(along) + dy * math.sin(along)
        left = self._distance - driven
        if abs(left) < 0.02 and abs(v) < 0.1:
            return self._finish("reached")
        if self._progress.expired(time_s, x, y):
            return self._finish("stuck")
        sign = math.copysign(1.0, left)
        self._stall.expired(time_s, x, y)
        balks = self._balk(x, y, heading, 0.0 if sign > 0.0 else math.pi, v, w, time_s, "stuck")
        if balks is not None:
            return balks
        speed = sign * min(approach_speed(abs(left), self._deceleration, self._reaction), self.limits.max_speed)
        if math.isinf(self.limits.deceleration) and self.limits.reaction < self.limits.period:
            speed = (left - v * self.limits.reaction) / self.limits.period  # it rolls on until the command acts
            speed = max(-self.limits.max_speed, min(self.limits.max_speed, speed))
        if sign < 0.0:
            speed = max(speed, float(self._window[0]))
        across = -dx * math.sin(along) + dy * math.cos(along)
        error = wrap_angle(along - heading) - sign * math.atan2(across, 0.5 + abs(v))
        if abs(left) < 0.2 or abs(error) < self.limits.straight_angle:
            error = 0.0
        return self._safe(v, w, speed, self._turn_gain * error), "driving"

    # Driving to a goal

    def _goto_step(
        self, x: float, y: float, heading: float, v: float, w: float, belief: Any, time_s: float
    ) -> tuple[Command, State]:
        away = math.hypot(self._goal[0] - x, self._goal[1] - y)
        braking = v * v / (2.0 * self._window[4]) + abs(v) * self._reaction
        if away <= self._tolerance and braking <= self._tolerance:
            if self._heading is not None:
                self._begin("turn")
                self._fresh = False
                self._angle, self._last_heading = wrap_angle(self._heading - heading), heading
                return self._turn_step(heading, w, time_s)
            return self._finish("reached")
        if self._must_replan(belief, x, y, time_s):
            self._problem = self._plan(belief, x, y, heading, time_s)
        self._lost_s = min(self._lost_s, time_s) if self._problem else math.inf
        if self._problem:
            if self._problem == "no way" and time_s - min(self._met_s, self._lost_s) < _SEARCH_S:
                return self._safe(v, w, 0.0, 0.3 * self.limits.max_turn), "driving"  # others may hide it: look around
            return self._finish("unreachable")
        stands, roams = self._progress.expired(time_s, x, y), self._roaming.expired(time_s, x, y)
        if (stands or roams) and not self._waits_its_turn(time_s):
            return self._finish("stuck")
        ahead = min(max(0.25 + 0.6 * abs(v), 0.4), 1.2)
        tx, ty, self._segment, left, self._off = lookahead(self.line, self._segment, x, y, ahead)
        self._stall.expired(time_s, x, y)
        beside = self._give_way(x, y, heading, left, belief, time_s)
        if beside is not None:
            away = math.hypot(beside[0] - x, beside[1] - y)
            speed = (
                0.0
                if away < 0.12
                else min(approach_speed(away, self._deceleration, self._reaction), 0.6 * self.limits.max_speed)
            )
            return self._drive(beside[0] - x, beside[1] - y, heading, v, w, speed, away, 0.0), "driving"
        balks = self._balk(x, y, heading, math.atan2(ty - y, tx - x) - heading, v, w, time_s, "unreachable")
        if balks is not None:
            return balks
        speed = min(approach_speed(left + self._off, self._deceleration, self._reaction), self.limits.max_speed)
        return self._drive(tx - x, ty - y, heading, v, w, speed, left + 0.1, 1.0), "driving"

    def _balk(
        self, x: float, y: float, heading: float, bearing: float, v: float, w: float, time_s: float, end: State
    ) -> tuple[Command, State] | None:
        """Look around where ground that is not known to be good holds the robot up, and then end; None to drive on."""
        if self._count == self._walls and not self._balking.turning > 0.0:
            return None
        ground, near = self._points[self._walls : self._count], float(self._avoidance[0]) + 0.1
        what = self._balking.step(x, y, heading, bearing, self._stall.waited(time_s), ground, near)
        if what == "gives up":
            return self._finish(end)
        if what == "turns":
            self._stall.restart(time_s, x, y)
            return self._safe(v, w, 0.0, 0.5 * self.limits.max_turn), "driving"
        return None

    def _give_way(
        self, x: float, y: float, heading: float, left: float, belief: Any, time_s: float
    ) -> tuple[float, float] | None:
        """Return where to go instead [m], because others go first; None to drive on."""
        if time_s < self._beside_until:
            return self._beside
        stalled = self._stall.waited(time_s)
        s = self._length - left
        if belief is not None:
            for begin, end in self._narrow:
                if s > end or begin - s > right_of_way.AHEAD_M:
                    continue
                others = right_of_way.others_of(self._others, x, y, heading)
                if not len(others):
                    break
                decision = right_of_way.may_enter(self.line, begin, end, s, others, self.identity, stalled)
                if decision == right_of_way.GO:
                    self._waits = False
                    break
                if not self._waits or decision == right_of_way.RETREAT or stalled > 3.0:
                    grid = belief.grid
                    px, py, found = right_of_way.waiting_place(
                        self.line,
                        begin,
                        x,
                        y,
                        others,
                        belief.occupancy(),
                        grid.origin[0],
                        grid.origin[1],
                        grid.resolution,
                        self.radius + self.driving.wall_margin_m,
                        float(self._avoidance[1]),
                    )
                    self._beside, self._waits = (px, py) if found else (x, y), True
                if decision == right_of_way.RETREAT:
                    self._beside_until = time_s + 4.0
                    self._stall.restart(time_s, x, y)
                return self._beside
        self._waits = False
        if stalled > 2.0 and self._must_yield(stalled):
            _, _, course = right_of_way.point_on(self.line, s)
            angle = heading + right_of_way.way_out(
                course - heading,
                self._points,
                self._count,
                self._others,
                float(self._avoidance[0]),
                float(self._avoidance[1]),
            )
            self._beside = (x + 0.8 * math.cos(angle), y + 0.8 * math.sin(angle))
            self._jams += 1
            pause = 1.3 + 1.7 * (_GOLDEN * (self.identity + 1) * self._jams % 1.0)  # no two keep the same rhythm
            self._beside_until, self._jammed = time_s + pause, True
            self._stall.restart(time_s, x, y)
            return self._beside
        return None

    def _waits_its_turn(self, time_s: float) -> bool:
        """Return whether robots that still move are in the way, and have not been for very long."""
        if self._roaming.waited(time_s) > _TURN * self._roaming.timeout_s:
            return False
        for row in self._others:
            if row[5] < math.inf and math.hypot(row[0], row[1]) < _QUEUE_M and row[7] < self.driving.stuck_after_s:
                return True
        return False

    def _must_yield(self, stalled: float) -> bool:
        """Return whether a robot with the right of way is close, or this one has waited for very long."""
        for row in self._others:
            if (
                row[5] < math.inf
                and math.hypot(row[0], row[1]) < 4.0 * self.radius
                and (row[4] < self.identity or stalled > 8.0)
            ):
                return True
        return False

    def _must_replan(self, belief: Any, x: float, y: float, time_s: float) -> bool:
        if not self._planned and self._plan_time == -math.inf:
            return True
        if belief is None or time_s - self._plan_time < _REPLAN_S:
            return False
        if not self._planned:
            return True
        stands = self._short or self._jammed or self._stall.waited(time_s) > 3.0
        if self._off > 1.0 or (stands and time_s - self._plan_time > 3.0 * _REPLAN_S):
            return True
        version = belief.version
        if version == self._checked_version:
            return False
        self._checked_version = version
        grid = self._place if belief is self._belief else belief.grid
        lethal = route.lethal_clearance(self.radius, grid.resolution)
        return route.is_blocked(
            self.line,
            self._segment,
            x,
            y,
            belief.occupancy(),
            grid.origin[0],
            grid.origin[1],
            grid.resolution,
            lethal,
            6.0,
        )

    def _plan(self, belief: Any, x: float, y: float, heading: float, time_s: float) -> str:
        """Plan the way from here; return what is wrong, or an empty string."""
        self._segment, self._off, self._plan_time, self._planned, self._jammed = 0, 0.0, time_s, True, False
        if belief is None:
            self.line, self._narrow = route.straight((x, y), self._goal).line, []
            self._length = math.hypot(self._goal[0] - x, self._goal[1] - y)
            return ""
        self._checked_version = belief.version
        others = self.others(x, y, heading)
        been = self._been_at if self._been else None
        planned = route.plan(belief.grid, (x, y), self._goal, self.radius, self.driving, others, self._tolerance, been)
        if isinstance(planned, str):
            self._planned = False
            return planned
        self.line, narrow = planned
        self._narrow = narrow.tolist()
        self._length = float(np.hypot(*np.diff(self.line, axis=0).T).sum())
        end = self.line[-1]
        self._short = math.hypot(self._goal[0] - end[0], self._goal[1] - end[1]) > self._tolerance
        return ""

    def _been_at(self) -> np.ndarray:
        """Return where robots have been seen lately [m], float64 (k, 2)."""
        return np.array([(0.1 * i, 0.1 * k) for i, k in self._been])

    def others(self, x: float, y: float, heading: float) -> np.ndarray:
        """Return where the robots in sight are [m], float64 (k, 2)."""
        c, s = math.cos(heading), math.sin(heading)
        tracks = self._others.tolist()
        seen = [(x + c * row[0] - s * row[1], y + s * row[0] + c * row[1]) for row in tracks if row[5] < math.inf]
        return np.array(seen, float).reshape(-1, 2)

    def _drive(
        self, dx: float, dy: float, heading: float, v: float, w: float, speed: float, goal_distance: float, right: float
    ) -> Command:
        """Drive towards an offset [m] in the map frame at a speed [m/s], around what is in the way."""
        c, s = math.cos(heading), math.sin(heading)
        bx, by = c * dx + s * dy, c * dy - s * dx
        length = math.hypot(bx, by)
        scale = speed / length if length > 1e-9 else 0.0
        sight = (
            self._twist[0],
            self._twist[1],
            self.limits.max_speed,
            goal_distance,
            self._points,
            self._count,
            self._others,
            self._avoidance,
        )
        shift = vx = vy = 0.0
        if right > 0.0:
            shift, vx, vy = velocity_in_lane(bx, by, scale, *sight)
            if shift > 0.0:
                bx, by = bx + shift * by / length, by - shift * bx / length
                length = math.hypot(bx, by)
                scale = speed / length if length > 1e-9 else 0.0
        if shift > 0.0 or not right > 0.0:
            vx, vy = reciprocal_velocity(scale * bx, scale * by, *sight)
        if self.limits.kinematics == "holonomic":
            rate = 0.5 * self._turn_gain * math.atan2(vy, vx) if self.limits.max_turn > 0.0 else 0.0
            vx, vy, _ = holonomic_window(
                *self._twist[:2], vx, vy, self._points, self._count, self._others, self._window, self._way
            )
            return vx, vy, rate
        wanted = math.hypot(vx, vy)
        if wanted < 1e-3:
            return self._safe(v, w, 0.0, 0.0)
        angle = math.atan2(vy, vx)
        if abs(angle) > 2.8 and abs(w) > 0.1:  # do not change the side while turning round
            angle = math.copysign(angle, w)
        rate = math.copysign(min(self._turn_gain * abs(angle), abs(self._turn_rate(angle))), angle)
        if abs(angle) < self.limits.straight_angle:
            rate = 0.0
        forward = wanted * max(math.cos(angle), 0.0) ** 2 if abs(angle) < 1.0 else 0.0
        return self._safe(v, w, forward, rate)

    def _safe(self, v: float, w: float, want_v: float, want_w: float) -> Command:
        """Return the safe command nearest to the wanted one."""
        v, w, _ = dynamic_window(v, w, want_v, want_w, self._points, self._count, self._others, self._window, self._way)
        return v, 0.0, w
