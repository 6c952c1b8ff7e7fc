"""Pieces of a map: what a robot saw before and after it was carried, until it recognises where it is."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from covey.geometry.se2 import compose
from covey.mapping.slam.local_map import local_map
from covey.mapping.slam.log import relative
from covey.mapping.slam.loops import LEAST_INFORMATION, fixes
from covey.mapping.slam.matching import ScanMatch, fit_near, search
from covey.mapping.slam.one_pose import between, inverted, turned
from covey.mapping.slam.seen_through import contradict

if TYPE_CHECKING:
    from covey.mapping.slam.graph_slam import GraphSlam

_ENOUGH = 6  # key frames of a piece before the place of one is looked for; then of others so far on, or a quarter
_APART_M, _THERE_M, _MOST = 2.5, 6.0, 40  # between places that are looked at; key frames around each: how far, how many
_AROUND = 8  # key frames on either side of one of the piece that are looked for together with it
_WINDOW_M, _CELL_M, _STEP_RAD, _POINTS = 2.5, 0.1, 0.03, 150
_LIKE, _RIVAL = 0.6, 0.06  # least score of a place that looks alike; what another one may score less and still count
_SCORE = 0.7  # least score of places that join a piece
_OTHERS_M = 2.0, 4.0, 6.0  # key frames that must say the same: their ways from the one that is looked for
_SAME_M = 1.0  # places nearer to each other are one
_FLOOR = np.diag([0.02**2, 0.02**2, 0.005**2])


class JumpMotion(NamedTuple):
    """A motion of the odometry that no robot drives.

    Attributes:
        scan: the scan after it.
        motion: (3,), as the odometry says.
        found: the motion that the scans say instead; None: they do not say, and a new piece begins.
    """

    scan: int
    motion: np.ndarray
    found: np.ndarray | None


class Pieces:
    """The pieces of the map of a `GraphSlam`, and the search for the place of the newest.

    Attributes:
        begins: first key frames of the pieces, the first of them 0.
        joined: whether each is joined with what was before.
        bridges: motions that were not believed.
    """

    def __init__(self, slam: "GraphSlam"):
        self._slam = slam
        self.begins, self.joined = [0], [True]
        self.bridges: list[JumpMotion] = []
        self._todo: list[int] = []  # key frames around which the newest piece is looked for
        self._asked = 0  # the key frame of the piece that is looked for
        self._alike: list[tuple[float, np.ndarray]] = []  # where it may be: score and pose

    @property
    def first(self) -> int:
        """The first key frame that is tied to the newest one."""
        return 0 if self.joined[-1] else self.begins[-1]

    @property
    def apart(self) -> set[tuple[int, int]]:
        """The steps between pieces that are not joined."""
        return {(k - 1, k) for k, joined in zip(self.begins, self.joined, strict=True) if not joined}

    def placed(self) -> np.ndarray:
        """Return the key frames whose place is known, (k,)."""
        ends = zip(self.begins, [*self.begins[1:], len(self._slam.frames)], self.joined, strict=True)
        return np.concatenate([np.arange(begin, end) for begin, end, joined in ends if joined])

    def _placed(self) -> np.ndarray:
        """Return the key frames before the newest piece whose place is known, (k,)."""
        placed = self.placed()
        return placed[placed < self.begins[-1]]

    def begin(self, k: int, joined: bool = False) -> None:
        """Begin a piece with key frame k; ``joined``: its place is known."""
        self.begins.append(k)
        self.joined.append(joined)
        self._todo, self._asked, self._alike = [], k - 1, []

    def work(self, at_once: bool = False) -> bool:
        """Look for the newest piece around one place, or join it; return whether there was anything to do."""
        slam = self._slam
        if self.joined[-1] or slam.loops is None:
            return False
        if not self._todo:
            begin, last = self.begins[-1], len(slam.frames) - 1
            done = self._asked - begin
            wanted = self._asked + max(_ENOUGH, done // 4) if done > 0 else begin + _ENOUGH // 2
            wanted, newest = (min(wanted, last), last) if at_once else (wanted, last - _ENOUGH // 2)
            if wanted > newest or wanted == self._asked:
                return False
            self._asked, self._alike = wanted, []
            self._todo = self._places()
        self._look(self._todo.pop())
        if not self._todo:
            self._join()
        return True

    def _places(self) -> list[int]:
        """Return key frames before the newest piece, so far from each other that each looks at a place of its own."""
        placed = self._placed()
        cells = np.floor(self._slam.poses[placed, :2] / _APART_M).astype(np.int64)
        return placed[np.sort(np.unique(cells, axis=0, return_index=True)[1])[::-1]].tolist()

    def _there(self, at: np.ndarray) -> np.ndarray:
        """Return the key frames before the newest piece that are nearest to a place."""
        placed = self._placed()
        away = np.hypot(*(self._slam.poses[placed] - at)[:, :2].T)
        near = np.argsort(away, kind="stable")[:_MOST]
        return placed[np.sort(near[away[near] < _THERE_M])]

    def _here(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the points around key frame m of the newest piece in its frame, and their normals."""
        slam = self._slam
        own = np.arange(max(self.begins[-1], m - _AROUND), min(len(slam.frames), m + _AROUND + 1))
        points, facing, _ = slam.seen_by(own, relative(slam.poses[m], slam.poses[own]))
        return points, facing

    def _look(self, k: int) -> None:
        """Compare a place of the newest piece with what was seen around key frame k, at all headings."""
        slam, s = self._slam, self._slam.settings
        frames = self._there(slam.poses[k])
        cloud = slam.seen_by(frames, slam.poses[frames])
        place = local_map(cloud, tuple(slam.poses[k, :2]), s.range_m + _WINDOW_M, _CELL_M, 2.0 * s.smear_m, True)
        points, _ = self._here(self._asked)
        least = max(_LIKE, max((score for score, _ in self._alike), default=0.0) - _RIVAL)
        sparse = points[:: max(1, len(points) // _POINTS)]
        pose, score = search(place, sparse, slam.poses[k], _WINDOW_M, math.pi, _STEP_RAD, least, 0.0, 16)
        if score > 0.0:
            self._alike.append((score, pose))

    def _join(self) -> None:
        """Join the newest piece if its key frames fit at one of the places that look alike, and at no other."""
        slam, begin, m = self._slam, self.begins[-1], self._asked
        fits: list[tuple[np.ndarray, list]] = []
        alike = sorted(self._alike, key=lambda one: -one[0])
        for score, pose in alike:
            near = [one for one, _ in fits if math.hypot(one[0] - pose[0], one[1] - pose[1]) < _SAME_M]
            if near or score < alike[0][0] - _RIVAL:
                continue
            found = self._fits(pose)
            if found:
                fits.append((pose, found))
        if len(fits) != 1:
            return
        ((_, found),) = fits
        first = found[0][2].pose
        shift = compose(first, relative(slam.poses[m], slam.poses[begin:]))  # of all its key frames
        self.joined[-1] = True
        slam.join_piece(begin, shift)
        for one, there, match in found:
            information = turned(match.information, slam.poses[there, 2]) + LEAST_INFORMATION
            motion = between(slam.poses[there], match.pose)
            slam.close(there, one, motion, inverted(inverted(information) + _FLOOR))

    def _fits(self, pose: np.ndarray) -> list[tuple[int, int, ScanMatch]]:
        """Return key frames of the piece, those there, and their matches, if all fit where a comparison has put it."""
        slam, begin, m = self._slam, self.begins[-1], self._asked
        first = self._match(m, pose, _CELL_M + 0.1, 2.0 * _STEP_RAD)
        if first is None:
            return []
        found = [(m, *first)]
        rows = np.arange(max(begin, m - 30), min(len(slam.frames), m + 31))
        poses = compose(first[1].pose, relative(slam.poses[m], slam.poses[rows]))
        ways = np.cumsum(np.append(0.0, np.hypot(*np.diff(poses[:, :2], axis=0).T)))
        away = np.abs(ways - ways[m - rows[0]])
        for least in _OTHERS_M:
            far = np.flatnonzero(away >= least)
            if not len(far):
                return []
            at = int(far[np.argmin(away[far])])
            match = self._match(int(rows[at]), poses[at], 0.3, math.radians(3.0))
            if match is None:
                return []
            found.append((int(rows[at]), *match))
        return [] if self._is_seen_through(rows, poses) else found

    def _is_seen_through(self, rows: np.ndarray, poses: np.ndarray) -> bool:
        """Return whether key frames of the piece, at poses (k, 3), looked through walls seen there, or the reverse."""
        slam, pairs = self._slam, []
        for row, pose in zip(rows.tolist(), poses, strict=True):
            for k in self._there(pose)[::6].tolist():
                pairs.append((slam.frames[row], slam.frames[k], between(slam.poses[k], pose)))
        return contradict(pairs)

    def _match(self, m: int, guess: np.ndarray, window_m: float, window_rad: float) -> tuple[int, ScanMatch] | None:
        """Return the key frame there, and where key frame m of the newest piece fits near a guess; None: nowhere."""
        slam, s, placed = self._slam, self._slam.settings, self._placed()
        k = int(placed[np.argmin(np.hypot(*(slam.poses[placed] - guess)[:, :2].T))])
        place = slam.around(self._there(guess), slam.poses[k], tight=True)
        points, facing = self._here(m)
        match = fit_near(place, points, facing, guess, window_m, window_rad, _SCORE - 0.1, _SCORE, s.noise_m)
        return None if match is None or not fixes(match.information) else (k, match)
