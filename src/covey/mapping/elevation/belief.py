"""Elevation beliefs: each robot's belief about the altitudes of the ground, with evidence kept by origin.

Each robot keeps a normal distribution of the altitude of each vertex from its own measurements (a Kalman filter), and
detects changed vertices. It publishes immutable versions of tiles of 32 x 32 vertices. A newer version *replaces* the
older one of that robot, so merging is commutative, associative and idempotent, as for
`covey.mapping.occupancy.belief.Beliefs`. A robot's belief is the product of its own distribution and those that it
holds of the others, without evidence last confirmed before somebody found the vertex changed.

References:
    De Rango, Nahavandi: Simulating autonomous robot teams with Microsoft Robotics Studio. Deakin University,
    2007.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from covey.errors import InvalidValueError
from covey.geometry.grid import Grid
from covey.mapping.elevation import kernels, versions
from covey.mapping.elevation.compare import true_altitude
from covey.mapping.elevation.footing import ground_points
from covey.mapping.elevation.kernels import EVIDENCE, INTERVAL, MEASURED, TESTS, TeamElevation
from covey.mapping.elevation.points import see_points
from covey.mapping.elevation.slopes import SLOPE, PoseUncertainty
from covey.mapping.elevation.versions import TileVersion
from covey.mapping.exchange.map_updates import MapUpdate
from covey.mapping.exchange.shared_maps import SharedMap, SharedMaps, check_memory, read_only
from covey.mapping.occupancy.tiles import TILE
from covey.mapping.records import ElevationMapping

_LEAST_VARIANCE = 1e-12  # variance of a measurement without noise [m^2]
_STEEPEST = 1.5  # steepest rise or fall between good vertices, in drivable steps


class Elevations(SharedMaps):
    """The beliefs about the ground of robots with equal mapping, which can merge; ``beliefs[i]`` is that of one robot.

    Args:
        names: names of the robots.
        shape: rows and columns of vertices; both become a whole number of tiles.
        origin: x, y [m] of vertex [0, 0].
        spacing_m: distance between vertices [m].
        mapping: how measurements become evidence.

    Attributes:
        grid: a cell around each vertex; its cells are not used. The yaw is 0.
        frame: float64 (3,), x, y of vertex [0, 0] and the spacing [m].
        shape: rows and columns of existing vertices; nothing outside is drivable.
        team: the evidence of all robots.
        occupancy: int8 (n, rows, columns), -1 unknown, 0 drivable, 100 not.
        resets: uint16 (n, rows, columns), how often a robot found a vertex changed.
        measured: int64 (n,), number of measurements of vertices that each robot used.

    Raises:
        InvalidValueError: there are no robots or no vertices, or the maps are too large for the memory.
    """

    def __init__(
        self,
        names: Sequence[str],
        shape: tuple[int, int],
        origin: tuple[float, float] = (0.0, 0.0),
        spacing_m: float = 1.0,
        mapping: ElevationMapping | None = None,
    ):
        self.names, self.mapping, self.shape = list(names), mapping or ElevationMapping(), shape
        if not self.names or min(shape) < 1 or not spacing_m > 0:
            raise InvalidValueError(
                f"beliefs of {len(self.names)} robots about {shape[0]} x {shape[1]} vertices {spacing_m!r} m apart; "
                "all of these must be positive"
            )
        n, (rows, columns) = len(self.names), (TILE * -(-side // TILE) for side in shape)
        check_memory(n, n, (rows, columns))
        size, tiles = (n, rows, columns), (n, rows // TILE * (columns // TILE))
        self.team = TeamElevation(
            own=np.zeros(size, EVIDENCE),
            rest=np.zeros(size, EVIDENCE),
            mean=np.zeros(size),
            variance=np.zeros(size),
            mark=np.zeros(size, np.uint8),
            occupancy=np.full(size, -1, np.int8),
            turned=np.zeros(tiles, np.int64),
            version=np.zeros(n, np.int64),
            dirty=np.zeros(tiles, np.uint8),
            resets=np.zeros(size, np.uint16),
            measured=np.zeros(n, np.int64),
            ends=np.array(shape),
        )
        self.team.occupancy[:, shape[0] :], self.team.occupancy[:, :, shape[1] :] = 100, 100  # there is no ground
        self.occupancy, self.version, self.tile_changed = self.team.occupancy, self.team.version, self.team.turned
        self.resets, self.measured = self.team.resets, self.team.measured
        self.clock = np.zeros((n, n), np.int64)
        half = 0.5 * spacing_m
        self.grid = Grid(self.occupancy[0], spacing_m, (origin[0] - half, origin[1] - half, 0.0))
        self.frame = np.array([*origin, spacing_m])
        self._held: list[list[dict[int, TileVersion]]] = [[{} for _ in range(n)] for _ in range(n)]
        self._place: np.ndarray | None = None

    @classmethod
    def covering(cls, ground: Any, names: Sequence[str], mapping: ElevationMapping | None = None) -> "Elevations":
        """Return empty beliefs about a `covey.world.ground.Ground`, at its spacing or at the mapping's own."""
        spacing = (mapping or ElevationMapping()).spacing_m or ground.spacing_m
        rows, columns = ((side - 1) * ground.spacing_m / spacing for side in ground.altitude.shape)
        shape = int(rows * (1 + 1e-12)) + 1, int(columns * (1 + 1e-12)) + 1
        x, y, _ = ground.frame.tolist()
        return cls(names, shape, (x, y), spacing, mapping)

    def __getitem__(self, robot: int) -> "ElevationBelief":
        return ElevationBelief(self, range(len(self.names))[robot])

    @property
    def max_step_m(self) -> float:
        """Largest difference [m] between neighbouring vertices that counts as drivable."""
        return self.mapping.max_step_m * self.grid.resolution

    def see_window(
        self,
        robots: np.ndarray,
        picked: np.ndarray,
        poses: np.ndarray,
        readings: Any,
        step: int,
        errors: PoseUncertainty | None = None,
    ) -> None:
        """Take in readings of wedges; see `covey.sensors.wedge.WedgeReadings.into`.

        Args:
            robots: indices of the beliefs, (m,). picked: indices of the readings, (m,).
            poses: the robots' estimates of the poses at which they took them, (m, 3).
            readings: `WedgeReadings`.
            step: the control step, >= 0.
            errors: of the poses; None: they are exact.
        """
        kernels.see_window(
            self.team,
            np.ascontiguousarray(robots, np.int64),
            np.ascontiguousarray(picked, np.int64),
            np.ascontiguousarray(poses, np.float64),
            (errors or PoseUncertainty.none(len(robots))).arrays(),
            readings.kind,
            readings.altitude,
            readings.again,
            readings.window,
            self.frame,
            self._model(readings.sigma_m),
            step + 1,
        )

    def see_points(
        self,
        robots: np.ndarray,
        picked: np.ndarray,
        poses: np.ndarray,
        points: np.ndarray,
        eyes: np.ndarray,
        sigma_m: float,
        step: int,
        errors: PoseUncertainty | None = None,
    ) -> None:
        """Take in points on the ground, float64 (k, p, 3): ahead and to the left of the body, and altitude [m].

        ``eyes`` are the starts of the rays, (k, 3), in the same frame; ``sigma_m`` is the standard deviation of the
        distance from there [m]. Other arguments as for `see_window`.
        """
        if self._place is None:
            self._place = np.full((*self.grid.shape, 2), -1, np.int32)
        see_points(
            self.team,
            np.ascontiguousarray(robots, np.int64),
            np.ascontiguousarray(picked, np.int64),
            np.ascontiguousarray(poses, np.float64),
            (errors or PoseUncertainty.none(len(robots))).arrays(),
            points,
            eyes,
            self._place,
            self.frame,
            self._model(sigma_m),
            step + 1,
        )

    def _model(self, sigma_m: float) -> np.ndarray:
        record, drop = self.mapping, (self.mapping.below_interval_m / INTERVAL) ** 2
        variance, test = max(sigma_m**2, _LEAST_VARIANCE), TESTS.index(record.change_test)
        return np.array([variance, record.below_m, drop, self.max_step_m, test])

    def moved(self, robots: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Return which robots have moved enough to use another reading: all, since each measurement counts."""
        return np.ones(len(robots), bool)

    def know(self, robots: np.ndarray, altitude: np.ndarray, sigma_m: float = 0.02) -> None:
        """Let robots start with known altitudes [m], of the shape of the beliefs or smaller; NaN: unknown.

        They count as own evidence from before the run, each with the standard deviation ``sigma_m``.
        """
        rows, columns = altitude.shape
        known = np.isfinite(altitude)
        for robot in robots:
            own = self.team.own[robot, :rows, :columns]
            own["mean"][known], own["variance"][known] = altitude[known], max(sigma_m**2, _LEAST_VARIANCE)
            own["mark"][known] = MEASURED
            kernels.join_own(self.team, int(robot), self.max_step_m)
            self.team.dirty[robot] = 1

    def know_ground(self, robots: np.ndarray, ground: Any) -> None:
        """Let robots start with the altitudes of a `covey.world.ground.Ground`, see `know`."""
        self.know(robots, true_altitude(ground, self.grid))

    def stand(self, robots: np.ndarray, places: np.ndarray, altitude: np.ndarray, reach_m: float) -> None:
        """Let robots start with the ground below them, which they cannot see: level, with slopes of deviation `SLOPE`.

        Robots do not share this knowledge.

        Args:
            robots: int64 (k,).
            places: their positions, float64 (k, 2) [m].
            altitude: altitude of the ground there, float64 (k,) [m].
            reach_m: radius of the known ground around each [m].
        """
        rows, columns = (np.arange(size) for size in self.shape)
        x0, y0, spacing = self.frame.tolist()
        for robot, (x, y), z in zip(robots.tolist(), places.tolist(), altitude.tolist(), strict=True):
            away = np.hypot((y0 + rows * spacing - y)[:, None], x0 + columns * spacing - x)
            own = self.team.own[robot, : self.shape[0], : self.shape[1]]
            near = (away <= reach_m) & (own["mark"] == 0)
            own["mean"][near], own["mark"][near] = z, MEASURED
            own["variance"][near] = np.maximum((SLOPE * away[near]) ** 2, _LEAST_VARIANCE)
            kernels.join_own(self.team, robot, self.max_step_m)

    def publish(self, robots: np.ndarray | None = None) -> int:
        """Make the changed tiles of robots' own evidence available to others; return their number."""
        count = 0
        for robot in range(len(self)) if robots is None else robots.tolist():
            changed = np.flatnonzero(self.team.dirty[robot])
            if not len(changed):
                continue
            self.clock[robot, robot] += 1
            count += len(changed)
            for tile in changed.tolist():
                evidence = versions.rounded(self._tile(self.team.own[robot], tile))
                version = TileVersion(tile, robot, int(self.clock[robot, robot]), evidence)
                self._held[robot][robot][tile] = version
            self.team.dirty[robot] = 0
        return count

    def update_since(self, giver: int, since: np.ndarray) -> MapUpdate:
        """Return what a robot holds that others do not know yet; see `covey.mapping.occupancy.belief.Beliefs`."""
        until = self.clock[giver].copy()
        wanted = np.flatnonzero(until > since).tolist()
        items = [v for o in wanted for v in self._held[giver][o].values() if v.version > since[o]]
        since = np.minimum(since, until)
        return MapUpdate(giver, items, since, until, versions.size_of(items, since, until))

    def merge_updates(self, received: np.ndarray, updates: Sequence[MapUpdate]) -> np.ndarray:
        """Let robots take the tiles that they received and that are newer than what they hold.

        Args:
            received: bool (n, m), which of the updates each robot received.
            updates: m of them.

        Returns:
            int64 (n,), number of tiles that each robot took.
        """
        taken = np.zeros(len(self), np.int64)
        for robot in np.flatnonzero(received.any(axis=1)).tolist() if len(updates) else ():
            held, clock, touched = self._held[robot], self.clock[robot], {}
            for one in (updates[k] for k in np.flatnonzero(received[robot]).tolist()):
                for item in one.items:
                    mine = held[item.origin].get(item.tile)
                    if item.origin != robot and (mine is None or mine.version < item.version):
                        held[item.origin][item.tile] = item
                        first, last = touched.get(item.tile, item.rows)
                        touched[item.tile] = min(first, item.rows[0]), max(last, item.rows[1])
                        taken[robot] += 1
                follows = one.since <= clock
                clock[follows] = np.maximum(clock, one.until)[follows]
            self._join(robot, sorted(touched.items()))
        return taken

    def encode(self, update: MapUpdate) -> bytes:
        """Return an update as the ``update.size_bytes`` bytes that go over the air."""
        return versions.encode(update)

    def decode(self, code: bytes) -> MapUpdate:
        """Return the update that `encode` of beliefs of the same robots about the same ground made bytes of."""
        return versions.decode(code, len(self))

    def union(self) -> np.ndarray:
        """Return the map of all robots' own evidence, each counted once, int8 (rows, columns)."""
        everybody = Elevations(["union"], self.shape, (0.0, 0.0), self.grid.resolution, self.mapping)
        for tile in range(self.tile_changed.shape[1]):
            parts = np.stack([self._tile(own, tile) for own in self.team.own])
            if parts["mark"].any():
                kernels.join_tile(everybody.team, 0, tile, 0, parts, self.max_step_m)
        return everybody.occupancy[0]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays together; arrays that were never written take no memory yet."""
        kept = {id(v): v.evidence.nbytes for robot in self._held for held in robot for v in held.values()}
        return sum(a.nbytes for a in self.team) + sum(kept.values())

    def _join(self, robot: int, tiles: Sequence[tuple[int, tuple[int, int]]]) -> None:
        """Update tiles of a map, each from one row to another."""
        for tile, (first, end) in tiles:
            others = [held[tile].evidence for o, held in enumerate(self._held[robot]) if o != robot and tile in held]
            parts = np.empty((len(others), end - first, TILE), EVIDENCE)
            for part, evidence in zip(parts, others, strict=True):
                part[:] = evidence[first:end]
            kernels.join_tile(self.team, robot, tile, first, parts, self.max_step_m)

    def _tile(self, whole: np.ndarray, tile: int) -> np.ndarray:
        """Return a view of a tile of an array (rows, columns)."""
        row, column = divmod(tile, self.grid.shape[1] // TILE)
        return whole[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]


class ElevationBelief(SharedMap):
    """The belief of one robot about the ground: a live view of its row in `Elevations`.

    All arrays are (rows, columns) of vertices; the centre of cell [row, column] of ``grid`` is the vertex.
    ``occupancy`` is -1 where nothing is known, 0 where a robot can drive, and 100 where it cannot: on vertices that
    differ too much from a neighbour, on drops, and on obstacles.
    """

    _beliefs: Elevations

    def altitude(self) -> np.ndarray:
        """Return a copy of the believed altitudes [m], float64; NaN where nothing is known."""
        return np.where(self.marks() > 0, self._beliefs.team.mean[self._robot], np.nan)

    def variance(self) -> np.ndarray:
        """Return a copy of the variances of `altitude` [m^2], float64; NaN where nothing is known."""
        return np.where(self.marks() > 0, self._beliefs.team.variance[self._robot], np.nan)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean [m] and variance [m^2] of the altitudes, live read-only views; meaningless where `marks` is 0."""
        team = self._beliefs.team
        return read_only(team.mean[self._robot]), read_only(team.variance[self._robot])

    def interval(self) -> np.ndarray:
        """Return a copy of half the 95 % interval of `altitude` [m], float64; NaN where nothing is known."""
        return INTERVAL * np.sqrt(self.variance())

    def unsafe_ground(
        self, points: np.ndarray, count: int, pose: tuple[float, float, float], reach_m: float, keep_m: float
    ) -> int:
        """Append points where unsafe or unknown ground begins, see `SharedMap.unsafe_ground`.

        Ground is good between four measured vertices that differ by at most 1.5 of the steepest drivable step: that is
        as steep as ground between drivable vertices can be.
        """
        team, i = self._beliefs.team, self._robot
        where = self._beliefs.frame, team.ends, _STEEPEST * self._beliefs.max_step_m
        return ground_points(points, count, team.mark[i], team.mean[i], *where, *pose, reach_m, keep_m)

    def marks(self) -> np.ndarray:
        """Return the kind of knowledge, uint8: 0 none, 1 measured, 2 a drop, 3 an obstacle; a live read-only view."""
        return read_only(self._beliefs.team.mark[self._robot])

    def resets(self) -> np.ndarray:
        """Return how often this robot found each vertex changed, uint16, a live read-only view."""
        return read_only(self._beliefs.resets[self._robot])

    @property
    def last_seen(self) -> np.ndarray:
        """A copy, int32: the step at which this robot itself last saw each vertex; -1 = never."""
        return self._beliefs.team.own["seen"][self._robot] - 1

    @property
    def last_changed(self) -> np.ndarray:
        """A copy, int32: the step at which it, or a robot that told it, last found each vertex changed; -1 = never."""
        own, rest = (evidence["changed"][self._robot] for evidence in (self._beliefs.team.own, self._beliefs.team.rest))
        return np.maximum(own, rest) - 1

    def save(self, path: str | Path) -> None:
        """Write altitude, variance, marks and their place as an ``.npz`` file for `load`."""
        x, y, spacing = self._beliefs.frame.tolist()
        mark = self.marks()
        known = mark > 0
        rows, columns = (int(np.flatnonzero(known.any(axis=axis)).max(initial=-1)) + 1 for axis in (1, 0))
        part = slice(0, rows), slice(0, columns)
        np.savez_compressed(
            path,
            format=1,
            altitude=self.altitude()[part],
            variance=self.variance()[part],
            mark=mark[part],
            origin=(x, y),
            spacing_m=spacing,
        )

    def load(self, path: str | Path) -> None:
        """Read a file of `save`, from a belief about the same lattice, as own evidence from before the run.

        Raises:
            InvalidValueError: the file is not of this kind, or of another lattice.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                data = {name: file[name] for name in ("altitude", "variance", "mark", "origin", "spacing_m")}
        except (OSError, ValueError, KeyError) as error:
            raise InvalidValueError(
                f"{path} holds no belief about the ground ({error}); use a file that save() wrote"
            ) from None
        frame = np.array([*data["origin"], data["spacing_m"]])
        rows, columns = data["mark"].shape
        fits = rows <= self.grid.shape[0] and columns <= self.grid.shape[1]
        if not fits or not np.allclose(frame, self._beliefs.frame, rtol=0, atol=1e-6):
            raise InvalidValueError(
                f"{path} has vertices {frame[2]:g} m apart, from ({frame[0]:g}, {frame[1]:g}) m; this belief has them "
                f"{self._beliefs.frame[2]:g} m apart, from ({self._beliefs.frame[0]:g}, {self._beliefs.frame[1]:g}) m"
            )
        known = data["mark"] > 0
        own = self._beliefs.team.own[self._robot, :rows, :columns]
        for field, values in (("mean", data["altitude"]), ("variance", data["variance"]), ("mark", data["mark"])):
            own[field][known] = values[known]
        own["seen"][known] = own["changed"][known] = 0
        kernels.join_own(self._beliefs.team, self._robot, self._beliefs.max_step_m)
        self._beliefs.team.dirty[self._robot] = 1
