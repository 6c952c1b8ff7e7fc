"""The map of a robot that joins those of others without knowing where they started.

Every robot maps in the frame of its own start. What it hears of others it keeps apart until it has found where their
frames lie in its own; then their evidence is turned into its own frame and joined. Evidence is kept by origin: a newer
version of an origin replaces the older one, so nothing is counted twice, whatever the order and over whatever way
news arrives. Of robots that it has never aligned itself with, it knows the place through those that have.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.mapping.alignment import LEAST_CONFIDENCE, Alignment, MapToAlign, align
from covey.mapping.belief import Belief
from covey.mapping.surfaces import times

RETRY_GROWTH = 1.1
"""A refused pair of maps is tried again when one of them knows this many times more than at the last attempt."""


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
            the start. In a simulation all beliefs share the frame of the world, and this takes it from them.
        least_confidence: alignments below this are refused.

    Attributes:
        grid: the place of the robot's own map in the frame of its start; its cells are not used.
        heard: the newest evidence of every robot whose frame is known, by name, its own among it.
        T_own_other: pose of the start frame of each of them in the robot's own; its own is (0, 0, 0).
        alignments: the last attempt to align with each robot that was met, by name.
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
        self._tried: dict[str, tuple[int, int]] = {}

    def publish(self) -> Heard:
        """Take in what the robot has seen itself since, and return it."""
        name, version = self.belief.name, self.belief.version
        mine = self.heard.get(name)
        if mine is None or mine.version != version:
            mine = self.heard[name] = Heard(name, version, self.grid.with_cells(self.belief.own.copy()))
        return mine

    def hear(self, other: "UnknownStarts") -> Alignment:
        """Take what another robot holds, if its frame is known or can be found; return the alignment with it.

        A refusal is returned again, without another attempt, until one of the two knows `RETRY_GROWTH` times more.
        """
        mine, theirs = self.publish(), other.publish()
        name = theirs.origin
        if name not in self.T_own_other:
            known, before = (mine.known, theirs.known), self._tried.get(name)
            if before is None or any(now > RETRY_GROWTH * then for now, then in zip(known, before, strict=True)):
                self.alignments[name] = align(mine.map, theirs.map, self.least_confidence)
                self._tried[name] = known
            found = self.alignments[name]
            if not found.accepted or found.T_a_b is None:
                return found
            self.T_own_other[name] = found.T_a_b
        for origin in sorted(other.heard):
            T_other_origin = other.T_own_other[origin]
            self.T_own_other.setdefault(origin, self.T_own_other[name] @ T_other_origin)
            news, held = other.heard[origin], self.heard.get(origin)
            if held is None or held.version < news.version:
                self.heard[origin] = news
        return self.alignments.get(name, Alignment(self.T_own_other[name], 1.0, 1.0))

    def merged(self) -> Grid:
        """Return the joined map, int8 cells -1, 0, 100, in the robot's own frame, on a grid that holds all of it."""
        self.publish()
        frame = self._grid()
        total = np.zeros(frame.shape, np.int32)
        centres = frame.to_world(np.argwhere(frame.cells == 0))
        for origin in sorted(self.heard):
            evidence, T_origin_own = self.heard[origin].evidence, self.T_own_other[origin].inverse()
            cells = evidence.to_cells(times(centres, T_origin_own.heading) + T_origin_own[:2])
            inside = evidence.inside(cells)
            rows, columns = np.where(inside[:, None], cells, 0).T
            total += np.where(inside, evidence.cells[rows, columns], 0).reshape(frame.shape)
        return frame.with_cells(_occupancy(total))

    def _grid(self) -> Grid:
        """Return a grid of zeros, on the lattice of the robot's own, that holds all that has been heard."""
        own = self.grid
        low, high = np.zeros(2, int), np.array(own.shape)
        for origin, heard in self.heard.items():
            rows, columns = heard.evidence.shape
            corners = heard.evidence.to_world(np.array([(r, c) for r in (0, rows - 1) for c in (0, columns - 1)]))
            T = self.T_own_other[origin]
            cells = own.to_cells(times(corners, T.heading) + T[:2])
            low, high = np.minimum(low, cells.min(axis=0)), np.maximum(high, cells.max(axis=0) + 1)
        x, y = own.to_world(low - 0.5)
        return Grid(np.zeros(tuple(high - low), np.int8), own.resolution, (float(x), float(y), own.origin[2]))


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
