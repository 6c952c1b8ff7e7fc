"""Loops: which places might be the same, whether they are, and which of these findings agree."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from covey.geometry.se2 import compose, inverse, wrap_angle
from covey.kernel import kernel
from covey.mapping.slam.graph_settings import LoopSettings
from covey.mapping.slam.log import relative
from covey.mapping.slam.matching import fit_near
from covey.mapping.slam.one_pose import carried, composed, inverted, turned
from covey.mapping.slam.scan_descriptor import Described

if TYPE_CHECKING:
    from covey.mapping.slam.graph_slam import GraphSlam

LEAST_INFORMATION = 0.1 * np.eye(3)
"""Added where a match fixes no direction, so that a graph has a solution."""
_FLOOR = np.diag([0.02**2, 0.02**2, 0.005**2])  # of the covariance of a loop: what its matching does not know
_AGREE = 3  # loops from different places that must say the same
_CONFIRM_WITHIN = 40  # key frames
_DENIALS = 3  # and more than twice the confirmations
_MOST_DRIFT = 4.0  # times the expected drift: places that are farther away are not compared by their looks
_NEAR_M, _NEAR_RAD = 3.0, math.radians(15.0)  # how exactly places that look alike say where a key frame is
_LEAST_FIXED = 0.05
_NOISE = 8.0  # the covariance of a way times this: errors of successive matches are not independent
_FAR = 16.27  # 0.999 of chi-squared with three degrees of freedom
_SAME_M, _SAME_RAD = 1.0, 0.5  # key frames so near each other must see the same


class Loop(NamedTuple):
    """Two key frames that show one place: the pose ``motion`` of ``second`` in the frame of ``first``."""

    first: int
    second: int
    motion: np.ndarray
    information: np.ndarray
    is_far: bool


class Loops:
    """Finds loops of a `GraphSlam`.

    Attributes:
        ways: for each key frame the way [m] in the graph from the newest one, (n,).
        accepted, refused: pairs of key frames.
        taken_back: those that were accepted, and do not agree with the others.
    """

    def __init__(self, slam: "GraphSlam", settings: LoopSettings):
        self._slam, self.settings = slam, settings
        self.ways = np.zeros(1)
        self.accepted: list[tuple[int, int]] = []
        self.refused: list[tuple[int, int]] = []
        self.taken_back: list[tuple[int, int]] = []
        self._pending: list[Loop] = []
        self._places = Described()
        self._confirmed = 0
        self._denied = 0
        self._contradicted: set[tuple[int, int]] = set()
        self._solved = 0  # at this revision the doubted loops are in the poses
        self._doubted: dict[tuple[int, int], tuple[Loop, int]] = {}  # until which key frame each may be confirmed

    def resume(self, accepted: list[tuple[int, int]]) -> None:
        """Take over the loops that were found earlier among the key frames of the graph."""
        self.accepted = list(accepted)
        for n in range(len(self._slam.frames)):
            self._places.see(self._slam, n)

    def candidates(self, n: int) -> list[tuple[int, int]]:
        """Return the pairs of key frames to compare after key frame n was kept."""
        slam, s = self._slam, self.settings
        ends, apart = slam.ends, slam.pieces.apart
        if self._doubted or apart:
            out = apart | set(self._doubted)
            ends = ends[[(edge.first, edge.second) not in out for edge in slam.edges]]
        self.ways = ways_from(n, ends[:, 0], ends[:, 1], slam.poses)
        old = n - slam.settings.local_key_frames
        if old < 1:
            return []
        away = np.hypot(*(slam.poses[:old, :2] - slam.poses[n, :2]).T)
        turn = np.abs(wrap_angle(slam.poses[:old, 2] - slam.poses[n, 2]))
        ways = self.ways[:old]
        reach = np.minimum(2.0 + s.drift * ways, s.most_m + 2.0)
        cost = np.where((away < reach) & np.isfinite(ways), away + turn / math.pi, np.inf)
        pairs = []
        near, far = np.where(ways < s.near_m, cost, np.inf), np.where(ways >= s.near_m, cost, np.inf)
        k = int(np.argmin(near))
        if near[k] < 2.5:
            pairs.append((k, n))
        picked: list[int] = []
        for k in np.argsort(far, kind="stable"):
            if not far[k] < math.inf or len(picked) == 3:
                break
            if all(abs(int(k) - other) > 10 for other in picked):
                picked.append(int(k))
        if picked:
            pairs.append((picked[n % len(picked)], n))
        return pairs

    def candidates_by_scan(self, n: int) -> list[tuple[int, int, float]]:
        """Return pairs of key frames whose places look alike, and the heading [rad] of the second in the first.

        They are farther away from each other than `candidates` looks, but not more than odometry may drift.
        """
        slam, s, found = self._slam, self.settings, []
        for c in self._places.see(slam, n):
            ways = self.ways[:c]
            away = np.hypot(*(slam.poses[:c, :2] - slam.poses[c, :2]).T)
            reach = np.minimum(2.0 + s.drift * ways, s.most_m + 2.0)
            old = np.flatnonzero(
                np.isfinite(ways) & (ways > 2.0 * s.near_m) & (away > reach) & (away < _MOST_DRIFT * s.drift * ways)
            )
            found += [(k, c, turn) for k, turn in self._places.like(c, old, slam.poses[:, 2])]
        return found

    def compare(self, k: int, n: int, turn: float | None = None) -> list[Loop]:
        """Compare two places; return the loops that are accepted now.

        With ``turn`` n is looked for where k is, at that heading [rad] in its frame.
        """
        slam, s = self._slam, self.settings
        settings = slam.settings
        way = float(self.ways[k])
        window_m = min(0.3 + s.drift * way, s.most_m)
        window_rad = min(math.radians(5.0 + s.drift_deg * way), math.radians(60.0))
        frames = np.arange(max(0, k - 8), min(k + 9, n - settings.local_key_frames + 1))
        place = slam.around(frames, slam.poses[k], tight=True)
        recent = np.arange(max(0, n - 4), n + 1)
        guess = slam.poses[n]
        if turn is not None:
            recent = np.arange(max(0, n - 4), min(n + 5, len(slam.poses)))
            guess, window_m, window_rad = composed(slam.poses[k], np.array([0.0, 0.0, turn])), _NEAR_M, _NEAR_RAD
        points, facing, _ = slam.seen_by(recent, relative(slam.poses[n], slam.poses[recent]))
        near = guess, window_m, window_rad
        match = fit_near(place, points, facing, *near, s.score - 0.05, s.score, settings.noise_m)
        if match is None or (turn is not None and not fixes(match.information)):
            return self._refuse(k, n)
        motion = relative(slam.poses[k], match.pose)
        information = turned(match.information, slam.poses[k, 2]) + LEAST_INFORMATION
        information = inverted(inverted(information) + _FLOOR)
        off = relative(slam.poses[n], match.pose)
        is_far = math.hypot(off[0], off[1]) > 0.3 or abs(off[2]) > math.radians(3.0)
        loop = Loop(k, n, motion, information, is_far)
        if is_far:
            return self._agreed(loop, turn is not None)
        self.accepted.append((k, n))
        if way >= s.near_m and slam.revision >= self._solved:  # found where the doubted loops have put it
            self._confirmed += 1
            if self._confirmed >= _AGREE:
                self._doubted.clear()
        return [loop]

    def _refuse(self, k: int, n: int) -> list[Loop]:
        """Refuse a pair; where a doubted loop has put both at one place, looking the same way, that denies it."""
        self.refused.append((k, n))
        slam = self._slam
        away = relative(slam.poses[k], slam.poses[n])
        same = math.hypot(away[0], away[1]) < _SAME_M and abs(away[2]) < _SAME_RAD
        if same and self.ways[k] >= self.settings.near_m and slam.revision >= self._solved:
            self._denied += 1
        return []

    @property
    def doubted(self) -> set[tuple[int, int]]:
        """Loops that changed much, and that nothing has confirmed yet."""
        return set(self._doubted)

    def withdrawn(self, n: int) -> set[tuple[int, int]]:
        """Return loops that are taken back at key frame n: newer ones contradict them, or comparisons deny them.

        A place that was only passed briefly is neither confirmed nor denied; its loops stay, with the robust kernel.
        """
        if self._slam.revision < self._solved:  # nothing can confirm or deny what the poses do not have yet
            self._doubted = {pair: (loop, n + _CONFIRM_WITHIN) for pair, (loop, _) in self._doubted.items()}
        late = {pair for pair, (_, until) in self._doubted.items() if n > until}
        for pair in late:
            del self._doubted[pair]
        wrong, self._contradicted = self._contradicted, set()
        if self._denied >= _DENIALS and self._denied > 2 * self._confirmed:
            wrong = wrong | late
        self.take_back(wrong)
        return wrong

    def take_back(self, wrong: set[tuple[int, int]]) -> None:
        """Refuse loops that were accepted."""
        for pair in sorted(wrong):
            self.accepted.remove(pair)
            self.refused.append(pair)
            self.taken_back.append(pair)
            self._doubted.pop(pair, None)

    def _agreed(self, loop: Loop, by_looks: bool = False) -> list[Loop]:
        """Keep a loop that changes much until others, found from other places, say the same; return them then.

        While the poses do not have the doubted loops yet, only loops ``by_looks`` can contradict them: others are
        found where the robot was before.
        """
        self._pending = [other for other in self._pending if loop.second - other.second < _CONFIRM_WITHIN]
        doubted = [other for other, _ in self._doubted.values() if self._agree(loop, other)]
        pending = [other for other in self._pending if self._agree(loop, other)]
        if self._doubted and not doubted and not by_looks and self._slam.revision < self._solved:
            return []
        if not doubted and len(pending) + 1 < _AGREE:
            self._pending.append(loop)
            return []
        if not doubted and by_looks and not self._may_be(loop):
            self._pending = [other for other in self._pending if not any(other is one for one in pending)]
            return self._refuse(loop.first, loop.second)
        if not doubted:  # others agree on another place; if that is not far on the way, the larger set is right
            apart = [abs(other.first - loop.first) for other, _ in self._doubted.values()]
            if min(apart, default=math.inf) <= _CONFIRM_WITHIN:
                if len(pending) + 1 < len(self._doubted):
                    self._pending.append(loop)
                    return []
                self._contradicted.update(self._doubted)
            self._doubted.clear()
        self._confirmed = self._denied = 0
        self._solved = self._slam.revision + 1 + (self._slam.solving is not None)
        new = [loop, *pending]
        self._pending = [other for other in self._pending if not any(other is one for one in pending)]
        self._doubted.update({(one.first, one.second): (one, loop.second + _CONFIRM_WITHIN) for one in new})
        self.accepted.extend((one.first, one.second) for one in new)
        return new

    def _may_be(self, loop: Loop) -> bool:
        """Return whether the way between the ends of a loop may be so wrong, by the covariances of its steps.

        Roads that look alike agree with each other everywhere. But walls say how far one is from the other, as far as
        they are not all parallel.
        """
        poses, steps = self._slam.poses, {edge.first: edge for edge in self._slam.edges if edge.is_step}
        covariance = np.zeros((3, 3))
        for k in range(loop.first, loop.second):
            covariance = carried(covariance, poses[k], poses[k + 1], steps[k].information)
        off = poses[loop.second] - composed(poses[loop.first], loop.motion)
        off[2] = wrap_angle(off[2])
        return bool(off @ np.linalg.solve(_NOISE * covariance + _FLOOR, off) < _FAR)

    def _agree(self, loop: Loop, other: Loop) -> bool:
        """Return whether two loops from different key frames put the newest ones at the same place."""
        if other.second == loop.second:
            return False
        poses = self._slam.poses
        around = compose(loop.motion, relative(poses[loop.second], poses[other.second]))
        error = compose(compose(around, inverse(other.motion)), relative(poses[other.first], poses[loop.first]))
        return math.hypot(error[0], error[1]) < 0.3 and abs(error[2]) < math.radians(3.0)


def fixes(information: np.ndarray) -> bool:
    """Return whether a match fixes both directions of the position, as no straight corridor does."""
    least, most = np.linalg.eigvalsh(information[:2, :2])
    return bool(least > _LEAST_FIXED * most)


@kernel
def ways_from(start, first, second, poses):
    """Return the shortest ways [m] in the graph from pose ``start`` to each pose, (n,); inf: there is none.

    References:
        E. W. Dijkstra: A note on two problems in connexion with graphs. Numerische Mathematik 1, 1959.
    """
    n, m = poses.shape[0], first.size
    begins = np.zeros(n + 1, np.int64)
    for e in range(m):
        begins[first[e] + 1] += 1
        begins[second[e] + 1] += 1
    for i in range(n):
        begins[i + 1] += begins[i]
    fill, other, length = begins[:-1].copy(), np.empty(2 * m, np.int64), np.empty(2 * m)
    for e in range(m):
        i, j = first[e], second[e]
        away = math.hypot(poses[i, 0] - poses[j, 0], poses[i, 1] - poses[j, 1])
        for a, b in ((i, j), (j, i)):
            other[fill[a]], length[fill[a]] = b, away
            fill[a] += 1
    ways = np.full(n, np.inf)
    heap, at = np.empty(2 * m + 2), np.empty(2 * m + 2, np.int64)
    ways[start], heap[0], at[0], size = 0.0, 0.0, start, 1
    while size:
        way, i = heap[0], at[0]
        size -= 1
        x, node, p = heap[size], at[size], 0
        while 2 * p + 1 < size:
            c = 2 * p + 1
            if c + 1 < size and heap[c + 1] < heap[c]:
                c += 1
            if heap[c] >= x:
                break
            heap[p], at[p] = heap[c], at[c]
            p = c
        heap[p], at[p] = x, node
        if way > ways[i]:
            continue
        for e in range(begins[i], begins[i + 1]):
            j, there = other[e], way + length[e]
            if there < ways[j]:
                ways[j] = there
                p = size
                size += 1
                while p and heap[(p - 1) // 2] > there:
                    heap[p], at[p] = heap[(p - 1) // 2], at[(p - 1) // 2]
                    p = (p - 1) // 2
                heap[p], at[p] = there, j
    return ways
