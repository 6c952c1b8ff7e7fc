"""SLAM of a team: robots exchange what they saw, find relations between their maps, and join what agrees in one graph.

Each robot has a `TeamMember` around its `GraphSlam`. A round of an exchange between two robots, over any link:

    update = here.update_for(there.clock)  # bytes, what the other lacks, also of third robots
    there.take(update)
    here.work()  # one bounded piece of work: compare two places, judge relations, or solve the graph once

Frames of the robots need not be related at first. Relations between robots are found by comparing places: at all
headings as long as nothing is known, near the expected place afterwards. Two robots are joined when relations from
several places agree in pairs. The set that agrees is found again over all relations whenever new ones come, so a wrong
join is taken back when more relations contradict it. No robot is special: each computes the same from the same items;
only the frame in which the graph is solved is that of the lowest number.

References:
    J. G. Mangelson, D. Dominic, R. M. Eustice, R. Vasudevan: Pairwise consistent measurement set maximization for
    robust multi-robot map merging. ICRA 2018. P.-Y. Lajoie, B. Ramtoula, Y. Chang, L. Carlone, G. Beltrame: DOOR-SLAM.
    RA-L 5, 2020 (rejection before robots are joined).
"""

import itertools
import math
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from pydantic import Field

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse, wrap_angle
from covey.mapping.slam.graph_slam import Edge, GraphSlam
from covey.mapping.slam.local_map import LocalMap
from covey.mapping.slam.log import relative
from covey.mapping.slam.team_graph import PLACE, Solving, agreeing, between, fixes, grown, is_far, places_of, track_of
from covey.mapping.slam.team_news import (
    Here,
    Relation,
    Trail,
    frame_item,
    loop_item,
    met,
    read_update,
    relation_item,
    withdrawn_item,
    write_update,
)
from covey.mapping.slam.team_places import anywhere, coarse_map, is_seen_through, near
from covey.records import Record

_AT_ONCE = 1_000_000  # relations that the joined poses lack: do not wait for more
_SEEN_ANEW = 20  # key frames of two robots that may show that relations are wrong
_LOOP_M, _LOOP_RAD = 2.0, 0.3  # how far the sets of three robots may be from each other


class TeamSettings(Record):
    """How the robots of a team find each other's maps."""

    start_sigma_m: float = Field(default=0.05, gt=0, description="Standard deviation of a known start position [m].")
    start_sigma_deg: float = Field(default=1.0, gt=0, le=180, description="Of its heading [degrees].")
    score: float = Field(default=0.6, gt=0, le=1, description="Least mean nearness of the points of a relation.")
    first_score: float = Field(
        default=0.7, gt=0, le=1, description="Least nearness in the search at all headings, on cells twice as large."
    )
    places: int = Field(
        default=4, ge=1, description="Relations that agree join two robots when they are from as many places."
    )
    sure_places: int = Field(
        default=10,
        ge=1,
        description="Surely joined: only a quarter of the places is searched at all headings then.",
    )
    window_m: float = Field(default=3.0, gt=0, description="How far from each other's way places are searched [m].")
    drift: float = Field(default=0.04, gt=0, description="Expected error of a position by way [m/m].")
    drift_deg: float = Field(default=0.4, gt=0, description="Expected error of the heading by way [degrees/m].")
    most: int = Field(default=4, ge=1, description="So many relations between two places are enough.")
    stride: int = Field(default=2, ge=1, description="Every so many key frames are compared once robots are joined.")


class _Task(NamedTuple):
    """Compare key frame ``mine`` with what ``other`` saw around its key frame ``k``, in its own frame."""

    other: int
    k: int
    mine: int
    guess: np.ndarray
    window_m: float
    window_rad: float
    joined: bool


class TeamMember:
    """SLAM of one robot of a team.

    Args:
        number: number of the robot, from 0; each robot has its own.
        slam: its SLAM.
        settings: see `TeamSettings`; all robots should have the same.
        common_frame: whether all start poses are in one frame; else the frames of the robots are not related.

    Attributes:
        bytes_sent: length of all updates made so far.
        accepted: relations that agree, of the robots that are joined.
        revision: grows whenever `trajectory` may have changed for the past.
    """

    def __init__(self, number: int, slam: GraphSlam, settings: TeamSettings | None = None, common_frame: bool = False):
        if not 0 <= number < 2**16:
            raise InvalidValueError(f"the number of a robot is 0 to 65535, not {number}")
        self.number, self.slam, self.settings = number, slam, settings or TeamSettings()
        self.common_frame = common_frame
        self.bytes_sent = 0
        self.accepted: list[Relation] = []
        self.revision = 0
        self._trails: dict[int, Trail] = {number: Trail()}
        self._alone: dict[int, np.ndarray] = {number: np.empty((0, 3))}  # poses by a robot's own relations
        self._joined: dict[int, np.ndarray] = {}  # poses in the frame of the lowest robot joined with it
        self._root: dict[int, int] = {}
        self._agreed: dict[tuple[int, int], list[Relation]] = {}
        self._between: dict[tuple[int, int], np.ndarray] = {}  # pose of the second frame in the first, alone
        self._judged: dict[tuple[int, int], tuple[int, int]] = {}  # relations and key frames at the last judgement
        self._gathered: tuple[list[Edge], int] = [], 0  # the edges of the SLAM that are items
        self._unsettled: dict[int, int] = {}  # by robot: own loops that its poses lack
        self._unjoined: dict[int, int] = {}  # by lowest robot: relations that the joined poses lack
        self._trusted: set[int] = set()  # joined anew
        self._solving: tuple[int | None, Solving] | None = None
        self._relations: dict[tuple[int, int], list[Relation]] = {}  # by pair of robots
        self._taken: dict[int, int] = {}  # by robot: relations it found that are in there
        self._early: list[Relation] = []  # of key frames that are not held yet
        self._tasks: deque[_Task] = deque()
        self._compared: set[tuple[int, int]] = set()
        self._looked = (-1, -1)
        self._pairs: deque[tuple[int, int, int]] = deque()
        self._paired = (-1, -1)
        self._searched: set[tuple[int, int, int]] = set()
        self._maps: OrderedDict[tuple[int, int, int], tuple[LocalMap, np.ndarray]] = OrderedDict()

    # News

    @property
    def clock(self) -> dict[int, int]:
        """For each robot, how many of its items are held here."""
        self._gather()
        return {robot: len(trail.items) for robot, trail in sorted(self._trails.items())}

    def update_for(self, clock: Mapping[int, int]) -> bytes:
        """Return all that somebody with this clock lacks."""
        self._gather()
        update = write_update(self._trails, clock)
        self.bytes_sent += len(update)
        return update

    def take(self, update: bytes) -> int:
        """Take what is new of an update; return the number of new items. Parts that begin too late are left out.

        Raises:
            InvalidValueError: it is no update, is cut or damaged, or comes from a robot with the same number; nothing
                is taken then.
        """
        clock, news = read_update(update)
        self._gather()
        mine = len(self._trails[self.number].items)
        if clock.get(self.number, 0) > mine:
            raise InvalidValueError(
                f"an update holds {clock[self.number]} items of robot {self.number}, which has made {mine}: "
                "two robots have one number, or this one began anew"
            )
        changed: dict[int, Trail] = {}
        for robot, (begin, items) in news.items():
            held = self._trails.get(robot, Trail())
            new = items[len(held.items) - begin :] if begin <= len(held.items) else []
            if new:
                changed[robot] = held.copy()
                for item in new:
                    changed[robot].add(item, robot)
        many = sum(len(trail.items) - len(self._trails.get(r, Trail()).items) for r, trail in changed.items())
        for robot, trail in sorted(changed.items()):
            before = len(self._trails[robot].turned) if robot in self._trails else 0
            self._trails[robot] = trail
            self._grow(robot, before)
        return many

    def _gather(self) -> None:
        """Make items of what the SLAM did since the last time."""
        slam, trail = self.slam, self._trails[self.number]
        edges, many = self._gathered
        if slam.edges is edges and len(edges) == many and bool(trail.frames) == bool(slam.frames):
            return
        before = len(trail.turned)
        mount = np.array(slam.laser.mount[:2])
        if slam.frames and not trail.frames:
            trail.add(frame_item(slam.frames[0], slam.poses[0], np.eye(3), mount), self.number)
        for edge in [edge for edge in slam.edges if not edge.is_loop][len(trail.steps) :]:
            trail.add(frame_item(slam.frames[edge.second], edge.motion, edge.information, mount), self.number)
        loops = {(edge.first, edge.second): edge for edge in slam.edges if edge.is_loop}
        for ends in [ends for ends in trail.loops if ends not in loops]:
            trail.add(withdrawn_item(trail.loops[ends]), self.number)
        for ends in [ends for ends in loops if ends not in trail.loops]:
            trail.add(loop_item(loops[ends]), self.number)
        self._gathered = slam.edges, len(slam.edges)
        self._grow(self.number, before)

    def _grow(self, robot: int, turned_before: int) -> None:
        """Give the newest key frames of a robot poses, and note its loops that came or went."""
        trail = self._trails[robot]
        if not trail.frames:
            return
        self._alone[robot] = grown(trail, self._alone.get(robot, np.empty((0, 3))))
        self._root.setdefault(robot, robot)
        self._joined[robot] = self._alone[robot] if self._is_alone(robot) else grown(trail, self._joined[robot])
        poses = self._alone[robot]
        for edge in trail.turned[turned_before:]:
            is_gone = (edge.first, edge.second) not in trail.loops
            weight = 10 if is_gone or is_far(edge, poses, poses) else 1
            self._unsettled[robot] = self._unsettled.get(robot, 0) + weight

    # What is known

    def frame_of(self, robot: int) -> np.ndarray | None:
        """Return the pose (3,) of a robot's map frame in the map frame of this one; None: they are not joined."""
        if not self._is_joined(robot):
            return None
        return compose(self.trajectory(robot)[0], inverse(self._trails[robot].start))

    def trajectory(self, robot: int) -> np.ndarray:
        """Return the poses (n, 3) of the key frames of a robot in the map frame of this one, by all that is known.

        Raises:
            InvalidValueError: the robot is not joined with this one.
        """
        self._gather()
        if not self._is_joined(robot):
            raise InvalidValueError(f"robot {robot} is not joined with robot {self.number}")
        mine = compose(self._trails[self.number].start, inverse(self._joined[self.number][0]))
        return compose(mine, self._joined[robot])

    @property
    def poses(self) -> np.ndarray:
        """Poses (n, 3) of the key frames of this robot by all that is known; those of its SLAM while it is alone."""
        self._gather()
        if not self._trails[self.number].frames or self._is_alone(self.number):
            return self.slam.poses
        return self.trajectory(self.number)

    def pose_of(self, robot: int) -> np.ndarray | None:
        """Return the pose (3,) of a robot in the map frame of this one: of another, at its newest key frame held."""
        if not self._is_joined(robot):
            return None
        newest = self.trajectory(robot)[-1]
        return compose(newest, self.here.since) if robot == self.number else newest

    @property
    def here(self) -> Here:
        """Where this robot is, as others need it to report an `encounter`."""
        if not self.slam.frames:
            raise InvalidValueError(f"robot {self.number} has no scan yet, so it is nowhere")
        return Here(len(self.slam.frames) - 1, relative(self.slam.poses[-1], self.slam.pose))

    def _is_joined(self, robot: int) -> bool:
        self._gather()
        return robot in self._root and self._root[robot] == self._root.get(self.number)

    def _is_alone(self, robot: int) -> bool:
        return list(self._root.values()).count(self._root[robot]) == 1

    # Relations

    def encounter(self, other: int, motion: np.ndarray, information: np.ndarray, there: Here) -> None:
        """Note that this robot sees another one now.

        Args:
            other: number of the other.
            motion: its pose (3,) in the frame of this one, as seen.
            information: inverse (3, 3) of the covariance of ``motion``.
            there: where the other says that it is.
        """
        self.note(met(self.number, self.here, other, there, motion, information))

    def note(self, relation: Relation) -> None:
        """Keep a relation that this robot found, and look for others that would agree."""
        self._gather()
        self._trails[self.number].add(relation_item(relation), self.number)
        self._tasks.extendleft(self._around(relation))

    def _gather_relations(self) -> None:
        """Note the relations between key frames that are held, by pair of robots; those that are given come first."""
        s = self.settings
        if self.common_frame:
            sigma = np.array([s.start_sigma_m, s.start_sigma_m, math.radians(s.start_sigma_deg)])
            for a, b in itertools.combinations(sorted(self._alone), 2):
                if (a, b) not in self._relations and len(self._alone[a]) and len(self._alone[b]):
                    motion = relative(self._trails[a].start, self._trails[b].start)
                    self._relations[a, b] = [Relation(a, 0, b, 0, motion, np.diag(sigma**-2.0))]
        fresh, self._early = self._early, []
        for robot, trail in sorted(self._trails.items()):
            fresh += trail.found[self._taken.get(robot, 0) :]
            self._taken[robot] = len(trail.found)
        for x in fresh:
            if x.first < len(self._alone.get(x.a, ())) and x.second < len(self._alone.get(x.b, ())):
                self._relations.setdefault((x.a, x.b), []).append(x)
            else:
                self._early.append(x)

    # Work

    def work(self, at_once: bool = False) -> bool:
        """Do one bounded piece of work; return whether there was any.

        Relations are judged, and poses solved, when a quarter is new; with ``at_once`` whenever anything is.
        """
        self._gather()
        return self._judge(at_once) or self._solve(at_once) or self._compare() or self._search()

    def settle(self) -> None:
        """Do all work that there is."""
        while self.work() or self.work(at_once=True):
            pass

    def _solve(self, at_once: bool) -> bool:
        """Go on with the graph that is being solved, or begin with the next one."""
        if self._solving is None:
            least = 1 if at_once else 10
            many_held = least if at_once else max(least, len(self.accepted) // 4)
            due = [robot for robot, many in sorted(self._unsettled.items()) if many >= least]
            together = [root for root, many in sorted(self._unjoined.items()) if many >= many_held]
            if due:
                robot = due[0]
                del self._unsettled[robot]
                self._solving = None, Solving(self._trails, {robot: self._alone[robot]})
            elif together:
                root = together[0]
                del self._unjoined[root]
                poses = {r: self._joined[r] for r, other in self._root.items() if other == root}
                relations = [x for x in self.accepted if x.a in poses]
                self._solving = root, Solving(self._trails, poses, relations, root in self._trusted)
                self._trusted.discard(root)
            else:
                return False
        root, solving = self._solving
        solved = solving.step()
        if solved is None:
            return True
        self._solving = None
        for robot, poses in solved.items():
            full = grown(self._trails[robot], poses)
            if root is None:
                self._alone[robot] = full
                for pair in self._agreed:
                    if robot in pair:
                        self._relate(pair)
                home = self._root[robot]
                if self._is_alone(robot):
                    self._joined[robot] = full
                else:
                    self._unjoined[home] = self._unjoined.get(home, 0) + _AT_ONCE
            else:
                self._joined[robot] = full
        self.revision += 1
        return True

    def _judge(self, at_once: bool) -> bool:
        """Find the set of relations that agree of a pair of robots with new ones; join or part robots.

        As the robots see more, what agreed may turn out to be wrong.
        """
        self._gather_relations()
        for pair, all_of_pair in self._relations.items():
            held, seen = self._judged.get(pair, (0, 0))
            new, frames = len(all_of_pair) - held, sum(len(self._alone[robot]) for robot in pair)
            is_due = new and (new >= len(all_of_pair) // 4 or at_once)
            if not is_due and (self.common_frame or frames < seen + _SEEN_ANEW):
                continue
            self._judged[pair] = len(all_of_pair), frames
            a, b = (track_of(self._trails[r], self._alone[r]) for r in pair)
            before = {id(x) for x in self._agreed.get(pair, [])}
            self._agreed[pair] = agreeing(a, b, all_of_pair, self.common_frame, self._is_denied)
            self._relate(pair)
            kept = sum(id(x) in before for x in self._agreed[pair])
            self._regroup(pair if kept < len(before) // 2 else None)
            return True
        return False

    def _relate(self, pair: tuple[int, int]) -> None:
        """Find how the frames of a pair of robots lie to each other by the relations that agree."""
        kept, (a, b) = self._agreed[pair], pair
        if kept:
            self._between[pair] = between(kept, self._alone[a], self._alone[b])

    def _is_denied(self, relations: list[Relation]) -> bool:
        """Return whether relations of one pair, none of them seen, contradict what the two saw."""
        if any(x.is_seen for x in relations):
            return False
        a, b, poses = relations[0].a, relations[0].b, self._alone
        return is_seen_through(self._trails[a], poses[a], self._trails[b], poses[b], relations)

    def _regroup(self, turned: tuple[int, int] | None) -> None:
        """Join robots by the sets of relations that agree, the largest sets first.

        Of a pair ``turned`` of robots other relations agree than before.
        """
        s, before = self.settings, {id(x) for x in self.accepted}
        enough = [
            (pair, kept)
            for pair, kept in sorted(self._agreed.items(), key=lambda one: (-len(one[1]), one[0]))
            if self.common_frame or places_of(kept) >= s.places or any(x.is_seen for x in kept)
        ]
        group = {robot: {robot} for robot in self._root}
        frames = {robot: np.zeros(3) for robot in self._root}  # of each robot in that of its group
        sets = []
        for (a, b), kept in enough:
            into = compose(frames[a], self._between[a, b])
            if group[a] is group[b]:
                off = relative(into, frames[b])
                if math.hypot(off[0], off[1]) > _LOOP_M or abs(off[2]) > _LOOP_RAD:
                    continue  # larger sets say something else
            else:
                shift = compose(into, inverse(frames[b]))
                frames.update({robot: compose(shift, frames[robot]) for robot in group[b]})
                union = group[a] | group[b]
                group.update(dict.fromkeys(union, union))
            sets.append(((a, b), kept))
        enough = sets
        self.accepted = [x for _, kept in enough for x in kept]
        old: dict[int, set[int]] = {}
        for robot, root in self._root.items():
            old.setdefault(root, set()).add(robot)
        roots = {robot: min(group[robot]) for robot in self._root}
        taken_back = bool(before - {id(x) for x in self.accepted})
        changed = {roots[r] for r in self._root if roots[r] != self._root[r]}
        changed |= {root for root in roots.values() if old.get(root, set()) - group[root]}
        anew = roots[turned[0]] if turned and roots[turned[0]] == roots[turned[1]] else None
        if anew is not None:
            changed.add(anew)
        if changed:
            self._compared.clear()
            self._tasks.clear()
        for root in changed:
            kept_sets = [part for part in old.values() if part <= group[root]] if root != anew else []
            self._place(root, group[root], kept_sets, enough)
            self._trusted.add(root)
        self._root = roots
        for root in sorted(set(roots.values())):
            members = group[root]
            if len(members) == 1:
                self._joined[root] = self._alone[root]
                self._unjoined.pop(root, None)
            elif root in changed or taken_back:
                self._unjoined[root] = _AT_ONCE
            else:
                new = [x for x in self.accepted if x.a in members and id(x) not in before]
                self._unjoined[root] = self._unjoined.get(root, 0) + len(new)
                if any(is_far(x, self._joined[x.a], self._joined[x.b]) for x in new):
                    self._unjoined[root] += _AT_ONCE
                    self._trusted.add(root)  # otherwise the kernel would hold them for wrong
        if changed:
            self._solving, self.revision = None, self.revision + 1

    def _place(self, root: int, members: set[int], kept: list[set[int]], sets: list) -> None:
        """Bring the poses of robots that are newly joined into one frame; what was joined before moves as one."""
        part = {robot: next((one for one in kept if robot in one), {robot}) for robot in members}
        for robot in members:
            if len(part[robot]) == 1:
                self._joined[robot] = self._alone[robot]
        for (a, b), relations in sets:
            if a not in members or part[a] is part[b]:
                continue
            to, other = (a, b) if min(part[a]) < min(part[b]) else (b, a)
            there = between(relations, self._joined[a], self._joined[b])
            shift = there if to == a else inverse(there)
            for robot in part[other]:
                self._joined[robot] = compose(shift, self._joined[robot])
            union = part[a] | part[b]
            part.update(dict.fromkeys(union, union))
        shift = compose(self._trails[root].start, inverse(self._joined[root][0]))
        for robot in members:
            self._joined[robot] = compose(shift, self._joined[robot])

    # Comparing places

    def _compare(self) -> bool:
        """Compare one place of this robot with one of another, near where it is expected."""
        if not self._tasks:
            self._look()
        if not self._tasks:
            return False
        task = self._tasks.popleft()
        if task.joined:
            self._compared.add((task.other, task.mine))
        if self._held(task) >= self.settings.most:
            return True
        poses = self._joined if task.joined else self._alone
        self._match(task, poses)
        return True

    def _match(self, task: _Task, poses: Mapping[int, np.ndarray]) -> Relation | None:
        other, mine, s = self._trails[task.other], self._trails[self.number], self.settings
        found = near(
            other.frames, poses[task.other], task.k, mine.frames, poses[self.number], task.mine, task.guess,
            task.window_m, task.window_rad, s.score, self.slam.settings,
        )  # fmt: skip
        if found is None:
            return None
        relation = Relation.between(
            task.other, task.k, self.number, task.mine, found.motion, found.information, min(found.score, 0.99)
        )
        if task.joined or fixes(relation):
            self._trails[self.number].add(relation_item(relation), self.number)
        else:
            return None
        return relation

    def _held(self, task: _Task) -> int:
        """Return how many relations are held between the two places of a task."""
        theirs, mine = task.k // PLACE, task.mine // PLACE
        place = (theirs, mine) if task.other < self.number else (mine, theirs)
        pair = (min(task.other, self.number), max(task.other, self.number))
        return sum((x.first // PLACE, x.second // PLACE) == place for x in self._relations.get(pair, ()))

    def _look(self) -> None:
        """List the key frames of this robot that are near those of robots joined with it, once each."""
        state = (self.revision, len(self._trails[self.number].frames))
        if state == self._looked or self.number not in self._root:
            return
        self._looked = state
        mine = self._joined[self.number]
        for other in sorted(self._root):
            if other == self.number or not self._is_joined(other):
                continue
            theirs = self._joined[other]
            # The other robot compares the key frames between these.
            stride = self.settings.stride
            first = 2 + stride * (other > self.number)
            rows = [n for n in range(first, len(mine), 2 * stride) if (other, n) not in self._compared]
            tied = self._agreed.get((min(other, self.number), max(other, self.number)), [])
            for n, k in self._nearest(mine[rows], theirs):
                self._tasks.append(self._task(other, k, rows[n], mine[rows[n]], tied, True))

    @staticmethod
    def _nearest(mine: np.ndarray, theirs: np.ndarray) -> Iterator[tuple[int, int]]:
        """Yield rows of poses (n, 3) with the nearest row of the others, where one is near."""
        for n, pose in enumerate(mine):
            away = np.hypot(*(theirs[:, :2] - pose[:2]).T)
            cost = away + np.abs(wrap_angle(theirs[:, 2] - pose[2])) / math.pi
            k = int(np.argmin(cost))
            if cost[k] < 2.5:
                yield n, k

    def _task(self, other: int, k: int, n: int, guess: np.ndarray, tied: list[Relation], joined: bool) -> _Task:
        """Return the task with a window that fits the ways from the nearest of some relations."""
        s = self.settings
        mine, theirs = self._along(self.number), self._along(other)
        ways = [
            abs(mine[n] - mine[x.first if x.a == self.number else x.second])
            + abs(theirs[k] - theirs[x.second if x.a == self.number else x.first])
            for x in tied
        ]
        way = min(ways, default=50.0)
        window_rad = min(math.radians(5.0 + s.drift_deg * way), math.radians(30.0))
        return _Task(other, k, n, guess, min(0.3 + s.drift * way, 2.0), window_rad, joined)

    def _along(self, robot: int) -> np.ndarray:
        """Return the way [m] of a robot up to each key frame."""
        steps = np.diff(self._alone[robot][:, :2], axis=0)
        return np.append(0.0, np.cumsum(np.hypot(steps[:, 0], steps[:, 1])))

    def _around(self, relation: Relation) -> list[_Task]:
        """Return tasks that would confirm a relation: key frames before and behind it."""
        if self.number not in (relation.a, relation.b):
            return []
        own_first = relation.a == self.number
        other = relation.b if own_first else relation.a
        n, k = (relation.first, relation.second) if own_first else (relation.second, relation.first)
        theirs, mine = self._alone.get(other, np.empty((0, 3))), self._alone[self.number]
        if k >= len(theirs):
            return []
        if self._is_joined(other) and not is_far(relation, self._joined[relation.a], self._joined[relation.b]):
            return []
        a, b = self._alone[relation.a], self._alone[relation.b]
        there = between([relation], a, b)
        into = inverse(there) if own_first else there  # own frame in that of the other
        rows = [m for m in range(n - 80, n + 81, 10) if m != n and 2 <= m < len(mine)]
        guesses = compose(into, mine[rows]) if rows else np.empty((0, 3))
        return [self._task(other, q, rows[p], guesses[p], [relation], False) for p, q in self._nearest(guesses, theirs)]

    def _search(self) -> bool:
        """Look for one place of this robot around one place of another, at all headings."""
        shares: dict[int, int] = {}
        if not self._pairs and self._paired != (state := (self.revision, sum(map(len, self._alone.values())))):
            self._paired = state
            self._pair()
        while self._pairs:
            other, k, n = self._pairs.popleft()
            share = shares[other] if other in shares else shares.setdefault(other, self._share(other))
            if not share or (k // 20 + n // 20) % share:
                continue
            self._searched.add((other, k, n))
            s, theirs, mine = self.settings, self._alone[other], self._alone[self.number]
            place, centre = self._map(other, k)
            frames = self._trails[self.number].frames
            pose = anywhere(place, centre, frames, mine, n, s.window_m, s.first_score)
            if pose is None:
                return True
            # The map may be a little older than the poses.
            guess = compose(theirs[k], relative(centre, pose))
            close = int(np.argmin(np.hypot(*(theirs[:, :2] - guess[:2]).T)))
            found = self._match(_Task(other, close, n, guess, 0.3, 0.1, False), self._alone)
            if found is not None:
                self._tasks.extendleft(self._around(found))
            return True
        return False

    def _pair(self) -> None:
        """List the pairs of places that were not searched yet: half of them, as the other robot searches the rest."""
        mine = range(5, len(self._alone[self.number]) - 5, 10)
        for other in sorted(self._alone):
            share = 0 if other == self.number else self._share(other)
            if not share:
                continue
            theirs = range(5, len(self._alone[other]) - 5, 10)
            self._pairs.extend(
                (other, k, n)
                for k in theirs
                for n in mine
                if ((k + n) // 10 % 2 == (other > self.number))
                and (other, k, n) not in self._searched
                and (k // 20 + n // 20) % share == 0
            )

    def _share(self, other: int) -> int:
        """Return which share of the places is searched, as 1 in so many: of a robot that is surely joined 1 in 4, in
        case it is wrong; 0: none."""
        if not self._is_joined(other):
            return 1
        pair = (min(other, self.number), max(other, self.number))
        agreed = self._agreed.get(pair, [])
        if not agreed or self.common_frame:
            return 0
        return 1 if places_of(agreed) < self.settings.sure_places else 4

    def _map(self, other: int, k: int) -> tuple[LocalMap, np.ndarray]:
        """Return the coarse map around key frame k of another robot, and the pose of that key frame in it."""
        key = (other, k, min(k + 9, len(self._alone[other])))
        if key not in self._maps:
            poses = self._alone[other]
            place = coarse_map(self._trails[other].frames, poses, k, self.slam.settings, self.settings.window_m)
            self._maps[key] = place, poses[k]
            if len(self._maps) > 16:
                self._maps.popitem(last=False)
        return self._maps[key]
