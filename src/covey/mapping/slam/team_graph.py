"""The pose graph of a team: which robots are joined by relations that agree, and the poses of all, solved in slices."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from covey.geometry.se2 import compose, inverse, wrap_angle
from covey.kernel import kernel
from covey.mapping.slam.consistency import NoisyTrack, largest_consistent, pair_distances
from covey.mapping.slam.graph_slam import Edge
from covey.mapping.slam.one_pose import between as between_poses
from covey.mapping.slam.one_pose import composed, inverted
from covey.mapping.slam.pose_graph import Optimised, PoseGraph, optimise
from covey.mapping.slam.team_news import Relation, Trail

ROBUST = 10.0  # chi-squared up to which a loop or a relation counts fully
NOISE = 8.0  # the covariances of steps times this: errors of successive matches are not independent
FLOOR = np.diag([0.03**2, 0.03**2, 0.01**2])  # of the covariance of a relation: what its matching does not know
ENOUGH = 10.0  # see `worth`
_TOLERANCE = 1e-5  # relative decrease of the cost
_FAR_M, _FAR_RAD = 0.3, 0.05  # an edge that is off by more changes poses much
_FAR = 16.27  # 0.999 of chi-squared with three degrees of freedom
_RIVAL = 1.3  # a set of relations needs so many times the weight of any other
_MOST = 60  # of so many relations the median is found
_SEEN = 2.0  # weight of a relation of robots that saw each other
SEEN_OFTEN = 2  # such relations that agree decide, if they are most of them
_LEVEL = 0.999  # share of right pairs that agree
_NODES, _EACH = 200, 20_000  # of the search for the largest set at most, and by the number of relations: in 20 ms
_SURE_RAD = math.radians(1.0)  # see `is_seen_surely`
PLACE = 10  # key frames; relations farther apart than this are from different places


class Solving:
    """Poses of some robots, joined by relations, solved one linear system at a time.

    Args:
        trails: the robots, by number; the first key frame of the lowest stays.
        poses: where to begin, (n, 3) for each robot.
        relations: between them.
        trusted: whether the relations first count fully, before they have a robust kernel as loops have.
        trusted_loops: whether loops, too, first count fully.
    """

    def __init__(
        self,
        trails: Mapping[int, Trail],
        poses: Mapping[int, np.ndarray],
        relations: Sequence[Relation] = (),
        trusted: bool = False,
        trusted_loops: bool = False,
    ):
        self.robots = sorted(poses)
        self.counts = [len(poses[r]) for r in self.robots]
        start = dict(zip(self.robots, np.cumsum([0, *self.counts]).tolist(), strict=False))
        steps, loops = [], []  # first, second, motion, information of each
        for r in self.robots:
            motion, information = trails[r].step_arrays()
            rows = np.arange(max(len(poses[r]) - 1, 0))
            steps.append((start[r] + rows, start[r] + rows + 1, motion[: len(rows)], information[: len(rows)]))
            ends, motion, information = trails[r].loop_arrays()
            held = ends.max(axis=1, initial=-1) < len(poses[r])
            loops.append((start[r] + ends[held, 0], start[r] + ends[held, 1], motion[held], information[held]))
        known = [x for x in relations if x.first < len(poses[x.a]) and x.second < len(poses[x.b])]
        across = (
            np.array([start[x.a] + x.first for x in known], np.int64),
            np.array([start[x.b] + x.second for x in known], np.int64),
            np.array([x.motion for x in known]).reshape(-1, 3),
            np.array([x.information for x in known]).reshape(-1, 3, 3),
        )
        graph = [np.concatenate(parts) for parts in zip(*steps, *loops, across, strict=True)]
        self._graph = PoseGraph(np.vstack([poses[r] for r in self.robots]), *graph)
        edge, many = np.arange(len(graph[0])), sum(len(part[0]) for part in steps)
        self._phases = [edge >= many]
        if trusted:
            is_loop = edge < many + sum(len(part[0]) for part in loops)
            self._phases.insert(0, self._phases[0] & is_loop & (not trusted_loops))
        self._done: Optimised | None = None

    def step(self) -> dict[int, np.ndarray] | None:
        """Find the order of elimination, then solve one linear system each time; return the poses when good enough."""
        begin, many = ("given", 0) if self._done is None else (self._done, 1)
        self._done = done = optimise(
            self._graph, start=begin, robust=ROBUST, robust_edges=self._phases[0], iterations=many, tolerance=_TOLERANCE
        )
        if not (done.converged or (many and done.iterations == 0)):
            return None
        if len(self._phases) > 1:
            self._phases.pop(0)
            return None
        parts = np.split(done.poses, np.cumsum(self.counts)[:-1])
        return dict(zip(self.robots, parts, strict=True))


def track_of(trail: Trail, poses: np.ndarray) -> NoisyTrack:
    """Return a robot's trajectory with the noise of its steps."""
    return NoisyTrack(poses, NOISE * trail.step_covariances()[: max(len(poses) - 1, 0)])


def agreeing(
    a: NoisyTrack,
    b: NoisyTrack,
    relations: Sequence[Relation],
    given: bool = False,
    is_denied: Callable[[list[Relation]], bool] = lambda relations: False,
) -> list[Relation]:
    """Return those relations between two robots that agree in pairs: of the largest such sets the one of most weight.

    With ``given`` the first one is known to be right: what contradicts it is out. Where robots saw each other more than
    once, and most of these relations agree, they decide likewise: having seen the other cannot be mistaken for another
    place, however many rooms look alike. Otherwise sets count that are not denied, see
    `covey.mapping.slam.team_places.is_seen_through`, and none is returned when another one, without any relation of the
    first, has nearly as much weight: in a place that looks the same from two sides both are possible.
    """
    first, second = np.array([(x.first, x.second) for x in relations]).T
    motion = np.array([x.motion for x in relations])
    covariance = np.array([inverted(x.information) for x in relations]) + FLOOR
    distances = pair_distances(a, b, first, second, motion, covariance)
    seen = np.flatnonzero([x.is_seen for x in relations])
    sure = np.array([0]) if given else seen[_largest(distances[np.ix_(seen, seen)])]
    if given or len(sure) >= max(SEEN_OFTEN, 0.5 * len(seen) + 0.5):
        far = np.max(distances[sure], axis=0) > _FAR
        far[sure] = False
        distances[far], distances[:, far] = np.inf, np.inf
        return [relations[k] for k in np.flatnonzero(_largest(distances)).tolist()]
    left, sets = np.arange(len(relations)), []
    while len(left) and len(sets) < 3:
        good = _largest(distances[np.ix_(left, left)])
        sets.append([relations[k] for k in left[good]])
        left = left[~good]
    sets = sorted((s for s in sets if not is_denied(s)), key=weight_of, reverse=True)
    if not sets:
        return []
    if len(sets) > 1 and _RIVAL * weight_of(sets[1]) > weight_of(sets[0]):
        return []
    return sets[0]


def _largest(distances: np.ndarray) -> np.ndarray:
    """Return the largest set that agrees in pairs (m,) bool, as far as a bounded search finds it."""
    return largest_consistent(distances, _LEVEL, min(_NODES, _EACH // max(len(distances), 1)))[0]


def weight_of(relations: Sequence[Relation]) -> float:
    """Return how much speaks for relations that agree: how well places fit, the best relation of each pair of places.

    So comparing many key frames of one place counts no more than comparing a few. Having seen the other counts as much
    as several places: it cannot be mistaken for another one.
    """
    best: dict[tuple[int, int], float] = {}
    for x in relations:
        if x.is_seen or fixes(x):
            place = x.first // PLACE, x.second // PLACE
            best[place] = max(best.get(place, 0.0), _SEEN if x.is_seen else x.score - 0.5)
    return sum(best.values())


def fixes(relation: Relation) -> bool:
    """Return whether a relation fixes both directions of the position; along a corridor one is open."""
    (a, b), (_, c) = relation.information[:2, :2].tolist()
    return 0.5 * (a + c) - math.hypot(0.5 * (a - c), b) > 1.0 / 0.1**2  # the lesser eigenvalue


def is_far(edge: Edge | Relation, first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether an edge between poses (n, 3) and poses (m, 3) would change them much."""
    return worth(edge, first, second) >= ENOUGH


def worth(edge: Edge | Relation, first: np.ndarray, second: np.ndarray | None = None) -> float:
    """Return how much an edge between poses (n, 3) and poses (m, 3), by default the same, would change them.

    Edges worth `ENOUGH`, such as one that `is_far`, are reason to solve the poses.
    """
    return _worth(first[edge.first], (first if second is None else second)[edge.second], edge.motion)


@kernel
def _worth(first, second, motion):
    off = between_poses(first, second) - motion
    off_m = math.hypot(off[0], off[1]) / _FAR_M
    off_rad = abs((off[2] + math.pi) % (2.0 * math.pi) - math.pi) / _FAR_RAD
    return ENOUGH if off_m > 1.0 or off_rad > 1.0 else off_m + off_rad


def places_of(relations: Sequence[Relation]) -> int:
    """Return from how many different places relations are that fix the position, counted along either robot."""
    sure = [x for x in relations if fixes(x)]
    return min(len({x.first // PLACE for x in sure}), len({x.second // PLACE for x in sure}))


def is_seen_surely(relations: Sequence[Relation]) -> bool:
    """Return whether robots saw each other, and the heading between them is known to a degree by all that agrees.

    Two robots that see each other at one moment tell each other of the same two bearings, so each relation counts half.
    """
    known = sum((0.5 if x.is_seen else 1.0) / inverted(x.information)[2, 2] for x in relations)
    return known >= _SURE_RAD**-2.0 and any(x.is_seen for x in relations)


def between(relations: Sequence[Relation], poses_a: np.ndarray, poses_b: np.ndarray) -> np.ndarray:
    """Return the pose (3,) of the frame of ``poses_b`` in that of ``poses_a``, by some relations.

    It is the mean of those near their median, by their covariances: first of the headings, then of the positions that
    follow from it, as an error of the heading displaces a frame that begins far away.
    """
    some = relations[:: -(-len(relations) // _MOST)]
    first, second = np.array([(x.first, x.second) for x in some]).T
    motion = np.array([x.motion for x in some])
    met, there = compose(poses_a[first], motion), poses_b[second]
    each = compose(met, inverse(there))
    away = np.hypot(each[:, None, 0] - each[None, :, 0], each[:, None, 1] - each[None, :, 1])
    turn = wrap_angle(each[None, :, 2] - each[:, None, 2])
    cost = away + 5.0 * np.abs(turn)
    middle = int(np.argmin(cost.sum(axis=1)))
    near = cost[middle] <= 3.0 * np.median(cost[middle])
    covariance = np.array([inverted(x.information) for x in some])[near] + FLOOR
    heading = each[middle, 2] + np.average(turn[middle, near], weights=1.0 / covariance[:, 2, 2])
    c, s = math.cos(heading), math.sin(heading)
    begin = met[near, :2] - there[near, :2] @ np.array([[c, s], [-s, c]])
    x, y = np.average(begin, axis=0, weights=1.0 / (covariance[:, 0, 0] + covariance[:, 1, 1]))
    return np.array([x, y, math.remainder(heading, 2.0 * math.pi)])


def grown(trail: Trail, poses: np.ndarray) -> np.ndarray:
    """Return poses with those of newer key frames behind them, along the motions of the robot."""
    known, n = len(poses), len(trail.frames)
    if known == n:
        return poses
    more = np.empty((n, 3))
    more[:known] = poses
    for k in range(known, n):
        more[k] = composed(more[k - 1], trail.steps[k - 1].motion) if k else trail.start
    return more
