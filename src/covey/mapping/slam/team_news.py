"""News of a team that maps: what each robot has seen and found, in items that never change, and updates of them.

Each robot has a list of items that only grows: key frames, its own loops, relations between robots that it found. So a
clock, the number of items held of each robot, says all that somebody lacks, and whoever holds items may pass them on.
Points are rounded to a centimetre. A robot takes its own items through the same code, so that all compute with the same
numbers.

References:
    L. Lamport: Time, clocks, and the ordering of events in a distributed system. CACM 21, 1978; C. J. Fidge: Timestamps
    in message-passing systems that preserve the partial ordering. 1988 (a clock for each robot).
"""

import math
import struct
import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.se2 import compose, inverse
from covey.kernel import kernel
from covey.mapping.slam.graph_slam import Edge
from covey.mapping.slam.one_pose import lower_factor
from covey.mapping.slam.surfaces import KeyFrame, normals_of

UNIT_M = 0.01
"""Points are sent as multiples of this [m]."""
_MAGIC = b"covey team 1\n"
_FRAME, _LOOP, _RELATION, _WITHDRAWN = 1, 2, 3, 4
_HEAD = struct.Struct("<BIHI")  # kind, first, robot and key frame of the second
_MOTION = struct.Struct("<3f6e")  # motion, triangular factor of its information
_POINTS = struct.Struct("<2hH")  # the place of the lidar, number of points
_END = struct.Struct("<HB")  # of a relation: robot of the first, score
_PART = struct.Struct("<HIII")  # robot, items held, first item here, number of items here
_LOWER = np.tril_indices(3)
_COUNT, _LENGTH = struct.Struct("<HH"), struct.Struct("<I")


class Relation(NamedTuple):
    """What was measured between two robots: the pose ``motion`` (3,) of a key frame of ``b`` in that of ``a``.

    ``a`` is the lower number; ``information`` (3, 3) is the inverse of the covariance of the three numbers; ``score``
    is the mean nearness of the points that were matched, below 1, and 1 if one robot saw the other.
    """

    a: int
    first: int
    b: int
    second: int
    motion: np.ndarray
    information: np.ndarray
    score: float = 1.0

    @property
    def is_seen(self) -> bool:
        """Whether one robot saw the other, so that it cannot be another place that looks the same."""
        return self.score >= 1.0

    @classmethod
    def between(
        cls, a: int, first: int, b: int, second: int, motion: np.ndarray, information: np.ndarray, score: float = 1.0
    ) -> "Relation":
        """Return the relation with the lower number first."""
        if a < b:
            return cls(a, first, b, second, motion, information, score)
        back, by_back = turned_round(motion)
        return cls(b, second, a, first, back, by_back.T @ information @ by_back, score)


class Here(NamedTuple):
    """Where a robot is: one of its key frames, and its pose (3,) in the frame of it."""

    frame: int
    since: np.ndarray


def met(a: int, here: Here, b: int, there: Here, motion: np.ndarray, information: np.ndarray) -> Relation:
    """Return the relation of two robots one of which sees the other.

    Args:
        a, here: the number of the one that sees, and where it is.
        b, there: of the other.
        motion: the pose (3,) of ``b`` in the frame of ``a``, as seen.
        information: inverse (3, 3) of the covariance of ``motion``.
    """
    back = inverse(there.since)
    between_frames = compose(compose(here.since, np.asarray(motion, np.float64)), back)
    c, s = np.cos(here.since[2]), np.sin(here.since[2])
    by_seen = np.eye(3)  # derivative of the motion between the key frames by the one that was seen
    by_seen[:2, :2] = [[c, -s], [s, c]]
    c, s = np.cos(here.since[2] + motion[2]), np.sin(here.since[2] + motion[2])
    by_seen[:2, 2] = [-s * back[0] - c * back[1], c * back[0] - s * back[1]]
    by_frames = np.linalg.inv(by_seen)
    return Relation.between(a, here.frame, b, there.frame, between_frames, by_frames.T @ information @ by_frames)


class Trail:
    """What is held of one robot: its items, and what they say.

    Attributes:
        items: as they are sent.
        frames: its key frames.
        steps: the relation of each to the next one.
        loops: its loops, by their two key frames.
        turned: loops that came or were withdrawn, in this order.
        start: pose (3,) of the first one in its own map frame.
        found: relations between robots that it found.
    """

    def __init__(self) -> None:
        self.items: list[bytes] = []
        self.frames: list[KeyFrame] = []
        self.steps: list[Edge] = []
        self.loops: dict[tuple[int, int], Edge] = {}
        self.turned: list[Edge] = []
        self.start = np.zeros(3)
        self.found: list[Relation] = []
        # the steps stacked: motions, information, covariances
        self._steps: tuple[np.ndarray, np.ndarray, np.ndarray] = (
            np.empty((0, 3)),
            np.empty((0, 3, 3)),
            np.empty((0, 3, 3)),
        )
        # the loops stacked, and how many of `turned` they have
        self._loops: tuple[np.ndarray, np.ndarray, np.ndarray] = (
            np.empty((0, 2), np.int64),
            np.empty((0, 3)),
            np.empty((0, 3, 3)),
        )
        self._turned = 0

    def add(self, item: bytes, robot: int) -> None:
        """Take the next item of this robot, number ``robot``.

        Raises:
            InvalidValueError: it is no item, or it names key frames that there are not.
        """
        try:
            kind, first, second, motion, information, rest = _read(item)
            n = len(self.frames)
            if isinstance(rest, KeyFrame):
                if n:
                    self.steps.append(Edge(n - 1, n, motion, information, False))
                else:
                    self.start = motion
                self.frames.append(rest)
            elif isinstance(rest, Relation):
                self.found.append(rest)
            elif kind == _LOOP:
                if not (first < n and second < n and first != second):
                    raise ValueError(f"it is a loop of key frames {first} and {second}, but {n} are held")
                self.turned.append(Edge(first, second, motion, information, True))
                self.loops[first, second] = self.turned[-1]
            else:
                if (first, second) not in self.loops:
                    raise ValueError(f"it withdraws a loop of key frames {first} and {second}, which is not held")
                self.turned.append(self.loops.pop((first, second)))
        except (struct.error, ValueError) as error:
            raise InvalidValueError(f"item {len(self.items)} of robot {robot} cannot be read: {error}") from error
        self.items.append(item)

    def copy(self) -> "Trail":
        """Return a copy that can grow on its own."""
        twin = Trail()
        twin.items, twin.frames, twin.steps = list(self.items), list(self.frames), list(self.steps)
        twin.loops, twin.turned = dict(self.loops), list(self.turned)
        twin.start, twin.found = self.start, list(self.found)
        twin._steps, twin._loops, twin._turned = self._steps, self._loops, self._turned
        return twin

    def step_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the motions (n - 1, 3) of the steps, and their information (n - 1, 3, 3)."""
        motion, information, _ = self._stacked()
        return motion, information

    def step_covariances(self) -> np.ndarray:
        """Return the covariances of the steps, (n - 1, 3, 3)."""
        return self._stacked()[2]

    def loop_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the loops: their key frames (m, 2), motions (m, 3), and their information (m, 3, 3)."""
        new = self.turned[self._turned :]
        if new:
            self._turned = len(self.turned)
            ends, motions, informations = self._loops
            if len(ends) + len(new) != len(self.loops):  # some were withdrawn
                new, ends, motions, informations = list(self.loops.values()), ends[:0], motions[:0], informations[:0]
            pairs = np.array([(edge.first, edge.second) for edge in new], np.int64).reshape(-1, 2)
            motion = np.array([edge.motion for edge in new]).reshape(-1, 3)
            information = np.array([edge.information for edge in new]).reshape(-1, 3, 3)
            self._loops = (
                np.concatenate((ends, pairs)),
                np.concatenate((motions, motion)),
                np.concatenate((informations, information)),
            )
        return self._loops

    def _stacked(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        new = self.steps[len(self._steps[0]) :]
        if new:
            motion, information = np.array([edge.motion for edge in new]), np.array([edge.information for edge in new])
            covariance = np.linalg.inv(information)
            covariance = 0.5 * (covariance + covariance.transpose(0, 2, 1))
            motions, informations, covariances = self._steps
            self._steps = (
                np.concatenate((motions, motion)),
                np.concatenate((informations, information)),
                np.concatenate((covariances, covariance)),
            )
        return self._steps


def frame_item(frame: KeyFrame, motion: np.ndarray, information: np.ndarray) -> bytes:
    """Return the item of a key frame: its motion from the one before (of the first one: its pose), and its points."""
    planes = np.empty((2, 2, len(frame.points)), np.uint8)
    _pack(frame.points, planes)
    x, y = (int(np.clip(round(v / UNIT_M), -32768, 32767)) for v in frame.eye.tolist())
    return _item(_FRAME, 0, 0, 0, motion, information) + _POINTS.pack(x, y, len(frame.points)) + planes.tobytes()


@kernel
def _pack(points, planes):
    """Write the steps from each point (k, 2) to the next in units, by axis: low bytes, then high bytes (2, 2, k)."""
    for axis in range(2):
        last = 0
        for k in range(points.shape[0]):
            cell = int(min(max(np.round(points[k, axis] / UNIT_M), -32768.0), 32767.0))
            step = (cell - last) & 0xFFFF  # wraps, and wraps back
            planes[axis, 0, k], planes[axis, 1, k] = step & 0xFF, step >> 8
            last = cell


def loop_item(edge: Edge) -> bytes:
    """Return the item of a loop of one robot."""
    return _item(_LOOP, edge.first, 0, edge.second, edge.motion, edge.information)


def withdrawn_item(edge: Edge) -> bytes:
    """Return the item that takes back a loop of one robot."""
    return _item(_WITHDRAWN, edge.first, 0, edge.second, edge.motion, edge.information)


def relation_item(relation: Relation) -> bytes:
    """Return the item of a relation between robots."""
    r = relation
    return _item(_RELATION, r.first, r.b, r.second, r.motion, r.information) + _END.pack(r.a, round(255 * r.score))


def _item(kind: int, first: int, robot: int, second: int, motion: np.ndarray, information: np.ndarray) -> bytes:
    numbers = [min(max(number, -6e4), 6e4) for number in lower_factor(information).tolist()]
    return _HEAD.pack(kind, first, robot, second) + _MOTION.pack(*motion.tolist(), *numbers)


class _Item(NamedTuple):
    kind: int
    first: int
    second: int
    motion: np.ndarray
    information: np.ndarray
    rest: KeyFrame | Relation | None


@lru_cache(2048)  # the robots of a simulation share items, which never change
def _read(item: bytes) -> _Item:
    kind, first, other, second = _HEAD.unpack_from(item)
    numbers = _MOTION.unpack_from(item, _HEAD.size)
    motion, factor = np.array(numbers[:3]), np.zeros((3, 3))
    factor[_LOWER] = numbers[3:]
    information = factor @ factor.T
    if not all(map(math.isfinite, numbers)) or not min(numbers[3], numbers[5], numbers[8]) > 0.0:
        raise ValueError("a number in it is not finite, or its information is not positive definite")
    rest = item[_HEAD.size + _MOTION.size :]
    if kind == _FRAME:
        return _Item(kind, first, second, motion, information, _scan(rest))
    if kind in (_LOOP, _WITHDRAWN) and not rest:
        return _Item(kind, first, second, motion, information, None)
    if kind == _RELATION and len(rest) == _END.size:
        a, score = _END.unpack(rest)
        if a >= other:
            raise ValueError(f"it relates robot {a} to robot {other}; the lower number comes first")
        relation = Relation(a, first, other, second, motion, information, score / 255.0)
        return _Item(kind, first, second, motion, information, relation)
    raise ValueError(f"its kind is {kind}, or its length is wrong")


def _scan(data: bytes) -> KeyFrame:
    x, y, count = _POINTS.unpack_from(data)
    planes = np.frombuffer(data[_POINTS.size :], np.uint8).reshape(2, 2, count)
    steps = np.ascontiguousarray(planes.transpose(0, 2, 1)).view("<i2")[:, :, 0]
    points = np.ascontiguousarray(np.cumsum(steps, axis=1, dtype=np.int16).T * UNIT_M)
    normals, eye = np.empty_like(points), np.array([x, y]) * UNIT_M
    normals_of(points, eye, 0.5, normals)
    return KeyFrame(points, normals, eye)


def write_update(trails: Mapping[int, Trail], clock: Mapping[int, int]) -> bytes:
    """Return all items that somebody with this clock lacks, compressed, with the clock of the sender."""
    parts, items = [], []
    for robot, trail in sorted(trails.items()):
        begin = min(clock.get(robot, 0), len(trail.items))
        parts.append(_PART.pack(robot, len(trail.items), begin, len(trail.items) - begin))
        items += trail.items[begin:]
    head = _COUNT.pack(len(parts), 0) + b"".join(parts) + b"".join(_LENGTH.pack(len(item)) for item in items)
    return _MAGIC + zlib.compress(head + b"".join(items), 6)


@lru_cache(16)  # several robots receive the same update
def read_update(update: bytes) -> tuple[dict[int, int], dict[int, tuple[int, list[bytes]]]]:
    """Return the clock of the sender, and for each robot the number of its first item and its items.

    Raises:
        InvalidValueError: it is no update, or not a whole one.
    """
    if not update.startswith(_MAGIC):
        raise InvalidValueError(f"this is no update of a team: it begins with {bytes(update[:16])!r}")
    try:
        data = zlib.decompress(update[len(_MAGIC) :])
        count, _ = _COUNT.unpack_from(data)
        parts = [_PART.unpack_from(data, _COUNT.size + k * _PART.size) for k in range(count)]
        at = _COUNT.size + count * _PART.size
        total = sum(part[3] for part in parts)
        lengths = struct.unpack_from(f"<{total}I", data, at)
        at += total * _LENGTH.size
        if at + sum(lengths) != len(data):
            raise ValueError(f"it holds {len(data)} bytes instead of {at + sum(lengths)}")
    except (zlib.error, struct.error, ValueError, MemoryError) as error:
        raise InvalidValueError(f"this update of {len(update)} bytes is cut or damaged: {error}") from error
    clock: dict[int, int] = {}
    news: dict[int, tuple[int, list[bytes]]] = {}
    left = iter(lengths)
    for robot, held, begin, many in parts:
        items = []
        for _ in range(many):
            length = next(left)
            items.append(data[at : at + length])
            at += length
        clock[robot], news[robot] = held, (begin, items)
    return clock, news


def turned_round(motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inverse (3,) of a motion, and the derivative (3, 3) of the motion by it."""
    c, s = np.cos(motion[2]), np.sin(motion[2])
    x, y = -c * motion[0] - s * motion[1], s * motion[0] - c * motion[1]
    back = np.array([x, y, -motion[2]])
    return back, np.array([[-c, s, motion[1]], [-s, -c, -motion[0]], [0.0, 0.0, -1.0]])
