"""Beliefs of robots that map in processes of their own: the belief in one process, and the simulator's mirror of all.

A process turns its robot's scans into evidence, and sends the changed tiles. The mirror stores them. So it holds the
same evidence, maps and versions as if it had used the scans itself, except the times at which cells were seen. When
the mirror adds evidence of other robots to a robot's belief, or corrects its own where SLAM has moved scans, it is sent
to that robot's process too.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from covey.errors import InvalidValueError
from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.exchange.merge_rules import Rule
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
        rule: Rule,
    ):
        super().__init__(names, size_m, origin, mapping, rule, kept=(robot,))
        self.robot, self._one = robot, np.array([robot])

    def see(
        self, pose: np.ndarray, ranges: np.ndarray, angles: np.ndarray, mount: Any, range_m: float, step: int
    ) -> OwnTiles | None:
        """Add a scan, ranges (rays,) [m] from a pose (3,), to the belief; see `Beliefs.update`.

        Returns:
            The changed tiles; None if the robot has moved too little since the last scan that was used.
        """
        if not self.update(self._one, pose[None], ranges[None], angles, mount, range_m, step):
            return None
        team = self._team
        changed = np.flatnonzero(team.own[self.robot] != team.published[self.robot])
        self.publish(self._one)
        return OwnTiles(changed.astype(np.int32), self._store.evidence[team.own[self.robot, changed]])

    def take_tiles(self, given: GivenTiles) -> None:
        """Add tiles of other robots' evidence to the belief, and replace its own that were corrected."""
        own = given.items[:, 1] == self.robot
        if own.any():
            tiles, last = np.unique(given.items[own, 0][::-1], return_index=True)  # the last of each counts
            self.put_own(self.robot, tiles.astype(np.int32), given.cells[own][::-1][last])
            self.publish(self._one)
        if own.all():
            return
        items = given.items[~own]
        slots = self._slots_with(given.cells[~own], items[:, 2])
        items, never = np.column_stack((items[:, :2], slots)).astype(np.int32), np.zeros(len(self), np.int64)
        update = MapUpdate(self.robot, items, never, never, 0)
        self._under_way.add(update)
        self.merge_updates((np.arange(len(self)) == self.robot)[:, None], [update])


class MirroredBeliefs(Beliefs):
    """The beliefs of a team whose robots map in processes of their own, updated from the tiles that they send."""

    def put(self, robot: int, pose: np.ndarray, own: OwnTiles) -> None:
        """Store the tiles that a robot's scan from a pose (3,) changed."""
        self._team.mapped_pose[robot] = pose
        super().put_own(robot, own.tiles, own.cells)

    def lacking(self, robot: int, updates: Sequence[MapUpdate]) -> GivenTiles:
        """Return the tiles of some updates that are newer than those that a robot holds."""
        items = np.concatenate([one.items for one in updates])
        store, node = self._store, self._team.node[robot]
        held = store.version[store.parts[node[items[:, 0]], items[:, 1]]]
        items = items[(items[:, 1] != robot) & (store.version[items[:, 2]] > held)]
        slots = items[:, 2]
        versions = np.column_stack((items[:, :2], store.version[slots]))
        return GivenTiles(versions.astype(np.int32), store.evidence[slots])


def plain_of(beliefs: Beliefs, update: MapUpdate) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Return an update as plain data that another robot's `update_of` reads, in any process.

    Returns:
        The giver; tile, origin and version of each tile, int32 (k, 3); their cells, int8 (k, 1024); ``since`` and
        ``until``, int64 (n,); and the size [bytes].
    """
    store, slots = beliefs._store, update.items[:, 2]
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
    items = np.column_stack((tiles[:, :2], beliefs._slots_with(cells, tiles[:, 2]))).astype(np.int32)
    update = MapUpdate(giver, items, since, until, size)
    beliefs._under_way.add(update)
    return update
