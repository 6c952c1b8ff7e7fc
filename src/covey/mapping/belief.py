"""Beliefs: what each robot holds to be true, as log-odds of occupancy, with the evidence kept by origin.

Every robot's own evidence is cut into tiles of 32 x 32 cells. What it publishes is an immutable version of each tile
that changed; beliefs hold such versions by reference into one store. Taking a newer version *replaces* the older one
of that origin, so merging is commutative, associative and idempotent, over any number of hops, and never counts
evidence twice.

References:
    W. Burgard, M. Moors, D. Fox, R. Simmons, S. Thrun: Collaborative multi-robot exploration. ICRA 2000 (merging:
    the log-odds of independent maps add, prior 0).
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.beams import beam_directions
from covey.geometry.grid import Grid
from covey.mapping import evidence
from covey.mapping.evidence import TILE
from covey.mapping.records import EVIDENCE_STEP, Mapping

_TILE_BYTES = TILE * TILE


class Beliefs:
    """The beliefs of the robots of a team that map with the same grid and can merge; ``beliefs[i]`` is one of them.

    Attributes:
        grid: place and size of every belief; its cells are not used. Sides are whole tiles, the yaw is 0.
        occupancy: int8 (n, rows, columns), -1 unknown, 0 free, 100 occupied.
        own: int8 (n, rows, columns), each robot's own evidence in units of 0.05; 0 = never seen.
        log_odds: int16 (n, rows, columns), own and merged evidence of occupancy, in units of 0.05.
        version: int64 (n,), grows whenever a cell of that belief changes between unknown, free and occupied.
        tile_changed: int64 (n, tiles), the version at which a cell of the tile last did so; tiles in storage order.

    Raises:
        InvalidValueError: no robot, no area, or so many robots that the sum of their evidence would overflow.
    """

    def __init__(
        self,
        names: Sequence[str],
        size_m: tuple[float, float],
        origin: tuple[float, float] = (0.0, 0.0),
        mapping: Mapping | None = None,
    ):
        self.names, self.mapping = list(names), mapping or Mapping()
        units = self.mapping.units
        model = [self.mapping.miss_log_odds, self.mapping.hit_log_odds]
        bounds = [self.mapping.lowest_log_odds, self.mapping.highest_log_odds]
        most = 32767 // max(abs(units(b)) for b in bounds)
        if not 0 < len(self.names) <= most:
            raise InvalidValueError(f"{len(self.names)} robots cannot share beliefs; 1 to {most} can")
        if not all(math.isfinite(s) and s > 0 for s in size_m):
            raise InvalidValueError(f"the size of a belief is {tuple(size_m)!r}; it must be two positive lengths in m")
        resolution = self.mapping.resolution_m
        columns, rows = (TILE * math.ceil(round(s / resolution, 6) / TILE) for s in size_m)
        n, tiles = len(self.names), rows // TILE * (columns // TILE)
        self.occupancy = np.full((n, rows, columns), -1, np.int8)
        self.grid = Grid(self.occupancy[0], resolution, (*origin, 0.0))
        self.own = np.zeros((n, rows, columns), np.int8)
        self.log_odds = np.zeros((n, rows, columns), np.int16)
        self.version, self.tile_changed = np.zeros(n, np.int64), np.zeros((n, tiles), np.int64)
        self._seen = np.zeros((n, rows, columns), np.int32)  # step + 1
        self._dirty = np.zeros((n, tiles), np.uint8)
        self._mapped_pose = np.full((n, 3), np.nan)
        self._scratch = np.zeros((rows, columns), np.uint8)
        self._model = np.array([units(x) for x in model + bounds])
        self._motion = np.array([self.mapping.min_motion_m, math.radians(self.mapping.min_turn_deg)])
        self._slots = np.zeros((n, n, tiles), np.int32)  # slot 0 is the empty tile
        self.clock = np.zeros((n, n), np.int64)
        self._store, self._store_version = np.zeros((1, _TILE_BYTES), np.int8), np.zeros(1, np.int64)
        self._free = np.zeros(0, np.int32)
        self._angles, self._directions = np.zeros(0), np.zeros((0, 2))

    @classmethod
    def covering(
        cls, grid: Grid, names: Sequence[str], mapping: Mapping | None = None, margin_m: float = 0.0
    ) -> "Beliefs":
        """Return empty beliefs that cover a grid (the world's, of any yaw), and a margin [m] around it."""
        rows, columns = grid.shape
        corners = grid.to_world(np.array([(r, c) for r in (0, rows) for c in (0, columns)]) - 0.5)
        resolution = (mapping or Mapping()).resolution_m
        margin = resolution * math.ceil(margin_m / resolution)
        low, high = corners.min(axis=0) - margin, corners.max(axis=0) + margin
        return cls(names, tuple(high - low), tuple(low), mapping)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, robot: int) -> "Belief":
        return Belief(self, range(len(self.names))[robot])

    @cached_property
    def _team(self) -> tuple[np.ndarray, ...]:
        return (
            self.own,
            self.log_odds,
            self.occupancy,
            self._seen,
            self._dirty,
            self.tile_changed,
            self.version,
            self._mapped_pose,
        )

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
        """Take in one lidar scan of each of some robots at their estimated poses.

        Args:
            robots: which robots, integers (m,).
            poses: estimated poses of the bodies, (m, 3) x, y [m], heading [rad].
            ranges: (m, rays) [m]; inf = nothing within range, nan or not positive = no measurement.
            angles: (rays,) [rad] in the frame of the sensor.
            mount: pose of the sensor on the body.
            range_m: range of the sensor [m].
            step: the control step, >= 0, kept as when the cells were seen.

        Returns:
            How many scans were used; the others came too soon after the last (``min_motion_m``, ``min_turn_deg``).
        """
        if angles is not self._angles:
            self._angles, self._directions = angles, beam_directions(angles)
        far = self.mapping.max_range_m or range_m
        limits = np.array([range_m, far, self.mapping.max_free_m or far])
        return evidence.use_scans(
            np.ascontiguousarray(robots, np.int64),
            np.ascontiguousarray(poses, np.float64),
            np.ascontiguousarray(ranges, np.float64),
            self._directions,
            np.array(mount, np.float64),
            limits,
            step + 1,
            self.grid.frame,
            self._model,
            self._motion,
            self._scratch,
            self._team,
        )

    def moved(self, robots: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Return which robots have moved enough since the last scan that was used to use another, bool (m,)."""
        last = self._mapped_pose[robots]
        way = np.hypot(poses[:, 0] - last[:, 0], poses[:, 1] - last[:, 1])
        turned = np.abs((poses[:, 2] - last[:, 2] + math.pi) % (2.0 * math.pi) - math.pi)
        return ~((way < self._motion[0]) & (turned < self._motion[1]))

    def know(self, robot: int, occupancy: np.ndarray) -> None:
        """Let a robot start with a map, int8 of the shape of the beliefs: -1 unknown, 0 free, 100 occupied.

        It is nobody's evidence and is never passed on. Where a sensor says otherwise often enough, it is believed.
        """
        lowest, highest = (abs(int(bound)) for bound in self._model[2:4])
        prior = max(min(lowest, highest) - 1, 1)
        self.log_odds[robot] = np.where(occupancy < 0, 0, np.where(occupancy > 50, prior, -prior))
        self.occupancy[robot] = occupancy
        self.version[robot] += 1
        self.tile_changed[robot] = self.version[robot]

    def publish(self, robot: int) -> int:
        """Make the changed tiles of a robot's own evidence available to others; return how many there are."""
        needed = int(np.count_nonzero(self._dirty[robot]))
        if not needed:
            return 0
        if needed > self._free.size:
            self._collect(needed)
        evidence.publish_tiles(
            robot,
            self.own[robot],
            self._dirty[robot],
            self._slots,
            self.clock,
            self._store,
            self._store_version,
            self._free,
        )
        self._free = self._free[needed:]
        return needed

    def merge(self, robot: int, other: int) -> int:
        """Let a robot take all evidence, of whatever origin, that another holds and that is newer; return the tiles."""
        moved = 0
        for origin in np.flatnonzero(self.clock[other] > self.clock[robot]):
            if origin != robot:
                moved += evidence.take_origin(
                    robot,
                    other,
                    int(origin),
                    *self._exchanged,
                )
        return moved

    def share(self, hears: np.ndarray) -> np.ndarray:
        """Let every robot publish, and then take what the robots it hears held before this round.

        Args:
            hears: bool (n, n), row i: whom robot i hears; the diagonal does not matter.

        Returns:
            int64 (n,), the tiles that each robot took; a tile is ``TILE_BYTES`` bytes before compression.
        """
        taken = np.zeros(len(self), np.int64)
        hears = np.ascontiguousarray(hears, np.bool_)
        for robot in np.flatnonzero(hears.any(axis=0)):
            self.publish(int(robot))
        evidence.exchange(
            hears,
            self.clock.copy(),
            np.argsort(self.clock, axis=0, kind="stable"),
            *self._exchanged,
            taken,
        )
        return taken

    @property
    def _exchanged(self) -> tuple[np.ndarray, ...]:
        tiles = self._slots, self.clock, self._store, self._store_version
        return (*tiles, self.log_odds, self.occupancy, self.tile_changed, self.version)

    def _collect(self, needed: int) -> None:
        """Find the slots that nobody refers to any more; make the store larger when they are few."""
        used = np.zeros(len(self._store), np.bool_)
        used[self._slots.ravel()] = used[0] = True
        count = int(used.sum())
        if len(used) - count < max(needed, count // 2):
            extra = max(needed, count // 2)
            self._store = np.concatenate([self._store, np.zeros((extra, _TILE_BYTES), np.int8)])
            self._store_version = np.concatenate([self._store_version, np.zeros(extra, np.int64)])
            used = np.concatenate([used, np.zeros(extra, np.bool_)])
        self._free = np.flatnonzero(~used).astype(np.int32)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays together."""
        arrays = (*self._team, self._slots, self.clock, self._store, self._store_version, self._free, self._scratch)
        return sum(a.nbytes for a in arrays)


TILE_BYTES = _TILE_BYTES
"""Bytes of one tile of evidence before compression."""


class Belief:
    """The belief of one robot: a view of its row in `Beliefs`, which keeps changing as the robot goes on."""

    def __init__(self, beliefs: Beliefs, robot: int):
        self.beliefs, self.robot = beliefs, robot
        self._views: dict[str, tuple[int, np.ndarray]] = {}

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.beliefs.names[self.robot]

    @property
    def version(self) -> int:
        """Grows whenever a cell changes between unknown, free and occupied."""
        return int(self.beliefs.version[self.robot])

    def occupancy(self) -> np.ndarray:
        """Return int8 (rows, columns): -1 unknown, 0 free, 100 occupied; a live read-only view, copy it to keep it.

        A cell is occupied where its log-odds are above 0, free below; exactly 0 is unknown.
        """
        return self._occupancy

    @cached_property
    def _occupancy(self) -> np.ndarray:
        return _read_only(self.beliefs.occupancy[self.robot])

    @cached_property
    def grid(self) -> Grid:
        """The `occupancy` with its place in the world."""
        return self.beliefs.grid.with_cells(self.occupancy())

    @property
    def log_odds(self) -> np.ndarray:
        """int16 (rows, columns), own and merged evidence in units of 0.05; a live read-only view."""
        return _read_only(self.beliefs.log_odds[self.robot])

    @property
    def own(self) -> np.ndarray:
        """int8 (rows, columns), this robot's own evidence in units of 0.05, 0 = never seen; a live read-only view."""
        return _read_only(self.beliefs.own[self.robot])

    @property
    def last_seen(self) -> np.ndarray:
        """int32 (rows, columns), the step at which this robot itself last saw each cell; -1 = never."""
        return self.beliefs._seen[self.robot] - 1

    def probability(self) -> np.ndarray:
        """Return the probability of occupancy, float64 (rows, columns); 0.5 where nothing is known."""
        return 1.0 / (1.0 + np.exp(-EVIDENCE_STEP * self.log_odds.astype(np.float64)))

    @property
    def unknown(self) -> np.ndarray:
        """Which cells are unknown, bool (rows, columns), as of the current version."""
        return self._of_version("unknown", -1)

    @property
    def free(self) -> np.ndarray:
        """Which cells are free, bool (rows, columns), as of the current version."""
        return self._of_version("free", 0)

    @property
    def occupied(self) -> np.ndarray:
        """Which cells are occupied, bool (rows, columns), as of the current version."""
        return self._of_version("occupied", 100)

    def known_share(self, mask: np.ndarray) -> float:
        """Return the share of ``mask`` (bool or weights, (rows, columns)) on known cells; nan if the mask is empty."""
        total = mask.sum()
        return float(mask[~self.unknown].sum() / total) if total else math.nan

    def update(
        self, pose_estimate: Any, ranges: np.ndarray, angles: np.ndarray, mount: Any, range_m: float, step: int
    ) -> bool:
        """Take in one scan, ranges of shape (rays,), as `Beliefs.update`; return whether it was used."""
        pose, ranges = np.array(pose_estimate, np.float64)[None], np.asarray(ranges)[None]
        return bool(self.beliefs.update(np.array([self.robot]), pose, ranges, angles, mount, range_m, step))

    def publish(self) -> int:
        """Make changed tiles of own evidence available to others; return how many there are."""
        return self.beliefs.publish(self.robot)

    def merge(self, other: "Belief") -> int:
        """Take all that ``other`` has published or taken itself and that is newer; return the number of tiles.

        Raises:
            InvalidValueError: the two do not belong to the same `Beliefs`.
        """
        if other.beliefs is not self.beliefs:
            raise InvalidValueError(
                f"the beliefs of {self.name} and {other.name} lie on different grids; make both from one Beliefs(...)"
            )
        return self.beliefs.merge(self.robot, other.robot)

    def _of_version(self, name: str, state: int) -> np.ndarray:
        version, view = self._views.get(name, (-1, None))
        if view is None or version != self.version:
            view = _read_only(self.beliefs.occupancy[self.robot] == state)
            self._views[name] = (self.version, view)
        return view


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
