"""Terrain team: map a landscape as far as needed to reach an objective, and stand around it in formation."""

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from covey.controllers.team_reports import RadioMates, mates_over, where_now
from covey.controllers.teammates import Mate
from covey.controllers.terrain.terrain_driving import Disallow, Driver
from covey.controllers.terrain.terrain_formation import FormationPlaces
from covey.controllers.terrain.terrain_ground import DrivableGround, apart, edges_of, good_ground, is_all_bad, is_edge
from covey.controllers.terrain.terrain_looking import OLD_S, Looker, age_s
from covey.controllers.terrain.terrain_turning import Turning
from covey.errors import InvalidValueError, UnknownNameError
from covey.geometry.grid import Grid
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.best_first import LandscapePaths
from covey.planning.edges import share_edges
from covey.planning.orders import ORDER_KEY, Order
from covey.planning.progress import Blacklist
from covey.robots.parameters import Metres, Speed, Turn

_ENDS = ("arrived", "beside", "enclosed", "given up")
_FREE = ("", "edge", "waiting", "spinning")  # activities of robots that can be sent to an edge
_SPIN_MOST_S = 30.0  # a robot that cannot turn stops trying after this time
_REFUSED_TOLD = 20  # report at most this many edges at which nothing can be seen
_STAND = ("arrived", "beside", "facing", "enclosed", "given up")
_READ_S = 0.2  # how often the order is read
_GATHER_S = 0.5  # after an order, places are assigned once all robots have confirmed it
_SHORT_M = 0.5  # a robot stops this far before an edge of the map, which may be an edge of the ground
_LOOK_S = 0.5  # how often a path is checked again
_THINK_S = 2.0  # how often a standing robot decides again
_FACING = math.radians(6)
_PLACED = ("place", "facing", "arrived", "beside")
_STUCK_MOST = 5  # after this many failures in a row, the robot gives up


class _Goal(NamedTuple):
    """The robot's destination: its place, an edge of the map, or nowhere; and the note about it."""

    kind: str
    place: tuple[float, float] | None
    text: str


@controller(
    "terrain_team",
    sees=("pose", "map", "shared_map", "blackboard", "radio", "shared_frame"),
    needs=("map",),
    missions=("formation",),
)
class TerrainTeam:
    """Follow the order on the blackboard: drive to the objective, stand around it in formation, and map on the way.

    The Hungarian method assigns the places. A robot that knows a drivable path to its place follows it. Until then, it
    turns on the spot where that reveals more, and then extends the map at its edges: the nearest robot goes to the edge
    nearest to the objective, the others by proximity to edges at least ``apart_m`` apart. It ends when it is at its
    place, or when bad ground encloses all drivable ground; its note tells which. A new order, or ground that turns out
    to be different, starts it again.

    Args:
        clearance_m: distance of paths from vertices that are too steep [m].
        apart_m: least distance between the edge points that robots go to [m].
        law: law of bearing-disallow: ``inverse`` or ``linear``.
        d_outer_m, d_inner_m: a mate nearer than the first blocks some bearings, and nearer than the second as many as
            ``w_max_deg`` [m]. In denser formations, both shrink with the spacing.
        w_max_deg: width of the blocked bearings [degrees], see ``d_outer_m``.
        within_m: a robot is at its place when its centre is within this distance [m].
        speed: share of the top speed.
        over: how robots report positions and goals: on the ``blackboard``, or by ``radio``.

    Unlike the source:
        Compared with the paper; no program was published.

        - as many robots as corners -> any number; further robots stand on wider rings
        - who takes which place: nothing said -> the Hungarian method on squared distances, by the first robot that is
          heard
        - a blackboard without limits -> kept, or the radio (``over``); beliefs by ``share_maps``
        - a vertex is bad if one of eight differs by more than 0.4 m -> a tenth more for a vertex that was good once
        - push back edges of the map -> the robot stops 0.5 m before an edge
        - an edge that was looked at without result: nothing said -> left alone
        - bearings are blocked inversely to the distance -> kept (``law: inverse``), or ``linear``
        - look before leap: over what is visible now -> over what the robot saw in the last 3 s, for 2 m ahead
        - it ends at the objective, or enclosed by bad ground -> also after the robot was stuck five times
        - differential GPS -> the localization of the scenario

    References:
        De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. 2007.
    """

    takes_orders = True

    def __init__(
        self,
        *,
        clearance_m: Metres = 0.5,
        apart_m: Metres = 3.0,
        law: Literal["inverse", "linear"] = "inverse",
        d_outer_m: Metres = 2.0,
        d_inner_m: Metres = 1.0,
        w_max_deg: Turn = 180.0,
        within_m: Metres = 0.2,
        speed: Speed = 0.8,
        over: Literal["blackboard", "radio"] = "blackboard",
    ):
        if law not in ("inverse", "linear"):
            raise UnknownNameError("law of bearing-disallow", law, ("inverse", "linear"))
        for name, value in (("clearance_m", clearance_m), ("apart_m", apart_m), ("within_m", within_m)):
            if not value > 0:
                raise InvalidValueError(f"{name} is {value!r}; give a positive number of metres")
        if not (0 < d_inner_m < d_outer_m and 0 < w_max_deg <= 360 and 0 < speed <= 1):
            raise InvalidValueError(
                f"d_inner_m {d_inner_m!r} and d_outer_m {d_outer_m!r} must be positive and ascending, w_max_deg "
                f"{w_max_deg!r} at most 360, speed {speed!r} at most 1"
            )
        self.clearance_m, self.apart_m, self.within_m = clearance_m, apart_m, within_m
        self.disallow = (law, d_outer_m, d_inner_m, w_max_deg)
        self.driver = Driver(Disallow(*self.disallow), speed)
        self.mates = mates_over(over)
        self.order: Order | None = None
        self._read_s = 0.0
        self._entry: Any = None
        self._number: Any = None
        self._others: dict[str, Mate] = {}
        self._ways: LandscapePaths | None = None
        self._begin(0.0)

    def _begin(self, now_s: float) -> None:
        """Reset the state of the last order."""
        self.goal = _Goal("", None, "")
        self._given_s = self._next_s = now_s
        self.formation, self.turning, self.looker = FormationPlaces(), Turning(), Looker()
        self._drivable = DrivableGround(self.clearance_m)
        self._refused = Blacklist(tolerance_m=0.6)
        self._around_s = now_s
        self._again_s = now_s + OLD_S  # when a waiting robot looks again at old ground
        self._asked_s = self._blocked_s = -math.inf

    def step(self, robot: Robot) -> None:
        """Choose what to do in this step."""
        if robot.map is None:
            raise InvalidValueError(f"{robot.name} has no map; give its robot a sensor that maps, and `mapping`")
        self._read_order(robot)
        self.mates.step(robot, self.goal.place, **self._facts(robot))
        self._others = self.mates.others(robot)
        if self.order is None:
            robot.note("waits for an order")
            robot.stop()
            return
        self._take_place(robot)
        kind = self.goal.kind
        if kind == "spinning":
            self._spin(robot)
        elif kind in ("place", "edge"):
            self._drive(robot)
        elif kind == "facing":
            if self.driver.turn_to(robot, self.order.facing) < _FACING:
                self._arrive(robot)
        elif robot.time >= self._next_s - 1e-9 and kind != "given up" and not self._is_at_place(robot):
            self._think(robot)
        if self.goal.kind == "waiting":
            self._look_again(robot)
        if self.goal.kind in _ENDS:
            robot.rest()

    def _facts(self, robot: Robot) -> dict[str, Any]:
        """Return the facts reported beside pose and goal; over the radio also the order."""
        facts: dict[str, Any] = {"state": self.goal.kind, "number": self._number, "blocked_s": self._blocked_s}
        facts["places"] = self.formation.places if self.formation.leads(robot.name) else {}
        facts["refused"] = tuple(self._refused.goals[-_REFUSED_TOLD:])
        if isinstance(self.mates, RadioMates):
            facts["order"] = self._entry
        return facts

    def _arrive(self, robot: Robot) -> None:
        """Report that the robot is at its place, or how far from it, if it cannot come closer."""
        assert self.order is not None
        x, y = self.formation.places.get(robot.name, robot.pose[:2])
        off_m = math.hypot(robot.pose.x - x, robot.pose.y - y)
        if off_m <= self.order.within_m:
            self._set(robot, _Goal("arrived", self.goal.place, "arrived"))
        else:
            text = f"stands {off_m:.1f} m from its place ({x:.1f}, {y:.1f}), where it cannot drive"
            self._set(robot, _Goal("beside", self.goal.place, text))

    def _is_at_place(self, robot: Robot) -> bool:
        """Return whether the robot has arrived, and has not been carried away since."""
        if self.goal.kind not in ("arrived", "beside") or self.goal.place is None:
            return False
        x, y = self.goal.place
        return math.hypot(robot.pose.x - x, robot.pose.y - y) <= 3.0 * self.within_m

    def _read_order(self, robot: Robot) -> None:
        if robot.time < self._read_s - 1e-9:
            return
        self._read_s = robot.time + _READ_S
        entry = robot.blackboard.get(ORDER_KEY)
        for mate in self._others.values():
            told = mate.facts.get("order")
            if told is not None and (entry is None or told.get("number", 0) > entry.get("number", 0)):
                entry = told
        if entry == self._entry:
            return
        self._number = None if entry is None else entry.get("number")
        self._entry = entry
        self.order = None if entry is None else Order.of(entry)
        self._begin(robot.time)
        self.driver.stop(robot)
        self.driver.stuck = 0
        if self.order is not None:
            law, outer_m, inner_m, w_max_deg = self.disallow
            share = min(1.0, 0.9 * self.order.spacing_m / outer_m)
            self.driver.disallow = Disallow(law, share * outer_m, share * inner_m, w_max_deg)

    def _set(self, robot: Robot, goal: _Goal) -> None:
        self.goal = goal
        if robot.text != goal.text:
            robot.note(goal.text)
        if goal.kind not in ("place", "edge"):
            self.driver.stop(robot)

    def _take_place(self, robot: Robot) -> None:
        """Assign the places if this robot leads; the leader is the first robot by name that is heard."""
        team, before = self._team(robot), self.formation.places.get(robot.name)
        leader = min(team)
        if leader == robot.name:
            told_s = [m.facts.get("blocked_s", -math.inf) for m in self._others.values()]
            blocked_s = max([*told_s, self._blocked_s])
            assert self.order is not None
            if robot.time >= self._given_s + _GATHER_S - 1e-9 and self.formation.is_due(team, blocked_s):
                self.formation.deal(self.order, team, robot.time)
        elif told := self._others[leader].facts.get("places"):
            self.formation.set_places(told)
        if self.formation.places.get(robot.name) != before and self.goal.kind in _PLACED:
            self._set(robot, _Goal("", None, robot.text))
            self._next_s = robot.time

    def _team(self, robot: Robot) -> dict[str, tuple[float, float]]:
        """Return the positions of the robots with the same order, by name [m]."""
        obey = {n: m for n, m in self._others.items() if "places" in m.facts and m.facts.get("number") == self._number}
        return {n: (m.pose.x, m.pose.y) for n, m in obey.items()} | {robot.name: (robot.pose.x, robot.pose.y)}

    def _think(self, robot: Robot) -> None:
        """Choose where to go: to the place if a path is known, else where there is something to map."""
        assert self.order is not None
        self._next_s = robot.time + _THINK_S
        place = self.formation.places.get(robot.name)
        if place is None:
            self._spins(robot, self._ground(robot).grid)
            return
        if self._drives_to(robot, self._ground(robot, around_mates=True), place):
            return
        ways = self._ways = self._ground(robot)
        if self._drives_to(robot, ways, place) or self._spins(robot, ways.grid):
            return
        if is_all_bad(ways, place, self.order.spacing_m):
            text = f"enclosed: no path leads to its place ({place[0]:.1f}, {place[1]:.1f})"
            self._set(robot, _Goal("enclosed", None, text))
        else:
            self._map(robot, ways, place)

    def _drives_to(self, robot: Robot, ways: LandscapePaths, place: tuple[float, float]) -> bool:
        """Begin to drive to the place if a path is known; if the place is bad, to good ground beside it."""
        assert self.order is not None
        to, way = place, ways.plan(robot.pose[:2], place)
        if way is None and ways.vertex(*place, 0.75 * ways.grid.resolution) is None and ways.state(*place) >= 0:
            others = [p for name, p in self.formation.places.items() if name != robot.name]
            for to in good_ground(ways, place, others, self.order.spacing_m):
                way = ways.plan(robot.pose[:2], to)
                if way is not None:
                    break
        if way is None:
            return False
        self._set(robot, _Goal("place", to, f"drives to its place ({to[0]:.1f}, {to[1]:.1f})"))
        self.driver.set_path(robot, way)
        self._next_s = robot.time + _LOOK_S
        return True

    def _map(self, robot: Robot, ways: LandscapePaths, place: tuple[float, float]) -> None:
        """Go to this robot's edge of the map, or report that there is none."""
        assert self.order is not None
        grid = ways.grid
        points = edges_of(ways, robot.pose[:2])
        told = [tuple(p) for m in self._others.values() for p in m.facts.get("refused", ())]
        points = apart(points, [*self._refused.goals, *told], self._refused.tolerance_m)
        if not len(points):
            self._set(robot, _Goal("enclosed", None, "enclosed: no drivable ground leads further"))
            return
        mates = {n: self._others[n] for n in self._team(robot) if n != robot.name}
        taken = {n: m.goal for n, m in mates.items() if m.facts["state"] == "edge" and m.goal and is_edge(grid, m.goal)}
        points = apart(points, taken.values(), self.apart_m)
        free = {n: m.pose[:2] for n, m in mates.items() if m.facts["state"] in _FREE and n not in taken}
        free[robot.name] = robot.pose[:2]
        names = sorted(free)
        objective = np.array(self.order.objective_m)
        shared = share_edges(points, objective, np.array([free[n] for n in names]), self.apart_m)
        mine = int(shared[names.index(robot.name)])
        if mine < 0:
            self.turning.left = self.turning.left if self.goal.kind == "waiting" else 0.0
            self._set(robot, _Goal("waiting", None, "waits: others map all edges"))
            return
        x, y = points[mine].tolist()
        way = self._plan(robot, ways, (x, y))
        if way is None:
            self._refused.add((x, y))
            self._next_s = robot.time
            return
        self._set(robot, _Goal("edge", (x, y), f"maps the edge at ({x:.1f}, {y:.1f})"))
        self.driver.set_path(robot, way)
        self._next_s = robot.time + _LOOK_S
        self._ask_scouts(robot, place)

    def _ask_scouts(self, robot: Robot, place: tuple[float, float]) -> None:
        """Ask flying robots to look at the place, if no robot has seen it yet."""
        if robot.time < self._asked_s + _THINK_S:
            return
        self._asked_s = robot.time
        for name, mate in self._others.items():
            if mate.facts.get("state") == "scouting":
                robot.send(place, to=name, kind="look")

    def _spins(self, robot: Robot, grid: Grid) -> bool:
        """Begin to turn as far as that reveals more, unless the robot has tried it here."""
        if not self.turning.spin(robot, grid):
            return False
        self._next_s = robot.time + _SPIN_MOST_S
        self._set(robot, _Goal("spinning", None, "spinning: looks around"))
        return True

    def _look_again(self, robot: Robot) -> None:
        """While waiting, turn on the spot if that brings ground into view that may have changed."""
        if robot.time >= self._again_s - 1e-9:
            grid = self._ground(robot).grid
            old = (grid.cells == 0) & (age_s(robot) > OLD_S)
            turn = self.turning.begin(robot, grid.with_cells(np.where(old, -1, grid.cells).astype(np.int8)))
            self._again_s = robot.time + (_THINK_S if turn == 0.0 else OLD_S)
        if self.turning.left != 0.0 and self.turning.step(robot):
            robot.stop()

    def _spin(self, robot: Robot) -> None:
        if robot.time <= self._next_s and not self.turning.step(robot):
            return
        self._set(robot, _Goal("", None, robot.text))
        self._next_s = robot.time

    def _drive(self, robot: Robot) -> None:
        """Drive on, and check from time to time whether the path is still valid."""
        assert self.order is not None
        assert self.goal.place is not None
        if self._ways is None or robot.time >= self._next_s - 1e-9:
            self._next_s = robot.time + _LOOK_S
            ways = self._ways = self._ground(robot)
            place = self.formation.places.get(robot.name)
            if self.goal.kind == "edge" and place is not None and self._drives_to(robot, ways, place):
                return
            if self.goal.kind == "edge" and not is_edge(ways.grid, self.goal.place):
                self._think(robot)
                return
            left, look_around = self.driver.left(robot), robot.time >= self._around_s - 1e-9
            if look_around:
                self._around_s = robot.time + _THINK_S
            if not ways.is_clear(left) or (look_around and not self._ground(robot, around_mates=True).is_clear(left)):
                way = self._plan(robot, ways, self.goal.place)
                if way is None:
                    self._think(robot)
                    return
                self.driver.set_path(robot, way)
        if self.order.mode == "look_before_leap":
            hidden = self.looker.sees_ahead(robot, self.driver)
            if hidden is not None:
                self._drivable.avoid(*hidden, robot.time + 20.0)
                self._next_s = robot.time
            if self.looker.looks:
                return
        mates = [where_now(m, robot.time) for m in self.mates.mates.values() if m.facts.get("state") != "scouting"]
        within_m = self.within_m if self.goal.kind == "place" else _SHORT_M
        state = self.driver.go(robot, self._ways, mates, within_m)
        if state == "there":
            self._end_of_way(robot)
        elif state == "lost":
            self._think(robot)
        elif state == "stuck":
            self._get_free(robot)

    def _end_of_way(self, robot: Robot) -> None:
        if self.goal.kind == "place":
            self._set(robot, _Goal("facing", self.goal.place, "turns to the facing of the formation"))
            return
        assert self.goal.place is not None
        if self._spins(robot, self._ground(robot).grid):
            return
        self._refused.add(self.goal.place)  # the robot has looked at it from close by
        self._set(robot, _Goal("", None, robot.text))
        self._next_s = robot.time

    def _get_free(self, robot: Robot) -> None:
        """Treat the place where the robot is stuck as bad ground for a while, and replan; finally give up."""
        x, y, heading = robot.pose
        if self.driver.stuck >= _STUCK_MOST:
            self._set(robot, _Goal("given up", None, f"stuck at ({x:.1f}, {y:.1f}): gives up"))
            return
        robot.note(f"stuck at ({x:.1f}, {y:.1f})")
        if any(math.dist(m.pose[:2], (x, y)) < 1.5 for m in self.mates.mates.values()):
            self._blocked_s = robot.time  # by a mate
        else:
            self._drivable.avoid(x + 0.8 * math.cos(heading), y + 0.8 * math.sin(heading), robot.time + 30.0)
        self._next_s = robot.time + 3.0

    def _plan(self, robot: Robot, ways: LandscapePaths, place: tuple[float, float]) -> np.ndarray | None:
        """Return a path to a place, around standing mates if possible."""
        way = self._ground(robot, around_mates=True).plan(robot.pose[:2], place)
        return ways.plan(robot.pose[:2], place) if way is None else way

    def _ground(self, robot: Robot, around_mates: bool = False) -> LandscapePaths:
        """Return the paths that the robot knows; around mates that stand, or that it has not heard recently."""
        if not around_mates:
            return self._drivable.ways(robot)
        silent = [m for n, m in self.mates.mates.items() if n not in self._others]
        stand = [m for m in self._others.values() if m.facts.get("state") in _STAND]
        return self._drivable.ways(robot, [m.pose[:2] for m in silent + stand])
