"""Graph SLAM: each scan is matched with what was seen nearby; places seen again close loops of a pose graph."""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose
from covey.mapping.slam.contradictions import Contradiction, Contradictions, lost_way
from covey.mapping.slam.graph_settings import GraphSettings
from covey.mapping.slam.local_map import LocalMap, local_map, with_points
from covey.mapping.slam.log import Laser, relative
from covey.mapping.slam.loops import LEAST_INFORMATION, Loops
from covey.mapping.slam.matching import ScanMatch, refine, search, start_for
from covey.mapping.slam.odometry import SinceKeyFrame
from covey.mapping.slam.one_pose import between, carried, composed, ends_of, inverted, turned
from covey.mapping.slam.pieces import JumpMotion, Pieces
from covey.mapping.slam.pose_graph import Optimised, PoseGraph, covariances, optimise
from covey.mapping.slam.seen_through import in_sight
from covey.mapping.slam.surfaces import Cloud, KeyFrame, normals_of, together
from covey.mapping.slam.trust import FAR, MOST_NOISE, REASON, agreeing_loops, chi2_of, solved, with_noise

Mount = tuple[float, float, float]
KeyScan = tuple[np.ndarray, np.ndarray, Mount]

_AROUND_M = 4.0  # a local map reaches so much farther than a scan: the robot moves on until it is made anew
_TIED_M = 6.0  # places nearer in the graph share a local map
_MANY = 5  # pairs of places that wait
_LEAST_WINDOW_M, _LEAST_WINDOW_RAD = 0.1, 0.05
_FAR_M, _FAR_RAD = 0.5, 0.6  # a scan is also looked for so far away at least ...
_BETTER = 0.1  # ... where the score must be so much better ...
_LEFT, _SURE = 0.65, 0.7  # ... leave so much less unexplained, and be as good: in a doorway what is known fits often
_FIXING = 0.02  # ... and so many of its points must say so
_MISFITS, _FEW_MISFITS = 0.05, 3  # share and number of loops that do not fit, see `_doubt_steps`
_LEAP_M, _LEAP_RAD, _LEAP = 1.5, 1.5, 6.0  # a motion that no robot drives: so far, and so many times the usual
_LOST_M = 5.0  # after such a motion that scans do not bridge, a new piece begins
_FITS, _STRANGE, _CARRIED, _CALM = 0.75, 0.5, 4, 0.5  # mean score; score of a strange scan; so many; their motions
_SHOWN = 0.5  # share of the points of the first strange scan that the key frame before had in sight
_ANYWHERE = np.array([50.0, math.pi])  # how wrong the motion to a new piece may be [m, rad]
_BETWEEN = 0.1  # maps also take scans between key frames, after this share of the way to the next one
_NEW, _SOON = 0.7, 0.33  # a scan that fits worse shows something new: a key frame is due after this share of the way


class Edge(NamedTuple):
    """A relation of the pose graph: the pose ``motion`` (3,) of ``second`` in the frame of ``first``."""

    first: int
    second: int
    motion: np.ndarray
    information: np.ndarray
    is_loop: bool

    @property
    def is_step(self) -> bool:
        """Whether it relates a key frame to the one before."""
        return self.second - self.first == 1


class GraphSlam:
    """SLAM of one robot.

    `add` matches each scan, and does one bounded piece of the remaining work: it compares one pair of places, or solves
    the pose graph once. `settle` does what remains.

    Args:
        laser: the lidar.
        settings: see `GraphSettings`.
        start: the pose (3,) before the first motion.
        noise: that of the odometry, see `covey.mapping.localizer.Equipment`; None: the settings say what is expected.

    Attributes:
        pose: estimate (3,) at the last scan.
        poses: estimates of the key frames, (n, 3).
        key_rows: which scans are key frames, (n,).
        frames: the key frames.
        edges: relations between key frames.
        loops: what was found of places that are seen again; None: nothing is looked for.
        revision: grows whenever estimates of the past change.
        pieces: parts of the map that are not related, and motions of the odometry that were not believed.
        noise: so many times are the covariances of the motions as large as matching says, by loops that agree.
        contradicted: episodes in which matching contradicted the odometry, with the scan at which each was noticed.
        solving: the graph that is being solved, and its solution so far; None: there is none.
        moved_last: whether the last scan was taken far enough from those before that it shows a map something: it is a
            key frame, or a tenth of the way to the next one. Between the beams of key frames alone, cells far away stay
            unknown.
    """

    def __init__(
        self,
        laser: Laser,
        settings: GraphSettings | None = None,
        start: np.ndarray | None = None,
        noise: tuple[int, np.ndarray] | None = None,
    ):
        self.laser, self.settings = laser, settings or GraphSettings()
        self.pose = np.zeros(3) if start is None else np.array(start, np.float64)
        self._beams = self._directions(laser.angles, laser.mount)
        self._kept: dict[Mount, int] = {}  # newest key frame of each lidar, by its mount
        self._begins = False  # whether the next scan begins a session ...
        self._start: tuple[np.ndarray, np.ndarray] | None = None  # ... and where, with deviations [m], [rad]
        self._reach = min(laser.range_max, self.settings.range_m)
        self.poses = np.empty((0, 3))
        self.key_rows: list[int] = []
        self.frames: list[KeyFrame] = []
        self.edges: list[Edge] = []
        self._ends = np.empty((0, 2), np.int64)
        self.revision, self.noise = 0, 1.0
        self._agreeing: set[tuple[int, int]] = set()  # loops that agree, while the steps are too sure for them
        self.pieces = Pieces(self)
        self._usual = np.zeros(2)  # way [m] and turn [rad] between two scans
        self._fit, self._strange = 0.0, 0  # mean score of scans; how many scans before fit nothing
        self._misfits = 0  # loops that did not fit when this was asked last
        self.loops = None if self.settings.loops is None else Loops(self, self.settings.loops)
        self._held: list[tuple[int, np.ndarray]] = []  # of each scan: key frame, and pose in its frame
        self.moved_last, self._moved = False, np.zeros(3)  # pose of the last scan that moved, in its key frame
        self._place: LocalMap | None = None
        self._anew = 0  # from this key frame on the local map is made anew
        self._noise = noise if noise is not None and noise[0] in (0, 1, 2) else None  # others are not by motion
        self._contradictions = Contradictions()
        self.contradicted: list[tuple[int, Contradiction]] = []
        self._since = self._begun()
        self._expected = np.zeros(3), np.zeros((3, 3))  # what the odometry said of the newest scan
        self._waiting: deque[tuple[int, int, float | None]] = deque()  # pairs of places to compare
        self._matched = np.zeros((3, 3))  # information of the last match, in the frame of the map
        self._tied = np.zeros((3, 3))  # information of the motion since the last key frame, in its frame
        self._known = np.zeros((3, 3))  # covariance of the last key frame
        self._unsettled = 0  # loops that are not in the poses yet
        self.solving: tuple[PoseGraph, Optimised] | None = None

    def add(
        self,
        motion: np.ndarray,
        ranges: np.ndarray,
        angles: np.ndarray | None = None,
        mount: Mount | None = None,
    ) -> np.ndarray:
        """Add a scan and the odometry's motion since the last one, in the frame of that time; return the pose.

        Args:
            motion: x, y [m], heading [rad], (3,).
            ranges: scan [m], (B,).
            angles: bearings of its beams [rad], (B,), in the frame of the lidar; None: those of the lidar.
            mount: pose of the lidar that took it in the frame of the robot, if there are several; None: of the lidar.

        Raises:
            InvalidValueError: the motion is not finite; nothing is added then.
        """
        motion = np.asarray(motion, np.float64)
        if not np.isfinite(motion).all():
            raise InvalidValueError(f"the motion of a scan must be finite, not {motion.tolist()}")
        at = self.laser.mount if mount is None else mount
        if angles is None and at == self.laser.mount:
            directions = self._beams
        else:
            directions = self._directions(self.laser.angles if angles is None else angles, at)
        eye = np.array(at[:2], np.float64)
        points, normals = self._points(ranges, directions, eye)
        if not self.frames:
            self.pose = composed(self.pose, motion)
            self._keep(points, normals, at)
            return self.pose
        first = motion
        motion, is_new = (np.zeros(3), True) if self._begins else self._believed(motion, points)
        self._begins = False
        self._since.follow(motion)
        guess = composed(self.poses[-1], self._since.motion)
        self._expected = self._since.motion, self._since.covariance(slips=False)
        match = None if is_new else self._match(points, normals, guess)
        if not is_new and self._is_strange(match, points, motion, guess, at):
            if self._strange < _CARRIED:
                self._hold(guess)
                return self.pose
            is_new, match = True, None
            for row in range(1 - _CARRIED, 0):  # they belong to the new piece, too
                self._held[row] = len(self.frames), between(guess, composed(self.poses[-1], self._held[row][1]))
            self.pieces.bridges.append(JumpMotion(len(self._held) + 1 - _CARRIED, motion, None))
        if is_new:
            start, self._start = self._start, None
            doubt = None if start is None else start[1]
            self._begin_piece(guess if start is None else composed(start[0], first), points, normals, at, doubt)
            self._work()
            return self.pose
        self.pose = guess if match is None else match.pose
        self._tied = inverted(self._since.covariance())
        self._matched = np.zeros((3, 3)) if match is None else match.information
        self._tied += turned(self._matched, self.poses[-1, 2])
        since = between(self.poses[-1], self.pose)
        kept = self._kept.get(at, self.pieces.begins[-1])
        since_own = since if kept == len(self.frames) - 1 else between(self.poses[kept], self.pose)
        if self._is_away(since_own, _SOON if match is not None and match.score < _NEW else 1.0):
            self._keep(points, normals, at)
        else:
            self._held.append((len(self.frames) - 1, since))
            self.moved_last = self._is_away(between(self._moved, since), _BETWEEN)
            self._moved = since if self.moved_last else self._moved
        self._work()
        return self.pose

    def _believed(self, motion: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, bool]:
        """Return the motion since the last scan, and whether it is not known.

        That of the odometry counts, unless no robot drives so far between two scans: a jump, or a reset to zero. If the
        scan fits where the robot was, it stood or drove on; if it fits where the odometry says, that was right.
        """
        way, turn = math.hypot(motion[0], motion[1]), abs(math.remainder(motion[2], 2.0 * math.pi))
        if not self._usual.any() and way < _LOST_M:
            self._usual += way, turn
        leaps = way > max(_LEAP_M, _LEAP * self._usual[0]) or turn > max(_LEAP_RAD, _LEAP * self._usual[1])
        if not leaps or self._place is None or len(points) < 10:
            self._usual += 0.05 * (np.array([way, turn]) - self._usual)
            return motion, False
        place, least = self._place, (_FAR_M, _FAR_RAD)
        _, fits_there = search(place, points, composed(self.pose, motion), *least, 0.02, 0.5, 0.05)
        far, turned = np.maximum(least, 2.0 * self._usual).tolist()
        here, fits_here = search(place, points, self.pose, far, turned, 0.02, max(fits_there, _FITS - 0.1), 0.05)
        if fits_here > 0.0:
            found = between(self.pose, here)
            self.pieces.bridges.append(JumpMotion(len(self._held), motion, found))
            return found, False
        if fits_there > 0.0 or way < _LOST_M:
            return motion, False
        self.pieces.bridges.append(JumpMotion(len(self._held), motion, None))
        return np.zeros(3), True

    def _is_strange(
        self, match: ScanMatch | None, points: np.ndarray, motion: np.ndarray, guess: np.ndarray, mount: Mount
    ) -> bool:
        """Return whether a scan shows another place than the scans before, although the robot has hardly moved.

        What comes into sight for the first time, as a robot turns in the open, is no other place.
        """
        if self._place is None or len(points) < 10:
            return False
        score = 0.0 if match is None else match.score
        calm = math.hypot(motion[0], motion[1]) < _CALM and abs(motion[2]) < _CALM
        if score < _STRANGE and self._fit > _FITS and calm:
            if not self._strange and self._in_sight(points, guess, mount) < _SHOWN * len(points):
                return False
            self._strange += 1
            return True
        self._strange = 0
        self._fit += 0.1 * (score - self._fit)
        return False

    def _in_sight(self, points: np.ndarray, guess: np.ndarray, mount: Mount) -> int:
        """Return how many points of a scan lie where the newest key frame of its lidar has returns, too."""
        last = self._kept.get(mount)
        if last is None:
            return 0
        gap = 1.5 * float(np.ptp(self.laser.angles)) / len(self.laser.angles)
        return in_sight(points, self.frames[last], between(self.poses[last], guess), gap)

    def _hold(self, pose: np.ndarray) -> None:
        """Keep the pose of a scan that shows nothing that is known."""
        self.pose, self.moved_last = pose, False
        self._matched, self._tied = np.zeros((3, 3)), inverted(self._since.covariance())
        self._held.append((len(self.frames) - 1, between(self.poses[-1], pose)))

    def begin_session(self, start: np.ndarray | None = None, deviations: tuple[float, float] = (0.0, 0.0)) -> None:
        """Finish what was added; the next scan is of another drive.

        Args:
            start: where that begins, a pose (3,) in the frame of the map; None: nobody knows.
            deviations: standard deviations of the start [m], [rad].
        """
        self.settle()
        self._begins = bool(self.frames)
        self._start = None
        if start is not None:
            self.pose = np.array(start, np.float64)
            self._start = (self.pose, np.array(deviations)) if self._begins else None

    def _begin_piece(
        self,
        pose: np.ndarray,
        points: np.ndarray,
        normals: np.ndarray,
        mount: Mount,
        doubt: np.ndarray | None = None,
    ) -> None:
        """Begin a new piece of the map with the newest scan; ``doubt`` [m], [rad]: of its place; None: not known."""
        self.pieces.begin(len(self.frames), doubt is not None)
        self._since.doubt = _ANYWHERE if doubt is None else doubt
        self.pose, self._matched, self._tied = pose, np.zeros((3, 3)), inverted(self._since.covariance())
        self._place, self._strange, self._fit, self._anew = None, 0, 0.0, 0
        self._kept.clear()
        self._keep(points, normals, mount)
        self._since = self._begun()

    def join_piece(self, begin: int, poses: np.ndarray) -> None:
        """Give the key frames from ``begin`` on, the last piece, poses (m, 3) among those before."""
        since = between(self.poses[-1], self.pose)
        self.poses = np.vstack((self.poses[:begin], poses))
        self.pose = composed(self.poses[-1], since)
        for k, edge in enumerate(self.edges):
            if edge.is_step and edge.second == begin:
                self.edges[k] = edge._replace(motion=between(self.poses[begin - 1], self.poses[begin]))
        self.revision += 1
        self._anew = 0
        self._see(len(self.frames) - 1)

    def resume(
        self, scans: Iterable[KeyScan], poses: np.ndarray, edges: list[Edge], begins: list[int], joined: list[bool]
    ) -> None:
        """Take over what an earlier drive has left, before the first scan; its key frames become the first scans.

        Args:
            scans: of its key frames the ranges, the bearings and the mount, as for `add`.
            poses: estimates of these, (n, 3).
            edges: their relations.
            begins, joined: see `Pieces`.
        """
        frames = []
        for ranges, angles, mount in scans:
            eye = np.array(mount[:2], np.float64)
            frames.append(KeyFrame(*self._points(ranges, self._directions(angles, mount), eye), eye))
        self.frames, self.poses, self.edges, self._ends = frames, poses.copy(), list(edges), self._ends[:0]
        self.key_rows = list(range(len(frames)))
        self._held = [(k, np.zeros(3)) for k in self.key_rows]
        self.pose, self.pieces.begins, self.pieces.joined = poses[-1].copy(), list(begins), list(joined)
        if self.loops:
            self.loops.resume([(edge.first, edge.second) for edge in edges if edge.is_loop])

    def close(self, first: int, second: int, motion: np.ndarray, information: np.ndarray) -> None:
        """Add a loop that joins a piece."""
        assert self.loops is not None
        self.edges.append(Edge(first, second, motion, information, True))
        self.loops.accepted.append((first, second))
        self._unsettled += 10

    @property
    def covariance(self) -> np.ndarray:
        """Covariance (3, 3) of the pose in the frame of the map, given the first pose.

        To first order: that of the last key frame in the graph as it was solved last, grown since with each relation.
        """
        if self.kept_last or not self._held:
            return self._known
        return carried(self._known, self.poses[-1], self.pose, self._tied / self.noise)

    @property
    def scans(self) -> int:
        """How many scans were added."""
        return len(self._held)

    @property
    def kept_last(self) -> bool:
        """Whether the last scan became a key frame."""
        return bool(self.key_rows) and self.key_rows[-1] == len(self._held) - 1

    def trajectory(self, rows: Sequence[int] | None = None, poses: np.ndarray | None = None) -> np.ndarray:
        """Return the estimates of scans, (N, 3), with all that is known now; ``rows``: only of these.

        ``poses`` (n, 3) of the key frames count instead of its own, such as those of a team.
        """
        held = self._held if rows is None else [self._held[row] for row in rows]
        frames = (self.poses if poses is None else poses)[[k for k, _ in held]]
        return compose(frames, np.array([since for _, since in held]).reshape(-1, 3))

    def settle(self) -> None:
        """Compare all places that wait, and solve the pose graph until it changes no more."""
        while self._waiting or self.solving or self._unsettled:
            self._work(at_once=True)
        while not self.solving and self.pieces.work(at_once=True):
            pass
        while self.solving or self._unsettled:
            self._work(at_once=True)
        self._decide()

    @property
    def ends(self) -> np.ndarray:
        """The key frames that each edge relates, int64 (m, 2)."""
        if len(self._ends) < len(self.edges):
            new = [(edge.first, edge.second) for edge in self.edges[len(self._ends) :]]
            self._ends = np.concatenate((self._ends, np.array(new, np.int64)))
        return self._ends

    def graph(self) -> PoseGraph:
        """Return the pose graph with the present estimates."""
        return with_noise(self._measured(), self._loops_of(len(self.edges)), self.noise)

    def _measured(self) -> PoseGraph:
        """Return the pose graph with the covariances that matching says."""
        ends = self.ends
        motion = np.array([edge.motion for edge in self.edges]).reshape(-1, 3)
        information = np.array([edge.information for edge in self.edges]).reshape(-1, 3, 3)
        return PoseGraph(self.poses, ends[:, 0], ends[:, 1], motion, information)

    def _loops_of(self, many: int) -> np.ndarray:
        """Return which of the first relations are loops, (many,) bool."""
        return np.array([edge.is_loop for edge in self.edges[:many]], bool)

    def around(self, frames: np.ndarray, centre: np.ndarray, most_m: float = math.inf, tight: bool = False) -> LocalMap:
        """Return the local map of some key frames around a place (x, y, ...), to ``most_m`` from it."""
        s = self.settings
        reach = min(s.range_m + 1.0, most_m)
        cloud = self.seen_by(frames, self.poses[frames])
        return local_map(cloud, (centre[0], centre[1]), reach, s.resolution_m, s.smear_m, tight)

    def seen_by(self, frames: np.ndarray, poses: np.ndarray) -> Cloud:
        """Return the points of some key frames at poses (m, 3)."""
        return together([self.frames[k] for k in frames], poses)

    def _begun(self, doubt: np.ndarray | None = None) -> SinceKeyFrame:
        s = self.settings
        shares = (s.m_per_m, s.rad_per_m, s.rad_per_rad)
        return SinceKeyFrame(shares, self._noise, doubt, abs(self._contradictions.share))

    def _directions(self, angles: np.ndarray, mount: Mount) -> np.ndarray:
        """Return the directions (B, 2) of the beams of a lidar in the frame of the robot."""
        bearings = angles + mount[2]
        return np.column_stack((np.cos(bearings), np.sin(bearings)))

    def _points(self, ranges: np.ndarray, beams: np.ndarray, eye: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        points = np.empty_like(beams)
        x, y = eye
        points = points[: ends_of(np.asarray(ranges, np.float64), beams, x, y, self._reach, points)]
        normals = np.empty_like(points)
        normals_of(points, eye, 0.5, normals)
        return points, normals

    def _is_away(self, since: np.ndarray, share: float) -> bool:
        """Return whether a motion (3,) is farther than this share of that between key frames."""
        s = self.settings
        way, turn = math.hypot(since[0], since[1]), abs(since[2])
        return way > share * s.key_frame_m or turn > share * math.radians(s.key_frame_deg)

    def _match(self, points: np.ndarray, normals: np.ndarray, guess: np.ndarray) -> ScanMatch | None:
        """Return where a scan fits the local map; None if it does not.

        A scan is looked for near its guess. It is somewhere else only if it fits clearly better there: odometry lags
        behind quick turns, and wheels slip.
        """
        s, place = self.settings, self._place
        if place is None or len(points) < 10:
            return None
        covariance = self._since.covariance()
        window_m = max(3.0 * math.sqrt(max(covariance[0, 0], covariance[1, 1])), _LEAST_WINDOW_M)
        window_rad = max(3.0 * math.sqrt(covariance[2, 2]), _LEAST_WINDOW_RAD)
        window_m, window_rad = min(window_m, self._reach), min(window_rad, math.pi)
        best, score = search(place, points, guess, window_m, window_rad, 0.02, 0.1, 0.05)
        least = max(score + _BETTER, 1.0 - _LEFT * (1.0 - score), _SURE)
        if least < 1.0:
            further = max(2.0 * window_m, _FAR_M), max(2.0 * window_rad, _FAR_RAD)
            found, found_score = search(place, points, guess, *further, 0.02, least, 0.05)
            if found_score > 0.0 and self._fixes(points, normals, guess, found):
                self._since.jump(between(guess, found))
                best, score, guess, covariance = found, found_score, found, self._since.covariance()
        start = start_for(place, points, guess, best, score)
        prior = turned(inverted(covariance), -self.poses[-1, 2])
        match = refine(place, points, normals, start, s.noise_m, prior, guess)
        if match.score < 0.2:
            return None
        self._since.match(between(self.poses[-1], match.pose)[2])
        return match

    def _fixes(self, points: np.ndarray, normals: np.ndarray, guess: np.ndarray, found: np.ndarray) -> bool:
        """Return whether enough points say how far away a scan was found.

        Along a corridor no wall does, although the poses that see the same points again score best; and a robot that
        drives ahead is only a few points.
        """
        jump, s = (found - guess)[:2], self.settings
        way = math.hypot(jump[0], jump[1])
        if way < _LEAST_WINDOW_M:
            return True
        assert self._place is not None
        match = refine(self._place, points, normals, found, s.noise_m, np.zeros((3, 3)), found)
        along = jump @ match.information[:2, :2] @ jump / way**2
        return bool(along * s.noise_m**2 > _FIXING * len(points))

    def _keep(self, points: np.ndarray, normals: np.ndarray, mount: Mount) -> None:
        """Make the newest scan a key frame."""
        n = len(self.frames)
        if n and self._matched.any():
            self._note_contradiction()
        self._kept[mount] = n
        self.moved_last, self._moved = True, np.zeros(3)
        self._since = self._begun(0.5 * self._since.doubt)
        self.key_rows.append(len(self._held))
        self._held.append((n, np.zeros(3)))
        self.frames.append(KeyFrame(points, normals, np.array(mount[:2], np.float64)))
        if n:
            self._known = carried(self._known, self.poses[-1], self.pose, self._tied / self.noise)
            self._relate(n)
        self.poses = np.vstack((self.poses, self.pose))
        if self.loops:
            self._waiting.extend((k, other, None) for k, other in self.loops.candidates(n))
            self._waiting.extend(self.loops.candidates_by_scan(n))
        self._see(n)

    def _note_contradiction(self) -> None:
        """Notice steps of the odometry that matching contradicts again and again; their noise is larger then."""
        last = self.poses[-1]
        found = between(last, self.pose)
        step = lost_way(*self._expected, found, turned(self._matched, last[2]))
        if step is not None and (begun := self._contradictions.step(*step)) is not None:
            self.contradicted.append((len(self._held), begun))

    def _relate(self, n: int) -> None:
        """Relate the newest key frame to the one before, and to one that came into the local map long ago.

        The match is with a map of many key frames. If it only tied neighbours, the graph would take the error of the
        heading to grow from each to the next, while it does so from each local map to the next.
        """
        half = max(1, self.settings.local_key_frames // 2)
        # few are shared by many, or the graph would be slow to solve
        long_ago = max(self.pieces.begins[-1], (n // half - 1) * half)
        shared = 0.5 * self._matched if long_ago < n - 1 else np.zeros((3, 3))
        information = self._tied - turned(shared, self.poses[-1, 2])
        self.edges.append(Edge(n - 1, n, between(self.poses[-1], self.pose), information, False))
        if shared.any():
            information = turned(shared, self.poses[long_ago, 2]) + LEAST_INFORMATION
            self.edges.append(Edge(long_ago, n, between(self.poses[long_ago], self.pose), information, False))

    def _see(self, n: int) -> None:
        """Put key frame n into the local map; now and then make that anew from what is near."""
        s, place = self.settings, self._place
        if place is not None and n < self._anew:
            self._place = with_points(place, self.seen_by(np.array([n]), self.poses[n : n + 1]), s.smear_m)
        else:
            kept = max(1, s.local_key_frames // 4)
            self._place = self.around(self._nearby(n), self.pose, self._reach + _AROUND_M)
            self._anew = n + kept

    def _nearby(self, n: int) -> np.ndarray:
        """Return the key frames that a scan is matched with after key frame n."""
        count = self.settings.local_key_frames
        recent = np.arange(max(self.pieces.begins[-1], n + 1 - count), n + 1)
        away = np.hypot(*(self.poses[: recent[0], :2] - self.pose[:2]).T)
        away[: self.pieces.first] = np.inf
        if self.loops:
            away = np.where(self.loops.ways[: recent[0]] < _TIED_M, away, np.inf)
        near = np.argsort(away, kind="stable")[:count]
        near = near[away[near] < 4.0]
        return np.concatenate((np.sort(near), recent))

    def _work(self, at_once: bool = False) -> None:
        """Compare one pair of places, two if many wait, and solve one slice of the graph."""
        for _ in range(1 + (len(self._waiting) > _MANY)):
            if self.loops and self._waiting:
                for loop in self.loops.compare(*self._waiting.popleft()):
                    self.edges.append(Edge(loop.first, loop.second, loop.motion, loop.information, True))
                    self._unsettled += 10 if loop.is_far else 1
        if not self.solving and not self._waiting:
            self.pieces.work()
        if not self.solving and self.loops and (late := self.loops.withdrawn(len(self.frames))):
            self.edges = [edge for edge in self.edges if not edge.is_loop or (edge.first, edge.second) not in late]
            self._ends = self._ends[:0]
            self._unsettled += 10
        if self.solving:
            graph, before = self.solving
            done = optimise(graph, start=before, robust=10.0, robust_edges=self._is_loop(graph), iterations=1)
            if done.converged or done.iterations == 0:
                self._take(graph, done.poses, done.weights)
                self._doubt_steps(graph, done.chi2)
            else:
                self.solving = graph, done
        elif self._unsettled >= 10 or (at_once and self._unsettled):
            graph = self.graph()
            done = optimise(graph, start="given", robust=10.0, robust_edges=self._is_loop(graph), iterations=1)
            self.solving, self._unsettled = (graph, done), 0

    def _is_loop(self, graph: PoseGraph) -> np.ndarray:
        """Return which relations may be wrong; loops that are doubted count fully, or they would never close."""
        sure = self._agreeing | (self.loops.doubted if self.loops else set())
        edges = self.edges[: len(graph.first)]
        return np.array([edge.is_loop and (edge.first, edge.second) not in sure for edge in edges], bool)

    def _doubt_steps(self, graph: PoseGraph, chi2: np.ndarray) -> None:
        """If loops that agree do not fit, the steps are not as sure as they seemed: hold the loops, and solve again."""
        loops = self._loops_of(len(graph.first))
        far = loops & (graph.second - graph.first > FAR)
        misfits = int((chi2[far] > REASON).sum())
        if misfits < _FEW_MISFITS or misfits <= max(_MISFITS * far.sum(), self._misfits) or self.noise >= MOST_NOISE:
            return
        agrees = agreeing_loops(self._measured(), self._loops_of(len(self.edges)))[: len(loops)] & far
        self._misfits = misfits
        if (chi2[agrees] > REASON).sum() >= _FEW_MISFITS:
            self.noise *= 2.0
            ends = np.column_stack((graph.first, graph.second))[agrees]
            self._agreeing = {(first, second) for first, second in ends.tolist()}
            self._unsettled, self._misfits = 10, 0

    def _decide(self) -> None:
        """Take back the loops that do not fit with those that agree; hold those."""
        if not self.loops or not any(edge.is_loop for edge in self.edges):
            return
        measured, is_loop = self._measured(), self._loops_of(len(self.edges))
        chi2 = chi2_of(self.graph(), self.poses)
        if not (chi2[is_loop] > REASON).any():
            return
        done, holds, self.noise = solved(measured, is_loop, self.noise)
        self.loops.take_back(
            {(edge.first, edge.second) for edge, one in zip(self.edges, holds, strict=True) if not one}
        )
        self.edges = [edge for edge, one in zip(self.edges, holds, strict=True) if one]
        self._ends = self._ends[:0]
        self._take(self.graph(), done.poses, np.ones(len(self.edges)))

    def _take(self, graph: PoseGraph, poses: np.ndarray, weights: np.ndarray) -> None:
        """Take over solved poses; what came since then moves with the last of them."""
        last = len(poses) - 1
        since = relative(self.poses[last], np.vstack((self.poses[last + 1 :], self.pose)))
        later = compose(poses[last], since)
        self.poses, self.pose = np.vstack((poses, later[:-1])), later[-1]
        self._known = covariances(graph, poses, [last], weights=weights)[0]
        for edge in self.edges[len(graph.first) :]:
            if not edge.is_loop:
                ends = self.poses[edge.first], self.poses[edge.second]
                self._known = carried(self._known, *ends, edge.information / self.noise)
        self.revision += 1
        self.solving = None
        self._anew = 0
        self._see(len(self.frames) - 1)
