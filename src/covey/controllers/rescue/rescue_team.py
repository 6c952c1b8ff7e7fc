"""Rescue as a team: explore and search in the order that finds targets soonest; meet when it costs little."""

import inspect
import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from covey.controllers.exploration.frontier_loop import rest_blind
from covey.controllers.exploration.next_best_view import unseen_area
from covey.controllers.exploration.team_assignment import MOST_MATES, middles, sensor_range_m
from covey.controllers.rescue.lookout import ASIDE_RAD, Lookout
from covey.controllers.rescue.meeting import Meetings, standing_place
from covey.controllers.rescue.missed import PATCH_M, Eye, Missed
from covey.controllers.teammates import Mate, Teammates
from covey.geometry.se2 import wrap_angle
from covey.onboard.controller import controller
from covey.onboard.handle import Robot
from covey.planning.existence import Candidate
from covey.planning.progress import Approach, Blacklist, ProgressTimer
from covey.planning.search_order import expected_cost, search_order
from covey.robots.parameters import Count, Kinds, Metres, Seconds, Share, Stay

Point = tuple[float, float]

_WALL_PER_M2 = 0.9  # metres of wall faces in a square metre of a building
_LATTICE_M = 0.6
_VIEWS = 16
_NEAR_M = 2.0  # of two places with the same gain, one this much nearer is clearly better
_IN_VAIN = 0.4  # what a look around from where a patch should be seen, and was not, leaves of the chance
_LOOK_RAD_S = 1.2  # of a turn at a place to look; at 1.82 rad/s a Waffle's camera misses a seventh of what is in sight
_DWELL_M = 1.0  # a turn all around, as a way
_SEARCH_PER_M = 0.85  # searching a metre of wall behind a frontier, as a way
_SAME_M = 1.2  # goals this near to each other are the same
_FOLLOWED_M = 2.0  # a frontier moves on while a robot drives to it, so far between two choices
_CHANGE_M = 5.0  # a robot leaves its goal for an order in which its goals are searched so much sooner, as a way
_LAST_OF = 5  # the order is that in which the last of so many targets is found soon
_STEAL_M = 4.0  # a mate's goal that is so much nearer to a robot is the robot's
_SPARE_M = 3.0  # who has so much less way to a meeting than the last one may search until then
_TRAIL_S = 6.0
_EVERY_S = 0.3  # between two looks, and between two times to listen and tell
_TURNED_RAD = math.radians(15.0)  # a turn by more than this is another look
_THERE_M = 0.35
_STALL_S = 10.0
_ROAM_S = 30.0  # of pursuit in which it comes 1 m nearer to a goal
_KNOWN_S = 15.0  # for so long a place to meet at holds
_BESIDE_M = 1.5  # a mate this near may be what is in the way
_REFUSED_M = 0.5  # goals this near to one that did not help are not tried
_SURE = 0.3
_DOUBT = 0.1  # candidates of at least this probability are looked at again
_SEEN_AGAIN = 0.8  # chance that a look at a candidate decides
_STARE_S = 1.0
_LEAST_M, _BEFORE_M = 0.4, 0.3  # it sees nothing that is nearer; a candidate may lie this far in a wall
SWEEPS = ((0.4, 8.0), (0.2, 3.0), (0.05, 0.5))
"""Sweeps in turn: patches count that were missed with this probability, and places where so many are left."""
_SMALL, _SMALL_PER_M = 0.4, 1.0  # of these, near places need this share, or this many for each metre of way


@dataclass(frozen=True)
class Task:
    """What a robot does next: ``look`` around at a place, ``check`` a candidate from there, drive to a
    ``frontier``, ``meet``, or ``wait`` (no place).

    ``way_m`` is the cost of driving there, in metres of open floor.
    """

    kind: str
    place: Point | None = None
    way_m: float = 0.0


@dataclass(frozen=True)
class RescueSettings:
    """What `rescue_team` and `search_plan` can be told.

    Args:
        targets: number of targets; 0: not known, so it searches as long as it can.
        report_at: least probability that a target exists for its report.
        meet: number of robots that meet at each target of some kinds; 0: none.
        meet_at: these kinds, with a space between them.
        meet_within_m, meet_for_s: how near to the target they must be, and for how long together [m, s].
        time_limit_s: time at which the mission is over [s]; meetings come in time for it.
        near_m: robots that are together at most this far from a fire meet at once [m].
        patience_s: time after which a robot gives a meeting up [s].
        replan_s: time between two choices while driving [s].
        forget_s: time for which a mate's report holds [s].
        piece_m: longer frontiers are cut into pieces of about this length [m].
    """

    targets: Count = 5
    report_at: Share = 0.99
    meet: Count = 2
    meet_at: Kinds = "big_fire"
    meet_within_m: Metres = 2.0
    meet_for_s: Stay = 0.0
    time_limit_s: Seconds = 600.0
    near_m: Metres = 14.0
    patience_s: Seconds = 120.0
    replan_s: Seconds = 5.0
    forget_s: Seconds = 10.0
    piece_m: Metres = 3.0


def takes_settings(target: Any) -> Any:
    """Give a controller ``(robot, **settings)`` the parameters of `RescueSettings`, and their words."""
    robot = inspect.signature(target).parameters["robot"]
    mine = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
        for f in fields(RescueSettings)
    ]
    target.__signature__ = inspect.Signature([robot, *mine])
    target.__annotations__ = {"robot": Robot} | {f.name: f.type for f in fields(RescueSettings)}
    words = inspect.cleandoc(RescueSettings.__doc__ or "").partition("\n\n")[2]
    target.__doc__ = inspect.cleandoc(target.__doc__ or "") + "\n\n" + words
    return target


@controller(
    "rescue_team",
    sees=("pose", "map", "shared_map", "radio", "shared_frame", "report", "tag_camera"),
    needs=("map",),
    missions=("rescue",),
)
@takes_settings
async def rescue_team(robot: Robot, **settings: Any) -> None:
    """Search so that the expected time of the last find is short, for all robots that hear each other.

    A robot keeps the probability that the cameras of the team have missed a target, for each patch of wall on its map.
    Its goals are pieces of frontiers, weighed by the walls that may be behind them, and places from where it sees much
    wall that is not searched. It finds orders of all goals, for itself and the mates that it hears, in which the last
    of several targets is expected soon, and goes to its first one. It keeps that goal, unless an order that begins with
    another one is better by more than a change costs, and leaves mates theirs, unless it is much nearer. At a place to
    look it turns over all directions that are left to search. A candidate that is not sure is looked at again: at once,
    if it can be seen from here, else from a place where it can; such a place is worth the walls that hold as many
    targets. Mates send the poses of their last seconds, from which the others know what they have searched. A robot
    that hears nobody does everything alone.

    Robots meet at a big fire, or where ``meet_at`` says, when both are near it, when nothing is left to search, or when
    time gets short. A robot that hears nobody waits there at the end. It ends when all frontiers that it can reach are
    explored, all ``targets`` found, and all meetings held. A robot without a tag camera only explores and meets, and so
    does one whose camera is silent: nothing counts as searched by it, and its mates do what it would have done. A robot
    whose lidar is silent stands.

    Unlike the source:
        Compared with abstract and highlights, and the first pages of ECMR 2017 (arXiv 1901.07434).

        - one robot, one object, no plan -> several robots and targets, with an old plan or none
        - goals: frontiers -> also places to look around, because the camera has not searched what the lidar mapped
        - weights -> metres of wall that cameras have missed; behind frontiers, what unknown floor may have
        - a randomised greedy search (GRASP) -> two greedy insertions, then moves, exchanged tails, and reversed parts
        - goals are first shared out in clusters -> inserted into the orders of all robots that are heard, where they
          add least

    References:
        M. Kulich, J. J. Miranda-Bront, L. Preucil: A meta-heuristic based goal-selection strategy for mobile robot
        search in an unknown environment. Computers and Operations Research 84, 2017 (the objective).
    """
    await search(robot, Searcher(robot, RescueSettings(**settings)))


async def search(robot: Robot, state: "Searcher") -> None:
    """Do what a state chooses, until nothing is left."""
    await robot.turn(math.tau, until=state.interrupted)
    while True:
        if robot.blind:
            await rest_blind(robot)
        task = state.choose(robot)
        if task is None:
            return
        until = state.until(robot, task)
        if task.place is None:
            await robot.sleep(1.0, until=until)
        elif math.dist(task.place, robot.pose[:2]) > _THERE_M:
            outcome = await robot.goto(task.place, tolerance_m=0.3, until=until)
            state.went(robot, task, outcome.state)
        elif task.kind == "look":
            await look_around(robot, state)
            state.looked(robot, task)
        elif task.kind == "check":
            await look_again(robot, state)
        else:
            state.went(robot, task, "reached")
            await robot.sleep(0.5, until=until)


async def look_around(robot: Robot, state: "Searcher") -> None:
    """Turn over the directions of all patches in sight that are not searched."""
    left = state.directions(robot)
    if not len(left):
        return
    first, sweep = arc(left, robot.pose.heading)
    half = 0.5 * state.half_view  # a patch is wider than the ray that tells its direction
    start = (
        first + math.copysign(min(half, abs(sweep) / 2), sweep) - robot.pose.heading + math.pi
    ) % math.tau - math.pi
    await robot.turn(start, until=state.interrupted)
    rest = abs(sweep) - 2 * half
    if rest > 0:
        rate = min(_LOOK_RAD_S, robot.model.max_turn_rad_s)
        await robot.drive(0.0, math.copysign(rate, sweep), for_s=rest / rate, until=state.interrupted)
        robot.stop()
    await robot.sleep(0.3, until=state.interrupted)


async def look_again(robot: Robot, state: "Searcher") -> None:
    """Turn to the candidate that is in doubt, and stand until the camera has decided, or had the time for it."""
    candidate = state.doubt
    if candidate is None:
        return

    def over(robot: Robot) -> bool:
        return state.interrupted(robot) or not state.is_in_doubt(candidate)

    x, y, heading = robot.pose
    await robot.turn(wrap_angle(math.atan2(candidate.y - y, candidate.x - x) - heading), until=over)
    if state.is_in_doubt(candidate):
        await robot.sleep(_STARE_S, until=over)
    state.looked_again(robot)


def arc(directions: np.ndarray, heading: float) -> tuple[float, float]:
    """Return the shortest arc over all directions [rad]: the end nearer to a heading, and the signed way from there.

    Examples:
        >>> arc(np.array([0.0, 0.5, 1.0]), 1.2)
        (1.0, -1.0)
        >>> first, way = arc(np.array([3.0, -3.0]), 2.9)  # across pi
        >>> round(first, 2), round(way, 3)
        (3.0, 0.283)
    """
    sorted_ = np.sort(directions % math.tau)
    gaps = np.diff(np.append(sorted_, sorted_[0] + math.tau))
    k = int(gaps.argmax())
    begin, length = float(sorted_[(k + 1) % len(sorted_)]), float(math.tau - gaps[k])
    end = begin + length
    off_begin, off_end = (abs((angle - heading + math.pi) % math.tau - math.pi) for angle in (begin, end))
    return (begin, length) if off_begin <= off_end else (end % math.tau, -length)


class Searcher:
    """The state of one robot that searches."""

    def __init__(self, robot: Robot, settings: RescueSettings):
        self.settings = settings
        self.team = Teammates(forget_s=settings.forget_s)
        self.lookout = Lookout(robot, settings.targets, settings.report_at)
        rules = settings.patience_s, settings.meet_within_m, settings.meet_for_s
        self.meetings = Meetings(dict.fromkeys(settings.meet_at.split(), settings.meet), *rules)
        camera = self.lookout.camera
        self.searched = None if camera is None or robot.map is None else Missed(robot.map.grid, Eye.of(camera))
        self.half_view = math.radians(camera.fov_deg) / 2 if camera is not None else math.pi
        self._rate_hz = 0.0 if camera is None else camera.rate_hz
        self._looked_s, self._looked_at = -math.inf, 0.0  # with which heading
        self._refused, self._stalls = Blacklist(tolerance_m=_REFUSED_M), list[Point]()
        self._progress, self._drives, self._stalled = ProgressTimer(0.2, _STALL_S), False, False
        self._goal: Point | None = None
        self._pursuit: tuple[str, Point] | None = None  # kind and place of the goal that it has set out for
        self._trail: list[tuple[float, float, float, float, float]] = []
        self._told_trail = b""
        self._told_s = self._heard_s = -math.inf
        self._trail_of: dict[str, tuple[bytes, float]] = {}
        self._idle = self._sets_out = False  # has nothing to do, drives to its meeting
        self._in_vain = 0
        self._sweep = SWEEPS[0][0]  # with which probability patches were missed that count at present
        self._standing: dict[int, tuple[Point | None, float]] = {}  # where to meet at a target, and since when it holds
        self.doubt: Candidate | None = None  # the candidate that it looks at again, or drives to for that
        self._doubts, self._weighed = list[Candidate](), list[Candidate]()
        self._forgot: dict[Candidate, int] = {}  # with how many detections the walls around it were forgotten
        self._approach = Approach(patience_s=_ROAM_S, same_m=2.0 * _SAME_M)

    @property
    def all_found(self) -> bool:
        """Whether as many targets are found as there are."""
        return 0 < self.settings.targets <= len(self.lookout.found)

    # -- each step ----------------------------------------------------------------------------------------------------

    def interrupted(self, robot: Robot) -> bool:
        """Look; a few times a second listen and tell, too. Return whether it has to choose again."""
        self.lookout.see(robot)
        if robot.corrections and self.searched is not None:
            for motions in robot.corrections:
                self.searched.follow(motions)
        since_s = robot.time - self._heard_s
        is_due = since_s >= _EVERY_S - 1e-9
        if is_due or abs(wrap_angle(robot.pose[2] - self._looked_at)) > _TURNED_RAD:
            self._look(robot)
        if not is_due:
            return False
        doubts = [c for c in self.lookout.belief.candidates if c.own_detections and self.is_in_doubt(c)]
        news = self._pursuit is not None and any(c in self._doubts and c not in self._weighed for c in doubts)
        self._weighed, self._doubts = [c for c in doubts if c in self._doubts], doubts
        self._heard_s = robot.time
        mates = self.team.others(robot)
        self.lookout.hear(robot, mates)
        changed = self.meetings.step(robot, self.lookout.found, mates)
        self._share_looks(robot, mates)
        facts = {"trail": self._told_trail, "idle": self._idle, **self.lookout.facts, **self.meetings.facts}
        if self.lookout.is_blind(robot):
            facts["blind"] = True
        if self._pursuit == ("look", self._goal):
            facts["looks"] = True
        if self._pursuit is not None and self._pursuit[0] == "check" and self.doubt is not None:
            facts["checks"] = self.doubt.identity
        self.team.step(robot, goal=self._goal, **facts)
        return changed or news

    def until(self, robot: Robot, task: Task) -> Any:
        """Return the condition to choose again: news, time, or a drive without progress, to whatever goals."""
        self._heard_s = -math.inf  # tell the new goal at once
        end_s = robot.time + self.settings.replan_s
        drove, self._drives = self._drives, task.place is not None and math.dist(task.place, robot.pose[:2]) > _THERE_M
        if self._stalled or not (drove and self._drives):
            self._progress.restart(robot.time, *robot.pose[:2])
        self._stalled = False

        def over(robot: Robot) -> bool:
            again = self.interrupted(robot)
            self._stalled = self._drives and self._progress.expired(robot.time, *robot.pose[:2])
            return again or self._stalled or robot.time >= end_s - 1e-9 or robot.blind

        return over

    def _look(self, robot: Robot) -> None:
        """Count what the own camera has seen since the last look as searched."""
        if self.searched is None or self.lookout.is_blind(robot):
            return
        now, pose, turn_rate = robot.time, robot.pose, robot.twist[2]
        since_s = min(now - self._looked_s, _EVERY_S)
        self._looked_s, self._looked_at = now, pose[2]
        self.searched.add_sample(robot.map.occupancy(), pose, turn_rate, now, self._rate_hz * since_s)

    def _share_looks(self, robot: Robot, mates: dict[str, Mate]) -> None:
        """Tell from where the own camera looks, and count what those of the mates have seen as searched."""
        if self.searched is None:
            return
        now, (x, y, heading) = robot.time, robot.pose
        if not self.lookout.is_blind(robot):
            self._trail.append((now, x, y, heading, robot.twist[2]))
        if now >= self._told_s + 1.0 - 1e-9:
            self._trail = [entry for entry in self._trail if entry[0] > now - _TRAIL_S]
            self._told_s, self._told_trail = now, np.array(self._trail).tobytes()
        for name, mate in mates.items():
            before, last_s = self._trail_of.get(name, (b"", -math.inf))
            trail = mate.facts.get("trail", b"")
            if trail is before:
                continue
            occupancy = robot.map.occupancy()
            for time_s, *pose, rate in np.frombuffer(trail).reshape(-1, 5).tolist():
                if time_s > last_s:
                    self.searched.add_sample(occupancy, pose, rate)
                    last_s = time_s
            self._trail_of[name] = trail, last_s

    # -- choosing -----------------------------------------------------------------------------------------------------

    def choose(self, robot: Robot) -> Task | None:
        """Return what to do next; None if nothing is left."""
        mates = self.team.others(robot)
        meetings, found = self.meetings, self.lookout.found
        if meetings.at is None:
            for identity in meetings.open(found):
                if self._is_time_to_meet(robot, identity, mates):
                    meetings.call(robot, identity, found, mates)
        if not meetings.agreed:
            self._sets_out = False
        else:
            self._goal = meetings.place
            if meetings.place is not None:
                cell = np.array([robot.map.grid.cell_at(*meetings.place)])
                if not self._sets_out and (task := self._meanwhile(robot, mates, cell)) is not None:
                    self._goal = task.place
                    return task
                self._sets_out = True
                self._roams(robot, meetings.place, float(self._ways(robot, [], cell)[0, 0]))
            return Task("meet", meetings.place)
        task = self.search(robot, mates)
        if task is not None and task.place is not None and self._roams(robot, task.place, task.way_m):
            self._refuse(robot.pose[:2], task.place)
            self._pursuit = None
            task = self.search(robot, mates)
        self._goal, self._idle = (None, True) if task is None else (task.place, False)
        if task is not None:
            self._in_vain = 0
            return task
        left = meetings.open(found)
        if left and meetings.at is None and not meetings.call(robot, left[0], found, mates, anyway=True):
            meetings.go(robot, left[0])
        seek = self.lookout.is_blind(robot) and not all(mate.facts.get("idle") for mate in mates.values())
        if left or seek or self._in_vain < 5:
            self._in_vain += 1
            self._refused.goals.clear()
            return Task("wait")
        return None

    def _meanwhile(self, robot: Robot, mates: dict[str, Mate], cell: np.ndarray) -> Task | None:
        """Return a goal that it can search at before all others have come to the cell (1, 2) of its meeting."""
        told = {name: mate.facts.get("meeting") or (None, False, False) for name, mate in mates.items()}
        late = [
            mates[n].pose[:2] for n, (at, _, is_there, *_) in told.items() if at == self.meetings.at and not is_there
        ]
        if not late or self.all_found:
            return None
        own, *others = self._ways(robot, late, cell)[:, 0].tolist()
        if not own + _SPARE_M < max(others) < np.inf:
            return None
        task = self.search(robot, mates)
        if task is None or task.place is None:
            return None
        back = float(robot.travel_from([task.place], cell)[0, 0])
        return task if task.way_m + _DWELL_M + back <= max(others) else None

    def went(self, robot: Robot, task: Task, state: str) -> None:
        """Process the end of a drive: remember goals that did not help.

        A gap that it cannot pass lies before many goals; each drive that fails at one place refuses twice as far.
        """
        assert task.place is not None
        failed = state in ("unreachable", "stuck") or self._stalled
        if failed or (state == "reached" and task.kind != "look"):
            self._pursuit = None
        if failed:
            here = robot.pose[:2]
            mates = self.team.others(robot).values()
            if state != "unreachable" and all(math.dist(here, mate.pose[:2]) > _BESIDE_M for mate in mates):
                robot.jammed()
            if task.kind != "meet":
                self._refuse(here, task.place)
        elif task.kind == "frontier" and state == "reached":
            self._refused.add(task.place)

    def looked(self, robot: Robot, task: Task) -> None:
        """Process the end of a look around: what a turn did not show hardly shows from near there."""
        assert task.place is not None
        self._pursuit = None
        self._refused.add(task.place)
        if self.searched is not None:
            cell = np.array([robot.map.grid.cell_at(*task.place)])
            patches = self.searched.sights(robot.map.occupancy(), cell).patches[0]
            left = self.searched.missed.reshape(-1)
            patches = patches[patches >= 0]
            left[patches] = np.where(left[patches] > _SURE, _IN_VAIN * left[patches], left[patches])

    def directions(self, robot: Robot) -> np.ndarray:
        """Return the directions [rad] of the patches in sight that are not searched."""
        if self.searched is None:
            return np.empty(0)
        cell = np.array([robot.map.grid.cell_at(*robot.pose[:2])])
        sights = self.searched.sights(robot.map.occupancy(), cell)
        patches = sights.patches[0]
        left = (patches >= 0) & (self.searched.missed.ravel()[patches] > min(self._sweep, _SURE))
        return sights.angles[left]

    def _roams(self, robot: Robot, place: Point, way_m: float) -> bool:
        """Return whether it comes no nearer to a place; then it avoids where it was nearest."""
        here = robot.pose[:2]
        if math.dist(place, here) <= _THERE_M:
            return False
        nearest = self._approach.step(robot.time, here, place, way_m)
        if nearest is not None:
            robot.jammed(nearest)
        return nearest is not None

    def _refuse(self, here: Point, place: Point) -> None:
        """Refuse goals around a place that it did not get to from here: after each failure here, twice as far."""
        before = sum(math.dist(here, stall) <= _SAME_M for stall in self._stalls)
        self._stalls.append(here)
        self._refused.add(place, _REFUSED_M * 2.0**before)

    def _is_time_to_meet(self, robot: Robot, identity: int, mates: dict[str, Mate]) -> bool:
        """Return whether two are near the fire, or time gets short."""
        if not mates:
            return False
        find, (place, known_s) = self.lookout.found[identity], self._standing.get(identity, (None, -math.inf))
        if robot.time > known_s + _KNOWN_S:
            place = standing_place(robot, (find.x, find.y), (), self.meetings.near_m)
            self._standing[identity] = place, robot.time
        if place is None:
            return False
        cell = np.array([robot.map.grid.cell_at(*place)])
        own, *others = self._ways(robot, [mate.pose[:2] for mate in mates.values()], cell)[:, 0].tolist()
        other = min(others)
        way_s = 2.0 * max(own, other) / max(robot.model.max_speed_m_s, 0.05)
        done = self.all_found
        return own + other <= self.settings.near_m or robot.time + way_s + 60.0 > self.settings.time_limit_s or done

    def search(self, robot: Robot, mates: dict[str, Mate]) -> Task | None:
        """Return the goal that the robot pursues, or the first in the order for the team; None if there is no goal.

        Mates reach their goals first, and go on from there.
        """
        grid, reach = robot.map.grid, robot.reachable()
        if (here := self._check_here(robot)) is not None:
            return here
        cells, weights, kinds = self._frontiers(robot, reach)
        places = np.empty((0, 2), np.int64) if self.all_found else self._places(robot, reach)
        names = nearest_by_air(robot, mates)
        team = [mates[name] for name in names]
        goals = [mate.goal or mate.pose[:2] for mate in team]
        at = np.clip(grid.to_cells(np.reshape(goals, (-1, 2))), 0, np.array(grid.shape) - 1)
        ways = self._ways(robot, [mate.pose[:2] for mate in team], np.vstack((at, cells, places)))
        to_goals, to_frontiers, to_places = np.split(ways, np.cumsum((len(at), len(cells))), axis=1)
        taken = [i for i, name in enumerate(names) if self._is_taken(robot, name, team[i], to_goals[:, i], i + 1)]
        looks = at[[i for i in taken if team[i].facts.get("looks")]]
        chosen, gains = self._views(robot, places, to_places[0], looks)
        weights, kinds = np.append(weights, gains), [*kinds, *["look"] * len(chosen)]
        leave = {team[i].facts.get("checks") for i in taken}
        doubts = self._checks(robot, places, to_places[0])
        doubts = [(candidate, k) for candidate, k in doubts if candidate.identity not in leave]
        per_target_m = weights.sum() / max(self.settings.targets - len(self.lookout.found), 1)
        chosen = [*chosen, *(k for _, k in doubts)]
        weights = np.append(weights, [max(c.probability * per_target_m, 0.2) for c, _ in doubts])
        kinds, cells = [*kinds, *["check"] * len(doubts)], np.vstack((cells, places[chosen]))
        if not len(cells):
            return None
        points, start = grid.to_world(cells), np.hstack((to_frontiers, to_places[:, chosen]))
        own = start[0].copy()
        between = robot.travel_from([*points, *goals], cells)
        for i in taken:
            via = to_goals[i + 1, i] + _DWELL_M + between[len(cells) + i]
            start[i + 1] = np.where(np.isfinite(via), via, start[i + 1])
            start[0, np.hypot(*(points - goals[i]).T) <= _SAME_M] = np.inf
        if not np.isfinite(start[0]).any():
            start[0] = own
        between, straight = between[: len(cells)], 1.3 * np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
        between = np.where(np.isfinite(between), between, straight)
        mine = self._pursued(points, kinds)
        dwell = np.where(np.arange(len(kinds)) < kinds.count("frontier"), _SEARCH_PER_M * weights, _DWELL_M)
        first = first_goal(start, (between + between.T) / 2, weights, mine, dwell, _LAST_OF)
        x, y = points[first].tolist()
        self._pursuit = kinds[first], (x, y)
        if kinds[first] == "check":
            self.doubt = doubts[first - len(kinds)][0]
        robot.note(f"{kinds[first]} at ({x:.1f}, {y:.1f})")
        return Task(kinds[first], (x, y), float(own[first]))

    def _ways(self, robot: Robot, mates: list[Point], cells: np.ndarray) -> np.ndarray:
        """Return the ways from the robot, and from its mates, to cells that it can reach, float64 (n, k) [m].

        All of them are estimated alike. If its own were longer, each of two robots would leave far goals to the other.
        """
        return robot.travel_from([robot.pose[:2], *mates], cells)

    def _is_taken(self, robot: Robot, name: str, mate: Mate, ways: np.ndarray, row: int) -> bool:
        """Return whether a mate's goal is left to it: it is nearer, or hardly farther and the robot pursues another.

        ``ways``: those of the robot and its mates to that goal [m], of which the mate has this ``row``.
        """
        if mate.goal is None:
            return False
        pursues = self._pursuit is not None and math.dist(self._pursuit[1], mate.goal) <= _SAME_M
        own = ways[0] if pursues else ways[0] + _STEAL_M
        return (ways[row], name) < (own, robot.name)

    def _pursued(self, points: np.ndarray, kinds: list[str]) -> int:
        """Return which of the goals, (k, 2) [m], is the one that the robot pursues; -1: none of them."""
        if self._pursuit is None:
            return -1
        kind, place = self._pursuit
        away = np.where(np.array(kinds) == kind, np.hypot(*(points - place).T), np.inf)
        nearest = int(away.argmin())
        return nearest if away[nearest] <= (_FOLLOWED_M if kind == "frontier" else 0.1) else -1

    def _frontiers(self, robot: Robot, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return the cells of pieces of frontiers, their weights in metres of wall, and their kind."""
        grid = robot.map.grid
        for smallest in (6, 2, 1):
            found = robot.frontiers("explore", smallest)
            cells = found.cells
            usable = reach[cells[:, 0], cells[:, 1]] & self._refused.clear(grid.to_world(cells))
            if usable.any():
                goals = middles(cells[usable], found.label[usable], self.settings.piece_m / grid.resolution)
                seen = sensor_range_m(robot) / grid.resolution
                area = unseen_area(robot.map.occupancy(), goals, seen, shared=True) * grid.resolution**2
                return goals, 0.2 + _WALL_PER_M2 * np.minimum(area, 12.0), ["frontier"] * len(goals)
        return np.empty((0, 2), np.int64), np.empty(0), []

    def _places(self, robot: Robot, reach: np.ndarray) -> np.ndarray:
        """Return the places from which it may look around, int64 (k, 2) cells."""
        grid = robot.map.grid
        if self.searched is None or self.lookout.is_blind(robot):
            return np.empty((0, 2), np.int64)
        stride = max(round(_LATTICE_M / grid.resolution), 1)
        floor = reach[::stride, ::stride] & (robot.map.occupancy()[::stride, ::stride] == 0)
        places = np.argwhere(floor) * stride
        known = [robot.pose[:2], self._pursuit[1]] if self._pursuit else [robot.pose[:2]]
        places = np.vstack((places, [grid.cell_at(*place) for place in known]))
        return places[self._refused.clear(grid.to_world(places))]

    def is_in_doubt(self, candidate: Candidate) -> bool:
        """Return whether a candidate may exist, and is not sure."""
        belief = self.lookout.belief.candidates
        return candidate in belief and _DOUBT < candidate.probability < self.settings.report_at

    def looked_again(self, robot: Robot) -> None:
        """Process the end of a look at the candidate in doubt: if it is there, a look at it hardly ever fails."""
        candidate, self.doubt = self.doubt, None
        if self._pursuit is not None and self._pursuit[0] == "check":
            self._pursuit = None
        if candidate is None or not self.is_in_doubt(candidate):
            return
        x, y, heading = robot.pose
        if abs(wrap_angle(math.atan2(candidate.y - y, candidate.x - x) - heading)) < self.half_view:
            self.lookout.belief.miss(candidate, _SEEN_AGAIN)

    def _check_here(self, robot: Robot) -> Task | None:
        """Return the task to look again at a candidate in doubt that can be seen from here; None: there is none."""
        if self.all_found or self.lookout.is_blind(robot):
            return None
        x, y, _ = robot.pose
        doubts = self._checks(robot, np.array([robot.map.grid.cell_at(x, y)]), np.zeros(1))
        if not doubts:
            return None
        self.doubt = doubts[0][0]
        robot.note(f"{self.doubt.kind}? at ({self.doubt.x:.1f}, {self.doubt.y:.1f})")
        return Task("check", (x, y))

    def _checks(self, robot: Robot, places: np.ndarray, ways: np.ndarray) -> list[tuple[Candidate, int]]:
        """Return the candidates in doubt, and from which of the places (k, 2) each can be seen again soonest.

        It was seen from some directions, up to a distance; from there it should be seen again, if no wall is between.
        """
        grid, occupancy, out = robot.map.grid, robot.map.occupancy(), list[tuple[Candidate, int]]()
        points = grid.to_world(places)
        mine = np.full(len(places), False)
        if self._pursuit is not None and self._pursuit[0] == "check":
            mine = np.hypot(*(points - self._pursuit[1]).T) <= 0.1
        for candidate in filter(self.is_in_doubt, self.lookout.belief.candidates):
            off = points - (candidate.x, candidate.y)
            away, direction = np.hypot(*off.T), np.arctan2(off[:, 1], off[:, 0])
            aside = np.abs(wrap_angle(direction[:, None] - np.array(candidate.seen_from))).min(axis=1)
            fits = (aside <= ASIDE_RAD) & (away <= candidate.reach_m + 0.1) & (away >= _LEAST_M) & np.isfinite(ways)
            order = np.flatnonzero(fits)
            for k in order[np.lexsort((ways[order], ~mine[order]))].tolist():
                steps = np.linspace(0.0, 1.0, 2 + int(away[k] / grid.resolution))[:, None]
                line = points[k] - steps * off[k] * max(1.0 - _BEFORE_M / away[k], 0.0)
                rows, columns = np.clip(grid.to_cells(line), 0, np.array(grid.shape) - 1).T
                if not (occupancy[rows, columns] > 0).any():
                    out.append((candidate, k))
                    break
        return out

    def _forget_where_candidates_are(self) -> None:
        """Count the walls around candidates as not searched after each detection, so that somebody looks again."""
        detected = {c: c.detections for c in self.lookout.belief.candidates if c.probability > _DOUBT}
        for candidate, detections in detected.items():
            if detections > self._forgot.get(candidate, 0) and self.searched is not None:
                self.searched.forget(candidate.x, candidate.y, 0.4, candidate.seen_from)
        self._forgot = detected

    def _views(
        self, robot: Robot, places: np.ndarray, ways: np.ndarray, taken: np.ndarray
    ) -> tuple[list[int], np.ndarray]:
        """Return the places to look around, indices into (k, 2) cells, and the metres of wall not searched there.

        The one that it pursues comes first, while anything is left there. What is in sight of cells ``taken`` (m, 2) is
        left to mates.
        """
        searched = self.searched
        if searched is None or not len(places):
            return [], np.empty(0)
        self._forget_where_candidates_are()
        occupancy, grid = robot.map.occupancy(), robot.map.grid
        sights, cost = searched.sights(occupancy, places), ways + _NEAR_M
        theirs, mine = searched.sights(occupancy, taken).patches, np.empty(0, np.int64)
        if self._pursuit is not None and self._pursuit[0] == "look":
            mine = np.flatnonzero((places == grid.cell_at(*self._pursuit[1])).all(axis=1))[-1:]
        for missed, least in SWEEPS:
            self._sweep = missed
            left = np.where(searched.missed > missed, searched.missed, 0.0)
            left.reshape(-1)[theirs[theirs >= 0]] = 0.0
            first = [
                (int(k), float(gain)) for k, gain in zip(mine, sights.gains(left)[mine], strict=True) if gain >= 1.0
            ]
            for k, _ in first:
                left.reshape(-1)[sights.patches[k][sights.patches[k] >= 0]] = 0.0
            smallest = np.minimum(np.maximum(_SMALL_PER_M * cost, _SMALL * least), least)
            if chosen := first + sights.cover(left, _VIEWS, smallest, cost):
                return [k for k, _ in chosen], PATCH_M * np.array([gain for _, gain in chosen])
        if len(self._refused) or (searched.missed < _SURE).any():  # begin again: something was missed
            self._refused.goals.clear()
            np.maximum(searched.missed, _SURE, out=searched.missed)
        return [], np.empty(0)


def first_goal(
    start: np.ndarray,
    between: np.ndarray,
    weights: np.ndarray,
    mine: int,
    dwell: float | np.ndarray = _DWELL_M,
    targets: int = 1,
) -> int:
    """Return the goal that the first robot of a team goes to: the one that it pursues, unless leaving it gains enough.

    Args:
        start: float64 (n, k), ways from the robots to the goals [m].
        between: float64 (k, k), ways between the goals [m].
        weights: float64 (k,), metres of wall there.
        mine: the goal that it pursues; -1: none.
        dwell: the way that a robot could drive while it searches there [m], of all or float64 (k,).
        targets: how many are to be found.
    """
    table = start, between, weights, dwell, targets
    orders = search_order(*table)
    if mine < 0 or not np.isfinite(start[0, mine]):
        return orders[0][0] if orders[0] else int(start[0].argmin())
    kept = search_order(*table, first=mine)
    gain = expected_cost(kept, *table) - expected_cost(orders, *table)
    return orders[0][0] if orders[0] and gain > _CHANGE_M * weights[kept[0]].sum() else mine


def nearest_by_air(robot: Robot, mates: dict[str, Mate]) -> list[str]:
    """Return the names of the mates that the robot plans for, the nearest first; blind ones search nothing."""
    seers = [name for name, mate in mates.items() if not mate.facts.get("blind")]
    return sorted(seers, key=lambda n: (math.dist(mates[n].pose[:2], robot.pose[:2]), n))[:MOST_MATES]
