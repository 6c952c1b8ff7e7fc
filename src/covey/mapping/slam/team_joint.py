"""Which robots of a team are joined by relations that agree, and the poses of all of them.

The set of relations that agrees is found again over all relations whenever new ones come, so a wrong join is taken back
when more relations contradict it. No robot is special: each computes the same from the same items; only the frame in
which the graph is solved is that of the lowest number.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from covey.geometry.se2 import compose, inverse
from covey.mapping.slam.consistency import NoisyTrack
from covey.mapping.slam.log import relative
from covey.mapping.slam.one_pose import between as apart
from covey.mapping.slam.one_pose import composed
from covey.mapping.slam.team_graph import (
    ENOUGH,
    Solving,
    agreeing,
    between,
    grown,
    is_seen_surely,
    places_of,
    track_of,
    worth,
)
from covey.mapping.slam.team_news import Relation, Trail
from covey.mapping.slam.team_places import is_seen_through
from covey.mapping.slam.team_settings import TeamSettings

_SEEN_ANEW = 20  # key frames of two robots that may show that relations are wrong
_LOOP_M, _LOOP_RAD = 2.0, 0.3  # how far the sets of three robots may be from each other

Pair = tuple[int, int]


class Joint:
    """The joined robots of a team, as one of them knows it.

    Args:
        trails: what is held of each robot, by number; the owner adds to it, and calls `grow`.
        settings: see `TeamSettings`.
        common_frame: whether all start poses are in one frame.

    Attributes:
        alone: poses (n, 3) of the key frames of each robot, in a frame of its own.
        joined: in the frame of the lowest robot joined with it. With a common frame both are the same.
        root: that robot.
        accepted: relations that agree, of the robots that are joined.
        agreed: those of each pair of robots, the lower number first.
        relations: all relations of each pair.
        revision: grows whenever poses of the past change, or which robots are joined.
        joins: grows whenever robots are joined, parted, or joined otherwise.
    """

    def __init__(self, trails: Mapping[int, Trail], settings: TeamSettings, common_frame: bool):
        self.trails, self.settings, self.common_frame = trails, settings, common_frame
        self.alone: dict[int, np.ndarray] = {}
        self.joined = self.alone if common_frame else dict[int, np.ndarray]()
        self.root: dict[int, int] = {}
        self.accepted: list[Relation] = []
        self.agreed: dict[Pair, list[Relation]] = {}
        self.relations: dict[Pair, list[Relation]] = {}
        self.revision = self.joins = 0
        self._sights: dict[Pair, int] = {}
        self._ways: dict[int, np.ndarray] = {}
        self._early: list[Relation] = []  # of key frames that are not held yet
        self._between: dict[Pair, np.ndarray] = {}  # pose of the second frame in the first, alone; see `_related`
        self._judged: dict[Pair, tuple[int, int]] = {}  # relations and key frames at the last judgement
        self._is_judged = False  # all that is due, until more is held
        self._unsettled: dict[int, float] = {}  # by robot: the worth of own loops that its poses lack
        self._unjoined: dict[int, float] = {}  # by lowest robot: that of loops and relations that the joined poses lack
        self._tying: set[Pair] = set()  # pairs whose relations join robots
        self._tracks: dict[int, tuple[np.ndarray, NoisyTrack]] = {}  # of these poses
        self._trusted: set[int] = set()  # joined anew
        self._solving: tuple[int | None, Solving] | None = None

    # What is held

    def grow(self, robot: int, turned: int, found: int) -> None:
        """Take what is new in the trail of a robot, which held so many ``turned`` loops and ``found`` relations."""
        trail = self.trails[robot]
        self._is_judged = False
        if trail.frames:
            self._follow(robot, trail, turned)
        fresh, self._early = [*self._early, *trail.found[found:]], []
        for x in fresh:
            if x.first < len(self.alone.get(x.a, ())) and x.second < len(self.alone.get(x.b, ())):
                self.relations.setdefault((x.a, x.b), []).append(x)
                self._sights[x.a, x.b] = self._sights.get((x.a, x.b), 0) + x.is_seen
            else:
                self._early.append(x)

    def _follow(self, robot: int, trail: Trail, turned: int) -> None:
        """Give the newest key frames of a robot poses, and note its loops that came or went."""
        if robot not in self.root:
            self.root[robot] = robot
            self.alone[robot] = np.empty((0, 3))
            if self.common_frame:
                self._give(robot)
        self.alone[robot] = poses = grown(trail, self.alone[robot])
        if not self.common_frame:
            self.joined[robot] = poses if self.is_alone(robot) else grown(trail, self.joined[robot])
        for edge in trail.turned[turned:]:
            is_gone = (edge.first, edge.second) not in trail.loops
            if not self.common_frame:
                self._unsettled[robot] = self._unsettled.get(robot, 0.0) + (ENOUGH if is_gone else worth(edge, poses))
            if not self.is_alone(robot):
                root = self.root[robot]
                much = ENOUGH if is_gone else worth(edge, self.joined[robot])
                self._unjoined[root] = self._unjoined.get(root, 0.0) + much
                if self.common_frame and much >= ENOUGH and not is_gone:
                    self._trusted.add(root)

    def _give(self, robot: int) -> None:
        """Make relations of the start poses of a robot and of all others, which are known."""
        s = self.settings
        sigma = np.array([s.start_sigma_m, s.start_sigma_m, math.radians(s.start_sigma_deg)])
        for other in self.root:
            if other != robot:
                a, b = min(robot, other), max(robot, other)
                motion = relative(self.trails[a].start, self.trails[b].start)
                self.relations[a, b] = [Relation(a, 0, b, 0, motion, np.diag(sigma**-2.0))]
                self._sights[a, b] = 1

    def are_joined(self, a: int, b: int) -> bool:
        """Return whether two robots are joined."""
        return a in self.root and self.root[a] == self.root.get(b)

    def is_alone(self, robot: int) -> bool:
        """Return whether a robot is joined with no other."""
        return list(self.root.values()).count(self.root[robot]) == 1

    def tied(self, a: int, b: int) -> list[Relation]:
        """Return the relations between two robots that agree, and those that were not judged yet."""
        pair = min(a, b), max(a, b)
        return self.agreed.get(pair, []) + self.relations.get(pair, [])[self._judged.get(pair, (0, 0))[0] :]

    def sights(self, a: int, b: int) -> int:
        """Return how many relations between two robots are of having seen each other."""
        return self._sights.get((min(a, b), max(a, b)), 0)

    def ways(self, robot: int) -> np.ndarray:
        """Return the way (n,) of a robot up to each key frame [m], by its steps."""
        known, steps = self._ways.get(robot, np.zeros(1)), self.trails[robot].steps
        if len(known) <= len(steps):
            new = [math.hypot(step.motion[0], step.motion[1]) for step in steps[len(known) - 1 :]]
            self._ways[robot] = known = np.append(known, known[-1] + np.cumsum(new))
        return known

    # Which robots are joined

    def judge(self, at_once: bool) -> bool:
        """Find the set of relations that agree of a pair of robots with new ones; join or part robots.

        As the robots see more, what agreed may turn out to be wrong.
        """
        if self._is_judged and not at_once:
            return False
        for pair, all_of_pair in self.relations.items():
            held, seen = self._judged.get(pair, (0, 0))
            new = len(all_of_pair) - held
            is_due = new and (new >= len(all_of_pair) // (8 if self.common_frame else 4) or at_once)
            if not is_due and self.common_frame:
                continue
            frames = len(self.alone[pair[0]]) + len(self.alone[pair[1]])
            if not is_due and frames < seen + _SEEN_ANEW:
                continue
            self._judged[pair] = len(all_of_pair), frames
            a, b = (self._track(r) for r in pair)
            before = {id(x) for x in self.agreed.get(pair, [])}
            self.agreed[pair] = agreed = agreeing(a, b, all_of_pair, self.common_frame, self._is_denied)
            self._between.pop(pair, None)
            kept = sum(id(x) in before for x in agreed)
            if kept == len(before) and pair in self._tying:
                self._lack(self.root[pair[0]], [x for x in agreed if id(x) not in before])
            elif not kept == len(before) == len(agreed):
                self._regroup(pair if kept < len(before) // 2 else None)
            return True
        self._is_judged = True
        return False

    def _track(self, robot: int) -> NoisyTrack:
        """Return the trajectory of a robot in its own frame; that of the same poses is made once."""
        poses, track = self._tracks.get(robot, (None, None))
        if track is None or poses is not self.alone[robot]:
            track = track_of(self.trails[robot], self.alone[robot])
            self._tracks[robot] = self.alone[robot], track
        return track

    def _lack(self, root: int, new: list[Relation]) -> None:
        """Take more relations that agree, of robots that are joined; note how much the joined poses lack them."""
        self.accepted = self.accepted + new
        for x in new:
            much = worth(x, self.joined[x.a], self.joined[x.b])
            self._unjoined[root] = self._unjoined.get(root, 0.0) + much
            if much >= ENOUGH:
                self._trusted.add(root)  # otherwise the kernel would hold it for wrong

    def _related(self, pair: Pair) -> np.ndarray:
        """Return how the frames of a pair of robots lie to each other by the relations that agree, a pose (3,)."""
        if pair not in self._between:
            self._between[pair] = between(self.agreed[pair], self.alone[pair[0]], self.alone[pair[1]])
        return self._between[pair]

    def _is_denied(self, relations: list[Relation]) -> bool:
        """Return whether relations of one pair, none of them seen, contradict what the two saw."""
        if any(x.is_seen for x in relations):
            return False
        a, b, poses = relations[0].a, relations[0].b, self.alone
        return is_seen_through(self.trails[a], poses[a], self.trails[b], poses[b], relations)

    def _regroup(self, turned: Pair | None) -> None:
        """Join robots by the sets of relations that agree, the largest sets first.

        Of a pair ``turned`` of robots other relations agree than before.
        """
        before = {id(x) for x in self.accepted}
        group, sets = self._groups()
        self.accepted = [x for _, kept in sets for x in kept]
        self._tying = {pair for pair, _ in sets}
        old: dict[int, set[int]] = {}
        for robot, root in self.root.items():
            old.setdefault(root, set()).add(robot)
        roots = {robot: min(group[robot]) for robot in self.root}
        taken_back = bool(before - {id(x) for x in self.accepted})
        changed = {roots[r] for r in self.root if roots[r] != self.root[r]}
        changed |= {root for root in roots.values() if old.get(root, set()) - group[root]}
        anew = roots[turned[0]] if turned and roots[turned[0]] == roots[turned[1]] else None
        if anew is not None:
            changed.add(anew)
        for root in changed:
            if not self.common_frame:
                kept_sets = [part for part in old.values() if part <= group[root]] if root != anew else []
                self._place(root, group[root], kept_sets, sets)
            self._trusted.add(root)
        self.root = roots
        self._unjoined = {root: many for root, many in self._unjoined.items() if roots[root] == root}
        for root in sorted(set(roots.values())):
            members = group[root]
            if len(members) == 1:
                self.joined[root] = self.alone[root]
                self._unjoined.pop(root, None)
            elif root in changed or taken_back:
                self._unjoined[root] = ENOUGH
            else:
                new = [x for x in self.accepted if x.a in members and id(x) not in before]
                self.accepted = [x for x in self.accepted if x.a not in members or id(x) in before]
                self._lack(root, new)
        if changed:
            self._solving, self.revision, self.joins = None, self.revision + 1, self.joins + 1

    def _groups(self) -> tuple[dict[int, set[int]], list[tuple[Pair, list[Relation]]]]:
        """Return with which robots each is joined, and the sets of relations that join them."""
        s = self.settings
        enough = [
            (pair, kept)
            for pair, kept in sorted(self.agreed.items(), key=lambda one: (-len(one[1]), one[0]))
            if self.common_frame or places_of(kept) >= s.places or is_seen_surely(kept)
        ]
        group = {robot: {robot} for robot in self.root}
        frames = {robot: np.zeros(3) for robot in self.root}  # of each robot in that of its group
        sets = []
        for (a, b), kept in enough:
            into = composed(frames[a], self._related((a, b)))
            if group[a] is group[b]:
                off = apart(into, frames[b])
                if math.hypot(off[0], off[1]) > _LOOP_M or abs(off[2]) > _LOOP_RAD:
                    continue  # larger sets say something else
            else:
                shift = composed(into, inverse(frames[b]))
                frames.update({robot: composed(shift, frames[robot]) for robot in group[b]})
                union = group[a] | group[b]
                group.update(dict.fromkeys(union, union))
            sets.append(((a, b), kept))
        return group, sets

    def _place(self, root: int, members: set[int], kept: list[set[int]], sets: Sequence) -> None:
        """Bring the poses of robots that are newly joined into one frame; what was joined before moves as one."""
        part = {robot: next((one for one in kept if robot in one), {robot}) for robot in members}
        for robot in members:
            if len(part[robot]) == 1:
                self.joined[robot] = self.alone[robot]
        for (a, b), relations in sets:
            if a not in members or part[a] is part[b]:
                continue
            to, other = (a, b) if min(part[a]) < min(part[b]) else (b, a)
            there = between(relations, self.joined[a], self.joined[b])
            shift = there if to == a else inverse(there)
            for robot in part[other]:
                self.joined[robot] = compose(shift, self.joined[robot])
            union = part[a] | part[b]
            part.update(dict.fromkeys(union, union))
        shift = compose(self.trails[root].start, inverse(self.joined[root][0]))
        for robot in members:
            self.joined[robot] = compose(shift, self.joined[robot])

    # Poses

    def solve(self, at_once: bool) -> bool:
        """Go on with the graph that is being solved, or begin with the next one; return whether there was any."""
        if self._solving is None and not self._begin(1e-9 if at_once else ENOUGH):
            return False
        assert self._solving is not None
        root, solving = self._solving
        solved = solving.step()
        if solved is None:
            return True
        self._solving = None
        for robot, poses in solved.items():
            full = grown(self.trails[robot], poses)
            if root is None:
                self._take_alone(robot, full)
            else:
                self.joined[robot] = full
        self.revision += 1
        return True

    def _begin(self, least: float) -> bool:
        """Begin with a graph that lacks loops or relations: of one robot, or of all that are joined."""
        due = [robot for robot, much in sorted(self._unsettled.items()) if much >= least]
        if due:
            del self._unsettled[due[0]]
            self._solving = None, Solving(self.trails, {due[0]: self.alone[due[0]]})
            return True
        together = [root for root, much in sorted(self._unjoined.items()) if much >= least]
        if not together:
            return False
        root = together[0]
        del self._unjoined[root]
        poses = {r: self.joined[r] for r, other in self.root.items() if other == root}
        relations = [x for x in self.accepted if x.a in poses]
        is_trusted = root in self._trusted
        self._solving = root, Solving(self.trails, poses, relations, is_trusted, is_trusted and self.common_frame)
        self._trusted.discard(root)
        return True

    def _take_alone(self, robot: int, poses: np.ndarray) -> None:
        """Take over the solved poses of a robot in its own frame."""
        self.alone[robot] = poses
        self._between = {pair: there for pair, there in self._between.items() if robot not in pair}
        if self.is_alone(robot):
            self.joined[robot] = poses
