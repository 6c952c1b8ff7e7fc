"""The map of a robot that joins those of others without knowing where they started.

Every robot maps in the frame of its own start. What it hears of others it keeps apart until it has found where their
frames lie in its own; then their evidence is turned into its own frame and joined. Evidence is kept by origin: a newer
version of an origin replaces the older one, so nothing is counted twice, whatever the order and over whatever way
news arrives. Who is found once is looked for again as the maps grow: a better place replaces the one in force, and one
that the maps have come to contradict is given up.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.mapping.alignment.aligning import LEAST_CONFIDENCE, Alignment, MapToAlign, align, contradicted
from covey.mapping.alignment.surfaces import times
from covey.mapping.occupancy.belief import Belief

RETRY_GROWTH = 1.1
"""A pair of maps is tried again when one of them knows this many times more than at the last attempt."""

Verdict = Literal["accepted", "revised", "refused", "withdrawn"]
"""What came of an attempt: first or another place for the other's map, none yet, or none any more."""


@dataclass(frozen=True, eq=False)
class Heard:
    """The evidence of one robot at one moment, in the frame of its own start.

    Attributes:
        origin: name of the robot whose evidence it is.
        version: grows with every change of it.
        evidence: int8 cells in units of 0.05 of log-odds, 0 = never seen.
    """

    origin: str
    version: int
    evidence: Grid

    @cached_property
    def map(self) -> MapToAlign:
        """What is occupied, free and unknown by this evidence."""
        return MapToAlign(self.evidence.with_cells(_occupancy(self.evidence.cells)))

    @cached_property
    def known(self) -> int:
        """Number of cells seen."""
        return int(np.count_nonzero(self.evidence.cells))


class UnknownStarts:
    """What one robot holds: its own evidence, that of others it has heard of, and where their frames lie in its own.

    Args:
        belief: the robot's belief; only its own evidence is used.
        T_belief_start: where the robot started in the frame of its belief; by default the belief lies in the frame of
            the start. For beliefs that share the frame of the world, this takes it from them.
        least_confidence: alignments below this are refused.

    Attributes:
        grid: the place of the robot's own map in the frame of its start; its cells are not used.
        heard: the newest evidence of every robot that it has heard of, by name, its own among it.
        T_own_other: pose of the start frame of each that it has found in the robot's own; its own is (0, 0, 0).
        alignments: the last attempt to align with each robot that was met, by name.
        accepted: the alignments in force, by name, in the order in which the others were found.
    """

    def __init__(
        self,
        belief: Belief,
        T_belief_start: Pose = Pose(0.0, 0.0, 0.0),
        *,
        least_confidence: float = LEAST_CONFIDENCE,
    ):
        self.belief, self.least_confidence = belief, least_confidence
        grid = belief.grid
        self.grid = Grid(grid.cells, grid.resolution, T_belief_start.inverse() @ Pose(*grid.origin))
        self.heard: dict[str, Heard] = {}
        self.T_own_other = {belief.name: Pose(0.0, 0.0, 0.0)}
        self.alignments: dict[str, Alignment] = {}
        self.accepted: dict[str, Alignment] = {}
        self._tried: dict[str, tuple[int, int]] = {}

    def publish(self) -> Heard:
        """Take in what the robot has seen itself since, and return it."""
        name, version = self.belief.name, self.belief.version
        mine = self.heard.get(name)
        if mine is None or mine.version != version:
            mine = self.heard[name] = Heard(name, version, self.grid.with_cells(self.belief.own.copy()))
        return mine

    def take(self, news: Heard) -> None:
        """Keep evidence of another robot, if it is newer than what is held of it."""
        held = self.heard.get(news.origin)
        if held is None or held.version < news.version:
            self.heard[news.origin] = news

    def hear(self, other: "UnknownStarts") -> Alignment:
        """Take what another robot holds, look for its frame if that is due, and return the alignment with it.

        Robots that it knows have frames in this robot's own as soon as its own has one. An alignment that was refused
        is returned again, without another attempt, until one of the two knows `RETRY_GROWTH` times more.
        """
        name = other.publish().origin
        for origin in sorted(other.heard):
            self.take(other.heard[origin])
        if name not in self.T_own_other or name in self.accepted:
            self.attempt(name)
        if name not in self.T_own_other:
            return self.alignments[name]
        for origin in sorted(other.T_own_other):
            self.T_own_other.setdefault(origin, self.T_own_other[name] @ other.T_own_other[origin])
        return self.accepted.get(name, Alignment(self.T_own_other[name], 1.0, 1.0))

    def attempt(self, name: str) -> Verdict | None:
        """Look for the frame of a robot that was heard of, in the robot's own map joined with those found before it.

        An accepted alignment replaces the one in force when its confidence is no lower, or when the maps contradict
        that one; without a better one, what is contradicted is withdrawn. After somebody was found, or given up, those
        who were looked for later or in vain are tried again without waiting for more to be known.

        Returns:
            None when too little is new since the last attempt, or when what is in force stays in force.
        """
        mine, theirs, before = self.publish(), self.heard[name], self._tried.get(name)
        known = mine.known, theirs.known
        if before is not None and not any(now > RETRY_GROWTH * then for now, then in zip(known, before, strict=True)):
            return None
        self._tried[name] = known
        order = list(self.accepted)
        earlier = order[: order.index(name)] if name in order else order
        reference = MapToAlign(self._joined([mine.origin, *earlier])) if earlier else mine.map
        found = self.alignments[name] = align(reference, theirs.map, self.least_confidence)
        held = self.accepted.get(name)
        if held is None and not found.accepted:
            return "refused"
        if held is None or not found.accepted or found.confidence < held.confidence:
            if held is not None and not contradicted(reference, theirs.map, held.T_a_b or Pose(0.0, 0.0, 0.0)):
                return None
            self._tried = {n: then for n, then in self._tried.items() if n == name or n in earlier}  # another reference
        if found.T_a_b is None or not found.accepted:
            del self.accepted[name], self.T_own_other[name]
            return "withdrawn"
        self.accepted[name], self.T_own_other[name] = found, found.T_a_b
        return "accepted" if held is None else "revised"

    def merged(self) -> Grid:
        """Return the joined map, int8 cells -1, 0, 100, in the robot's own frame, on a grid that holds all of it."""
        self.publish()
        return self._joined(sorted(name for name in self.heard if name in self.T_own_other))

    def _joined(self, origins: list[str]) -> Grid:
        frame = self._grid(origins)
        total = np.zeros(frame.shape, np.int32)
        centres = frame.to_world(np.argwhere(frame.cells == 0))
        for origin in origins:
            total += seen_at(centres, self.heard[origin].evidence, self.T_own_other[origin]).reshape(frame.shape)
        return frame.with_cells(_occupancy(total))

    def _grid(self, origins: list[str]) -> Grid:
        """Return a grid of zeros, on the lattice of the robot's own, that holds what has been heard of some robots."""
        own = self.grid
        low, high = np.zeros(2, int), np.array(own.shape)
        for origin in origins:
            evidence = self.heard[origin].evidence
            rows, columns = evidence.shape
            corners = evidence.to_world(np.array([(r, c) for r in (0, rows - 1) for c in (0, columns - 1)]))
            T = self.T_own_other[origin]
            cells = own.to_cells(times(corners, T.heading) + T[:2])
            low, high = np.minimum(low, cells.min(axis=0)), np.maximum(high, cells.max(axis=0) + 1)
        x, y = own.to_world(low - 0.5)
        return Grid(np.zeros(tuple(high - low), np.int8), own.resolution, (float(x), float(y), own.origin[2]))


def seen_at(points: np.ndarray, evidence: Grid, T_own_origin: Pose) -> np.ndarray:
    """Return the evidence of a robot at points of another frame, int8 (k,); 0 where it has none.

    Args:
        points: float64 (k, 2) [m].
        evidence: int8 cells in the frame of the robot's start.
        T_own_origin: pose of that frame in the frame of the points.
    """
    T_origin_own = T_own_origin.inverse()
    cells = evidence.to_cells(times(points, T_origin_own.heading) + T_origin_own[:2])
    inside = evidence.inside(cells)
    rows, columns = np.where(inside[:, None], cells, 0).T
    return np.where(inside, evidence.cells[rows, columns], np.int8(0))


def union_apart(evidence: list[Grid], world: Grid) -> Grid:
    """Return the map of all robots' own evidence, int8 -1, 0, 100, on a grid that covers the world's.

    Args:
        evidence: of each robot, where it truly lies in the world.
        world: the grid to cover; its cells are not used.
    """
    resolution = evidence[0].resolution
    columns, rows = (math.ceil(round(side / resolution, 6)) for side in world.size_m)
    grid = Grid(np.zeros((rows, columns), np.int8), resolution, world.origin)
    points, total = grid.to_world(np.argwhere(grid.cells == 0)), np.zeros(grid.shape, np.int32)
    for one in evidence:
        total += seen_at(points, one, Pose(0.0, 0.0, 0.0)).reshape(grid.shape)
    return grid.with_cells(_occupancy(total))


def _occupancy(evidence: np.ndarray) -> np.ndarray:
    return np.where(evidence > 0, 100, np.where(evidence < 0, 0, -1)).astype(np.int8)


def merge_aligned(a: Belief, b: Belief, least_confidence: float = LEAST_CONFIDENCE) -> tuple[Grid, Alignment]:
    """Return the map of robot a with that of robot b joined to it, and how they were aligned.

    Both beliefs lie in the frames of their own robots' starts. When the alignment is refused, the map is that of a
    alone.
    """
    one, two = (UnknownStarts(belief, least_confidence=least_confidence) for belief in (a, b))
    alignment = one.hear(two)
    return one.merged(), alignment
