"""Occupancy maps of robots that map in processes of their own, and the mirror of them; see `mapping.exchange.apart`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.mapping.exchange.apart import MirroredMaps
from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.exchange.merge_rules import MergeRule
from covey.mapping.occupancy import tiles as tiles_of
from covey.mapping.occupancy.belief import Beliefs
from covey.mapping.records import Mapping


class OwnTiles(NamedTuple):
    """Changed tiles of a robot's own evidence: their indices, int32 (k,), and cells, int8 (k, 1024)."""

    tiles: np.ndarray
    cells: np.ndarray


class GivenTiles(NamedTuple):
    """Tiles of evidence for a robot's process: that of other robots, and its own where it was corrected.

    Attributes:
        items: int32 (k, 3) tile, robot whose it is, publication; 0 for its own.
        cells: the evidence, int8 (k, 1024).
    """

    items: np.ndarray
    cells: np.ndarray


class OwnBelief(Beliefs):
    """The belief of one robot, in its own process. ``robot`` is its index in ``names``; the rest is as in `Beliefs`."""

    def __init__(
        self,
        robot: int,
        names: Sequence[str],
        size_m: tuple[float, float],
        origin: tuple[float, float],
        mapping: Mapping,
        rule: MergeRule,
    ):
        super().__init__(names, size_m, origin, mapping, rule, kept=(robot,))
        self.robot, self._one = robot, np.array([robot])

    def see(
        self, pose: np.ndarray, ranges: np.ndarray, angles: np.ndarray, mount: Any, range_m: float, step: int
    ) -> bool:
        """Add a scan, ranges (rays,) [m] from a pose (3,), to the belief; see `Beliefs.update`.

        Returns:
            Whether it was used; not if the robot has moved too little since the last one.
        """
        return bool(self.update(self._one, pose[None], ranges[None], angles, mount, range_m, step))

    def changes(self) -> OwnTiles | None:
        """Return the tiles of its own evidence that have changed since the last call; None: there are none."""
        team = self.team
        changed = np.flatnonzero(team.own[self.robot] != team.published[self.robot])
        self.publish(self._one)
        if not len(changed):
            return None
        return OwnTiles(changed.astype(np.int32), self.store.evidence[team.own[self.robot, changed]])

    def add_evidence(self, given: GivenTiles) -> None:
        """Add tiles of other robots' evidence to the belief, and replace its own that were corrected."""
        own = given.items[:, 1] == self.robot
        if own.any():
            self.put_own(self.robot, given.items[own, 0].astype(np.int32), given.cells[own])
            self.publish(self._one)
        if own.all():
            return
        items = given.items[~own]
        slots = self.slots_with(given.cells[~own], items[:, 2])
        items, never = np.column_stack((items[:, :2], slots)).astype(np.int32), np.zeros(len(self), np.int64)
        update = MapUpdate(self.robot, items, never, never, 0)
        self.under_way.add(update)
        self.merge_updates((np.arange(len(self)) == self.robot)[:, None], [update])


@dataclass(frozen=True, eq=False)
class BeliefStart:
    """What a process needs to begin with the belief of its robot; see `Beliefs`.

    Attributes:
        row: index of the robot among ``names``, the robots with equal mapping.
        known: int8, the map that it starts with; None for none.
    """

    row: int
    names: list[str]
    size_m: tuple[float, float]
    origin: tuple[float, float]
    mapping: Mapping
    rule: MergeRule
    known: np.ndarray | None = None

    def begin(self) -> OwnBelief:
        """Return the belief that the robot starts with."""
        belief = OwnBelief(self.row, self.names, self.size_m, self.origin, self.mapping, self.rule)
        if self.known is not None:
            belief.know(np.array([self.row]), self.known)
        return belief


class MirroredBeliefs(MirroredMaps, Beliefs):
    """The beliefs of a team of which some robots map in processes of their own."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._known: dict[int, np.ndarray] = {}

    def know(self, robots: np.ndarray, occupancy: np.ndarray) -> None:
        """Let robots start with a map."""
        super().know(robots, occupancy)
        self._known |= dict.fromkeys(robots.tolist(), occupancy)

    def start(self, row: int) -> BeliefStart:
        """Return what the process of a robot begins with."""
        (rows, columns), cell = self.grid.shape, self.grid.resolution
        x, y, _ = self.grid.origin
        size_m = columns * cell, rows * cell
        return BeliefStart(row, self.names, size_m, (x, y), self.mapping, self.rule, self._known.get(row))

    def put(self, row: int, pose: np.ndarray | None, changes: OwnTiles) -> None:
        """Store the tiles that a robot's scan from a pose (3,) changed; None: it has corrected its map."""
        if pose is not None:
            self.team.mapped_pose[row] = pose
        super().put_own(row, changes.tiles, changes.cells)

    def put_own(self, robot: int, tiles_of: np.ndarray, cells: np.ndarray) -> None:
        """Correct a robot's own evidence, and keep it for the robot's process."""
        super().put_own(robot, tiles_of, cells)
        if robot in self._apart:
            items = np.column_stack((tiles_of, np.full(len(tiles_of), robot), np.zeros(len(tiles_of)))).astype(np.int32)
            self.hold(robot, GivenTiles(items, cells))

    def lacking(self, row: int, updates: Sequence[MapUpdate]) -> GivenTiles | None:
        """Return the tiles of some updates that are newer than those that a robot holds; None: there are none."""
        items = np.concatenate([one.items for one in updates])
        store, node = self.store, self.team.node[row]
        held = store.version[store.parts[node[items[:, 0]], items[:, 1]]]
        items = items[(items[:, 1] != row) & (store.version[items[:, 2]] > held)]
        if not len(items):
            return None
        slots = items[:, 2]
        versions = np.column_stack((items[:, :2], store.version[slots]))
        return GivenTiles(versions.astype(np.int32), store.evidence[slots])


def plain_of(beliefs: Beliefs, update: MapUpdate) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Return an update as plain data that another robot's `update_of` reads, in any process.

    Returns:
        The giver; tile, origin and version of each tile, int32 (k, 3); their cells, int8 (k, 1024); ``since`` and
        ``until``, int64 (n,); and the size [bytes].
    """
    store, slots = beliefs.store, update.items[:, 2]
    tiles = np.column_stack((update.items[:, :2], store.version[slots])).astype(np.int32)
    return update.giver, tiles, store.evidence[slots], update.since, update.until, update.size_bytes


def update_of(beliefs: Beliefs, robot: int, plain: Any) -> MapUpdate:
    """Return the update in plain data, which may come from a stranger.

    Args:
        beliefs: those that it is for.
        robot: whose they are; what the data says of this robot is left out.
        plain: from `plain_of`.

    Raises:
        InvalidValueError: it is no update of a team of these robots with this map.
    """
    n, n_tiles = len(beliefs), beliefs.tile_changed.shape[1]
    lowest, highest = int(beliefs.evidence_model[2]), int(beliefs.evidence_model[3])
    match plain:
        case (
            int(giver),
            np.ndarray(dtype=np.int32, shape=(k, 3)) as tiles,
            np.ndarray(dtype=np.int8, shape=(c, tiles_of.TILE_CELLS)) as cells,
            np.ndarray(dtype=np.int64, shape=(s,)) as since,
            np.ndarray(dtype=np.int64, shape=(u,)) as until,
            int(size),
        ) if k == c and s == u == n and 0 <= giver < n:
            low = (tiles >= (0, 0, 1)).all() and (since >= 0).all() and (until >= since).all()
            high = (tiles[:, :2] < (n_tiles, n)).all() and (until < 2**31).all()
            if not (low and high) or (k and not lowest <= cells.min() <= cells.max() <= highest):
                raise InvalidValueError("tiles of another robot do not fit the map of this one")
        case _:
            raise InvalidValueError("what another robot sent are no tiles of a map of this team")
    ours = tiles[:, 1] == robot
    tiles, cells = tiles[~ours], cells[~ours]
    since[robot] = until[robot] = 0
    items = np.column_stack((tiles[:, :2], beliefs.slots_with(cells, tiles[:, 2]))).astype(np.int32)
    update = MapUpdate(giver, items, since, until, size)
    beliefs.under_way.add(update)
    return update
