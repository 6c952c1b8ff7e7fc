"""`Navigator`: drives one robot to goals, using its own estimate, map, lidar and neighbours sensor."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from covey.geometry import wrap_angle
from covey.onboard.driving import DriveLimits, Driving
from covey.onboard.giving_up import Reason, of_width
from covey.onboard.navigation.follower import Command, Follower
from covey.onboard.navigation.global_plan import GlobalPlan
from covey.onboard.navigation.goal_checker import GoalChecker
from covey.onboard.navigation.obstacle_view import ObstacleView
from covey.onboard.navigation.progress_checker import ProgressChecker
from covey.onboard.navigation.recovery import BackOff, Balking
from covey.onboard.navigation.right_of_way import RightOfWay
from covey.onboard.navigation.robots_in_sight import RobotsInSight
from covey.onboard.navigation.route import NO_PLACES
from covey.planning.obstacles import AGE, ID, STILL, X, Y
from covey.planning.widest import widest_ways
from covey.robots.computer import Work

State = Literal["driving", "reached", "unreachable", "stuck"]
Step = tuple[Command, State]

_STAND: Command = (0.0, 0.0, 0.0)
_SEARCH_S = 12.0  # time to search for a path that others may hide
_QUEUE_M = 2.0  # robots nearer than this that move now and then make it wait
_STANDS_S = 2.0  # a robot that has not moved for this time occupies the place where it stands
_NO_NEARER_S, _NEARER_M, _NEAR_M = 3.0, 0.1, 4.0  # then whoever comes no nearer by this gives up, if not far away
_CONTEST_S, _AROUND = 6.0, 2.2  # of robots that circle so near around a goal for so long, one goes first


class Navigator:
    """Drives one robot: to a goal (`start`), a distance straight on (`forward`), through an angle (`turn`).

    Everything is in the frame of the robot's estimated pose; nothing here knows the truth.

    Args:
        limits: limits of the drive.
        body: float (k, 3), discs x, y, radius [m] in the body frame.
        driving: how to plan and drive.
        identity: identity of this robot among its neighbours; the smaller one has right of way.
        names: names of the robots by their identities, for reasons.

    Attributes:
        why: why it did not reach its last goal.
        jams: places where it did not get through, float64 (k, 2) [m]; see `jammed`.
    """

    def __init__(
        self,
        limits: DriveLimits,
        body: Any,
        driving: Driving | None = None,
        identity: int = 0,
        names: Sequence[str] = (),
    ):
        self.limits, self.driving = limits, driving or Driving()
        discs = np.asarray(body, float).reshape(-1, 3)
        self.radius = float((np.hypot(discs[:, 0], discs[:, 1]) + discs[:, 2]).max())
        self.state: State = "reached"
        self.work: Work | None = None
        wall_m, robot_m = self.driving.gaps(self.radius)
        reach_m = 1.0 + 2.0 * self.radius + 0.5 * limits.max_speed
        self.robots = RobotsInSight()
        self.view = ObstacleView(reach_m, wall_m, self.radius + 0.12)
        self.plan = GlobalPlan(self.radius, self.driving)
        self.follower = Follower(limits, self.driving, self.radius, self.view, self.robots)
        self.right_of_way = RightOfWay(identity, wall_m, robot_m)
        self.back_off = BackOff(identity, self.radius, wall_m, robot_m)
        self.balking, self._near_m = Balking(), wall_m + 0.1
        self._identity, self._apart_m, self._names, self.why = identity, robot_m, names, Reason()
        self.goal_checker = GoalChecker(limits, self.driving)
        self.progress = ProgressChecker(self.driving)
        self.jams = NO_PLACES
        self._time: float | None = None
        self._mode: Literal["idle", "goto", "line", "turn"] = "idle"

    # Orders

    def start(self, goal_xy: Any, heading: float | None = None, tolerance_m: float | None = None) -> None:
        """Drive to a point [m], and then turn to a heading [rad] if one is given."""
        self._begin("goto")
        tolerance_m = self.driving.tolerance_m if tolerance_m is None else tolerance_m
        self.plan.start((float(goal_xy[0]), float(goal_xy[1])), tolerance_m)
        self.right_of_way.place, self.back_off.jams = None, 0
        self._heading, self._beside, self._beside_until = heading, (0.0, 0.0), -math.inf
        self._closest_m, self._closest_s = math.inf, math.inf

    def forward(self, distance_m: float) -> None:
        """Drive straight on by a distance [m]; a negative one backs up."""
        self._begin("line")
        self._distance, self._origin = float(distance_m), None

    def turn(self, angle_rad: float) -> None:
        """Turn on the spot by an angle [rad], counter-clockwise positive; it may be more than a full turn."""
        self._begin("turn")
        self._angle, self._last_heading, self._heading = float(angle_rad), None, None

    def jammed(self, x: float, y: float, at: tuple[float, float] | None = None) -> None:
        """Remember that it, at x, y [m], did not get through at a place [m]; None: just ahead on its path."""
        if at is not None or len(self.plan.rest):
            self.jams = np.vstack((self.jams, self.plan.ahead(x, y, 0.0)[:2] if at is None else at))

    def wait(self) -> None:
        """Stand for a step without its sensors; the time does not count as time without progress."""
        self._fresh, self._time = True, None

    def stop(self) -> None:
        """Give up the present goal and stand still."""
        self._mode = "idle"

    def _begin(self, mode: Literal["goto", "line", "turn"]) -> None:
        self._mode, self.state, self._fresh, self.why = mode, "driving", True, Reason()

    def _finish(self, state: State, why: Reason | None = None) -> Step:
        self._mode, self.state, self.why = "idle", state, why or Reason()
        return _STAND, state

    @property
    def route(self) -> np.ndarray | None:
        """The rest of the path to its goal [m], float64 (k, 2), the goal last; None if it drives to none."""
        if self._mode != "goto":
            return None
        return np.concatenate((self.plan.rest, [self.plan.goal]))

    @property
    def route_version(self) -> Any:
        """A value that differs when `route` does; None without a route."""
        return self.plan.version if self._mode == "goto" else None

    @property
    def reason(self) -> str:
        """Why the robot did not reach its goal, as text; empty if it did, or is on its way."""
        return self.why.text

    def others(self, x: float, y: float, heading: float) -> np.ndarray:
        """Return the positions of the robots in sight [m], float64 (k, 2)."""
        return np.array(self.robots.places(x, y, heading), float).reshape(-1, 2)

    # One step

    def command(
        self, pose: Any, twist: Any, belief: Any, lidar: Any, neighbours: Any, time_s: float, odometry: Any = None
    ) -> Step:
        """Return the body twist (vx, vy [m/s], omega [rad/s]) for the next control period, and the state.

        Args:
            pose: estimated x, y [m], heading [rad].
            twist: estimated vx, vy [m/s], omega [rad/s] in the body frame.
            belief: the robot's map; None: it drives straight to its goal.
            lidar: the newest lidar reading, or None.
            neighbours: the newest neighbour reading, or None.
            time_s: simulated time [s], increasing from call to call.
            odometry: a pose that never jumps, in any frame: `forward` and `turn` measure by it; None: by ``pose``.
        """
        x, y, heading = pose = tuple(pose)
        elapsed_s = self.limits.period if self._time is None else time_s - self._time
        self._time = time_s
        self.robots.update(neighbours, pose, twist, elapsed_s, time_s)
        if self._mode == "idle":
            return _STAND, self.state
        if self.work is not None:
            self.work.add("control")
        if self._fresh:
            self._fresh = False
            self.progress.restart(time_s, x, y)
        if self._mode == "turn":
            if odometry is not None and self._heading is None:  # to a heading of the map, the pose counts
                heading = odometry[2]
            return self._turn_step(heading, twist[2], time_s)
        self.view.update(lidar, belief, pose, twist, elapsed_s, self.robots.tracks)
        if self._mode == "line":
            return self._line_step(pose, odometry or pose, twist, time_s)
        return self._goto_step(pose, twist, belief, time_s)

    def _turn_step(self, heading: float, w: float, time_s: float) -> Step:
        if self._last_heading is not None:
            self._angle -= wrap_angle(heading - self._last_heading)
        self._last_heading = heading
        if self.goal_checker.at_angle(self._angle, w):
            return self._finish("reached")
        self.progress.update(time_s, 10.0 * self._angle, 0.0)
        if self.progress.stands:
            return self._finish("stuck", Reason("blocked"))
        return (0.0, 0.0, self.follower.turn(self._angle, w)), "driving"

    def _line_step(self, pose: Any, odometry: Any, twist: Any, time_s: float) -> Step:
        x, y, heading = odometry
        if self._origin is None:
            self._origin = odometry
        ox, oy, along = self._origin
        dx, dy = x - ox, y - oy
        left = self._distance - (dx * math.cos(along) + dy * math.sin(along))
        v, _, w = twist
        if self.goal_checker.at_distance(left, v):
            return self._finish("reached")
        self.progress.update(time_s, x, y)
        if self.progress.stands:
            return self._finish("stuck", self._blocked(None, pose))
        self.follower.fit(self.progress.stalled_s(time_s), has_way=False)
        sign = math.copysign(1.0, left)
        balks = self._balk(pose, 0.0 if sign > 0.0 else math.pi, v, w, time_s, "stuck")
        if balks is not None:
            return balks
        across = -dx * math.sin(along) + dy * math.cos(along)
        error = wrap_angle(along - heading) - sign * math.atan2(across, 0.5 + abs(v))
        return self.follower.straight(left, error, v, w), "driving"

    def _goto_step(self, pose: Any, twist: Any, belief: Any, time_s: float) -> Step:
        plan, follower, progress, (x, y, heading), (v, _, w) = self.plan, self.follower, self.progress, pose, twist
        if self.goal_checker.at_point(math.hypot(plan.goal[0] - x, plan.goal[1] - y), v, plan.tolerance_m):
            if self._heading is None:
                return self._finish("reached")
            self._mode, self._angle, self._last_heading = "turn", wrap_angle(self._heading - heading), heading
            return self._turn_step(heading, w, time_s)
        if plan.is_due(belief, self.view.grid, x, y, time_s, progress.stalled_s(time_s)):
            work = plan.make(belief, pose, self.robots, time_s, self.jams)
            if self.work is not None:
                self.work.add_search(work)
        if plan.problem:
            if plan.problem == "no way" and time_s - min(self.robots.met_s, plan.lost_s) < _SEARCH_S:
                return follower.safe(v, w, 0.0, 0.3 * self.limits.max_turn), "driving"  # others may hide the path
            return self._finish("unreachable", self._lost(belief, pose))
        if (by := self._occupied_by(pose, time_s)) is not None:
            return self._finish("unreachable", Reason("occupied", by))
        progress.update(time_s, x, y)
        if (progress.stands or progress.roams) and not self._waits_its_turn(time_s):
            return self._finish("stuck", self._blocked(belief, pose))
        follower.fit(progress.stalled_s(time_s), has_way=belief is not None)
        tx, ty, left = plan.ahead(x, y, v)
        beside = self._give_way(pose, plan.length - left, belief, time_s)
        if beside is not None:
            dx, dy = beside[0] - x, beside[1] - y
            away = math.hypot(dx, dy)
            speed = 0.0 if away < 0.12 else min(follower.approach(away), 0.6 * self.limits.max_speed)
            return follower.towards(dx, dy, heading, twist, speed, away, in_lane=False), "driving"
        balks = self._balk(pose, math.atan2(ty - y, tx - x) - heading, v, w, time_s, "unreachable")
        if balks is not None:
            return balks
        speed = follower.approach(left + plan.off_m)
        return follower.towards(tx - x, ty - y, heading, twist, speed, left + 0.1), "driving"

    def _lost(self, belief: Any, pose: Any) -> Reason:
        """Return why its map shows no way."""
        if self.plan.problem != "no way":
            return Reason("wall")
        return of_width(self._gap_m(belief, pose), 2.0 * self.radius)

    def _blocked(self, belief: Any, pose: Any) -> Reason:
        """Return why it makes no progress: a robot beside it, or a gap that is hardly wider than its body."""
        near = [(away, name) for away, name, _ in self._standing(pose) if away < self._apart_m + 0.5]
        if near:
            return Reason("robot", min(near)[1])
        gap_m, body_m = 0.0 if belief is None else self._gap_m(belief, pose), 2.0 * self.radius
        hardly = 0.0 < gap_m < body_m + 2.0 * self.driving.wall_margin_m
        return Reason("blocked", gap_m=gap_m, body_m=body_m) if hardly else Reason("blocked")

    def _gap_m(self, belief: Any, pose: Any) -> float:
        """Return the width of the narrowest gap on the widest way to the goal [m]; 0: there is no way."""
        grid = belief.grid
        inside = np.array(grid.shape) - 1
        at, to = (np.clip(grid.cell_at(*place), 0, inside) for place in (pose[:2], self.plan.goal))
        return float(widest_ways(belief.occupancy(), grid.resolution, tuple(at), to[None], self.radius)[0])

    def _standing(self, pose: Any) -> list[tuple[float, str, tuple[float, float]]]:
        """Return the robots in sight that stand: distance [m], name, and place [m]."""
        x, y, heading = pose
        rows = [row for row in self.robots.tracks.tolist() if row[AGE] < math.inf]
        return [
            (math.hypot(row[X], row[Y]), self._name(int(row[ID])), place)
            for row, place in zip(rows, self.robots.places(x, y, heading), strict=True)
            if row[STILL] > _STANDS_S
        ]

    def _name(self, identity: int) -> str:
        return self._names[identity] if 0 <= identity < len(self._names) else "another robot"

    def _occupied_by(self, pose: Any, time_s: float) -> str | None:
        """Return which robot stands at the goal, or goes first of those around it, if this one comes no nearer."""
        goal, (x, y, heading) = self.plan.goal, pose
        away_m = math.dist(goal, (x, y))
        if away_m < self._closest_m - _NEARER_M:
            self._closest_m, self._closest_s = away_m, time_s
        waited_s = time_s - self._closest_s
        if away_m > _NEAR_M or waited_s < _NO_NEARER_S or not len(self.robots.tracks):
            return None
        room_m = self._apart_m - self.plan.tolerance_m
        there = [(math.dist(goal, place), name) for _, name, place in self._standing(pose)]
        off_m, name = min(there, default=(math.inf, ""))
        if off_m < room_m:
            return name
        if waited_s < _CONTEST_S or away_m > _AROUND * self._apart_m:
            return None
        rows = [row for row in self.robots.tracks.tolist() if row[AGE] < math.inf]
        for row, place in zip(rows, self.robots.places(x, y, heading), strict=True):
            nearer_m = away_m - math.dist(goal, place)
            if nearer_m > _NEARER_M or (nearer_m > -_NEARER_M and row[ID] < self._identity):
                return self._name(int(row[ID]))
        return None

    def _waits_its_turn(self, time_s: float) -> bool:
        """Return whether moving robots block the path, but not for very long."""
        return not self.progress.roams_hopelessly(time_s) and self.robots.any_moving(
            _QUEUE_M, self.driving.stuck_after_s
        )

    def _give_way(self, pose: Any, s: float, belief: Any, time_s: float) -> tuple[float, float] | None:
        """Return where to go instead [m] because others go first; None: drive on."""
        if time_s < self._beside_until:
            return self._beside
        stalled_s = self.progress.stalled_s(time_s)
        aside = self.right_of_way.wait_at(self.plan, s, pose, self.robots.tracks, belief, stalled_s)
        if aside is None:
            aside = self.back_off.step(self.plan.line, s, pose, self.view, self.robots, stalled_s)
            if aside is None:
                return None
            self.plan.doubt()
        self._beside, hold_s = aside
        if hold_s:
            self._beside_until = time_s + hold_s
            self.progress.excuse(time_s, pose[0], pose[1])
        return self._beside

    def _balk(self, pose: Any, bearing: float, v: float, w: float, time_s: float, end: State) -> Step | None:
        """Look around if ground that is not known to be good blocks the robot, then end; None: drive on."""
        ground = self.view.unsafe
        if not len(ground) and not self.balking.turning > 0.0:
            return None
        x, y, heading = pose
        what = self.balking.step(x, y, heading, bearing, self.progress.stalled_s(time_s), ground, self._near_m)
        if what == "gives up":
            return self._finish(end, Reason("ground"))
        if what == "turns":
            self.progress.excuse(time_s, x, y)
            return self.follower.safe(v, w, 0.0, 0.5 * self.limits.max_turn), "driving"
        return None
