"""Finding relations between robots: places of one robot are compared with those of the others.

Places of robots that are joined are compared near where they are expected, those of others at all headings.
"""

import math
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from covey.geometry.se2 import compose, inverse
from covey.kernel import kernel
from covey.mapping.slam.graph_slam import GraphSettings
from covey.mapping.slam.local_map import LocalMap
from covey.mapping.slam.log import relative
from covey.mapping.slam.one_pose import composed
from covey.mapping.slam.team_graph import PLACE, SEEN_OFTEN, between, fixes, is_far, places_of
from covey.mapping.slam.team_joint import Joint
from covey.mapping.slam.team_news import Relation
from covey.mapping.slam.team_places import PARTS, among_headings, coarse_map, near

_NEAR = 2.5  # see `nearest`
_FAR_M = 50.0  # way to a relation where there is none


class _Task(NamedTuple):
    """Compare key frame ``mine`` with what ``other`` saw around its key frame ``k``, near a pose in its own frame."""

    other: int
    k: int
    mine: int
    guess: np.ndarray
    window_m: float
    window_rad: float


class _Sought(NamedTuple):
    """Key frame ``mine`` is looked for around key frame ``k`` of another robot.

    ``off``: the best pose so far in the frame of k, if any, with its score; ``part``: headings to look at next.
    """

    other: int
    k: int
    mine: int
    part: int
    off: np.ndarray | None
    score: float


class PlaceSearch:
    """Compares the places of one robot with those of the others, a pair at a time.

    Args:
        number: number of the robot.
        joint: what it knows of the team.
        graph: the settings of its SLAM.
    """

    def __init__(self, number: int, joint: Joint, graph: GraphSettings):
        self.number, self.joint, self.graph = number, joint, graph
        self.settings = joint.settings
        self._near: deque[tuple[int, int, int]] = deque()  # of joined robots: other, its key frame, own one
        self._compared: set[tuple[int, int]] = set()
        self._looked: dict[int, tuple[int, int, int]] = {}  # by other: revision, its key frames, own ones
        self._joins = 0
        self._tasks: deque[_Task] = deque()  # of robots that are not joined, or wrongly
        self._confirmed: dict[tuple[int, int], int] = {}  # by pair: how often they had seen each other then
        self._later: list[Relation] = []  # to confirm when their key frames are held
        self._pairs: deque[tuple[int, int, int]] = deque()
        self._paired = (-1, -1)
        self._sought: _Sought | None = None
        self._searched: set[tuple[int, int, int]] = set()
        self._maps: OrderedDict[tuple[int, int, int], tuple[LocalMap, np.ndarray]] = OrderedDict()

    def compare(self) -> list[Relation] | None:
        """Compare one place of this robot with one of another, near where it is expected.

        Returns:
            The relations found; None: there was nothing to compare.
        """
        if self._joins != self.joint.joins:
            self._joins = self.joint.joins
            for held in (self._near, self._compared, self._looked):
                held.clear()
        if self._later:
            later, self._later = self._later, []
            for relation in later:
                self.confirm(relation)
        while self._tasks:
            task = self._tasks.popleft()
            if not self._is_full(task.other, task.k, task.mine):
                found = self._match(task, self.joint.alone)
                return [found] if found is not None and fixes(found) else []
        if not self._near:
            self._look()
        while self._near:
            other, k, n = self._near.popleft()
            tied = self.joint.tied(other, self.number)
            way = self._way(other, k, n, tied)
            self._compared.add((other, n))
            if way >= self.settings.apart_m and not self._is_full(other, k, n):
                task = self._task(other, k, n, self.joint.joined[self.number][n], way)
                found = self._match(task, self.joint.joined)
                return [] if found is None else [found]
        return None

    def confirm(self, relation: Relation) -> None:
        """Compare places before and behind those of a relation next, once their key frames are held.

        Of two robots that see each other again and again, it is done again when that is twice as sure.
        """
        joint, pair = self.joint, (relation.a, relation.b)
        ends = (relation.a, relation.first), (relation.b, relation.second)
        if any(k >= len(joint.alone.get(robot, ())) for robot, k in ends):
            self._later.append(relation)
            return
        if relation.is_seen:
            many = joint.sights(*pair)
            if many < 2 * self._confirmed.get(pair, 0):
                return
            self._confirmed[pair] = many
        self._tasks.extendleft(self._around(relation))

    def anywhere(self) -> list[Relation] | None:
        """Look for one place of this robot around one place of another, at a part of all headings; return as `compare`.

        When all headings have been looked at, the best pose is compared exactly.
        """
        joint, s = self.joint, self.settings
        if self._sought is None and not self._begin():
            return None
        assert self._sought is not None
        other, k, n, part, off, score = self._sought
        place, centre = self._map(other, k)
        frames, mine, theirs = joint.trails[self.number].frames, joint.alone[self.number], joint.alone[other]
        pose, reached = among_headings(place, centre, frames, mine, n, s.window_m, part, score)
        if reached >= 0.0:
            off, score = relative(centre, pose), reached  # the map may be a little older than the poses
        if part + 1 < PARTS:
            self._sought = _Sought(other, k, n, part + 1, off, score)
            return []
        self._sought = None
        if off is None:
            return []
        guess = compose(theirs[k], off)
        close = int(np.argmin(np.hypot(*(theirs[:, :2] - guess[:2]).T)))
        found = self._match(_Task(other, close, n, guess, 0.3, 0.1), joint.alone)
        return [found] if found is not None and fixes(found) else []

    def _begin(self) -> bool:
        """Begin with the next pair of places; return whether there is one."""
        joint, shares = self.joint, dict[int, int]()
        state = (joint.revision, sum(map(len, joint.alone.values())))
        if not self._pairs and self._paired != state and self.number in joint.alone:
            self._paired = state
            self._pair()
        while self._pairs:
            other, k, n = self._pairs.popleft()
            share = shares[other] if other in shares else shares.setdefault(other, self._share(other))
            if share and (k // 20 + n // 20) % share == 0:
                self._searched.add((other, k, n))
                self._sought = _Sought(other, k, n, 0, None, self.settings.first_score)
                return True
        return False

    def _match(self, task: _Task, poses: Mapping[int, np.ndarray]) -> Relation | None:
        other, mine = self.joint.trails[task.other], self.joint.trails[self.number]
        found = near(
            other.frames, poses[task.other], task.k, mine.frames, poses[self.number], task.mine, task.guess,
            task.window_m, task.window_rad, self.settings.score, self.graph,
        )  # fmt: skip
        if found is None:
            return None
        return Relation.between(
            task.other, task.k, self.number, task.mine, found.motion, found.information, min(found.score, 0.99)
        )

    def _is_full(self, other: int, k: int, n: int) -> bool:
        """Return whether enough relations are held between the places of two key frames."""
        theirs, mine = k // PLACE, n // PLACE
        place = (theirs, mine) if other < self.number else (mine, theirs)
        relations = self.joint.relations.get(_pair(other, self.number), ())
        return sum((x.first // PLACE, x.second // PLACE) == place for x in relations) >= self.settings.most

    def _look(self) -> None:
        """List the key frames of this robot that are near those of robots joined with it, once each."""
        joint = self.joint
        stride, mine = self.settings.stride, joint.joined.get(self.number, np.empty((0, 3)))
        for other in sorted(joint.root):
            if other == self.number or not joint.are_joined(other, self.number):
                continue
            theirs = joint.joined[other]
            revision, seen, done = self._looked.get(other, (-1, 0, 0))
            if revision != joint.revision:
                seen = done = 0
            elif len(theirs) == seen and len(mine) < done + 2 * stride:
                continue
            self._looked[other] = joint.revision, len(theirs), len(mine)
            # The other robot compares the key frames between these.
            first = 2 + stride * (other > self.number)
            rows = [n for n in range(first, len(mine), 2 * stride) if (other, n) not in self._compared]
            old = [n for n in rows if n < done]
            self._list_near(other, old, theirs, seen)
            self._list_near(other, rows[len(old) :], theirs, 0)

    def _list_near(self, other: int, rows: list[int], theirs: np.ndarray, first: int) -> None:
        """Note which key frames of this robot are near those of another from the first one on."""
        if rows and first < len(theirs):
            found = nearest(self.joint.joined[self.number][rows], theirs, first)
            self._near.extend((other, k, n) for n, k in zip(rows, found.tolist(), strict=True) if k >= 0)

    def _way(self, other: int, k: int, n: int, tied: list[Relation]) -> float:
        """Return the way [m] from two key frames to the nearest of some relations, along both robots."""
        if not tied:
            return _FAR_M
        ends = np.array([(x.second, x.first) if x.a == self.number else (x.first, x.second) for x in tied])
        theirs, mine = self.joint.ways(other), self.joint.ways(self.number)
        return float((np.abs(theirs[ends[:, 0]] - theirs[k]) + np.abs(mine[ends[:, 1]] - mine[n])).min())

    def _task(self, other: int, k: int, n: int, guess: np.ndarray, way: float) -> _Task:
        """Return the task with a window that fits the way to what ties the places."""
        s = self.settings
        window_rad = min(math.radians(5.0 + s.drift_deg * way), math.radians(30.0))
        return _Task(other, k, n, guess, min(0.3 + s.drift * way, 2.0), window_rad)

    def _around(self, relation: Relation) -> list[_Task]:
        """Return tasks that would confirm a relation: key frames before and behind it."""
        joint = self.joint
        if self.number not in (relation.a, relation.b):
            return []
        own_first = relation.a == self.number
        other = relation.b if own_first else relation.a
        n, k = (relation.first, relation.second) if own_first else (relation.second, relation.first)
        theirs, mine = joint.alone[other], joint.alone[self.number]
        is_joined = joint.are_joined(other, self.number)
        if is_joined and not is_far(relation, joint.joined[relation.a], joint.joined[relation.b]):
            agreed = joint.agreed.get(_pair(other, self.number), ())
            if joint.common_frame or not relation.is_seen or sum(not x.is_seen for x in agreed) >= self.settings.places:
                return []  # what was only seen is known to some degrees
        pair = relation.a, relation.b
        tied = [x for x in joint.tied(*pair) if x.is_seen] if relation.is_seen else []
        there = between(tied or [relation], *(joint.alone[robot] for robot in pair))
        into = inverse(there) if own_first else there  # own frame in that of the other
        rows = [m for m in range(n - 80, n + 81, 10) if m != n and 2 <= m < len(mine)]
        guesses = compose(into, mine[rows]) if rows else np.empty((0, 3))
        found = nearest(guesses, theirs, 0).tolist()
        tasks = [
            self._task(other, q, m, guess, self._way(other, q, m, [relation]))
            for m, q, guess in zip(rows, found, guesses, strict=True)
            if q >= 0
        ]
        if relation.is_seen:  # they see the same walls, however far they are from each other
            tasks.append(self._task(other, k, n, composed(into, mine[n]), 0.0))
        return tasks

    def _pair(self) -> None:
        """List the pairs of places that were not searched yet: half of them, as the other robot searches the rest."""
        alone = self.joint.alone
        mine = range(5, len(alone[self.number]) - 5, 10)
        for other in sorted(alone):
            share = 0 if other == self.number else self._share(other)
            if not share:
                continue
            theirs = range(5, len(alone[other]) - 5, 10)
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
        case it is wrong; 0: none, as where they saw each other, which cannot be mistaken for another place."""
        joint = self.joint
        if not joint.are_joined(other, self.number):
            return 1
        agreed = joint.agreed.get(_pair(other, self.number), [])
        if not agreed or joint.common_frame or sum(x.is_seen for x in agreed) >= SEEN_OFTEN:
            return 0
        return 1 if places_of(agreed) < self.settings.sure_places else 4

    def _map(self, other: int, k: int) -> tuple[LocalMap, np.ndarray]:
        """Return the coarse map around key frame k of another robot, and the pose of that key frame in it."""
        poses = self.joint.alone[other]
        key = (other, k, min(k + 9, len(poses)))
        if key not in self._maps:
            place = coarse_map(self.joint.trails[other].frames, poses, k, self.graph, self.settings.window_m)
            self._maps[key] = place, poses[k]
            if len(self._maps) > 16:
                self._maps.popitem(last=False)
        return self._maps[key]


def _pair(a: int, b: int) -> tuple[int, int]:
    return min(a, b), max(a, b)


@kernel
def nearest(mine, theirs, first):
    """Return the row of the nearest of ``theirs`` (m, 3) from row ``first`` on, for each of ``mine`` (n, 3), (n,).

    A half turn counts as a metre; -1: none is nearer than 2.5.
    """
    found = np.full(mine.shape[0], -1)
    for n in range(mine.shape[0]):
        least = _NEAR
        for k in range(first, theirs.shape[0]):
            dx, dy = theirs[k, 0] - mine[n, 0], theirs[k, 1] - mine[n, 1]
            square = dx * dx + dy * dy
            if square < least * least:
                turn = (theirs[k, 2] - mine[n, 2] + math.pi) % (2.0 * math.pi) - math.pi
                cost = math.sqrt(square) + abs(turn) / math.pi
                if cost < least:
                    least, found[n] = cost, k
    return found
