"""Beliefs about the ground in processes of robots, and their mirror; see `covey.mapping.exchange.apart`."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.mapping.elevation import versions
from covey.mapping.elevation.belief import Elevations
from covey.mapping.elevation.kernels import EVIDENCE, put_vertices
from covey.mapping.exchange.apart import MirroredMaps
from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.occupancy.tiles import TILE, TILE_CELLS
from covey.mapping.records import ElevationMapping


class OwnVertices(NamedTuple):
    """Vertices of which a robot's own evidence has changed.

    Attributes:
        vertices: their indices, row by row, int64 (k,).
        mean, variance, seen, changed, mark: their evidence, (k,) each, see `covey.mapping.elevation.kernels.EVIDENCE`.
        resets: how often the robot found each changed, uint16 (k,).
        measured: number of measurements that it has used.
        tiles: the tiles that it has not published, int64 (t,).
    """

    vertices: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    seen: np.ndarray
    changed: np.ndarray
    mark: np.ndarray
    resets: np.ndarray
    measured: int
    tiles: np.ndarray


class OwnElevation(Elevations):
    """The belief of one robot, in its own process. ``robot`` is its row; the rest is as in `Elevations`."""

    def __init__(
        self,
        robot: int,
        names: Sequence[str],
        shape: tuple[int, int],
        origin: tuple[float, float],
        spacing_m: float,
        mapping: ElevationMapping,
    ):
        super().__init__(names, shape, origin, spacing_m, mapping)
        self.robot = robot
        self._told: dict[int, np.ndarray] = {}  # own evidence by tile, as it was told last

    def begin(self, own: OwnVertices) -> None:
        """Begin with known evidence."""
        put(self, self.robot, own)
        per_row = self.grid.shape[1] // TILE
        row, column = np.divmod(own.vertices, self.grid.shape[1])
        self._told = {tile: self._own(tile) for tile in np.unique(row // TILE * per_row + column // TILE).tolist()}

    def changes(self) -> OwnVertices | None:
        """Return the vertices of which its own evidence has changed since the last call; None: there are none."""
        found: list[np.ndarray] = []
        tiles: list[int] = []
        for tile in np.flatnonzero(self.team.dirty[self.robot]).tolist():
            before, now = self._told.get(tile, _NOTHING), self._own(tile)
            changed = now != before
            if changed.any():
                self._told[tile] = now
                tiles.append(tile)
                row, column = np.divmod(np.flatnonzero(changed), TILE)
                top, left = np.array(divmod(tile, self.grid.shape[1] // TILE)) * TILE
                found.append((top + row) * self.grid.shape[1] + left + column)
        self.team.dirty[self.robot] = 0
        return None if not found else picked(self, self.robot, np.concatenate(found), np.array(tiles, np.int64))

    def add_evidence(self, given: bytes) -> None:
        """Add evidence of other robots to the belief."""
        self.merge_updates((np.arange(len(self)) == self.robot)[:, None], [self.decode(given)])

    def _own(self, tile: int) -> np.ndarray:
        """Return a copy of its own evidence in a tile, (1024,)."""
        return np.ascontiguousarray(self._tile(self.team.own[self.robot], tile)).reshape(-1).copy()


@dataclass(frozen=True, eq=False)
class ElevationStart:
    """What a process needs to begin with the belief of its robot; see `Elevations`.

    Attributes:
        row: index of the robot among ``names``, the robots with equal mapping.
        own: its own evidence.
        version, turned: of its map, and of its tiles.
    """

    row: int
    names: list[str]
    shape: tuple[int, int]
    origin: tuple[float, float]
    spacing_m: float
    mapping: ElevationMapping
    own: OwnVertices
    version: int
    turned: np.ndarray

    def begin(self) -> OwnElevation:
        """Return the belief that the robot starts with."""
        belief = OwnElevation(self.row, self.names, self.shape, self.origin, self.spacing_m, self.mapping)
        belief.begin(self.own)
        belief.version[self.row], belief.tile_changed[self.row] = self.version, self.turned
        return belief


class MirroredElevations(MirroredMaps, Elevations):
    """The beliefs about the ground of a team of which some robots map in processes of their own."""

    def start(self, row: int) -> ElevationStart:
        """Return what the process of a robot begins with."""
        (x, y, spacing_m), own = self.frame.tolist(), self.team.own[row].reshape(-1)
        known = np.flatnonzero(own != np.zeros(1, EVIDENCE))
        state = picked(self, row, known, np.flatnonzero(self.team.dirty[row]))
        turned = self.tile_changed[row].copy()
        place = self.names, self.shape, (x, y), spacing_m, self.mapping
        return ElevationStart(row, *place, state, int(self.version[row]), turned)

    def put(self, row: int, pose: np.ndarray | None, changes: OwnVertices) -> None:
        """Store the own evidence of a robot that its readings have changed."""
        put(self, row, changes)

    def lacking(self, row: int, updates: Sequence[MapUpdate]) -> bytes | None:
        """Return the tiles of some updates that are newer than those that a robot holds; None: there are none."""
        held = self._held[row]
        items = [
            item
            for one in updates
            for item in one.items
            if item.origin != row
            and ((mine := held[item.origin].get(item.tile)) is None or mine.version < item.version)
        ]
        never = np.zeros(len(self), np.int64)
        return versions.encode(MapUpdate(row, items, never, never, 0)) if items else None


def received(beliefs: Elevations, robot: int, code: Any) -> MapUpdate:
    """Return the update in bytes from `Elevations.encode`, which may come from a stranger.

    Args:
        beliefs: those that it is for.
        robot: whose they are; what the bytes say of this robot is left out.
        code: the bytes.

    Raises:
        InvalidValueError: they are no update of a team of these robots with this map.
    """
    n, tiles = len(beliefs), beliefs.tile_changed.shape[1]
    try:
        update = versions.decode(code, n)
        right = 0 <= update.giver < n and (update.until >= update.since).all() and (update.until < 2**31).all()
        for item in update.items:
            known = item.evidence[item.evidence["mark"] > 0]
            right &= item.tile < tiles and item.origin < n and item.version > 0
            right &= bool(np.isfinite(known["mean"]).all() and (known["variance"] > 0).all())
    except (struct.error, ValueError, IndexError, TypeError) as error:
        raise InvalidValueError(f"what another robot sent are no tiles of the ground: {error}") from None
    if not right:
        raise InvalidValueError("tiles of another robot do not fit the ground of this one")
    items = [item for item in update.items if item.origin != robot]
    update.since[robot] = update.until[robot] = 0
    return replace(update, items=items)


def picked(beliefs: Elevations, robot: int, vertices: np.ndarray, tiles: np.ndarray) -> OwnVertices:
    """Return the own evidence of a robot at some vertices, int64 (k,); ``tiles``: those that it has not published."""
    team = beliefs.team
    own, resets = team.own[robot].reshape(-1)[vertices], team.resets[robot].reshape(-1)[vertices]
    mean, variance, seen, changed, mark = (own[name].copy() for name in ("mean", "variance", "seen", "changed", "mark"))
    measured = int(team.measured[robot])
    return OwnVertices(vertices, mean, variance, seen, changed, mark, resets, measured, tiles)


def put(beliefs: Elevations, robot: int, own: OwnVertices) -> None:
    """Replace a robot's own evidence at some vertices, and update its map."""
    team = beliefs.team
    row, column = np.divmod(own.vertices, beliefs.grid.shape[1])
    put_vertices(team, robot, row, column, own[1:6], own.resets, beliefs.max_step_m)
    team.measured[robot] = own.measured
    team.dirty[robot, own.tiles] = 1


_NOTHING = np.zeros(TILE_CELLS, EVIDENCE)
