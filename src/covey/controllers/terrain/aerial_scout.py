"""Aerial scout: fly to the places that robots on the ground ask for, and otherwise ahead of them."""

import math
from typing import Literal

import numpy as np

from covey.controllers.team_reports import mates_over
from covey.controllers.terrain.terrain_looking import OLD_S, age_s
from covey.errors import InvalidValueError
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.orders import ORDER_KEY, Order
from covey.planning.progress import Blacklist
from covey.robots.parameters import Metres

Place = tuple[float, float]
_THINK_S = 1.0
_NEAR_M = 1.0  # within this distance of a place the scout has seen it, or never will


@controller(
    "aerial_scout",
    sees=("pose", "map", "shared_map", "blackboard", "radio", "shared_frame"),
    needs=("map",),
    missions=("formation",),
)
class AerialScout:
    """Map from the air: first what robots ask for, then the corridor from the team to its objective.

    Robots on the ground ask with messages of the kind ``look`` that hold a place x, y [m]; a request is done when the
    place is in the scout's map. Without a request, the scout flies to the unmapped place that is nearest to itself and
    to the line from the middle of the team to the objective. It maps into its own belief, which the others get like any
    other, by `share_maps`. When the corridor is mapped, it looks again at what it has not seen for 30 s, the oldest
    first, because the ground may have changed. It hovers when no robot is on its way any more.

    Args:
        corridor_m: half the width of the corridor that it maps around that line [m]; outside the corridor, it maps only
            what robots ask for.
        over: where it reports its presence: the ``blackboard``, or the ``radio``.

    Unlike the source:
        The paper names flying robots only as future work.

        - the rules are Covey's own

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007 (aerial robots
        that help mapping and planning: future work).
    """

    takes_orders = True

    def __init__(self, *, corridor_m: Metres = 12.0, over: Literal["blackboard", "radio"] = "blackboard"):
        if not corridor_m > 0:
            raise InvalidValueError(f"corridor_m is {corridor_m!r}; give a positive number of metres")
        self.corridor_m = corridor_m
        self.mates = mates_over(over)
        self.asked: dict[str, Place] = {}
        self.goal: Place | None = None
        self._next_s = 0.0
        self._vain = Blacklist(tolerance_m=1.0)  # places that it has flown to and still does not see

    def step(self, robot: Robot) -> None:
        """Choose the twist of this step."""
        if robot.map is None:
            raise InvalidValueError(f"{robot.name} has no map; give its robot a sensor that maps, and `mapping`")
        self.mates.step(robot, self.goal, state="scouting")
        for message in robot.messages("look"):
            self.asked[message.sender] = float(message.payload[0]), float(message.payload[1])
        if robot.time >= self._next_s - 1e-9:
            self._next_s = robot.time + _THINK_S
            if self.goal is not None and math.dist(self.goal, robot.pose[:2]) < _NEAR_M:
                self._vain.add(self.goal)
            self.goal = self._asked_place(robot) or self._ahead(robot)
        if self.goal is None:
            robot.note("hovers: there is nothing left to look at")
            robot.rest()
        else:
            self._fly(robot, self.goal)

    def _asked_place(self, robot: Robot) -> Place | None:
        """Return the nearest requested place that is not mapped yet."""
        assert robot.map is not None
        cells, grid = robot.map.occupancy(), robot.map.grid
        for name, place in sorted(self.asked.items()):
            cell = grid.cell_at(*place)
            if not grid.inside(cell) or cells[cell] >= 0 or place in self._vain:
                del self.asked[name]
        x, y, _ = robot.pose
        if not self.asked:
            return None
        who = min(sorted(self.asked), key=lambda name: math.hypot(self.asked[name][0] - x, self.asked[name][1] - y))
        robot.note(f"looks at ({self.asked[who][0]:.1f}, {self.asked[who][1]:.1f}) for {who}")
        return self.asked[who]

    def _ahead(self, robot: Robot) -> Place | None:
        """Return the unmapped place ahead of the team to fly to next."""
        assert robot.map is not None
        grid = robot.map.grid
        unmapped = np.argwhere(robot.map.occupancy() < 0)
        points, here = grid.to_world(unmapped), np.array(robot.pose[:2])
        for x, y in self._vain.goals:
            points = points[np.hypot(points[:, 0] - x, points[:, 1] - y) > self._vain.tolerance_m]
        away = np.hypot(*(points - here).T)
        entry = robot.blackboard.get(ORDER_KEY)
        if entry is not None:
            objective = np.array(Order.of(entry).objective_m)
            team = [m.pose[:2] for m in self.mates.others(robot).values() if m.facts.get("state") != "scouting"]
            middle = np.mean(team, axis=0) if team else here
            off = _off_line(points, middle, objective)
            points, away = points[off <= self.corridor_m], (away + 2.0 * off)[off <= self.corridor_m]
        if not len(points):
            return self._again(robot)
        x, y = points[int(np.argmin(away))].tolist()
        robot.note("looks ahead of the team")
        return x, y

    def _again(self, robot: Robot) -> Place | None:
        """Return the place of the corridor that was not seen for the longest time, while robots are on their way."""
        assert robot.map is not None
        entry, mates = robot.blackboard.get(ORDER_KEY), self.mates.others(robot).values()
        moving = [m.pose[:2] for m in mates if m.facts.get("state") in ("place", "edge", "facing")]
        if entry is None or not moving:
            return None
        age = age_s(robot)
        old = np.argwhere((robot.map.occupancy() >= 0) & (age > OLD_S))
        points = robot.map.grid.to_world(old)
        near = _off_line(points, np.mean(moving, axis=0), np.array(Order.of(entry).objective_m)) <= self.corridor_m
        old, points = old[near], points[near]
        if not len(points):
            return None
        x, y = points[int(np.argmax(age[old[:, 0], old[:, 1]]))].tolist()
        robot.note("looks again at old ground")
        return x, y

    def _fly(self, robot: Robot, goal: Place) -> None:
        x, y, heading = robot.pose
        off = math.remainder(math.atan2(goal[1] - y, goal[0] - x) - heading, math.tau)
        gap_m = math.hypot(goal[0] - x, goal[1] - y)
        top, most = robot.model.max_speed_m_s, robot.model.max_turn_rad_s
        speed = top * max(math.cos(off), 0.0) * min(1.0, gap_m)
        robot.drive(speed, min(max(2.0 * off, -most), most) if gap_m > 0.3 else 0.3 * most)


def _off_line(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the distances of points from the straight line between start and end [m], float64 (k,)."""
    along = end - start
    share = np.clip((points - start) @ along / max(float(along @ along), 1e-9), 0.0, 1.0)
    return np.hypot(*(points - start - share[:, None] * along).T)
