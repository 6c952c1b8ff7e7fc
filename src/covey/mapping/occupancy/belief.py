"""Beliefs: each robot's map as log-odds of occupancy, with the evidence kept by origin.

Every robot's own evidence is cut into tiles of 32 x 32 cells. A robot publishes an immutable version of each changed
tile. Beliefs refer to such versions, and to their sums, in one store (`covey.mapping.occupancy.tiles`). A newer version
*replaces* the older one of the same origin, so merging is commutative, associative and idempotent, over any number of
hops, and never counts evidence twice.

References:
    W. Burgard, M. Moors, D. Fox, R. Simmons, S. Thrun: Collaborative multi-robot exploration. ICRA 2000 (merging:
    the log-odds of independent maps add, prior 0).
"""

import math
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from covey.bound import Bound
from covey.errors import InvalidValueError
from covey.geometry.beams import beam_directions
from covey.geometry.grid import Grid
from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.exchange.merge_rules import MergeRule, Probabilistic
from covey.mapping.exchange.shared_maps import SharedMap, SharedMaps, check_memory
from covey.mapping.occupancy import evidence, tile_code, tiles
from covey.mapping.occupancy.tiles import MOST_ROBOTS, TILE, TILE_CELLS, TeamTiles, empty_store
from covey.mapping.records import EVIDENCE_STEP, Mapping

_LAST_STAMP = 65535


class Beliefs(SharedMaps):
    """The beliefs of the robots of a team that map with the same grid and can merge; ``beliefs[i]`` is one of them.

    Args:
        names: names of the robots.
        size_m: width and height [m]; every side becomes a whole number of tiles.
        origin: x, y [m] of the outer corner of cell [0, 0].
        mapping: how scans become evidence.
        rule: how the evidence of several robots becomes one map, see `covey.mapping.exchange.merge_rules`.
        kept: the robots whose maps are kept; None: all. Maps of others take no memory and must not be read.

    Attributes:
        grid: place and size of every belief; its cells are not used. The yaw is 0.
        occupancy: int8 (n, rows, columns), -1 unknown, 0 free, 100 occupied.
        version: int64 (n,), grows whenever a cell of that belief changes between unknown, free and occupied.
        tile_changed: int64 (n, tiles), the version at which a cell of the tile last did so; tiles in storage order.
        clock: int64 (n, n), row i: the newest publication of each robot that i holds completely.
        evidence_model: int64 (262,): miss, hit, lowest and highest evidence, in units of 0.05, and the rule's table.
        team: for each robot, the slots of the tiles that it holds.
        store: the tiles of all robots, by slot.
        under_way: updates that somebody still holds; their slots are not given to others.

    Raises:
        InvalidValueError: there are no robots or too many, the area is empty, or the maps are too large for the memory.
    """

    def __init__(
        self,
        names: Sequence[str],
        size_m: tuple[float, float],
        origin: tuple[float, float] = (0.0, 0.0),
        mapping: Mapping | None = None,
        rule: MergeRule = Probabilistic(),
        kept: Sequence[int] | None = None,
    ):
        self.names, self.mapping = list(names), mapping or Mapping()
        self.rule = rule
        units = self.mapping.units
        model = [self.mapping.miss_log_odds, self.mapping.hit_log_odds]
        bounds = [self.mapping.lowest_log_odds, self.mapping.highest_log_odds]
        n = len(self.names)
        if not 0 < n <= MOST_ROBOTS:
            raise InvalidValueError(f"{n} robots cannot share beliefs; 1 to {MOST_ROBOTS} can")
        if not all(math.isfinite(s) and s > 0 for s in size_m):
            raise InvalidValueError(f"the size of a belief is {tuple(size_m)!r}; it must be two positive lengths in m")
        resolution = self.mapping.resolution_m
        columns, rows = (TILE * math.ceil(round(s / resolution, 6) / TILE) for s in size_m)
        kept = range(n) if kept is None else kept
        check_memory(len(kept), n, (rows, columns))
        shape = n, rows // TILE * (columns // TILE)
        self._rule = rule.table()
        self.store = empty_store(n, rule, max(abs(units(b)) for b in bounds))
        self.team = TeamTiles(
            *(np.zeros(shape, np.int32) for _ in range(4)),
            clock=np.zeros((n, n), np.int64),
            occupancy=_unknown((n, rows, columns), kept),
            changed=np.zeros(shape, np.int64),
            version=np.zeros(n, np.int64),
            mapped_pose=np.full((n, 3), np.nan),
        )
        self.occupancy, self.clock = self.team.occupancy, self.team.clock
        self.version, self.tile_changed = self.team.version, self.team.changed
        self.grid = Grid(self.occupancy[0], resolution, (*origin, 0.0))
        self._scratch = np.zeros((rows, columns), np.uint8)
        self.evidence_model = np.array([*(units(x) for x in model + bounds), *self._rule])
        self._motion = np.array([self.mapping.min_motion_m, math.radians(self.mapping.min_turn_deg)])
        self._angles, self._directions = np.zeros(0), np.zeros((0, 2))
        self._use_scans: Bound | None = None  # for these directions and this store
        self._steps_per_stamp = 1
        self.under_way: weakref.WeakSet[MapUpdate] = weakref.WeakSet()

    @classmethod
    def covering(
        cls,
        grid: Grid,
        names: Sequence[str],
        mapping: Mapping | None = None,
        margin_m: float = 0.0,
        rule: MergeRule = Probabilistic(),
    ) -> "Beliefs":
        """Return empty beliefs that cover a grid (the world's, of any yaw), and a margin [m] around it."""
        rows, columns = grid.shape
        corners = grid.to_world(np.array([(r, c) for r in (0, rows) for c in (0, columns)]) - 0.5)
        resolution = (mapping or Mapping()).resolution_m
        margin = resolution * math.ceil(margin_m / resolution)
        low, high = corners.min(axis=0) - margin, corners.max(axis=0) + margin
        return cls(names, tuple(high - low), tuple(low), mapping, rule)

    def __getitem__(self, robot: int) -> "Belief":
        return Belief(self, range(len(self.names))[robot])

    def update(
        self,
        robots: np.ndarray,
        poses: np.ndarray,
        ranges: np.ndarray,
        angles: np.ndarray,
        mount: Any,
        range_m: float,
        step: int,
    ) -> int:
        """Add one lidar scan of each of some robots at their estimated poses.

        Args:
            robots: indices of the robots, integers (m,).
            poses: estimated poses of the bodies, (m, 3) x, y [m], heading [rad].
            ranges: (m, rays) [m]; inf = nothing within range, nan or not positive = no measurement.
            angles: (rays,) [rad] in the frame of the sensor.
            mount: pose of the sensor on the body.
            range_m: range of the sensor [m].
            step: the control step, >= 0, recorded as the time at which the cells were seen.

        Returns:
            The number of scans used; the others came too soon after the last (``min_motion_m``, ``min_turn_deg``).
        """
        if angles is not self._angles:
            self._angles, self._directions, self._use_scans = angles, beam_directions(angles), None
        ranges, far = self.mapping.measured(ranges, angles, range_m), self.mapping.max_range_m or range_m
        robots = np.ascontiguousarray(robots, np.int64)
        scans = (
            np.ascontiguousarray(poses, np.float64),
            np.ascontiguousarray(ranges, np.float64),
            np.ascontiguousarray(mount, np.float64),
            (float(range_m), float(far), float(self.mapping.max_free_m or far)),
            self._stamp(step),
        )
        done = used = 0
        while True:
            if self._use_scans is None:
                arrays = self._directions, self.grid.frame, self.evidence_model, self._motion, self._scratch
                stored = tuple(self.team), tuple(self.store)
                self._use_scans = Bound(evidence.use_scans, [*arrays, *stored], (robots, done, *scans))
            done, more = self._use_scans(robots, done, *scans)
            used += more
            if done == len(robots):
                return used
            self._make_room(slots=self.tile_changed.shape[1], pages=self.tile_changed.shape[1])

    def put_own(self, robot: int, tiles_of: np.ndarray, cells: np.ndarray) -> None:
        """Replace a robot's own evidence, int8 (k, 1024), in tiles, int32 (k,)."""
        if len(self.store.free_slots) - self.store.used[0] < len(tiles_of):
            self._make_room(slots=self.tile_changed.shape[1])
        evidence.put_tiles(robot, tiles_of, cells, self.team, self.store, self._rule)

    def moved(self, robots: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Return which robots have moved enough since their last used scan to use another one, bool (m,)."""
        last = self.team.mapped_pose[robots]
        way = np.hypot(poses[:, 0] - last[:, 0], poses[:, 1] - last[:, 1])
        turned = np.abs((poses[:, 2] - last[:, 2] + math.pi) % (2.0 * math.pi) - math.pi)
        return ~((way < self._motion[0]) & (turned < self._motion[1]))

    def know(self, robots: np.ndarray, occupancy: np.ndarray) -> None:
        """Let robots start with a map, int8 of the shape of the beliefs: -1 unknown, else the occupancy in percent.

        It counts as their own evidence. Repeated different measurements overrule 0 (free) and 100 (occupied); of values
        between, the log-odds count, as in `covey.mapping.occupancy.known.as_plan`. The map is stored once for all
        robots, and a tile of it is published only when its robot has seen something new in it.

        Args:
            robots: indices of the robots, integers (m,).
            occupancy: the map.
        """
        lowest, highest = (abs(int(bound)) for bound in self.evidence_model[2:4])
        prior = max(min(lowest, highest) - 1, 1)
        rows, columns = self.grid.shape
        share = np.clip(occupancy / 100.0, 1e-9, 1 - 1e-9)
        log_odds = np.where(occupancy < 0, 0.0, np.log(share / (1 - share)) / EVIDENCE_STEP)
        evidence_of = np.clip(np.rint(log_odds), -prior, prior).astype(np.int8)
        cells = evidence_of.reshape(rows // TILE, TILE, columns // TILE, TILE).swapaxes(1, 2).reshape(-1, TILE_CELLS)
        known = np.flatnonzero(cells.any(axis=1))
        slots = self.slots_with(cells[known], -1)
        for robot in robots:
            self.team.own[robot, known] = self.team.published[robot, known] = slots  # older than any publication
            self.occupancy[robot] = np.where(evidence_of > 0, 100, np.where(evidence_of < 0, 0, -1))
            self.version[robot] += 1
            self.tile_changed[robot] = self.version[robot]

    def forget(self, robots: np.ndarray) -> None:
        """Let some robots, int64 (k,), that have shared nothing, begin with empty maps again."""
        team = self.team
        for kept in (team.own, team.published, team.node, team.changed, team.version, team.clock):
            kept[robots] = 0
        pages = team.page[robots].ravel()
        self.store.seen[pages[pages > 0]] = 0  # they stay theirs
        team.occupancy[robots], team.mapped_pose[robots] = -1, np.nan

    def publish(self, robots: np.ndarray | None = None) -> int:
        """Make the changed tiles of robots' own evidence available to others; return their number.

        Args:
            robots: indices of the robots, integers (m,); None: all.
        """
        robots = np.arange(len(self)) if robots is None else np.ascontiguousarray(robots, np.int64)
        team = self.team
        return tiles.publish(robots, team.own, team.published, self.store.version, team.clock)

    def update_since(self, giver: int, since: np.ndarray) -> MapUpdate:
        """Return an update with what a robot holds that others do not know.

        Args:
            giver: the sending robot.
            since: int64 (n,), for each robot the publication up to which the receivers know everything (a `clock`); an
                entry equal to the giver's own clock leaves that robot out.
        """
        until = self.clock[giver].copy()
        wanted = np.flatnonzero(until > since)
        items = tiles.gather(giver, wanted, since, self.team, self.store)
        size = tile_code.size_of(items, until, len(wanted), self.store)
        update = MapUpdate(giver, items, np.minimum(since, until), until, size)
        self.under_way.add(update)
        return update

    def merge_updates(self, received: np.ndarray, updates: Sequence[MapUpdate]) -> np.ndarray:
        """Merge received tiles that are newer than those that the robots hold.

        Args:
            received: bool (n, m), which updates each robot received.
            updates: the m updates.

        Returns:
            int64 (n,), the number of tiles that each robot merged.
        """
        taken = np.zeros(len(self), np.int64)
        if not updates:
            return taken
        items, bounds = (
            np.concatenate([one.items for one in updates]),
            np.cumsum([0, *(len(one.items) for one in updates)]),
        )
        since, until = (np.array([getattr(one, name) for one in updates]) for name in ("since", "until"))
        arguments = np.ascontiguousarray(received, np.bool_), items, bounds, since, until, self.team
        done = tiles.merge_updates(*arguments, self.store, 0, taken, self._rule)
        while done < len(self):
            self._make_room(nodes=self.tile_changed.shape[1])
            done = tiles.merge_updates(*arguments, self.store, done, taken, self._rule)
        return taken

    def encode(self, update: MapUpdate) -> bytes:
        """Return an update as the ``update.size_bytes`` bytes that are transmitted."""
        return tile_code.encode(update.giver, update.items, update.since, update.until, self.store)

    def decode(self, code: bytes) -> MapUpdate:
        """Return the update in bytes from `encode`, called on beliefs of the same robots on the same grid."""
        giver, found, since, until = tile_code.decode(code, len(self))
        slots = self.slots_with(
            np.array([cells for *_, cells in found]), np.array([version for _, _, version, _ in found])
        )
        items = np.array([(tile, o, slot) for slot, (tile, o, _, _) in zip(slots, found, strict=True)], np.int32)
        update = MapUpdate(giver, items.reshape(-1, 3), since, until, len(code))
        self.under_way.add(update)
        return update

    def tell(self, origin: int, tiles_of: np.ndarray, cells: np.ndarray, version: int) -> MapUpdate:
        """Return an update made outside this team: evidence of a robot, int8 (k, 1024), for tiles (k,).

        It replaces older versions of that robot's evidence in these tiles; no clock changes.
        """
        slots = self.slots_with(cells, version)
        items = np.column_stack((tiles_of, np.full(len(slots), origin), slots)).astype(np.int32)
        update = MapUpdate(origin, items, np.zeros(len(self), np.int64), np.zeros(len(self), np.int64), 0)
        self.under_way.add(update)
        return update

    def held(self, robot: int, origin: int) -> tuple[np.ndarray, np.ndarray]:
        """Return another robot's evidence that a robot holds: int8 (tiles, 1024), and versions, int32 (tiles,)."""
        slots = self.store.parts[self.team.node[robot], origin]
        return self.store.evidence[slots], self.store.version[slots]

    def union(self) -> np.ndarray:
        """Return the map of all robots' own evidence, each counted once, int8 (rows, columns)."""
        total = np.zeros(self.grid.shape, np.int32)
        for robot in range(len(self)):
            total += self[robot].own
        free, unknown = np.int8(0), np.int8(-1)
        return np.where(total > 0, np.int8(100), np.where(total < 0, free, unknown))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays together."""
        return sum(a.nbytes for a in (*self.team, *self.store, self._scratch))

    def _stamp(self, step: int) -> int:
        """Return a step in the form of the pages; older stamps become coarser when the steps no longer fit."""
        while step // self._steps_per_stamp + 1 > _LAST_STAMP:
            self._steps_per_stamp *= 2
            seen = self.store.seen[: self.store.used[2]]
            seen[:] = seen // 2 + seen % 2
        return step // self._steps_per_stamp + 1

    def _make_room(self, *, slots: int = 0, nodes: int = 0, pages: int = 0) -> None:
        held = [update.items[:, 2] for update in self.under_way]
        self.store = tiles.with_room(self.store, self.team, held, slots, nodes, pages)
        self._use_scans = None

    def slots_with(self, cells: np.ndarray, version: Any) -> np.ndarray:
        """Return slots, int32 (k,), that hold evidence, int8 (k, 1024), as these versions."""
        self._make_room(slots=len(cells))
        slots = self.store.free_slots[self.store.used[0] :][: len(cells)]
        self.store.used[0] += len(cells)
        if len(cells):
            self.store.evidence[slots], self.store.version[slots], self.store.size[slots] = cells, version, 0
        return slots

    def as_map(self, tiles_of: np.ndarray) -> np.ndarray:
        """Return the cells of all tiles, (tiles, 1024), as a map (rows, columns)."""
        rows, columns = self.grid.shape
        cells = tiles_of.reshape(rows // TILE, columns // TILE, TILE, TILE)
        return cells.swapaxes(1, 2).reshape(rows, columns)


class Belief(SharedMap):
    """The belief of one robot: a live view of its row in `Beliefs`.

    A cell is occupied if its log-odds are above 0, free if below; exactly 0 is unknown.
    """

    _beliefs: Beliefs

    @property
    def log_odds(self) -> np.ndarray:
        """int32 (rows, columns), the sum of its own and all others' evidence, in units of 0.05; a copy."""
        store, team = self._beliefs.store, self._beliefs.team
        total = np.zeros((len(team.own[0]), TILE_CELLS), np.int32)
        for robot, slots in enumerate(store.parts[team.node[self._robot]].T):
            total += store.evidence[team.own[self._robot] if robot == self._robot else slots]
        return self._beliefs.as_map(total)

    @property
    def own(self) -> np.ndarray:
        """int8 (rows, columns), the robot's own evidence in units of 0.05, 0 = never seen; a copy."""
        return self._beliefs.as_map(self._beliefs.store.evidence[self._beliefs.team.own[self._robot]])

    @property
    def last_seen(self) -> np.ndarray:
        """int32 (rows, columns), the step at which this robot itself last saw each cell; -1 = never; a copy.

        Exact for the first 65 535 steps of a run; then rounded down to even ones, to fourths after twice as many, ...
        """
        stamps = self._beliefs.store.seen[self._beliefs.team.page[self._robot]].astype(np.int32)
        steps = np.where(stamps > 0, (stamps - 1) * self._beliefs._steps_per_stamp, -1)
        return self._beliefs.as_map(steps)

    def probability(self) -> np.ndarray:
        """Return the probability of occupancy, float64 (rows, columns); 0.5 in unknown cells."""
        return 1.0 / (1.0 + np.exp(-EVIDENCE_STEP * self.log_odds.astype(np.float64)))

    def update(
        self, pose_estimate: Any, ranges: np.ndarray, angles: np.ndarray, mount: Any, range_m: float, step: int
    ) -> bool:
        """Add one scan, with ranges of shape (rays,), as in `Beliefs.update`; return whether it was used."""
        pose, ranges = np.array(pose_estimate, np.float64)[None], np.asarray(ranges)[None]
        return bool(self._beliefs.update(np.array([self._robot]), pose, ranges, angles, mount, range_m, step))


def _unknown(shape: tuple[int, int, int], kept: Sequence[int]) -> np.ndarray:
    maps = np.empty(shape, np.int8)
    for robot in kept:
        maps[robot] = -1
    return maps
