"""The map of a robot that joins other robots' maps without knowing their starts.

Every robot maps in the frame of its own start. It keeps the evidence of others apart until it has found their frames in
its own; then it turns their evidence into its own frame and joins it. Evidence is kept by origin, and a newer version
replaces an older one, so nothing is counted twice, in any order and over any route. The search for a robot goes on as
the maps grow: a better pose replaces the one in force, and a pose that the maps contradict is given up.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.kernel import kernel
from covey.mapping.alignment.aligning import LEAST_CONFIDENCE, Alignment, MapToAlign, align, contradicted
from covey.mapping.alignment.surfaces import times
from covey.mapping.occupancy.belief import Belief
from covey.mapping.records import EVIDENCE_STEP

__all__ = ["UnknownStarts", "merge_aligned"]

RETRY_GROWTH = 1.1
"""A pair of maps is tried again when one of them has this many times more known cells than at the last attempt."""

_PROBABILITY = np.array([1.0 / (1.0 + math.exp(-EVIDENCE_STEP * value)) for value in range(-128, 128)])

Verdict = Literal["accepted", "revised", "refused", "withdrawn"]
"""Result of an attempt: a first or another pose of the other's map, none yet, or none any more."""


@dataclass(frozen=True, eq=False)
class MateEvidence:
    """The evidence of one robot at one moment, in the frame of its own start.

    Attributes:
        origin: name of the robot that measured it.
        version: grows with every change.
        evidence: int8 cells in units of 0.05 of log-odds, 0 = never seen.
    """

    origin: str
    version: int
    evidence: Grid

    @cached_property
    def map(self) -> MapToAlign:
        """The occupied, free and unknown cells by this evidence."""
        return MapToAlign(self.evidence.with_cells(_occupancy(self.evidence.cells)))

    @cached_property
    def known(self) -> int:
        """Number of cells seen."""
        return int(np.count_nonzero(self.evidence.cells))


class UnknownStarts:
    """One robot's knowledge: its own evidence, that of the robots it has heard of, and their frames in its own.

    Args:
        belief: the robot's belief; only its own evidence is used.
        T_belief_start: the robot's start in the frame of its belief; by default the belief lies in the frame of the
            start. Give it for beliefs that share the frame of the world.
        least_confidence: alignments below this are refused.

    Attributes:
        grid: place of the robot's own map in the frame of its start; its cells are not used.
        heard: the newest evidence of itself and of every robot that it has heard of, by name.
        T_own_other: pose of each found start frame in the robot's own, by name; its own is (0, 0, 0).
        alignments: the last attempt to align with each robot that it met, by name.
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
        self.heard: dict[str, MateEvidence] = {}
        self.T_own_other = {belief.name: Pose(0.0, 0.0, 0.0)}
        self.alignments: dict[str, Alignment] = {}
        self.accepted: dict[str, Alignment] = {}
        self._tried: dict[str, tuple[int, int]] = {}

    def publish(self) -> MateEvidence:
        """Take in the robot's own new evidence, and return it."""
        name, version = self.belief.name, self.belief.version
        mine = self.heard.get(name)
        if mine is None or mine.version != version:
            mine = self.heard[name] = MateEvidence(name, version, self.grid.with_cells(self.belief.own.copy()))
        return mine

    def store(self, heard: MateEvidence) -> None:
        """Keep evidence of another robot if it is newer than the held one."""
        held = self.heard.get(heard.origin)
        if held is None or held.version < heard.version:
            self.heard[heard.origin] = heard

    def hear(self, other: "UnknownStarts") -> Alignment:
        """Take another robot's evidence, look for its frame if an attempt is due, and return the alignment with it.

        Once its frame is found, the frames of the robots that it knows are found too. A refused alignment is returned
        again, without another attempt, until one of the two maps has `RETRY_GROWTH` times more known cells.
        """
        name = other.publish().origin
        for origin in sorted(other.heard):
            self.store(other.heard[origin])
        if name not in self.T_own_other or name in self.accepted:
            self.attempt(name)
        if name not in self.T_own_other:
            return self.alignments[name]
        for origin in sorted(other.T_own_other):
            self.T_own_other.setdefault(origin, self.T_own_other[name] @ other.T_own_other[origin])
        return self.accepted.get(name, Alignment(self.T_own_other[name], 1.0, 1.0))

    def attempt(self, name: str) -> Verdict | None:
        """Look for another robot's frame in the robot's own map, joined with the maps found before.

        An accepted alignment replaces the one in force if its confidence is no lower, or if the maps contradict the old
        one. Without a better one, a contradicted alignment is withdrawn. After a robot was found or given up, those
        that were tried later or in vain are tried again at once.

        Returns:
            None if too little is new since the last attempt, or if the alignment in force stays.
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
        """Return the joined map, int8 cells -1, 0, 100, in the robot's own frame, on a grid that covers all of it."""
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
        """Return a grid of zeros, on the lattice of the robot's own, that covers the evidence of some robots."""
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
    """Return the evidence of a robot at points of another frame, int8 (k,); 0 where the cell there has none.

    The probability is interpolated between the centres of the four cells around. The value of the cell there alone
    would put walls where only free corners of cells with a wall lie.

    Args:
        points: float64 (k, 2) [m].
        evidence: int8 cells in the frame of the robot's start.
        T_own_origin: pose of that frame in the frame of the points.
    """
    T_origin_own = T_own_origin.inverse()
    x0, y0, c, s, resolution = evidence.frame.tolist()
    dx, dy = (times(points, T_origin_own.heading) + T_origin_own[:2] - np.array([x0, y0])).T
    rows, columns = (c * dy - s * dx) / resolution, (c * dx + s * dy) / resolution
    return interpolated(evidence.cells, rows, columns, _PROBABILITY)


@kernel
def interpolated(evidence, rows, columns, probability):
    """Return evidence between the centres of cells, int8 (k,), by the probabilities of the four around.

    Args:
        evidence: int8 (m, n); 0 is unknown.
        rows, columns: float64 (k,), places in cells; the centre of the first cell is at 0.5, 0.5.
        probability: of evidence -128 to 127 (256,).
    """
    found = np.zeros(rows.shape[0], np.int8)
    for k in range(rows.shape[0]):
        row, column = math.floor(rows[k]), math.floor(columns[k])
        if not (0 <= row < evidence.shape[0] and 0 <= column < evidence.shape[1]) or evidence[row, column] == 0:
            continue
        top, left = math.floor(rows[k] - 0.5), math.floor(columns[k] - 0.5)
        down, right = rows[k] - 0.5 - top, columns[k] - 0.5 - left
        p = 0.0
        for r in range(top, top + 2):
            for q in range(left, left + 2):
                inside = 0 <= r < evidence.shape[0] and 0 <= q < evidence.shape[1]
                share = (down if r > top else 1.0 - down) * (right if q > left else 1.0 - right)
                p += share * probability[128 + (int(evidence[r, q]) if inside else 0)]
        value = int(np.rint(math.log(p / (1.0 - p)) / EVIDENCE_STEP))
        found[k] = value if value != 0 else (1 if p > 0.5 else -1)  # what was seen stays known
    return found


def union_apart(evidence: list[Grid], world: Grid) -> Grid:
    """Return the map of all robots' own evidence, int8 -1, 0, 100, on a grid that covers the world's.

    Args:
        evidence: each robot's, at its true place in the world.
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
    """Return the map of robot a joined with that of robot b, and the alignment.

    Each belief lies in the frame of its robot's start. If the alignment is refused, the map is that of a alone.
    """
    one, two = (UnknownStarts(belief, least_confidence=least_confidence) for belief in (a, b))
    alignment = one.hear(two)
    return one.merged(), alignment
