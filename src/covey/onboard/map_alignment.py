"""Map alignment: robots that do not know the others' start poses find them from their maps, and then merge the maps.

Evidence of others is kept by origin, in the frames of their starts (`covey.mapping.alignment.by_origin`). Periodically,
each robot searches the poses of those frames in its own frame (`covey.mapping.alignment.unknown_starts`); robots that
do SLAM as a team know them from that (`KnownFrames`). The evidence of robots whose frame it has
found is transformed into its own frame and merged into its map.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from covey.clock import Clock
from covey.geometry.grid import Grid
from covey.geometry.se2 import Pose
from covey.mapping.alignment.by_origin import EvidenceByOrigin
from covey.mapping.alignment.surfaces import times
from covey.mapping.alignment.unknown_starts import MateEvidence, UnknownStarts, Verdict, seen_at
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.occupancy.tiles import TILE
from covey.onboard.map_exchange import Period

_LEVER_M = 20.0  # how far from the start of a robot a turn of its frame counts
_NEAR, _FAR = 0.1, 3.0  # cells


@dataclass(frozen=True)
class Attempt:
    """The result of a robot's search for the frame of another.

    Attributes:
        robot, other: team indices.
        verdict: accepted, revised, refused or withdrawn.
        T_found: the pose of the frame; None: not found.
        T_true: its true pose, unknown to the robot; None: nobody here knows it.
        confidence: 0 to 1; None: SLAM has none.
        refused: why.
    """

    robot: int
    other: int
    verdict: Verdict
    T_found: Pose | None
    T_true: Pose | None
    confidence: float | None = None
    refused: str = ""


class KnownFrames(Protocol):
    """What knows the starts of robots otherwise than by their maps: the SLAM of a team. Robots go by team index."""

    def revision(self, robot: int) -> int:
        """Return how often what a robot knows has changed."""
        ...

    def frame_of(self, robot: int, other: int) -> Pose | None:
        """Return the pose of the frame of another robot in that of a robot; None: not known."""
        ...


class MapAlignment:
    """The frames of robots with equal mapping, and the evidence that each merges from the others; indices as in `maps`.

    Args:
        members: team indices of the robots.
        maps: their beliefs, each in the frame of its robot's start.
        every_s: period at which a robot searches for the frames of the others [s].
        clock: of the simulation, or of a node.
        slam: the SLAM of the team, if all of these robots take part in it; None: they search by their maps.
        T_world_start: the true start poses, float64 (n, 3), of a simulation, which measures the error by them.

    Attributes:
        by_origin: the evidence that the robots exchange.
        T_own_other: for each robot the frames of others that it has found, by name.
        attempts: the results of the searches in the last step.
    """

    def __init__(
        self,
        members: np.ndarray,
        maps: Beliefs,
        every_s: float,
        clock: Clock,
        slam: KnownFrames | None = None,
        T_world_start: np.ndarray | None = None,
    ):
        n, tiles = maps.tile_changed.shape
        self.members, self.maps, self._slam = members, maps, slam
        self.by_origin = EvidenceByOrigin(maps)
        self._robots = [UnknownStarts(maps[k]) for k in range(n)]
        self._seen = [-1] * n  # the revision of the SLAM that was looked at
        self.T_own_other = [robot.T_own_other for robot in self._robots]
        self.attempts: list[Attempt] = []
        self._starts = None if T_world_start is None else [Pose(*start) for start in T_world_start.tolist()]
        self._period = Period(every_s, clock)
        self._taken = np.zeros((n, n, tiles), np.int32)  # versions of the tiles in the maps
        self._placed: dict[tuple[int, int], Pose] = {}  # frames from which they were transformed
        self._turned = 0

    def step(self, able: np.ndarray) -> None:
        """Let the ``able`` robots, bool (n,), search for frames when it is time, and merge new evidence."""
        self.attempts = []
        looks = self._period.begins()
        for robot in np.flatnonzero(able).tolist():
            tried = len(self.attempts)
            if self._slam is not None:
                self._ask(robot, self._slam, looks)
            elif looks:
                self._look(robot)
            if self.by_origin.fresh[robot] or len(self.attempts) > tried:
                self.by_origin.fresh[robot] = False
                for origin in range(len(self.members)):
                    self._take(robot, origin)

    def _ask(self, robot: int, slam: KnownFrames, looks: bool) -> None:
        """Let a robot look at the frames that its SLAM knows, if they may have changed.

        As all tiles must be turned when a frame moves, small motions count only when it ``looks``. A quarter of a cell
        is not small: walls of which a cell is that much off are drawn in a cell beside them.
        """
        number, known = int(self.members[robot]), self.T_own_other[robot]
        if slam.revision(number) == self._seen[robot] and not looks:
            return
        self._seen[robot] = slam.revision(number)
        far_m = (_NEAR if looks else _FAR) * self.maps.grid.resolution
        for origin, name in enumerate(self.maps.names):
            if origin == robot:
                continue
            T, before = slam.frame_of(number, int(self.members[origin])), known.get(name)
            if T is None and before is not None:
                del known[name]
                self._note(robot, origin, "withdrawn", None)
            elif T is not None and (before is None or _apart_m(before, T) > far_m):
                known[name] = T
                self._note(robot, origin, "accepted" if before is None else "revised", T)

    def _note(self, robot: int, origin: int, verdict: Verdict, T: Pose | None, *details: Any) -> None:
        T_true = None if self._starts is None else self._starts[robot].inverse() @ self._starts[origin]
        i, j = self.members[[robot, origin]].tolist()
        self.attempts.append(Attempt(i, j, verdict, T, T_true, *details))

    def _look(self, robot: int) -> None:
        """Let a robot search for the frames of all robots whose evidence it holds."""
        holder, heard = self._robots[robot], []
        for origin, name in enumerate(self.maps.names):
            evidence, versions = self.by_origin.held(robot, origin)
            version = int(versions.sum())
            if origin != robot and version:
                heard.append(origin)
                if name not in holder.heard or holder.heard[name].version < version:
                    cells = self.maps.grid.with_cells(self.maps.as_map(evidence))
                    holder.store(MateEvidence(name, version, cells))
        for origin in heard:
            name = self.maps.names[origin]
            verdict = holder.attempt(name)
            if verdict is not None:
                found = holder.alignments[name]
                self._note(robot, origin, verdict, found.T_a_b, found.confidence, found.refused)

    def _take(self, robot: int, origin: int) -> None:
        """Update another robot's evidence in a robot's map."""
        T, before = self.T_own_other[robot].get(self.maps.names[origin]), self._placed.get((robot, origin))
        if origin == robot or T is before is None:
            return
        evidence, versions = self.by_origin.held(robot, origin)
        tiles = np.arange(len(versions))
        if T is not None and before == T:
            tiles = self._under(np.flatnonzero(versions > self._taken[robot, origin]), T)
        self._taken[robot, origin] = versions
        if T is None:
            del self._placed[robot, origin]
            now = np.zeros((len(tiles), TILE * TILE), np.int8)
        else:
            self._placed[robot, origin] = T
            theirs = self.maps.grid.with_cells(self.maps.as_map(evidence))
            now = seen_at(self._centres(tiles).reshape(-1, 2), theirs, T).reshape(-1, TILE * TILE)
        changed = (now != self.maps.held(robot, origin)[0][tiles]).any(axis=1)
        if changed.any():
            self._turned += 1
            received = np.arange(len(self.members))[:, None] == robot
            self.maps.merge_updates(received, [self.maps.tell(origin, tiles[changed], now[changed], self._turned)])

    def _centres(self, tiles: np.ndarray) -> np.ndarray:
        """Return the centres of the cells of tiles, float64 (k, 1024, 2) [m]."""
        rows, columns = np.divmod(np.arange(TILE * TILE), TILE)
        top, left = np.divmod(tiles, self.maps.grid.shape[1] // TILE)
        at = np.stack((top[:, None] * TILE + rows, left[:, None] * TILE + columns), axis=-1)
        return self.maps.grid.to_world(at)

    def _under(self, tiles: np.ndarray, T_own_origin: Pose) -> np.ndarray:
        """Return the tiles of a map that tiles of another frame may overlap."""
        grid, per_row = self.maps.grid, self.maps.grid.shape[1] // TILE
        coarse = Grid(grid.cells, TILE * grid.resolution, grid.origin)
        every = coarse.to_world(np.column_stack(np.divmod(np.arange(self._taken.shape[2]), per_row)))
        at = times(every[tiles], T_own_origin.heading) + T_own_origin[:2]
        reach = math.sqrt(2.0) * coarse.resolution + grid.resolution
        near = np.hypot(*(every[:, None] - at).transpose(2, 0, 1)) < reach
        return np.flatnonzero(near.any(axis=1))


def _apart_m(before: Pose, T: Pose) -> float:
    """Return how far apart two poses of a frame put what was seen in it [m]."""
    off = before.inverse() @ T
    return math.hypot(off.x, off.y) + _LEVER_M * abs(off.heading)
